//! The rules that requests, answers and streams must meet, each with its own message.
//!
//! Breaking a hard rule makes every provider refuse the request, or makes the conversation meaningless. Breaking a soft
//! rule is worth a warning: some providers refuse the request, or a translation has to work around it.

mod arguments;
mod content;
#[cfg(feature = "validate")]
mod effort;
mod events;
mod problem;
mod request;
mod response;
mod schema;
mod turns;

pub use arguments::ArgumentChecker;
pub use events::EventChecker;
pub use problem::{Invalid, Problem};
pub(crate) use request::messages;

/// The place of something, written as a path only when there is a problem to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// A block of the system prompt.
    System(usize),
    /// A message.
    Message(usize),
    /// A block of a message.
    Block(usize, usize),
    /// A block inside a tool result.
    Inner(usize, usize, usize),
    /// A block of an answer.
    Content(usize),
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            At::System(block) => write!(f, "system[{block}]"),
            At::Message(message) => write!(f, "messages[{message}]"),
            At::Block(message, block) => write!(f, "messages[{message}].content[{block}]"),
            At::Inner(message, block, inner) => write!(f, "messages[{message}].content[{block}].content[{inner}]"),
            At::Content(block) => write!(f, "content[{block}]"),
        }
    }
}

/// Returns an error with all problems if one of them is hard.
pub(crate) fn refuse(problems: Vec<Problem>) -> Result<(), Invalid> {
    if problems.iter().all(Problem::is_soft) { Ok(()) } else { Err(Invalid { problems }) }
}

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod response_tests;

//! Places in a request.

use std::fmt;

/// A place in a request, as it appears in losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A block of the system prompt.
    System(usize),
    Message(usize),
    /// A block of a message.
    Block(usize, usize),
    /// A block inside a tool's result.
    Inner(usize, usize, usize),
    Tool(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::System(block) => write!(f, "system[{block}]"),
            Place::Message(message) => write!(f, "messages[{message}]"),
            Place::Block(message, block) => write!(f, "messages[{message}].content[{block}]"),
            Place::Inner(message, block, inner) => {
                write!(f, "messages[{message}].content[{block}].content[{inner}]")
            }
            Place::Tool(tool) => write!(f, "tools[{tool}]"),
        }
    }
}

impl Place {
    /// Returns the place of a block inside the result that is here.
    pub(crate) fn inner(self, index: usize) -> Place {
        match self {
            Place::Block(message, block) => Place::Inner(message, block, index),
            other => other,
        }
    }
}

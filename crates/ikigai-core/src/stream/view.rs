//! The short view of a stream: five kinds of chunks, enough for most programs.

use crate::{Arguments, Citation, Event, FinishReason, Usage};

/// One of the five things that most programs need from a stream.
///
/// ```
/// use ikigai_core::{Chunk, Event};
///
/// let event = Event::TextDelta { index: 0, text: "Hel".into() };
/// assert_eq!(Chunk::of(&event), Some(Chunk::Content("Hel")));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Chunk<'a> {
    /// Text of the answer.
    Content(&'a str),
    /// Text of the thinking.
    Thinking(&'a str),
    /// A complete tool call's arguments.
    ToolCall {
        /// The call's place in the answer's content; its [`Event::ToolCallStart`] has the id and the tool.
        index: usize,
        /// The arguments.
        arguments: &'a Arguments,
    },
    /// A source of a passage of the text block at `index`.
    Citation {
        /// The text block's place in the answer's content.
        index: usize,
        /// The citation.
        citation: &'a Citation,
    },
    /// How the answer ended, or the tokens used so far.
    Meta {
        /// Why the answer ended; absent before its end.
        finish_reason: Option<FinishReason>,
        /// The tokens so far; absent if this chunk does not report them.
        usage: Option<&'a Usage>,
    },
}

impl<'a> Chunk<'a> {
    /// Returns the chunk in an event; `None` for events that only frame others.
    pub fn of(event: &'a Event) -> Option<Self> {
        match event {
            Event::TextDelta { text, .. } => Some(Chunk::Content(text)),
            Event::ThinkingDelta { text, .. } => Some(Chunk::Thinking(text)),
            Event::ToolCallDone { index, arguments, .. } => Some(Chunk::ToolCall { index: *index, arguments }),
            Event::Citation { index, citation } => Some(Chunk::Citation { index: *index, citation }),
            Event::Usage { usage } => Some(Chunk::Meta { finish_reason: None, usage: Some(usage) }),
            Event::Done { finish_reason, .. } => Some(Chunk::Meta { finish_reason: Some(*finish_reason), usage: None }),
            Event::Error { .. } => Some(Chunk::Meta { finish_reason: Some(FinishReason::Error), usage: None }),
            Event::Start { .. }
            | Event::BlockStart { .. }
            | Event::ToolCallStart { .. }
            | Event::ToolCallDelta { .. }
            | Event::BlockReplaced { .. }
            | Event::Sources { .. }
            | Event::BlockDone { .. }
            | Event::Other { .. } => None,
        }
    }
}

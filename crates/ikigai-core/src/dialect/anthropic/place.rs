//! Where something stands in a request, for errors and losses.

use std::fmt;

/// A place in the canonical request or, while one is read, in the wire request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A block of the system prompt.
    System(usize),
    /// A tool.
    Tool(usize),
    /// A message.
    Message(usize),
    /// A block of a message.
    Block(usize, usize),
    /// A block inside a tool's result.
    Inner(usize, usize, usize),
}

impl Place {
    /// The block at `index` inside the block that stands here.
    pub(super) fn inner(self, index: usize) -> Place {
        match self {
            Place::Block(message, block) | Place::Inner(message, block, _) => Place::Inner(message, block, index),
            Place::Message(message) => Place::Block(message, index),
            Place::System(_) | Place::Tool(_) => self,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::System(block) => write!(f, "system[{block}]"),
            Place::Tool(tool) => write!(f, "tools[{tool}]"),
            Place::Message(message) => write!(f, "messages[{message}]"),
            Place::Block(message, block) => write!(f, "messages[{message}].content[{block}]"),
            Place::Inner(message, block, inner) => write!(f, "messages[{message}].content[{block}].content[{inner}]"),
        }
    }
}

//! What each dialect looks at in an answer that passes through unchanged.
//!
//! The fields that say how an answer began, what it used and how it ended; of its content, only that there is some.

use crate::Dialect;
use crate::server::alike::Holes;

/// What a watcher has to know about a dialect.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The fields of a frame and of a whole answer that matter.
    pub(crate) fields: Field,
    /// Returns whether frames of this type contain only a piece of a block.
    pub(crate) is_piece: fn(&[u8]) -> bool,
    /// What differs between frames that contain only a piece of a block, if they have no type.
    pub(crate) holes: Option<Holes<'static>>,
    pub(crate) list: List,
}

/// What a list of frames means, in place of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    /// It is the answer.
    Frames,
    /// It is not an answer.
    Nothing,
}

/// A field that matters.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) keep: Keep,
}

/// What to keep of a field's value.
#[derive(Debug)]
pub(crate) enum Keep {
    /// All of it.
    Value,
    /// Whether it is a string with anything in it; all of it if it is not a string.
    Words,
    /// These fields of the object, or of each object in the list. Anything else is kept like [`Words`](Keep::Words).
    Fields(&'static [Field]),
}

impl Watched {
    /// Creates a table of the fields of a frame.
    pub(crate) const fn new(fields: &'static [Field]) -> Self {
        Watched { fields: within("", fields), is_piece: |_| false, holes: None, list: List::Nothing }
    }

    /// Returns what matters in a dialect. `None` if no client speaks it, so that nothing passes through.
    pub(crate) fn of(dialect: Dialect) -> Option<&'static Self> {
        match dialect {
            Dialect::Anthropic => Some(&super::anthropic::watch::WATCHED),
            Dialect::OpenaiChat => Some(&super::openai_chat::watch::WATCHED),
            Dialect::OpenaiResponses => Some(&super::openai_responses::watch::WATCHED),
            Dialect::Gemini => Some(&super::gemini::watch::WATCHED),
            Dialect::BedrockConverse => None,
        }
    }
}

/// A field that is kept.
pub(crate) const fn value(name: &'static str) -> Field {
    Field { name, keep: Keep::Value }
}

/// A field of which only matters whether it says anything.
pub(crate) const fn words(name: &'static str) -> Field {
    Field { name, keep: Keep::Words }
}

/// A field with fields that matter.
pub(crate) const fn within(name: &'static str, fields: &'static [Field]) -> Field {
    Field { name, keep: Keep::Fields(fields) }
}

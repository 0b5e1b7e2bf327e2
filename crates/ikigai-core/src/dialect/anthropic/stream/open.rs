//! Blocks of a stream that have begun and not ended.

use serde_json::{Map, Value};

/// A block that has begun and not ended.
#[derive(Debug)]
pub(super) struct Open {
    /// Its number on the wire.
    pub(super) wire: u64,
    /// Its place in the answer; a block that is held back has none yet.
    pub(super) index: usize,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Text {
        citations: Option<Value>,
    },
    Thinking {
        signature: Option<String>,
    },
    /// Whole from the start.
    Whole,
    Call {
        /// The arguments that came with the start; they count when none follow.
        input: Map<String, Value>,
        text: String,
    },
    /// A block of the dialect's own, held back until it is whole.
    Own {
        fields: Map<String, Value>,
        input: String,
    },
}

/// The arguments of a call. The wire has them as an object wherever it does not stream, so the text matters only where
/// it is none: there it is kept, and the call is never run.
pub(super) fn arguments(input: Map<String, Value>, text: String) -> (Map<String, Value>, Option<String>) {
    if text.trim().is_empty() {
        return (input, None);
    }
    match serde_json::from_str(&text) {
        Ok(arguments) => (arguments, None),
        Err(_) => (Map::new(), Some(text)),
    }
}

pub(super) fn append(fields: &mut Map<String, Value>, key: &str, piece: &str) {
    match fields.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            fields.insert(key.to_owned(), piece.into());
        }
    }
}

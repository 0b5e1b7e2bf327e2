//! Speech put together from its pieces.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::dialect::openai_chat::assistant::{audio_block, joined_audio};
use crate::dialect::openai_chat::marks::Side;
use crate::dialect::openai_chat::part;
use crate::{Block, Source};

/// No answer is longer than this, in bytes; what comes behind it is dropped.
const MOST: usize = 64 << 20;

/// Speech so far. Its pieces are each encoded by themselves, so their bytes are joined, not their texts.
#[derive(Debug, Default)]
pub(super) struct Speech {
    bytes: Vec<u8>,
    fields: Map<String, Value>,
}

impl Speech {
    pub(super) fn add(&mut self, raw: &RawValue) {
        let Ok(Value::Object(piece)) = serde_json::from_str(raw.get()) else { return };
        for (key, value) in piece {
            match (key.as_str(), &value) {
                ("data", Value::String(data)) => {
                    let room = MOST.saturating_sub(self.bytes.len());
                    self.bytes.extend(STANDARD.decode(data).unwrap_or_default().into_iter().take(room));
                }
                ("transcript", Value::String(more)) => match self.fields.get_mut("transcript") {
                    Some(Value::String(text)) => text.push_str(more),
                    _ => {
                        self.fields.insert(key, value);
                    }
                },
                _ => {
                    self.fields.insert(key, value);
                }
            }
        }
    }

    /// The block that a whole answer would have.
    pub(super) fn into_block(self) -> Block {
        let data = joined_audio(&self.bytes);
        let media_type = part::sniffed(&data).unwrap_or("audio/pcm").to_owned();
        audio_block(Source::Base64 { media_type, data }, self.fields, Side::Response)
    }
}

//! Speech put together from its pieces.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use super::kept::Later;
use crate::Block;
use crate::dialect::openai_chat::assistant::speech_block;
use crate::dialect::openai_chat::notes::Side;
use crate::dialect::openai_chat::wire;
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::Text;

/// Speech so far. Its pieces are each encoded by themselves, so their bytes are joined, not their texts.
#[derive(Debug, Default)]
pub(super) struct Speech {
    bytes: Vec<u8>,
    id: Option<String>,
    transcript: Option<String>,
    rest: Later,
}

impl Speech {
    pub(super) fn add(&mut self, raw: &RawValue) {
        let Some(mut piece) = read_raw::<wire::Speech<'_>>(raw) else { return };
        if let Some(data) = piece.data.take() {
            self.bytes.extend(STANDARD.decode(data.as_ref()).unwrap_or_default());
        }
        if let Some(more) = piece.transcript.take() {
            self.transcript.get_or_insert_default().push_str(more.as_str());
        }
        if let Some(id) = piece.id.take() {
            self.id = Some(id.into_string());
        }
        for (name, value) in piece.leftovers() {
            self.rest.set(name, value);
        }
    }

    /// The block that a whole answer would have.
    pub(super) fn into_block(self) -> Block {
        let rest = self.rest.into_fields();
        let (id, transcript) = (self.id.map(Text::from), self.transcript.map(Text::from));
        let fields = wire::Speech { id, transcript, rest: rest.as_rest(), ..wire::Speech::default() };
        speech_block(STANDARD.encode(&self.bytes), fields, Side::Response)
    }
}

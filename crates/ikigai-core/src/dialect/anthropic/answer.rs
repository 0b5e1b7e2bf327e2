//! Blocks of an answer on their way to a client, whole or as a stream.
//!
//! The client sends back what it gets. State of other dialects therefore rides in the two slots that this dialect has
//! for such things: the signature of a thinking block, and a `redacted_thinking` block of its own beside a block that
//! has no slot (a tool call with a thought signature), or in the place of a block that only another dialect knows.

use serde_json::{Map, Value};

use crate::dialect::seal::Sealed;
use crate::{Audio, Block, Dialect, Other, ProviderData, ThinkingBlock, ToolResult};

use super::names::Safe;
use super::{DIALECT, block};

/// To which block the state in a sealed `redacted_thinking` block belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The one that follows.
    Next,
    /// The one before.
    Previous,
    /// None: it is a block of another dialect, whole.
    Nobody,
}

/// Where a whole block of another dialect stands in its sealed record.
const WHOLE: &str = "block";

impl Neighbour {
    fn as_str(self) -> &'static str {
        match self {
            Neighbour::Next => "next",
            Neighbour::Previous => "previous",
            Neighbour::Nobody => "nobody",
        }
    }

    /// Takes the mark out of unsealed state; none when the state is a thinking block's own.
    pub(super) fn take(data: &mut ProviderData) -> Option<Self> {
        let mark = data.remove(DIALECT, "belongs_to")?;
        match mark.as_str() {
            Some("next") => Some(Neighbour::Next),
            Some("previous") => Some(Neighbour::Previous),
            Some("nobody") => Some(Neighbour::Nobody),
            _ => None,
        }
    }
}

/// Who issued the state in an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
}

impl Origin {
    fn seal(&self, data: ProviderData) -> String {
        Sealed { provider: self.provider.clone(), model: self.model.clone(), data }.to_text()
    }

    /// A signature for a thinking block: its own, or one that we recognise when it returns.
    pub(super) fn signature(&self, data: &ProviderData) -> String {
        match data.str(DIALECT, "signature") {
            Some(signature) => signature.to_owned(),
            None => {
                let mut sealed = block::foreign(data);
                if data.flag(DIALECT, "unsigned") {
                    sealed.set(DIALECT, "unsigned", true);
                }
                self.seal(sealed)
            }
        }
    }

    /// The block that carries another block's foreign state; none when there is no such state.
    pub(super) fn carrier(&self, data: &ProviderData, neighbour: Neighbour) -> Option<Map<String, Value>> {
        if !block::has_foreign_state(data) {
            return None;
        }
        let mut sealed = block::foreign(data);
        sealed.set(DIALECT, "belongs_to", neighbour.as_str());
        Some(block::redacted(&self.seal(sealed).into(), None))
    }
}

impl Origin {
    /// A block of another dialect, which comes back as it is.
    fn whole(&self, other: &Other) -> Map<String, Value> {
        let mut sealed = ProviderData::default();
        sealed.set(other.dialect, WHOLE, other.data.clone());
        sealed.set(DIALECT, "belongs_to", Neighbour::Nobody.as_str());
        block::redacted(&self.seal(sealed).into(), None)
    }
}

/// The block that a sealed record is, whole.
pub(super) fn unseal_whole(mut data: ProviderData) -> Option<Block> {
    let dialect = Dialect::ALL.into_iter().find(|dialect| data.value(*dialect, WHOLE).is_some())?;
    let data = data.remove(dialect, WHOLE)?;
    Some(Block::Other(Other { dialect, data: data.into() }))
}

/// The wire blocks of one block; none for what is no block at all.
pub(super) fn wire_blocks(content: &Block, origin: &Origin, ids: &mut Safe) -> Vec<Map<String, Value>> {
    let own = content.provider_data().and_then(|data| data.get(DIALECT));
    let carried = |data: &ProviderData, fields| {
        origin.carrier(data, Neighbour::Next).into_iter().chain([fields]).collect::<Vec<_>>()
    };
    match content {
        Block::Text(text) => carried(&text.provider_data, block::text(&text.text, None, own)),
        Block::Thinking(thinking) => vec![wire_thinking(thinking, origin)],
        Block::ToolCall(call) => {
            let id = ids.word(&call.id);
            carried(&call.provider_data, block::tool_use(call, &id, &call.name, None, own))
        }
        Block::Image(image) => vec![media("image", block::source(&image.source, own), own)],
        Block::Document(document) => {
            let mut fields = media("document", block::source(&document.source, own), own);
            if let Some(name) = &document.name {
                fields.insert("title".to_owned(), name.as_str().into());
            }
            vec![fields]
        }
        Block::Audio(audio) => vec![block::text(&audio_note(audio), None, None)],
        Block::ToolResult(result) => vec![tool_result(result, origin, ids)],
        Block::Other(other) => match (other.data.value(), other.dialect == DIALECT) {
            (Value::Object(fields), true) => vec![fields.clone()],
            (_, true) => Vec::new(),
            (_, false) => vec![origin.whole(other)],
        },
    }
}

/// The client must learn that something was said which it cannot hear.
fn audio_note(audio: &Audio) -> String {
    format!("(an audio block of type {}, which this API cannot carry)", audio.source.media_type().unwrap_or("audio"))
}

fn wire_thinking(thinking: &ThinkingBlock, origin: &Origin) -> Map<String, Value> {
    let data = &thinking.provider_data;
    let own = data.get(DIALECT);
    if let Some(redacted) = data.value(DIALECT, "redacted_data") {
        return block::redacted(redacted, own);
    }
    // What this dialect itself left unsigned stays so.
    let signature = (!data.flag(DIALECT, "unsigned")).then(|| origin.signature(data));
    block::thinking(&thinking.text, signature.as_deref(), own)
}

fn media(kind: &str, source: Value, own: Option<&Map<String, Value>>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), kind.into());
    fields.insert("source".to_owned(), source);
    block::put_back(&mut fields, own);
    fields
}

fn tool_result(result: &ToolResult, origin: &Origin, ids: &mut Safe) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), "tool_result".into());
    fields.insert("tool_use_id".to_owned(), ids.word(&result.tool_call_id).into_owned().into());
    let content: Vec<Value> =
        result.content.iter().flat_map(|inner| wire_blocks(inner, origin, ids)).map(Value::Object).collect();
    fields.insert("content".to_owned(), Value::Array(content));
    if result.is_error {
        fields.insert("is_error".to_owned(), true.into());
    }
    block::put_back(&mut fields, result.provider_data.get(DIALECT));
    fields
}

//! Canonical answers to wire ones.
//!
//! The client sends back what it gets. Other dialects' state therefore travels in the two slots that this dialect has
//! for state: the signature of a thinking block, and a separate `redacted_thinking` block next to a block without a
//! slot, such as a tool call with a thought signature. Everything else that this API has no place for is a loss.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::dialect::losses::{block_loss, lost_in_failure, note_answer, note_block, note_usage};
use crate::dialect::seal::{Answerer, Sealed, may_be_state_alone};
use crate::dialect::{Reply, WireResponse};
use crate::json::wire::{Raw, Text, write};
use crate::{
    Block, BlockKind, Error, ErrorKind, Fields, FinishReason, Json, Loss, LossCode, Part, ProviderData, Response,
    Text as TextBlock,
};

use super::super::wire::{Answer, Item, Written};
use super::super::{DIALECT, content, error, usage};
use super::finish;

/// The longest id of a tool call that is given to a client, with some room for a number after it.
const LONGEST_ID: usize = 240;
/// The field for the block that the state in a sealed `redacted_thinking` block belongs to.
pub(in super::super) const BELONGS_TO: &str = "belongs_to";
/// The field for the id of the call that the state belongs to. Clients put blocks between a seal and its call, and move
/// all seals to the front, so the neighbour alone is not enough.
pub(in super::super) const CALL: &str = "call";

/// The block that the state in a sealed `redacted_thinking` block belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Neighbour {
    /// The next block.
    Next,
    /// The previous block.
    Previous,
    /// A text block that is nothing but this state, and is not written.
    Alone,
}

impl Neighbour {
    /// Reads the neighbour from a record. Returns `None` if the state is a thinking block's own.
    pub(in super::super) fn of(sealed: &Sealed) -> Option<Self> {
        sealed.note.get(BELONGS_TO)?.to().ok()
    }
}

/// Writes an answer for a client. An answer that broke becomes an error body.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> WireResponse {
    if response.finish_reason == FinishReason::Error {
        let unknown = Error::new(ErrorKind::Server, "the answer broke off");
        let body = error::encode_error(response.error.as_deref().unwrap_or(&unknown)).body;
        return WireResponse { body, losses: lost_in_failure(response) };
    }
    let mut writer = BlockWriter::new(reply, Some(&response.model));
    let blocks = response.content.iter().enumerate();
    let content: Vec<Item<'_>> = blocks.flat_map(|(index, block)| writer.write_whole(index, block)).collect();
    note_answer(&response.provider_data, DIALECT, &mut writer.losses);
    note_usage(response.usage.as_ref(), DIALECT, &mut writer.losses);
    let own = response.provider_data.part(DIALECT, Part::Answer);
    let calls = response.tool_calls().count();
    let answer = Answer {
        id: Some(response.id.clone().unwrap_or_else(|| format!("msg_{}", reply.ids.clone().next_id())).into()),
        kind: own.get("type").is_none().then(|| "message".into()),
        role: own.get("role").is_none().then(|| "assistant".into()),
        model: Some(writer.answerer.model.as_deref().unwrap_or_default().into()),
        content: Some(content),
        usage: (response.usage.is_some() || own.is_empty()).then(|| usage::encode(response.usage.as_ref())),
        ..ending(response.finish_reason, own, calls)
    };
    WireResponse { body: write(&answer), losses: writer.losses }
}

/// Writes the end of an answer, with this dialect's own fields for it.
pub(in super::super) fn ending(reason: FinishReason, own: &Fields, calls: usize) -> Answer<'_> {
    let null = |wanted: bool| (wanted && own.is_empty()).then(|| Raw::of(&()));
    let word = own.get("stop_reason");
    // This API's own stop reason if it still fits, otherwise the one for the canonical reason.
    let fits = word.is_some_and(|word| finish(word.as_str().as_deref(), calls) == reason);
    let stop_reason = word.filter(|_| fits).map(Raw::from).or_else(|| {
        let was_said = word.is_some() || own.is_empty() || reason != FinishReason::Unknown;
        was_said.then(|| Raw::of(stop_reason(reason)))
    });
    Answer {
        stop_reason,
        stop_sequence: own.get("stop_sequence").map(Raw::from).or_else(|| null(true)),
        stop_details: null(reason == FinishReason::ContentFilter),
        rest: own.as_rest(),
        ..Answer::default()
    }
}

fn stop_reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::Error | FinishReason::Unknown => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ToolUse => "tool_use",
        FinishReason::ContentFilter => "refusal",
    }
}

/// Writes the blocks of one answer.
#[derive(Debug)]
pub(in super::super) struct BlockWriter {
    pub(in super::super) answerer: Answerer,
    /// The ids of the calls so far.
    ids: HashSet<String>,
    pub(in super::super) losses: Vec<Loss>,
}

impl BlockWriter {
    pub(in super::super) fn new(reply: &Reply, model: Option<&str>) -> Self {
        BlockWriter { answerer: Answerer::new(reply, model), ids: HashSet::new(), losses: Vec::new() }
    }

    fn seal(&self, data: &ProviderData, kind: BlockKind) -> Option<Sealed> {
        Sealed::of(data, kind, DIALECT, &self.answerer)
    }

    /// Returns a thinking block's signature: its own, or a seal around foreign state.
    pub(in super::super) fn signature<'a>(&self, data: &'a ProviderData) -> Option<Cow<'a, str>> {
        let own = data.part_str(DIALECT, Part::State, "signature");
        own.or_else(|| Some(self.seal(data, BlockKind::Thinking)?.to_text().into()))
    }

    /// Returns the block that carries another block's foreign state, if it has any.
    ///
    /// Text blocks have no field that clients send back but the citations, which they show. At the end of a stream, where
    /// Gemini's signature comes after its text, this block is the last one: an empty text after it would be taken for the
    /// answer, and is refused when the client sends it back.
    pub(in super::super) fn carrier(
        &self,
        data: &ProviderData,
        kind: BlockKind,
        neighbour: Neighbour,
        call: Option<&str>,
    ) -> Option<Item<'static>> {
        let mut sealed = self.seal(data, kind)?;
        sealed.note.set(BELONGS_TO, Json::of(&neighbour).unwrap_or_default());
        if let Some(call) = call {
            sealed.note.set(CALL, call);
        }
        static NOTHING: ProviderData = ProviderData::NONE;
        Some(content::write_redacted(sealed.to_text().into(), &NOTHING).into())
    }

    /// Returns the block that carries the state of a text that is nothing else.
    pub(in super::super) fn alone(&self, text: &TextBlock) -> Option<Item<'static>> {
        if !may_be_state_alone(text, DIALECT) {
            return None;
        }
        self.carrier(&text.provider_data, BlockKind::Text, Neighbour::Alone, None)
    }

    /// Returns a call's id in a form that clients of this API accept, and that differs from the ids before it.
    fn call_id<'a>(&mut self, id: &'a str, index: usize) -> Cow<'a, str> {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let safe: String = id.chars().take(LONGEST_ID).map(|c| if is_safe(c) { c } else { '_' }).collect();
        let mut sent = if safe.is_empty() { "_".to_owned() } else { safe };
        while !self.ids.insert(sent.clone()) {
            sent.push_str(&format!("_{index}"));
        }
        if sent == id {
            return Cow::Borrowed(id);
        }
        let why = format!("call ids can contain only letters, digits, _ and - here; `{id}` is sent as `{sent}`");
        self.losses.push(Loss::info(LossCode::Renamed, "tool_call", format!("content[{index}].id"), why));
        Cow::Owned(sent)
    }

    /// Notes that a block has no form on this wire.
    fn lose(&mut self, code: LossCode, kind: BlockKind, index: usize, why: &str) {
        self.losses.push(Loss::new(code, kind.as_str(), format!("content[{index}]"), why));
    }

    /// Writes a block to which nothing is added.
    fn write_whole<'a>(&mut self, index: usize, block: &'a Block) -> Vec<Item<'a>> {
        if let Block::Text(text) = block
            && let Some(carrier) = self.alone(text)
        {
            note_block(&text.provider_data, DIALECT, index, &mut self.losses);
            return vec![carrier];
        }
        self.write(index, block)
    }

    /// Writes a block as wire blocks: the one that carries its foreign state, if any, and then the block itself.
    /// Returns none, and notes a loss, if this API has no such block.
    pub(in super::super) fn write<'a>(&mut self, index: usize, block: &'a Block) -> Vec<Item<'a>> {
        let (kind, data) = (block.kind(), block.provider_data());
        if let Some(data) = data {
            note_block(data, DIALECT, index, &mut self.losses);
        }
        let written = match block {
            Block::Text(text) => {
                Written { text: Some(text.text.as_str().into()), ..content::start("text", None, &text.provider_data) }
            }
            Block::Thinking(thinking) => {
                let seal = || self.seal(&thinking.provider_data, kind).map(|sealed| sealed.to_text());
                return vec![content::write_thinking(thinking, seal).into()];
            }
            Block::ToolCall(call) => {
                if content::arguments(call).is_none() {
                    self.lose(LossCode::NotInDialect, kind, index, "its arguments are cut off; sent without arguments");
                }
                let id = Some(Text(self.call_id(&call.id, index)));
                Written { id, ..content::write_call(call, content::arguments(call), None, &call.provider_data) }
            }
            Block::Other(other) if other.dialect != DIALECT => {
                self.losses.push(block_loss(other, format!("content[{index}]")));
                return Vec::new();
            }
            Block::Other(other) if other.data.is_object() => return vec![Item::from(&other.data)],
            Block::Other(_) => {
                self.lose(LossCode::ForeignContent, kind, index, "it is not an object; left out");
                return Vec::new();
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) => {
                self.lose(LossCode::Media, kind, index, "answers of this API are text; left out");
                return Vec::new();
            }
            Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {
                let why = "answers of this API cannot contain tool results; left out";
                self.lose(LossCode::NotInDialect, kind, index, why);
                return Vec::new();
            }
        };
        let call = written.id.as_ref().filter(|_| kind == BlockKind::ToolCall).map(Text::as_str);
        let carrier = data.and_then(|data| self.carrier(data, kind, Neighbour::Next, call));
        carrier.into_iter().chain([written.into()]).collect()
    }
}

//! Reasoning in parts of `content`: Mistral's `thinking`, and Databricks' `reasoning`.

use std::borrow::Cow;

use super::DIALECT;
use super::content::{PLAIN, cache_hint, is_cache_field, text_part};
use super::notes::{self, Notes, REASONING_FIELD, SIGNATURE, Side, shape};
use super::wire::{Part, Signed};
use crate::fit::StateUse;
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::{Raw, Text, read_str};
use crate::{Block, Json, ThinkingBlock};

/// The value of [`REASONING_FIELD`] for reasoning that came as a part of `content`.
pub(super) const FIELD_CONTENT: &str = "content";
/// Shape: the kind of the part, if it is not `thinking`.
pub(super) const KIND: &str = "part";
/// The kind in which Databricks sends reasoning: a list of one text with its signature.
const REASONING: &str = "reasoning";
/// Shape: the list in the part, if it is not as we write it.
const CHUNKS: &str = "chunks";

/// Reads a part with reasoning. Returns `None` if it is of another kind, or not of a known form.
pub(super) fn read(part: &mut Part<'_>) -> Option<Block> {
    let mut notes = Notes::default();
    let text = match part.kind.as_ref()?.as_str() {
        "thinking" => {
            let text = read_thinking(part.thinking.as_ref()?, &mut notes)?;
            part.thinking = None;
            text
        }
        REASONING => {
            let text = read_summary(&part.summary, &mut notes)?;
            part.summary.clear();
            notes.shape.set(KIND, REASONING);
            text
        }
        _ => return None,
    };
    notes.shape.set(REASONING_FIELD, FIELD_CONTENT);
    part.kind = None;
    // A signature, or the mark of a closed thought: both are sent back with the part.
    notes.extra = std::mem::take(part).leftovers();
    if let Some(signature) = notes.extra.remove(SIGNATURE) {
        notes.state.set(SIGNATURE, signature);
    }
    // The model's thinking is sent back to it, so its fields are those of a request on both sides.
    Some(Block::Thinking(ThinkingBlock { text, provider_data: notes.into_data(Side::Request) }))
}

/// Returns the text of a `thinking` part, which is a string or a list of text parts.
fn read_thinking(raw: &Raw<'_>, notes: &mut Notes) -> Option<String> {
    if let Some(text) = raw.as_str() {
        notes.mark(PLAIN);
        return Some(text.into_owned());
    }
    let text = chunk_text(raw.text())?;
    let chunks = raw.to_json();
    if chunks != serde_json::json!([{"type": "text", "text": text}]) {
        notes.shape.set(CHUNKS, chunks);
    }
    Some(text)
}

/// Returns the text of a list of text parts, or `None` if it is not a list.
fn chunk_text(list: &str) -> Option<String> {
    let parts: Vec<serde_json::Value> = read_str(list).ok()?;
    Some(parts.iter().filter_map(|chunk| chunk.get("text")?.as_str()).collect())
}

/// Returns the only text in the summary of a `reasoning` part.
fn read_summary(summary: &[Raw<'_>], notes: &mut Notes) -> Option<String> {
    let [only] = summary else { return None };
    let mut signed: Signed<'_> = read_raw(&only.0)?;
    signed.kind.take_if(|kind| kind.as_str() == "summary_text")?;
    let text = signed.text.take()?.into_string();
    if let Some(signature) = signed.signature.take_if(|signature| !signature.as_str().is_empty()) {
        notes.state.set(SIGNATURE, signature.as_str());
    }
    if !signed.leftovers().is_empty() {
        notes.shape.set(CHUNKS, Json::of(&[only]).unwrap_or_default());
    }
    Some(text)
}

/// Writes reasoning as the part that it came in, or else as a `thinking` part.
pub(super) fn write(block: &ThinkingBlock, state: StateUse) -> Part<'_> {
    let data = &block.provider_data;
    let signature = data.part(DIALECT, crate::Part::State).get(SIGNATURE).filter(|_| state == StateUse::Own);
    let extra = notes::extra(data, Side::Request);
    let mut rest = extra.as_rest();
    if cache_hint(extra).is_some() {
        rest.retain(|(name, _)| !is_cache_field(name));
    }
    if shape(data).str(KIND).as_deref() == Some(REASONING) {
        let summary = write_summary(block, signature.and_then(Json::as_str).map(Text));
        return Part { kind: Some(REASONING.into()), summary, rest, ..Part::default() };
    }
    rest.extend(signature.map(|signature| (Cow::Borrowed(SIGNATURE), Cow::Borrowed(signature.raw()))));
    Part { kind: Some("thinking".into()), thinking: Some(write_thinking(block)), rest, ..Part::default() }
}

/// Writes the text of a `thinking` part, in its original chunks if they still have the same text.
fn write_thinking(block: &ThinkingBlock) -> Raw<'_> {
    let shape = shape(&block.provider_data);
    let chunks = shape.get(CHUNKS).filter(|chunks| chunk_text(chunks.text()).as_ref() == Some(&block.text));
    match chunks {
        _ if shape.flag(PLAIN) => Raw::of(&block.text),
        Some(chunks) => Raw::from(chunks),
        None => Raw::of(&[text_part(&block.text)]),
    }
}

/// Writes the summary of a `reasoning` part, as it came if it still says the same.
fn write_summary<'a>(block: &'a ThinkingBlock, signature: Option<Text<'a>>) -> Vec<Raw<'a>> {
    let chunks = shape(&block.provider_data).get(CHUNKS);
    let kept: Option<Vec<Raw<'_>>> = chunks.and_then(|chunks| serde_json::from_str(chunks.text()).ok());
    let is_same = |kept: &Vec<Raw<'_>>| {
        let mut notes = Notes::default();
        let text = read_summary(kept, &mut notes);
        text.as_ref() == Some(&block.text)
            && notes.state.str(SIGNATURE).as_deref() == signature.as_ref().map(Text::as_str)
    };
    if let Some(kept) = kept.filter(is_same) {
        return kept;
    }
    let text = Some(block.text.as_str().into());
    vec![Raw::of(&Signed { kind: Some("summary_text".into()), text, signature, ..Signed::default() })]
}

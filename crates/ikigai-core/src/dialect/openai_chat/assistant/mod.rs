//! What the assistant says, as it stands in answers and in the history of requests.

mod calls;
mod media;
mod sealed;

use serde_json::{Map, Value};

use super::marks::{
    DIALECT, EXTRA, REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, REFUSAL, Shape, Side, keep_extra, put_back,
    take_list, take_text,
};
use super::part::{self, FIELD_CONTENT};
use crate::{Block, Ids, ProviderData, Text, ThinkingBlock};

use calls::{function_call, put_calls, tool_calls};
use media::{audio, images, put_media};

pub(super) use calls::{Spelling, call_fields, call_state};
pub(super) use media::{audio_block, audio_id, has_own_field, joined_audio, made_images};
pub(super) use sealed::{seal, seal_parts, take_sealed, unseal};

/// The fields that bear reasoning as plain text, first choice first.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// A message of the assistant, read.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) content: Vec<Block>,
    /// What goes into the `provider_data` of the message or the answer: leftovers of this side.
    pub(super) kept: Map<String, Value>,
    /// Google's slot for signatures, where the message itself has one.
    pub(super) extra_content: Option<Value>,
}

/// Reads a message's fields, its role apart.
pub(super) fn decode(mut fields: Map<String, Value>, side: Side, ids: &mut Ids) -> Said {
    let mut said = Said::default();
    said.content.extend(reasoning(&mut fields));
    let before = said.content.len();
    let shape = content(&mut fields, side, &mut said.content);
    if let Some(text) = fields.get("refusal").and_then(Value::as_str)
        && !text.is_empty()
    {
        said.content.extend(take_text(&mut fields, "refusal").map(refusal));
    }
    images(&mut fields, side, &mut said.content);
    said.content.extend(audio(&mut fields, side));
    let before_calls = said.content.len();
    function_call(&mut fields, side, ids, &mut said.content);
    tool_calls(&mut fields, side, ids, &mut said);
    let has_calls = said.content.len() > before_calls;
    match shape {
        // That is how it is written anyway.
        Some(Shape::Null) if has_calls && before == before_calls => {}
        Some(shape) => shape.note(&mut said.kept),
        None => {}
    }
    said.extra_content = fields.shift_remove("extra_content");
    keep_extra(&mut said.kept, fields);
    said
}

/// The thinking block that the reasoning fields make, if they say anything. Empty ones stay where they are.
fn reasoning(fields: &mut Map<String, Value>) -> Option<Block> {
    let mut provider_data = ProviderData::default();
    let says = |fields: &Map<String, Value>, key: &str| {
        fields.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    let field = REASONING_FIELDS.into_iter().find(|key| says(fields, key));
    let mut text = field.and_then(|field| take_text(fields, field)).unwrap_or_default();
    if let Some(field) = field {
        provider_data.set(DIALECT, REASONING_FIELD, field);
        let also = REASONING_FIELDS.into_iter().find(|key| fields.get(*key).is_some_and(|other| *other == text));
        if let Some(also) = also {
            fields.shift_remove(also);
            provider_data.set(DIALECT, REASONING_ALSO, also);
        }
    }
    let has_details = fields.get("reasoning_details").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    if has_details {
        let details = take_list(fields, "reasoning_details").unwrap_or_default();
        if field.is_none() {
            text = details_text(&details);
            provider_data.set(DIALECT, REASONING_FIELD, REASONING_DETAILS);
        }
        provider_data.set(DIALECT, REASONING_DETAILS, details);
    }
    (!provider_data.is_empty()).then_some(Block::Thinking(ThinkingBlock { text, provider_data }))
}

/// The visible text of `reasoning_details`.
pub(super) fn details_text(details: &[Value]) -> String {
    details.iter().filter_map(|detail| detail.get("text").or_else(|| detail.get("summary"))?.as_str()).collect()
}

/// Reads `content`, and says how it was written where the blocks do not tell.
fn content(fields: &mut Map<String, Value>, side: Side, blocks: &mut Vec<Block>) -> Option<Shape> {
    match fields.get("content") {
        None => Some(Shape::Absent),
        Some(Value::Null) => {
            fields.shift_remove("content");
            Some(Shape::Null)
        }
        Some(Value::String(text)) if text.is_empty() => {
            fields.shift_remove("content");
            Some(Shape::Empty)
        }
        Some(Value::String(_)) => {
            blocks.extend(take_text(fields, "content").map(Block::text));
            None
        }
        Some(Value::Array(_)) => {
            let parts = take_list(fields, "content").unwrap_or_default();
            blocks.extend(parts.into_iter().map(|part| part::decode(part, side)));
            Some(Shape::Parts)
        }
        // Nobody writes it so; it stays as it is.
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => Some(Shape::Absent),
    }
}

pub(super) fn refusal(text: String) -> Block {
    let mut block = Text { text, ..Text::default() };
    block.provider_data.set(DIALECT, REFUSAL, true);
    Block::Text(block)
}

/// Writes a message's fields as they came, the role apart: for answers, and for requests that go back unchanged.
///
/// Thinking that came from nowhere in this dialect goes into `default_field`.
pub(super) fn encode(
    content: &[Block],
    kept: Option<&Map<String, Value>>,
    side: Side,
    default_field: &str,
) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(value) = content_value(content, Shape::read(kept), side) {
        fields.insert("content".to_owned(), value);
    }
    let refusals: String = content.iter().filter_map(|block| refusal_text(block, side)).collect();
    if !refusals.is_empty() {
        fields.insert("refusal".to_owned(), refusals.into());
    }
    put_reasoning(&mut fields, content, default_field);
    put_media(&mut fields, content, Shape::read(kept), side);
    put_calls(&mut fields, content, kept, side);
    put_back(&mut fields, kept.and_then(|kept| kept.get(EXTRA)?.as_object()));
    fields
}

fn refusal_text(block: &Block, side: Side) -> Option<&str> {
    match block {
        Block::Text(text) if part::is_refusal_field(text, side) => Some(&text.text),
        _ => None,
    }
}

/// Where a thinking block came from.
fn field_of(block: &ThinkingBlock) -> Option<&str> {
    block.provider_data.str(DIALECT, REASONING_FIELD)
}

/// `content` in the shape that it had, while that still fits the blocks.
fn content_value(content: &[Block], shape: Option<Shape>, side: Side) -> Option<Value> {
    let parts = shape == Some(Shape::Parts);
    let is_in_content = |block: &&Block| match block {
        Block::Text(text) => !part::is_refusal_field(text, side),
        Block::Thinking(thinking) => field_of(thinking) == Some(FIELD_CONTENT),
        Block::Other(other) => other.dialect == DIALECT,
        Block::Image(_) | Block::Audio(_) | Block::Document(_) => parts && !has_own_field(block),
        Block::ToolCall(_) | Block::ToolResult(_) => false,
    };
    let inside: Vec<&Block> = content.iter().filter(is_in_content).collect();
    let needs_parts = shape == Some(Shape::Parts) || inside.iter().any(|block| block.as_text().is_none());
    if needs_parts {
        return Some(Value::Array(inside.iter().filter_map(|block| part::encode(block, side)).collect()));
    }
    if inside.is_empty() {
        return match shape {
            Some(Shape::Absent) => None,
            Some(Shape::Empty) => Some("".into()),
            Some(Shape::Null | Shape::Parts) | None => Some(Value::Null),
        };
    }
    Some(inside.iter().filter_map(|block| block.as_text()).collect::<String>().into())
}

/// The reasoning fields, each as it came.
fn put_reasoning(fields: &mut Map<String, Value>, content: &[Block], default_field: &str) {
    let mut details = Vec::new();
    for block in content {
        let Block::Thinking(thinking) = block else { continue };
        let field = field_of(thinking).unwrap_or(default_field);
        if field == FIELD_CONTENT {
            continue;
        }
        let also = thinking.provider_data.str(DIALECT, REASONING_ALSO);
        for field in [Some(field), also].into_iter().flatten().filter(|field| *field != REASONING_DETAILS) {
            if thinking.text.is_empty() {
                continue;
            }
            match fields.get_mut(field) {
                Some(Value::String(text)) => text.push_str(&thinking.text),
                _ => {
                    fields.insert(field.to_owned(), thinking.text.as_str().into());
                }
            }
        }
        details.extend(details_of(thinking).iter().cloned());
    }
    if !details.is_empty() {
        fields.insert("reasoning_details".to_owned(), Value::Array(details));
    }
}

/// The details that a thinking block keeps.
pub(super) fn details_of(thinking: &ThinkingBlock) -> &[Value] {
    thinking.provider_data.value(DIALECT, REASONING_DETAILS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

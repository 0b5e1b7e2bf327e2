//! One item of the model's side to blocks.

use serde_json::Value;

use crate::dialect::openai_responses::fields::{keep, other, take_list, take_object, take_text, text};
use crate::dialect::openai_responses::{ME, Object};
use crate::{Block, ProviderData, Text, ThinkingBlock, ToolCall};

/// Reads one item. One that we do not know, or that is not made as it should be, is kept whole.
///
/// `after_text` says that the block before is a text, so that a mark is needed where the new item begins.
pub(in super::super) fn decode(item: Object, after_text: bool) -> Vec<Block> {
    match item.get("type").and_then(Value::as_str) {
        None | Some("message") if is_message(&item) => message(item, after_text),
        Some("reasoning") if is_reasoning(&item) => vec![Block::Thinking(thinking(item))],
        Some("function_call") if is_call(&item) => vec![Block::ToolCall(call(item))],
        _ => vec![Block::Other(other(item))],
    }
}

fn is_message(item: &Object) -> bool {
    text(item, "role") == Some("assistant")
        && match item.get("content") {
            Some(Value::String(_)) => true,
            Some(Value::Array(parts)) => !parts.is_empty() && parts.iter().all(is_text_part),
            _ => false,
        }
}

fn is_text_part(part: &Value) -> bool {
    let Value::Object(part) = part else { return false };
    match text(part, "type") {
        Some("output_text" | "input_text" | "text") => text(part, "text").is_some(),
        Some("refusal") => text(part, "refusal").is_some(),
        _ => false,
    }
}

fn message(mut item: Object, after_text: bool) -> Vec<Block> {
    let easy = item.shift_remove("type").is_none();
    item.shift_remove("role");
    let content = item.shift_remove("content");
    let mut first = ProviderData::default();
    if after_text || !item.is_empty() {
        first.set(ME, "item", Value::Object(item));
    }
    if easy {
        first.set(ME, "easy", true);
    }
    let parts = match content {
        Some(Value::String(text)) => {
            first.set(ME, "string", true);
            return vec![Block::Text(Text { text, cache: None, provider_data: first })];
        }
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    let mut data = first;
    parts.into_iter().map(|part| Block::Text(output_part(part, std::mem::take(&mut data)))).collect()
}

fn output_part(part: Value, mut data: ProviderData) -> Text {
    let Value::Object(mut part) = part else { return Text::default() };
    let kind = take_text(&mut part, "type").unwrap_or_default();
    let text = if kind == "refusal" {
        data.set(ME, "refusal", true);
        take_text(&mut part, "refusal")
    } else {
        if kind != "output_text" {
            data.set(ME, "part_type", kind);
        }
        for key in ["annotations", "logprobs"] {
            if let Some(value) = part.shift_remove(key) {
                data.set(ME, key, value);
            }
        }
        take_text(&mut part, "text")
    };
    keep(&mut data, "extra", part);
    Text { text: text.unwrap_or_default(), cache: None, provider_data: data }
}

fn is_reasoning(item: &Object) -> bool {
    let texts = |key: &str, absent: bool| match item.get(key) {
        None => absent,
        Some(Value::Null) => key == "content",
        Some(Value::Array(parts)) => parts.iter().all(|part| part.get("text").is_some_and(Value::is_string)),
        Some(_) => false,
    };
    texts("summary", true) && texts("content", true)
}

/// Reasoning. What is shown is the reasoning itself where the provider gives it, else its summary.
///
/// The parts of a summary are joined by nothing: each begins with its own heading.
fn thinking(mut item: Object) -> ThinkingBlock {
    let mut data = ProviderData::default();
    item.shift_remove("type");
    for key in ["id", "encrypted_content"] {
        if let Some(text) = take_text(&mut item, key) {
            data.set(ME, key, text);
        }
    }
    let summary = take_list(&mut item, "summary");
    let raw = item.get("content").and_then(Value::as_array).map(|parts| text_of(parts)).unwrap_or_default();
    let shown = if raw.is_empty() { text_of(summary.as_deref().unwrap_or_default()) } else { raw.clone() };
    match summary {
        None => data.set(ME, "summary", Value::Null),
        // One plain part is written again from the text.
        Some(parts) if raw.is_empty() && parts == plain_summary(&shown) => {}
        Some(parts) if !raw.is_empty() && parts.is_empty() => {}
        Some(parts) => data.set(ME, "summary", parts),
    }
    if !raw.is_empty()
        && let Some(content) = take_list(&mut item, "content")
    {
        data.set(ME, "content", content);
    }
    keep(&mut data, "extra", item);
    ThinkingBlock { text: shown, provider_data: data }
}

/// The texts of parts, joined by nothing.
pub(in super::super) fn text_of(parts: &[Value]) -> String {
    parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// The summary that a text is written as.
pub(super) fn plain_summary(text: &str) -> Vec<Value> {
    if text.is_empty() { Vec::new() } else { vec![serde_json::json!({"type": "summary_text", "text": text})] }
}

fn is_call(item: &Object) -> bool {
    let has_id = match item.get("call_id") {
        None => text(item, "id").is_some(),
        Some(id) => id.is_string(),
    };
    has_id
        && text(item, "name").is_some_and(|name| !name.is_empty())
        && matches!(item.get("arguments"), None | Some(Value::String(_) | Value::Object(_)))
}

fn call(mut item: Object) -> ToolCall {
    let mut call = ToolCall::default();
    item.shift_remove("type");
    let id = take_text(&mut item, "id");
    // The item's own id stands in on servers that give no other.
    call.id = take_text(&mut item, "call_id").or_else(|| id.clone()).unwrap_or_default();
    call.name = take_text(&mut item, "name").unwrap_or_default();
    if let Some(arguments) = take_object(&mut item, "arguments") {
        call.arguments = arguments.into();
        call.provider_data.set(ME, "arguments", "object");
    } else if let Some(arguments) = take_text(&mut item, "arguments") {
        call.arguments = crate::Arguments::from_text(arguments);
    } else {
        call.provider_data.set(ME, "arguments", "absent");
    }
    if let Some(id) = id {
        call.provider_data.set(ME, "id", id);
    }
    if let Some(status) = take_text(&mut item, "status") {
        call.provider_data.set(ME, "status", status);
    }
    keep(&mut call.provider_data, "extra", item);
    call
}

//! Blocks to items of the model's side.

use serde_json::{Value, json};

use super::decode::{plain_summary, text_of};
use crate::dialect::openai_responses::fields::{object, own, own_object, put_back};
use crate::dialect::openai_responses::{ME, Object};
use crate::{Text, ThinkingBlock, ToolCall};

/// How much of what came along with an item is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Keep {
    /// All of it: the document is to be the one that was read.
    Everything,
    /// What a model needs of its own history. Ids of items are left off, because items are looked up by them on the
    /// server, where they are not stored.
    History,
    /// Nothing: it is of another provider.
    Nothing,
}

/// Does a new message item begin with this text, as it was read?
pub(in super::super) fn begins_item(text: &Text) -> bool {
    own(&text.provider_data).is_some_and(|own| own.contains_key("item"))
}

/// Writes a part of a message of the model.
pub(in super::super) fn output_part(text: &Text, keep: Keep) -> Object {
    let data = &text.provider_data;
    if text.is_refusal() {
        let mut part = object([("type", "refusal".into()), ("refusal", text.text.as_str().into())]);
        if keep == Keep::Everything {
            put_back(&mut part, own_object(data, "extra"));
        }
        return part;
    }
    let kind = data.str(ME, "part_type").filter(|_| keep == Keep::Everything).unwrap_or("output_text");
    let mut part = object([("type", kind.into()), ("text", text.text.as_str().into())]);
    if keep == Keep::Everything {
        for key in ["annotations", "logprobs"] {
            if let Some(value) = data.value(ME, key) {
                part.insert(key.into(), value.clone());
            }
        }
        put_back(&mut part, own_object(data, "extra"));
    }
    part
}

/// A message item that more parts may join.
#[derive(Debug)]
pub(in super::super) struct OpenMessage {
    item: Object,
    parts: Vec<Value>,
    as_text: bool,
}

impl OpenMessage {
    /// Begins with the text that carries the item's marks.
    pub(in super::super) fn new(first: &Text, keep: Keep) -> Self {
        let data = &first.provider_data;
        let mut item = Object::new();
        if !data.flag(ME, "easy") {
            item.insert("type".into(), "message".into());
        }
        item.insert("role".into(), "assistant".into());
        match keep {
            Keep::Everything => put_back(&mut item, own_object(data, "item")),
            Keep::History => {
                put_back(&mut item, own_object(data, "item"));
                item.shift_remove("id");
                item.shift_remove("status");
            }
            Keep::Nothing => {}
        }
        OpenMessage { item, parts: Vec::new(), as_text: data.flag(ME, "string") }
    }

    /// Adds a part.
    pub(in super::super) fn push(&mut self, part: Object) {
        self.parts.push(Value::Object(part));
    }

    /// The whole item.
    pub(in super::super) fn close(mut self) -> Object {
        let content = match self.parts.as_slice() {
            [Value::Object(part)] if self.as_text && part.get("type").is_some_and(|kind| kind == "output_text") => {
                part.get("text").cloned().unwrap_or_default()
            }
            _ => Value::Array(std::mem::take(&mut self.parts)),
        };
        self.item.insert("content".into(), content);
        self.item
    }
}

/// Writes a function call.
pub(in super::super) fn call(call: &ToolCall, call_id: &str, keep: Keep) -> Object {
    let data = &call.provider_data;
    let arguments = match data.str(ME, "arguments").filter(|_| keep == Keep::Everything) {
        Some("object") if call.is_complete() => Some(Value::Object(call.arguments.object().clone())),
        Some("absent") if call.arguments.text() == "{}" => None,
        _ => Some(call.arguments.text().to_owned().into()),
    };
    let mut item =
        object([("type", "function_call".into()), ("call_id", call_id.into()), ("name", call.name.as_str().into())]);
    if let Some(arguments) = arguments {
        item.insert("arguments".into(), arguments);
    }
    if keep == Keep::Everything {
        for key in ["id", "status"] {
            if let Some(value) = data.value(ME, key) {
                item.insert(key.into(), value.clone());
            }
        }
    }
    if keep != Keep::Nothing {
        put_back(&mut item, own_object(data, "extra"));
    }
    item
}

/// Writes a reasoning item with the state that this dialect left on the block.
pub(in super::super) fn reasoning(block: &ThinkingBlock, keep: Keep) -> Object {
    let data = &block.provider_data;
    let mut item = object([("type", "reasoning".into())]);
    if let Some(id) = data.value(ME, "id") {
        item.insert("id".into(), id.clone());
    }
    // What the block shows is either the reasoning itself or its summary. Parts that no longer say the same as the
    // block are not written again.
    let content = data.value(ME, "content").filter(|parts| says(parts, &block.text));
    let summary = match (data.value(ME, "summary"), content) {
        (Some(Value::Null), _) if block.text.is_empty() || content.is_some() => None,
        (Some(Value::Array(parts)), Some(_)) => Some(Value::Array(parts.clone())),
        (Some(parts), None) if says(parts, &block.text) => Some(parts.clone()),
        (_, Some(_)) => Some(json!([])),
        (_, None) => Some(plain_summary(&block.text).into()),
    };
    if let Some(summary) = summary {
        item.insert("summary".into(), summary);
    }
    if let Some(content) = content {
        item.insert("content".into(), content.clone());
    }
    if let Some(sealed) = data.value(ME, "encrypted_content") {
        item.insert("encrypted_content".into(), sealed.clone());
    }
    put_back(&mut item, own_object(data, "extra"));
    if keep != Keep::Everything {
        item.shift_remove("status");
        item.retain(|_, value| !value.is_null());
    }
    item
}

fn says(parts: &Value, text: &str) -> bool {
    parts.as_array().is_some_and(|parts| text_of(parts) == text)
}

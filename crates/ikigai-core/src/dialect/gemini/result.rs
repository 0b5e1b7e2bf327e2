//! What a tool answered: the `functionResponse` of a part.
//!
//! Its `response` must be an object, by convention `{"output": …}` or `{"error": …}`; any other object is taken whole.
//! The format's answer is text, so a payload that is not a text becomes JSON text, with a mark to turn it back.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::leftovers::Leftovers;
use super::wire::{FunctionResponse, Part};
use super::{DIALECT, content};
use crate::json::tagged::Object;
use crate::json::text::unescape;
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::{Block, Part as DataPart, ProviderData, ToolResult};

/// In the shape: the tool's name, as the result gave it.
pub(super) const NAME: &str = "name";
/// In the shape: how `response` was built, where that was not `{"output": …}`, or `{"error": …}` for a failure.
const PAYLOAD: &str = "payload";
/// In the shape: the payload was JSON and not a text.
const JSON: &str = "json";

/// The keys that may hold the payload alone.
const KEYS: [&str; 4] = ["output", "error", "content", "result"];

/// Reads the `functionResponse` of a part.
pub(super) fn decode(mut response: FunctionResponse<'_>, data: &mut ProviderData, left: &mut Leftovers) -> Block {
    let tool_call_id = content::take_id(&mut response.id);
    if let Some(name) = response.name.take() {
        data.set_part(DIALECT, DataPart::Shape, NAME, name.into_string());
    }
    let said = match response.response.take() {
        Some(object) => Said::read(object),
        None => Said { shape: "absent".into(), ..Said::default() },
    };
    said.mark(data);
    let mut blocks = Vec::new();
    if !said.text.is_empty() {
        blocks.push(Block::text(said.text.into_owned()));
    }
    blocks.extend(response.parts.take().into_iter().flatten().map(content::decode));
    left.take_inner("functionResponse", response.leftovers());
    let is_error = said.is_error;
    Block::ToolResult(ToolResult { tool_call_id, content: blocks, is_error, ..ToolResult::default() })
}

/// A result as a part: its text, and the parts of what is not text.
pub(super) fn encode<'a>(
    result: &'a ToolResult,
    name: Cow<'a, str>,
    id: Option<&'a str>,
    media: Vec<Part<'a>>,
) -> Part<'a> {
    let response = FunctionResponse {
        id: id.map(Text::from),
        name: Some(Text(name)),
        response: Said::of(result).write(),
        parts: (!media.is_empty()).then_some(media),
        ..FunctionResponse::default()
    };
    Part { result: Some(Box::new(response)), ..Part::default() }
}

/// The text of a result, its blocks joined by a blank line.
fn text_of(result: &ToolResult) -> Cow<'_, str> {
    let mut texts = result.content.iter().filter_map(Block::as_text);
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |joined, more| Cow::Owned(joined.into_owned() + "\n\n" + more))
}

/// What a result says, and the shape of the object that says it.
#[derive(Debug, Default, PartialEq)]
struct Said<'a> {
    text: Cow<'a, str>,
    is_error: bool,
    /// A key, `whole`, `empty`, `absent`; or nothing: the conventional key.
    shape: Cow<'a, str>,
    json: bool,
}

impl<'a> Said<'a> {
    fn read(object: Object<'a>) -> Self {
        let is_null = |raw: &RawValue| raw.get() == "null";
        match object.0.as_slice() {
            [] => Said { shape: "empty".into(), ..Said::default() },
            // `{"error": null}` says that there was none.
            [(key, value)] if KEYS.contains(&key.as_ref()) && !(key == "error" && is_null(value)) => {
                let is_error = key == "error";
                let shape = if is_error || key == "output" { Cow::default() } else { key.clone() };
                match unescape(value.get()) {
                    Some(text) => Said { text: text.into_owned().into(), is_error, shape, json: false },
                    None => Said { text: value.get().to_owned().into(), is_error, shape, json: true },
                }
            }
            fields => {
                let has = |name: &str| fields.iter().any(|(key, value)| key == name && !is_null(value));
                let is_error = has("error") && !fields.iter().any(|(key, _)| key == "output");
                let text = serde_json::to_string(&object).unwrap_or_default().into();
                Said { text, is_error, shape: "whole".into(), json: false }
            }
        }
    }

    fn mark(&self, data: &mut ProviderData) {
        if !self.shape.is_empty() {
            data.set_part(DIALECT, DataPart::Shape, PAYLOAD, self.shape.as_ref());
        }
        if self.json {
            data.set_part(DIALECT, DataPart::Shape, JSON, true);
        }
    }

    fn of(result: &'a ToolResult) -> Self {
        let shape = result.provider_data.part(DIALECT, DataPart::Shape);
        Said {
            text: text_of(result),
            is_error: result.is_error,
            shape: shape.str(PAYLOAD).unwrap_or_default(),
            json: shape.flag(JSON),
        }
    }

    /// The object; `None` where there was none. A shape that no longer fits the result is passed over.
    fn write(self) -> Option<Object<'a>> {
        match (self.shape.as_ref(), &self.text) {
            ("absent", text) if text.is_empty() && !self.is_error => return None,
            ("empty", text) if text.is_empty() && !self.is_error => return Some(Object::default()),
            ("whole", Cow::Borrowed(text)) => {
                if let Ok(object) = serde_json::from_str::<Object<'a>>(text)
                    && Said::read(object.clone()).is_built_like(&self)
                {
                    return Some(object);
                }
            }
            _ => {}
        }
        let key = match self.shape.as_ref() {
            _ if self.is_error => "error",
            "content" => "content",
            "result" => "result",
            _ => "output",
        };
        let json = self.json.then(|| RawValue::from_string(self.text.clone().into_owned()).ok()).flatten();
        let value = json.map_or_else(|| Raw::string(&self.text).0, Cow::Owned);
        Some(Object(vec![(Cow::Borrowed(key), value)]))
    }

    /// Whether the objects are built in the same way; their texts may differ in blanks.
    fn is_built_like(&self, other: &Said<'_>) -> bool {
        (&self.shape, self.is_error, self.json) == (&other.shape, other.is_error, other.json)
    }
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;

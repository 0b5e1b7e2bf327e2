//! What a tool answered: the `functionResponse` of a part.
//!
//! Its `response` must be an object, by convention `{"output": …}` or `{"error": …}`; any other object is taken whole.
//! The format's answer is text, so what was no text becomes JSON text, with a mark to turn it back.

use serde_json::{Map, Value};

use super::fields::{Fields, find};
use super::part;
use crate::{Block, Dialect, Other, ProviderData, ToolResult};

/// The tool's name, as the result gave it.
pub(super) const NAME: &str = "name";
/// How `response` was built, where that was not `{"output": …}`, or `{"error": …}` for a failure.
const PAYLOAD: &str = "payload";
/// The payload was JSON and not a text.
const JSON: &str = "json";

/// The keys that may hold the payload alone.
const KEYS: [&str; 4] = ["output", "error", "content", "result"];

/// Reads the `functionResponse` of a part. Takes nothing unless the whole fits.
pub(super) fn decode(fields: &mut Fields, data: &mut ProviderData) -> Option<Block> {
    let object = fields.get("functionResponse")?.as_object()?;
    if find(object, "response").is_some_and(|response| !response.is_object())
        || find(object, "name").is_some_and(|name| !name.is_string())
        || find(object, "parts").is_some_and(|parts| !parts.is_array())
    {
        return None;
    }
    let mut inner = fields.take_object("functionResponse")?;
    let tool_call_id = part::take_id(&mut inner);
    if let Some(name) = inner.take_text("name") {
        data.set(Dialect::Gemini, NAME, name);
    }
    let payload = match inner.take("response") {
        Some(Value::Object(response)) => Payload::read(response),
        _ => Payload { shape: "absent".to_owned(), ..Payload::default() },
    };
    payload.mark(data);
    let mut content = Vec::new();
    if !payload.text.is_empty() {
        content.push(Block::text(payload.text));
    }
    if let Some(Value::Array(parts)) = inner.take("parts") {
        content.extend(parts.into_iter().map(|part| match part {
            Value::Object(part) => part::decode(part),
            data => Block::Other(Other { dialect: Dialect::Gemini, data: data.into() }),
        }));
    }
    fields.close("functionResponse", inner);
    Some(Block::ToolResult(ToolResult { tool_call_id, content, is_error: payload.is_error, ..ToolResult::default() }))
}

/// A result as a part: its text, and the parts of what is no text.
pub(super) fn encode(
    result: &ToolResult,
    name: Option<&str>,
    id: Option<&str>,
    media: Vec<Value>,
) -> Map<String, Value> {
    let mut inner = Map::new();
    if let Some(id) = id {
        inner.insert("id".to_owned(), id.into());
    }
    if let Some(name) = name {
        inner.insert("name".to_owned(), name.into());
    }
    if let Some(response) = Payload::of(result).write() {
        inner.insert("response".to_owned(), response.into());
    }
    if !media.is_empty() {
        inner.insert("parts".to_owned(), media.into());
    }
    let mut part = Map::new();
    part.insert("functionResponse".to_owned(), inner.into());
    part
}

/// The text of a result, its blocks joined by a blank line.
fn text_of(result: &ToolResult) -> String {
    let texts: Vec<&str> = result.content.iter().filter_map(Block::as_text).collect();
    texts.join("\n\n")
}

/// The payload of a result and the shape of the object that holds it.
#[derive(Debug, Default, PartialEq)]
struct Payload {
    text: String,
    is_error: bool,
    /// A key, `whole`, `empty`, `absent`; or nothing: the conventional key.
    shape: String,
    json: bool,
}

impl Payload {
    fn read(mut response: Map<String, Value>) -> Self {
        if response.is_empty() {
            return Payload { shape: "empty".to_owned(), ..Payload::default() };
        }
        let only = if response.len() == 1 { KEYS.into_iter().find(|key| response.contains_key(*key)) } else { None };
        // `{"error": null}` says that there was none.
        match only {
            Some(key) if key != "error" || !response.values().all(Value::is_null) => {
                let is_error = key == "error";
                let shape = if is_error || key == "output" { String::new() } else { key.to_owned() };
                match response.shift_remove(key) {
                    Some(Value::String(text)) => Payload { text, is_error, shape, json: false },
                    value => Payload { text: value.unwrap_or_default().to_string(), is_error, shape, json: true },
                }
            }
            _ => {
                let is_error =
                    response.get("error").is_some_and(|error| !error.is_null()) && !response.contains_key("output");
                let text = Value::Object(response).to_string();
                Payload { text, is_error, shape: "whole".to_owned(), json: false }
            }
        }
    }

    fn mark(&self, data: &mut ProviderData) {
        if !self.shape.is_empty() {
            data.set(Dialect::Gemini, PAYLOAD, self.shape.as_str());
        }
        if self.json {
            data.set(Dialect::Gemini, JSON, true);
        }
    }

    fn of(result: &ToolResult) -> Self {
        let data = &result.provider_data;
        Payload {
            text: text_of(result),
            is_error: result.is_error,
            shape: data.str(Dialect::Gemini, PAYLOAD).unwrap_or_default().to_owned(),
            json: data.flag(Dialect::Gemini, JSON),
        }
    }

    /// The object; none where there was none. A shape that no longer fits the result is passed over.
    fn write(self) -> Option<Map<String, Value>> {
        match self.shape.as_str() {
            "absent" if self.text.is_empty() && !self.is_error => return None,
            "empty" if self.text.is_empty() && !self.is_error => return Some(Map::new()),
            "whole" => {
                if let Ok(object) = serde_json::from_str::<Map<String, Value>>(&self.text)
                    && Payload::read(object.clone()) == self
                {
                    return Some(object);
                }
            }
            _ => {}
        }
        let key = match self.shape.as_str() {
            _ if self.is_error => "error",
            key @ ("content" | "result") => key,
            _ => "output",
        };
        let parsed = if self.json { serde_json::from_str(&self.text).ok() } else { None };
        let mut object = Map::new();
        object.insert(key.to_owned(), parsed.unwrap_or(Value::String(self.text)));
        Some(object)
    }
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;

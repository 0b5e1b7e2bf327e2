//! A tool's result: the `functionResponse` of a part.
//!
//! Its `response` must be an object, by convention `{"output": …}` or `{"error": …}`; any other object is kept whole.
//! The format's results are text, so a payload other than a string becomes JSON text, marked to be converted back.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::leftovers::Leftovers;
use super::wire::{FunctionResponse, Part};
use super::{DIALECT, content};
use crate::json::tagged::Object;
use crate::json::text_or_raw::TextOrRaw;
use crate::json::wire::{Leftovers as _, Raw, Text, read_str};
use crate::{Block, Part as DataPart, ProviderData, ToolResult};

/// In the shape: the tool's name, as given in the result.
pub(super) const NAME: &str = "name";
/// In the shape: how `response` was built, if not as `{"output": …}`, or `{"error": …}` for a failure.
const PAYLOAD: &str = "payload";
/// In the shape: there was a list of parts, without any.
const NO_PARTS: &str = "no_parts";
/// In the shape: the payload was JSON, not a string.
const JSON: &str = "json";

/// The keys that may have the payload alone.
const KEYS: [&str; 4] = ["output", "error", "content", "result"];

/// The `response`: only a string under one of those keys, or any other object.
#[derive(Debug, Clone)]
pub(super) enum Payload<'a> {
    Text(Cow<'a, str>, Text<'a>),
    Object(Object<'a>),
}

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Payload::Text(key, text) => serializer.collect_map([(key, text)]),
            Payload::Object(object) => object.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Payload<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Payload<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload<'de>, A::Error> {
                let mut object = Object::default();
                let mut next = map.next_key::<Text<'de>>()?;
                if let Some(key) = next.take_if(|key| KEYS.contains(&key.as_str())) {
                    let value: TextOrRaw<'de> = map.next_value()?;
                    next = map.next_key()?;
                    match value {
                        TextOrRaw::Text(text) if next.is_none() => return Ok(Payload::Text(key.0, text)),
                        value => object.0.push((key.0, value.into_raw().0)),
                    }
                }
                while let Some(key) = next {
                    object.0.push((key.0, map.next_value::<Raw<'de>>()?.0));
                    next = map.next_key()?;
                }
                Ok(Payload::Object(object))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Reads the `functionResponse` of a part.
pub(super) fn decode(mut response: FunctionResponse<'_>, data: &mut ProviderData, left: &mut Leftovers) -> Block {
    let tool_call_id = content::take_id(&mut response.id);
    if let Some(name) = response.name.take() {
        data.set_part(DIALECT, DataPart::Shape, NAME, name.as_str());
    }
    let said = match response.response.take() {
        Some(object) => Said::read(object),
        None => Said { shape: "absent".into(), ..Said::default() },
    };
    said.mark(data);
    let text = Some(said.text).filter(|text| !text.is_empty()).map(|text| Block::text(text.into_owned()));
    if response.parts.as_ref().is_some_and(Vec::is_empty) {
        data.set_part(DIALECT, DataPart::Shape, NO_PARTS, true);
    }
    let parts = response.parts.take().unwrap_or_default();
    let blocks = text.into_iter().chain(parts.into_iter().map(content::decode)).collect();
    left.take_inner("functionResponse", response.leftovers());
    let is_error = said.is_error;
    Block::ToolResult(ToolResult { tool_call_id, content: blocks, is_error, ..ToolResult::default() })
}

/// Writes a result as a part: its text, and the parts that are not text.
pub(super) fn encode<'a>(
    result: &'a ToolResult,
    name: Cow<'a, str>,
    id: Option<&'a str>,
    media: Vec<Part<'a>>,
) -> Part<'a> {
    let has_list = !media.is_empty() || result.provider_data.part(DIALECT, DataPart::Shape).flag(NO_PARTS);
    let response = FunctionResponse {
        id: id.map(Text::from),
        name: Some(Text(name)),
        response: Said::of(result).write(),
        parts: has_list.then_some(media),
        ..FunctionResponse::default()
    };
    Part { result: Some(Box::new(response)), ..Part::default() }
}

/// Returns the text of a result, its blocks joined by a blank line.
fn text_of(result: &ToolResult) -> Cow<'_, str> {
    let mut texts = result.content.iter().filter_map(Block::as_text);
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |joined, more| Cow::Owned(joined.into_owned() + "\n\n" + more))
}

/// The content of a result, and the shape of its object.
#[derive(Debug, Default, PartialEq)]
struct Said<'a> {
    text: Cow<'a, str>,
    is_error: bool,
    /// A key, `whole`, `empty`, `absent`; or an empty string for the conventional key.
    shape: Cow<'a, str>,
    json: bool,
}

impl<'a> Said<'a> {
    fn read(payload: Payload<'a>) -> Self {
        let shape_of = |key: Cow<'a, str>| if key == "error" || key == "output" { Cow::default() } else { key };
        let object = match payload {
            Payload::Text(key, Text(text)) => {
                return Said { text, is_error: key == "error", shape: shape_of(key), json: false };
            }
            Payload::Object(object) => object,
        };
        let is_null = |raw: &RawValue| raw.get() == "null";
        match object.0.as_slice() {
            [] => Said { shape: "empty".into(), ..Said::default() },
            // `{"error": null}` means that there was no error.
            [(key, value)] if KEYS.contains(&key.as_ref()) && !(key == "error" && is_null(value)) => {
                let text = value.get().to_owned().into();
                Said { text, is_error: key == "error", shape: shape_of(key.clone()), json: true }
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

    /// Writes the object. Returns `None` if there was none. A shape that no longer fits the result is ignored.
    fn write(self) -> Option<Payload<'a>> {
        match (self.shape.as_ref(), &self.text) {
            ("absent", text) if text.is_empty() && !self.is_error => return None,
            ("empty", text) if text.is_empty() && !self.is_error => return Some(Payload::Object(Object::default())),
            ("whole", Cow::Borrowed(text)) => {
                if let Ok(payload) = read_str::<Payload<'a>>(text)
                    && Said::read(payload.clone()).is_built_like(&self)
                {
                    return Some(payload);
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
        Some(match json {
            Some(json) => Payload::Object(Object(vec![(key.into(), Cow::Owned(json))])),
            None => Payload::Text(key.into(), Text(self.text)),
        })
    }

    /// Whether the objects are built the same way; their text may differ in whitespace.
    fn is_built_like(&self, other: &Said<'_>) -> bool {
        (&self.shape, self.is_error, self.json) == (&other.shape, other.is_error, other.json)
    }
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;

//! Wire blocks to canonical ones. Strings are moved, never copied.

use serde_json::{Map, Value};

use crate::{Block, Document, Error, Image, ProviderData, Source, Text, ThinkingBlock, ToolCall, ToolResult};

use super::super::place::Place;
use super::{Own, is_plain, other};

/// Whose blocks are read.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Reading {
    /// A client's: a block that is not made as it must be is refused, and this is where it stands.
    Request(Place),
    /// A provider's: such a block is kept whole.
    Answer,
}

type Fields = Map<String, Value>;

/// Reads one block.
///
/// # Errors
/// In a request, when a block is not made as it must be. Never in an answer.
pub(in super::super) fn decode(value: Value, reading: Reading) -> Result<Block, Error> {
    let Value::Object(fields) = value else {
        return match reading {
            Reading::Request(place) => Err(refusal(place, "a block must be an object")),
            Reading::Answer => Ok(Block::Other(crate::Other { dialect: super::DIALECT, data: value.into() })),
        };
    };
    let fault = match fields.get("type").and_then(Value::as_str) {
        Some("text") => match is_text(&fields, "text") {
            true => return Ok(text(fields)),
            false => "a `text` block needs a `text` that is a string",
        },
        Some("image") => match fields.get("source").is_some_and(Value::is_object) {
            true => return Ok(image(fields)),
            false => "an `image` block needs a `source` that is an object",
        },
        Some("document") => match fields.get("source").is_some_and(Value::is_object) {
            true => return Ok(document(fields)),
            false => "a `document` block needs a `source` that is an object",
        },
        Some("thinking") => match is_text(&fields, "thinking") || is_text(&fields, "text") {
            true => return Ok(thinking(fields)),
            false => "a `thinking` block needs a `thinking` that is a string",
        },
        Some("redacted_thinking") => match is_text(&fields, "data") {
            true => return Ok(redacted(fields)),
            false => "a `redacted_thinking` block needs a `data` that is a string",
        },
        Some("tool_use") => match is_text(&fields, "name") && (is_text(&fields, "id") || is_answer(reading)) {
            true => return Ok(tool_use(fields)),
            false => "a `tool_use` block needs an `id` and a `name` that are strings",
        },
        Some("tool_result") => match is_text(&fields, "tool_use_id") && is_content(fields.get("content")) {
            true => return tool_result(fields, reading),
            false => {
                "a `tool_result` block needs a `tool_use_id`, and a `content` that is a string or a list of blocks"
            }
        },
        Some(_) => return Ok(other(fields)),
        None => "a block needs a `type`",
    };
    match reading {
        Reading::Request(place) => Err(refusal(place, fault)),
        Reading::Answer => Ok(other(fields)),
    }
}

fn refusal(place: Place, fault: &str) -> Error {
    let mut error = Error::invalid_request(format!("{place}: {fault}"));
    error.param = Some(place.to_string());
    error
}

fn is_answer(reading: Reading) -> bool {
    matches!(reading, Reading::Answer)
}

fn is_text(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_string)
}

fn is_content(content: Option<&Value>) -> bool {
    content.is_none_or(|content| content.is_string() || content.is_array() || content.is_null())
}

/// The string in a value that was checked to be one.
fn string(value: Value) -> String {
    match value {
        Value::String(text) => text,
        _ => String::new(),
    }
}

fn text(fields: Fields) -> Block {
    let (mut block, mut own) = (Text::default(), Own::default());
    for (key, value) in fields {
        match key.as_str() {
            "type" => {}
            "text" => block.text = string(value),
            "cache_control" => block.cache = own.cache(value),
            "citations" => own.set("citations", value),
            _ => own.extra(key, value),
        }
    }
    block.provider_data = own.into_data();
    Block::Text(block)
}

fn image(mut fields: Fields) -> Block {
    let mut own = Own::default();
    let source = match take_source(&mut fields, &mut own) {
        Ok(source) => source,
        Err(fields) => return other(fields),
    };
    let mut cache = None;
    for (key, value) in fields {
        match key.as_str() {
            "type" | "source" => {}
            "cache_control" => cache = own.cache(value),
            _ => own.extra(key, value),
        }
    }
    Block::Image(Image { source, cache, provider_data: own.into_data() })
}

fn document(mut fields: Fields) -> Block {
    let mut own = Own::default();
    let source = match take_source(&mut fields, &mut own) {
        Ok(source) => source,
        Err(fields) => return other(fields),
    };
    let (mut name, mut cache) = (None, None);
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("type" | "source", _) => {}
            ("title", Value::String(title)) => name = Some(title),
            ("cache_control", value) => cache = own.cache(value),
            (_, value) => own.extra(key, value),
        }
    }
    Block::Document(Document { source, name, cache, provider_data: own.into_data() })
}

/// Takes the source out of a block; all of the block's fields back when the source is of a kind that nobody knows.
fn take_source(fields: &mut Fields, own: &mut Own) -> Result<Source, Fields> {
    let source = fields.get_mut("source").map(Value::take).unwrap_or_default();
    match read_source(source) {
        Ok((source, raw)) => {
            if let Some(raw) = raw {
                own.set("source", raw);
            }
            Ok(source)
        }
        Err(source) => {
            fields.insert("source".to_owned(), source);
            Err(std::mem::take(fields))
        }
    }
}

/// Reads a `source`, and gives it back as it was where writing it anew would not.
///
/// # Errors
/// The value itself, when its kind is unknown.
pub(in super::super) fn read_source(value: Value) -> Result<(Source, Option<Value>), Value> {
    let Value::Object(mut fields) = value else { return Err(value) };
    let raw = |fields: &Fields, plain: usize| (fields.len() != plain).then(|| Value::Object(fields.clone()));
    let take = |fields: &mut Fields, key: &str| fields.get_mut(key).map(Value::take).map(string).unwrap_or_default();
    match fields.get("type").and_then(Value::as_str) {
        Some("base64") if is_text(&fields, "media_type") && is_text(&fields, "data") => {
            let raw = raw(&fields, 3);
            let media_type = take(&mut fields, "media_type");
            Ok((Source::Base64 { media_type, data: take(&mut fields, "data") }, raw))
        }
        Some("text") if is_text(&fields, "media_type") && is_text(&fields, "data") => {
            let raw = raw(&fields, 3);
            let media_type = take(&mut fields, "media_type");
            Ok((Source::Text { media_type, text: take(&mut fields, "data") }, raw))
        }
        Some("url") if is_text(&fields, "url") => {
            let raw = raw(&fields, 2);
            Ok((Source::Url { url: take(&mut fields, "url"), media_type: None }, raw))
        }
        Some("file") if is_text(&fields, "file_id") => {
            let raw = raw(&fields, 2);
            Ok((Source::File { id: take(&mut fields, "file_id"), media_type: None }, raw))
        }
        Some("content") => match fields.get("content").and_then(joined) {
            Some(text) => Ok((Source::Text { media_type: "text/plain".to_owned(), text }, Some(Value::Object(fields)))),
            None => Err(Value::Object(fields)),
        },
        _ => Err(Value::Object(fields)),
    }
}

/// The text of a document's own content, where it is nothing but text.
fn joined(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Option<Vec<&str>> = blocks
                .iter()
                .map(|block| match block.get("type")?.as_str()? {
                    "text" => block.get("text")?.as_str(),
                    _ => None,
                })
                .collect();
            Some(texts?.join("\n\n"))
        }
        _ => None,
    }
}

fn thinking(fields: Fields) -> Block {
    let (mut text, mut own, mut signed) = (String::new(), Own::default(), false);
    // The documents that define the format have the text under `text`; the API has it under `thinking`.
    let place = if is_text(&fields, "thinking") { "thinking" } else { "text" };
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("type", _) => {}
            (key, value) if key == place => text = string(value),
            ("signature", Value::String(signature)) => {
                signed = true;
                own.set("signature", signature);
            }
            (_, value) => own.extra(key, value),
        }
    }
    if !signed {
        own.set("unsigned", true);
    }
    Block::Thinking(ThinkingBlock { text, provider_data: own.into_data() })
}

fn redacted(fields: Fields) -> Block {
    let mut own = Own::default();
    for (key, value) in fields {
        match key.as_str() {
            "type" => {}
            "data" => own.set("redacted_data", value),
            _ => own.extra(key, value),
        }
    }
    Block::Thinking(ThinkingBlock { text: String::new(), provider_data: own.into_data() })
}

fn tool_use(fields: Fields) -> Block {
    let (mut call, mut own, mut has_input) = (ToolCall::default(), Own::default(), false);
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("type", _) => {}
            ("id", value) => call.id = string(value),
            ("name", value) => call.name = string(value),
            ("input", Value::Object(arguments)) => {
                has_input = true;
                call.arguments = arguments.into();
            }
            ("input", value) => {
                has_input = true;
                // No object: the call cannot be run, and goes back as it came.
                if !value.is_null() {
                    call.arguments = crate::Arguments::from_text(value.to_string());
                }
                own.set("input", value);
            }
            ("cache_control", value) => call.cache = own.cache(value),
            (_, value) => own.extra(key, value),
        }
    }
    if !has_input {
        own.set("no_input", true);
    }
    call.provider_data = own.into_data();
    Block::ToolCall(call)
}

fn tool_result(fields: Fields, reading: Reading) -> Result<Block, Error> {
    let (mut result, mut own) = (ToolResult::default(), Own::default());
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("type", _) => {}
            ("tool_use_id", value) => result.tool_call_id = string(value),
            ("content", Value::String(text)) => {
                result.content.push(Block::Text(Text { text, cache: None, provider_data: ProviderData::default() }));
            }
            ("content", Value::Array(blocks)) => {
                for (index, block) in blocks.into_iter().enumerate() {
                    let inner = match reading {
                        Reading::Request(place) => Reading::Request(place.inner(index)),
                        Reading::Answer => Reading::Answer,
                    };
                    result.content.push(decode(block, inner)?);
                }
                if is_short(&result.content) {
                    own.set("blocks", true);
                }
            }
            ("is_error", Value::Bool(true)) => result.is_error = true,
            ("cache_control", value) => result.cache = own.cache(value),
            (_, value) => own.extra(key, value),
        }
    }
    result.provider_data = own.into_data();
    Ok(Block::ToolResult(result))
}

/// Would these blocks be written shorter than as a list, unless told otherwise?
pub(in super::super) fn is_short(blocks: &[Block]) -> bool {
    match blocks {
        [] => true,
        [Block::Text(text)] => is_plain(text),
        _ => false,
    }
}

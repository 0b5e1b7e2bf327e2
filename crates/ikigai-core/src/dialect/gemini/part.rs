//! One part of a content, and the block that it is.
//!
//! A part has exactly one data member (`text`, `inlineData`, `functionCall`, …) and perhaps siblings that describe it.
//! A part that is none of ours, such as executed code, a hosted tool's trace or a video, is kept whole as a block of
//! this dialect.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::fields::{self, Fields, find};
use super::result;
use crate::{Audio, Block, Dialect, Document, Image, Other, ProviderData, Source, Text, ThinkingBlock, ToolCall};

/// The thought signature of the part that the block was.
pub(super) const SIGNATURE: &str = "thought_signature";
/// The wire gave no id: the block's id is ours and never sent.
pub(super) const GENERATED: &str = "generated_id";
/// The call came without `args`.
const NO_ARGS: &str = "no_args";
/// How the data was written, where that was not padded standard base64.
const BASE64: &str = "base64";

/// The data members that have a block of their own.
const DATA: [&str; 5] = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];
/// The data members that are kept whole.
const KEPT_WHOLE: [&str; 4] = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/// Says what is wrong with a part that a client wrote, as `member: fault`.
pub(super) fn fault(part: &Map<String, Value>) -> Option<String> {
    let member = |name| find(part, name);
    if member("text").is_some_and(|text| !text.is_string()) {
        return Some("text must be a string".to_owned());
    }
    for (name, text) in [("inlineData", "data"), ("fileData", "fileUri"), ("functionCall", "name")] {
        let Some(data) = member(name) else { continue };
        let Some(data) = data.as_object() else { return Some(format!("{name} must be an object")) };
        if !find(data, text).is_some_and(Value::is_string) {
            return Some(format!("{name}.{text} must be a string"));
        }
    }
    for (name, object) in [("functionCall", "args"), ("functionResponse", "response")] {
        let Some(data) = member(name) else { continue };
        let Some(data) = data.as_object() else { return Some(format!("{name} must be an object")) };
        if find(data, object).is_some_and(|value| !value.is_object()) {
            return Some(format!("{name}.{object} must be an object"));
        }
    }
    None
}

/// The block that a part is. A call or a result without an id gets none here: the caller knows the conversation.
pub(super) fn decode(part: Map<String, Value>) -> Block {
    let mut fields = Fields::new(part);
    let mut members = DATA.iter().filter(|name| fields.has(name));
    let member = match (members.next(), members.next()) {
        (Some(member), None) if !KEPT_WHOLE.iter().any(|name| fields.has(name)) => *member,
        _ => return other(fields),
    };
    let mut data = ProviderData::default();
    let block = match member {
        "text" => text_block(&mut fields),
        "inlineData" => media_block(&mut fields, member, "data", &mut data),
        "fileData" => media_block(&mut fields, member, "fileUri", &mut data),
        "functionCall" => call_block(&mut fields, &mut data),
        _ => result::decode(&mut fields, &mut data),
    };
    let Some(mut block) = block else { return other(fields) };
    if let Some(signature) = fields.get("thoughtSignature").and_then(Value::as_str)
        && !signature.is_empty()
        && let Some(signature) = fields.take_text("thoughtSignature")
    {
        data.set(Dialect::Gemini, SIGNATURE, signature);
    }
    fields.keep(&mut data);
    if let Some(own) = block.provider_data_mut() {
        *own = data;
    }
    block
}

fn other(fields: Fields) -> Block {
    Block::Other(Other { dialect: Dialect::Gemini, data: Value::Object(fields.into_rest()).into() })
}

fn text_block(fields: &mut Fields) -> Option<Block> {
    let text = fields.take_text("text")?;
    if fields.get("thought") == Some(&Value::Bool(true)) {
        fields.take("thought");
        return Some(Block::Thinking(ThinkingBlock { text, provider_data: ProviderData::default() }));
    }
    Some(Block::Text(Text { text, ..Text::default() }))
}

/// What a media type is a block of.
enum Media {
    Image,
    Audio,
    Document,
    /// No block of ours.
    Video,
}

fn media_of(mime: Option<&str>) -> Media {
    let top = mime.and_then(|mime| mime.split_once('/')).map(|(top, _)| top.to_ascii_lowercase());
    match top.as_deref() {
        Some("image") => Media::Image,
        Some("audio") => Media::Audio,
        Some("video") => Media::Video,
        _ => Media::Document,
    }
}

/// Takes nothing unless the whole fits.
fn media_block(fields: &mut Fields, member: &str, payload: &str, data: &mut ProviderData) -> Option<Block> {
    // A picture that the model drew while thinking is no part of the answer.
    if fields.get("thought") == Some(&Value::Bool(true)) {
        return None;
    }
    let object = fields.get(member)?.as_object()?;
    let mime = find(object, "mimeType").and_then(Value::as_str);
    if mime.is_none() && member == "inlineData" || !find(object, payload)?.is_string() {
        return None;
    }
    let media = media_of(mime);
    if matches!(media, Media::Video) {
        return None;
    }
    let mut inner = fields.take_object(member)?;
    let media_type = inner.take_text("mimeType");
    let payload = inner.take_text(payload).unwrap_or_default();
    let source = if member == "inlineData" {
        let (payload, written) = standard_base64(payload);
        if let Some(written) = written {
            data.set(Dialect::Gemini, BASE64, written);
        }
        Source::Base64 { media_type: media_type.unwrap_or_default(), data: payload }
    } else if is_uploaded(&payload) {
        Source::File { id: payload, media_type }
    } else {
        Source::Url { url: payload, media_type }
    };
    let empty = ProviderData::default;
    let block = match media {
        Media::Image => Block::Image(Image { source, cache: None, provider_data: empty() }),
        Media::Audio => Block::Audio(Audio { source, cache: None, provider_data: empty() }),
        Media::Document | Media::Video => {
            let name = inner.take_text("displayName");
            Block::Document(Document { source, name, cache: None, provider_data: empty() })
        }
    };
    fields.close(member, inner);
    Some(block)
}

/// Is the address one of a file that was given to the provider, and not one that anybody can fetch?
fn is_uploaded(uri: &str) -> bool {
    !uri.starts_with("http") || (uri.contains("googleapis.com/") && uri.contains("/files/"))
}

fn call_block(fields: &mut Fields, data: &mut ProviderData) -> Option<Block> {
    let object = fields.get("functionCall")?.as_object()?;
    if !find(object, "name")?.is_string() || find(object, "args").is_some_and(|args| !args.is_object()) {
        return None;
    }
    let mut inner = fields.take_object("functionCall")?;
    let name = inner.take_text("name")?;
    let arguments = match inner.take("args") {
        Some(Value::Object(arguments)) => arguments,
        _ => {
            data.set(Dialect::Gemini, NO_ARGS, true);
            Map::new()
        }
    };
    let id = take_id(&mut inner);
    fields.close("functionCall", inner);
    Some(Block::ToolCall(ToolCall { id, name, arguments: arguments.into(), ..ToolCall::default() }))
}

/// The id, or an empty text: an empty id on the wire is as good as none.
pub(super) fn take_id(inner: &mut Fields) -> String {
    match inner.get("id").and_then(Value::as_str) {
        Some("") | None => String::new(),
        Some(_) => inner.take_text("id").unwrap_or_default(),
    }
}

/// A text part.
pub(super) fn text(text: &str, thought: bool) -> Map<String, Value> {
    let mut part = Map::new();
    part.insert("text".to_owned(), text.into());
    if thought {
        part.insert("thought".to_owned(), true.into());
    }
    part
}

/// A call.
pub(super) fn call(call: &ToolCall, id: Option<&str>) -> Map<String, Value> {
    let mut inner = Map::new();
    inner.insert("name".to_owned(), call.name.as_str().into());
    if !call.arguments.is_empty() || !call.provider_data.flag(Dialect::Gemini, NO_ARGS) {
        inner.insert("args".to_owned(), call.arguments.object().clone().into());
    }
    if let Some(id) = id {
        inner.insert("id".to_owned(), id.into());
    }
    wrap("functionCall", inner)
}

/// An image, a document or a sound; an error says why it cannot be sent.
pub(super) fn media(
    source: &Source,
    name: Option<&str>,
    data: &ProviderData,
    guess: bool,
) -> Result<Map<String, Value>, &'static str> {
    let (member, mut inner) = match source {
        Source::Base64 { media_type, data: bytes } => {
            ("inlineData", inline(media_type, as_written(bytes, data.str(Dialect::Gemini, BASE64))))
        }
        Source::Text { media_type, text } => ("inlineData", inline(media_type, STANDARD.encode(text))),
        Source::Url { url, media_type } => match data_url(url) {
            Some((media_type, bytes)) => ("inlineData", inline(media_type, bytes.to_owned())),
            None => ("fileData", file(url, media_type.as_deref(), guess)),
        },
        Source::File { id, media_type } => {
            // A bare id names a file of some other API.
            if !id.contains("://") && !id.starts_with("files/") {
                return Err("it is a file of another provider, which this one cannot read");
            }
            ("fileData", file(id, media_type.as_deref(), guess))
        }
    };
    if let Some(name) = name {
        inner.insert("displayName".to_owned(), name.into());
    }
    Ok(wrap(member, inner))
}

fn inline(media_type: &str, data: String) -> Map<String, Value> {
    let mut inner = Map::new();
    inner.insert("mimeType".to_owned(), media_type.into());
    inner.insert("data".to_owned(), data.into());
    inner
}

fn file(uri: &str, media_type: Option<&str>, guess: bool) -> Map<String, Value> {
    let mut inner = Map::new();
    let guessed = || {
        let path = uri.split(['?', '#']).next().unwrap_or(uri);
        mime_guess::from_path(path).first_raw().filter(|_| guess)
    };
    if let Some(media_type) = media_type.or_else(guessed) {
        inner.insert("mimeType".to_owned(), media_type.into());
    }
    inner.insert("fileUri".to_owned(), uri.into());
    inner
}

/// `data:image/png;base64,…`
fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

fn wrap(member: &str, inner: Map<String, Value>) -> Map<String, Value> {
    let mut part = Map::new();
    part.insert(member.to_owned(), inner.into());
    part
}

/// Puts a part's own siblings back: what was left over, and the spelling where that is wanted.
pub(super) fn dress(part: &mut Map<String, Value>, data: &ProviderData, spelling: bool) {
    fields::put_back_all(part, data, &DATA);
    if spelling {
        fields::respell(part, data);
    }
}

/// Sets the part's signature.
pub(super) fn sign(part: &mut Map<String, Value>, signature: &str) {
    part.insert("thoughtSignature".to_owned(), json!(signature));
}

/// Some clients write URL-safe base64, with or without padding; the format wants the standard one.
fn standard_base64(data: String) -> (String, Option<&'static str>) {
    let url_safe = memchr::memchr2(b'-', b'_', data.as_bytes()).is_some();
    let missing = (4 - data.len() % 4) % 4;
    let mut text = if url_safe { data.replace('-', "+").replace('_', "/") } else { data };
    // One missing character is no length that base64 can have: whatever it is, it stays as it is.
    let unpadded = missing == 1 || missing == 2;
    if unpadded {
        text.push_str(if missing == 1 { "=" } else { "==" });
    }
    let written = match (url_safe, unpadded) {
        (false, false) => None,
        (true, false) => Some("url"),
        (false, true) => Some("unpadded"),
        (true, true) => Some("url-unpadded"),
    };
    (text, written)
}

fn as_written(data: &str, written: Option<&str>) -> String {
    let written = written.unwrap_or_default();
    let data = if written.ends_with("unpadded") { data.trim_end_matches('=') } else { data };
    if written.starts_with("url") { data.replace('+', "-").replace('/', "_") } else { data.to_owned() }
}

#[cfg(test)]
#[path = "part_tests.rs"]
mod tests;

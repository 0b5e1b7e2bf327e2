//! The parts of messages on the user's side, and of tool results: `input_text`, `input_image`, `input_file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::fields::{keep, object, other, own_object, put_back, take_text};
use super::{ME, Object};
use crate::{Block, CacheHint, Document, Image, ProviderData, Source, Text};

/// The type of text parts on this side.
const TEXT: &str = "input_text";

/// Reads the content of a message or of a tool result: a text, or a list of parts.
///
/// `None` when it is neither.
pub(super) fn decode_all(content: Value) -> Option<(Vec<Block>, Written)> {
    match content {
        Value::String(text) => Some((vec![Block::text(text)], Written::AsText)),
        Value::Array(parts) => Some((parts.into_iter().map(decode).collect(), Written::AsParts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// How content was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    AsText,
    AsParts,
}

/// Reads one part. One that we do not know is kept whole.
pub(super) fn decode(part: Value) -> Block {
    let Value::Object(fields) = part else { return Block::Other(crate::Other { dialect: ME, data: part.into() }) };
    match fields.get("type").and_then(Value::as_str) {
        Some("input_text" | "output_text" | "text") if fields.get("text").is_some_and(Value::is_string) => text(fields),
        Some("input_image") => image(fields),
        Some("input_file") => file(fields),
        _ => Block::Other(other(fields)),
    }
}

fn text(mut fields: Object) -> Block {
    let mut block = Text::default();
    if let Some(kind) = take_text(&mut fields, "type").filter(|kind| kind != TEXT) {
        block.provider_data.set(ME, "part_type", kind);
    }
    block.text = take_text(&mut fields, "text").unwrap_or_default();
    block.cache = breakpoint(&mut fields, &mut block.provider_data);
    keep(&mut block.provider_data, "extra", fields);
    Block::Text(block)
}

fn image(mut fields: Object) -> Block {
    let Some(source) = source(&mut fields, "image_url", "file_id") else { return Block::Other(other(fields)) };
    fields.shift_remove("type");
    let mut provider_data = ProviderData::default();
    let cache = breakpoint(&mut fields, &mut provider_data);
    keep(&mut provider_data, "extra", fields);
    Block::Image(Image { source, cache, provider_data })
}

fn file(mut fields: Object) -> Block {
    let mut provider_data = ProviderData::default();
    let source = match take_text(&mut fields, "file_data") {
        Some(data) => from_data_url(data).unwrap_or_else(|data| {
            provider_data.set(ME, "bare_data", true);
            let guess = fields.get("filename").and_then(Value::as_str).and_then(guess_type);
            Source::Base64 { media_type: guess.unwrap_or("application/octet-stream").to_owned(), data }
        }),
        None => match source(&mut fields, "file_url", "file_id") {
            Some(source) => {
                if matches!(source, Source::Base64 { .. }) {
                    provider_data.set(ME, "data_in", "file_url");
                }
                source
            }
            None => return Block::Other(other(fields)),
        },
    };
    fields.shift_remove("type");
    let name = take_text(&mut fields, "filename");
    let cache = breakpoint(&mut fields, &mut provider_data);
    keep(&mut provider_data, "extra", fields);
    Block::Document(Document { source, name, cache, provider_data })
}

fn guess_type(name: &str) -> Option<&'static str> {
    mime_guess::from_path(name).first_raw()
}

fn source(fields: &mut Object, url_key: &str, id_key: &str) -> Option<Source> {
    if let Some(url) = take_text(fields, url_key) {
        return Some(from_data_url(url).unwrap_or_else(|url| Source::Url { url, media_type: None }));
    }
    take_text(fields, id_key).map(|id| Source::File { id, media_type: None })
}

/// The bytes in a plain base64 data URL.
///
/// # Errors
/// The text itself, when it is none, has further parameters, or uses another alphabet.
fn from_data_url(mut url: String) -> Result<Source, String> {
    let found = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).and_then(|(kind, data)| {
        let plain = !kind.is_empty() && !kind.contains([';', ',']);
        let standard = data.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'='));
        (plain && standard).then(|| (kind.to_owned(), url.len().saturating_sub(data.len())))
    });
    let Some((media_type, start)) = found else { return Err(url) };
    url.drain(..start);
    Ok(Source::Base64 { media_type, data: url })
}

/// The mark up to which the prompt is cached.
fn breakpoint(fields: &mut Object, data: &mut ProviderData) -> Option<CacheHint> {
    let mark = fields.get("prompt_cache_breakpoint").filter(|mark| !mark.is_null())?;
    if *mark != plain_breakpoint() {
        data.set(ME, "prompt_cache_breakpoint", mark.clone());
    }
    fields.shift_remove("prompt_cache_breakpoint");
    Some(CacheHint::default())
}

fn plain_breakpoint() -> Value {
    json!({"mode": "explicit"})
}

/// The mark for a block with a cache hint, as it was written.
pub(super) fn encode_breakpoint(data: &ProviderData) -> Value {
    data.value(ME, "prompt_cache_breakpoint").cloned().unwrap_or_else(plain_breakpoint)
}

/// Writes a text part.
pub(super) fn encode_text(text: &Text) -> Object {
    let kind = text.provider_data.str(ME, "part_type").unwrap_or(TEXT);
    let mut part = object([("type", kind.into()), ("text", text.text.as_str().into())]);
    put_back(&mut part, own_object(&text.provider_data, "extra"));
    part
}

/// Writes an image part.
///
/// # Errors
/// Why it cannot be written.
pub(super) fn encode_image(image: &Image) -> Result<Object, String> {
    let (key, value) = match &image.source {
        Source::Base64 { media_type, data } => ("image_url", format!("data:{media_type};base64,{data}")),
        Source::Url { url, .. } => ("image_url", url.clone()),
        Source::File { id, .. } => ("file_id", id.clone()),
        Source::Text { .. } => return Err("a text is no picture; it was left out".to_owned()),
    };
    let mut part = object([("type", "input_image".into()), (key, value.into())]);
    put_back(&mut part, own_object(&image.provider_data, "extra"));
    Ok(part)
}

/// Writes a file part. A request that is written as it was read gets no name that it did not have.
pub(super) fn encode_file(document: &Document, faithful: bool) -> Object {
    let mut part = object([("type", "input_file".into())]);
    let named = |media_type: &str| {
        // Inline files are refused without a name.
        document.name.clone().or_else(|| (!faithful).then(|| default_name(media_type)))
    };
    let name = match &document.source {
        Source::Base64 { media_type, data } => {
            let bare = faithful && document.provider_data.flag(ME, "bare_data");
            let data = if bare { data.clone() } else { format!("data:{media_type};base64,{data}") };
            if faithful && document.provider_data.str(ME, "data_in") == Some("file_url") {
                part.insert("file_url".into(), data.into());
            } else {
                part.insert("file_data".into(), data.into());
            }
            named(media_type)
        }
        Source::Text { media_type, text } => {
            part.insert("file_data".into(), format!("data:{media_type};base64,{}", STANDARD.encode(text)).into());
            named(media_type)
        }
        Source::Url { url, .. } => {
            part.insert("file_url".into(), url.as_str().into());
            document.name.clone().filter(|_| faithful)
        }
        Source::File { id, .. } => {
            part.insert("file_id".into(), id.as_str().into());
            document.name.clone().filter(|_| faithful)
        }
    };
    if let Some(name) = name {
        part.insert("filename".into(), name.into());
    }
    put_back(&mut part, own_object(&document.provider_data, "extra"));
    part
}

/// A name with the ending that the server tells the kind by.
fn default_name(media_type: &str) -> String {
    let ending = match media_type {
        "text/plain" => "txt",
        "text/markdown" => "md",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => "pptx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/octet-stream" => "bin",
        other => other.rsplit('/').next().unwrap_or("bin"),
    };
    format!("document.{ending}")
}

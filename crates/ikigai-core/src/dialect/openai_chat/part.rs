//! Content parts: wire parts to blocks, and blocks to the parts they came from or would be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::marks::{
    self, DIALECT, EXTRA, PART, REASONING_FIELD, REFUSAL, Side, keep, keep_extra, mark, put_back, take_list,
    take_object, take_text,
};
use crate::{Audio, Block, CacheHint, Document, Image, Other, ProviderData, Source, Text, ThinkingBlock};

/// Marks of single parts; each only says how the same thing was spelt.
const DATA_HEAD: &str = "data_head";
const INNER: &str = "inner";
const PLAIN: &str = "plain";
const FORMAT: &str = "format";
const BARE: &str = "bare";
const FILE_URL: &str = "file_url";
const CHUNKS: &str = "chunks";
const DOCUMENT_URL: &str = "document_url";
/// The refusal stood in a part, not in the message's own field.
const IN_PART: &str = "in_part";

/// The value of [`REASONING_FIELD`] for thinking that came as a part of `content`.
pub(super) const FIELD_CONTENT: &str = "content";

/// Reads one part. What is not understood stays whole.
pub(super) fn decode(part: Value, side: Side) -> Block {
    let Value::Object(mut fields) = part else { return other(part) };
    let read = match fields.get("type").and_then(Value::as_str) {
        Some("text") => text(&mut fields, side),
        Some("image_url") => image(&mut fields, side),
        Some("input_audio") => audio(&mut fields, side),
        Some("file") => file(&mut fields, side),
        Some("document_url") => document_url(&mut fields, side),
        Some("thinking") => thinking(&mut fields),
        Some("refusal") => refusal(&mut fields, side),
        _ => None,
    };
    read.unwrap_or_else(|| other(Value::Object(fields)))
}

fn other(data: Value) -> Block {
    Block::Other(Other { dialect: DIALECT, data: data.into() })
}

/// The cache hint among a part's or a tool's fields. The field itself stays with the leftovers.
pub(super) fn cache_hint(fields: &Map<String, Value>) -> Option<CacheHint> {
    let wish = fields
        .get("cache_control")
        .filter(|control| control.get("type").is_some_and(|kind| kind == "ephemeral"))
        .or_else(|| fields.get("prompt_cache_breakpoint").filter(|wish| wish.is_object()))?;
    Some(CacheHint { ttl: wish.get("ttl").and_then(Value::as_str).map(str::to_owned) })
}

/// Puts leftovers back, a cache mark only while it still says what the block says.
pub(super) fn put_back_with_cache(
    into: &mut Map<String, Value>,
    extra: Option<&Map<String, Value>>,
    cache: Option<&CacheHint>,
) {
    let Some(extra) = extra else { return };
    let same = cache_hint(extra).as_ref() == cache;
    for (key, value) in extra {
        let is_cache = matches!(key.as_str(), "cache_control" | "prompt_cache_breakpoint");
        if !into.contains_key(key) && (same || !is_cache) {
            into.insert(key.clone(), value.clone());
        }
    }
}

/// The rest of a part's fields as leftovers.
fn rest(
    mut kept: Map<String, Value>,
    fields: &mut Map<String, Value>,
    side: Side,
) -> (Option<CacheHint>, ProviderData) {
    let mut fields = std::mem::take(fields);
    fields.shift_remove("type");
    let cache = cache_hint(&fields);
    keep_extra(&mut kept, fields);
    let mut data = ProviderData::default();
    keep(&mut data, side, kept);
    (cache, data)
}

fn text(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let text = take_text(fields, "text")?;
    let (cache, provider_data) = rest(Map::new(), fields, side);
    Some(Block::Text(Text { text, cache, provider_data }))
}

fn image(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let mut kept = Map::new();
    let url = match fields.get("image_url")? {
        Value::String(_) => {
            mark(&mut kept, PLAIN);
            take_text(fields, "image_url")?
        }
        Value::Object(inner) if inner.get("url").is_some_and(Value::is_string) => {
            let mut inner = take_object(fields, "image_url")?;
            let url = take_text(&mut inner, "url")?;
            keep_inner(&mut kept, inner);
            url
        }
        _ => return None,
    };
    let source = source_of(url, &mut kept);
    let (cache, provider_data) = rest(kept, fields, side);
    Some(Block::Image(Image { source, cache, provider_data }))
}

fn audio(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let mut kept = Map::new();
    let source = match fields.get("input_audio")? {
        Value::String(_) => {
            mark(&mut kept, PLAIN);
            let data = take_text(fields, "input_audio")?;
            if data.starts_with("http") || data.starts_with("data:") {
                source_of(data, &mut kept)
            } else {
                mark(&mut kept, BARE);
                let media_type = sniffed(&data).unwrap_or("audio/mpeg").to_owned();
                Source::Base64 { media_type, data }
            }
        }
        Value::Object(inner) if inner.get("data").is_some_and(Value::is_string) => {
            let mut inner = take_object(fields, "input_audio")?;
            let data = take_text(&mut inner, "data")?;
            let format = take_text(&mut inner, "format");
            keep_inner(&mut kept, inner);
            let media_type = match &format {
                Some(format) => audio_type(format),
                None => sniffed(&data).unwrap_or("audio/wav").to_owned(),
            };
            if format.as_deref() != Some(audio_format(&media_type)) {
                kept.insert(FORMAT.to_owned(), format.map_or(Value::Null, Value::String));
            }
            Source::Base64 { media_type, data }
        }
        _ => return None,
    };
    let (cache, provider_data) = rest(kept, fields, side);
    Some(Block::Audio(Audio { source, cache, provider_data }))
}

fn file(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let inner = fields.get("file")?.as_object()?;
    let has = |key: &str| inner.get(key).is_some_and(Value::is_string);
    let (has_data, has_id) = (has("file_data"), has("file_id"));
    if !has_data && !has_id {
        return None;
    }
    let mut kept = Map::new();
    let mut inner = take_object(fields, "file")?;
    let name = take_text(&mut inner, "filename");
    let source = if has_data {
        let data = take_text(&mut inner, "file_data")?;
        if data.starts_with("data:") || data.starts_with("http://") || data.starts_with("https://") {
            if !data.starts_with("data:") {
                mark(&mut kept, FILE_URL);
            }
            source_of(data, &mut kept)
        } else {
            mark(&mut kept, BARE);
            let media_type = sniffed(&data).unwrap_or("application/pdf").to_owned();
            Source::Base64 { media_type, data }
        }
    } else {
        Source::File { id: take_text(&mut inner, "file_id")?, media_type: None }
    };
    keep_inner(&mut kept, inner);
    let (cache, provider_data) = rest(kept, fields, side);
    Some(Block::Document(Document { source, name, cache, provider_data }))
}

fn document_url(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let mut kept = Map::new();
    let url = take_text(fields, "document_url")?;
    mark(&mut kept, DOCUMENT_URL);
    let source = source_of(url, &mut kept);
    let name = take_text(fields, "document_name");
    let (cache, provider_data) = rest(kept, fields, side);
    Some(Block::Document(Document { source, name, cache, provider_data }))
}

fn thinking(fields: &mut Map<String, Value>) -> Option<Block> {
    let mut provider_data = ProviderData::default();
    provider_data.set(DIALECT, REASONING_FIELD, FIELD_CONTENT);
    let text = match fields.get("thinking")? {
        Value::String(_) => {
            provider_data.set(DIALECT, PLAIN, true);
            take_text(fields, "thinking")?
        }
        Value::Array(_) => {
            let chunks = take_list(fields, "thinking")?;
            let text = chunk_text(&chunks);
            if chunks != [text_part(&text)] {
                provider_data.set(DIALECT, CHUNKS, chunks);
            }
            text
        }
        _ => return None,
    };
    let mut fields = std::mem::take(fields);
    fields.shift_remove("type");
    if !fields.is_empty() {
        // A signature or the mark of a closed thought: it goes back with the part.
        provider_data.set(DIALECT, PART, fields);
    }
    Some(Block::Thinking(ThinkingBlock { text, provider_data }))
}

fn chunk_text(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk.get("text")?.as_str()).collect()
}

fn refusal(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let text = take_text(fields, "refusal")?;
    let mut kept = Map::new();
    mark(&mut kept, IN_PART);
    let (cache, mut provider_data) = rest(kept, fields, side);
    provider_data.set(DIALECT, REFUSAL, true);
    Some(Block::Text(Text { text, cache, provider_data }))
}

fn keep_inner(kept: &mut Map<String, Value>, inner: Map<String, Value>) {
    if !inner.is_empty() {
        kept.insert(INNER.to_owned(), Value::Object(inner));
    }
}

/// An address, or the bytes of a data URL.
fn source_of(mut url: String, kept: &mut Map<String, Value>) -> Source {
    const END: &str = ";base64,";
    let parsed = url.strip_prefix("data:").and_then(|rest| {
        let end = rest.find(END)?;
        let media_type = rest.get(..end)?.split(';').next()?.to_owned();
        Some((media_type, "data:".len() + end + END.len()))
    });
    match parsed {
        Some((media_type, start)) => {
            let data = url.split_off(start);
            if url != data_head(&media_type) {
                kept.insert(DATA_HEAD.to_owned(), Value::String(url));
            }
            Source::Base64 { media_type, data }
        }
        None => Source::Url { url, media_type: None },
    }
}

fn data_head(media_type: &str) -> String {
    format!("data:{media_type};base64,")
}

/// The address of a source that has one: its URL, or its bytes as a data URL.
pub(super) fn url_of(source: &Source, data: &ProviderData, side: Side) -> Option<String> {
    match source {
        Source::Url { url, .. } => Some(url.clone()),
        Source::Base64 { media_type, data: bytes } => {
            let head = marks::leftovers(data, side)
                .and_then(|own| own.get(DATA_HEAD)?.as_str())
                .filter(|head| head.strip_prefix("data:").and_then(|rest| rest.split(';').next()) == Some(media_type));
            let mut url = head.map_or_else(|| data_head(media_type), str::to_owned);
            url.push_str(bytes);
            Some(url)
        }
        Source::Text { .. } | Source::File { .. } => None,
    }
}

/// A text part.
pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Is this text a refusal that stood in the message's own field?
pub(super) fn is_refusal_field(block: &Text, side: Side) -> bool {
    block.provider_data.flag(DIALECT, REFUSAL) && !marks::marked(&block.provider_data, side, IN_PART)
}

/// Writes a block as a part. None where this dialect has no part for it; the caller then says what became of it.
pub(super) fn encode(block: &Block, side: Side) -> Option<Value> {
    let mut part = Map::new();
    let kind = |part: &mut Map<String, Value>, name: &str| part.insert("type".to_owned(), name.into());
    match block {
        Block::Text(text) if text.provider_data.flag(DIALECT, REFUSAL) => {
            kind(&mut part, "refusal");
            part.insert("refusal".to_owned(), text.text.as_str().into());
        }
        Block::Text(text) => {
            kind(&mut part, "text");
            part.insert("text".to_owned(), text.text.as_str().into());
        }
        Block::Image(image) => {
            let url = url_of(&image.source, &image.provider_data, side)?;
            kind(&mut part, "image_url");
            let inner = with_inner([("url", url.into())], &image.provider_data, side);
            part.insert("image_url".to_owned(), plain_or(inner, "url", &image.provider_data, side));
        }
        Block::Audio(audio) => {
            kind(&mut part, "input_audio");
            part.insert("input_audio".to_owned(), encode_audio(audio, side)?);
        }
        Block::Document(document) => encode_document(document, side, &mut part)?,
        Block::Thinking(thinking) => return Some(encode_thinking(thinking)),
        Block::Other(other) if other.dialect == DIALECT => return Some(other.data.clone().into()),
        Block::Other(_) | Block::ToolCall(_) | Block::ToolResult(_) => return None,
    }
    let extra = block.provider_data().and_then(|data| marks::extra(data, side));
    put_back_with_cache(&mut part, extra, block.cache());
    Some(Value::Object(part))
}

fn encode_audio(audio: &Audio, side: Side) -> Option<Value> {
    let own = marks::leftovers(&audio.provider_data, side);
    match &audio.source {
        Source::Base64 { media_type, data } => {
            if marks::marked(&audio.provider_data, side, PLAIN) {
                return if marks::marked(&audio.provider_data, side, BARE) {
                    Some(data.as_str().into())
                } else {
                    url_of(&audio.source, &audio.provider_data, side).map(Value::String)
                };
            }
            let mut inner = Map::new();
            inner.insert("data".to_owned(), data.as_str().into());
            match own.and_then(|own| own.get(FORMAT)) {
                Some(Value::String(format)) if audio_type(format) == *media_type => {
                    inner.insert("format".to_owned(), format.as_str().into());
                }
                Some(Value::Null) => {}
                _ => {
                    inner.insert("format".to_owned(), audio_format(media_type).into());
                }
            }
            put_back(&mut inner, own.and_then(|own| own.get(INNER)?.as_object()));
            Some(Value::Object(inner))
        }
        Source::Url { url, .. } if marks::marked(&audio.provider_data, side, PLAIN) => Some(url.as_str().into()),
        Source::Url { .. } | Source::Text { .. } | Source::File { .. } => None,
    }
}

fn encode_document(document: &Document, side: Side, part: &mut Map<String, Value>) -> Option<()> {
    let data = &document.provider_data;
    if marks::marked(data, side, DOCUMENT_URL) {
        part.insert("type".to_owned(), "document_url".into());
        part.insert("document_url".to_owned(), url_of(&document.source, data, side)?.into());
        if let Some(name) = &document.name {
            part.insert("document_name".to_owned(), name.as_str().into());
        }
        return Some(());
    }
    let mut inner = Map::new();
    if let Some(name) = &document.name {
        inner.insert("filename".to_owned(), name.as_str().into());
    }
    match &document.source {
        Source::File { id, .. } => inner.insert("file_id".to_owned(), id.as_str().into()),
        Source::Base64 { data: bytes, .. } if marks::marked(data, side, BARE) => {
            inner.insert("file_data".to_owned(), bytes.as_str().into())
        }
        // Only those who sent an address here are known to take one.
        Source::Url { .. } if !marks::marked(data, side, FILE_URL) => return None,
        source @ (Source::Base64 { .. } | Source::Url { .. }) => {
            inner.insert("file_data".to_owned(), url_of(source, data, side)?.into())
        }
        Source::Text { .. } => return None,
    };
    put_back(&mut inner, marks::leftovers(data, side).and_then(|own| own.get(INNER)?.as_object()));
    part.insert("type".to_owned(), "file".into());
    part.insert("file".to_owned(), Value::Object(inner));
    Some(())
}

/// A `thinking` part, in the chunks that it came in while they still say the same.
fn encode_thinking(block: &ThinkingBlock) -> Value {
    let data = &block.provider_data;
    let thinking = if data.flag(DIALECT, PLAIN) {
        block.text.as_str().into()
    } else {
        match data.value(DIALECT, CHUNKS).and_then(Value::as_array) {
            Some(chunks) if chunk_text(chunks) == block.text => Value::Array(chunks.clone()),
            _ => json!([text_part(&block.text)]),
        }
    };
    let mut part = Map::new();
    part.insert("type".to_owned(), "thinking".into());
    part.insert("thinking".to_owned(), thinking);
    put_back(&mut part, data.value(DIALECT, PART).and_then(Value::as_object));
    Value::Object(part)
}

fn with_inner<const N: usize>(fields: [(&str, Value); N], data: &ProviderData, side: Side) -> Map<String, Value> {
    let mut inner: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    put_back(&mut inner, marks::leftovers(data, side).and_then(|own| own.get(INNER)?.as_object()));
    inner
}

/// The object, or the one value alone where it came so.
fn plain_or(mut inner: Map<String, Value>, key: &str, data: &ProviderData, side: Side) -> Value {
    if marks::marked(data, side, PLAIN) { inner.shift_remove(key).unwrap_or_default() } else { Value::Object(inner) }
}

/// Does nothing on this block ask for the form of a part?
pub(super) fn is_bare_text(block: &Block, side: Side) -> bool {
    match block {
        Block::Text(text) => {
            text.cache.is_none()
                && marks::leftovers(&text.provider_data, side).is_none_or(|own| !own.contains_key(EXTRA))
        }
        _ => false,
    }
}

/// The media type of an audio format's name.
fn audio_type(format: &str) -> String {
    match format {
        "wav" => "audio/wav".to_owned(),
        "mp3" => "audio/mpeg".to_owned(),
        other => format!("audio/{other}"),
    }
}

/// The name of an audio format by its media type.
pub(super) fn audio_format(media_type: &str) -> &str {
    match media_type {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        other => other.strip_prefix("audio/").unwrap_or(other),
    }
}

/// The media type that the first bytes show.
pub(super) fn sniffed(base64: &str) -> Option<&'static str> {
    // A multiple of four characters, so that they decode by themselves.
    let head = base64.get(..base64.len().min(512) / 4 * 4)?;
    infer::get(&STANDARD.decode(head).ok()?).map(|kind| kind.mime_type())
}

//! Content parts: from the wire to blocks, and from blocks back to the parts they came from or would be.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::DIALECT;
use super::abilities::DETAIL;
use super::notes::{self, Notes, REFUSAL, Side, shape};
use super::reasoning;
use super::wire::{Inner, Medium, Part, put};
use crate::dialect::media::{Address, data_head};
use crate::fit::StateUse;
use crate::json::loose::{Item, Loose as _, read_raw};
use crate::json::wire::{Raw, Text as WireText};
use crate::{Audio, Block, CacheHint, Document, Fields, Image, Json, Other, ProviderData, Source, Text};

/// Names in the shape of parts.
const DATA_HEAD: &str = "data_head";
pub(super) const PLAIN: &str = "plain";
const FORMAT: &str = "format";
const BARE: &str = "bare";
const DOCUMENT_URL: &str = "document_url";
/// The refusal was in a part, not in the message's own field.
const IN_PART: &str = "in_part";

/// Reads one part. An unknown part is kept whole.
pub(super) fn decode(item: Item<'_, Part<'_>>, side: Side) -> Block {
    let data = match item {
        Item::Odd(raw) => Json::copy(&raw),
        Item::Fits(mut part) => match read(&mut part, side) {
            Some(block) => return block,
            None => Json::of(&part).unwrap_or_default(),
        },
    };
    Block::Other(Other { dialect: DIALECT, data })
}

fn read(part: &mut Part<'_>, side: Side) -> Option<Block> {
    let mut notes = Notes::default();
    let kind = part.kind.as_ref()?.as_str();
    Some(match kind {
        "text" => {
            let text = part.text.take()?.into_string();
            let (cache, provider_data) = rest(notes, part, side);
            Block::Text(Text { text, cache, provider_data, ..Text::default() })
        }
        "refusal" => {
            let text = part.refusal.take()?.into_string();
            notes.mark(REFUSAL);
            notes.mark(IN_PART);
            let (cache, provider_data) = rest(notes, part, side);
            Block::Text(Text { text, cache, provider_data, ..Text::default() })
        }
        "image_url" => {
            let source = read_image(as_it_came(part.image_url.as_ref())?, &mut notes)?;
            part.image_url = None;
            let (cache, provider_data) = rest(notes, part, side);
            Block::Image(Image { source, cache, provider_data })
        }
        "input_audio" => {
            let source = read_audio(as_it_came(part.input_audio.as_ref())?, &mut notes)?;
            part.input_audio = None;
            let (cache, provider_data) = rest(notes, part, side);
            Block::Audio(Audio { source, cache, provider_data })
        }
        "file" => {
            let (source, name) = read_file(&mut part.file, &mut notes)?;
            let (cache, provider_data) = rest(notes, part, side);
            Block::Document(Document { source, name, cache, provider_data })
        }
        "document_url" => {
            let source = source_of(part.document_url.take()?.into_text(), None, &mut notes);
            notes.mark(DOCUMENT_URL);
            let name = part.document_name.take().map(WireText::into_string);
            let (cache, provider_data) = rest(notes, part, side);
            Block::Document(Document { source, name, cache, provider_data })
        }
        _ => return reasoning::read(part),
    })
}

/// Returns a part's remaining fields and its cache hint.
fn rest(mut notes: Notes, part: &mut Part<'_>, side: Side) -> (Option<CacheHint>, ProviderData) {
    part.kind = None;
    for (name, value) in std::mem::take(part).leftovers() {
        notes.extra.push(name, value);
    }
    (cache_hint(&notes.extra), notes.into_data(side))
}

/// Returns the cache hint among a part's or a tool's fields. The field itself stays with the others.
pub(super) fn cache_hint(fields: &Fields) -> Option<CacheHint> {
    if fields.is_empty() {
        return None;
    }
    let control = fields.get("cache_control").map(Json::value);
    let wish = control
        .filter(|control| control.get("type").is_some_and(|kind| kind == "ephemeral"))
        .or_else(|| fields.get("prompt_cache_breakpoint").map(Json::value).filter(|wish| wish.is_object()))?;
    Some(CacheHint { ttl: wish.get("ttl").and_then(|ttl| ttl.as_str()).map(str::to_owned) })
}

/// Whether this field of a part or a tool is a cache request.
pub(super) fn is_cache_field(name: &str) -> bool {
    matches!(name, "cache_control" | "prompt_cache_breakpoint")
}

fn as_it_came<'r, 'a>(inner: Option<&'r Inner<'a>>) -> Option<&'r Raw<'a>> {
    match inner? {
        Inner::Raw(raw) => Some(raw),
        Inner::Object(_) | Inner::Plain(_) => None,
    }
}

fn read_image(raw: &Raw<'_>, notes: &mut Notes) -> Option<Source> {
    if let Some(url) = raw.as_str() {
        notes.mark(PLAIN);
        return Some(source_of(url, None, notes));
    }
    let mut image: Medium<'_> = read_raw(&raw.0)?;
    let url = image.url.take()?.into_text();
    notes.keep_inner("image_url", image.leftovers());
    Some(source_of(url, None, notes))
}

fn read_audio(raw: &Raw<'_>, notes: &mut Notes) -> Option<Source> {
    if let Some(data) = raw.as_str() {
        notes.mark(PLAIN);
        return Some(source_of(data, Some("audio/mpeg"), notes));
    }
    let mut audio: Medium<'_> = read_raw(&raw.0)?;
    let data = audio.data.take()?.into_string();
    let format = audio.format.take();
    let media_type = match &format {
        Some(format) => audio_type(format.as_str()),
        None => sniffed(&data).unwrap_or("audio/wav").to_owned(),
    };
    if format.as_ref().map(WireText::as_str) != Some(audio_format(&media_type)) {
        notes.shape.set(FORMAT, format.map_or_else(Json::null, |format| format.as_str().into()));
    }
    notes.keep_inner("input_audio", audio.leftovers());
    Some(Source::Base64 { media_type, data })
}

fn read_file(inner: &mut Option<Box<Medium<'_>>>, notes: &mut Notes) -> Option<(Source, Option<String>)> {
    let file = inner.as_mut()?;
    let source = match &file.file_data {
        // No API is known to accept a URL here.
        Some(Address::Text(text)) if text.as_str().starts_with("http") => return None,
        Some(_) => source_of(file.file_data.take()?.into_text(), Some("application/pdf"), notes),
        None => Source::File { id: file.file_id.take()?.into_string(), media_type: None },
    };
    let name = file.filename.take().map(WireText::into_string);
    notes.keep_inner("file", inner.take()?.leftovers());
    Some((source, name))
}

/// Reads a source from a string: a URL, a data URL or, if `bare` is given, plain base64, whose type is `bare` unless
/// its first bytes show another.
fn source_of(text: Cow<'_, str>, bare: Option<&str>, notes: &mut Notes) -> Source {
    const END: &str = ";base64,";
    let parsed = text.strip_prefix("data:").and_then(|rest| {
        let end = rest.find(END)?;
        let media_type = rest.get(..end)?.split(';').next()?;
        let (head, data) = text.split_at_checked("data:".len() + end + END.len())?;
        Some((head, media_type.to_owned(), data.to_owned()))
    });
    match (parsed, bare) {
        (Some((head, media_type, data)), _) => {
            if head != data_head(&media_type) {
                notes.shape.set(DATA_HEAD, head);
            }
            Source::Base64 { media_type, data }
        }
        (None, Some(likely)) if !text.starts_with("http") && !text.starts_with("data:") => {
            notes.mark(BARE);
            let media_type = sniffed(&text).unwrap_or(likely).to_owned();
            Source::Base64 { media_type, data: text.into_owned() }
        }
        (None, _) => Source::Url { url: text.into_owned(), media_type: None },
    }
}

/// Returns the string for a source: its URL, or its bytes, usually as a data URL.
fn text_of<'a>(source: &'a Source, data: &'a ProviderData) -> Option<Address<'a>> {
    match source {
        Source::Url { url, .. } => Some(url.as_str().into()),
        Source::Base64 { data: bytes, .. } if shape(data).flag(BARE) => Some(bytes.as_str().into()),
        Source::Base64 { media_type, data: bytes } => {
            let head = shape(data)
                .str(DATA_HEAD)
                .filter(|head| head.strip_prefix("data:").and_then(|rest| rest.split(';').next()) == Some(media_type));
            let head = head.unwrap_or_else(|| data_head(media_type).into());
            Some(Address::Bytes { head, base64: bytes.into() })
        }
        Source::Text { .. } | Source::File { .. } => None,
    }
}

/// Makes a text part.
pub(super) fn text_part(text: &str) -> Part<'_> {
    Part { kind: Some("text".into()), text: Some(text.into()), ..Part::default() }
}

/// Whether this text is a refusal from, or for, the message's own field.
pub(super) fn is_refusal_field(block: &Text) -> bool {
    block.is_refusal() && !shape(&block.provider_data).flag(IN_PART)
}

/// Writes a block as a part. Returns `None` if this dialect has no part for it.
pub(super) fn encode(block: &Block, side: Side, state: StateUse) -> Option<Item<'_, Part<'_>>> {
    let mut part = match block {
        Block::Text(text) if text.is_refusal() => {
            Part { kind: Some("refusal".into()), refusal: Some(text.text.as_str().into()), ..Part::default() }
        }
        Block::Text(text) => text_part(&text.text),
        Block::Image(image) => {
            let url = text_of(&image.source, &image.provider_data)?;
            let mut inner = medium(&image.provider_data, side, "image_url");
            if let Some(detail) = DETAIL.value(DIALECT, &image.provider_data) {
                put(&mut inner.rest, "detail", detail);
            }
            let image_url = if shape(&image.provider_data).flag(PLAIN) && inner.rest.is_empty() {
                Inner::Plain(url)
            } else {
                Inner::Object(Box::new(Medium { url: Some(url), ..inner }))
            };
            Part { kind: Some("image_url".into()), image_url: Some(image_url), ..Part::default() }
        }
        Block::Audio(audio) => {
            Part { kind: Some("input_audio".into()), input_audio: Some(write_audio(audio, side)?), ..Part::default() }
        }
        Block::Document(document) => write_document(document, side)?,
        Block::Thinking(thinking) => return Some(Item::Fits(reasoning::write(thinking, state))),
        Block::Other(other) if other.dialect == DIALECT => return Some(Item::Odd(Cow::Borrowed(other.data.raw()))),
        Block::Other(_)
        | Block::ToolCall(_)
        | Block::ToolResult(_)
        | Block::ProviderCall(_)
        | Block::ProviderResult(_) => return None,
    };
    if let Some(data) = block.provider_data() {
        let extra = notes::extra(data, side);
        part.rest = match block {
            Block::Image(_) => notes::around(extra, "image_url"),
            Block::Audio(_) => notes::around(extra, "input_audio"),
            Block::Document(_) => notes::around(extra, "file"),
            _ => extra.as_rest(),
        };
        // The cache mark is written only while it matches the block's.
        if cache_hint(extra).as_ref() != block.cache() {
            part.rest.retain(|(name, _)| !is_cache_field(name));
        }
    }
    Some(Item::Fits(part))
}

/// Returns the unknown fields of a part's inner object, as a new one.
fn medium<'a>(data: &'a ProviderData, side: Side, name: &str) -> Medium<'a> {
    Medium { rest: notes::inner(notes::extra(data, side), name), ..Medium::default() }
}

fn write_audio(audio: &Audio, side: Side) -> Option<Inner<'_>> {
    let shape = shape(&audio.provider_data);
    if shape.flag(PLAIN) {
        return text_of(&audio.source, &audio.provider_data).map(Inner::Plain);
    }
    let Source::Base64 { media_type, data } = &audio.source else { return None };
    let kept = shape.get(FORMAT);
    let same = kept.and_then(Json::as_str).filter(|format| audio_type(format) == *media_type);
    let format = match same {
        Some(format) => Some(WireText(format)),
        None if kept.is_some_and(Json::is_null) => None,
        None => Some(audio_format(media_type).into()),
    };
    let inner = medium(&audio.provider_data, side, "input_audio");
    Some(Inner::Object(Box::new(Medium { data: Some(data.as_str().into()), format, ..inner })))
}

fn write_document(document: &Document, side: Side) -> Option<Part<'_>> {
    let data = &document.provider_data;
    let name = document.name.as_deref().map(WireText::from);
    if shape(data).flag(DOCUMENT_URL) {
        return Some(Part {
            kind: Some("document_url".into()),
            document_url: Some(text_of(&document.source, data)?),
            document_name: name,
            ..Part::default()
        });
    }
    let mut file = Medium { filename: name, ..medium(data, side, "file") };
    match &document.source {
        Source::File { id, .. } => file.file_id = Some(id.as_str().into()),
        source @ Source::Base64 { .. } => file.file_data = text_of(source, data),
        Source::Url { .. } | Source::Text { .. } => return None,
    }
    Some(Part { kind: Some("file".into()), file: Some(Box::new(file)), ..Part::default() })
}

/// Whether this block could be written as a plain string.
pub(super) fn is_bare_text(block: &Block, side: Side) -> bool {
    match block {
        Block::Text(text) => {
            text.cache.is_none() && !text.is_refusal() && notes::extra(&text.provider_data, side).is_empty()
        }
        _ => false,
    }
}

/// Returns the media type for the name of an audio format.
fn audio_type(format: &str) -> String {
    match format {
        "wav" => "audio/wav".to_owned(),
        "mp3" => "audio/mpeg".to_owned(),
        other => format!("audio/{other}"),
    }
}

/// Returns the name of the audio format for a media type.
fn audio_format(media_type: &str) -> &str {
    match media_type {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        other => other.strip_prefix("audio/").unwrap_or(other),
    }
}

/// Returns the media type that the first bytes show.
pub(super) fn sniffed(base64: &str) -> Option<&'static str> {
    // A multiple of four characters, so that they can be decoded alone.
    let head = base64.get(..base64.len().min(512) / 4 * 4)?;
    infer::get(&STANDARD.decode(head).ok()?).map(|kind| kind.mime_type())
}

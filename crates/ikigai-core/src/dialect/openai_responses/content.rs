//! Blocks and parts, both ways: `input_text`, `output_text`, `refusal`, `input_image`, `input_file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::wire::{self, Any, Content, Loose, Object, has_text, is, take_text};
use super::{DIALECT, items};
use crate::json::wire::{Raw, Rest};
use crate::{Block, CacheHint, Document, Fields, Image, Json, Other, Part, ProviderData, Source, Text};

/// The type of text parts on the client's side.
pub(super) const INPUT: &str = "input_text";
/// The type of text parts on the model's side.
pub(super) const OUTPUT: &str = "output_text";

/// The usual mark for the cache.
fn explicit() -> serde_json::Value {
    serde_json::json!({"mode": "explicit"})
}

/// How much of what came along with a wire object is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of it: the document is to be the one that was read.
    Everything,
    /// What a model needs of its own history, in our spelling.
    Fields,
    /// Nothing: another provider issued it.
    Nothing,
}

impl Keep {
    /// The fields that the format does not know, to be written again.
    pub(super) fn extra(self, data: &ProviderData) -> Rest<'_> {
        match self {
            Keep::Everything | Keep::Fields => data.part(DIALECT, Part::Extra).as_rest(),
            Keep::Nothing => Rest::new(),
        }
    }

    /// How the document was spelled, where that is followed.
    pub(super) fn shape(self, data: &ProviderData) -> &Fields {
        match self {
            Keep::Everything => data.part(DIALECT, Part::Shape),
            Keep::Fields | Keep::Nothing => Fields::NONE,
        }
    }
}

/// How content was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    AsText,
    AsParts,
}

/// What is left of a wire object when the fields with a place in the format have been taken out.
pub(super) fn leftovers(object: &impl Serialize) -> Fields {
    match serde_json::to_string(object) {
        Ok(text) if text != "{}" => serde_json::from_str(&text).unwrap_or_default(),
        Ok(_) | Err(_) => Fields::default(),
    }
}

/// Something that only this dialect knows, kept whole.
pub(super) fn other(object: &impl Serialize) -> Other {
    Other { dialect: DIALECT, data: Json::of(object).unwrap_or_default() }
}

/// Reads the content of a message or a result. `None` if it is neither a text nor a list of parts.
pub(super) fn decode(content: Content<'_>) -> Option<(Vec<Block>, Written)> {
    match content {
        Any::Text(text) => Some((vec![Block::text(text.into_string())], Written::AsText)),
        Any::List(parts) => Some((parts.into_iter().map(decode_part).collect(), Written::AsParts)),
        Any::Object(_) | Any::Other(_) => None,
    }
}

/// Reads a part of the client's side. An unknown one is kept whole.
fn decode_part(part: Object<'_, wire::Part<'_>>) -> Block {
    let Any::Object(mut part) = part else { return Block::Other(other(&part)) };
    if is_one_of(&part.kind, &[INPUT, OUTPUT, "text"]) && has_text(&part.text) {
        let mut block = text(part, INPUT, Part::Extra);
        block.cache = breakpoint(&mut block.provider_data);
        return Block::Text(block);
    }
    if is_one_of(&part.kind, &["input_image"])
        && let Some(source) = linked(&mut part.image_url).or_else(|| file_id(&mut part.file_id))
    {
        let (cache, provider_data) = rest(part, ProviderData::default());
        return Block::Image(Image { source, cache, provider_data });
    }
    if is_one_of(&part.kind, &["input_file"]) {
        return file(part);
    }
    Block::Other(other(&part))
}

fn is_one_of(kind: &Option<Loose<'_>>, words: &[&str]) -> bool {
    kind.as_ref().and_then(Any::as_str).is_some_and(|kind| words.contains(&kind))
}

/// Reads a part that is text, of either side. `usual` is the type that texts have there. What a model's text comes with
/// (citations, probabilities) goes to the part `lists` of the block's data.
pub(super) fn text(mut part: wire::Part<'_>, usual: &str, lists: Part) -> Text {
    let mut data = ProviderData::default();
    let kind = take_text(&mut part.kind).unwrap_or_default();
    let text = if kind == "refusal" {
        data.set_part(DIALECT, Part::Shape, "refusal", true);
        take_text(&mut part.refusal)
    } else {
        if kind != usual {
            data.set_part(DIALECT, Part::Shape, "part_type", kind);
        }
        for (name, list) in [("annotations", &mut part.annotations), ("logprobs", &mut part.logprobs)] {
            if let Some(list) = list.take() {
                let place = if list.text() == "[]" { Part::Shape } else { lists };
                data.set_part(DIALECT, place, name, list.to_json());
            }
        }
        take_text(&mut part.text)
    };
    data.extend_part(DIALECT, Part::Extra, leftovers(&part));
    Text { text: text.unwrap_or_default(), cache: None, provider_data: data }
}

fn file(mut part: wire::Part<'_>) -> Block {
    let mut data = ProviderData::default();
    let source = match take_text(&mut part.file_data) {
        Some(bytes) => from_data_url(bytes).unwrap_or_else(|bytes| {
            data.set_part(DIALECT, Part::Shape, "bare_data", true);
            let name = part.filename.as_ref().and_then(Any::as_str);
            let guess = name.and_then(|name| mime_guess::from_path(name).first_raw());
            Source::Base64 { media_type: guess.unwrap_or("application/octet-stream").to_owned(), data: bytes }
        }),
        None => {
            let linked = linked(&mut part.file_url);
            if matches!(linked, Some(Source::Base64 { .. })) {
                data.set_part(DIALECT, Part::Shape, "data_in", "file_url");
            }
            let Some(source) = linked.or_else(|| file_id(&mut part.file_id)) else { return Block::Other(other(&part)) };
            source
        }
    };
    let name = take_text(&mut part.filename);
    let (cache, provider_data) = rest(part, data);
    Block::Document(Document { source, name, cache, provider_data })
}

/// What else stands in a part.
fn rest(mut part: wire::Part<'_>, mut data: ProviderData) -> (Option<CacheHint>, ProviderData) {
    part.kind = None;
    data.extend_part(DIALECT, Part::Extra, leftovers(&part));
    let cache = breakpoint(&mut data);
    (cache, data)
}

fn linked(url: &mut Option<Loose<'_>>) -> Option<Source> {
    let url = take_text(url)?;
    Some(from_data_url(url).unwrap_or_else(|url| Source::Url { url, media_type: None }))
}

fn file_id(id: &mut Option<Loose<'_>>) -> Option<Source> {
    take_text(id).map(|id| Source::File { id, media_type: None })
}

/// The bytes in a plain base64 data URL.
///
/// # Errors
/// The text itself if it is something else, has further parameters, or uses another alphabet.
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

/// The mark up to which the prompt is cached. An unusual one is kept as it was written.
fn breakpoint(data: &mut ProviderData) -> Option<CacheHint> {
    let name = "prompt_cache_breakpoint";
    data.part(DIALECT, Part::Extra).get(name).filter(|mark| !mark.is_null())?;
    let mark = data.remove_part(DIALECT, Part::Extra, name)?;
    if mark != explicit() {
        data.set_part(DIALECT, Part::Shape, name, mark);
    }
    Some(CacheHint::default())
}

/// The mark for a block with a cache hint, as it was written.
pub(super) fn encode_breakpoint(data: &ProviderData, keep: Keep) -> Raw<'_> {
    match keep.shape(data).get("prompt_cache_breakpoint") {
        Some(mark) => mark.into(),
        None => Raw::of(&explicit()),
    }
}

/// Writes a part that is text. `usual` is the type that texts have on this side.
pub(super) fn encode_text<'a>(text: &'a Text, usual: &'a str, keep: Keep) -> wire::Part<'a> {
    let data = &text.provider_data;
    let mut part = if usual == OUTPUT && text.is_refusal() {
        wire::Part {
            kind: Some(Any::text("refusal")),
            refusal: Some(Any::text(text.text.as_str())),
            ..wire::Part::default()
        }
    } else {
        let kind =
            keep.shape(data).str("part_type").map_or_else(|| Any::text(usual), |kind| Any::text(kind.into_owned()));
        wire::Part { kind: Some(kind), text: Some(Any::text(text.text.as_str())), ..wire::Part::default() }
    };
    part.rest = keep.extra(data);
    if keep == Keep::Everything {
        part.rest.extend(data.part(DIALECT, Part::Answer).as_rest());
        let lists = keep.shape(data).as_rest().into_iter();
        part.rest.extend(lists.filter(|(name, _)| matches!(name.as_ref(), "annotations" | "logprobs")));
    }
    items::drop_item_fields(data, &mut part.rest);
    part
}

/// Writes an image part; `None` if the picture is a text.
pub(super) fn encode_image(image: &Image, keep: Keep) -> Option<wire::Part<'_>> {
    let mut part = wire::Part { kind: Some(Any::text("input_image")), ..wire::Part::default() };
    match &image.source {
        Source::Base64 { media_type, data } => part.image_url = Some(Any::text(data_url(media_type, data))),
        Source::Url { url, .. } => part.image_url = Some(Any::text(url.as_str())),
        Source::File { id, .. } => part.file_id = Some(Any::text(id.as_str())),
        Source::Text { .. } => return None,
    }
    part.rest = keep.extra(&image.provider_data);
    items::drop_item_fields(&image.provider_data, &mut part.rest);
    Some(part)
}

/// Writes a file part. A request that is written as it was read gets no name that it did not have.
pub(super) fn encode_file(document: &Document, keep: Keep) -> wire::Part<'_> {
    let shape = keep.shape(&document.provider_data);
    let mut part = wire::Part { kind: Some(Any::text("input_file")), ..wire::Part::default() };
    let own_name = document.name.as_deref().map(Any::text);
    // Inline files are refused without a name.
    let inline_name = |media_type: &str| match keep {
        Keep::Everything => None,
        Keep::Fields | Keep::Nothing => Some(Any::text(default_name(media_type))),
    };
    match &document.source {
        Source::Base64 { media_type, data } => {
            let data =
                if shape.flag("bare_data") { Any::text(data.as_str()) } else { Any::text(data_url(media_type, data)) };
            if shape.get("data_in").is_some() {
                part.file_url = Some(data);
            } else {
                part.file_data = Some(data);
            }
            part.filename = own_name.or_else(|| inline_name(media_type));
        }
        Source::Text { media_type, text } => {
            part.file_data = Some(Any::text(data_url(media_type, &STANDARD.encode(text))));
            part.filename = own_name.or_else(|| inline_name(media_type));
        }
        Source::Url { url, .. } => {
            part.file_url = Some(Any::text(url.as_str()));
            part.filename = own_name.filter(|_| keep == Keep::Everything);
        }
        Source::File { id, .. } => {
            part.file_id = Some(Any::text(id.as_str()));
            part.filename = own_name.filter(|_| keep == Keep::Everything);
        }
    }
    part.rest = keep.extra(&document.provider_data);
    items::drop_item_fields(&document.provider_data, &mut part.rest);
    part
}

fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

/// Whether a part is a text with nothing else to say, so that the text alone can stand for it.
pub(super) fn is_bare_text(part: &wire::Part<'_>, usual: &str) -> bool {
    is(&part.kind, usual)
        && has_text(&part.text)
        && part.prompt_cache_breakpoint.is_none()
        && part.annotations.is_none()
        && part.rest.is_empty()
}

/// A name with the ending by which the server tells the kind.
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

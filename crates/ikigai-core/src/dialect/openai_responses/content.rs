//! Blocks and parts, both ways: `input_text`, `output_text`, `refusal`, `input_image`, `input_file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::abilities::DETAIL;
use super::wire::{self, Content, Entry, Many, put, word};
use super::{DIALECT, hosted, message};
use crate::dialect::media::Address;
use crate::json::loose::Loose as _;
use crate::json::wire::{Raw, Rest, Text as Words};
use crate::media_type::by_name;
use crate::span::Ruler;
use crate::{Block, CacheHint, Citation, Document, Fields, Image, Json, Other, Part, ProviderData, Source, Text};

/// The type of text parts on the client's side.
pub(super) const INPUT: &str = "input_text";
/// The type of text parts on the model's side.
pub(super) const OUTPUT: &str = "output_text";

/// The field that marks how far the prompt is cached.
const MARK: &str = "prompt_cache_breakpoint";

/// The usual mark.
fn explicit() -> serde_json::Value {
    serde_json::json!({"mode": "explicit"})
}

/// How much of a wire object's own data is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of it: the document must be the one that was read.
    Everything,
    /// What a model needs of its own history, in our spelling.
    Fields,
    /// Nothing: another provider issued it.
    Nothing,
}

impl Keep {
    /// Returns the fields that the format does not have, to be written back.
    pub(super) fn extra(self, data: &ProviderData) -> Rest<'_> {
        match self {
            Keep::Everything | Keep::Fields => data.part(DIALECT, Part::Extra).as_rest(),
            Keep::Nothing => Rest::new(),
        }
    }

    /// Returns how the document was spelled, if that is to be followed.
    pub(super) fn shape(self, data: &ProviderData) -> &Fields {
        match self {
            Keep::Everything => data.part(DIALECT, Part::Shape),
            Keep::Fields | Keep::Nothing => Fields::NONE,
        }
    }
}

/// Keeps an object that only this dialect has.
pub(super) fn other(object: &impl Serialize) -> Other {
    Other { dialect: DIALECT, data: Json::of(object).unwrap_or_default() }
}

/// Reads the content of a message or a result. Returns `None` if it is neither a string nor a list of parts.
pub(super) fn decode(content: Content<'_>) -> Option<Vec<Block>> {
    match content {
        Many::Text(text) => Some(vec![Block::text(text.into_string())]),
        Many::List(parts) => Some(parts.into_iter().map(decode_part).collect()),
        Many::Absent => None,
    }
}

/// Reads a part of the client's side. An unknown one is kept whole.
fn decode_part(part: Entry<'_, wire::Part<'_>>) -> Block {
    let Entry::Fits(mut part) = part else { return Block::Other(other(&part)) };
    match word(&part.kind) {
        INPUT | OUTPUT | "text" if part.text.is_some() => {
            let mark = part.prompt_cache_breakpoint.take();
            let mut block = text(part, INPUT, Part::Extra);
            block.cache = breakpoint(mark, &mut block.provider_data);
            Block::Text(block)
        }
        "input_image" => {
            let source = linked(&mut part.image_url).or_else(|| file_id(&mut part.file_id));
            let Some(source) = source else { return Block::Other(other(&part)) };
            let (cache, provider_data) = rest(part, ProviderData::default());
            Block::Image(Image { source, cache, provider_data })
        }
        "input_file" => file(part),
        _ => Block::Other(other(&part)),
    }
}

/// Reads a text part of either side. `usual` is the usual type of text there. The lists that come with a model's text
/// (citations, probabilities) go to the part `lists` of the block's data.
pub(super) fn text(mut part: wire::Part<'_>, usual: &str, lists: Part) -> Text {
    let mut data = ProviderData::default();
    let kind = part.kind.take().unwrap_or_default();
    let mut citations = Vec::new();
    let text = if kind.as_str() == "refusal" {
        data.set_part(DIALECT, Part::Shape, "refusal", true);
        part.refusal.take()
    } else {
        if kind.as_str() != usual {
            data.set_part(DIALECT, Part::Shape, "part_type", kind.as_str());
        }
        for (name, list) in [("annotations", &mut part.annotations), ("logprobs", &mut part.logprobs)] {
            if let Some(list) = list.take() {
                if name == "annotations" {
                    citations = read_citations(&list, part.text.as_ref().map_or("", Words::as_str));
                    if !citations.is_empty() {
                        continue;
                    }
                }
                let place = if list.text() == "[]" { Part::Shape } else { lists };
                data.set_part(DIALECT, place, name, list.into_json());
            }
        }
        part.text.take()
    };
    data.extend_part(DIALECT, Part::Extra, part.leftovers());
    Text { text: text.map(Words::into_string).unwrap_or_default(), citations, cache: None, provider_data: data }
}

/// Reads a text's citations. Returns none if the list is empty or contains anything else.
fn read_citations(list: &Raw<'_>, text: &str) -> Vec<Citation> {
    let list: Vec<Json> = list.to().unwrap_or_default();
    if list.is_empty() || !list.iter().all(Json::is_object) {
        return Vec::new();
    }
    let ruler = Ruler::of(text);
    list.into_iter().map(|wire| hosted::citation(wire, &ruler)).collect()
}

fn file(mut part: wire::Part<'_>) -> Block {
    let mut data = ProviderData::default();
    let source = match part.file_data.take() {
        Some(bytes) => from_data_url(bytes.into_text().into_owned()).unwrap_or_else(|bytes| {
            data.set_part(DIALECT, Part::Shape, "bare_data", true);
            let guess = by_name(word(&part.filename));
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
    let name = part.filename.take().map(Words::into_string);
    let (cache, provider_data) = rest(part, data);
    Block::Document(Document { source, name, cache, provider_data })
}

/// Returns the remaining fields of a part.
fn rest(mut part: wire::Part<'_>, mut data: ProviderData) -> (Option<CacheHint>, ProviderData) {
    part.kind = None;
    let cache = breakpoint(part.prompt_cache_breakpoint.take(), &mut data);
    data.extend_part(DIALECT, Part::Extra, part.leftovers());
    (cache, data)
}

/// Reads the mark up to which the prompt is cached. An unusual one keeps its spelling.
fn breakpoint(mark: Option<Raw<'_>>, data: &mut ProviderData) -> Option<CacheHint> {
    let mark = mark?.into_json();
    if mark != explicit() {
        data.set_part(DIALECT, Part::Shape, MARK, mark);
    }
    Some(CacheHint::default())
}

fn linked(url: &mut Option<Address<'_>>) -> Option<Source> {
    let url = url.take()?.into_text().into_owned();
    Some(from_data_url(url).unwrap_or_else(|url| Source::Url { url, media_type: None }))
}

fn file_id(id: &mut Option<Words<'_>>) -> Option<Source> {
    id.take().map(|id| Source::File { id: id.into_string(), media_type: None })
}

/// Reads the bytes in a plain base64 data URL.
///
/// # Errors
/// Returns the string itself if it is anything else, has further parameters, or uses another alphabet.
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

/// Writes the mark for a block with a cache hint, in its original spelling.
pub(super) fn encode_breakpoint(data: &ProviderData, keep: Keep) -> Raw<'_> {
    match keep.shape(data).get(MARK) {
        Some(mark) => mark.into(),
        None => Raw::of(&explicit()),
    }
}

/// Returns the unknown fields of a part, without those of the item that it begins.
fn own_fields(data: &ProviderData, keep: Keep) -> Rest<'_> {
    let of_item = message::is_of_item(data);
    let mut rest = keep.extra(data);
    rest.retain(|(name, _)| !of_item(name));
    rest
}

/// Writes a text part. `usual` is the usual type of text on this side.
pub(super) fn encode_text<'a>(text: &'a Text, usual: &'a str, keep: Keep) -> wire::Part<'a> {
    let data = &text.provider_data;
    let shape = keep.shape(data);
    let mut part = wire::Part { rest: own_fields(data, keep), ..wire::Part::default() };
    if usual == OUTPUT && text.is_refusal() {
        part.kind = Some("refusal".into());
        part.refusal = Some(text.text.as_str().into());
    } else {
        part.kind = Some(shape.str("part_type").map_or_else(|| usual.into(), Words));
        part.text = Some(text.text.as_str().into());
    }
    if keep == Keep::Everything {
        let answer = data.part(DIALECT, Part::Answer);
        part.rest.extend(answer.as_rest());
        part.annotations = shape.get("annotations").map(Raw::from);
        part.logprobs = shape.get("logprobs").map(Raw::from);
    }
    part
}

/// Writes an image part. Returns `None` if the source is text.
pub(super) fn encode_image(image: &Image, keep: Keep) -> Option<wire::Part<'_>> {
    let mut rest = own_fields(&image.provider_data, keep);
    if let Some(detail) = DETAIL.value(DIALECT, &image.provider_data) {
        put(&mut rest, "detail", detail);
    }
    let mut part = wire::Part { kind: Some("input_image".into()), rest, ..wire::Part::default() };
    match &image.source {
        Source::Base64 { media_type, data } => part.image_url = Some(Address::data(media_type, data)),
        Source::Url { url, .. } => part.image_url = Some(url.as_str().into()),
        Source::File { id, .. } => part.file_id = Some(id.as_str().into()),
        Source::Text { .. } => return None,
    }
    Some(part)
}

/// Writes a file part. A request that is written as it was read gets no name that it did not have.
pub(super) fn encode_file(document: &Document, keep: Keep) -> wire::Part<'_> {
    let shape = keep.shape(&document.provider_data);
    let rest = own_fields(&document.provider_data, keep);
    let mut part = wire::Part { kind: Some("input_file".into()), rest, ..wire::Part::default() };
    let own_name = document.name.as_deref().map(Words::from);
    match &document.source {
        Source::Base64 { media_type, data } => {
            let data = if shape.flag("bare_data") { data.as_str().into() } else { Address::data(media_type, data) };
            let place = if shape.get("data_in").is_some() { &mut part.file_url } else { &mut part.file_data };
            *place = Some(data);
        }
        Source::Text { media_type, text } => part.file_data = Some(Address::data(media_type, STANDARD.encode(text))),
        Source::Url { url, .. } => part.file_url = Some(url.as_str().into()),
        Source::File { id, .. } => part.file_id = Some(id.as_str().into()),
    }
    part.filename = match &document.source {
        _ if keep == Keep::Everything => own_name,
        // Inline files are refused without a name.
        Source::Base64 { media_type, .. } | Source::Text { media_type, .. } => {
            own_name.or_else(|| Some(default_name(media_type).into()))
        }
        Source::Url { .. } | Source::File { .. } => None,
    };
    part
}

/// Returns the text alone, if the part has nothing else.
pub(super) fn bare_text<'a>(part: &mut wire::Part<'a>, usual: &str) -> Option<Words<'a>> {
    let bare = word(&part.kind) == usual
        && part.prompt_cache_breakpoint.is_none()
        && part.annotations.is_none()
        && part.logprobs.is_none()
        && part.rest.is_empty();
    part.text.take_if(|_| bare)
}

/// Returns a name with the extension by which the server recognises the type.
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

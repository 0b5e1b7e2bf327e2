//! Conversion between parts of a content and blocks.
//!
//! A part has exactly one data member (`text`, `inlineData`, `functionCall`, …) and possibly siblings that describe it.
//! Executed code and the trace of a hosted tool are calls and results that keep their part (`hosted.rs`). An unknown
//! part, such as a video, is kept whole as a block of this dialect.

use std::borrow::Cow;

use serde_json::value::RawValue;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::leftovers::{Kept, Leftovers};
use super::wire::{FunctionCall, Media, Part};
use super::{DIALECT, hosted, result};
use crate::dialect::media::data_url;
use crate::fit::Spelling;
use crate::json::tagged::Object;
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::media_type::by_name;
use crate::wire::Ids;
use crate::{
    Arguments, Audio, Block, BlockKind, Document, Image, Json, Other, Part as DataPart, ProviderData, Source,
    ThinkingBlock, ToolCall,
};

/// In the state: the thought signature of the block's part.
pub(super) const SIGNATURE: &str = "thought_signature";
/// In the shape: the wire had no id, so the block's id is ours and never sent.
pub(super) const GENERATED: &str = "generated_id";
/// In the shape: the call came without `args`.
const NO_ARGS: &str = "no_args";
/// In the shape: how the data was written, if not as padded standard base64.
const BASE64: &str = "base64";
/// In the shape: how several text parts formed one block, as their lengths in bytes.
const SPLIT: &str = "split";

/// The data members that are kept whole.
const KEPT_WHOLE: [&str; 8] = [
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "executable_code",
    "code_execution_result",
    "tool_call",
    "tool_response",
];
/// The data members that are objects: their unknown fields are kept under their names.
const OBJECTS: [&str; 4] = ["inlineData", "fileData", "functionCall", "functionResponse"];

/// Returns what is wrong with a client's part, if anything.
pub(super) fn fault(part: &Part<'_>) -> Option<&'static str> {
    if part.inline_data.as_ref().is_some_and(|media| media.data.is_none()) {
        return Some("inlineData.data is missing");
    }
    if part.file_data.as_ref().is_some_and(|media| media.uri.is_none()) {
        return Some("fileData.fileUri is missing");
    }
    let call = part.call.as_ref()?;
    if call.name.is_none() {
        return Some("functionCall.name is missing");
    }
    let odd = call.args.as_ref().is_some_and(|args| !args.text().starts_with('{'));
    odd.then_some("functionCall.args must be an object")
}

/// Converts a part to a block. A call or a result without an id gets none here: the caller knows the conversation.
pub(super) fn decode(mut part: Part<'_>) -> Block {
    let members = [
        part.text.is_some(),
        part.inline_data.is_some(),
        part.file_data.is_some(),
        part.call.is_some(),
        part.result.is_some(),
    ];
    let whole = part.rest.iter().any(|(name, raw)| KEPT_WHOLE.contains(&name.as_ref()) && raw.get() != "null");
    if whole || members.into_iter().filter(|there| *there).count() != 1 || !fits(&part) {
        return other(&part);
    }
    let (mut data, mut left) = (ProviderData::default(), Leftovers::default());
    let mut block = if let Some(text) = part.text.take() {
        text_block(text, &mut part.thought)
    } else if let Some(media) = part.inline_data.take() {
        media_block(*media, "inlineData", &mut data, &mut left)
    } else if let Some(media) = part.file_data.take() {
        media_block(*media, "fileData", &mut data, &mut left)
    } else if let Some(call) = part.call.take() {
        call_block(*call, &mut data, &mut left)
    } else if let Some(response) = part.result.take() {
        result::decode(*response, &mut data, &mut left)
    } else {
        return other(&part);
    };
    if let Some(signature) = part.signature.take_if(|signature| !signature.as_str().is_empty()) {
        data.set_part(DIALECT, DataPart::State, SIGNATURE, signature.into_string());
    }
    left.spelled(std::mem::take(&mut part.names));
    left.take(part.leftovers());
    left.keep(&mut data);
    if let Some(own) = block.provider_data_mut() {
        *own = data;
    }
    block
}

fn other(part: &Part<'_>) -> Block {
    let data = Json::of(part).unwrap_or_default();
    hosted::raise(&data).unwrap_or(Block::Other(Other { dialect: DIALECT, data }))
}

/// Whether the format has a block for the part's data.
fn fits(part: &Part<'_>) -> bool {
    let media = part.inline_data.as_ref().or(part.file_data.as_ref());
    // A picture drawn while thinking is not part of the answer.
    let shown = |media: &Media<'_>| {
        part.thought != Some(true) && !matches!(kind_of(media.mime_type.as_ref()), MediaKind::Video)
    };
    fault(part).is_none()
        && media.is_none_or(|media| shown(media))
        && part.inline_data.as_ref().is_none_or(|inline| inline.mime_type.is_some())
}

fn text_block(text: Text<'_>, thought: &mut Option<bool>) -> Block {
    let text = text.into_string();
    if *thought == Some(true) {
        *thought = None;
        return Block::Thinking(ThinkingBlock { text, provider_data: ProviderData::default() });
    }
    Block::Text(crate::Text { text, ..crate::Text::default() })
}

/// The kind of block for a media type.
enum MediaKind {
    Image,
    Audio,
    Document,
    /// The format has no block for it.
    Video,
}

fn kind_of(mime_type: Option<&Text<'_>>) -> MediaKind {
    let top = mime_type.and_then(|mime| mime.as_str().split_once('/')).map(|(top, _)| top.to_ascii_lowercase());
    match top.as_deref() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        _ => MediaKind::Document,
    }
}

fn media_block(mut media: Media<'_>, member: &str, data: &mut ProviderData, left: &mut Leftovers) -> Block {
    let kind = kind_of(media.mime_type.as_ref());
    let media_type = media.mime_type.take().map(Text::into_string);
    let source = match (media.data.take(), media.uri.take()) {
        (Some(bytes), _) => {
            let (bytes, written) = standard_base64(bytes.into_string());
            if let Some(written) = written {
                data.set_part(DIALECT, DataPart::Shape, BASE64, written);
            }
            Source::Base64 { media_type: media_type.unwrap_or_default(), data: bytes }
        }
        (None, uri) => {
            let uri = uri.map(Text::into_string).unwrap_or_default();
            match is_uploaded(&uri) {
                true => Source::File { id: uri, media_type },
                false => Source::Url { url: uri, media_type },
            }
        }
    };
    let empty = ProviderData::default;
    let block = match kind {
        MediaKind::Image => Block::Image(Image { source, cache: None, provider_data: empty() }),
        MediaKind::Audio => Block::Audio(Audio { source, cache: None, provider_data: empty() }),
        MediaKind::Document | MediaKind::Video => {
            let name = media.name.take().map(Text::into_string);
            Block::Document(Document { source, name, cache: None, provider_data: empty() })
        }
    };
    left.spelled(std::mem::take(&mut media.names));
    left.take_inner(member, media.leftovers());
    block
}

/// Whether the URL is that of a file uploaded to the provider, not one that anyone can fetch.
fn is_uploaded(uri: &str) -> bool {
    !uri.starts_with("http") || (uri.contains("googleapis.com/") && uri.contains("/files/"))
}

fn call_block(mut call: FunctionCall<'_>, data: &mut ProviderData, left: &mut Leftovers) -> Block {
    let arguments = match call.args.take() {
        Some(args) => Arguments::from_text(args.text()),
        None => {
            data.set_part(DIALECT, DataPart::Shape, NO_ARGS, true);
            Arguments::default()
        }
    };
    let id = take_id(&mut call.id);
    let name = call.name.take().map(Text::into_string).unwrap_or_default();
    left.spelled(std::mem::take(&mut call.names));
    left.take_inner("functionCall", call.leftovers());
    Block::ToolCall(ToolCall { id, name, arguments, ..ToolCall::default() })
}

/// Takes the id, or an empty string: an empty id on the wire is as good as none, and stays there.
pub(super) fn take_id(id: &mut Option<Text<'_>>) -> String {
    id.take_if(|id| !id.as_str().is_empty()).map(Text::into_string).unwrap_or_default()
}

/// Gives a call without an id one of ours.
pub(super) fn named(mut block: Block, ids: &mut Ids) -> Block {
    if let Block::ToolCall(call) = &mut block
        && call.id.is_empty()
    {
        call.id = ids.next_id();
        call.provider_data.set_part(DIALECT, DataPart::Shape, GENERATED, true);
    }
    block
}

/// Notes how many text parts formed a block.
pub(super) fn note_split(block: &mut Block, lengths: &[usize]) {
    if let Some(data) = block.provider_data_mut() {
        data.set_part(DIALECT, DataPart::Shape, SPLIT, Json::of(lengths).unwrap_or_default());
    }
}

/// Makes a text part, of an answer or of thoughts.
pub(super) fn text(text: &str, kind: BlockKind) -> Part<'_> {
    let thought = (kind == BlockKind::Thinking).then_some(true);
    Part { text: Some(text.into()), thought, ..Part::default() }
}

/// Makes the parts of a text, as it was received.
pub(super) fn texts<'a>(whole: &'a str, kind: BlockKind, data: &ProviderData) -> Vec<Part<'a>> {
    let lengths = data.part(DIALECT, DataPart::Shape).get(SPLIT).and_then(|lengths| lengths.to::<Vec<usize>>().ok());
    match lengths.and_then(|lengths| pieces(whole, &lengths)) {
        Some(pieces) => pieces.into_iter().map(|piece| text(piece, kind)).collect(),
        None => vec![text(whole, kind)],
    }
}

/// Cuts the text as noted. Returns `None` if the note no longer fits it.
fn pieces<'a>(text: &'a str, lengths: &[usize]) -> Option<Vec<&'a str>> {
    let mut rest = text;
    let mut pieces = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (piece, behind) = rest.split_at_checked(*length)?;
        pieces.push(piece);
        rest = behind;
    }
    (rest.is_empty() && !pieces.is_empty()).then_some(pieces)
}

/// Returns a call's id for the wire, unless it is one of ours.
pub(super) fn wire_id(call: &ToolCall) -> Option<&str> {
    let generated = call.provider_data.part(DIALECT, DataPart::Shape).flag(GENERATED);
    Some(call.id.as_str()).filter(|id| !id.is_empty() && !generated)
}

/// Makes a call with these arguments, or without any if they are cut off.
pub(super) fn call<'a>(call: &'a ToolCall, args: Option<Cow<'a, RawValue>>, id: Option<&'a str>) -> Part<'a> {
    let args = args.unwrap_or_else(|| Raw::of(&crate::Fields::default()).0);
    let no_args = call.provider_data.part(DIALECT, DataPart::Shape).flag(NO_ARGS) && args.get() == "{}";
    let function = FunctionCall {
        name: Some(call.name.as_str().into()),
        args: (!no_args).then_some(Raw(args)),
        id: id.map(Text::from),
        ..FunctionCall::default()
    };
    Part { call: Some(Box::new(function)), ..Part::default() }
}

/// Makes the part for an image, a document or audio. Returns why if it cannot be sent.
pub(super) fn media<'a>(block: &'a Block, spelling: Spelling) -> Result<Part<'a>, &'static str> {
    let (source, name, data) = match block {
        Block::Image(image) => (&image.source, None, &image.provider_data),
        Block::Audio(audio) => (&audio.source, None, &audio.provider_data),
        Block::Document(document) => (&document.source, document.name.as_deref(), &document.provider_data),
        Block::Text(_)
        | Block::Thinking(_)
        | Block::ToolCall(_)
        | Block::ToolResult(_)
        | Block::ProviderCall(_)
        | Block::ProviderResult(_)
        | Block::Other(_) => {
            return Err("it is not a medium");
        }
    };
    // The API refuses names of documents, except in requests that came with them.
    let name = name.filter(|_| spelling == Spelling::AsItCame).map(Text::from);
    let (mime_type, bytes, uri) = match source {
        Source::Base64 { media_type, data: bytes } => {
            let written = data.part_str(DIALECT, DataPart::Shape, BASE64);
            (Some(media_type.as_str()), Some(as_written(bytes, written.as_deref())), None)
        }
        Source::Text { media_type, text } => (Some(media_type.as_str()), Some(STANDARD.encode(text).into()), None),
        Source::Url { url, media_type } => match data_url(url) {
            Some((media_type, bytes)) => (Some(media_type), Some(bytes.into()), None),
            None => (media_type.as_deref(), None, Some(url.as_str())),
        },
        // A bare id is that of a file in some other API.
        Source::File { id, .. } if !id.contains("://") && !id.starts_with("files/") => {
            return Err("it is a file of another provider, which this one cannot read");
        }
        Source::File { id, media_type } => (media_type.as_deref(), None, Some(id.as_str())),
    };
    let guessed = || uri.filter(|_| spelling == Spelling::Ours).and_then(guess);
    let mime_type = mime_type.or_else(guessed).map(Text::from);
    let (data, uri) = (bytes.map(Text), uri.map(Text::from));
    let is_inline = data.is_some();
    let media = Some(Box::new(Media { mime_type, data, uri, name, ..Media::default() }));
    Ok(match is_inline {
        true => Part { inline_data: media, ..Part::default() },
        false => Part { file_data: media, ..Part::default() },
    })
}

fn guess(uri: &str) -> Option<&'static str> {
    by_name(uri.split(['?', '#']).next().unwrap_or(uri))
}

/// Makes a part of one that was kept whole. Returns `None` if it is not an object.
pub(super) fn whole(other: &Other) -> Option<Part<'_>> {
    let Object(rest) = other.data.to().ok()?;
    Some(Part { rest, ..Part::default() })
}

/// Restores a part's own siblings, and its spelling if requested.
pub(super) fn dress<'a>(part: &mut Part<'a>, data: &'a ProviderData, spelling: Spelling) {
    if data.part(DIALECT, DataPart::Extra).is_empty() && data.part(DIALECT, DataPart::Shape).is_empty() {
        return;
    }
    let kept = Kept::of(data, spelling);
    part.rest = kept.rest(&OBJECTS);
    part.names = kept.names();
    for (member, media) in [("inlineData", &mut part.inline_data), ("fileData", &mut part.file_data)] {
        if let Some(media) = media {
            (media.rest, media.names) = (kept.inner(member), kept.names());
        }
    }
    if let Some(call) = &mut part.call {
        (call.rest, call.names) = (kept.inner("functionCall"), kept.names());
    }
    if let Some(result) = &mut part.result {
        result.rest = kept.inner("functionResponse");
    }
}

/// Converts to standard base64, which the format requires: some clients write URL-safe base64, with or without padding.
fn standard_base64(data: String) -> (String, Option<&'static str>) {
    let url_safe = memchr::memchr2(b'-', b'_', data.as_bytes()).is_some();
    let missing = (4 - data.len() % 4) % 4;
    let mut text = if url_safe { data.replace('-', "+").replace('_', "/") } else { data };
    // Base64 cannot be three characters short of a multiple of four: it stays unchanged.
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

fn as_written<'a>(data: &'a str, written: Option<&str>) -> Cow<'a, str> {
    let written = written.unwrap_or_default();
    let data = if written.ends_with("unpadded") { data.trim_end_matches('=') } else { data };
    if written.starts_with("url") { data.replace('+', "-").replace('/', "_").into() } else { data.into() }
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;

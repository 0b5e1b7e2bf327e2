//! Canonical blocks to wire ones: the parts that requests and answers share.

use std::borrow::Cow;

use crate::json::tagged::{Object, Tagged};
use crate::json::wire::{Raw, Text, read_str};
use crate::{CacheHint, Fields, Part, ProviderData, Source, ThinkingBlock, ToolCall};

use super::super::DIALECT;
use super::super::wire::{Content, Item, Written, write_cache};
use super::decode::read_source;

/// Returns the fields that this dialect left on something, to be written back.
pub(in super::super) fn extra(data: &ProviderData) -> &Fields {
    data.part(DIALECT, Part::Extra)
}

/// Returns the fields that all blocks of a kind have, plus those in `data`.
pub(in super::super) fn start<'a>(kind: &'a str, cache: Option<&CacheHint>, data: &'a ProviderData) -> Written<'a> {
    Written {
        kind: Some(kind.into()),
        cache_control: cache.map(write_cache),
        rest: extra(data).as_rest(),
        ..Written::default()
    }
}

/// Writes thinking with its own state, or with a seal around foreign state.
pub(in super::super) fn write_thinking(thinking: &ThinkingBlock, seal: impl FnOnce() -> Option<String>) -> Written<'_> {
    let data = &thinking.provider_data;
    let state = data.part(DIALECT, Part::State);
    if let Some(redacted) = state.str("redacted_data") {
        return write_redacted(redacted, data);
    }
    let signature = state.str("signature").or_else(|| seal().map(Cow::Owned)).unwrap_or_default();
    // Unsigned thinking is sent back unsigned. An empty signature is how this API begins its blocks.
    let without = signature.is_empty() && data.part(DIALECT, Part::Shape).flag("unsigned");
    Written {
        thinking: Some(thinking.text.as_str().into()),
        signature: (!without).then_some(Text(signature)),
        ..start("thinking", None, data)
    }
}

/// Writes redacted thinking.
pub(in super::super) fn write_redacted<'a>(redacted: Cow<'a, str>, data: &'a ProviderData) -> Written<'a> {
    Written { data: Some(Text(redacted)), ..start("redacted_thinking", None, data) }
}

/// Writes a call. Arguments that are not JSON are left out.
pub(in super::super) fn write_call<'a>(
    call: &'a ToolCall,
    arguments: Option<Raw<'a>>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> Written<'a> {
    let input = arguments.unwrap_or_else(|| Raw::of(&Object::default()));
    let was_absent = input.text() == "{}" && call.provider_data.part(DIALECT, Part::Shape).flag("no_input");
    Written {
        id: Some(call.id.as_str().into()),
        name: Some(call.name.as_str().into()),
        input: (!was_absent).then_some(input),
        ..start("tool_use", cache, data)
    }
}

/// Returns the arguments of a call as received, if they are JSON.
pub(in super::super) fn arguments(call: &ToolCall) -> Option<Raw<'_>> {
    let text = match call.arguments.text().trim() {
        "" | "null" => "{}",
        text => text,
    };
    read_str(text).ok()
}

/// Writes a source, as received if that still means the same.
pub(in super::super) fn write_source<'a>(source: &'a Source, data: &'a ProviderData) -> Item<'a> {
    if let Some(raw) = data.part(DIALECT, Part::Shape).get("source")
        && read_source(raw.text()).is_some_and(|(read, _)| read == *source)
    {
        return raw.into();
    }
    let of = |kind: &'static str| Written { kind: Some(kind.into()), ..Written::default() };
    Item::from(match source {
        Source::Base64 { media_type, data } => write_bytes("base64", media_type, data.as_str().into()),
        Source::Text { media_type, text } => write_bytes("text", media_type, text.as_str().into()),
        Source::Url { url, .. } => Written { url: Some(url.as_str().into()), ..of("url") },
        Source::File { id, .. } => Written { file_id: Some(id.as_str().into()), ..of("file") },
    })
}

/// Writes a source with inline data: `base64` or `text`.
pub(in super::super) fn write_bytes<'a>(kind: &'a str, media_type: &'a str, data: Cow<'a, str>) -> Written<'a> {
    Written {
        media_type: Some(media_type.into()),
        data: Some(Text(data)),
        kind: Some(kind.into()),
        ..Written::default()
    }
}

/// Writes content: a lone text as a string, otherwise a list. `flag` in the shape says that it was a list.
pub(in super::super) fn short<'a>(mut blocks: Vec<Item<'a>>, shape: &Fields, flag: &str) -> Content<'a> {
    if let [Item::Sent(Tagged::Known(only))] = blocks.as_mut_slice()
        && !shape.flag(flag)
        && only.cache_control.is_none()
        && only.rest.is_empty()
        && let Some(text) = only.text.take()
    {
        return Content::Text(text);
    }
    Content::Blocks(blocks)
}

//! Canonical blocks to wire ones: the parts that requests and answers share.

use std::borrow::Cow;

use crate::json::tagged::{Object, Tagged};
use crate::json::wire::{Raw, Text};
use crate::{CacheHint, Fields, Part, ProviderData, Source, ThinkingBlock, ToolCall, ToolResult};

use super::super::DIALECT;
use super::super::wire::{self, BlockFields, Content, SourceFields, Word, write_cache};
use super::read::read_source;

/// The fields that this dialect left on something, to be put back.
pub(in super::super) fn extra(data: &ProviderData) -> &Fields {
    data.part(DIALECT, Part::Extra)
}

fn start<'a>(kind: &'a str, cache: Option<&CacheHint>, data: &'a ProviderData) -> BlockFields<'a> {
    BlockFields {
        kind: Some(kind.into()),
        cache_control: cache.map(write_cache),
        rest: extra(data).as_rest(),
        ..BlockFields::default()
    }
}

/// Writes a text. Here and below, the fields that `data` holds are put back.
pub(in super::super) fn write_text<'a>(
    text: &'a str,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    BlockFields { text: Some(text.into()), ..start("text", cache, data) }
}

/// Writes visible thinking.
pub(in super::super) fn write_thinking<'a>(
    thinking: &'a ThinkingBlock,
    signature: Option<Cow<'a, str>>,
) -> BlockFields<'a> {
    BlockFields {
        thinking: Some(thinking.text.as_str().into()),
        signature: signature.map(Word::Text),
        ..start("thinking", None, &thinking.provider_data)
    }
}

/// Writes thinking that nobody can read.
pub(in super::super) fn write_redacted<'a>(redacted: Cow<'a, str>, data: &'a ProviderData) -> BlockFields<'a> {
    BlockFields { data: Some(Word::Text(redacted)), ..start("redacted_thinking", None, data) }
}

/// Writes a call.
pub(in super::super) fn write_call<'a>(
    call: &'a ToolCall,
    id: Cow<'a, str>,
    input: Option<Raw<'a>>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    let name = Some(call.name.as_str().into());
    BlockFields { id: Some(Word::Text(id)), name, input, ..start("tool_use", cache, data) }
}

/// The arguments of a call as they came, if they are JSON at all.
pub(in super::super) fn arguments(call: &ToolCall) -> Option<Raw<'_>> {
    let text = match call.arguments.text().trim() {
        "" | "null" => "{}",
        text => text,
    };
    serde_json::from_str(text).ok().map(|raw| Raw(Cow::Borrowed(raw)))
}

/// Arguments that are none.
pub(in super::super) fn no_arguments() -> Raw<'static> {
    Raw::of(&Object::default())
}

/// Writes a picture or a document.
pub(in super::super) fn write_media<'a>(
    kind: &'a str,
    source: wire::Source<'a>,
    title: Option<&'a str>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    BlockFields { source: Some(source), title: title.map(Word::from), ..start(kind, cache, data) }
}

/// Writes what a tool answered.
pub(in super::super) fn write_result<'a>(
    result: &'a ToolResult,
    content: Option<Content<'a>>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    BlockFields {
        tool_use_id: Some(result.tool_call_id.as_str().into()),
        content,
        is_error: result.is_error.then(|| Raw::of(&true)),
        ..start("tool_result", cache, data)
    }
}

/// Writes a source, as it came where it still means the same.
pub(in super::super) fn write_source<'a>(source: Cow<'a, Source>, data: &'a ProviderData) -> wire::Source<'a> {
    if let Some(raw) = data.part(DIALECT, Part::Shape).get("source")
        && let Ok(Tagged::Known(fields)) = raw.to()
        && read_source(&fields).is_some_and(|(read, _)| read == *source)
    {
        return Box::new(Tagged::Whole(Raw::from(raw)));
    }
    let of = |kind: &'static str, media_type: Option<Text<'a>>, value: Text<'a>| {
        let fields = SourceFields { kind: Some(kind.into()), media_type, ..SourceFields::default() };
        let value = Some(value);
        match kind {
            "url" => SourceFields { url: value, ..fields },
            "file" => SourceFields { file_id: value, ..fields },
            _ => SourceFields { data: value, ..fields },
        }
    };
    Box::new(Tagged::Known(match source {
        Cow::Borrowed(Source::Base64 { media_type, data }) => {
            of("base64", Some(media_type.as_str().into()), data.as_str().into())
        }
        Cow::Borrowed(Source::Text { media_type, text }) => {
            of("text", Some(media_type.as_str().into()), text.as_str().into())
        }
        Cow::Borrowed(Source::Url { url, .. }) => of("url", None, url.as_str().into()),
        Cow::Borrowed(Source::File { id, .. }) => of("file", None, id.as_str().into()),
        Cow::Owned(Source::Base64 { media_type, data }) => of("base64", Some(media_type.into()), data.into()),
        Cow::Owned(Source::Text { media_type, text }) => of("text", Some(media_type.into()), text.into()),
        Cow::Owned(Source::Url { url, .. }) => of("url", None, url.into()),
        Cow::Owned(Source::File { id, .. }) => of("file", None, id.into()),
    }))
}

/// Content as the wire has it: a plain text for a lone text, else a list.
pub(in super::super) fn short<'a>(mut blocks: Vec<wire::Block<'a>>, shape: &Fields) -> Content<'a> {
    if let [Tagged::Known(only)] = blocks.as_mut_slice()
        && !shape.flag("blocks")
        && only.cache_control.is_none()
        && only.rest.is_empty()
        && only.kind.as_ref().is_some_and(|kind| kind.as_str() == "text")
        && let Some(Word::Text(text)) = only.text.take()
    {
        return Content::Text(Text(text));
    }
    Content::Blocks(blocks)
}

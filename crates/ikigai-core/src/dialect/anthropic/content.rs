//! Content blocks, which look the same in requests and in answers.

use std::borrow::Cow;

use crate::json::tagged::{Object, Tagged};
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::{
    Arguments, Block, CacheHint, Document, Fields, Image, Other, Part, ProviderData, Source, ThinkingBlock, ToolCall,
    ToolResult,
};

use super::DIALECT;
use super::wire::{self, BlockFields, Content, SourceFields, read_cache, write_cache};

/// Whose blocks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A client's: a block that lacks something is refused.
    Request,
    /// A provider's: such a block is kept whole, and so is one that only requests have.
    Answer,
}

/// A block that is not made as it must be.
#[derive(Debug)]
pub(super) struct Fault {
    /// Where it is, inside the block that was read.
    pub(super) place: String,
    /// What is wrong with it.
    pub(super) what: &'static str,
}

impl Fault {
    fn new(what: &'static str) -> Self {
        Fault { place: String::new(), what }
    }

    /// The same, seen from the list that the block stands in.
    fn at(self, index: usize) -> Self {
        Fault { place: format!(".content[{index}]{}", self.place), ..self }
    }
}

/// Reads the blocks of a message or of a tool's result. The place of a fault begins with `.content[…]`.
pub(super) fn read_all(blocks: Vec<wire::Block<'_>>, reading: Reading) -> Result<Vec<Block>, Fault> {
    let blocks = blocks.into_iter().enumerate();
    blocks.map(|(index, block)| read(block, reading).map_err(|fault| fault.at(index))).collect()
}

/// Reads one block.
pub(super) fn read(block: wire::Block<'_>, reading: Reading) -> Result<Block, Fault> {
    let fields = match block {
        Tagged::Known(fields) => fields,
        Tagged::Whole(raw) if reading == Reading::Request && !has_type(&raw) => {
            return Err(Fault::new("a block needs a `type`"));
        }
        Tagged::Whole(raw) => return Ok(own(raw)),
    };
    let kind = fields.kind.as_ref().map(Text::as_str).unwrap_or_default();
    let (read, needs): (fn(BlockFields<'_>) -> Result<Block, Fault>, _) = match (kind, reading) {
        ("text", _) if fields.text.is_some() => (text, None),
        ("text", _) => (whole, Some("a `text` block needs a `text`")),
        ("thinking", _) if fields.thinking.is_some() || fields.text.is_some() => (thinking, None),
        ("thinking", _) => (whole, Some("a `thinking` block needs a `thinking`")),
        ("redacted_thinking", _) if fields.data.is_some() => (redacted, None),
        ("redacted_thinking", _) => (whole, Some("a `redacted_thinking` block needs a `data`")),
        ("tool_use", Reading::Answer) if fields.name.is_some() => (tool_use, None),
        ("tool_use", _) if fields.name.is_some() && fields.id.is_some() => (tool_use, None),
        ("tool_use", _) => (whole, Some("a `tool_use` block needs an `id` and a `name`")),
        // No answer has such blocks; whatever they are there, they are not what a user or a tool sends.
        (_, Reading::Answer) => (whole, None),
        ("image" | "document", Reading::Request) if fields.source.is_some() => (media, None),
        ("image", Reading::Request) => (whole, Some("an `image` block needs a `source`")),
        ("document", Reading::Request) => (whole, Some("a `document` block needs a `source`")),
        (_, Reading::Request) if fields.tool_use_id.is_some() => (tool_result, None),
        (_, Reading::Request) => (whole, Some("a `tool_result` block needs a `tool_use_id`")),
    };
    match needs {
        Some(needs) if reading == Reading::Request => Err(Fault::new(needs)),
        _ => read(fields),
    }
}

fn has_type(raw: &Raw<'_>) -> bool {
    let object: Option<Object<'_>> = raw.to();
    object.is_some_and(|object| object.get("type").is_some_and(|kind| kind.get().starts_with('"')))
}

/// A block of this dialect, kept whole.
fn own(raw: Raw<'_>) -> Block {
    Block::Other(Other { dialect: DIALECT, data: raw.into_json() })
}

fn whole(fields: BlockFields<'_>) -> Result<Block, Fault> {
    Ok(own(Raw::of(&fields)))
}

/// What a block leaves in `provider_data`, on its way there.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) state: Fields,
    pub(super) extra: Fields,
    pub(super) shape: Fields,
}

impl Kept {
    /// A `cache_control`: the hint where it says no more than a hint can, else a field to put back.
    pub(super) fn cache(&mut self, control: Option<Raw<'_>>) -> Option<CacheHint> {
        let control = control?;
        let hint = read_cache(&control);
        if hint.is_none() {
            self.extra.push("cache_control", control.into_json());
        }
        hint
    }

    /// With the fields of the wire object that nobody has taken.
    pub(super) fn into_data(mut self, rest: Fields) -> ProviderData {
        rest.into_iter().for_each(|(name, value)| self.extra.push(name, value));
        let mut data = ProviderData::default();
        data.extend_part(DIALECT, Part::State, self.state);
        data.extend_part(DIALECT, Part::Extra, self.extra);
        data.extend_part(DIALECT, Part::Shape, self.shape);
        data
    }
}

fn string(text: Option<Text<'_>>) -> String {
    text.map(Text::into_string).unwrap_or_default()
}

fn text(mut fields: BlockFields<'_>) -> Result<Block, Fault> {
    let mut kept = Kept::default();
    fields.kind = None;
    let (text, cache) = (string(fields.text.take()), kept.cache(fields.cache_control.take()));
    Ok(Block::Text(crate::Text { text, cache, provider_data: kept.into_data(fields.leftovers()) }))
}

fn thinking(mut fields: BlockFields<'_>) -> Result<Block, Fault> {
    let mut kept = Kept::default();
    fields.kind = None;
    // The documents that define the format have the text under `text`; the API has it under `thinking`.
    let text = string(fields.thinking.take().or_else(|| fields.text.take()));
    match fields.signature.take() {
        Some(signature) if !signature.as_str().is_empty() => kept.state.set("signature", signature.as_str()),
        empty => {
            kept.shape.set("unsigned", true);
            if empty.is_some() {
                kept.shape.set("signature", "");
            }
        }
    }
    Ok(Block::Thinking(ThinkingBlock { text, provider_data: kept.into_data(fields.leftovers()) }))
}

fn redacted(mut fields: BlockFields<'_>) -> Result<Block, Fault> {
    let mut kept = Kept::default();
    fields.kind = None;
    kept.state.set("redacted_data", string(fields.data.take()));
    Ok(Block::Thinking(ThinkingBlock { text: String::new(), provider_data: kept.into_data(fields.leftovers()) }))
}

fn tool_use(mut fields: BlockFields<'_>) -> Result<Block, Fault> {
    let mut kept = Kept::default();
    fields.kind = None;
    let (id, name) = (string(fields.id.take()), string(fields.name.take()));
    let arguments = match fields.input.take() {
        Some(input) if input.text() == "{}" => Arguments::default(),
        Some(input) => Arguments::from_text(input.text()),
        None => {
            kept.shape.set("no_input", true);
            Arguments::default()
        }
    };
    let cache = kept.cache(fields.cache_control.take());
    Ok(Block::ToolCall(ToolCall { id, name, arguments, cache, provider_data: kept.into_data(fields.leftovers()) }))
}

fn tool_result(mut fields: BlockFields<'_>) -> Result<Block, Fault> {
    let mut kept = Kept::default();
    fields.kind = None;
    let mut result = ToolResult { tool_call_id: string(fields.tool_use_id.take()), ..ToolResult::default() };
    match fields.content.take() {
        Some(Content::Text(text)) => result.content.push(Block::text(text.into_string())),
        Some(Content::Blocks(blocks)) => {
            result.content = read_all(blocks, Reading::Request)?;
            if is_short(&result.content) {
                kept.shape.set("blocks", true);
            }
        }
        None => {}
    }
    result.is_error = fields.is_error.take_if(|failed| *failed).is_some();
    result.cache = kept.cache(fields.cache_control.take());
    result.provider_data = kept.into_data(fields.leftovers());
    Ok(Block::ToolResult(result))
}

fn media(mut fields: BlockFields<'_>) -> Result<Block, Fault> {
    let mut kept = Kept::default();
    let source = match fields.source.as_deref() {
        Some(Tagged::Known(source)) => read_source(source),
        Some(Tagged::Whole(_)) | None => None,
    };
    let Some((source, plain)) = source else { return whole(fields) };
    let raw = fields.source.take().filter(|_| plain == Plain::No);
    if let Some(raw) = raw {
        kept.shape.set("source", Raw::of(&raw).into_json());
    }
    let is_image = fields.kind.take().is_some_and(|kind| kind.as_str() == "image");
    let cache = kept.cache(fields.cache_control.take());
    if is_image {
        return Ok(Block::Image(Image { source, cache, provider_data: kept.into_data(fields.leftovers()) }));
    }
    let name = fields.title.take().map(Text::into_string);
    Ok(Block::Document(Document { source, name, cache, provider_data: kept.into_data(fields.leftovers()) }))
}

/// Whether a source holds nothing but what the format has fields for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plain {
    Yes,
    No,
}

/// Reads a source; `None` if it is of a kind, or made in a way, that the format has no form for.
fn read_source(fields: &SourceFields<'_>) -> Option<(Source, Plain)> {
    let text = |text: &Option<Text<'_>>| text.as_ref().map(|text| text.as_str().to_owned());
    let known = [&fields.media_type, &fields.data, &fields.url, &fields.file_id].into_iter().flatten().count();
    let (source, used) = match fields.kind.as_ref()?.as_str() {
        "base64" => (Source::Base64 { media_type: text(&fields.media_type)?, data: text(&fields.data)? }, 2),
        "text" => (Source::Text { media_type: text(&fields.media_type)?, text: text(&fields.data)? }, 2),
        "url" => (Source::Url { url: text(&fields.url)?, media_type: None }, 1),
        "file" => (Source::File { id: text(&fields.file_id)?, media_type: None }, 1),
        _ => {
            let text = joined(fields.content.as_ref()?)?;
            return Some((Source::Text { media_type: "text/plain".to_owned(), text }, Plain::No));
        }
    };
    let plain = known == used && fields.content.is_none() && fields.rest.is_empty();
    Some((source, if plain { Plain::Yes } else { Plain::No }))
}

/// The text of a document's own content, where it is nothing but text.
fn joined(content: &Content<'_>) -> Option<String> {
    let blocks = match content {
        Content::Text(text) => return Some(text.as_str().to_owned()),
        Content::Blocks(blocks) => blocks,
    };
    let text = |block: &wire::Block<'_>| match block {
        Tagged::Known(fields) if fields.kind.as_ref()?.as_str() == "text" => Some(fields.text.as_ref()?.0.to_string()),
        Tagged::Known(_) | Tagged::Whole(_) => None,
    };
    let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
    Some(texts?.join("\n\n"))
}

/// Whether these blocks would be written shorter than as a list, unless told otherwise.
pub(super) fn is_short(blocks: &[Block]) -> bool {
    match blocks {
        [] => true,
        [Block::Text(text)] => text.cache.is_none() && text.provider_data.part(DIALECT, Part::Extra).is_empty(),
        _ => false,
    }
}

/// The fields that this dialect left on something, to be put back.
pub(super) fn extra(data: &ProviderData) -> &Fields {
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
pub(super) fn write_text<'a>(text: &'a str, cache: Option<&CacheHint>, data: &'a ProviderData) -> BlockFields<'a> {
    BlockFields { text: Some(text.into()), ..start("text", cache, data) }
}

/// Writes visible thinking.
pub(super) fn write_thinking<'a>(thinking: &'a ThinkingBlock, signature: Option<Cow<'a, str>>) -> BlockFields<'a> {
    BlockFields {
        thinking: Some(thinking.text.as_str().into()),
        signature: signature.map(Text),
        ..start("thinking", None, &thinking.provider_data)
    }
}

/// Writes thinking that nobody can read.
pub(super) fn write_redacted<'a>(redacted: Cow<'a, str>, data: &'a ProviderData) -> BlockFields<'a> {
    BlockFields { data: Some(Text(redacted)), ..start("redacted_thinking", None, data) }
}

/// Writes a call.
pub(super) fn write_call<'a>(
    call: &'a ToolCall,
    id: Cow<'a, str>,
    input: Option<Raw<'a>>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    let name = Some(call.name.as_str().into());
    BlockFields { id: Some(Text(id)), name, input, ..start("tool_use", cache, data) }
}

/// The arguments of a call as they came, if they are JSON at all.
pub(super) fn arguments(call: &ToolCall) -> Option<Raw<'_>> {
    let text = match call.arguments.text().trim() {
        "" | "null" => "{}",
        text => text,
    };
    serde_json::from_str(text).ok().map(|raw| Raw(Cow::Borrowed(raw)))
}

/// Arguments that are none.
pub(super) fn no_arguments() -> Raw<'static> {
    Raw::of(&Object::default())
}

/// Writes a picture or a document.
pub(super) fn write_media<'a>(
    kind: &'a str,
    source: wire::Source<'a>,
    title: Option<&'a str>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    BlockFields { source: Some(source), title: title.map(Text::from), ..start(kind, cache, data) }
}

/// Writes what a tool answered.
pub(super) fn write_result<'a>(
    result: &'a ToolResult,
    content: Option<Content<'a>>,
    cache: Option<&CacheHint>,
    data: &'a ProviderData,
) -> BlockFields<'a> {
    BlockFields {
        tool_use_id: Some(result.tool_call_id.as_str().into()),
        content,
        is_error: result.is_error.then_some(true),
        ..start("tool_result", cache, data)
    }
}

/// Writes a source, as it came where it still means the same.
pub(super) fn write_source<'a>(source: Cow<'a, Source>, data: &'a ProviderData) -> wire::Source<'a> {
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
pub(super) fn short<'a>(mut blocks: Vec<wire::Block<'a>>, shape: &Fields) -> Content<'a> {
    if let [Tagged::Known(only)] = blocks.as_mut_slice()
        && !shape.flag("blocks")
        && only.cache_control.is_none()
        && only.rest.is_empty()
        && only.kind.as_ref().is_some_and(|kind| kind.as_str() == "text")
        && let Some(text) = only.text.take()
    {
        return Content::Text(text);
    }
    Content::Blocks(blocks)
}

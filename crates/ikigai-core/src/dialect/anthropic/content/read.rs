//! Wire blocks to canonical ones.

use std::borrow::Cow;

use crate::json::tagged::{Object, Tagged};
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::{
    Arguments, Block, CacheHint, Document, Fields, Image, Other, Part, ProviderData, Source, ThinkingBlock, ToolCall,
    ToolResult,
};

use super::super::DIALECT;
use super::super::wire::{self, BlockFields, Content, SourceFields, Word, read_cache};

/// Whose blocks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Reading {
    /// A client's: a block that lacks something is refused.
    Request,
    /// A provider's: such a block is kept whole, and so is one that only requests have.
    Answer,
}

/// A block that is not made as it must be.
#[derive(Debug)]
pub(in super::super) struct Fault {
    /// Where it is, inside the block that was read.
    pub(in super::super) place: String,
    /// What is wrong with it.
    pub(in super::super) what: &'static str,
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
pub(in super::super) fn read_all(blocks: Vec<wire::Block<'_>>, reading: Reading) -> Result<Vec<Block>, Fault> {
    let blocks = blocks.into_iter().enumerate();
    blocks.map(|(index, block)| read(block, reading).map_err(|fault| fault.at(index))).collect()
}

/// Reads a block of one kind, whose fields are there.
type ReadFields = fn(BlockFields<'_>) -> Result<Block, Fault>;

/// Reads one block.
pub(in super::super) fn read(block: wire::Block<'_>, reading: Reading) -> Result<Block, Fault> {
    let fields = match block {
        Tagged::Known(fields) => fields,
        Tagged::Whole(raw) if reading == Reading::Request && !has_type(&raw) => {
            return Err(Fault::new("a block needs a `type`"));
        }
        Tagged::Whole(raw) => return Ok(own(raw)),
    };
    let kind = fields.kind.as_ref().map(Text::as_str).unwrap_or_default();
    let (read, needs): (ReadFields, _) = match (kind, reading) {
        ("text", _) if is_text(&fields.text) => (text, None),
        ("text", _) => (whole, Some("a `text` block needs a `text` that is a string")),
        ("thinking", _) if is_text(&fields.thinking) || is_text(&fields.text) => (thinking, None),
        ("thinking", _) => (whole, Some("a `thinking` block needs a `thinking` that is a string")),
        ("redacted_thinking", _) if is_text(&fields.data) => (redacted, None),
        ("redacted_thinking", _) => (whole, Some("a `redacted_thinking` block needs a `data` that is a string")),
        ("tool_use", Reading::Answer) if is_text(&fields.name) => (tool_use, None),
        ("tool_use", _) if is_text(&fields.name) && is_text(&fields.id) => (tool_use, None),
        ("tool_use", _) => (whole, Some("a `tool_use` block needs an `id` and a `name` that are strings")),
        // No answer has such blocks; whatever they are there, they are not what a user or a tool sends.
        (_, Reading::Answer) => (whole, None),
        ("image" | "document", Reading::Request) if fields.source.is_some() => (media, None),
        ("image", Reading::Request) => (whole, Some("an `image` block needs a `source`")),
        ("document", Reading::Request) => (whole, Some("a `document` block needs a `source`")),
        (_, Reading::Request) if is_text(&fields.tool_use_id) => (tool_result, None),
        (_, Reading::Request) => (whole, Some("a `tool_result` block needs a `tool_use_id` that is a string")),
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
pub(in super::super) struct Kept {
    pub(in super::super) state: Fields,
    pub(in super::super) extra: Fields,
    pub(in super::super) shape: Fields,
}

impl Kept {
    /// A `cache_control`: the hint where it says no more than a hint can, else a field to put back.
    pub(in super::super) fn cache(&mut self, control: Option<Raw<'_>>) -> Option<CacheHint> {
        let control = control?;
        let hint = read_cache(&control);
        if hint.is_none() {
            self.extra.push("cache_control", control.into_json());
        }
        hint
    }

    /// With the fields of the wire object that nobody has taken.
    pub(in super::super) fn into_data(mut self, rest: Fields) -> ProviderData {
        rest.into_iter().for_each(|(name, value)| self.extra.push(name, value));
        let mut data = ProviderData::default();
        data.extend_part(DIALECT, Part::State, self.state);
        data.extend_part(DIALECT, Part::Extra, self.extra);
        data.extend_part(DIALECT, Part::Shape, self.shape);
        data
    }
}

fn is_text(word: &Option<Word<'_>>) -> bool {
    word.as_ref().is_some_and(Word::is_text)
}

fn string(word: Option<Word<'_>>) -> String {
    match word {
        Some(Word::Text(text)) => text.into_owned(),
        Some(Word::Any(raw)) => raw.as_str().map(Cow::into_owned).unwrap_or_default(),
        None => String::new(),
    }
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
    let text = string(fields.thinking.take_if(|text| text.is_text()).or_else(|| fields.text.take()));
    match fields.signature.take_if(|signature| signature.is_text()).map(|signature| string(Some(signature))) {
        Some(signature) if !signature.is_empty() => kept.state.set("signature", signature),
        // This API never gives an empty one: it is what we give to thinking of others that has no state.
        Some(_) => {}
        None => kept.shape.set("unsigned", true),
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
        Some(Content::Odd(_)) => {
            return Err(Fault::new("a `tool_result` block needs a `content` that is a string or a list of blocks"));
        }
        None => {}
    }
    result.is_error = fields.is_error.take_if(|failed| failed.text() == "true").is_some();
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
    let name = fields.title.take_if(|title| title.is_text()).map(|title| string(Some(title)));
    Ok(Block::Document(Document { source, name, cache, provider_data: kept.into_data(fields.leftovers()) }))
}

/// Whether a source holds nothing but what the format has fields for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    Yes,
    No,
}

/// Reads a source; `None` if it is of a kind, or made in a way, that the format has no form for.
pub(super) fn read_source(fields: &SourceFields<'_>) -> Option<(Source, Plain)> {
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
        Content::Odd(_) => return None,
    };
    let text = |block: &wire::Block<'_>| match block {
        Tagged::Known(fields) if fields.kind.as_ref()?.as_str() == "text" => {
            Some(fields.text.as_ref()?.as_str()?.into_owned())
        }
        Tagged::Known(_) | Tagged::Whole(_) => None,
    };
    let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
    Some(texts?.join("\n\n"))
}

/// Whether these blocks would be written shorter than as a list, unless told otherwise.
pub(in super::super) fn is_short(blocks: &[Block]) -> bool {
    match blocks {
        [] => true,
        [Block::Text(text)] => text.cache.is_none() && text.provider_data.part(DIALECT, Part::Extra).is_empty(),
        _ => false,
    }
}

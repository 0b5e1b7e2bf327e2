//! Wire blocks to canonical ones.

use std::fmt;

use crate::json::tagged::Object;
use crate::json::wire::{Raw, keep, read_str};
use crate::{
    Arguments, Block, CacheHint, Citation, Document, Error, Image, Json, Part, ProviderData, Source, ThinkingBlock,
    ToolCall, ToolResult,
};

use super::super::hosted;
use super::super::request::refusal;
use super::super::wire::{Content, Item, read_cache};
use super::super::{DIALECT, keep_shape};

/// The origin of a block.
#[derive(Clone, Copy)]
pub(in super::super) enum Reading<'a> {
    /// A client, in the list at this place, at this index: a block that lacks something is refused.
    Request(&'a dyn fmt::Display, usize),
    /// A provider: such a block is kept whole, and so is one that only requests have.
    Answer,
}

/// Reads a client's content at this place. `flag` is set in the shape if it is a list where a string would do.
pub(in super::super) fn read_content(
    content: Content<'_>,
    place: &dyn fmt::Display,
    data: &mut ProviderData,
    flag: &str,
) -> Result<Vec<Block>, Error> {
    let blocks = match content {
        Content::Text(text) => return Ok(vec![Block::text(text.into_string())]),
        Content::Blocks(blocks) => blocks.into_iter().map(Item::into_fields).enumerate(),
        Content::Odd => return Err(refusal(&place.to_string(), "a string or a list of blocks")),
    };
    let blocks = blocks.map(|(index, block)| read(block, Reading::Request(place, index)));
    let blocks = blocks.collect::<Result<Vec<Block>, Error>>()?;
    if is_short(&blocks) {
        keep_shape(data, flag, true);
    }
    Ok(blocks)
}

/// The block fields that have a meaning. A block that repeats one is ambiguous.
const FIELDS: [&str; 10] =
    ["type", "text", "thinking", "data", "id", "name", "input", "source", "tool_use_id", "content"];

/// Reads one block.
pub(in super::super) fn read(block: Object<'_>, reading: Reading<'_>) -> Result<Block, Error> {
    let block = Reader { fields: block, data: ProviderData::default() };
    let kind = block.fields.text("type");
    let given = |name: &str| block.fields.get(name).map_or("null", |raw| raw.get());
    let has = |name: &str| given(name).starts_with('"');
    let is_request = matches!(reading, Reading::Request(..));
    let twice = block.fields.twice(&FIELDS).map(|name| format!("`{name}` appears twice"));
    let needs = match kind.as_deref().filter(|_| twice.is_none()) {
        Some("text") if has("text") => return Ok(block.text()),
        Some("text") => "a `text` block needs a `text` that is a string",
        Some("thinking") if has("thinking") || has("text") => return Ok(block.thinking()),
        Some("thinking") => "a `thinking` block needs a `thinking` that is a string",
        Some("redacted_thinking") if has("data") => return Ok(block.redacted()),
        Some("redacted_thinking") => "a `redacted_thinking` block needs a `data` that is a string",
        Some("tool_use") if has("name") && has("id") && is_request => return Ok(block.tool_use()),
        // A call without an id is given one in answers, but without a name it cannot be run.
        Some("tool_use") if has("name") && given("name") != r#""""# && !is_request => return Ok(block.tool_use()),
        Some("tool_use") => "a `tool_use` block needs an `id` and a `name` that are strings",
        // Answers do not have the blocks below; whatever they mean there, it is not what a user or a tool sends.
        Some("image" | "document") if given("source") != "null" && is_request => return Ok(block.media()),
        Some("image") => "an `image` block needs a `source`",
        Some("document") => "a `document` block needs a `source`",
        Some("tool_result") if has("tool_use_id") && is_request => return block.tool_result(reading),
        Some("tool_result") => "a `tool_result` block needs a `tool_use_id` that is a string",
        Some(_) => return Ok(block.whole()),
        None => "a block needs a `type`",
    };
    let Reading::Request(list, index) = reading else { return Ok(block.whole()) };
    let place = format!("{list}[{index}]");
    let needs = twice.as_deref().unwrap_or(needs);
    let what = format!("{place}: {needs}");
    Err(Error::invalid_param(place, what))
}

/// An object from which known fields are taken.
pub(in super::super) struct Reader<'a> {
    pub(in super::super) fields: Object<'a>,
    pub(in super::super) data: ProviderData,
}

impl Reader<'_> {
    /// Takes the `cache_control` field, if it says no more than a hint can.
    pub(in super::super) fn take_cache(&mut self) -> Option<CacheHint> {
        let hint = read_cache(self.fields.get("cache_control")?.get());
        hint.inspect(|_| drop(self.fields.take("cache_control")))
    }

    /// Takes a flag if it is `true`.
    pub(in super::super) fn take_true(&mut self, name: &str) -> bool {
        self.fields.take_if(name, |raw| raw == "true").is_some()
    }

    /// Returns the data kept, plus the fields that were not taken.
    pub(in super::super) fn into_data(mut self) -> ProviderData {
        self.data.extend_part(DIALECT, Part::Extra, keep(self.fields.0));
        self.data
    }

    /// Keeps the whole block, as one of this dialect.
    fn whole(self) -> Block {
        hosted::raise(Raw::of(&self.fields).into_json())
    }

    fn text(mut self) -> Block {
        self.fields.take("type");
        let (text, cache) = (self.fields.take_text("text").unwrap_or_default(), self.take_cache());
        let citations = self.take_citations();
        Block::Text(crate::Text { text, citations, cache, provider_data: self.into_data() })
    }

    /// Takes the citations. An empty list, or a list of anything else, stays among the other fields.
    fn take_citations(&mut self) -> Vec<Citation> {
        let list: Option<Vec<Json>> = self.fields.get("citations").and_then(|raw| read_str(raw.get()).ok());
        let list = list.filter(|list| !list.is_empty() && list.iter().all(Json::is_object));
        list.map_or_else(Vec::new, |list| {
            self.fields.take("citations");
            list.into_iter().map(hosted::citation).collect()
        })
    }

    fn thinking(mut self) -> Block {
        self.fields.take("type");
        // The documents that define the format have the text under `text`; the API has it under `thinking`.
        let text = self.fields.take_text("thinking").or_else(|| self.fields.take_text("text")).unwrap_or_default();
        match self.fields.take_text("signature") {
            Some(signature) if !signature.is_empty() => {
                self.data.set_part(DIALECT, Part::State, "signature", signature)
            }
            // This API never sends an empty one: we write it for foreign thinking without state.
            Some(_) => {}
            None => keep_shape(&mut self.data, "unsigned", true),
        }
        Block::Thinking(ThinkingBlock { text, provider_data: self.into_data() })
    }

    fn redacted(mut self) -> Block {
        self.fields.take("type");
        let data = self.fields.take_text("data").unwrap_or_default();
        self.data.set_part(DIALECT, Part::State, "redacted_data", data);
        Block::Thinking(ThinkingBlock { text: String::new(), provider_data: self.into_data() })
    }

    fn tool_use(mut self) -> Block {
        self.fields.take("type");
        let id = self.fields.take_text("id").unwrap_or_default();
        let name = self.fields.take_text("name").unwrap_or_default();
        let arguments = match self.fields.take("input") {
            Some(input) if input.text() == "{}" => Arguments::default(),
            Some(input) => Arguments::from_text(input.text()),
            None => {
                keep_shape(&mut self.data, "no_input", true);
                Arguments::default()
            }
        };
        let cache = self.take_cache();
        Block::ToolCall(ToolCall { id, name, arguments, cache, provider_data: self.into_data() })
    }

    fn tool_result(mut self, reading: Reading<'_>) -> Result<Block, Error> {
        self.fields.take("type");
        let tool_call_id = self.fields.take_text("tool_use_id").unwrap_or_default();
        let content = match (self.fields.take("content"), reading) {
            (Some(raw), Reading::Request(list, index)) => {
                let content = raw.to().unwrap_or(Content::Odd);
                read_content(content, &format_args!("{list}[{index}].content"), &mut self.data, "blocks")?
            }
            (Some(_), Reading::Answer) | (None, _) => Vec::new(),
        };
        let (is_error, cache) = (self.take_true("is_error"), self.take_cache());
        let provider_data = self.into_data();
        Ok(Block::ToolResult(ToolResult { tool_call_id, content, is_error, cache, provider_data }))
    }

    fn media(mut self) -> Block {
        let Some((source, more)) = self.fields.get("source").and_then(|raw| read_source(raw.get())) else {
            return self.whole();
        };
        let is_plain = more.0.is_empty();
        if let Some(raw) = self.fields.take("source").filter(|_| !is_plain) {
            keep_shape(&mut self.data, "source", raw.into_json());
        }
        let is_image = self.fields.take_text("type").as_deref() == Some("image");
        let cache = self.take_cache();
        if is_image {
            return Block::Image(Image { source, cache, provider_data: self.into_data() });
        }
        let name = self.fields.take_text("title");
        Block::Document(Document { source, name, cache, provider_data: self.into_data() })
    }
}

/// Reads a source, and returns it with the fields that have no equivalent. Returns `None` if the format has no form for
/// this kind of source.
pub(super) fn read_source(json: &str) -> Option<(Source, Object<'_>)> {
    let mut fields: Object<'_> = read_str(json).ok()?;
    let source = match fields.take_text("type")?.as_str() {
        "base64" => Source::Base64 { media_type: fields.take_text("media_type")?, data: fields.take_text("data")? },
        "text" => Source::Text { media_type: fields.take_text("media_type")?, text: fields.take_text("data")? },
        "url" => Source::Url { url: fields.take_text("url")?, media_type: None },
        "file" => Source::File { id: fields.take_text("file_id")?, media_type: None },
        "content" => {
            let text = joined(read_str(fields.get("content")?.get()).ok()?)?;
            Source::Text { media_type: "text/plain".to_owned(), text }
        }
        _ => return None,
    };
    Some((source, fields))
}

/// Returns the text of a document's own content, if it is only text.
fn joined(content: Content<'_>) -> Option<String> {
    let blocks = match content {
        Content::Text(text) => return Some(text.into_string()),
        Content::Blocks(blocks) => blocks.into_iter().map(Item::into_fields),
        Content::Odd => return None,
    };
    let texts = blocks.map(|block| Some(read(block, Reading::Answer).ok()?.as_text()?.to_owned()));
    Some(texts.collect::<Option<Vec<String>>>()?.join("\n\n"))
}

/// Whether these blocks would not be written as a list by default.
fn is_short(blocks: &[Block]) -> bool {
    match blocks {
        [] => true,
        [Block::Text(text)] => {
            text.cache.is_none()
                && text.citations.is_empty()
                && text.provider_data.part(DIALECT, Part::Extra).is_empty()
        }
        _ => false,
    }
}

//! Reads blocks from the format's JSON; everything that is carried as raw JSON keeps its spelling.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{
    Audio, Block, CacheHint, Document, Image, Other, ProviderCall, ProviderResult, ProviderTool, Text, ThinkingBlock,
    ToolCall, ToolResult,
};
use crate::ProviderData;
use crate::json::ReadArguments;
use crate::json::variants::{Variants, read_variant};

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_variant(deserializer)
    }
}

impl<'de> Variants<'de> for Block {
    const WHAT: &'static str = "a content block";
    const WORDS: &'static [&'static str] = &[
        "text",
        "image",
        "document",
        "audio",
        "tool_call",
        "tool_result",
        "thinking",
        "provider_call",
        "provider_result",
        "other",
    ];

    fn read<A: MapAccess<'de>>(word: &str, fields: MapAccessDeserializer<A>) -> Result<Self, A::Error> {
        match word {
            "text" => Text::deserialize(fields).map(Block::Text),
            "image" => Image::deserialize(fields).map(Block::Image),
            "document" => Document::deserialize(fields).map(Block::Document),
            "audio" => Audio::deserialize(fields).map(Block::Audio),
            "tool_call" => ToolCall::deserialize(fields).map(Block::ToolCall),
            "tool_result" => ToolResult::deserialize(fields).map(Block::ToolResult),
            "thinking" => ThinkingBlock::deserialize(fields).map(Block::Thinking),
            "provider_call" => ProviderCall::deserialize(fields).map(Block::ProviderCall),
            "provider_result" => ProviderResult::deserialize(fields).map(Block::ProviderResult),
            "other" => Other::deserialize(fields).map(Block::Other),
            _ => Err(A::Error::unknown_variant(word, Self::WORDS)),
        }
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            id: String,
            name: String,
            #[serde(default)]
            arguments: ReadArguments,
            #[serde(default)]
            arguments_text: Option<String>,
            #[serde(default)]
            cache: Option<CacheHint>,
            #[serde(default)]
            provider_data: ProviderData,
        }
        let Fields { id, name, arguments, arguments_text, cache, provider_data } = Fields::deserialize(deserializer)?;
        Ok(ToolCall { id, name, arguments: arguments.or_text(arguments_text), cache, provider_data })
    }
}

impl<'de> Deserialize<'de> for ProviderCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(default)]
            id: String,
            #[serde(default)]
            tool: ProviderTool,
            #[serde(default)]
            name: String,
            #[serde(default)]
            arguments: ReadArguments,
            #[serde(default)]
            arguments_text: Option<String>,
            #[serde(default)]
            status: Option<String>,
            #[serde(default)]
            caller: Option<String>,
            #[serde(default)]
            server: Option<String>,
            #[serde(default)]
            provider_data: ProviderData,
        }
        let read = Fields::deserialize(deserializer)?;
        Ok(ProviderCall {
            id: read.id,
            tool: read.tool,
            name: read.name,
            arguments: read.arguments.or_text(read.arguments_text),
            status: read.status,
            caller: read.caller,
            server: read.server,
            provider_data: read.provider_data,
        })
    }
}

/// Reads a list of blocks, or a plain string as one text block.
pub(crate) fn text_or_blocks<'de, D>(deserializer: D) -> Result<Vec<Block>, D::Error>
where
    D: Deserializer<'de>,
{
    struct Content;
    impl<'de> Visitor<'de> for Content {
        type Value = Vec<Block>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a list of content blocks")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<Block>, E> {
            Ok(vec![Block::text(text)])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<Block>, A::Error> {
            Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))
        }
    }
    deserializer.deserialize_any(Content)
}

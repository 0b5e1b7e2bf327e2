//! Reads events from the format's JSON; everything that is carried as raw JSON keeps its spelling.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess};

use super::Event;
use crate::json::ReadArguments;
use crate::json::variants::{Variants, read_variant};
use crate::{Block, Citation, Dialect, Error, FinishReason, FoundSource, Json, ProviderData, Usage};

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_variant(deserializer)
    }
}

impl<'de> Variants<'de> for Event {
    const WHAT: &'static str = "an event";
    const WORDS: &'static [&'static str] = &[
        "start",
        "block_start",
        "text_delta",
        "thinking_delta",
        "tool_call_start",
        "tool_call_delta",
        "tool_call_done",
        "block_replaced",
        "citation",
        "sources",
        "block_done",
        "usage",
        "done",
        "error",
        "other",
    ];

    fn read<A: MapAccess<'de>>(word: &str, fields: MapAccessDeserializer<A>) -> Result<Self, A::Error> {
        match word {
            "start" => Start::deserialize(fields).map(|Start { id, model, provider_data }| Event::Start {
                id,
                model,
                provider_data,
            }),
            "block_start" => {
                BlockStart::deserialize(fields).map(|BlockStart { index, block }| Event::BlockStart { index, block })
            }
            "text_delta" => Piece::deserialize(fields).map(|Piece { index, text }| Event::TextDelta { index, text }),
            "thinking_delta" => {
                Piece::deserialize(fields).map(|Piece { index, text }| Event::ThinkingDelta { index, text })
            }
            "tool_call_start" => CallStart::deserialize(fields).map(|CallStart { index, id, name, provider_data }| {
                Event::ToolCallStart { index, id, name, provider_data }
            }),
            "tool_call_delta" => CallDelta::deserialize(fields)
                .map(|CallDelta { index, arguments }| Event::ToolCallDelta { index, arguments }),
            "tool_call_done" => CallDone::deserialize(fields).map(|done| Event::ToolCallDone {
                index: done.index,
                arguments: done.arguments.or_text(done.arguments_text),
                provider_data: done.provider_data,
            }),
            "block_replaced" => {
                BlockStart::deserialize(fields).map(|BlockStart { index, block }| Event::BlockReplaced { index, block })
            }
            "citation" => {
                Cited::deserialize(fields).map(|Cited { index, citation }| Event::Citation { index, citation })
            }
            "sources" => Found::deserialize(fields).map(|Found { sources }| Event::Sources { sources }),
            "block_done" => BlockDone::deserialize(fields)
                .map(|BlockDone { index, provider_data }| Event::BlockDone { index, provider_data }),
            "usage" => Counts::deserialize(fields).map(|Counts { usage }| Event::Usage { usage }),
            "done" => Done::deserialize(fields)
                .map(|Done { finish_reason, provider_data }| Event::Done { finish_reason, provider_data }),
            "error" => Failure::deserialize(fields).map(|Failure { error }| Event::Error { error }),
            "other" => {
                Other::deserialize(fields).map(|Other { index, dialect, data }| Event::Other { index, dialect, data })
            }
            _ => Err(A::Error::unknown_variant(word, Self::WORDS)),
        }
    }
}

#[derive(Deserialize)]
struct Start {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    provider_data: ProviderData,
}

#[derive(Deserialize)]
struct BlockStart {
    index: usize,
    block: Block,
}

#[derive(Deserialize)]
struct Cited {
    index: usize,
    citation: Box<Citation>,
}

#[derive(Deserialize)]
struct Found {
    sources: Vec<FoundSource>,
}

#[derive(Deserialize)]
struct Piece {
    index: usize,
    text: String,
}

#[derive(Deserialize)]
struct CallStart {
    index: usize,
    id: String,
    name: String,
    #[serde(default)]
    provider_data: ProviderData,
}

#[derive(Deserialize)]
struct CallDelta {
    index: usize,
    arguments: String,
}

#[derive(Deserialize)]
struct CallDone {
    index: usize,
    #[serde(default)]
    arguments: ReadArguments,
    #[serde(default)]
    arguments_text: Option<String>,
    #[serde(default)]
    provider_data: ProviderData,
}

#[derive(Deserialize)]
struct BlockDone {
    index: usize,
    #[serde(default)]
    provider_data: ProviderData,
}

#[derive(Deserialize)]
struct Counts {
    usage: Usage,
}

#[derive(Deserialize)]
struct Done {
    finish_reason: FinishReason,
    #[serde(default)]
    provider_data: ProviderData,
}

#[derive(Deserialize)]
struct Failure {
    error: Box<Error>,
}

#[derive(Deserialize)]
struct Other {
    #[serde(default)]
    index: Option<usize>,
    dialect: Dialect,
    data: Json,
}

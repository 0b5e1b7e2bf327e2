//! One format for every model: a superset of what Anthropic, OpenAI and Google Gemini can express, and pure
//! translations between it and each wire dialect that lose nothing in silence.
//!
//! This crate is data and functions: no I/O, no clock, no async, no randomness.

#![forbid(unsafe_code)]

mod builder;
mod catalog;
mod content;
mod context;
mod cost;
mod dialect;
mod error;
mod loss;
mod message;
mod model;
mod money;
pub mod near;
mod provider;
mod provider_data;
mod registry;
mod request;
mod response;
mod rows;
#[cfg(feature = "schema")]
mod schema;
pub mod server;
mod sse;
mod stream;
mod thinking;
mod tool;
mod usage;
mod validate;

pub use catalog::{
    BoundState, Catalog, ConverseFields, Display, Facts, ForcedTools, Modality, Off, Prices, Rules, Sampling, Shown,
    Status, ThinkingKind, ThinkingRule, TierPrices, ToolsInChat, rules_for,
};
pub use content::{
    Audio, Block, BlockKind, CacheHint, Document, Image, Other, Source, Text, ThinkingBlock, ToolCall, ToolResult,
};
pub use context::{Context, assistant, system, tool_result, user};
pub use cost::Cost;
pub use dialect::{
    Dialect, Ids, Incoming, Reply, StreamDecoder, StreamEncoder, Target, UnknownDialect, WireError, WireRequest,
    duration_ms,
};
pub use error::{Error, ErrorKind};
pub use loss::{Loss, Severity};
pub use message::{Content, Message, Role};
pub use model::{ModelError, ModelName};
pub use money::{Money, NotMoney};
pub use provider::{
    Auth, MaxTokensField, Provider, ProviderError, Providers, Quirks, ReasoningField, ReasoningRequest,
    ReplayReasoning, RequiredWord, SeedField, SystemRole,
};
pub use provider_data::ProviderData;
pub use registry::{Registry, Route};
pub use request::{CacheOptions, JsonSchemaFormat, OutputFormat, Request};
pub use response::{FinishReason, Response};
pub use rows::FileError;
#[cfg(feature = "schema")]
pub use schema::{FORMAT_VERSION, schema};
pub use sse::{Frame, Sse, SseError};
pub use stream::{Chunk, Collector, Event, events};
pub use thinking::{
    CANNOT_DISABLE, Level, TableValue, Thinking, ThinkingWords, UnknownLevel, switch_banner, thinking_budget,
    thinking_levels, thinking_table, thinking_words,
};
pub use tool::{Function, OtherTool, Tool, ToolChoice};
pub use usage::Usage;
pub use validate::{ArgumentChecker, EventChecker, Invalid, Problem};

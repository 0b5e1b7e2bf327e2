//! One format for every model: a superset of what Anthropic, OpenAI and Google Gemini can express, and pure
//! translations between it and each wire dialect that lose nothing in silence.
//!
//! This crate is data and functions: no I/O, no clock, no async, no randomness.

#![forbid(unsafe_code)]

#[macro_use]
mod json;

mod builder;
mod catalog;
mod content;
mod context;
mod cost;
mod dialect;
mod error;
mod fit;
mod limits;
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
    Dialect, Ids, Incoming, ListedModel, Reply, StreamDecoder, StreamEncoder, Target, UnknownDialect, Vectors,
    WireError, WireRequest, WireResponse, duration_ms,
};
pub use error::{Error, ErrorKind};
pub use fit::ToolNames;
pub use json::{Arguments, Fields, Json};
pub use limits::Limits;
pub use loss::{Loss, LossCode, Severity};
pub use message::{Content, Message, Role};
pub use model::{ModelError, ModelName};
pub use money::{Money, NotMoney};
pub use provider::{
    AnthropicQuirks, Auth, ChatQuirks, GeminiQuirks, MaxTokensField, Provider, ProviderError, Providers, Quirks,
    ReasoningField, ReasoningRequest, ReplayReasoning, RequiredWord, ResponsesQuirks, SeedField, SystemRole,
};
pub use provider_data::{Part, ProviderData};
pub use registry::{Registry, Route};
pub use request::{CacheOptions, JsonSchemaFormat, OutputFormat, Request};
pub use response::{FinishReason, Response};
pub use rows::FileError;
#[cfg(feature = "schema")]
pub use schema::{FORMAT_VERSION, schema};
pub use sse::{Frame, Sse, SseError};
pub use stream::{Chunk, Collector, Event, events};
pub use thinking::{
    Level, ShowThinking, TableValue, Thinking, ThinkingPlan, ThinkingSetting, UnknownLevel, thinking_budget,
    thinking_levels, thinking_table,
};
pub use tool::{Function, OtherTool, Tool, ToolChoice};
pub use usage::Usage;
pub use validate::{ArgumentChecker, EventChecker, Invalid, Problem};

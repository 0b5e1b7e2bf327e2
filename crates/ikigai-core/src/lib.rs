//! One format for every model: a superset of what Anthropic, OpenAI and Google Gemini can express, and pure
//! translations between it and each wire dialect that lose nothing in silence.
//!
//! This crate is data and functions: no I/O, no clock, no async, no randomness.

#![forbid(unsafe_code)]

mod builder;
mod catalog;
mod content;
mod dialect;
mod error;
mod loss;
mod message;
mod provider;
mod provider_data;
mod request;
mod response;
#[cfg(feature = "schema")]
mod schema;
mod sse;
mod stream;
mod thinking;
mod tool;
mod usage;
mod validate;

pub use catalog::{
    BoundState, Display, Facts, ForcedTools, Modality, Off, Prices, Rules, Sampling, Shown, Status, ThinkingKind,
    ThinkingRule, TierPrices, ToolsInChat, rules_for,
};
pub use content::{
    Audio, Block, BlockKind, CacheHint, Document, Image, Other, Source, Text, ThinkingBlock, ToolCall, ToolResult,
};
pub use dialect::{Dialect, Ids, Incoming, Reply, Target, UnknownDialect, WireError, WireRequest};
pub use error::{Error, ErrorKind};
pub use loss::{Loss, Severity};
pub use message::{Content, Message, Role};
pub use provider::{
    Auth, MaxTokensField, Provider, Quirks, ReasoningField, ReasoningRequest, ReplayReasoning, RequiredWord, SeedField,
    SystemRole,
};
pub use provider_data::ProviderData;
pub use request::{CacheOptions, JsonSchemaFormat, OutputFormat, Request};
pub use response::{FinishReason, Response};
#[cfg(feature = "schema")]
pub use schema::{FORMAT_VERSION, schema};
pub use sse::{Frame, Sse, SseError};
pub use stream::{Chunk, Collector, Event, events};
pub use thinking::{
    CANNOT_DISABLE, Level, TableValue, Thinking, ThinkingWords, UnknownLevel, switch_banner, thinking_budget,
    thinking_table, thinking_words,
};
pub use tool::{Function, OtherTool, Tool, ToolChoice};
pub use usage::Usage;
pub use validate::{ArgumentChecker, EventChecker, Invalid, Problem};

//! One format for every model: a superset of what Anthropic, OpenAI and Google Gemini can express, and pure
//! translations between it and each wire dialect, which never lose anything silently.
//!
//! This crate contains only data and functions: no I/O, no clock, no async, no randomness.
//!
//! The root holds the format itself: a [`Request`], its [`Message`]s and [`Block`]s, the [`Response`] and the [`Event`]s
//! of a stream. The modules:
//!
//! | module | what it holds |
//! |---|---|
//! | [`wire`] | requests and answers on the wire: encoders, decoders, frames |
//! | [`catalog`] | facts about models: limits, prices, what a family accepts |
//! | [`provider`] | the providers that serve them, their addresses, and how they differ |
//! | [`thinking`] | levels and budgets, and what they mean for a model |
//! | [`validate`] | the rules that requests, answers, events and arguments must meet |
//! | [`server`] | tools for programs that serve these APIs themselves |
//! | [`pause`] | answers that a provider pauses, and how often they are continued |
//! | [`near`] | finding the names nearest to a misspelt one |
//! | [`secrets`] | finding keys in texts, however they are spelled |
//!
//! Providers add fields and values all the time, so most structs and enums here are `#[non_exhaustive]`. Create a
//! struct with `new` or `default`, and assign its public fields; give a `match` a wildcard arm for newer variants.
//!
//! ```
//! use ikigai_core::{FinishReason, Request, Response};
//!
//! let mut request = Request::new("claude-sonnet-4-5").user("Hello");
//! request.top_p = Some(0.9);
//!
//! let response = Response::new("Hi!", FinishReason::Stop);
//! let is_whole = match response.finish_reason {
//!     FinishReason::Stop | FinishReason::ToolUse => true,
//!     _ => false,
//! };
//! assert!(is_whole);
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "server"),
    expect(dead_code, unreachable_pub, unused_imports, reason = "what only servers call is read, but not compiled")
)]

#[macro_use]
mod json;

mod builder;
pub mod catalog;
mod citation;
mod content;
mod dialect;
mod error;
mod fit;
mod footnotes;
mod limits;
mod loss;
mod media_type;
mod message;
mod model;
pub mod near;
mod order;
pub mod pause;
mod prompt;
pub mod provider;
mod provider_data;
mod request;
mod response;
#[cfg(feature = "schema")]
mod schema;
pub mod secrets;
#[cfg(feature = "server")]
pub mod server;
#[cfg(not(feature = "server"))]
mod server;
mod span;
mod sse;
mod stream;
pub mod thinking;
mod tool;
mod usage;
pub mod validate;

pub use citation::{Citation, CitedSource, FoundSource, Location, Marks};
pub use content::{
    Audio, Block, BlockKind, CacheHint, Document, Image, Other, ProviderCall, ProviderFailure, ProviderResult,
    ProviderTool, Source, Text, ThinkingBlock, ToolCall, ToolResult,
};
pub use dialect::{Dialect, UnknownDialect};
pub use error::{Error, ErrorKind};
pub use footnotes::Footnotes;
pub use json::{Arguments, Fields, Json};
pub use limits::Limits;
pub use loss::{Loss, LossCode, Severity};
pub use message::{Content, Message, Role};
pub use model::{ModelError, ModelName};
pub use prompt::{Prompt, assistant, system, tool_result, user};
pub use provider_data::{Part, ProviderData};
pub use request::{CacheOptions, JsonSchemaFormat, OutputFormat, Request};
pub use response::{FinishReason, Response};
#[cfg(feature = "schema")]
pub use schema::{FORMAT_VERSION, schema, unknown_fields};
pub use span::Span;
pub use stream::{Chunk, Collector, Event, events};
pub use thinking::{Level, Thinking, UnknownLevel};
pub use tool::{
    BuiltIn, CodeExecution, FileSearch, Function, OtherTool, SearchContextSize, Tool, ToolChoice, UserLocation,
    WebFetch, WebSearch,
};
pub use usage::Usage;

/// Everything that goes over the wire: requests and answers in a [`Dialect`], streams and their frames.
///
/// The translations themselves are methods of [`Dialect`], [`StreamDecoder`](wire::StreamDecoder) and
/// [`StreamEncoder`](wire::StreamEncoder).
pub mod wire {
    #[cfg(feature = "server")]
    pub use crate::dialect::{EmbedRequest, StreamEncoder, VectorForm};
    pub use crate::dialect::{
        Framing, Ids, ImageRequest, Incoming, ListedModel, MediaFile, Picture, Pictures, Reply, SpeechRequest, Spoken,
        StreamDecoder, Target, TranscribeRequest, Transcribed, Vectors, WireError, WireRequest, WireResponse,
        duration_ms,
    };
    pub use crate::fit::ToolNames;
    pub use crate::sse::{Frame, Sse, SseError};
}

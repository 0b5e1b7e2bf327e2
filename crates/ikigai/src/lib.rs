//! One API for every model: `cargo add ikigai-ai`, then `use ikigai::…`.
//!
//! ```no_run
//! # async fn f() -> Result<(), ikigai::Error> {
//! println!("{}", ikigai::ask("anthropic:claude-haiku-4-5", "Why is the sky blue?").await?);
//!
//! let mut stream = ikigai::model("openai:gpt-5.4/high")?.stream("Tell me a story.").await?;
//! while let Some(text) = stream.text().await? {
//!     print!("{text}");
//! }
//! let answer = stream.finish().await?;
//! println!("{:?}, {:?}", answer.usage(), answer.cost());
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | ask once | [`ask`], [`Model::ask`] |
//! | read an answer as it is being written | [`Model::stream`] |
//! | hold a conversation, switch models in it | [`Model::chat`] |
//! | let a model use your functions | [`tool()`], [`Model::tool`] |
//! | let the provider search the web or run code | [`Model::web_search`], [`Model::code_execution`] |
//! | see the sources of an answer | [`Answer::citations`], [`Answer::sources`] |
//! | let a model use MCP servers | `mcp::Server`, with the feature `mcp` |
//! | get a Rust value | [`Model::extract`] |
//! | send pictures and documents | [`Attach`] |
//! | turn strings into vectors | [`embed`], [`Model::embed`] |
//! | draw pictures | [`Model::draw`] |
//! | turn text into speech, and speech into text | [`Model::speak`], [`Model::transcribe`] |
//! | count tokens, list models | [`Model::count_tokens`], [`Client::models`] |
//! | see what would be sent | [`Model::preview`] |
//! | set keys, addresses, proxies, retries | [`Client::builder`] |
//! | find out what went wrong | [`Error::kind`] |
//! | send bytes in a provider's own dialect, as a proxy does | [`Client::upstream`] |
//!
//! Models are named `[provider:]model[/level]`: `anthropic:claude-sonnet-4-5`, `gpt-5.4/high`, `ollama:gemma3:4b`. Keys
//! come from the environment; [`config`] lists other places. Everything is `Send`, cheap to clone, and can be used from
//! many tasks at once. Requests need a tokio runtime.
//!
//! Nothing is dropped silently: [`Answer::warnings`] lists what a provider could not carry, and with [`Model::strict`]
//! it is an error.

#![forbid(unsafe_code)]

mod answer;
mod attach;
mod auth;
mod call;
mod chat;
mod client;
mod codec;
pub mod config;
mod error;
mod extract;
mod hook;
#[cfg(feature = "mcp")]
pub mod mcp;
mod model;
mod pause;
mod redact;
mod runtime;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod stream;
pub mod time;
pub mod tools;
mod trace;
pub mod transport;
mod turn;
mod upstream;
mod verbs;

pub use answer::{Answer, Step};
pub use attach::Attach;
pub use chat::{Chat, ChatStream};
pub use client::{Client, ClientBuilder};
pub use error::{Attempt, Error, FailedResponse, Mismatch, Reason, ServerFault};
pub use extract::ObjectStream;
pub use hook::Hook;
pub use ikigai_core::catalog::{Catalog, Cost, Facts, FileError, Modality, Money, Prices, Status};
pub use ikigai_core::provider::{Auth, Provider, ProviderSetupError, Providers, Quirks, Registry};
pub use ikigai_core::validate::{ArgumentChecker, Invalid, Problem};
pub use ikigai_core::wire::{ImageRequest, ListedModel, MediaFile, Picture, SpeechRequest, TranscribeRequest};
pub use ikigai_core::{
    Audio, Block, BlockKind, BuiltIn, CacheHint, CacheOptions, Chunk, Citation, CitedSource, CodeExecution, Collector,
    Content, Dialect, Document, ErrorKind, Event, FileSearch, FinishReason, Footnotes, FoundSource, Function, Image,
    JsonSchemaFormat, Level, Limits, Location, Loss, Marks, Message, ModelError, ModelName, Other, OtherTool,
    OutputFormat, Prompt, ProviderCall, ProviderData, ProviderFailure, ProviderResult, ProviderTool, Request, Response,
    Role, SearchContextSize, Severity, Source, Span, Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice,
    ToolResult, Usage, UserLocation, WebFetch, WebSearch, assistant, system, tool_result, user,
};
pub use model::Model;
pub use redact::{Redacting, Redactor};
/// Re-exported in the version from which [`tool()`] and [`Model::extract`] get the schemas of types.
#[cfg(feature = "schema")]
pub use schemars;
pub use stream::AnswerStream;
#[cfg(feature = "schema")]
pub use tools::tool;
pub use tools::{Approval, Callable, ExecuteError, Hints, tool_call};
pub use upstream::{Exchange, RateLimit, RateLimits, Retry, Upstream, Wanted};
pub use verbs::{Embeddings, Images, Preview, Speech, TokenCount, Transcript, estimate_tokens};

/// The format itself and its translations: the crate `ikigai-ai-core`, including everything not re-exported here.
pub use ikigai_core as format;

/// Asks a model and waits for the complete answer.
///
/// ```no_run
/// # async fn f() -> Result<(), ikigai::Error> {
/// println!("{}", ikigai::ask("anthropic:claude-haiku-4-5", "Why is the sky blue?").await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if no model has this name, or if there is no answer.
pub async fn ask(model: &str, prompt: impl Into<Prompt>) -> Result<Answer, Error> {
    self::model(model)?.ask(prompt).await
}

/// Turns strings into vectors, one per string, in the same order.
///
/// ```no_run
/// # async fn f() -> Result<(), ikigai::Error> {
/// let embeddings = ikigai::embed("openai:text-embedding-3-small", ["a red apple", "a green apple"]).await?;
/// assert_eq!(embeddings.vectors.len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if no model has this name, or if there is no answer.
pub async fn embed(model: &str, texts: impl IntoIterator<Item = impl Into<String>>) -> Result<Embeddings, Error> {
    self::model(model)?.embed(texts).await
}

/// Returns a model by its name: `[provider:]model[/level]`, such as `openai:gpt-5.4/high`.
///
/// # Errors
/// Returns an error if no model has this name; the error lists the nearest ones.
pub fn model(name: &str) -> Result<Model, Error> {
    Client::shared()?.model(name)
}

#[cfg(test)]
mod testing;

#[cfg(test)]
#[cfg(feature = "http")]
mod clouds_tests;

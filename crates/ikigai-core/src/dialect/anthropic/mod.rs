//! Anthropic Messages.
//!
//! One endpoint, `/v1/messages`, whole or as server-sent events. What is odd about it:
//!
//! - The system prompt stands apart from the messages. Tool results are a user's: all of them in the one message that
//!   follows the calls, before anything else in it. A canonical tool message and the user message behind it are one
//!   message on the wire.
//! - `max_tokens` is required and has the thinking in it, so a thinking budget and the limit are worked out together.
//! - Thinking comes back signed, and goes back unchanged: `provider_data.anthropic.signature`, or `redacted_data` for a
//!   block that nobody can read. A signature of another model or provider is refused, so such blocks stay behind.
//! - Newer models refuse what older ones take: budgets, sampling parameters, forced tools, an answer begun by the caller.
//! - `input_tokens` leaves the cached tokens out, `output_tokens` has the thinking in it.
//! - Amazon and Google serve the same bodies with the model in the path.
//!
//! A tool's name that the API does not take is sent in another form, and a loss tells which: the model then calls the
//! tool by that form, and it is the caller who knows both.
//!
//! Kept in `provider_data` under `anthropic`:
//!
//! | where | key | what |
//! |---|---|---|
//! | request | `model` | the model as asked: a request for that model is written as it was read |
//! | request | `betas` | features to ask for in the `anthropic-beta` header; the caller's |
//! | request | `raw` | fields that mean something canonical, as they were written: `thinking`, `effort`, `tool_choice`, numbers |
//! | request | `system_blocks`, `path`, `query` | shapes: a lone system text in a list; where the model stood |
//! | message | `blocks`, `continues` | shapes: a lone text in a list; it went on with the message before |
//! | text | `citations` | as they came |
//! | thinking | `signature`, `redacted_data`, `unsigned` | the provider's state, or that it gave none |
//! | call, result, media | `input`, `no_input`, `blocks`, `source` | how a value was written |
//! | tool | `no_schema` | there was none |
//! | answer | `stop_reason`, `response` | the provider's word; all else of the answer's object |
//! | answer | `without_message_stop` | the stream ended without its last event |
//! | usage | all its fields but the counts; `absent` | which counts were not given |
//! | everywhere | `extra` | wire fields that have no other place, put back as they were |
//!
//! Beside the files that every dialect has: `block/` reads and writes content blocks for requests and answers alike,
//! `answer.rs` carries other dialects' state to clients of this one, `usage.rs` counts, `schema.rs` knows the subset of
//! JSON Schema for strict tools, `names.rs` makes ids and names fit, `place.rs` says where something stands.

mod abilities;
mod answer;
mod content;
mod error;
mod names;
mod request;
mod response;
mod stream;
mod thinking;
mod usage;
mod wire;

use crate::Dialect;

pub(crate) use abilities::ABILITIES;
pub(crate) use error::{decode_error, encode_error};
pub(crate) use request::{decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response};
pub(crate) use stream::{Decoder, Encoder};

/// Whose data this folder reads in `provider_data`.
const DIALECT: Dialect = Dialect::Anthropic;

#[cfg(test)]
mod recordings_tests;
#[cfg(test)]
mod testing;

//! Amazon Bedrock's Converse, through which Bedrock serves the models of every maker.
//!
//! Spoken to providers only: requests are written, answers, streams and failures are read. No client of ours speaks it.
//! Two endpoints, `/model/{id}/converse` and `/model/{id}/converse-stream`. What is odd about it:
//!
//! - A block has no `type`: its only key says what it is. Bytes are base64 in `bytes`; a picture or a document at an
//!   address is refused, unless the address is Amazon's own (`s3://`).
//! - Documents need a name of few kinds of characters, no two alike, and a text beside them.
//! - Tools must be declared as long as the conversation has calls in it, and cannot be forbidden.
//! - Caching is a block of its own, behind what is to be cached; it may not stand behind a document.
//! - What only some models know is in `additionalModelRequestFields`; [`ConverseFields`] says which know what.
//! - An answer has no id and does not repeat the model.
//! - A stream comes in Amazon's binary frames, which are the client's business. Here each event is one server-sent event
//!   whose data is the event as the API's union has it: `data: {"contentBlockDelta": {…}}`, a failure among them:
//!   `data: {"throttlingException": {"message": "…"}}`. A bare payload is read too if the event has a name.
//!   Only tools have a `contentBlockStart`, and the counts come behind the end.
//!
//! Kept in `provider_data` under `bedrock-converse`:
//!
//! | where | part | what |
//! |---|---|---|
//! | thinking | state | `signature`; `redacted_data`: `redactedContent` as it came |
//! | thinking | shape | `unsigned`: it came without a signature |
//! | text | extra | `citations` and what else stands in a `citationsContent` |
//! | everywhere else | extra | wire fields that the format has no place for, such as `context` on a document |
//! | request | extra | `guardrailConfig`, `performanceConfig`, `additionalModelRequestFields`, … |
//! | answer, usage | answer | all else that they say: `stopReason`, `metrics`, `trace`, `cacheDetails`, … |
//! | error | answer | `error`: the provider's own error object |
//!
//! Blocks that nobody else knows (`video`, `guardContent`, the provider's own tools) are `other` blocks, whole.
//!
//! Beside the files that every dialect has: `former.rs` reads what version 0.1.0 kept of Converse's answers, which was
//! under another dialect's name.
//!
//! [`ConverseFields`]: crate::catalog::ConverseFields

mod abilities;
mod content;
mod error;
mod former;
mod request;
mod response;
mod stream;
mod thinking;
mod usage;
mod wire;

use crate::Dialect;

pub(crate) use abilities::ABILITIES;
pub(crate) use error::{decode_error, encode_error};
pub(crate) use former::from_former;
pub(crate) use request::encode_request;
pub(crate) use response::decode_response;
pub(crate) use stream::Decoder;

/// Whose data this folder reads in `provider_data`.
const DIALECT: Dialect = Dialect::BedrockConverse;

#[cfg(test)]
mod recordings_tests;
#[cfg(test)]
mod testing;

//! Amazon Bedrock's Converse, through which Bedrock serves the models of all makers.
//!
//! It is spoken only to providers: requests are written, answers, streams and failures are read. Clients do not speak
//! it. There are two endpoints, `/model/{id}/converse` and `/model/{id}/converse-stream`. What is odd about it:
//!
//! - A block has no `type`: its only key is its kind. Bytes are base64 in `bytes`; a URL for a picture or a document is
//!   refused, unless it is Amazon's own (`s3://`).
//! - Documents need a unique name made of only a few kinds of characters, and a text next to them.
//! - Tools must be declared as long as the conversation contains calls, and cannot be forbidden.
//! - A cache mark is a separate block, after what is to be cached; it may not come after a document.
//! - Model-specific fields are in `additionalModelRequestFields`; [`ConverseFields`] says which models have which.
//! - An answer has no id and does not repeat the model.
//! - A stream comes in Amazon's binary frames, which the client handles. Here each event is one server-sent event whose
//!   data is a member of the API's union: `data: {"contentBlockDelta": {…}}`, or a failure:
//!   `data: {"throttlingException": {"message": "…"}}`. A bare payload is read too if the event has a name.
//!   Only tools have a `contentBlockStart`, and the counts come after the end.
//!
//! Kept in `provider_data` under `bedrock-converse`:
//!
//! | where | part | what |
//! |---|---|---|
//! | thinking | state | `signature`; `redacted_data`: `redactedContent` as received |
//! | thinking | shape | `unsigned`: it came without a signature |
//! | text | extra | `citations` and the other fields of a `citationsContent` |
//! | everywhere else | extra | wire fields that the format has no field for, such as `context` on a document |
//! | request | extra | `guardrailConfig`, `performanceConfig`, `additionalModelRequestFields`, … |
//! | answer, usage | answer | all their other fields: `stopReason`, `metrics`, `trace`, `cacheDetails`, … |
//! | error | answer | `error`: the provider's own error object |
//!
//! Blocks that only this dialect has (`video`, `guardContent`, the provider's own tools) are whole `other` blocks.
//!
//! Besides the files that every dialect has: `former.rs` reads what version 0.1.0 kept of Converse's answers, under
//! another dialect's name.
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

/// The dialect whose data in `provider_data` this folder reads.
const DIALECT: Dialect = Dialect::BedrockConverse;

#[cfg(test)]
mod recordings_tests;
#[cfg(test)]
mod testing;

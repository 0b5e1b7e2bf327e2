//! Google Gemini `generateContent` and `streamGenerateContent`, on the Gemini API and on Vertex.
//!
//! What is odd about it:
//!
//! - The model and the method are in the URL, `/models/{model}:{method}`, not in the body.
//! - The wire is protobuf's JSON: lowerCamelCase is written, snake_case is accepted, and a missing field means zero.
//! - There are two roles. Tool results come from the user, all results for one turn in one content, and name the tool.
//! - Calls may come without an id. They then get one of ours, which is marked and never sent; results are matched by
//!   name and order.
//! - A thought signature belongs to the part that it is on: a call, a text (often an empty one), a picture. It is sent
//!   back on exactly that part, and a documented dummy replaces a missing one that a model requires.
//! - No finish reason says "ended to use a tool": the calls do.
//! - The output limit includes the thoughts; the count of candidate tokens excludes them.
//! - A stream has no end marker. Each frame is a whole answer object: a delta in its content, a snapshot in its counts.
//!
//! Besides the files that every dialect has: `leftovers.rs` (unknown fields, and spelling), `result.rs` (one tool
//! result), `schema` (JSON Schema to the OpenAPI subset of older models and back), `state.rs` (signatures and sealed
//! state).
//!
//! What does not round-trip: a stream without `alt=sse` is requested with it; a `functionResponse` without a name gets
//! that of its call; another provider's sealed state that a client sent back goes only to that provider.
//!
//! What is kept in a block's `provider_data.gemini`: the state `thought_signature`; fields that the format does not
//! have; and in the shape `generated_id` (the id is ours), on results the tool's `name`, `defaults` (fields that say
//! nothing), `names` (fields in snake_case), and further marks of how something was written.

mod abilities;
mod content;
mod error;
pub(super) mod hosted;
mod leftovers;
mod request;
mod response;
mod result;
mod schema;
mod state;
mod stream;
mod thinking;
mod usage;
pub(super) mod watch;
mod wire;

pub(crate) use abilities::ABILITIES;
pub(crate) use error::{decode_error, encode_error};
pub(crate) use request::{built_in, decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response, keep_candidate};
pub(crate) use stream::{Decoder, Encoder};

/// This dialect.
const DIALECT: crate::Dialect = crate::Dialect::Gemini;

#[cfg(test)]
mod testing;

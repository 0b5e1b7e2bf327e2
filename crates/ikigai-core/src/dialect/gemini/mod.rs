//! Google Gemini `generateContent` and `streamGenerateContent`, on the Gemini API and on Vertex.
//!
//! What is odd about it:
//!
//! - The model and the method stand in the URL, `/models/{model}:{method}`, not in the body.
//! - The wire is protobuf's JSON: lowerCamelCase is written, snake_case is accepted, and absent is the same as zero.
//! - There are two roles. Tool results come from the user, all results to one turn in one content, and name the tool.
//! - Calls may come without an id. Then they get one of ours, which is marked and never sent; results are paired by
//!   name and order.
//! - A thought signature belongs to the part that it sits on: a call, a text (often an empty one), a picture. It goes
//!   back on exactly that part, and where a model wants one that does not exist a documented dummy takes its place.
//! - There is no word for "ended to use a tool": the calls tell.
//! - The output limit includes the thoughts; the count of candidate tokens leaves them out.
//! - A stream has no end marker. Each frame is a whole answer object: a delta in its content, a snapshot in its counts.
//!
//! Beside the files that every dialect has: `leftovers.rs` (fields that are not understood, and spelling), `result.rs` (one
//! tool result), `schema` (JSON Schema to the OpenAPI subset of older models and back), `state.rs` (signatures and sealed
//! state).
//!
//! What does not come back as it was: a stream without `alt=sse` is asked for with it; a `functionResponse` without a
//! name gets that of its call; sealed state of another provider that a client brought back goes to that provider alone.
//!
//! What is kept in `provider_data.gemini` of a block: the state `thought_signature`; fields that the format has none for;
//! and in the shape `generated_id` (the id is ours), on results the tool's `name`, `defaults` (fields that say nothing),
//! `names` (fields in snake_case), and further marks of how something was written.

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

//! OpenAI Chat Completions, and the family of some thirty APIs that copy it.
//!
//! One string of text, one list of tool calls and, outside OpenAI, one field of reasoning make an answer; a stream is
//! made of pieces of these. What is odd:
//!
//! - The copies differ in small things everywhere. What to *send* is decided by [`Quirks`](crate::Quirks) and
//!   [`Rules`](crate::Rules) alone. What *comes in* is read in every spelling that has been seen, whoever sent it.
//! - Reasoning has four homes: `reasoning_content`, `reasoning`, `reasoning_details`, and `thinking` parts inside
//!   `content`. The thinking block remembers where it came from, and goes back there.
//! - `finish_reason` says `stop` beside tool calls, or nothing at all. The content decides.
//! - A request that was written for a model in this dialect goes out as it came in: no default is added, nothing is
//!   dropped. Only a request from elsewhere, or one that goes to another model, is fitted to its target.
//! - The system prompt is the leading run of `system` and `developer` messages; each `tool` message is one result, and
//!   a run of them is one message of ours.
//!
//! Files beside the usual ones: `assistant` and `part` are what requests and answers have in common, `marks` names what
//! this dialect leaves in `provider_data`, `usage` has the token arithmetic of the family.

mod assistant;
mod error;
mod marks;
mod part;
mod request;
mod response;
mod stream;
mod thinking;
mod usage;
pub(super) mod watch;

#[cfg(test)]
mod any_json;
#[cfg(test)]
mod recordings_tests;

pub(crate) use error::{decode_error, encode_error};
pub(crate) use request::{decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response};
pub(crate) use stream::{Decoder, Encoder};

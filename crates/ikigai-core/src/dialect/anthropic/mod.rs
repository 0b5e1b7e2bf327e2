//! Anthropic Messages.
//!
//! One endpoint, `/v1/messages`, whole or as server-sent events. What is odd about it:
//!
//! - The system prompt stands apart from the messages. Tool results are a user's: all of them in the one message that
//!   follows the calls, before anything else in it. A canonical tool message and the user message behind it are one
//!   message on the wire.
//! - `max_tokens` is required and has the thinking in it.
//! - Thinking comes back signed, and goes back unchanged: `provider_data.anthropic.signature`, or `redacted_data` for a
//!   block that nobody can read.
//! - `input_tokens` leaves the cached tokens out, `output_tokens` has the thinking in it.
//! - Amazon and Google serve the same bodies with the model in the path.
//!
//! Kept in `provider_data` under `anthropic`:
//!
//! | where | part | what |
//! |---|---|---|
//! | thinking | state | `signature`, `redacted_data` |
//! | citation, call and result of a server tool | state | `wire`: the object as it came |
//! | everywhere | extra | wire fields that the format has no place for |
//! | server tool | shape | `entry`: its entry as it came |
//! | request | extra | also `betas`: features to ask for in the `anthropic-beta` header, which the caller sets |
//! | answer, usage | answer | all else that they say: `stop_reason`, `stop_sequence`, `service_tier`, … |
//! | error | answer | `error`: the provider's own error object |
//! | request | shape | `model`: the model as asked; a request for that model is written as it was read |
//! | request | shape | `thinking`, `effort`, `tool_choice`, `output_format`, `metadata`, `temperature`, `top_p` as written |
//! | request | shape | `system_blocks`: a lone system text in a list; `path`, `query`: where the model was named |
//! | message | shape | `blocks`: a lone text in a list; `continues`: it was one with the message before |
//! | thinking | shape | `unsigned`: it came without a signature |
//! | call, result, media, tool | shape | `no_input`, `blocks`, `source`, `no_schema`: how a value was written |
//! | answer | shape | `without_message_stop`: the stream ended without its last event |
//! | usage | shape | `absent`: the counts that were not given |

mod abilities;
mod content;
mod error;
pub(super) mod hosted;
mod request;
mod response;
mod stream;
mod thinking;
mod usage;
pub(super) mod watch;
mod wire;

use crate::{Dialect, Json, Part, ProviderData};

pub(crate) use abilities::ABILITIES;
pub(crate) use error::{decode_error, encode_error};
pub(crate) use request::{built_in, decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response};
pub(crate) use stream::{Decoder, Encoder};

/// Whose data this folder reads in `provider_data`.
const DIALECT: Dialect = Dialect::Anthropic;

/// Keeps how something was written.
fn keep_shape(data: &mut ProviderData, name: &str, value: impl Into<Json>) {
    data.set_part(DIALECT, Part::Shape, name, value);
}

#[cfg(test)]
mod testing;

//! Anthropic Messages.
//!
//! One endpoint, `/v1/messages`, for complete answers and server-sent events. What is odd about it:
//!
//! - The system prompt is separate from the messages. Tool results come from the user: all of them in the one message
//!   that follows the calls, before anything else in it. A canonical tool message and the user message after it are one
//!   message on the wire.
//! - `max_tokens` is required and includes the thinking.
//! - Thinking comes back signed, and is sent back unchanged: `provider_data.anthropic.signature`, or `redacted_data`
//!   for a block that is unreadable.
//! - `input_tokens` excludes the cached tokens, `output_tokens` includes the thinking.
//! - Amazon and Google serve the same bodies with the model in the path.
//!
//! Kept in `provider_data` under `anthropic`:
//!
//! | where | part | what |
//! |---|---|---|
//! | thinking | state | `signature`, `redacted_data` |
//! | citation, call and result of a server tool | state | `wire`: the object as received |
//! | everywhere | extra | wire fields that the format has no field for |
//! | server tool | shape | `entry`: its entry as received |
//! | request | extra | also `betas`: features to request in the `anthropic-beta` header, which the caller sets |
//! | answer, usage | answer | all their other fields: `stop_reason`, `stop_sequence`, `service_tier`, … |
//! | error | answer | `error`: the provider's own error object |
//! | request | shape | `model`: the requested model; a request for that model is written as it was read |
//! | request | shape | `thinking`, `effort`, `tool_choice`, `output_format`, `metadata`, `temperature`, `top_p` as written |
//! | request | shape | `system_blocks`: a lone system text in a list; `path`, `query`: where the model was named |
//! | message | shape | `blocks`: a lone text in a list; `continues`: it was part of the message before |
//! | thinking | shape | `unsigned`: it came without a signature |
//! | call, result, media, tool | shape | `no_input`, `blocks`, `source`, `no_schema`: how a value was written |
//! | answer | shape | `without_message_stop`: the stream ended without its last event |
//! | usage | shape | `absent`: the counts that were missing |

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

/// The dialect whose data in `provider_data` this folder reads.
const DIALECT: Dialect = Dialect::Anthropic;

/// Keeps how something was written.
fn keep_shape(data: &mut ProviderData, name: &str, value: impl Into<Json>) {
    data.set_part(DIALECT, Part::Shape, name, value);
}

#[cfg(test)]
mod testing;

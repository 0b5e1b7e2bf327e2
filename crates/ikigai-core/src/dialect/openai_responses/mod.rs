//! OpenAI Responses: `POST /responses`.
//!
//! What is odd about it:
//!
//! - A conversation is a flat list of *items*, not of messages: a message, a piece of reasoning, a function call and
//!   its output each stand alone. Consecutive items of the model's side form one canonical message; the marks that give
//!   back the items as they were (`item`, `easy`, `string`) stay on the blocks that begin them.
//! - A message has parts, and parts of the user's side (`input_text`) and of the model's side (`output_text`) have
//!   different names. Mixing them is refused.
//! - A call has two ids: `id` names the item, `call_id` pairs it with its output. Only the second one matters.
//! - Reasoning comes as items with a summary (often empty) and `encrypted_content`, which has to come back unchanged
//!   and right before the item that it led to. Conversations are kept by the caller here: `store` is false and the
//!   encrypted reasoning is asked for unless the caller says otherwise.
//! - An answer says `completed` also when it waits for tools: the items decide about the finish reason.
//! - Every answer, good or bad, has an `error` field; only what is in it tells.
//! - A stream repeats everything at its end. The terminal event has the whole answer, with reasoning that is encrypted
//!   once more: other bytes for the same state.
//!
//! Beside the files that every dialect has there are [`items`] and [`parts`], which requests, answers and streams
//! share, [`usage`], and [`fields`] with the small tools for wire objects.
//!
//! Kept in `provider_data` under `openai-responses`:
//!
//! | where | key | what |
//! |---|---|---|
//! | request | `model` | the model as asked: a request for that model is written as it was read |
//! | request | `extra` | wire fields without a canonical field: `store`, `include`, `service_tier`, … |
//! | request | `input`, `numbers`, `reasoning` | how a value was written |
//! | message | `item`, `easy`, `string`, `role`, `parts` | the message item around the parts |
//! | text | the same, on the first part of an item | |
//! | text | `refusal`, `annotations`, `logprobs` | what the model's texts come with |
//! | any part | `part_type`, `prompt_cache_breakpoint`, `bare_data`, `data_in`, `extra` | how it was written |
//! | call, result | `id`, `status`, `arguments`, `output`, `extra` | the item around it, and how it was written |
//! | thinking | `id`, `encrypted_content`, `summary`, `content`, `extra` | the reasoning item |
//! | tool | `strict`, `raw`, `extra` | how it was written |
//! | answer | `status`, `incomplete_details` | the provider's words for the end |
//! | answer | `response`, `output_text` | all else of the response object |
//! | usage | `usage` | the counts as they came, where they would not be written the same |

mod error;
mod fields;
mod items;
mod parts;
mod request;
mod response;
mod stream;
mod thinking;
mod usage;
pub(super) mod watch;

use serde_json::{Map, Value};

use crate::Dialect;

pub(crate) use error::{decode_error, encode_error};
pub(crate) use request::{decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response};
pub(crate) use stream::{Decoder, Encoder};

/// This dialect, whose entry in `provider_data` is ours.
const ME: Dialect = Dialect::OpenaiResponses;

/// A JSON object.
type Object = Map<String, Value>;

#[cfg(test)]
mod recordings_tests;
#[cfg(test)]
mod round_trip_tests;

//! OpenAI Responses: `POST /responses`.
//!
//! What is odd about it:
//!
//! - A conversation is a flat list of *items*, not of messages: a message, a piece of reasoning, a function call and
//!   its output are each separate. Consecutive items of the model's side form one canonical message; the marks that
//!   restore the original items (`item`, `easy`, `string`) are kept on the blocks that begin them.
//! - A message has parts, and parts of the user's side (`input_text`) and of the model's side (`output_text`) have
//!   different names. A mixture is refused.
//! - A call has two ids: `id` identifies the item, `call_id` pairs it with its output. Only the second one matters.
//! - Reasoning comes as items with a summary (often empty) and `encrypted_content`, which must be sent back unchanged
//!   and right before the item that it led to. The caller keeps conversations here: `store` is false and the encrypted
//!   reasoning is requested unless the caller says otherwise.
//! - An answer's status is `completed` even if it waits for tools: the items decide the finish reason.
//! - Every answer, good or bad, has an `error` field; only its content matters.
//! - A stream repeats everything at its end. The terminal event has the whole answer, with reasoning that is encrypted
//!   again: other bytes for the same state.
//!
//! Besides the files that every dialect has, there are [`items`] and [`message`], with the items of the model's side, which
//! requests, answers and streams share, and [`usage`].
//!
//! Kept in `provider_data` under `openai-responses`:
//!
//! | where | part | name | what |
//! |---|---|---|---|
//! | thinking | state | `id`, `encrypted_content` | what the provider wants back |
//! | anywhere | extra | | wire fields without a canonical field: `store`, `service_tier`, `detail`, … |
//! | text | extra | | the same, and those of the message item that begins with this text: `phase` |
//! | text of an answer | answer | `logprobs` | the probabilities sent with the model's text |
//! | citation, call of a hosted tool | state | `wire` | the object as received; `half` on a result in its call's item |
//! | answer | answer | | the fields of the response object that do not echo the request |
//! | usage | answer | | counts that the format does not have |
//! | request | shape | `model` | the requested model: a request for that model is written as it was read |
//! | request | shape | `input`, `numbers`, `reasoning` | how a value was written |
//! | message, text | shape | `item`, `of_item`, `easy`, `string`, `role`, `parts` | the message item around the parts; `item` begins a new one |
//! | text | shape | `refusal`, `part_type` | the kind of part |
//! | text | shape | `before`, `after` | the types of the unknown parts of its message next to it, which are blocks of their own |
//! | image, document | shape | `prompt_cache_breakpoint`, `bare_data`, `data_in` | how it was written |
//! | call, result | shape | `id`, `status`, `arguments`, `no_call_id`, `output` | the item around it, and how it was written |
//! | thinking | shape | `summary`, `content`, `status` | the parts of the text |
//! | tool | shape | `strict`, `raw` | how it was written |
//! | answer | shape | `status`, `incomplete_details`, `output_text`, `response` | how it ended, and echoes |
//! | usage | shape | `usage`, `total_tokens` | the counts as received, and a total that is not their sum |

mod abilities;
mod content;
mod error;
pub(super) mod hosted;
mod items;
mod message;
mod request;
mod response;
mod stream;
mod thinking;
mod usage;
pub(super) mod watch;
mod wire;

use crate::Dialect;

pub(crate) use abilities::ABILITIES;
pub(crate) use error::{decode_error, encode_error};
pub(crate) use request::{built_in, decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response};
pub(crate) use stream::{Decoder, Encoder};

/// The dialect whose entry in `provider_data` this folder uses.
const DIALECT: Dialect = Dialect::OpenaiResponses;

#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod round_trip_tests;

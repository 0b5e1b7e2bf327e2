//! OpenAI Chat Completions, and the family of some thirty APIs that copy it.
//!
//! An answer is one string of text, one list of tool calls and, outside OpenAI, one field of reasoning; a stream is
//! made of pieces of these. What is odd:
//!
//! - The copies differ in small things everywhere. What is *sent* depends on the fitted request and the provider's
//!   [`Quirks`](crate::provider::Quirks). What *comes in* is read in every known spelling, whoever sent it.
//! - Reasoning is in one of six places: `reasoning_content`, `reasoning`, `reasoning_text`, `reasoning_details`,
//!   `thinking_blocks`, and parts inside `content`. The thinking block remembers where it came from, and is written back
//!   there.
//! - `finish_reason` may be `stop` in spite of tool calls, or missing. The content decides.
//! - The system prompt is the leading run of `system` and `developer` messages; each `tool` message is one result, and
//!   a run of them is one canonical message.
//!
//! Files besides the usual ones: `assistant` and `calls` have what requests and answers share, `notes` names what this
//! dialect leaves in `provider_data`, `reasoning` has the parts with thinking, `sealed` finds a slot for other
//! dialects' state, and `request/history` and `request/parts` write the messages that `request/messages` reads. The
//! stream reader has its own folder: blocks, calls, `signed` for `thinking_blocks`, `merge` for everything else that
//! comes in pieces, and `alike` for chunks that need no parsing.

mod abilities;
mod assistant;
mod calls;
mod content;
mod error;
pub(super) mod hosted;
mod notes;
mod reasoning;
mod request;
mod response;
mod sealed;
mod stream;
mod thinking;
mod usage;
pub(super) mod watch;
mod wire;

use crate::Dialect;

#[cfg(test)]
mod testing;

pub(crate) use abilities::ABILITIES;
pub(crate) use error::{decode_error, encode_error};
#[cfg(feature = "server")]
pub(crate) use request::has_older_tools;
pub(crate) use request::{built_in, decode_request, encode_request};
pub(crate) use response::{decode_response, encode_response};
pub(crate) use stream::{Decoder, Encoder};

const DIALECT: Dialect = Dialect::OpenaiChat;

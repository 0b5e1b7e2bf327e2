//! Failures, which both of OpenAI's dialects write alike.

use crate::dialect::{WireError, openai_error};
use crate::{Dialect, Error};

/// Decodes a failed HTTP answer.
pub(crate) fn decode_error(status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    openai_error::decode_error(Dialect::OpenaiChat, status, headers, body)
}

/// Encodes a failure for a client.
pub(crate) fn encode_error(error: &Error) -> WireError {
    openai_error::encode_error(error)
}

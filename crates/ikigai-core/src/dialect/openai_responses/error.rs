//! Failures: HTTP errors, errors inside a response object, error events.
//!
//! The shapes and codes are the same as in Chat Completions and are in [`openai_error`]; this module has what is
//! specific to this dialect.

use serde_json::{Map, Value, json};

use super::DIALECT;
use crate::dialect::{WireError, openai_error};
use crate::json::wire::Raw;
use crate::{Error, ErrorKind};

/// Decodes a failed HTTP answer.
pub(crate) fn decode_error(status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    openai_error::decode_error(DIALECT, status, headers, body)
}

/// Encodes a failure for a client.
pub(crate) fn encode_error(error: &Error) -> WireError {
    openai_error::encode_error(error)
}

/// Returns the failure in a response object, by its `error` or its status. Every good one has `"error": null`.
pub(super) fn of_response(error: Option<&Raw<'_>>, status: &str) -> Option<Error> {
    let error = error.and_then(Raw::to::<Value>);
    error.and_then(|error| openai_error::find(DIALECT, &json!({"error": error}))).or_else(|| match status {
        "failed" => Some(Error::new(ErrorKind::Server, "the provider reports a failure and gives no reason")),
        "cancelled" => Some(Error::new(ErrorKind::Cancelled, "the answer was cancelled")),
        _ => None,
    })
}

/// Reads the failure in an `error` event: nested, as it is actually sent, or flat, as it is documented.
pub(super) fn of_event(data: &str) -> Error {
    let mut event: Map<String, Value> = serde_json::from_str(data).unwrap_or_default();
    let nested = event.get("error").is_some_and(|error| !error.is_null());
    let body = if nested {
        Value::Object(event)
    } else {
        // The event's own type is not the error's.
        event.shift_remove("type");
        event.shift_remove("sequence_number");
        json!({"error": event})
    };
    openai_error::find(DIALECT, &body)
        .unwrap_or_else(|| Error::new(ErrorKind::Server, "the provider broke off the stream and gave no reason"))
}

/// Returns the failure in a body received in place of a stream, or `None` if it contains none.
pub(super) fn of_body(data: &str) -> Option<Error> {
    openai_error::find(DIALECT, &serde_json::from_str(data).ok()?)
}

/// Writes the `error` member of a failed response object.
pub(super) fn in_response(error: Option<&Error>) -> Value {
    let Some(error) = error else {
        return json!({"code": "server_error", "message": "the answer broke off"});
    };
    let mut wire = openai_error::object(error);
    // Here the code is never null.
    if let Some(wire) = wire.as_object_mut().filter(|wire| wire.get("code").is_none_or(Value::is_null)) {
        wire.insert("code".into(), "server_error".into());
    }
    wire
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

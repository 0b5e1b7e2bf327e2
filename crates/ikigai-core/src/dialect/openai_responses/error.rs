//! Failures: HTTP errors, errors inside a response object, error events.
//!
//! The shapes and the words are the same as in Chat Completions and live in [`openai_error`]; here is what only this
//! dialect has.

use serde_json::{Map, Value, json};

use super::DIALECT;
use crate::dialect::{WireError, openai_error};
use crate::json::wire::Raw;
use crate::{Error, ErrorKind};

/// Reads a failed HTTP answer.
pub(crate) fn decode_error(status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    openai_error::decode_error(DIALECT, status, headers, body)
}

/// Writes a failure for a client.
pub(crate) fn encode_error(error: &Error) -> WireError {
    openai_error::encode_error(error)
}

/// The failure that a response object reports, by its `error` or by its status. `"error": null` stands in every good one.
pub(super) fn of_response(error: Option<&Raw<'_>>, status: &str) -> Option<Error> {
    let error = error.and_then(Raw::to::<Value>);
    if let Some(error) = error.and_then(|error| openai_error::find(DIALECT, &json!({"error": error}))) {
        return Some(about_pictures(error));
    }
    match status {
        "failed" => Some(Error::new(ErrorKind::Server, "the provider reports a failure and gives no reason")),
        "cancelled" => Some(Error::new(ErrorKind::Cancelled, "the answer was cancelled")),
        _ => None,
    }
}

/// Codes that stand alone here, without a status or a type that would tell whose fault it is: the picture's.
fn about_pictures(mut error: Error) -> Error {
    let of_picture = matches!(
        error.code.as_deref(),
        Some(
            "invalid_image"
                | "invalid_image_format"
                | "invalid_base64_image"
                | "invalid_image_url"
                | "image_too_large"
                | "image_too_small"
                | "image_parse_error"
                | "invalid_image_mode"
                | "image_file_too_large"
                | "unsupported_image_media_type"
                | "empty_image_file"
                | "failed_to_download_image"
        )
    );
    if of_picture {
        error.kind = ErrorKind::InvalidRequest;
    }
    error
}

/// The failure in an `error` event: nested, as it is really sent, or flat, as it is documented.
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
        .map(about_pictures)
        .unwrap_or_else(|| Error::new(ErrorKind::Server, "the provider broke off the stream and gave no reason"))
}

/// The `error` member of a failed response object.
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
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn events_nested_and_flat_say_the_same() {
        let nested = json!({"type": "error", "sequence_number": 3, "error":
            {"type": "insufficient_quota", "code": "insufficient_quota", "message": "m", "param": "p"}});
        let flat =
            json!({"type": "error", "sequence_number": 3, "code": "insufficient_quota", "message": "m", "param": "p"});
        for (event, error_type) in [(nested, Some("insufficient_quota")), (flat, None)] {
            let error = of_event(&event.to_string());
            assert_eq!(
                (error.kind, error.message.as_str(), error.code.as_deref(), error.param.as_deref()),
                (ErrorKind::Quota, "m", Some("insufficient_quota"), Some("p"))
            );
            assert_eq!(error.error_type.as_deref(), error_type);
        }
        let silent = of_event(r#"{"type": "error"}"#);
        assert_eq!((silent.kind, silent.message.is_empty()), (ErrorKind::Server, false));
    }

    #[test]
    fn http_failures_are_read_and_written_as_in_the_other_dialect_of_the_family() {
        let body = json!({"error": {"message": "The requested model 'x' does not exist.", "type": "invalid_request_error",
            "param": "model", "code": "model_not_found"}});
        let error = decode_error(Some(404), &[("x-request-id".into(), "req_1".into())], &body.to_string());
        assert_eq!(
            (error.kind, error.status, error.request_id.as_deref()),
            (ErrorKind::NotFound, Some(404), Some("req_1"))
        );
        let wire = encode_error(&error);
        assert_eq!((wire.status, serde_json::from_slice(&wire.body).unwrap()), (404, body));
        let page = decode_error(Some(502), &[], "<html><title>Bad gateway</title></html>");
        assert_eq!((page.kind, page.message.as_str()), (ErrorKind::Server, "Bad gateway"));
    }
}

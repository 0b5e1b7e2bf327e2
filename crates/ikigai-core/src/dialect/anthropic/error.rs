//! Converts the wire's error bodies to the canonical error, and back.

use std::borrow::Cow;

use crate::dialect::WireError;
use crate::dialect::failure::{by_status, by_words, header, plain_message, request_id, retry_after, should_retry};
use crate::json::tagged::Object;
use crate::json::wire::{read_str, write};
use crate::{Error, ErrorKind, Fields, Json, Part};

use super::DIALECT;

/// The longest message kept from a body that is not an error object, and the largest error object kept.
const LIMIT: usize = 2048;

/// Decodes a failed HTTP answer. The body may be JSON of another shape, HTML, truncated or empty.
pub(crate) fn decode_error(status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    let mut error = match read_str::<Object<'_>>(body.trim()) {
        Ok(fields) => read(&fields, body, status, headers),
        Err(_) => Error::new(by_status(status), plain_message(status, body, LIMIT)),
    };
    error.status = status;
    let names = ["request-id", "x-request-id", "x-amzn-requestid"];
    error.request_id = error.request_id.or_else(|| request_id(headers, &names));
    error.retry_after_ms = retry_after(headers);
    error.retryable = should_retry(headers);
    error
}

/// Reads an error object from a successful HTTP answer or from a stream.
pub(super) fn from_body(body: &[u8]) -> Error {
    let body = String::from_utf8_lossy(body);
    match read_str(&body) {
        Ok(fields) => read(&fields, &body, None, &[]),
        Err(_) => Error::new(ErrorKind::Server, plain_message(None, &body, LIMIT)),
    }
}

fn read(fields: &Object<'_>, body: &str, status: Option<u16>, headers: &[(String, String)]) -> Error {
    let text = |fields: &Object<'_>, name: &str| fields.text(name).map(Cow::into_owned);
    let raw = fields.get("error");
    let inner: Option<Object<'_>> = raw.and_then(|raw| read_str(raw.get()).ok());
    let said = match &inner {
        Some(inner) => text(inner, "message"),
        None => text(fields, "error").or_else(|| text(fields, "message")),
    };
    let said = said.unwrap_or_else(|| plain_message(status, body, LIMIT));
    // Amazon puts the type in a header, followed by a URL.
    let amazon = header(headers, "x-amzn-errortype").and_then(|kind| kind.split(':').next());
    let error_type = inner.as_ref().and_then(|inner| text(inner, "type")).or_else(|| amazon.map(str::to_owned));
    let details = inner.as_ref().unwrap_or(fields).get("details");
    let code = details.and_then(|raw| text(&read_str(raw.get()).ok()?, "error_code"));
    let mut error = Error::new(classify(error_type.as_deref(), code.as_deref(), &said, status), said);
    error.error_type = error_type;
    error.code = code;
    error.request_id = text(fields, "request_id");
    if let Some(raw) = raw.filter(|raw| inner.is_some() && raw.get().len() <= LIMIT) {
        error.provider_data.set_part(DIALECT, Part::Answer, "error", Json::copy(raw));
    }
    error
}

/// Classifies by the provider's type, then by its message where a type is ambiguous, then by the status.
fn classify(error_type: Option<&str>, code: Option<&str>, message: &str, status: Option<u16>) -> ErrorKind {
    match error_type {
        Some("invalid_request_error" | "ValidationException") => by_words(message).unwrap_or(ErrorKind::InvalidRequest),
        Some("authentication_error" | "UnrecognizedClientException" | "ExpiredTokenException") => ErrorKind::Auth,
        Some("billing_error") => ErrorKind::Quota,
        Some("permission_error" | "AccessDeniedException") => ErrorKind::Permission,
        Some("not_found_error" | "ResourceNotFoundException") => ErrorKind::NotFound,
        Some("conflict_error" | "api_error" | "InternalServerException" | "ModelErrorException") => ErrorKind::Server,
        Some("ModelStreamErrorException") => ErrorKind::Server,
        Some("request_too_large") => ErrorKind::RequestTooLarge,
        Some("rate_limit_error" | "ThrottlingException") => match code {
            Some("enforced_spend_limit_reached") => ErrorKind::Quota,
            _ => ErrorKind::RateLimit,
        },
        Some("ServiceQuotaExceededException") => ErrorKind::Quota,
        Some("timeout_error" | "ModelTimeoutException") => ErrorKind::Timeout,
        Some("overloaded_error" | "ModelNotReadyException" | "ServiceUnavailableException") => ErrorKind::Overloaded,
        _ => by_words(message).unwrap_or_else(|| by_status(status)),
    }
}

/// Writes a failure for a client: status, headers and body as this API would send them.
pub(crate) fn encode_error(error: &Error) -> WireError {
    let mut headers = Vec::new();
    if let Some(id) = &error.request_id {
        headers.push(("request-id".to_owned(), id.clone()));
    }
    if let Some(wait) = error.retry_after_ms {
        headers.push(("retry-after".to_owned(), wait.div_ceil(1000).to_string()));
    }
    if let Some(retryable) = error.retryable {
        headers.push(("x-should-retry".to_owned(), retryable.to_string()));
    }
    // This API's own failures keep their status; others get the status of their kind here.
    let status =
        error.status.filter(|status| own(error).is_some() && *status >= 400).unwrap_or_else(|| status_of(error.kind));
    WireError { status, headers, body: write(&failure(error)) }
}

/// Writes the body of a failure.
pub(super) fn failure(error: &Error) -> Fields {
    let own: Option<Fields> = own(error).and_then(|own| own.to().ok());
    let kind = error.error_type.as_deref().filter(|_| own.is_some()).unwrap_or(words(error.kind).1);
    let mut inner = own.unwrap_or_default();
    inner.set("type", kind);
    inner.set("message", message(error));
    let mut body = Fields::default();
    body.set("type", "error");
    body.set("error", inner);
    if let Some(id) = &error.request_id {
        body.set("request_id", id.as_str());
    }
    body
}

/// Returns the provider's error object, if it came from this API.
fn own(error: &Error) -> Option<&Json> {
    error.provider_data.part(DIALECT, Part::Answer).get("error")
}

/// Returns the message. Clients of this API recognise a prompt that is too long by its wording.
fn message(error: &Error) -> String {
    let known = by_words(&error.message) == Some(ErrorKind::ContextTooLong);
    match error.kind {
        ErrorKind::ContextTooLong if !known => format!("prompt is too long: {}", error.message),
        _ => error.message.clone(),
    }
}

/// Returns this API's status and type for each kind.
fn words(kind: ErrorKind) -> (u16, &'static str) {
    match kind {
        ErrorKind::Auth => (401, "authentication_error"),
        ErrorKind::Permission | ErrorKind::Vetoed => (403, "permission_error"),
        ErrorKind::InvalidRequest | ErrorKind::ContextTooLong | ErrorKind::ContentFiltered => {
            (400, "invalid_request_error")
        }
        ErrorKind::RequestTooLarge => (413, "request_too_large"),
        ErrorKind::NotFound => (404, "not_found_error"),
        ErrorKind::RateLimit => (429, "rate_limit_error"),
        ErrorKind::Quota => (402, "billing_error"),
        ErrorKind::Overloaded => (529, "overloaded_error"),
        ErrorKind::Server | ErrorKind::Network | ErrorKind::Protocol | ErrorKind::StepLimit => (500, "api_error"),
        ErrorKind::Timeout => (504, "timeout_error"),
        ErrorKind::Cancelled => (499, "api_error"),
    }
}

/// Returns the HTTP status that fits a failure received as the first event of a stream.
pub(super) fn status_of(kind: ErrorKind) -> u16 {
    words(kind).0
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

//! Converts the wire's error bodies and exceptions to the canonical error.

use crate::dialect::WireError;
use crate::dialect::failure::{by_status, by_words, header, plain_message, request_id, retry_after};
use crate::json::wire::write;
use crate::{Error, ErrorKind, Fields, Json, Part};

use super::DIALECT;
use super::wire::{Answer, Failure};

/// The longest message kept from a body that is not an error object, and the largest error object kept.
const LIMIT: usize = 2048;

/// Decodes a failed HTTP answer. The body may be JSON of another shape, HTML, truncated or empty.
pub(crate) fn decode_error(status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    // The type is in a header, followed by a URL.
    let named = header(headers, "x-amzn-errortype").and_then(|kind| kind.split(':').next());
    let mut error = match serde_json::from_str::<Fields>(body.trim()) {
        Ok(fields) => read(&fields, body, named, status),
        Err(_) => Error::new(classify(named, body, status), plain_message(status, body, LIMIT)),
    };
    error.error_type = error.error_type.or_else(|| named.map(str::to_owned));
    error.status = status;
    error.request_id = request_id(headers, &["x-amzn-requestid", "x-request-id"]);
    error.retry_after_ms = retry_after(headers);
    error
}

/// Makes the error for a body that is not an answer: a failure with a successful status, or something unknown.
pub(super) fn instead_of_answer(body: &[u8], answer: &Answer<'_>) -> Error {
    let text = String::from_utf8_lossy(body);
    let fields: Fields = serde_json::from_str(&text).unwrap_or_default();
    if answer.stop_reason.is_none() && message(&fields).is_some() {
        return read(&fields, &text, None, None);
    }
    let beginning: String = text.chars().take(200).collect();
    Error::protocol(format!("the answer has no `output`; it begins: {beginning}"))
}

/// Reads a failure received as an event of a stream.
pub(super) fn from_event(name: &str, payload: &Json) -> Error {
    let fields: Fields = payload.to().unwrap_or_default();
    // `throttlingException`, as it is written everywhere else.
    let named = |name: &str| {
        let mut letters = name.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    let kind = fields.str("code").map_or_else(|| named(name), |code| named(&code));
    read(&fields, payload.text(), Some(&kind), None)
}

fn read(fields: &Fields, body: &str, named: Option<&str>, status: Option<u16>) -> Error {
    let said = message(fields).unwrap_or_else(|| plain_message(status, body, LIMIT));
    let in_body = fields.str("__type").map(|kind| kind.rsplit('#').next().unwrap_or_default().to_owned());
    let error_type = named.map(str::to_owned).or(in_body).filter(|kind| !kind.is_empty());
    let mut error = Error::new(classify(error_type.as_deref(), &said, status), said);
    error.error_type = error_type;
    if body.len() <= LIMIT && !fields.is_empty() {
        error.provider_data.set_part(DIALECT, Part::Answer, "error", Json::from(fields.clone()));
    }
    error
}

fn message(fields: &Fields) -> Option<String> {
    let said = fields.str("message").or_else(|| fields.str("Message"))?;
    Some(said.into_owned())
}

/// Classifies by the provider's type, then by its message where a type is ambiguous, then by the status.
fn classify(error_type: Option<&str>, message: &str, status: Option<u16>) -> ErrorKind {
    match error_type {
        Some("ValidationException") => by_words(message).unwrap_or(ErrorKind::InvalidRequest),
        Some("UnrecognizedClientException" | "ExpiredTokenException") => ErrorKind::Auth,
        Some("AccessDeniedException") => ErrorKind::Permission,
        Some("ResourceNotFoundException") => ErrorKind::NotFound,
        Some("ThrottlingException") => ErrorKind::RateLimit,
        Some("ServiceQuotaExceededException") => ErrorKind::Quota,
        Some("ModelTimeoutException") => ErrorKind::Timeout,
        Some("ModelNotReadyException" | "ServiceUnavailableException") => ErrorKind::Overloaded,
        Some("InternalServerException" | "ModelErrorException" | "ModelStreamErrorException") => ErrorKind::Server,
        _ => by_words(message).unwrap_or_else(|| by_status(status)),
    }
}

/// Writes a failure as this API would send it. No clients are served in this dialect; the wire command shows it.
pub(crate) fn encode_error(error: &Error) -> WireError {
    let (status, kind) = words(error.kind);
    let body = Failure { message: Some(error.message.as_str().into()), rest: Vec::new() };
    WireError { status, headers: vec![("x-amzn-errortype".to_owned(), kind.to_owned())], body: write(&body) }
}

/// Returns this API's status and type for each kind.
fn words(kind: ErrorKind) -> (u16, &'static str) {
    match kind {
        ErrorKind::Auth => (403, "UnrecognizedClientException"),
        ErrorKind::Permission | ErrorKind::Vetoed => (403, "AccessDeniedException"),
        ErrorKind::InvalidRequest | ErrorKind::ContextTooLong | ErrorKind::ContentFiltered => {
            (400, "ValidationException")
        }
        ErrorKind::RequestTooLarge => (413, "ValidationException"),
        ErrorKind::NotFound => (404, "ResourceNotFoundException"),
        ErrorKind::RateLimit => (429, "ThrottlingException"),
        ErrorKind::Quota => (400, "ServiceQuotaExceededException"),
        ErrorKind::Overloaded => (503, "ServiceUnavailableException"),
        ErrorKind::Server | ErrorKind::Network | ErrorKind::Protocol | ErrorKind::Cancelled | ErrorKind::StepLimit => {
            (500, "InternalServerException")
        }
        ErrorKind::Timeout => (408, "ModelTimeoutException"),
    }
}

/// Returns the HTTP status that fits a failure received as the first event of a stream.
pub(super) fn status_of(kind: ErrorKind) -> u16 {
    words(kind).0
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

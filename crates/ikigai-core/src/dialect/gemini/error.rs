//! Failures.
//!
//! `{"error": {"code": 400, "message": "…", "status": "INVALID_ARGUMENT", "details": […]}}`, for streams often wrapped
//! in an array. The status keyword decides; if it is ambiguous, the details and the message do: a bad key is a 400.

use serde_json::{Map, Value, json};

use super::DIALECT;
use crate::dialect::failure::{duration_ms, excerpt, request_id, retry_after, wait_in};
use crate::json::wire::{read_str, write};
use crate::wire::WireError;
use crate::{Error, ErrorKind, Fields, Part};

/// The largest error object that is kept, in bytes.
const KEPT: usize = 4096;
/// The most that is quoted of a body that is not JSON.
const QUOTED: usize = 2048;
/// The key for the provider's error object.
const RAW: &str = "error";

/// Decodes a failure: a status, headers, and a body that may be anything.
pub(crate) fn decode_error(status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    let mut error = match read_str::<Value>(body).ok().and_then(error_object) {
        Some(object) => from_object(status, object),
        None => from_text(status, body),
    };
    error.retry_after_ms = retry_after(headers).or(error.retry_after_ms);
    error.request_id = request_id(headers, &["x-goog-request-id", "x-request-id"]);
    error
}

/// Returns the error object in a body, or `None` if there is none.
fn error_object(body: Value) -> Option<Map<String, Value>> {
    match body {
        Value::Array(bodies) => bodies.into_iter().find_map(error_object),
        Value::Object(mut body) => match body.shift_remove("error")? {
            Value::Object(object) => Some(object),
            Value::String(message) => Some(Map::from_iter([("message".to_owned(), Value::String(message))])),
            _ => None,
        },
        _ => None,
    }
}

/// Reads an error object, which may also be in a stream or an HTTP 200.
pub(super) fn from_object(status: Option<u16>, object: Map<String, Value>) -> Error {
    let code = match object.get("code") {
        Some(Value::Number(code)) => Some(code.to_string()),
        Some(Value::String(code)) => Some(code.clone()),
        _ => None,
    };
    let http = status.or_else(|| code.as_ref()?.parse().ok());
    let word = object.get("status").and_then(Value::as_str);
    let message = object.get("message").and_then(Value::as_str).unwrap_or("the provider gave no message").to_owned();
    let details = Details::of(&object, &message);
    let named = word.or(code.as_deref()).unwrap_or_default();

    let mut error = Error::new(kind(named, http, &message, &details), message);
    error.status = http;
    error.code = code;
    error.error_type = word.map(str::to_owned);
    error.param = details.field;
    error.retry_after_ms = details.retry_after_ms;
    let mut raw = object;
    if Value::Object(raw.clone()).to_string().len() > KEPT {
        raw.shift_remove("details");
        raw.shift_remove("errors");
    }
    let raw = Value::Object(raw);
    if raw.to_string().len() <= KEPT {
        error.provider_data.set_part(DIALECT, Part::Answer, RAW, raw);
    }
    error
}

fn from_text(status: Option<u16>, body: &str) -> Error {
    let text = excerpt(body.trim(), QUOTED);
    let message = match (text, status) {
        ("", Some(status)) => format!("the provider answered with status {status} and an empty body"),
        ("", None) => "the provider answered with an empty body".to_owned(),
        (text, _) => text.to_owned(),
    };
    let mut error = Error::new(kind("", status, &message, &Details::default()), message);
    error.status = status;
    error
}

/// The content of the details.
#[derive(Debug, Default)]
struct Details {
    reason: String,
    field: Option<String>,
    retry_after_ms: Option<u64>,
    /// Whether the quota stays exhausted for more than an hour.
    exhausted: bool,
}

impl Details {
    fn of(object: &Map<String, Value>, message: &str) -> Self {
        let mut details = Details { retry_after_ms: wait_in(message), ..Details::default() };
        details.exhausted = message.contains("limit: 0");
        for detail in object.get("details").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| detail.get(key).and_then(Value::as_str);
            match text("@type").and_then(|kind| kind.rsplit(['.', '/']).next()) {
                Some("ErrorInfo") => details.reason = text("reason").unwrap_or_default().to_owned(),
                Some("RetryInfo") => {
                    details.retry_after_ms = text("retryDelay").and_then(duration_ms).or(details.retry_after_ms);
                }
                Some("QuotaFailure") => {
                    let violations = detail.get("violations").and_then(Value::as_array);
                    details.exhausted |= violations.into_iter().flatten().any(is_exhausted);
                }
                Some("BadRequest") => {
                    let field = detail.pointer("/fieldViolations/0/field").and_then(Value::as_str);
                    details.field = field.filter(|field| !field.is_empty()).map(str::to_owned);
                }
                _ => {}
            }
        }
        details.exhausted |= details.retry_after_ms.is_some_and(|delay| delay > 3_600_000);
        details
    }
}

fn is_exhausted(violation: &Value) -> bool {
    let daily = violation.get("quotaId").and_then(Value::as_str).is_some_and(|id| id.contains("PerDay"));
    let none = match violation.get("quotaValue") {
        Some(Value::String(value)) => value == "0",
        Some(value) => value.as_u64() == Some(0),
        None => false,
    };
    daily || none
}

fn kind(word: &str, http: Option<u16>, message: &str, details: &Details) -> ErrorKind {
    match word {
        word if word.to_ascii_lowercase().contains("content_filter") => ErrorKind::ContentFiltered,
        "INVALID_ARGUMENT" | "OUT_OF_RANGE" | "invalid_request" => refused(message, details),
        "FAILED_PRECONDITION" => ErrorKind::Permission,
        "UNAUTHENTICATED" => ErrorKind::Auth,
        "PERMISSION_DENIED" => {
            let key = details.reason.starts_with("API_KEY_") || message.contains("reported as leaked");
            if key { ErrorKind::Auth } else { ErrorKind::Permission }
        }
        "NOT_FOUND" | "not_found" => ErrorKind::NotFound,
        "ALREADY_EXISTS" | "UNIMPLEMENTED" => ErrorKind::InvalidRequest,
        "RESOURCE_EXHAUSTED" | "quota_exceeded" if http != Some(402) && !details.exhausted => ErrorKind::RateLimit,
        "RESOURCE_EXHAUSTED" | "quota_exceeded" | "payment_required" => ErrorKind::Quota,
        "CANCELLED" => ErrorKind::Cancelled,
        "INTERNAL" | "UNKNOWN" | "DATA_LOSS" | "ABORTED" => ErrorKind::Server,
        "UNAVAILABLE" => ErrorKind::Overloaded,
        "DEADLINE_EXCEEDED" => ErrorKind::Timeout,
        _ => match http {
            Some(401) => ErrorKind::Auth,
            Some(402) => ErrorKind::Quota,
            Some(403) => ErrorKind::Permission,
            Some(404) => ErrorKind::NotFound,
            Some(408 | 504) => ErrorKind::Timeout,
            Some(409) => ErrorKind::Server,
            Some(413) => ErrorKind::RequestTooLarge,
            Some(429) if details.exhausted => ErrorKind::Quota,
            Some(429) => ErrorKind::RateLimit,
            Some(499) => ErrorKind::Cancelled,
            Some(501) => ErrorKind::InvalidRequest,
            Some(503) => ErrorKind::Overloaded,
            Some(400..=498) => refused(message, details),
            _ => ErrorKind::Server,
        },
    }
}

/// Classifies a refused request: mostly refused for its content, sometimes for its key or its length.
fn refused(message: &str, details: &Details) -> ErrorKind {
    if details.reason == "API_KEY_INVALID"
        || message.contains("API key not valid")
        || message.contains("API key expired")
    {
        ErrorKind::Auth
    } else if message.contains("exceeds the maximum number of tokens allowed") {
        ErrorKind::ContextTooLong
    } else {
        ErrorKind::InvalidRequest
    }
}

/// Encodes a failure. One that came from this dialect keeps its own object.
pub(crate) fn encode_error(error: &Error) -> WireError {
    let (mut status, word) = match error.kind {
        ErrorKind::Auth => (401, "UNAUTHENTICATED"),
        ErrorKind::Permission | ErrorKind::Vetoed => (403, "PERMISSION_DENIED"),
        ErrorKind::RequestTooLarge => (413, "INVALID_ARGUMENT"),
        ErrorKind::InvalidRequest | ErrorKind::ContextTooLong | ErrorKind::ContentFiltered => (400, "INVALID_ARGUMENT"),
        ErrorKind::NotFound => (404, "NOT_FOUND"),
        ErrorKind::RateLimit => (429, "RESOURCE_EXHAUSTED"),
        ErrorKind::Quota => (402, "RESOURCE_EXHAUSTED"),
        ErrorKind::Overloaded => (503, "UNAVAILABLE"),
        ErrorKind::Server | ErrorKind::Network | ErrorKind::Protocol | ErrorKind::StepLimit => (500, "INTERNAL"),
        ErrorKind::Timeout => (504, "DEADLINE_EXCEEDED"),
        ErrorKind::Cancelled => (499, "CANCELLED"),
    };
    let kept = error.provider_data.part(DIALECT, Part::Answer).get(RAW);
    let object = match kept.filter(|raw| raw.value().get("message").and_then(Value::as_str) == Some(&error.message)) {
        Some(raw) => {
            status = error.status.filter(|status| *status >= 400).unwrap_or(status);
            raw.clone()
        }
        None => {
            let mut object = json!({"code": status, "message": message(error), "status": word});
            if let (Some(delay), Some(fields)) = (error.retry_after_ms, object.as_object_mut()) {
                fields.insert(
                    "details".to_owned(),
                    json!([{
                        "@type": "type.googleapis.com/google.rpc.RetryInfo",
                        "retryDelay": format!("{}s", seconds(delay)),
                    }]),
                );
            }
            object.into()
        }
    };
    let headers = error.retry_after_ms.map(|delay| ("retry-after".to_owned(), delay.div_ceil(1000).to_string()));
    let body = write(&Fields::from_iter([("error".to_owned(), object)]));
    WireError { status, headers: headers.into_iter().collect(), body }
}

/// Returns the message. Clients recognise a prompt that is too long only by its wording.
fn message(error: &Error) -> String {
    let told = error.message.contains("exceeds the maximum number of tokens allowed");
    if error.kind == ErrorKind::ContextTooLong && !told {
        return format!("The input token count exceeds the maximum number of tokens allowed. {}", error.message);
    }
    error.message.clone()
}

/// Formats milliseconds as decimal seconds: `34`, `34.4`.
fn seconds(millis: u64) -> String {
    let (whole, rest) = (millis / 1000, millis % 1000);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:03}").trim_end_matches('0').to_owned()
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

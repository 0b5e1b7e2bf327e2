//! Failures in OpenAI's form and the forms of its many copies, for both of OpenAI's dialects.
//!
//! Oddities: `error` may be an object, a string or missing; `code` a keyword, a number or a sentence; status 200 may
//! hide a failure, and 404 may mean "this model has no tools". So the wording decides before the status.

mod classify;
mod retry;

use serde_json::{Map, Value, json};

use crate::dialect::WireError;
use crate::dialect::failure::{excerpt, header, request_id, should_retry};
use crate::json::wire::read_str;
use crate::{Dialect, Error, ErrorKind, Part};

use classify::{Clues, Verdict};

/// The longest message and the largest error object that are kept, in bytes.
const LIMIT: usize = 4096;

/// The headers with the provider's request id, by the names that the family uses.
const REQUEST_IDS: [&str; 5] =
    ["x-request-id", "apim-request-id", "request-id", "mistral-correlation-id", "x-amzn-requestid"];

/// Decodes a failed HTTP answer. The body may be JSON of any shape, HTML, truncated or empty.
pub(crate) fn decode_error(dialect: Dialect, status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    let mut error = match json_in(body).as_ref().and_then(|value| read(dialect, status, headers, value)) {
        Some(error) => error,
        None => plain(dialect, status, headers, body),
    };
    error.status = status;
    error.request_id = error.request_id.or_else(|| request_id(headers, &REQUEST_IDS));
    error.retry_after_ms = retry::after_ms(headers, &error);
    error.retryable = should_retry(headers).or(error.retryable);
    error
}

/// Returns the failure inside a body or stream frame that came with status 200; `None` if it is an answer.
///
/// `"error": null` is part of many good answers, so the field must contain something.
pub(crate) fn find(dialect: Dialect, body: &Value) -> Option<Error> {
    // Google's compatible endpoint wraps it in a list.
    let object = body.as_array().map_or(body, |list| list.first().unwrap_or(body)).as_object()?;
    let says_so = object.get("error").is_some_and(says_something)
        || object.get("object").is_some_and(|kind| kind == "error")
        || base_response(object).is_some()
        || (!["choices", "output", "id"].iter().any(|key| object.contains_key(*key))
            && ["message", "detail", "errors"].iter().any(|key| object.get(*key).is_some_and(says_something)));
    if !says_so {
        return None;
    }
    let mut error = read(dialect, None, &[], body)?;
    error.retry_after_ms = retry::after_ms(&[], &error);
    Some(error)
}

/// Writes a failure for a client: status, headers and body as OpenAI would send them.
pub(crate) fn encode_error(error: &Error) -> WireError {
    let mut headers = Vec::new();
    if let Some(id) = &error.request_id {
        headers.push(("x-request-id".to_owned(), id.clone()));
    }
    if let Some(wait) = error.retry_after_ms {
        headers.push(("retry-after".to_owned(), wait.div_ceil(1000).to_string()));
        headers.push(("retry-after-ms".to_owned(), wait.to_string()));
    }
    // The official clients retry every 429 unless told not to.
    if error.retryable.is_some() || error.kind == ErrorKind::Quota {
        headers.push(("x-should-retry".to_owned(), error.is_retryable().to_string()));
    }
    WireError { status: status(error), headers, body: json!({"error": object(error)}).to_string().into_bytes() }
}

/// Writes the error object alone, as in bodies and streams.
pub(crate) fn object(error: &Error) -> Value {
    let (kind, code) = words(error.kind);
    // This family's codes mean something to its clients, and so do ours; those of other APIs do not.
    let own = [Dialect::OpenaiChat, Dialect::OpenaiResponses]
        .iter()
        .find_map(|dialect| error.provider_data.part(*dialect, Part::Answer).get("error"));
    let error_type = error.error_type.as_deref().filter(|_| own.is_some()).unwrap_or(kind);
    let known = own.is_some() || error.provider_data.is_empty();
    let own_code = error.code.as_deref().filter(|code| known && !code.is_empty() && !is_number(code));
    let mut object = Map::from_iter([
        ("message".to_owned(), error.message.as_str().into()),
        ("type".to_owned(), error_type.into()),
        ("param".to_owned(), error.param.as_deref().into()),
        ("code".to_owned(), own_code.or(code).into()),
    ]);
    for (name, value) in own.and_then(|own| own.to::<Map<String, Value>>().ok()).unwrap_or_default() {
        object.entry(name).or_insert(value);
    }
    Value::Object(object)
}

fn status(error: &Error) -> u16 {
    match error.kind {
        ErrorKind::Auth => 401,
        ErrorKind::Permission | ErrorKind::Vetoed => 403,
        ErrorKind::RequestTooLarge => 413,
        ErrorKind::InvalidRequest => error.status.filter(|status| *status == 422).unwrap_or(400),
        ErrorKind::ContextTooLong | ErrorKind::ContentFiltered => 400,
        ErrorKind::NotFound => 404,
        ErrorKind::RateLimit | ErrorKind::Quota => 429,
        ErrorKind::Overloaded => 503,
        ErrorKind::Server | ErrorKind::StepLimit => 500,
        ErrorKind::Timeout => 504,
        ErrorKind::Network | ErrorKind::Protocol => 502,
        ErrorKind::Cancelled => 499,
    }
}

/// Returns OpenAI's type and code for each kind.
fn words(kind: ErrorKind) -> (&'static str, Option<&'static str>) {
    match kind {
        ErrorKind::Auth => ("invalid_request_error", Some("invalid_api_key")),
        ErrorKind::Permission | ErrorKind::InvalidRequest | ErrorKind::Vetoed => ("invalid_request_error", None),
        ErrorKind::RequestTooLarge => ("invalid_request_error", Some("request_too_large")),
        ErrorKind::NotFound => ("invalid_request_error", Some("model_not_found")),
        ErrorKind::RateLimit => ("rate_limit_error", Some("rate_limit_exceeded")),
        ErrorKind::Quota => ("insufficient_quota", Some("insufficient_quota")),
        ErrorKind::ContextTooLong => ("invalid_request_error", Some("context_length_exceeded")),
        ErrorKind::ContentFiltered => ("invalid_request_error", Some("content_filter")),
        ErrorKind::Overloaded => ("service_unavailable_error", Some("server_is_overloaded")),
        ErrorKind::Server | ErrorKind::StepLimit => ("server_error", None),
        ErrorKind::Timeout => ("server_error", Some("timeout")),
        ErrorKind::Network | ErrorKind::Protocol => ("server_error", Some("upstream_error")),
        ErrorKind::Cancelled => ("server_error", Some("cancelled")),
    }
}

/// The content of an error object, wherever it was found.
#[derive(Debug, Clone, Default)]
struct Said {
    message: Option<String>,
    code: Option<String>,
    error_type: Option<String>,
    param: Option<String>,
    /// The status in the body itself.
    status: Option<u16>,
    request_id: Option<String>,
    /// Whether a moderation gave reasons.
    moderated: bool,
    /// The failure that this one merely forwards.
    cause: Option<Box<Said>>,
}

impl Said {
    /// Converts it to an error, given the status and headers that it came with.
    fn into_error(mut self, status: Option<u16>, headers: &[(String, String)]) -> Error {
        // Amazon puts the type in a header, followed by a URL.
        let named = || header(headers, "x-amzn-errortype")?.split(':').next().map(str::to_owned);
        self.error_type = self.error_type.take().or_else(named);
        let cause = self.cause.take().map(|cause| *cause);
        let mut verdict = self.verdict(status);
        if let Some(cause) = &cause {
            // The inner error has the reason, unless it is too general to add anything to the outer one.
            let inner = cause.verdict(self.status.or(status));
            if inner.certain || !verdict.certain {
                verdict = inner;
            }
        }
        let cause = cause.filter(|cause| cause.message.as_ref().is_some_and(|text| !text.is_empty()));
        let message = match (self.message.filter(|text| !text.is_empty()), cause) {
            (Some(outer), Some(cause)) if is_generic(&outer) => {
                self.code = cause.code.or(self.code);
                self.error_type = self.error_type.or(cause.error_type);
                self.param = self.param.or(cause.param);
                cause.message
            }
            (None, Some(cause)) => cause.message,
            (outer, _) => outer,
        };
        let message = message.unwrap_or_else(|| silent(status.or(self.status)));
        let mut error = Error::new(verdict.kind, excerpt(&message, LIMIT));
        error.retryable = verdict.retryable;
        error.code = self.code;
        error.error_type = self.error_type;
        error.param = self.param;
        error.request_id = self.request_id;
        error
    }

    fn verdict(&self, status: Option<u16>) -> Verdict {
        classify::classify(&Clues {
            code: self.code.as_deref(),
            error_type: self.error_type.as_deref(),
            message: self.message.as_deref().unwrap_or_default(),
            status: self.status.or(status.filter(|status| *status >= 400)),
            moderated: self.moderated,
        })
    }
}

fn read(dialect: Dialect, status: Option<u16>, headers: &[(String, String)], body: &Value) -> Option<Error> {
    let (said, raw) = parse(body)?;
    let mut error = said.into_error(status, headers);
    let small = serde_json::to_string(raw).is_ok_and(|text| text.len() <= LIMIT);
    error.provider_data.set_part(dialect, Part::Answer, "error", if small { raw.clone() } else { json!({}) });
    Some(error)
}

/// Makes an error of a body that is not an error object: a proxy's page, plain text, nothing.
fn plain(dialect: Dialect, status: Option<u16>, headers: &[(String, String)], body: &str) -> Error {
    let text = excerpt(body.trim(), LIMIT / 2);
    let message = title(text).unwrap_or_else(|| text.to_owned());
    let mut error = Said { message: Some(message), ..Said::default() }.into_error(status, headers);
    if !text.is_empty() && text != error.message {
        error.provider_data.set_part(dialect, Part::Answer, "body", text);
    }
    error
}

fn silent(status: Option<u16>) -> String {
    match status {
        Some(status) => format!("the provider answered with status {status} and gave no reason"),
        None => "the provider failed and gave no reason".to_owned(),
    }
}

/// Finds the error object in a body, and returns its content with it.
fn parse(body: &Value) -> Option<(Said, &Value)> {
    match body {
        // Google's compatible endpoint wraps it in a list.
        Value::Array(items) => parse(items.first()?),
        Value::Object(outer) => {
            let mut said = match outer.get("error") {
                Some(Value::Object(inner)) => fields(inner),
                Some(Value::String(text)) => Said { message: Some(text.clone()), ..fields(outer) },
                _ => match outer.get("errors").and_then(Value::as_array).and_then(|errors| errors.first()) {
                    Some(Value::Object(first)) => fields(first),
                    Some(first) => Said { message: words_of(first), ..fields(outer) },
                    None => base_response(outer).unwrap_or_else(|| fields(outer)),
                },
            };
            said.request_id = said.request_id.or_else(|| word(outer.get("request_id")));
            let raw = outer.get("error").filter(|error| error.is_object()).unwrap_or(body);
            let says = said.message.is_some() || said.code.is_some() || said.error_type.is_some();
            (says || outer.get("error").is_some_and(says_something)).then_some((said, raw))
        }
        _ => None,
    }
}

/// Reads a failure that MiniMax reports with status 200, in a field of its own and with its own codes.
fn base_response(object: &Map<String, Value>) -> Option<Said> {
    let said = object.get("base_resp")?;
    let number = said.get("status_code")?.as_u64().filter(|number| *number != 0)?;
    let (status, code) = match number {
        1001 => (504, None),
        1002 | 1039 | 1041 => (429, None),
        1004 | 2049 => (401, None),
        1008 | 2056 => (402, None),
        1026 | 1027 => (400, Some("content_filter")),
        2013 => (400, None),
        _ => (500, None),
    };
    let code = code.map_or_else(|| number.to_string(), str::to_owned);
    let message = word(said.get("status_msg"));
    Some(Said { message, code: Some(code), status: Some(status), ..Said::default() })
}

/// Reads the fields of an error object, under any of their names.
fn fields(object: &Map<String, Value>) -> Said {
    let first = |keys: &[&str]| keys.iter().find_map(|key| object.get(*key).and_then(words_of));
    let code = word(object.get("code"));
    let inner_code = object.get("innererror").and_then(|inner| word(inner.get("code")));
    let number = ["status_code", "statusCode", "status", "code"].iter().find_map(|key| as_status(object.get(*key)?));
    let metadata = object.get("metadata");
    let cause = metadata
        .and_then(|metadata| metadata.get("raw"))
        .and_then(|raw| match raw {
            Value::String(text) => match json_in(text) {
                Some(value) => parse(&value).map(|(said, _)| said),
                None => Some(Said { message: Some(text.clone()), ..Said::default() }),
            },
            other => parse(other).map(|(said, _)| said),
        })
        .filter(|cause| cause.message.is_some() || cause.code.is_some());
    Said {
        message: first(&["message", "detail", "msg", "Message", "error_description", "error"]),
        // Azure's inner code names the policy.
        code: code.or(inner_code),
        error_type: word(object.get("type")).or_else(|| word(object.get("status")).filter(|text| !is_number(text))),
        param: word(object.get("param")),
        status: number,
        request_id: word(object.get("request_id")),
        moderated: metadata.and_then(|metadata| metadata.get("reasons")).is_some_and(says_something)
            || object.get("innererror").is_some_and(|inner| inner.get("content_filter_result").is_some()),
        cause: cause.map(Box::new),
    }
}

/// Reads a message in any form: a string, an object that has one, a list of complaints about fields.
fn words_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let lines: Vec<String> = items.iter().take(8).filter_map(words_of).collect();
            (!lines.is_empty()).then(|| lines.join("; "))
        }
        Value::Object(object) => {
            let text = ["msg", "message", "detail", "error"].iter().find_map(|key| words_of(object.get(*key)?))?;
            let place: Vec<String> = object
                .get("loc")
                .and_then(Value::as_array)
                .map(|parts| parts.iter().filter_map(|part| word(Some(part))).collect())
                .unwrap_or_default();
            Some(if place.is_empty() { text } else { format!("{}: {text}", place.join(".")) })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Reads a keyword: a non-empty string, or a number.
fn word(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn as_status(value: &Value) -> Option<u16> {
    let number = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// Whether a relay's message says only that the provider failed.
fn is_generic(message: &str) -> bool {
    message.eq_ignore_ascii_case("provider returned error")
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Reads the JSON in a body: the body itself, or the first event's data if a stream was requested and failed.
fn json_in(body: &str) -> Option<Value> {
    let body = body.trim_start_matches('\u{feff}').trim();
    if body.starts_with(['{', '[']) {
        return read_str(body).ok();
    }
    body.lines().find_map(|line| read_str(line.strip_prefix("data:")?.trim()).ok())
}

/// Returns the title of an HTML page, which says as much as the page.
fn title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let start = lower.find("<title>")?.checked_add("<title>".len())?;
    let end = lower.get(start..)?.find("</title>")?.checked_add(start)?;
    let title = text.get(start..end)?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

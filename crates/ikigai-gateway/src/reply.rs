//! Outgoing answers.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{Either, Full};
use ikigai::{Dialect, ErrorKind};
use ikigai_core::{Error, Loss, Severity};

use crate::live::Live;
use crate::log::{Entry, Outcome, listed};

/// The body of an answer.
pub(crate) type Out = Either<Full<Bytes>, Live>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The header in which clients and proxies expect a request's id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OWN_ID: HeaderName = HeaderName::from_static("x-ikigai-request-id");
/// The header that tells the official clients whether to send a request again.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
const LOSSES: HeaderName = HeaderName::from_static("x-ikigai-losses");
const MODEL: HeaderName = HeaderName::from_static("x-ikigai-model");

/// A whole answer in JSON.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Out> {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Whether a header is about the provider's own site. Clients and browsers would take it to be about ours.
fn is_of_a_site(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(
        name,
        "alt-svc" | "clear-site-data" | "nel" | "report-to" | "reporting-endpoints" | "strict-transport-security"
    ) || name.starts_with("access-control-")
        || name.starts_with("x-ikigai-")
}

/// The headers of a provider's answer that a client gets.
pub(crate) fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    let names: Vec<HeaderName> = headers.keys().filter(|name| is_of_a_site(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
    headers
}

/// A whole answer with these headers.
pub(crate) fn whole(status: StatusCode, mut headers: HeaderMap, body: Bytes) -> Response<Out> {
    // It follows from the body, which may have changed.
    headers.remove(CONTENT_LENGTH);
    headers.entry(CONTENT_TYPE).or_insert(JSON);
    let mut response = Response::new(Either::Left(Full::new(body)));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

/// An answer that is still being written.
pub(crate) fn live(status: StatusCode, mut headers: HeaderMap, body: Live) -> Response<Out> {
    headers.remove(CONTENT_LENGTH);
    // Proxies must not buffer the stream.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    headers.entry(http::header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    let mut response = Response::new(Either::Right(body));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

/// A refusal in a dialect's own form.
pub(crate) fn refuse(dialect: Dialect, error: &Error, status: Option<u16>) -> Response<Out> {
    let wire = dialect.encode_error(error);
    let status = StatusCode::from_u16(status.unwrap_or(wire.status)).unwrap_or(StatusCode::BAD_GATEWAY);
    whole(status, header_map(&wire.headers), wire.body.into())
}

/// Converts the headers that a dialect wants from strings.
pub(crate) fn header_map(pairs: &[(String, String)]) -> HeaderMap {
    let header =
        |(name, value): &(String, String)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?));
    pairs.iter().filter_map(header).collect()
}

/// Adds what a dialect tells its clients about sending a request again after this error.
pub(crate) fn tell_retry(headers: &mut HeaderMap, dialect: Dialect, error: &Error) {
    let told = header_map(&dialect.encode_error(error).headers);
    if let Some(told) = told.get(SHOULD_RETRY) {
        headers.insert(SHOULD_RETRY, told.clone());
    }
}

/// Records in the log entry that a request was refused.
pub(crate) fn note_refusal(entry: &mut Entry, error: &Error) {
    entry.outcome = Outcome::Refused;
    entry.error = Some(format!("{}: {}", error.kind, error.message));
}

/// Completes the log entry of a whole answer.
pub(crate) fn finish(mut response: Response<Out>, mut entry: Entry) -> Response<Out> {
    entry.status = response.status().as_u16();
    if let Some(length) = http_body::Body::size_hint(response.body()).exact() {
        entry.sent(usize::try_from(length).unwrap_or(usize::MAX));
    }
    sign(response.headers_mut(), &entry);
    response
}

/// Adds the headers that every answer has.
pub(crate) fn sign(headers: &mut HeaderMap, entry: &Entry) {
    if let Ok(id) = HeaderValue::try_from(entry.id.as_str()) {
        // A provider's own id stays: it is more useful to the client's support.
        headers.entry(REQUEST_ID).or_insert_with(|| id.clone());
        headers.insert(OWN_ID, id);
    }
    if let Some(target) = entry.target.as_deref().and_then(|target| HeaderValue::try_from(target).ok()) {
        headers.insert(MODEL, target);
    }
}

/// Adds the losses that matter to the headers. The others are only in the log.
pub(crate) fn tell_losses(headers: &mut HeaderMap, losses: &[Loss]) {
    let losses: Vec<Loss> = losses.iter().filter(|loss| loss.severity == Severity::Loss).cloned().collect();
    if losses.is_empty() {
        return;
    }
    let line: String =
        listed(&losses).chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    if let Ok(line) = HeaderValue::try_from(line) {
        headers.insert(LOSSES, line);
    }
}

/// An error about one field of a request.
pub(crate) fn wrong_field(field: &str, message: impl Into<String>) -> Error {
    let mut error = Error::new(ErrorKind::InvalidRequest, message);
    error.param = Some(field.to_owned());
    error
}

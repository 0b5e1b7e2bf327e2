//! Answers: the head, and the body as it arrives.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode, header};

use super::rate_limits::RateLimits;
use crate::error::{Attempt, Error};
use crate::redact::{Redactor, Secrets};
use crate::transport::Body;

/// How the answer should be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wanted {
    /// Complete. The provider writes all of it before it sends the head, which may take up to
    /// [`head`](crate::transport::Timeouts::head).
    Whole,
    /// As it is being written, uncompressed. Its first bytes may take up to
    /// [`first_event`](crate::transport::Timeouts::first_event).
    Stream,
}

/// A successful answer: its head, and its body as it arrives.
///
/// Dropping it ends the request and frees its connection.
#[non_exhaustive]
pub struct Exchange {
    /// The status, from 200 to 299.
    pub status: StatusCode,
    /// The headers that describe the answer and not its connection: rate limits, ids, the type. Cookies are left out.
    pub headers: HeaderMap,
    /// The provider's id of the request, to quote to its support.
    pub request_id: Option<String>,
    /// What the provider reported about its rate limits.
    pub limits: RateLimits,
    /// The body, without compression or framing. Nothing is read ahead; silence and length are limited.
    pub body: Body,
    /// The failed attempts before this answer.
    pub attempts: Vec<Attempt>,
    pub(super) secrets: Secrets,
    /// When the request was sent.
    pub(super) sent: Duration,
    /// How many bytes the body may have.
    pub(super) longest: usize,
}

impl Exchange {
    /// Reads the whole body.
    ///
    /// # Errors
    /// Returns an error if the connection breaks or is silent for too long, or if the body is too long.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        Ok(self.body.read(self.longest).await?)
    }

    /// Returns what removes the request's keys from anything in the answer that others will see.
    pub fn redactor(&self) -> Redactor {
        Redactor(self.secrets.clone())
    }

    /// Splits off the parts of the head that are needed while the body is read.
    pub(crate) fn into_parts(self) -> (Head, Body) {
        let Exchange { request_id, limits, secrets, sent, longest, body, headers, .. } = self;
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        (Head { request_id, media_type, limits, secrets, sent, longest }, body)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// The parts of an answer's head that are needed while its body is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) request_id: Option<String>,
    /// The body's type, as reported by the provider.
    pub(crate) media_type: Option<String>,
    pub(crate) limits: RateLimits,
    pub(crate) secrets: Secrets,
    /// When the request was sent.
    pub(crate) sent: Duration,
    /// How many bytes the body may have.
    pub(crate) longest: usize,
}

impl Head {
    /// Adds the head's information to a failure within a successful answer, and removes secrets.
    pub(crate) fn failure(&self, mut error: ikigai_core::Error) -> Error {
        error.request_id = error.request_id.or_else(|| self.request_id.clone());
        self.secrets.redact_error(Error::new(error).limited(self.limits.clone()))
    }
}

/// Returns the provider's id of the request, under any of the names that providers use.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    const NAMES: [&str; 6] = [
        "request-id",
        "x-request-id",
        "apim-request-id",
        "x-amzn-requestid",
        "x-goog-request-id",
        "mistral-correlation-id",
    ];
    let value = NAMES.iter().find_map(|name| headers.get(*name))?;
    value.to_str().ok().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Removes the headers that concern only one connection.
pub(super) fn end_to_end(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    take_off(headers, |name| is_hop_by_hop(name) || named.contains(name));
}

/// Removes certain headers. There are few in all, so checking each is cheaper than looking up every name.
pub(super) fn take_off(headers: &mut HeaderMap, is_unwanted: impl Fn(&HeaderName) -> bool) {
    let unwanted: Vec<HeaderName> = headers.keys().filter(|name| is_unwanted(name)).cloned().collect();
    for name in unwanted {
        headers.remove(name);
    }
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

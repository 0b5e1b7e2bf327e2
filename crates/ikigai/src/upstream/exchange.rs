//! What comes back: the head of an answer, and its body as it arrives.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode, header};

use super::rate_limits::RateLimits;
use crate::error::{Attempt, Error};
use crate::redact::Secrets;
use crate::transport::Body;

/// How the answer should be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wanted {
    /// In one piece. The provider writes all of it before it sends the head, which may take up to
    /// [`head`](crate::transport::Timeouts::head).
    Whole,
    /// As it is written, uncompressed. Its first bytes may take up to
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
    /// The headers that concern the answer and not its connection: rate limits, ids, the type. Cookies are left out.
    pub headers: HeaderMap,
    /// The provider's id of the request, for its support.
    pub request_id: Option<String>,
    /// What the provider said about its rate limits.
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
    /// Returns an error if the connection breaks or is silent for too long, or the body is too long.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        Ok(self.body.read(self.longest).await?)
    }

    /// What is worth keeping of the head while the body is read.
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

/// What is worth keeping of an answer's head.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) request_id: Option<String>,
    /// What the body is, by the provider's word.
    pub(crate) media_type: Option<String>,
    pub(crate) limits: RateLimits,
    pub(crate) secrets: Secrets,
    /// When the request was sent.
    pub(crate) sent: Duration,
    /// How many bytes the body may have.
    pub(crate) longest: usize,
}

impl Head {
    /// A failure that came in a good answer, with what its head says and without secrets.
    pub(crate) fn failure(&self, mut error: ikigai_core::Error) -> Error {
        error.request_id = error.request_id.or_else(|| self.request_id.clone());
        self.secrets.redact_error(Error::new(error).limited(self.limits.clone()))
    }
}

/// The provider's id of the request, under the names that providers use.
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

/// Takes off what concerns one connection and nobody behind it.
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

/// Takes off the headers with certain names. Few are there, so looking at those is less than looking for each name.
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

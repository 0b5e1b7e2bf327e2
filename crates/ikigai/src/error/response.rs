//! A failed response, as the provider sent it.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// A provider's unchanged response with a status of 400 or more, which a server can pass on to a client of the same
/// dialect.
///
/// It contains no key: if the provider repeats one, it is replaced by `[key]`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers that describe the response and not its connection, without its length.
    pub headers: HeaderMap,
    /// The body, at most 64 KiB of it.
    pub body: Bytes,
}

impl fmt::Debug for FailedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailedResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

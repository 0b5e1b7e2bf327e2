//! A failed answer, as the provider sent it.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// A provider's answer with a status of 400 or more, as it came: a server can pass it on to a client of the same dialect.
///
/// No key is in it: one that the provider repeats is replaced by `[key]`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers that concern the answer and not its connection. The length is not among them.
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

//! How requests reach a provider: the trait [`Transport`], and an implementation over HTTP.

#[cfg(feature = "http")]
mod connect;
#[cfg(feature = "bedrock")]
pub(crate) mod eventstream;
mod gzip;
#[cfg(feature = "http")]
mod http_client;
mod timeouts;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};

pub use gzip::unpack;
#[cfg(feature = "http")]
pub use http_client::{Http, HttpBuilder};
#[cfg(feature = "mcp")]
pub(crate) use http_client::{Proxy, Version};
pub use timeouts::Timeouts;
pub(crate) use timeouts::{Patience, guarded, too_late, within};

/// A pending answer, as a [`Transport`] returns it.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<http::Response<Body>, TransportError>> + Send + 'a>>;

/// Sends requests and returns answers.
///
/// The client has one for HTTP. Write your own to record, redirect or simulate requests:
///
/// ```
/// use bytes::Bytes;
/// use ikigai::transport::{Body, Sending, Transport};
///
/// #[derive(Debug)]
/// struct AlwaysBusy;
///
/// impl Transport for AlwaysBusy {
///     fn send(&self, _: http::Request<Bytes>) -> Sending<'_> {
///         let mut response = http::Response::new(Body::whole("busy"));
///         *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
///         Box::pin(std::future::ready(Ok(response)))
///     }
/// }
/// ```
pub trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Sends one request, once. It returns as soon as the head of the answer has arrived; the body follows.
    ///
    /// Dropping the future or the body ends the request and frees its connection.
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_>;
}

/// The body of an answer, as its bytes arrive. Nothing is read ahead.
///
/// It implements the `Body` trait of the crate `http-body`, so hyper and axum can return it.
pub struct Body {
    /// Bytes that have been read ahead.
    first: Option<Result<Bytes, TransportError>>,
    source: Box<Source>,
}

type Source = dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> + Send;

impl Body {
    /// Makes a body from bytes that are already complete.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        let mut bytes = Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty());
        Body::poll_fn(move |_| Poll::Ready(bytes.take().map(Ok)))
    }

    /// Makes a body from a function that returns the next bytes, as [`std::future::poll_fn`] does for a value. Any
    /// stream can be one: `Body::poll_fn(move |cx| stream.as_mut().poll_next(cx))`.
    pub fn poll_fn(
        source: impl FnMut(&mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> + Send + 'static,
    ) -> Self {
        Body { first: None, source: Box::new(source) }
    }

    /// Polls for the next bytes.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => (self.source)(cx),
        }
    }

    /// Returns the next bytes; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Reads all of it, up to a limit.
    ///
    /// # Errors
    /// Returns an error if the connection breaks, or if the body exceeds the limit.
    pub async fn read(mut self, limit: usize) -> Result<Bytes, TransportError> {
        let Some(first) = self.next().await.transpose()? else { return Ok(Bytes::new()) };
        let mut all: Vec<u8> = Vec::new();
        let mut length = first.len();
        while length <= limit {
            let Some(chunk) = self.next().await.transpose()? else {
                // A single chunk is the usual case, and needs no copy.
                return Ok(if all.is_empty() { first } else { all.into() });
            };
            length += chunk.len();
            if length > limit {
                break;
            }
            if length > all.capacity() {
                // Doubles the capacity each time, but not beyond the limit.
                let room = length.saturating_mul(2).clamp(4096, limit.max(4096));
                all.reserve_exact(room - all.len());
            }
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&chunk);
        }
        Err(too_large(limit))
    }

    /// Returns the beginning of the body for an error, up to a limit and as far as it arrives in time. A failure ends
    /// it.
    pub(crate) async fn beginning(mut self, limit: usize, time: impl Future<Output = ()>) -> Beginning {
        let mut all = BytesMut::new();
        let mut time = std::pin::pin!(time);
        loop {
            let next = std::future::poll_fn(|cx| match self.poll_next(cx) {
                Poll::Pending => time.as_mut().poll(cx).map(|()| None),
                ready => ready,
            });
            match next.await {
                Some(Ok(chunk)) if all.len() + chunk.len() > limit => {
                    all.extend_from_slice(chunk.get(..limit - all.len()).unwrap_or_default());
                    return Beginning { bytes: all.freeze(), extent: Extent::Cut };
                }
                Some(Ok(chunk)) => all.extend_from_slice(&chunk),
                Some(Err(_)) | None => return Beginning { bytes: all.freeze(), extent: Extent::Whole },
            }
        }
    }

    /// Waits for the first bytes or the end. The bytes can still be read afterwards.
    pub(crate) async fn begin(&mut self) -> Result<(), TransportError> {
        if self.first.is_none() {
            self.first = self.next().await.transpose()?.map(Ok);
        }
        Ok(())
    }

    /// Limits the length of the whole body, and changes its errors.
    pub(crate) fn bounded(
        mut self,
        limit: usize,
        change: impl Fn(TransportError) -> TransportError + Send + 'static,
    ) -> Self {
        let mut left = Some(limit);
        Body::poll_fn(move |cx| {
            let Some(rest) = left else { return Poll::Ready(None) };
            self.poll_next(cx).map(|next| match next {
                // Empty pieces count as well, because there might be no end of them.
                Some(Ok(bytes)) if bytes.len().max(1) > rest => {
                    left = None;
                    // The connection is dropped along with the body.
                    self = Body::whole("");
                    Some(Err(too_large(limit)))
                }
                Some(Ok(bytes)) => {
                    left = Some(rest - bytes.len().max(1));
                    Some(Ok(bytes))
                }
                Some(Err(error)) => Some(Err(change(error))),
                None => None,
            })
        })
    }
}

/// The beginning of a body.
pub(crate) struct Beginning {
    pub(crate) bytes: Bytes,
    pub(crate) extent: Extent,
}

/// Whether a body was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything that arrived.
    Whole,
    /// The body exceeded the limit.
    Cut,
}

fn too_large(limit: usize) -> TransportError {
    TransportError::new(Failure::TooLarge, format!("the answer is longer than {limit} bytes"))
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, TransportError>>> {
        self.get_mut().poll_next(cx).map(|next| next.map(|bytes| bytes.map(http_body::Frame::data)))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}

/// How a request failed in transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// No connection was made: unknown host, refused, no TLS. Nothing was sent.
    Connect,
    /// A time limit was exceeded.
    Timeout,
    /// The server refused the request without reading it, so a retry costs nothing.
    Refused,
    /// The connection broke.
    Broken,
    /// The body exceeded the limit.
    TooLarge,
    /// The request could not be built.
    Request,
}

/// A request that failed in transport. It never contains a key or the query of the URL.
#[derive(Debug, Clone)]
pub struct TransportError {
    failure: Failure,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl TransportError {
    /// Creates an error.
    pub fn new(failure: Failure, message: impl Into<String>) -> Self {
        TransportError { failure, message: message.into(), source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Returns how it failed.
    pub fn failure(&self) -> Failure {
        self.failure
    }

    /// Changes the message. A cause that would have to be changed as well is removed.
    pub(crate) fn redact(&mut self, redact: impl Fn(&str) -> String) {
        self.message = redact(&self.message);
        let mut cause = self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static));
        while let Some(error) = cause {
            let shown = format!("{error} {error:?}");
            if redact(&shown) != shown {
                self.source = None;
                return;
            }
            cause = error.source();
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
#[cfg(feature = "http")]
#[path = "transport_tests.rs"]
mod tests;

#[cfg(test)]
#[cfg(feature = "http")]
mod http2_tests;

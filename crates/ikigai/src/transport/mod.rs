//! How requests reach a provider: one trait, and an implementation of it on HTTP.

#[cfg(feature = "rustls")]
mod http_client;
mod timeouts;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};

#[cfg(feature = "rustls")]
pub use http_client::{Http, HttpBuilder};
pub use timeouts::Timeouts;
pub(crate) use timeouts::{idle_guard, within};

/// An answer on its way, as a [`Transport`] gives it.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<http::Response<Body>, TransportError>> + Send + 'a>>;

/// Sends requests and brings back answers.
///
/// The client has one for HTTP. Another one may record, route or simulate:
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
    /// Sends one request, once. The answer is there as soon as its head is; its body follows.
    ///
    /// Dropping the future or the body ends the request and frees its connection.
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_>;
}

/// The body of an answer, as its bytes arrive. Nothing is read ahead of what is asked for.
pub struct Body {
    source: Box<Source>,
}

type Source = dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> + Send;

impl Body {
    /// A body that is whole already.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        let mut bytes = Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty());
        Body::poll_fn(move |_| Poll::Ready(bytes.take().map(Ok)))
    }

    /// A body from a function that is asked for the next bytes, as [`std::future::poll_fn`] is for a value. Any stream
    /// makes one: `Body::poll_fn(move |cx| stream.as_mut().poll_next(cx))`.
    pub fn poll_fn(
        source: impl FnMut(&mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> + Send + 'static,
    ) -> Self {
        Body { source: Box::new(source) }
    }

    /// The next bytes, when they are there.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> {
        (self.source)(cx)
    }

    /// The next bytes; none at the end.
    pub async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// All of it, up to a limit.
    ///
    /// # Errors
    /// When the connection breaks, or there is more than the limit.
    pub async fn read(mut self, limit: usize) -> Result<Bytes, TransportError> {
        let mut all = BytesMut::new();
        let mut first: Option<Bytes> = None;
        while let Some(chunk) = self.next().await {
            let chunk = chunk?;
            if all.len() + first.as_ref().map_or(0, Bytes::len) + chunk.len() > limit {
                return Err(TransportError::new(Failure::TooLarge, format!("the answer is longer than {limit} bytes")));
            }
            // One chunk is the usual case, and needs no copy.
            match first.take() {
                None if all.is_empty() => first = Some(chunk),
                before => {
                    all.extend_from_slice(&before.unwrap_or_default());
                    all.extend_from_slice(&chunk);
                }
            }
        }
        Ok(first.unwrap_or_else(|| all.freeze()))
    }

    /// The beginning of it, up to a limit, as far as it comes: for the excerpt of an error. What breaks is left out.
    pub(crate) async fn beginning(mut self, limit: usize) -> Bytes {
        let mut all = BytesMut::new();
        while let Some(Ok(chunk)) = self.next().await {
            all.extend_from_slice(&chunk);
            if all.len() >= limit {
                all.truncate(limit);
                break;
            }
        }
        all.freeze()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}

/// How a request failed on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// No connection: unknown host, refused, no TLS. Nothing was sent.
    Connect,
    /// It took too long.
    Timeout,
    /// The connection broke.
    Broken,
    /// There was more than the limit.
    TooLarge,
    /// The request could not even be made.
    Request,
}

/// A request that failed on its way. It never holds the address's query nor a key.
#[derive(Debug, Clone)]
pub struct TransportError {
    failure: Failure,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl TransportError {
    /// A failure in words.
    pub fn new(failure: Failure, message: impl Into<String>) -> Self {
        TransportError { failure, message: message.into(), source: None }
    }

    /// A failure with its cause.
    #[must_use]
    pub fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// How it failed.
    pub fn failure(&self) -> Failure {
        self.failure
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
#[cfg(feature = "rustls")]
#[path = "transport_tests.rs"]
mod tests;

//! HTTP/1.1 and HTTP/2 over rustls, with pooled connections.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::runtime::{self, Handle};

use super::connect::{Connector, Proxies, Tls};
use super::{Body, Failure, Sending, Transport, TransportError};

/// How many runtimes can have their own connections at once.
const MOST_RUNTIMES: usize = 64;
/// The maximum size of a response's head.
const LONGEST_HEAD: usize = 512 << 10;
/// How much of an HTTP/2 stream is sent before it is read.
const STREAM_WINDOW: u32 = 256 << 10;
/// How much of all streams of a connection is sent before it is read. Streams that are not read must not stop the others,
/// so it is many times as large. `h2` closes a connection if small frames that are not read count for more than half of it.
const CONNECTION_WINDOW: u32 = 64 << 20;
/// The user agent sent with every request that has none.
const OWN_NAME: HeaderValue = HeaderValue::from_static(concat!("ikigai/", env!("CARGO_PKG_VERSION")));

/// HTTP/1.1 and HTTP/2 over rustls: pooled connections, proxies from the environment.
///
/// Cheap to clone; clones share their connections. Each Tokio runtime has its own connections, because a connection
/// lives in the runtime that opened it. Redirects are not followed, because a key must not reach another host.
#[derive(Debug, Clone)]
pub struct Http {
    shared: Arc<Shared>,
}

type Client = legacy::Client<Connector, Full<Bytes>>;

#[derive(Debug)]
struct Shared {
    connector: Connector,
    version: Version,
    /// The clients of the runtimes, the newest last.
    clients: Mutex<VecDeque<(runtime::Id, Client)>>,
}

/// Configures an [`Http`].
#[derive(Debug, Clone)]
pub struct HttpBuilder {
    pub(crate) connect: Duration,
    pub(crate) proxy: Proxy,
    pub(crate) certificates: Vec<Vec<u8>>,
    pub(crate) bundled: bool,
    pub(crate) version: Version,
}

#[derive(Clone)]
pub(crate) enum Proxy {
    Environment,
    Never,
    At(String),
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proxy::Environment => f.write_str("Environment"),
            Proxy::Never => f.write_str("Never"),
            // The URL may contain a password.
            Proxy::At(url) => f.debug_tuple("At").field(&crate::upstream::shown_url(url)).finish(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Negotiated,
    Http1,
    Http2,
}

impl Http {
    /// Creates a transport with the default settings: proxies from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY`, the system's certificates and 10 seconds to connect.
    ///
    /// The system's certificates are read when the first connection needs them.
    ///
    /// # Errors
    /// Same as [`HttpBuilder::build`].
    pub fn new() -> Result<Self, TransportError> {
        Http::builder().build()
    }

    /// Returns a builder, to configure a transport.
    pub fn builder() -> HttpBuilder {
        HttpBuilder {
            connect: Duration::from_secs(10),
            proxy: Proxy::Environment,
            certificates: Vec::new(),
            bundled: false,
            version: Version::Negotiated,
        }
    }
}

impl HttpBuilder {
    /// Limits how long connecting may take, including TLS. The default is 10 seconds.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sends every request through this proxy, whatever the environment says. The URL starts with `http://`, `https://`
    /// or `socks5://`, and may contain a user name and password.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Proxy::At(url.into());
        self
    }

    /// Uses no proxy, whatever the environment says.
    #[must_use]
    pub fn no_proxy(mut self) -> Self {
        self.proxy = Proxy::Never;
        self
    }

    /// Trusts the certificate authorities in a PEM file's content, in addition to the system's.
    #[must_use]
    pub fn certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates.push(pem.into());
        self
    }

    /// Trusts a built-in set of certificate authorities instead of the system's, for containers that have none.
    #[cfg(feature = "bundled-roots")]
    #[must_use]
    pub fn bundled_certificates(mut self) -> Self {
        self.bundled = true;
        self
    }

    /// Uses only HTTP/1.1. By default, a TLS server chooses the version, and a server without TLS gets 1.1.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.version = Version::Http1;
        self
    }

    /// Uses only HTTP/2, without negotiation, for servers without TLS that are known to support it.
    #[must_use]
    pub fn http2_only(mut self) -> Self {
        self.version = Version::Http2;
        self
    }

    /// Builds the transport.
    ///
    /// # Errors
    /// Returns an error if a certificate or the proxy's URL is invalid.
    pub fn build(self) -> Result<Http, TransportError> {
        let proxies = match &self.proxy {
            Proxy::Environment => Proxies::from_environment(),
            Proxy::Never => Proxies::none(),
            Proxy::At(url) => Proxies::at(url)?,
        };
        let tls = Tls::new(&self.certificates, self.bundled, self.version)?;
        let connector = Connector::new(tls, proxies, self.connect);
        Ok(Http { shared: Arc::new(Shared { connector, version: self.version, clients: Mutex::default() }) })
    }
}

impl Shared {
    /// Returns the client of the current runtime.
    fn client(&self) -> Result<Client, TransportError> {
        let runtime = Handle::try_current().map_err(|error| {
            let told = "there is no tokio runtime; requests need one with I/O and time";
            TransportError::new(Failure::Request, told).because(error)
        })?;
        let id = runtime.id();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(of, _)| *of == id) {
            return Ok(client.clone());
        }
        let client = self.new_client();
        // Programs that create a runtime for every call leave many clients behind.
        if clients.len() >= MOST_RUNTIMES {
            clients.pop_front();
        }
        clients.push_back((id, client.clone()));
        Ok(client)
    }

    fn new_client(&self) -> Client {
        legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(90))
            .http1_max_buf_size(LONGEST_HEAD)
            .http2_only(self.version == Version::Http2)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .http2_keep_alive_timeout(Duration::from_secs(20))
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .build(self.connector.clone())
    }
}

impl Transport for Http {
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_> {
        Box::pin(async move {
            let mut request = request.map(Full::new);
            let host = prepare(&mut request)?;
            if let Some(proxy) = self.shared.connector.proxies().password_for(request.uri()) {
                request.headers_mut().insert(PROXY_AUTHORIZATION, proxy);
            }
            let client = self.shared.client()?;
            let response = client.request(request).await.map_err(|error| not_sent(error, &host))?;
            Ok(response.map(|body| incoming(body, host)))
        })
    }
}

/// Moves a URL's user name and password to a header and adds a user agent. Returns the host, for messages.
fn prepare(request: &mut http::Request<Full<Bytes>>) -> Result<Box<str>, TransportError> {
    let unusable =
        || TransportError::new(Failure::Request, "the request cannot be sent: its address is not an HTTP URL");
    let uri = request.uri();
    let Some(authority) = uri.authority().filter(|_| matches!(uri.scheme_str(), Some("http" | "https"))) else {
        return Err(unusable());
    };
    let host: Box<str> = authority.host().into();
    if let Some((user, place)) = authority.as_str().rsplit_once('@') {
        let (user, place) = (user.to_owned(), place.to_owned());
        let mut parts = uri.clone().into_parts();
        parts.authority = Some(place.parse().map_err(|_| unusable())?);
        *request.uri_mut() = http::Uri::from_parts(parts).map_err(|_| unusable())?;
        if !request.headers().contains_key(AUTHORIZATION) {
            let mut basic =
                HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(user))).map_err(|_| unusable())?;
            basic.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, basic);
        }
    }
    request.headers_mut().entry(USER_AGENT).or_insert(OWN_NAME);
    Ok(host)
}

/// Returns the body of an answer, as its bytes arrive.
fn incoming(mut body: Incoming, host: Box<str>) -> Body {
    Body::poll_fn(move |cx| {
        loop {
            match std::task::ready!(std::pin::Pin::new(&mut body).poll_frame(cx)) {
                // Trailers contain nothing that is needed.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => return std::task::Poll::Ready(Some(Ok(bytes))),
                    Err(_) => continue,
                },
                Some(Err(error)) => return std::task::Poll::Ready(Some(Err(broken(error, &host)))),
                None => return std::task::Poll::Ready(None),
            }
        }
    })
}

/// Describes a request that got no answer, in our words, with the cause in the system's. Of the URL, only the host is
/// included.
fn not_sent(error: legacy::Error, host: &str) -> TransportError {
    if error.is_connect() {
        return failed(Failure::Connect, "cannot connect", error, host);
    }
    if is_refused(&error) {
        return failed(Failure::Refused, "the server refused the request unread", error, host);
    }
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<hyper::Error>());
    match source {
        Some(error) if error.is_timeout() => {}
        _ => return failed(Failure::Broken, "the connection broke", error, host),
    }
    failed(Failure::Timeout, "no answer arrived in time", error, host)
}

/// Whether the server says that it did not process the request. No other reason to reset an HTTP/2 stream says so.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return error.is_remote() && error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        }
        next = error.source();
    }
    false
}

fn broken(error: hyper::Error, host: &str) -> TransportError {
    match error.is_timeout() {
        true => failed(Failure::Timeout, "no answer arrived in time", error, host),
        false => failed(Failure::Broken, "the connection broke", error, host),
    }
}

fn failed(
    failure: Failure,
    what: &str,
    error: impl std::error::Error + Send + Sync + 'static,
    host: &str,
) -> TransportError {
    TransportError::new(failure, format!("{what} ({host}): {}", cause(&error))).because(error)
}

/// Returns the innermost cause: the layers above it only repeat that something failed.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

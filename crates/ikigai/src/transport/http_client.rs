//! HTTP/1.1 and HTTP/2 over rustls, with pooled connections.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream as _;
use tokio::runtime::{Handle, Id};

use super::{Body, Failure, Sending, Transport, TransportError};

/// HTTP/1.1 and HTTP/2 over rustls: pooled connections, proxies from the environment.
///
/// Cheap to clone; clones share their connections. Redirects are not followed: a key must not wander.
///
/// It may be used from several runtimes, as tests do. A connection lives and dies with the runtime that opened it, so each
/// runtime has connections of its own.
#[derive(Clone)]
pub struct Http {
    shared: Arc<Shared>,
}

struct Shared {
    builder: HttpBuilder,
    /// Made at once, so that what is wrong with the setup shows; for the first runtime.
    first: Mutex<Option<reqwest::Client>>,
    /// The newest one last.
    clients: Mutex<Vec<(Id, reqwest::Client)>>,
}

/// How many runtimes have their connections kept.
const RUNTIMES: usize = 16;

/// How an [`Http`] is set up.
#[derive(Debug, Clone)]
pub struct HttpBuilder {
    connect: Duration,
    proxy: Proxy,
    certificates: Vec<Vec<u8>>,
    bundled: bool,
    version: Version,
}

#[derive(Clone)]
enum Proxy {
    Environment,
    Never,
    At(String),
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proxy::Environment => f.write_str("Environment"),
            Proxy::Never => f.write_str("Never"),
            // A password may stand in the address.
            Proxy::At(url) => f.debug_tuple("At").field(&crate::upstream::shown_url(url)).finish(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Negotiated,
    Http1,
    Http2,
}

impl Http {
    /// The usual set-up: proxies from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, the system's certificates,
    /// 10 seconds to connect.
    ///
    /// # Errors
    /// When TLS cannot be set up, for want of certificates.
    pub fn new() -> Result<Self, TransportError> {
        Http::builder().build()
    }

    /// Configures a client.
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

impl Shared {
    /// The client of the runtime that this is called on.
    fn client(&self) -> Result<reqwest::Client, TransportError> {
        let Ok(runtime) = Handle::try_current() else {
            let told = "there is no tokio runtime; requests need one with I/O and time";
            return Err(TransportError::new(Failure::Request, told));
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(id, _)| *id == runtime.id()) {
            return Ok(client.clone());
        }
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let client = match first {
            Some(client) => client,
            None => self.builder.clone().client(reqwest::redirect::Policy::none())?,
        };
        if clients.len() == RUNTIMES {
            clients.remove(0);
        }
        clients.push((runtime.id(), client.clone()));
        Ok(client)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Http").field(&self.shared.builder).finish()
    }
}

impl HttpBuilder {
    /// How long connecting may take, TLS included: 10 seconds unless said otherwise.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Every request goes through this proxy, whatever the environment says. `http://`, `https://` or `socks5://` before
    /// the host; a name and a password may stand in it.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Proxy::At(url.into());
        self
    }

    /// No proxy, whatever the environment says.
    #[must_use]
    pub fn no_proxy(mut self) -> Self {
        self.proxy = Proxy::Never;
        self
    }

    /// Trusts the certificate authorities in a PEM text, beside the system's.
    #[must_use]
    pub fn certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates.push(pem.into());
        self
    }

    /// Trusts a built-in set of certificate authorities in place of the system's: for containers that have none.
    #[cfg(feature = "bundled-roots")]
    #[must_use]
    pub fn bundled_certificates(mut self) -> Self {
        self.bundled = true;
        self
    }

    /// Speaks HTTP/1.1 only. Otherwise a TLS server says which version it wants, and one without TLS gets 1.1.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.version = Version::Http1;
        self
    }

    /// Speaks HTTP/2 only, without asking: for servers without TLS that are known to.
    #[must_use]
    pub fn http2_only(mut self) -> Self {
        self.version = Version::Http2;
        self
    }

    /// The transport.
    ///
    /// # Errors
    /// If a certificate or the proxy's URL is invalid, or TLS cannot be set up.
    pub fn build(self) -> Result<Http, TransportError> {
        let first = Mutex::new(Some(self.clone().client(reqwest::redirect::Policy::none())?));
        Ok(Http { shared: Arc::new(Shared { builder: self, first, clients: Mutex::default() }) })
    }

    /// A client that follows redirects as long as they stay with the same host: MCP servers send from `/mcp` to `/mcp/`.
    #[cfg(feature = "mcp")]
    pub(crate) fn build_within_host(self) -> Result<reqwest::Client, TransportError> {
        self.client(reqwest::redirect::Policy::custom(|attempt| {
            let origin = |url: &reqwest::Url| url.origin();
            let stays = attempt.previous().iter().all(|before| origin(before) == origin(attempt.url()));
            if stays && attempt.previous().len() < 5 { attempt.follow() } else { attempt.stop() }
        }))
    }

    fn client(self, redirects: reqwest::redirect::Policy) -> Result<reqwest::Client, TransportError> {
        let broken = |what: &str, error: reqwest::Error| {
            TransportError::new(Failure::Request, format!("{what}: {}", cause(&error))).because(error.without_url())
        };
        let mut certificates = Vec::new();
        for pem in &self.certificates {
            let bundle = reqwest::Certificate::from_pem_bundle(pem)
                .map_err(|error| broken("a certificate is invalid", error))?;
            if bundle.is_empty() {
                return Err(TransportError::new(Failure::Request, "there is no certificate in the PEM text"));
            }
            certificates.extend(bundle);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("ikigai/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect)
            .redirect(redirects)
            .referer(false)
            // Whether to try again is decided in one place, and counted.
            .retry(reqwest::retry::never())
            .tcp_keepalive(Duration::from_secs(30))
            .http2_keep_alive_interval(Duration::from_secs(30))
            .http2_keep_alive_timeout(Duration::from_secs(20))
            .http2_adaptive_window(true);
        builder = match self.version {
            Version::Negotiated => builder,
            Version::Http1 => builder.http1_only(),
            Version::Http2 => builder.http2_prior_knowledge(),
        };
        builder = match &self.proxy {
            Proxy::Environment => builder,
            Proxy::Never => builder.no_proxy(),
            Proxy::At(url) => {
                builder.proxy(reqwest::Proxy::all(url).map_err(|error| broken("the proxy's URL is invalid", error))?)
            }
        };
        builder = if self.bundled {
            certificates.extend(bundled());
            builder.tls_certs_only(certificates)
        } else {
            builder.tls_certs_merge(certificates)
        };
        builder.build().map_err(|error| broken("HTTP cannot be set up", error))
    }
}

#[cfg(feature = "bundled-roots")]
fn bundled() -> impl Iterator<Item = reqwest::Certificate> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| reqwest::Certificate::from_der(der).ok())
}

#[cfg(not(feature = "bundled-roots"))]
fn bundled() -> impl Iterator<Item = reqwest::Certificate> {
    std::iter::empty()
}

impl Transport for Http {
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_> {
        Box::pin(async move {
            let host: Box<str> = request.uri().authority().map_or("", |authority| authority.host()).into();
            let request = reqwest::Request::try_from(request.map(reqwest::Body::from));
            let request = request.map_err(|error| failed(error, &host))?;
            let client = self.shared.client()?;
            let response = client.execute(request).await.map_err(|error| failed(error, &host))?;
            let (status, version, headers) = (response.status(), response.version(), response.headers().clone());
            let mut stream = Box::pin(response.bytes_stream());
            let body = Body::poll_fn(move |cx| {
                stream.as_mut().poll_next(cx).map(|next| next.map(|piece| piece.map_err(|error| failed(error, &host))))
            });
            let mut response = http::Response::new(body);
            *response.status_mut() = status;
            *response.version_mut() = version;
            *response.headers_mut() = headers;
            Ok(response)
        })
    }
}

/// A failure in our words, with the cause in the system's. The address stays out of it, but for the host.
fn failed(error: reqwest::Error, host: &str) -> TransportError {
    let (failure, what) = if error.is_builder() {
        (Failure::Request, "the request cannot be sent")
    } else if error.is_connect() {
        (Failure::Connect, "cannot connect")
    } else if error.is_timeout() {
        (Failure::Timeout, "no answer came in time")
    } else {
        (Failure::Broken, "the connection broke")
    };
    let error = error.without_url();
    TransportError::new(failure, format!("{what} ({host}): {}", cause(&error))).because(error)
}

/// The innermost cause: the layers above it only repeat that something failed.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

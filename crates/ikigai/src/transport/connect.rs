//! Opening connections: directly or through a proxy, with TLS if the URL says so.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::HeaderValue;
use http::{Uri, uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{self, Connected, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::http_client::Version;
use super::{Failure, TransportError};

type Fault = Box<dyn std::error::Error + Send + Sync>;
type Opening<T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;

/// Opens connections.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    tcp: HttpConnector,
    tls: Arc<Tls>,
    proxies: Arc<Proxies>,
    /// How long connecting may take, including TLS.
    limit: Duration,
}

impl Connector {
    pub(super) fn new(tls: Tls, proxies: Proxies, limit: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(Duration::from_secs(30)));
        Connector { tcp, tls: Arc::new(tls), proxies: Arc::new(proxies), limit }
    }

    pub(super) fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// Opens a connection over which requests to the URL's host can be sent.
    async fn open(mut self, to: Uri) -> Result<Connection, Fault> {
        let is_https = to.scheme() == Some(&uri::Scheme::HTTPS);
        let Some(proxy) = self.proxies.for_address(&to) else {
            let stream = self.tcp.call(to.clone()).await?.into_inner();
            return if is_https { self.tls.over(Box::new(stream), &to).await } else { Ok(Connection::plain(stream)) };
        };
        match proxy.uri().scheme_str() {
            Some("socks5" | "socks5h") => {
                let local_names = proxy.uri().scheme_str() == Some("socks5");
                let mut socks = SocksV5::new(with_port(proxy.uri(), 1080)?, self.tcp).local_dns(local_names);
                if let Some((user, password)) = proxy.raw_auth() {
                    socks = socks.with_auth(user.to_owned(), password.to_owned());
                }
                let stream = socks.call(to.clone()).await?.into_inner();
                if is_https { self.tls.over(Box::new(stream), &to).await } else { Ok(Connection::plain(stream)) }
            }
            Some("http" | "https") if is_https => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), ToProxy(self.clone()));
                if let Some(password) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(password.clone());
                }
                let stream = tunnel.call(to.clone()).await?.into_inner();
                self.tls.over(stream, &to).await
            }
            // What is not secret is sent to the proxy itself, with the complete URL.
            Some("http" | "https") => {
                let stream = ToProxy(self).call(proxy.uri().clone()).await?;
                Ok(Connection { stream, is_http2: false, is_proxied: true })
            }
            other => Err(format!("a proxy cannot be used over {}", other.unwrap_or("no protocol")).into()),
        }
    }
}

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = Fault;
    type Future = Opening<Connection>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Opening<Connection> {
        let connector = self.clone();
        Box::pin(async move {
            let limit = connector.limit;
            let opened = tokio::time::timeout(limit, connector.open(to)).await;
            opened.unwrap_or_else(|_| Err(format!("it took longer than {limit:?}").into()))
        })
    }
}

/// Opens connections to a proxy.
#[derive(Clone)]
struct ToProxy(Connector);

impl Service<Uri> for ToProxy {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = Fault;
    type Future = Opening<TokioIo<Box<dyn Stream>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, proxy: Uri) -> Opening<TokioIo<Box<dyn Stream>>> {
        let Connector { mut tcp, tls, .. } = self.0.clone();
        Box::pin(async move {
            let stream = tcp.call(proxy.clone()).await?.into_inner();
            if proxy.scheme() == Some(&uri::Scheme::HTTPS) {
                let mut config = tls.config()?.as_ref().clone();
                config.alpn_protocols.clear();
                let stream = TlsConnector::from(Arc::new(config)).connect(server_name(&proxy)?, stream).await?;
                return Ok(TokioIo::new(Box::new(stream) as Box<dyn Stream>));
            }
            Ok(TokioIo::new(Box::new(stream) as Box<dyn Stream>))
        })
    }
}

/// Adds a port to an address that has none.
fn with_port(address: &Uri, port: u16) -> Result<Uri, Fault> {
    if address.port().is_some() {
        return Ok(address.clone());
    }
    let mut parts = address.clone().into_parts();
    parts.authority = Some(format!("{}:{port}", address.host().unwrap_or_default()).parse()?);
    Ok(Uri::from_parts(parts)?)
}

fn server_name(address: &Uri) -> Result<ServerName<'static>, Fault> {
    let host = address.host().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Ok(ServerName::try_from(host.to_owned())?)
}

/// A stream of bytes in both directions.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// A connection to a server, or to a proxy that handles the requests itself.
pub(super) struct Connection {
    stream: TokioIo<Box<dyn Stream>>,
    is_http2: bool,
    /// The other end needs the complete URL.
    is_proxied: bool,
}

impl Connection {
    fn plain(stream: impl Stream) -> Self {
        Connection { stream: TokioIo::new(Box::new(stream)), is_http2: false, is_proxied: false }
    }
}

impl connect::Connection for Connection {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        if self.is_http2 { connected.negotiated_h2() } else { connected }
    }
}

impl Read for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: ReadBufCursor<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl Write for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Which addresses are reached through a proxy.
pub(super) struct Proxies {
    matcher: Option<Matcher>,
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Their URLs may contain passwords.
        f.write_str(if self.matcher.is_some() { "Proxies" } else { "no proxies" })
    }
}

impl Proxies {
    pub(super) fn none() -> Self {
        Proxies { matcher: None }
    }

    pub(super) fn from_environment() -> Self {
        Proxies::known(Matcher::from_system())
    }

    pub(super) fn at(url: &str) -> Result<Self, TransportError> {
        let proxies = Proxies::known(Matcher::builder().all(url).build());
        match proxies.for_address(&Uri::from_static("http://host.invalid")) {
            Some(proxy) if proxy.uri().host().is_some() && !url.contains(' ') => Ok(proxies),
            _ => Err(TransportError::new(Failure::Request, "the proxy's URL is invalid")),
        }
    }

    /// Without any proxy, nothing has to be looked up for each address.
    fn known(matcher: Matcher) -> Self {
        let samples = ["http://host.invalid", "https://host.invalid"];
        let any = samples.iter().any(|sample| matcher.intercept(&Uri::from_static(sample)).is_some());
        Proxies { matcher: Some(matcher).filter(|_| any) }
    }

    fn for_address(&self, address: &Uri) -> Option<Intercept> {
        self.matcher.as_ref()?.intercept(address)
    }

    /// Returns the credentials for requests that a proxy handles itself, which are those without TLS.
    pub(super) fn password_for(&self, address: &Uri) -> Option<HeaderValue> {
        let proxy = self.for_address(address).filter(|_| address.scheme() == Some(&uri::Scheme::HTTP))?;
        proxy.basic_auth().cloned().map(|mut password| {
            password.set_sensitive(true);
            password
        })
    }
}

/// TLS, set up when the first connection needs it, because reading the system's certificates takes a while.
pub(super) struct Tls {
    certificates: Vec<CertificateDer<'static>>,
    bundled: bool,
    version: Version,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Tls {
    pub(super) fn new(pems: &[Vec<u8>], bundled: bool, version: Version) -> Result<Self, TransportError> {
        let mut certificates = Vec::new();
        for pem in pems {
            let bundle: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
            let bundle = bundle.map_err(|error| {
                TransportError::new(Failure::Request, format!("a certificate is invalid: {error}")).because(error)
            })?;
            if bundle.is_empty() {
                return Err(TransportError::new(Failure::Request, "there is no certificate in the PEM text"));
            }
            certificates.extend(bundle);
        }
        Ok(Tls { certificates, bundled, version, config: OnceLock::new() })
    }

    fn config(&self) -> Result<Arc<ClientConfig>, Fault> {
        let config = self.config.get_or_init(|| self.make().map(Arc::new).map_err(|error| error.to_string()));
        config.clone().map_err(|why| format!("TLS cannot be set up: {why}").into())
    }

    fn make(&self) -> Result<ClientConfig, Fault> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder =
            ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let mut config = if self.bundled {
            let mut roots = rustls::RootCertStore::empty();
            roots.add_parsable_certificates(self.certificates.iter().cloned().chain(bundled()));
            builder.with_root_certificates(roots).with_no_client_auth()
        } else {
            let own = self.certificates.iter().cloned();
            let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(own, provider)?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
        };
        config.alpn_protocols = match self.version {
            Version::Negotiated => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Version::Http1 => vec![b"http/1.1".to_vec()],
            Version::Http2 => vec![b"h2".to_vec()],
        };
        Ok(config)
    }

    /// Starts TLS with the URL's host, over a stream to it.
    async fn over(&self, stream: Box<dyn Stream>, to: &Uri) -> Result<Connection, Fault> {
        let stream = TlsConnector::from(self.config()?).connect(server_name(to)?, stream).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Connection { stream: TokioIo::new(Box::new(stream)), is_http2, is_proxied: false })
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("certificates", &self.certificates.len()).finish_non_exhaustive()
    }
}

#[cfg(feature = "bundled-roots")]
fn bundled() -> impl Iterator<Item = CertificateDer<'static>> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned()
}

#[cfg(not(feature = "bundled-roots"))]
fn bundled() -> impl Iterator<Item = CertificateDer<'static>> {
    std::iter::empty()
}

//! A server that tests control.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

/// An answer: a head, and a body whose pieces may come through a channel.
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Pieces,
}

enum Pieces {
    Whole(Option<Bytes>),
    Channel(mpsc::Receiver<Result<Bytes, std::io::Error>>),
    Count(Arc<AtomicUsize>, usize),
}

impl Answer {
    pub(crate) fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Answer { status, headers: Vec::new(), body: Pieces::Whole(Some(body.into())) }
    }

    pub(crate) fn ok(body: impl Into<Bytes>) -> Self {
        Answer::new(200, body)
    }

    /// Sends pieces as they come; an error breaks the connection, and dropping the sender ends the body.
    pub(crate) fn pieces(receiver: mpsc::Receiver<Result<Bytes, std::io::Error>>) -> Self {
        Answer { status: 200, headers: Vec::new(), body: Pieces::Channel(receiver) }
    }

    /// Sends many pieces of one size, as fast as they are read, and counts them.
    pub(crate) fn endless(taken: Arc<AtomicUsize>, size: usize) -> Self {
        Answer { status: 200, headers: Vec::new(), body: Pieces::Count(taken, size) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.get_mut() {
            Pieces::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Pieces::Channel(receiver) => receiver.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data))),
            Pieces::Count(taken, size) => {
                taken.fetch_add(1, Ordering::SeqCst);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![0; *size])))))
            }
        }
    }
}

/// Listens on a free local port until it is dropped.
pub(crate) struct Server {
    address: std::net::SocketAddr,
    seen: Arc<Seen>,
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    opened: AtomicUsize,
    open: AtomicUsize,
    requests: Mutex<Vec<http::Request<Bytes>>>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&http::Request<Bytes>) -> Answer + Send + Sync + 'static) -> Self {
        Server::serve(answer, None).await
    }

    /// Like `start`, but with TLS, for `localhost`; also returns the certificate that a client has to trust, as PEM.
    pub(crate) async fn start_tls(
        answer: impl Fn(&http::Request<Bytes>) -> Answer + Send + Sync + 'static,
    ) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let tls = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        (Server::serve(answer, Some(tls)).await, made.cert.pem())
    }

    async fn serve(
        answer: impl Fn(&http::Request<Bytes>) -> Answer + Send + Sync + 'static,
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let (answer, shared) = (Arc::new(answer), Arc::clone(&seen));
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (answer, seen, tls) = (Arc::clone(&answer), Arc::clone(&shared), tls.clone());
                seen.opened.fetch_add(1, Ordering::SeqCst);
                seen.open.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    match tls {
                        None => talk(stream, answer, &seen).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                talk(stream, answer, &seen).await;
                            }
                        }
                    }
                    seen.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Server { address, seen, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns how many connections have been opened in all.
    pub(crate) fn opened(&self) -> usize {
        self.seen.opened.load(Ordering::SeqCst)
    }

    /// Waits until this many connections are open.
    pub(crate) async fn until_open(&self, wanted: usize) {
        let reached = async {
            while self.seen.open.load(Ordering::SeqCst) != wanted {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reached).await.expect("connections stay as they are");
    }

    /// Returns the requests so far, oldest first.
    pub(crate) async fn requests(&self) -> Vec<http::Request<Bytes>> {
        self.seen.requests.lock().await.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    answer: Arc<impl Fn(&http::Request<Bytes>) -> Answer + Send + Sync + 'static>,
    seen: &Arc<Seen>,
) {
    let service = service_fn(|request: http::Request<Incoming>| {
        let (answer, seen) = (Arc::clone(&answer), Arc::clone(seen));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let request = http::Request::from_parts(head, body);
            let answer = answer(&request);
            seen.requests.lock().await.push(request);
            let mut response = http::Response::new(answer.body);
            *response.status_mut() = http::StatusCode::from_u16(answer.status).unwrap();
            for (name, value) in answer.headers {
                response.headers_mut().append(name, value.parse().unwrap());
            }
            Ok::<_, Infallible>(response)
        }
    });
    let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

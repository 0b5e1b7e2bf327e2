//! Recording: requests are forwarded to a provider, and each exchange is kept in a separate file.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;

use crate::deliver::Body;
use crate::exchange::{self, Answered, Asked, Exchange, Secrets};
use crate::service::Call;

/// The largest answer that is recorded, in bytes; larger ones pass through and are not kept.
const LARGEST: usize = 64 << 20;
/// The memory that a piece takes besides its bytes, which counts as well: a piece can be a single byte.
const PER_PIECE: usize = 256;
/// Headers that belong to a connection, or to the simulator.
const NOT_SENT: [&str; 10] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-sim-fault",
];
const NOT_PASSED: [&str; 5] = ["connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"];

/// A function that polls for the next piece of an answer, for [`std::future::poll_fn`]; `None` at the end.
pub type NextPiece = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> + Send>;

/// The future of a forwarded request's answer.
pub type Forwarding<'a> = Pin<Box<dyn Future<Output = io::Result<Response<NextPiece>>> + Send + 'a>>;

/// The connection to the provider whose answers are recorded.
///
/// The simulator has no HTTP client of its own; `ikigai sim --record` provides one.
pub trait Upstream: std::fmt::Debug + Send + Sync + 'static {
    /// Sends one request, once. The pieces of the answer come as the provider sends them, and not compressed.
    fn send(&self, request: Request<Bytes>) -> Forwarding<'_>;
}

/// A recorder, which forwards requests to a provider and keeps each exchange, without its keys.
#[derive(Debug, Clone)]
pub struct Recorder {
    folder: PathBuf,
    url: String,
    upstream: Arc<dyn Upstream>,
    /// The number of the last exchange.
    count: Arc<AtomicUsize>,
}

impl Recorder {
    /// Creates a recorder for the provider at `url`, such as `https://api.openai.com`. The folder is created if it does
    /// not exist; recordings in it are kept, and new ones follow them.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or read.
    pub fn new(folder: impl Into<PathBuf>, url: &str, upstream: impl Upstream) -> io::Result<Self> {
        let folder = folder.into();
        exchange::make(&folder)?;
        let last = exchange::files(&folder)?.last().map_or(0, |(number, _)| *number);
        Ok(Recorder {
            folder,
            url: url.trim_end_matches('/').to_owned(),
            upstream: Arc::new(upstream),
            count: Arc::new(AtomicUsize::new(last)),
        })
    }

    /// Forwards a request. The answer passes through as it arrives, and is kept once it is whole.
    pub(crate) async fn forward(&self, call: &Call) -> io::Result<Response<Body>> {
        let mut request = Request::builder().method(call.method.clone()).uri(format!("{}{}", self.url, call.target()));
        if let Some(headers) = request.headers_mut() {
            *headers = without(&call.headers, &NOT_SENT);
            headers.insert(http::header::ACCEPT_ENCODING, http::HeaderValue::from_static("identity"));
        }
        let request = request.body(call.body.clone()).map_err(io::Error::other)?;
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let (asked, secrets) = Asked::of(call.method.as_str(), &call.target(), &call.headers, &call.body);
        let (head, next) = self.upstream.send(request).await?.into_parts();
        let passed = without(&head.headers, &NOT_PASSED);
        let under_way = UnderWay {
            folder: self.folder.clone(),
            number,
            asked,
            secrets,
            status: head.status,
            headers: head.headers,
            chunks: Some(Vec::new()),
            bytes: 0,
        };
        let pieces = stream::unfold(Some((next, under_way)), |state| async move {
            let (mut next, mut under_way) = state?;
            match std::future::poll_fn(|cx| next(cx)).await {
                Some(Ok(piece)) => {
                    under_way.take(&piece);
                    Some((Ok(Frame::data(piece)), Some((next, under_way))))
                }
                // The client sees the cut as it happened, and nothing is kept.
                Some(Err(error)) => {
                    // What arrived before goes out first.
                    tokio::task::yield_now().await;
                    Some((Err(error), None))
                }
                // A failure to keep it is shown as a cut, too: a recording with holes would be noticed much later.
                None => under_way.keep().err().map(|error| (Err(error), None)),
            }
        });
        let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
        *response.status_mut() = head.status;
        *response.headers_mut() = passed;
        Ok(response)
    }
}

fn without(headers: &HeaderMap, left_out: &[&str]) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// An exchange whose answer is still arriving.
struct UnderWay {
    folder: PathBuf,
    number: usize,
    asked: Asked,
    secrets: Secrets,
    status: StatusCode,
    headers: HeaderMap,
    /// What has arrived; `None` once it is too much.
    chunks: Option<Vec<Bytes>>,
    bytes: usize,
}

impl UnderWay {
    fn take(&mut self, piece: &Bytes) {
        self.bytes = self.bytes.saturating_add(piece.len() + PER_PIECE);
        if self.bytes > LARGEST {
            self.chunks = None;
        }
        if let Some(chunks) = &mut self.chunks {
            chunks.push(Bytes::copy_from_slice(piece));
        }
    }

    fn keep(self) -> io::Result<()> {
        let Some(chunks) = self.chunks else { return Ok(()) };
        let response = Answered::of(self.status.as_u16(), &self.headers, &chunks, &self.secrets);
        let exchange = Exchange { request: self.asked, response };
        exchange::write(&self.folder, self.number, &exchange).map(drop)
    }
}

//! The answers on an HTTP/2 connection that its client has not accepted yet.
//!
//! Over HTTP/1, a client that does not read blocks the connection's writes, and one that sends nothing reaches the time
//! limit for heads. HTTP/2 has a window per answer, and pings, so a connection can be alive while nothing moves in it.

use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::service::Service;
use tokio::time::Instant;

use crate::Waits;

/// How long a connection may have no request, as a multiple of the time for a head: before the first one, then later.
const BEFORE: u32 = 2;
const BETWEEN: u32 = 10;

/// The requests of one connection that are not answered yet, or whose answers the client has not accepted.
#[derive(Debug, Clone)]
pub(crate) struct Ledger(Arc<Entries>);

#[derive(Debug)]
struct Entries {
    opened: Instant,
    /// Whether a request has arrived.
    is_used: AtomicBool,
    owed: Mutex<Vec<Weak<Owed>>>,
}

/// One answer, until the client has accepted it.
#[derive(Debug)]
struct Owed {
    opened: Instant,
    /// The pieces that are ready for the client.
    pieces: AtomicUsize,
    /// When the client last accepted or was offered something, in milliseconds since the connection was opened.
    moved: AtomicU64,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Ledger(Arc::new(Entries { opened: Instant::now(), is_used: AtomicBool::new(false), owed: Mutex::default() }))
    }

    /// Wraps a service to record its requests in the ledger.
    pub(crate) fn keep<S>(&self, service: S) -> Kept<S> {
        Kept { service, ledger: self.clone() }
    }

    /// Waits until the connection is not worth keeping: it has had no request for too long, or its client accepts
    /// nothing of an answer.
    pub(crate) async fn lapsed(&self, waits: Waits) {
        let mut quiet_since = Some(self.0.opened);
        loop {
            tokio::time::sleep((waits.write.min(waits.head) / 4).max(Duration::from_millis(10))).await;
            let owed = self.owed();
            if owed.iter().any(|owed| owed.is_left_lying(waits.write)) {
                return;
            }
            let heads = if self.0.is_used.load(Ordering::Relaxed) { BETWEEN } else { BEFORE };
            match quiet_since {
                _ if !owed.is_empty() => quiet_since = None,
                None => quiet_since = Some(Instant::now()),
                Some(since) if since.elapsed() > waits.head.saturating_mul(heads) => return,
                Some(_) => {}
            }
        }
    }

    /// The answers that are still owed. The others are removed.
    fn owed(&self) -> Vec<Arc<Owed>> {
        let mut owed = self.0.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.retain(|owed| owed.strong_count() > 0);
        owed.iter().filter_map(Weak::upgrade).collect()
    }

    /// Records that a request arrived.
    fn asked(&self) -> Arc<Owed> {
        self.0.is_used.store(true, Ordering::Relaxed);
        let owed = Arc::new(Owed { opened: self.0.opened, pieces: AtomicUsize::new(0), moved: AtomicU64::new(0) });
        let mut all = self.0.owed.lock().unwrap_or_else(PoisonError::into_inner);
        // Finished ones are removed before the list has to grow.
        if all.len() == all.capacity() {
            all.retain(|owed| owed.strong_count() > 0);
        }
        all.push(Arc::downgrade(&owed));
        owed
    }
}

impl Owed {
    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Notes that the client accepted something, or is offered more.
    fn moves(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    fn is_left_lying(&self, limit: Duration) -> bool {
        let still = Duration::from_millis(self.now().saturating_sub(self.moved.load(Ordering::Relaxed)));
        self.pieces.load(Ordering::Relaxed) > 0 && still > limit
    }
}

/// A service whose requests are recorded in a ledger.
#[derive(Debug)]
pub(crate) struct Kept<S> {
    service: S,
    ledger: Ledger,
}

/// An answer that is being made.
#[derive(Debug)]
pub(crate) struct Answering<F> {
    answer: F,
    owed: Arc<Owed>,
}

/// The body of an answer that is recorded in a ledger.
#[derive(Debug)]
pub(crate) struct Owing<B> {
    body: B,
    owed: Arc<Owed>,
}

/// A piece of an answer, until it has been sent.
#[derive(Debug)]
pub(crate) struct Piece<D> {
    data: D,
    owed: Arc<Owed>,
}

impl<S, I, B> Service<Request<I>> for Kept<S>
where
    S: Service<Request<I>, Response = Response<B>>,
    S::Future: Unpin,
{
    type Response = Response<Owing<B>>;
    type Error = S::Error;
    type Future = Answering<S::Future>;

    fn call(&self, request: Request<I>) -> Self::Future {
        let owed = self.ledger.asked();
        Answering { answer: self.service.call(request), owed }
    }
}

impl<F, B, E> Future for Answering<F>
where
    F: Future<Output = Result<Response<B>, E>> + Unpin,
{
    type Output = Result<Response<Owing<B>>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(Pin::new(&mut self.answer).poll(cx));
        let owed = Arc::clone(&self.owed);
        Poll::Ready(answer.map(|response| response.map(|body| Owing { body, owed })))
    }
}

impl<B: Body + Unpin> Body for Owing<B> {
    type Data = Piece<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(
            frame.map(|frame| frame.map(|frame| frame.map_data(|data| Piece::new(data, Arc::clone(&self.owed))))),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<D> Piece<D> {
    fn new(data: D, owed: Arc<Owed>) -> Self {
        owed.moves();
        owed.pieces.fetch_add(1, Ordering::Relaxed);
        Piece { data, owed }
    }
}

impl<D> Drop for Piece<D> {
    fn drop(&mut self) {
        self.owed.moves();
        self.owed.pieces.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<D: Buf> Buf for Piece<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn chunks_vectored<'a>(&'a self, pieces: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(pieces)
    }

    fn advance(&mut self, count: usize) {
        self.data.advance(count);
        self.owed.moves();
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        self.owed.moves();
        self.data.copy_to_bytes(length)
    }
}

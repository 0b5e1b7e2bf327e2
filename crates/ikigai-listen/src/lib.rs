//! The server code that the gateway and the simulator share: connections that slow or greedy clients cannot exhaust.
//!
//! There are limits on the size of a request's head and the time it takes to arrive, on concurrent requests per
//! connection, and on how long the other end may refuse to read ([`Patient`]). Bodies have limits of their own, and
//! only as many are held at once as there is [`Room`] for. [`accept`] counts connections, and a [`Drain`] tells them
//! when the server stops.

#![forbid(unsafe_code)]

mod body;
mod drain;
mod owed;
mod patient;
mod pieces;
mod version;

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use owed::Ledger;
use pieces::{Pieces, Turn};
use version::{Begun, Version};

pub use body::{Held, Refused, Room};
pub use drain::{Drain, Watcher};
pub use patient::Patient;

/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 64 << 10;
/// The most concurrent requests on one HTTP/2 connection.
const MOST_STREAMS: u32 = 250;
/// How long nothing is accepted after accepting failed, perhaps for lack of file handles.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits for a permit, then for the next connection. While there is no permit, clients wait in the system's queue.
pub async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let permit = Arc::clone(permits).acquire_owned().await;
        if let (Ok((stream, _)), Ok(permit)) = (listener.accept().await, permit) {
            let _ = stream.set_nodelay(true);
            return (stream, permit);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// How long to wait for a client.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// For the first bytes of a connection, and for the whole head of each request.
    pub head: Duration,
    /// For the client to accept part of an answer that is ready.
    pub write: Duration,
}

/// Serves one connection to its end.
pub async fn serve<S, H, B>(stream: S, waits: Waits, mut watcher: Watcher, service: H)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    H::Future: Send + Unpin + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // A client that says nothing, leaves, or breaks the protocol is not our failure.
    let begun = watcher.unless_stopped(Box::pin(timeout(waits.head, Begun::new(stream)))).await;
    let Some(Ok(Ok((stream, version)))) = begun else { return };
    let stream = TokioIo::new(stream);
    match version {
        Version::Http1 => {
            let turn = Turn::default();
            let of_body = turn.clone();
            let service = service_fn(move |request| {
                let (answering, turn) = (service.call(request), of_body.clone());
                async move { answering.await.map(|response| response.map(|body| Pieces::new(body, turn))) }
            });
            let mut builder = http1::Builder::new();
            // Answers come in small pieces, and copying them is faster than having hyper and the system gather them.
            builder.timer(TokioTimer::new()).header_read_timeout(waits.head).max_buf_size(LONGEST_HEAD).writev(false);
            let serving = Box::pin(builder.serve_connection(stream, service));
            drop(builder);
            let _ = watcher.watch(serving, || turn.begin(), http1::Connection::graceful_shutdown).await;
        }
        // Boxed; otherwise every connection would take the memory that one of these needs.
        Version::Http2 => Box::pin(serve_http2(stream, waits, watcher, service)).await,
    }
}

async fn serve_http2<S, H, B>(stream: TokioIo<Begun<S>>, waits: Waits, mut watcher: Watcher, service: H)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    H::Future: Send + Unpin + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(LONGEST_HEAD as u32)
        .keep_alive_interval(waits.head)
        .keep_alive_timeout(waits.head);
    let ledger = Ledger::new();
    let serving = Box::pin(builder.serve_connection(stream, ledger.keep(service)));
    tokio::select! {
        _ = watcher.watch(serving, || {}, http2::Connection::graceful_shutdown) => {}
        () = ledger.lapsed(waits) => {}
    }
}

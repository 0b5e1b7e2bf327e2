//! What the gateway and the simulator share as servers: connections that slow or greedy clients cannot exhaust.
//!
//! A connection has a limit on the head of a request and on the time it takes to arrive, on requests at once, and on how long
//! the other end may refuse to read ([`Patient`]). Bodies are read within limits of their own, and no more of them are held
//! at once than there is [`Room`] for. Connections themselves are counted by [`accept`].

#![forbid(unsafe_code)]

mod body;
mod owed;
mod patient;

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use body::{Held, Refused, Room};
use owed::Ledger;
pub use patient::Patient;

/// The most bytes of the head of a request.
const LONGEST_HEAD: usize = 64 << 10;
/// The most requests at once on one HTTP/2 connection.
const MOST_STREAMS: u32 = 250;
/// How long nothing is accepted after accepting failed, for want of file handles perhaps.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits for the next connection, and for a permit to have it. While there is none, clients wait in the system's queue.
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

/// Serves one connection to its end. The head of each request has to arrive within `head`, and of an answer that lies ready
/// the client has to take something within `write`.
pub fn serve<S, H, B>(
    stream: S,
    head: Duration,
    write: Duration,
    watcher: Watcher,
    service: H,
) -> impl Future<Output = ()> + Send
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    H::Future: Send + Unpin + 'static,
    B: http_body::Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(LONGEST_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(LONGEST_HEAD as u32)
        .keep_alive_interval(head)
        .keep_alive_timeout(head);
    let ledger = Ledger::new();
    let serving = builder.serve_connection(TokioIo::new(stream), ledger.keep(service)).into_owned();
    let serving = Box::pin(watcher.watch(serving));
    async move {
        tokio::select! {
            // A client that leaves or breaks the protocol is nobody's failure.
            _ = serving => {}
            () = ledger.lapsed(head, write) => {}
        }
    }
}

//! Connections that can be made to break in the ways that real ones do.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// How many more bytes a connection may write before it breaks, shared with the code that answers on it.
#[derive(Debug, Clone)]
pub(crate) struct Breaker(Arc<AtomicUsize>);

const WHOLE: usize = usize::MAX;
/// The top bit marks that the break is a reset, not an orderly close.
const RESET: usize = 1 << (usize::BITS - 1);

impl Breaker {
    fn new() -> Self {
        Breaker(Arc::new(AtomicUsize::new(WHOLE)))
    }

    /// Closes the connection once `bytes` more have been written.
    pub(crate) fn close_after(&self, bytes: usize) {
        self.0.store(bytes & !RESET, Ordering::Relaxed);
    }

    /// The same, but with a TCP reset.
    pub(crate) fn reset_after(&self, bytes: usize) {
        self.0.store(bytes | RESET, Ordering::Relaxed);
    }

    /// How many bytes may be written now, and whether a reset follows; `None` if the connection is not to break.
    fn left(&self) -> Option<(usize, bool)> {
        match self.0.load(Ordering::Relaxed) {
            WHOLE => None,
            left => Some((left & !RESET, left & RESET != 0)),
        }
    }

    fn spend(&self, bytes: usize) {
        if self.left().is_some() {
            self.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// A connection that breaks when its [`Breaker`] says so.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    breaker: Breaker,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Connection { stream, breaker: Breaker::new() }
    }

    pub(crate) fn breaker(&self) -> Breaker {
        self.breaker.clone()
    }

    /// How much of a write may go out, or an error if the connection is to break here.
    fn allowance(&self, wanted: usize) -> io::Result<usize> {
        match self.breaker.left() {
            None => Ok(wanted),
            Some((0, reset)) => {
                if reset {
                    // Without lingering, closing sends RST instead of FIN.
                    self.stream.set_zero_linger()?;
                }
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "the simulator breaks this connection"))
            }
            Some((left, _)) => Ok(wanted.min(left)),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let allowed = self.allowance(bytes.len())?;
        let bytes = bytes.get(..allowed).unwrap_or(bytes);
        let written = std::task::ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.breaker.spend(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

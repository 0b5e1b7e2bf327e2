//! Detects the version of HTTP that a client speaks by its first bytes.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// The first bytes of a client that speaks HTTP/2.
const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// A connection whose first bytes have been read.
///
/// The next read returns them together with whatever else has arrived. If hyper's first read brought less than a head,
/// its buffer would be doubled, and copied as a whole.
#[derive(Debug)]
pub(crate) struct Begun<S> {
    stream: S,
    first: [u8; PREFACE.len()],
    /// The part of `first` that is still to be read.
    left: Range<usize>,
}

impl<S: AsyncRead + Unpin> Begun<S> {
    /// Reads until it is clear which version the client speaks.
    pub(crate) async fn new(mut stream: S) -> io::Result<(Self, Version)> {
        let mut first = [0; PREFACE.len()];
        let mut length = 0;
        let version = loop {
            let more = stream.read(first.get_mut(length..).unwrap_or_default()).await?;
            length += more;
            if more == 0 || first.get(..length) != PREFACE.get(..length) {
                break Version::Http1;
            }
            if length == PREFACE.len() {
                break Version::Http2;
            }
        };
        Ok((Begun { stream, first, left: 0..length }, version))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Begun<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Begun { stream, first, left } = &mut *self;
        if left.start == left.end {
            return Pin::new(stream).poll_read(cx, buf);
        }
        let length = left.len().min(buf.remaining());
        let now = left.start..left.start + length;
        left.start = now.end;
        buf.put_slice(first.get(now).unwrap_or_default());
        match Pin::new(stream).poll_read(cx, buf) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(())),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Begun<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {

    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn the_first_bytes_come_together_with_the_rest() {
        for (sent, version) in [
            (&b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..], Version::Http1),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nframes", Version::Http2),
        ] {
            let (mut client, server) = tokio::io::duplex(1024);
            client.write_all(sent).await.unwrap();
            let (mut begun, found) = Begun::new(server).await.unwrap();
            let mut read = [0; 1024];
            let length = begun.read(&mut read).await.unwrap();
            assert_eq!((&read[..length], found), (sent, version));
            // What comes later is read as usual, and so is the end.
            client.write_all(b"more").await.unwrap();
            drop(client);
            let mut rest = Vec::new();
            begun.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"more");
        }
    }

    #[tokio::test]
    async fn the_first_bytes_do_not_wait_for_the_rest() {
        let (mut client, server) = tokio::io::duplex(1024);
        client.write_all(b"GET").await.unwrap();
        let (mut begun, _) = Begun::new(server).await.unwrap();
        let mut read = [0; 1024];
        assert_eq!(begun.read(&mut read).await.unwrap(), 3);
        // A smaller room takes them in pieces.
        let (mut client, server) = tokio::io::duplex(1024);
        client.write_all(b"GET /").await.unwrap();
        let (mut begun, _) = Begun::new(server).await.unwrap();
        let mut all = Vec::new();
        while all.len() < 5 {
            let length = begun.read(&mut read[..2]).await.unwrap();
            all.extend_from_slice(&read[..length]);
        }
        assert_eq!(all, b"GET /");
    }
}

//! Answers that are still being written: bytes go to the client as they arrive from the provider.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use ikigai::transport::{Body, TransportError};
use tokio::time::{Instant, Sleep};

use crate::generate::Failure;
use crate::log::{Entry, Outcome};
use crate::pause::{Resumed, Resuming};

/// How a provider's bytes become the client's.
pub(crate) trait Flow: Send {
    /// Takes the provider's next bytes and returns the client's.
    fn bytes(&mut self, bytes: Bytes) -> Bytes;

    /// Called when the provider's bytes have ended or broken off. Returns how the answer ended, and its last bytes.
    fn end(&mut self, broken: Option<TransportError>, entry: &mut Entry) -> End;

    /// Whether the answer has ended, so that nothing more needs to be read.
    fn is_over(&self) -> bool {
        false
    }

    /// Asks for the rest of the answer if the provider paused.
    fn go_on(&mut self) -> Option<Resuming> {
        None
    }

    /// Called when the rest has begun or failed to. Returns its bytes, if any.
    fn resume(&mut self, outcome: Result<Resumed, Failure>) -> Option<Body> {
        outcome.ok().map(|resumed| resumed.exchange.body)
    }

    /// The bytes to send now as a sign of life; empty if none can be sent.
    fn sign_of_life(&self) -> &'static [u8];
}

/// How the provider's bytes ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The answer is complete, or ends with an error that the client understands.
    Told(Outcome, Bytes),
    /// The client can only be told by breaking off the answer.
    BreakOff,
}

/// A stream that has begun.
pub(crate) struct Begun {
    /// The first bytes for the client.
    pub(crate) first: Bytes,
    /// The rest of the provider's bytes, and what converts them.
    pub(crate) provider: Body,
    pub(crate) flow: Box<dyn Flow>,
}

/// The body of an answer that is still being written.
pub(crate) struct Live {
    /// Bytes for the client that are ready.
    first: Option<Bytes>,
    provider: Option<Body>,
    /// The rest of the answer, while it is being requested.
    resuming: Option<Resuming>,
    flow: Box<dyn Flow>,
    entry: Entry,
    keep_alive: KeepAlive,
    /// Whether the answer has broken off.
    is_broken: bool,
}

/// Signs of life after silence. One timer serves many pieces.
struct KeepAlive {
    after: Duration,
    last: Instant,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// The answer broke off. This error closes the connection.
#[derive(Debug, thiserror::Error)]
#[error("the provider's answer broke off")]
pub(crate) struct BrokenOff;

impl Live {
    /// Creates a body with a sign of life after this much silence.
    pub(crate) fn new(begun: Begun, entry: Entry, after: Duration) -> Self {
        let Begun { first, provider, flow } = begun;
        let keep_alive = KeepAlive { after, last: Instant::now(), sleep: None };
        let first = Some(first).filter(|first| !first.is_empty());
        Live { first, provider: Some(provider), resuming: None, flow, entry, keep_alive, is_broken: false }
    }

    fn send(&mut self, bytes: Bytes) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.entry.sent(bytes.len());
        self.keep_alive.last = Instant::now();
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn end(
        &mut self,
        broken: Option<TransportError>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        // Closes its connection.
        self.provider = None;
        match self.flow.end(broken, &mut self.entry) {
            End::Told(outcome, bytes) => {
                self.entry.outcome = outcome;
                if bytes.is_empty() { Poll::Ready(None) } else { self.send(bytes) }
            }
            End::BreakOff => {
                self.entry.outcome = Outcome::Broken;
                // First, the head and whatever else is ready are sent: without them, clients would ask again.
                self.is_broken = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl http_body::Body for Live {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let live = self.get_mut();
        if live.is_broken {
            return Poll::Ready(Some(Err(BrokenOff)));
        }
        if let Some(first) = live.first.take() {
            return live.send(first);
        }
        loop {
            if let Some(resuming) = &mut live.resuming {
                let Poll::Ready(outcome) = resuming.as_mut().poll(cx) else { break };
                live.resuming = None;
                live.provider = live.flow.resume(outcome);
                if live.provider.is_none() {
                    return live.end(None, cx);
                }
            }
            if live.provider.is_some() && live.flow.is_over() {
                live.resuming = live.flow.go_on();
                if live.resuming.is_none() {
                    return live.end(None, cx);
                }
                // Closes the connection of the finished part.
                live.provider = None;
                continue;
            }
            let Some(provider) = &mut live.provider else { return Poll::Ready(None) };
            match provider.poll_next(cx) {
                Poll::Ready(Some(Ok(bytes))) => {
                    let bytes = live.flow.bytes(bytes);
                    if !bytes.is_empty() {
                        return live.send(bytes);
                    }
                }
                Poll::Ready(Some(Err(error))) => return live.end(Some(error), cx),
                Poll::Ready(None) => return live.end(None, cx),
                Poll::Pending => break,
            }
        }
        match live.keep_alive.poll(cx) {
            Poll::Ready(()) => match live.flow.sign_of_life() {
                [] => Poll::Pending,
                sign => live.send(Bytes::from_static(sign)),
            },
            Poll::Pending => Poll::Pending,
        }
    }
}

impl KeepAlive {
    /// Ready when it is time for a sign of life.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let until = self.last + self.after;
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if Instant::now() >= until {
                self.last = Instant::now();
                sleep.as_mut().reset(self.last + self.after);
                // Makes the next wait wake this task.
                let _ = sleep.as_mut().poll(cx);
                return Poll::Ready(());
            }
            sleep.as_mut().reset(until);
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("entry", &self.entry).finish_non_exhaustive()
    }
}

//! Time limits: one for each phase of an exchange, and one for the whole of it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{Either, select};

use super::{Body, Failure, TransportError};
use crate::time::{Clock, Sleep};

/// How long each phase of a request may take. The limit for connecting belongs to the transport:
/// [`HttpBuilder::connect_timeout`](super::HttpBuilder::connect_timeout), 10 seconds.
///
/// ```
/// use std::time::Duration;
/// use ikigai::transport::Timeouts;
///
/// let patient = Timeouts::default().idle(Duration::from_secs(900));
/// assert_eq!(patient.idle, Duration::from_secs(900));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// From sending a request to the head of its answer: 10 minutes. An answer that is not streamed is complete before
    /// its head is sent. The head of a stream has as much time as its first event.
    pub head: Duration,
    /// From sending a request to the first event of its stream: 5 minutes. Some models think silently before the first
    /// word.
    pub first_event: Duration,
    /// Between two events of a stream: 15 minutes. Comments and pings do not count as events.
    pub between_events: Duration,
    /// Without a single byte, in a stream or a complete answer: 5 minutes.
    pub idle: Duration,
    /// For the body of an answer with an error status, which says what failed: 30 seconds. Whatever has arrived by then
    /// is used.
    pub error_body: Duration,
    /// From sending a request to the last byte of its answer: one hour, for each attempt.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            head: Duration::from_secs(600),
            first_event: Duration::from_secs(300),
            between_events: Duration::from_secs(900),
            idle: Duration::from_secs(300),
            error_body: Duration::from_secs(30),
            total: Duration::from_secs(3600),
        }
    }
}

impl Timeouts {
    /// Sets the limit from sending a request to the head of its answer.
    #[must_use]
    pub fn head(mut self, limit: Duration) -> Self {
        self.head = limit;
        self
    }

    /// Sets the limit from sending a request to the first event of its stream.
    #[must_use]
    pub fn first_event(mut self, limit: Duration) -> Self {
        self.first_event = limit;
        self
    }

    /// Sets the limit between two events.
    #[must_use]
    pub fn between_events(mut self, limit: Duration) -> Self {
        self.between_events = limit;
        self
    }

    /// Sets the limit for silence.
    #[must_use]
    pub fn idle(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sets the limit for the body of an answer with an error status.
    #[must_use]
    pub fn error_body(mut self, limit: Duration) -> Self {
        self.error_body = limit;
        self
    }

    /// Sets the limit for the whole exchange.
    #[must_use]
    pub fn total(mut self, limit: Duration) -> Self {
        self.total = limit;
        self
    }
}

/// Returns the result of the future, unless it takes longer than the limit.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    what: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, TransportError> {
    match select(pin!(what), clock.sleep(limit)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Err(too_late("no answer came", limit)),
    }
}

/// A limit on the time since an event last happened.
///
/// One timer serves many events: when it fires, the time of the last event decides whether the limit is reached.
pub(crate) struct Patience {
    clock: Arc<dyn Clock>,
    limit: Duration,
    since: Duration,
    sleep: Option<Sleep>,
    paused: Option<Duration>,
}

impl Patience {
    /// Creates a limit on the time since `since`.
    pub(crate) fn new(clock: Arc<dyn Clock>, limit: Duration, since: Duration) -> Self {
        Patience { clock, limit, since, sleep: None, paused: None }
    }

    /// Restarts the limit, because the event has happened again.
    pub(crate) fn renew(&mut self) {
        self.since = self.clock.now();
    }

    /// Restarts with another limit.
    pub(crate) fn set(&mut self, limit: Duration) {
        self.renew();
        if limit != self.limit {
            self.limit = limit;
            self.sleep = None;
        }
    }

    /// Stops counting time, because nobody is waiting.
    pub(crate) fn pause(&mut self) {
        self.paused = Some(self.clock.now());
    }

    /// Counts time again.
    pub(crate) fn resume(&mut self) {
        if let Some(paused) = self.paused.take() {
            self.since += self.clock.now().saturating_sub(paused);
        }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Whether the limit is reached. Does not wake anyone when it is.
    pub(crate) fn is_over(&self) -> bool {
        self.clock.now().saturating_sub(self.since) >= self.limit
    }

    /// Returns `Ready` when the limit is reached.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            // The limit cannot be reached before its timer fires, so until then there is no need to read the clock.
            if let Some(waiting) = &mut self.sleep
                && waiting.as_mut().poll(cx).is_pending()
            {
                return Poll::Pending;
            }
            let Some(left) = left(self.limit, self.since, self.clock.now()) else { return Poll::Ready(()) };
            self.sleep = Some(self.clock.sleep(left));
        }
    }
}

/// Limits the silences in a body and its total time. `sent` is when its request was sent.
pub(crate) fn guarded(mut body: Body, clock: Arc<dyn Clock>, timeouts: &Timeouts, sent: Duration) -> Body {
    let (idle, total) = (timeouts.idle, timeouts.total);
    let mut last = clock.now();
    // One timer for both limits and many pieces.
    let mut waiting: Option<Sleep> = None;
    let mut over = false;
    Body::poll_fn(move |cx| {
        if over {
            return Poll::Ready(None);
        }
        let next = body.poll_next(cx);
        if next.is_pending()
            && let Some(waiting) = &mut waiting
            && waiting.as_mut().poll(cx).is_pending()
        {
            return Poll::Pending;
        }
        let late = loop {
            let now = clock.now();
            // Checked even when bytes have arrived: there may be no end of them.
            let Some(rest) = left(total, sent, now) else { break too_late("the answer did not end", total) };
            if next.is_ready() {
                last = now;
                return next;
            }
            let Some(patience) = left(idle, last, now) else { break too_late("nothing more came", idle) };
            let waiting = waiting.insert(clock.sleep(rest.min(patience)));
            if waiting.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        };
        over = true;
        // The connection is dropped along with the body.
        body = Body::whole("");
        Poll::Ready(Some(Err(late)))
    })
}

/// Returns what is left of a limit on the time since `since`; `None` when it is reached.
fn left(limit: Duration, since: Duration, now: Duration) -> Option<Duration> {
    limit.checked_sub(now.saturating_sub(since)).filter(|left| !left.is_zero())
}

/// Returns the error for something that took longer than its limit.
pub(crate) fn too_late(what: &str, limit: Duration) -> TransportError {
    TransportError::new(Failure::Timeout, format!("{what} within {}", span(limit)))
}

/// Formats a duration for people: `300 s`, `250 ms`.
fn span(limit: Duration) -> String {
    if limit.subsec_millis() == 0 && limit.as_secs() > 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}

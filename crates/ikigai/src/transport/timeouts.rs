//! Limits on silence. None on the length of an answer: a healthy stream may take all day.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::{Body, Failure, TransportError};
use crate::time::{Clock, Sleep};

/// How long silence may last. There is no limit on a whole answer: a stream that goes on is never cut.
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
    /// From sending a request to the head of its answer: 10 minutes. An answer that is no stream is written before its
    /// head is sent.
    pub first_byte: Duration,
    /// From sending a request to the first bytes of its stream: 5 minutes. Some models think in silence before the first
    /// word.
    pub first_event: Duration,
    /// Between two pieces of an answer: 5 minutes.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            first_byte: Duration::from_secs(600),
            first_event: Duration::from_secs(300),
            idle: Duration::from_secs(300),
        }
    }
}

impl Timeouts {
    /// With another limit from sending a request to the head of its answer.
    #[must_use]
    pub fn first_byte(mut self, limit: Duration) -> Self {
        self.first_byte = limit;
        self
    }

    /// With another limit from sending a request to the first bytes of its stream.
    #[must_use]
    pub fn first_event(mut self, limit: Duration) -> Self {
        self.first_event = limit;
        self
    }

    /// With another limit on the silence between two pieces.
    #[must_use]
    pub fn idle(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }
}

/// What the future gives, unless it takes longer than the limit.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    what: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, TransportError> {
    match select(pin!(what), clock.sleep(limit)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Err(silence("no answer came", limit)),
    }
}

/// A body whose silences are limited.
///
/// One wait is made for many pieces: when it is over, the time of the last piece tells whether it was silence.
pub(crate) fn idle_guard(mut body: Body, clock: Arc<dyn Clock>, limit: Duration) -> Body {
    let mut last = clock.now();
    let mut sleep: Option<Sleep> = None;
    let mut over = false;
    Body::poll_fn(move |cx| {
        if over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(piece) = body.poll_next(cx) {
            last = clock.now();
            return Poll::Ready(piece);
        }
        loop {
            let waiting = sleep.get_or_insert_with(|| clock.sleep(limit));
            if waiting.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let silent = clock.now().saturating_sub(last);
            if silent >= limit {
                over = true;
                // The connection goes with the body.
                body = Body::whole("");
                return Poll::Ready(Some(Err(silence("nothing more came", limit))));
            }
            sleep = Some(clock.sleep(limit - silent));
        }
    })
}

fn silence(what: &str, limit: Duration) -> TransportError {
    TransportError::new(Failure::Timeout, format!("{what} within {}", span(limit)))
}

/// A span of time for people: `300 s`, `250 ms`.
fn span(limit: Duration) -> String {
    if limit.subsec_millis() == 0 && limit.as_secs() > 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}

//! Whether and when to retry.

use std::time::Duration;

use ikigai_core::ErrorKind;

use crate::Error;

/// Whether and when a failed request is retried.
///
/// Only requests that cannot have been charged are retried: those that found no connection, those that the server
/// refused without reading, and those that the provider refused with a status that says so (rate limits, overload,
/// server errors). A request that was sent and got no answer, or whose answer began successfully and was interrupted,
/// is not retried; nor are problems with the key, the request or the account. Reading lists costs nothing, so there,
/// broken connections are retried as well, and timeouts and unreadable answers once. If the provider asks for a certain
/// wait, it takes precedence.
///
/// ```
/// use std::time::Duration;
/// use ikigai::Retry;
///
/// let patient = Retry::default().attempts(5).deadline(Duration::from_secs(3600));
/// # let _ = (patient, Retry::never());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    attempts: u32,
    first_wait: Duration,
    longest_wait: Duration,
    jitter: f64,
    deadline: Duration,
}

impl Default for Retry {
    /// Three attempts, 1 and 2 seconds apart unless the provider says otherwise, all within ten minutes.
    fn default() -> Self {
        Retry {
            attempts: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
            jitter: 0.25,
            deadline: Duration::from_secs(600),
        }
    }
}

impl Retry {
    /// Makes a single attempt.
    pub fn never() -> Self {
        Retry { attempts: 1, ..Retry::default() }
    }

    /// Sets the number of attempts, including the first one.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the wait before the second attempt; each further wait is twice as long as the one before.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// Sets the longest wait. If a provider asks for a longer one, there is no retry, and the error says how long it
    /// asked for.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Shortens waits randomly by up to this share (0 to 1), so that many clients do not return at the same moment.
    #[must_use]
    pub fn jitter(mut self, share: f64) -> Self {
        self.jitter = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self
    }

    /// Sets the deadline: no attempt begins later than this after the first one.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Returns the maximum number of attempts.
    pub(crate) fn most(&self) -> u32 {
        self.attempts
    }

    /// Returns the wait before the next attempt; `None` after the last one.
    ///
    /// `made` is the number of attempts so far, `elapsed` the time since the first one began, `chance` is in 0..1.
    pub(crate) fn wait(&self, error: &Error, made: u32, elapsed: Duration, chance: f64) -> Option<Duration> {
        if made >= self.attempts || !error.is_retryable() {
            return None;
        }
        // Another attempt would usually take as long, or be just as unreadable.
        let once = matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Protocol);
        if once && made > 1 {
            return None;
        }
        let wait = match error.retry_after() {
            Some(wait) if wait > self.longest_wait => return None,
            Some(wait) => wait,
            None => {
                let doubled = self.first_wait.saturating_mul(1 << (made - 1).min(16)).min(self.longest_wait);
                doubled.mul_f64(1.0 - self.jitter * chance.clamp(0.0, 1.0))
            }
        };
        (elapsed.saturating_add(wait) <= self.deadline).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::transport::{Failure, TransportError};

    const SECOND: Duration = Duration::from_secs(1);
    const NONE: [Duration; 0] = [];

    fn provider(kind: ErrorKind) -> Error {
        Error::new(ikigai_core::Error::new(kind, "no"))
    }

    fn asking(kind: ErrorKind, milliseconds: u64) -> Error {
        let mut error = ikigai_core::Error::new(kind, "no");
        error.retry_after_ms = Some(milliseconds);
        Error::new(error)
    }

    fn waits(retry: &Retry, error: &Error) -> Vec<Duration> {
        (1..=10).map_while(|made| retry.wait(error, made, Duration::ZERO, 0.0)).collect()
    }

    #[test]
    fn the_kind_decides() {
        let retry = Retry::default();
        let twice = [SECOND, SECOND * 2];
        for (kind, expected) in [
            (ErrorKind::RateLimit, &twice[..]),
            (ErrorKind::Overloaded, &twice[..]),
            (ErrorKind::Server, &twice[..]),
            (ErrorKind::Network, &twice[..]),
            (ErrorKind::Timeout, &twice[..1]),
            (ErrorKind::Protocol, &twice[..1]),
            (ErrorKind::Quota, &[]),
            (ErrorKind::Auth, &[]),
            (ErrorKind::Permission, &[]),
            (ErrorKind::InvalidRequest, &[]),
            (ErrorKind::NotFound, &[]),
            (ErrorKind::ContextTooLong, &[]),
            (ErrorKind::ContentFiltered, &[]),
            (ErrorKind::Cancelled, &[]),
        ] {
            assert_eq!(waits(&retry, &provider(kind)), expected, "{kind}");
        }
        for (failure, expected) in [
            (Failure::Connect, &twice[..]),
            (Failure::Broken, &twice[..]),
            (Failure::Timeout, &twice[..1]),
            (Failure::TooLarge, &[]),
            (Failure::Request, &[]),
        ] {
            assert_eq!(waits(&retry, &Error::new(TransportError::new(failure, "no"))), expected, "{failure:?}");
        }
    }

    #[test]
    fn the_providers_wish_goes_before_the_kind() {
        let mut forced = ikigai_core::Error::new(ErrorKind::InvalidRequest, "no");
        forced.retryable = Some(true);
        assert_eq!(waits(&Retry::default(), &Error::new(forced)).len(), 2);
        let mut forbidden = ikigai_core::Error::new(ErrorKind::Server, "no");
        forbidden.retryable = Some(false);
        assert_eq!(waits(&Retry::default(), &Error::new(forbidden)), NONE);
    }

    #[test]
    fn the_providers_wait_is_kept_unless_it_is_too_long() {
        let retry = Retry::default();
        assert_eq!(waits(&retry, &asking(ErrorKind::RateLimit, 34_400)), [Duration::from_millis(34_400); 2]);
        assert_eq!(retry.wait(&asking(ErrorKind::RateLimit, 500), 1, Duration::ZERO, 1.0).unwrap(), SECOND / 2);
        assert_eq!(waits(&retry, &asking(ErrorKind::RateLimit, 60_001)), NONE);
        let patient = Retry::default().longest_wait(SECOND * 3600);
        assert_eq!(waits(&patient, &asking(ErrorKind::RateLimit, 60_001)).len(), 2);
    }

    #[test]
    fn waits_double_with_jitter_and_end_at_the_deadline() {
        let retry = Retry::default().attempts(4);
        let server = provider(ErrorKind::Server);
        assert_eq!(waits(&retry, &server), [SECOND, SECOND * 2, SECOND * 4]);
        assert_eq!(retry.wait(&server, 3, Duration::ZERO, 1.0), Some(SECOND * 3));
        assert_eq!(retry.wait(&server, 2, SECOND * 599, 0.0), None);
        assert_eq!(retry.wait(&server, 2, SECOND * 598, 0.0), Some(SECOND * 2));
        assert_eq!(waits(&Retry::never(), &server), NONE);
        assert_eq!(waits(&Retry::default().attempts(0), &server), NONE, "one try is the least");
        let many = Retry::default().attempts(1000).deadline(SECOND * 100_000);
        assert_eq!(many.wait(&server, 900, Duration::ZERO, 0.0), Some(SECOND * 60), "and no overflow");
    }
}

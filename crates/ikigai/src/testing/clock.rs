//! A clock that tests control.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use crate::time::{Clock, Sleep};

/// Time passes when a test says so, or, if the clock skips, whenever something waits.
#[derive(Debug, Clone)]
pub(crate) struct TestClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    now: Duration,
    today: SystemTime,
    skips: bool,
    waits: Vec<Duration>,
    waiting: Vec<Waker>,
}

impl TestClock {
    /// Returns a clock whose waits last until [`advance`](TestClock::advance).
    pub(crate) fn stopped() -> Self {
        TestClock::new(false)
    }

    /// Returns a clock whose waits end at once and are recorded.
    pub(crate) fn skipping() -> Self {
        TestClock::new(true)
    }

    fn new(skips: bool) -> Self {
        // 2026-11-15T00:00:00Z.
        let today = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_700_800);
        let state = State { now: Duration::ZERO, today, skips, waits: Vec::new(), waiting: Vec::new() };
        TestClock { state: Arc::new(Mutex::new(state)) }
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, span: Duration) {
        let mut state = self.state.lock().unwrap();
        state.now += span;
        for waker in state.waiting.drain(..) {
            waker.wake();
        }
    }

    /// Returns every wait that was requested, in order.
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.state.lock().unwrap().waits.clone()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.state.lock().unwrap().now
    }

    fn today(&self) -> SystemTime {
        let state = self.state.lock().unwrap();
        state.today + state.now
    }

    fn sleep(&self, span: Duration) -> Sleep {
        let shared = Arc::clone(&self.state);
        let mut until = None;
        Box::pin(std::future::poll_fn(move |cx| {
            let mut state = shared.lock().unwrap();
            let until = *until.get_or_insert_with(|| {
                state.waits.push(span);
                state.now + span
            });
            if state.skips {
                state.now = state.now.max(until);
            }
            if state.now >= until {
                return Poll::Ready(());
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        }))
    }
}

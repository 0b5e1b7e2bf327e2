//! Clocks: time can be supplied from outside, so that waits and deadlines can be tested without waiting.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

/// A wait, as a [`Clock`] returns it.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Tells the time and waits. The default is the system's clock; a test can supply its own.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the time since some fixed moment. It never goes backwards.
    fn now(&self) -> Duration;

    /// Returns the wall-clock time, for dates that a provider sends.
    fn today(&self) -> SystemTime;

    /// Waits for this long.
    fn sleep(&self, span: Duration) -> Sleep;
}

/// The system's clock. Its waits need a tokio runtime with time, as every request does.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn today(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, span: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(span))
    }
}

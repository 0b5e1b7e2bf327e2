//! Large requests are translated a few at a time: while it is translated, one of many small values takes a hundred times
//! its size in memory, and more at once would not be done sooner.

use std::sync::Arc;
use std::thread;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::generate::LARGE;

/// Decides when large requests are translated.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

/// The turn of a large request, from decoding it until it is encoded for its provider.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// As many at once as there are processors.
    pub(crate) fn new() -> Self {
        let most = thread::available_parallelism().map_or(2, usize::from).max(2);
        Turns(Arc::new(Semaphore::new(most)))
    }

    /// Waits for the turn of a request of this many bytes. Nothing waits for the network in its turn, so no one waits
    /// long.
    pub(crate) async fn wait(&self, bytes: usize) -> Turn {
        if bytes <= LARGE {
            return Turn::default();
        }
        // It is never closed.
        Turn { _permit: Arc::clone(&self.0).acquire_owned().await.ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn large_requests_wait_and_small_ones_do_not() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let first = turns.wait(LARGE + 1).await;
        turns.wait(LARGE).await;
        let mut next = Box::pin(turns.wait(LARGE + 1));
        let waits = std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx).is_pending())).await;
        assert!(waits);
        drop(first);
        next.await;
    }
}

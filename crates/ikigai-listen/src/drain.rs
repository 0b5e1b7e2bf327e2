//! Graceful shutdown: connections are told that the server stops, and waited for.

use std::pin::{Pin, pin};
use std::task::{Poll, Waker};

use tokio::sync::watch;
use tokio::task::unconstrained;

/// The signal to connections that the server stops. Dropping it sends the signal, too.
#[derive(Debug, Default)]
pub struct Drain(watch::Sender<()>);

/// One connection's receiver of the signal. The connection counts as open until this is dropped.
#[derive(Debug)]
pub struct Watcher(watch::Receiver<()>);

impl Drain {
    /// Creates the signal for the connections of one server.
    pub fn new() -> Self {
        Drain::default()
    }

    /// Returns the receiver for one connection.
    pub fn watcher(&self) -> Watcher {
        Watcher(self.0.subscribe())
    }

    /// Tells all connections that the server stops, and waits for the last of them to end.
    pub async fn finish(self) {
        let _ = self.0.send(());
        self.0.closed().await;
    }
}

impl Watcher {
    /// Runs `work`. If the server stops before it is done, `stop` is called once, and `work` goes on. `turn` is called
    /// each time before `work` is polled.
    pub(crate) async fn watch<W: Future>(
        &mut self,
        mut work: Pin<Box<W>>,
        turn: impl Fn(),
        stop: impl FnOnce(Pin<&mut W>),
    ) -> W::Output {
        let news = self.0.clone();
        // Unconstrained: once polled, it is registered for news even if the task has used up its budget.
        let mut told = pin!(unconstrained(self.0.changed()));
        let mut stop = Some(stop);
        let mut waker: Option<Waker> = None;
        std::future::poll_fn(|cx| {
            // Polled only if there is news, or a new waker: `work` is polled far more often.
            let is_known = waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
            if stop.is_some() && (!is_known || news.has_changed().unwrap_or(true)) {
                waker = Some(cx.waker().clone());
                if told.as_mut().poll(cx).is_ready()
                    && let Some(stop) = stop.take()
                {
                    stop(work.as_mut());
                }
            }
            turn();
            work.as_mut().poll(cx)
        })
        .await
    }

    /// Returns the outcome of `work`, or `None` if the server stops first.
    pub(crate) async fn unless_stopped<W: Future>(&mut self, mut work: Pin<Box<W>>) -> Option<W::Output> {
        let mut told = pin!(self.0.changed());
        std::future::poll_fn(|cx| match told.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => work.as_mut().poll(cx).map(Some),
        })
        .await
    }
}

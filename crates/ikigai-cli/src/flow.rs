//! A request on its way, and the answer that comes of it.

use std::future::Future;
use std::pin::Pin;

use ikigai::{Event, Loss, Message, Model, Response, Severity, Stream};

/// A request on its way, or the answer that comes of it.
pub(crate) enum Flow {
    /// It is on its way.
    Opening(Pin<Box<dyn Future<Output = Result<Stream, ikigai::Error>> + Send>>),
    /// The answer comes.
    Open(Box<Stream>),
}

impl Flow {
    /// Asks.
    pub(crate) fn open(model: Model, history: Vec<Message>) -> Self {
        Flow::Opening(Box::pin(async move { model.stream(history).await }))
    }

    /// The next event; none at the end. It may be given up and called again, but not after an error.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, ikigai::Error> {
        if let Flow::Opening(opening) = self {
            let stream = opening.as_mut().await?;
            *self = Flow::Open(Box::new(stream));
        }
        match self {
            Flow::Open(stream) => stream.next_event().await,
            Flow::Opening(_) => Ok(None),
        }
    }

    /// What has come of the answer that is being written, or of the last one.
    pub(crate) fn so_far(&self) -> Option<Response> {
        match self {
            Flow::Open(stream) => Some(stream.so_far().clone()),
            Flow::Opening(_) => None,
        }
    }
}

/// What a request could not carry, the same thing at several places once.
pub(crate) fn lost(warnings: &[Loss]) -> Vec<String> {
    losses(warnings).into_iter().map(|(words, _)| words).collect()
}

/// The same, with at how many places.
pub(crate) fn losses(warnings: &[Loss]) -> Vec<(String, usize)> {
    let losses = warnings.iter().filter(|loss| loss.severity == Severity::Loss);
    let mut all: Vec<(String, usize)> = Vec::new();
    for loss in losses {
        let told = format!("{}: {}", loss.what, loss.why);
        match all.iter_mut().find(|(words, _)| *words == told) {
            Some((_, count)) => *count += 1,
            None => all.push((told, 1)),
        }
    }
    all
}

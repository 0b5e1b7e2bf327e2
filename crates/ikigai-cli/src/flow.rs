//! A request on its way, and the answer that comes of it.

use std::future::Future;
use std::pin::Pin;

use ikigai::{Event, Message, Model, Response, Stream};

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

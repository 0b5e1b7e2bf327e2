//! A streamed answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ikigai_core::{Block, Collector, Event, Message, Response, events};

use crate::answer::Answer;
use crate::call::Live;
use crate::error::Error;
use crate::pause::Before;
use crate::tools::run;
use crate::transport::Body;
use crate::turn::{Asked, Begun, Next, Turn};

/// How long the end of a connection may take after the end of an answer, so that the connection can be reused.
const DRAIN: Duration = Duration::from_secs(2);

type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A streamed answer.
///
/// ```
/// # async fn f() -> Result<(), ikigai::Error> {
/// let mut stream = ikigai::model("openai:gpt-5.4/high")?.stream("Tell me a story.").await?;
/// while let Some(text) = stream.text().await? {
///     print!("{text}");
/// }
/// let answer = stream.finish().await?;
/// println!("{:?} {:?}", answer.finish_reason(), answer.cost());
/// # Ok(())
/// # }
/// ```
///
/// It is also a [`futures` stream](futures_util::Stream) of its events, for the combinators of `futures` and the bodies
/// of web servers.
///
/// Nothing is read ahead. Dropping the stream ends the request and frees its connection. All methods are cancel-safe:
/// you can drop them at any await and call them again. An error contains what had arrived: [`Error::partial`].
#[must_use = "nothing is read until it is asked for"]
pub struct AnswerStream {
    /// Absent while the next request has it.
    turn: Option<Turn>,
    /// The complete messages, while the turn is absent.
    complete: Vec<Message>,
    phase: Phase,
    collector: Collector,
    /// The part of the answer from before a pause.
    before: Option<Before>,
    /// Decoded events that are waiting to be read, the next one last.
    ready: Vec<Event>,
    /// What ended the stream too early.
    error: Option<Error>,
    /// Whether the error is still to be returned to the caller.
    untold: bool,
}

enum Phase {
    /// An answer is being read.
    Reading(Box<Live>, Option<Asked>),
    /// Tools are being run.
    Running(Later<Vec<Block>>),
    /// The next request is being sent.
    Opening(Later<(Turn, Result<Begun, Error>)>),
    /// The stream is over.
    Ended,
}

impl AnswerStream {
    pub(crate) async fn open(mut turn: Turn) -> Result<Self, Error> {
        let begun = turn.ask_live().await?;
        let mut stream = AnswerStream {
            turn: Some(turn),
            complete: Vec::new(),
            phase: Phase::Ended,
            collector: Collector::default(),
            before: None,
            ready: Vec::new(),
            error: None,
            untold: false,
        };
        stream.begin(begun);
        Ok(stream)
    }

    /// Returns the next piece of the text; `None` at the end. Thinking and tool calls are skipped.
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted. The error contains what had arrived.
    pub async fn text(&mut self) -> Result<Option<String>, Error> {
        while let Some(event) = self.next_event().await? {
            if let Event::TextDelta { text, .. } = event {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Returns the next event; `None` at the end. If tools are run, another answer follows the end of the one that
    /// called them.
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted. The error contains what had arrived.
    pub async fn next_event(&mut self) -> Result<Option<Event>, Error> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await.transpose()
    }

    /// Reads the rest of the answer and returns all of it.
    ///
    /// # Errors
    /// Returns an error if the answer is interrupted, or was before. The error contains what had arrived.
    pub async fn finish(mut self) -> Result<Answer, Error> {
        while self.next_event().await?.is_some() {}
        self.settle()
    }

    /// Returns the whole answer once everything has been read.
    pub(crate) fn settle(mut self) -> Result<Answer, Error> {
        match (self.error.take(), self.turn.take()) {
            (Some(error), _) => Err(error),
            (None, Some(turn)) => turn.finish(),
            (None, None) => Err(Error::new(ikigai_core::Error::protocol("the stream has no end"))),
        }
    }

    /// Reads the rest and returns the last response. An interrupted one has the finish reason `error`.
    pub async fn collect(mut self) -> Response {
        loop {
            match self.next_event().await {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return broken(&error),
            }
        }
        match (self.error.take(), self.turn.take().map(Turn::finish)) {
            (None, Some(Ok(answer))) => answer.into_response(),
            (Some(error), _) | (None, Some(Err(error))) => broken(&error),
            (None, None) => Collector::default().finish(),
        }
    }

    /// Returns what has arrived of the current answer, or else the last answer.
    pub fn so_far(&self) -> &Response {
        let last = || self.turn.as_ref().and_then(Turn::last_response);
        match (&self.phase, &self.error) {
            (Phase::Ended, Some(error)) => error.partial().or_else(last),
            (Phase::Ended | Phase::Running(_), None) => last(),
            _ => None,
        }
        .unwrap_or(self.collector.so_far())
    }

    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        loop {
            while let Some(event) = self.ready.pop() {
                if let Some(event) = self.pass(event) {
                    return Poll::Ready(Some(Ok(event)));
                }
            }
            if std::mem::take(&mut self.untold) {
                return Poll::Ready(self.error.clone().map(Err));
            }
            match &mut self.phase {
                Phase::Reading(live, _) => match ready!(live.poll_bytes(cx)) {
                    Some(Ok(bytes)) => {
                        live.decode(&bytes, &mut self.ready);
                        self.ready.reverse();
                    }
                    Some(Err(fault)) => self.fail(Error::new(fault)),
                    None => {
                        live.end(&mut self.ready);
                        self.ready.reverse();
                        if self.ready.is_empty() {
                            self.fail(Error::new(ikigai_core::Error::protocol("the stream ended without its end")));
                        }
                    }
                },
                Phase::Running(running) => {
                    let results = ready!(running.as_mut().poll(cx));
                    self.phase = Phase::Ended;
                    if let Some(turn) = &mut self.turn {
                        turn.resume(results);
                        self.ask_again();
                    }
                }
                Phase::Opening(opening) => {
                    let (turn, begun) = ready!(opening.as_mut().poll(cx));
                    self.turn = Some(turn);
                    match begun {
                        Ok(begun) => self.begin(begun),
                        Err(error) => self.end(error),
                    }
                }
                Phase::Ended => return Poll::Ready(None),
            }
        }
    }

    /// Stops here. Returns the complete messages, and what had arrived of an incomplete answer.
    pub(crate) fn give_up(mut self) -> (Vec<Message>, Option<Response>) {
        if let Some(error) = &self.error {
            return (error.messages().to_vec(), error.partial().cloned());
        }
        let partial = match &self.phase {
            Phase::Reading(..) => Some(std::mem::take(&mut self.collector).finish()),
            Phase::Opening(_) if self.before.is_some() => Some(std::mem::take(&mut self.collector).finish()),
            Phase::Running(_) | Phase::Opening(_) | Phase::Ended => None,
        };
        (self.turn.take().map_or(self.complete, Turn::into_messages), partial)
    }

    /// Sends the turn's next request.
    fn ask_again(&mut self) {
        if let Some(mut turn) = self.turn.take() {
            self.complete = turn.messages().to_vec();
            self.phase = Phase::Opening(Box::pin(async move {
                let begun = turn.ask_live().await;
                (turn, begun)
            }));
        }
    }

    fn begin(&mut self, begun: Begun) {
        let Begun { mut live, asked } = begun;
        self.ready = std::mem::take(&mut live.ready);
        if self.before.is_none() {
            self.collector = Collector::default();
        }
        self.phase = Phase::Reading(live, Some(asked));
    }

    /// Records an event on its way to the caller. Returns `None` if it is the failure of the answer or belongs to a
    /// pause, which the caller does not see.
    fn pass(&mut self, event: Event) -> Option<Event> {
        if let Event::Error { error } = event {
            let error = match &self.phase {
                Phase::Reading(live, _) => live.head.failure(*error),
                Phase::Running(_) | Phase::Opening(_) | Phase::Ended => Error::new(error),
            };
            self.fail(error);
            return None;
        }
        let mut event = match &mut self.before {
            Some(before) => before.place(event)?,
            None => event,
        };
        let is_given_up = event.is_pause() && self.turn.as_ref().is_some_and(Turn::is_given_up);
        if let Event::Done { finish_reason, .. } = &mut event
            && is_given_up
        {
            *finish_reason = ikigai_core::pause::GIVEN_UP;
        }
        self.collector.note(&event);
        let is_done = matches!(event, Event::Done { .. });
        let goes_on = is_done && self.turn.as_ref().is_some_and(|turn| turn.goes_on(self.collector.so_far()));
        if let Some(turn) = self.turn.as_ref().filter(|_| !goes_on) {
            turn.client().hooks().on_event(&event);
        }
        if is_done {
            self.complete();
        }
        (!goes_on).then_some(event)
    }

    /// Decides what follows a complete answer.
    fn complete(&mut self) {
        let Phase::Reading(live, Some(asked)) = std::mem::replace(&mut self.phase, Phase::Ended) else { return };
        let (head, body) = live.into_parts();
        drain(body);
        let Some(turn) = &mut self.turn else { return };
        let whole = std::mem::take(&mut self.collector).finish();
        let response = match self.before.take() {
            Some(before) => before.after(whole),
            None => whole,
        };
        match turn.complete(response, head, asked) {
            Ok(Next::Done) => {}
            Ok(Next::Continue) => {
                if let Some(paused) = turn.paused() {
                    self.before = Some(Before::new(paused));
                    self.collector.extend(events(paused).into_iter().filter(|event| !event.is_terminal()));
                }
                self.ask_again();
            }
            Ok(Next::Tools(calls)) => self.phase = Phase::Running(Box::pin(run(turn.runner(), calls))),
            Err(error) => self.end(error),
        }
    }

    /// Handles an interrupted answer: what had arrived is kept in the error, and the connection is dropped.
    fn fail(&mut self, mut error: Error) {
        let mut partial = std::mem::take(&mut self.collector).finish();
        // The cause is the error itself, which says more than the collector.
        partial.error = None;
        let asked = match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Reading(_, asked) => asked,
            Phase::Running(_) | Phase::Opening(_) | Phase::Ended => None,
        };
        if let (Some(asked), Some(turn)) = (asked, &self.turn) {
            error = error.at(&asked.name);
            partial.warnings.splice(0..0, asked.losses);
            crate::trace::failed(&asked.span, &error, turn.since(asked.began));
        }
        error = error.with_partial(partial).charged();
        if let Some(turn) = &mut self.turn {
            error = turn.failed(error);
        }
        self.end(error);
    }

    fn end(&mut self, error: Error) {
        self.phase = Phase::Ended;
        self.ready.clear();
        self.error = Some(error);
        self.untold = true;
    }
}

/// Returns the answer that an error cut off.
fn broken(error: &Error) -> Response {
    let mut response = error.partial().cloned().unwrap_or_default();
    response.finish_reason = ikigai_core::FinishReason::Error;
    response.error = Some(Box::new(error.canonical()));
    response
}

/// Reads the body of a complete answer to its end, so that its connection can be reused.
fn drain(mut body: Body) {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    // Usually the end has already arrived.
    for _ in 0..4 {
        match body.poll_next(&mut cx) {
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(_) => return,
            Poll::Pending => break,
        }
    }
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            let _ = tokio::time::timeout(DRAIN, async { while let Some(Ok(_)) = body.next().await {} }).await;
        });
    }
}

impl futures_util::Stream for AnswerStream {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(cx)
    }
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream")
            .field("so_far", self.so_far())
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;

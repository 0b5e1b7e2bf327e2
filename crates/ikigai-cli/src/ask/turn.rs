//! One question and its answer: as it is being written, when it is complete, or as JSON.

use std::sync::Arc;
use std::time::Duration;

use ikigai::{Answer, Approval, ErrorKind, Event, FinishReason, Model, Money, Response};
use serde_json::Value;

use super::Ask;
use super::emit::Emit;
use crate::access::SIMULATOR;
use crate::chat::{Session, sum};
use crate::exit::{Exit, Failure};
use crate::flow::Flow;
use crate::output::Out;
use crate::record::{Recorder, as_simulated};
use crate::tools::Decision;
use crate::watch::{Note, Paid};

/// A question that is being asked.
pub(super) struct Asked<'a, 'o> {
    emit: Emit<'o>,
    paid: Paid,
    /// The cost of all requests so far.
    spent: Option<Money>,
    ask: &'a Ask,
}

impl<'a, 'o> Asked<'a, 'o> {
    pub(super) fn new(ask: &'a Ask, out: &'o mut Out) -> Self {
        Asked { emit: Emit::new(ask, out), paid: Paid::default(), spent: None, ask }
    }
}

impl Asked<'_, '_> {
    pub(super) async fn run(
        &mut self,
        model: Model,
        schema: Option<Value>,
        session: &mut Session,
    ) -> Result<Exit, Failure> {
        match schema {
            Some(schema) => self.extract(model, schema, session).await,
            None if self.ask.no_stream => self.whole(model, session).await,
            None => self.streamed(model, session).await,
        }
    }

    /// Streams the answer, and saves it as it grows.
    async fn streamed(&mut self, model: Model, session: &mut Session) -> Result<Exit, Failure> {
        let conversation = session.conversation().await?;
        let recorder = Recorder::new(Arc::clone(&session.store), conversation, model.name().clone());
        let history = session.history();
        let meter = session.meter(&history, "Ctrl-C");
        let mut recorder = recorder.simulated(session.access.is_simulated()).metered(&meter);
        self.emit.begin(meter)?;
        let mut flow = Flow::open(model, history);
        let mut last = None;
        let mut cost = None;
        let mut frames = tokio::time::interval(Duration::from_millis(33));
        // One listener for the whole answer: between two of them, a Ctrl-C would be lost.
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let outcome = loop {
            let next = tokio::select! {
                biased;
                Some(note) = session.notes.recv() => {
                    match self.note(note, session, Some(&mut recorder)).await {
                        Ok(()) => continue,
                        Err(failure) => break Err(Stop::Output(failure)),
                    }
                }
                _ = &mut interrupt => break Err(Stop::Interrupted),
                next = flow.next() => next,
                _ = frames.tick() => {
                    self.emit.draw()?;
                    continue;
                }
            };
            let mut failed = None;
            while let (None, Ok(note)) = (&failed, session.notes.try_recv()) {
                failed = self.note(note, session, Some(&mut recorder)).await.err();
            }
            if let Some(failure) = failed {
                break Err(Stop::Output(failure));
            }
            match next {
                Ok(Some(event)) => {
                    if let Err(failure) = self.emit.event(&event) {
                        break Err(Stop::Output(failure));
                    }
                    if !matches!(event, Event::Done { .. }) {
                        recorder.event(&event).await?;
                    } else if let Some(response) = flow.so_far() {
                        let paid = std::mem::take(&mut self.paid);
                        cost = sum(cost, paid.cost);
                        self.emit.paid(response.usage.as_ref(), paid.cost);
                        recorder.answer(response.clone(), paid).await?;
                        last = Some(response);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(Stop::Failed(Box::new(error))),
            }
        };
        let partial = match &outcome {
            Ok(()) => None,
            Err(Stop::Failed(error)) => error.partial().cloned(),
            Err(Stop::Interrupted | Stop::Output(_)) => flow.so_far(),
        };
        drop(flow);
        recorder.end(partial).await?;
        match outcome {
            Ok(()) => self.finish(last.unwrap_or_default(), cost, session),
            Err(stop) => {
                self.emit.broken()?;
                Err(stop.into())
            }
        }
    }

    /// Waits for the complete answer.
    async fn whole(&mut self, model: Model, session: &mut Session) -> Result<Exit, Failure> {
        let history = session.history();
        let asking = async { model.ask(history).await };
        let answer = self.wait(asking, session).await?;
        self.keep(&answer, session).await?;
        let cost = answer.cost().map(|cost| cost.total());
        self.emit.whole(&answer)?;
        self.finish(answer.into_response(), cost, session)
    }

    /// Waits for JSON that matches a schema.
    async fn extract(&mut self, model: Model, schema: Value, session: &mut Session) -> Result<Exit, Failure> {
        let history = session.history();
        let asking = async { model.extract_json_stream(schema, history).await?.finish_with_answer().await };
        let (value, answer) = self.wait(asking, session).await?;
        self.keep(&answer, session).await?;
        let cost = answer.cost().map(|cost| cost.total());
        self.emit.value(&value, &answer)?;
        self.finish(answer.into_response(), cost, session)
    }

    /// Waits for an answer, handles Ctrl-C, and reports what happens meanwhile.
    async fn wait<T>(
        &mut self,
        asking: impl Future<Output = Result<T, ikigai::Error>>,
        session: &mut Session,
    ) -> Result<T, Failure> {
        tokio::pin!(asking);
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        loop {
            tokio::select! {
                biased;
                Some(note) = session.notes.recv() => self.note(note, session, None).await?,
                _ = &mut interrupt => return Err(Failure::interrupted()),
                outcome = &mut asking => return Ok(outcome?),
            }
        }
    }

    /// Saves a complete turn.
    async fn keep(&mut self, answer: &Answer, session: &mut Session) -> Result<(), Failure> {
        let conversation = session.conversation().await?;
        let count = answer.messages().len();
        let simulated = session.access.is_simulated();
        let entries = answer.messages().iter().enumerate().map(|(place, message)| {
            let mut entry = ikigai_store::Entry::new(message.clone());
            if place + 1 == count {
                entry.usage = answer.usage();
                entry.cost = answer.cost().map(|cost| cost.total());
                entry.finish_reason = Some(answer.finish_reason());
            }
            if simulated && entry.message.provider.is_some() { as_simulated(entry) } else { entry }
        });
        session.store.append_all(conversation, entries.collect()).await?;
        Ok(())
    }

    async fn note(&mut self, note: Note, session: &Session, recorder: Option<&mut Recorder>) -> Result<(), Failure> {
        match note {
            Note::Retry { attempt, wait, made, most } => self.emit.retry(&attempt, wait, made, most),
            Note::Step(paid) => {
                self.paid = session.access.paid(paid);
                self.spent = sum(self.spent, self.paid.cost);
            }
            Note::Result(call, result) => {
                if let Some(recorder) = recorder {
                    recorder.result(&result);
                }
                self.emit.result(&call, &result)?;
            }
            Note::Approve(call, answer) => {
                // After a call comes another request.
                if let Some(failure) = session.spent_up(self.spent) {
                    return Err(failure);
                }
                let told = session.tooling.describe(&call).await;
                let named = self.ask.allow.iter().any(|name| *name == call.name || name == "all");
                let approval = match session.tooling.decide(&call, &told) {
                    Decision::Run => Approval::Allow,
                    Decision::Refuse(why) => Approval::Deny(why),
                    Decision::Ask(_) if named => Approval::Allow,
                    Decision::Ask(_) => {
                        Approval::Deny(format!("not allowed; the user can allow it with --allow {}", call.name))
                    }
                };
                self.emit.call(&told.line, approval == Approval::Allow)?;
                let _ = answer.send(approval);
            }
        }
        Ok(())
    }

    /// Reports what remains to be said, and returns how the program ends.
    fn finish(&mut self, response: Response, cost: Option<Money>, session: &Session) -> Result<Exit, Failure> {
        let provider = session.choice.as_ref().map(|choice| choice.name.provider.as_str());
        let simulated = session.access.is_simulated();
        let (provider, cost) = if simulated { (Some(SIMULATOR), None) } else { (provider, cost) };
        self.emit.end(&response, cost, provider.unwrap_or_default())?;
        for words in crate::flow::lost(&response.warnings) {
            self.emit.warning(&words);
        }
        if let Some(warning) = verdict(response.finish_reason, self.ask.fail_on_length)? {
            self.emit.warning(warning);
        }
        Ok(Exit::Ok)
    }
}

/// Returns what the end of an answer means for the caller: a failure, a warning, or nothing.
pub(super) fn verdict(reason: FinishReason, fail_on_length: bool) -> Result<Option<&'static str>, Failure> {
    match reason {
        FinishReason::ContentFilter => Err(Failure::new("the provider refused to answer")
            .exit(Exit::Refused)
            .hint("Sending it again will not help; try rephrasing it.")),
        FinishReason::Length if fail_on_length => Err(Failure::new("the answer hit the length limit")
            .exit(Exit::CutOff)
            .hint("Raise the limit: -o max_output_tokens 16000")),
        FinishReason::Length => Ok(Some("the answer hit the length limit; raise it with -o max_output_tokens N")),
        _ => Ok(None),
    }
}

/// Why an answer is incomplete.
enum Stop {
    Interrupted,
    Output(Failure),
    Failed(Box<ikigai::Error>),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Interrupted => Failure::interrupted(),
            Stop::Output(failure) => failure,
            Stop::Failed(error) if error.kind() == ErrorKind::Cancelled => Failure::interrupted(),
            Stop::Failed(error) => Failure::from(*error),
        }
    }
}

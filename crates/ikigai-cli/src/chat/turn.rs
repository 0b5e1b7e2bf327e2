//! One turn of the chat: asks the model, draws and saves the answer, handles keys.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ikigai::{Approval, ErrorKind, Event, FinishReason, Role, ToolCall, Usage};
use ikigai_store::State;
use tokio::sync::oneshot;

use super::keys::{Key, Keys, Typing};
use super::meter::sum;
use super::question::{Heard, Reply};
use super::session::{Sent, Session};
use super::view::View;
use crate::exit::Failure;
use crate::flow::{Flow, lost};
use crate::record::Recorder;
use crate::screen::notice;
use crate::tools::Decision;
use crate::watch::{Note, Paid};

/// What the model is told about a call that the user declined.
const DECLINED: &str = "the user declined it";

/// The shortest time between two frames on the screen.
pub(crate) const FRAME: Duration = Duration::from_millis(33);

/// How a turn ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The answer is complete.
    Whole,
    /// The user stopped it.
    Stopped,
    /// It was interrupted or did not even start.
    Failed(ikigai::Error),
    /// It reached the cost limit.
    TooDear(Failure),
}

/// The result of a turn that is over.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) ended: Ended,
    /// What was typed meanwhile: complete lines, and an unfinished one.
    pub(crate) lines: Vec<String>,
    pub(crate) typed: String,
    /// Whether Ctrl-T was pressed.
    pub(crate) show_thinking: bool,
}

impl Outcome {
    /// Adds the keys that were pressed after the turn was over.
    pub(crate) fn with(mut self, keys: Vec<Key>) -> Self {
        self.show_thinking |= keys.contains(&Key::Thinking);
        let Typing { lines, typed } = Typing { lines: self.lines, typed: self.typed }.with(keys);
        (self.lines, self.typed) = (lines, typed);
        self
    }
}

/// Asks the model to continue the conversation.
pub(crate) async fn run(session: &mut Session, view: &mut View, keys: &mut Keys) -> Result<Outcome, Failure> {
    let model = session.model()?;
    let Some(choice) = session.choice.clone() else { return Err(session.no_model()) };
    session.remember_model().await?;
    let history = session.history();
    let conversation = session.conversation().await?;
    let recorder = Recorder::new(Arc::clone(&session.store), conversation, choice.name.clone());
    let meter = session.meter(&history, "Esc");
    let recorder = recorder.simulated(session.access.is_simulated()).metered(&meter);
    // What was approved in an answer that was stopped is no longer valid.
    session.tooling.scope().forget_promises();
    view.begin(meter)?;
    session.sent = Some(Sent { model: model.clone(), messages: history.clone(), answer: None });
    let mut turn = Turn {
        flow: Flow::open(model, history),
        recorder,
        question: None,
        paid: Paid::default(),
        usage: None,
        cost: None,
        finish_reason: None,
        typed: String::new(),
        outcome: Outcome { ended: Ended::Whole, lines: Vec::new(), typed: String::new(), show_thinking: false },
    };
    turn.drive(session, view, keys).await?;
    turn.finish(session, view).await
}

struct Turn {
    flow: Flow,
    recorder: Recorder,
    /// Receives the answer to the question on the screen.
    question: Option<oneshot::Sender<Approval>>,
    paid: Paid,
    usage: Option<Usage>,
    cost: Option<ikigai::Money>,
    finish_reason: Option<FinishReason>,
    typed: String,
    outcome: Outcome,
}

impl Turn {
    async fn drive(&mut self, session: &mut Session, view: &mut View, keys: &mut Keys) -> Result<(), Failure> {
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // In case the terminal turns Ctrl-C into a signal.
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        loop {
            tokio::select! {
                biased;
                _ = &mut interrupt => {
                    self.outcome.ended = Ended::Stopped;
                    return Ok(());
                }
                Some(note) = session.notes.recv() => {
                    self.note(note, session, view).await?;
                    if matches!(self.outcome.ended, Ended::TooDear(_)) {
                        return Ok(());
                    }
                }
                key = keys.next() => {
                    if self.key(key, session, view, keys)? {
                        self.outcome.ended = Ended::Stopped;
                        return Ok(());
                    }
                }
                next = self.flow.next() => {
                    // Notes that came before this event are handled first.
                    while let Ok(note) = session.notes.try_recv() {
                        self.note(note, session, view).await?;
                    }
                    match next {
                        Ok(Some(event)) => self.event(&event, session, view).await?,
                        Ok(None) => return Ok(()),
                        Err(error) => {
                            self.outcome.ended = Ended::Failed(error);
                            return Ok(());
                        }
                    }
                }
                _ = frames.tick() => view.draw()?,
            }
        }
    }

    async fn event(&mut self, event: &Event, session: &mut Session, view: &mut View) -> Result<(), Failure> {
        view.event(event)?;
        if !matches!(event, Event::Done { .. }) {
            return Ok(self.recorder.event(event).await?);
        }
        let Some(response) = self.flow.so_far() else { return Ok(()) };
        self.finish_reason = Some(response.finish_reason);
        for words in lost(&response.warnings) {
            // Once is enough: after a switch of models, the same is left out of every request.
            if session.told.insert(words.clone()) {
                view.warn(&words)?;
            }
        }
        view.paid(response.usage.as_ref(), self.paid.cost);
        if let Some(usage) = &response.usage {
            self.usage = Some(self.usage.take().map_or_else(|| usage.clone(), |before| before.and(usage)));
        }
        let paid = std::mem::take(&mut self.paid);
        self.cost = sum(self.cost, paid.cost);
        Ok(self.recorder.answer(response, paid).await?)
    }

    async fn note(&mut self, note: Note, session: &mut Session, view: &mut View) -> Result<(), Failure> {
        match note {
            Note::Retry { attempt, wait, made, most } => view.retry(&attempt, wait, made, most),
            Note::Step(paid) => self.paid = session.access.paid(paid),
            Note::Result(call, result) => {
                self.recorder.result(&result);
                view.result(&call, &result)?;
            }
            Note::Approve(call, answer) => self.approve(call, answer, session, view).await?,
        }
        Ok(())
    }

    /// Decides whether a call may be run, or asks the user.
    async fn approve(
        &mut self,
        call: ToolCall,
        answer: oneshot::Sender<Approval>,
        session: &mut Session,
        view: &mut View,
    ) -> Result<(), Failure> {
        // After a call comes another request.
        if let Some(failure) = session.spent_up(sum(self.cost, self.paid.cost)) {
            self.outcome.ended = Ended::TooDear(failure);
            return Ok(());
        }
        let told = session.tooling.describe(&call).await;
        match session.tooling.decide(&call, &told) {
            Decision::Run => {
                view.running(&told.line)?;
                let _ = answer.send(Approval::Allow);
            }
            Decision::Refuse(why) => {
                view.refused(&told.line)?;
                let _ = answer.send(Approval::Deny(why));
            }
            Decision::Ask(rule) => {
                view.ask(&call.name, told, rule)?;
                self.question = Some(answer);
            }
        }
        Ok(())
    }

    /// Handles a key. Returns `true` if the turn has to stop.
    fn key(&mut self, key: Key, session: &mut Session, view: &mut View, keys: &mut Keys) -> Result<bool, Failure> {
        let key = match (key, &mut view.question) {
            (key @ (Key::Stop | Key::Suspend | Key::Resized(_)), _) | (key, None) => key,
            (key, Some(question)) => match question.key(key, &self.typed, Instant::now()) {
                Heard::Line(key) => key,
                Heard::Taken => return view.asked_on().map(|()| false),
                Heard::Answer(reply) => return self.answered(reply, session, view).map(|()| false),
            },
        };
        match key {
            Key::Stop => return Ok(true),
            Key::Suspend => {
                keys.suspend();
                view.woken()?;
            }
            Key::Thinking => self.outcome.show_thinking = true,
            Key::Resized(size) => view.resize(size)?,
            Key::Text(text) => {
                self.typed.push_str(&text);
                view.type_line(&self.typed, &self.outcome.lines)?;
            }
            Key::Back => {
                self.typed.pop();
                view.type_line(&self.typed, &self.outcome.lines)?;
            }
            Key::Clear => {
                self.typed.clear();
                view.type_line(&self.typed, &self.outcome.lines)?;
            }
            Key::Enter => {
                let line = std::mem::take(&mut self.typed);
                self.entered(line, view)?;
                view.type_line("", &self.outcome.lines)?;
            }
            Key::Up if self.typed.is_empty() => {
                self.typed = self.outcome.lines.pop().unwrap_or_default();
                view.type_line(&self.typed, &self.outcome.lines)?;
            }
            Key::Tab | Key::Up | Key::Down | Key::PageUp | Key::PageDown => {}
        }
        Ok(false)
    }

    /// Handles a line that was entered during an answer: it is sent next. The model cannot be switched meanwhile.
    fn entered(&mut self, line: String, view: &mut View) -> Result<(), Failure> {
        let command = line.split_whitespace().next().unwrap_or_default();
        if command == "/model" {
            view.refuse(
                "The model cannot be switched while an answer is being written.",
                "Press Esc to stop it, or wait.",
            )?;
        } else if !line.trim().is_empty() {
            self.outcome.lines.push(line);
        }
        Ok(())
    }

    /// Handles the user's decision about a call.
    fn answered(&mut self, reply: Reply, session: &mut Session, view: &mut View) -> Result<(), Failure> {
        let (Some(sender), Some(question)) = (self.question.take(), view.question.take()) else { return Ok(()) };
        let told = question.told().clone();
        let (words, approval) = match reply {
            Reply::Once => ("allowed once", Approval::Allow),
            Reply::Always(rule) => {
                session.tooling.always(rule)?;
                ("always allowed in this folder", Approval::Allow)
            }
            Reply::No(None) => ("declined", Approval::Deny(DECLINED.to_owned())),
            Reply::No(Some(reason)) => ("declined", Approval::Deny(format!("{DECLINED}: {reason}"))),
        };
        if approval == Approval::Allow
            && let Some(promise) = &told.promise
        {
            session.tooling.scope().promise(promise.clone());
        }
        view.answered(&question, words)?;
        let _ = sender.send(approval);
        Ok(())
    }

    async fn finish(mut self, session: &mut Session, view: &mut View) -> Result<Outcome, Failure> {
        let partial = match &self.outcome.ended {
            Ended::Whole => None,
            Ended::Stopped | Ended::TooDear(_) => self.flow.so_far(),
            Ended::Failed(error) => error.partial().cloned(),
        };
        let answer = partial.clone().or_else(|| self.flow.so_far());
        // Ends the request here, and with it the cost.
        drop(self.flow);
        view.end()?;
        let stored = self.recorder.end(partial).await?;
        let cut = stored.last().filter(|stored| stored.entry.state == State::Cut).and_then(|stored| stored.entry.cost);
        if let Some(sent) = &mut session.sent {
            // In a turn with tools, the last request counts: everything before the last answer.
            let last = stored.iter().rposition(|stored| stored.entry.message.role == Role::Assistant).unwrap_or(0);
            sent.messages.extend(stored.iter().take(last).map(|stored| stored.entry.message.clone()));
            sent.answer = answer;
        }
        session.thread.extend(stored);
        session.refresh().await?;
        if self.usage.is_some() || cut.is_some() || matches!(self.outcome.ended, Ended::Whole) {
            let cost = sum(self.cost, cut).map(|cost| notice::about(cost, cut.is_some()));
            view.summary(self.usage.as_ref(), cost)?;
        }
        match self.finish_reason {
            Some(FinishReason::ContentFilter) => {
                view.refuse(
                    "The provider's filter stopped this answer.",
                    "Asking again will not help; try rephrasing it.",
                )?;
                view.end()?;
            }
            Some(FinishReason::Length) => {
                view.warn("The answer hit the length limit. Type \"continue\" for the rest.")?
            }
            _ => {}
        }
        self.outcome.typed = self.typed;
        Ok(self.outcome)
    }
}

/// Returns the message and hint for a failed turn.
pub(crate) fn told(error: &ikigai::Error) -> (String, Option<String>) {
    let failure = Failure::from(error);
    let kept = error.partial().is_some_and(|partial| !partial.content.is_empty());
    let hint = match error.kind() {
        // The same request would be filtered again.
        ErrorKind::ContentFiltered | ErrorKind::Auth | ErrorKind::Permission | ErrorKind::Quota => failure.hint,
        ErrorKind::ContextTooLong => Some("/compact to make room, or /model to choose a larger one.".to_owned()),
        ErrorKind::InvalidRequest | ErrorKind::NotFound => failure.hint,
        _ if kept => Some("The partial answer is saved; /retry to ask again.".to_owned()),
        _ => Some("/retry to ask again; otherwise it is left out of the conversation.".to_owned()),
    };
    (failure.what, hint)
}

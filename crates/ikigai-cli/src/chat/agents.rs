//! Sub-agents: child conversations with their own models, which run in the background.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ikigai::{Approval, Client, Event, Message, Money, Role};
use ikigai_store::{ConversationId, Store, Stored};
use tokio::task::JoinHandle;

use super::session::Choice;
use super::tooling::Tooling;
use crate::access::Access;
use crate::exit::Failure;
use crate::record::{self, Recorder};
use crate::screen::{clean, notice};
use crate::settings::ModelOptions;
use crate::tools::Decision;
use crate::watch::{Note, Notes, Paid, Watch};

/// The sub-agents of this chat.
#[derive(Debug)]
pub(crate) struct Agents {
    access: Access,
    printer: SyncSender<String>,
    all: Vec<Agent>,
}

/// One sub-agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) choice: Choice,
    pub(crate) prompt: String,
    status: Arc<Mutex<Status>>,
    began: Instant,
    task: JoinHandle<()>,
}

/// The status of an agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    /// Its answer so far, or all of it.
    pub(crate) text: String,
    /// What it is doing at the moment.
    pub(crate) doing: String,
    pub(crate) cost: Option<Money>,
    pub(crate) ended: Option<Result<(), String>>,
}

/// A task for a new agent.
pub(crate) struct Task {
    pub(crate) choice: Choice,
    pub(crate) prompt: String,
    /// Where its conversation is saved.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversation: ConversationId,
    pub(crate) thread: Vec<Stored>,
    pub(crate) system: Option<String>,
    pub(crate) tooling: Tooling,
    /// The options of requests to its model.
    pub(crate) options: ModelOptions,
}

impl Agents {
    pub(crate) fn new(access: Access, printer: SyncSender<String>) -> Self {
        Agents { access, printer, all: Vec::new() }
    }

    /// Starts an agent with its own connections. Returns its number.
    pub(crate) fn begin(&mut self, task: Task) -> Result<usize, Failure> {
        let (watch, notes) = Watch::new();
        let client = self.access.client(watch.clone())?;
        let number = self.all.len() + 1;
        let status = Arc::new(Mutex::new(Status { doing: "waiting".to_owned(), ..Status::default() }));
        let worker = Worker {
            client,
            notes,
            watch,
            access: self.access.clone(),
            store: Arc::clone(&task.store),
            status: Arc::clone(&status),
            printer: self.printer.clone(),
            number,
        };
        let (choice, prompt) = (task.choice.clone(), task.prompt.clone());
        let task = tokio::spawn(worker.work(task));
        self.all.push(Agent { choice, prompt, status, began: Instant::now(), task });
        Ok(number)
    }

    /// Returns an agent by its number, from 1.
    pub(crate) fn get(&self, number: usize) -> Result<&Agent, Failure> {
        let agent = number.checked_sub(1).and_then(|place| self.all.get(place));
        agent.ok_or_else(|| Failure::new(format!("there is no agent {number}")).hint("/agents lists them."))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Agent)> {
        self.all.iter().enumerate().map(|(place, agent)| (place + 1, agent))
    }

    /// Returns how many agents are still working, for the status line.
    pub(crate) fn status(&self) -> Option<String> {
        let working = self.all.iter().filter(|agent| agent.status().ended.is_none()).count();
        (working > 0).then(|| notice::several(working as u64, "agent"))
    }
}

impl Agent {
    pub(crate) fn status(&self) -> Status {
        lock(&self.status).clone()
    }

    /// Stops the agent. What it has written stays.
    pub(crate) fn stop(&self) {
        self.task.abort();
        lock(&self.status).ended.get_or_insert_with(|| Err("stopped".to_owned()));
    }

    /// Describes the agent in one line: its model, status and task.
    pub(crate) fn line(&self) -> String {
        let status = self.status();
        let state = match &status.ended {
            None => format!("{} · {}", status.doing, notice::duration(self.began.elapsed())),
            Some(Ok(())) => "done".to_owned(),
            Some(Err(words)) => words.clone(),
        };
        let cost = status.cost.map(|cost| format!(" · {}", notice::money(cost))).unwrap_or_default();
        let words = notice::several(status.text.split_whitespace().count() as u64, "word");
        format!("{} · {state} · {words}{cost} · {}", self.choice.short(), first_line(&self.prompt))
    }
}

/// Does the work of an agent.
struct Worker {
    client: Client,
    access: Access,
    notes: Notes,
    watch: Watch,
    store: Arc<dyn Store>,
    status: Arc<Mutex<Status>>,
    printer: SyncSender<String>,
    number: usize,
}

impl Worker {
    async fn work(mut self, task: Task) {
        let (name, conversation) = (task.choice.short(), task.conversation);
        let outcome = self.turn(task).await;
        if let Err(words) = &outcome {
            self.failed(conversation, words).await;
        }
        let words = match &outcome {
            Ok(()) => format!("✓ Agent {0} ({name}) is done: /agents show {0}, /agents bring {0}", self.number),
            Err(words) => format!("✗ Agent {} ({name}): {words}", self.number),
        };
        lock(&self.status).ended = Some(outcome);
        // Shown when the user is at the prompt; dropped if the user still has a full queue of notices to read.
        let _ = self.printer.try_send(clean(&words).into_owned());
    }

    async fn turn(&mut self, task: Task) -> Result<(), String> {
        let model = task.choice.model(&self.client, task.system.as_deref(), &task.options);
        let model = self.watch.with_tools(model, task.tooling.callables());
        let simulated = self.access.is_simulated();
        let thread = if simulated { record::for_simulator(&task.thread) } else { task.thread };
        let history: Vec<Message> = record::sendable(&thread);
        let recorder = Recorder::new(Arc::clone(&self.store), task.conversation, task.choice.name.clone());
        let mut recorder = recorder.simulated(simulated);
        let mut stream = match model.stream(history).await {
            Ok(stream) => stream,
            Err(error) => return Err(error.to_string()),
        };
        let mut paid = Paid::default();
        let kept = |error: ikigai_store::Error| error.to_string();
        loop {
            let next = tokio::select! {
                biased;
                Some(note) = self.notes.recv() => {
                    self.note(note, &task.tooling, &mut recorder, &mut paid).await;
                    continue;
                }
                next = stream.next_event() => next,
            };
            while let Ok(note) = self.notes.try_recv() {
                self.note(note, &task.tooling, &mut recorder, &mut paid).await;
            }
            match next {
                Ok(Some(event)) => {
                    self.event(&event);
                    if matches!(event, Event::Done { .. }) {
                        let paid = std::mem::take(&mut paid);
                        recorder.answer(stream.so_far().clone(), paid).await.map_err(kept)?;
                    } else {
                        recorder.event(&event).await.map_err(kept)?;
                    }
                }
                Ok(None) => {
                    recorder.end(None).await.map_err(kept)?;
                    return Ok(());
                }
                Err(error) => {
                    recorder.end(error.partial().cloned()).await.map_err(kept)?;
                    return Err(error.to_string());
                }
            }
        }
    }

    /// Marks a question that got no answer, as the chat does. If that fails, it is just not marked.
    async fn failed(&self, conversation: ConversationId, why: &str) {
        let Ok(thread) = self.store.thread(conversation).await else { return };
        if let Some(last) = thread.into_iter().next_back().filter(|last| last.entry.message.role == Role::User) {
            let _ = self.store.finish(last.id, record::unanswered(last.entry, why)).await;
        }
    }

    fn event(&self, event: &Event) {
        let mut status = lock(&self.status);
        match event {
            Event::Start { .. } => status.text.clear(),
            Event::TextDelta { text, .. } => {
                status.text.push_str(text);
                status.doing = "writing".to_owned();
            }
            Event::ThinkingDelta { .. } => status.doing = "thinking".to_owned(),
            Event::ToolCallStart { name, .. } => status.doing = format!("calling {name}"),
            _ => {}
        }
    }

    async fn note(&self, note: Note, tooling: &Tooling, recorder: &mut Recorder, paid: &mut Paid) {
        match note {
            Note::Retry { attempt, made, most, .. } => {
                lock(&self.status).doing = format!("{}, attempt {} of {most}", attempt.kind, made + 1);
            }
            Note::Result(_, result) => recorder.result(&result),
            Note::Step(step) => {
                let step = self.access.paid(step);
                if let Some(cost) = step.cost {
                    let mut status = lock(&self.status);
                    status.cost = Some(status.cost.unwrap_or(Money::ZERO) + cost);
                }
                *paid = step;
            }
            Note::Approve(call, answer) => {
                // Nobody is watching an agent: a call that would need approval is refused.
                let told = tooling.describe(&call).await;
                let _ = answer.send(match tooling.decide(&call, &told) {
                    Decision::Run => Approval::Allow,
                    Decision::Refuse(why) => Approval::Deny(why),
                    Decision::Ask(_) => Approval::Deny("nobody is available to approve this; do without it".to_owned()),
                });
            }
        }
    }
}

fn lock(status: &Mutex<Status>) -> MutexGuard<'_, Status> {
    status.lock().unwrap_or_else(PoisonError::into_inner)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

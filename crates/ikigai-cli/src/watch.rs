//! What happens during a turn besides the answer itself, reported to the code that draws it.

use std::time::Duration;

use ikigai::{Approval, Attempt, Callable, Error, Hook, Model, Money, Step, ToolCall, ToolResult};
use tokio::sync::{mpsc, oneshot};

/// How many requests one turn with tools may take.
const MOST_STEPS: u32 = 64;

/// Something that happened during a turn.
#[derive(Debug)]
pub(crate) enum Note {
    /// An attempt failed; the next one follows after the wait.
    Retry {
        /// What went wrong.
        attempt: Attempt,
        /// How long until the next attempt.
        wait: Duration,
        /// The number of the failed attempt.
        made: u32,
        /// The maximum number of attempts.
        most: u32,
    },
    /// Asks whether this call may be run. Dropping the question means no.
    Approve(ToolCall, oneshot::Sender<Approval>),
    /// A tool has a result.
    Result(ToolCall, ToolResult),
    /// A request was answered in full.
    Step(Paid),
}

/// What a request cost.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paid {
    /// The provider that answered.
    pub(crate) provider: String,
    /// The cost, if the prices are known.
    pub(crate) cost: Option<Money>,
}

/// Sends notes. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Watch(mpsc::UnboundedSender<Note>);

/// The receiver of notes.
pub(crate) type Notes = mpsc::UnboundedReceiver<Note>;

impl Watch {
    pub(crate) fn new() -> (Self, Notes) {
        let (sender, notes) = mpsc::unbounded_channel();
        (Watch(sender), notes)
    }

    /// Adds these tools, if any, to the model, and asks here before each call.
    pub(crate) fn with_tools(&self, model: Model, tools: Vec<Callable>) -> Model {
        if tools.is_empty() { model } else { self.approving(model.tools(tools)).max_steps(MOST_STEPS) }
    }

    fn approving(&self, model: Model) -> Model {
        let sender = self.0.clone();
        model.approve(move |call| {
            let sender = sender.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                let refused = || Approval::Deny("the user declined it".to_owned());
                if sender.send(Note::Approve(call, answer)).is_err() {
                    return refused();
                }
                answered.await.unwrap_or_else(|_| refused())
            }
        })
    }

    fn send(&self, note: Note) {
        // Nobody is listening any longer when the program is about to end.
        let _ = self.0.send(note);
    }
}

impl Hook for Watch {
    fn on_attempt(&self, attempt: &Attempt, made: u32, most: u32) {
        if let Some(wait) = attempt.waited {
            self.send(Note::Retry { attempt: attempt.clone(), wait, made, most });
        }
    }

    fn on_tool_result(&self, call: &ToolCall, result: &ToolResult) {
        self.send(Note::Result(call.clone(), result.clone()));
    }

    fn after_response(&self, outcome: Result<&Step, &Error>) {
        if let Ok(step) = outcome {
            let cost = step.cost().map(|cost| cost.total());
            self.send(Note::Step(Paid { provider: step.model().provider.clone(), cost }));
        }
    }
}

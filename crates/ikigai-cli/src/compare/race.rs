//! The running requests, each with its own connections. Each answer is saved as it grows, in its own conversation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ikigai::{Approval, Block, Callable, Event, Message, Model, Money, Response, ToolChoice};
use ikigai_store::{ConversationId, State, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::access::Access;
use crate::chat::{Choice, Meter, Session, sum};
use crate::exit::Failure;
use crate::flow::Flow;
use crate::record::Recorder;
use crate::screen::notice;
use crate::watch::{Note, Notes, Paid, Watch};

/// The result that a model gets if it calls a tool anyway.
const NO_TOOLS: &str = "tools are off while models are compared";

/// Returns the tool definitions to send: some providers require those of tools whose calls are in the history.
pub(crate) fn tools_for(history: &[Message], tools: Vec<Callable>) -> Vec<Callable> {
    let calls = history.iter().flat_map(|message| &message.content).any(|block| block.as_tool_call().is_some());
    if calls { tools } else { Vec::new() }
}

/// A model that will answer.
pub(crate) struct Entrant {
    pub(crate) choice: Choice,
    model: Model,
    notes: Notes,
    /// Where its answer is saved.
    pub(crate) conversation: ConversationId,
}

impl Entrant {
    /// Creates a model that answers in a conversation. `change` sets what else a request says.
    pub(crate) fn new(
        session: &Session,
        choice: Choice,
        conversation: ConversationId,
        change: impl FnOnce(Model) -> Result<Model, Failure>,
    ) -> Result<Self, Failure> {
        let (watch, notes) = Watch::new();
        let options = session.settings.options(&choice.name);
        let model = choice.model(&session.access.client(watch)?, session.system.as_deref(), &options);
        Ok(Entrant { model: change(model)?, choice, notes, conversation })
    }
}

/// Something that happened to one answer.
#[derive(Debug)]
pub(crate) enum News {
    Event(Event),
    /// A failed attempt, in words.
    Retry(String),
    Ended(Box<Ran>),
}

/// An answer that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What has arrived of it.
    pub(crate) response: Response,
    pub(crate) cost: Option<Money>,
    /// The estimated cost of an answer that was cut off: providers count at the end.
    pub(crate) estimate: Option<Money>,
    pub(crate) took: Duration,
    pub(crate) end: End,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    Stopped,
    Failed(Failure),
}

/// The running requests. Dropping this ends them at once.
pub(crate) struct Race {
    news: mpsc::UnboundedReceiver<(usize, News)>,
    stop: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

impl Race {
    /// Asks all of them. Each has a meter. Tool definitions are sent, but the tools must not be used.
    pub(crate) fn begin(
        entrants: Vec<Entrant>,
        history: &[Message],
        meters: &[Meter],
        store: &Arc<dyn Store>,
        access: &Access,
        tools: &[Callable],
    ) -> Self {
        let (sender, news) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for (place, (entrant, meter)) in entrants.into_iter().zip(meters).enumerate() {
            let mut model = entrant.model;
            if !tools.is_empty() {
                let refuse = |_| async { Approval::Deny(NO_TOOLS.to_owned()) };
                model = model.tools(tools.to_vec()).tool_choice(ToolChoice::None).approve(refuse);
            }
            let recorder = Recorder::new(Arc::clone(store), entrant.conversation, entrant.choice.name);
            let runner = Runner {
                recorder: recorder.simulated(access.is_simulated()).metered(meter),
                access: access.clone(),
                notes: entrant.notes,
                stopped: stopped.clone(),
                cost: None,
                paid: Paid::default(),
                sender: sender.clone(),
                place,
            };
            tasks.spawn(runner.run(model, history.to_vec()));
        }
        Race { news, stop, _tasks: tasks }
    }

    /// Returns what happens next, and to which model. `None` once all have ended.
    pub(crate) async fn next(&mut self) -> Option<(usize, News)> {
        self.news.recv().await
    }

    /// Stops those still running. What has arrived is saved.
    pub(crate) fn stop(&self) {
        let _ = self.stop.send(true);
    }
}

struct Runner {
    recorder: Recorder,
    access: Access,
    notes: Notes,
    stopped: watch::Receiver<bool>,
    cost: Option<Money>,
    paid: Paid,
    sender: mpsc::UnboundedSender<(usize, News)>,
    place: usize,
}

impl Runner {
    async fn run(mut self, model: Model, history: Vec<Message>) {
        let began = Instant::now();
        let mut flow = Flow::open(model, history);
        let end = match self.follow(&mut flow).await {
            Ok(end) => end,
            Err(failure) => End::Failed(failure),
        };
        let response = flow.so_far().unwrap_or_default();
        // Ends the request here, and with it the cost.
        drop(flow);
        let Runner { recorder, sender, place, cost, .. } = self;
        let partial = (end != End::Whole).then(|| response.clone());
        let mut estimate = None;
        let end = match (recorder.end(partial).await, end) {
            (Err(error), End::Whole | End::Stopped) => End::Failed(error.into()),
            (Err(_), end) => end,
            (Ok(stored), end) => {
                let cut = stored.last().filter(|stored| stored.entry.state == State::Cut);
                estimate = cut.and_then(|stored| stored.entry.cost);
                end
            }
        };
        let ran = Ran { response, cost, estimate, took: began.elapsed(), end };
        let _ = sender.send((place, News::Ended(Box::new(ran))));
    }

    async fn follow(&mut self, flow: &mut Flow) -> Result<End, Failure> {
        loop {
            let next = tokio::select! {
                biased;
                Some(note) = self.notes.recv() => {
                    self.note(note);
                    continue;
                }
                () = stop(&mut self.stopped) => return Ok(End::Stopped),
                next = flow.next() => next?,
            };
            while let Ok(note) = self.notes.try_recv() {
                self.note(note);
            }
            let Some(event) = next else { return Ok(End::Whole) };
            if !matches!(event, Event::Done { .. }) {
                self.recorder.event(&event).await?;
            } else if let Some(response) = flow.so_far() {
                let paid = std::mem::take(&mut self.paid);
                self.cost = sum(self.cost, paid.cost);
                self.recorder.answer(response, paid).await?;
            }
            self.tell(News::Event(event));
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Retry { attempt, made, most, .. } => {
                let words = notice::failed_attempt(&attempt);
                self.tell(News::Retry(format!("{words}, attempt {} of {most}", made + 1)));
            }
            Note::Step(paid) => self.paid = self.access.paid(paid),
            Note::Result(_, result) => self.recorder.result(&result),
            // Dropping it refuses the call.
            Note::Approve(..) => {}
        }
    }

    fn tell(&self, news: News) {
        // Nobody is listening any longer when the program is about to end.
        let _ = self.sender.send((self.place, news));
    }
}

/// Waits for the request to stop.
async fn stop(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

impl Ran {
    /// Whether there is any text with which a conversation can continue.
    pub(crate) fn has_answer(&self) -> bool {
        self.response.content.iter().filter_map(Block::as_text).any(|text| !text.trim().is_empty())
    }
}

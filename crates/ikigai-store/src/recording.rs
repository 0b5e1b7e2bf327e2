//! An answer that is stored while it arrives.

use std::sync::Arc;
use std::time::Duration;

use ikigai_core::{Event, Message};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::error::{ErrorKind, Result};
use crate::{ConversationId, Entry, Error, MessageId, State, Store, Stored};

/// What arrives is written this long after the last write, or at once if that is longer ago. Well under the second that
/// may be lost.
const EVERY: Duration = Duration::from_millis(200);
/// How many events may wait for the database before the stream has to.
const WAITING: usize = 4096;

/// An answer that is stored while it arrives, so that a program that is killed loses at most the last second of it.
///
/// Push every event of the stream, then [`finish`](Recording::finish) with the whole answer, or [`cut`](Recording::cut)
/// it. Without either, the answer stays [`Partial`](State::Partial), with everything that was pushed.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use std::sync::Arc;
/// use ikigai_core::{Collector, Message, Response, Role, events};
/// use ikigai_store::{Details, Entry, Recording, Sqlite, State, Store};
///
/// let store: Arc<dyn Store> = Arc::new(Sqlite::memory().await?);
/// let chat = store.create(Details::default()).await?;
///
/// let mut answers = Message::new(Role::Assistant, "");
/// answers.provider = Some("anthropic".into());
/// let mut recording = Recording::begin(Arc::clone(&store), chat.id, answers).await?;
/// let mut collector = Collector::default();
/// # let stream = events(&Response::new("Hello", ikigai_core::FinishReason::Stop));
/// for event in stream {
///     recording.push(event.clone()).await?;
///     collector.push(event);
/// }
/// let stored = recording.finish(Entry::answer(collector.finish(), "anthropic")).await?;
/// assert_eq!((stored.entry.state, stored.entry.message.text().as_str()), (State::Complete, "Hello"));
/// # Ok::<(), ikigai_store::Error>(()) }).unwrap();
/// ```
///
/// Requires a running tokio runtime with its timer.
#[derive(Debug)]
pub struct Recording {
    id: MessageId,
    store: Arc<dyn Store>,
    /// The message that says who answers.
    answers: Message,
    steps: mpsc::Sender<Step>,
    /// `None` once its outcome was reported.
    keeper: Option<JoinHandle<Result<()>>>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "all steps but the last are events")]
enum Step {
    Event(Event),
    /// The whole answer follows, so what is waiting need not be stored.
    End,
}

impl Recording {
    /// Starts an answer in a conversation. The message says who answers and at which level; its content is ignored.
    ///
    /// # Errors
    /// Returns an error if there is no such conversation, or the database fails.
    pub async fn begin(store: Arc<dyn Store>, conversation: ConversationId, mut answers: Message) -> Result<Recording> {
        answers.content.clear();
        let id = store.begin(conversation, answers.clone()).await?;
        let (steps, coming) = mpsc::channel(WAITING);
        let keeper = tokio::spawn(keep(Arc::clone(&store), id, coming));
        Ok(Recording { id, store, answers, steps, keeper: Some(keeper) })
    }

    /// Returns the answer's id.
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// Adds the next event of the stream. It is stored a moment later; this waits only if the database cannot keep up.
    ///
    /// # Errors
    /// Returns an error if earlier events could not be stored, but only once; `finish` still stores the whole answer.
    pub async fn push(&mut self, event: Event) -> Result<()> {
        match self.steps.send(Step::Event(event)).await {
            Ok(()) => Ok(()),
            Err(_) => self.outcome().await,
        }
    }

    /// Replaces what had grown with the whole answer. If that does not say who answered, and at which level, it gets
    /// what [`begin`](Recording::begin) was given.
    ///
    /// # Errors
    /// Returns an error if the database fails, or the conversation was deleted meanwhile.
    pub async fn finish(mut self, mut entry: Entry) -> Result<Stored> {
        // Whether the pieces could be stored no longer matters.
        let _ = self.steps.send(Step::End).await;
        let _ = self.outcome().await;
        let Message { provider, model, thinking, .. } = &mut entry.message;
        *provider = provider.take().or(self.answers.provider.take());
        *model = model.take().or(self.answers.model.take());
        *thinking = thinking.or(self.answers.thinking);
        self.store.finish(self.id, entry).await
    }

    /// Stores what has arrived as an answer that was [`Cut`](State::Cut).
    ///
    /// # Errors
    /// Returns an error if the database fails, or the conversation was deleted meanwhile.
    pub async fn cut(self) -> Result<Stored> {
        let Recording { id, store, steps, keeper, .. } = self;
        drop(steps);
        if let Some(keeper) = keeper {
            ended(keeper.await)?;
        }
        let stored = store.message(id).await?;
        store.finish(id, stored.entry.state(State::Cut)).await
    }

    /// Reports how the storing went, once.
    async fn outcome(&mut self) -> Result<()> {
        match self.keeper.take() {
            None => Ok(()),
            Some(keeper) => ended(keeper.await),
        }
    }
}

fn ended(outcome: std::result::Result<Result<()>, tokio::task::JoinError>) -> Result<()> {
    outcome.unwrap_or_else(|error| Err(Error::internal(format!("an answer is no longer kept: {error}"))))
}

/// Stores what arrives, a batch at a time.
async fn keep(store: Arc<dyn Store>, id: MessageId, mut coming: mpsc::Receiver<Step>) -> Result<()> {
    let mut deadline = Instant::now();
    loop {
        let mut batch = match coming.recv().await {
            None | Some(Step::End) => return Ok(()),
            Some(Step::Event(event)) => vec![event],
        };
        let more = loop {
            match timeout_at(deadline, coming.recv()).await {
                Err(_) => break true,
                Ok(None) => break false,
                Ok(Some(Step::End)) => return Ok(()),
                Ok(Some(Step::Event(event))) => batch.push(event),
            }
        };
        // Counted from the start of the write: a slow one does not put off the next.
        deadline = Instant::now() + EVERY;
        match store.grow(id, batch).await {
            // Another program took this one for dead. The whole answer will replace what it stored.
            Err(error) if error.kind() == ErrorKind::Settled => return Ok(()),
            outcome => outcome?,
        }
        if !more {
            return Ok(());
        }
    }
}

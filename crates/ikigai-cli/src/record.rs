//! Saves a turn as it grows: every answer from its first words on, every tool result as soon as it exists.

use std::sync::Arc;

use ikigai::{Block, Event, Message, ModelName, Response, Role, ToolResult};
use ikigai_store::{ConversationId, Entry, Error, Point, Recording, State, Store, Stored};
use serde_json::Value;

use crate::access::SIMULATOR;
use crate::chat::Meter;
use crate::watch::Paid;

/// The metadata key that says which provider the simulator imitated in an answer.
const PLAYED: &str = "simulated";
/// The metadata key for the names of a message's pictures.
const PICTURES: &str = "pictures";
/// The metadata key that says why a question has no answer.
const FAILED: &str = "failed";

/// Saves one turn.
#[derive(Debug)]
pub(crate) struct Recorder {
    store: Arc<dyn Store>,
    conversation: ConversationId,
    model: ModelName,
    simulated: bool,
    /// Estimates the cost of an incomplete answer.
    meter: Meter,
    recording: Option<Recording>,
    results: Vec<Block>,
    stored: Vec<Stored>,
}

impl Recorder {
    pub(crate) fn new(store: Arc<dyn Store>, conversation: ConversationId, model: ModelName) -> Self {
        Recorder {
            store,
            conversation,
            model,
            simulated: false,
            meter: Meter::default(),
            recording: None,
            results: Vec::new(),
            stored: Vec::new(),
        }
    }

    /// Sets whether the simulator answers instead of the model.
    #[must_use]
    pub(crate) fn simulated(mut self, simulated: bool) -> Self {
        self.simulated = simulated;
        self
    }

    /// Sets the meter of the turn.
    #[must_use]
    pub(crate) fn metered(mut self, meter: &Meter) -> Self {
        self.meter = meter.clone();
        self
    }

    /// Records the next event of an answer, unless it is the end.
    pub(crate) async fn event(&mut self, event: &Event) -> Result<(), Error> {
        if self.recording.is_none() {
            // The answer after tools begins: all their results have arrived.
            self.flush_results().await?;
            let who = self.attributed(Message::new(Role::Assistant, Vec::<Block>::new()));
            self.recording = Some(Recording::begin(Arc::clone(&self.store), self.conversation, who).await?);
        }
        match &mut self.recording {
            Some(recording) => recording.push(event.clone()).await,
            None => Ok(()),
        }
    }

    /// Saves a complete answer, replacing the part saved so far.
    pub(crate) async fn answer(&mut self, response: Response, paid: Paid) -> Result<(), Error> {
        let provider = if paid.provider.is_empty() { self.model.provider.clone() } else { paid.provider };
        let mut entry = Entry::answer(response, provider);
        entry.message.thinking = self.model.level;
        entry.cost = paid.cost;
        self.keep(if self.simulated { as_simulated(entry) } else { entry }).await
    }

    /// Records a tool's result. The results of one answer's calls are one message.
    pub(crate) fn result(&mut self, result: &ToolResult) {
        self.results.push(Block::ToolResult(result.clone()));
    }

    /// Ends the turn, complete or not: saves what had arrived of an incomplete answer, and returns all messages of the
    /// turn.
    pub(crate) async fn end(mut self, partial: Option<Response>) -> Result<Vec<Stored>, Error> {
        match (self.recording.is_some(), partial) {
            // Nothing had arrived, so there is nothing to keep.
            (true, Some(response)) if response.content.is_empty() => {
                if let Some(recording) = self.recording.take() {
                    let point = Point::Before(recording.id());
                    drop(recording);
                    self.store.truncate(self.conversation, point).await?;
                }
            }
            (true, Some(response)) => {
                let cost = self.meter.estimate(&response);
                let mut entry = Entry::answer(response, self.model.provider.clone()).state(State::Cut);
                entry.cost = cost;
                entry.message.thinking = self.model.level;
                self.keep(if self.simulated { as_simulated(entry) } else { entry }).await?;
            }
            (true, None) => {
                if let Some(recording) = self.recording.take() {
                    self.stored.push(recording.cut().await?);
                }
            }
            (false, _) => {}
        }
        self.flush_results().await?;
        Ok(self.stored)
    }

    async fn keep(&mut self, entry: Entry) -> Result<(), Error> {
        let stored = match self.recording.take() {
            Some(recording) => recording.finish(entry).await?,
            None => self.store.append(self.conversation, entry).await?,
        };
        self.stored.push(stored);
        Ok(())
    }

    async fn flush_results(&mut self) -> Result<(), Error> {
        if self.results.is_empty() {
            return Ok(());
        }
        let message = Message::new(Role::Tool, std::mem::take(&mut self.results));
        self.stored.push(self.store.append(self.conversation, message.into()).await?);
        Ok(())
    }

    fn attributed(&self, mut message: Message) -> Message {
        message.provider = Some(if self.simulated { SIMULATOR.to_owned() } else { self.model.provider.clone() });
        message.model = Some(self.model.id.clone());
        message.thinking = self.model.level;
        message
    }
}

/// Prepares the simulator's answer for saving: it names the imitated provider, has no cost, and belongs to no provider.
pub(crate) fn as_simulated(mut entry: Entry) -> Entry {
    entry.cost = None;
    if let Some(played) = entry.message.provider.replace(SIMULATOR.to_owned()) {
        entry.metadata.insert(PLAYED.to_owned(), played.into());
    }
    entry
}

/// Restores the imitated provider in the simulator's own answers, so that their sealed state is returned to it.
pub(crate) fn for_simulator(thread: &[Stored]) -> Vec<Stored> {
    let mut thread = thread.to_vec();
    for stored in &mut thread {
        if let Some(played) = stored.entry.metadata.get(PLAYED).and_then(Value::as_str) {
            stored.entry.message.provider = Some(played.to_owned());
        }
    }
    thread
}

/// Adds the names of a message's pictures, if there are any, to its entry: a picture itself has no name.
pub(crate) fn with_pictures(mut entry: Entry, names: Vec<String>) -> Entry {
    if !names.is_empty() {
        entry.metadata.insert(PICTURES.to_owned(), names.into());
    }
    entry
}

/// Returns the names of a message's pictures.
pub(crate) fn pictures(stored: &Stored) -> impl Iterator<Item = &str> {
    let names = stored.entry.metadata.get(PICTURES).and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Marks the entry of a question that was not answered, with the reason.
pub(crate) fn unanswered(mut entry: Entry, why: &str) -> Entry {
    entry.metadata.insert(FAILED.to_owned(), why.into());
    entry
}

/// Returns why a question has no answer, if it failed and either is the last message or is followed by a question.
pub(crate) fn failure<'a>(stored: &'a Stored, next: Option<&Stored>) -> Option<&'a str> {
    let is_question = |stored: &Stored| stored.entry.message.role == Role::User;
    let why = stored.entry.metadata.get(FAILED)?.as_str()?;
    (is_question(stored) && next.is_none_or(is_question)).then_some(why)
}

/// Turns a saved conversation into messages that can be sent to a model. Failed questions are left out, except for the
/// last one, which is the one being asked. Calls that were never answered get a result that says so. Cut-off answers lose
/// what a provider would reject: thinking that may lack its seal, calls of the provider's own tools without a result, and
/// empty messages.
pub(crate) fn sendable(thread: &[Stored]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::with_capacity(thread.len());
    let mut open: Vec<String> = Vec::new();
    for (place, stored) in thread.iter().enumerate() {
        let next = thread.get(place + 1);
        if next.is_some() && failure(stored, next).is_some() {
            continue;
        }
        let mut message = stored.entry.message.clone();
        if stored.entry.state != State::Complete && message.role == Role::Assistant {
            message.content.retain(|block| match block {
                Block::Thinking(_) | Block::Other(_) => false,
                Block::ToolCall(call) => call.is_complete(),
                _ => true,
            });
            message.drop_unanswered();
        }
        message.content.retain(|block| !matches!(block, Block::Text(text) if text.text.is_empty()));
        if message.role == Role::Tool {
            for block in &message.content {
                if let Block::ToolResult(result) = block {
                    open.retain(|id| *id != result.tool_call_id);
                }
            }
        }
        if message.role != Role::Tool {
            close(&mut open, &mut messages);
        }
        if message.content.is_empty() {
            continue;
        }
        open.extend(message.content.iter().filter_map(Block::as_tool_call).map(|call| call.id.clone()));
        messages.push(message);
    }
    close(&mut open, &mut messages);
    messages
}

/// Adds results for unanswered calls.
fn close(open: &mut Vec<String>, messages: &mut Vec<Message>) {
    if open.is_empty() {
        return;
    }
    let results = open.drain(..).map(|id| Block::tool_error(id, "stopped by the user before it was done"));
    let results: Vec<Block> = results.collect();
    match messages.last_mut() {
        // All results of one answer form one message.
        Some(last) if last.role == Role::Tool => last.content.extend(results),
        _ => messages.push(Message::new(Role::Tool, results)),
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;

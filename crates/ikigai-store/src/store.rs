//! The trait, and its one implementation for both engines.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use ikigai_core::{Event, Message};
use serde_json::Value;

use crate::answer_pieces;
use crate::conversation::{Conversation, Details, Listing, Page, Point};
use crate::error::{Error, Result};
use crate::find::{Hit, Search};
use crate::message_rows::{Packed, found_text, pack, said, time, unpack};
use crate::ops::{self, RawHit};
use crate::sql::Engine;
use crate::stats::{Health, Spent, Stats};
use crate::text::{Query, snippet};
use crate::{ConversationId, Entry, MessageId, State, Stored};

/// The future of an operation.
///
/// Dropping it does not undo a write that has begun: all of it happens, or nothing.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A conversation with the messages that it owns, as exported and imported.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The conversation.
    pub conversation: Conversation,
    /// Its own messages. Those that it shares belong to its parents.
    pub messages: Vec<Stored>,
}

/// The result of importing a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// It is new, and was imported.
    New,
    /// A conversation with that id already exists; nothing was changed.
    Already,
}

/// Durable conversations: the same for every engine.
///
/// Every write is one transaction. Several tasks, and several programs, may share a store at the same time.
///
/// The engines are in this crate; the trait cannot be implemented elsewhere, and may grow.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use ikigai_core::{Message, Role};
/// use ikigai_store::{Details, Point, Search, Sqlite, Store};
///
/// let store: Box<dyn Store> = Box::new(Sqlite::memory().await?);
/// let chat = store.create(Details::default()).await?;
/// let question = store.append(chat.id, Message::new(Role::User, "Why is the sky blue?").into()).await?;
/// store.append(chat.id, Message::new(Role::Assistant, "Rayleigh scattering.").into()).await?;
///
/// let fork = store.fork(chat.id, Point::After(question.id), Details::default()).await?;
/// assert_eq!(store.thread(fork.id).await?.len(), 1);
/// assert_eq!(store.search(Search::new("scattering")).await?[0].conversation, chat.id);
/// # Ok::<(), ikigai_store::Error>(()) }).unwrap();
/// ```
pub trait Store: std::fmt::Debug + Send + Sync + sealed::Sealed {
    /// Returns the file, or the server's address without the password.
    fn place(&self) -> &str;

    /// Creates a conversation.
    fn create(&self, details: Details) -> Pending<'_, Conversation>;

    /// Reads a conversation.
    fn conversation(&self, id: ConversationId) -> Pending<'_, Conversation>;

    /// Lists conversations, newest first, page by page.
    fn list(&self, listing: Listing) -> Pending<'_, Page>;

    /// Returns the conversation that was started or written to last; `None` if there are no conversations.
    fn latest(&self) -> Pending<'_, Option<Conversation>>;

    /// Finds conversations by the beginning or the end of their ids, newest first; at most twenty.
    fn find(&self, part: &str) -> Pending<'_, Vec<Conversation>>;

    /// Changes a conversation's details: its title, its model. This does not make it newer.
    fn update(&self, id: ConversationId, details: Details) -> Pending<'_, Conversation>;

    /// Deletes a conversation for good, with all its messages that no fork shares, attachments that are no longer
    /// needed, and what was typed for them in the list of prompts. Forks stay whole.
    fn delete(&self, id: ConversationId) -> Pending<'_, ()>;

    /// Creates a conversation that shares everything before `at` with another. What the details leave open is copied.
    fn fork(&self, from: ConversationId, at: Point, details: Details) -> Pending<'_, Conversation>;

    /// Returns the conversation, those it was forked from, and all their forks, oldest first.
    fn family(&self, id: ConversationId) -> Pending<'_, Vec<Conversation>>;

    /// Adds a message. The first question gives the conversation its title, if it has none.
    fn append(&self, conversation: ConversationId, entry: Entry) -> Pending<'_, Stored>;

    /// Adds several messages: all of them, or none.
    fn append_all(&self, conversation: ConversationId, entries: Vec<Entry>) -> Pending<'_, Vec<Stored>>;

    /// Starts an answer that will grow. The message says who answers; its state is [`Partial`](State::Partial).
    /// [`Recording`](crate::Recording) calls this, and the next two, at the right moments.
    fn begin(&self, conversation: ConversationId, message: Message) -> Pending<'_, MessageId>;

    /// Adds the next events of its stream to an answer.
    fn grow(&self, id: MessageId, events: Vec<Event>) -> Pending<'_, ()>;

    /// Replaces an answer that grew, or any other message, with a complete one.
    fn finish(&self, id: MessageId, entry: Entry) -> Pending<'_, Stored>;

    /// Closes the partial answers of a conversation as [`Cut`](State::Cut) and returns how many. Do this when opening a
    /// conversation whose last writer is gone. A writer that is still there is not harmed: its `finish` will win.
    fn settle(&self, conversation: ConversationId) -> Pending<'_, u64>;

    /// Removes all messages after a point and returns how many. Forks keep what they share.
    fn truncate(&self, conversation: ConversationId, to: Point) -> Pending<'_, u64>;

    /// Reads a message.
    fn message(&self, id: MessageId) -> Pending<'_, Stored>;

    /// Reads all messages of a conversation, oldest first, including those that it shares with its parents.
    fn thread(&self, conversation: ConversationId) -> Pending<'_, Vec<Stored>>;

    /// Searches titles and messages. An answer is found once it has stopped growing.
    fn search(&self, search: Search) -> Pending<'_, Vec<Hit>>;

    /// Reads a setting.
    fn setting(&self, name: &str) -> Pending<'_, Option<Value>>;

    /// Sets a setting.
    fn set(&self, name: &str, value: Value) -> Pending<'_, ()>;

    /// Removes a setting.
    fn unset(&self, name: &str) -> Pending<'_, ()>;

    /// Reads all settings.
    fn settings(&self) -> Pending<'_, BTreeMap<String, Value>>;

    /// Remembers a prompt as it was typed, unless it is blank, begins with a space, or repeats the last one. The last
    /// ten thousand are kept.
    fn remember_prompt(&self, text: &str) -> Pending<'_, ()>;

    /// Returns the last prompts, oldest first.
    fn prompts(&self, limit: u32) -> Pending<'_, Vec<String>>;

    /// Returns every conversation with the one it was forked from, oldest first.
    fn outline(&self) -> Pending<'_, Vec<(ConversationId, Option<ConversationId>)>>;

    /// Reads a conversation with its own messages. [`export`](crate::export) writes those of a whole store.
    fn record(&self, id: ConversationId) -> Pending<'_, Record>;

    /// Like [`record`](Store::record), but leaves out messages that cannot be read, and returns their errors.
    fn salvage(&self, id: ConversationId) -> Pending<'_, (Record, Vec<Error>)>;

    /// Imports a conversation with its ids and times. The message that it was forked at must already exist. A message
    /// whose id is taken gets a new one.
    fn restore(&self, record: Record) -> Pending<'_, Restored>;

    /// Returns what the answers of a conversation took and cost, including those that it shares with its parents.
    fn spent(&self, conversation: ConversationId) -> Pending<'_, Spent>;

    /// Returns what the answers of a conversation and of all its [family](Store::family) took and cost, each counted
    /// once. Answers that were asked for again in a fork are included.
    fn spent_by_family(&self, conversation: ConversationId) -> Pending<'_, Spent>;

    /// Returns counts, sizes and costs.
    fn stats(&self) -> Pending<'_, Stats>;

    /// Checks the whole database: the engine's own check, then every message and attachment. This reads everything.
    fn check(&self) -> Pending<'_, Health>;

    /// Finishes all work and closes the database. Every later call returns an error.
    fn close(&self) -> Pending<'_, ()>;
}

pub(crate) mod sealed {
    /// Implemented only by the engines of this crate.
    #[expect(unnameable_types, reason = "that is its purpose")]
    pub trait Sealed {}
}

impl<E: Engine> sealed::Sealed for E {}

impl<E: Engine> Store for E {
    fn place(&self) -> &str {
        Engine::place(self)
    }

    fn create(&self, details: Details) -> Pending<'_, Conversation> {
        Box::pin(self.write(ops::Create { id: ConversationId::new(), details }))
    }

    fn conversation(&self, id: ConversationId) -> Pending<'_, Conversation> {
        Box::pin(self.read(ops::Open(id)))
    }

    fn list(&self, listing: Listing) -> Pending<'_, Page> {
        Box::pin(self.read(ops::List(listing)))
    }

    fn latest(&self) -> Pending<'_, Option<Conversation>> {
        Box::pin(async move { Ok(self.list(Listing::newest(1)).await?.conversations.into_iter().next()) })
    }

    fn find(&self, part: &str) -> Pending<'_, Vec<Conversation>> {
        Box::pin(self.read(ops::Find(part.to_owned())))
    }

    fn update(&self, id: ConversationId, details: Details) -> Pending<'_, Conversation> {
        Box::pin(self.write(ops::Update { id, details }))
    }

    fn delete(&self, id: ConversationId) -> Pending<'_, ()> {
        Box::pin(self.write(ops::Delete(id)))
    }

    fn fork(&self, from: ConversationId, at: Point, details: Details) -> Pending<'_, Conversation> {
        Box::pin(self.write(ops::Fork { from, at, id: ConversationId::new(), details }))
    }

    fn family(&self, id: ConversationId) -> Pending<'_, Vec<Conversation>> {
        Box::pin(self.read(ops::Family(id)))
    }

    fn append(&self, conversation: ConversationId, entry: Entry) -> Pending<'_, Stored> {
        Box::pin(async move {
            let added = self.append_all(conversation, vec![entry]).await?;
            added.into_iter().next().ok_or_else(|| Error::internal("nothing was added").at(self.place()))
        })
    }

    fn append_all(&self, conversation: ConversationId, entries: Vec<Entry>) -> Pending<'_, Vec<Stored>> {
        Box::pin(async move {
            let pack_all = || entries.into_iter().map(|entry| Ok((MessageId::new(), pack(entry)?))).collect();
            let messages: Vec<(MessageId, Packed)> = self.offload(pack_all).await?;
            let added = self.write(ops::Append { conversation, messages }).await?;
            self.offload(|| added.into_iter().map(unpack).collect()).await
        })
    }

    fn begin(&self, conversation: ConversationId, message: Message) -> Pending<'_, MessageId> {
        Box::pin(async move {
            let packed = self.offload(|| pack(Entry::new(message).state(State::Partial))).await?;
            let id = MessageId::new();
            self.write(ops::Begin { conversation, id, packed }).await?;
            Ok(id)
        })
    }

    fn grow(&self, id: MessageId, events: Vec<Event>) -> Pending<'_, ()> {
        Box::pin(async move {
            let piece = answer_pieces::piece(events).map_err(|error| error.at(Store::place(self)))?;
            self.write(ops::Grow { id, piece }).await
        })
    }

    fn finish(&self, id: MessageId, entry: Entry) -> Pending<'_, Stored> {
        Box::pin(async move {
            let packed = self.offload(|| pack(entry)).await?;
            let finished = self.write(ops::Finish { id, packed }).await?;
            self.offload(|| unpack(finished)).await
        })
    }

    fn settle(&self, conversation: ConversationId) -> Pending<'_, u64> {
        Box::pin(async move {
            let mut settled = 0;
            for stored in self.thread(conversation).await? {
                if stored.entry.state == State::Partial {
                    self.finish(stored.id, stored.entry.state(State::Cut)).await?;
                    settled += 1;
                }
            }
            Ok(settled)
        })
    }

    fn truncate(&self, conversation: ConversationId, to: Point) -> Pending<'_, u64> {
        Box::pin(self.write(ops::Truncate { id: conversation, to }))
    }

    fn message(&self, id: MessageId) -> Pending<'_, Stored> {
        Box::pin(async move {
            let raw = self.read(ops::Message(id)).await?;
            self.offload(|| unpack(raw)).await
        })
    }

    fn thread(&self, conversation: ConversationId) -> Pending<'_, Vec<Stored>> {
        Box::pin(async move {
            let raw = self.read(ops::Thread(conversation)).await?;
            self.offload(|| raw.into_iter().map(unpack).collect()).await
        })
    }

    fn search(&self, search: Search) -> Pending<'_, Vec<Hit>> {
        Box::pin(async move {
            let Search { text, order, limit, offset } = search;
            let query = Query::parse(&text).map_err(|error| error.at(Store::place(self)))?;
            let hits = self.read(ops::Search { query: query.clone(), order, limit, offset }).await?;
            self.offload(move || hits.into_iter().map(|raw| hit(raw, &query)).collect()).await
        })
    }

    fn setting(&self, name: &str) -> Pending<'_, Option<Value>> {
        Box::pin(self.read(ops::GetSetting(name.to_owned())))
    }

    fn set(&self, name: &str, value: Value) -> Pending<'_, ()> {
        Box::pin(self.write(ops::SetSetting { key: name.to_owned(), value: Some(value) }))
    }

    fn unset(&self, name: &str) -> Pending<'_, ()> {
        Box::pin(self.write(ops::SetSetting { key: name.to_owned(), value: None }))
    }

    fn settings(&self) -> Pending<'_, BTreeMap<String, Value>> {
        Box::pin(self.read(ops::AllSettings))
    }

    fn remember_prompt(&self, text: &str) -> Pending<'_, ()> {
        Box::pin(self.write(ops::RememberPrompt(text.to_owned())))
    }

    fn prompts(&self, limit: u32) -> Pending<'_, Vec<String>> {
        Box::pin(self.read(ops::Prompts(limit)))
    }

    fn outline(&self) -> Pending<'_, Vec<(ConversationId, Option<ConversationId>)>> {
        Box::pin(self.read(ops::Outline))
    }

    fn record(&self, id: ConversationId) -> Pending<'_, Record> {
        Box::pin(async move {
            let (conversation, raw) = self.read(ops::Record(id)).await?;
            let messages = self.offload(|| raw.into_iter().map(unpack).collect::<Result<_>>()).await?;
            Ok(Record { conversation, messages })
        })
    }

    fn salvage(&self, id: ConversationId) -> Pending<'_, (Record, Vec<Error>)> {
        Box::pin(async move {
            let (conversation, raw) = self.read(ops::Record(id)).await?;
            let read = || {
                let (mut messages, mut unreadable) = (Vec::with_capacity(raw.len()), Vec::new());
                for message in raw {
                    match unpack(message) {
                        Ok(message) => messages.push(message),
                        Err(error) => unreadable.push(error),
                    }
                }
                Ok((messages, unreadable))
            };
            let (messages, unreadable) = self.offload(read).await?;
            Ok((Record { conversation, messages }, unreadable))
        })
    }

    fn restore(&self, record: Record) -> Pending<'_, Restored> {
        Box::pin(async move {
            let Record { conversation, messages } = record;
            let one = |stored: Stored| Ok((stored.id, stored.created, stored.updated, pack(stored.entry)?));
            let messages = self.offload(move || messages.into_iter().map(one).collect::<Result<_>>()).await?;
            self.write(ops::Restore { conversation, messages }).await
        })
    }

    fn spent(&self, conversation: ConversationId) -> Pending<'_, Spent> {
        Box::pin(self.read(ops::Spend(conversation)))
    }

    fn spent_by_family(&self, conversation: ConversationId) -> Pending<'_, Spent> {
        Box::pin(self.read(ops::SpendFamily(conversation)))
    }

    fn stats(&self) -> Pending<'_, Stats> {
        Box::pin(self.read(ops::Measure))
    }

    fn check(&self) -> Pending<'_, Health> {
        Box::pin(async move {
            let inspection = self.inspect().await?;
            let mut problems = inspection.problems;
            // Reading everything would only find the engine's problems again.
            if problems.is_empty() {
                problems = self.read(ops::Examine).await?;
            }
            let place = Store::place(self).to_owned();
            Ok(Health { engine: inspection.engine, place, schema: inspection.schema, problems })
        })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(self.shut())
    }
}

fn hit(raw: RawHit, query: &Query) -> Result<Hit> {
    let read = || {
        let (message, text) = match raw.message {
            None => (None, raw.title.clone().unwrap_or_default()),
            Some((id, body, parts)) => (Some(id.parse().map_err(said)?), found_text(&body, parts)?),
        };
        Ok(Hit {
            place: raw.place,
            conversation: raw.conversation.parse().map_err(said)?,
            title: raw.title,
            message,
            created: time(raw.created)?,
            snippet: snippet(&text, query),
        })
    };
    read().map_err(|fault: String| Error::corrupt(format!("what was found cannot be read: {fault}")))
}

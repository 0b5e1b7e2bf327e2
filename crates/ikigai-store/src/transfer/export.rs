//! Writes conversations as JSON Lines.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::lines::{ConversationLine, Header, MessageLine};
use crate::error::{ErrorKind, Result};
use crate::{ConversationId, Error, Record, Store, json};

/// Which conversations to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All of them, with all forks as they are.
    All,
    /// One alone. What it shares with its parents is written as its own.
    One(ConversationId),
}

/// What was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// The number of conversations.
    pub conversations: u64,
    /// The number of messages.
    pub messages: u64,
    /// What could not be read and was left out, in words. Only an export of everything goes on without it.
    pub unreadable: Vec<String>,
}

/// Writes conversations as JSON Lines, from which [`import`](crate::import) makes the same again: ids, times, forks,
/// attachments, sealed state and all. Settings and typed prompts are not included.
///
/// Only one conversation is in memory at a time. One that is deleted meanwhile is left out. When everything is
/// exported, messages that cannot be read are left out, too, and named in [`Exported::unreadable`].
///
/// # Errors
/// Returns an error if there is no such conversation, or something cannot be read or written.
pub async fn export(store: &dyn Store, selection: Selection, to: &mut (dyn Write + Send)) -> Result<Exported> {
    let mut exported = Exported::default();
    line(to, &Header::now())?;
    match selection {
        Selection::One(id) => {
            let mut conversation = store.conversation(id).await?;
            conversation.parent = None;
            let messages = store.thread(id).await?;
            write(to, Record { conversation, messages }, &mut exported)?;
        }
        Selection::All => {
            for id in parents_first(store.outline().await?) {
                match store.salvage(id).await {
                    Ok((record, unreadable)) => {
                        write(to, record, &mut exported)?;
                        let words = unreadable.iter().map(|error| format!("conversation {id}: {error}"));
                        exported.unreadable.extend(words);
                    }
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    // Only this one is damaged. A problem with the store as a whole ends the export.
                    Err(error) if error.kind() == ErrorKind::Corrupt => {
                        exported.unreadable.push(format!("conversation {id}: {error}"));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    to.flush().map_err(unwritten)?;
    Ok(exported)
}

fn write(to: &mut (dyn Write + Send), record: Record, exported: &mut Exported) -> Result<()> {
    let Record { conversation, messages } = record;
    exported.conversations += 1;
    exported.messages += messages.len() as u64;
    line(to, &ConversationLine::new(conversation, messages.len()))?;
    messages.into_iter().try_for_each(|stored| line(to, &MessageLine::new(stored)))
}

fn line<T: Serialize>(to: &mut (dyn Write + Send), value: &T) -> Result<()> {
    let mut text = json::write("a line of the export", value)?;
    text.push('\n');
    to.write_all(text.as_bytes()).map_err(unwritten)
}

fn unwritten(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Access, format!("the export cannot be written: {error}")).caused_by(error)
}

/// Parents before their forks, and otherwise in the same order. Those in a cycle come last.
fn parents_first(outline: Vec<(ConversationId, Option<ConversationId>)>) -> Vec<ConversationId> {
    let mut children: BTreeMap<Option<ConversationId>, Vec<ConversationId>> = BTreeMap::new();
    for (id, parent) in &outline {
        children.entry(*parent).or_default().push(*id);
    }
    let mut order = Vec::with_capacity(outline.len());
    let mut open = children.remove(&None).unwrap_or_default();
    open.reverse();
    while let Some(id) = open.pop() {
        order.push(id);
        open.extend(children.remove(&Some(id)).unwrap_or_default().into_iter().rev());
    }
    order.extend(children.into_values().flatten());
    order
}

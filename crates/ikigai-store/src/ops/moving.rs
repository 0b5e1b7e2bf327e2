//! Moving whole conversations out of one store and into another.

use super::conversations::{Fresh, fetch, insert};
use super::messages;
use crate::conversation::{Conversation, Parent};
use crate::error::{Error, Result};
use crate::message_rows::{Packed, Raw, said};
use crate::sql::{Lock, Operation, Session, params};
use crate::{ConversationId, MessageId, Restored, Time, json};

/// Lists every conversation and its parent.
#[derive(Debug)]
pub(crate) struct Outline;

impl Operation for Outline {
    type Output = Vec<(ConversationId, Option<ConversationId>)>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Self::Output> {
        let sql = "SELECT c.id, p.id FROM conversations c LEFT JOIN conversations p ON p.n = c.parent \
             ORDER BY c.created, c.id";
        let id = |text: String| text.parse().map_err(|error| Error::corrupt(said(error)));
        let mut outline = Vec::new();
        for mut row in session.query(sql, &[]).await? {
            outline.push((id(row.text(0)?)?, row.opt_text(1)?.map(id).transpose()?));
        }
        Ok(outline)
    }
}

/// Reads a conversation with the messages that it owns.
#[derive(Debug)]
pub(crate) struct Record(pub(crate) ConversationId);

impl Operation for Record {
    type Output = (Conversation, Vec<Raw>);

    async fn run<S: Session>(&self, session: &mut S) -> Result<Self::Output> {
        let conversation = fetch(session, self.0).await?;
        let from = "(SELECT * FROM messages WHERE conversation = (SELECT n FROM conversations WHERE id = $1)) m";
        let messages = messages::fetch(session, "", from, params![self.0.to_string()]).await?;
        Ok((conversation, messages))
    }
}

/// Imports a conversation as it was, including ids and times.
#[derive(Debug)]
pub(crate) struct Restore {
    pub(crate) conversation: Conversation,
    pub(crate) messages: Vec<(MessageId, Time, Time, Packed)>,
}

impl Restore {
    /// The key of the parent, and the number of shared messages.
    async fn parent<S: Session>(&self, session: &mut S) -> Result<(Option<i64>, i64)> {
        let Some(Parent { conversation, message }) = self.conversation.parent else { return Ok((None, 0)) };
        match message {
            None => {
                let sql = "SELECT n FROM conversations WHERE id = $1";
                let row = session.first(sql, params![conversation.to_string()]).await?;
                Ok((row.map(|mut row| row.int(0)).transpose()?, 0))
            }
            // It may belong to another conversation by now.
            Some(message) => {
                let sql = "SELECT conversation, position FROM messages WHERE id = $1";
                let row = session.first(sql, params![message.to_string()]).await?;
                let mut row = row.ok_or_else(|| {
                    Error::invalid(format!(
                        "conversation {} was forked from {conversation} at message {message}, which is not here; \
                         bring that conversation in first",
                        self.conversation.id
                    ))
                })?;
                Ok((Some(row.int(0)?), row.int(1)?))
            }
        }
    }
}

impl Operation for Restore {
    type Output = Restored;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Restored> {
        session.lock(Lock::Family).await?;
        let Conversation { id, title, created, updated, system, model, metadata, .. } = &self.conversation;
        let sql = "SELECT n FROM conversations WHERE id = $1";
        if session.first(sql, params![id.to_string()]).await?.is_some() {
            return Ok(Restored::Already);
        }
        let (parent, base) = self.parent(session).await?;
        let fresh = Fresh {
            id: *id,
            title: title.as_deref().and_then(super::conversations::title),
            created: *created,
            updated: *updated,
            system: json::write("the system prompt", system)?,
            model: json::write("the model", model)?,
            metadata: json::write("the metadata", metadata)?,
            parent,
            base,
        };
        let key = insert(session, &fresh).await?;
        for (position, (id, created, updated, packed)) in (base + 1..).zip(&self.messages) {
            let sql = "SELECT n FROM messages WHERE id = $1";
            // The message is already in another conversation: this one is a copy.
            let taken = session.first(sql, params![id.to_string()]).await?.is_some();
            let id = if taken { MessageId::new() } else { *id };
            messages::insert(session, key, position, id, (*created, *updated), packed).await?;
        }
        Ok(Restored::New)
    }
}

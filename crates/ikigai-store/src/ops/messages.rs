//! Adding and reading messages.

use std::collections::BTreeMap;

use super::conversations::{hold, set_title};
use super::line::LINE;
use crate::attachments::{Attachment, Form, Part};
use crate::error::{Error, Result};
use crate::message_rows::{Packed, Raw};
use crate::sql::{Lock, Operation, Row, Session, Value, params};
use crate::{ConversationId, MessageId, State, Time};

/// The columns that [`read`] reads.
const COLUMNS: &str = "m.n, m.id, c.id, m.position, m.created, m.updated, m.state, m.body, m.usage, m.cost, \
     m.finish_reason, m.metadata";

/// All messages of a line, including shared ones.
pub(super) const THREAD: &str = "line JOIN messages m ON m.conversation = line.n AND m.position > line.base \
     AND m.position <= line.upto";

fn read(mut row: Row) -> Result<Raw> {
    Ok(Raw {
        n: row.int(0)?,
        id: row.text(1)?,
        conversation: row.text(2)?,
        position: row.int(3)?,
        created: row.int(4)?,
        updated: row.int(5)?,
        state: row.text(6)?,
        body: row.text(7)?,
        usage: row.opt_text(8)?,
        cost: row.opt_text(9)?,
        finish_reason: row.opt_text(10)?,
        metadata: row.text(11)?,
        parts: Vec::new(),
        pieces: Vec::new(),
    })
}

pub(super) fn part(mut row: Row) -> Result<(i64, Part)> {
    let word = row.text(2)?;
    let form =
        Form::from_word(&word).ok_or_else(|| Error::corrupt(format!("an attachment is in the form `{word}`")))?;
    Ok((row.int(0)?, Part { place: row.int(1)?, form, bytes: row.bytes(3)? }))
}

/// Reads the messages that `from` selects, with everything that belongs to them. `with` holds its table expressions.
pub(super) async fn fetch<S: Session>(
    session: &mut S,
    with: &str,
    from: &str,
    params: &[Value<'_>],
) -> Result<Vec<Raw>> {
    let sql = format!(
        "{with} SELECT {COLUMNS} FROM {from} JOIN conversations c ON c.n = m.conversation ORDER BY m.position, m.n"
    );
    let mut found: Vec<Raw> = Vec::new();
    for row in session.query(&sql, params).await? {
        found.push(read(row)?);
    }
    let sql = format!(
        "{with} SELECT a.message, a.place, a.form, b.bytes FROM {from} JOIN attachments a ON a.message = m.n \
         JOIN blobs b ON b.n = a.blob ORDER BY a.message, a.place"
    );
    let mut parts: BTreeMap<i64, Vec<Part>> = BTreeMap::new();
    for row in session.query(&sql, params).await? {
        let (message, part) = part(row)?;
        parts.entry(message).or_default().push(part);
    }
    for raw in &mut found {
        raw.parts = parts.remove(&raw.n).unwrap_or_default();
        if raw.state == State::Partial.as_str() {
            let sql = "SELECT events FROM pieces WHERE message = $1 ORDER BY place";
            for mut row in session.query(sql, params![raw.n]).await? {
                raw.pieces.push(row.text(0)?);
            }
        }
    }
    Ok(found)
}

/// Adds a message at the end of a conversation and returns its key.
pub(super) async fn add<S: Session>(
    session: &mut S,
    conversation: ConversationId,
    id: MessageId,
    packed: &Packed,
) -> Result<i64> {
    let key = hold(session, conversation).await?;
    // In a second statement, so that it sees what others added while the first one waited.
    let sql = "SELECT title, base, (SELECT max(position) FROM messages WHERE conversation = $1) FROM conversations \
         WHERE n = $1";
    let mut row = session.first(sql, params![key]).await?.ok_or_else(|| Error::internal("a held row is gone"))?;
    let (title, base, last) = (row.opt_text(0)?, row.int(1)?, row.opt_int(2)?);
    let now = Time::now();
    let n = insert(session, key, last.unwrap_or(base) + 1, id, (now, now), packed).await?;
    let sql = "UPDATE conversations SET updated = $1 WHERE n = $2";
    session.execute(sql, params![now.unix_micros(), key]).await?;
    if let (None, Some(title)) = (title, &packed.title) {
        set_title(session, key, Some(title)).await?;
    }
    Ok(n)
}

/// Inserts the row of a message and everything that belongs to it, and returns its key.
pub(super) async fn insert<S: Session>(
    session: &mut S,
    conversation: i64,
    position: i64,
    id: MessageId,
    (created, updated): (Time, Time),
    packed: &Packed,
) -> Result<i64> {
    let counts = packed.counts;
    let mut row = session
        .first(
            "INSERT INTO messages (id, conversation, position, role, state, created, updated, body, provider, model, \
             level, usage, input_tokens, output_tokens, thinking_tokens, cache_read_tokens, cache_write_tokens, cost, \
             finish_reason, metadata) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
             $17, $18, $19, $20) RETURNING n",
            params![
                id.to_string(),
                conversation,
                position,
                packed.role,
                packed.state,
                created.unix_micros(),
                updated.unix_micros(),
                &packed.body,
                packed.provider.as_ref(),
                packed.model.as_ref(),
                packed.level,
                packed.usage.as_ref(),
                counts.map(|counts| counts.input),
                counts.map(|counts| counts.output),
                counts.map(|counts| counts.thinking),
                counts.map(|counts| counts.cache_read),
                counts.map(|counts| counts.cache_write),
                packed.cost.as_ref(),
                packed.finish_reason,
                &packed.metadata,
            ],
        )
        .await?
        .ok_or_else(|| Error::internal("an insert gave no key"))?;
    let n = row.int(0)?;
    attach(session, n, &packed.attachments).await?;
    // An answer that is still growing is indexed once it is whole.
    if packed.state != State::Partial.as_str() {
        session.index_message(n, packed.place, &packed.words).await?;
    }
    Ok(n)
}

/// Stores what was taken out of a message.
pub(super) async fn attach<S: Session>(session: &mut S, message: i64, attachments: &[Attachment]) -> Result<()> {
    if attachments.is_empty() {
        return Ok(());
    }
    session.lock(Lock::AddAttachments).await?;
    // Ordered by hash, so that two transactions that add the same ones wait for each other in one direction only.
    let mut sorted: Vec<&Attachment> = attachments.iter().collect();
    sorted.sort_by(|one, other| one.hash.cmp(&other.hash));
    for attachment in sorted {
        let sql = "INSERT INTO blobs (hash, size, bytes) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING";
        let size = i64::try_from(attachment.bytes.len()).unwrap_or(i64::MAX);
        session.execute(sql, params![&attachment.hash, size, attachment.bytes.as_slice()]).await?;
        session
            .execute(
                "INSERT INTO attachments (message, place, form, blob) \
                 VALUES ($1, $2, $3, (SELECT n FROM blobs WHERE hash = $4))",
                params![message, attachment.place, attachment.form.as_str(), &attachment.hash],
            )
            .await?;
    }
    Ok(())
}

/// Deletes attachments that no message uses any longer.
pub(super) async fn collect<S: Session>(session: &mut S) -> Result<()> {
    session.lock(Lock::CollectAttachments).await?;
    let sql = "DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM attachments a WHERE a.blob = blobs.n)";
    session.execute(sql, &[]).await.map(drop)
}

/// Reads one message with everything that belongs to it.
pub(super) async fn fetch_one<S: Session>(session: &mut S, id: MessageId) -> Result<Raw> {
    let from = "(SELECT * FROM messages WHERE id = $1) m";
    let found = fetch(session, "", from, params![id.to_string()]).await?;
    found.into_iter().next().ok_or_else(|| Error::not_found("message", id))
}

/// Adds messages at the end of a conversation: all of them, or none.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) conversation: ConversationId,
    pub(crate) messages: Vec<(MessageId, Packed)>,
}

impl Operation for Append {
    type Output = Vec<Raw>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Raw>> {
        let mut added = Vec::new();
        for (id, packed) in &self.messages {
            add(session, self.conversation, *id, packed).await?;
            added.push(fetch_one(session, *id).await?);
        }
        Ok(added)
    }
}

/// Reads a message.
#[derive(Debug)]
pub(crate) struct Message(pub(crate) MessageId);

impl Operation for Message {
    type Output = Raw;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Raw> {
        fetch_one(session, self.0).await
    }
}

/// Reads all messages of a conversation, including shared ones.
#[derive(Debug)]
pub(crate) struct Thread(pub(crate) ConversationId);

impl Operation for Thread {
    type Output = Vec<Raw>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Raw>> {
        let id = self.0.to_string();
        let found = fetch(session, LINE, THREAD, params![&id]).await?;
        if found.is_empty() {
            let row = session.first("SELECT n FROM conversations WHERE id = $1", params![&id]).await?;
            row.ok_or_else(|| Error::not_found("conversation", self.0))?;
        }
        Ok(found)
    }
}

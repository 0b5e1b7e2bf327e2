//! Answers that are stored as they grow.

use super::conversations::set_title;
use super::messages::{add, attach, collect, fetch_one};
use crate::error::{Error, ErrorKind, Result};
use crate::message_rows::{Packed, Raw};
use crate::sql::{Operation, Session, params};
use crate::{ConversationId, MessageId, Time};

/// Starts an answer.
#[derive(Debug)]
pub(crate) struct Begin {
    pub(crate) conversation: ConversationId,
    pub(crate) id: MessageId,
    pub(crate) packed: Packed,
}

impl Operation for Begin {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        add(session, self.conversation, self.id, &self.packed).await.map(drop)
    }
}

/// Adds a piece to an answer.
#[derive(Debug)]
pub(crate) struct Grow {
    pub(crate) id: MessageId,
    pub(crate) piece: String,
}

/// Locks a message until the transaction ends, and returns its key and state.
async fn hold<S: Session>(session: &mut S, id: MessageId) -> Result<(i64, String)> {
    let sql = format!("SELECT n, state FROM messages WHERE id = $1{}", S::FOR_UPDATE);
    let row = session.first(&sql, params![id.to_string()]).await?;
    let mut row = row.ok_or_else(|| Error::not_found("message", id))?;
    Ok((row.int(0)?, row.text(1)?))
}

impl Operation for Grow {
    type Output = ();
    const GROWS: bool = true;

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        // As few statements as possible: on a busy server, each of them waits. The first one locks the answer.
        let id = self.id.to_string();
        let sql = "UPDATE messages SET updated = $1 WHERE id = $2 AND state = 'partial'";
        if session.execute(sql, params![Time::now().unix_micros(), &id]).await? == 0 {
            let (_, state) = hold(session, self.id).await?;
            return Err(Error::new(
                ErrorKind::Settled,
                format!("answer {} no longer grows: it is {state}. Finish it with the whole answer", self.id),
            ));
        }
        let sql = "INSERT INTO pieces (message, place, events) \
             SELECT m.n, (SELECT coalesce(max(p.place), 0) + 1 FROM pieces p WHERE p.message = m.n), $2 \
             FROM messages m WHERE m.id = $1";
        session.execute(sql, params![&id, &self.piece]).await.map(drop)
    }
}

/// Replaces what had grown with the whole answer.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) id: MessageId,
    pub(crate) packed: Packed,
}

impl Operation for Finish {
    type Output = Raw;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Raw> {
        let (n, _) = hold(session, self.id).await?;
        let packed = &self.packed;
        let counts = packed.counts;
        let now = Time::now().unix_micros();
        session
            .execute(
                "UPDATE messages SET role = $2, state = $3, updated = $4, body = $5, provider = $6, model = $7, \
                 level = $8, usage = $9, input_tokens = $10, output_tokens = $11, thinking_tokens = $12, \
                 cache_read_tokens = $13, cache_write_tokens = $14, cost = $15, finish_reason = $16, metadata = $17 \
                 WHERE n = $1",
                params![
                    n,
                    packed.role,
                    packed.state,
                    now,
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
            .await?;
        session.execute("DELETE FROM pieces WHERE message = $1", params![n]).await?;
        let had = session.execute("DELETE FROM attachments WHERE message = $1", params![n]).await?;
        attach(session, n, &packed.attachments).await?;
        if had > 0 {
            collect(session).await?;
        }
        session.index_message(n, packed.place, &packed.words).await?;
        let sql = "UPDATE conversations SET updated = $1 WHERE n = (SELECT conversation FROM messages WHERE n = $2) \
             RETURNING n, title";
        if let Some(mut row) = session.first(sql, params![now, n]).await?
            && let (key, None, Some(title)) = (row.int(0)?, row.opt_text(1)?, &packed.title)
        {
            set_title(session, key, Some(title)).await?;
        }
        fetch_one(session, self.id).await
    }
}

//! Forks: creating and listing them, and what happens to shared messages when one of the conversations drops them.

use ikigai_core::{Block, Message};

use super::conversations::{fetch, fetch_all, fresh, hold, insert};
use super::line::{Line, Link};
use super::messages::collect;
use crate::conversation::{Conversation, Details};
use crate::error::Result;
use crate::sql::{Lock, Operation, Session, params};
use crate::{ConversationId, Point, Time, json};

/// `down` is every conversation that shares a root with `$1`.
///
/// UNION, not UNION ALL: each is visited once, whatever the parents are.
pub(super) const FAMILY: &str = "WITH RECURSIVE up(n, parent) AS (\
     SELECT c.n, c.parent FROM conversations c WHERE c.id = $1 \
     UNION SELECT c.n, c.parent FROM up JOIN conversations c ON c.n = up.parent), \
     down(n) AS (SELECT up.n FROM up WHERE up.parent IS NULL \
     UNION SELECT c.n FROM down JOIN conversations c ON c.parent = down.n)";

/// Creates a conversation that shares the messages of another up to a point.
#[derive(Debug)]
pub(crate) struct Fork {
    pub(crate) from: ConversationId,
    pub(crate) at: Point,
    pub(crate) id: ConversationId,
    pub(crate) details: Details,
}

impl Operation for Fork {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        session.lock(Lock::Family).await?;
        hold(session, self.from).await?;
        let line = Line::of(session, self.from).await?;
        let base = line.before(session, self.at).await?;
        let from = fetch(session, self.from).await?;
        let mut row = fresh(self.id, &self.details, Some(&from))?;
        (row.parent, row.base) = (Some(line.owner(base).n), base);
        insert(session, &row).await?;
        fetch(session, self.id).await
    }
}

/// Lists every conversation that shares a root with this one, oldest first.
#[derive(Debug)]
pub(crate) struct Family(pub(crate) ConversationId);

impl Operation for Family {
    type Output = Vec<Conversation>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Conversation>> {
        let rest = "WHERE c.n IN (SELECT n FROM down) ORDER BY c.created, c.id";
        let family = fetch_all(session, FAMILY, rest, params![self.0.to_string()]).await?;
        if family.is_empty() {
            fetch(session, self.0).await?;
        }
        Ok(family)
    }
}

/// Removes a conversation's own messages after a place. Those that forks share go to the fork that shares the most,
/// which becomes the parent of the others; the rest are deleted.
async fn let_go<S: Session>(session: &mut S, line: &Line, place: i64) -> Result<()> {
    let own = line.own;
    let sql = "SELECT n, base FROM conversations WHERE parent = $1 AND base > $2 ORDER BY base DESC, n LIMIT 1";
    let mut kept = place;
    if let Some(mut row) = session.first(sql, params![own.n, place]).await? {
        let (heir, base) = (row.int(0)?, row.int(1)?);
        session
            .execute(
                "UPDATE messages SET conversation = $1 WHERE conversation = $2 AND position > $3 AND position <= $4",
                params![heir, own.n, place, base],
            )
            .await?;
        let sql = "UPDATE conversations SET parent = $1 WHERE parent = $2 AND base > $3 AND n <> $1";
        session.execute(sql, params![heir, own.n, place]).await?;
        // The owner of the message that the heir now follows: this conversation, unless it has no messages left.
        let parent = line.owner(place).n;
        let sql = "UPDATE conversations SET parent = $1, base = $2 WHERE n = $3";
        session.execute(sql, params![parent, place, heir]).await?;
        kept = base;
    }
    let sql = "DELETE FROM messages WHERE conversation = $1 AND position > $2";
    session.execute(sql, params![own.n, kept]).await.map(drop)
}

/// Forgets the prompts that were typed as messages of a conversation.
async fn forget_prompts<S: Session>(session: &mut S, conversation: i64) -> Result<()> {
    let sql = "SELECT body FROM messages WHERE conversation = $1 AND role = 'user'";
    for mut row in session.query(sql, params![conversation]).await? {
        // One that cannot be read is deleted anyway.
        let Ok(message) = json::read::<Message>(&row.text(0)?) else { continue };
        for text in message.content.iter().filter_map(Block::as_text) {
            let text = json::write("the prompt", text)?;
            session.execute("DELETE FROM prompts WHERE text = $1", params![text]).await?;
        }
    }
    Ok(())
}

/// Removes the messages of a conversation after a point.
#[derive(Debug)]
pub(crate) struct Truncate {
    pub(crate) id: ConversationId,
    pub(crate) to: Point,
}

impl Operation for Truncate {
    type Output = u64;
    const DELETES: bool = true;

    async fn run<S: Session>(&self, session: &mut S) -> Result<u64> {
        session.lock(Lock::Family).await?;
        let n = hold(session, self.id).await?;
        let line = Line::of(session, self.id).await?;
        let place = line.before(session, self.to).await?;
        if place >= line.length {
            return Ok(0);
        }
        let_go(session, &line, place.max(line.own.base)).await?;
        if place < line.own.base {
            // The point is in the shared part: the owner of the message before it becomes the parent.
            let parent = if place == 0 { line.own.parent } else { Some(line.owner(place).n) };
            let sql = "UPDATE conversations SET parent = $1, base = $2 WHERE n = $3";
            session.execute(sql, params![parent, place, n]).await?;
        }
        collect(session).await?;
        let sql = "UPDATE conversations SET updated = $1 WHERE n = $2";
        session.execute(sql, params![Time::now().unix_micros(), n]).await?;
        Ok(u64::try_from(line.length - place).unwrap_or_default())
    }
}

/// Deletes a conversation, its messages that no other shares, and the prompts that were typed in it.
#[derive(Debug)]
pub(crate) struct Delete(pub(crate) ConversationId);

impl Operation for Delete {
    type Output = ();
    const DELETES: bool = true;

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        session.lock(Lock::Family).await?;
        hold(session, self.0).await?;
        let line = Line::of(session, self.0).await?;
        let Link { n, parent, base, .. } = line.own;
        forget_prompts(session, n).await?;
        let_go(session, &line, base).await?;
        // Forks that no longer share anything move up.
        let sql = "UPDATE conversations SET parent = $1 WHERE parent = $2";
        session.execute(sql, params![parent, n]).await?;
        session.execute("DELETE FROM conversations WHERE n = $1", params![n]).await?;
        collect(session).await
    }
}

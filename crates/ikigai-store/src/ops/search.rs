//! Searching, and rebuilding the search index.

use super::messages::part;
use crate::attachments::Part;
use crate::error::{Error, Result};
use crate::message_rows::found_text;
use crate::sql::{Found, Operation, Session, params};
use crate::text::{Query, place_of, words};
use crate::{Order, Place};

/// Searches.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) query: Query,
    pub(crate) order: Order,
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

/// A hit as it comes from the database.
#[derive(Debug)]
pub(crate) struct RawHit {
    pub(crate) place: Place,
    pub(crate) conversation: String,
    pub(crate) title: Option<String>,
    pub(crate) created: i64,
    /// The message, unless the hit is a title.
    pub(crate) message: Option<(String, String, Vec<Part>)>,
}

impl Operation for Search {
    type Output = Vec<RawHit>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<RawHit>> {
        let mut hits = Vec::new();
        if self.query.is_empty() {
            return Ok(hits);
        }
        let found = session.search(&self.query, self.order, self.limit.into(), self.offset.into()).await?;
        for Found { place, n } in found {
            if place == Place::Title {
                let sql = "SELECT id, title, created FROM conversations WHERE n = $1";
                if let Some(mut row) = session.first(sql, params![n]).await? {
                    let (conversation, title, created) = (row.text(0)?, row.opt_text(1)?, row.int(2)?);
                    hits.push(RawHit { place, conversation, title, created, message: None });
                }
                continue;
            }
            let sql = "SELECT c.id, c.title, m.created, m.id, m.body FROM messages m \
                 JOIN conversations c ON c.n = m.conversation WHERE m.n = $1";
            if let Some(mut row) = session.first(sql, params![n]).await? {
                let (conversation, title, created) = (row.text(0)?, row.opt_text(1)?, row.int(2)?);
                let message = Some((row.text(3)?, row.text(4)?, texts(session, n).await?));
                hits.push(RawHit { place, conversation, title, created, message });
            }
        }
        Ok(hits)
    }
}

/// Reads the attachments of a message that are text.
async fn texts<S: Session>(session: &mut S, message: i64) -> Result<Vec<Part>> {
    let sql = "SELECT a.message, a.place, a.form, b.bytes FROM attachments a JOIN blobs b ON b.n = a.blob \
         WHERE a.message = $1 AND a.form = 'text' ORDER BY a.place";
    let rows = session.query(sql, params![message]).await?;
    rows.into_iter().map(|row| part(row).map(|(_, part)| part)).collect()
}

/// Rebuilds the search index from the conversations and messages themselves.
pub(crate) async fn reindex<S: Session>(session: &mut S) -> Result<()> {
    for mut row in session.query("SELECT n, title FROM conversations WHERE title IS NOT NULL", &[]).await? {
        let n = row.int(0)?;
        let words: Vec<String> = words(&row.text(1)?).map(|word| word.word).collect();
        session.index_title(n, &words).await?;
    }
    let mut last = 0;
    loop {
        let sql = "SELECT n, id, role, body FROM messages WHERE n > $1 AND state <> 'partial' ORDER BY n LIMIT 200";
        let rows = session.query(sql, params![last]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for mut row in rows {
            let (n, id, role, body) = (row.int(0)?, row.text(1)?, row.text(2)?, row.text(3)?);
            let unreadable = |fault: String| Error::corrupt(format!("message {id} cannot be read: {fault}"));
            let role = serde_json::from_value(role.into()).map_err(|error| unreadable(error.to_string()))?;
            let text = found_text(&body, texts(session, n).await?).map_err(unreadable)?;
            let words: Vec<String> = words(&text).map(|word| word.word).collect();
            session.index_message(n, place_of(role), &words).await?;
            last = n;
        }
    }
}

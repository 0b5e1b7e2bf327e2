//! A conversation's line: itself, its parent, and so on up to the root.

use crate::error::{Error, Result};
use crate::sql::{Session, params};
use crate::{ConversationId, Point};

/// The line of the conversation `$1`, each with the first and last place that counts. Every step up has a smaller base,
/// so the walk ends even in a damaged database.
pub(super) const LINE: &str = "WITH RECURSIVE line(n, parent, base, upto) AS (\
     SELECT c.n, c.parent, c.base, CAST(9223372036854775807 AS bigint) FROM conversations c WHERE c.id = $1 \
     UNION ALL \
     SELECT c.n, c.parent, c.base, line.base FROM line JOIN conversations c ON c.n = line.parent WHERE line.base > c.base)";

/// One conversation of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) n: i64,
    pub(super) parent: Option<i64>,
    pub(super) base: i64,
    upto: i64,
}

/// A conversation's line, itself first, and its number of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) links: Vec<Link>,
    pub(super) own: Link,
    pub(super) length: i64,
}

impl Line {
    pub(super) async fn of<S: Session>(session: &mut S, id: ConversationId) -> Result<Line> {
        let sql = format!("{LINE} SELECT n, parent, base, upto FROM line ORDER BY upto DESC");
        let mut links = Vec::new();
        for mut row in session.query(&sql, params![id.to_string()]).await? {
            links.push(Link { n: row.int(0)?, parent: row.opt_int(1)?, base: row.int(2)?, upto: row.int(3)? });
        }
        let own = *links.first().ok_or_else(|| Error::not_found("conversation", id))?;
        let sql = "SELECT max(position) FROM messages WHERE conversation = $1";
        let last = session.first(sql, params![own.n]).await?.map(|mut row| row.opt_int(0)).transpose()?.flatten();
        Ok(Line { links, own, length: last.unwrap_or(own.base) })
    }

    /// The conversation of this line that owns the message at a place; for place 0, this conversation itself.
    pub(super) fn owner(&self, place: i64) -> Link {
        if place == 0 {
            return self.own;
        }
        self.links.iter().find(|link| link.base < place && place <= link.upto).copied().unwrap_or(self.own)
    }

    /// The number of messages before a point.
    pub(super) async fn before<S: Session>(&self, session: &mut S, point: Point) -> Result<i64> {
        let (message, offset) = match point {
            Point::Start => return Ok(0),
            Point::End => return Ok(self.length),
            Point::Before(message) => (message, -1),
            Point::After(message) => (message, 0),
        };
        let sql = "SELECT conversation, position FROM messages WHERE id = $1";
        if let Some(mut row) = session.first(sql, params![message.to_string()]).await? {
            let (conversation, position) = (row.int(0)?, row.int(1)?);
            if self.links.iter().any(|link| link.n == conversation && position <= link.upto) {
                return Ok(position + offset);
            }
        }
        Err(Error::not_found("message", format!("{message} in this conversation")))
    }
}

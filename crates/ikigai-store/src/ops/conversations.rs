//! Creating, reading, listing and changing conversations.

use crate::conversation::{Conversation, Cursor, Details, Listing, ModelChoice, Page, Parent};
use crate::error::{Error, Result};
use crate::message_rows::{metadata, said, time};
use crate::sql::{Operation, Row, Session, Value, params};
use crate::text::{one_line, words};
use crate::{ConversationId, Time, json};

/// The columns that [`read`] reads, and where they come from.
const SELECT: &str = "SELECT c.id, c.title, c.created, c.updated, c.system, c.model, c.metadata, c.base, \
     (SELECT max(m.position) FROM messages m WHERE m.conversation = c.n), p.id, \
     (SELECT m.id FROM messages m WHERE m.conversation = c.parent AND m.position = c.base) \
     FROM conversations c LEFT JOIN conversations p ON p.n = c.parent";

/// Converts a row to a conversation.
fn read(mut row: Row) -> Result<Conversation> {
    let id = row.text(0)?;
    let conversation = |mut row: Row, id: &str| -> std::result::Result<Conversation, String> {
        let parent = row.opt_text(9).map_err(said)?;
        let base = row.int(7).map_err(said)?;
        let last = row.opt_int(8).map_err(said)?;
        let message = row.opt_text(10).map_err(said)?;
        Ok(Conversation {
            id: id.parse().map_err(said)?,
            title: row.opt_text(1).map_err(said)?,
            created: time(row.int(2).map_err(said)?)?,
            updated: time(row.int(3).map_err(said)?)?,
            system: json::read(&row.text(4).map_err(said)?)?,
            model: json::read(&row.text(5).map_err(said)?)?,
            metadata: metadata(&row.text(6).map_err(said)?)?,
            parent: match parent {
                None => None,
                Some(parent) => Some(Parent {
                    conversation: parent.parse().map_err(said)?,
                    message: message.map(|message| message.parse().map_err(said)).transpose()?,
                }),
            },
            messages: u64::try_from(last.unwrap_or(base)).map_err(said)?,
        })
    };
    conversation(row, &id).map_err(|fault| Error::corrupt(format!("conversation {id} cannot be read: {fault}")))
}

/// Reads one conversation.
pub(super) async fn fetch<S: Session>(session: &mut S, id: ConversationId) -> Result<Conversation> {
    let row = session.first(&format!("{SELECT} WHERE c.id = $1"), params![id.to_string()]).await?;
    read(row.ok_or_else(|| Error::not_found("conversation", id))?)
}

/// Reads the conversations that `rest` selects, in its order.
pub(super) async fn fetch_all<S: Session>(
    session: &mut S,
    with: &str,
    rest: &str,
    params: &[Value<'_>],
) -> Result<Vec<Conversation>> {
    let rows = session.query(&format!("{with} {SELECT} {rest}"), params).await?;
    rows.into_iter().map(read).collect()
}

/// Locks a conversation until the transaction ends, and returns its key.
pub(super) async fn hold<S: Session>(session: &mut S, id: ConversationId) -> Result<i64> {
    let sql = format!("SELECT n FROM conversations WHERE id = $1{}", S::FOR_UPDATE);
    match session.first(&sql, params![id.to_string()]).await? {
        Some(mut row) => row.int(0),
        None => Err(Error::not_found("conversation", id)),
    }
}

/// Sets a title and makes it searchable.
pub(super) async fn set_title<S: Session>(session: &mut S, n: i64, title: Option<&str>) -> Result<()> {
    session.execute("UPDATE conversations SET title = $1 WHERE n = $2", params![title, n]).await?;
    let words: Vec<String> = words(title.unwrap_or_default()).map(|word| word.word).collect();
    session.index_title(n, &words).await
}

/// The contents of a new conversation's row.
#[derive(Debug, Clone)]
pub(super) struct Fresh {
    pub(super) id: ConversationId,
    pub(super) title: Option<String>,
    pub(super) created: Time,
    pub(super) updated: Time,
    pub(super) system: String,
    pub(super) model: String,
    pub(super) metadata: String,
    pub(super) parent: Option<i64>,
    pub(super) base: i64,
}

/// Inserts the row and returns its key.
pub(super) async fn insert<S: Session>(session: &mut S, fresh: &Fresh) -> Result<i64> {
    let mut row = session
        .first(
            "INSERT INTO conversations (id, created, updated, system, model, metadata, parent, base) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING n",
            params![
                fresh.id.to_string(),
                fresh.created.unix_micros(),
                fresh.updated.unix_micros(),
                &fresh.system,
                &fresh.model,
                &fresh.metadata,
                fresh.parent,
                fresh.base,
            ],
        )
        .await?
        .ok_or_else(|| Error::internal("an insert gave no key"))?;
    let n = row.int(0)?;
    if let Some(title) = &fresh.title {
        set_title(session, n, Some(title)).await?;
    }
    Ok(n)
}

/// A title that can be stored; an empty one is `None`.
pub(super) fn title(given: &str) -> Option<String> {
    Some(one_line(given)).filter(|title| !title.is_empty())
}

/// The new row that these details describe; what they leave open comes from `otherwise`.
pub(super) fn fresh(id: ConversationId, details: &Details, otherwise: Option<&Conversation>) -> Result<Fresh> {
    let now = Time::now();
    let (nothing, no_model, no_metadata) = (Vec::new(), ModelChoice::default(), serde_json::Map::new());
    let system = details.system.as_ref().or(otherwise.map(|other| &other.system)).unwrap_or(&nothing);
    let model = details.model.as_ref().or(otherwise.map(|other| &other.model)).unwrap_or(&no_model);
    let metadata = details.metadata.as_ref().or(otherwise.map(|other| &other.metadata)).unwrap_or(&no_metadata);
    Ok(Fresh {
        id,
        title: match &details.title {
            Some(given) => title(given),
            None => otherwise.and_then(|other| other.title.clone()),
        },
        created: now,
        updated: now,
        system: json::write("the system prompt", system)?,
        model: json::write("the model", model)?,
        metadata: json::write("the metadata", metadata)?,
        parent: None,
        base: 0,
    })
}

/// Creates a conversation.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) id: ConversationId,
    pub(crate) details: Details,
}

impl Operation for Create {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        insert(session, &fresh(self.id, &self.details, None)?).await?;
        fetch(session, self.id).await
    }
}

/// Reads a conversation.
#[derive(Debug)]
pub(crate) struct Open(pub(crate) ConversationId);

impl Operation for Open {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        fetch(session, self.0).await
    }
}

/// Changes the details of a conversation.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) id: ConversationId,
    pub(crate) details: Details,
}

impl Operation for Update {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        let n = hold(session, self.id).await?;
        let Details { title: given, system, model, metadata } = &self.details;
        if let Some(given) = given {
            set_title(session, n, title(given).as_deref()).await?;
        }
        if let Some(system) = system {
            let text = json::write("the system prompt", system)?;
            session.execute("UPDATE conversations SET system = $1 WHERE n = $2", params![text, n]).await?;
        }
        if let Some(model) = model {
            let text = json::write("the model", model)?;
            session.execute("UPDATE conversations SET model = $1 WHERE n = $2", params![text, n]).await?;
        }
        if let Some(metadata) = metadata {
            let text = json::write("the metadata", metadata)?;
            session.execute("UPDATE conversations SET metadata = $1 WHERE n = $2", params![text, n]).await?;
        }
        fetch(session, self.id).await
    }
}

/// Lists conversations, newest first.
#[derive(Debug)]
pub(crate) struct List(pub(crate) Listing);

impl Operation for List {
    type Output = Page;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Page> {
        let Listing { limit, after } = &self.0;
        // One more than requested shows whether there is a next page.
        let most = i64::from(*limit) + 1;
        const ORDER: &str = "ORDER BY c.updated DESC, c.id DESC LIMIT $1";
        let mut conversations = match after {
            None => fetch_all(session, "", ORDER, params![most]).await?,
            Some(Cursor { updated, id }) => {
                let rest = format!("WHERE c.updated < $2 OR (c.updated = $2 AND c.id < $3) {ORDER}");
                fetch_all(session, "", &rest, params![most, updated.unix_micros(), id.to_string()]).await?
            }
        };
        let more = conversations.len() > *limit as usize;
        conversations.truncate(*limit as usize);
        let last = conversations.last().map(|last| Cursor { updated: last.updated, id: last.id });
        Ok(Page { conversations, next: last.filter(|_| more) })
    }
}

/// Finds conversations by the beginning or the end of their ids.
#[derive(Debug)]
pub(crate) struct Find(pub(crate) String);

impl Operation for Find {
    type Output = Vec<Conversation>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Conversation>> {
        let part = self.0.to_ascii_lowercase();
        // Only what can occur in an id: anything else would be a pattern.
        if part.is_empty() || !part.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let rest = "WHERE c.id LIKE $1 OR c.id LIKE $2 ORDER BY c.updated DESC, c.id DESC LIMIT 20";
        fetch_all(session, "", rest, params![format!("{part}%"), format!("%{part}")]).await
    }
}

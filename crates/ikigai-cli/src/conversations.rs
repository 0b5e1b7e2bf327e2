//! Saved conversations: where they are, and how to find one.

use ikigai_store::{Conversation, ConversationId, Store};
use std::sync::Arc;

use crate::exit::Failure;
use crate::places::Places;
use crate::screen::notice;
use crate::settings::{Database, Settings};

/// Opens the database, or one in memory if nothing is to be saved.
pub(crate) async fn open(settings: &Settings, forget: bool) -> Result<Arc<dyn Store>, Failure> {
    let location = if forget || !settings.save {
        ":memory:".to_owned()
    } else {
        match settings.database(&Places::required()?) {
            Database::File(path) => path.display().to_string(),
            Database::Postgres(url) => url,
        }
    };
    Ok(ikigai_store::open(&location).await?)
}

/// Like `open`, for a question, which works without a database.
pub(crate) async fn open_or_hint(settings: &Settings, forget: bool) -> Result<Arc<dyn Store>, Failure> {
    open(settings, forget).await.map_err(|failure| failure.hint("Use --no-save to go on without the database."))
}

/// Finds the conversation whose id contains this part.
pub(crate) async fn find(store: &dyn Store, part: &str) -> Result<ConversationId, Failure> {
    let found = store.find(part).await?;
    match found.as_slice() {
        [] => Err(Failure::new(format!("no conversation matches `{part}`")).hint("`ikigai history list` lists them.")),
        [one] => Ok(one.id),
        several => {
            let ids: Vec<String> = several.iter().map(|conversation| format!("  {}", line(conversation))).collect();
            Err(Failure::new(format!("`{part}` matches several conversations"))
                .hint(format!("These match:\n{}", ids.join("\n"))))
        }
    }
}

/// Returns the end of an id, which is enough to find it.
pub(crate) fn short(id: ConversationId) -> String {
    let id = id.to_string();
    let start = id.len().saturating_sub(8);
    id.get(start..).unwrap_or(&id).to_owned()
}

/// Returns a conversation in one line.
pub(crate) fn line(conversation: &Conversation) -> String {
    let fork = if conversation.parent.is_some() { "↳ " } else { "" };
    let title = conversation.title.as_deref().unwrap_or("untitled");
    let model = conversation.model.model.as_deref().unwrap_or("no model");
    let messages = notice::several(conversation.messages, "message");
    format!("{} {fork}{title} · {model} · {messages}", short(conversation.id))
}

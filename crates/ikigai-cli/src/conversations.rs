//! Conversations that are kept: where, and how one is found.

use ikigai_store::{Conversation, ConversationId, Store};
use std::sync::Arc;

use crate::exit::Failure;
use crate::places::Places;
use crate::screen::notice;
use crate::settings::{Database, Settings};

/// Opens the database; one that is gone with the program when nothing is to be kept.
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

/// The same for a question, which can do without.
pub(crate) async fn open_or_hint(settings: &Settings, forget: bool) -> Result<Arc<dyn Store>, Failure> {
    open(settings, forget).await.map_err(|failure| failure.hint("Use --no-save to go on without the database."))
}

/// The conversation that a part of an id means.
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

/// The end of an id, which is enough to find it by.
pub(crate) fn short(id: ConversationId) -> String {
    let id = id.to_string();
    let start = id.len().saturating_sub(8);
    id.get(start..).unwrap_or(&id).to_owned()
}

/// A conversation in one line.
pub(crate) fn line(conversation: &Conversation) -> String {
    let fork = if conversation.parent.is_some() { "↳ " } else { "" };
    let title = conversation.title.as_deref().unwrap_or("untitled");
    let model = conversation.model.model.as_deref().unwrap_or("no model");
    let messages = notice::several(conversation.messages, "message");
    format!("{} {fork}{title} · {model} · {messages}", short(conversation.id))
}

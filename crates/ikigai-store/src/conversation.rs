//! Conversations, and places in them.

use std::fmt;
use std::str::FromStr;

use ikigai_core::{Block, Content, Thinking};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ConversationId, MessageId, Time};

/// A conversation, without its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Its title: the one it was given, or else the first line of its first question.
    pub title: Option<String>,
    /// When it was created.
    pub created: Time,
    /// When a message was last added, changed or removed.
    pub updated: Time,
    /// The system prompt.
    pub system: Vec<Block>,
    /// The model that was used last.
    pub model: ModelChoice,
    /// The conversation that it was forked from.
    pub parent: Option<Parent>,
    /// How many messages it has, including those that it shares with its parents.
    pub messages: u64,
    /// Anything else that the program wants to store with it.
    pub metadata: Map<String, Value>,
}

/// A choice of model, which is remembered across restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChoice {
    /// The provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard it should think: the level, or a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
}

impl ModelChoice {
    /// Chooses a model of a provider.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> ModelChoice {
        ModelChoice { provider: Some(provider.into()), model: Some(model.into()), thinking: None }
    }

    /// Sets how hard it should think.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<Thinking>) -> ModelChoice {
        self.thinking = Some(thinking.into());
        self
    }
}

/// The point where a fork branches off. The messages up to it are shared, never copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The conversation that it was forked from.
    pub conversation: ConversationId,
    /// The last message that both have; `None` if the fork starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

/// What to set on a conversation when it is created, changed or forked. What is not set stays unchanged, or is copied
/// from the parent.
///
/// ```
/// use ikigai_core::Level;
/// use ikigai_store::{Details, ModelChoice};
///
/// let details = Details::default()
///     .title("Taxes")
///     .system("You are an accountant.")
///     .model(ModelChoice::new("anthropic", "claude-sonnet-4-5").thinking(Level::Med));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details {
    pub(crate) title: Option<String>,
    pub(crate) system: Option<Vec<Block>>,
    pub(crate) model: Option<ModelChoice>,
    pub(crate) metadata: Option<Map<String, Value>>,
}

impl Details {
    /// Sets the title: one line. An empty one removes the title, and the next question provides a new one.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Details {
        self.title = Some(title.into());
        self
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<Content>) -> Details {
        // A message is the only way from text to blocks that the format offers.
        self.system = Some(ikigai_core::Message::new(ikigai_core::Role::System, system).content);
        self
    }

    /// Sets the model to use from now on.
    #[must_use]
    pub fn model(mut self, model: ModelChoice) -> Details {
        self.model = Some(model);
        self
    }

    /// Sets anything else to be stored, replacing what was there.
    #[must_use]
    pub fn metadata(mut self, metadata: Map<String, Value>) -> Details {
        self.metadata = Some(metadata);
        self
    }
}

/// A place between the messages of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Before the first message.
    Start,
    /// After the last message.
    End,
    /// Before this message.
    Before(MessageId),
    /// After this message.
    After(MessageId),
}

/// The part of the list of conversations to read; the newest come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub(crate) limit: u32,
    pub(crate) after: Option<Cursor>,
}

impl Default for Listing {
    /// Asks for the newest fifty.
    fn default() -> Listing {
        Listing::newest(50)
    }
}

impl Listing {
    /// Asks for the newest ones, at most this many.
    pub fn newest(limit: u32) -> Listing {
        Listing { limit, after: None }
    }

    /// Asks for the ones that follow an earlier page.
    #[must_use]
    pub fn after(mut self, cursor: Cursor) -> Listing {
        self.after = Some(cursor);
        self
    }
}

/// A page of the list of conversations.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The conversations, newest first.
    pub conversations: Vec<Conversation>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// A place in the list of conversations. It stays valid when conversations are added or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) updated: Time,
    pub(crate) id: ConversationId,
}

/// The error for text that is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a place in a list; use the one that came with the previous page")]
pub struct NotACursor(String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.updated.unix_micros(), self.id)
    }
}

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Cursor, NotACursor> {
        let read = || {
            let (updated, id) = text.split_once('.')?;
            Some(Cursor { updated: Time::from_unix_micros(updated.parse().ok()?)?, id: id.parse().ok()? })
        };
        read().ok_or_else(|| NotACursor(text.chars().take(80).collect()))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        let cursor = Cursor { updated: Time::now(), id: ConversationId::new() };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", ".", "1", "1.x", "x.019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58"] {
            assert_eq!(text.parse::<Cursor>(), Err(NotACursor(text.into())));
        }
    }
}

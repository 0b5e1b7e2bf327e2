//! Messages as they are stored.

use ikigai_core::catalog::Money;
use ikigai_core::{FinishReason, Message, Response, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ConversationId, MessageId, Time};

/// Whether the message is complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is complete.
    #[default]
    Complete,
    /// It is still growing, or the program that wrote it ended before the answer did.
    Partial,
    /// It was stopped by the user, a lost connection or an error. What had arrived is kept.
    Cut,
}

impl State {
    /// Returns the state's name, as in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Complete => "complete",
            State::Partial => "partial",
            State::Cut => "cut",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<State> {
        [State::Complete, State::Partial, State::Cut].into_iter().find(|state| state.as_str() == word)
    }
}

/// A message to store: the canonical message, which says who answered, with which model, at which level, and holds the
/// sealed state; and what it took.
///
/// ```
/// use ikigai_core::{Message, Role, Usage};
/// use ikigai_store::Entry;
///
/// let question = Entry::new(Message::new(Role::User, "Hello"));
/// let answer = Entry::new(Message::new(Role::Assistant, "Hi!")).usage(Usage::new(3, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The message in canonical form.
    pub message: Message,
    /// Whether it is complete.
    #[serde(default)]
    pub state: State,
    /// The tokens it took, including thinking tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Why the answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Anything else that the program wants to store with it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Entry {
    /// Creates an entry for a complete message.
    pub fn new(message: Message) -> Entry {
        Entry { message, state: State::Complete, usage: None, cost: None, finish_reason: None, metadata: Map::new() }
    }

    /// Creates an entry for an answer. One that broke off or was paused is [`Cut`](State::Cut). What a message has no
    /// field for goes into the metadata: the provider's `response_id`, an `error`, the `warnings`.
    pub fn answer(mut response: Response, provider: impl Into<String>) -> Entry {
        let mut metadata = Map::new();
        let mut keep = |key: &str, value: serde_json::Result<Value>| {
            if let Ok(value) = value {
                metadata.insert(key.to_owned(), value);
            }
        };
        if let Some(id) = response.id.take() {
            keep("response_id", Ok(id.into()));
        }
        if let Some(mut error) = response.error.take() {
            // This is the answer itself, which is stored anyway.
            error.partial = None;
            keep("error", serde_json::to_value(error));
        }
        if !response.warnings.is_empty() {
            keep("warnings", serde_json::to_value(&response.warnings));
        }
        let finish_reason = response.finish_reason;
        let is_cut = finish_reason == FinishReason::Error || response.is_paused();
        let state = if is_cut { State::Cut } else { State::Complete };
        let usage = response.usage.take();
        let message = response.into_message(provider);
        Entry { message, state, usage, cost: None, finish_reason: Some(finish_reason), metadata }
    }

    /// Sets the tokens it took.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Entry {
        self.usage = Some(usage);
        self
    }

    /// Sets what it cost.
    #[must_use]
    pub fn cost(mut self, cost: Money) -> Entry {
        self.cost = Some(cost);
        self
    }

    /// Sets its state.
    #[must_use]
    pub fn state(mut self, state: State) -> Entry {
        self.state = state;
        self
    }
}

impl From<Message> for Entry {
    fn from(message: Message) -> Entry {
        Entry::new(message)
    }
}

/// A stored message.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its id.
    pub id: MessageId,
    /// The conversation that it was written in. Forks of that one share the message.
    pub conversation: ConversationId,
    /// Its place in the conversation, from 1.
    pub position: u64,
    /// When it was started.
    pub created: Time,
    /// When it last changed. A partial answer that has not changed for long has lost its writer.
    pub updated: Time,
    /// The message, and what is stored with it.
    pub entry: Entry,
}

#[cfg(test)]
mod tests {
    use ikigai_core::{ErrorKind, Loss, Role};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_broken_answer_is_cut_and_says_why() {
        let mut error = ikigai_core::Error::new(ErrorKind::Network, "connection reset");
        error.partial = Some(Box::default());
        let mut response = Response::new("Hel", FinishReason::Error);
        response.id = Some("msg_1".into());
        response.model = "m".into();
        response.usage = Some(Usage::new(1, 0));
        response.error = Some(Box::new(error));
        let code = ikigai_core::LossCode::NotInDialect;
        response.warnings = vec![Loss::new(code, "top_k", "top_k", "this API has no such parameter")];
        let mut message = Message::new(Role::Assistant, "Hel");
        (message.provider, message.model) = (Some("p".into()), Some("m".into()));
        let metadata = json!({
            "response_id": "msg_1",
            "error": {"kind": "network", "message": "connection reset"},
            "warnings": [{"code": "not_in_dialect", "what": "top_k", "where": "top_k", "why": "this API has no such parameter"}],
        });
        let expected = Entry {
            state: State::Cut,
            finish_reason: Some(FinishReason::Error),
            metadata: metadata.as_object().cloned().unwrap(),
            ..Entry::new(message).usage(Usage::new(1, 0))
        };
        assert_eq!(Entry::answer(response, "p"), expected);
    }
}

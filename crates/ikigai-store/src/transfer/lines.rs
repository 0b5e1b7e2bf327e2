//! The lines of an export.
//!
//! A header, then each conversation followed by the messages that it owns. A fork comes after its parent.

use ikigai_core::catalog::Money;
use ikigai_core::{Block, FinishReason, Message, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::{Conversation, ModelChoice, Parent};
use crate::{ConversationId, Entry, MessageId, State, Stored, Time};

/// The version of this format. A reader refuses newer ones.
pub(super) const VERSION: u64 = 1;

/// Version 0.1 stored approvals of tools with the conversation, under this name. They are never exported or imported.
const PERMISSIONS: &str = "permissions";

/// The type of a line, which is read first.
#[derive(Debug, Deserialize)]
pub(super) struct Kind {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// `{"type": "ikigai", …}`
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(rename = "type")]
    kind: String,
    pub(super) version: u64,
    exported: Time,
}

impl Header {
    pub(super) fn now() -> Header {
        Header { kind: "ikigai".to_owned(), version: VERSION, exported: Time::now() }
    }
}

/// `{"type": "conversation", …}`
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConversationLine {
    #[serde(rename = "type")]
    kind: String,
    id: ConversationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    created: Time,
    updated: Time,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block>,
    #[serde(default)]
    model: ModelChoice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Parent>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    /// The number of message lines that follow, to notice a file that was cut off.
    pub(super) messages: u64,
}

impl ConversationLine {
    pub(super) fn new(conversation: Conversation, messages: usize) -> ConversationLine {
        let Conversation { id, title, created, updated, system, model, parent, mut metadata, .. } = conversation;
        metadata.shift_remove(PERMISSIONS);
        let (kind, messages) = ("conversation".to_owned(), messages as u64);
        ConversationLine { kind, id, title, created, updated, system, model, parent, metadata, messages }
    }

    pub(super) fn into_conversation(self) -> Conversation {
        let ConversationLine { id, title, created, updated, system, model, parent, mut metadata, messages, .. } = self;
        metadata.shift_remove(PERMISSIONS);
        Conversation { id, title, created, updated, system, model, parent, messages, metadata }
    }
}

/// `{"type": "message", …}`
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MessageLine {
    #[serde(rename = "type")]
    kind: String,
    id: MessageId,
    created: Time,
    updated: Time,
    #[serde(default)]
    state: State,
    message: Message,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish_reason: Option<FinishReason>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

impl MessageLine {
    pub(super) fn new(stored: Stored) -> MessageLine {
        let Stored { id, created, updated, entry, .. } = stored;
        let Entry { message, state, usage, cost, finish_reason, metadata } = entry;
        let kind = "message".to_owned();
        MessageLine { kind, id, created, updated, state, message, usage, cost, finish_reason, metadata }
    }

    /// The conversation and the position follow from the place of the line.
    pub(super) fn into_stored(self, conversation: ConversationId, position: u64) -> Stored {
        let MessageLine { id, created, updated, state, message, usage, cost, finish_reason, metadata, .. } = self;
        let entry = Entry { message, state, usage, cost, finish_reason, metadata };
        Stored { id, conversation, position, created, updated, entry }
    }
}

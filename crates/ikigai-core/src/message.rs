//! Messages: who said what.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::content::TextOrBlocks;
use crate::content::text_or_blocks;
use crate::{Block, FoundSource, Level, ProviderData};

/// The speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
    /// The tools that the model called.
    Tool,
    /// Instructions in the middle of a conversation. The system prompt itself is [`Request::system`](crate::Request::system).
    System,
}

impl Role {
    /// Returns the role as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::System => "system",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// The content, in order. A plain string is read as one text block.
    #[serde(deserialize_with = "text_or_blocks")]
    #[cfg_attr(feature = "schema", schemars(with = "TextOrBlocks"))]
    pub content: Vec<Block>,
    /// The provider that answered. Sealed state in this message goes back only to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The requested thinking level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Level>,
    /// Sources that the provider found in addition to those cited in the text. They are never sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FoundSource>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

impl Message {
    /// Creates a message with this role.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        let Content(content) = content.into();
        Message {
            role,
            content,
            provider: None,
            model: None,
            thinking: None,
            sources: Vec::new(),
            provider_data: ProviderData::default(),
        }
    }

    /// Removes calls of provider-run tools that have no result and no text after them. An answer that was cut off may
    /// have some, and providers refuse a conversation that continues from there.
    ///
    /// ```
    /// use ikigai_core::{Block, Message, ProviderCall, Role};
    ///
    /// let mut call = ProviderCall::default();
    /// call.id = "srv_1".to_owned();
    /// let mut cut = Message::new(Role::Assistant, [Block::text("Let me look."), Block::ProviderCall(call)]);
    /// cut.drop_unanswered();
    /// assert_eq!(cut.content, [Block::text("Let me look.")]);
    /// ```
    pub fn drop_unanswered(&mut self) {
        let last_text = self.content.iter().rposition(|block| matches!(block, Block::Text(_)));
        let results = self.content.iter().filter_map(|block| match block {
            Block::ProviderResult(result) => Some(result.call_id.clone()),
            _ => None,
        });
        let answered: HashSet<String> = results.collect();
        let mut place = 0;
        self.content.retain(|block| {
            let is_last = last_text.is_none_or(|text| place > text);
            place += 1;
            !matches!(block, Block::ProviderCall(call) if is_last && !answered.contains(&call.id))
        });
    }

    /// Returns all its text, joined without a separator.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Block::as_text).collect()
    }
}

/// The content of a message, made from text, a block, or a list of blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Content(pub(crate) Vec<Block>);

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content(vec![Block::text(text)])
    }
}

impl From<&String> for Content {
    fn from(text: &String) -> Self {
        Content::from(text.as_str())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content(vec![Block::text(text)])
    }
}

impl From<Block> for Content {
    fn from(block: Block) -> Self {
        Content(vec![block])
    }
}

impl From<Vec<Block>> for Content {
    fn from(blocks: Vec<Block>) -> Self {
        Content(blocks)
    }
}

impl<const N: usize> From<[Block; N]> for Content {
    fn from(blocks: [Block; N]) -> Self {
        Content(blocks.into())
    }
}

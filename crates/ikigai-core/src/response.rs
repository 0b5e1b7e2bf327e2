//! What a model answered.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Block, Error, Loss, Message, Part, ProviderData, Role, ToolCall, Usage};

/// Why an answer ended.
///
/// The provider's own word stays in [`Response::provider_data`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The token limit cut it off.
    Length,
    /// It waits for the results of its tool calls.
    ToolUse,
    /// A filter or a refusal ended it.
    ContentFilter,
    /// It broke.
    Error,
    /// The provider gave no reason, or one that has no mapping.
    #[default]
    Unknown,
}

impl FinishReason {
    /// The reason's word, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolUse => "tool_use",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Error => "error",
            FinishReason::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for FinishReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A model's answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Response {
    /// The provider's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that answered, which may not be the one that was asked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The answer, in order.
    pub content: Vec<Block>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What it took; absent when the provider did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What broke it, when `finish_reason` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<Error>>,
    /// What a dialect has of its own.
    #[serde(skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
    /// What the caller should know: losses of the request, counts that do not add up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Loss>,
}

impl Response {
    /// All its text, joined by nothing. A refusal is not in it: see [`refusal`](Response::refusal).
    pub fn text(&self) -> String {
        self.text_blocks().filter(|block| !block.is_refusal()).map(|block| block.text.as_str()).collect()
    }

    /// The model's words for why it does not answer, where the provider tells them from an answer.
    pub fn refusal(&self) -> Option<String> {
        let mut refusals = self.text_blocks().filter(|block| block.is_refusal()).map(|block| block.text.as_str());
        let first = refusals.next()?;
        Some(std::iter::once(first).chain(refusals).collect())
    }

    fn text_blocks(&self) -> impl Iterator<Item = &crate::Text> {
        self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        })
    }

    /// All its visible thinking, joined by nothing.
    pub fn thinking(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| match block {
                Block::Thinking(thinking) => Some(thinking.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(Block::as_tool_call)
    }

    /// The answer's text read as JSON, as structured output gives it.
    ///
    /// # Errors
    /// When the text is no JSON.
    pub fn object(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&self.text())
    }

    /// The answer as a message, to go on with the conversation. `provider` says who issued it.
    pub fn into_message(mut self, provider: impl Into<String>) -> Message {
        self.provider_data.without(Part::Answer);
        for data in self.content.iter_mut().filter_map(Block::provider_data_mut) {
            data.without(Part::Answer);
        }
        Message {
            role: Role::Assistant,
            content: self.content,
            provider: Some(provider.into()),
            model: (!self.model.is_empty()).then_some(self.model),
            thinking: None,
            provider_data: self.provider_data,
        }
    }
}

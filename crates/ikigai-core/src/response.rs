//! Answers from a model.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Block, Citation, Content, Error, FoundSource, Loss, Message, Part, ProviderData, Role, Text, ToolCall, Usage, pause,
};

/// Why an answer ended.
///
/// The provider's own value is kept in [`Response::provider_data`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model finished.
    Stop,
    /// The answer was cut off by the token limit.
    Length,
    /// The model is waiting for the results of its tool calls.
    ToolUse,
    /// A filter or a refusal ended it.
    ContentFilter,
    /// The answer broke off.
    Error,
    /// The provider gave no reason, or an unknown one.
    #[default]
    Unknown,
}

impl FinishReason {
    /// Returns the reason as it is written in JSON.
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
#[non_exhaustive]
pub struct Response {
    /// The provider's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that answered, which may differ from the requested one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The answer, in order.
    pub content: Vec<Block>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// Sources that the provider found but tied neither to a passage nor to a result; see
    /// [`sources`](Response::sources()) for all sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FoundSource>,
    /// The tokens used; absent if the provider did not report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What went wrong, if `finish_reason` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<Error>>,
    /// Data that only one dialect has.
    #[serde(skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
    /// What the caller should know: losses of the request, counts that do not add up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Loss>,
}

impl Response {
    /// Creates an answer that ended for this reason; everything else is a field to assign.
    pub fn new(content: impl Into<Content>, finish_reason: FinishReason) -> Self {
        Response { content: content.into().0, finish_reason, ..Response::default() }
    }

    /// Returns all its text, joined without a separator and without a refusal: see [`refusal`](Response::refusal).
    pub fn text(&self) -> String {
        self.text_blocks().filter(|block| !block.is_refusal()).map(|block| block.text.as_str()).collect()
    }

    /// Returns the model's reason for not answering, if the provider marks it as a refusal.
    pub fn refusal(&self) -> Option<String> {
        let mut refusals = self.text_blocks().filter(|block| block.is_refusal()).map(|block| block.text.as_str());
        let first = refusals.next()?;
        Some(std::iter::once(first).chain(refusals).collect())
    }

    fn text_blocks(&self) -> impl Iterator<Item = &Text> {
        self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Returns all its visible thinking, joined without a separator.
    pub fn thinking(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| match block {
                Block::Thinking(thinking) => Some(thinking.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Returns the tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(Block::as_tool_call)
    }

    /// Returns the citations, in order, each with the passage of the answer that it refers to.
    pub fn citations(&self) -> impl Iterator<Item = (&str, &Citation)> {
        self.text_blocks()
            .flat_map(|text| text.citations.iter().map(|citation| (citation.passage(&text.text), citation)))
    }

    /// Returns all sources of the answer, without duplicates: those that its texts cite, those that the provider's
    /// tools found, and those that are tied to neither.
    pub fn sources(&self) -> Vec<FoundSource> {
        let cited = self.citations().map(|(_, citation)| FoundSource::from(citation));
        let results = self.content.iter().filter_map(|block| match block {
            Block::ProviderResult(result) => Some(&result.sources),
            _ => None,
        });
        let mut seen = HashSet::new();
        let mut sources: Vec<FoundSource> =
            cited.chain(results.flatten().cloned()).chain(self.sources.iter().cloned()).collect();
        sources.retain(|source| source.key().is_some_and(|key| seen.insert(key.to_owned())));
        sources
    }

    /// Returns whether the provider paused in the middle of its own tools. If so, send the same request again with this
    /// answer as its last message, and [`append`](Response::append) the result.
    pub fn is_paused(&self) -> bool {
        pause::is_pause(&self.provider_data)
    }

    /// Appends a later answer of the same turn. Content and usage are added up; the end is that of the later answer.
    pub fn append(&mut self, later: Response) {
        self.content.extend(later.content);
        self.sources.extend(later.sources);
        self.usage = match (self.usage.take(), later.usage) {
            (Some(first), Some(second)) => Some(first.and(&second)),
            (first, second) => first.or(second),
        };
        self.provider_data.without(Part::Answer);
        self.provider_data.merge(later.provider_data);
        (self.finish_reason, self.error) = (later.finish_reason, later.error);
        if !later.model.is_empty() {
            self.model = later.model;
        }
        self.warnings.extend(later.warnings);
    }

    /// Parses the text of the answer as JSON, for structured output.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn object(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&self.text())
    }

    /// Turns the answer into a message, to continue the conversation. `provider` is the provider that issued it.
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
            sources: self.sources,
            provider_data: self.provider_data,
        }
    }
}

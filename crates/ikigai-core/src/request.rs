//! Requests to a model.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
use crate::content::TextOrBlocks;
use crate::content::text_or_blocks;
use crate::{Block, CacheHint, Json, Message, ProviderData, Thinking, Tool, ToolChoice};

/// A request to a model, independent of any provider.
///
/// ```
/// use ikigai_core::{Level, Request};
///
/// let request = Request::new("claude-sonnet-4-5")
///     .system("You are helpful")
///     .user("Hello")
///     .thinking(Level::Med)
///     .max_output_tokens(4096);
/// assert_eq!(request.messages.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Request {
    /// The model's id, as its provider names it.
    pub model: String,
    /// The system prompt, separate from the messages. A plain string is read as one text block.
    #[serde(deserialize_with = "text_or_blocks", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "TextOrBlocks"))]
    pub system: Vec<Block>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// How hard the model should think; absent: the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// The tools that the model may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Whether the model must use a tool; absent: the model decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may call several tools at once; absent: the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// The limit on the visible answer, in tokens; absent, or -1 in JSON: the provider's default.
    #[serde(deserialize_with = "minus_one_is_absent", skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<i64>,
    /// Randomness, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Samples only from the k likeliest tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<i64>,
    /// Strings that end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Makes answers repeatable, as far as the provider supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Penalises tokens by how often they have already appeared, -2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Penalises tokens that have already appeared at all, -2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// The form of the answer; absent: text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
    /// Caching of the whole request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheOptions>,
    /// Labels for the caller's own use, such as `user_id`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Whether the answer should be streamed; absent: not specified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Data that only one dialect has.
    #[serde(skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// The form of the answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputFormat {
    /// Text.
    #[default]
    Text,
    /// Any JSON value.
    Json,
    /// JSON that matches a schema.
    JsonSchema(JsonSchemaFormat),
}

/// A schema that the answer must match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JsonSchemaFormat {
    /// Its name; some providers require one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A description for the model to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema, with the order of its keys kept.
    pub schema: Json,
    /// Whether the provider must enforce the schema; absent: the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Data that only one dialect has.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
}

/// Caching of the whole request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheOptions {
    /// Requests with the same key are sent to the same cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Lets the provider choose what to cache, up to the last block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic: Option<CacheHint>,
}

impl JsonSchemaFormat {
    /// Creates a strict schema with a name; everything else is left to the provider.
    pub fn new(name: impl Into<String>, schema: impl Into<Json>) -> Self {
        JsonSchemaFormat {
            name: Some(name.into()),
            description: None,
            schema: schema.into(),
            strict: Some(true),
            provider_data: ProviderData::default(),
        }
    }
}

fn minus_one_is_absent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Ok(Option::<i64>::deserialize(deserializer)?.filter(|&limit| limit != -1))
}

//! Providers: rows of data, never code.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Dialect;

/// One provider: where it is, which dialect it speaks, how it differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Its id, as it stands before the colon in `provider:model`.
    #[serde(skip)]
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Other ids that mean the same provider.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The dialect that its requests go in.
    pub dialect: Dialect,
    /// Further dialects that it speaks, with their base URLs where those differ.
    #[serde(default)]
    pub also: BTreeMap<Dialect, String>,
    /// Where its API begins. `${NAME}` stands for an environment variable. Empty: the user must say.
    #[serde(default)]
    pub base_url: String,
    /// How the key is presented.
    #[serde(default)]
    pub auth: Auth,
    /// Environment variables that may hold the key, first one first.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// Environment variables that may replace `base_url`, first one first.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// Where a person gets a key, or reads about the models.
    #[serde(default)]
    pub docs: String,
    /// The beginnings of model ids that mean this provider when none is named: `claude-`.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// Headers sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How its API differs from the dialect's own.
    #[serde(default)]
    pub quirks: Quirks,
}

/// How a key is presented.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// `x-api-key: KEY`.
    XApiKey,
    /// `x-goog-api-key: KEY`.
    XGoogApiKey,
    /// `api-key: KEY`.
    ApiKey,
    /// A Google OAuth token, from a service account or the environment.
    GoogleOauth,
    /// AWS Signature Version 4.
    AwsSigv4,
    /// No key.
    None,
}

/// How a provider's API differs from its dialect's own; the default is the dialect as its inventor serves it.
///
/// Each field is read in one place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quirks {
    /// Chat: the name of the output limit.
    pub max_tokens: MaxTokensField,
    /// Chat: the role of the system prompt.
    pub system_role: SystemRole,
    /// Chat: `stream_options` is refused.
    pub no_stream_options: bool,
    /// Chat: `strict` on tools is refused.
    pub no_strict_tools: bool,
    /// Chat: `response_format` of type `json_schema` is refused; `json_object` is sent with the schema in the prompt.
    pub no_json_schema: bool,
    /// Chat: how `required` is spelt in `tool_choice`.
    pub tool_choice_required: RequiredWord,
    /// Chat: `tool_choice` cannot name a tool.
    pub no_specific_tool: bool,
    /// Chat: how thinking is asked for.
    pub reasoning_request: ReasoningRequest,
    /// Chat: the field that thinking comes in and goes back in.
    pub reasoning_field: ReasoningField,
    /// Chat: when thinking goes back.
    pub replay_reasoning: ReplayReasoning,
    /// Chat: tool call ids are exactly nine letters and digits.
    pub tool_ids_of_nine: bool,
    /// Chat: `content: null` is refused; an empty text is sent.
    pub no_null_content: bool,
    /// Chat: the name of the seed.
    pub seed: SeedField,
    /// Chat: a user message directly after a tool message is refused.
    pub no_user_after_tool: bool,
    /// Chat: `cache_control` marks on parts are understood.
    pub cache_control: bool,
    /// Chat: `top_k` is understood.
    pub top_k: bool,
    /// Responses: stored items and `store` are unknown.
    pub no_store: bool,
    /// Gemini: function call ids are refused.
    pub no_call_ids: bool,
    /// Gemini: `parametersJsonSchema` is unknown; the OpenAPI subset is sent.
    pub openapi_schemas: bool,
    /// Anthropic: the model stands in the URL, and this goes into the body as `anthropic_version` (Bedrock, Vertex).
    pub anthropic_version: Option<Cow<'static, str>>,
}

/// The name of the output limit in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_completion_tokens`, as OpenAI has it today.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`, the only spelling that many others know.
    MaxTokens,
}

/// The role of the system prompt in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    #[default]
    System,
    /// `developer`.
    Developer,
}

/// How `required` is spelt in `tool_choice`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequiredWord {
    /// `required`.
    #[default]
    Required,
    /// `any`.
    Any,
    /// Not to be had: `auto` is sent.
    Refused,
}

/// How thinking is asked for in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningRequest {
    /// `reasoning_effort: "low"`.
    #[default]
    Effort,
    /// `reasoning: {"effort": …, "max_tokens": …, "exclude": …}`.
    ReasoningObject,
    /// `thinking: {"type": "enabled" | "disabled"}`.
    ThinkingType,
    /// `thinking: {"type": …}` and `reasoning_effort` together.
    ThinkingTypeAndEffort,
    /// `chat_template_kwargs: {"enable_thinking": …}`.
    ChatTemplate,
    /// Not to be asked for.
    Nothing,
}

/// The field that thinking comes in and goes back in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    /// None: thinking is not visible.
    #[default]
    Nothing,
    /// `reasoning_content`.
    ReasoningContent,
    /// `reasoning`.
    Reasoning,
    /// A `thinking` part inside `content`.
    ContentPart,
}

/// When thinking goes back to the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayReasoning {
    /// Never.
    #[default]
    Never,
    /// On every assistant message.
    Always,
    /// On the assistant messages after the last user message.
    ToolLoop,
}

/// The name of the seed in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeedField {
    /// `seed`.
    #[default]
    Seed,
    /// `random_seed`.
    RandomSeed,
    /// Not to be had.
    Nothing,
}

//! How a provider's API differs from its dialect's own.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// How a provider's API differs from its dialect's own, by dialect. The default is the inventor's own API.
///
/// In files: `quirks.chat = { top_k = true }`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Quirks {
    /// OpenAI Chat Completions.
    pub chat: ChatQuirks,
    /// OpenAI Responses.
    pub responses: ResponsesQuirks,
    /// Gemini.
    pub gemini: GeminiQuirks,
    /// Anthropic Messages.
    pub anthropic: AnthropicQuirks,
}

/// How an API differs from OpenAI's Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ChatQuirks {
    /// The name of the field for the output limit.
    pub max_tokens: MaxTokensField,
    /// The role of the system prompt.
    pub system_role: SystemRole,
    /// `stream_options` is refused.
    pub no_stream_options: bool,
    /// `strict` on tools is refused.
    pub no_strict_tools: bool,
    /// `response_format` of type `json_schema` is refused; `json_object` is sent with the schema in the prompt.
    pub no_json_schema: bool,
    /// How `required` is spelled in `tool_choice`.
    pub tool_choice_required: RequiredChoice,
    /// `tool_choice` cannot name a tool.
    pub no_specific_tool: bool,
    /// Tools are called even with `tool_choice: none`, so they are left out.
    pub no_tools_on_none: bool,
    /// `additionalProperties: false` in a tool's schema is refused; left out.
    pub no_closed_schemas: bool,
    /// How to ask for thinking.
    pub reasoning_request: ReasoningRequest,
    /// The field that holds thinking, in answers and in the history.
    pub reasoning_field: ReasoningField,
    /// When thinking is sent back.
    pub replay_reasoning: ReplayReasoning,
    /// Tool call ids have exactly nine letters and digits.
    pub tool_ids_of_nine: bool,
    /// `content: null` is refused; an empty string is sent.
    pub no_null_content: bool,
    /// The name of the field for the seed.
    pub seed: SeedField,
    /// A user message directly after a tool message is refused.
    pub no_user_after_tool: bool,
    /// `cache_control` marks on parts are supported.
    pub cache_control: bool,
    /// `top_k` is supported.
    pub top_k: bool,
    /// There is a tool `openrouter:web_search`.
    pub web_search_tool: bool,
    /// Every model searches and accepts `web_search_options`.
    pub web_search_options: bool,
}

/// How an API differs from OpenAI's Responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ResponsesQuirks {
    /// Stored items and `store` are not supported.
    pub no_store: bool,
    /// Provider-run tools have their options next to their type, and code runs in an unnamed container (xAI).
    pub flat_tools: bool,
}

/// How an API differs from Google's Gemini API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GeminiQuirks {
    /// Function call ids are refused.
    pub no_call_ids: bool,
    /// `includeServerSideToolInvocations` is not supported; provider-run tools work together with functions without it.
    pub no_tool_invocations: bool,
    /// A search can exclude domains (Vertex).
    pub exclude_domains: bool,
    /// `parametersJsonSchema` is not supported; the OpenAPI subset is sent.
    pub openapi_schemas: bool,
}

/// How an API differs from Anthropic's Messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AnthropicQuirks {
    /// The model is part of the URL, and this is sent in the body as `anthropic_version` (Bedrock, Vertex).
    pub version: Option<Cow<'static, str>>,
    /// Only models whose ids contain one of these parts are reached in this dialect. For the others, data that version
    /// 0.1.0 kept under this dialect's name is Converse's.
    pub models: Option<Cow<'static, [Cow<'static, str>]>>,
}

impl AnthropicQuirks {
    /// Returns whether there is a list of models that are reached in this dialect, and it excludes this one.
    pub(crate) fn leaves_out(&self, model: &str) -> bool {
        self.models.as_ref().is_some_and(|parts| !parts.iter().any(|part| model.contains(part.as_ref())))
    }
}

impl Quirks {
    /// The default, for tables that are built at compile time.
    pub(crate) const NONE: Quirks = Quirks {
        chat: ChatQuirks {
            max_tokens: MaxTokensField::MaxCompletionTokens,
            system_role: SystemRole::System,
            no_stream_options: false,
            no_strict_tools: false,
            no_json_schema: false,
            tool_choice_required: RequiredChoice::Required,
            no_specific_tool: false,
            no_tools_on_none: false,
            no_closed_schemas: false,
            reasoning_request: ReasoningRequest::Effort,
            reasoning_field: ReasoningField::Nothing,
            replay_reasoning: ReplayReasoning::Never,
            tool_ids_of_nine: false,
            no_null_content: false,
            seed: SeedField::Seed,
            no_user_after_tool: false,
            cache_control: false,
            top_k: false,
            web_search_tool: false,
            web_search_options: false,
        },
        responses: ResponsesQuirks { no_store: false, flat_tools: false },
        gemini: GeminiQuirks {
            no_call_ids: false,
            no_tool_invocations: false,
            exclude_domains: false,
            openapi_schemas: false,
        },
        anthropic: AnthropicQuirks { version: None, models: None },
    };
}

/// The name of the field for the output limit in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MaxTokensField {
    /// `max_completion_tokens`, OpenAI's current name.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`, the only name that many others support.
    MaxTokens,
}

/// The role of the system prompt in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemRole {
    /// `system`.
    #[default]
    System,
    /// `developer`.
    Developer,
}

/// How `required` is spelled in `tool_choice`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequiredChoice {
    /// `required`.
    #[default]
    Required,
    /// `any`.
    Any,
    /// Not supported: `auto` is sent.
    Refused,
}

/// How to ask for thinking in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningRequest {
    /// `reasoning_effort: "low"`.
    #[default]
    Effort,
    /// `reasoning_effort: "low"`, and `reasoning_format` says whether thinking gets its own field or is left out.
    EffortAndFormat,
    /// `reasoning: {"effort": …, "max_tokens": …, "exclude": …}`.
    ReasoningObject,
    /// `thinking: {"type": "enabled" | "disabled"}`.
    ThinkingType,
    /// `thinking: {"type": …}` and `reasoning_effort` together.
    ThinkingTypeAndEffort,
    /// `chat_template_kwargs: {"enable_thinking": …}`.
    ChatTemplate,
    /// There is no parameter for it.
    Nothing,
}

/// The field that holds thinking, in answers and in the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningField {
    /// No field: thinking is not visible.
    #[default]
    Nothing,
    /// `reasoning_content`.
    ReasoningContent,
    /// `reasoning`.
    Reasoning,
    /// A `thinking` part inside `content`.
    ContentPart,
}

/// When thinking is sent back to the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplayReasoning {
    /// Never.
    #[default]
    Never,
    /// On every assistant message.
    Always,
    /// On the assistant messages after the last user message.
    ToolLoop,
}

/// The name of the field for the seed in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SeedField {
    /// `seed`.
    #[default]
    Seed,
    /// `random_seed`.
    RandomSeed,
    /// Not supported.
    Nothing,
}

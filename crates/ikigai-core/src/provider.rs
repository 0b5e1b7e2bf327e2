//! Providers: rows of data, never code.

mod base_url;
mod table;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Dialect;
use crate::rows::{list, pairs};

pub use table::Providers;

/// A provider: its address, its dialects and how it differs from them.
///
/// The built-in rows are in `data/providers.toml`; users add their own in the same form, see [`Providers`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// Its id: the part before the colon in `provider:model`.
    #[serde(skip)]
    pub id: Cow<'static, str>,
    /// Its name for people.
    pub name: Cow<'static, str>,
    /// Other ids of the same provider.
    #[serde(deserialize_with = "list")]
    pub aliases: Cow<'static, [Cow<'static, str>]>,
    /// The dialect it speaks by default.
    pub dialect: Dialect,
    /// Further dialects it speaks, each with its base URL; an empty URL means `base_url`.
    #[serde(with = "pairs")]
    pub also: Cow<'static, [(Dialect, Cow<'static, str>)]>,
    /// The base URL of its API. `${NAME}` stands for an environment variable; see [`base_url`](Provider::base_url).
    pub base_url: Cow<'static, str>,
    /// How the key is sent.
    pub auth: Auth,
    /// Environment variables that may hold the key; the first that is set wins.
    #[serde(deserialize_with = "list")]
    pub key_env: Cow<'static, [Cow<'static, str>]>,
    /// A missing key is not an error: servers on your own machine.
    pub key_optional: bool,
    /// Environment variables that override `base_url`; the first that is set wins. If empty: the id in capitals and
    /// `_BASE_URL`.
    #[serde(deserialize_with = "list")]
    pub base_url_env: Cow<'static, [Cow<'static, str>]>,
    /// The page that documents its models.
    pub docs: Cow<'static, str>,
    /// The page where a key can be made.
    pub key_page: Cow<'static, str>,
    /// Prefixes of model ids that mean this provider when no provider is named: `claude-`. A `!` before a prefix excludes
    /// it.
    #[serde(deserialize_with = "list")]
    pub prefixes: Cow<'static, [Cow<'static, str>]>,
    /// Each model is reached in the dialect of its own maker, if this provider speaks it.
    pub maker_dialect: bool,
    /// Headers sent with every request.
    #[serde(with = "pairs")]
    pub headers: Cow<'static, [(Cow<'static, str>, Cow<'static, str>)]>,
    /// Why it cannot be used. Empty if it can.
    pub unsupported: Cow<'static, str>,
    /// How its API differs from the dialect's own.
    pub quirks: Quirks,
}

impl Default for Provider {
    /// An OpenAI-compatible server with a bearer key.
    fn default() -> Self {
        Provider::NONE
    }
}

impl Provider {
    /// The default, for tables that are built at compile time.
    const NONE: Provider = Provider {
        id: Cow::Borrowed(""),
        name: Cow::Borrowed(""),
        aliases: Cow::Borrowed(&[]),
        dialect: Dialect::OpenaiChat,
        also: Cow::Borrowed(&[]),
        base_url: Cow::Borrowed(""),
        auth: Auth::Bearer,
        key_env: Cow::Borrowed(&[]),
        key_optional: false,
        base_url_env: Cow::Borrowed(&[]),
        docs: Cow::Borrowed(""),
        key_page: Cow::Borrowed(""),
        prefixes: Cow::Borrowed(&[]),
        maker_dialect: false,
        headers: Cow::Borrowed(&[]),
        unsupported: Cow::Borrowed(""),
        quirks: Quirks::NONE,
    };

    /// Does it speak this dialect?
    ///
    /// ```
    /// use ikigai_core::{Dialect, Providers};
    ///
    /// let openai = Providers::shared().find("openai").unwrap();
    /// assert_eq!(openai.dialect, Dialect::OpenaiResponses);
    /// assert!(openai.speaks(Dialect::OpenaiChat) && !openai.speaks(Dialect::Gemini));
    /// ```
    pub fn speaks(&self, dialect: Dialect) -> bool {
        self.dialects().any(|own| own == dialect)
    }

    /// The dialects that it speaks, its own first.
    pub fn dialects(&self) -> impl Iterator<Item = Dialect> {
        std::iter::once(self.dialect).chain(self.also.iter().map(|(dialect, _)| *dialect))
    }

    /// Can it be used at all?
    pub(crate) fn reach(&self) -> Result<(), ProviderError> {
        if self.unsupported.is_empty() {
            return Ok(());
        }
        Err(ProviderError::Unsupported { provider: self.id.to_string(), why: self.unsupported.to_string() })
    }

    /// Does it need a key?
    pub fn needs_key(&self) -> bool {
        self.auth != Auth::None && !self.key_optional
    }

    /// The page for someone who has no key yet: where keys are made, or else the documentation.
    pub fn key_page(&self) -> &str {
        if self.key_page.is_empty() { &self.docs } else { &self.key_page }
    }

    /// Does a model id without a provider mean this one? Its prefixes say so; case does not matter.
    ///
    /// A prefix ends where a word ends: `o3` claims `o3` and `o3-mini`, not `o30`.
    pub fn claims(&self, model: &str) -> bool {
        let starts = |prefix: &str| {
            let head = model.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
            let next = model.as_bytes().get(prefix.len());
            head && (prefix.ends_with('-') || next.is_none_or(|byte| matches!(byte, b'-' | b'@' | b':' | b'.')))
        };
        let mut claimed = false;
        for prefix in self.prefixes.iter() {
            match prefix.strip_prefix('!') {
                Some(denied) if starts(denied) => return false,
                Some(_) => {}
                None => claimed |= starts(prefix),
            }
        }
        claimed
    }
}

/// Why a provider cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// There is no provider of that name.
    #[error("unknown provider `{name}`{}", crate::near::did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The closest id or alias.
        nearest: Option<String>,
    },
    /// It is known, but not supported.
    #[error("{provider} cannot be used: {why}")]
    Unsupported {
        /// The provider's id.
        provider: String,
        /// Why not.
        why: String,
    },
    /// It does not speak the dialect.
    #[error("{provider} does not speak {dialect}; it speaks {}", .speaks.iter().map(|d| d.as_str()).collect::<Vec<_>>().join(", "))]
    NotSpoken {
        /// The provider's id.
        provider: String,
        /// The dialect that was asked for.
        dialect: Dialect,
        /// The dialects it speaks.
        speaks: Vec<Dialect>,
    },
    /// Its address depends on an environment variable that is not set.
    #[error("{provider} has no fixed address; set {}", .variables.join(" or "))]
    MissingVariable {
        /// The provider's id.
        provider: String,
        /// One of these must be set.
        variables: Vec<String>,
    },
    /// The URL is invalid.
    #[error("the base URL of {provider} is invalid: `{url}`")]
    NotAUrl {
        /// The provider's id.
        provider: String,
        /// The URL.
        url: String,
    },
}

/// How a key is sent.
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
    /// AWS Signature Version 4, or a bearer token if there is one.
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
    /// Chat: how `required` is spelled in `tool_choice`.
    pub tool_choice_required: RequiredWord,
    /// Chat: `tool_choice` cannot name a tool.
    pub no_specific_tool: bool,
    /// Chat: tools beside `tool_choice: none` are called all the same; they are left out.
    pub no_tools_on_none: bool,
    /// Chat: `additionalProperties: false` in a tool's schema is refused; it is left out.
    pub no_closed_schemas: bool,
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
    /// Anthropic: models are spoken to over Amazon's Converse, except for those with one of these parts in their id.
    pub converse_except: Option<Cow<'static, [Cow<'static, str>]>>,
}

impl Quirks {
    /// The dialect as its inventor serves it; the same as the default, for tables that are built at compile time.
    pub(crate) const NONE: Quirks = Quirks {
        max_tokens: MaxTokensField::MaxCompletionTokens,
        system_role: SystemRole::System,
        no_stream_options: false,
        no_strict_tools: false,
        no_json_schema: false,
        tool_choice_required: RequiredWord::Required,
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
        no_store: false,
        no_call_ids: false,
        openapi_schemas: false,
        anthropic_version: None,
        converse_except: None,
    };

    /// Is the model spoken to over Amazon's Converse, where the dialect is Anthropic's?
    ///
    /// ```
    /// use ikigai_core::Providers;
    ///
    /// let bedrock = &Providers::shared().find("bedrock").unwrap().quirks;
    /// assert!(bedrock.has_converse("us.amazon.nova-lite-v1:0"));
    /// assert!(!bedrock.has_converse("us.anthropic.claude-sonnet-4-6"));
    /// ```
    pub fn has_converse(&self, model: &str) -> bool {
        let except = |parts: &Cow<'_, [Cow<'_, str>]>| parts.iter().any(|part| model.contains(part.as_ref()));
        self.converse_except.as_ref().is_some_and(|parts| !except(parts))
    }
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

/// How `required` is spelled in `tool_choice`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequiredWord {
    /// `required`.
    #[default]
    Required,
    /// `any`.
    Any,
    /// Not supported: `auto` is sent.
    Refused,
}

/// How thinking is asked for in Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningRequest {
    /// `reasoning_effort: "low"`.
    #[default]
    Effort,
    /// `reasoning_effort: "low"`, and `reasoning_format` says whether thinking comes in its own field or not at all.
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
    /// Not supported.
    Nothing,
}

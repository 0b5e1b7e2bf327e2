//! Providers: rows of data, never code.

mod base_url;
mod table;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Dialect;
use crate::rows::{list, pairs};

pub use table::Providers;

/// One provider: where it is, which dialect it speaks, how it differs.
///
/// Rows stand in `data/providers.toml`, and users add their own in the same form; see [`Providers`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// Its id, as it stands before the colon in `provider:model`.
    #[serde(skip)]
    pub id: Cow<'static, str>,
    /// Its name for people.
    pub name: Cow<'static, str>,
    /// Other ids that mean the same provider.
    #[serde(deserialize_with = "list")]
    pub aliases: Cow<'static, [Cow<'static, str>]>,
    /// The dialect that its requests go in.
    pub dialect: Dialect,
    /// Further dialects that it speaks, with their base URLs where those differ; empty: `base_url`.
    #[serde(with = "pairs")]
    pub also: Cow<'static, [(Dialect, Cow<'static, str>)]>,
    /// Where its API begins, as [`base_url`](Provider::base_url) reads it: `${NAME}` stands for an environment variable.
    pub base_url: Cow<'static, str>,
    /// How the key is presented.
    pub auth: Auth,
    /// Environment variables that may hold the key, first one first.
    #[serde(deserialize_with = "list")]
    pub key_env: Cow<'static, [Cow<'static, str>]>,
    /// Requests go out without a key when there is none: servers on one's own machine.
    pub key_optional: bool,
    /// Environment variables that may replace `base_url`, first one first. None: the id in capitals and `_BASE_URL`.
    #[serde(deserialize_with = "list")]
    pub base_url_env: Cow<'static, [Cow<'static, str>]>,
    /// Where a person reads about the models.
    pub docs: Cow<'static, str>,
    /// Where a person gets a key.
    pub key_page: Cow<'static, str>,
    /// The beginnings of model ids that mean this provider when none is named: `claude-`. With a `!` before it, one that
    /// does not.
    #[serde(deserialize_with = "list")]
    pub prefixes: Cow<'static, [Cow<'static, str>]>,
    /// Each model is spoken to in the dialect of its own maker, where this provider speaks that.
    pub maker_dialect: bool,
    /// Headers sent with every request.
    #[serde(with = "pairs")]
    pub headers: Cow<'static, [(Cow<'static, str>, Cow<'static, str>)]>,
    /// Why it cannot be used, where it is known and that is all. Empty: it can.
    pub unsupported: Cow<'static, str>,
    /// How its API differs from the dialect's own.
    pub quirks: Quirks,
}

impl Default for Provider {
    /// What a row is that says nothing: an OpenAI-compatible server with a bearer key.
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

    /// The page to send a person to who has no key: where keys are made, or else what there is to read.
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

/// A provider that cannot be used as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// There is none of that name.
    #[error("no provider is called `{name}`{}", crate::near::did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The id or alias nearest to it.
        nearest: Option<String>,
    },
    /// It is known, and cannot be used.
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
        /// The dialects to be had.
        speaks: Vec<Dialect>,
    },
    /// Its address needs an environment variable that is not set.
    #[error("{provider} needs an address of its own: set {}", .variables.join(" or "))]
    MissingVariable {
        /// The provider's id.
        provider: String,
        /// Variables of which one must be set.
        variables: Vec<String>,
    },
    /// Its address is none.
    #[error("the base URL of {provider} is no URL: `{url}`")]
    NotAUrl {
        /// The provider's id.
        provider: String,
        /// What came out.
        url: String,
    },
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
    /// AWS Signature Version 4; a bearer token, where there is one, goes before it.
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

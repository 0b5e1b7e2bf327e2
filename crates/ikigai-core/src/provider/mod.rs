//! Providers: rows of data, never code.

mod base_url;
mod built_in;
#[cfg(feature = "files")]
mod overlay;
mod quirks;
mod registry;
mod table;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Dialect;
use crate::catalog::rows::{list, pairs};

pub use quirks::{
    AnthropicQuirks, ChatQuirks, GeminiQuirks, MaxTokensField, Quirks, ReasoningField, ReasoningRequest,
    ReplayReasoning, RequiredChoice, ResponsesQuirks, SeedField, SystemRole,
};
pub use registry::{Registry, Route};
pub use table::Providers;

/// A provider: its URL, its dialects, and how it differs from them.
///
/// The built-in rows are in `data/providers.toml`. Users can add their own in the same form: see [`Providers`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Provider {
    /// Its id: the part before the colon in `provider:model`.
    #[serde(skip)]
    pub id: Cow<'static, str>,
    /// Its display name.
    pub name: Cow<'static, str>,
    /// Other ids of the same provider.
    #[serde(deserialize_with = "list")]
    pub aliases: Cow<'static, [Cow<'static, str>]>,
    /// Its default dialect.
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
    /// A missing key is not an error, for example for servers on your own machine.
    pub key_optional: bool,
    /// Environment variables that override `base_url`; the first that is set wins. If empty: the id in capitals
    /// followed by `_BASE_URL`.
    #[serde(deserialize_with = "list")]
    pub base_url_env: Cow<'static, [Cow<'static, str>]>,
    /// The page that documents its models.
    pub docs: Cow<'static, str>,
    /// The page where a key can be created.
    pub key_page: Cow<'static, str>,
    /// Prefixes of model ids, such as `claude-`, that select this provider if none is named. A `!` before a prefix
    /// excludes it.
    #[serde(deserialize_with = "list")]
    pub prefixes: Cow<'static, [Cow<'static, str>]>,
    /// Each model uses the dialect of its own maker, if this provider speaks it.
    pub maker_dialect: bool,
    /// Headers sent with every request.
    #[serde(with = "pairs")]
    pub headers: Cow<'static, [(Cow<'static, str>, Cow<'static, str>)]>,
    /// The header that lets it recognise a repeated request; empty if it has none.
    pub idempotency_header: Cow<'static, str>,
    /// Why it cannot be used; empty if it can.
    pub unsupported: Cow<'static, str>,
    /// How its API differs from the dialect's own.
    pub quirks: Quirks,
}

impl Default for Provider {
    /// Returns an OpenAI-compatible server with a bearer key.
    fn default() -> Self {
        Provider::NONE
    }
}

impl Provider {
    /// Creates an OpenAI-compatible server with a bearer key. `id` is the part before the colon in `provider:model`;
    /// the base URL may omit the version. The key is read from the variable named by the id in capitals followed by
    /// `_API_KEY`. Everything else is a field to assign.
    pub fn new(id: impl Into<String>, base_url: impl Into<String>) -> Self {
        Provider { id: Cow::Owned(id.into()), base_url: Cow::Owned(base_url.into()), ..Provider::NONE }
    }

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
        idempotency_header: Cow::Borrowed(""),
        unsupported: Cow::Borrowed(""),
        quirks: Quirks::NONE,
    };

    /// Returns whether it speaks this dialect.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    /// use ikigai_core::provider::Providers;
    ///
    /// let openai = Providers::shared().find("openai").unwrap();
    /// assert_eq!(openai.dialect, Dialect::OpenaiResponses);
    /// assert!(openai.speaks(Dialect::OpenaiChat) && !openai.speaks(Dialect::Gemini));
    /// ```
    pub fn speaks(&self, dialect: Dialect) -> bool {
        self.dialects().any(|own| own == dialect)
    }

    /// Returns whether it speaks this dialect for this model.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    /// use ikigai_core::provider::Providers;
    ///
    /// let bedrock = Providers::shared().find("bedrock").unwrap();
    /// assert!(bedrock.speaks_for(Dialect::Anthropic, "us.anthropic.claude-sonnet-4-6"));
    /// assert!(!bedrock.speaks_for(Dialect::Anthropic, "us.amazon.nova-lite-v1:0"));
    /// ```
    pub fn speaks_for(&self, dialect: Dialect, model: &str) -> bool {
        self.speaks(dialect) && (dialect != Dialect::Anthropic || !self.quirks.anthropic.leaves_out(model))
    }

    /// Returns whether it accepts requests in this dialect byte for byte as its inventor does. Clouds require the model
    /// in the URL instead of the body.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    /// use ikigai_core::provider::Providers;
    ///
    /// let takes = |name: &str| Providers::shared().find(name).unwrap().takes_bytes_of(Dialect::Anthropic);
    /// assert!(takes("anthropic") && !takes("bedrock") && !takes("openai"));
    /// ```
    pub fn takes_bytes_of(&self, dialect: Dialect) -> bool {
        self.speaks(dialect)
            && dialect.serves_clients()
            && (dialect != Dialect::Anthropic || self.quirks.anthropic.version.is_none())
    }

    /// Returns the dialects that it speaks, its default first.
    pub fn dialects(&self) -> impl Iterator<Item = Dialect> {
        std::iter::once(self.dialect).chain(self.also.iter().map(|(dialect, _)| *dialect))
    }

    /// Returns an error if it cannot be used at all.
    pub(crate) fn reach(&self) -> Result<(), ProviderSetupError> {
        if self.unsupported.is_empty() {
            return Ok(());
        }
        Err(ProviderSetupError::Unsupported { provider: self.id.to_string(), why: self.unsupported.to_string() })
    }

    /// Returns whether it needs a key.
    pub fn needs_key(&self) -> bool {
        self.auth != Auth::None && !self.key_optional
    }

    /// Returns the page for someone who has no key yet: where keys are created, or else the documentation.
    pub fn key_page(&self) -> &str {
        if self.key_page.is_empty() { &self.docs } else { &self.key_page }
    }

    /// Returns whether a model id without a provider selects this one, according to its prefixes. Case does not matter.
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
pub enum ProviderSetupError {
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
        /// The requested dialect.
        dialect: Dialect,
        /// The dialects it speaks.
        speaks: Vec<Dialect>,
    },
    /// Its URL depends on an environment variable that is not set.
    #[error("{provider} has no fixed address; set {}", .variables.join(" or "))]
    MissingVariable {
        /// The provider's id.
        provider: String,
        /// The variables, one of which must be set.
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
#[non_exhaustive]
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

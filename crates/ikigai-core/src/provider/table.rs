//! The table of providers: the built-in rows, with the user's own on top.

use std::borrow::Cow;

use super::base_url::{Version, capitals, is_url, normal};
use super::built_in::{self, PROVIDERS};
use super::{Auth, Provider, ProviderSetupError};
use crate::{Dialect, near};

static SHARED: Providers = Providers::BUILT_IN;

/// The table of providers: the built-in rows, with the user's own rows on top.
///
/// The built-in rows are compiled into the program, and read only when needed. A user's file has the same form, and
/// only contains the differences:
///
/// ```
/// use ikigai_core::Dialect;
/// use ikigai_core::provider::Providers;
///
/// let mine = r#"
///     [deepseek]
///     base_url = "https://proxy.example/deepseek"
///
///     [home]
///     base_url = "http://192.168.0.10:8000"
///     auth = "none"
///     quirks.chat = { top_k = true }
/// "#;
/// let providers = Providers::shared().with_toml("providers.toml", mine).unwrap();
/// assert_eq!(providers.find("deepseek").unwrap().base_url, "https://proxy.example/deepseek");
/// assert_eq!(providers.find("deepseek").unwrap().key_env[0], "DEEPSEEK_API_KEY");
/// assert_eq!(providers.find("home").unwrap().dialect, Dialect::OpenaiChat);
/// assert_eq!(providers.find("togetherai").unwrap().id, "together");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Providers {
    /// The user's rows, complete, each replacing the built-in row with the same id.
    pub(super) own: Vec<Provider>,
}

impl Providers {
    /// Only the built-in rows.
    pub(crate) const BUILT_IN: Providers = Providers { own: Vec::new() };

    /// Returns the built-in table.
    pub fn shared() -> &'static Providers {
        &SHARED
    }

    /// Returns the provider with this id or alias; case does not matter.
    pub fn find(&self, name: &str) -> Option<&Provider> {
        self.own.iter().find(|row| row.is_called(name)).or_else(|| built_in::named(name))
    }

    /// Returns all providers, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        let rest = PROVIDERS.iter().filter(|row| !self.own.iter().any(|own| own.id == row.id));
        let mut rows: Vec<&Provider> = self.own.iter().chain(rest).collect();
        rows.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        rows.into_iter()
    }

    /// Returns the provider that claims a model id by its prefix; see [`Provider::claims`]. The user's rows come first.
    ///
    /// ```
    /// use ikigai_core::provider::Providers;
    ///
    /// let maker = |model| Providers::shared().claimant(model).map(|provider| provider.id.as_ref());
    /// assert_eq!(maker("claude-opus-99"), Some("anthropic"));
    /// assert_eq!(maker("o3-mini"), Some("openai"));
    /// assert_eq!(maker("gpt-oss-20b"), None); // Open weights, on many hosts.
    /// ```
    pub fn claimant(&self, model: &str) -> Option<&Provider> {
        let rest = PROVIDERS.iter().filter(|row| !self.own.iter().any(|own| own.id == row.id));
        self.own.iter().chain(rest).find(|row| row.claims(model))
    }

    /// Returns the provider whose API is the dialect: Anthropic, OpenAI, Google, Amazon.
    pub fn of_dialect(&self, dialect: Dialect) -> &Provider {
        let id = match dialect {
            Dialect::Anthropic => "anthropic",
            Dialect::OpenaiChat | Dialect::OpenaiResponses => "openai",
            Dialect::Gemini => "google",
            Dialect::BedrockConverse => "bedrock-converse",
        };
        self.find(id).unwrap_or(&NOBODY)
    }

    /// Adds a row to this table, replacing the row with the same id if there is one.
    ///
    /// ```
    /// use ikigai_core::provider::{Auth, Provider, Providers};
    ///
    /// let mut home = Provider::new("home", "http://192.168.0.10:8000");
    /// home.auth = Auth::None;
    /// let providers = Providers::shared().with(home).unwrap();
    /// assert_eq!(providers.find("home").unwrap().base_url, "http://192.168.0.10:8000/v1");
    /// ```
    ///
    /// # Errors
    /// Returns an error if the base URL is invalid.
    pub fn with(&self, row: Provider) -> Result<Providers, ProviderSetupError> {
        let id = row.id.clone().into_owned();
        if !is_url(&row.base_url) {
            return Err(ProviderSetupError::NotAUrl { provider: id, url: row.base_url.into_owned() });
        }
        let row = row.completed(&id);
        let mut own = self.own.clone();
        own.retain(|own| own.id != row.id);
        own.push(row);
        Ok(Providers { own })
    }

    /// Returns the id or alias closest to a name, if it is close enough to be what was meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let own = self.own.iter().flat_map(Provider::names);
        near::close(name, own.chain(built_in::names()))
    }
}

impl Provider {
    /// Returns its id and aliases.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_ref()).chain(self.aliases.iter().map(|alias| alias.as_ref()))
    }

    fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Completes a new row with the values that follow from its id.
    pub(super) fn completed(mut self, id: &str) -> Provider {
        self.id = Cow::Owned(id.to_owned());
        if self.name.is_empty() {
            self.name = self.id.clone();
        }
        if self.key_env.is_empty() && self.auth != Auth::None {
            self.key_env = Cow::Owned(vec![Cow::Owned(format!("{}_API_KEY", capitals(id)))]);
        }
        self.base_url = Cow::Owned(self.configured(&self.base_url, self.dialect));
        self
    }

    /// Returns a user's base URL in the form that the dialect needs; a URL that contains variables is left unchanged.
    pub(super) fn configured(&self, url: &str, dialect: Dialect) -> String {
        if url.is_empty() || url.contains("${") { url.to_owned() } else { normal(url, dialect, Version::AfterHost) }
    }
}

/// Replaces a row that the table lacks; a test of the table proves that this never happens.
static NOBODY: Provider = Provider::NONE;

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;

//! The table of providers: the built-in rows, and the user's over them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;

use super::base_url::{Version, capitals, is_url, normal};
use super::{Auth, Provider, Quirks};
use crate::catalog::rows::{FileError, from_toml};
use crate::{Dialect, near};

// `BUILT_IN`: the rows of data/providers.toml, by id. `NAMES`: every id and alias with the place of its row, in order.
include!(concat!(env!("OUT_DIR"), "/providers.rs"));

static SHARED: Providers = Providers::BUILT_IN;

/// The table of providers: the built-in rows, and the user's own over them.
///
/// The built-in rows are part of the program and cost nothing to have. A user's file has the same form, and says only
/// what is different:
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
    /// The user's rows, complete, each in place of the built-in one of the same id.
    own: Vec<Provider>,
}

impl Providers {
    /// The built-in rows alone.
    pub(crate) const BUILT_IN: Providers = Providers { own: Vec::new() };

    /// The built-in table.
    pub fn shared() -> &'static Providers {
        &SHARED
    }

    /// The provider with this id or alias; case does not matter.
    pub fn find(&self, name: &str) -> Option<&Provider> {
        self.own.iter().find(|row| row.is_called(name)).or_else(|| built_in(name))
    }

    /// Every provider, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        let rest = BUILT_IN.iter().filter(|row| !self.own.iter().any(|own| own.id == row.id));
        let mut rows: Vec<&Provider> = self.own.iter().chain(rest).collect();
        rows.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        rows.into_iter()
    }

    /// The provider that a model id without a provider means, by the prefixes; see [`Provider::claims`]. The user's rows
    /// are asked first.
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
        let rest = BUILT_IN.iter().filter(|row| !self.own.iter().any(|own| own.id == row.id));
        self.own.iter().chain(rest).find(|row| row.claims(model))
    }

    /// The provider whose API is the dialect: Anthropic, OpenAI, Google, Amazon.
    pub fn of_dialect(&self, dialect: Dialect) -> &Provider {
        let id = match dialect {
            Dialect::Anthropic => "anthropic",
            Dialect::OpenaiChat | Dialect::OpenaiResponses => "openai",
            Dialect::Gemini => "google",
            Dialect::BedrockConverse => "bedrock-converse",
        };
        self.find(id).unwrap_or(&NOBODY)
    }

    /// The id or alias nearest to a name, when it is near enough to be what was meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let own = self.own.iter().flat_map(Provider::names);
        near::close(name, own.chain(NAMES.iter().map(|(known, _)| *known)))
    }

    /// This table with a user's TOML text over it, field by field. `file` is for messages only.
    ///
    /// A row that does not exist yet needs a `base_url`; its key variable is the id in capitals and `_API_KEY` unless it
    /// says otherwise, its dialect `openai-chat`. Base URLs may be written in the usual ways, with or without the
    /// version, as in [`Provider::base_url_for`]. A list takes the place of the list below it; `also`, `headers` and
    /// `quirks` are taken over key by key.
    pub fn with_toml(&self, file: &str, text: &str) -> Result<Providers, FileError> {
        // Read twice: once as rows, for errors with their place; once as bare values, to know which were given.
        let mut rows: BTreeMap<String, Provider> = from_toml(file, text)?;
        let values: BTreeMap<Spanned<String>, toml::Table> = from_toml(file, text)?;
        let mut table = self.clone();
        for (name, values) in values {
            let row = rows.remove(name.as_ref()).unwrap_or_default();
            let broken = |key: &str, message: String| {
                let offset = name.span().start;
                FileError::at(file, text, offset, format!("{}{key}", name.as_ref()), message)
            };
            let row = match self.find(name.as_ref()) {
                Some(below) => below.overlaid(values).map_err(|error| broken("", error.message().to_owned()))?,
                None => row.completed(name.as_ref()),
            };
            let urls = std::iter::once(&row.base_url).chain(row.also.iter().map(|(_, url)| url));
            for url in urls.filter(|url| !url.contains("${") && !url.is_empty()) {
                if !is_url(url) {
                    return Err(broken(
                        ".base_url",
                        format!("`{url}` is not a URL; it must start with https:// or http://"),
                    ));
                }
            }
            if row.base_url.is_empty() && row.unsupported.is_empty() {
                return Err(broken("", "a new provider needs a `base_url`".to_owned()));
            }
            if row.id.contains([':', '/']) || row.id.trim().is_empty() {
                return Err(broken("", "an id must not be empty or contain a colon or a slash".to_owned()));
            }
            let taken = row.names().find(|name| table.find(name).is_some_and(|other| other.id != row.id));
            if let Some(taken) = taken {
                return Err(broken(".aliases", format!("`{taken}` is the name of another provider")));
            }
            table.own.retain(|own| own.id != row.id);
            table.own.push(row);
        }
        Ok(table)
    }
}

impl Provider {
    /// Its id and aliases.
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_ref()).chain(self.aliases.iter().map(|alias| alias.as_ref()))
    }

    fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// This row with a user's values over it.
    fn overlaid(&self, values: toml::Table) -> Result<Provider, toml::de::Error> {
        let mut below = toml::Table::try_from(self).map_err(|error| serde::de::Error::custom(error.to_string()))?;
        let given: Vec<String> = values.keys().cloned().collect();
        lay_over(&mut below, values);
        let mut row: Provider = below.try_into()?;
        row.id = self.id.clone();
        if given.iter().any(|key| key == "base_url") {
            row.base_url = Cow::Owned(row.configured(&row.base_url, row.dialect));
        }
        Ok(row)
    }

    /// A new row, with what follows from its id.
    fn completed(mut self, id: &str) -> Provider {
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

    /// A base URL that a user wrote, as the dialect wants it; one with variables in it is taken as it is.
    fn configured(&self, url: &str, dialect: Dialect) -> String {
        if url.is_empty() || url.contains("${") { url.to_owned() } else { normal(url, dialect, Version::AfterHost) }
    }
}

fn lay_over(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn built_in(name: &str) -> Option<&'static Provider> {
    let lower = || name.bytes().map(|byte| byte.to_ascii_lowercase());
    let place = NAMES.binary_search_by(|(known, _)| known.bytes().cmp(lower())).ok()?;
    BUILT_IN.get(usize::from(NAMES.get(place)?.1))
}

/// Stands in for a row that the table lacks; the test of the table proves that it never has to.
static NOBODY: Provider = Provider::NONE;

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;

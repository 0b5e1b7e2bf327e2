//! The base URL of a provider's API: the row's template, environment variables, the user's own URL.

use super::ProviderSetupError;
use crate::Dialect;
use crate::provider::Provider;

impl Provider {
    /// Returns the environment variables that may replace the base URL, in order of precedence.
    ///
    /// ```
    /// use ikigai_core::provider::Providers;
    ///
    /// let variables = |id| Providers::shared().find(id).unwrap().base_url_variables();
    /// assert_eq!(variables("google"), ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"]);
    /// assert_eq!(variables("github-models"), ["GITHUB_MODELS_BASE_URL"]);
    /// ```
    pub fn base_url_variables(&self) -> Vec<String> {
        if self.base_url_env.is_empty() {
            vec![format!("{}_BASE_URL", capitals(&self.id))]
        } else {
            self.base_url_env.iter().map(|name| name.to_string()).collect()
        }
    }

    /// Returns the base URL for one of the provider's dialects, without a trailing slash. `env` looks up environment
    /// variables; an empty value counts as unset.
    ///
    /// A variable of [`base_url_variables`](Provider::base_url_variables) replaces the base URL of the provider's own
    /// dialect, of dialects that share it, and the beginning of base URLs that begin with it. Its value may be written
    /// in any of the usual ways: with or without `/v1` or `/v1beta`, with or without a path and a trailing slash.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    /// use ikigai_core::provider::Providers;
    ///
    /// let openai = Providers::shared().find("openai").unwrap();
    /// let unset = |_: &str| None;
    /// assert_eq!(openai.base_url_for(Dialect::OpenaiChat, unset).unwrap(), "https://api.openai.com/v1");
    /// let proxy = |name: &str| (name == "OPENAI_BASE_URL").then(|| "http://localhost:4000".to_owned());
    /// assert_eq!(openai.base_url_for(Dialect::OpenaiChat, proxy).unwrap(), "http://localhost:4000/v1");
    /// ```
    pub fn base_url_for(
        &self,
        dialect: Dialect,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<String, ProviderSetupError> {
        if !self.unsupported.is_empty() {
            let why = self.unsupported.to_string();
            return Err(ProviderSetupError::Unsupported { provider: self.id.to_string(), why });
        }
        let env = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let own = self.base_url.as_ref();
        let template = match self.also.iter().find(|(other, _)| *other == dialect) {
            Some((_, url)) if !url.is_empty() => url.as_ref(),
            Some(_) => own,
            None if dialect == self.dialect => own,
            None => {
                let speaks = self.dialects().collect();
                return Err(ProviderSetupError::NotSpoken { provider: self.id.to_string(), dialect, speaks });
            }
        };
        let variables = self.base_url_variables();
        // The part of the template after the replaceable prefix, if a variable may replace any of it.
        let rest = template.strip_prefix(own).filter(|_| !own.is_empty() || template.is_empty());
        let url = match (variables.iter().find_map(|name| env(name)), rest) {
            (Some(configured), Some("")) => normal(&configured, dialect, Version::of(own)),
            (Some(configured), Some(rest)) => normal(&configured, self.dialect, Version::of(own)) + rest,
            _ if template.is_empty() => {
                return Err(ProviderSetupError::MissingVariable { provider: self.id.to_string(), variables });
            }
            _ => self.fill(template, env)?,
        };
        let url = if url.contains('?') { url } else { url.trim_end_matches('/').to_owned() };
        if is_url(&url) { Ok(url) } else { Err(ProviderSetupError::NotAUrl { provider: self.id.to_string(), url }) }
    }

    /// Replaces each `${…}` with the value of its variable.
    fn fill(&self, template: &str, env: impl Fn(&str) -> Option<String>) -> Result<String, ProviderSetupError> {
        let mut url = String::new();
        let mut rest = template;
        while let Some((before, placeholder)) = rest.split_once("${") {
            url.push_str(before);
            let Some((placeholder, after)) = placeholder.split_once('}') else {
                return Err(ProviderSetupError::NotAUrl { provider: self.id.to_string(), url: template.to_owned() });
            };
            let (names, default) = variables(placeholder);
            let value = names.iter().find_map(|name| env(name)).or_else(|| default.map(str::to_owned));
            let Some(value) = value else {
                let variables = names.into_iter().map(str::to_owned).collect();
                return Err(ProviderSetupError::MissingVariable { provider: self.id.to_string(), variables });
            };
            // Some programs set these variables with a scheme, others without.
            let value = match value.split_once("://") {
                Some((_, host)) if url.ends_with("://") => host,
                _ => &value,
            };
            let in_host = url.split_once("://").is_some_and(|(_, host)| !host.contains('/'));
            match after.strip_prefix('-') {
                Some(after) if in_host && value == "global" => rest = after,
                _ => {
                    url.push_str(value.trim_end_matches('/'));
                    rest = after;
                }
            }
        }
        url.push_str(rest);
        Ok(url)
    }
}

/// Returns the variables of a placeholder and its default: `A|B:-text`.
pub(super) fn variables(placeholder: &str) -> (Vec<&str>, Option<&str>) {
    let (names, default) = match placeholder.split_once(":-") {
        Some((names, default)) => (names, Some(default)),
        None => (placeholder, None),
    };
    (names.split('|').collect(), default)
}

impl Dialect {
    /// Returns the part of a client's path that follows a provider's base URL. If the version belongs to the base URL,
    /// it is left out.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    ///
    /// assert_eq!(Dialect::OpenaiChat.below_base_url("/v1/chat/completions"), "/chat/completions");
    /// assert_eq!(Dialect::Anthropic.below_base_url("/v1/messages"), "/v1/messages");
    /// ```
    pub fn below_base_url(self, path: &str) -> &str {
        match self {
            Dialect::Anthropic | Dialect::BedrockConverse => path,
            Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => {
                let first = path.strip_prefix('/').and_then(|rest| rest.split(['/', '?']).next());
                let version = first.filter(|segment| is_version(segment));
                let rest = version.and_then(|version| path.get(1 + version.len()..));
                rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
            }
        }
    }
}

/// The version that is appended to a URL without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version<'a> {
    /// `/v1`, but only after a bare host: the URL in a row is taken literally.
    AfterHost,
    /// `/v1` after a bare host; after a path, the provider's own version.
    Own(&'a str),
    /// No version: the provider's API begins at its host.
    Never,
}

impl<'a> Version<'a> {
    /// Returns what a provider's own URL says about its version.
    fn of(own: &'a str) -> Self {
        match path_of(own) {
            "" if own.is_empty() => Version::Own("v1"),
            "" => Version::Never,
            path => path.split('/').rev().find(|segment| is_version(segment)).map_or(Version::AfterHost, Version::Own),
        }
    }

    /// Returns the version to append to a URL with this path.
    fn after(self, path: &str) -> Option<&'a str> {
        match self {
            _ if path.split('/').any(is_version) => None,
            Version::Never => None,
            Version::AfterHost | Version::Own(_) if path.is_empty() => Some("v1"),
            Version::AfterHost => None,
            Version::Own(version) => Some(version),
        }
    }
}

/// Converts a URL as people write it to the form that the dialect needs. A query stays at the end.
///
/// Chat and Responses: the version belongs to the base URL. Anthropic: the path of each request begins with the
/// version, so it is removed. Gemini: it belongs to the base URL. Converse has none.
pub(super) fn normal(configured: &str, dialect: Dialect, version: Version<'_>) -> String {
    let (address, query) = match configured.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (configured, None),
    };
    let address = address.trim_end_matches('/');
    let path = path_of(address);
    let mut url = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => match version.after(path) {
            Some(version) => format!("{address}/{version}"),
            None => address.to_owned(),
        },
        Dialect::Anthropic => address.strip_suffix("/v1").unwrap_or(address).to_owned(),
        Dialect::Gemini if path.split('/').any(is_version) => address.to_owned(),
        Dialect::Gemini => format!("{address}/v1beta"),
        Dialect::BedrockConverse => address.to_owned(),
    };
    if let Some(query) = query {
        url.push('?');
        url.push_str(query);
    }
    url
}

/// Returns the path of a URL without a trailing slash. A template may begin with a variable in place of the host.
fn path_of(address: &str) -> &str {
    let address = address.split_once('?').map_or(address, |(address, _)| address);
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default().trim_end_matches('/')
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether a request can be sent to this URL.
pub(super) fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with(['/', ':', '?', '#']))
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
        && !url.contains("${")
}

/// Converts a provider's id to the form used in the names of environment variables.
pub(super) fn capitals(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

#[cfg(test)]
#[path = "base_url_tests.rs"]
mod tests;

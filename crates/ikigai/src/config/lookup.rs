//! A provider's key and base URL, from the first place that has them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use ikigai_core::Dialect;
use ikigai_core::provider::{Auth, Provider, ProviderSetupError};

#[cfg(feature = "settings")]
use super::Credentials;
use super::{Environment, Key, dotenv};
use crate::auth::NOT_TOKENS;

/// A key and where it was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// The key.
    pub key: Key,
    /// Where it was found.
    pub from: KeySource,
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// It was set on the model.
    Argument,
    /// It was set on the client.
    Memory,
    /// It is in an environment variable.
    Variable(String),
    /// It is in a credentials file.
    File(PathBuf),
    /// It is in a `.env` file, as the value of a variable.
    DotEnv {
        /// The file.
        file: PathBuf,
        /// The variable.
        variable: String,
    },
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeySource::Argument => f.write_str("set on the model"),
            KeySource::Memory => f.write_str("set on the client"),
            KeySource::Variable(name) => write!(f, "the variable {name}"),
            KeySource::File(file) => write!(f, "{}", file.display()),
            KeySource::DotEnv { file, variable } => write!(f, "{variable} in {}", file.display()),
        }
    }
}

/// A missing key: what to set, where to store it and where to get one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingKey {
    /// The provider's display name.
    pub provider: String,
    /// The provider's id, as used in a credentials file.
    pub id: String,
    /// The variables that may hold a key, in order of precedence.
    pub variables: Vec<String>,
    /// The file that can hold it; `None` if there is no settings folder.
    pub file: Option<PathBuf>,
    /// The page where you can get a key, if known.
    pub page: Option<String>,
}

impl std::fmt::Display for MissingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no key for {}: ", self.provider)?;
        match (self.variables.as_slice(), &self.file) {
            ([], None) => f.write_str("set one on the client")?,
            ([], Some(file)) => write!(f, "write `{} = \"…\"` into {}", self.id, file.display())?,
            (variables, None) => write!(f, "set {}", variables.join(" or "))?,
            (variables, Some(file)) => {
                write!(f, "set {}, or write `{} = \"…\"` into {}", variables.join(" or "), self.id, file.display())?;
            }
        }
        match &self.page {
            Some(page) => write!(f, "; get one at {page}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for MissingKey {}

/// A credentials file that cannot be used. The error names the file and line, and never contains a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CredentialsError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1, if known.
    pub line: Option<usize>,
    /// What is wrong, and how to fix it.
    pub message: String,
}

impl std::fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for CredentialsError {}

/// Where a client finds keys and base URLs. Every key is looked up once, and `.env` is read once; only a new client
/// notices changes.
#[derive(Debug)]
pub(crate) struct Lookup {
    environment: Environment,
    dotenv: OnceLock<Vec<(String, String)>>,
    /// By the provider's id.
    keys: Mutex<BTreeMap<String, Option<Found>>>,
}

impl Lookup {
    pub(crate) fn new(environment: Environment) -> Self {
        Lookup { environment, dotenv: OnceLock::new(), keys: Mutex::default() }
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns a provider's key from the environment, the credentials files or `.env`; `None` if none of them has one.
    pub(crate) fn key(&self, provider: &Provider) -> Result<Option<Found>, CredentialsError> {
        if let Some(known) = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(provider.id.as_ref()) {
            return Ok(known.clone());
        }
        // Without holding the lock: reading files may be slow.
        let found = self.search(provider)?;
        // A missing key stops the request, so it is looked up again for the next one.
        if found.is_some() || !provider.needs_key() {
            let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            keys.insert(provider.id.to_string(), found.clone());
        }
        Ok(found)
    }

    fn search(&self, provider: &Provider) -> Result<Option<Found>, CredentialsError> {
        for name in provider.key_env.iter() {
            if let Some(value) = self.environment.variable(name) {
                return Ok(Some(Found { key: Key::from(value), from: KeySource::Variable(name.to_string()) }));
            }
        }
        #[cfg(feature = "settings")]
        if let Some(folder) = self.environment.settings()
            && let Some((key, file)) = Credentials::load(folder)?.find(provider)
        {
            return Ok(Some(Found { key: key.clone(), from: KeySource::File(file.to_owned()) }));
        }
        // Excludes variables that only lead to a key: an untrusted file could lead anywhere.
        let names = provider.key_env.iter().filter(|name| !NOT_TOKENS.contains(&name.as_ref()));
        let found = names.into_iter().find_map(|name| Some((name.to_string(), self.in_dotenv(name)?)));
        Ok(found.map(|(variable, value)| {
            let file = self.environment.dotenv().cloned().unwrap_or_default();
            Found { key: Key::from(value), from: KeySource::DotEnv { file, variable } }
        }))
    }

    /// Returns the base URL for a dialect. `.env` may set it only together with its own key, and only to where nobody can
    /// listen in; never for providers that receive tokens or signatures, which are made from the user's own credentials.
    pub(crate) fn base_url(
        &self,
        provider: &Provider,
        dialect: Dialect,
        key: Option<&KeySource>,
    ) -> Result<String, ProviderSetupError> {
        let signs = matches!(provider.auth, Auth::GoogleOauth | Auth::AwsSigv4);
        let own = matches!(key, Some(KeySource::DotEnv { .. })) && !signs;
        provider.base_url_for(dialect, |name| {
            let in_dotenv = || self.in_dotenv(name).filter(|value| own && is_private(value));
            self.environment.variable(name).or_else(in_dotenv)
        })
    }

    /// Returns the error for a provider without a key.
    pub(crate) fn missing(&self, provider: &Provider) -> MissingKey {
        MissingKey {
            provider: provider.name.to_string(),
            id: provider.id.to_string(),
            variables: provider.key_env.iter().map(ToString::to_string).collect(),
            #[cfg(feature = "settings")]
            file: self.environment.settings().map(|folder| Credentials::file(folder)),
            #[cfg(not(feature = "settings"))]
            file: None,
            page: Some(provider.key_page().to_owned()).filter(|page| !page.is_empty()),
        }
    }

    fn in_dotenv(&self, name: &str) -> Option<String> {
        let file = self.environment.dotenv()?;
        let assignments = self.dotenv.get_or_init(|| dotenv::read(file));
        let value = assignments.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        value.filter(|value| !value.trim().is_empty())
    }
}

/// Whether nobody can read what is sent there. A value that is not a URL (a region) becomes part of a private one.
pub(crate) fn is_private(value: &str) -> bool {
    let Some((scheme, rest)) = value.trim().split_once("://") else { return true };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    scheme.eq_ignore_ascii_case("https") || is_here
}

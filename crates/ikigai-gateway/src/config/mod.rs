//! The configuration: one TOML file, checked in full before any of it takes effect.

mod file;
mod secret;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ikigai::config::{Environment, Key};
use ikigai::{Dialect, FileError, ModelName, Registry};

pub use self::file::example;

/// The settings of a gateway: where it listens, who may use it, where requests go.
///
/// ```
/// use ikigai::config::Environment;
/// use ikigai_gateway::Config;
///
/// let text = r#"
/// listen = "127.0.0.1:4000"
///
/// [auth]
/// keys = ["env:CLIENT_KEY"]
///
/// [models.smart]
/// targets = ["anthropic:claude-sonnet-4-5/med", "openai:gpt-5.4"]
/// "#;
/// let environment = Environment::of([("CLIENT_KEY", "a-long-secret-of-the-client")]);
/// let config = Config::read("gateway.toml", text, &environment)?;
/// assert_eq!(config.listen.port(), 4000);
///
/// let error = Config::read("gateway.toml", "listne = \"\"", &environment).unwrap_err();
/// assert_eq!(error.to_string(), "gateway.toml:1:1: listne: unknown key `listne`; did you mean `listen`?");
/// # Ok::<(), ikigai::FileError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The address to listen on; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Who may use it.
    pub access: Access,
    /// The tables of providers and models, including the configuration's own rows.
    pub registry: Registry,
    /// Settings for individual providers.
    pub providers: Vec<ProviderSetup>,
    /// The names that clients may ask for in addition to the real ones.
    pub models: Vec<ModelSetup>,
    /// Whether anything that another dialect cannot carry is an error.
    pub strict: bool,
    /// Limits on what one client, and all of them together, may use.
    pub limits: ServerLimits,
    /// How long the gateway waits, and how long it keeps state.
    pub timeouts: ServerTimeouts,
    /// How often a request is tried at its last target; earlier targets are tried once.
    pub attempts: u32,
    /// The certificate and its key, for TLS.
    pub tls: Option<TlsFiles>,
    /// The origins whose pages may use the gateway; `*` allows any.
    pub origins: Vec<String>,
    /// Warnings for the log: settings that are odd but not wrong.
    pub warnings: Vec<String>,
}

/// Who may use the gateway.
#[derive(Debug, Clone)]
pub enum Access {
    /// Anyone who can reach it. Only allowed on loopback.
    Open,
    /// Clients with one of these keys.
    Keys(Vec<ClientKey>),
}

/// A client's key, as a fingerprint; the key itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientKey {
    /// The SHA-256 of the key.
    pub fingerprint: [u8; 32],
    /// Its name in the log.
    pub name: String,
}

/// Settings for one provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderSetup {
    /// The provider's id.
    pub id: String,
    /// Its key, instead of the one in the environment.
    pub key: Option<Key>,
    /// Its base URL, instead of the usual one.
    pub base_url: Option<String>,
}

/// A name that clients may ask for, and the models that answer to it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelSetup {
    /// The name, or a pattern in which `*` matches any text.
    pub pattern: String,
    /// The models to ask, in this order, until one answers.
    pub targets: Vec<TargetSetup>,
    /// Whether answers name the model that the client asked for instead of the one that answered.
    pub answers_as_asked: bool,
    /// Overrides the gateway's own `strict` setting.
    pub strict: Option<bool>,
}

/// One model that answers to a name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TargetSetup {
    /// The model.
    pub name: ModelName,
    /// The dialect to use with it, instead of the client's own or the model's best.
    pub dialect: Option<Dialect>,
}

/// Limits on what one client, and all of them together, may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// The number of open connections.
    pub connections: usize,
    /// The size of one request, in bytes.
    pub body: usize,
    /// The size of all requests that are held at once, in bytes; further requests wait.
    pub bodies: usize,
}

/// How long the gateway waits, and how long it keeps state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerTimeouts {
    /// For a client to send the whole head of a request.
    pub head: Duration,
    /// For a client to send the next piece of a request.
    pub body: Duration,
    /// For a client to accept the next piece of an answer.
    pub write: Duration,
    /// For requests in progress when the gateway is told to stop.
    pub drain: Duration,
    /// Silence in a stream after which the client is sent a sign of life.
    pub keep_alive: Duration,
    /// For a provider to start an answer.
    pub first_byte: Duration,
    /// For a provider to send the next piece of an answer.
    pub idle: Duration,
    /// How long reasoning state is kept for clients that cannot keep it themselves.
    pub state: Duration,
}

/// The files that TLS needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsFiles {
    /// The certificate with its chain, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

impl Config {
    /// Reads and checks a configuration. `file` is its name in messages.
    ///
    /// # Errors
    /// Returns an error if anything is wrong; it says where, and what to write instead.
    pub fn read(file: &str, text: &str, environment: &Environment) -> Result<Self, FileError> {
        file::read(file, text, environment, Registry::default())
    }

    /// Like [`read`](Config::read), but on top of other tables of providers and models than the built-in ones.
    ///
    /// # Errors
    /// Same as [`read`](Config::read).
    pub fn read_over(registry: Registry, file: &str, text: &str, environment: &Environment) -> Result<Self, FileError> {
        file::read(file, text, environment, registry)
    }

    /// Returns the configuration used without a file: on loopback, for clients with these keys, with the usual limits.
    pub fn without_file(registry: Registry, keys: Vec<ClientKey>) -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 4000)),
            access: Access::Keys(keys),
            registry,
            providers: Vec::new(),
            models: Vec::new(),
            strict: false,
            limits: ServerLimits::default(),
            timeouts: ServerTimeouts::default(),
            attempts: 2,
            tls: None,
            origins: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns a setting that differs and that a running gateway cannot change, or `None`.
    pub(crate) fn needs_restart(&self, other: &Config) -> Option<&'static str> {
        if self.listen != other.listen {
            Some("listen")
        } else if self.limits != other.limits {
            Some("limits")
        } else if self.tls != other.tls {
            Some("tls")
        } else {
            None
        }
    }
}

impl ClientKey {
    /// Creates the fingerprint of a key.
    pub fn new(key: &str, name: impl Into<String>) -> Self {
        ClientKey { fingerprint: fingerprint(key), name: name.into() }
    }
}

/// The SHA-256 of a key.
pub(crate) fn fingerprint(key: &str) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(key.trim().as_bytes()).into()
}

impl Default for ServerLimits {
    fn default() -> Self {
        ServerLimits { connections: 10_000, body: 32 << 20, bodies: 256 << 20 }
    }
}

impl Default for ServerTimeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        ServerTimeouts {
            head: seconds(30),
            body: seconds(30),
            write: seconds(60),
            drain: seconds(30),
            keep_alive: seconds(15),
            first_byte: seconds(600),
            idle: seconds(300),
            state: seconds(3600),
        }
    }
}

#[cfg(test)]
mod tests;

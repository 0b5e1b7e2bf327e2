//! The configuration: one TOML file, checked before anything of it takes effect.

mod file;
mod secret;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ikigai::config::{Environment, Key};
use ikigai::{Dialect, FileError, ModelName, Registry};

pub use self::file::example;

/// Everything that a gateway is told: where it listens, who may use it, where requests go.
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
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may use it.
    pub access: Access,
    /// The tables of providers and models, with the rows of the configuration over them.
    pub registry: Registry,
    /// What is set for single providers.
    pub providers: Vec<ProviderSetup>,
    /// The names that clients may ask for besides the real ones.
    pub models: Vec<ModelSetup>,
    /// Whether something that cannot be carried to another dialect is an error.
    pub strict: bool,
    /// How much one client, and all of them together, may take.
    pub limits: ServerLimits,
    /// How long silence may last.
    pub timeouts: ServerTimeouts,
    /// How often a request is tried at the last of its targets.
    pub attempts: u32,
    /// The certificate and its key, for TLS.
    pub tls: Option<TlsFiles>,
    /// The origins whose pages may use the gateway; `*` is any.
    pub origins: Vec<String>,
    /// What is odd but not wrong, for the log.
    pub warnings: Vec<String>,
}

/// Who may use the gateway.
#[derive(Debug, Clone)]
pub enum Access {
    /// Anybody who reaches it. Only on loopback.
    Open,
    /// Clients with one of these keys.
    Keys(Vec<ClientKey>),
}

/// A client's key, as a fingerprint: the key itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientKey {
    /// The SHA-256 of the key.
    pub fingerprint: [u8; 32],
    /// What it is called in the log.
    pub name: String,
}

/// What is set for one provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderSetup {
    /// The provider's id.
    pub id: String,
    /// Its key, in place of the one in the environment.
    pub key: Option<Key>,
    /// Its address, in place of the usual one.
    pub base_url: Option<String>,
}

/// A name that clients may ask for, and what answers to it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelSetup {
    /// The name, or a pattern with `*` for any text.
    pub pattern: String,
    /// What is asked, in this order, until one answers.
    pub targets: Vec<TargetSetup>,
    /// Answers name the model that the client asked for, and not the one that answered.
    pub answers_as_asked: bool,
    /// In place of the gateway's own setting.
    pub strict: Option<bool>,
}

/// One model that answers to a name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TargetSetup {
    /// The model.
    pub name: ModelName,
    /// The dialect to speak with it, in place of the client's own or the model's best.
    pub dialect: Option<Dialect>,
}

/// How much one client, and all of them together, may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Open connections.
    pub connections: usize,
    /// Bytes of one request.
    pub body: usize,
    /// Bytes of all requests that are held at once; more wait.
    pub bodies: usize,
}

/// How long silence may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerTimeouts {
    /// For a client to send the whole head of a request.
    pub head: Duration,
    /// For a client to send the next piece of a request.
    pub body: Duration,
    /// For a client to take the next piece of an answer.
    pub write: Duration,
    /// For the requests under way when the gateway is told to stop.
    pub drain: Duration,
    /// Silence in a stream after which the client is sent a sign of life.
    pub keep_alive: Duration,
    /// For a provider to begin an answer.
    pub first_byte: Duration,
    /// For a provider to send the next piece of an answer.
    pub idle: Duration,
    /// How long reasoning state is kept for clients that cannot keep it themselves.
    pub state: Duration,
}

/// Where the certificate is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsFiles {
    /// The certificate with its chain, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

impl Config {
    /// Reads a configuration and checks all of it. `file` is for messages.
    ///
    /// # Errors
    /// If something is wrong; the error says where, and what to write instead.
    pub fn read(file: &str, text: &str, environment: &Environment) -> Result<Self, FileError> {
        file::read(file, text, environment, Registry::default())
    }

    /// As [`read`](Config::read), over other tables of providers and models than the built-in ones.
    ///
    /// # Errors
    /// Same as [`read`](Config::read).
    pub fn read_over(registry: Registry, file: &str, text: &str, environment: &Environment) -> Result<Self, FileError> {
        file::read(file, text, environment, registry)
    }

    /// The configuration without a file: on loopback, for clients with this key, with the usual limits.
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

    /// The settings that a running gateway cannot change: `None` if they are the same in both.
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
    /// The fingerprint of a key.
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

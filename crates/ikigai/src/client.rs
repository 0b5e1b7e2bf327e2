//! The client that all models of a program share.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ikigai_core::provider::{Provider, Registry};
use ikigai_core::{Limits, ModelName, Prompt};

use crate::answer::Answer;
use crate::config::{Environment, Found, Key, KeySource, Lookup};
use crate::error::{Error, Reason};
use crate::hook::{Hook, Hooks};
use crate::model::Model;
use crate::time::{Clock, SystemClock};
use crate::transport::{Timeouts, Transport};
use crate::upstream::Retry;

/// A client that all models of a program share: connections, keys, the tables of providers and models.
///
/// Cheap to clone; clones are the same client. Most programs do not need to create one: [`ask`](crate::ask) and
/// [`model`](crate::model) share one.
///
/// ```
/// use ikigai::Client;
///
/// # fn f() -> Result<(), ikigai::Error> {
/// let client = Client::builder()
///     .key("openai", "sk-…")
///     .base_url("openai", "http://localhost:4000")
///     .header("x-team", "blue")
///     .build()?;
/// let model = client.model("openai:gpt-5.4")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    lookup: Lookup,
    registry: Registry,
    /// By the provider's id.
    keys: Vec<(String, Key)>,
    base_urls: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    timeouts: Timeouts,
    limits: Limits,
    retry: Retry,
    hooks: Hooks,
    content_in_traces: bool,
    /// Hosts to which a key is sent unencrypted.
    in_the_clear: Mutex<BTreeSet<String>>,
    #[cfg(feature = "vertex")]
    google: crate::auth::Accounts,
    #[cfg(feature = "bedrock")]
    aws: OnceLock<crate::auth::Signer>,
}

static PROCESS: OnceLock<Client> = OnceLock::new();

impl Client {
    /// Creates a client with the default settings: keys come from the environment.
    ///
    /// # Errors
    /// Returns an error if TLS cannot be set up.
    pub fn new() -> Result<Self, Error> {
        Client::builder().build()
    }

    /// Returns a builder, to configure a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder {
            transport: None,
            clock: None,
            environment: None,
            registry: None,
            providers: Vec::new(),
            keys: Vec::new(),
            base_urls: Vec::new(),
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            limits: Limits::client(),
            retry: Retry::default(),
            hooks: Vec::new(),
            content_in_traces: false,
        }
    }

    /// Returns the client that [`ask`](crate::ask) and [`model`](crate::model) share. It is created on first use.
    ///
    /// # Errors
    /// Same as [`new`](Client::new).
    pub fn shared() -> Result<Self, Error> {
        match PROCESS.get() {
            Some(client) => Ok(client.clone()),
            None => {
                let client = Client::new()?;
                Ok(PROCESS.get_or_init(|| client).clone())
            }
        }
    }

    /// Returns a model by its name: `[provider:]model[/level]`, such as `anthropic:claude-sonnet-4-5/high` or
    /// `gpt-5.4`.
    ///
    /// # Errors
    /// Returns an error if no model has this name; the error lists the nearest ones.
    pub fn model(&self, name: &str) -> Result<Model, Error> {
        let name = self.registry().parse(name)?;
        Ok(Model::new(self.clone(), name))
    }

    /// Returns a model by its provider and id, if you know both. Any id is accepted.
    ///
    /// ```
    /// use ikigai::{Client, Level, ModelName};
    ///
    /// # fn f(client: Client) {
    /// let model = client.model_named(ModelName::new("openai", "gpt-5.4").level(Level::Low)).temperature(0.7);
    /// # }
    /// ```
    pub fn model_named(&self, name: ModelName) -> Model {
        Model::new(self.clone(), name)
    }

    /// Asks a model and waits for the complete answer.
    ///
    /// # Errors
    /// Returns an error if no model has this name, or if there is no answer.
    pub async fn ask(&self, model: &str, prompt: impl Into<Prompt>) -> Result<Answer, Error> {
        self.model(model)?.ask(prompt).await
    }

    /// Returns the tables of providers and models.
    pub fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    /// Returns the key that a request to this provider would carry and its source, or `None` if there is none. A key is
    /// looked up only once: if it has changed, build a new client.
    ///
    /// # Errors
    /// Returns an error if no provider has this name, or if a credentials file is invalid.
    pub fn key_of(&self, provider: &str) -> Result<Option<Found>, Error> {
        let provider = self.registry().providers.find(provider).ok_or_else(|| {
            let nearest = self.registry().providers.nearest(provider).map(str::to_owned);
            Reason::from(ikigai_core::provider::ProviderSetupError::Unknown { name: provider.to_owned(), nearest })
        })?;
        match self.key_in_memory(&provider.id) {
            Some(key) => Ok(Some(Found { key: key.clone(), from: KeySource::Memory })),
            None => Ok(self.lookup().key(provider)?.or(self.key_pair(provider)?)),
        }
    }

    /// Returns where keys and settings come from.
    pub fn environment(&self) -> &Environment {
        self.shared.lookup.environment()
    }

    pub(crate) fn lookup(&self) -> &Lookup {
        &self.shared.lookup
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        self.shared.transport.as_ref()
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.shared.hooks
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.shared.timeouts
    }

    pub(crate) fn limits(&self) -> Limits {
        self.shared.limits
    }

    pub(crate) fn retry(&self) -> &Retry {
        &self.shared.retry
    }

    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.shared.headers
    }

    pub(crate) fn content_in_traces(&self) -> bool {
        self.shared.content_in_traces
    }

    #[cfg(feature = "vertex")]
    pub(crate) fn google(&self) -> &crate::auth::Accounts {
        &self.shared.google
    }

    /// Returns the Amazon key pair that signs requests. It is looked up once.
    #[cfg(feature = "bedrock")]
    pub(crate) fn aws(&self) -> Result<Option<crate::auth::Signer>, Error> {
        match self.shared.aws.get() {
            Some(signer) => Ok(Some(signer.clone())),
            None => {
                let found = crate::auth::Signer::find(self.environment())?;
                Ok(found.map(|signer| self.shared.aws.get_or_init(|| signer).clone()))
            }
        }
    }

    /// Returns the key pair that signs a provider's requests, named by its id.
    #[cfg(feature = "bedrock")]
    fn key_pair(&self, provider: &ikigai_core::provider::Provider) -> Result<Option<Found>, Error> {
        if provider.auth != ikigai_core::provider::Auth::AwsSigv4 {
            return Ok(None);
        }
        Ok(self.aws()?.map(|signer| signer.found()))
    }

    #[cfg(not(feature = "bedrock"))]
    fn key_pair(&self, _: &ikigai_core::provider::Provider) -> Result<Option<Found>, Error> {
        Ok(None)
    }

    /// Whether this is the first time that a key is sent to this host unencrypted. Remembers the host.
    pub(crate) fn first_in_the_clear(&self, host: &str) -> bool {
        self.shared.in_the_clear.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned())
    }

    pub(crate) fn key_in_memory(&self, provider: &str) -> Option<&Key> {
        self.shared.keys.iter().find(|(id, _)| id == provider).map(|(_, key)| key)
    }

    pub(crate) fn base_url_in_memory(&self, provider: &str) -> Option<&str> {
        self.shared.base_urls.iter().find(|(id, _)| id == provider).map(|(_, url)| url.as_str())
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.shared.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Client")
            .field("transport", &self.shared.transport)
            .field("environment", self.environment())
            .field("keys", &self.shared.keys)
            .field("base_urls", &without_secrets(&self.shared.base_urls))
            .field("headers", &headers)
            .field("timeouts", &self.shared.timeouts)
            .field("retry", &self.shared.retry)
            .field("hooks", &self.shared.hooks)
            .finish_non_exhaustive()
    }
}

/// Configures a [`Client`].
#[must_use]
pub struct ClientBuilder {
    transport: Option<Arc<dyn Transport>>,
    clock: Option<Arc<dyn Clock>>,
    environment: Option<Environment>,
    registry: Option<Registry>,
    providers: Vec<Provider>,
    keys: Vec<(String, Key)>,
    base_urls: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    timeouts: Timeouts,
    limits: Limits,
    retry: Retry,
    hooks: Vec<Arc<dyn Hook>>,
    content_in_traces: bool,
}

impl ClientBuilder {
    /// Sets a provider's key. It takes precedence over the environment and the files.
    pub fn key(mut self, provider: impl Into<String>, key: impl Into<Key>) -> Self {
        self.keys.push((provider.into(), key.into()));
        self
    }

    /// Adds a provider of your own, or replaces the row of a known one. Its models are named `id:model`.
    ///
    /// ```
    /// use ikigai::{Client, Provider};
    ///
    /// # fn f() -> Result<(), ikigai::Error> {
    /// let client = Client::builder()
    ///     .provider(Provider::new("home", "http://192.168.0.10:8000")) // its key: HOME_API_KEY
    ///     .build()?;
    /// let model = client.model("home:my-model")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn provider(mut self, provider: Provider) -> Self {
        self.providers.push(provider);
        self
    }

    /// Sets a provider's base URL. It takes precedence over the environment.
    ///
    /// The dialect remains that of the provider's own API: for `openai` that is the Responses API, which many
    /// compatible servers lack. Use [`Model::dialect`](crate::Model::dialect) to choose Chat Completions, or better,
    /// add your own server as a [`provider`](ClientBuilder::provider), which speaks Chat Completions unless its row
    /// says otherwise.
    pub fn base_url(mut self, provider: impl Into<String>, url: impl Into<String>) -> Self {
        self.base_urls.push((provider.into(), url.into()));
        self
    }

    /// Adds a header to every request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets how long each phase of a request may take.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets how much of an answer is read. The default is 32 MiB for a complete answer, after decompression.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether and when failed requests are retried.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how requests reach a provider: [`Http`](crate::transport::Http) with other settings, or your own transport.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Sets the clock, for example in tests.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets where keys and settings come from. The default is the variables of this process.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets the tables of providers and models, replacing the built-in ones and those of a settings folder.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Adds a hook; they are called in the order in which they were added.
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Includes the content of messages in traces. It is left out by default.
    pub fn content_in_traces(mut self) -> Self {
        self.content_in_traces = true;
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// Returns an error if a provider is unknown, a file in the settings folder is invalid, or TLS cannot be set up.
    pub fn build(self) -> Result<Client, Error> {
        let environment = self.environment.unwrap_or_default();
        let mut registry = match self.registry {
            Some(registry) => registry,
            None => registry(&environment)?,
        };
        for provider in self.providers {
            registry.providers = registry.providers.with(provider).map_err(Reason::from)?;
        }
        let transport = match self.transport {
            Some(transport) => transport,
            None => default_transport()?,
        };
        Ok(Client {
            shared: Arc::new(Shared {
                transport,
                clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock::default())),
                lookup: Lookup::new(environment),
                keys: by_id(self.keys, &registry)?,
                base_urls: by_id(self.base_urls, &registry)?,
                registry,
                headers: self.headers,
                timeouts: self.timeouts,
                limits: self.limits,
                retry: self.retry,
                hooks: Hooks::new(self.hooks),
                content_in_traces: self.content_in_traces,
                in_the_clear: Mutex::default(),
                #[cfg(feature = "vertex")]
                google: crate::auth::Accounts::default(),
                #[cfg(feature = "bedrock")]
                aws: OnceLock::new(),
            }),
        })
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("keys", &self.keys)
            .field("base_urls", &without_secrets(&self.base_urls))
            .finish_non_exhaustive()
    }
}

/// Removes anything that may be a password or a key from base URLs.
fn without_secrets(base_urls: &[(String, String)]) -> Vec<(&str, String)> {
    base_urls.iter().map(|(provider, url)| (provider.as_str(), crate::upstream::shown_url(url))).collect()
}

#[cfg(feature = "http")]
fn default_transport() -> Result<Arc<dyn Transport>, Error> {
    Ok(Arc::new(crate::transport::Http::new()?))
}

#[cfg(not(feature = "http"))]
fn default_transport() -> Result<Arc<dyn Transport>, Error> {
    Err(Reason::Unsupported(
        "this build has no HTTP support: enable the feature `http` of ikigai-ai, or give the client a transport"
            .to_owned(),
    )
    .into())
}

/// Maps provider names, which may be aliases, to ids; the last value given for a provider wins.
fn by_id<T>(given: Vec<(String, T)>, registry: &Registry) -> Result<Vec<(String, T)>, Error> {
    let mut known = Vec::new();
    for (name, value) in given.into_iter().rev() {
        let provider = registry.providers.find(&name).ok_or_else(|| {
            let nearest = registry.providers.nearest(&name).map(str::to_owned);
            Reason::from(ikigai_core::provider::ProviderSetupError::Unknown { name, nearest })
        })?;
        known.push((provider.id.to_string(), value));
    }
    Ok(known)
}

/// Returns the built-in tables.
#[cfg(not(feature = "settings"))]
fn registry(_: &Environment) -> Result<Registry, Error> {
    Ok(Registry::default())
}

/// Returns the built-in tables, extended by the user's `providers.toml` and `models.toml`.
#[cfg(feature = "settings")]
fn registry(environment: &Environment) -> Result<Registry, Error> {
    let mut registry = Registry::default();
    let Some(folder) = environment.settings() else { return Ok(registry) };
    if let Ok(text) = std::fs::read_to_string(folder.join("providers.toml")) {
        let file = folder.join("providers.toml").display().to_string();
        registry.providers = registry.providers.with_toml(&file, &text)?;
    }
    if let Ok(text) = std::fs::read_to_string(folder.join("models.toml")) {
        let file = folder.join("models.toml").display().to_string();
        registry.catalog = registry.catalog.with_toml(&file, &text)?;
    }
    Ok(registry)
}

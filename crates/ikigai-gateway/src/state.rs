//! What is derived from one configuration: the client, and which providers are reachable.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, RwLock};

use ikigai::config::Environment;
use ikigai::transport::{Http, Timeouts};
use ikigai::{Client, Dialect, Error};

use crate::config::Config;
use crate::plan::Plan;

/// What a gateway needs besides its configuration. It stays the same when the configuration changes.
#[derive(Debug, Clone)]
pub struct Setup {
    environment: Environment,
    /// Shared by all configurations, so that connections outlive them.
    transport: Http,
    has_simulator: bool,
}

impl Setup {
    /// Uses keys from this environment, and the simulator whose address is in its variable `IKIGAI_SIM_URL`, if set.
    ///
    /// # Errors
    /// Returns an error if TLS cannot be set up.
    pub fn new(environment: Environment) -> Result<Self, Error> {
        let has_simulator = environment.variable(SIMULATOR_URL).is_some();
        Ok(Setup { environment, transport: Http::new()?, has_simulator })
    }

    /// Returns whether a simulator is already set up.
    pub fn has_simulator(&self) -> bool {
        self.has_simulator
    }

    /// Uses the simulator at this address as the provider `sim`.
    #[must_use]
    pub fn simulator(mut self, url: impl Into<String>) -> Self {
        self.environment = self.environment.with_variable(SIMULATOR_URL, url);
        self.has_simulator = true;
        self
    }

    /// Uses another transport to reach providers.
    #[must_use]
    pub fn transport(mut self, transport: Http) -> Self {
        self.transport = transport;
        self
    }

    /// Returns the environment that keys come from.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// Everything derived from one configuration.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) client: Client,
    /// The providers that requests may go to, by their ids.
    pub(crate) reachable: HashSet<String>,
    /// The plans made so far, by the name and the client's dialect.
    pub(crate) plans: RwLock<HashMap<(String, Dialect), Arc<Plan>>>,
}

impl State {
    pub(crate) fn new(config: Config, setup: &Setup) -> Result<Self, Error> {
        let timeouts = Timeouts::default()
            .head(config.timeouts.first_byte)
            .first_event(config.timeouts.first_byte)
            .idle(config.timeouts.idle);
        let mut builder = Client::builder()
            .environment(setup.environment.clone())
            .registry(config.registry.clone())
            .transport(setup.transport.clone())
            .timeouts(timeouts);
        for provider in &config.providers {
            if let Some(key) = &provider.key {
                builder = builder.key(&*provider.id, key.clone());
            }
            if let Some(url) = &provider.base_url {
                builder = builder.base_url(&*provider.id, &**url);
            }
        }
        let client = builder.build()?;
        let mut reachable: HashSet<String> = config.providers.iter().map(|provider| provider.id.clone()).collect();
        for provider in client.registry().providers.iter() {
            if provider.needs_key() && client.key_of(&provider.id)?.is_some() {
                reachable.insert(provider.id.to_string());
            }
        }
        if setup.has_simulator {
            reachable.insert(SIMULATOR.to_owned());
        }
        Ok(State { config, client, reachable, plans: RwLock::default() })
    }
}

/// The simulator's row in the table of providers, and the variable that the row takes its address from.
const SIMULATOR: &str = "sim";
const SIMULATOR_URL: &str = "IKIGAI_SIM_URL";

//! Who answers: the providers that have a key, or the built-in simulator if there is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use ikigai::{Client, Hook, ModelName, Registry};
use ikigai_core::provider::Auth;
use ikigai_sim::Sim;

use crate::exit::{Exit, Failure};
use crate::names::Names;
use crate::output::Out;
use crate::watch::Paid;
use crate::{places, trust};

/// The model that the simulator imitates if none was chosen.
const SIMULATED: &str = "anthropic:claude-sonnet-4-5";
/// The providers that most people have a key for, each with a model that shows how to choose one.
const USUAL: [(&str, &str); 3] =
    [("anthropic", "claude-sonnet-4-5/med"), ("openai", "gpt-5.4/low"), ("google", "gemini-2.5-pro")];

/// The provider recorded for the simulator's answers. No real provider has this name, so their sealed state goes to none.
pub(crate) const SIMULATOR: &str = "simulator";
/// The model name that selects the simulator.
const SIM: &str = "sim";

/// When the simulator answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simulate {
    /// It was requested.
    Always,
    /// If there is no key, for someone who sees that it does.
    WithoutKey,
    /// Never: a script would take its answers for those of a model.
    Never,
}

impl Simulate {
    /// Returns what the options say, or else `otherwise`; and the model's name, without one that selects the simulator.
    pub(crate) fn asked(option: bool, model: Option<&str>, otherwise: Simulate) -> (Self, Option<String>) {
        let asked = if option { Simulate::Always } else { otherwise };
        match model {
            Some(SIM) => (Simulate::Always, None),
            model => (asked, model.map(str::to_owned)),
        }
    }
}

/// Access to the models.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    registry: Registry,
    simulator: Option<Arc<Sim>>,
}

impl Access {
    /// Looks for keys. If the simulator is to answer, it is started in this process.
    pub(crate) async fn open(simulate: Simulate, out: &mut Out) -> Result<Self, Failure> {
        let registry = places::registry(out);
        let client = trust::lookup(registry.clone())?;
        let mut simulator = None;
        let wanted = match simulate {
            Simulate::Always => true,
            Simulate::WithoutKey => !any_key(&client)?,
            Simulate::Never => false,
        };
        if wanted {
            let sim = Sim::with(ikigai_sim::Config::private())
                .await
                .map_err(|error| Failure::new(format!("cannot start the built-in simulator: {error}")))?;
            simulator = Some(Arc::new(sim));
        }
        Ok(Access { registry, simulator })
    }

    /// Gives access to the providers themselves, for commands that send nothing.
    pub(crate) fn unsent(out: &mut Out) -> Self {
        Access { registry: places::registry(out), simulator: None }
    }

    /// Returns a separate client, with its own connections.
    pub(crate) fn client(&self, hook: impl Hook) -> Result<Client, Failure> {
        let mut builder = trust::client()?.registry(self.registry.clone()).hook(hook);
        if let Some(simulator) = &self.simulator {
            // Providers that need no key are real, even if there is no key.
            for provider in self.registry.providers.iter().filter(|provider| provider.needs_key()) {
                let id = provider.id.to_string();
                builder = builder.key(&*id, simulator.token()).base_url(&*id, simulator.base_url(provider.dialect));
            }
        }
        Ok(builder.build()?)
    }

    /// Whether the simulator answers.
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulator.is_some()
    }

    /// Returns what a request cost: the simulator costs nothing.
    pub(crate) fn paid(&self, paid: Paid) -> Paid {
        if self.is_simulated() { Paid { cost: None, ..paid } } else { paid }
    }

    /// Returns the one-line notice for a person without a key.
    pub(crate) fn notice(&self) -> Option<String> {
        self.is_simulated().then(|| {
            let variables = USUAL.iter().filter_map(|(id, _)| self.registry.providers.find(id)?.key_env.first());
            let variables: Vec<&str> = variables.map(AsRef::as_ref).collect();
            format!(
                "The built-in simulator answers, not a model. For a model: `ikigai keys set PROVIDER`, or set {} …",
                variables.join(", ")
            )
        })
    }

    /// Returns the providers that answer: those with a key, or all of them if the simulator imitates them.
    pub(crate) fn providers_with_key(&self) -> Result<Vec<String>, Failure> {
        let client = trust::lookup(self.registry.clone())?;
        let mut ids = Vec::new();
        for provider in self.registry.providers.iter().filter(|provider| provider.needs_key()) {
            if self.is_simulated() || client.key_of(&provider.id)?.is_some() {
                ids.push(provider.id.to_string());
            }
        }
        Ok(ids)
    }

    /// Returns the error for a script without a key.
    fn no_key(&self) -> Failure {
        let variables = USUAL.iter().filter_map(|(id, _)| self.registry.providers.find(id)?.key_env.first());
        let variables: Vec<&str> = variables.map(AsRef::as_ref).collect();
        let failure = Failure::new(format!("no API key found: set {} or another provider's", variables.join(", ")));
        let store = "Or store one with `ikigai keys set PROVIDER`. Use `--sim` to ask the built-in simulator.";
        let hint = trust::hint(&self.registry).map_or(store.to_owned(), |hint| format!("{hint}\n  {store}"));
        failure.exit(Exit::NoKey).hint(hint)
    }

    /// Refuses a model whose provider has no key, before anything is saved or sent. Providers that use tokens or
    /// signatures find their credentials in many places, and report errors themselves.
    pub(crate) fn check(&self, name: &ModelName) -> Result<(), Failure> {
        let Some(provider) = self.registry.providers.find(&name.provider) else { return Ok(()) };
        let signs = matches!(provider.auth, Auth::GoogleOauth | Auth::AwsSigv4);
        if self.is_simulated() || signs || !provider.needs_key() {
            return Ok(());
        }
        let client = trust::lookup(self.registry.clone())?;
        if client.key_of(&provider.id)?.is_some() {
            return Ok(());
        }
        let set = provider.key_env.join(" or ");
        let failure = Failure::new(format!("there is no key for {}: set {set}", provider.name)).exit(Exit::NoKey);
        let store = format!("Or store one with: ikigai keys set {}", provider.id);
        Err(failure.hint(trust::hint(&self.registry).map_or(store.clone(), |hint| format!("{hint}\n  {store}"))))
    }

    /// Returns the known providers and models.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the model if none was chosen: the simulator's, or a good one of a provider that has a key.
    pub(crate) fn default_model(&self, choose: impl Fn(&str) -> String) -> Result<String, Failure> {
        if self.is_simulated() {
            return Ok(SIMULATED.to_owned());
        }
        let ids = self.providers_with_key()?;
        if ids.is_empty() {
            return Err(self.no_key());
        }
        let providers: Vec<_> = ids.iter().filter_map(|id| self.registry.providers.find(id)).collect();
        if let Some(name) = Names::new(&self.registry, &BTreeMap::new()).default(&providers) {
            return Ok(name.to_string());
        }
        let examples: Vec<String> = USUAL.iter().map(|(_, model)| format!("  {}", choose(model))).collect();
        Err(Failure::new("no model selected").exit(Exit::Usage).hint(format!("Choose one:\n{}", examples.join("\n"))))
    }
}

fn any_key(client: &Client) -> Result<bool, Failure> {
    for provider in client.registry().providers.iter().filter(|provider| provider.needs_key()) {
        if client.key_of(&provider.id)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn other_programs_cannot_use_the_built_in_simulator() {
        let mut out = Out::new(crate::output::Color::Never);
        let access = Access::open(Simulate::Always, &mut out).await.unwrap();
        let simulator = access.simulator.unwrap();
        let url = simulator.url();
        for path in ["/v1/models", "/_sim/requests"] {
            let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
            write!(
                stream,
                "GET {path} HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer simulated\r\nconnection: close\r\n\r\n"
            )
            .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        }
    }
}

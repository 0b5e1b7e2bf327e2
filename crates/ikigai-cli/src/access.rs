//! Who answers: the providers whose keys there are, or the built-in simulator when there is none.

use std::sync::Arc;

use ikigai::{Client, Hook, Registry};
use ikigai_sim::Sim;

use crate::exit::{Exit, Failure};
use crate::output::Out;
use crate::places;

/// The model that the simulator plays when nobody chose one.
const SIMULATED: &str = "anthropic:claude-sonnet-4-5";
/// The providers that most people have a key of, and a model of each to show how one is chosen.
const USUAL: [(&str, &str); 3] =
    [("anthropic", "claude-sonnet-4-5/med"), ("openai", "gpt-5.4/low"), ("google", "gemini-2.5-pro")];

/// The way to the models.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    registry: Registry,
    simulator: Option<Arc<Sim>>,
}

impl Access {
    /// Looks for keys. Without any, the simulator is started in this process.
    pub(crate) async fn open(out: &mut Out) -> Result<Self, Failure> {
        let registry = places::registry(out);
        let client = Client::builder().registry(registry.clone()).build()?;
        let mut simulator = None;
        if !any_key(&client)? {
            let sim = Sim::start().await.map_err(|error| {
                Failure::new(format!("there is no key, and the built-in simulator does not start: {error}"))
            })?;
            simulator = Some(Arc::new(sim));
        }
        Ok(Access { registry, simulator })
    }

    /// The way to the providers themselves, for whoever sends nothing.
    pub(crate) fn unsent(out: &mut Out) -> Self {
        Access { registry: places::registry(out), simulator: None }
    }

    /// A client of its own, with its own connections.
    pub(crate) fn client(&self, hook: impl Hook) -> Result<Client, Failure> {
        let mut builder = Client::builder().registry(self.registry.clone()).hook(hook);
        if let Some(simulator) = &self.simulator {
            // Who needs no key is there for real, even when no key is.
            for provider in self.registry.providers.iter().filter(|provider| provider.needs_key()) {
                let id = provider.id.to_string();
                builder = builder.key(&*id, "simulated").base_url(&*id, simulator.base_url(provider.dialect));
            }
        }
        Ok(builder.build()?)
    }

    /// Does the simulator answer?
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulator.is_some()
    }

    /// What a person without a key is told, in one line.
    pub(crate) fn notice(&self) -> Option<String> {
        self.is_simulated().then(|| {
            let variables = USUAL.iter().filter_map(|(id, _)| self.registry.providers.find(id)?.key_env.first());
            let variables: Vec<&str> = variables.map(AsRef::as_ref).collect();
            format!(
                "No key found ({} …): the built-in simulator answers. `ikigai keys set PROVIDER` stores one.",
                variables.join(", ")
            )
        })
    }

    /// The providers and models that are known.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The model when nobody chose one: the simulator's, and else none, with three ways to choose.
    pub(crate) fn default_model(&self, choose: impl Fn(&str) -> String) -> Result<String, Failure> {
        if self.is_simulated() {
            return Ok(SIMULATED.to_owned());
        }
        let examples: Vec<String> = USUAL.iter().map(|(_, model)| format!("  {}", choose(model))).collect();
        Err(Failure::new("no model is chosen").exit(Exit::Usage).hint(format!("Choose one:\n{}", examples.join("\n"))))
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

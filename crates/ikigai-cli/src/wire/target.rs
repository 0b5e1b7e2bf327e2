//! The target of a request: the model, and the provider whose quirks apply.

use ikigai_core::provider::{Registry, Route};
use ikigai_core::{Dialect, Error, ModelName, Request, Thinking};

use super::args::Other;
use crate::exit::Failure;
use crate::models::unknown_provider;
use crate::output::Out;
use crate::places;

/// The providers and models, and which of them the command line selects.
#[derive(Debug)]
pub(crate) struct Targets {
    registry: Registry,
    dialect: Dialect,
    /// The selected provider.
    provider: Option<String>,
    /// The model that replaces the one in the request.
    model: Option<ModelName>,
}

impl Targets {
    /// Reads the selection from the command line; an unknown provider or model is a usage error.
    pub(crate) fn new(dialect: Dialect, other: &Other, out: &mut Out) -> Result<Self, Failure> {
        let registry = places::registry(out);
        let provider = match &other.provider {
            None => None,
            Some(name) => {
                let found = registry.providers.find(name).ok_or_else(|| unknown_provider(&registry, name))?;
                Some(found.id.to_string())
            }
        };
        let model = match &other.model {
            None => None,
            Some(name) => Some(named(&registry, dialect, provider.as_deref(), name)?),
        };
        Ok(Targets { registry, dialect, provider, model })
    }

    /// Returns the provider of answers in a dialect: the selected one, or else the dialect's own.
    pub(crate) fn issuer(&self, of: Dialect) -> &str {
        self.provider.as_deref().unwrap_or(&self.registry.providers.of_dialect(of).id)
    }

    /// Returns the route to the request's model, after replacing it if another one is selected.
    pub(crate) fn aim(&self, request: &mut Request) -> Result<Route<'_>, Error> {
        if let Some(name) = &self.model {
            request.model.clone_from(&name.id);
            if let Some(level) = name.level {
                let mut thinking = Thinking::from(level);
                thinking.include_summary = request.thinking.as_ref().is_none_or(|thinking| thinking.include_summary);
                request.thinking = Some(thinking);
            }
            return self.registry.route_in(name, self.dialect).map_err(|error| refused(&error));
        }
        match &self.provider {
            Some(provider) => {
                let name = ModelName::new(provider.as_str(), request.model.as_str());
                self.registry.route_in(&name, self.dialect).map_err(|error| refused(&error))
            }
            None => Ok(self.registry.route_of_dialect(self.dialect, &request.model)),
        }
    }
}

fn refused(error: &ikigai_core::provider::ProviderSetupError) -> Error {
    Error::invalid_request(error.to_string())
}

/// Returns the model named by `--model`. If no provider is given, it is the one that serves the model and speaks the
/// dialect, or else the dialect's own.
fn named(registry: &Registry, dialect: Dialect, provider: Option<&str>, text: &str) -> Result<ModelName, Failure> {
    let before = text.split_once(':').and_then(|(name, _)| registry.providers.find(name));
    if let (Some(wanted), Some(before)) = (provider, before)
        && before.id != wanted
    {
        return Err(Failure::usage(format!("--provider says {wanted}, but --model says {}", before.id)));
    }
    let parse = |text: &str| registry.parse(text).map_err(|error| Failure::usage(error.to_string()));
    if before.is_some() {
        return parse(text);
    }
    if let Some(provider) = provider {
        return parse(&format!("{provider}:{text}"));
    }
    if let Ok(name) = registry.parse(text)
        && registry.providers.find(&name.provider).is_some_and(|provider| provider.speaks(dialect))
    {
        return Ok(name);
    }
    parse(&format!("{}:{text}", registry.providers.of_dialect(dialect).id))
}

//! Providers and models together, to determine which model a name means and how to reach it.

use crate::catalog::Bare;
use crate::catalog::{Catalog, Facts, Rules, rules_for};
use crate::model::Reader;
use crate::provider::{Provider, ProviderSetupError, Providers};
use crate::wire::Target;
use crate::{Dialect, ModelError, ModelName};

static SHARED: Registry = Registry { providers: Providers::BUILT_IN, catalog: Catalog::BUILT_IN };

/// Providers and models together, to determine which model a name means and how to reach it.
///
/// ```
/// use ikigai_core::Dialect;
/// use ikigai_core::provider::Registry;
///
/// let registry = Registry::shared();
/// let route = registry.route(&registry.parse("openrouter:anthropic/claude-sonnet-4.5/high").unwrap()).unwrap();
/// assert_eq!((route.provider.id.as_ref(), route.dialect), ("openrouter", Dialect::OpenaiChat));
/// assert_eq!(route.target().facts.unwrap().max_output, Some(64_000));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Registry {
    /// All registered providers.
    pub providers: Providers,
    /// Facts about models.
    pub catalog: Catalog,
}

/// The route to a model: everything that a request needs to know, apart from keys.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Route<'a> {
    /// The provider that serves it.
    pub provider: &'a Provider,
    /// The dialect of requests.
    pub dialect: Dialect,
    /// The model's id on the wire.
    pub model: String,
    /// The catalogue's facts about it, if there are any.
    pub facts: Option<&'a Facts>,
    /// The rules of its family.
    pub rules: &'a Rules,
}

impl Registry {
    /// Returns the built-in providers and models.
    pub fn shared() -> &'static Registry {
        &SHARED
    }

    /// Parses a name: `[provider:]model[/level]`; see [`ModelName`].
    pub fn parse(&self, text: &str) -> Result<ModelName, ModelError> {
        self.reader().read(text)
    }

    /// Returns the route to a model, in the dialect that suits it best.
    ///
    /// OpenAI's own models go to Responses, except for those that exist in Chat only:
    ///
    /// ```
    /// use ikigai_core::{Dialect, ModelName};
    /// use ikigai_core::provider::Registry;
    ///
    /// let dialect = |name| Registry::shared().route(&ModelName::parse(name).unwrap()).unwrap().dialect;
    /// assert_eq!(dialect("openai:gpt-5.4"), Dialect::OpenaiResponses);
    /// assert_eq!(dialect("openai:o1-mini"), Dialect::OpenaiChat);
    /// assert_eq!(dialect("sim:claude-sonnet-4-5"), Dialect::Anthropic);
    /// ```
    pub fn route(&self, name: &ModelName) -> Result<Route<'_>, ProviderSetupError> {
        let provider = self.provider(name)?;
        Ok(self.route_of(provider, self.dialect_for(provider, &name.id), &name.id))
    }

    /// Returns the route to a model in a given dialect.
    pub fn route_in(&self, name: &ModelName, dialect: Dialect) -> Result<Route<'_>, ProviderSetupError> {
        let provider = self.provider(name)?;
        if provider.speaks_for(dialect, &name.id) {
            Ok(self.route_of(provider, dialect, &name.id))
        } else {
            let speaks = provider.dialects().filter(|own| provider.speaks_for(*own, &name.id)).collect();
            Err(ProviderSetupError::NotSpoken { provider: provider.id.to_string(), dialect, speaks })
        }
    }

    /// Returns the route to a model that many providers serve, such as `gpt-oss-120b`, in the most common dialect.
    pub fn route_of_family(&self, model: &str) -> Route<'_> {
        self.route_of_dialect(Dialect::OpenaiChat, model)
    }

    /// Returns the route to a model of the provider that invented the dialect: Anthropic, OpenAI, Google or Amazon. Any
    /// model id is accepted.
    pub fn route_of_dialect(&self, dialect: Dialect, model: &str) -> Route<'_> {
        let provider = self.providers.of_dialect(dialect);
        let id = self.reader().facts(provider, model).map_or(model, |facts| facts.wire_id(model));
        self.route_of(provider, dialect, id)
    }

    /// Returns the dialect that suits a provider's model best: the model's own if the catalogue names one; the maker's
    /// if the provider follows it; or else the first of the provider's dialects that it speaks for the model.
    pub fn dialect_for(&self, provider: &Provider, model: &str) -> Dialect {
        let maker = || {
            let (facts, maker) = self.maker(model);
            facts.and_then(|facts| facts.dialect).or(maker.map(|maker| maker.dialect))
        };
        let own = self.catalog.find(Some(&provider.id), model).and_then(|facts| facts.dialect);
        let wanted = own.or_else(|| provider.maker_dialect.then(maker).flatten());
        let speaks = |dialect: &Dialect| provider.speaks_for(*dialect, model);
        wanted.filter(speaks).or_else(|| provider.dialects().find(speaks)).unwrap_or(provider.dialect)
    }

    /// Returns whether a model answers in this dialect: its provider must speak it, and so must its maker if the
    /// provider serves models as their makers do.
    ///
    /// ```
    /// use ikigai_core::{Dialect, ModelName};
    /// use ikigai_core::provider::Registry;
    ///
    /// let answers = |name, dialect| Registry::shared().answers_in(&ModelName::parse(name).unwrap(), dialect);
    /// assert!(answers("openai:gpt-5.4", Dialect::OpenaiChat) && !answers("openai:gpt-5.4", Dialect::Gemini));
    /// assert!(answers("sim:gemini-2.5-pro", Dialect::Gemini) && !answers("sim:gemini-2.5-pro", Dialect::Anthropic));
    /// ```
    pub fn answers_in(&self, name: &ModelName, dialect: Dialect) -> bool {
        let Ok(provider) = self.provider(name) else { return false };
        let as_made = || self.maker(&name.id).1.is_none_or(|maker| maker.speaks(dialect));
        provider.speaks_for(dialect, &name.id) && (!provider.maker_dialect || as_made())
    }

    /// Returns what is known about a model from its name alone, and its maker.
    fn maker(&self, model: &str) -> (Option<&Facts>, Option<&Provider>) {
        let facts = match self.catalog.bare(model, &self.providers) {
            Bare::One(facts) => Some(facts),
            Bare::Several(_) | Bare::Unknown => None,
        };
        let maker = facts.map_or_else(|| self.providers.claimant(model), |facts| self.providers.find(&facts.provider));
        (facts, maker)
    }

    /// Returns the provider of a name, if it can be used.
    fn provider(&self, name: &ModelName) -> Result<&Provider, ProviderSetupError> {
        let id = name.provider.as_str();
        let provider = self.providers.find(id).ok_or_else(|| ProviderSetupError::Unknown {
            name: id.to_owned(),
            nearest: self.providers.nearest(id).map(str::to_owned),
        })?;
        provider.reach()?;
        Ok(provider)
    }

    fn route_of<'a>(&'a self, provider: &'a Provider, dialect: Dialect, model: &str) -> Route<'a> {
        Route { facts: self.reader().facts(provider, model), ..Route::new(provider, dialect, model) }
    }

    fn reader(&self) -> Reader<'_> {
        Reader { providers: &self.providers, catalog: &self.catalog }
    }
}

impl<'a> Route<'a> {
    /// Creates a route to a model that is not in the catalogue, with the rules that follow from its id.
    pub fn new(provider: &'a Provider, dialect: Dialect, model: &str) -> Self {
        Route { provider, dialect, model: model.to_owned(), facts: None, rules: rules_for(model) }
    }

    /// Returns the target: what a codec needs to know.
    pub fn target(&self) -> Target<'_> {
        Target { provider: &self.provider.id, quirks: &self.provider.quirks, rules: self.rules, facts: self.facts }
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;

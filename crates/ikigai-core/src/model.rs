//! Model names: `[provider:]model[/level]`, and which provider serves them.

use std::fmt;
use std::str::FromStr;

use crate::catalog::Bare;
use crate::catalog::{Catalog, Facts};
use crate::provider::{Provider, Providers, Registry};
use crate::{Level, UnknownLevel};

/// A model name as people write it: `[provider:]model[/level]`.
///
/// The part before the first colon is the provider, if there is one of that name. The last `/segment` is the level, if
/// it is one and the catalogue does not know the whole name as a model. A name without a provider is looked up in the
/// catalogue, and then goes to the provider that claims its prefix (`claude-`, `gpt-`, …); with a provider, any name is
/// accepted. Nothing is guessed: an unknown name is an error that lists the closest ones.
///
/// ```
/// use ikigai_core::{Level, ModelName};
///
/// let name = ModelName::parse("gemini-3-pro/none").unwrap();
/// assert_eq!((name.provider.as_str(), name.model.as_str(), name.level), ("google", "gemini-3-pro", Some(Level::None)));
/// assert_eq!(name.id, "gemini-3-pro-preview"); // What Google calls it.
///
/// let name = ModelName::parse("openrouter:google/gemini-2.5-pro").unwrap();
/// assert_eq!((name.model.as_str(), name.level), ("google/gemini-2.5-pro", None));
///
/// let error = ModelName::parse("claude-sonnet-4-5/hihg").unwrap_err();
/// assert!(error.to_string().contains("none, low, med or high"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ModelName {
    /// The provider's id.
    pub provider: String,
    /// The model as written, for display.
    pub model: String,
    /// The model's id on the wire: the provider's name for it.
    pub id: String,
    /// How hard it should think.
    pub level: Option<Level>,
}

/// A name that does not identify a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The model part is missing.
    #[error("`{0}` does not name a model; write `provider:model` or `provider:model/level`")]
    Empty(String),
    /// It contains spaces or control characters.
    #[error("`{}` is not a model name: it contains spaces or control characters", .0.escape_debug())]
    Blank(String),
    /// The part before the colon resembles a provider, but is not one.
    #[error("unknown provider `{name}`; did you mean `{nearest}`?")]
    UnknownProvider {
        /// The part before the colon.
        name: String,
        /// The closest provider.
        nearest: String,
    },
    /// No provider has a model of that name.
    #[error("unknown model `{name}`{}; to use it anyway, name its provider: `provider:{name}`", listed(.nearest))]
    UnknownModel {
        /// The name.
        name: String,
        /// The three closest names, in a form that can be typed.
        nearest: Vec<String>,
    },
    /// Several providers serve a model of that name, and none of them made it.
    #[error("several providers serve `{name}`; choose one: {}", .choices.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// The name, prefixed with each provider.
        choices: Vec<String>,
    },
    /// The part after the slash is not a level.
    #[error(transparent)]
    Level(#[from] UnknownLevel),
}

fn listed(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!(" (did you mean {}?)", nearest.join(", ")) }
}

impl ModelName {
    /// Parses a name with the built-in providers and models; [`Registry::parse`] also uses the user's own.
    pub fn parse(text: &str) -> Result<ModelName, ModelError> {
        Registry::shared().parse(text)
    }

    /// Creates a name from the ids of a provider and a model.
    pub fn new(provider: impl Into<String>, id: impl Into<String>) -> ModelName {
        let id = id.into();
        ModelName { provider: provider.into(), model: id.clone(), id, level: None }
    }

    /// Adds a level.
    #[must_use]
    pub fn level(mut self, level: Level) -> ModelName {
        self.level = Some(level);
        self
    }
}

impl fmt::Display for ModelName {
    /// Writes it in a form that parses back: `anthropic:claude-sonnet-4-5/med`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)?;
        match self.level {
            Some(level) => write!(f, "/{level}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ModelName {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        ModelName::parse(text)
    }
}

/// Reads names with a table of providers and a catalogue.
pub(crate) struct Reader<'a> {
    pub(crate) providers: &'a Providers,
    pub(crate) catalog: &'a Catalog,
}

impl<'a> Reader<'a> {
    pub(crate) fn read(&self, text: &str) -> Result<ModelName, ModelError> {
        let text = text.trim();
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(ModelError::Blank(text.to_owned()));
        }
        let provider = text.split_once(':').and_then(|(name, rest)| Some((self.providers.find(name)?, rest)));
        let name = match provider {
            Some((provider, rest)) => self.with_provider(provider, rest)?,
            None => self.without_provider(text)?,
        };
        if name.model.is_empty() { Err(ModelError::Empty(text.to_owned())) } else { Ok(name) }
    }

    fn with_provider(&self, provider: &Provider, text: &str) -> Result<ModelName, ModelError> {
        let facts = |model: &str| self.facts(provider, model);
        let named = |model: &str, level| ModelName {
            provider: provider.id.to_string(),
            model: model.to_owned(),
            id: facts(model).map_or(model, |facts| facts.wire_id(model)).to_owned(),
            level,
        };
        match text.rsplit_once('/') {
            Some((model, word)) if facts(text).is_none() => match word.parse() {
                Ok(level) => Ok(named(model, Some(level))),
                Err(unknown) if facts(model).is_some() => Err(ModelError::Level(unknown)),
                Err(_) => Ok(named(text, None)),
            },
            _ => Ok(named(text, None)),
        }
    }

    fn without_provider(&self, text: &str) -> Result<ModelName, ModelError> {
        let (model, word) = match text.rsplit_once('/') {
            Some((model, word)) if matches!(self.catalog.bare(text, self.providers), Bare::Unknown) => {
                (model, Some(word))
            }
            _ => (text, None),
        };
        let level = word.map(str::parse::<Level>).transpose();
        match (self.bare(model), level) {
            (Ok(name), Ok(level)) => Ok(ModelName { level, ..name }),
            (Ok(_) | Err(ModelError::Ambiguous { .. }), Err(unknown)) => Err(ModelError::Level(unknown)),
            (Err(error), Ok(_)) => Err(error),
            (Err(_), Err(_)) => Err(self.unknown(text)),
        }
    }

    /// A name with neither provider nor level.
    fn bare(&self, name: &str) -> Result<ModelName, ModelError> {
        match self.catalog.bare(name, self.providers) {
            Bare::One(facts) => Ok(ModelName {
                provider: facts.provider.to_string(),
                model: name.to_owned(),
                id: facts.wire_id(name).to_owned(),
                level: None,
            }),
            Bare::Several(known) => Err(ModelError::Ambiguous {
                name: name.to_owned(),
                choices: known.iter().map(|facts| format!("{}:{name}", facts.provider)).collect(),
            }),
            // A maker's ids have no slash: an id that has one belongs to a host.
            Bare::Unknown => match self.providers.claimant(name).filter(|_| !name.contains('/')) {
                Some(maker) => Ok(ModelName::new(maker.id.clone(), name)),
                None if name.is_empty() => Err(ModelError::Empty(name.to_owned())),
                None => Err(self.unknown(name)),
            },
        }
    }

    fn unknown(&self, name: &str) -> ModelError {
        let provider = name.split_once(':').map(|(provider, _)| provider);
        if let Some((provider, nearest)) = provider.and_then(|name| Some((name, self.providers.nearest(name)?))) {
            return ModelError::UnknownProvider { name: provider.to_owned(), nearest: nearest.to_owned() };
        }
        let nearest = self.catalog.nearest_in(name, 3, self.providers);
        ModelError::UnknownModel { name: name.to_owned(), nearest }
    }

    /// Returns the facts about a provider's model; a provider that serves models as their makers do shares their facts.
    pub(crate) fn facts(&self, provider: &Provider, model: &str) -> Option<&'a Facts> {
        self.catalog.find(Some(&provider.id), model).or_else(|| match self.catalog.bare(model, self.providers) {
            Bare::One(facts) if provider.maker_dialect => Some(facts),
            Bare::One(_) | Bare::Several(_) | Bare::Unknown => None,
        })
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

//! Completion of models and levels as people type them.

use std::cell::OnceCell;

use ikigai::{Level, Registry, Thinking};

use super::complete::Offer;
use crate::levels;

/// The names of all models.
#[derive(Debug, Clone)]
pub(crate) struct ModelNames {
    registry: Registry,
    /// Collected when first needed.
    names: OnceCell<Vec<String>>,
}

impl ModelNames {
    pub(crate) fn new(registry: Registry) -> Self {
        ModelNames { registry, names: OnceCell::new() }
    }

    /// Creates it with only these names.
    #[cfg(test)]
    pub(super) fn known(registry: Registry, names: Vec<String>) -> Self {
        ModelNames { registry, names: OnceCell::from(names) }
    }

    fn all(&self) -> &[String] {
        self.names.get_or_init(|| models(&self.registry))
    }

    /// Returns models and levels that begin with a word, for a shell.
    pub(crate) fn beginning_with(&self, word: &str) -> Vec<Offer> {
        self.offers(word, usize::MAX).into_iter().filter(|(name, _)| name.starts_with(word)).collect()
    }

    /// Whether a level of a known model is being typed.
    pub(super) fn is_level(&self, word: &str) -> bool {
        let models = self.all();
        word.rsplit_once('/').is_some_and(|(model, _)| models.iter().any(|known| known == model))
    }

    /// Returns the levels that a model supports as they are.
    fn levels(&self, model: &str, begin: &str) -> Vec<Offer> {
        let Ok(name) = self.registry.parse(model) else { return Vec::new() };
        let Ok(route) = self.registry.route(&name) else { return Vec::new() };
        let own = levels::rules(&route).thinking.levels.clone();
        let usual = [Level::None, Level::Low, Level::Med, Level::High];
        let levels = Level::ALL.iter().filter(|level| usual.contains(level) || own.contains(level));
        let levels = levels.filter(|level| level.as_str().starts_with(begin));
        let fitting = levels.filter_map(|level| {
            let words = levels::words(&route, Some(&Thinking::from(*level)));
            words.warnings.is_empty().then(|| (format!("{model}/{}", level.as_str()), words.lines.first().cloned()))
        });
        fitting.collect()
    }

    /// Returns models whose names begin with a word, then those that contain it; or the levels of one.
    pub(super) fn offers(&self, word: &str, most: usize) -> Vec<Offer> {
        let models = self.all();
        if let Some((model, level)) = word.rsplit_once('/')
            && self.is_level(word)
        {
            return self.levels(model, level);
        }
        let begins = models.iter().filter(|name| name.starts_with(word));
        let holds = models.iter().filter(|name| !name.starts_with(word) && name.contains(word));
        begins.chain(holds).take(most).map(|name| (name.clone(), None)).collect()
    }
}

/// Returns models by the names that people can type, short ones first: the bare name if it means this model.
pub(crate) fn models(registry: &Registry) -> Vec<String> {
    let names = registry.catalog.models().map(|facts| match registry.parse(&facts.id) {
        Ok(name) if name.provider == facts.provider => facts.id.to_string(),
        _ => format!("{}:{}", facts.provider, facts.id),
    });
    let mut names: Vec<String> = names.collect();
    names.sort_by_key(|name| (name.contains([':', '/']), name.len()));
    names.dedup();
    names
}

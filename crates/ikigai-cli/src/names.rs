//! Models by the names that people type: their own aliases, `sonnet` and `flash`, parts of names. An unknown name is
//! refused, with suggestions.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ikigai::{Level, ModelName, Registry};
use ikigai_core::catalog::{Facts, Modality, Status};
use ikigai_core::near;
use ikigai_core::provider::{Auth, Provider};
use regex::Regex;

use crate::exit::Failure;

/// Short names: the newest model with this id, where the star is a version.
const SHORT: [(&str, &str, &str); 7] = [
    ("sonnet", "anthropic", "claude-sonnet-*"),
    ("opus", "anthropic", "claude-opus-*"),
    ("haiku", "anthropic", "claude-haiku-*"),
    ("flash", "google", "gemini-*-flash"),
    ("pro", "google", "gemini-*-pro"),
    ("gpt", "openai", "gpt-*"),
    ("mini", "openai", "gpt-*-mini"),
];
/// The default models of the providers that most people have a key for, best known first.
const DEFAULTS: [(&str, &str); 3] = [("anthropic", "sonnet"), ("openai", "gpt"), ("google", "pro")];
/// At the end of a name: use it even if the model is unknown.
const SURE: char = '!';
/// How many names are suggested.
const SUGGESTED: usize = 3;

static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\d{1,2}(?:[.-]\d{1,2})?$").ok());

/// The names that people can type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<'a> {
    registry: &'a Registry,
    /// The user's own.
    aliases: &'a BTreeMap<String, String>,
    /// How to list the models.
    listing: &'static str,
}

impl<'a> Names<'a> {
    pub(crate) fn new(registry: &'a Registry, aliases: &'a BTreeMap<String, String>) -> Self {
        Names { registry, aliases, listing: "`ikigai models list` lists the models." }
    }

    /// For a chat, which has its own list.
    pub(crate) fn in_chat(self) -> Self {
        Names { listing: "`/model` and `ikigai models list` show all of them.", ..self }
    }

    /// Finds the model that a name means.
    pub(crate) fn resolve(&self, text: &str) -> Result<ModelName, Failure> {
        let text = text.trim();
        let (text, is_sure) = text.strip_suffix(SURE).map_or((text, false), |text| (text, true));
        let (base, level) = with_level(text);
        if let Some(meant) = self.aliases.get(base) {
            // An alias may refer to another one, but not to itself.
            let (meant_base, own_level) = with_level(meant);
            let mut name = match meant_base == base {
                true => self.known(meant, is_sure)?,
                false => Names { aliases: &BTreeMap::new(), ..*self }.resolve(meant)?,
            };
            name.level = level.or(own_level).or(name.level);
            return Ok(name);
        }
        if let Some(facts) = self.short(base) {
            return Ok(named(facts, level));
        }
        self.known(text, is_sure)
    }

    fn known(&self, text: &str, is_sure: bool) -> Result<ModelName, Failure> {
        let (base, level) = with_level(text);
        match self.registry.parse(text) {
            Ok(name) if is_sure || self.is_known(&name) => Ok(name),
            Ok(name) => Err(self.unknown(text, &name.id, Some(&name.provider))),
            Err(error) => match self.only_match(base) {
                Some(facts) => Ok(named(facts, level)),
                None if is_level_error(text, base, level) => Err(Failure::from(ikigai::Error::from(error))),
                None => Err(self.unknown(text, base, None)),
            },
        }
    }

    /// Whether the model is in the catalogue. Models of providers that cannot be listed are accepted.
    fn is_known(&self, name: &ModelName) -> bool {
        let Some(provider) = self.registry.providers.find(&name.provider) else { return false };
        let named_by_user = matches!(provider.auth, Auth::ApiKey | Auth::AwsSigv4 | Auth::GoogleOauth | Auth::None);
        named_by_user
            || self.registry.catalog.find(Some(&provider.id), &name.id).is_some()
            || !self.registry.catalog.models().any(|facts| facts.provider == provider.id)
    }

    /// Returns the newest model for a short name. A model with known prices takes precedence over one without.
    fn short(&self, word: &str) -> Option<&'a Facts> {
        let (_, provider, pattern) = SHORT.iter().find(|(short, ..)| *short == word)?;
        let (before, after) = pattern.split_once('*')?;
        let version = |facts: &Facts| -> Option<Vec<u32>> {
            let version = facts.id.strip_prefix(before)?.strip_suffix(after)?;
            VERSION.as_ref()?.is_match(version).then(|| version.split(['.', '-']).flat_map(str::parse).collect())
        };
        let models = self.registry.catalog.models().filter(|facts| facts.provider == *provider && is_served(facts));
        let models = models.filter_map(|facts| Some(((facts.prices.output.is_some(), version(facts)?), facts)));
        models.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, facts)| facts)
    }

    /// Returns the only model whose name contains this word; `None` if there are several.
    fn only_match(&self, word: &str) -> Option<&'a Facts> {
        let word = word.to_lowercase();
        let found = self.registry.catalog.models().filter(|facts| {
            !word.is_empty() && is_served(facts) && facts.id.to_lowercase().contains(&word) && self.is_makers(facts)
        });
        let found: Vec<&Facts> = found.collect();
        let shortest = *found.iter().min_by_key(|facts| facts.id.len())?;
        // At other providers, the same model has a prefix: its maker or a region.
        found.iter().all(|facts| facts.id.ends_with(shortest.id.as_ref())).then_some(shortest)
    }

    /// Whether the bare name means this model, and not the same one at another provider.
    fn is_makers(&self, facts: &Facts) -> bool {
        self.registry.parse(&facts.id).is_ok_and(|name| name.provider == facts.provider)
    }

    fn unknown(&self, text: &str, id: &str, provider: Option<&str>) -> Failure {
        let word = id.to_lowercase();
        let all = || self.registry.catalog.models().filter(|facts| is_served(facts));
        let typed = |facts: &Facts| match self.is_makers(facts) {
            true => facts.id.to_string(),
            false => format!("{}:{}", facts.provider, facts.id),
        };
        let mut names: Vec<String> = Vec::new();
        let among: Vec<&Facts> = match provider {
            Some(provider) => all().filter(|facts| facts.provider == provider).collect(),
            None => all().filter(|facts| self.is_makers(facts)).collect(),
        };
        names.extend(among.iter().filter(|facts| facts.id.to_lowercase().contains(&word)).map(|facts| typed(facts)));
        names.sort_by_key(String::len);
        names.truncate(SUGGESTED);
        let ids: Vec<&str> = among.iter().map(|facts| facts.id.as_ref()).collect();
        for near in near::nearest(&word, ids.iter().copied(), SUGGESTED) {
            let facts = among.iter().find(|facts| facts.id == near);
            let name = facts.map_or_else(|| near.to_owned(), |facts| typed(facts));
            if names.len() < SUGGESTED && !names.contains(&name) {
                names.push(name);
            }
        }
        let meant = if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) };
        let anyway = if provider.is_some() { format!(" If it is new: {text}{SURE}") } else { String::new() };
        Failure::usage(format!("unknown model `{text}`{meant}")).hint(format!("{}{anyway}", self.listing))
    }

    /// Returns a good model of one of these providers, the best known first.
    pub(crate) fn default(&self, providers: &[&Provider]) -> Option<ModelName> {
        let has = |id: &str| providers.iter().any(|provider| provider.id == id);
        let usual = DEFAULTS.iter().filter(|(id, _)| has(id)).find_map(|(_, short)| self.short(short));
        let any = || providers.iter().find_map(|provider| self.best(provider));
        usual.or_else(any).map(|facts| named(facts, None))
    }

    /// Returns the model of a provider that is most likely wanted: it supports tools, is not too expensive, and is new.
    fn best(&self, provider: &Provider) -> Option<&'a Facts> {
        const DEAR: u64 = 20_000_000;
        let models = self.registry.catalog.models().filter(|facts| facts.provider == provider.id && is_served(facts));
        let talks = models.filter(|facts| facts.output.contains(&Modality::Text) || facts.output.is_empty());
        talks.max_by_key(|facts| {
            let price = facts.prices.output.filter(|price| *price <= DEAR);
            (facts.tools == Some(true), price.is_some(), facts.released.clone(), price)
        })
    }
}

fn named(facts: &Facts, level: Option<Level>) -> ModelName {
    let mut name = ModelName::new(facts.provider.as_ref(), facts.id.as_ref());
    name.level = level;
    name
}

fn is_served(facts: &Facts) -> bool {
    matches!(facts.status, Status::Active | Status::Preview)
}

/// Splits a name into the name without its level, and the level.
pub(crate) fn with_level(text: &str) -> (&str, Option<Level>) {
    let level = |word: &str| Level::ALL.iter().copied().find(|level| level.as_str() == word);
    match text.rsplit_once('/').and_then(|(base, word)| Some((base, level(word)?))) {
        Some((base, level)) => (base, Some(level)),
        None => (text, None),
    }
}

/// Whether the name may be that of a model with an invalid level.
fn is_level_error(text: &str, base: &str, level: Option<Level>) -> bool {
    level.is_none() && text == base && text.matches('/').count() == 1
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;

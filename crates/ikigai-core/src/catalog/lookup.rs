//! The catalogue: facts about models, by name.

#[cfg(feature = "files")]
use std::collections::BTreeMap;
use std::collections::HashMap;

use super::built_in::{self, MODELS};
use super::facts::Facts;
#[cfg(feature = "files")]
use super::models_dev::ApiJson;
#[cfg(feature = "files")]
use super::row::Row;
#[cfg(feature = "files")]
use crate::catalog::rows::{FileError, from_json, from_toml};
use crate::near;
use crate::provider::Providers;

static SHARED: Catalog = Catalog::BUILT_IN;

/// Facts about models: the built-in data, with the user's own data on top.
///
/// The built-in data is compiled into the program: a lookup takes one hash, and a model is only read when it is needed.
///
/// ```
/// use ikigai_core::catalog::Catalog;
///
/// let sonnet = Catalog::shared().find(Some("anthropic"), "claude-sonnet-4-5-20250929").unwrap();
/// assert_eq!((sonnet.name.as_ref(), sonnet.max_output), ("Claude Sonnet 4.5", Some(64_000)));
///
/// let mine = r#"
///     [anthropic.claude-sonnet-4-5]
///     prices = { input = 2.5 }
///
///     [home.my-model]
///     context = 32768
/// "#;
/// let catalog = Catalog::shared().with_toml("models.toml", mine).unwrap();
/// assert_eq!(catalog.find(Some("anthropic"), "claude-sonnet-4-5").unwrap().prices.input, Some(2_500_000));
/// assert_eq!(catalog.find(Some("anthropic"), "claude-sonnet-4-5").unwrap().prices.output, Some(15_000_000));
/// assert_eq!(catalog.find(None, "my-model").unwrap().context, Some(32768));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    own: Option<Box<Own>>,
}

/// The user's models.
#[derive(Debug, Clone, Default)]
struct Own {
    facts: Vec<Facts>,
    /// The positions of the models with each name, in lower case.
    names: HashMap<String, Vec<usize>>,
}

/// The possible meanings of a name without a provider.
pub(crate) enum Bare<'a> {
    /// One model: its maker's, or the only one of that name.
    One(&'a Facts),
    /// The same name at several providers, none of which made the model.
    Several(Vec<&'a Facts>),
    /// No model.
    Unknown,
}

impl Catalog {
    /// Only the built-in data.
    pub(crate) const BUILT_IN: Catalog = Catalog { own: None };

    /// Returns the built-in catalogue.
    pub fn shared() -> &'static Catalog {
        &SHARED
    }

    /// Finds the facts about a model; case does not matter.
    ///
    /// A model is found by its id, one of its other names, or an id followed by a version suffix, longest first: a date
    /// (`-20250929`, `-2025-04-14`, `@20250929`), a number (`-001`), `-preview`, `-latest`. Other suffixes mean other
    /// models: `gpt-5.4-turbo` is not `gpt-5.4`. A dated id is assumed to be the same model as the undated one, unless
    /// the catalogue lists it separately.
    ///
    /// Without a provider, the name means the maker's model, or that of the only provider that has it. Returns `None`
    /// if several providers have it and none of them made it.
    pub fn find(&self, provider: Option<&str>, model: &str) -> Option<&Facts> {
        match provider {
            Some(provider) => {
                let provider = canonical(provider);
                self.exact(provider, model)
                    .or_else(|| unversioned(model).find_map(|shorter| self.exact(provider, shorter)))
            }
            None => match self.bare(model, Providers::shared()) {
                Bare::One(facts) => Some(facts),
                Bare::Several(_) | Bare::Unknown => None,
            },
        }
    }

    /// Returns all models, the user's first.
    pub fn models(&self) -> impl Iterator<Item = &Facts> {
        let own = self.own.iter().flat_map(|own| own.facts.iter());
        own.chain(MODELS.iter().filter(|facts| !self.is_replaced(facts)))
    }

    /// Returns the closest names to an unknown one, as they can be typed: `gpt-5.4`, `groq:llama-3.1-8b-instant`.
    ///
    /// ```
    /// use ikigai_core::catalog::Catalog;
    ///
    /// assert_eq!(Catalog::shared().nearest("cluade-sonnet-4-5", 1), ["claude-sonnet-4-5"]);
    /// ```
    pub fn nearest(&self, name: &str, count: usize) -> Vec<String> {
        self.nearest_in(name, count, Providers::shared())
    }

    pub(crate) fn nearest_in(&self, name: &str, count: usize, providers: &Providers) -> Vec<String> {
        // Hosts put the maker before a slash; the misspelt part is after it.
        let tail = |name: &'_ str| name.rfind('/').map_or(0, |slash| slash + 1);
        let all = || self.models().flat_map(|facts| facts.names().map(move |name| (facts, name)));
        let tails = all().map(|(_, name)| name.get(tail(name)..).unwrap_or(name));
        let tails = near::nearest(name.get(tail(name)..).unwrap_or(name), tails, count);
        let typed = |wanted: &str| {
            let same =
                all().filter(|(_, name)| name.get(tail(name)..).is_some_and(|own| own.eq_ignore_ascii_case(wanted)));
            // The maker's own name takes precedence over a host's.
            let (facts, name) = same.min_by_key(|(facts, name)| {
                let maker = providers.find(&facts.provider).is_some_and(|provider| provider.claims(name));
                (!maker, name.len(), &facts.provider)
            })?;
            Some(match self.bare(name, providers) {
                Bare::One(one) if one.provider == facts.provider => name.to_owned(),
                Bare::One(_) | Bare::Several(_) | Bare::Unknown => format!("{}:{name}", facts.provider),
            })
        };
        tails.into_iter().filter_map(typed).collect()
    }

    /// Overlays a user's TOML on this catalogue, field by field: tables `[provider.model]` with the fields of
    /// [`Facts`], prices in dollars per million tokens. `file` is only used in messages.
    #[cfg(feature = "files")]
    pub fn with_toml(&self, file: &str, text: &str) -> Result<Catalog, FileError> {
        let rows: BTreeMap<String, BTreeMap<String, Row>> = from_toml(file, text)?;
        Ok(self.with_rows(
            rows.into_iter()
                .flat_map(|(provider, models)| models.into_iter().map(move |(id, row)| (provider.clone(), id, row))),
        ))
    }

    /// Overlays an `api.json` of models.dev on this catalogue. `file` is only used in messages.
    #[cfg(feature = "files")]
    pub fn with_api_json(&self, file: &str, text: &str) -> Result<Catalog, FileError> {
        let providers: ApiJson = from_json(file, text)?;
        Ok(self.with_rows(providers.into_iter().flat_map(|(provider, own)| {
            own.models.into_iter().map(move |(id, model)| (provider.clone(), id, Row::from(model)))
        })))
    }

    /// Adds a model to this catalogue, replacing any facts under the same id of the same provider.
    ///
    /// ```
    /// use ikigai_core::catalog::{Catalog, Facts, Prices};
    ///
    /// let facts = Facts::new("home", "my-model").prices(Prices::per_million(3.0, 15.0));
    /// let catalog = Catalog::shared().with_model(facts.clone());
    /// assert_eq!(catalog.find(Some("home"), "my-model"), Some(&facts));
    /// ```
    #[must_use]
    pub fn with_model(&self, mut facts: Facts) -> Catalog {
        let mut own = self.own.as_deref().cloned().unwrap_or_default();
        facts.provider = canonical(&facts.provider).to_owned().into();
        facts.tiers.to_mut().sort_by_key(|tier| tier.above);
        own.insert(facts);
        Catalog { own: Some(Box::new(own)) }
    }

    #[cfg(feature = "files")]
    fn with_rows(&self, rows: impl Iterator<Item = (String, String, Row)>) -> Catalog {
        let mut own = self.own.as_deref().cloned().unwrap_or_default();
        for (provider, id, row) in rows {
            let provider = canonical(&provider).to_owned();
            let facts = row.onto(self.exact(&provider, &id), &provider, &id);
            own.insert(facts);
        }
        Catalog { own: Some(Box::new(own)) }
    }

    /// Returns a provider's model with exactly this name.
    pub(crate) fn exact(&self, provider: &str, name: &str) -> Option<&Facts> {
        self.named(name).find(|facts| facts.provider == provider)
    }

    /// Returns the possible meanings of a name without a provider.
    pub(crate) fn bare(&self, name: &str, providers: &Providers) -> Bare<'_> {
        for name in std::iter::once(name).chain(unversioned(name)) {
            let known: Vec<&Facts> = self.named(name).collect();
            let makers =
                known.iter().filter(|facts| providers.find(&facts.provider).is_some_and(|own| own.claims(name)));
            match (makers.copied().next(), known.as_slice()) {
                (Some(facts), _) => return Bare::One(facts),
                (None, [facts]) => return Bare::One(facts),
                (None, []) => {}
                (None, _) => return Bare::Several(known),
            }
        }
        Bare::Unknown
    }

    /// Returns all models with this name.
    fn named(&self, name: &str) -> impl Iterator<Item = &Facts> {
        let own = self.own.iter().flat_map(move |own| own.named(name));
        own.chain(built_in::named(name).filter(|facts| !self.is_replaced(facts)))
    }

    /// Returns whether a row of the user's replaces this one.
    fn is_replaced(&self, facts: &Facts) -> bool {
        let replaces = |own: &Facts| own.provider == facts.provider && own.id.eq_ignore_ascii_case(&facts.id);
        self.own.as_ref().is_some_and(|own| own.named(&facts.id).any(replaces))
    }
}

impl Own {
    fn named(&self, name: &str) -> impl Iterator<Item = &Facts> {
        let places = self.names.get(&name.to_ascii_lowercase()).map(Vec::as_slice).unwrap_or_default();
        // A replaced row may have had names that the new one lacks.
        let is_called = move |facts: &&Facts| facts.names().any(|own| own.eq_ignore_ascii_case(name));
        places.iter().filter_map(|place| self.facts.get(*place)).filter(is_called)
    }

    fn insert(&mut self, facts: Facts) {
        let same = |own: &Facts| own.provider == facts.provider && own.id.eq_ignore_ascii_case(&facts.id);
        let places = self.names.get(&facts.id.to_ascii_lowercase()).map(Vec::as_slice).unwrap_or_default();
        let place = places.iter().copied().find(|place| self.facts.get(*place).is_some_and(same));
        let place = place.unwrap_or(self.facts.len());
        for name in facts.names() {
            let places = self.names.entry(name.to_ascii_lowercase()).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
        match self.facts.get_mut(place) {
            Some(own) => *own = facts,
            None => self.facts.push(facts),
        }
    }
}

impl Facts {
    /// Returns its id, aliases and nicknames.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.aliases.iter().chain(self.nicknames.iter()).map(|name| name.as_ref());
        std::iter::once(self.id.as_ref()).chain(others)
    }

    /// Returns what to send when a person writes this name: the name, or the id if the provider needs that.
    pub(crate) fn wire_id<'a>(&'a self, name: &'a str) -> &'a str {
        if self.nicknames.iter().any(|nickname| nickname.eq_ignore_ascii_case(name)) {
            return &self.id;
        }
        // In the provider's spelling: some distinguish upper and lower case.
        self.names().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name)
    }
}

/// Returns the id of a provider that may be named by an alias.
fn canonical(provider: &str) -> &str {
    Providers::shared().find(provider).map_or(provider, |row| row.id.as_ref())
}

/// Returns the prefixes of an id, longest first, after which only version suffixes follow.
fn unversioned(id: &str) -> impl Iterator<Item = &str> {
    let mut end = id.len();
    let (mut numbers, mut short) = (0, 0);
    id.rmatch_indices(['-', '@', ':'])
        .map_while(move |(at, separator)| {
            let word = id.get(at + 1..end)?;
            end = at;
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            match word {
                "latest" | "preview" | "exp" | "experimental" | "default" | "stable" | "beta" => {}
                // OpenRouter's suffix for thinking, Bedrock's revision.
                "thinking" | "0" if separator == ":" => {}
                _ if is_number && (3..=8).contains(&word.len()) => numbers += 1,
                _ if is_number && word.len() == 2 => (numbers, short) = (numbers + 1, short + 1),
                _ => {
                    let digits = word.strip_prefix('v')?;
                    let is_revision = digits.len() == 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
                    is_revision.then_some(())?;
                }
            }
            // Two digits are part of a date, or of the name: `gemini-2.5-pro-preview-05-06`, but `model-70`.
            Some((short == 0 || numbers >= 2).then(|| id.get(..at)).flatten())
        })
        .flatten()
        .filter(|shorter| !shorter.is_empty())
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;

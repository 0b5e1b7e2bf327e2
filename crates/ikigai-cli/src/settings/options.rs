//! `[models."PATTERN"]`: options for requests to some models, unless overridden.

use std::collections::BTreeMap;

use globset::Glob;
use ikigai::{Level, Model, ModelName};
use serde::{Deserialize, Serialize};

/// The keys of such a table.
pub(super) const MODEL_KEYS: [&str; 7] =
    ["temperature", "top_p", "seed", "max_output_tokens", "thinking", "thinking_budget", "stop"];

/// Options for requests to a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ModelOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_output_tokens: Option<i64>,
    /// The level if a name has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Level>,
    /// The budget if neither a level nor a budget is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stop: Vec<String>,
}

impl ModelOptions {
    /// Merges all tables that match a model; longer patterns take precedence.
    pub(super) fn of(tables: &BTreeMap<String, ModelOptions>, name: &ModelName) -> Self {
        let full = format!("{}:{}", name.provider, name.id);
        let fits = |pattern: &str| match Glob::new(pattern).map(|glob| glob.compile_matcher()) {
            Ok(matcher) => matcher.is_match(&name.id) || matcher.is_match(&full),
            Err(_) => false,
        };
        let mut fitting: Vec<(&String, &ModelOptions)> = tables.iter().filter(|(pattern, _)| fits(pattern)).collect();
        fitting.sort_by_key(|(pattern, _)| pattern.chars().count());
        fitting.into_iter().fold(ModelOptions::default(), |all, (_, own)| ModelOptions {
            temperature: own.temperature.or(all.temperature),
            top_p: own.top_p.or(all.top_p),
            seed: own.seed.or(all.seed),
            max_output_tokens: own.max_output_tokens.or(all.max_output_tokens),
            thinking: own.thinking.or(all.thinking),
            thinking_budget: own.thinking_budget.or(all.thinking_budget),
            stop: if own.stop.is_empty() { all.stop } else { own.stop.clone() },
        })
    }

    /// Applies these options to a model. Its thinking level is decided along with its name.
    pub(crate) fn set(&self, mut model: Model) -> Model {
        if let Some(temperature) = self.temperature {
            model = model.temperature(temperature);
        }
        if let Some(share) = self.top_p {
            model = model.top_p(share);
        }
        if let Some(seed) = self.seed {
            model = model.seed(seed);
        }
        if let Some(tokens) = self.max_output_tokens {
            model = model.max_output_tokens(tokens);
        }
        self.stop.iter().fold(model, |model, text| model.stop_sequence(text))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_longest_pattern_that_fits_counts() {
        let options = |temperature, seed| ModelOptions { temperature, seed, ..ModelOptions::default() };
        let tables = BTreeMap::from([
            ("*".to_owned(), options(Some(0.1), Some(1))),
            ("claude-*".to_owned(), options(Some(0.2), None)),
            ("anthropic:claude-haiku-*".to_owned(), options(Some(0.3), None)),
            ("[".to_owned(), options(Some(0.4), None)),
        ]);
        let of = |provider: &str, id: &str| ModelOptions::of(&tables, &ModelName::new(provider, id));
        assert_eq!(of("openai", "gpt-4o"), options(Some(0.1), Some(1)));
        assert_eq!(of("anthropic", "claude-opus-4-8"), options(Some(0.2), Some(1)));
        assert_eq!(of("anthropic", "claude-haiku-4-5"), options(Some(0.3), Some(1)));
        // The same model at another provider is a different one.
        assert_eq!(of("bedrock", "claude-haiku-4-5"), options(Some(0.2), Some(1)));
    }
}

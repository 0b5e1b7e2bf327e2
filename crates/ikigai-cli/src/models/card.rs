//! Everything there is to say about one model, for people and for programs.

use ikigai_core::catalog::{Facts, Modality, Prices, Rules, Status, ThinkingKind, ThinkingRule, rules_for};
use ikigai_core::provider::Registry;
use ikigai_core::thinking::{LevelValue, thinking_levels};
use ikigai_core::{Dialect, Level, ModelName};
use serde::Serialize;

use crate::levels;
use crate::table::thousands;

/// One model. Unknown facts are absent.
#[derive(Debug, Serialize)]
pub(crate) struct Card<'a> {
    /// As people type it: `anthropic:claude-sonnet-4-5`.
    model: String,
    name: &'a str,
    provider: &'a str,
    provider_name: &'a str,
    id: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<&'a str>,
    dialect: Option<Dialect>,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    released: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retires: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knowledge: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_input: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<u32>,
    prices: Dollars,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tiers: Vec<Tier>,
    input: &'a [Modality],
    output: &'a [Modality],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<bool>,
}

/// How a model thinks, and what the four levels mean for it.
#[derive(Debug, Serialize)]
struct Thinking {
    kind: ThinkingKind,
    /// By the formula.
    levels: Levels,
    /// As sent in a request, for people.
    #[serde(skip)]
    sent: Vec<(Level, String)>,
    #[serde(skip)]
    shows: &'static str,
}

/// What each of the four levels becomes: a budget or a word.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Levels {
    none: LevelValue,
    low: LevelValue,
    med: LevelValue,
    high: LevelValue,
}

/// Prices in dollars per million tokens.
#[derive(Debug, Serialize)]
struct Dollars {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<f64>,
}

/// Prices for prompts above a length.
#[derive(Debug, Serialize)]
struct Tier {
    above: u32,
    prices: Dollars,
}

impl<'a> Card<'a> {
    pub(crate) fn new(facts: &'a Facts, registry: &'a Registry) -> Self {
        let provider = registry.providers.find(&facts.provider);
        let rules = rules_for(&facts.id);
        let rule = &rules.with_facts(facts).thinking;
        let unheard_of = facts.thinking.is_none() && *rules == Rules::default();
        Card {
            model: format!("{}:{}", facts.provider, facts.id),
            name: if facts.name.is_empty() { &facts.id } else { &facts.name },
            provider: &facts.provider,
            provider_name: provider.map_or(&facts.provider, |provider| &provider.name),
            id: &facts.id,
            aliases: facts.names().skip(1).collect(),
            dialect: provider.map(|provider| registry.dialect_for(provider, &facts.id)),
            status: facts.status,
            released: facts.released.as_deref(),
            retires: facts.retires.as_deref(),
            knowledge: facts.knowledge.as_deref(),
            context: facts.context,
            max_input: facts.max_input,
            max_output: facts.max_output,
            prices: facts.prices.into(),
            tiers: facts.tiers.iter().map(|tier| Tier { above: tier.above, prices: tier.prices.into() }).collect(),
            input: &facts.input,
            output: &facts.output,
            thinking: (!unheard_of).then(|| Thinking::of(rule, facts, registry)),
            tools: facts.tools,
            structured_output: facts.structured_output,
            temperature: facts.temperature,
        }
    }

    /// Returns the row for `models list`.
    pub(crate) fn row(&self) -> [String; 7] {
        [
            self.model.clone(),
            or_dash(self.context.map(thousands)),
            or_dash(self.max_output.map(thousands)),
            or_dash(self.prices.input.map(dollars)),
            or_dash(self.prices.output.map(dollars)),
            or_dash(self.thinking.as_ref().map(|thinking| kind(thinking.kind).to_owned())),
            self.status.as_str().to_owned(),
        ]
    }

    /// Returns the lines for `models show`: labels and values.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let tokens = |limit: Option<u32>| limit.map(|limit| format!("{} tokens", thousands(limit)));
        let yes = |answer: Option<bool>| answer.map(|yes| if yes { "yes" } else { "no" }.to_owned());
        let mut lines: Vec<(&'static str, Option<String>)> = vec![
            ("Provider", Some(format!("{} ({})", self.provider_name, self.provider))),
            ("Dialect", self.dialect.map(|dialect| dialect.to_string())),
            ("Status", Some(self.status.as_str().to_owned())),
            ("Released", self.released.map(str::to_owned)),
            ("Retires", self.retires.map(str::to_owned)),
            ("Knowledge", self.knowledge.map(|until| format!("up to {until}"))),
            ("Context", tokens(self.context)),
            ("Longest prompt", tokens(self.max_input)),
            ("Longest answer", tokens(self.max_output)),
            ("Reads", modalities(self.input)),
            ("Writes", modalities(self.output)),
            ("Tools", yes(self.tools)),
            ("Schema output", yes(self.structured_output)),
            ("Temperature", yes(self.temperature)),
            ("Thinking", self.thinking.as_ref().map(Thinking::describe)),
            (
                "Shows thinking",
                self.thinking.as_ref().filter(|of| of.kind != ThinkingKind::None).map(|of| of.shows.to_owned()),
            ),
            ("Also called", (!self.aliases.is_empty()).then(|| self.aliases.join(", "))),
            ("Prices", self.prices.describe().or(Some("not known".to_owned()))),
        ];
        for tier in &self.tiers {
            let prices = tier.prices.describe().unwrap_or_default();
            lines.push(("", Some(format!("above {} tokens of prompt: {prices}", thousands(tier.above)))));
        }
        lines.into_iter().filter_map(|(what, value)| Some((what, value?))).collect()
    }

    /// Returns the heading for `models show`.
    pub(crate) fn heading(&self) -> (&str, &str) {
        (self.name, &self.model)
    }
}

impl Levels {
    pub(crate) fn of(rule: &ThinkingRule) -> Self {
        let [none, low, med, high] = thinking_levels(rule).map(|(_, value)| value);
        Levels { none, low, med, high }
    }
}

impl Thinking {
    fn of(rule: &ThinkingRule, facts: &Facts, registry: &Registry) -> Self {
        // For a provider that cannot be used, nothing would be sent.
        let route = registry.route(&ModelName::new(facts.provider.clone(), facts.id.clone()));
        let sent = route.map_or_else(|_| Vec::new(), |route| levels::sent(&route).into());
        Thinking { kind: rule.kind, levels: Levels::of(rule), sent, shows: levels::visibility(rule) }
    }

    fn describe(&self) -> String {
        if self.kind == ThinkingKind::None {
            return "no".to_owned();
        }
        let levels: Vec<String> = self.sent.iter().map(|(level, value)| format!("{level} = {value}")).collect();
        format!("{}: {}", kind(self.kind), levels.join(", "))
    }
}

impl From<Prices> for Dollars {
    fn from(prices: Prices) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "prices are far below the numbers that a float cannot hold")]
        let dollars = |price: Option<u64>| price.map(|price| price as f64 / 1e6);
        Dollars {
            input: dollars(prices.input),
            output: dollars(prices.output),
            cache_read: dollars(prices.cache_read),
            cache_write: dollars(prices.cache_write),
            thinking: dollars(prices.thinking),
        }
    }
}

impl Dollars {
    /// Lists all known prices, in dollars per million tokens.
    fn describe(&self) -> Option<String> {
        let prices = [
            ("input", self.input),
            ("output", self.output),
            ("cache read", self.cache_read),
            ("cache write", self.cache_write),
            ("thinking", self.thinking),
        ];
        let known: Vec<String> =
            prices.into_iter().filter_map(|(what, price)| Some(format!("{what} ${}", dollars(price?)))).collect();
        (!known.is_empty()).then(|| format!("{} per million tokens", known.join(", ")))
    }
}

/// Formats a price with at least two decimals, or more if it has more.
fn dollars(price: f64) -> String {
    let exact = format!("{price:.6}");
    let short = exact.trim_end_matches('0');
    let places = short.split_once('.').map_or(0, |(_, places)| places.len());
    if places < 2 { format!("{price:.2}") } else { short.to_owned() }
}

fn modalities(list: &[Modality]) -> Option<String> {
    let words: Vec<String> =
        list.iter().filter_map(|modality| serde_json::to_value(modality).ok()?.as_str().map(str::to_owned)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn kind(kind: ThinkingKind) -> &'static str {
    match kind {
        ThinkingKind::None => "-",
        ThinkingKind::Budget => "budget",
        ThinkingKind::Adaptive => "adaptive",
        ThinkingKind::Effort => "effort",
        ThinkingKind::Level => "level",
        ThinkingKind::Toggle => "on/off",
        ThinkingKind::Always => "always",
        _ => "other",
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn prices_have_cents_and_more_where_they_need_it() {
        let shown = [0.0, 3.0, 15.0, 0.3, 1.25, 0.075, 0.0375, 0.000_001].map(dollars);
        assert_eq!(shown, ["0.00", "3.00", "15.00", "0.30", "1.25", "0.075", "0.0375", "0.000001"]);
    }
}

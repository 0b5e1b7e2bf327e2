//! The cost of an answer.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::catalog::{Facts, Money, Prices};
use crate::{Dialect, Part, Usage};

/// The exact cost of an answer, by the kinds of tokens that [`Usage`] counts.
///
/// ```
/// use ikigai_core::Usage;
/// use ikigai_core::catalog::Catalog;
///
/// let sonnet = Catalog::shared().find(None, "claude-sonnet-4-5").unwrap();
/// let mut usage = Usage::new(1000, 500);
/// usage.cache_read_tokens = 2000;
/// let cost = sonnet.cost(&usage).unwrap();
/// assert_eq!((cost.input.to_string(), cost.cache_read.to_string()), ("$0.003000".into(), "$0.000600".into()));
/// assert_eq!(cost.total().to_string(), "$0.011100");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Cost {
    /// The prompt, except for its cached part.
    pub input: Money,
    /// The visible answer.
    pub output: Money,
    /// The thinking, if the provider counts it separately.
    pub thinking: Money,
    /// The part of the prompt read from the cache.
    pub cache_read: Money,
    /// The part of the prompt written to the cache.
    pub cache_write: Money,
    /// The number of calls of the provider's own tools, such as searches. Their prices are unknown: the total omits
    /// them.
    pub unpriced_calls: u64,
}

impl Cost {
    /// Returns the sum of the parts whose prices are known.
    pub fn total(&self) -> Money {
        self.input + self.output + self.thinking + self.cache_read + self.cache_write
    }

    /// Rounds each part to six decimal places, a millionth of a dollar; the total is then the sum of the rounded parts.
    ///
    /// Bills are usually shown this way. To add up costs, add the exact ones and round the sum.
    #[must_use]
    pub fn rounded(&self) -> Cost {
        Cost {
            input: self.input.rounded(),
            output: self.output.rounded(),
            thinking: self.thinking.rounded(),
            cache_read: self.cache_read.rounded(),
            cache_write: self.cache_write.rounded(),
            unpriced_calls: self.unpriced_calls,
        }
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            input: self.input + other.input,
            output: self.output + other.output,
            thinking: self.thinking + other.thinking,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            unpriced_calls: self.unpriced_calls.saturating_add(other.unpriced_calls),
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), Add::add)
    }
}

impl Facts {
    /// Returns the cost of an answer of this model: `None` if the prices are unknown, and zero only if the model is
    /// free.
    ///
    /// - If the prompt is longer than a tier's limit, the tier's prices apply to the whole request.
    /// - Cache reads without their own price cost the same as the prompt, and so do writes. Anthropic's writes for an
    ///   hour cost twice the prompt; their number is given separately in `usage.provider_data.anthropic`, under
    ///   `cache_creation`.
    /// - Thinking without its own price costs the same as the answer.
    ///
    /// The prices are the standard ones for text. Batches, faster or slower service tiers, sound and pictures are not
    /// priced, nor are searches and other provider-run tools: [`Cost::unpriced_calls`] counts those, if the provider
    /// reports them.
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let prices = self.prices_for(usage.prompt_tokens());
        let (input, output) = (prices.input?, prices.output?);
        let hour = hour_writes(usage);
        let writes = Money::of(usage.cache_write_tokens - hour, prices.cache_write.unwrap_or(input));
        Some(Cost {
            input: Money::of(usage.input_tokens, input),
            output: Money::of(usage.output_tokens, output),
            thinking: Money::of(usage.thinking_tokens, prices.thinking.unwrap_or(output)),
            cache_read: Money::of(usage.cache_read_tokens, prices.cache_read.unwrap_or(input)),
            cache_write: writes + Money::of(hour, input.saturating_mul(2)),
            unpriced_calls: usage.provider_calls.values().fold(0, |sum, calls| sum.saturating_add(*calls)),
        })
    }

    /// Returns the prices for a request whose prompt has this many tokens, cached ones included.
    pub fn prices_for(&self, prompt_tokens: u64) -> Prices {
        let reached = self.tiers.iter().filter(|tier| prompt_tokens > u64::from(tier.above));
        reached.max_by_key(|tier| tier.above).map_or(self.prices, |tier| tier.prices.or(self.prices))
    }
}

/// Returns the number of cache writes that are kept for an hour, which Anthropic reports.
fn hour_writes(usage: &Usage) -> u64 {
    let data = &usage.provider_data;
    // In version 1 of the format's JSON, it is among the fields that are read as extra ones.
    let split = [Part::Answer, Part::Extra]
        .into_iter()
        .find_map(|part| data.part(Dialect::Anthropic, part).get("cache_creation"));
    let hour = split.and_then(|split| split.value().get("ephemeral_1h_input_tokens")?.as_u64());
    hour.unwrap_or(0).min(usage.cache_write_tokens)
}

/// The JSON form, with the total for the reader's convenience; it is ignored when read back.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Cost"))]
struct CostJson {
    /// The prompt, except for its cached part.
    input: Money,
    /// The visible answer.
    output: Money,
    /// The thinking, if the provider counts it separately.
    thinking: Money,
    /// The part of the prompt read from the cache.
    cache_read: Money,
    /// The part of the prompt written to the cache.
    cache_write: Money,
    /// The number of calls of the provider's own tools, which have no known price; absent: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    unpriced_calls: u64,
    /// The sum of the parts. Written, not read.
    total: Money,
}

impl Serialize for Cost {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Cost { input, output, thinking, cache_read, cache_write, unpriced_calls } = *self;
        let total = self.total();
        CostJson { input, output, thinking, cache_read, cache_write, unpriced_calls, total }.serialize(to)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Cost {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cost".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        CostJson::json_schema(generator)
    }
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;

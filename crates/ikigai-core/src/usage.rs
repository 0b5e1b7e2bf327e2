//! Token counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Loss, LossCode, Part, ProviderData, ProviderTool};

/// The number of tokens that an answer used. The counts do not overlap, so their sum is the total.
///
/// ```
/// use ikigai_core::Usage;
///
/// let mut usage = Usage::new(50, 100);
/// usage.thinking_tokens = 20;
/// usage.cache_read_tokens = 10;
/// assert_eq!((usage.cached_tokens(), usage.total_tokens()), (10, 180));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Prompt tokens, without the cached ones.
    pub input_tokens: u64,
    /// Answer tokens, without thinking if the provider counts it separately.
    pub output_tokens: u64,
    /// Thinking tokens, if the provider reports them.
    pub thinking_tokens: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// How often the provider ran its own tools, if it reports that.
    pub provider_calls: BTreeMap<ProviderTool, u64>,
    /// Data that only one dialect has: service tier, counts by modality, its own total if that differs.
    pub provider_data: ProviderData,
}

impl Usage {
    /// Creates usage from the counts that every provider reports: prompt tokens and answer tokens.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    /// Returns the sum of cache reads and writes.
    pub fn cached_tokens(&self) -> u64 {
        self.cache_read_tokens.saturating_add(self.cache_write_tokens)
    }

    /// Returns the tokens of the whole prompt: uncached, read from the cache and written to it.
    pub fn prompt_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.cached_tokens())
    }

    /// Returns the tokens of the whole answer: the visible part and the thinking.
    pub fn completion_tokens(&self) -> u64 {
        self.output_tokens.saturating_add(self.thinking_tokens)
    }

    /// Returns the sum of all counts.
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens().saturating_add(self.completion_tokens())
    }

    /// Returns the provider's own total, if it reported one that is not the sum of the counts.
    pub(crate) fn own_total(&self) -> Option<u64> {
        let own = self.provider_data.parts(Part::Answer).find_map(|(_, fields)| {
            let names = ["total_tokens", "totalTokenCount", "totalTokens"];
            names.into_iter().find_map(|name| fields.get(name))?.to::<u64>().ok()
        });
        own.filter(|total| *total != self.total_tokens())
    }

    /// Returns a warning if the provider's own total is not the sum of the counts.
    pub(crate) fn inconsistency(&self) -> Option<Loss> {
        let why = format!("the provider says {}, the counts add up to {}", self.own_total()?, self.total_tokens());
        Some(Loss::info(LossCode::Inconsistent, "usage", "usage.total_tokens", why))
    }

    /// Adds up the counts of both. Data that only one dialect has cannot be added up: that of the later one is used.
    ///
    /// ```
    /// use ikigai_core::Usage;
    ///
    /// let (first, second) = (Usage::new(50, 100), Usage::new(160, 5));
    /// assert_eq!(first.and(&second).total_tokens(), 315);
    /// ```
    #[must_use]
    pub fn and(&self, later: &Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(later.input_tokens),
            output_tokens: self.output_tokens.saturating_add(later.output_tokens),
            thinking_tokens: self.thinking_tokens.saturating_add(later.thinking_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(later.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(later.cache_write_tokens),
            provider_calls: self.calls_and(later),
            provider_data: later.provider_data.clone(),
        }
    }

    fn calls_and(&self, later: &Usage) -> BTreeMap<ProviderTool, u64> {
        let mut calls = self.provider_calls.clone();
        for (tool, count) in &later.provider_calls {
            let sum = calls.entry(*tool).or_default();
            *sum = sum.saturating_add(*count);
        }
        calls
    }
}

/// The JSON form, with the derived sums for the reader's convenience; they are ignored when read back.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Usage"))]
struct UsageJson<'a> {
    /// Prompt tokens, without the cached ones.
    input_tokens: u64,
    /// Answer tokens, without thinking if the provider counts it separately.
    output_tokens: u64,
    /// Thinking tokens, if the provider reports them.
    thinking_tokens: u64,
    /// The sum of `cache_read_tokens` and `cache_write_tokens`. Written, not read.
    cached_tokens: u64,
    /// Prompt tokens read from the provider's cache.
    cache_read_tokens: u64,
    /// Prompt tokens written to the provider's cache.
    cache_write_tokens: u64,
    /// The sum of all counts. Written, not read.
    total_tokens: u64,
    /// How often the provider ran its own tools, if it reports that.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    provider_calls: &'a BTreeMap<ProviderTool, u64>,
    /// Data that only one dialect has.
    #[serde(skip_serializing_if = "ProviderData::is_empty")]
    provider_data: &'a ProviderData,
}

impl Serialize for Usage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        UsageJson {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            thinking_tokens: self.thinking_tokens,
            cached_tokens: self.cached_tokens(),
            cache_read_tokens: self.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens,
            total_tokens: self.total_tokens(),
            provider_calls: &self.provider_calls,
            provider_data: &self.provider_data,
        }
        .serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Usage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usage".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = UsageJson::json_schema(generator);
        // All counts are written, but a reader takes an absent one for zero.
        schema.remove("required");
        schema
    }
}

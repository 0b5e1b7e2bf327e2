//! The format in which models.dev publishes its catalogue, `api.json`. Fields that we have no use for are skipped.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::facts::{Modality, Prices, Status, TierPrices, dollars};
use super::row::Row;

/// The whole file: providers by id.
pub(super) type ApiJson = BTreeMap<String, ApiProvider>;

#[derive(Debug, Deserialize)]
pub(super) struct ApiProvider {
    #[serde(default)]
    pub(super) models: BTreeMap<String, ApiModel>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ApiModel {
    name: Option<String>,
    reasoning: Option<bool>,
    tool_call: Option<bool>,
    structured_output: Option<bool>,
    temperature: Option<bool>,
    knowledge: Option<String>,
    release_date: Option<String>,
    modalities: Option<Modalities>,
    cost: Option<Cost>,
    limit: Option<Limit>,
    status: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Modalities {
    input: Vec<String>,
    output: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Limit {
    context: Option<f64>,
    input: Option<f64>,
    output: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    #[serde(deserialize_with = "dollars::deserialize")]
    input: Option<u64>,
    #[serde(deserialize_with = "dollars::deserialize")]
    output: Option<u64>,
    #[serde(deserialize_with = "dollars::deserialize")]
    cache_read: Option<u64>,
    #[serde(deserialize_with = "dollars::deserialize")]
    cache_write: Option<u64>,
    #[serde(deserialize_with = "dollars::deserialize")]
    reasoning: Option<u64>,
    context_over_200k: Option<Box<Cost>>,
    tiers: Option<Vec<Tier>>,
}

#[derive(Debug, Deserialize)]
struct Tier {
    tier: Size,
    #[serde(default, deserialize_with = "dollars::deserialize")]
    input: Option<u64>,
    #[serde(default, deserialize_with = "dollars::deserialize")]
    output: Option<u64>,
    #[serde(default, deserialize_with = "dollars::deserialize")]
    cache_read: Option<u64>,
    #[serde(default, deserialize_with = "dollars::deserialize")]
    cache_write: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Size {
    size: u32,
}

impl From<ApiModel> for Row {
    fn from(model: ApiModel) -> Row {
        let limit = model.limit.unwrap_or_default();
        let modalities = model.modalities.unwrap_or_default();
        let cost = model.cost.unwrap_or_default();
        Row {
            name: model.name.map(Cow::Owned),
            released: model.release_date.map(Cow::Owned),
            knowledge: model.knowledge.map(Cow::Owned),
            context: tokens(limit.context),
            max_input: tokens(limit.input),
            max_output: tokens(limit.output),
            prices: cost.prices(),
            tiers: cost.tiers(),
            input: words(&modalities.input),
            output: words(&modalities.output),
            thinking: model.reasoning,
            tools: model.tool_call,
            structured_output: model.structured_output,
            temperature: model.temperature,
            status: model.status.as_deref().map(|status| match status {
                "alpha" | "beta" => Status::Preview,
                "deprecated" => Status::Deprecated,
                _ => Status::Active,
            }),
            ..Row::default()
        }
    }
}

impl Cost {
    fn prices(&self) -> Prices {
        Prices {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            // A price equal to the answer's need not be repeated.
            thinking: self.reasoning.filter(|price| Some(*price) != self.output),
        }
    }

    /// Returns the list of tiers; older files have one tier under a separate name.
    fn tiers(&self) -> Option<Vec<TierPrices>> {
        let old = self.context_over_200k.as_ref().map(|cost| TierPrices { above: 200_000, prices: cost.prices() });
        let new = self.tiers.iter().flatten().map(|tier| TierPrices {
            above: tier.tier.size,
            prices: Prices {
                input: tier.input,
                output: tier.output,
                cache_read: tier.cache_read,
                cache_write: tier.cache_write,
                thinking: None,
            },
        });
        let mut tiers: Vec<TierPrices> = new.collect();
        if let Some(old) = old.filter(|old| tiers.iter().all(|tier| tier.above != old.above)) {
            tiers.push(old);
        }
        (!tiers.is_empty()).then_some(tiers)
    }
}

/// Returns a number of tokens; the file writes an unknown one as zero.
fn tokens(number: Option<f64>) -> Option<u32> {
    number.filter(|number| *number >= 1.0 && *number <= f64::from(u32::MAX)).map(|number| number as u32)
}

/// Returns the known modalities; others are skipped.
fn words(words: &[String]) -> Option<Vec<Modality>> {
    let known = |word: &String| match word.as_str() {
        "text" => Some(Modality::Text),
        "image" => Some(Modality::Image),
        "pdf" => Some(Modality::Pdf),
        "audio" => Some(Modality::Audio),
        "video" => Some(Modality::Video),
        _ => None,
    };
    let words: Vec<Modality> = words.iter().filter_map(known).collect();
    (!words.is_empty()).then_some(words)
}

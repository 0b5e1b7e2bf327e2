//! What is known about one model of one provider.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What is known about one model of one provider. A field that nobody knows is absent, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Facts {
    /// The provider's id.
    #[serde(default)]
    pub provider: Cow<'static, str>,
    /// The model's id on the wire.
    #[serde(default)]
    pub id: Cow<'static, str>,
    /// Its name for people.
    #[serde(default)]
    pub name: Cow<'static, str>,
    /// Other ids of the same model.
    #[serde(default)]
    pub aliases: Cow<'static, [Cow<'static, str>]>,
    /// The day it came out, `2025-09-29`.
    #[serde(default)]
    pub released: Option<Cow<'static, str>>,
    /// Up to when its training data goes.
    #[serde(default)]
    pub knowledge: Option<Cow<'static, str>>,
    /// The window: prompt and answer together, in tokens.
    #[serde(default)]
    pub context: Option<u32>,
    /// The longest prompt, where that is less than the window.
    #[serde(default)]
    pub max_input: Option<u32>,
    /// The longest answer, thinking included.
    #[serde(default)]
    pub max_output: Option<u32>,
    /// What it costs.
    #[serde(default)]
    pub prices: Prices,
    /// Prices for long prompts, shortest first.
    #[serde(default)]
    pub tiers: Cow<'static, [TierPrices]>,
    /// What it reads.
    #[serde(default)]
    pub input: Cow<'static, [Modality]>,
    /// What it writes.
    #[serde(default)]
    pub output: Cow<'static, [Modality]>,
    /// Does it think?
    #[serde(default)]
    pub thinking: Option<bool>,
    /// The efforts that its provider lists for it, where it lists any.
    #[serde(default)]
    pub efforts: Cow<'static, [crate::Level]>,
    /// Does it call tools?
    #[serde(default)]
    pub tools: Option<bool>,
    /// Can it be held to a JSON Schema?
    #[serde(default)]
    pub structured_output: Option<bool>,
    /// Does it take a temperature?
    #[serde(default)]
    pub temperature: Option<bool>,
    /// Is it new, old or gone?
    #[serde(default)]
    pub status: Status,
}

/// Prices in pico-dollars a token, which is the same as micro-dollars a million tokens: 3 dollars a million is
/// 3,000,000. Integers, so that sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    /// A prompt token.
    pub input: Option<u64>,
    /// An answer token.
    pub output: Option<u64>,
    /// A prompt token read from the cache.
    pub cache_read: Option<u64>,
    /// A prompt token written to the cache.
    pub cache_write: Option<u64>,
    /// A thinking token, where it differs from an answer token.
    pub thinking: Option<u64>,
}

/// Prices that hold for the whole request when its prompt is longer than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierPrices {
    /// The prompt length above which they hold.
    pub above: u32,
    /// The prices; one that is absent stays as it is without the tier.
    pub prices: Prices,
}

/// A kind of content that a model reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the words say it")]
pub enum Modality {
    Text,
    Image,
    Pdf,
    Audio,
    Video,
    Embedding,
}

/// Is a model new, old or gone?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In service.
    #[default]
    Active,
    /// A preview that may change.
    Preview,
    /// Still there, but on its way out.
    Deprecated,
    /// No longer served.
    Retired,
}

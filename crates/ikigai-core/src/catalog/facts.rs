//! Facts about one model of one provider.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Dialect, Level};

/// Facts about one model of one provider. An unknown field is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Facts {
    /// The provider's id.
    #[serde(default)]
    pub provider: Cow<'static, str>,
    /// The model's id on the wire.
    #[serde(default)]
    pub id: Cow<'static, str>,
    /// Its display name.
    #[serde(default)]
    pub name: Cow<'static, str>,
    /// Other ids of the same model that its provider also accepts.
    #[serde(default)]
    pub aliases: Cow<'static, [Cow<'static, str>]>,
    /// Names that people use but the provider does not accept; `id` is sent instead.
    #[serde(default)]
    pub nicknames: Cow<'static, [Cow<'static, str>]>,
    /// The dialect required to reach it, if that is not its provider's own.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// The release date: `2025-09-29`.
    #[serde(default)]
    pub released: Option<Cow<'static, str>>,
    /// The announced date of its shutdown.
    #[serde(default)]
    pub retires: Option<Cow<'static, str>>,
    /// The end of its training data.
    #[serde(default)]
    pub knowledge: Option<Cow<'static, str>>,
    /// The context window: prompt and answer together, in tokens.
    #[serde(default)]
    pub context: Option<u32>,
    /// The longest prompt, if that is shorter than the window.
    #[serde(default)]
    pub max_input: Option<u32>,
    /// The longest answer, thinking included.
    #[serde(default)]
    pub max_output: Option<u32>,
    /// Its prices.
    #[serde(default)]
    pub prices: Prices,
    /// Prices for long prompts, by prompt length, shortest first.
    #[serde(default)]
    pub tiers: Cow<'static, [TierPrices]>,
    /// The kinds of content it reads.
    #[serde(default)]
    pub input: Cow<'static, [Modality]>,
    /// The kinds of content it writes.
    #[serde(default)]
    pub output: Cow<'static, [Modality]>,
    /// Whether it thinks.
    #[serde(default)]
    pub thinking: Option<bool>,
    /// The efforts that its provider lists for it.
    #[serde(default)]
    pub efforts: Cow<'static, [Level]>,
    /// Whether it calls tools.
    #[serde(default)]
    pub tools: Option<bool>,
    /// Whether its answers can follow a JSON Schema.
    #[serde(default)]
    pub structured_output: Option<bool>,
    /// Whether it accepts a temperature.
    #[serde(default)]
    pub temperature: Option<bool>,
    /// Whether it is in service.
    #[serde(default)]
    pub status: Status,
}

impl Facts {
    /// Creates facts about a model of which only the id is known so far.
    /// [`Catalog::with_model`](crate::catalog::Catalog::with_model) adds them to a catalogue.
    ///
    /// ```
    /// use ikigai_core::catalog::{Facts, Modality, Prices};
    ///
    /// let facts = Facts::new("home", "my-model")
    ///     .context(128_000)
    ///     .max_output(8_192)
    ///     .reads([Modality::Text, Modality::Image])
    ///     .writes([Modality::Text])
    ///     .calls_tools()
    ///     .prices(Prices::per_million(3.0, 15.0));
    /// assert_eq!((facts.tools, facts.prices.output), (Some(true), Some(15_000_000)));
    /// ```
    pub fn new(provider: impl Into<Cow<'static, str>>, id: impl Into<Cow<'static, str>>) -> Self {
        Facts { provider: provider.into(), id: id.into(), ..Facts::default() }
    }

    /// Sets its display name.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the context window: prompt and answer together, in tokens.
    #[must_use]
    pub fn context(mut self, tokens: u32) -> Self {
        self.context = Some(tokens);
        self
    }

    /// Sets the longest answer, thinking included.
    #[must_use]
    pub fn max_output(mut self, tokens: u32) -> Self {
        self.max_output = Some(tokens);
        self
    }

    /// Sets its prices.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Sets the kinds of content it reads.
    #[must_use]
    pub fn reads(mut self, modalities: impl Into<Vec<Modality>>) -> Self {
        self.input = Cow::Owned(modalities.into());
        self
    }

    /// Sets the kinds of content it writes.
    #[must_use]
    pub fn writes(mut self, modalities: impl Into<Vec<Modality>>) -> Self {
        self.output = Cow::Owned(modalities.into());
        self
    }

    /// Records that it calls tools.
    #[must_use]
    pub fn calls_tools(mut self) -> Self {
        self.tools = Some(true);
        self
    }

    /// Records that it thinks, with these efforts; if the list is empty, it decides how much to think.
    #[must_use]
    pub fn thinks(mut self, efforts: impl Into<Vec<Level>>) -> Self {
        self.thinking = Some(true);
        self.efforts = Cow::Owned(efforts.into());
        self
    }
}

/// Prices in pico-dollars per token, which is the same as micro-dollars per million tokens: 3 dollars per million is
/// 3,000,000. They are integers, so that sums are exact.
///
/// In files and in JSON they are dollars per million tokens, as in price lists:
///
/// ```
/// use ikigai_core::catalog::Prices;
///
/// let prices: Prices = serde_json::from_str(r#"{"input": 3, "output": 15.0, "cache_read": 0.3}"#).unwrap();
/// assert_eq!(prices.cache_read, Some(300_000));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Prices {
    /// The price of a prompt token.
    #[serde(with = "dollars", skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// The price of an answer token.
    #[serde(with = "dollars", skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The price of a prompt token read from the cache.
    #[serde(with = "dollars", skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// The price of a prompt token written to the cache.
    #[serde(with = "dollars", skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The price of a thinking token, if it differs from an answer token.
    #[serde(with = "dollars", skip_serializing_if = "Option::is_none")]
    pub thinking: Option<u64>,
}

impl Prices {
    /// Creates prices from dollars per million tokens. A price that is negative or not a number is left unknown.
    pub fn per_million(input: f64, output: f64) -> Prices {
        Prices { input: dollars::pico(input).ok(), output: dollars::pico(output).ok(), ..Prices::default() }
    }

    /// Fills absent prices with those of `below`.
    #[must_use]
    pub fn or(self, below: Prices) -> Prices {
        Prices {
            input: self.input.or(below.input),
            output: self.output.or(below.output),
            cache_read: self.cache_read.or(below.cache_read),
            cache_write: self.cache_write.or(below.cache_write),
            thinking: self.thinking.or(below.thinking),
        }
    }
}

/// Dollars per million tokens on the outside; pico-dollars per token on the inside.
pub(super) mod dollars {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Any higher price is a misplaced decimal point.
    const MOST: f64 = 1e9;

    pub(crate) fn serialize<S: Serializer>(price: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
        match price {
            Some(price) => to.serialize_f64(*price as f64 / 1e6),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
        Option::<f64>::deserialize(from)?.map(pico).transpose().map_err(D::Error::custom)
    }

    /// Converts dollars per million tokens to pico-dollars per token, rounded to the nearest.
    pub(crate) fn pico(dollars: f64) -> Result<u64, String> {
        if (0.0..=MOST).contains(&dollars) {
            Ok((dollars * 1e6).round() as u64)
        } else {
            Err(format!("a price is between 0 and {MOST} dollars a million tokens, not {dollars}"))
        }
    }
}

/// Prices that apply to the whole request if its prompt exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TierPrices {
    /// The prompt length above which they apply.
    pub above: u32,
    /// The prices; an absent one is the same as without the tier.
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

/// Whether a model is in service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// In service.
    #[default]
    Active,
    /// A preview that may change.
    Preview,
    /// In service, but not for long.
    Deprecated,
    /// No longer served.
    Retired,
}

impl Status {
    /// Returns the status as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Preview => "preview",
            Status::Deprecated => "deprecated",
            Status::Retired => "retired",
        }
    }
}

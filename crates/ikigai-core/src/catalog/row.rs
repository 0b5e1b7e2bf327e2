//! A model in a user's file, with only the fields that the file gives.

use std::borrow::Cow;

use serde::Deserialize;

use super::facts::{Facts, Modality, Prices, Status, TierPrices};
use crate::catalog::rows::list;
use crate::{Dialect, Level};

type Text = Cow<'static, str>;

/// A file's fields for a model. They are those of [`Facts`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Row {
    pub(super) name: Option<Text>,
    #[serde(deserialize_with = "given_list")]
    pub(super) aliases: Option<Cow<'static, [Text]>>,
    #[serde(deserialize_with = "given_list")]
    pub(super) nicknames: Option<Cow<'static, [Text]>>,
    pub(super) dialect: Option<Dialect>,
    pub(super) released: Option<Text>,
    pub(super) retires: Option<Text>,
    pub(super) knowledge: Option<Text>,
    pub(super) context: Option<u32>,
    pub(super) max_input: Option<u32>,
    pub(super) max_output: Option<u32>,
    pub(super) prices: Prices,
    pub(super) tiers: Option<Vec<TierPrices>>,
    pub(super) input: Option<Vec<Modality>>,
    pub(super) output: Option<Vec<Modality>>,
    pub(super) thinking: Option<bool>,
    pub(super) efforts: Option<Vec<Level>>,
    pub(super) tools: Option<bool>,
    pub(super) structured_output: Option<bool>,
    pub(super) temperature: Option<bool>,
    pub(super) status: Option<Status>,
}

fn given_list<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Cow<'static, [Text]>>, D::Error> {
    list(from).map(Some)
}

impl Row {
    /// Overlays this row on the facts below it. Other names are adopted only if the id is exactly the same.
    pub(super) fn onto(self, below: Option<&Facts>, provider: &str, id: &str) -> Facts {
        let below = below.cloned().unwrap_or_default();
        let same = below.id == id;
        let names =
            |own: Option<Cow<'static, [Text]>>, below| own.unwrap_or(if same { below } else { Cow::Borrowed(&[]) });
        let tiers = self.tiers.map(|mut tiers| {
            tiers.sort_by_key(|tier| tier.above);
            Cow::Owned(tiers)
        });
        Facts {
            provider: Cow::Owned(provider.to_owned()),
            id: Cow::Owned(id.to_owned()),
            name: self.name.unwrap_or(below.name),
            aliases: names(self.aliases, below.aliases),
            nicknames: names(self.nicknames, below.nicknames),
            dialect: self.dialect.or(below.dialect),
            released: self.released.or(below.released),
            retires: self.retires.or(below.retires),
            knowledge: self.knowledge.or(below.knowledge),
            context: self.context.or(below.context),
            max_input: self.max_input.or(below.max_input),
            max_output: self.max_output.or(below.max_output),
            prices: self.prices.or(below.prices),
            tiers: tiers.unwrap_or(below.tiers),
            input: self.input.map_or(below.input, Cow::Owned),
            output: self.output.map_or(below.output, Cow::Owned),
            thinking: self.thinking.or(below.thinking),
            efforts: self.efforts.map_or(below.efforts, Cow::Owned),
            tools: self.tools.or(below.tools),
            structured_output: self.structured_output.or(below.structured_output),
            temperature: self.temperature.or(below.temperature),
            status: self.status.unwrap_or(below.status),
        }
    }
}

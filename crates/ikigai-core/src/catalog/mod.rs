//! Facts about models: limits, prices, and what each family takes on the wire.

mod built_in;
mod facts;
mod hash;
mod lookup;
mod models_dev;
mod row;
mod rules;

pub use facts::{Facts, Modality, Prices, Status, TierPrices};
pub(crate) use lookup::Bare;
pub use lookup::Catalog;
pub use rules::{Display, ForcedTools, Off, Rules, Sampling, ThinkingKind, ThinkingRule};

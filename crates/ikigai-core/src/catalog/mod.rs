//! Facts about models: limits, prices, and what each family takes on the wire.

mod facts;
mod rules;

pub use facts::{Facts, Modality, Prices, Status, TierPrices};
pub use rules::{Display, ForcedTools, Off, Rules, Sampling, ThinkingKind, ThinkingRule};

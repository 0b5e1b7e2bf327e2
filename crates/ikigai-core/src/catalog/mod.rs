//! Facts about models: limits, prices, and what each family takes on the wire.

mod facts;
mod families;
mod rules;

pub use facts::{Facts, Modality, Prices, Status, TierPrices};
pub use families::rules_for;
pub use rules::{
    BoundState, Display, ForcedTools, Off, Rules, Sampling, Shown, ThinkingKind, ThinkingRule, ToolsInChat,
};

//! Facts about models: limits, prices, and what each family accepts on the wire.

mod built_in;
mod cost;
mod facts;
mod families;
mod hash;
mod lookup;
#[cfg(feature = "files")]
mod models_dev;
mod money;
pub(crate) mod packed;
#[cfg(feature = "files")]
mod row;
pub(crate) mod rows;
mod rules;

pub use cost::Cost;
pub use facts::{Facts, Modality, Prices, Status, TierPrices};
pub use families::rules_for;
pub(crate) use lookup::Bare;
pub use lookup::Catalog;
pub use money::{Money, NotMoney};
pub use rows::FileError;
#[cfg(feature = "files")]
pub use rows::from_toml;
pub use rules::{
    ConverseFields, Drawing, ForcedTools, Rules, Sampling, StateScope, ThinkingDetail, ThinkingDisplay, ThinkingKind,
    ThinkingOff, ThinkingRule, ToolsInChat,
};

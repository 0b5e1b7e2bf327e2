//! The formula for levels, and the table of levels that follows from it.

use serde::Serialize;

use super::plan::{least, nearest};
use crate::Level;
use crate::catalog::{ThinkingKind, ThinkingOff, ThinkingRule, rules_for};

/// Returns the budget of a level: `min + n * (max - min) / 3` in whole tokens, with n from 0 for none to 3 for high.
///
/// Returns `None` if the model has no budgets. This is the formula, not what is sent: here `none` is the smallest
/// budget, while a request turns thinking off if the model can. [`ThinkingPlan`](crate::thinking::ThinkingPlan) says
/// what is sent.
///
/// ```
/// use ikigai_core::Level;
/// use ikigai_core::catalog::rules_for;
/// use ikigai_core::thinking::thinking_budget;
///
/// let sonnet = &rules_for("claude-sonnet-4-5").thinking;
/// assert_eq!(thinking_budget(sonnet, Level::Med), Some(43_008));
/// ```
pub fn thinking_budget(rule: &ThinkingRule, level: Level) -> Option<i64> {
    let thirds = match level {
        Level::None | Level::Minimal => 0,
        Level::Low => 1,
        Level::Med => 2,
        Level::High | Level::Xhigh | Level::Max => 3,
    };
    (rule.max != 0).then(|| rule.min + thirds * (rule.max - rule.min) / 3)
}

/// The meaning of a level for a model in [`thinking_table`]. In JSON: a number, a string, or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LevelValue {
    /// A budget in tokens; -1 if the model's range is unknown.
    Budget(i64),
    /// A word: the effort or level that the API accepts, or `off` and `on`.
    Word(&'static str),
    /// Nothing: the model does not think.
    Nothing,
}

/// Returns what the four levels mean for a model: a budget or a word each.
///
/// ```
/// use ikigai_core::Level;
/// use ikigai_core::thinking::{LevelValue, thinking_table};
///
/// assert_eq!(thinking_table("o3-mini")[0], (Level::None, LevelValue::Word("medium")));
/// ```
pub fn thinking_table(model: &str) -> [(Level, LevelValue); 4] {
    thinking_levels(&rules_for(model).thinking)
}

/// Returns what the four levels mean under a rule, which may depend on more than a model's name.
pub fn thinking_levels(rule: &ThinkingRule) -> [(Level, LevelValue); 4] {
    [Level::None, Level::Low, Level::Med, Level::High].map(|level| (level, value(rule, level)))
}

fn value(rule: &ThinkingRule, level: Level) -> LevelValue {
    let budgets = rule.table_of_budgets || rule.max < 0 || rule.kind == ThinkingKind::Budget;
    if budgets && let Some(budget) = thinking_budget(rule, level) {
        return LevelValue::Budget(budget);
    }
    let taken = match level {
        Level::None => least(rule),
        level => nearest(rule, level),
    };
    let word = match (rule.kind, level, taken) {
        (ThinkingKind::None, ..) => None,
        (ThinkingKind::Always, ..) => Some("on"),
        (ThinkingKind::Effort, Level::None, _) if rule.off != ThinkingOff::Impossible => Some("none"),
        (_, Level::None, _) if rule.off == ThinkingOff::BetweenTools => Some("between_tools"),
        (_, Level::None, _) if rule.off != ThinkingOff::Impossible => Some("off"),
        (ThinkingKind::Toggle, ..) => Some("on"),
        (ThinkingKind::Level, _, taken) => taken.map(Level::capitals),
        (ThinkingKind::Budget | ThinkingKind::Adaptive | ThinkingKind::Effort, _, taken) => taken.map(Level::effort),
    };
    word.map_or(LevelValue::Nothing, LevelValue::Word)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;

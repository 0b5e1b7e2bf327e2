//! Converts a request's thinking settings to what one model accepts.

use super::table::thinking_budget;
use crate::catalog::{ThinkingKind, ThinkingOff, ThinkingRule};
use crate::{Level, Loss, LossCode, Thinking};

/// The reason given when a model cannot turn thinking off.
const CANNOT_DISABLE: &str = "This model does not support disabling thinking";

/// The thinking settings for one model: a setting that its API accepts, and what was lost.
///
/// [`ThinkingPlan`](super::ThinkingPlan) is the complete plan, including the API and the output limit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// What to send.
    pub(crate) setting: Setting,
    /// Levels that the model lacks, and thinking that cannot be turned off.
    pub(crate) losses: Vec<Loss>,
}

/// What to send about thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Nothing.
    Unsaid,
    /// Off, in the way that [`ThinkingOff`] specifies.
    Off,
    /// A budget in tokens, at least the model's minimum (or -1, if the model accepts that and the caller asked for it).
    /// A budget that comes from a level may exceed the longest answer.
    Budget(i64),
    /// A level that the model has.
    Level(Level),
    /// On, for models with nothing between on and off, and for adaptive ones that should choose the effort themselves.
    On,
}

/// Returns what to send for these settings. `max_output` is the model's longest answer, if known: it limits explicit
/// budgets, and where only efforts are accepted, an effort is chosen by the budget's share of it.
pub(crate) fn plan(thinking: &Thinking, rule: &ThinkingRule, max_output: Option<u32>) -> Plan {
    let mut losses = Vec::new();
    let setting = match (thinking.budget, thinking.level) {
        (None, None) => Setting::Unsaid,
        (None, Some(Level::None)) | (Some(0), _) => off(rule, &mut losses),
        (None, Some(level)) => by_level(rule, level, &mut losses),
        (Some(tokens), _) if tokens > 0 => by_budget(rule, tokens, max_output, &mut losses),
        (Some(_), level) => own_choice(rule, level, &mut losses),
    };
    Plan { setting, losses }
}

/// Returns the level whose budget is closest to an explicit one; the lower of two that are equally close.
///
/// The smallest budget is `none` only for a model that cannot turn thinking off; otherwise it is `minimal`, because the
/// model does think. Models without budgets are measured against the range that is usual for models with budgets.
pub(crate) fn nearest_level(rule: &ThinkingRule, budget: i64) -> Level {
    if budget <= 0 {
        return Level::None;
    }
    let usual = ThinkingRule { min: 1024, max: 64_000, ..ThinkingRule::default() };
    let measure = if rule.max > 0 { rule } else { &usual };
    let levels = [Level::Minimal, Level::Low, Level::Med, Level::High];
    let distance =
        |level: &Level| thinking_budget(measure, *level).map_or(i64::MAX, |of_level| (of_level - budget).abs());
    match levels.into_iter().min_by_key(distance) {
        Some(Level::Minimal) if rule.off == ThinkingOff::Impossible && budget <= rule.min => Level::None,
        Some(level) => level,
        None => Level::Low,
    }
}

fn off(rule: &ThinkingRule, losses: &mut Vec<Loss>) -> Setting {
    let possible = rule.off != ThinkingOff::Impossible;
    let least = least(rule);
    let (setting, sent) = match (rule.kind, least) {
        (ThinkingKind::None, _) => return Setting::Unsaid,
        (ThinkingKind::Always, _) => (Setting::Unsaid, "nothing is sent".to_owned()),
        _ if possible => return Setting::Off,
        (ThinkingKind::Budget, _) => (Setting::Budget(rule.min), format!("its least budget of {} is sent", rule.min)),
        (ThinkingKind::Level, Some(Level::Minimal)) => {
            losses.push(Loss::info(
                LossCode::RefusedByModel,
                "thinking",
                "thinking.level",
                "this model may still think a little at its least level, MINIMAL",
            ));
            return Setting::Level(Level::Minimal);
        }
        (ThinkingKind::Level, Some(level)) => (Setting::Level(level), format!("{} is sent", level.capitals())),
        (ThinkingKind::Adaptive | ThinkingKind::Effort, Some(level)) => {
            (Setting::Level(level), format!("the effort {} is sent", level.effort()))
        }
        (ThinkingKind::Toggle, _) => (Setting::On, "it stays on".to_owned()),
        (ThinkingKind::Level | ThinkingKind::Adaptive | ThinkingKind::Effort, None) => {
            (Setting::Unsaid, "nothing is sent".to_owned())
        }
    };
    losses.push(Loss::new(LossCode::RefusedByModel, "thinking", "thinking.level", format!("{CANNOT_DISABLE}; {sent}")));
    setting
}

fn by_level(rule: &ThinkingRule, level: Level, losses: &mut Vec<Loss>) -> Setting {
    let place = "thinking.level";
    match rule.kind {
        ThinkingKind::None => {
            losses.push(Loss::new(
                LossCode::RefusedByModel,
                "thinking",
                place,
                "this model is not known to think; nothing is sent",
            ));
            Setting::Unsaid
        }
        ThinkingKind::Budget => {
            if level > Level::High {
                losses.push(Loss::new(
                    LossCode::RefusedByModel,
                    "thinking",
                    place,
                    format!("this model has no level {level}; high is sent"),
                ));
            }
            match thinking_budget(rule, level) {
                Some(0) => {
                    let why = format!("this model has nothing between off and low; it is off for {level}");
                    losses.push(Loss::new(LossCode::RefusedByModel, "thinking", place, why));
                    Setting::Off
                }
                Some(budget) => Setting::Budget(budget),
                None => Setting::Unsaid,
            }
        }
        ThinkingKind::Adaptive | ThinkingKind::Effort | ThinkingKind::Level => {
            let Some(taken) = nearest(rule, level) else { return Setting::Unsaid };
            if taken != level && rule.meaning(level) != Some(taken) {
                losses.push(Loss::new(
                    LossCode::RefusedByModel,
                    "thinking",
                    place,
                    format!("this model has no level {level}; {taken} is sent"),
                ));
            }
            Setting::Level(taken)
        }
        ThinkingKind::Toggle => {
            losses.push(Loss::info(
                LossCode::RefusedByModel,
                "thinking",
                place,
                format!("thinking can only be on or off for this model; {level} is on"),
            ));
            Setting::On
        }
        ThinkingKind::Always => {
            losses.push(Loss::info(
                LossCode::RefusedByModel,
                "thinking",
                place,
                "this model always thinks, as much as it chooses; nothing is sent",
            ));
            Setting::Unsaid
        }
    }
}

fn by_budget(rule: &ThinkingRule, tokens: i64, max_output: Option<u32>, losses: &mut Vec<Loss>) -> Setting {
    let place = "thinking.budget";
    if rule.takes_budgets() {
        let greatest = greatest(rule, max_output);
        let taken = clamped(rule, tokens, max_output);
        if taken != tokens {
            losses.push(Loss::new(
                LossCode::RefusedByModel,
                "thinking",
                place,
                format!("this model accepts budgets from {} to {greatest}; {taken} is sent", rule.min),
            ));
        }
        return Setting::Budget(taken);
    }
    let level = match rule.kind {
        ThinkingKind::Effort if rule.max <= 0 => share(tokens, max_output),
        _ => nearest_level(rule, tokens).max(Level::Minimal),
    };
    let (setting, sent) = match (rule.kind, nearest(rule, level)) {
        (ThinkingKind::Adaptive | ThinkingKind::Effort | ThinkingKind::Level, Some(taken)) => (
            Setting::Level(taken),
            format!("this model accepts levels, not budgets; {taken} is sent for {tokens} tokens"),
        ),
        (ThinkingKind::Toggle, _) => {
            (Setting::On, "thinking can only be on or off for this model; it is on".to_owned())
        }
        (ThinkingKind::None, _) => (Setting::Unsaid, "this model is not known to think; nothing is sent".to_owned()),
        _ => (Setting::Unsaid, "this model thinks as much as it chooses; nothing is sent".to_owned()),
    };
    losses.push(Loss::new(LossCode::RefusedByModel, "thinking", place, sent));
    setting
}

/// Limits an explicit budget to the model's range.
pub(super) fn clamped(rule: &ThinkingRule, tokens: i64, max_output: Option<u32>) -> i64 {
    tokens.clamp(rule.min, greatest(rule, max_output).max(rule.min))
}

fn greatest(rule: &ThinkingRule, max_output: Option<u32>) -> i64 {
    match max_output {
        // The budget must stay below the output limit.
        Some(longest) if !rule.max_is_hard => i64::from(longest) - 1,
        _ => rule.max,
    }
}

/// Returns the level for a budget by its share of the longest answer, for models that have no budgets at all.
fn share(tokens: i64, max_output: Option<u32>) -> Level {
    // Unknown models get the usual output limit of models that think.
    let longest = i64::from(max_output.unwrap_or(100_000));
    if tokens <= longest / 6 {
        Level::Low
    } else if tokens <= longest / 2 {
        Level::Med
    } else {
        Level::High
    }
}

/// Handles a budget of -1: the model chooses.
fn own_choice(rule: &ThinkingRule, level: Option<Level>, losses: &mut Vec<Loss>) -> Setting {
    match rule.kind {
        ThinkingKind::None | ThinkingKind::Always => Setting::Unsaid,
        ThinkingKind::Budget if rule.dynamic => Setting::Budget(-1),
        ThinkingKind::Adaptive | ThinkingKind::Toggle => Setting::On,
        ThinkingKind::Budget | ThinkingKind::Effort | ThinkingKind::Level => match level {
            None if rule.thinks_by_default() => Setting::Unsaid,
            level => {
                let level = level.filter(|level| *level != Level::None).unwrap_or(Level::Med);
                losses.push(Loss::new(
                    LossCode::RefusedByModel,
                    "thinking",
                    "thinking.budget",
                    format!("this model cannot choose its budget itself; level {level} is used"),
                ));
                by_level(rule, level, losses)
            }
        },
    }
}

/// Returns the level that replaces `none` if thinking cannot be turned off.
pub(super) fn least(rule: &ThinkingRule) -> Option<Level> {
    rule.none_as.or_else(|| rule.levels.first().copied())
}

/// Returns the model's level that is closest to the requested one, which is not `none`.
///
/// A level below low is raised, a level above high is lowered; any other becomes the closest one, and the higher of two
/// that are equally close.
pub(super) fn nearest(rule: &ThinkingRule, level: Level) -> Option<Level> {
    let levels = &rule.levels;
    if levels.contains(&level) {
        return Some(level);
    }
    if let Some(meant) = rule.meaning(level) {
        return Some(meant);
    }
    let above = levels.iter().copied().find(|taken| *taken > level);
    let below = levels.iter().copied().rfind(|taken| *taken < level);
    match (below, above) {
        (below, None) => below,
        (None, above) => above,
        (Some(below), Some(above)) => {
            let up = match level {
                Level::None | Level::Minimal => true,
                Level::Xhigh | Level::Max => false,
                Level::Low | Level::Med | Level::High => above as u8 - level as u8 <= level as u8 - below as u8,
            };
            Some(if up { above } else { below })
        }
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;

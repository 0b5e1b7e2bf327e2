//! How hard to think: `generationConfig.thinkingConfig`.
//!
//! Models up to 2.5 take a budget in tokens (0 is off, -1 leaves it to the model), later ones a level word. Both at once
//! are refused, and so is a wish to see thoughts from a model that does not think.

use serde_json::{Map, Value};

use super::fields::find;
use crate::thinking::{Setting, plan};
use crate::{Level, Loss, Target, Thinking, ThinkingDisplay, ThinkingKind};

/// The key under which a client's own `thinkingConfig` is kept.
pub(super) const CONFIG: &str = "thinking_config";

/// Below this, a model that thinks a good deal may have nothing left for its answer.
const SMALL: i64 = 8192;

/// Reads a `thinkingConfig`. Without `includeThoughts` the thoughts stay hidden.
pub(super) fn decode(config: &Map<String, Value>) -> Thinking {
    let whole = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let budget = find(config, "thinkingBudget").and_then(whole);
    let word = find(config, "thinkingLevel").and_then(Value::as_str);
    let level = word.and_then(|word| word.to_ascii_lowercase().parse::<Level>().ok());
    let include_summary = find(config, "includeThoughts") == Some(&Value::Bool(true));
    match budget {
        Some(0) => Thinking { level: Some(Level::None), budget: None, include_summary },
        budget => Thinking { level, budget, include_summary },
    }
}

/// What a wish to think is on the wire.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Encoded {
    pub(super) config: Map<String, Value>,
    /// `maxOutputTokens`, which includes the thoughts.
    pub(super) max_output: Option<i64>,
    /// Will the model think?
    pub(super) thinks: bool,
}

/// Writes a wish to think for a model, and the room for its answer.
pub(super) fn encode(
    thinking: Option<&Thinking>,
    room: Option<i64>,
    target: &Target<'_>,
    losses: &mut Vec<Loss>,
) -> Encoded {
    let rule = &target.rules.thinking;
    let Some(thinking) = thinking else {
        return Encoded { config: Map::new(), max_output: room, thinks: rule.thinks_by_default() };
    };
    let longest = target.facts.and_then(|facts| facts.max_output).or(target.rules.max_output);
    let plan = plan(thinking, rule, longest);
    let thinks = plan.thinks(rule);
    losses.extend(plan.losses);
    let mut encoded = Encoded { config: Map::new(), max_output: room, thinks };
    match plan.setting {
        Setting::Unsaid => {}
        Setting::Off => match rule.kind {
            ThinkingKind::Budget => set(&mut encoded, "thinkingBudget", 0),
            ThinkingKind::Level | ThinkingKind::Toggle => set(&mut encoded, "thinkingLevel", Level::Minimal.capitals()),
            ThinkingKind::None | ThinkingKind::Adaptive | ThinkingKind::Effort | ThinkingKind::Always => {}
        },
        Setting::Budget(budget) => {
            let explicit = thinking.budget.is_some_and(|budget| budget > 0);
            let (budget, max_output) = fit(budget, explicit, room, longest.map(i64::from), rule.min, losses);
            set(&mut encoded, "thinkingBudget", budget);
            encoded.max_output = max_output;
        }
        Setting::Level(level) => {
            set(&mut encoded, "thinkingLevel", level.capitals());
            if level >= Level::Med && room.is_some_and(|room| room < SMALL) {
                let why = "the limit includes the thoughts; so small a one may cut the answer off";
                losses.push(Loss::uncoded_info("max_output_tokens", "max_output_tokens", why));
            }
        }
        Setting::On => set(&mut encoded, "thinkingLevel", Level::High.capitals()),
    }
    let shows = rule.kind != ThinkingKind::None && rule.display != ThinkingDisplay::Never;
    if thinking.include_summary && thinks && shows {
        set(&mut encoded, "includeThoughts", true);
    }
    encoded
}

fn set(encoded: &mut Encoded, name: &str, value: impl Into<Value>) {
    encoded.config.insert(name.to_owned(), value.into());
}

/// A budget and the limit over it. The limit that the caller gave is the room for the visible answer: a budget that
/// comes from a level is added to it. An explicit budget leaves it alone as long as the answer still has some room.
fn fit(
    budget: i64,
    explicit: bool,
    room: Option<i64>,
    longest: Option<i64>,
    least: i64,
    losses: &mut Vec<Loss>,
) -> (i64, Option<i64>) {
    let Some(room) = room.filter(|_| budget > 0) else { return (budget, room) };
    if explicit && budget < room {
        return (budget, Some(room));
    }
    let max = longest.unwrap_or(i64::MAX).min(room.saturating_add(budget));
    // Not all of a small window for the thoughts.
    let fitting = budget.min(max - room.min(max / 2)).max(least);
    if explicit {
        let why = format!("the limit includes the thoughts and must exceed their budget; {max} is sent");
        losses.push(Loss::uncoded("max_output_tokens", "max_output_tokens", why));
    }
    if fitting < budget {
        let why = format!("the model's longest answer has no room for {budget} tokens of thoughts; {fitting} is sent");
        losses.push(Loss::uncoded("thinking", "thinking", why));
    }
    (fitting, Some(max))
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

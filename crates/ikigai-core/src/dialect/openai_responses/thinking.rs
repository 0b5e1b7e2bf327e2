//! `reasoning`: an effort word and whether a summary is shown.

use serde_json::Value;

use super::Object;
use super::fields::{put_back, text};
use crate::dialect::Target;
use crate::thinking::{Plan, Setting, nearest_level, plan};
use crate::{Level, Loss, Thinking, ThinkingDisplay, ThinkingKind, ThinkingOff};

/// Reads `reasoning`; none when there is no such object. A word for the effort that we do not know is no level.
pub(super) fn decode(wire: Option<&Value>) -> Option<Thinking> {
    let fields = wire?.as_object()?;
    let summary = ["summary", "generate_summary"].iter().any(|key| text(fields, key).is_some());
    Some(Thinking {
        level: text(fields, "effort").and_then(|word| word.parse::<Level>().ok()),
        budget: None,
        include_summary: summary,
    })
}

/// What else stands in `reasoning`: `mode`, `context`.
pub(super) fn rest(wire: &Object) -> Object {
    let known = |key: &str| matches!(key, "effort" | "summary" | "generate_summary");
    wire.iter().filter(|(key, _)| !known(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What is sent about thinking.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) reasoning: Option<Object>,
    /// Will the model think?
    pub(super) thinks: bool,
}

/// Writes `reasoning`. `raw` is how it was read: a request for the same model gets it back while it says the same, and
/// what else was in it goes along to other models.
pub(super) fn encode(
    wish: Option<&Thinking>,
    raw: Option<&Value>,
    target: &Target<'_>,
    faithful: bool,
    losses: &mut Vec<Loss>,
) -> Planned {
    let rule = &target.rules.thinking;
    let raw_fields = raw.and_then(Value::as_object);
    let Some(wish) = wish else {
        return Planned { reasoning: None, thinks: rule.thinks_by_default() };
    };
    if faithful && decode(raw).as_ref() == Some(wish) {
        return Planned { reasoning: raw_fields.cloned(), thinks: rule.thinks_by_default() };
    }
    let max_output = target.facts.and_then(|facts| facts.max_output).or(target.rules.max_output);
    let Plan { setting, losses: lost } = plan(wish, rule, max_output);
    let thinks = Plan { setting, losses: Vec::new() }.thinks(rule);
    losses.extend(lost);
    let effort = match setting {
        // A model that thinks, always or when left alone, needs no word for being on.
        Setting::Unsaid | Setting::On => None,
        Setting::Off if rule.off == ThinkingOff::Silence => None,
        Setting::Off => Some(Level::None.effort()),
        Setting::Level(level) => Some(level.effort()),
        // A model that takes budgets elsewhere: here there are only words.
        Setting::Budget(tokens) => Some(nearest_level(rule, tokens).effort()),
    };
    let mut fields = Object::new();
    if let Some(effort) = effort {
        fields.insert("effort".into(), effort.into());
    }
    let shows = thinks && rule.kind != ThinkingKind::None && rule.display != ThinkingDisplay::Never;
    if wish.include_summary && shows {
        let word = raw_fields.and_then(|raw| text(raw, "summary")).unwrap_or("auto");
        fields.insert("summary".into(), word.into());
    }
    put_back(&mut fields, raw_fields.map(rest).as_ref());
    Planned { reasoning: (!fields.is_empty()).then_some(fields), thinks }
}

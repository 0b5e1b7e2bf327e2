//! Thinking, in this API's terms.
//!
//! There are three mechanisms: a budget in tokens (`enabled`), the model's own choice guided by an effort (`adaptive`),
//! and off (absent, `disabled` or `between_tools`).

use crate::catalog::{ThinkingKind, rules_for};
use crate::fit::{Fitted, Spelling};
use crate::json::wire::Raw;
use crate::thinking::{ShowThinking, ThinkingSetting, nearest_level};
use crate::{Json, Level, Loss, Part, Thinking};

use super::{DIALECT, wire};

/// Whether this is a `thinking` field that we understand.
pub(super) fn is_known(thinking: &Raw<'_>) -> bool {
    let kind = thinking.to::<wire::Thinking<'_>>().and_then(|thinking| thinking.kind);
    kind.is_some_and(|kind| matches!(kind.as_str(), "enabled" | "adaptive" | "disabled" | "between_tools"))
}

/// Whether this is an effort that we understand.
pub(super) fn is_effort(word: &Raw<'_>) -> bool {
    word.as_str().is_some_and(|word| level(&word).is_some())
}

fn level(effort: &str) -> Option<Level> {
    let level: Level = effort.parse().ok()?;
    (level != Level::None && level.effort() == effort).then_some(level)
}

/// Reads what the wire's settings ask for.
pub(super) fn read(thinking: Option<&Json>, effort: Option<&Json>, model: &str) -> Option<Thinking> {
    let effort = effort.and_then(Json::as_str).and_then(|effort| level(&effort));
    let Some(thinking) = thinking else { return effort.map(Thinking::from) };
    let rule = &rules_for(model).thinking;
    let thinking: wire::Thinking<'_> = thinking.to().ok()?;
    let budget = thinking.budget_tokens.as_ref().and_then(Raw::to::<i64>);
    let (level, budget) = match (thinking.kind?.as_str(), budget) {
        ("enabled", Some(budget)) => (effort.unwrap_or_else(|| nearest_level(rule, budget)), Some(budget)),
        // Without an effort it is the model's default, for most models high.
        ("enabled" | "adaptive", _) => {
            let usual = rule.default.filter(|level| *level != Level::None).unwrap_or(Level::High);
            (effort.unwrap_or(usual), None)
        }
        ("disabled" | "between_tools", _) => (Level::None, None),
        _ => return None,
    };
    let hidden = thinking.display.is_some_and(|display| display.as_str() == "omitted");
    Some(Thinking { level: Some(level), budget, include_summary: !hidden })
}

/// The thinking settings to be sent.
#[derive(Debug, Default)]
pub(super) struct Sent<'a> {
    pub(super) thinking: Option<Raw<'a>>,
    pub(super) effort: Option<Raw<'a>>,
    /// The output limit, which includes the thinking.
    pub(super) max_tokens: Option<i64>,
}

/// Chooses what to send: the client's own fields as long as they match the request, otherwise those for the setting.
pub(super) fn write<'a>(fitted: &'a Fitted<'_>, losses: &mut Vec<Loss>) -> Sent<'a> {
    let (request, chosen) = (fitted.request, &fitted.thinking);
    let shape = request.provider_data.part(DIALECT, Part::Shape);
    let (thinking, effort) = (shape.get("thinking"), shape.get("effort"));
    if fitted.spelling == Spelling::AsItCame {
        if !chosen.must && read(thinking, effort, &request.model) == request.thinking {
            let max_tokens = fitted.max_output_tokens;
            return Sent { thinking: thinking.map(Raw::from), effort: effort.map(Raw::from), max_tokens };
        }
        losses.extend(chosen.losses.iter().cloned());
    }
    let of = |kind: &'static str| wire::Thinking { kind: Some(kind.into()), ..wire::Thinking::default() };
    let wants_none = request.thinking.as_ref().is_some_and(|wish| wish.level == Some(Level::None));
    let mut sent = Sent { max_tokens: chosen.limit, ..Sent::default() };
    let written = match chosen.setting {
        ThinkingSetting::Unsaid => None,
        ThinkingSetting::Off => Some(of("disabled")),
        ThinkingSetting::BetweenTools => Some(of("between_tools")),
        ThinkingSetting::Budget(tokens) => {
            Some(wire::Thinking { budget_tokens: Some(Raw::of(&tokens)), ..of("enabled") })
        }
        ThinkingSetting::On => Some(of("adaptive")),
        ThinkingSetting::Level(level) => {
            sent.effort = Some(Raw::of(level.effort()));
            // A model that cannot turn thinking off is only asked for little of it.
            (chosen.kind == ThinkingKind::Adaptive && !wants_none).then(|| of("adaptive"))
        }
    };
    let Some(mut written) = written else { return sent };
    written.display = match chosen.shown {
        ShowThinking::Unsaid => None,
        ShowThinking::Show => Some("summarized".into()),
        ShowThinking::Hide => Some("omitted".into()),
    };
    // The client's other thinking fields apply as long as the model thinks.
    if let Some(Ok(before)) = thinking.map(Json::to::<wire::Thinking<'_>>).filter(|_| chosen.thinks) {
        written.rest = before.rest;
    }
    sent.thinking = Some(Raw::of(&written));
    sent
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

//! `reasoning`: an effort word and whether a summary is shown.

use super::wire::{Any, Loose};
use crate::fit::FittedThinking;
use crate::json::wire::{Raw, keep};
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{Fields, Level, Thinking};

wire! {
    /// What is said about reasoning.
    pub(super) struct Reasoning<'a> {
        effort "effort": Loose<'a>,
        summary "summary": Loose<'a>,
        generate_summary "generate_summary": Loose<'a>,
    }
}

/// Reads `reasoning`, with what else stands in it (`mode`, `context`); `None` if it is not an object. A word for the
/// effort that we do not know is not a level.
pub(super) fn decode(wire: &Raw<'_>) -> Option<(Thinking, Fields)> {
    let reasoning: Reasoning<'_> = wire.to()?;
    let word = |value: &Option<Loose<'_>>| value.as_ref().and_then(Any::as_str).map(str::to_owned);
    let thinking = Thinking {
        level: word(&reasoning.effort).and_then(|word| word.parse::<Level>().ok()),
        budget: None,
        include_summary: word(&reasoning.summary).or_else(|| word(&reasoning.generate_summary)).is_some(),
    };
    let known = |name: &str| matches!(name, "effort" | "summary" | "generate_summary");
    let mut rest = keep(reasoning.rest);
    rest.retain(|name, _| !known(name));
    Some((thinking, rest))
}

/// Writes `reasoning`. `word` is how the caller asked for a summary, `rest` what else was said there.
pub(super) fn encode<'a>(thinking: &FittedThinking, word: Option<&str>, rest: &Fields) -> Option<Raw<'a>> {
    let effort = match thinking.setting {
        // A model that thinks, always or when left alone, needs no word for being on, and there are no budgets here.
        ThinkingSetting::Unsaid | ThinkingSetting::On | ThinkingSetting::BetweenTools | ThinkingSetting::Budget(_) => {
            None
        }
        ThinkingSetting::Off => Some(Level::None.effort()),
        ThinkingSetting::Level(level) => Some(level.effort()),
    };
    let summary = match thinking.shown {
        ShowThinking::Show => Some(word.unwrap_or("auto")),
        ShowThinking::Unsaid | ShowThinking::Hide => None,
    };
    if effort.is_none() && summary.is_none() && rest.is_empty() {
        return None;
    }
    Some(Raw::of(&Reasoning {
        effort: effort.map(Any::text),
        summary: summary.map(Any::text),
        generate_summary: None,
        rest: rest.as_rest(),
    }))
}

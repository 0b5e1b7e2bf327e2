//! `reasoning`: an effort, and whether to show a summary.

use super::wire::Reasoning;
use crate::fit::FittedThinking;
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::{Raw, Text};
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{Fields, Level, Thinking};

/// Reads `reasoning`, and returns it with its other fields (`mode`, `context`). `None` if it is not an object. An
/// unknown effort is not a level.
pub(super) fn decode(wire: &Raw<'_>) -> Option<(Thinking, Fields)> {
    let mut reasoning: Reasoning<'_> = read_raw(&wire.0)?;
    let effort = reasoning.effort.take();
    let summary = [reasoning.summary.take(), reasoning.generate_summary.take()];
    let thinking = Thinking {
        level: effort.and_then(|word| word.as_str().parse::<Level>().ok()),
        budget: None,
        include_summary: summary.iter().any(Option::is_some),
    };
    let known = |name: &str| matches!(name, "effort" | "summary" | "generate_summary");
    let mut rest = reasoning.leftovers();
    rest.retain(|name, _| !known(name));
    Some((thinking, rest))
}

/// Writes `reasoning`. `word` is how the caller requested a summary, `rest` the other fields.
pub(super) fn encode<'a>(thinking: &FittedThinking, word: Option<&str>, rest: &Fields) -> Option<Raw<'a>> {
    let effort = match thinking.setting {
        // A model that thinks, always or by default, need not be told to, and there are no budgets here.
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
        effort: effort.map(Text::from),
        summary: summary.map(Text::from),
        generate_summary: None,
        rest: rest.as_rest(),
    }))
}

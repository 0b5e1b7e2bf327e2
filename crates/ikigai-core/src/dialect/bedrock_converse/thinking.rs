//! Thinking: each maker's models have their own settings, which are in `additionalModelRequestFields`.

use serde_json::json;

use crate::catalog::{ConverseFields, ThinkingKind};
use crate::fit::Fitted;
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{Fields, Level};

/// Adds the thinking settings.
pub(super) fn write(fitted: &Fitted<'_>, additional: &mut Fields) {
    let setting = fitted.thinking.setting;
    match (fitted.target.rules.converse, setting) {
        (ConverseFields::Anthropic, _) => write_claude(fitted, additional),
        (ConverseFields::Nova, ThinkingSetting::Level(level)) => {
            let config = json!({"type": "enabled", "maxReasoningEffort": level.effort()});
            additional.set("reasoningConfig", config);
        }
        (ConverseFields::ReasoningEffort, ThinkingSetting::Level(level)) => {
            additional.set("reasoning_effort", level.effort());
        }
        (ConverseFields::ReasoningConfig, ThinkingSetting::On) => additional.set("reasoning_config", "high"),
        // For these, nothing is sent; `fit` has reported what cannot be expressed.
        (
            ConverseFields::Nothing
            | ConverseFields::Nova
            | ConverseFields::ReasoningEffort
            | ConverseFields::ReasoningConfig,
            _,
        ) => {}
    }
}

/// Writes Anthropic's own settings: a budget (`enabled`), the model's own choice with an effort (`adaptive`), or off.
fn write_claude(fitted: &Fitted<'_>, additional: &mut Fields) {
    let chosen = &fitted.thinking;
    let wish = fitted.request.thinking.as_ref();
    let wants_none = wish.is_some_and(|wish| wish.level == Some(Level::None));
    let written = match chosen.setting {
        ThinkingSetting::Unsaid => None,
        ThinkingSetting::Off => Some(json!({"type": "disabled"})),
        ThinkingSetting::BetweenTools => Some(json!({"type": "between_tools"})),
        ThinkingSetting::Budget(tokens) => Some(json!({"type": "enabled", "budget_tokens": tokens})),
        ThinkingSetting::On => Some(json!({"type": "adaptive"})),
        // A model that cannot turn thinking off is only asked for little of it.
        ThinkingSetting::Level(_) => {
            (chosen.kind == ThinkingKind::Adaptive && !wants_none).then(|| json!({"type": "adaptive"}))
        }
    };
    let display = match chosen.shown {
        ShowThinking::Unsaid => None,
        ShowThinking::Show => Some("summarized"),
        ShowThinking::Hide => Some("omitted"),
    };
    if let Some(mut written) = written {
        if let (Some(display), Some(fields)) = (display, written.as_object_mut()) {
            fields.insert("display".to_owned(), display.into());
        }
        additional.set("thinking", written);
    }
    if let ThinkingSetting::Level(level) = chosen.setting {
        additional.set("output_config", json!({"effort": level.effort()}));
    }
}

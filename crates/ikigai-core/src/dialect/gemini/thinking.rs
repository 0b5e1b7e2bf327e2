//! How hard to think: `generationConfig.thinkingConfig`.
//!
//! Models up to 2.5 take a budget in tokens (0 is off, -1 leaves it to the model), later ones a level. Sending both is
//! refused, and so is a request for thoughts from a model that does not think.

use super::wire::ThinkingConfig;
use crate::fit::{Fitted, Spelling};
use crate::json::wire::{Raw, read_str};
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{Level, Loss, Thinking};

/// Reads a `thinkingConfig`. Without `includeThoughts` the thoughts stay hidden.
pub(super) fn decode(config: &str) -> Result<Thinking, String> {
    let config: ThinkingConfig<'_> = read_str(config).map_err(|fault| fault.to_string())?;
    let budget = config.budget.and_then(|budget| budget.text().trim_matches('"').parse().ok());
    let level = config.level.and_then(|word| word.as_str().to_ascii_lowercase().parse::<Level>().ok());
    let include_summary = config.include == Some(true);
    Ok(match budget {
        Some(0) => Thinking { level: Some(Level::None), budget: None, include_summary },
        budget => Thinking { level, budget, include_summary },
    })
}

/// The thinking settings on the wire.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) config: Option<Raw<'a>>,
    /// `maxOutputTokens`, which includes the thoughts.
    pub(super) max_output_tokens: Option<i64>,
    pub(super) losses: Vec<Loss>,
}

/// Writes the thinking settings: the client's own, `kept`, while they still say the same.
pub(super) fn encode<'a>(fitted: &Fitted<'_>, kept: Option<Raw<'a>>) -> Said<'a> {
    let thinking = &fitted.thinking;
    if fitted.spelling == Spelling::AsItCame && !thinking.must {
        let wish = fitted.request.thinking.as_ref();
        let same = kept.filter(|kept| decode(kept.text()).ok().as_ref() == wish);
        if same.is_some() || wish.is_none() {
            let max_output_tokens = fitted.max_output_tokens;
            return Said { config: same, max_output_tokens, losses: Vec::new() };
        }
    }
    let mut config = ThinkingConfig::default();
    match thinking.setting {
        // There is no setting for "only between tools", and no model of this API that supports it.
        ThinkingSetting::Unsaid | ThinkingSetting::BetweenTools => {}
        ThinkingSetting::Off => config.budget = Some(Raw::of(&0)),
        ThinkingSetting::Budget(budget) => config.budget = Some(Raw::of(&budget)),
        ThinkingSetting::Level(level) => config.level = Some(level.capitals().into()),
        ThinkingSetting::On => config.level = Some(Level::High.capitals().into()),
    }
    config.include = match thinking.shown {
        ShowThinking::Show => Some(true),
        ShowThinking::Unsaid | ShowThinking::Hide => None,
    };
    let said = config.budget.is_some() || config.level.is_some() || config.include.is_some();
    Said { config: said.then(|| Raw::of(&config)), max_output_tokens: thinking.limit, losses: thinking.losses.clone() }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

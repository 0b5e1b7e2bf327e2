//! What models accept through Amazon's Converse, which serves those of every maker, according to [`ConverseFields`].

use super::abilities::{AskedBy, IdCharacters, IdRule, MarkRule, Support};
use super::sampling::Sampled;
use super::{FittedThinking, Fitting};
use crate::catalog::{ConverseFields, ForcedTools, Rules, StateScope};
use crate::thinking::ThinkingSetting;
use crate::{Level, Loss, LossCode};

/// Returns the rules for a model when it is reached through Converse.
pub(super) fn rules(rules: &Rules) -> Rules {
    Rules {
        // Few models accept a forced tool; the others refuse the request.
        forced_tools: if takes_choice(rules) { rules.forced_tools } else { ForcedTools::Refused },
        // Converse serves models of many makers: one that does not think refuses another's thinking.
        bound_state: StateScope::Model,
        // Models that do not support strict tools refuse them.
        strict_tools: rules.strict_tools && rules.converse != ConverseFields::Nothing,
        cache_breakpoints: matches!(rules.converse, ConverseFields::Anthropic | ConverseFields::Nova),
        ..rules.clone()
    }
}

/// Returns whether a model accepts a tool choice.
pub(super) fn takes_choice(rules: &Rules) -> bool {
    match rules.converse {
        ConverseFields::Anthropic | ConverseFields::Nova => true,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => false,
    }
}

/// Returns whether a model has a field for `top_k`.
pub(super) fn takes_top_k(rules: &Rules) -> bool {
    match rules.converse {
        ConverseFields::Anthropic | ConverseFields::Nova => true,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => false,
    }
}

/// Returns the ids of calls that a model accepts. Some makers' ids contain dots and colons; they come back unchanged.
pub(super) fn call_ids(rule: IdRule, rules: &Rules) -> IdRule {
    match rules.converse {
        ConverseFields::Anthropic | ConverseFields::Nova => rule,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => {
            IdRule { characters: IdCharacters::Visible, ..rule }
        }
    }
}

/// Returns where a model accepts cache marks.
pub(super) fn marks(rule: MarkRule, rules: &Rules) -> MarkRule {
    match rules.converse {
        ConverseFields::Nova => MarkRule { tools: Support::Missing, ..rule },
        ConverseFields::Anthropic
        | ConverseFields::Nothing
        | ConverseFields::ReasoningEffort
        | ConverseFields::ReasoningConfig => rule,
    }
}

impl Fitting<'_> {
    /// Returns whether [`ConverseFields`] determine what a model accepts.
    pub(super) fn goes_by_converse_fields(&self) -> bool {
        self.abilities.thinking.asked_by == AskedBy::ConverseFields
    }

    /// Drops settings that Nova refuses together with its highest effort.
    pub(super) fn beside_highest_effort(&mut self, thinking: &mut FittedThinking, sampled: &mut Sampled) {
        let highest = thinking.setting == ThinkingSetting::Level(Level::High);
        if self.rules.converse != ConverseFields::Nova || !highest {
            return;
        }
        let dropped = [
            ("max_output_tokens", thinking.limit.take().is_some()),
            ("temperature", sampled.temperature.take().is_some()),
            ("top_p", sampled.top_p.take().is_some()),
            ("top_k", sampled.top_k.take().is_some()),
        ];
        for (name, _) in dropped.into_iter().filter(|(_, dropped)| *dropped) {
            let why = "this model refuses it beside the highest effort; left out";
            self.losses.push(Loss::new(LossCode::Conflict, name, name, why));
        }
    }
}

//! What models accept over Amazon's Converse, which serves those of every maker: a model's [`ConverseFields`] say it.

use super::abilities::{AskedBy, IdCharacters, IdRule, MarkRule, Support};
use super::sampling::Sampled;
use super::{FittedThinking, Fitting};
use crate::catalog::{ConverseFields, ForcedTools, Rules, StateScope};
use crate::thinking::ThinkingSetting;
use crate::{Level, Loss, LossCode};

/// The rules of a model over Converse.
pub(super) fn rules(rules: &Rules) -> Rules {
    Rules {
        // Few models let themselves be forced; the others refuse the request.
        forced_tools: if takes_choice(rules) { rules.forced_tools } else { ForcedTools::Refused },
        // Models of many makers stand here side by side: one that does not think refuses another's thinking.
        bound_state: StateScope::Model,
        // A strict tool is refused by models that do not know it.
        strict_tools: rules.strict_tools && rules.converse != ConverseFields::Nothing,
        cache_breakpoints: matches!(rules.converse, ConverseFields::Anthropic | ConverseFields::Nova),
        ..rules.clone()
    }
}

/// Whether a model takes a choice among its tools.
pub(super) fn takes_choice(rules: &Rules) -> bool {
    match rules.converse {
        ConverseFields::Anthropic | ConverseFields::Nova => true,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => false,
    }
}

/// Whether there is a name for a model's `top_k`.
pub(super) fn takes_top_k(rules: &Rules) -> bool {
    match rules.converse {
        ConverseFields::Anthropic | ConverseFields::Nova => true,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => false,
    }
}

/// Which ids of calls a model takes. Those of some makers have dots and colons in them, and are wanted back so.
pub(super) fn call_ids(rule: IdRule, rules: &Rules) -> IdRule {
    match rules.converse {
        ConverseFields::Anthropic | ConverseFields::Nova => rule,
        ConverseFields::Nothing | ConverseFields::ReasoningEffort | ConverseFields::ReasoningConfig => {
            IdRule { characters: IdCharacters::Visible, ..rule }
        }
    }
}

/// Where a model takes marks for the cache.
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
    /// Whether what a model takes is read from its [`ConverseFields`].
    pub(super) fn goes_by_converse_fields(&self) -> bool {
        self.abilities.thinking.asked_by == AskedBy::ConverseFields
    }

    /// Nova refuses to be steered otherwise beside its highest effort.
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
            let why = "this model refuses it beside the highest effort; it is left out";
            self.losses.push(Loss::new(LossCode::Conflict, name, name, why));
        }
    }
}

//! Thinking, and what conflicts with it.
//!
//! [`ThinkingPlan`] decides what the thinking settings become, both for requests and for what people are shown. Here
//! the plan is combined with the rest of the request.

use super::abilities::Restricted;
use super::{FittedThinking, FittedTool, Fitting};
use crate::catalog::{ForcedTools, ThinkingOff, ToolsInChat};
use crate::provider::ReasoningRequest;
use crate::thinking::{ThinkingPlan, ThinkingSetting};
use crate::{Error, Loss, LossCode, Severity, ToolChoice};

/// Things in a request that conflict with thinking.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Obstacles {
    /// The current tool turn does not begin with the model's own thinking.
    pub(super) unsigned_tool_turn: bool,
    /// The conversation ends with the beginning of the answer.
    pub(super) prefill: bool,
}

impl Fitting<'_> {
    /// Returns what is sent about thinking. A forced tool may rule out thinking, or thinking the forced tool.
    pub(super) fn thinking(
        &mut self,
        tools: &[FittedTool<'_>],
        choice: &mut Option<ToolChoice>,
        obstacles: Obstacles,
    ) -> Result<FittedThinking, Error> {
        if let Some(asked) = self.request.max_output_tokens.filter(|tokens| *tokens == 0 || *tokens < -1) {
            let why = format!("{asked} is not a limit; the provider's default applies");
            self.losses.push(Loss::new(LossCode::OutOfRange, "max_output_tokens", "max_output_tokens", why));
        }
        let mut plan = ThinkingPlan::new(self.request, self.dialect, self.target);
        if let Some(why) = self.forced_tool(&plan, choice) {
            plan = self.without_thinking(plan, why);
        }
        if let Some(why) = self.tools_in_chat(&plan, tools)? {
            plan = self.without_thinking(plan, why);
        }
        if let Some(why) = self.obstacle(&plan, obstacles) {
            plan = self.without_thinking(plan, why);
        }
        self.losses.append(&mut plan.losses);
        Ok(FittedThinking {
            setting: plan.setting,
            thinks: plan.thinks,
            shown: plan.show,
            kind: self.rules.thinking.kind,
            limit: plan.max_output,
            losses: Vec::new(),
            must: false,
        })
    }

    /// Returns the plan without thinking. That is a loss only if the request asked for it.
    fn without_thinking(&self, plan: ThinkingPlan, why: &str) -> ThinkingPlan {
        let mut plan = plan.without_thinking(format!("{why}; thinking is off for this request"));
        if self.request.thinking.is_none() {
            for loss in plan.losses.iter_mut().filter(|loss| loss.code == LossCode::Conflict) {
                loss.severity = Severity::Info;
            }
        }
        plan
    }

    /// Returns why a forced tool rules out thinking. If the model cannot stop thinking, the choice is dropped instead.
    fn forced_tool(&mut self, plan: &ThinkingPlan, choice: &mut Option<ToolChoice>) -> Option<&'static str> {
        let Some(forced @ (ToolChoice::Required | ToolChoice::Specific(_))) = choice else { return None };
        let beside_budget = self.abilities.thinking.forced_tool_beside_budget;
        let refused = match self.rules.forced_tools {
            ForcedTools::Taken => plan.budget().is_some() && !beside_budget.is_taken(),
            ForcedTools::NotWhileThinking => plan.thinks,
            ForcedTools::Refused => true,
        };
        if !refused {
            return None;
        }
        if self.rules.forced_tools != ForcedTools::Refused && self.rules.thinking.off != ThinkingOff::Impossible {
            return Some("this model cannot be forced to use a tool while it thinks");
        }
        let (code, why) = match self.rules.forced_tools {
            ForcedTools::Taken => {
                (LossCode::NotInDialect, "a tool cannot be forced together with a thinking budget here; auto is sent")
            }
            ForcedTools::NotWhileThinking | ForcedTools::Refused => {
                (LossCode::RefusedByModel, "this model cannot be forced to use a tool; auto is sent")
            }
        };
        self.losses.push(Loss::new(code, "tool_choice", "tool_choice", why));
        *forced = ToolChoice::Auto;
        None
    }

    /// Returns why tools rule out thinking: some models accept no functions in Chat Completions while they think.
    fn tools_in_chat(&self, plan: &ThinkingPlan, tools: &[FittedTool<'_>]) -> Result<Option<&'static str>, Error> {
        let has_functions = tools.iter().any(|tool| matches!(tool, FittedTool::Function { .. }));
        // A relay with its own parameter for reasoning handles this itself.
        let applies = self.abilities.thinking.restricted == Restricted::AsInChat
            && self.quirks.chat.reasoning_request == ReasoningRequest::Effort;
        let conflict = match self.rules.tools_in_chat {
            ToolsInChat::Taken => false,
            ToolsInChat::NotWithEffort => {
                matches!(plan.setting, ThinkingSetting::Level(_) | ThinkingSetting::Budget(_) | ThinkingSetting::On)
            }
            ToolsInChat::NotWhileThinking => plan.thinks,
        };
        if !has_functions || !applies || !conflict {
            return Ok(None);
        }
        if self.rules.thinking.off == ThinkingOff::Word {
            return Ok(Some("this model accepts no tools in Chat Completions while it thinks"));
        }
        let model = &self.request.model;
        let why = format!(
            "{model} takes no tools in Chat Completions, because it always thinks; use the Responses API for it, or \
             leave out the tools"
        );
        Err(Error::invalid_param("tools", why))
    }

    /// Returns why the conversation rules out thinking.
    fn obstacle(&self, plan: &ThinkingPlan, obstacles: Obstacles) -> Option<&'static str> {
        if plan.budget().is_none() || self.rules.thinking.off == ThinkingOff::Impossible {
            None
        } else if obstacles.unsigned_tool_turn && !self.abilities.thinking.budget_in_unsigned_turn.is_taken() {
            Some("the current tool turn did not begin with this model's thinking, which the model then requires")
        } else if obstacles.prefill && !self.abilities.prefill.beside_budget.is_taken() {
            Some("this model refuses thinking when the conversation ends with the assistant")
        } else {
            None
        }
    }
}

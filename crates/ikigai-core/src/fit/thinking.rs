//! Thinking, and what cannot stand beside it.

use super::abilities::{OffByLevel, OnWord, Restricted, ShownBy};
use super::{FittedThinking, FittedTool, Fitting, Showing};
use crate::thinking::{Plan, Setting, nearest_level, plan};
use crate::{
    Display, Error, ForcedTools, Level, Loss, LossCode, Off, ReasoningRequest, Severity, ThinkingKind, ThinkingRule,
    ToolChoice, ToolsInChat,
};

/// Things in a request that cannot stand beside thinking.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Obstacles {
    /// The tool turn that is going on does not begin with the model's own thinking.
    pub(super) unsigned_tool_turn: bool,
    /// The conversation ends with the beginning of the answer.
    pub(super) prefill: bool,
}

impl Fitting<'_> {
    /// What is sent about thinking. A forced tool may cost the thinking, or the thinking the forced tool.
    pub(super) fn thinking(
        &mut self,
        tools: &[FittedTool<'_>],
        choice: &mut Option<ToolChoice>,
        obstacles: Obstacles,
    ) -> Result<FittedThinking, Error> {
        let rule = self.thinking_rule();
        let mut planned = self.plan(&rule);
        self.forced_tool(&rule, &mut planned, choice);
        self.tools_in_chat(&rule, &mut planned, tools)?;
        self.obstacles(&rule, &mut planned, obstacles);
        let mut setting = self.for_dialect(&rule, planned.setting);
        let limit = self.limit(&rule, &mut setting);
        let thinks = Plan { setting, losses: Vec::new() }.thinks(&rule)
            && !(setting == Setting::Unsaid && planned.setting == Setting::Off);
        let shown = self.shown(&rule, setting, thinks);
        self.warn_when_tight(setting);
        Ok(FittedThinking {
            setting,
            thinks,
            shown,
            kind: rule.kind,
            off: rule.off,
            limit,
            losses: Vec::new(),
            must: false,
        })
    }

    fn thinking_rule(&self) -> ThinkingRule {
        match self.abilities.thinking.restricted {
            Restricted::No => self.rules.thinking.clone(),
            Restricted::AsInChat => self.rules.thinking.in_chat().into_owned(),
        }
    }

    /// The longest answer of the model, where that is known.
    pub(super) fn longest(&self) -> Option<u32> {
        self.target.facts.and_then(|facts| facts.max_output).or(self.rules.max_output)
    }

    fn plan(&mut self, rule: &ThinkingRule) -> Plan {
        let mut planned = match &self.request.thinking {
            Some(thinking) => plan(thinking, rule, self.longest()),
            None => Plan { setting: Setting::Unsaid, losses: Vec::new() },
        };
        self.losses.extend(planned.losses.drain(..).map(coded));
        planned
    }

    /// Thinking is off for this request. It is a loss if the request asked for it.
    fn turn_off(&mut self, planned: &mut Plan, why: &str) {
        planned.setting = Setting::Off;
        let severity = if self.request.thinking.is_some() { Severity::Loss } else { Severity::Info };
        let why = format!("{why}; thinking is off for this request");
        self.losses.push(Loss { severity, ..Loss::new(LossCode::Conflict, "thinking", "thinking", why) });
    }

    fn forced_tool(&mut self, rule: &ThinkingRule, planned: &mut Plan, choice: &mut Option<ToolChoice>) {
        let Some(forced @ (ToolChoice::Required | ToolChoice::Specific(_))) = choice else { return };
        let has_budget = matches!(planned.setting, Setting::Budget(_));
        let refused = match self.rules.forced_tools {
            ForcedTools::Taken => has_budget && !self.abilities.thinking.forced_tool_beside_budget.is_taken(),
            ForcedTools::NotWhileThinking => planned.thinks(rule),
            ForcedTools::Refused => true,
        };
        if !refused {
            return;
        }
        if self.rules.forced_tools != ForcedTools::Refused && rule.off != Off::Impossible {
            return self.turn_off(planned, "this model cannot be forced to use a tool while it thinks");
        }
        let why = "this model cannot be forced to use a tool; auto is sent";
        self.losses.push(Loss::new(LossCode::RefusedByModel, "tool_choice", "tool_choice", why));
        *forced = ToolChoice::Auto;
    }

    /// Some models take no functions in Chat Completions while they think.
    fn tools_in_chat(
        &mut self,
        rule: &ThinkingRule,
        planned: &mut Plan,
        tools: &[FittedTool<'_>],
    ) -> Result<(), Error> {
        let has_functions = tools.iter().any(|tool| matches!(tool, FittedTool::Function { .. }));
        // A relay with its own parameter for reasoning finds its own way.
        let applies = self.abilities.thinking.restricted == Restricted::AsInChat
            && self.quirks.reasoning_request == ReasoningRequest::Effort;
        let conflict = match self.rules.tools_in_chat {
            ToolsInChat::Taken => false,
            ToolsInChat::NotWithEffort => {
                matches!(planned.setting, Setting::Level(_) | Setting::Budget(_) | Setting::On)
            }
            ToolsInChat::NotWhileThinking => planned.thinks(rule),
        };
        if !has_functions || !applies || !conflict {
            return Ok(());
        }
        if rule.off == Off::Word {
            self.turn_off(planned, "this model takes no tools in Chat Completions while it thinks");
            return Ok(());
        }
        let model = &self.request.model;
        let mut error = Error::invalid_request(format!(
            "{model} takes no tools in Chat Completions, because it always thinks; use the Responses API for it, or \
             leave out the tools"
        ));
        error.param = Some("tools".to_owned());
        Err(error)
    }

    fn obstacles(&mut self, rule: &ThinkingRule, planned: &mut Plan, obstacles: Obstacles) {
        if !matches!(planned.setting, Setting::Budget(_)) || rule.off == Off::Impossible {
            return;
        }
        let wire = &self.abilities.thinking;
        if obstacles.unsigned_tool_turn && !wire.budget_in_unsigned_turn.is_taken() {
            let why = "the tool turn that is going on did not begin with this model's thinking, which it then demands";
            self.turn_off(planned, why);
        } else if obstacles.prefill && !self.abilities.prefill.beside_budget.is_taken() {
            self.turn_off(planned, "this model refuses thinking when the conversation ends with the assistant");
        }
    }

    /// The setting in terms that the dialect and the provider have words for.
    fn for_dialect(&mut self, rule: &ThinkingRule, setting: Setting) -> Setting {
        let wire = self.abilities.thinking;
        if self.quirks.reasoning_request == ReasoningRequest::Nothing && wire.restricted == Restricted::AsInChat {
            if !matches!(setting, Setting::Unsaid | Setting::Off) {
                let why = "this provider has no parameter for thinking; nothing is sent about it";
                self.losses.push(Loss::new(LossCode::RefusedByProvider, "thinking", "thinking", why));
            }
            return Setting::Unsaid;
        }
        // A relay's own parameter has budgets.
        let has_budgets = wire.least_budget.is_some()
            || (wire.restricted == Restricted::AsInChat
                && self.quirks.reasoning_request == ReasoningRequest::ReasoningObject);
        match setting {
            Setting::Unsaid | Setting::Level(_) => setting,
            Setting::Off => match (rule.off, rule.kind, wire.off_by_level) {
                (Off::Silence | Off::Impossible, _, _) => Setting::Unsaid,
                (_, ThinkingKind::Level | ThinkingKind::Toggle, OffByLevel::Minimal) => Setting::Level(Level::Minimal),
                (Off::Word | Off::BetweenTools, _, _) => Setting::Off,
            },
            Setting::Budget(tokens) if tokens < 0 && !(has_budgets && wire.own_choice.is_taken()) => {
                self.on(rule, OnWord::Nothing)
            }
            Setting::Budget(tokens) if has_budgets => {
                Setting::Budget(if tokens > 0 { tokens.max(wire.least_budget.unwrap_or(0)) } else { tokens })
            }
            Setting::Budget(tokens) => {
                let level = nearest_level(rule, tokens).max(Level::Low);
                let why = format!("this API takes efforts, not budgets; {level} is sent for {tokens} tokens");
                self.losses.push(Loss::new(LossCode::NotInDialect, "thinking", "thinking.budget", why));
                Setting::Level(level)
            }
            Setting::On => self.on(rule, wire.on),
        }
    }

    fn on(&self, rule: &ThinkingRule, word: OnWord) -> Setting {
        match word {
            OnWord::Said => Setting::On,
            OnWord::Nothing => Setting::Unsaid,
            OnWord::High => Setting::Level(Level::High),
            OnWord::AdaptiveOrBudget if rule.kind == ThinkingKind::Adaptive => Setting::On,
            OnWord::AdaptiveOrBudget => {
                Setting::Budget(rule.min.max(self.abilities.thinking.least_budget.unwrap_or(1)))
            }
        }
    }

    /// What is said about showing the thinking.
    fn shown(&mut self, rule: &ThinkingRule, setting: Setting, thinks: bool) -> Showing {
        let Some(wish) = &self.request.thinking else { return Showing::Unsaid };
        let can_think = thinks && rule.kind != ThinkingKind::None;
        let by_provider = matches!(
            self.quirks.reasoning_request,
            ReasoningRequest::ReasoningObject | ReasoningRequest::EffortAndFormat
        );
        let by = self.abilities.thinking.shown;
        let showing = match (wish.include_summary, rule.display, by) {
            (true, Display::Never, _) => Showing::Unsaid,
            (true, _, ShownBy::Request) | (true, Display::OnRequest, ShownBy::Model) => Showing::Ask,
            (true, _, ShownBy::Provider) => Showing::Unsaid,
            (true, Display::Always | Display::UnlessHidden, ShownBy::Model) => Showing::Unsaid,
            (false, _, ShownBy::Provider) if by_provider && setting != Setting::Off => return Showing::Hide,
            (false, Display::Never, _) | (false, _, ShownBy::Request) => Showing::Unsaid,
            (false, Display::OnRequest | Display::UnlessHidden, ShownBy::Model) => Showing::Hide,
            (false, _, ShownBy::Model | ShownBy::Provider) => Showing::Unsaid,
        };
        if !can_think {
            return Showing::Unsaid;
        }
        let cannot = match (wish.include_summary, rule.display) {
            (true, Display::Never) => Some("this model never shows its thinking"),
            (false, Display::Always) if by != ShownBy::Request => Some("this model always shows its thinking"),
            (true | false, _) => None,
        };
        if let Some(why) = cannot {
            let place = "thinking.include_summary";
            self.losses.push(Loss::info(LossCode::RefusedByModel, "thinking", place, why));
        }
        showing
    }

    /// A small limit that includes the thinking may leave nothing for the answer.
    fn warn_when_tight(&mut self, setting: Setting) {
        let Setting::Level(level) = setting else { return };
        let (tight, from) = match self.rules.thinking.kind {
            ThinkingKind::Adaptive => (16_000, Level::High),
            ThinkingKind::Level => (8192, Level::Med),
            ThinkingKind::None
            | ThinkingKind::Budget
            | ThinkingKind::Effort
            | ThinkingKind::Toggle
            | ThinkingKind::Always => return,
        };
        if let Some(asked) = self.asked_limit().filter(|asked| *asked < tight && level >= from) {
            let why = format!("thinking is counted in the {asked} tokens of the answer and may leave little of them");
            self.losses.push(Loss::info(LossCode::Discouraged, "max_output_tokens", "max_output_tokens", why));
        }
    }
}

/// A loss of the plan, with its code.
fn coded(mut loss: Loss) -> Loss {
    if loss.code == LossCode::Other {
        loss.code = LossCode::RefusedByModel;
    }
    loss
}

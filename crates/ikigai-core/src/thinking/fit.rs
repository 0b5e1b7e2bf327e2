//! Fits the thinking settings to a model and to the API that serves it.

use std::borrow::Cow;

use super::limit::{Chosen, LEAST_BUDGET, Limit, LimitKind};
use super::plan::{Setting, clamped, least, plan};
use super::{Level, Thinking};
use crate::catalog::{ConverseFields, Rules, ThinkingDisplay, ThinkingKind, ThinkingOff, ThinkingRule};
use crate::fit::{AskedBy, OutputLimit, Restricted, ThinkingWire};
use crate::provider::{Quirks, ReasoningRequest};
use crate::wire::Target;
use crate::{Dialect, Loss, LossCode, Request};

/// Below this limit, an Anthropic answer may be cut off if the model thinks hard.
const TIGHT_ANTHROPIC: i64 = 16_000;
/// Below this limit, a Gemini answer may be cut off if the model thinks moderately hard.
const TIGHT_GEMINI: i64 = 8192;

/// What a request sends about thinking, and its output limit.
///
/// This is the only place where that is decided: requests are written from it, and so is everything that users are
/// shown about thinking.
///
/// ```
/// use ikigai_core::{Level, Request};
/// use ikigai_core::provider::Registry;
/// use ikigai_core::thinking::{ThinkingPlan, ThinkingSetting};
///
/// let registry = Registry::shared();
/// let route = registry.route(&registry.parse("claude-opus-4-1").unwrap()).unwrap();
/// let request = Request::new(&route.model).thinking(Level::High).max_output_tokens(4096);
/// let plan = ThinkingPlan::new(&request, route.dialect, &route.target());
/// assert_eq!((plan.setting, plan.max_output), (ThinkingSetting::Budget(27_904), Some(32_000)));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ThinkingPlan {
    /// What is sent about thinking.
    pub setting: ThinkingSetting,
    /// The output limit that is sent, thinking included.
    pub max_output: Option<i64>,
    /// What is sent about showing the thinking.
    pub show: ShowThinking,
    /// Whether the model will think.
    pub thinks: bool,
    /// Thinking should be off, but this model cannot turn it off.
    pub cannot_disable: bool,
    /// Differences from the request.
    pub losses: Vec<Loss>,
    limit: Limit,
    off: ThinkingSetting,
}

/// The thinking setting that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingSetting {
    /// Nothing.
    Unsaid,
    /// Off, with the API's own value for it: `disabled`, `none`, a budget of 0.
    Off,
    /// Off at the start, with short notes between tool calls (Anthropic's `between_tools`).
    BetweenTools,
    /// A budget in tokens; -1 lets Gemini choose.
    Budget(i64),
    /// An effort or level that the API accepts.
    Level(Level),
    /// On, without a level or budget.
    On,
}

/// Whether the request asks for the thinking to be shown in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowThinking {
    /// Nothing.
    Unsaid,
    /// Show it.
    Show,
    /// Hide it.
    Hide,
}

/// The way an API is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Api {
    Anthropic,
    Gemini,
    /// An effort.
    Effort,
    /// An effort, and whether to show the thinking.
    EffortAndFormat,
    /// An object with an effort or an explicit budget.
    ReasoningObject,
    /// On or off.
    Switch,
    /// On or off, and an effort.
    SwitchAndEffort,
    Nothing,
}

impl Api {
    fn of(wire: &ThinkingWire, quirks: &Quirks, rules: &Rules) -> Self {
        match wire.asked_by {
            AskedBy::BudgetOrAdaptive => Api::Anthropic,
            AskedBy::BudgetOrLevel => Api::Gemini,
            AskedBy::Effort => Api::Effort,
            AskedBy::Quirk => match quirks.chat.reasoning_request {
                ReasoningRequest::Effort => Api::Effort,
                ReasoningRequest::EffortAndFormat => Api::EffortAndFormat,
                ReasoningRequest::ReasoningObject => Api::ReasoningObject,
                ReasoningRequest::ThinkingType | ReasoningRequest::ChatTemplate => Api::Switch,
                ReasoningRequest::ThinkingTypeAndEffort => Api::SwitchAndEffort,
                ReasoningRequest::Nothing => Api::Nothing,
            },
            AskedBy::ConverseFields => match rules.converse {
                ConverseFields::Anthropic => Api::Anthropic,
                ConverseFields::Nova | ConverseFields::ReasoningEffort => Api::Effort,
                ConverseFields::ReasoningConfig => Api::Switch,
                ConverseFields::Nothing => Api::Nothing,
            },
        }
    }

    /// Returns the rule for this API: a model that natively takes budgets takes efforts here, or is only on or off.
    fn rule(self, rule: &ThinkingRule) -> Cow<'_, ThinkingRule> {
        let by_amount = matches!(
            rule.kind,
            ThinkingKind::Budget | ThinkingKind::Adaptive | ThinkingKind::Effort | ThinkingKind::Level
        );
        match self {
            Api::Effort | Api::EffortAndFormat | Api::SwitchAndEffort | Api::ReasoningObject
                if rule.kind == ThinkingKind::Budget || rule.takes_budget =>
            {
                let levels = match rule.levels.is_empty() {
                    true => Cow::Borrowed(&[Level::Low, Level::Med, Level::High][..]),
                    false => rule.levels.clone(),
                };
                let takes_budget = self == Api::ReasoningObject;
                Cow::Owned(ThinkingRule { kind: ThinkingKind::Effort, levels, takes_budget, ..rule.clone() })
            }
            Api::Switch if by_amount => {
                Cow::Owned(ThinkingRule { kind: ThinkingKind::Toggle, takes_budget: false, ..rule.clone() })
            }
            Api::Anthropic
            | Api::Gemini
            | Api::Effort
            | Api::EffortAndFormat
            | Api::ReasoningObject
            | Api::Switch
            | Api::SwitchAndEffort
            | Api::Nothing => Cow::Borrowed(rule),
        }
    }

    /// Returns how "off" is expressed.
    fn off(self, rule: &ThinkingRule) -> ThinkingSetting {
        match (rule.off, self) {
            (ThinkingOff::Silence | ThinkingOff::Impossible, _) | (_, Api::Nothing) => ThinkingSetting::Unsaid,
            (ThinkingOff::BetweenTools, Api::Anthropic) => ThinkingSetting::BetweenTools,
            (ThinkingOff::Word, Api::Gemini) if rule.kind != ThinkingKind::Budget => {
                ThinkingSetting::Level(Level::Minimal)
            }
            (ThinkingOff::Word | ThinkingOff::BetweenTools, _) => ThinkingSetting::Off,
        }
    }
}

impl ThinkingPlan {
    /// Works out what a request in a dialect sends to a model about thinking.
    pub fn new(request: &Request, dialect: Dialect, target: &Target<'_>) -> Self {
        let abilities = dialect.abilities();
        let api = Api::of(&abilities.thinking, target.quirks, target.rules);
        let rules: Cow<'_, Rules> =
            target.facts.map_or(Cow::Borrowed(target.rules), |facts| target.rules.with_facts(facts));
        let rule = match abilities.thinking.restricted {
            Restricted::AsInChat => rules.thinking.in_chat(),
            Restricted::No => Cow::Borrowed(&rules.thinking),
        };
        let rule = api.rule(&rule);
        let known = target.facts.and_then(|facts| facts.max_output);
        let longest = known.or(rules.max_output);
        let limit = Limit {
            // A limit known only for the family does not restrict what hosts of compatible APIs accept.
            longest: if matches!(api, Api::Anthropic | Api::Gemini) { longest } else { known }.map(i64::from),
            asked: request.max_output_tokens.filter(|tokens| *tokens > 0),
            kind: match abilities.output_limit {
                OutputLimit::Required => LimitKind::Required { streams: request.stream == Some(true) },
                OutputLimit::Optional => LimitKind::Optional { least: abilities.least_output },
                OutputLimit::AboveBudget => LimitKind::AboveBudget { least: abilities.least_output },
            },
        };
        let mut this = ThinkingPlan {
            setting: ThinkingSetting::Unsaid,
            max_output: None,
            show: ShowThinking::Unsaid,
            thinks: rule.thinks_by_default(),
            cannot_disable: false,
            losses: Vec::new(),
            limit,
            off: api.off(&rule),
        };
        let Some(wish) = &request.thinking else {
            this.max_output = limit.plain(&mut this.losses);
            return this;
        };
        this.cannot_disable = wish.is_off() && refuses_off(&rule);
        this.choose(wish, &rule, api, longest);
        this.show(wish, &rule, api);
        this
    }

    /// Turns thinking off because of something else in the request.
    #[must_use]
    pub fn without_thinking(mut self, why: impl Into<String>) -> Self {
        // What was reported about the amount no longer applies.
        self.losses.clear();
        self.losses.push(Loss::new(LossCode::Conflict, "thinking", "thinking", why));
        self.setting = self.off;
        self.show = ShowThinking::Unsaid;
        self.thinks = false;
        self.max_output = self.limit.plain(&mut self.losses);
        self
    }

    /// Returns the budget that is sent, or `None` if there is none.
    pub fn budget(&self) -> Option<i64> {
        match self.setting {
            ThinkingSetting::Budget(tokens) => Some(tokens),
            ThinkingSetting::Unsaid
            | ThinkingSetting::Off
            | ThinkingSetting::BetweenTools
            | ThinkingSetting::Level(_)
            | ThinkingSetting::On => None,
        }
    }

    fn choose(&mut self, wish: &Thinking, rule: &ThinkingRule, api: Api, longest: Option<u32>) {
        let explicit = wish.budget.filter(|tokens| *tokens > 0 && rule.takes_budgets());
        let setting = match explicit {
            // Reported once, when the limit is known too.
            Some(tokens) => Setting::Budget(clamped(rule, tokens, longest)),
            None => {
                let planned = plan(wish, rule, longest);
                self.losses.extend(planned.losses);
                planned.setting
            }
        };
        match setting {
            Setting::Unsaid => {}
            Setting::Off => {
                self.setting = self.off;
                self.thinks = false;
            }
            Setting::Budget(tokens) => {
                self.thinks = true;
                let chosen = explicit.map_or(Chosen::ByLevel, |_| Chosen::ByCaller(wish.budget.unwrap_or(tokens)));
                return self.give_budget(tokens, rule, api, chosen);
            }
            Setting::Level(level) => {
                self.thinks = true;
                self.setting = ThinkingSetting::Level(level);
                self.warn_when_tight(level, api);
            }
            Setting::On => {
                self.thinks = true;
                match (api, rule.kind) {
                    (Api::Anthropic, ThinkingKind::Adaptive) => self.setting = ThinkingSetting::On,
                    (Api::Anthropic, _) => return self.give_budget(rule.min, rule, api, Chosen::ByLevel),
                    (Api::Gemini, _) => self.setting = ThinkingSetting::Level(Level::High),
                    (Api::Effort | Api::EffortAndFormat, ThinkingKind::Adaptive) => {
                        let usual = rule.default.filter(|level| *level != Level::None).unwrap_or(Level::High);
                        self.setting = ThinkingSetting::Level(usual);
                    }
                    (_, _) => self.setting = ThinkingSetting::On,
                }
            }
        }
        if api == Api::Nothing {
            self.say_nothing(setting, rule);
        }
        self.max_output = self.limit.plain(&mut self.losses);
    }

    fn give_budget(&mut self, tokens: i64, rule: &ThinkingRule, api: Api, chosen: Chosen) {
        let tokens = if api == Api::Anthropic { tokens.max(LEAST_BUDGET) } else { tokens };
        if tokens <= 0 {
            self.setting = ThinkingSetting::Budget(tokens);
            self.max_output = self.limit.plain(&mut self.losses);
            return;
        }
        match self.limit.with_budget(tokens, rule.min, chosen, &mut self.losses) {
            Some(fitted) => {
                self.setting = ThinkingSetting::Budget(fitted.budget);
                self.max_output = fitted.limit;
            }
            None => {
                self.setting = self.off;
                self.thinks = false;
                self.max_output = self.limit.plain(&mut self.losses);
            }
        }
    }

    /// Handles an API without a parameter for thinking.
    fn say_nothing(&mut self, wanted: Setting, rule: &ThinkingRule) {
        self.setting = ThinkingSetting::Unsaid;
        self.thinks = rule.thinks_by_default();
        let differs = match wanted {
            Setting::Unsaid => false,
            Setting::Off => self.thinks,
            Setting::Budget(_) | Setting::Level(_) | Setting::On => true,
        };
        if differs {
            self.losses.clear();
            let why = "this provider has no parameter for thinking; nothing is sent";
            self.losses.push(Loss::new(LossCode::RefusedByProvider, "thinking", "thinking", why));
        }
    }

    fn warn_when_tight(&mut self, level: Level, api: Api) {
        let (least, tight) = match api {
            Api::Anthropic => (Level::High, TIGHT_ANTHROPIC),
            Api::Gemini => (Level::Med, TIGHT_GEMINI),
            Api::Effort
            | Api::EffortAndFormat
            | Api::ReasoningObject
            | Api::Switch
            | Api::SwitchAndEffort
            | Api::Nothing => return,
        };
        if let Some(asked) = self.limit.asked.filter(|asked| level >= least && *asked < tight) {
            let why = format!("the limit of {asked} tokens includes the thinking and may cut the answer off");
            self.losses.push(Loss::info(LossCode::OutOfRange, "max_output_tokens", "max_output_tokens", why));
        }
    }

    fn show(&mut self, wish: &Thinking, rule: &ThinkingRule, api: Api) {
        if !self.thinks || rule.kind == ThinkingKind::None || api == Api::Nothing {
            return;
        }
        let can_hide = matches!(api, Api::ReasoningObject | Api::EffortAndFormat);
        self.show = match (wish.include_summary, rule.display) {
            (_, ThinkingDisplay::Never) if !can_hide => ShowThinking::Unsaid,
            (true, ThinkingDisplay::Always | ThinkingDisplay::UnlessHidden) if api == Api::Anthropic => {
                ShowThinking::Unsaid
            }
            (true, _) => ShowThinking::Show,
            (false, ThinkingDisplay::Always) if !can_hide => {
                let why = "this model always shows its thinking";
                self.losses.push(Loss::info(LossCode::RefusedByModel, "thinking", "thinking.include_summary", why));
                ShowThinking::Unsaid
            }
            (false, _) => ShowThinking::Hide,
        };
    }
}

/// Returns whether turning thinking off is refused. Gemini's lowest level is nearly off, which is reported differently.
fn refuses_off(rule: &ThinkingRule) -> bool {
    let nearly = rule.kind == ThinkingKind::Level && least(rule) == Some(Level::Minimal);
    rule.kind != ThinkingKind::None && rule.off == ThinkingOff::Impossible && !nearly
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;

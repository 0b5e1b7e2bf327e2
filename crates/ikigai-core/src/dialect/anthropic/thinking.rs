//! Thinking, and the output limit that it shares with the answer.
//!
//! Three mechanisms: a budget in tokens (`enabled`), the model's own measure steered by an effort (`adaptive`), and off
//! (absent, `disabled` or `between_tools`). A budget is spent out of `max_tokens`, so the two are worked out together:
//! a budget that comes from a level is added to the room for the answer, one that the caller named leaves the limit as
//! it is.

use serde_json::{Map, Value, json};

use crate::catalog::rules_for;
use crate::dialect::Target;
use crate::thinking::{Setting, nearest_level, plan};
use crate::{ForcedTools, Level, Loss, Request, Thinking, ThinkingDisplay, ThinkingKind, ThinkingOff, ThinkingRule};

/// The least budget that the API takes.
const LEAST: i64 = 1024;
/// Room for the answer when the caller names none.
const ROOM: i64 = 8192;
/// Above this an answer that does not stream is refused by official clients, and cut off by many proxies.
const LONGEST_UNSTREAMED: i64 = 21_333;
/// Below this an answer may be cut off when the model thinks hard.
const TIGHT: i64 = 16_000;

/// What a client's request says about thinking. The wire's words are kept in `raw`, to be echoed while the wish stays.
pub(super) fn decode(
    thinking: Option<Value>,
    effort: Option<Value>,
    request: &mut Request,
    raw: &mut Map<String, Value>,
) {
    request.thinking = read(thinking.as_ref(), effort.as_ref(), &request.model);
    if let Some(thinking) = thinking {
        raw.insert("thinking".to_owned(), thinking);
    }
    if let Some(effort) = effort {
        raw.insert("effort".to_owned(), effort);
    }
}

/// Is this a `thinking` field that we understand?
pub(super) fn is_known(thinking: &Value) -> bool {
    matches!(kind(thinking), Some("enabled" | "adaptive" | "disabled" | "between_tools"))
}

/// Is this an effort that we understand?
pub(super) fn is_effort(word: &Value) -> bool {
    level(word).is_some()
}

fn kind(thinking: &Value) -> Option<&str> {
    thinking.get("type").and_then(Value::as_str)
}

fn level(effort: &Value) -> Option<Level> {
    let level: Level = effort.as_str()?.parse().ok()?;
    (level != Level::None && level.effort() == effort).then_some(level)
}

/// The wish that the wire's words mean.
pub(super) fn read(thinking: Option<&Value>, effort: Option<&Value>, model: &str) -> Option<Thinking> {
    let rule = &rules_for(model).thinking;
    let effort = effort.and_then(level);
    let wish = |level, budget| {
        let hidden = thinking.and_then(|thinking| thinking.get("display")).is_some_and(|display| display == "omitted");
        Some(Thinking { level, budget, include_summary: !hidden })
    };
    match thinking.map(|thinking| (kind(thinking), thinking.get("budget_tokens").and_then(Value::as_i64))) {
        None => effort.map(Thinking::from),
        Some((Some("enabled"), Some(budget))) => {
            wish(effort.or_else(|| Some(nearest_level(rule, budget))), Some(budget))
        }
        // Without an effort it is the model's default; that of most is high.
        Some((Some("enabled" | "adaptive"), _)) => {
            let usual = rule.default.filter(|level| *level != Level::None).unwrap_or(Level::High);
            wish(Some(effort.unwrap_or(usual)), None)
        }
        Some((Some("disabled" | "between_tools"), _)) => wish(Some(Level::None), None),
        Some(_) => None,
    }
}

/// What goes on the wire.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sent {
    pub(super) thinking: Option<Value>,
    pub(super) effort: Option<Value>,
    pub(super) max_tokens: Option<Value>,
    /// Does the model think? Then most sampling parameters are refused.
    pub(super) thinks: bool,
}

/// Things in a request that cannot stand beside a thinking budget.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Obstacles {
    /// The tool choice forces a tool.
    pub(super) forced_tool: bool,
    /// The tool turn that is going on does not begin with the model's own thinking.
    pub(super) unsigned_tool_turn: bool,
    /// The conversation ends with the beginning of the answer.
    pub(super) prefill: bool,
}

/// What to send, by the rules of the model.
pub(super) fn encode(request: &Request, target: &Target<'_>, obstacles: Obstacles, losses: &mut Vec<Loss>) -> Sent {
    let rule = &target.rules.thinking;
    let longest = target.facts.and_then(|facts| facts.max_output).or(target.rules.max_output);
    let limit =
        Limit { longest: longest.map(i64::from), asked: request.max_output_tokens.filter(|tokens| *tokens >= 0) };
    let Some(wish) = &request.thinking else {
        let max_tokens = Some(limit.plain(request, losses).into());
        return Sent { max_tokens, thinks: rule.thinks_by_default(), ..Sent::default() };
    };
    let planned = plan(wish, rule, longest);
    let thinks = planned.thinks(rule);
    losses.extend(planned.losses);
    if let Some(why) = obstacle(planned.setting, target, obstacles).filter(|_| thinks) {
        losses.push(Loss::new("thinking", "thinking", why));
        let max_tokens = Some(limit.plain(request, losses).into());
        return Sent { thinking: off(rule), max_tokens, ..Sent::default() };
    }
    let mut sent = Sent { thinks, ..Sent::default() };
    match planned.setting {
        Setting::Unsaid => {}
        Setting::Off => sent.thinking = off(rule),
        Setting::Budget(budget) => match limit.with_budget(budget.max(LEAST), wish.budget.is_some(), losses) {
            Some((max_tokens, budget)) => {
                sent.max_tokens = Some(max_tokens.into());
                sent.thinking = Some(json!({"type": "enabled", "budget_tokens": budget}));
            }
            None => sent.thinks = false,
        },
        Setting::Level(level) => {
            sent.effort = Some(level.effort().into());
            // A model that cannot be without thinking is only asked for little of it.
            if wish.level != Some(Level::None) && rule.kind == ThinkingKind::Adaptive {
                sent.thinking = Some(json!({"type": "adaptive"}));
            }
            warn_when_tight(level, limit.asked, losses);
        }
        Setting::On if rule.kind == ThinkingKind::Adaptive => sent.thinking = Some(json!({"type": "adaptive"})),
        Setting::On => match limit.with_budget(rule.min.max(LEAST), false, losses) {
            Some((max_tokens, budget)) => {
                sent.max_tokens = Some(max_tokens.into());
                sent.thinking = Some(json!({"type": "enabled", "budget_tokens": budget}));
            }
            None => sent.thinks = false,
        },
    }
    if sent.thinks {
        display(rule, wish, &mut sent.thinking, losses);
    }
    if sent.max_tokens.is_none() {
        sent.max_tokens = Some(limit.plain(request, losses).into());
    }
    sent
}

/// Why thinking cannot be had beside the rest of the request.
fn obstacle(setting: Setting, target: &Target<'_>, obstacles: Obstacles) -> Option<&'static str> {
    let manual = matches!(setting, Setting::Budget(_));
    let forced = match target.rules.forced_tools {
        ForcedTools::NotWhileThinking => obstacles.forced_tool,
        ForcedTools::Taken => obstacles.forced_tool && manual,
        // There the choice gives way.
        ForcedTools::Refused => false,
    };
    if forced {
        Some("this model refuses thinking beside a tool choice that forces a tool; thinking is left out")
    } else if manual && obstacles.unsigned_tool_turn {
        Some(
            "the tool turn that is going on began without this model's thinking, which it then demands; thinking is left out",
        )
    } else if manual && obstacles.prefill {
        Some("this model refuses thinking when the conversation ends with the assistant; thinking is left out")
    } else {
        None
    }
}

fn off(rule: &ThinkingRule) -> Option<Value> {
    match rule.off {
        ThinkingOff::Word => Some(json!({"type": "disabled"})),
        ThinkingOff::BetweenTools => Some(json!({"type": "between_tools"})),
        ThinkingOff::Silence | ThinkingOff::Impossible => None,
    }
}

/// Says whether the thinking is to be shown, where the model asks for that.
fn display(rule: &ThinkingRule, wish: &Thinking, thinking: &mut Option<Value>, losses: &mut Vec<Loss>) {
    let word = match (rule.display, wish.include_summary) {
        (ThinkingDisplay::Always, true) | (ThinkingDisplay::UnlessHidden, true) | (ThinkingDisplay::Never, false) => {
            return;
        }
        (ThinkingDisplay::Always, false) => {
            let why = "this model always shows its thinking";
            return losses.push(Loss::info("thinking.include_summary", "thinking.include_summary", why));
        }
        (ThinkingDisplay::Never, true) => {
            let why = "this model never shows its thinking";
            return losses.push(Loss::info("thinking.include_summary", "thinking.include_summary", why));
        }
        (ThinkingDisplay::OnRequest, true) => "summarized",
        (ThinkingDisplay::UnlessHidden | ThinkingDisplay::OnRequest, false) => "omitted",
    };
    if let Some(Value::Object(fields)) = thinking {
        fields.insert("display".to_owned(), word.into());
    }
}

fn warn_when_tight(level: Level, asked: Option<i64>, losses: &mut Vec<Loss>) {
    if let Some(asked) = asked.filter(|asked| *asked < TIGHT && level >= Level::High) {
        let why = format!("thinking is counted in the {asked} tokens of the answer and may leave little of them");
        losses.push(Loss::info("max_output_tokens", "max_output_tokens", why));
    }
}

/// The output limit: what the model has, and what the caller asked for.
#[derive(Debug, Clone, Copy)]
struct Limit {
    longest: Option<i64>,
    asked: Option<i64>,
}

impl Limit {
    /// The limit when no budget is spent out of it. The API wants one in any case.
    fn plain(self, request: &Request, losses: &mut Vec<Loss>) -> i64 {
        match (self.asked, self.longest) {
            (Some(asked), Some(longest)) if asked > longest => {
                let why = format!("this model's answers have at most {longest} tokens; that is sent for {asked}");
                losses.push(Loss::new("max_output_tokens", "max_output_tokens", why));
                longest
            }
            (Some(asked), _) => asked,
            (None, Some(longest)) if request.stream == Some(true) => longest,
            (None, Some(longest)) => longest.min(LONGEST_UNSTREAMED),
            (None, None) => ROOM,
        }
    }

    /// The limit and the budget inside it; none when there is no room to think.
    ///
    /// `named`: the caller named the budget, so that the limit stays what it is as long as the budget fits.
    fn with_budget(self, budget: i64, named: bool, losses: &mut Vec<Loss>) -> Option<(i64, i64)> {
        let longest = self.longest.unwrap_or(i64::MAX);
        if let Some(asked) = self.asked.filter(|asked| named && *asked > budget) {
            let limit = asked.min(longest);
            if limit < asked {
                let why = format!("this model's answers have at most {longest} tokens; that is sent for {asked}");
                losses.push(Loss::new("max_output_tokens", "max_output_tokens", why));
            }
            if limit > budget {
                return Some((limit, budget));
            }
        }
        let room = self.asked.unwrap_or_else(|| ROOM.min(longest / 4)).max(1);
        let limit = longest.min(room.saturating_add(budget));
        // The answer keeps its room, or at least half of a very small window.
        let taken = budget.min(limit - room.min(limit / 2));
        if taken < LEAST {
            let why = format!("a limit of {limit} tokens is too small for thinking; it is left out");
            losses.push(Loss::new("thinking", "thinking", why));
            return None;
        }
        if named && self.asked.is_some() {
            let why = format!("the limit must be above the thinking budget of {budget}; {limit} is sent");
            losses.push(Loss::new("max_output_tokens", "max_output_tokens", why));
        }
        if taken < budget {
            let why = format!("a budget of {budget} tokens leaves no room for the answer; {taken} is sent");
            losses.push(Loss::new("thinking", "thinking", why));
        }
        Some((limit, taken))
    }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

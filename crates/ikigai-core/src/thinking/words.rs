//! What a thinking level means for a model, told to people.

use super::plan::{Plan, Setting, plan};
use super::{CANNOT_DISABLE, Thinking};
use crate::{Dialect, Display, Level, Off, Rules, Severity, Shown, ThinkingKind, ThinkingRule, rules_for};

/// What a wish to think means for one model, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThinkingWords {
    /// What is not as it was asked for: "This model does not support disabling thinking".
    pub warnings: Vec<String>,
    /// What will be: "Thinking: medium (43,008 tokens)".
    pub lines: Vec<String>,
}

/// What a wish to think means for one model. `thinking` is absent when nothing was asked for.
///
/// An effort is told as its usual share of the output budget: minimal about 10 %, low 20 %, medium 50 %, high 80 %,
/// xhigh 95 %. OpenAI publishes no such numbers; these are the shares that routers reckon with.
///
/// ```
/// use ikigai_core::{Level, rules_for, thinking_words};
///
/// let words = thinking_words(rules_for("claude-sonnet-4-5"), Some(&Level::Med.into()));
/// assert_eq!(words.lines, ["Thinking: medium (43,008 tokens)"]);
/// ```
pub fn thinking_words(rules: &Rules, thinking: Option<&Thinking>) -> ThinkingWords {
    let rule = &rules.thinking;
    let asked = thinking.filter(|asked| asked.level.is_some() || asked.budget.is_some());
    let Some(asked) = asked else {
        return ThinkingWords { warnings: Vec::new(), lines: default_words(rule).into_iter().collect() };
    };
    let plan = plan(asked, rule, rules.max_output);
    let mut lines = vec![format!("Thinking: {}", setting_words(rule, asked, &plan))];
    if wants_buffer(rules, &plan) {
        lines.push(format!("Recommended output buffer: {} tokens", thousands(RECOMMENDED_BUFFER)));
    }
    ThinkingWords { warnings: warnings(rule, &plan), lines }
}

/// What people see when they have switched to a model: a line that says so, and what their wish to think means there.
///
/// `dialect` is the one that requests will go in. It is named where it is the Responses API and thinking was asked for,
/// since it is the only one of the two OpenAI dialects that shows any.
///
/// ```
/// use ikigai_core::{Dialect, Level, switch_banner};
///
/// assert_eq!(
///     switch_banner("Google", "gemini-3-pro", Dialect::Gemini, Some(&Level::None.into())),
///     "✓ Switched to Google gemini-3-pro\n  ⚠ This model does not support disabling thinking\n  Thinking: LOW level (minimum)",
/// );
/// ```
pub fn switch_banner(provider: &str, model: &str, dialect: Dialect, thinking: Option<&Thinking>) -> String {
    let rules = rules_for(model);
    let words = thinking_words(rules, thinking);
    let without = thinking.is_some_and(|asked| asked.level == Some(Level::None) && asked.budget.is_none());
    let thinks = rules.thinking.kind != ThinkingKind::None;
    let through = match dialect {
        Dialect::OpenaiResponses if thinks && !without => " (Responses API)",
        Dialect::OpenaiResponses | Dialect::OpenaiChat | Dialect::Anthropic | Dialect::Gemini => "",
    };
    let mut text = format!("✓ Switched to {provider} {model}{through}");
    for warning in &words.warnings {
        text.push_str("\n  ⚠ ");
        text.push_str(warning);
    }
    for line in &words.lines {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

impl ThinkingRule {
    /// What can be seen of the thinking, for people: "a summary, when asked for".
    pub fn visibility(&self) -> &'static str {
        match (self.kind, self.display, self.shown) {
            (ThinkingKind::None, ..) => "nothing: it does not think",
            (_, Display::Never, _) => "nothing but the number of tokens",
            (_, Display::Always | Display::UnlessHidden, Shown::Whole) => "all of it",
            (_, Display::Always | Display::UnlessHidden, Shown::Summary) => "a summary",
            (_, Display::OnRequest, Shown::Whole) => "all of it when asked for, otherwise the number of tokens",
            (_, Display::OnRequest, Shown::Summary) => "a summary when asked for, otherwise the number of tokens",
        }
    }
}

/// The room that OpenAI advises to leave for reasoning and answer together.
const RECOMMENDED_BUFFER: i64 = 25_000;

/// Models that think out of an output limit that people set too low.
fn wants_buffer(rules: &Rules, plan: &Plan) -> bool {
    let asked_for = matches!(plan.setting, Setting::Level(level) if level > Level::Minimal);
    let unwanted = plan.losses.iter().any(|loss| loss.why.starts_with(CANNOT_DISABLE));
    rules.responses_api && asked_for && !unwanted
}

fn default_words(rule: &ThinkingRule) -> Option<String> {
    let by_itself = match (rule.kind, rule.default) {
        (ThinkingKind::None, _) => return None,
        (ThinkingKind::Always, _) => "always on".to_owned(),
        (_, Some(Level::None)) => "off".to_owned(),
        (_, None) => "as much as the model chooses".to_owned(),
        (ThinkingKind::Level, Some(level)) => format!("{} level", level.capitals()),
        (ThinkingKind::Budget | ThinkingKind::Adaptive | ThinkingKind::Effort | ThinkingKind::Toggle, Some(level)) => {
            format!("{} effort", level.effort())
        }
    };
    Some(format!("Thinking: {by_itself} (default)"))
}

fn setting_words(rule: &ThinkingRule, asked: &Thinking, plan: &Plan) -> String {
    match plan.setting {
        Setting::Unsaid if rule.kind == ThinkingKind::Always => "always on".to_owned(),
        Setting::Unsaid if rule.kind == ThinkingKind::None => "off".to_owned(),
        Setting::Unsaid | Setting::Budget(-1) => "as much as the model chooses".to_owned(),
        Setting::Off if rule.off == Off::BetweenTools => "off, but for short notes between tool calls".to_owned(),
        Setting::Off => "off".to_owned(),
        Setting::On if rule.kind == ThinkingKind::Adaptive => "as much as the model chooses".to_owned(),
        Setting::On => "on".to_owned(),
        Setting::Budget(tokens) => {
            let word = match (asked.budget, asked.level) {
                (Some(_), _) => "custom",
                (None, Some(Level::None)) | (None, None) => "minimum",
                (None, Some(Level::Xhigh | Level::Max)) => Level::High.effort(),
                (None, Some(level)) => level.effort(),
            };
            format!("{word} ({} tokens)", thousands(tokens))
        }
        Setting::Level(level) => {
            let without = asked.level == Some(Level::None) && asked.budget.is_none() || asked.budget == Some(0);
            let note = match rule.kind {
                _ if without && rule.default == Some(level) && rule.levels.first() != Some(&level) => {
                    " (default)".to_owned()
                }
                _ if without => " (minimum)".to_owned(),
                ThinkingKind::Adaptive => " (adaptive)".to_owned(),
                ThinkingKind::Level if rule.levels.last() == Some(&level) => " (maximum)".to_owned(),
                ThinkingKind::Effort => {
                    share(level).map_or_else(String::new, |part| format!(" (~{part}% of output budget)"))
                }
                ThinkingKind::None
                | ThinkingKind::Budget
                | ThinkingKind::Level
                | ThinkingKind::Toggle
                | ThinkingKind::Always => String::new(),
            };
            match rule.kind {
                ThinkingKind::Level => format!("{} level{note}", level.capitals()),
                ThinkingKind::None
                | ThinkingKind::Budget
                | ThinkingKind::Adaptive
                | ThinkingKind::Effort
                | ThinkingKind::Toggle
                | ThinkingKind::Always => format!("{} effort{note}", level.effort()),
            }
        }
    }
}

/// The usual share of an effort in the output budget, in percent.
fn share(level: Level) -> Option<u8> {
    match level {
        Level::Minimal => Some(10),
        Level::Low => Some(20),
        Level::Med => Some(50),
        Level::High => Some(80),
        Level::Xhigh => Some(95),
        Level::None | Level::Max => None,
    }
}

fn warnings(rule: &ThinkingRule, plan: &Plan) -> Vec<String> {
    plan.losses
        .iter()
        // What a model that is only on or off makes of a level, its line says already.
        .filter(|loss| loss.severity == Severity::Loss || rule.kind == ThinkingKind::Level)
        .map(|loss| match loss.why.strip_prefix(CANNOT_DISABLE) {
            Some(_) => CANNOT_DISABLE.to_owned(),
            None => sentence(&loss.why),
        })
        .collect()
}

fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// A number with commas between thousands.
fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

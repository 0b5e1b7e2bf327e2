//! What a thinking level means for a model, described for people. Numbers and words match the request that is sent.

use std::borrow::Cow;

use ikigai_core::catalog::{Rules, ThinkingDetail, ThinkingDisplay, ThinkingKind, ThinkingRule};
use ikigai_core::provider::Route;
use ikigai_core::thinking::{ThinkingPlan, ThinkingSetting};
use ikigai_core::{Level, Request, Severity, Thinking};

use crate::table::thousands;

const CANNOT_DISABLE: &str = "This model does not support disabling thinking";
/// How many tokens OpenAI advises to leave for reasoning and answer together.
const RECOMMENDED_BUFFER: i64 = 25_000;

/// What a thinking setting means for one model, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// What differs from the request: "This model does not support disabling thinking".
    pub(crate) warnings: Vec<String>,
    /// What will happen: "Thinking: medium (43,008 tokens)".
    pub(crate) lines: Vec<String>,
}

/// Describes what a thinking setting means for one model. `wish` is `None` if nothing was requested.
///
/// An effort is shown as its usual share of the output budget: minimal about 10 %, low 20 %, medium 50 %, high 80 %,
/// xhigh 95 %. OpenAI publishes no such numbers; these are the shares that routers assume.
pub(crate) fn words(route: &Route<'_>, wish: Option<&Thinking>) -> Words {
    let rules = rules(route);
    let asked = wish.filter(|asked| asked.level.is_some() || asked.budget.is_some());
    let Some(asked) = asked else {
        return Words { warnings: Vec::new(), lines: default_words(&rules.thinking).into_iter().collect() };
    };
    let plan = plan(route, asked);
    let mut lines = vec![format!("Thinking: {}", setting_words(&rules.thinking, asked, &plan))];
    if wants_buffer(&rules, &plan) {
        lines.push(format!("Recommended output buffer: {} tokens", thousands(RECOMMENDED_BUFFER)));
    }
    Words { warnings: warnings(&rules.thinking, &plan), lines }
}

/// Returns the message after switching to a model: a line that says so, and what the thinking setting means there.
///
/// The API is named if thinking is on and it is OpenAI's Responses API, the one of the maker's two that shows any.
pub(crate) fn switch_banner(route: &Route<'_>, model: &str, wish: Option<&Thinking>) -> String {
    let words = words(route, wish);
    let thinks = rules(route).thinking.kind != ThinkingKind::None;
    let shown = route.dialect.second_name().filter(|_| thinks && !wish.is_some_and(Thinking::is_off));
    let through = shown.map(|name| format!(" ({name})")).unwrap_or_default();
    let mut text = format!("✓ Switched to {} {model}{through}", route.provider.name);
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

/// Returns what is sent for each of the four levels, in a word or two: `off`, `43,008 tokens`, `medium`, `HIGH`.
pub(crate) fn sent(route: &Route<'_>) -> [(Level, String); 4] {
    let kind = rules(route).thinking.kind;
    [Level::None, Level::Low, Level::Med, Level::High].map(|level| {
        let plan = plan(route, &Thinking::from(level));
        let words = match plan.setting {
            ThinkingSetting::BetweenTools => "between tools".to_owned(),
            _ if !plan.thinks => "off".to_owned(),
            ThinkingSetting::Budget(_) if kind == ThinkingKind::Toggle => "on".to_owned(),
            ThinkingSetting::Budget(tokens) => format!("{} tokens", thousands(tokens)),
            ThinkingSetting::Level(level) if kind == ThinkingKind::Level => level.capitals().to_owned(),
            ThinkingSetting::Level(level) => level.effort().to_owned(),
            // A setting newer than this list counts as on, because the model thinks.
            _ => "on".to_owned(),
        };
        (level, words)
    })
}

/// Returns how much of the thinking is visible: "a summary when asked for, otherwise the number of tokens".
pub(crate) fn visibility(rule: &ThinkingRule) -> &'static str {
    match (rule.kind, rule.display, rule.shown) {
        (ThinkingKind::None, ..) => "nothing: it does not think",
        (_, ThinkingDisplay::Never, _) => "only the number of tokens",
        (_, ThinkingDisplay::Always | ThinkingDisplay::UnlessHidden, ThinkingDetail::Whole) => "all of it",
        (_, ThinkingDisplay::Always | ThinkingDisplay::UnlessHidden, ThinkingDetail::Summary) => "a summary",
        (_, ThinkingDisplay::OnRequest, ThinkingDetail::Whole) => {
            "all of it when asked for, otherwise the number of tokens"
        }
        (_, ThinkingDisplay::OnRequest, ThinkingDetail::Summary) => {
            "a summary when asked for, otherwise the number of tokens"
        }
        // A rule newer than this list.
        _ => "not known",
    }
}

/// Returns the model's rules, completed from the catalogue.
pub(crate) fn rules<'a>(route: &Route<'a>) -> Cow<'a, Rules> {
    route.facts.map_or(Cow::Borrowed(route.rules), |facts| route.rules.with_facts(facts))
}

/// Returns what the program would send in a request, which always streams.
fn plan(route: &Route<'_>, wish: &Thinking) -> ThinkingPlan {
    let mut request = Request::new(&route.model).thinking(wish.clone());
    request.stream = Some(true);
    ThinkingPlan::new(&request, route.dialect, &route.target())
}

/// Whether the model's thinking counts against an output limit that people tend to set too low.
fn wants_buffer(rules: &Rules, plan: &ThinkingPlan) -> bool {
    let asked_for = matches!(plan.setting, ThinkingSetting::Level(level) if level > Level::Minimal);
    rules.responses_api && asked_for && !plan.cannot_disable
}

fn default_words(rule: &ThinkingRule) -> Option<String> {
    let by_itself = match (rule.kind, rule.default) {
        (ThinkingKind::None, _) => return None,
        (ThinkingKind::Always, _) => "always on".to_owned(),
        (_, Some(Level::None)) => "off".to_owned(),
        (_, None) => "as much as the model chooses".to_owned(),
        (ThinkingKind::Level, Some(level)) => format!("{} level", level.capitals()),
        (_, Some(level)) => format!("{} effort", level.effort()),
    };
    Some(format!("Thinking: {by_itself} (default)"))
}

fn setting_words(rule: &ThinkingRule, asked: &Thinking, plan: &ThinkingPlan) -> String {
    match plan.setting {
        ThinkingSetting::BetweenTools => "off, except for short notes between tool calls".to_owned(),
        _ if !plan.thinks => "off".to_owned(),
        ThinkingSetting::Unsaid if rule.kind == ThinkingKind::Always => "always on".to_owned(),
        ThinkingSetting::Unsaid | ThinkingSetting::Budget(-1) => "as much as the model chooses".to_owned(),
        ThinkingSetting::Budget(_) if rule.kind == ThinkingKind::Toggle => "on".to_owned(),
        ThinkingSetting::Budget(tokens) => {
            let word = match (asked.budget, asked.level) {
                (Some(_), _) => "custom",
                (None, Some(Level::None)) | (None, None) => "minimum",
                (None, Some(Level::Xhigh | Level::Max)) => Level::High.effort(),
                (None, Some(level)) => level.effort(),
            };
            format!("{word} ({} tokens)", thousands(tokens))
        }
        ThinkingSetting::Level(level) => level_words(rule, asked, level),
        ThinkingSetting::On if rule.kind == ThinkingKind::Adaptive => "as much as the model chooses".to_owned(),
        // A setting newer than this list counts as on, because the model thinks.
        _ => "on".to_owned(),
    }
}

fn level_words(rule: &ThinkingRule, asked: &Thinking, level: Level) -> String {
    let note = match rule.kind {
        _ if asked.is_off() && rule.default == Some(level) && rule.levels.first() != Some(&level) => {
            " (default)".to_owned()
        }
        _ if asked.is_off() => " (minimum)".to_owned(),
        ThinkingKind::Adaptive => " (adaptive)".to_owned(),
        ThinkingKind::Level if rule.levels.last() == Some(&level) => " (maximum)".to_owned(),
        ThinkingKind::Effort => share(level).map_or_else(String::new, |part| format!(" (~{part}% of output budget)")),
        _ => String::new(),
    };
    match rule.kind {
        ThinkingKind::Level => format!("{} level{note}", level.capitals()),
        _ => format!("{} effort{note}", level.effort()),
    }
}

/// Returns an effort's usual share of the output budget, in percent.
fn share(level: Level) -> Option<u8> {
    match level {
        Level::Minimal => Some(10),
        Level::Low => Some(20),
        Level::Med => Some(50),
        Level::High => Some(80),
        Level::Xhigh => Some(95),
        _ => None,
    }
}

fn warnings(rule: &ThinkingRule, plan: &ThinkingPlan) -> Vec<String> {
    if plan.cannot_disable {
        return vec![CANNOT_DISABLE.to_owned()];
    }
    plan.losses
        .iter()
        // For a model whose thinking is only on or off, the line already says what becomes of a level.
        .filter(|loss| loss.severity == Severity::Loss || rule.kind == ThinkingKind::Level)
        .map(|loss| sentence(&loss.why))
        .collect()
}

fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
#[path = "levels_tests.rs"]
mod tests;

//! Thinking: the parameters by which the family asks for it, both ways.

use serde_json::{Map, Value, json};

use crate::thinking::{Plan, Setting};
use crate::{Level, Loss, ReasoningRequest, Thinking, ThinkingDisplay, ThinkingOff, ThinkingRule};

/// The request fields that speak of thinking, wherever they come from.
pub(super) const FIELDS: [&str; 6] =
    ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs", "include_reasoning"];

/// Reads what the fields ask for. None when they say nothing that has a meaning elsewhere.
pub(super) fn decode(fields: &Map<String, Value>) -> Option<Thinking> {
    let mut thinking = Thinking { level: None, budget: None, include_summary: true };
    let mut said = false;
    let effort = |value: Option<&Value>| value.and_then(Value::as_str).and_then(|word| word.parse::<Level>().ok());
    if let Some(level) = effort(fields.get("reasoning_effort")) {
        thinking.level = Some(level);
        said = true;
    }
    if let Some(reasoning) = fields.get("reasoning").and_then(Value::as_object) {
        if let Some(level) = effort(reasoning.get("effort")) {
            thinking.level = Some(level);
            said = true;
        }
        if let Some(budget) = reasoning.get("max_tokens").and_then(Value::as_i64) {
            thinking.budget = Some(budget);
            said = true;
        }
        match reasoning.get("enabled").and_then(Value::as_bool) {
            Some(true) => said = true,
            Some(false) => {
                thinking.level = Some(Level::None);
                said = true;
            }
            None => {}
        }
        if reasoning.get("exclude").and_then(Value::as_bool) == Some(true) {
            thinking.include_summary = false;
            said = true;
        }
    }
    if let Some(kind) = fields.get("thinking").and_then(|thinking| thinking.get("type")).and_then(Value::as_str) {
        said = true;
        if kind == "disabled" {
            thinking.level = Some(Level::None);
        }
        if let Some(budget) = fields.get("thinking").and_then(|of| of.get("budget_tokens")).and_then(Value::as_i64) {
            thinking.budget = Some(budget);
        }
    }
    let template = fields.get("chat_template_kwargs");
    let switch = fields
        .get("enable_thinking")
        .or_else(|| template.and_then(|of| of.get("enable_thinking").or_else(|| of.get("thinking"))))
        .and_then(Value::as_bool);
    if let Some(on) = switch {
        said = true;
        if !on {
            thinking.level = Some(Level::None);
        }
    }
    match fields.get("include_reasoning").and_then(Value::as_bool) {
        Some(false) => {
            thinking.include_summary = false;
            said = true;
        }
        Some(true) => said = true,
        None => {}
    }
    said.then_some(thinking)
}

/// Writes a plan in the way that the provider asks for.
pub(super) fn encode(
    plan: &Plan,
    thinking: &Thinking,
    rule: &ThinkingRule,
    style: ReasoningRequest,
    losses: &mut Vec<Loss>,
) -> Map<String, Value> {
    let mut fields = Map::new();
    let setting = plan.setting;
    let hides = matches!(style, ReasoningRequest::ReasoningObject | ReasoningRequest::EffortAndFormat);
    let cannot_hide = !hides && rule.display == ThinkingDisplay::Always;
    if !thinking.include_summary && cannot_hide && plan.thinks(rule) {
        let why = "thinking cannot be hidden here; the answer may show it";
        losses.push(Loss::info("thinking", "thinking.include_summary", why));
    }
    match style {
        ReasoningRequest::Effort | ReasoningRequest::EffortAndFormat => {
            if let Some(word) = effort_word(setting, rule, losses) {
                fields.insert("reasoning_effort".to_owned(), word.into());
            }
            // Unsaid, some models write their thinking into the answer. A model that does not think refuses the field.
            if style == ReasoningRequest::EffortAndFormat && plan.thinks(rule) {
                let format = if thinking.include_summary { "parsed" } else { "hidden" };
                fields.insert("reasoning_format".to_owned(), format.into());
            }
        }
        ReasoningRequest::ReasoningObject => {
            let mut object = match setting {
                Setting::Unsaid => Map::new(),
                Setting::Off if rule.off == ThinkingOff::Silence => Map::new(),
                Setting::Off => object(json!({"effort": "none"})),
                Setting::Budget(tokens) => object(json!({"max_tokens": tokens})),
                Setting::Level(level) => object(json!({"effort": level.effort(), "enabled": true})),
                Setting::On => object(json!({"enabled": true})),
            };
            if !thinking.include_summary && setting != Setting::Off {
                object.insert("exclude".to_owned(), true.into());
            }
            if !object.is_empty() {
                fields.insert("reasoning".to_owned(), Value::Object(object));
            }
        }
        ReasoningRequest::ThinkingType | ReasoningRequest::ThinkingTypeAndEffort => {
            if let Some(on) = switch(setting, rule) {
                let kind = if on { "enabled" } else { "disabled" };
                fields.insert("thinking".to_owned(), json!({"type": kind}));
            }
            if style == ReasoningRequest::ThinkingTypeAndEffort
                && let Setting::Level(level) = setting
            {
                fields.insert("reasoning_effort".to_owned(), level.effort().into());
            }
        }
        ReasoningRequest::ChatTemplate => {
            if let Some(on) = switch(setting, rule) {
                fields.insert("chat_template_kwargs".to_owned(), json!({"enable_thinking": on}));
            }
        }
        ReasoningRequest::Nothing => {
            if !matches!(setting, Setting::Unsaid | Setting::Off) {
                losses.push(Loss::new(
                    "thinking",
                    "thinking",
                    "this provider has no parameter for thinking; nothing is sent about it",
                ));
            }
        }
    }
    fields
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// On or off, where anything is to be said.
fn switch(setting: Setting, rule: &ThinkingRule) -> Option<bool> {
    match setting {
        Setting::Unsaid => None,
        Setting::Off => (rule.off != ThinkingOff::Silence).then_some(false),
        Setting::Budget(_) | Setting::Level(_) | Setting::On => Some(true),
    }
}

fn effort_word(setting: Setting, rule: &ThinkingRule, losses: &mut Vec<Loss>) -> Option<&'static str> {
    match setting {
        Setting::Unsaid => None,
        Setting::Off => (rule.off != ThinkingOff::Silence).then_some("none"),
        Setting::Level(level) => Some(level.effort()),
        Setting::On => Some("default"),
        Setting::Budget(tokens) => {
            let level = crate::thinking::nearest_level(rule, tokens).max(Level::Low);
            losses.push(Loss::new(
                "thinking",
                "thinking.budget",
                format!("this API takes efforts, not budgets; {level} is sent for {tokens} tokens"),
            ));
            Some(level.effort())
        }
    }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

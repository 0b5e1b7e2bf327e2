//! Thinking: the parameters by which the family asks for it, both ways.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::fit::FittedThinking;
use crate::json::loose::raw;
use crate::json::wire::Rest;
use crate::provider::ReasoningRequest;
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{Fields, Level, Thinking};

/// The request fields that speak of thinking, wherever they come from.
pub(super) const FIELDS: [&str; 6] =
    ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs", "include_reasoning"];

/// Reads what the fields ask for. `None` if they say nothing that has a meaning elsewhere.
pub(super) fn decode(fields: &Fields) -> Option<Thinking> {
    let mut thinking = Thinking { level: None, budget: None, include_summary: true };
    let mut said = false;
    let field = |name: &str| fields.get(name).map(crate::Json::value);
    let effort = |value: Option<&Value>| value.and_then(Value::as_str).and_then(|word| word.parse::<Level>().ok());
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool);
    if let Some(level) = effort(field("reasoning_effort")) {
        thinking.level = Some(level);
        said = true;
    }
    if let Some(reasoning) = field("reasoning").and_then(Value::as_object) {
        if let Some(level) = effort(reasoning.get("effort")) {
            thinking.level = Some(level);
            said = true;
        }
        if let Some(budget) = reasoning.get("max_tokens").and_then(Value::as_i64) {
            thinking.budget = Some(budget);
            said = true;
        }
        if let Some(on) = flag(reasoning.get("enabled")) {
            said = true;
            if !on {
                thinking.level = Some(Level::None);
            }
        }
        if flag(reasoning.get("exclude")) == Some(true) {
            thinking.include_summary = false;
            said = true;
        }
    }
    if let Some(own) = field("thinking").and_then(Value::as_object)
        && let Some(kind) = own.get("type").and_then(Value::as_str)
    {
        said = true;
        if kind == "disabled" {
            thinking.level = Some(Level::None);
        }
        thinking.budget = own.get("budget_tokens").and_then(Value::as_i64).or(thinking.budget);
    }
    let template = field("chat_template_kwargs");
    let inside = template.and_then(|own| own.get("enable_thinking").or_else(|| own.get("thinking")));
    if let Some(on) = flag(field("enable_thinking").or(inside)) {
        said = true;
        if !on {
            thinking.level = Some(Level::None);
        }
    }
    if let Some(shown) = flag(field("include_reasoning")) {
        thinking.include_summary &= shown;
        said = true;
    }
    said.then_some(thinking)
}

/// Writes what is said about thinking, in the way that the provider asks for.
pub(super) fn encode(thinking: &FittedThinking, style: ReasoningRequest) -> Rest<'static> {
    let mut fields = Rest::new();
    let mut put = |name: &'static str, value: Value| fields.push((Cow::Borrowed(name), raw(&value)));
    let setting = thinking.setting;
    match style {
        ReasoningRequest::Effort | ReasoningRequest::EffortAndFormat => {
            if let Some(word) = effort_word(setting) {
                put("reasoning_effort", word.into());
            }
            // Unsaid, some models write their thinking into the answer. A model that does not think refuses the field.
            if style == ReasoningRequest::EffortAndFormat && thinking.thinks {
                let is_hidden = thinking.shown == ShowThinking::Hide;
                put("reasoning_format", if is_hidden { "hidden" } else { "parsed" }.into());
            }
        }
        ReasoningRequest::ReasoningObject => {
            let mut object = Map::new();
            match setting {
                ThinkingSetting::Unsaid | ThinkingSetting::BetweenTools => {}
                ThinkingSetting::Off => drop(object.insert("effort".to_owned(), "none".into())),
                ThinkingSetting::Budget(tokens) => drop(object.insert("max_tokens".to_owned(), tokens.into())),
                ThinkingSetting::Level(level) => drop(object.insert("effort".to_owned(), level.effort().into())),
                ThinkingSetting::On => {}
            }
            if matches!(setting, ThinkingSetting::Level(_) | ThinkingSetting::On) {
                object.insert("enabled".to_owned(), true.into());
            }
            if thinking.shown == ShowThinking::Hide {
                object.insert("exclude".to_owned(), true.into());
            }
            if !object.is_empty() {
                put("reasoning", object.into());
            }
        }
        ReasoningRequest::ThinkingType | ReasoningRequest::ThinkingTypeAndEffort => {
            if let Some(on) = switch(setting) {
                put("thinking", json!({"type": if on { "enabled" } else { "disabled" }}));
            }
            if let (ReasoningRequest::ThinkingTypeAndEffort, ThinkingSetting::Level(level)) = (style, setting) {
                put("reasoning_effort", level.effort().into());
            }
        }
        ReasoningRequest::ChatTemplate => {
            if let Some(on) = switch(setting) {
                put("chat_template_kwargs", json!({"enable_thinking": on}));
            }
        }
        ReasoningRequest::Nothing => {}
    }
    fields
}

/// On or off, where anything is to be said.
fn switch(setting: ThinkingSetting) -> Option<bool> {
    match setting {
        ThinkingSetting::Unsaid | ThinkingSetting::BetweenTools => None,
        ThinkingSetting::Off => Some(false),
        ThinkingSetting::Budget(_) | ThinkingSetting::Level(_) | ThinkingSetting::On => Some(true),
    }
}

fn effort_word(setting: ThinkingSetting) -> Option<&'static str> {
    match setting {
        // A budget is fitted to an effort before it comes here.
        ThinkingSetting::Unsaid | ThinkingSetting::BetweenTools | ThinkingSetting::Budget(_) => None,
        ThinkingSetting::Off => Some("none"),
        ThinkingSetting::Level(level) => Some(level.effort()),
        ThinkingSetting::On => Some("default"),
    }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

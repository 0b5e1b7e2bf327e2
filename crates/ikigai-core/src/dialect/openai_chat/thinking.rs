//! Thinking: the parameters with which the family requests it, both ways.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::fit::FittedThinking;
use crate::json::loose::raw;
use crate::json::wire::Rest;
use crate::provider::ReasoningRequest;
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{Fields, Level, Thinking};

/// The request fields for thinking, in any API of the family.
pub(super) const FIELDS: [&str; 6] =
    ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs", "include_reasoning"];

/// Reads what the fields ask for. Returns `None` if they say nothing that has a meaning elsewhere.
pub(super) fn decode(fields: &Fields) -> Option<Thinking> {
    let field = |name: &str| fields.get(name).map(crate::Json::value);
    let effort = |value: Option<&Value>| value.and_then(Value::as_str).and_then(|word| word.parse::<Level>().ok());
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool);
    let number = |value: Option<&Value>| value.and_then(Value::as_i64);
    let inside = |object: &str, name: &str| field(object).and_then(|object| object.get(name));
    let kind = inside("thinking", "type").and_then(Value::as_str);
    let template = || ["enable_thinking", "thinking"].into_iter().find_map(|name| inside("chat_template_kwargs", name));
    let switches = [
        flag(inside("reasoning", "enabled")),
        kind.map(|kind| kind != "disabled"),
        flag(field("enable_thinking").or_else(template)),
    ];
    let level = effort(inside("reasoning", "effort")).or_else(|| effort(field("reasoning_effort")));
    let own_budget = number(inside("thinking", "budget_tokens")).filter(|_| kind.is_some());
    let budget = own_budget.or_else(|| number(inside("reasoning", "max_tokens")));
    let excluded = flag(inside("reasoning", "exclude")).filter(|excluded| *excluded);
    let included = flag(field("include_reasoning"));
    let is_said = level.is_some()
        || budget.is_some()
        || excluded.is_some()
        || included.is_some()
        || switches.iter().any(Option::is_some);
    is_said.then(|| Thinking {
        level: if switches.contains(&Some(false)) { Some(Level::None) } else { level },
        budget,
        include_summary: excluded.is_none() && included != Some(false),
    })
}

/// Writes the thinking parameters in the provider's style.
pub(super) fn encode(thinking: &FittedThinking, style: ReasoningRequest) -> Rest<'static> {
    let mut fields = Rest::new();
    let mut put = |name: &'static str, value: Value| fields.push((Cow::Borrowed(name), raw(&value)));
    let setting = thinking.setting;
    match style {
        ReasoningRequest::Effort | ReasoningRequest::EffortAndFormat => {
            if let Some(word) = effort_word(setting) {
                put("reasoning_effort", word.into());
            }
            // Without it, some models put their thinking into the answer. Models that do not think refuse it.
            if style == ReasoningRequest::EffortAndFormat && thinking.thinks {
                let is_hidden = thinking.shown == ShowThinking::Hide;
                put("reasoning_format", if is_hidden { "hidden" } else { "parsed" }.into());
            }
        }
        ReasoningRequest::ReasoningObject => {
            let mut object = Map::new();
            if let ThinkingSetting::Budget(tokens) = setting {
                object.insert("max_tokens".to_owned(), tokens.into());
            }
            if let Some(word) = effort_word(setting).filter(|_| setting != ThinkingSetting::On) {
                object.insert("effort".to_owned(), word.into());
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

/// Returns on or off, or `None` if nothing is to be said.
fn switch(setting: ThinkingSetting) -> Option<bool> {
    match setting {
        ThinkingSetting::Unsaid | ThinkingSetting::BetweenTools => None,
        ThinkingSetting::Off => Some(false),
        ThinkingSetting::Budget(_) | ThinkingSetting::Level(_) | ThinkingSetting::On => Some(true),
    }
}

fn effort_word(setting: ThinkingSetting) -> Option<&'static str> {
    match setting {
        // A budget has been fitted to an effort before it gets here.
        ThinkingSetting::Unsaid | ThinkingSetting::BetweenTools | ThinkingSetting::Budget(_) => None,
        ThinkingSetting::Off => Some("none"),
        ThinkingSetting::Level(level) => Some(level.effort()),
        ThinkingSetting::On => Some("default"),
    }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;

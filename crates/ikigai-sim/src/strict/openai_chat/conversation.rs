//! Messages and their parts.

use std::collections::HashSet;

use serde_json::Value;

use super::{Refusal, Wire, invalid, openai};
use crate::strict::{list, word};

const ROLES: &[&str] = &["system", "assistant", "user", "function", "tool", "developer"];
const PARTS: &[&str] = &["text", "image_url", "input_audio", "refusal", "audio", "file"];

pub(super) fn given(wire: &Wire<'_>) -> Result<(), Refusal> {
    match wire.field("messages") {
        None => {
            Err(invalid("Missing required parameter: 'messages'.").at("messages", Some("missing_required_parameter")))
        }
        Some(Value::Array(messages)) if messages.is_empty() => {
            let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
            Err(invalid(message).at("messages", Some("empty_array")))
        }
        Some(Value::Array(_)) => Ok(()),
        Some(_) => {
            Err(invalid("Invalid type for 'messages': expected an array of objects.")
                .at("messages", Some("invalid_type")))
        }
    }
}

pub(super) fn roles(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, message) in wire.list("messages").iter().enumerate() {
        let role = word(message, "role");
        if !ROLES.contains(&role) {
            let message = format!(
                "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
            );
            return Err(invalid(message).at(format!("messages[{n}].role"), Some("invalid_value")));
        }
    }
    Ok(())
}

/// The first thinking models accept no instructions.
pub(super) fn system_taken(wire: &Wire<'_>) -> Result<(), Refusal> {
    if openai::rules(wire).system_prompt {
        return Ok(());
    }
    let mut roles = wire.list("messages").iter().map(|message| word(message, "role")).enumerate();
    match roles.find(|(_, role)| matches!(*role, "system" | "developer")) {
        Some((n, role)) => {
            let place = format!("messages[{n}].role");
            let message = format!("Unsupported value: '{place}' does not support '{role}' with this model.");
            Err(invalid(message).at(place, Some("unsupported_value")))
        }
        None => Ok(()),
    }
}

/// Only an assistant that calls, speaks or refuses may omit its content.
pub(super) fn content(wire: &Wire<'_>) -> Result<(), Refusal> {
    let has = |message: &Value, name: &str| message.get(name).is_some_and(|value| !value.is_null());
    for (n, message) in wire.list("messages").iter().enumerate() {
        let excused = word(message, "role") == "assistant"
            && ["tool_calls", "function_call", "audio", "refusal"].iter().any(|name| has(message, name));
        if !has(message, "content") && !excused {
            let message = "Invalid value for 'content': expected a string, got null.";
            return Err(invalid(message).at(format!("messages.[{n}].content"), None));
        }
    }
    Ok(())
}

pub(super) fn parts(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, message) in wire.list("messages").iter().enumerate() {
        for (m, part) in list(message, "content").iter().enumerate() {
            let kind = word(part, "type");
            if !PARTS.contains(&kind) {
                let message = format!(
                    "Invalid value: '{kind}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'."
                );
                return Err(invalid(message).at(format!("messages[{n}].content[{m}].type"), Some("invalid_value")));
            }
        }
    }
    Ok(())
}

pub(super) fn images(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, message) in wire.list("messages").iter().enumerate() {
        for (m, part) in list(message, "content").iter().enumerate() {
            if let Some(image) = part.get("image_url").filter(|_| word(part, "type") == "image_url") {
                let place = format!("messages[{n}].content[{m}].image_url.url");
                openai::image_url(image.as_str().unwrap_or_else(|| word(image, "url")), place)?;
            }
        }
    }
    Ok(())
}

pub(super) fn calls_answered(wire: &Wire<'_>) -> Result<(), Refusal> {
    let messages = wire.list("messages");
    for (n, message) in messages.iter().enumerate().filter(|(_, message)| !list(message, "tool_calls").is_empty()) {
        let behind = messages.get(n + 1..).unwrap_or_default();
        let answered: HashSet<&str> = behind
            .iter()
            .take_while(|message| word(message, "role") == "tool")
            .map(|message| word(message, "tool_call_id"))
            .collect();
        let missing: Vec<&str> = list(message, "tool_calls")
            .iter()
            .map(|call| word(call, "id"))
            .filter(|id| !answered.contains(id))
            .collect();
        if !missing.is_empty() {
            return Err(invalid(format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                missing.join(", ")
            ))
            .at(format!("messages.[{n}].role"), None));
        }
    }
    Ok(())
}

pub(super) fn results_called(wire: &Wire<'_>) -> Result<(), Refusal> {
    let messages = wire.list("messages");
    let mut calls: HashSet<&str> = HashSet::new();
    for (n, message) in messages.iter().enumerate() {
        if word(message, "role") != "tool" {
            calls = list(message, "tool_calls").iter().map(|call| word(call, "id")).collect();
            continue;
        }
        let called = calls.contains(word(message, "tool_call_id"));
        if !called {
            let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
            return Err(invalid(message).at(format!("messages.[{n}].role"), None));
        }
    }
    Ok(())
}

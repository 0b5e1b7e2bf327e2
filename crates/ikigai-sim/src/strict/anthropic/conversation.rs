//! Messages and their blocks.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::catalog::rules_for;
use serde_json::Value;

use super::{Refusal, Wire, invalid, model, word};

/// The largest image, in bytes.
const LARGEST_IMAGE: usize = 10 << 20;

const BLOCKS: &[&str] = &[
    "text",
    "image",
    "document",
    "search_result",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "advisor_tool_result",
    "container_upload",
    "compaction",
    "fallback",
    "tool_reference",
    "tool_addition",
    "tool_removal",
];

/// Every block, with the place of its message and its own.
fn all<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, usize, &'a Value)> {
    wire.list("messages")
        .iter()
        .enumerate()
        .flat_map(|(n, message)| super::blocks(message).iter().enumerate().map(move |(m, block)| (n, m, block)))
}

fn is(block: &Value, kind: &str) -> bool {
    word(block, "type") == kind
}

pub(super) fn given(wire: &Wire<'_>) -> Result<(), Refusal> {
    match wire.field("messages") {
        None => Err(invalid("messages: Field required")),
        Some(Value::Array(messages)) if messages.is_empty() => {
            Err(invalid("messages: at least one message is required"))
        }
        Some(Value::Array(_)) => Ok(()),
        Some(_) => Err(invalid("messages: Input should be a valid array")),
    }
}

pub(super) fn roles(wire: &Wire<'_>) -> Result<(), Refusal> {
    let takes_system = rules_for(model(wire)).system_messages;
    for (n, message) in wire.list("messages").iter().enumerate() {
        match word(message, "role") {
            "user" | "assistant" => {}
            "system" if takes_system && n > 0 => {}
            _ => return Err(invalid(format!("messages.{n}.role: Input should be 'user' or 'assistant'"))),
        }
        if message.get("content").is_none_or(Value::is_null) {
            return Err(invalid(format!("messages.{n}.content: Field required")));
        }
    }
    Ok(())
}

pub(super) fn empty_text(wire: &Wire<'_>) -> Result<(), Refusal> {
    let blank = all(wire).find(|(_, _, block)| is(block, "text") && word(block, "text").trim().is_empty());
    match blank {
        Some((_, _, block)) if word(block, "text").is_empty() => {
            Err(invalid("messages: text content blocks must be non-empty"))
        }
        Some(_) => Err(invalid("messages: text content blocks must contain non-whitespace text")),
        None => Ok(()),
    }
}

fn is_known(block: &Value) -> bool {
    BLOCKS.contains(&word(block, "type"))
}

pub(super) fn blocks(wire: &Wire<'_>) -> Result<(), Refusal> {
    match all(wire).find(|(_, _, block)| !is_known(block)) {
        Some((n, m, block)) => Err(invalid(format!(
            "messages.{n}.content.{m}: Input tag '{}' found using 'type' does not match any of the expected tags: {}",
            word(block, "type"),
            BLOCKS.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(", ")
        ))),
        None => Ok(()),
    }
}

pub(super) fn images(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, m, block) in all(wire).filter(|(_, _, block)| is(block, "image")) {
        let place = format!("messages.{n}.content.{m}.image.source");
        let Some(source) = block.get("source") else { return Err(invalid(format!("{place}: Field required"))) };
        if word(source, "type") != "base64" {
            continue;
        }
        if !["image/jpeg", "image/png", "image/gif", "image/webp"].contains(&word(source, "media_type")) {
            return Err(invalid(format!(
                "{place}.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
            )));
        }
        match STANDARD.decode(word(source, "data")) {
            Err(_) => return Err(invalid(format!("{place}.base64.data: invalid base64 data"))),
            Ok(bytes) if bytes.len() > LARGEST_IMAGE => {
                return Err(invalid(format!(
                    "{place}.base64: image exceeds 10 MB maximum: {} bytes > {LARGEST_IMAGE} bytes",
                    bytes.len()
                )));
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

pub(super) fn call_ids(wire: &Wire<'_>) -> Result<(), Refusal> {
    let is_safe =
        |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    for (n, m, block) in all(wire) {
        let kind = word(block, "type");
        let field = match kind {
            "tool_use" => "id",
            "tool_result" => "tool_use_id",
            _ => continue,
        };
        if !is_safe(word(block, field)) {
            return Err(invalid(format!(
                "messages.{n}.content.{m}.{kind}.{field}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            )));
        }
    }
    Ok(())
}

/// Adjacent messages of one role are one turn to the API, so results may be spread over them.
fn turn_after(messages: &[Value], place: usize) -> impl Iterator<Item = &Value> {
    let rest = messages.get(place + 1..).unwrap_or_default();
    rest.iter().take_while(|message| word(message, "role") == "user").flat_map(super::blocks)
}

pub(super) fn calls_answered(wire: &Wire<'_>) -> Result<(), Refusal> {
    let messages = wire.list("messages");
    for (n, message) in messages.iter().enumerate().filter(|(_, message)| word(message, "role") == "assistant") {
        // A turn of several assistant messages ends with the last of them.
        if messages.get(n + 1).is_some_and(|next| word(next, "role") == "assistant") {
            continue;
        }
        let answered: HashSet<&str> = turn_after(messages, n)
            .filter(|block| is(block, "tool_result"))
            .map(|block| word(block, "tool_use_id"))
            .collect();
        let missing: Vec<&str> = super::blocks(message)
            .iter()
            .filter(|block| is(block, "tool_use"))
            .map(|block| word(block, "id"))
            .filter(|id| !answered.contains(id))
            .collect();
        if !missing.is_empty() {
            return Err(invalid(format!(
                "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
                missing.join(", ")
            )));
        }
    }
    Ok(())
}

pub(super) fn results_called(wire: &Wire<'_>) -> Result<(), Refusal> {
    let messages = wire.list("messages");
    // The calls of the assistant's last turn, which may be several messages.
    let (mut calls, mut last): (HashSet<&str>, &str) = (HashSet::new(), "");
    for (n, message) in messages.iter().enumerate() {
        let blocks = super::blocks(message).iter();
        for (m, block) in blocks.clone().enumerate().filter(|(_, block)| is(block, "tool_result")) {
            let id = word(block, "tool_use_id");
            if !calls.contains(id) {
                return Err(invalid(format!(
                    "messages.{n}.content.{m}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )));
            }
        }
        let role = word(message, "role");
        if role != "user" {
            if role != "assistant" || last != "assistant" {
                calls.clear();
            }
            let made = blocks.filter(|block| role == "assistant" && is(block, "tool_use"));
            calls.extend(made.map(|block| word(block, "id")));
        }
        last = role;
    }
    Ok(())
}

/// The text of a final assistant message, which the model would continue.
fn prefilled<'a>(wire: &Wire<'a>) -> Option<&'a str> {
    let last = wire.list("messages").last().filter(|message| word(message, "role") == "assistant")?;
    let text = last.get("content").and_then(Value::as_str);
    Some(text.unwrap_or_else(|| super::blocks(last).last().map_or("", |block| word(block, "text"))))
}

pub(super) fn prefill(wire: &Wire<'_>) -> Result<(), Refusal> {
    // A paused turn of server tools is sent back unchanged, to be continued.
    let paused = wire.list("messages").last().is_some_and(|last| {
        super::blocks(last)
            .iter()
            .any(|block| word(block, "type").contains("server_tool") || word(block, "type").ends_with("_tool_result"))
    });
    if prefilled(wire).is_some() && !paused && !rules_for(model(wire)).prefill {
        return Err(invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    Ok(())
}

pub(super) fn trailing_space(wire: &Wire<'_>) -> Result<(), Refusal> {
    match prefilled(wire) {
        Some(text) if text.ends_with(char::is_whitespace) => {
            Err(invalid("messages: final assistant content cannot end with trailing whitespace"))
        }
        _ => Ok(()),
    }
}

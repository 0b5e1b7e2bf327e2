//! What the API's own tools did, sent back: everything unchanged, each result after its call.

use std::collections::HashSet;

use serde_json::Value;

use super::{Refusal, Wire, blocks, invalid, list, word};
use crate::seals::Purpose;

/// Every block, with the place of its message and its own.
fn all<'a>(wire: &Wire<'a>) -> impl Iterator<Item = (usize, usize, &'a Value)> {
    let messages = wire.list("messages").iter().enumerate();
    messages.flat_map(|(n, message)| blocks(message).iter().enumerate().map(move |(m, block)| (n, m, block)))
}

fn is_call(block: &Value) -> bool {
    matches!(word(block, "type"), "server_tool_use" | "mcp_tool_use")
}

fn is_result(block: &Value) -> bool {
    word(block, "type").ends_with("_tool_result")
}

pub(super) fn call_ids(wire: &Wire<'_>) -> Result<(), Refusal> {
    let is_good = |id: &str| {
        let rest = id.strip_prefix("srvtoolu_").unwrap_or_default();
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut calls = all(wire).filter(|(_, _, block)| word(block, "type") == "server_tool_use");
    match calls.find(|(_, _, block)| !is_good(word(block, "id"))) {
        Some((n, m, _)) => Err(invalid(format!(
            "messages.{n}.content.{m}.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
        ))),
        None => Ok(()),
    }
}

pub(super) fn calls_once(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    match all(wire).filter(|(_, _, block)| is_call(block)).find(|(_, _, block)| !seen.insert(word(block, "id"))) {
        Some((n, m, block)) => {
            Err(invalid(format!("messages.{n}.content.{m}: `{}` ids must be unique", word(block, "type"))))
        }
        None => Ok(()),
    }
}

pub(super) fn results_called(wire: &Wire<'_>) -> Result<(), Refusal> {
    let mut called = HashSet::new();
    for (n, m, block) in all(wire) {
        if is_call(block) {
            called.insert(word(block, "id"));
        } else if is_result(block) && !called.contains(word(block, "tool_use_id")) {
            let (kind, id) = (word(block, "type"), word(block, "tool_use_id"));
            let call = if kind == "mcp_tool_result" { "mcp_tool_use" } else { "server_tool_use" };
            return Err(invalid(format!(
                "messages.{n}.content.{m}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` block must have a corresponding `{call}` block before it."
            )));
        }
    }
    Ok(())
}

/// A call may lack its result if the turn was paused, or if there are calls of the client's tools next to it.
pub(super) fn calls_answered(wire: &Wire<'_>) -> Result<(), Refusal> {
    let messages = wire.list("messages");
    let answered: HashSet<&str> =
        all(wire).filter(|(_, _, block)| is_result(block)).map(|(_, _, block)| word(block, "tool_use_id")).collect();
    let last_of_user = messages.iter().rposition(|message| word(message, "role") == "user");
    for (n, m, block) in all(wire).filter(|(_, _, block)| is_call(block)) {
        let id = word(block, "id");
        let is_paused = last_of_user.is_none_or(|last| n > last);
        let is_beside = messages
            .get(n)
            .is_some_and(|message| blocks(message).iter().any(|beside| word(beside, "type") == "tool_use"));
        if !answered.contains(id) && !is_paused && !is_beside {
            let name = word(block, "name");
            return Err(invalid(format!(
                "messages.{n}.content.{m}: `{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block"
            )));
        }
    }
    Ok(())
}

/// Only what we sealed can be read again.
pub(super) fn results_sealed(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, m, block) in all(wire).filter(|(_, _, block)| word(block, "type") == "web_search_tool_result") {
        for (k, page) in list(block, "content").iter().enumerate() {
            let place = format!("messages.{n}.content.{m}");
            let Some(sealed) = page.get("encrypted_content").and_then(Value::as_str) else {
                return Err(invalid(format!(
                    "{place}.web_search_tool_result.content.{k}.encrypted_content: Field required"
                )));
            };
            let about = [word(page, "url"), word(page, "title")];
            if wire.memory.seals.open(Purpose::Found, &about, sealed).is_none() {
                return Err(invalid(format!("{place}: Invalid `encrypted_content` in `web_search_tool_result` block")));
            }
        }
    }
    Ok(())
}

pub(super) fn citations_sealed(wire: &Wire<'_>) -> Result<(), Refusal> {
    for (n, m, block) in all(wire).filter(|(_, _, block)| word(block, "type") == "text") {
        let of_search = |citation: &Value| word(citation, "type") == "web_search_result_location";
        for (k, citation) in list(block, "citations").iter().enumerate().filter(|(_, citation)| of_search(citation)) {
            let place = format!("messages.{n}.content.{m}");
            let Some(sealed) = citation.get("encrypted_index").and_then(Value::as_str) else {
                return Err(invalid(format!(
                    "{place}.text.citations.{k}.web_search_result_location.encrypted_index: Field required"
                )));
            };
            let about = [word(citation, "url"), word(citation, "cited_text")];
            if wire.memory.seals.open(Purpose::Cited, &about, sealed).is_none() {
                return Err(invalid(format!(
                    "{place}: Invalid `encrypted_index` in `web_search_result_location` block"
                )));
            }
        }
    }
    Ok(())
}

pub(super) fn domains(wire: &Wire<'_>) -> Result<(), Refusal> {
    let has = |tool: &Value, name: &str| tool.get(name).is_some_and(|list| !list.is_null());
    let mut tools = wire.list("tools").iter().enumerate();
    match tools.find(|(_, tool)| has(tool, "allowed_domains") && has(tool, "blocked_domains")) {
        Some((n, tool)) => Err(invalid(format!(
            "tools.{n}.{}: only one of `allowed_domains` and `blocked_domains` may be specified",
            word(tool, "type")
        ))),
        None => Ok(()),
    }
}

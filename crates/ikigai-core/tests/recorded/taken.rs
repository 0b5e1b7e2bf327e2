//! Requests of other dialects become requests that an API accepts: its rules are checked on every recorded request.

use ikigai_core::Dialect;
use ikigai_core::catalog::rules_for;
use serde_json::{Value, json};

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::wire::{OfValues as _, target};

/// Requests that no translation can make complete, and why.
const INCOMPLETE: [(&str, &str); 5] = [
    ("openai-chat-no-messages-53909e4c", "there are no messages"),
    ("openai-openai-previous-response-id-seed-auto-chains-through-retries-3ea4dfc0", "the call is on the server"),
    ("openai-o4-mini-tool-round-trip-2-cbe0b85b", "the call is on the server"),
    ("google-gemini-2-5-flash-tool-round-trip-2-3c9da15d", "the call has no result"),
    ("google-gemini-flash-latest-tool-round-trip-2-efe15e4c", "the call has no result"),
];

fn requests_are_taken(to: Dialect, models: &[&str], faults: fn(&Value) -> Vec<String>) {
    let mut findings = Findings::default();
    for from in Dialect::ALL.into_iter().filter(|from| *from != to) {
        for exchange in exchanges(from) {
            let Some(asked) = &exchange.request else { continue };
            let Ok(mut request) = from.read_request(Some(&asked.path), &asked.body()) else { continue };
            if INCOMPLETE.iter().any(|(id, _)| *id == exchange.id) {
                continue;
            }
            findings.case();
            for model in models {
                request.model = (*model).to_owned();
                let mut target = target(to);
                target.rules = rules_for(model);
                match to.write_request(&request, &target) {
                    Ok(wire) => {
                        faults(&wire.body)
                            .iter()
                            .for_each(|fault| findings.add(&exchange.id, format!("{model}: {fault}")));
                    }
                    Err(error) => findings.add(&exchange.id, format!("{model}: {error}")),
                }
            }
        }
    }
    findings.report();
}

#[test]
fn by_anthropic() {
    requests_are_taken(Dialect::Anthropic, &["claude-sonnet-4-5", "claude-opus-5-5"], anthropic);
}

#[test]
fn by_gemini() {
    let models = ["gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview"];
    requests_are_taken(Dialect::Gemini, &models, |body| gemini(body).err().into_iter().collect());
}

/// Returns faults for which the API would refuse a request.
fn anthropic(body: &Value) -> Vec<String> {
    const FIELDS: [&str; 15] = [
        "model",
        "max_tokens",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "metadata",
        "cache_control",
    ];
    let mut faults = Vec::new();
    let mut fault = |holds: bool, text: String| {
        if !holds {
            faults.push(text);
        }
    };
    for key in body.as_object().unwrap().keys() {
        fault(FIELDS.contains(&key.as_str()), format!("{key}: Extra inputs are not permitted"));
    }
    let limit = body["max_tokens"].as_i64().unwrap_or(-1);
    fault(limit >= 0, "max_tokens: Field required".to_owned());
    fault(
        body["thinking"]["budget_tokens"].as_i64().is_none_or(|budget| budget >= 1024 && budget < limit),
        "budget".to_owned(),
    );
    let messages = body["messages"].as_array().unwrap();
    fault(messages.first().is_some_and(|message| message["role"] == "user"), "the user does not begin".to_owned());
    let mut ids: Vec<String> = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let text = json!([{"type": "text", "text": message["content"]}]);
        let content = message["content"].as_array().unwrap_or_else(|| text.as_array().unwrap());
        let words = |kind: &str, key: &str| -> Vec<String> {
            content
                .iter()
                .filter(|block| block["type"] == kind)
                .map(|block| block[key].as_str().unwrap().to_owned())
                .collect()
        };
        fault(!content.is_empty(), format!("messages.{index}: empty"));
        let is = |block: &Value, kind: &str| block["type"] == kind;
        let results = words("tool_result", "tool_use_id");
        let first = content.iter().take(results.len()).all(|block| is(block, "tool_result"));
        fault(first, format!("messages.{index}: results do not come first"));
        let mut expected = waiting.clone();
        expected.sort_unstable();
        let mut given = results.clone();
        given.sort_unstable();
        fault(expected == given, format!("messages.{index}: results {given:?} for calls {expected:?}"));
        waiting = words("tool_use", "id");
        for id in &waiting {
            let is_safe = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            fault(is_safe && !id.is_empty() && !ids.contains(id), format!("messages.{index}: id {id}"));
        }
        ids.extend(waiting.clone());
        for block in content {
            let text = block["text"].as_str().filter(|_| is(block, "text"));
            fault(text.is_none_or(|text| !text.trim().is_empty()), format!("messages.{index}: blank text"));
            let assistant = message["role"] == "assistant";
            fault(
                !is(block, "tool_use") || block["input"].is_object(),
                format!("messages.{index}: input is no object"),
            );
            fault(
                assistant != (is(block, "image") || is(block, "document")) || !assistant,
                format!("messages.{index}: media"),
            );
        }
    }
    faults
}

/// Checks what the API requires of contents, on a request that we made.
fn gemini(body: &Value) -> Result<(), String> {
    let contents = body["contents"].as_array().ok_or("no contents")?;
    let mut calls: Vec<&str> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let parts = content["parts"].as_array().filter(|parts| !parts.is_empty()).ok_or("a content without parts")?;
        let names = |member: &str| -> Vec<&str> {
            parts.iter().filter_map(|part| part.get(member)?.get("name")?.as_str()).collect()
        };
        let (called, answered) = (names("functionCall"), names("functionResponse"));
        match content["role"].as_str() {
            Some("model") if answered.is_empty() => {}
            Some("user") if called.is_empty() => {}
            role => return Err(format!("contents[{index}] has the role {role:?}")),
        }
        if !answered.is_empty() {
            let only = parts.iter().all(|part| part.get("functionResponse").is_some());
            if !only || answered != calls {
                return Err(format!("contents[{index}] answers {answered:?} to {calls:?}"));
            }
        }
        if !called.is_empty() && index > 0 && contents[index - 1]["role"] != "user" {
            return Err(format!("contents[{index}] calls without having been asked"));
        }
        calls = called;
    }
    Ok(())
}

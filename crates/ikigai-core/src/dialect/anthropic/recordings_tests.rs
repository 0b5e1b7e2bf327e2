//! Every recorded exchange of this dialect: what it means, and that nothing of it is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::testing::{events_of, frames_of, home, read_answer, read_request, wire_to, write_answer};
use super::*;
use crate::catalog::rules_for;
use crate::dialect::Reply;
use crate::dialect::testing::recordings;
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{Collector, FinishReason, Response};

/// Exchanges whose expectation is wrong, with the proof.
const WRONG: [(&str, &str); 0] = [];

fn exchanges() -> Vec<Value> {
    let Some(folder) = recordings() else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        folder.join("anthropic").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn expectations() -> BTreeMap<String, Value> {
    let Some(folder) = recordings() else { return BTreeMap::new() };
    let lines = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line))
        .collect()
}

/// Runs a check on every exchange and reports all that fail.
fn for_each(check: impl Fn(&Value) -> Result<(), String>) {
    let exchanges = exchanges();
    let faults: Vec<String> = exchanges
        .iter()
        .filter_map(|exchange| check(exchange).err().map(|fault| format!("{}: {fault}", exchange["id"])))
        .collect();
    assert!(faults.is_empty(), "{} of {} fail:\n{}", faults.len(), exchanges.len(), faults.join("\n"));
}

fn same(left: &Value, right: &Value) -> Result<(), String> {
    if left == right { Ok(()) } else { Err(format!("\n  was: {left}\n  now: {right}")) }
}

fn answer(exchange: &Value) -> Result<Response, crate::Error> {
    let recorded = &exchange["response"];
    let status = recorded["status"].as_u64().map(|status| status as u16);
    if let Some(sse) = recorded["sse"].as_str() {
        let mut collector = Collector::default();
        collector.extend(events_of(sse));
        return Ok(collector.finish());
    }
    if status != Some(200) {
        return Err(decode_error(status, &[], &recorded["body"].to_string()));
    }
    read_answer(&recorded["body"])
}

/// An answer in the words of `expected.jsonl`.
fn summary(response: &Response) -> Value {
    let calls: Vec<Value> = response
        .tool_calls()
        .map(|call| match call.is_complete() {
            true => json!({"name": call.name, "arguments": call.arguments.object()}),
            false => json!({"name": call.name, "arguments": null, "arguments_raw": call.arguments.text()}),
        })
        .collect();
    let usage = response.usage.as_ref().map(|usage| {
        json!({
            "input": usage.prompt_tokens(), "output": usage.output_tokens, "thinking": usage.thinking_tokens,
            "cached": usage.cached_tokens(),
        })
    });
    json!({
        "text": response.text(), "thinking": response.thinking(), "tool_calls": calls,
        "finish": response.finish_reason, "usage": usage,
    })
}

#[test]
fn every_answer_means_what_the_providers_own_libraries_read() {
    let expectations = expectations();
    for_each(|exchange| {
        let id = exchange["id"].as_str().unwrap();
        if WRONG.iter().any(|(wrong, _)| *wrong == id) {
            return Ok(());
        }
        let expected = &expectations[id];
        let mut got = match answer(exchange) {
            Ok(response) => summary(&response),
            Err(_) => {
                json!({"text": "", "thinking": "", "tool_calls": [], "finish": FinishReason::Error, "usage": null})
            }
        };
        if expected["usage"].is_object()
            && expected["usage"].get("cached").is_none()
            && let Some(usage) = got["usage"].as_object_mut()
        {
            assert_eq!(usage.remove("cached"), Some(json!(0)));
        }
        for key in ["text", "thinking", "tool_calls", "finish", "usage"] {
            let uncertain = expected["uncertain"].as_array().is_some_and(|list| list.contains(&key.into()));
            if !uncertain {
                same(&expected[key], &got[key]).map_err(|fault| format!("{key}{fault}"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn every_request_comes_back_as_it_was() {
    for_each(|exchange| {
        let Some(recorded) = exchange["request"].as_object() else { return Ok(()) };
        let path = recorded["path"].as_str();
        let request = read_request(path, &recorded["body"]).map_err(|error| error.to_string())?;
        // The canonical form is JSON, too: nothing may get lost there either.
        let request = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
        let wire = wire_to(&request, &home(&Quirks::default(), rules_for(&request.model))).unwrap();
        same(&recorded["body"], &wire.body)?;
        same(&json!(path), &json!(wire.path))?;
        same(&json!([]), &json!(wire.losses))
    });
}

#[test]
fn every_whole_answer_comes_back_as_it_was() {
    for_each(|exchange| {
        let body = &exchange["response"]["body"];
        if !body.is_object() || exchange["response"]["status"] != 200 {
            return Ok(());
        }
        let response = answer(exchange).map_err(|error| error.to_string())?;
        same(body, &write_answer(&response, &Reply::default()).0)
    });
}

#[test]
fn every_error_comes_back_as_it_was() {
    for_each(|exchange| {
        let recorded = &exchange["response"];
        let Err(error) = answer(exchange) else { return Ok(()) };
        let wire = encode_error(&error);
        same(&recorded["body"], &serde_json::from_slice(&wire.body).unwrap())?;
        same(&recorded["status"], &json!(wire.status))
    });
}

#[test]
fn every_stream_written_anew_brings_the_same_answer() {
    for_each(|exchange| {
        let Some(sse) = exchange["response"]["sse"].as_str() else { return Ok(()) };
        let events = events_of(sse);
        let mut collector = Collector::default();
        collector.extend(events.iter().cloned());
        let response = collector.finish();
        let mut again = Collector::default();
        again.extend(events_of(&frames_of(&events, Reply::default())));
        same(&json!(response), &json!(again.finish()))?;
        // And the same answer whole.
        let whole = encode_response(&response, &Reply::default()).body;
        let whole = decode_response(&whole, &mut Ids::seeded(7)).map_err(|error| error.to_string())?;
        same(&json!(response), &json!(whole))
    });
}

/// What a client sees of an answer, whichever dialect it came in.
fn visible(response: &Response) -> Value {
    let calls: Vec<Value> = response
        .tool_calls()
        .map(|call| json!({"name": call.name, "arguments": call.arguments.object(), "whole": call.is_complete()}))
        .collect();
    // Of a refusal this API shows the text and the reason, but no mark on the text.
    let text: String = response.content.iter().filter_map(crate::Block::as_text).collect();
    json!({"text": text, "thinking": response.thinking(), "calls": calls})
}

#[test]
fn every_stream_of_the_others_can_be_written_as_one_of_these() {
    let Some(folder) = recordings() else { return };
    let mut streams = 0;
    for dialect in crate::Dialect::ALL.into_iter().filter(|dialect| *dialect != DIALECT) {
        for entry in folder.join(dialect.as_str()).read_dir().unwrap() {
            let exchange: Value =
                serde_json::from_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
            let Some(sse) = exchange["response"]["sse"].as_str() else { continue };
            let mut decoder = crate::wire::StreamDecoder::new(dialect, Ids::seeded(7), &crate::Limits::default());
            let mut events = Vec::new();
            decoder.feed(sse.as_bytes(), &mut events);
            decoder.end(&mut events);
            let mut collector = Collector::default();
            collector.extend(events.iter().cloned());
            let before = collector.finish();
            let mut again = Collector::default();
            again.extend(events_of(&frames_of(&events, Reply::default())));
            let after = again.finish();
            streams += 1;
            assert_eq!(visible(&before), visible(&after), "{}", exchange["id"]);
            let usage = |response: &Response| response.usage.as_ref().map_or(0, crate::Usage::total_tokens);
            if before.error.is_none() {
                assert_eq!(usage(&before), usage(&after), "{}", exchange["id"]);
                let finish = if before.finish_reason == FinishReason::Unknown {
                    FinishReason::Stop
                } else {
                    before.finish_reason
                };
                assert_eq!(finish, after.finish_reason, "{}", exchange["id"]);
            }
        }
    }
    assert!(streams > 500, "only {streams} streams");
}

/// Faults for which the API would refuse a request.
fn faults(body: &Value) -> Vec<String> {
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

/// Requests that no translation can make whole, and why.
const INCOMPLETE: [(&str, &str); 5] = [
    ("openai-chat-no-messages-53909e4c", "there are no messages"),
    ("openai-openai-previous-response-id-seed-auto-chains-through-retries-3ea4dfc0", "the call is on the server"),
    ("openai-o4-mini-tool-round-trip-2-cbe0b85b", "the call is on the server"),
    ("google-gemini-2-5-flash-tool-round-trip-2-3c9da15d", "the call has no result"),
    ("google-gemini-flash-latest-tool-round-trip-2-efe15e4c", "the call has no result"),
];

#[test]
fn every_request_of_the_others_can_be_sent_to_this_api() {
    let Some(folder) = recordings() else { return };
    let mut bad = Vec::new();
    for dialect in crate::Dialect::ALL.into_iter().filter(|dialect| *dialect != DIALECT) {
        for entry in folder.join(dialect.as_str()).read_dir().unwrap() {
            let exchange: Value =
                serde_json::from_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
            let (Some(recorded), id) = (exchange["request"].as_object(), exchange["id"].as_str().unwrap()) else {
                continue;
            };
            let body = recorded["body"].to_string();
            let incoming = crate::wire::Incoming { path: recorded["path"].as_str(), body: body.as_bytes() };
            let Ok((mut request, _)) = dialect.decode_request(incoming, &crate::Limits::default()) else { continue };
            for model in ["claude-sonnet-4-5", "claude-opus-5-5"] {
                request.model = model.to_owned();
                let wire = wire_to(&request, &home(&Quirks::default(), rules_for(model))).unwrap();
                bad.extend(faults(&wire.body).into_iter().map(|fault| format!("{id} {model}: {fault}")));
            }
        }
    }
    bad.retain(|fault| !INCOMPLETE.iter().any(|(id, _)| fault.starts_with(id)));
    assert!(bad.is_empty(), "{}:\n{}", bad.len(), bad.join("\n"));
}

//! Every recorded exchange of this dialect: what it means, and that nothing of it is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::testing::{check, events_of, frames_of, home};
use super::*;
use crate::dialect::{Incoming, Reply};
use crate::{Collector, FinishReason, Ids, Quirks, Response, rules_for};

/// Exchanges whose expectation is wrong, with the proof.
const WRONG: [(&str, &str); 0] = [];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("IKIGAI_RECORDINGS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings"), PathBuf::from);
    if folder.join("anthropic").is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "no recordings in {}", folder.display());
    eprintln!("no recordings in {}: nothing is checked", folder.display());
    None
}

fn exchanges() -> Vec<Value> {
    let Some(folder) = folder() else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        folder.join("anthropic").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn expectations() -> BTreeMap<String, Value> {
    let Some(folder) = folder() else { return BTreeMap::new() };
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
    decode_response(recorded["body"].clone(), &mut Ids::seeded(7))
}

/// An answer in the words of `expected.jsonl`.
fn summary(response: &Response) -> Value {
    let calls: Vec<Value> = response
        .tool_calls()
        .map(|call| match call.is_complete() {
            true => json!({"name": call.name, "arguments": call.arguments}),
            false => json!({"name": call.name, "arguments": null, "arguments_raw": call.arguments_text}),
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
        let request =
            decode_request(Incoming { path, body: recorded["body"].clone() }).map_err(|error| error.to_string())?;
        // The canonical form is JSON, too: nothing may get lost there either.
        let request = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
        let wire = encode_request(&request, &home(&Quirks::default(), rules_for(&request.model))).unwrap();
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
        same(body, &encode_response(&response, &Reply::default()))
    });
}

#[test]
fn every_error_comes_back_as_it_was() {
    for_each(|exchange| {
        let recorded = &exchange["response"];
        let Err(error) = answer(exchange) else { return Ok(()) };
        let wire = encode_error(&error);
        same(&recorded["body"], &wire.body)?;
        same(&recorded["status"], &json!(wire.status))
    });
}

#[test]
fn every_stream_written_anew_brings_the_same_answer() {
    for_each(|exchange| {
        let Some(sse) = exchange["response"]["sse"].as_str() else { return Ok(()) };
        let events = events_of(sse);
        check(&events)?;
        let mut collector = Collector::default();
        collector.extend(events.iter().cloned());
        let response = collector.finish();
        let mut again = Collector::default();
        again.extend(events_of(&frames_of(&events, Reply::default())));
        same(&json!(response), &json!(again.finish()))?;
        // And the same answer whole.
        let whole = encode_response(&response, &Reply::default());
        let whole = decode_response(whole, &mut Ids::seeded(7)).map_err(|error| error.to_string())?;
        same(&json!(response), &json!(whole))
    });
}

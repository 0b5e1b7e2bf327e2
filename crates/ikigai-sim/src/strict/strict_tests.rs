use http::{HeaderMap, HeaderName, HeaderValue};
use ikigai_core::Dialect;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::Config;

/// A request that each dialect accepts; the examples of the tables change it.
fn good(dialect: Dialect) -> (&'static str, Value) {
    match dialect {
        Dialect::Anthropic => (
            "/v1/messages",
            json!({"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": [{"role": "user", "content": "Hello"}]}),
        ),
        Dialect::OpenaiChat => {
            ("/v1/chat/completions", json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}))
        }
        Dialect::OpenaiResponses => ("/v1/responses", json!({"model": "gpt-4.1", "input": "Hello"})),
        Dialect::Gemini => (
            "/v1beta/models/gemini-2.5-pro:generateContent",
            json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}),
        ),
        _ => panic!("no client speaks {dialect}, or a good request is missing here"),
    }
}

fn rules(dialect: Dialect) -> &'static [Rule] {
    match dialect {
        Dialect::Anthropic => anthropic::RULES,
        Dialect::OpenaiChat => openai_chat::RULES,
        Dialect::OpenaiResponses => openai_responses::RULES,
        Dialect::Gemini => gemini::RULES,
        _ => &[],
    }
}

struct Case {
    path: String,
    headers: HeaderMap,
    body: Value,
}

fn case(dialect: Dialect, patch: &Value) -> Case {
    let (path, mut body) = good(dialect);
    let mut case = Case { path: path.to_owned(), headers: HeaderMap::new(), body: Value::Null };
    case.headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    for (name, value) in patch.as_object().unwrap() {
        match name.as_str() {
            "@path" => case.path = value.as_str().unwrap().to_owned(),
            "@headers" => {
                for name in value.as_object().unwrap().keys() {
                    case.headers.remove(HeaderName::try_from(name).unwrap());
                }
            }
            _ => {
                body[name] = special(value);
            }
        }
    }
    case.body = body;
    case
}

/// Values that would be long to write out.
fn special(value: &Value) -> Value {
    match value.as_str() {
        Some("@five-marks") => {
            let block = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
            Value::from(vec![block; 5])
        }
        Some("@twenty-one") => (0..21)
            .map(|n| json!({"name": format!("t{n}"), "strict": true, "input_schema": {"type": "object", "additionalProperties": false}}))
            .collect(),
        Some("@seventeen-unions") => {
            let properties: serde_json::Map<String, Value> =
                (0..17).map(|n| (format!("p{n}"), json!({"type": ["string", "null"]}))).collect();
            let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
            json!([{"name": "t", "strict": true, "input_schema": schema}])
        }
        _ if value.get("user_id") == Some(&json!("@long")) => json!({"user_id": "x".repeat(257)}),
        _ => value.clone(),
    }
}

fn memory() -> Memory {
    Memory::new(Config::default(), mpsc::unbounded_channel().0)
}

fn message(wire: &WireError) -> String {
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    body.pointer("/error/message").and_then(Value::as_str).unwrap().to_owned()
}

#[test]
fn a_good_request_is_accepted_and_each_rule_refuses_its_example() {
    let memory = memory();
    let mut wrong = Vec::new();
    for dialect in Dialect::ALL {
        let fine = case(dialect, &json!({}));
        let verdict =
            check(dialect, &Wire { path: &fine.path, headers: &fine.headers, body: &fine.body, memory: &memory });
        assert_eq!(verdict, Ok(()), "{dialect}");
        for rule in rules(dialect) {
            let broken = case(dialect, &serde_json::from_str(rule.example).unwrap());
            let wire = Wire { path: &broken.path, headers: &broken.headers, body: &broken.body, memory: &memory };
            match check(dialect, &wire) {
                Err(refusal) if message(&refusal).starts_with(rule.says) => {}
                Err(refusal) => wrong.push(format!("{dialect}, {}: says {}", rule.name, message(&refusal))),
                Ok(()) => wrong.push(format!("{dialect}, {}: accepted", rule.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn rules_have_names_of_their_own() {
    for dialect in Dialect::ALL {
        let mut names: Vec<&str> = rules(dialect).iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{dialect}");
    }
}

#[test]
fn contents_of_one_role_are_one_turn_for_gemini() {
    let chunks = json!({"@path": "/v1beta/models/gemini-3-pro-preview:generateContent", "contents": [
        {"role": "user", "parts": [{"text": "x"}]},
        {"role": "model", "parts": [{"text": "I will call f and g.", "thought": true}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "skip_thought_signature_validator"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "g", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "g", "response": {}}}]},
    ]});
    let memory = memory();
    let case = case(Dialect::Gemini, &chunks);
    let wire = Wire { path: &case.path, headers: &case.headers, body: &case.body, memory: &memory };
    assert_eq!(check(Dialect::Gemini, &wire), Ok(()));
}

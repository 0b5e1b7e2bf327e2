//! Checks that the tables accept recorded requests that were translated for another provider.

#![expect(clippy::print_stdout, reason = "figures for the reader of the test's output")]

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue};
use ikigai_core::provider::Registry;
use ikigai_core::wire::Incoming;
use ikigai_core::{Dialect, ModelName};
use serde_json::Value;

use super::recordings_tests::recordings;
use super::*;
use crate::Config;

/// Models of each provider, from several generations.
const MODELS: &[(Dialect, &str)] = &[
    (Dialect::Anthropic, "anthropic:claude-sonnet-4-5"),
    (Dialect::Anthropic, "anthropic:claude-opus-5-5"),
    (Dialect::OpenaiChat, "openai:gpt-4.1"),
    (Dialect::OpenaiChat, "openai:gpt-5.4"),
    (Dialect::OpenaiResponses, "openai:gpt-5.4"),
    (Dialect::OpenaiResponses, "openai:gpt-4.1"),
    (Dialect::Gemini, "google:gemini-2.5-pro"),
    (Dialect::Gemini, "google:gemini-3-pro-preview"),
];

/// Recorded conversations that no provider would accept: a call without an answer, or whose answer is elsewhere; and
/// what recorded clients sent to see it refused.
const NOT_WHOLE: &[&str] = &[
    "were found without `tool_result` blocks",
    "unexpected `tool_use_id`",
    "must be followed by tool messages",
    "must be a response to a preceeding message",
    "No tool output found",
    "No tool call found",
    "function response turn comes immediately after",
];

#[test]
fn recorded_requests_fit_every_other_api() {
    let Some(folder) = recordings() else { return };
    let memory = Memory::new(Config::default(), tokio::sync::mpsc::unbounded_channel().0);
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    let (mut fine, mut torn, mut wrong) = (0, 0, BTreeMap::<String, Vec<String>>::new());
    for from in Dialect::ALL {
        for file in std::fs::read_dir(folder.join(from.as_str())).unwrap() {
            let recording: Value = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
            let Some(body) = recording.pointer("/request/body").filter(|body| body.is_object()) else { continue };
            if recording["response"]["status"].as_u64() != Some(200) {
                continue;
            }
            let path = recording.pointer("/request/path").and_then(Value::as_str);
            let bytes = serde_json::to_vec(body).unwrap();
            let mut incoming = Incoming::new(&bytes);
            incoming.path = path;
            let (request, _) = from.decode_request(incoming, &ikigai_core::Limits::default()).unwrap();
            for (to, model) in MODELS.iter().filter(|(to, _)| *to != from) {
                let name = ModelName::parse(model).unwrap();
                let route = Registry::shared().route_in(&name, *to).unwrap();
                let mut request = request.clone();
                request.model.clone_from(&name.id);
                let id = recording["id"].as_str().unwrap();
                let encoded = match to.encode_request(&request, &route.target(), &ikigai_core::Limits::default()) {
                    Ok(encoded) => encoded,
                    Err(_) => {
                        torn += 1;
                        continue;
                    }
                };
                let path = if *to == Dialect::Gemini { format!("/v1beta{}", encoded.path) } else { encoded.path };
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                let wire = Wire { path: &path, headers: &headers, body: &body, memory: &memory };
                match check(*to, &wire) {
                    Ok(()) => fine += 1,
                    Err(refusal) => {
                        let body: Value = serde_json::from_slice(&refusal.body).unwrap();
                        let message = body.pointer("/error/message").and_then(Value::as_str).unwrap().to_owned();
                        if NOT_WHOLE.iter().any(|known| message.contains(known)) {
                            torn += 1;
                        } else {
                            let short: String = message.chars().take(110).collect();
                            wrong.entry(format!("{to} {model}: {short}")).or_default().push(id.to_owned());
                        }
                    }
                }
            }
        }
    }
    println!("{fine} accepted, {torn} not whole to begin with");
    let listed: Vec<String> =
        wrong.iter().map(|(reason, ids)| format!("{} × {reason} ({})", ids.len(), ids.first().unwrap())).collect();
    assert!(wrong.is_empty(), "\n{}", listed.join("\n"));
}

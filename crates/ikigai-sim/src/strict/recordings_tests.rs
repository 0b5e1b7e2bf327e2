//! Checks the tables against what providers really accepted and refused.

#![expect(clippy::print_stdout, reason = "figures for the reader of the test's output")]

#[path = "../../../ikigai-core/tests/support/folder.rs"]
mod folder;

use http::{HeaderMap, HeaderValue};
use ikigai_core::Dialect;
use serde_json::Value;

use super::*;
use crate::Config;

pub(super) use folder::recordings;

/// Whether a refusal is about recorded signatures, keys or ids, which only the provider can check.
fn beyond_us(message: &str) -> bool {
    [
        "Invalid `signature`",
        "could not be verified",
        "Thought signature is not valid",
        "Invalid `encrypted_content`",
        "Invalid `encrypted_index`",
        "Previous response with id",
        "Item with id",
    ]
    .iter()
    .any(|known| message.contains(known))
}

/// Refusals for reasons that are not in our tables: what single models and servers cannot do, and models that are gone.
const OUTSIDE: &[&str] = &[
    "model: claude-3-sonnet-20240229",
    "property 'properties' is not supported",
    "is not supported with this model",
    "tools is not supported in this model",
    "is not a valid model ID",
    "Thinking mode does not support this tool_choice",
    "has been decommissioned",
    "was deprecated on",
    "The alpha period for this model has ended",
    "No endpoints found",
    "Provider returned error",
    "type must be number, but is string",
    "Specified model not found",
    "Model not found",
    "Failed to deserialize the JSON body",
    "unsupported content[].type",
    "Failed to load image or audio file",
    "Temperature must be between 0 and 2",
    "llama-3.3-70b-versatlie",
    "combination of response modalities",
];

#[test]
fn what_providers_accepted_is_accepted_and_what_they_refused_is_refused() {
    let Some(folder) = recordings() else { return };
    let memory = Memory::new(Config::default(), tokio::sync::mpsc::unbounded_channel().0);
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    let (mut wrong, mut accepted, mut refused, mut known) = (Vec::new(), 0, 0, 0);
    for dialect in Dialect::ALL {
        for file in std::fs::read_dir(folder.join(dialect.as_str())).unwrap() {
            let recording: Value = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
            let (Some(body), Some(path)) = (
                recording.pointer("/request/body").filter(|body| body.is_object()),
                recording.pointer("/request/path"),
            ) else {
                continue;
            };
            let wire = Wire { path: path.as_str().unwrap(), headers: &headers, body, memory: &memory };
            let id = recording["id"].as_str().unwrap();
            let verdict = check(dialect, &wire).map_err(|refusal| message(&refusal));
            match (recording["response"]["status"].as_u64().unwrap(), verdict) {
                (200..300, Ok(())) => accepted += 1,
                (200..300, Err(message)) if beyond_us(&message) => accepted += 1,
                (200..300, Err(message)) => wrong.push(format!("{dialect} {id}: {message}")),
                (400 | 404, Err(_)) => known += 1,
                (400 | 404, Ok(())) => {
                    let body = recording["response"]["body"].to_string();
                    if OUTSIDE.iter().any(|reason| body.contains(reason)) {
                        refused += 1;
                    } else {
                        wrong.push(format!("{dialect} {id} is accepted, but was refused: {body}"));
                    }
                }
                _ => {}
            }
        }
    }
    println!(
        "{accepted} accepted as by the provider, {known} refused as by the provider, {refused} refused for reasons outside our tables"
    );
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), accepted + wrong.len(), wrong.join("\n"));
}

fn message(refusal: &WireError) -> String {
    let body: Value = serde_json::from_slice(&refusal.body).unwrap();
    body.pointer("/error/message").and_then(Value::as_str).unwrap_or_default().to_owned()
}

//! Everything that was recorded of this dialect: answers, streams, failures and requests.
//!
//! The recordings lie outside the project; `IKIGAI_RECORDINGS` says where.

use std::collections::HashMap;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use super::DIALECT;
use super::testing::{Sent, decode_request, decode_response, encode_request, encode_response};
use super::{Encoder, content, decode_error, encode_error, notes};
use crate::catalog::Rules;
use crate::dialect::testing::recordings;
use crate::dialect::{Reply, Target};
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{Collector, Event, FinishReason, Part, Response};

/// Lines of `expected.jsonl` that are wrong, with the proof.
const WRONG: &[(&str, &str)] = &[(
    "openrouter-openrouter-cache-instructions-gemini-real-api-cd439807",
    "2161 tokens read from the cache and 2161 written to it are more than the 2168 of the prompt: they cannot be part \
     of it, so the prompt has 2168 tokens beside them; the line counts both as its part",
)];

struct Recording {
    id: String,
    request: Option<Value>,
    status: u16,
    body: Option<Value>,
    sse: Option<String>,
    raw: Option<String>,
    expected: Value,
}

fn all() -> Option<Vec<Recording>> {
    let folder = recordings()?;
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let mut expected: HashMap<String, Value> = expected
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line))
        .collect();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("openai-chat")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let all = files.iter().map(|file| {
        let mut record: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let id = record["id"].as_str().unwrap().to_owned();
        let response = &mut record["response"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Recording {
            status: u16::try_from(response["status"].as_u64().unwrap()).unwrap(),
            body: response.get_mut("body").map(Value::take),
            sse: response.get("sse").and_then(text),
            raw: response.get("text").and_then(text),
            request: record["request"].get_mut("body").map(Value::take),
            expected: expected.remove(&id).unwrap(),
            id,
        }
    });
    Some(all.collect())
}

/// The events of a stream, checked against the grammar.
fn events_of(sse: &str) -> Vec<Event> {
    crate::dialect::testing::events_of(DIALECT, sse)
}

fn collect(events: Vec<Event>) -> Response {
    let mut collector = Collector::default();
    collector.extend(events);
    collector.finish()
}

/// What an answer says, in the words of `expected.jsonl`.
fn summary(response: &Response) -> Map<String, Value> {
    let calls: Vec<Value> = response
        .tool_calls()
        .map(|call| {
            if call.arguments.text() == "null" {
                // That is no object, but it says what an empty one says.
                json!({"name": call.name, "arguments": null})
            } else if call.is_complete() {
                json!({"name": call.name, "arguments": call.arguments.object()})
            } else {
                json!({"name": call.name, "arguments": null, "arguments_raw": call.arguments.text()})
            }
        })
        .collect();
    let usage = response.usage.as_ref().map_or(Value::Null, |usage| {
        json!({
            "input": usage.prompt_tokens(),
            "output": usage.output_tokens,
            "thinking": usage.thinking_tokens,
            "cached": usage.cached_tokens(),
        })
    });
    let finish = response.finish_reason.as_str();
    let line = json!({
        "text": response.text(),
        "thinking": response.thinking(),
        "tool_calls": calls,
        "finish": finish,
        "usage": usage,
    });
    line.as_object().unwrap().clone()
}

/// Compares an answer with what was expected; gives what differs.
fn differences(recording: &Recording, response: &Response) -> Vec<String> {
    let expected = recording.expected.as_object().unwrap();
    let uncertain: Vec<&str> = expected
        .get("uncertain")
        .and_then(Value::as_array)
        .map(|fields| fields.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut found = summary(response);
    if let (Some(usage), Some(wanted)) = (found["usage"].as_object_mut(), expected["usage"].as_object())
        && !wanted.contains_key("cached")
    {
        usage.remove("cached");
    }
    found
        .iter()
        .filter(|(field, _)| !uncertain.contains(&field.as_str()))
        .filter(|(field, value)| expected[*field] != **value)
        .map(|(field, value)| format!("{}: {field}\n  wanted {}\n  got    {value}", recording.id, expected[field]))
        .collect()
}

fn report(what: &str, total: usize, faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{what}: {} of {total} differ\n{}",
        faults.len(),
        faults.iter().take(12).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(total > 0, "{what}: nothing was tested");
}

#[test]
fn answers_are_read_as_expected() {
    let Some(all) = all() else { return };
    let mut faults = Vec::new();
    let mut total = 0;
    for recording in all.iter().filter(|recording| !WRONG.iter().any(|(id, _)| *id == recording.id)) {
        if recording.status >= 400 {
            continue;
        }
        let response = if let Some(sse) = &recording.sse {
            collect(events_of(sse))
        } else {
            match decode_response(recording.body.clone().unwrap(), &mut Ids::default()) {
                Ok(response) => response,
                Err(_) => Response { finish_reason: FinishReason::Error, ..Response::default() },
            }
        };
        total += 1;
        faults.extend(differences(recording, &response));
    }
    report("answers", total, &faults);
}

#[test]
fn failures_are_read() {
    let Some(all) = all() else { return };
    let mut total = 0;
    for recording in all.iter().filter(|recording| recording.status >= 400) {
        let body = match (&recording.body, &recording.sse, &recording.raw) {
            (Some(body), _, _) => body.to_string(),
            (None, Some(text), _) | (None, None, Some(text)) => text.clone(),
            (None, None, None) => String::new(),
        };
        let error = decode_error(Some(recording.status), &[], &body);
        assert!(!error.message.is_empty(), "{}", recording.id);
        // What goes out again is still the same kind of failure.
        let wire = encode_error(&error);
        let again = decode_error(Some(wire.status), &wire.headers, std::str::from_utf8(&wire.body).unwrap());
        assert_eq!(again.kind, error.kind, "{}: {body}", recording.id);
        total += 1;
    }
    report("failures", total, &[]);
}

#[test]
fn whole_answers_return_as_they_came() {
    let Some(all) = all() else { return };
    let mut faults = Vec::new();
    let mut total = 0;
    for recording in all.iter().filter(|recording| recording.status < 400) {
        let Some(body) = &recording.body else { continue };
        let Ok(response) = decode_response(body.clone(), &mut Ids::default()) else { continue };
        let again = encode_response(&response, &Reply::default());
        total += 1;
        if again != *body {
            faults.push(format!("{}\n  was {body}\n  is  {again}", recording.id));
        }
    }
    report("answers", total, &faults);
}

#[test]
fn requests_return_as_they_came() {
    let Some(all) = all() else { return };
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    let mut faults = Vec::new();
    let mut total = 0;
    for recording in &all {
        let Some(body) = &recording.request else { continue };
        total += 1;
        let request = match decode_request(Sent { path: None, body: body.clone() }) {
            Ok(request) => request,
            Err(error) => {
                faults.push(format!("{}: {error}", recording.id));
                continue;
            }
        };
        // The canonical form itself must bear it.
        let stored: crate::Request = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
        assert_eq!(stored, request, "{}", recording.id);
        match encode_request(&request, &target) {
            Ok(wire) if wire.body == *body && wire.losses.is_empty() => {}
            Ok(wire) => {
                faults.push(format!("{}\n  was {body}\n  is  {}\n  {:?}", recording.id, wire.body, wire.losses))
            }
            Err(error) => faults.push(format!("{}: {error}", recording.id)),
        }
    }
    report("requests", total, &faults);
}

/// The order of keys must survive too: a prompt cache compares bytes.
#[test]
fn keys_of_schemas_and_arguments_keep_their_order() {
    let Some(all) = all() else { return };
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    for recording in &all {
        let Some(body) = &recording.request else { continue };
        let request = decode_request(Sent { path: None, body: body.clone() }).unwrap();
        let wire = encode_request(&request, &target).unwrap().body;
        let schemas = |body: &Value| -> Vec<String> {
            body.get("tools")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|tool| tool["function"]["parameters"].to_string())
                .chain(body.get("response_format").map(|format| format["json_schema"]["schema"].to_string()))
                .collect()
        };
        assert_eq!(schemas(&wire), schemas(body), "{}", recording.id);
    }
}

/// The blocks without what only serves to write the same document again.
///
/// A stream has no place for the list that Mistral writes content in, nor for a second field of reasoning. And an id
/// that we made is the client's id of that call.
fn blocks(response: &Response) -> Vec<crate::Block> {
    let mut blocks = response.content.clone();
    for data in blocks.iter_mut().filter_map(crate::Block::provider_data_mut) {
        data.take_part(DIALECT, Part::Answer);
        for note in [notes::ANSWER, notes::REASONING_ALSO, notes::ID_GENERATED] {
            data.remove_part(DIALECT, Part::Shape, note);
        }
        if data.part_str(DIALECT, Part::Shape, notes::REASONING_FIELD).as_deref() == Some(content::FIELD_CONTENT) {
            data.set_part(DIALECT, Part::Shape, notes::REASONING_FIELD, "reasoning_content");
        }
    }
    blocks
}

/// A stream written for a client and read again is the same answer.
#[test]
fn streams_survive_being_written_and_read_again() {
    use crate::dialect::WriteFrames;
    let Some(all) = all() else { return };
    let mut faults = Vec::new();
    let mut total = 0;
    for recording in all.iter().filter(|recording| recording.status < 400) {
        let events = match (&recording.sse, &recording.body) {
            (Some(sse), _) => events_of(sse),
            (None, Some(body)) => match decode_response(body.clone(), &mut Ids::default()) {
                Ok(response) => crate::events(&response),
                Err(_) => continue,
            },
            (None, None) => continue,
        };
        let first = collect(events.clone());
        let mut encoder = Encoder::new(Reply { stream_usage: true, ..Reply::default() });
        let mut bytes = Vec::new();
        for event in &events {
            encoder.event(event, &mut bytes);
        }
        let again = collect(events_of(std::str::from_utf8(&bytes).unwrap()));
        total += 1;
        if blocks(&first) != blocks(&again) {
            faults.push(format!("{}\n  was {:?}\n  is  {:?}", recording.id, blocks(&first), blocks(&again)));
        }
        let (mut first, mut again) = (summary(&first), summary(&again));
        if first["finish"] == "unknown" {
            // Clients wait for a word; `stop` stands for none.
            first.remove("finish");
            again.remove("finish");
        }
        if first != again {
            faults.push(format!("{}\n  was {first:?}\n  is  {again:?}", recording.id));
        }
    }
    report("streams", total, &faults);
}

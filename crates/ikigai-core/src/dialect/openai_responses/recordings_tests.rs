//! Every recorded exchange of this dialect: answers and streams give what the providers' own libraries read from them,
//! and requests and answers come back as they were.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stream::{check_as_client, check_grammar, read_stream, write_stream};
use super::*;
use crate::catalog::Rules;
use crate::dialect::testing::recordings;
use crate::dialect::{Incoming, Reply, Target};
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{Block, Error, FinishReason, Limits, Part, Response, Usage};

struct Exchange {
    id: String,
    request: Option<Value>,
    response: Value,
    expected: Value,
}

fn exchanges() -> Vec<Exchange> {
    let Some(folder) = recordings() else { return Vec::new() };
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let mut expected: BTreeMap<String, Value> = expected
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line))
        .collect();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("openai-responses")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 300, "only {} recordings", files.len());
    files
        .into_iter()
        .map(|file| {
            let mut file: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let id = file["id"].as_str().unwrap().to_owned();
            Exchange {
                request: Some(file["request"]["body"].take()).filter(|body| !body.is_null()),
                response: file["response"].take(),
                expected: expected.remove(&id).unwrap(),
                id,
            }
        })
        .collect()
}

/// A response in the words of `expected.jsonl`.
fn summary(response: &Response) -> Value {
    let calls: Vec<Value> = response
        .tool_calls()
        .map(|call| match call.is_complete() {
            true => json!({"name": call.name, "arguments": call.arguments.object()}),
            false => json!({"name": call.name, "arguments": null, "arguments_raw": call.arguments.text()}),
        })
        .collect();
    json!({
        "text": response.text(),
        "thinking": response.thinking(),
        "tool_calls": calls,
        "finish": response.finish_reason,
        "usage": response.usage.as_ref().map(counts),
    })
}

fn counts(usage: &Usage) -> Value {
    json!({
        "input": usage.prompt_tokens(),
        "output": usage.output_tokens,
        "thinking": usage.thinking_tokens,
        "cached": usage.cached_tokens(),
    })
}

/// What is expected, without the fields that are a judgement rather than a reading.
fn compare(id: &str, response: &Response, expected: &Value) {
    let mut got = summary(response);
    let mut want = expected.clone();
    let uncertain: Vec<String> = want["uncertain"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|field| field.as_str().map(str::to_owned))
        .collect();
    for field in ["id", "note", "uncertain"].into_iter().chain(uncertain.iter().map(String::as_str)) {
        want.as_object_mut().unwrap().shift_remove(field);
        got.as_object_mut().unwrap().shift_remove(field);
    }
    if want["usage"].is_object() && want["usage"].get("cached").is_none() {
        got["usage"].as_object_mut().unwrap().shift_remove("cached");
    }
    assert_eq!(got, want, "{id}");
}

/// The documents are the same, whatever the order of keys. Says where they are not.
fn same(id: &str, got: &Value, want: &Value) {
    if let Some(difference) = difference(got, want, String::new()) {
        panic!("{id}: {difference}");
    }
}

fn difference(got: &Value, want: &Value, place: String) -> Option<String> {
    match (got, want) {
        (Value::Object(got), Value::Object(want)) => {
            let keys = got.keys().chain(want.keys().filter(|key| !got.contains_key(*key)));
            keys.into_iter().find_map(|key| match (got.get(key), want.get(key)) {
                (Some(got), Some(want)) => difference(got, want, format!("{place}.{key}")),
                (got, want) => Some(format!("{place}.{key}: got {got:?}, want {want:?}")),
            })
        }
        (Value::Array(got), Value::Array(want)) if got.len() == want.len() => got
            .iter()
            .zip(want)
            .enumerate()
            .find_map(|(index, (got, want))| difference(got, want, format!("{place}[{index}]"))),
        _ => (got != want).then(|| format!("{place}: got {got}, want {want}")),
    }
}

fn read(body: &Value) -> Result<Response, Error> {
    decode_response(body.to_string().as_bytes(), &mut Ids::default())
}

fn failed(error: Error) -> Response {
    match error.partial {
        Some(partial) => *partial,
        None => Response { finish_reason: FinishReason::Error, ..Response::default() },
    }
}

#[test]
fn whole_answers_and_errors_are_read_as_the_official_libraries_read_them() {
    for exchange in exchanges() {
        let status = exchange.response["status"].as_u64().unwrap();
        let Some(body) = exchange.response.get("body").cloned() else { continue };
        let response = if status >= 400 {
            failed(decode_error(Some(u16::try_from(status).unwrap()), &[], &body.to_string()))
        } else {
            read(&body).unwrap_or_else(failed)
        };
        compare(&exchange.id, &response, &exchange.expected);
    }
}

#[test]
fn whole_answers_come_back_as_they_were() {
    for exchange in exchanges() {
        let Some(body) = exchange.response.get("body").cloned() else { continue };
        if let Ok(response) = read(&body) {
            let written = encode_response(&response, &Reply::default());
            same(&exchange.id, &serde_json::from_slice(&written.body).unwrap(), &body);
            assert_eq!(written.losses, [], "{}", exchange.id);
        }
    }
}

#[test]
fn streams_are_read_as_the_official_libraries_read_them() {
    for exchange in exchanges() {
        let Some(sse) = exchange.response.get("sse").and_then(Value::as_str) else { continue };
        let events = read_stream(sse);
        let response = check_grammar(&events).unwrap_or_else(|fault| panic!("{}: {fault}", exchange.id));
        compare(&exchange.id, &response, &exchange.expected);
    }
}

/// Collecting a stream gives what its last event, read as a whole answer, gives. What the wire makes different:
///
/// - the terminal event encrypts reasoning once more, and other opaque state with it: other bytes, same meaning;
/// - some relays give every event new ids, and answer with an empty list of items at the end;
/// - some relays say something beside the response object;
/// - one recording has the bytes of a picture only at the end, because its source cut them elsewhere.
#[test]
fn a_stream_is_the_answer_in_its_last_event() {
    for exchange in exchanges() {
        let Some(sse) = exchange.response.get("sse").and_then(Value::as_str) else { continue };
        let Some(last) = sse
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .filter_map(|data| {
                let mut event: Value = serde_json::from_str(data).ok()?;
                let terminal = ["response.completed", "response.incomplete"].iter().any(|kind| event["type"] == *kind);
                terminal.then(|| event["response"].take())
            })
            .next_back()
        else {
            continue;
        };
        let mut whole = read(&last).unwrap();
        let mut streamed = check_grammar(&read_stream(sse)).unwrap();
        whole.warnings.clear();
        if whole.content.is_empty() {
            whole.content = streamed.content.clone();
            whole.finish_reason = streamed.finish_reason;
        }
        let relay = exchange.id.starts_with("copilot-");
        for response in [&mut whole, &mut streamed] {
            response.content.iter_mut().for_each(|block| without_what_differs(block, relay));
            response.id.take_if(|_| relay);
            response.provider_data.remove_part(DIALECT, Part::Answer, "copilot_usage");
        }
        assert_eq!(streamed, whole, "{}", exchange.id);
    }
}

fn without_what_differs(block: &mut Block, relay: bool) {
    if let Block::Other(other) = block {
        for key in ["encrypted_content", "fingerprint", "result"] {
            let mut item = other.data.value().clone();
            item.as_object_mut().unwrap().shift_remove(key);
            other.data = item.into();
        }
    }
    let Some(data) = block.provider_data_mut() else { return };
    data.remove_part(DIALECT, Part::State, "encrypted_content");
    if relay {
        data.remove_part(DIALECT, Part::State, "id");
        data.remove_part(DIALECT, Part::Shape, "id");
        data.remove_part(DIALECT, Part::Shape, "item");
    }
}

#[test]
fn requests_come_back_as_they_were() {
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    for exchange in exchanges() {
        let Some(body) = exchange.request else { continue };
        let request =
            decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &crate::Limits::default())
                .unwrap();
        let wire = DIALECT.encode_request(&request, &target, &Limits::default()).unwrap();
        same(&exchange.id, &serde_json::from_slice(&wire.body).unwrap(), &body);
        assert_eq!(wire.losses, [], "{}", exchange.id);
        // The canonical form is stored as JSON: nothing may depend on what JSON does not keep.
        let stored: crate::Request = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
        assert_eq!(stored, request, "{}", exchange.id);
    }
}

/// Reading a stream, writing it for a client and reading that again gives the same answer, and the written stream is
/// one that official clients take.
#[test]
fn streams_are_written_as_official_clients_take_them() {
    for exchange in exchanges() {
        let Some(sse) = exchange.response.get("sse").and_then(Value::as_str) else { continue };
        let events = read_stream(sse);
        let written = write_stream(&events, Reply::default());
        check_as_client(&written).unwrap_or_else(|fault| panic!("{}: {fault}", exchange.id));
        let again = check_grammar(&read_stream(&written)).unwrap_or_else(|fault| panic!("{}: {fault}", exchange.id));
        let mut once = check_grammar(&events).unwrap();
        let mut again = again;
        for block in &mut once.content {
            // Clients insist on both lists.
            if let Block::Text(text) = block
                && !text.is_refusal()
            {
                let lists = ["annotations", "logprobs"].into_iter();
                for name in lists {
                    let there =
                        [Part::Shape, Part::Answer].map(|part| text.provider_data.part(DIALECT, part).get(name));
                    if there == [None, None] {
                        text.provider_data.set_part(DIALECT, Part::Shape, name, json!([]));
                    }
                }
            }
        }
        if exchange.id.starts_with("copilot-") {
            // Ids that change from frame to frame become one id.
            for response in [&mut once, &mut again] {
                response.content.iter_mut().for_each(|block| without_what_differs(block, true));
            }
        }
        assert_eq!(again, once, "{}", exchange.id);
    }
}

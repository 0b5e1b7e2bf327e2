//! What the provider really sent and took, read from outside of the project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use super::testing::{decode_request, decode_response, encode_request};
use super::*;
use crate::catalog::Rules;
use crate::dialect::WriteFrames as _;
use crate::dialect::testing::recordings;
use crate::provider::Quirks;
use crate::wire::{Ids, Reply, Sse, Target};
use crate::{Block, Collector, Dialect, Error, Event, FinishReason, Part, Response, events};

/// The recordings of this dialect, and what is expected of each.
struct Recordings {
    exchanges: Vec<Value>,
    expected: HashMap<String, Value>,
}

fn exchanges(folder: &Path, dialect: &str) -> Vec<Value> {
    let entries = std::fs::read_dir(folder.join(dialect)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    paths.into_iter().map(read).collect()
}

fn all() -> Option<Recordings> {
    let folder = recordings()?;
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let expected = expected.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let expected = expected.map(|line| (line["id"].as_str().unwrap().to_owned(), line)).collect();
    Some(Recordings { exchanges: exchanges(&folder, "gemini"), expected })
}

#[expect(clippy::print_stdout, reason = "a test that checks nothing must say so")]
fn say(line: &str) {
    println!("{line}");
}

fn frames(text: &str) -> Vec<String> {
    let mut frames = Vec::new();
    let mut sse = Sse::default();
    sse.feed(text.as_bytes(), |frame| frames.push(frame.data.to_owned())).unwrap();
    sse.end(|frame| frames.push(frame.data.to_owned())).unwrap();
    frames
}

fn decode_stream(text: &str) -> Vec<Event> {
    crate::dialect::testing::events_of(DIALECT, text)
}

fn collect(events: impl IntoIterator<Item = Event>) -> Response {
    let mut collector = Collector::default();
    collector.extend(events);
    collector.finish()
}

/// The exchange's answer, in either form.
fn answer(exchange: &Value) -> Result<Response, Error> {
    let response = &exchange["response"];
    let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    if status.is_some_and(|status| status >= 400) {
        return Err(decode_error(status, &[], &response["body"].to_string()));
    }
    match response["sse"].as_str() {
        Some(text) => Ok(collect(decode_stream(text))),
        None => decode_response(&response["body"], &mut Ids::default()),
    }
}

/// The answer in the words of the expectations.
fn summary(answer: &Result<Response, Error>) -> Map<String, Value> {
    let failed = Response { finish_reason: FinishReason::Error, ..Response::default() };
    let response = answer.as_ref().unwrap_or(&failed);
    let calls: Vec<Value> =
        response.tool_calls().map(|call| json!({"name": call.name, "arguments": call.arguments.object()})).collect();
    let usage = response.usage.as_ref().map(|usage| {
        let mut counts = json!({
            "input": usage.prompt_tokens(), "output": usage.output_tokens, "thinking": usage.thinking_tokens,
        });
        if usage.cached_tokens() > 0 {
            counts["cached"] = usage.cached_tokens().into();
        }
        counts
    });
    let fields = json!({
        "text": response.text(), "thinking": response.thinking(), "tool_calls": calls,
        "finish": response.finish_reason, "usage": usage,
    });
    fields.as_object().cloned().unwrap()
}

#[test]
fn every_answer_is_what_the_official_clients_read() {
    let Some(recordings) = all() else { return };
    let mut faults = Vec::new();
    for exchange in &recordings.exchanges {
        let id = exchange["id"].as_str().unwrap();
        let expected = &recordings.expected[id];
        let uncertain: Vec<&str> =
            expected["uncertain"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (field, value) in summary(&answer(exchange)) {
            if value != expected[&field] && !uncertain.contains(&field.as_str()) {
                faults.push(format!("{id}: {field} is {value}, expected {}", expected[&field]));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "{} exchanges", recordings.exchanges.len());
}

#[test]
fn every_request_round_trips() {
    let Some(recordings) = all() else { return };
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "google", quirks: &quirks, rules: &rules, facts: None };
    for exchange in recordings.exchanges.iter().filter(|exchange| !exchange["request"].is_null()) {
        let id = exchange["id"].as_str().unwrap();
        let (path, body) = (exchange["request"]["path"].as_str().unwrap(), &exchange["request"]["body"]);
        let request = decode_request(Some(path), body).unwrap();
        // Once more through the JSON of the format.
        let request = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
        let wire = encode_request(&request, &target).unwrap();
        assert_eq!(&wire.body, body, "{id}");
        assert_eq!(wire.losses, [], "{id}");
        let own = path.split_once("/models/").unwrap().1;
        let asked = if own.ends_with(":streamGenerateContent") { format!("{own}?alt=sse") } else { own.to_owned() };
        assert_eq!(wire.path, format!("/models/{asked}"), "{id}");
    }
}

#[test]
fn every_whole_answer_round_trips() {
    let Some(recordings) = all() else { return };
    for exchange in recordings.exchanges.iter().filter(|exchange| exchange["response"]["body"].is_object()) {
        let id = exchange["id"].as_str().unwrap();
        if let Ok(response) = answer(exchange) {
            let (wire, losses) = testing::encode_response(&response, &Reply::default());
            assert_eq!((wire, losses), (exchange["response"]["body"].clone(), vec![]), "{id}");
            // And in one piece through a stream of ours.
            let mut encoder = Encoder::new(Reply::default());
            let mut bytes = Vec::new();
            for event in events(&response) {
                encoder.event(&event, &mut bytes);
            }
            let streamed = collect(decode_stream(std::str::from_utf8(&bytes).unwrap()));
            assert_eq!(comparable(streamed), comparable(response), "{id}");
        } else {
            let wire = encode_error(&answer(exchange).unwrap_err());
            assert_eq!(serde_json::from_slice::<Value>(&wire.body).unwrap(), exchange["response"]["body"], "{id}");
        }
    }
}

#[test]
fn every_stream_survives_our_own() {
    let Some(recordings) = all() else { return };
    for exchange in &recordings.exchanges {
        let Some(text) = exchange["response"]["sse"].as_str() else { continue };
        let id = exchange["id"].as_str().unwrap();
        for json_array in [false, true] {
            let mut encoder = Encoder::new(Reply { json_array, ..Reply::default() });
            let mut bytes = Vec::new();
            for event in decode_stream(text) {
                encoder.event(&event, &mut bytes);
            }
            let written = std::str::from_utf8(&bytes).unwrap();
            let (ours, theirs) = (collect(decode_stream(written)), collect(decode_stream(text)));
            assert_eq!(comparable(ours), comparable(theirs), "{id}");
        }
    }
}

/// What a stream cannot tell: how a whole answer cut its text into parts, empty parts, the shape of the content
/// object, warnings; and what stands beside the first candidate.
fn comparable(mut response: Response) -> Response {
    response.warnings.clear();
    for block in &mut response.content {
        if let Some(data) = block.provider_data_mut() {
            data.remove_part(DIALECT, Part::Shape, "split");
        }
        // Ids of ours come anew.
        if let Block::ToolCall(call) = block
            && call.provider_data.part(DIALECT, Part::Shape).flag("generated_id")
        {
            call.id.clear();
        }
    }
    response.provider_data.take_part(DIALECT, Part::Shape);
    response.provider_data.remove_part(DIALECT, Part::Answer, "candidates");
    // A stream of ours always has the candidate's number.
    response.provider_data.remove_part(DIALECT, Part::Answer, "index");
    response.provider_data.remove_part(DIALECT, Part::Answer, "candidate");
    response
}

/// What the API asks of contents, checked on a request that we made.
fn check_contents(body: &Value) -> Result<(), String> {
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

/// Requests whose conversation lies with their own provider (`previous_response_id`): the calls to their results are
/// not in them, and no other provider can go on.
const KEPT_ELSEWHERE: [&str; 2] = [
    "openai-o4-mini-tool-round-trip-2-cbe0b85b",
    "openai-openai-previous-response-id-seed-auto-chains-through-retries-3ea4dfc0",
];

#[test]
fn requests_of_other_dialects_become_ones_that_the_api_takes() {
    let Some(folder) = recordings() else { return };
    let quirks = Quirks::default();
    let mut faults = Vec::new();
    let mut count = 0;
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        for exchange in exchanges(&folder, dialect.as_str()) {
            let id = exchange["id"].as_str().unwrap();
            let (path, body) = (exchange["request"]["path"].as_str(), exchange["request"]["body"].clone());
            if !body.is_object() || exchange["response"]["status"] != 200 || KEPT_ELSEWHERE.contains(&id) {
                continue;
            }
            let body = body.to_string().into_bytes();
            let incoming = crate::wire::Incoming { path, body: &body };
            let Ok((mut request, _)) = dialect.decode_request(incoming, &crate::Limits::default()) else { continue };
            for model in ["gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview"] {
                request.model = model.to_owned();
                let target = Target {
                    provider: "google",
                    quirks: &quirks,
                    rules: crate::catalog::rules_for(model),
                    facts: None,
                };
                let outcome = encode_request(&request, &target).map_err(|error| error.message);
                if let Err(fault) = outcome.and_then(|wire| check_contents(&wire.body)) {
                    faults.push(format!("{id} for {model}: {fault}"));
                }
            }
            count += 1;
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "of {count}");
}

/// The answer in the history of a client of this dialect: whole, or with a content for each frame of a stream.
fn in_history(response: &Response, streamed: bool, reply: &Reply) -> Vec<Value> {
    if !streamed {
        return vec![testing::encode_response(response, reply).0["candidates"][0]["content"].clone()];
    }
    let mut encoder = Encoder::new(reply.clone());
    let mut bytes = Vec::new();
    for event in events(response) {
        encoder.event(&event, &mut bytes);
    }
    let frames = frames(std::str::from_utf8(&bytes).unwrap());
    let contents = frames.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    contents.map(|frame| frame["candidates"][0]["content"].clone()).collect()
}

/// The blocks that count: not the empty part at a stream's end, and no calls that were cut off.
fn blocks(content: &[Block]) -> Vec<Block> {
    let counts = |block: &&Block| match block {
        Block::Text(text) => !text.text.is_empty() || !text.provider_data.only(Part::State).is_empty(),
        Block::ToolCall(call) => call.is_complete(),
        // Told as a loss.
        Block::Other(other) => other.dialect == DIALECT,
        _ => true,
    };
    content.iter().filter(counts).cloned().map(plain).collect()
}

/// The wire has arguments as an object alone, so how the model wrote them does not come along; and of what a dialect left
/// on a block only state does, without ids that nobody wants back.
fn plain(mut block: Block) -> Block {
    let thinking = matches!(block, Block::Thinking(_));
    if let Some(data) = block.provider_data_mut() {
        *data = data.only(Part::State);
        for dialect in Dialect::ALL.into_iter().filter(|_| !thinking) {
            data.remove_part(dialect, Part::State, "id");
        }
    }
    if let Block::ToolCall(call) = &mut block {
        call.arguments = call.arguments.object().clone().into();
    }
    block
}

#[test]
fn answers_of_other_dialects_come_back_from_clients_of_this_one() {
    let Some(folder) = recordings() else { return };
    let reply = Reply { provider: Some("other".to_owned()), ..Reply::default() };
    let mut faults = Vec::new();
    let mut count = 0;
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        for exchange in exchanges(&folder, dialect.as_str()) {
            let id = exchange["id"].as_str().unwrap();
            let body = exchange["response"]["body"].to_string();
            let decoded = dialect.decode_response(body.as_bytes(), &mut Ids::default(), &crate::Limits::default());
            let Ok(response) = decoded else { continue };
            if response.finish_reason == FinishReason::Error || blocks(&response.content).is_empty() {
                continue;
            }
            count += 1;
            for streamed in [false, true] {
                let contents = in_history(&response, streamed, &reply);
                let request = decode_request(None, &json!({"contents": contents})).unwrap();
                let history: Vec<Block> = request.messages.into_iter().flat_map(|message| message.content).collect();
                let (ours, theirs) = (blocks(&history), blocks(&response.content));
                if ours != theirs {
                    faults.push(format!("{id}, streamed {streamed}: {ours:#?} is not {theirs:#?}"));
                }
            }
        }
    }
    say(&format!("{count} answers, whole and streamed"));
    assert!(faults.is_empty(), "{} of {count}, the first: {}", faults.len(), faults[0]);
}

//! Every recorded exchange of Converse: what its answer means, and that its request can be written.

use std::collections::HashMap;
use std::path::PathBuf;
use std::task::Poll;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ikigai_core::provider::Registry;
use ikigai_core::wire::{Ids, Incoming, StreamDecoder};
use ikigai_core::{
    Collector, Dialect, Error, ErrorKind, Event, FinishReason, Limits, Message, ModelName, Request, Response, Role,
    user,
};
use serde_json::{Map, Value, json};

use super::Converse;
use crate::transport::Body;
use crate::transport::eventstream::{Inside, unframed};

#[expect(clippy::print_stderr, reason = "whoever runs the tests must know that these check nothing")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("IKIGAI_RECORDINGS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings"), PathBuf::from);
    if folder.join("bedrock-converse").is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "no recordings in {}", folder.display());
    eprintln!("no recordings in {}: nothing is checked", folder.display());
    None
}

fn exchanges() -> Vec<Value> {
    let Some(folder) = folder() else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        folder.join("bedrock-converse").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn converse(exchange: &Value) -> Converse {
    Converse { model: exchange["model"].as_str().unwrap_or("unknown").to_owned() }
}

fn bytes_of(exchange: &Value) -> Option<Bytes> {
    exchange["response"]["eventstream_b64"].as_str().map(|text| STANDARD.decode(text).unwrap().into())
}

/// The events of a stream that arrives in these pieces.
async fn events(exchange: &Value, mut pieces: Vec<Bytes>) -> Vec<Event> {
    pieces.reverse();
    let body = Body::poll_fn(move |_| Poll::Ready(pieces.pop().map(Ok)));
    let mut body = unframed(body, Inside::Converse(converse(exchange).reader()));
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, Ids::seeded(7), &Limits::default());
    let mut events = Vec::new();
    while let Some(bytes) = body.next().await {
        decoder.feed(&bytes.unwrap(), &mut events);
    }
    decoder.end(&mut events);
    events
}

async fn answer(exchange: &Value) -> Result<Response, Error> {
    let recorded = &exchange["response"];
    if let Some(bytes) = bytes_of(exchange) {
        let mut collector = Collector::default();
        collector.extend(events(exchange, vec![bytes]).await);
        return Ok(collector.finish());
    }
    let status = recorded["status"].as_u64().unwrap() as u16;
    if status != 200 {
        let headers = recorded["headers"].as_object().unwrap();
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
        return Err(Dialect::Anthropic.decode_error(Some(status), &headers, &recorded["body"].to_string()));
    }
    let body = converse(exchange).rewrite_response(recorded["body"].clone());
    Dialect::Anthropic.decode_response(&serde_json::to_vec(&body).unwrap(), &mut Ids::seeded(7), &Limits::default())
}

/// An answer in the words of `expected.jsonl`.
fn summary(response: &Response) -> Value {
    let calls: Vec<Value> =
        response.tool_calls().map(|call| json!({"name": call.name, "arguments": call.arguments.object()})).collect();
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

#[tokio::test]
async fn every_answer_means_what_amazons_own_library_reads() {
    let Some(folder) = folder() else { return };
    let lines = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let expectations: HashMap<String, Value> =
        lines.map(|line| (line["id"].as_str().unwrap().to_owned(), line)).collect();
    let (mut whole, mut streams, mut errors) = (0, 0, 0);
    let mut faults = Vec::new();
    for exchange in exchanges() {
        let id = exchange["id"].as_str().unwrap();
        let mut expected = expectations[id].clone();
        let got = match answer(&exchange).await {
            Ok(response) => {
                *(if bytes_of(&exchange).is_some() { &mut streams } else { &mut whole }) += 1;
                assert_eq!(response.model, converse(&exchange).model);
                summary(&response)
            }
            Err(error) => {
                errors += 1;
                assert!(matches!(error.kind, ErrorKind::NotFound | ErrorKind::InvalidRequest), "{error}");
                json!({"text": "", "thinking": "", "tool_calls": [], "finish": FinishReason::Error, "usage": null})
            }
        };
        if let Some(usage) = expected["usage"].as_object_mut() {
            usage.entry("cached").or_insert(json!(0));
        }
        for key in ["text", "thinking", "tool_calls", "finish", "usage"] {
            let uncertain = expected["uncertain"].as_array().is_some_and(|list| list.contains(&key.into()));
            if !uncertain && expected[key] != got[key] {
                faults.push(format!("{id}: {key}\n  expected: {}\n  got:      {}", expected[key], got[key]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!((whole, streams, errors), (74, 9, 3));
}

#[tokio::test]
async fn a_stream_means_the_same_wherever_it_is_cut() {
    let mut cuts = 0;
    for exchange in exchanges() {
        let Some(bytes) = bytes_of(&exchange) else { continue };
        let whole = events(&exchange, vec![bytes.clone()]).await;
        let single = bytes.chunks(1).map(Bytes::copy_from_slice).collect();
        assert_eq!(events(&exchange, single).await, whole, "{}: byte by byte", exchange["id"]);
        // Each place in the short ones.
        let places = if bytes.len() < 4096 { 1 } else { 97 };
        for place in (0..bytes.len()).step_by(places) {
            let pieces = vec![bytes.slice(..place), bytes.slice(place..)];
            assert_eq!(events(&exchange, pieces).await, whole, "{}: cut at {place}", exchange["id"]);
            cuts += 1;
        }
    }
    assert!(folder().is_none() || cuts > 4000, "{cuts}");
}

/// A whole answer as a stream would bring it.
fn frames(body: &Value) -> Vec<(&'static str, Value)> {
    let mut frames = vec![("messageStart", json!({"role": "assistant", "p": "abc"}))];
    for (index, block) in body["output"]["message"]["content"].as_array().unwrap().iter().enumerate() {
        let (start, delta) = match block.as_object().unwrap().iter().next().unwrap() {
            (key, call) if key == "toolUse" => {
                let mut start = call.clone();
                let input = start.as_object_mut().unwrap().shift_remove("input").unwrap();
                (Some(json!({"toolUse": start})), json!({"toolUse": {"input": input.to_string()}}))
            }
            (key, result) if key == "toolResult" => {
                let mut start = result.clone();
                let content = start.as_object_mut().unwrap().shift_remove("content").unwrap();
                (Some(json!({"toolResult": start})), json!({"toolResult": content}))
            }
            (key, thinking) if key == "reasoningContent" && thinking.get("reasoningText").is_some() => {
                (None, json!({"reasoningContent": thinking["reasoningText"]}))
            }
            (key, inner) => (None, json!({key.as_str(): inner})),
        };
        if let Some(start) = start {
            frames.push(("contentBlockStart", json!({"contentBlockIndex": index, "start": start})));
        }
        frames.push(("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta})));
        frames.push(("contentBlockStop", json!({"contentBlockIndex": index})));
    }
    let mut rest = body.as_object().unwrap().clone();
    rest.shift_remove("output");
    frames.push(("messageStop", json!({"stopReason": rest.shift_remove("stopReason")})));
    frames.push(("metadata", Value::Object(rest)));
    frames
}

#[tokio::test]
async fn a_whole_answer_is_the_same_as_a_stream() {
    let mut count = 0;
    for exchange in exchanges() {
        let body = &exchange["response"]["body"];
        if body.get("output").is_none() {
            continue;
        }
        let mut reader = converse(&exchange).reader();
        let mut bytes = Vec::new();
        for (kind, payload) in frames(body) {
            reader.event(kind, payload.to_string().as_bytes(), &mut bytes);
        }
        let mut decoder = StreamDecoder::new(Dialect::Anthropic, Ids::seeded(7), &Limits::default());
        let mut events = Vec::new();
        decoder.feed(&bytes, &mut events);
        decoder.end(&mut events);
        let mut collector = Collector::default();
        collector.extend(events);
        assert_eq!(collector.finish(), answer(&exchange).await.unwrap(), "{}", exchange["id"]);
        count += 1;
    }
    assert!(folder().is_none() || count == 74, "{count}");
}

/// A block of Converse in the dialect's words; a cache point belongs to the block before.
fn inverse(content: &Value) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    for block in content.as_array().unwrap() {
        let (key, inner) = block.as_object().unwrap().iter().next().unwrap();
        let mut read = match key.as_str() {
            "text" => json!({"type": "text", "text": inner}),
            "cachePoint" => {
                let last = blocks.last_mut().unwrap();
                last["cache_control"] = json!({"type": "ephemeral"});
                continue;
            }
            "image" => {
                json!({"type": "image", "source": source(&format!("image/{}", inner["format"].as_str().unwrap()), inner)})
            }
            "document" => {
                let media_type = if inner["format"] == "pdf" { "application/pdf" } else { "text/plain" };
                json!({"type": "document", "title": inner["name"], "source": source(media_type, inner)})
            }
            "toolResult" => {
                let failed = inner["status"] == "error";
                json!({"type": "tool_result", "tool_use_id": inner["toolUseId"], "content": inverse(&inner["content"]), "is_error": failed})
            }
            _ => super::response::read_block(block.clone()),
        };
        // A server's own results are not the user's.
        if inner.get("type").is_some_and(|kind| kind != "server_tool_use") {
            read = json!({"type": "converse", "block": block});
        }
        blocks.push(read);
    }
    Value::Array(blocks)
}

fn source(media_type: &str, inner: &Value) -> Value {
    match inner["source"]["s3Location"]["uri"].as_str() {
        Some(url) => json!({"type": "url", "url": url}),
        None => json!({"type": "base64", "media_type": media_type, "data": inner["source"]["bytes"]}),
    }
}

/// A recorded request as one of the dialect.
fn as_messages(recorded: &Map<String, Value>, model: &str) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    for (key, value) in recorded {
        match key.as_str() {
            "system" if value.as_array().is_some_and(Vec::is_empty) => {}
            "system" => {
                body.insert(key.clone(), inverse(value));
            }
            "messages" => {
                let messages = value.as_array().unwrap().iter();
                let messages =
                    messages.map(|message| json!({"role": message["role"], "content": inverse(&message["content"])}));
                body.insert(key.clone(), messages.collect());
            }
            "inferenceConfig" => {
                let names = [("maxTokens", "max_tokens"), ("temperature", "temperature"), ("topP", "top_p")];
                for (theirs, ours) in names {
                    if let Some(value) = value.get(theirs) {
                        body.insert(ours.to_owned(), value.clone());
                    }
                }
            }
            "toolConfig" => {
                let mut tools: Vec<Value> = Vec::new();
                for tool in value["tools"].as_array().unwrap() {
                    let Some(spec) = tool["toolSpec"].as_object() else {
                        match tools.last_mut() {
                            Some(last) if tool.get("cachePoint").is_some() => {
                                last["cache_control"] = json!({"type": "ephemeral"});
                            }
                            _ => tools.push(json!({"type": "converse", "systemTool": tool["systemTool"]})),
                        }
                        continue;
                    };
                    let mut spec = spec.clone();
                    let schema = spec.shift_remove("inputSchema").unwrap();
                    spec.insert("input_schema".to_owned(), schema["json"].clone());
                    tools.push(Value::Object(spec));
                }
                body.insert("tools".to_owned(), tools.into());
                if let Some((word, named)) = value["toolChoice"].as_object().and_then(|choice| choice.iter().next()) {
                    let mut choice = named.clone();
                    choice["type"] = word.as_str().into();
                    body.insert("tool_choice".to_owned(), choice);
                }
            }
            "outputConfig" => {
                let definition = &value["textFormat"]["structure"]["jsonSchema"];
                let schema: Value = serde_json::from_str(definition["schema"].as_str().unwrap()).unwrap();
                body.insert("output_config".to_owned(), json!({"format": {"type": "json_schema", "schema": schema}}));
            }
            "additionalModelRequestFields" => match value.get("reasoning_config") {
                Some(_) => {
                    body.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": 2048}));
                }
                None => body.extend(value.as_object().unwrap().clone()),
            },
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(body)
}

/// The same, whichever of the forms it was written in that mean the same.
fn plain(mut body: Value) -> Value {
    let fields = body.as_object_mut().unwrap();
    fields.retain(|_, value| {
        !(value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty))
    });
    if let Some(config) = fields.get_mut("toolConfig").and_then(Value::as_object_mut) {
        // A free choice is what there is without a word.
        config.retain(|key, value| key != "toolChoice" || *value != json!({"auto": {}}));
    }
    if let Some(definition) = fields.get_mut("outputConfig") {
        let definition = definition["textFormat"]["structure"]["jsonSchema"].as_object_mut().unwrap();
        let schema: Value = serde_json::from_str(definition["schema"].as_str().unwrap()).unwrap();
        // Names are the canonical format's; they are tested with it.
        *definition = Map::from_iter([("schema".to_owned(), schema)]);
    }
    body
}

#[test]
fn every_request_can_be_written() {
    let registry = Registry::shared();
    let (mut count, mut faults) = (0, Vec::new());
    for exchange in exchanges() {
        let Some(recorded) = exchange["request"].as_object() else { continue };
        let model = exchange["model"].as_str().unwrap();
        let body = as_messages(recorded["body"].as_object().unwrap(), model);
        let body = serde_json::to_vec(&body).unwrap();
        let incoming = Incoming { path: None, body: &body };
        let (mut request, _) = Dialect::Anthropic.decode_request(incoming, &Limits::default()).unwrap();
        let path = recorded["path"].as_str().unwrap();
        request.stream = path.ends_with("-stream").then_some(true);
        let route = registry.route(&ModelName::new("bedrock-converse", model)).unwrap();
        let wire = Converse::on(&route).unwrap().encode_request(&request, &route).unwrap();
        // A name that only the recording has, with a sign in it that Converse would refuse.
        let wanted = recorded["body"].to_string().replace("document-REDACTED_1", "document-REDACTED 1");
        let (wanted, got) =
            (plain(serde_json::from_str(&wanted).unwrap()), plain(serde_json::from_slice(&wire.body).unwrap()));
        if wanted != got || path.replace(':', "%3A") != wire.path {
            faults.push(format!("{}\n  recorded: {wanted}\n  written:  {got} {}", exchange["id"], wire.path));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count} differ\n{}", faults.len(), faults.join("\n"));
    assert!(folder().is_none() || count == 82, "{count}");
}

/// What goes back of a recorded answer: all of it, without types that are the default.
fn goes_back(content: &Value) -> Value {
    let mut blocks = content.clone();
    let calls = blocks.as_array_mut().unwrap().iter_mut();
    for call in calls.filter_map(|block| block.get_mut("toolUse")?.as_object_mut()) {
        call.retain(|key, value| key != "type" || value != "tool_use");
    }
    blocks
}

#[tokio::test]
async fn every_answer_goes_back_as_it_came() {
    let registry = Registry::shared();
    let (mut count, mut faults) = (0, Vec::new());
    for exchange in exchanges() {
        let (body, Some(model)) = (&exchange["response"]["body"], exchange["model"].as_str()) else { continue };
        let Some(content) = body.get("output").map(|output| &output["message"]["content"]) else { continue };
        let wanted = goes_back(content);
        let response = answer(&exchange).await.unwrap();
        let said = Message {
            role: Role::Assistant,
            content: response.content,
            provider: Some("bedrock-converse".to_owned()),
            model: Some(model.to_owned()),
            ..user("")
        };
        let request =
            Request { model: model.to_owned(), messages: vec![user("Hi"), said, user("Go on.")], ..Request::default() };
        let route = registry.route(&ModelName::new("bedrock-converse", model)).unwrap();
        let wire = Converse::on(&route).unwrap().encode_request(&request, &route).unwrap();
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        if body["messages"][1]["content"] != wanted {
            let got = &body["messages"][1]["content"];
            faults.push(format!("{}\n  came: {wanted}\n  went: {got}", exchange["id"]));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count} differ\n{}", faults.len(), faults.join("\n"));
    assert!(folder().is_none() || count > 60, "{count}");
}

//! Recordings of what the provider really sent and accepted, from outside the project: what an answer means, and that
//! its request can be written.

use std::collections::HashMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::DIALECT;
use super::testing::{as_stream, decode, events, of};
use crate::dialect::testing::recordings;
use crate::dialect::testing::{collect, events_of};
use crate::provider::Registry;
use crate::wire::{Ids, StreamDecoder};
use crate::{Error, ErrorKind, Event, FinishReason, Limits, ModelName, Request, Response, user};

fn exchanges() -> Vec<Value> {
    let Some(folder) = recordings() else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        folder.join("bedrock-converse").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// Extracts the text of a recorded stream from its binary frames.
fn text_of(exchange: &Value) -> Option<String> {
    let bytes = STANDARD.decode(exchange["response"]["eventstream_b64"].as_str()?).unwrap();
    let mut rest = bytes.as_slice();
    let mut text = String::new();
    while !rest.is_empty() {
        let number = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
        let (length, headers) = (number(0), number(4));
        let payload = std::str::from_utf8(&rest[12 + headers..length - 4]).unwrap();
        let name = event_name(&rest[12..12 + headers]);
        text.push_str(&format!("data: {{\"{name}\":{payload}}}\n\n"));
        rest = &rest[length..];
    }
    Some(text)
}

/// Returns the name of the event or the exception; all headers here are strings.
fn event_name(mut headers: &[u8]) -> String {
    while let [length, rest @ ..] = headers {
        let (name, rest) = rest.split_at(usize::from(*length));
        let [7, high, low, rest @ ..] = rest else { panic!("not a text") };
        let (value, rest) = rest.split_at(usize::from(u16::from_be_bytes([*high, *low])));
        if name == b":event-type" || name == b":exception-type" {
            return String::from_utf8(value.to_vec()).unwrap();
        }
        headers = rest;
    }
    panic!("an event without a name")
}

fn answer(exchange: &Value) -> Result<Response, Error> {
    let recorded = &exchange["response"];
    if let Some(text) = text_of(exchange) {
        return Ok(collect(events_of(DIALECT, &text)));
    }
    let status = recorded["status"].as_u64().unwrap() as u16;
    if status != 200 {
        let headers = recorded["headers"].as_object().unwrap();
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
        return Err(DIALECT.decode_error(Some(status), &headers, &recorded["body"].to_string()));
    }
    decode(&recorded["body"])
}

/// Summarises an answer in the form of `expected.jsonl`.
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

#[test]
fn every_answer_means_what_amazons_own_library_reads() {
    let Some(folder) = recordings() else { return };
    let lines = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let expectations: HashMap<String, Value> =
        lines.map(|line| (line["id"].as_str().unwrap().to_owned(), line)).collect();
    let (mut whole, mut streams, mut errors) = (0, 0, 0);
    let mut faults = Vec::new();
    for exchange in exchanges() {
        let id = exchange["id"].as_str().unwrap();
        let mut expected = expectations[id].clone();
        let got = match answer(&exchange) {
            Ok(response) => {
                *(if text_of(&exchange).is_some() { &mut streams } else { &mut whole }) += 1;
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

#[test]
fn a_stream_means_the_same_wherever_it_is_cut() {
    let cut_events = |pieces: Vec<&[u8]>| -> Vec<Event> {
        let mut decoder = StreamDecoder::new(DIALECT, Ids::default(), &Limits::default());
        let mut events = Vec::new();
        pieces.iter().for_each(|piece| decoder.feed(piece, &mut events));
        decoder.end(&mut events);
        events
    };
    let mut cuts = 0;
    for exchange in exchanges() {
        let Some(text) = text_of(&exchange) else { continue };
        let (bytes, whole) = (text.as_bytes(), events_of(DIALECT, &text));
        assert_eq!(cut_events(bytes.chunks(1).collect()), whole, "{}: byte by byte", exchange["id"]);
        for place in (0..bytes.len()).step_by(if bytes.len() < 4096 { 1 } else { 97 }) {
            let (one, other) = bytes.split_at(place);
            assert_eq!(cut_events(vec![one, other]), whole, "{}: cut at {place}", exchange["id"]);
            cuts += 1;
        }
    }
    assert!(recordings().is_none() || cuts > 2000, "{cuts}");
}

#[test]
fn a_whole_answer_is_the_same_as_a_stream() {
    let mut count = 0;
    for exchange in exchanges() {
        let body = &exchange["response"]["body"];
        if body.get("output").is_some() {
            assert_eq!(collect(events(&as_stream(body))), decode(body).unwrap(), "{}", exchange["id"]);
            count += 1;
        }
    }
    assert!(recordings().is_none() || count == 74, "{count}");
}

/// Converts blocks of a recorded request to the canonical format; a cache mark belongs to the block before it.
fn canonical(content: &Value) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    for block in content.as_array().unwrap() {
        let (key, inner) = block.as_object().unwrap().iter().next().unwrap();
        let source = |media_type: &str| match inner["source"]["s3Location"]["uri"].as_str() {
            Some(url) => json!({"type": "url", "url": url}),
            None => json!({"type": "base64", "media_type": media_type, "data": inner["source"]["bytes"]}),
        };
        let format = || inner["format"].as_str().unwrap();
        let state = |name: &str, value: &Value| json!({"bedrock-converse": {name: value}});
        blocks.push(match key.as_str() {
            "text" => json!({"type": "text", "text": inner}),
            "cachePoint" => {
                blocks.last_mut().unwrap()["cache"] = json!({});
                continue;
            }
            "image" => json!({"type": "image", "source": source(&format!("image/{}", format()))}),
            "document" => {
                let media_type = if format() == "pdf" { "application/pdf" } else { "text/plain" };
                json!({"type": "document", "name": inner["name"], "source": source(media_type)})
            }
            "toolUse" if inner.get("type").is_none() => {
                json!({"type": "tool_call", "id": inner["toolUseId"], "name": inner["name"], "arguments": inner["input"]})
            }
            "toolResult" if inner.get("type").is_none() => {
                let (content, failed) = (canonical(&inner["content"]), inner["status"] == "error");
                json!({"type": "tool_result", "tool_call_id": inner["toolUseId"], "content": content, "is_error": failed})
            }
            "reasoningContent" => match inner.get("redactedContent") {
                Some(redacted) => json!({"type": "thinking", "provider_data": state("redacted_data", redacted)}),
                None => {
                    let text = &inner["reasoningText"];
                    let data = text.get("signature").map(|signature| state("signature", signature));
                    json!({"type": "thinking", "text": text["text"], "provider_data": data.unwrap_or_else(|| json!({}))})
                }
            },
            _ => json!({"type": "other", "dialect": "bedrock-converse", "data": block}),
        });
    }
    Value::Array(blocks)
}

/// Converts a recorded request to the canonical format.
fn asked(recorded: &Map<String, Value>, model: &str) -> Request {
    let mut request = json!({"model": model, "provider_data": {"bedrock-converse": {"extra": {}}}});
    for (key, value) in recorded {
        match key.as_str() {
            "system" => request["system"] = canonical(value),
            "messages" => {
                let messages = value.as_array().unwrap().iter().map(|message| {
                    let content = canonical(&message["content"]);
                    json!({"role": message["role"], "content": content, "provider": "bedrock-converse", "model": model})
                });
                request["messages"] = messages.collect();
            }
            "inferenceConfig" => {
                let names = [("maxTokens", "max_output_tokens"), ("temperature", "temperature"), ("topP", "top_p")];
                for (theirs, ours) in names {
                    if let Some(value) = value.get(theirs) {
                        request[ours] = value.clone();
                    }
                }
            }
            "toolConfig" => {
                let mut tools: Vec<Value> = Vec::new();
                for tool in value["tools"].as_array().unwrap() {
                    match tool["toolSpec"].as_object() {
                        Some(spec) => {
                            let mut function = json!({"strict": false});
                            for (name, value) in spec {
                                match name.as_str() {
                                    "inputSchema" => function["parameters"] = value["json"].clone(),
                                    name => function[name] = value.clone(),
                                }
                            }
                            tools.push(function);
                        }
                        None if tool.get("cachePoint").is_some() => tools.last_mut().unwrap()["cache"] = json!({}),
                        None => tools.push(json!({"type": "other", "dialect": "bedrock-converse", "data": tool})),
                    }
                }
                request["tools"] = tools.into();
                if let Some((word, named)) = value["toolChoice"].as_object().and_then(|choice| choice.iter().next()) {
                    request["tool_choice"] = match word.as_str() {
                        "auto" => json!("auto"),
                        "any" => json!("required"),
                        _ => json!({"specific": named["name"]}),
                    };
                }
            }
            "outputConfig" => {
                let definition = &value["textFormat"]["structure"]["jsonSchema"];
                let schema: Value = serde_json::from_str(definition["schema"].as_str().unwrap()).unwrap();
                request["output_format"] = json!({"json_schema": {"schema": schema}});
            }
            "additionalModelRequestFields" if value["thinking"]["budget_tokens"].is_number() => {
                request["thinking"] = json!({"budget": value["thinking"]["budget_tokens"]});
            }
            "additionalModelRequestFields" if value.get("reasoning_config").is_some() => {
                request["thinking"] = json!({"level": "high"});
            }
            _ => request["provider_data"]["bedrock-converse"]["extra"][key] = value.clone(),
        }
    }
    serde_json::from_value(request).unwrap()
}

/// Normalises a body that may have been written in any of several equivalent forms.
fn plain(mut body: Value) -> Value {
    let fields = body.as_object_mut().unwrap();
    fields.retain(|_, value| {
        !(value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty))
    });
    if let Some(config) = fields.get_mut("toolConfig").and_then(Value::as_object_mut) {
        // A free choice is the default.
        config.retain(|key, value| key != "toolChoice" || *value != json!({"auto": {}}));
    }
    if let Some(definition) = fields.get_mut("outputConfig") {
        let definition = definition["textFormat"]["structure"]["jsonSchema"].as_object_mut().unwrap();
        let mut schema: Value = serde_json::from_str(definition["schema"].as_str().unwrap()).unwrap();
        // What `fit` removes from schemas, because not every API of these models accepts it.
        for property in schema["properties"].as_object_mut().unwrap().values_mut() {
            property.as_object_mut().unwrap().shift_remove("minLength");
        }
        // Names are tested elsewhere.
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
        let path = recorded["path"].as_str().unwrap();
        let mut request = asked(recorded["body"].as_object().unwrap(), model);
        request.stream = path.ends_with("-stream").then_some(true);
        let route = registry.route(&ModelName::new("bedrock-converse", model)).unwrap();
        let wire = DIALECT.encode_request(&request, &route.target(), &Limits::default()).unwrap();
        // A name that only the recording has, with a character in it that Converse would refuse.
        let wanted = recorded["body"].to_string().replace("document-REDACTED_1", "document-REDACTED 1");
        let (wanted, got) =
            (plain(serde_json::from_str(&wanted).unwrap()), plain(serde_json::from_slice(&wire.body).unwrap()));
        if wanted != got || path.replace(':', "%3A") != wire.path {
            let losses: Vec<String> = wire.losses.iter().map(ToString::to_string).collect();
            faults.push(format!(
                "{}\n  recorded: {wanted}\n  written:  {got} {}\n  {losses:?}",
                exchange["id"], wire.path
            ));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count} differ\n{}", faults.len(), faults.join("\n"));
    assert!(recordings().is_none() || count == 82, "{count}");
}

/// Returns what is sent back of a recorded answer: all of it, without default types.
fn goes_back(content: &Value) -> Value {
    let mut blocks = content.clone();
    let calls = blocks.as_array_mut().unwrap().iter_mut();
    for call in calls.filter_map(|block| block.get_mut("toolUse")?.as_object_mut()) {
        call.retain(|key, value| key != "type" || value != "tool_use");
    }
    blocks
}

#[test]
fn every_answer_goes_back_as_it_came() {
    let registry = Registry::shared();
    let (mut count, mut faults) = (0, Vec::new());
    for exchange in exchanges() {
        let (body, Some(model)) = (&exchange["response"]["body"], exchange["model"].as_str()) else { continue };
        let Some(content) = body.get("output").map(|output| &output["message"]["content"]) else { continue };
        let wanted = goes_back(content);
        let mut said = answer(&exchange).unwrap().into_message("bedrock-converse");
        said.model = Some(model.to_owned());
        let request = Request { model: model.to_owned(), ..of(vec![user("Hi"), said, user("Go on.")]) };
        let route = registry.route(&ModelName::new("bedrock-converse", model)).unwrap();
        let wire = DIALECT.encode_request(&request, &route.target(), &Limits::default()).unwrap();
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        if body["messages"][1]["content"] != wanted {
            let got = &body["messages"][1]["content"];
            faults.push(format!("{}\n  came: {wanted}\n  went: {got}", exchange["id"]));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count} differ\n{}", faults.len(), faults.join("\n"));
    assert!(recordings().is_none() || count > 60, "{count}");
}

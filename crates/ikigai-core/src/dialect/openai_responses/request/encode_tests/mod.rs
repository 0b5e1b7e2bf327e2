mod history;
mod parameters;
mod tools;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::catalog::{Facts, ForcedTools, Rules, Sampling, rules_for};
use crate::dialect::openai_responses::decode_request;
use crate::dialect::{Dialect, Incoming, Target};
use crate::provider::Quirks;
use crate::{
    CacheHint, CacheOptions, Document, Level, Message, Other, OutputFormat, ProviderData, Request, Severity, Source,
    Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice,
};

type Object = Map<String, Value>;

/// A request as sent.
#[derive(Debug, PartialEq)]
struct Sent {
    path: String,
    headers: Vec<(String, String)>,
    body: Value,
    losses: Vec<Loss>,
}

fn encode(request: &Request, target: &Target<'_>) -> Sent {
    let wire = Dialect::OpenaiResponses.encode_request(request, target, &Limits::default()).unwrap();
    let body = serde_json::from_slice(&wire.body).unwrap();
    Sent { path: wire.path, headers: wire.headers, body, losses: wire.losses }
}

fn send_with(request: &Request, rules: &Rules, quirks: &Quirks) -> Sent {
    encode(request, &Target { provider: "openai", quirks, rules, facts: None })
}

fn read(body: &Value) -> Request {
    decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &crate::Limits::default()).unwrap()
}

/// Encodes a request for the model that it names.
fn send(request: &Request) -> Sent {
    send_with(request, rules_for(&request.model), &Quirks::default())
}

fn input(request: &Request) -> Value {
    send(request).body["input"].clone()
}

fn losses(wire: &Sent) -> Vec<String> {
    wire.losses.iter().map(ToString::to_string).collect()
}

fn fields(object: Value) -> Fields {
    Json::from(object).to().unwrap()
}

fn hello() -> Request {
    Request::new("gpt-5.1").user("Hello")
}

/// Makes a thinking block as an answer of this dialect has it.
fn reasoning(id: &str, sealed: Option<&str>) -> Block {
    let mut block = ThinkingBlock { text: "Hm.".into(), provider_data: ProviderData::default() };
    block.provider_data.set_part(DIALECT, Part::State, "id", id);
    if let Some(sealed) = sealed {
        block.provider_data.set_part(DIALECT, Part::State, "encrypted_content", sealed);
    }
    Block::Thinking(block)
}

fn by(provider: &str, model: &str, content: Vec<Block>) -> Message {
    Message { provider: Some(provider.into()), model: Some(model.into()), ..Message::assistant(content) }
}

#[test]
fn a_new_request_is_stateless_and_a_single_text_is_its_input() {
    let request =
        hello()
            .system("You are helpful")
            .system("and brief")
            .thinking(Level::Med)
            .max_output_tokens(4096)
            .tool(Tool::new("read_file", "Reads.").parameters(
                json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            ))
            .tool_choice(ToolChoice::Specific("read_file".into()));
    let wire = send(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": "gpt-5.1",
            "instructions": "You are helpful\n\nand brief",
            "input": "Hello",
            "reasoning": {"effort": "medium", "summary": "auto"},
            "max_output_tokens": 4096,
            "tools": [{"type": "function", "name": "read_file", "description": "Reads.", "strict": true, "parameters": {
                "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
                "additionalProperties": false}}],
            "tool_choice": {"type": "function", "name": "read_file"},
            "store": false,
            "include": ["reasoning.encrypted_content"],
        })
    );
    assert_eq!((wire.path.as_str(), wire.losses, wire.headers), ("/responses", vec![], vec![]));
}

#[test]
fn the_caller_decides_about_storing_and_a_provider_without_a_store_hears_nothing_of_it() {
    let mut request = hello();
    request.provider_data.extend_part(
        DIALECT,
        Part::Extra,
        fields(json!({"store": true, "include": [], "service_tier": "flex"})),
    );
    let body = send(&request).body;
    assert_eq!((&body["store"], &body["include"], &body["service_tier"]), (&json!(true), &json!([]), &json!("flex")));
    let quirks = Quirks {
        responses: crate::provider::ResponsesQuirks { no_store: true, ..Default::default() },
        ..Quirks::default()
    };
    let wire = send_with(&request, &Rules::default(), &quirks);
    assert_eq!(wire.body.get("store"), None);
    assert_eq!(losses(&wire), ["store at store: this provider stores nothing; left out"]);
    let wire = send_with(&hello(), &Rules::default(), &quirks);
    assert_eq!((wire.body.get("store"), wire.body.get("include"), wire.losses), (None, None, vec![]));
}

#[test]
fn a_model_that_is_known_not_to_think_is_not_asked_for_encrypted_reasoning() {
    let facts: Facts = serde_json::from_value(json!({"thinking": false})).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: Some(&facts) };
    let body = encode(&hello(), &target).body;
    assert_eq!((body.get("include"), body.get("store")), (None, Some(&json!(false))));
}

#[test]
fn a_request_read_for_another_model_is_made_to_fit() {
    let body = json!({
        "model": "gpt-4o", "input": "Hi", "temperature": 1, "max_output_tokens": 5, "top_p": 0.5,
        "reasoning": {"effort": "max", "summary": "detailed", "context": "all_turns"},
        "tools": [{"type": "function", "name": "f", "function": {"name": "f", "parameters":
            {"type": "object", "properties": {"a": {"oneOf": []}}}, "strict": true}}],
    });
    let mut request = read(&body);
    request.model = "gpt-5.1".into();
    let wire = send(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": "gpt-5.1", "input": "Hi", "max_output_tokens": 16,
            "reasoning": {"effort": "high", "summary": "detailed", "context": "all_turns"},
            "tools": [{"type": "function", "name": "f", "strict": false,
                       "parameters": {"type": "object", "properties": {"a": {"oneOf": []}}}}],
            "store": false, "include": ["reasoning.encrypted_content"],
        })
    );
    let what: Vec<&str> = wire.losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["strict", "thinking", "max_output_tokens", "temperature", "top_p"]);
}

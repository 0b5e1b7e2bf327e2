//! Helpers for the tests of this dialect.

use serde_json::{Value, json};

use crate::dialect::testing;
use crate::provider::Registry;
use crate::wire::{Ids, WireRequest};
use crate::{Error, Event, Limits, Message, ModelName, Request, Response};

use super::DIALECT;

pub(super) const NOVA: &str = "bedrock:us.amazon.nova-lite-v1:0";
pub(super) const CLAUDE: &str = "bedrock-converse:us.anthropic.claude-sonnet-4-5-20250929-v1:0";
pub(super) const LLAMA: &str = "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0";

/// Encodes a request for a model by its name.
pub(super) fn encode(model: &str, mut request: Request) -> WireRequest {
    let registry = Registry::shared();
    let name: ModelName = registry.parse(model).unwrap();
    let route = registry.route(&name).unwrap();
    assert_eq!(route.dialect, DIALECT, "{model}");
    request.model = name.id;
    DIALECT.encode_request(&request, &route.target(), &Limits::default()).unwrap()
}

/// Returns the body, if nothing is lost.
pub(super) fn body(model: &str, request: Request) -> Value {
    let wire = encode(model, request);
    assert_eq!(wire.losses, []);
    read(&wire)
}

/// Returns the body as JSON.
pub(super) fn read(wire: &WireRequest) -> Value {
    serde_json::from_slice(&wire.body).unwrap()
}

pub(super) fn told(wire: &WireRequest) -> Vec<String> {
    wire.losses.iter().map(ToString::to_string).collect()
}

/// Makes a request with these messages.
pub(super) fn of(messages: Vec<Message>) -> Request {
    Request { messages, ..Request::default() }
}

/// Reads an answer.
pub(super) fn decode(body: &Value) -> Result<Response, Error> {
    DIALECT.decode_response(body.to_string().as_bytes(), &mut Ids::seeded(7), &Limits::default())
}

/// A member of the union of events.
pub(super) type Member = (&'static str, Value);

/// Writes events as the text of a stream.
pub(super) fn sse(members: &[(impl AsRef<str>, Value)]) -> String {
    members.iter().map(|(name, payload)| format!("data: {}\n\n", json!({name.as_ref(): payload}))).collect()
}

/// Returns the canonical events, whose order is checked.
pub(super) fn events(members: &[(impl AsRef<str>, Value)]) -> Vec<Event> {
    testing::events_of(DIALECT, &sse(members))
}

/// Returns the answer that such events make up, between its start and its end.
pub(super) fn answer(middle: &[Member]) -> Response {
    let mut members = vec![("messageStart", json!({"role": "assistant"}))];
    members.extend(middle.iter().cloned());
    members.push(("messageStop", json!({"stopReason": "end_turn"})));
    testing::collect(events(&members))
}

pub(super) fn delta(index: u64, delta: Value) -> Member {
    ("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}))
}

pub(super) fn stop(index: u64) -> Member {
    ("contentBlockStop", json!({"contentBlockIndex": index}))
}

/// Returns a whole answer as it would be streamed.
pub(super) fn as_stream(body: &Value) -> Vec<Member> {
    let mut members = vec![("messageStart", json!({"role": "assistant", "p": "abc"}))];
    for (index, block) in body["output"]["message"]["content"].as_array().unwrap().iter().enumerate() {
        let (key, inner) = block.as_object().unwrap().iter().next().unwrap();
        let without = |name: &str| {
            let mut fields = inner.as_object().unwrap().clone();
            let taken = fields.shift_remove(name).unwrap_or_default();
            (json!({key.as_str(): fields}), taken)
        };
        let (start, deltas) = match key.as_str() {
            "toolUse" => {
                let (start, input) = without("input");
                (Some(start), vec![json!({"toolUse": {"input": input.to_string()}})])
            }
            "toolResult" => {
                let (start, content) = without("content");
                (Some(start), vec![json!({"toolResult": content})])
            }
            "reasoningContent" if inner.get("reasoningText").is_some() => {
                (None, vec![json!({"reasoningContent": inner["reasoningText"]})])
            }
            "citationsContent" => {
                let texts = inner["content"].as_array().unwrap().iter().cloned();
                let cited = inner["citations"].as_array().unwrap().iter().map(|one| json!({"citation": one}));
                (None, texts.chain(cited).collect())
            }
            _ => (None, vec![json!({key.as_str(): inner})]),
        };
        if let Some(start) = start {
            members.push(("contentBlockStart", json!({"contentBlockIndex": index, "start": start})));
        }
        members.extend(deltas.into_iter().map(|piece| delta(index as u64, piece)));
        members.push(stop(index as u64));
    }
    let mut rest = body.as_object().unwrap().clone();
    rest.shift_remove("output");
    let mut end = json!({"stopReason": rest.shift_remove("stopReason")});
    if let Some(own) = rest.shift_remove("additionalModelResponseFields") {
        end["additionalModelResponseFields"] = own;
    }
    members.push(("messageStop", end));
    members.push(("metadata", Value::Object(rest)));
    members
}

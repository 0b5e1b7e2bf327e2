//! The codec with JSON values in place of bytes, for tests whose documents are JSON values; and JSON of any form with
//! this dialect's names in it, for tests that only check survival and round trips.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::dialect::{Incoming, Reply, Target};
use crate::wire::Ids;
use crate::{Dialect, Error, Limits, Loss, Request, Response};

/// A request as a client sends it.
pub(super) struct Sent<'a> {
    pub(super) path: Option<&'a str>,
    pub(super) body: Value,
}

/// A request as sent.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
    pub(super) losses: Vec<Loss>,
}

pub(super) fn decode_request(sent: Sent<'_>) -> Result<Request, Error> {
    super::decode_request(
        Incoming { path: sent.path, body: sent.body.to_string().as_bytes() },
        &crate::Limits::default(),
    )
}

pub(super) fn encode_request(request: &Request, target: &Target<'_>) -> Result<Written, Error> {
    let wire = Dialect::OpenaiChat.encode_request(request, target, &Limits::default())?;
    let body = serde_json::from_slice(&wire.body).unwrap();
    Ok(Written { path: wire.path, headers: wire.headers, body, losses: wire.losses })
}

pub(super) fn decode_response(body: Value, ids: &mut Ids) -> Result<Response, Error> {
    super::decode_response(body.to_string().as_bytes(), ids)
}

/// Encodes the answer for a client; nothing of it may be lost.
pub(super) fn encode_response(response: &Response, reply: &Reply) -> Value {
    let wire = super::encode_response(response, reply);
    assert_eq!(wire.losses, []);
    serde_json::from_slice(&wire.body).unwrap()
}

pub(super) fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// Names that mean something somewhere in this dialect.
const WORDS: &[&str] = &[
    "id",
    "model",
    "choices",
    "delta",
    "message",
    "index",
    "content",
    "role",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "type",
    "text",
    "thinking",
    "refusal",
    "finish_reason",
    "usage",
    "error",
    "logprobs",
    "audio",
    "data",
    "images",
    "function_call",
    "extra_content",
    "custom",
    "x",
    "image_url",
    "url",
    "input_audio",
    "format",
    "file",
    "file_data",
    "file_id",
    "filename",
    "document_url",
    "cache_control",
    "tool_call_id",
    "strict",
    "parameters",
    "description",
    "tools",
    "tool_choice",
    "response_format",
    "json_schema",
    "schema",
    "stop",
    "temperature",
    "max_tokens",
    "metadata",
    "user",
    "stream",
    "reasoning_effort",
    "seed",
    "functions",
    "required",
    "system",
    "tool",
    "assistant",
    "ephemeral",
    "auto",
];

/// Generates any JSON value.
pub(super) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..5).prop_map(Value::from),
        (0u8..4).prop_map(|quarters| Value::from(f64::from(quarters) / 4.0)),
        "[a{}\"\\\\ \n]{0,4}".prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
        Just(json!("stop")),
        Just(json!("data:image/png;base64,AA==")),
        Just(json!("reasoning.text")),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from), object_of(inner)]
    })
}

/// Generates any JSON object.
pub(super) fn object() -> impl Strategy<Value = Value> {
    object_of(value())
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((prop::sample::select(WORDS), inner), 0..6)
        .prop_map(|fields| Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

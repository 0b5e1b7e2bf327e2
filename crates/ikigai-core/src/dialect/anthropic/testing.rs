//! Helpers for the tests of this dialect.

use serde_json::Value;

use crate::catalog::{Rules, rules_for};
use crate::dialect::{Incoming, Reply, StreamEncoder, Target, testing};
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{Error, Event, Loss, Request, Response};

use super::DIALECT;

/// Returns the events of a stream's text. Their order is checked.
pub(super) fn events_of(sse: &str) -> Vec<Event> {
    testing::events_of(DIALECT, sse)
}

/// Returns the answer in a stream's text.
pub(super) fn answer_of(sse: &str) -> Response {
    testing::collect(events_of(sse))
}

/// Writes events as frames.
pub(super) fn frames_of<'a>(events: impl IntoIterator<Item = &'a Event>, reply: Reply) -> String {
    let mut encoder = StreamEncoder::new(DIALECT, reply);
    let mut out = Vec::new();
    for event in events {
        encoder.push(event, &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// Makes frames from their data, each named by its type.
pub(super) fn sse(frames: &[Value]) -> String {
    frames.iter().map(|data| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())).collect()
}

/// Returns the target of a request for a model at the dialect's own maker.
pub(super) fn home<'a>(quirks: &'a Quirks, rules: &'a Rules) -> Target<'a> {
    Target { provider: "anthropic", quirks, rules, facts: None }
}

/// A request as sent.
#[derive(Debug, PartialEq)]
pub(super) struct Sent {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
    pub(super) losses: Vec<Loss>,
}

/// Encodes a request for a target.
pub(super) fn wire_to(request: &Request, target: &Target<'_>) -> Result<Sent, Error> {
    let wire = crate::Dialect::Anthropic.encode_request(request, target, &crate::Limits::default())?;
    let body = serde_json::from_slice(&wire.body).unwrap();
    Ok(Sent { path: wire.path, headers: wire.headers, body, losses: wire.losses })
}

/// Encodes a request for the dialect's own maker, with the rules of its model.
pub(super) fn wire(request: &Request) -> Sent {
    wire_to(request, &home(&Quirks::default(), rules_for(&request.model))).unwrap()
}

/// Returns the losses of a request, one line each.
pub(super) fn losses(wire: &Sent) -> Vec<String> {
    wire.losses.iter().map(|loss| format!("{:?} {loss}", loss.severity).to_lowercase()).collect()
}

/// Reads a client's request.
pub(super) fn read_request(path: Option<&str>, body: &Value) -> Result<Request, Error> {
    DIALECT
        .decode_request(Incoming { path, body: body.to_string().as_bytes() }, &crate::Limits::default())
        .map(|(read, _)| read)
}

/// Reads a whole answer.
pub(super) fn read_answer(body: &Value) -> Result<Response, Error> {
    DIALECT.decode_response(body.to_string().as_bytes(), &mut Ids::seeded(7), &crate::Limits::default())
}

/// Writes a whole answer, and returns it with what could not be carried.
pub(super) fn write_answer(response: &Response, reply: &Reply) -> (Value, Vec<Loss>) {
    let wire = DIALECT.encode_response(response, reply);
    (serde_json::from_slice(&wire.body).unwrap(), wire.losses)
}

//! The codec on JSON values, as used by the tests.

use serde_json::Value;

use super::DIALECT;
use crate::wire::{Ids, Incoming, Reply, Target};
use crate::{Error, Limits, Loss, Request, Response, Severity};

/// A request as sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
    pub(super) losses: Vec<Loss>,
}

pub(super) fn decode_request(path: Option<&str>, body: &Value) -> Result<Request, Error> {
    let body = body.to_string();
    DIALECT.decode_request(Incoming { path, body: body.as_bytes() }, &Limits::default()).map(|(request, _)| request)
}

pub(super) fn encode_request(request: &Request, target: &Target<'_>) -> Result<Sent, Error> {
    let wire = DIALECT.encode_request(request, target, &Limits::default())?;
    let body = serde_json::from_slice(&wire.body).unwrap();
    Ok(Sent { path: wire.path, headers: wire.headers, body, losses: wire.losses })
}

pub(super) fn decode_response(body: &Value, ids: &mut Ids) -> Result<Response, Error> {
    DIALECT.decode_response(body.to_string().as_bytes(), ids, &Limits::default())
}

/// Returns the answer, and its losses.
pub(super) fn encode_response(response: &Response, reply: &Reply) -> (Value, Vec<String>) {
    let wire = DIALECT.encode_response(response, reply);
    (serde_json::from_slice(&wire.body).unwrap(), told(wire.losses))
}

/// Returns what was lost and where, in parentheses if it is only a note.
pub(super) fn told(losses: Vec<Loss>) -> Vec<String> {
    let one = |loss: Loss| match loss.severity {
        Severity::Info => format!("({} at {})", loss.what, loss.place),
        Severity::Loss => format!("{} at {}", loss.what, loss.place),
    };
    losses.into_iter().map(one).collect()
}

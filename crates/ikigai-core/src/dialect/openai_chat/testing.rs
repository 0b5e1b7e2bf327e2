//! The codec with JSON values in place of bytes, for tests that write their documents so.

use serde_json::Value;

use crate::dialect::{Incoming, Reply, Target};
use crate::wire::Ids;
use crate::{Dialect, Error, Limits, Loss, Request, Response};

/// A request as a client sends it.
pub(super) struct Sent<'a> {
    pub(super) path: Option<&'a str>,
    pub(super) body: Value,
}

/// A request as it goes over the wire.
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

/// The answer as it goes to a client; nothing of it may be lost.
pub(super) fn encode_response(response: &Response, reply: &Reply) -> Value {
    let wire = super::encode_response(response, reply);
    assert_eq!(wire.losses, []);
    serde_json::from_slice(&wire.body).unwrap()
}

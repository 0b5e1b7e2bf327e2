//! From a request to its answer.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use ikigai_core::{Dialect, ErrorKind, WireError};
use serde_json::{Value, json};

use crate::deliver::{Answer, Body, deliver};
use crate::endpoint::{Embed, Endpoint, ModelsShape};
use crate::fault::Fault;
use crate::memory::{Memory, Received};
use crate::net::Breaker;
use crate::{auth, control, count, embed, generate, models, stored};

/// The largest body that is read. Anthropic's limit is the smallest of the providers', at 32 MB.
const LARGEST: usize = 32 << 20;

/// A request with its body read.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    /// A header's value, where it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The path with its query.
    pub(crate) fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    fn received(&self) -> Received {
        Received {
            number: self.number,
            method: self.method.to_string(),
            path: auth::without_key(&self.target()),
            headers: auth::without_keys(&self.headers),
            body: serde_json::from_slice(&self.body)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&self.body).into_owned())),
        }
    }
}

/// Answers one request. Nothing here fails: whatever goes wrong is an answer.
pub(crate) async fn handle(
    memory: Arc<Memory>,
    breaker: Breaker,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let query = parts.uri.query().map(str::to_owned);
    let endpoint = Endpoint::of(&parts.method, &path, query.as_deref(), &parts.headers);
    let body = match Limited::new(body, LARGEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return Ok(deliver(too_large(endpoint.as_ref()).into(), None, &breaker)),
    };
    let call = Call { number: 0, method: parts.method, path, query, headers: parts.headers, body };
    let Some(endpoint) = endpoint else {
        return Ok(deliver(no_such_path(&call), None, &breaker));
    };
    if let Endpoint::Control(control) = endpoint {
        return Ok(deliver(control::answer(&memory, control, &call), None, &breaker));
    }
    let call = Call { number: memory.next_number(), ..call };
    if memory.config.canned
        && let Endpoint::Generate(dialect) = endpoint
    {
        let answer = memory.canned(dialect, wants_stream(&call), || generate::answer(&memory, dialect, &call).0);
        return Ok(deliver(answer, None, &breaker));
    }
    memory.log(call.received());
    let (answer, fault) = answer(&memory, &endpoint, &call);
    Ok(deliver(answer, fault.as_ref(), &breaker))
}

/// The answer to a request, and what goes wrong with it.
fn answer(memory: &Memory, endpoint: &Endpoint, call: &Call) -> (Answer, Option<Fault>) {
    let dialect = dialect_of(endpoint);
    let fault = match call.header("x-sim-fault").map(str::parse::<Fault>) {
        Some(Ok(fault)) => Some(fault),
        Some(Err(unknown)) => return (refuse(dialect, ErrorKind::InvalidRequest, unknown.to_string()).into(), None),
        None => memory.fault(call.number),
    };
    if let Some(Fault::Status { status, retry_after_ms }) = fault {
        return (status_answer(dialect, status, retry_after_ms).into(), None);
    }
    if let Err(refusal) = auth::check(dialect, call, &memory.config.keys) {
        return (refusal.into(), fault);
    }
    let (answer, scripted_fault) = match endpoint {
        Endpoint::Generate(dialect) => generate::answer(memory, *dialect, call),
        Endpoint::CountTokens(dialect) => (count::answer(*dialect, call), None),
        Endpoint::RetrieveResponse(id) => (stored::retrieve(memory, id), None),
        Endpoint::DeleteResponse(id) => (stored::delete(memory, id), None),
        Endpoint::Embed(kind) => (embed::answer(*kind, call, memory.config.seed), None),
        Endpoint::Models(shape, id) => (models::answer(*shape, id.as_deref(), call), None),
        Endpoint::Control(_) => (no_such_path(call), None),
    };
    if let Some(Fault::Status { status, retry_after_ms }) = scripted_fault {
        return (status_answer(dialect, status, retry_after_ms).into(), None);
    }
    (answer, scripted_fault.or(fault))
}

/// Is a stream asked for? Looks at the bytes alone: this is the path whose speed is measured.
fn wants_stream(call: &Call) -> bool {
    let body = &call.body;
    call.path.ends_with(":streamGenerateContent")
        || body.windows(13).any(|window| window == b"\"stream\":true")
        || body.windows(14).any(|window| window == b"\"stream\": true")
}

fn dialect_of(endpoint: &Endpoint) -> Dialect {
    match endpoint {
        Endpoint::Generate(dialect) | Endpoint::CountTokens(dialect) => *dialect,
        Endpoint::RetrieveResponse(_) | Endpoint::DeleteResponse(_) => Dialect::OpenaiResponses,
        Endpoint::Embed(Embed::Openai) | Endpoint::Models(ModelsShape::Openai, _) | Endpoint::Control(_) => {
            Dialect::OpenaiChat
        }
        Endpoint::Embed(Embed::Gemini | Embed::GeminiBatch) | Endpoint::Models(ModelsShape::Gemini, _) => {
            Dialect::Gemini
        }
        Endpoint::Models(ModelsShape::Anthropic, _) => Dialect::Anthropic,
    }
}

/// A refusal in a dialect's own shape.
pub(crate) fn refuse(dialect: Dialect, kind: ErrorKind, message: impl Into<String>) -> WireError {
    dialect.encode_error(&ikigai_core::Error::new(kind, message))
}

/// The failure that a provider answers with a status, and its retry headers.
fn status_answer(dialect: Dialect, status: u16, retry_after_ms: Option<u64>) -> WireError {
    let (kind, message) = match status {
        401 => (ErrorKind::Auth, "invalid key (simulated)"),
        403 => (ErrorKind::Permission, "this key may not do that (simulated)"),
        404 => (ErrorKind::NotFound, "not found (simulated)"),
        408 | 504 => (ErrorKind::Timeout, "the request took too long (simulated)"),
        429 => (ErrorKind::RateLimit, "rate limit reached (simulated)"),
        503 | 529 => (ErrorKind::Overloaded, "overloaded (simulated)"),
        500.. => (ErrorKind::Server, "internal error (simulated)"),
        _ => (ErrorKind::InvalidRequest, "the request is refused (simulated)"),
    };
    let mut error = ikigai_core::Error::new(kind, message);
    error.retry_after_ms = retry_after_ms.or((status == 429).then_some(1000));
    let mut wire = dialect.encode_error(&error);
    wire.status = status;
    let mut body: serde_json::Value = serde_json::from_slice(&wire.body).unwrap_or_default();
    if let Some(code) = body.pointer_mut("/error/code")
        && code.is_number()
    {
        *code = status.into();
        wire.body = serde_json::to_vec(&body).unwrap_or_default();
    }
    wire
}

/// A failure whose body is this JSON.
pub(crate) fn wire_error(status: u16, body: &serde_json::Value) -> WireError {
    WireError { status, headers: Vec::new(), body: serde_json::to_vec(body).unwrap_or_default() }
}

fn too_large(endpoint: Option<&Endpoint>) -> WireError {
    let dialect = endpoint.map_or(Dialect::OpenaiChat, dialect_of);
    let mut wire = refuse(dialect, ErrorKind::InvalidRequest, "Request exceeds the maximum size of 32 MB");
    wire.status = 413;
    wire
}

fn no_such_path(call: &Call) -> Answer {
    let message = format!("the simulator has no {} {}", call.method, call.path);
    let body =
        json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": "unknown_url"}});
    Answer { status: 404, ..Answer::json(&body) }
}

//! From a request to its answer.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use ikigai_core::server::{Endpoint, Envelope, Verb};
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};
use serde_json::{Value, json};

use crate::control::Control;
use crate::deliver::{Answer, Body, deliver};
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
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let endpoint = Endpoint::of(parts.method.as_str(), target, |name| parts.headers.contains_key(name));
    let body = match Limited::new(body, LARGEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return Ok(deliver(too_large(endpoint.as_ref()).into(), None, &breaker)),
    };
    let call = Call { number: 0, method: parts.method, path, query, headers: parts.headers, body };
    if let Some(control) = Control::of(call.method.as_str(), &call.path) {
        return Ok(deliver(control::answer(&memory, control, &call), None, &breaker));
    }
    let Some(endpoint) = endpoint else {
        return Ok(deliver(no_such_path(&call), None, &breaker));
    };
    let call = Call { number: memory.next_number(), ..call };
    if memory.config.canned
        && let Verb::Generate | Verb::Stream(_) = endpoint.verb
    {
        let make = || generate::answer(&memory, &endpoint, &call).0;
        let answer = memory.canned(endpoint.dialect, wants_stream(&endpoint, &call.body), make);
        return Ok(deliver(answer, None, &breaker));
    }
    memory.log(call.received());
    let (answer, fault) = answer(&memory, &endpoint, &call);
    Ok(deliver(answer, fault.as_ref(), &breaker))
}

/// The answer to a request, and what goes wrong with it.
fn answer(memory: &Memory, endpoint: &Endpoint, call: &Call) -> (Answer, Option<Fault>) {
    let dialect = endpoint.dialect;
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
    let (answer, scripted_fault) = match &endpoint.verb {
        Verb::Generate | Verb::Stream(_) => generate::answer(memory, endpoint, call),
        Verb::CountTokens => (count::answer(dialect, call), None),
        Verb::Embed => (embed::answer(dialect, call, memory.config.seed), None),
        Verb::EmbedBatch => (embed::batch(call, memory.config.seed), None),
        Verb::ListModels | Verb::GetModel => (models::answer(dialect, endpoint.model.as_deref(), call), None),
        Verb::RetrieveResponse { id } => (stored::retrieve(memory, id), None),
        Verb::DeleteResponse { id } => (stored::delete(memory, id), None),
    };
    if let Some(Fault::Status { status, retry_after_ms }) = scripted_fault {
        return (status_answer(dialect, status, retry_after_ms).into(), None);
    }
    (answer, scripted_fault.or(fault))
}

/// Is a stream asked for? The body is not parsed for it: this is the path whose speed is measured.
fn wants_stream(endpoint: &Endpoint, body: &[u8]) -> bool {
    match endpoint.verb {
        Verb::Stream(_) => true,
        _ => Envelope::read(body).is_ok_and(|envelope| envelope.stream() == Some(true)),
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
    let dialect = endpoint.map_or(Dialect::OpenaiChat, |endpoint| endpoint.dialect);
    let mut wire = refuse(dialect, ErrorKind::RequestTooLarge, "Request exceeds the maximum size of 32 MB");
    wire.status = 413;
    wire
}

fn no_such_path(call: &Call) -> Answer {
    let message = format!("the simulator has no {} {}", call.method, call.path);
    let body =
        json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": "unknown_url"}});
    Answer { status: 404, ..Answer::json(&body) }
}

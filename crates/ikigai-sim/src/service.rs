//! Answers requests: checks them, reads them, and passes them to what serves them.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use hyper::body::Incoming;
use ikigai_core::server::{Endpoint, Envelope, Verb};
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};
use ikigai_listen::Refused;
use serde_json::json;

use crate::control::Control;
use crate::deliver::{Answer, Body, deliver};
use crate::fault::{Fault, UnknownFault};
use crate::log::Entry;
use crate::memory::Memory;
use crate::net::Breaker;
use crate::replay::Recordings;
use crate::sim::Source;
use crate::{auth, control, count, embed, generate, image, models, speech, stored, transcribe};

/// The largest body that is read. Anthropic's limit is the smallest of the providers', at 32 MB.
const LARGEST: usize = 32 << 20;
/// The most values in a body: a tree takes some hundred bytes for each.
const MOST_VALUES: usize = 1_000_000;

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
    /// A header's value, if it is text.
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
}

/// Answers one request. Never fails: whatever goes wrong becomes an answer.
pub(crate) async fn handle(
    memory: Arc<Memory>,
    breaker: Breaker,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let endpoint = Endpoint::of(parts.method.as_str(), target, |name| parts.headers.contains_key(name));
    let call = Call {
        number: 0,
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
    };
    Ok(match admit(&memory, endpoint, call, body).await {
        Outcome::Answer(answer, fault) => deliver(answer, fault.as_ref(), &breaker),
        Outcome::Passed(response) => response,
    })
}

/// What happens to a request.
enum Outcome {
    /// It is answered here, with this fault.
    Answer(Answer, Option<Fault>),
    /// A provider answers it.
    Passed(Response<Body>),
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Outcome::Answer(answer, None)
    }
}

/// Checks the key, reads the body, and answers. Nothing of a request counts before its key does.
async fn admit(memory: &Memory, endpoint: Option<Endpoint>, mut call: Call, body: Incoming) -> Outcome {
    let config = &memory.config;
    if call.path.starts_with(control::CONTROLS) && !auth::may_control(&call, config) {
        return control::closed().into();
    }
    let control = Control::of(call.method.as_str(), &call.path);
    if control.is_none() {
        let dialect = match (&endpoint, &config.source) {
            (Some(endpoint), _) => endpoint.dialect,
            (None, Source::Talker) => return no_such_path(&call).into(),
            // A provider has more paths than are simulated here.
            (None, Source::Record(_) | Source::Replay(_)) => Dialect::OpenaiChat,
        };
        call.number = memory.next_number();
        // In place of a provider, we need not know better than it who may ask.
        let any_key = config.keys.is_empty() && !matches!(config.source, Source::Talker);
        if !any_key && let Err(refusal) = auth::check(dialect, &call, &config.keys) {
            memory.log(Entry::unread(&call));
            return Answer::from(refusal).into();
        }
    }
    let held = match memory.room.read(body, LARGEST, config.timeouts.body).await {
        Ok(held) => held,
        Err(why) => return Answer::from(unread(endpoint.as_ref(), why)).into(),
    };
    call.body = held.bytes.clone();
    match (control, &config.source, endpoint) {
        (Some(control), ..) => control::answer(memory, control, &call).into(),
        (None, Source::Talker, Some(endpoint)) => respond(memory, &endpoint, &call),
        (None, Source::Talker, None) => no_such_path(&call).into(),
        (None, Source::Record(recorder), endpoint) => {
            memory.log(Entry::of(&call));
            recorder.forward(&call).await.map_or_else(|error| away(endpoint.as_ref(), &error).into(), Outcome::Passed)
        }
        (None, Source::Replay(recordings), endpoint) => {
            memory.log(Entry::of(&call));
            replay(memory, recordings, endpoint.as_ref(), &call)
        }
    }
}

/// A recorded answer, with its fault.
fn replay(memory: &Memory, recordings: &Recordings, endpoint: Option<&Endpoint>, call: &Call) -> Outcome {
    let dialect = endpoint.map_or(Dialect::OpenaiChat, |endpoint| endpoint.dialect);
    match (memory.replay(recordings, call), wanted_fault(memory, call)) {
        (_, Err(unknown)) => Answer::from(refuse(dialect, ErrorKind::InvalidRequest, unknown.to_string())).into(),
        (_, Ok(Some(Fault::Status { status, retry_after_ms }))) => {
            Answer::from(status_answer(dialect, status, retry_after_ms)).into()
        }
        (Ok(answer), Ok(fault)) => Outcome::Answer(answer, fault),
        (Err(miss), Ok(_)) => Answer::from(refuse(dialect, ErrorKind::NotFound, miss)).into(),
    }
}

/// The answer if the provider being recorded cannot be reached.
fn away(endpoint: Option<&Endpoint>, error: &std::io::Error) -> Answer {
    let dialect = endpoint.map_or(Dialect::OpenaiChat, |endpoint| endpoint.dialect);
    let wire = refuse(dialect, ErrorKind::Server, format!("the upstream did not answer: {error}"));
    Answer { status: 502, ..wire.into() }
}

/// The fault that a request asks for, or that its number gets.
fn wanted_fault(memory: &Memory, call: &Call) -> Result<Option<Fault>, UnknownFault> {
    match call.header("x-sim-fault") {
        Some(fault) => fault.parse().map(Some),
        None => Ok(memory.fault(call.number)),
    }
}

/// The answer to an admitted request, with its fault.
fn respond(memory: &Memory, endpoint: &Endpoint, call: &Call) -> Outcome {
    if memory.config.canned
        && let Verb::Generate | Verb::Stream(_) = endpoint.verb
    {
        let make = || generate::answer(memory, endpoint, call).0;
        return memory.canned(endpoint.dialect, wants_stream(endpoint, &call.body), make).into();
    }
    memory.log(Entry::of(call));
    let is_form = matches!(endpoint.verb, Verb::Edit | Verb::Transcribe);
    if !is_form && holds_too_much(&call.body) {
        let message = format!("the request has more than {MOST_VALUES} JSON values");
        return Answer::from(refuse(endpoint.dialect, ErrorKind::InvalidRequest, message)).into();
    }
    let (answer, fault) = answer(memory, endpoint, call);
    Outcome::Answer(answer, fault)
}

/// Whether the body would make a tree that takes many times its own bytes.
pub(crate) fn holds_too_much(body: &[u8]) -> bool {
    has_more_values(body, MOST_VALUES)
}

/// Whether JSON has more values than this. Commas in strings do not count.
pub(crate) fn has_more_values(body: &[u8], most: usize) -> bool {
    if body.len() <= most {
        return false;
    }
    let (mut values, mut in_string, mut escaped) = (0, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values > most
}

/// The dialects that the simulator supports. The others are refused here; the code after this does not know them.
const SIMULATED: [Dialect; 4] = [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini];

/// The answer to a request, with its fault.
fn answer(memory: &Memory, endpoint: &Endpoint, call: &Call) -> (Answer, Option<Fault>) {
    let dialect = endpoint.dialect;
    if !SIMULATED.contains(&dialect) {
        return (refuse(dialect, ErrorKind::NotFound, format!("{dialect} is not simulated")).into(), None);
    }
    let fault = match wanted_fault(memory, call) {
        Ok(fault) => fault,
        Err(unknown) => return (refuse(dialect, ErrorKind::InvalidRequest, unknown.to_string()).into(), None),
    };
    if let Some(Fault::Status { status, retry_after_ms }) = fault {
        return (status_answer(dialect, status, retry_after_ms).into(), None);
    }
    // The body names the model for every API but Google's.
    if let (Verb::Embed | Verb::EmbedBatch | Verb::Predict, Some(model)) = (&endpoint.verb, &endpoint.model)
        && let Err(refusal) = models::check(dialect, model)
    {
        return (refusal.into(), None);
    }
    let (answer, scripted_fault) = match &endpoint.verb {
        Verb::Generate | Verb::Stream(_) => generate::answer(memory, endpoint, call),
        Verb::CountTokens => (count::answer(dialect, call), None),
        Verb::Embed => (embed::answer(dialect, call, memory.config.seed), None),
        Verb::EmbedBatch => (embed::batch(call, memory.config.seed), None),
        Verb::Draw => (image::draw(call), None),
        Verb::Edit => (image::edit(call), None),
        Verb::Predict => (image::predict(call, endpoint.model.as_deref().unwrap_or_default()), None),
        Verb::Speak => (speech::answer(call), None),
        Verb::Transcribe => (transcribe::answer(call), None),
        Verb::ListModels | Verb::GetModel => (models::answer(dialect, endpoint.model.as_deref(), call), None),
        Verb::RetrieveResponse { id } => (stored::retrieve(memory, id), None),
        Verb::DeleteResponse { id } => (stored::delete(memory, id), None),
        _ => (refuse(dialect, ErrorKind::NotFound, "the simulator does not know this operation").into(), None),
    };
    if let Some(Fault::Status { status, retry_after_ms }) = scripted_fault {
        return (status_answer(dialect, status, retry_after_ms).into(), None);
    }
    (answer, scripted_fault.or(fault))
}

/// Whether a stream is requested. The body is not parsed for this: the speed of this path is measured.
fn wants_stream(endpoint: &Endpoint, body: &[u8]) -> bool {
    match endpoint.verb {
        Verb::Stream(_) => true,
        _ => Envelope::read(body).is_ok_and(|envelope| envelope.stream() == Some(true)),
    }
}

/// A refusal in a dialect's own form.
pub(crate) fn refuse(dialect: Dialect, kind: ErrorKind, message: impl Into<String>) -> WireError {
    dialect.encode_error(&ikigai_core::Error::new(kind, message))
}

/// The error that a provider answers with a status, and its retry headers.
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

/// An error with this JSON as its body.
pub(crate) fn wire_error(status: u16, body: &serde_json::Value) -> WireError {
    WireError::new(status, serde_json::to_vec(body).unwrap_or_default())
}

/// The answer to a request whose body was not read.
fn unread(endpoint: Option<&Endpoint>, why: Refused) -> WireError {
    let dialect = endpoint.map_or(Dialect::OpenaiChat, |endpoint| endpoint.dialect);
    let kind = match why {
        Refused::NoRoom => ErrorKind::Overloaded,
        Refused::TooLarge(_) => ErrorKind::RequestTooLarge,
        _ => ErrorKind::InvalidRequest,
    };
    let message = match why {
        Refused::TooLarge(_) => "Request exceeds the maximum size of 32 MB".to_owned(),
        why => why.to_string(),
    };
    let mut wire = refuse(dialect, kind, message);
    wire.status = why.status();
    wire
}

fn no_such_path(call: &Call) -> Answer {
    let message = format!("the simulator has no {} {}", call.method, call.path);
    let body =
        json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": "unknown_url"}});
    Answer { status: 404, ..Answer::json(&body) }
}

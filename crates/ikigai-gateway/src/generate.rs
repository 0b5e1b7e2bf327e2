//! Requests for an answer: which models are asked, in which order, and what the client gets.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use ikigai::{ErrorKind, Request};
use ikigai_core::server::{Endpoint, Envelope, Framing, Seen, Verb, may_hold_seals};
use ikigai_core::wire::Incoming;
use ikigai_core::{Error, Limits, Loss};

use crate::live::{Begun, Live};
use crate::log::{Entry, Outcome};
use crate::memory::Memory;
use crate::pass::pass;
use crate::plan::{self, Plan, Way};
use crate::reply::{self, Out, wrong_field};
use crate::state::State;
use crate::translate::{Decoded, translate};
use crate::turns::{Turn, Turns};
use ikigai_listen::Held;

/// Decoding more bytes than this would keep others waiting.
pub(crate) const LARGE: usize = 256 << 10;

/// A client's request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) endpoint: Endpoint,
    /// The path with its query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Held,
    /// The length of the body, even after its bytes are released.
    pub(crate) length: usize,
    /// The client, by the name of its key.
    pub(crate) client: String,
    pub(crate) memory: Memory,
    pub(crate) turns: Turns,
    /// Whether losses are errors for this request, whatever the configuration says.
    pub(crate) strict: bool,
}

/// The parts of a request that routing needs.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) model: String,
    /// Where the body names the model, if the path does not.
    pub(crate) place: Option<Range<usize>>,
    pub(crate) streams: bool,
    /// Whether the conversation is missing.
    lacks_conversation: bool,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request is wrong, or nothing can answer it.
    Own(Box<Error>),
    /// The provider refused it, or could not be reached.
    Upstream(ikigai::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Own(Box::new(error))
    }
}

impl From<ikigai::Error> for Failure {
    fn from(error: ikigai::Error) -> Self {
        Failure::Upstream(error)
    }
}

impl From<ikigai::transport::TransportError> for Failure {
    fn from(error: ikigai::transport::TransportError) -> Self {
        Failure::Upstream(error.into())
    }
}

impl Failure {
    /// The error in canonical form.
    pub(crate) fn canonical(&self) -> Error {
        match self {
            Failure::Own(error) => (**error).clone(),
            Failure::Upstream(error) => error.canonical(),
        }
    }

    /// The same failure after a provider accepted the request, and may have done the work.
    pub(crate) fn charged(self) -> Self {
        let error = match self {
            Failure::Own(error) => ikigai::Error::from(error),
            Failure::Upstream(error) => error,
        };
        Failure::Upstream(error.charged())
    }

    fn may_be_charged(&self) -> bool {
        match self {
            Failure::Own(_) => false,
            Failure::Upstream(error) => error.may_be_charged(),
        }
    }

    /// Whether another model may be asked. Not if the request itself is wrong.
    fn may_fall_back(&self) -> bool {
        !matches!(
            self.canonical().kind,
            ErrorKind::InvalidRequest
                | ErrorKind::ContentFiltered
                | ErrorKind::ContextTooLong
                | ErrorKind::Cancelled
                | ErrorKind::StepLimit
                | ErrorKind::Vetoed
        )
    }

    fn tries(&self) -> usize {
        match self {
            Failure::Own(_) => 0,
            Failure::Upstream(error) => error.attempts().len(),
        }
    }
}

impl Asked {
    /// Reads the top level of a body.
    pub(crate) fn of(endpoint: &Endpoint, body: &[u8]) -> Result<Self, Error> {
        let envelope = Envelope::read(body).map_err(|error| Error::invalid_request(error.to_string()))?;
        let streams = match envelope.get("stream") {
            _ if matches!(endpoint.verb, Verb::Stream(_)) => true,
            None | Some(b"null") => false,
            Some(_) => envelope.stream().ok_or_else(|| wrong_field("stream", "`stream` must be true or false"))?,
        };
        let named = match &endpoint.model {
            Some(model) => Some(Cow::Borrowed(model.as_str())),
            None => envelope.model(),
        };
        match named {
            Some(model) if !model.is_empty() => {
                plan::check_length(&model)?;
                let place = envelope.place("model").filter(|_| endpoint.model.is_none());
                let lacks_conversation = endpoint.dialect.lacks_conversation(&envelope);
                Ok(Asked { model: model.into_owned(), place, streams, lacks_conversation })
            }
            Some(_) => Err(wrong_field("model", "`model` is empty")),
            None if envelope.get("model").is_some() => Err(wrong_field("model", "`model` must be a string")),
            None => Err(wrong_field("model", "`model` is missing")),
        }
    }
}

/// An answer that has begun.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) rest: Rest,
    pub(crate) noted: Noted,
}

/// What follows the head of an answer.
pub(crate) enum Rest {
    /// All of it.
    Whole(Bytes),
    /// It is still being written.
    Live(Begun),
}

/// What is known about an answer when it begins.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) seen: Seen,
    pub(crate) failed_tries: usize,
    pub(crate) upstream_id: Option<String>,
    pub(crate) losses: Vec<Loss>,
}

/// Serves a request for an answer.
pub(crate) async fn generate(call: Call, mut entry: Entry, state: &Arc<State>) -> Response<Out> {
    let dialect = call.endpoint.dialect;
    let failure = match Box::pin(attempt(call, &mut entry, state)).await {
        Ok(answer) => return begin(answer, entry, state),
        Err(failure) => failure,
    };
    let error = failure.canonical();
    reply::note_refusal(&mut entry, &error);
    entry.failed_tries += failure.tries();
    let response = match &failure {
        // The provider's own words, if it speaks the client's dialect.
        Failure::Upstream(error) if entry.mode == Some("pass") => match error.response() {
            Some(failed) => {
                let mut headers = reply::passed_on(failed.headers.clone());
                if error.may_be_charged() {
                    reply::tell_retry(&mut headers, dialect, &error.canonical());
                }
                reply::whole(failed.status, headers, failed.body.clone())
            }
            None => reply::refuse(dialect, &error.canonical(), None),
        },
        _ => reply::refuse(dialect, &error, None),
    };
    reply::finish(response, entry)
}

fn begin(answer: Answer, mut entry: Entry, state: &State) -> Response<Out> {
    let Answer { status, mut headers, rest, noted } = answer;
    note(&mut entry, noted);
    entry.status = status.as_u16();
    reply::tell_losses(&mut headers, &entry.losses);
    match rest {
        Rest::Whole(body) => {
            entry.outcome = Outcome::Complete;
            reply::finish(reply::whole(status, headers, body), entry)
        }
        Rest::Live(begun) => {
            reply::sign(&mut headers, &entry);
            reply::live(status, headers, Live::new(begun, entry, state.config.timeouts.keep_alive))
        }
    }
}

fn note(entry: &mut Entry, noted: Noted) {
    entry.failed_tries += noted.failed_tries;
    entry.upstream_id = noted.upstream_id;
    entry.losses = noted.losses;
    entry.saw(noted.seen);
}

/// Asks the models in order until one answers.
async fn attempt(mut call: Call, entry: &mut Entry, state: &Arc<State>) -> Result<Answer, Failure> {
    let asked = Asked::of(&call.endpoint, &call.body.bytes)?;
    entry.asked = Some(asked.model.clone());
    let plan = state.plan(&asked.model, call.endpoint.dialect)?;
    let mut turn = Turn::default();
    if asked.lacks_conversation {
        // The decoder reports this, whichever model would answer. What it can read anyway is forwarded unchanged.
        let _turn = call.turns.wait(call.length).await;
        decode(&mut call, true).await?;
    }
    // State of another provider has to be removed before anyone gets the request.
    let sealed = may_hold_seals(&call.body.bytes);
    let passes = |way: &Way| way.passes && !sealed && !plan.as_asked && way.upstream.model().level.is_none();
    let mut decoded: Option<Decoded> = None;
    let mut order: Vec<&Way> = plan.ways().collect();
    let mut place = 0;
    let mut may_be_charged = false;
    loop {
        let Some(way) = order.get(place).copied() else {
            return Err(Error::protocol("there is no model to ask").into());
        };
        place += 1;
        let passes_through = passes(way);
        if !passes_through && decoded.is_none() {
            turn = call.turns.wait(call.length).await;
            let read = decode(&mut call, order.iter().skip(place).any(|way| passes(way))).await?;
            if place == 1 && prefer_issuer(&mut order, &read.request) {
                decoded = Some(read);
                place = 0;
                continue;
            }
            decoded = Some(read);
        }
        entry.target = Some(way.upstream.model().to_string());
        entry.upstream_dialect = Some(way.upstream.dialect());
        entry.mode = Some(if passes_through { "pass" } else { "translate" });
        // The last model gets the request itself, so that a large one is not held twice.
        let is_last = place == order.len();
        let request = match passes_through {
            true => None,
            false if is_last => decoded.take(),
            false => decoded.clone(),
        };
        let outcome = match request {
            Some(request) => {
                let turn = std::mem::take(&mut turn);
                Box::pin(translate(&call, request, turn, &asked, way, &plan)).await
            }
            None => {
                drop(std::mem::take(&mut turn));
                let body = if is_last { std::mem::take(&mut call.body.bytes) } else { call.body.bytes.clone() };
                Box::pin(pass(&call, body, &asked, way)).await
            }
        };
        match outcome {
            Err(failure) if !is_last && failure.may_fall_back() => {
                entry.failed_tries += failure.tries().max(1);
                may_be_charged |= failure.may_be_charged();
                tracing::warn!(
                    target: "ikigai::gateway",
                    id = entry.id,
                    target_model = entry.target,
                    error = failure.canonical().to_string(),
                    "trying the next model"
                );
            }
            // A client that sends the request again asks all of them again.
            outcome => return outcome.map_err(|failure| if may_be_charged { failure.charged() } else { failure }),
        }
    }
}

/// Moves the model whose provider holds the state of the last turn to the front. Returns whether the order changed.
fn prefer_issuer(order: &mut [&Way], request: &Request) -> bool {
    let issuer = request.messages.iter().rev().find_map(|message| message.provider.as_deref());
    let Some(issuer) = issuer else { return false };
    match order.iter().position(|way| way.upstream.provider().id == issuer) {
        Some(place) if place > 0 => {
            if let Some(part) = order.get_mut(..=place) {
                part.rotate_right(1);
            }
            true
        }
        _ => false,
    }
}

/// Decodes a request, on another thread if it is large. Releases the bytes unless they may still be needed (`keep`).
async fn decode(call: &mut Call, keep: bool) -> Result<Decoded, Error> {
    let length = call.length;
    let (dialect, target, limits) = (call.endpoint.dialect, call.target.clone(), limits(length));
    let body = if keep { call.body.bytes.clone() } else { std::mem::take(&mut call.body.bytes) };
    let is_array = call.endpoint.verb == Verb::Stream(Framing::JsonArray);
    let work = move || -> Result<Decoded, Error> {
        let incoming = Incoming::new(&body).at(&target);
        let (request, mut reply) = dialect.decode_request(incoming, &limits)?;
        dialect.check_self_contained(&request)?;
        reply.json_array = is_array;
        Ok(Decoded { request, reply })
    };
    let mut decoded = apart(length, work).await?;
    if !dialect.carries_state() {
        call.memory.restore(&call.client, &mut decoded.request);
    }
    Ok(decoded)
}

/// Runs work on this many bytes: here if they are few, otherwise on a thread where it holds up nothing else.
pub(crate) async fn apart<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    if bytes <= LARGE {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::new(ErrorKind::Server, "the gateway could not read the request")),
    }
}

/// The limits of a request: a server's, with room for a body that was let in.
fn limits(bytes: usize) -> Limits {
    let mut limits = Limits::server();
    limits.body = limits.body.max(bytes);
    limits
}

/// Whether losses are errors, by the request or by the configuration.
pub(crate) fn is_strict(call: &Call, plan: &Plan) -> bool {
    call.strict || plan.strict
}

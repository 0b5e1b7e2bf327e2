//! Answers requests: checks them, reads them, and passes them to what serves them.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Buf as _;
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use ikigai::{Dialect, ErrorKind};
use ikigai_core::Error;
use ikigai_core::server::{Edit, Endpoint, Envelope, Verb};
use ikigai_listen::Refused;

use crate::access;
use crate::config::Access;
use crate::generate::{Call, generate};
use crate::log::{Entry, Outcome};
use crate::path;
use crate::reply::{self, Out, REQUEST_ID};
use crate::server::Shared;
use crate::state::State;
use crate::verbs;

/// The prefix of our own headers, which are not for providers.
const OURS: &str = "x-ikigai-";
const STRICT: &str = "x-ikigai-strict";
/// Headers about the client and its network, which are private.
const PRIVATE: [&str; 6] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "origin", "referer"];
/// The header in which browsers say where the page is from that sends a request; `none` if the user does.
const FETCHED_BY: &str = "sec-fetch-site";
/// May come before UTF-8 text, and means nothing.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The longest id that is accepted from a client, in bytes.
const LONGEST_ID: usize = 128;

/// Answers one request. Never fails: whatever goes wrong becomes an answer.
pub(crate) async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Out>, Infallible> {
    let state = shared.state.load_full();
    let origin = request.headers().get(http::header::ORIGIN).cloned();
    let mut response = answer(&shared, &state, request).await;
    if let Some(origin) = origin {
        allow_origin(&state, &origin, response.headers_mut());
    }
    Ok(response)
}

async fn answer(shared: &Arc<Shared>, state: &Arc<State>, request: Request<Incoming>) -> Response<Out> {
    let path = request.uri().path();
    match (request.method(), path) {
        (&Method::OPTIONS, _) => return preflight(),
        (&Method::GET | &Method::HEAD, "/healthz") => return reply::json(StatusCode::OK, r#"{"status":"ok"}"#),
        (&Method::GET | &Method::HEAD, "/readyz") => return ready(shared, state),
        _ => {}
    }
    let id = request_id(request.headers());
    let mut entry = Entry::new(id, request.method().as_str(), path);
    // Boxed, so that its memory is free again while we wait for the provider.
    let served = Box::pin(serve(shared, state, request, &mut entry)).await;
    match served {
        Served::Here(response) => reply::finish(*response, entry),
        // Boxed, like the futures in it: a future that holds another one takes memory for it twice.
        Served::Generate(call) => Box::pin(generate(*call, entry, state)).await,
    }
}

/// How a request is answered.
enum Served {
    Here(Box<Response<Out>>),
    Generate(Box<Call>),
}

async fn serve(shared: &Arc<Shared>, state: &Arc<State>, request: Request<Incoming>, entry: &mut Entry) -> Served {
    let (parts, body) = request.into_parts();
    let mut target = parts.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let has = |name: &str| parts.headers.contains_key(name);
    // HEAD is answered like GET; the body is left out on sending.
    let method = if parts.method == Method::HEAD { "GET" } else { parts.method.as_str() };
    let mut endpoint = Endpoint::of(method, &target, has);
    let mut model_in_path = None;
    if endpoint.is_none() {
        let usual = path::usual(&target);
        endpoint = Endpoint::of(method, &usual.target, has);
        if endpoint.is_some() {
            (target, model_in_path) = (usual.target, usual.model);
        }
    }
    let guessed = || path::guess(&target, has).unwrap_or(Dialect::ALL[1]);
    let dialect = endpoint.as_ref().map_or_else(guessed, |endpoint| endpoint.dialect);
    entry.dialect = endpoint.as_ref().map(|endpoint| endpoint.dialect);
    let refused = |entry: &mut Entry, error: &Error, status: Option<u16>| {
        reply::note_refusal(entry, error);
        Served::Here(Box::new(reply::refuse(dialect, error, status)))
    };
    let client = match access::client(&state.config.access, &parts.headers, parts.uri.query()) {
        Ok(client) => client.to_owned(),
        Err(error) => return refused(entry, &error, None),
    };
    entry.client = Some(client.clone());
    if let Err(error) = check_origin(state, &parts.headers) {
        return refused(entry, &error, None);
    }
    let Some(endpoint) = endpoint else {
        let (status, error) = no_such_path(&parts.method, &target, has);
        let served = refused(entry, &error, Some(status));
        return match served {
            Served::Here(mut response) if status == 405 => {
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
                Served::Here(response)
            }
            served => served,
        };
    };
    let reads =
        matches!(endpoint.verb, Verb::Generate | Verb::Stream(_) | Verb::CountTokens | Verb::Embed | Verb::EmbedBatch);
    if reads && !is_json(&parts.headers) {
        let error = Error::invalid_request("the body must be JSON: set `content-type: application/json`");
        return refused(entry, &error, Some(415));
    }
    if let Some(coding) = compression(&parts.headers) {
        let message = format!("the body is compressed ({coding}): send it without `content-encoding`");
        return refused(entry, &Error::invalid_request(message), Some(415));
    }
    let limits = state.config.limits;
    let mut body = match shared.room.read(body, limits.body, state.config.timeouts.body).await {
        Ok(body) => body,
        Err(why) => {
            let kind = match why {
                Refused::NoRoom => ErrorKind::Overloaded,
                Refused::TooLarge(_) => ErrorKind::RequestTooLarge,
                _ => ErrorKind::InvalidRequest,
            };
            return refused(entry, &Error::new(kind, why.to_string()), Some(why.status()));
        }
    };
    let length = body.bytes.len();
    entry.request_bytes = length;
    // Some programs put it before all text; no provider accepts it.
    if body.bytes.starts_with(BYTE_ORDER_MARK) {
        body.bytes.advance(BYTE_ORDER_MARK.len());
    }
    if let Some(model) = model_in_path
        && let Ok(envelope) = Envelope::read(&body.bytes)
    {
        // Anything that is wrong with the body is reported by whatever reads it next.
        body.bytes = envelope.with(&[("model", Edit::Text(&model))]).into();
    }
    let strict = parts.headers.get(STRICT).is_some_and(|value| value == "true" || value == "1");
    let mut headers = parts.headers;
    strip(&mut headers);
    if let Some((name, value)) = endpoint.dialect.required_header() {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let (memory, turns) = (shared.memory.clone(), shared.turns.clone());
    let call = Call { endpoint, target, headers, body, length, client, memory, turns, strict };
    let outcome = match &call.endpoint.verb {
        Verb::Generate | Verb::Stream(_) => return Served::Generate(Box::new(call)),
        // Boxed, so that other requests do not have the memory that these need.
        Verb::CountTokens => Box::pin(verbs::count(&call, entry, state)).await,
        Verb::Embed | Verb::EmbedBatch => Box::pin(verbs::embed(&call, entry, state)).await,
        Verb::ListModels => Ok(verbs::list(&call.endpoint, state)),
        Verb::GetModel => verbs::get(&call.endpoint, state).map_err(Into::into),
        Verb::RetrieveResponse { .. } | Verb::DeleteResponse { .. } => Err(verbs::stored().into()),
        Verb::Draw | Verb::Edit | Verb::Predict | Verb::Speak | Verb::Transcribe => Err(verbs::media().into()),
        _ => Err(verbs::not_served("the gateway does not serve this operation").into()),
    };
    match outcome {
        Ok(response) => {
            entry.outcome = Outcome::Complete;
            Served::Here(Box::new(response))
        }
        Err(failure) => refused(entry, &failure.canonical(), None),
    }
}

/// Removes the headers that are not for providers.
fn strip(headers: &mut HeaderMap) {
    let is_unwanted = |name: &&HeaderName| name.as_str().starts_with(OURS) || PRIVATE.contains(&name.as_str());
    let unwanted: Vec<HeaderName> = headers.keys().filter(is_unwanted).cloned().collect();
    for name in unwanted {
        headers.remove(name);
    }
}

/// Whether a body is JSON, or at least not declared as something else.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(media_type) = headers.get(CONTENT_TYPE) else { return true };
    let media_type = media_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json") || media_type.to_ascii_lowercase().ends_with("+json")
}

/// Returns how a body is compressed, if it is.
fn compression(headers: &HeaderMap) -> Option<&str> {
    let coding = headers.get(CONTENT_ENCODING)?.to_str().unwrap_or("unknown").trim();
    (!coding.is_empty() && !coding.eq_ignore_ascii_case("identity")).then_some(coding)
}

/// Returns the client's own request id, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let own = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let usable = |id: &&str| !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_graphic());
    match own.filter(usable) {
        Some(id) => id.to_owned(),
        None => format!("req_{}", ikigai_core::wire::Ids::seeded(rand::random()).next_id()),
    }
}

fn no_such_path(method: &Method, target: &str, has: impl Fn(&str) -> bool) -> (u16, Error) {
    let path = target.split('?').next().unwrap_or(target);
    let other = if method == Method::POST { "GET" } else { "POST" };
    // `models/{model}:{method}` with an unknown method looks like the name of a model.
    if Endpoint::of(other, target, has).is_some_and(|endpoint| endpoint.verb != Verb::GetModel) {
        return (405, Error::invalid_request(format!("{path} needs {other}, not {method}")));
    }
    let message = format!(
        "the gateway has no {method} {path}; it has /v1/chat/completions, /v1/responses, /v1/messages, \
         /v1beta/models/{{model}}:generateContent, /v1/embeddings and /v1/models"
    );
    (404, verbs::not_served(message))
}

fn ready(shared: &Shared, state: &State) -> Response<Out> {
    if shared.is_draining() {
        return reply::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"draining"}"#);
    }
    if state.reachable.is_empty() {
        return reply::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"no provider is configured"}"#);
    }
    reply::json(StatusCode::OK, r#"{"status":"ok"}"#)
}

fn preflight() -> Response<Out> {
    let mut response = reply::json(StatusCode::NO_CONTENT, "");
    response.headers_mut().remove(CONTENT_TYPE);
    response
}

/// Refuses pages not allowed on an open gateway: they need no key, and browsers send some requests without a preflight.
fn check_origin(state: &State, headers: &HeaderMap) -> Result<(), Error> {
    if !matches!(state.config.access, Access::Open) {
        return Ok(());
    }
    let is_allowed = match headers.get(http::header::ORIGIN) {
        Some(origin) => is_allowed(state, origin),
        // A page reads without an origin from the host that it believes to be its own. None comes from here, so its name
        // has been made to point to this machine.
        None => headers.get(FETCHED_BY).is_none_or(|site| site == "none"),
    };
    if is_allowed {
        return Ok(());
    }
    let told = "pages of this origin may not use the gateway; `cors.origins` lists those that may";
    Err(Error::new(ErrorKind::Permission, told))
}

fn is_allowed(state: &State, origin: &HeaderValue) -> bool {
    state.config.origins.iter().any(|known| known == "*" || known.as_bytes() == origin.as_bytes())
}

/// Lets pages of an origin read the answer, if the configuration says so.
fn allow_origin(state: &State, origin: &HeaderValue, headers: &mut HeaderMap) {
    if !is_allowed(state, origin) {
        return;
    }
    headers.insert(http::header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(http::header::VARY, HeaderValue::from_static("origin"));
    headers.insert(http::header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS"));
    headers.insert(http::header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*, authorization"));
    headers.insert(http::header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.insert(http::header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

//! One request to one model: encoded, sent, tried again, decoded.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use ikigai_core::{Dialect, Event, Ids, Limits, Loss, ModelName, Request, Response, StreamDecoder};

use crate::client::Client;
use crate::config::Key;
use crate::converse::Converse;
use crate::endpoint::Endpoint;
use crate::error::{Attempt, Error, Reason};
use crate::limits::{RateLimits, retry_date};
use crate::settings::Settings;
use crate::transport::{Body, Timeouts, idle_guard, within};

/// The longest answer that is read whole.
const LONGEST: usize = 256 << 20;
/// The longest failure that is read: its beginning says what failed.
const LONGEST_FAILURE: usize = 64 << 10;
/// The type of an answer in Amazon's frames.
const FRAMES: &str = "application/vnd.amazon.eventstream";

/// A request that is encoded and addressed.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) name: ModelName,
    pub(crate) dialect: Dialect,
    pub(crate) endpoint: Endpoint,
    pub(crate) losses: Vec<Loss>,
    pub(crate) request: http::Request<Bytes>,
    converse: Option<Converse>,
    streaming: bool,
    timeouts: Timeouts,
}

/// What the head of an answer says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) request_id: Option<String>,
    pub(crate) limits: RateLimits,
    /// The body comes in Amazon's frames.
    framed: bool,
}

/// An answer that has begun.
pub(crate) enum Opened {
    /// It is whole.
    Whole(Box<(Response, Head)>),
    /// It is being written.
    Live(Box<Live>),
}

/// An answer that is being written.
pub(crate) struct Live {
    pub(crate) head: Head,
    pub(crate) body: Body,
    pub(crate) decoder: StreamDecoder,
    /// Events that are there already, the next one last.
    pub(crate) ready: Vec<Event>,
    pub(crate) key: Option<Key>,
}

impl Client {
    /// Encodes a request for a model, and finds out where it goes. The request's model, thinking and stream are set.
    pub(crate) fn prepare(&self, name: &ModelName, request: &Request, settings: &Settings) -> Result<Prepared, Error> {
        let registry = self.registry();
        let route = match settings.dialect {
            Some(dialect) => registry.route_in(name, dialect)?,
            None => registry.route(name)?,
        };
        let converse = Converse::on(&route);
        let encoded = match &converse {
            Some(converse) => converse.encode_request(request, &route)?,
            None => route.dialect.encode_request(request, &route.target(), &Limits::client())?,
        };
        let encoded = if settings.strict { encoded.strictly(route.dialect)? } else { encoded };
        let endpoint = Endpoint::find(self, route.provider, route.dialect, &name.id, settings)?;
        let streaming = request.stream == Some(true);
        let mut request = endpoint.request(Method::POST, &encoded.path, &encoded.headers, Some(encoded.body.into()))?;
        let headers = request.headers_mut();
        if streaming {
            let events = if converse.is_some() { FRAMES } else { "text/event-stream" };
            headers.entry(http::header::ACCEPT).or_insert(HeaderValue::from_static(events));
            // A stream that is compressed on its way comes in lumps.
            headers.insert(http::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        } else {
            headers.entry(http::header::ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        }
        Ok(Prepared {
            name: name.clone(),
            dialect: route.dialect,
            endpoint,
            losses: encoded.losses,
            request,
            converse,
            streaming,
            timeouts: settings.timeouts,
        })
    }

    /// Sends a request, again where that is worth it. Every try that fails is added to `attempts`.
    pub(crate) async fn open(
        &self,
        prepared: &Prepared,
        settings: &Settings,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Opened, Error> {
        let began = self.clock().now();
        let mut made = 0;
        loop {
            made += 1;
            match self.try_once(prepared).await {
                Ok(opened) => return Ok(opened),
                Err(error) => self.wait_or_fail(error, &prepared.name, settings, made, began, attempts).await?,
            }
        }
    }

    /// Waits for the next try, when there is to be one. The try that failed is added to `attempts`.
    async fn wait_or_fail(
        &self,
        error: Error,
        name: &ModelName,
        settings: &Settings,
        made: u32,
        began: Duration,
        attempts: &mut Vec<Attempt>,
    ) -> Result<(), Error> {
        let error = error.at(name);
        let retry = &settings.retry;
        let elapsed = self.clock().now().saturating_sub(began);
        let wait = retry.wait(&error, made, elapsed, rand::random());
        let attempt = Attempt { waited: wait, ..error.attempt(name) };
        crate::trace::attempt(&attempt, made, retry.most());
        self.hooks().on_attempt(&attempt, made, retry.most());
        attempts.push(attempt);
        match wait {
            Some(wait) => {
                self.clock().sleep(wait).await;
                Ok(())
            }
            None => Err(error),
        }
    }

    async fn try_once(&self, prepared: &Prepared) -> Result<Opened, Error> {
        let key = prepared.endpoint.key();
        let limit = prepared.timeouts.to_head(prepared.streaming);
        let request = prepared.request.clone();
        let (head, body) =
            self.exchange(request, limit, prepared.timeouts, prepared.dialect, &prepared.endpoint).await?;
        let body = unframed(body, &head, prepared.converse.as_ref())?;
        if prepared.streaming {
            begin(head, body, prepared.dialect, key).await
        } else {
            let bytes = body.read(LONGEST).await?;
            let bytes = match &prepared.converse {
                Some(converse) => {
                    let body = serde_json::from_slice(&bytes).map_err(|fault| not_json(&bytes, &fault))?;
                    serde_json::to_vec(&converse.rewrite_response(body)).unwrap_or_default().into()
                }
                None => bytes,
            };
            let response = prepared.dialect.decode_response(&bytes, &mut ids(), &Limits::client());
            let response = response.map_err(|error| failed(error, &head, key))?;
            Ok(Opened::Whole(Box::new((response, head))))
        }
    }

    /// Sends a request once. An answer with a bad status is an error.
    pub(crate) async fn exchange(
        &self,
        request: http::Request<Bytes>,
        to_head: Duration,
        timeouts: Timeouts,
        dialect: Dialect,
        endpoint: &Endpoint,
    ) -> Result<(Head, Body), Error> {
        let clock = self.clock();
        let key = endpoint.key();
        let request = endpoint.sign(self, request).await?;
        let response = within(clock.as_ref(), to_head, self.transport().send(request)).await?;
        let (parts, body) = response.into_parts();
        let body = idle_guard(body, clock.clone(), timeouts.idle);
        let head = Head {
            request_id: request_id(&parts.headers),
            limits: RateLimits::read(&parts.headers, clock.today()),
            framed: is_framed(&parts.headers),
        };
        if parts.status.is_success() {
            return Ok((head, body));
        }
        if parts.status.is_redirection() {
            return Err(moved(parts.status, &parts.headers));
        }
        let body = body.beginning(LONGEST_FAILURE).await;
        let text = String::from_utf8_lossy(&body);
        let text = key.map_or_else(|| text.to_string(), |key| key.redact(&text));
        let headers = pairs(&parts.headers);
        let mut error = dialect.decode_error(Some(parts.status.as_u16()), &headers, &text);
        error.request_id = error.request_id.or_else(|| head.request_id.clone());
        let limited = error.kind == ikigai_core::ErrorKind::RateLimit;
        let wait = match error.retry_after_ms {
            Some(_) => None,
            None => retry_date(&parts.headers, clock.today()).or_else(|| limited.then(|| head.limits.wait()).flatten()),
        };
        Err(Error::new(error).wait(wait).limited(head.limits))
    }

    /// Sends a request and reads its JSON answer, again where that is worth it.
    pub(crate) async fn json(
        &self,
        name: &ModelName,
        dialect: Dialect,
        endpoint: &Endpoint,
        request: http::Request<Bytes>,
        settings: &Settings,
    ) -> Result<serde_json::Value, Error> {
        let began = self.clock().now();
        let mut attempts = Vec::new();
        let mut made = 0;
        loop {
            made += 1;
            match self.json_once(request.clone(), dialect, endpoint, settings.timeouts).await {
                Ok(value) => return Ok(value),
                Err(error) => {
                    let waited = self.wait_or_fail(error, name, settings, made, began, &mut attempts).await;
                    waited.map_err(|error| error.after_attempts(std::mem::take(&mut attempts)))?;
                }
            }
        }
    }

    async fn json_once(
        &self,
        request: http::Request<Bytes>,
        dialect: Dialect,
        endpoint: &Endpoint,
        timeouts: Timeouts,
    ) -> Result<serde_json::Value, Error> {
        let (_, body) = self.exchange(request, timeouts.first_byte, timeouts, dialect, endpoint).await?;
        let bytes = body.read(LONGEST).await?;
        serde_json::from_slice(&bytes).map_err(|fault| not_json(&bytes, &fault).into())
    }
}

fn is_framed(headers: &HeaderMap) -> bool {
    let media_type = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|media_type| media_type.starts_with(FRAMES))
}

/// The body of an answer, out of Amazon's frames when it came in them.
fn unframed(body: Body, head: &Head, converse: Option<&Converse>) -> Result<Body, Error> {
    if !head.framed {
        return Ok(body);
    }
    #[cfg(feature = "bedrock")]
    {
        use crate::transport::eventstream::{Inside, unframed};
        let inside = converse.map_or(Inside::Events, |converse| Inside::Converse(converse.reader()));
        Ok(unframed(body, inside))
    }
    #[cfg(not(feature = "bedrock"))]
    {
        let _ = converse;
        let told = "the answer comes in Amazon's frames, which this build cannot read (feature `bedrock`)";
        Err(Reason::Unsupported(told.to_owned()).into())
    }
}

/// Reads a stream up to its first words. What fails before them has reached nobody, and can be tried again.
async fn begin(head: Head, mut body: Body, dialect: Dialect, key: Option<&Key>) -> Result<Opened, Error> {
    let mut decoder = StreamDecoder::new(dialect, ids(), &Limits::client());
    let mut ready = Vec::new();
    while !ready.iter().any(says_something) {
        match body.next().await {
            Some(bytes) => decoder.feed(&bytes?, &mut ready),
            None => {
                decoder.end(&mut ready);
                break;
            }
        }
    }
    let fault = ready.iter().position(|event| matches!(event, Event::Error { .. }));
    if let Some(place) = fault
        && !ready.iter().take(place).any(says_something)
        && let Event::Error { error } = ready.swap_remove(place)
    {
        return Err(failed(*error, &head, key));
    }
    ready.reverse();
    Ok(Opened::Live(Box::new(Live { head, body, decoder, ready, key: key.cloned() })))
}

/// Is there something in the event that a caller would miss?
fn says_something(event: &Event) -> bool {
    match event {
        Event::Start { .. } | Event::Usage { .. } | Event::Other { .. } => false,
        Event::BlockStart { .. }
        | Event::TextDelta { .. }
        | Event::ThinkingDelta { .. }
        | Event::ToolCallStart { .. }
        | Event::ToolCallDelta { .. }
        | Event::ToolCallDone { .. }
        | Event::BlockDone { .. }
        | Event::Done { .. }
        | Event::Error { .. } => true,
        // A kind of event that is newer than this list is better shown than dropped.
        _ => true,
    }
}

/// A failure that came in a good answer, with what its head says and without the key.
pub(crate) fn failed(mut error: ikigai_core::Error, head: &Head, key: Option<&Key>) -> Error {
    if let Some(key) = key {
        redact(&mut error, key);
    }
    error.request_id = error.request_id.or_else(|| head.request_id.clone());
    Error::new(error).limited(head.limits.clone())
}

fn redact(error: &mut ikigai_core::Error, key: &Key) {
    error.message = key.redact(&error.message);
    if !error.provider_data.is_empty() {
        let text = serde_json::to_string(&error.provider_data).unwrap_or_default();
        let safe = key.redact(&text);
        if safe != text {
            error.provider_data = serde_json::from_str(&safe).unwrap_or_default();
        }
    }
}

/// Ids for what the wire leaves without one, from the system's randomness: no two answers share one.
fn ids() -> Ids {
    Ids::seeded(rand::random())
}

fn not_json(bytes: &[u8], fault: &serde_json::Error) -> Reason {
    let beginning = bytes.get(..200).unwrap_or(bytes);
    let excerpt = String::from_utf8_lossy(beginning);
    let told = format!("the answer is no JSON ({fault}); it begins: {}", excerpt.trim());
    ikigai_core::Error::protocol(told).into()
}

/// Redirects are not followed: the key would go along. The address has to be set anew.
fn moved(status: StatusCode, headers: &HeaderMap) -> Error {
    let to = headers.get(http::header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
    let to = to.split(['?', '#']).next().unwrap_or(to);
    let mut error = ikigai_core::Error::invalid_request(format!(
        "the API has moved to {to}; it is not followed there, so set the base URL anew"
    ));
    error.status = Some(status.as_u16());
    error.into()
}

/// The provider's id of the request, under the names that providers use.
fn request_id(headers: &HeaderMap) -> Option<String> {
    const NAMES: [&str; 6] = [
        "request-id",
        "x-request-id",
        "apim-request-id",
        "x-amzn-requestid",
        "x-goog-request-id",
        "mistral-correlation-id",
    ];
    let value = NAMES.iter().find_map(|name| headers.get(*name))?;
    value.to_str().ok().filter(|id| !id.is_empty()).map(str::to_owned)
}

fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

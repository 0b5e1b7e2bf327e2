//! Sending requests, with retries.

use std::sync::PoisonError;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};

use super::Upstream;
use super::exchange::{Exchange, Head, Wanted, end_to_end, request_id};
use super::rate_limits::{RateLimits, retry_date};
use crate::error::{Attempt, Error, FailedResponse};
use crate::redact::Secrets;
use crate::transport::{Body, Extent, Failure, TransportError, guarded, unpack, within};

/// How much of a failed response is read: its beginning says what failed.
const LONGEST_FAILURE: usize = 64 << 10;

/// How many characters are shown of a URL that the API has moved to.
const LONGEST_ADDRESS: usize = 200;

/// A failed attempt.
struct Failed {
    error: Error,
    work: Work,
}

/// Whether a provider has done the work of a failed request. Work that was done has to be paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// It has not: the request never arrived or was refused.
    NotDone,
    /// It may have: the request was sent, and no answer says that it failed.
    PerhapsDone,
}

impl Failed {
    /// Nothing was sent.
    fn before(error: impl Into<Error>) -> Self {
        Failed { error: error.into(), work: Work::NotDone }
    }

    /// Something was sent.
    fn after(error: impl Into<Error>) -> Self {
        Failed { error: error.into(), work: Work::PerhapsDone }
    }
}

impl Upstream {
    /// Sends a request and reads its answer as far as `read` wants, and retries where that may help. Every failed attempt
    /// is added to `attempts`.
    ///
    /// This is the only place that sends and retries requests. Work that may have been done is not requested again,
    /// because it would be paid for twice; reading with GET costs nothing.
    pub(crate) async fn attempt<T, R: Future<Output = Result<T, Error>>>(
        &self,
        request: &http::Request<Bytes>,
        wanted: Wanted,
        attempts: &mut Vec<Attempt>,
        read: impl Fn(Exchange) -> R,
    ) -> Result<T, Error> {
        crate::runtime::check()?;
        let clock = self.client.clock();
        let retry = &self.resolved.retry;
        let began = clock.now();
        let request = self.recognisable(request);
        let mut made = 0;
        loop {
            made += 1;
            let outcome = match self.once(request.clone(), wanted).await {
                Ok(exchange) => {
                    let secrets = exchange.secrets.clone();
                    read(exchange).await.map_err(|error| Failed::after(secrets.redact_error(error)))
                }
                Err(failed) => Err(failed),
            };
            let Failed { error, work } = match outcome {
                Ok(value) => return Ok(value),
                Err(failed) => failed,
            };
            let costs_nothing = work == Work::NotDone || request.method() == Method::GET;
            let error = error.at(&self.resolved.name);
            let error = if costs_nothing { error } else { error.charged() };
            let elapsed = clock.now().saturating_sub(began);
            let wait = costs_nothing.then(|| retry.wait(&error, made, elapsed, fastrand::f64())).flatten();
            let attempt = Attempt { waited: wait, ..error.attempt(&self.resolved.name) };
            crate::trace::attempt(&attempt, made, retry.most());
            self.client.hooks().on_attempt(&attempt, made, retry.most());
            attempts.push(attempt);
            match wait {
                Some(wait) => clock.sleep(wait).await,
                None => return Err(error),
            }
        }
    }

    /// Adds an id by which the provider recognises a repeated request, if it supports one.
    fn recognisable(&self, request: &http::Request<Bytes>) -> http::Request<Bytes> {
        let mut request = request.clone();
        let header = self.resolved.provider.idempotency_header.as_ref();
        if request.method() == Method::POST
            && let Ok(name) = http::HeaderName::try_from(header)
            && let Ok(value) = http::HeaderValue::try_from(format!("ikigai-{:032x}", fastrand::u128(..)))
        {
            request.headers_mut().entry(name).or_insert(value);
        }
        request
    }

    /// Sends a request and reads its whole answer, and retries where that may help.
    pub(crate) async fn whole<T>(
        &self,
        request: &http::Request<Bytes>,
        read: impl Fn(&[u8], &Head) -> Result<T, ikigai_core::Error>,
    ) -> Result<T, Error> {
        let mut attempts = Vec::new();
        let read = &read;
        let whole = |exchange: Exchange| async move {
            let (head, body) = exchange.into_parts();
            let bytes = body.read(head.longest).await?;
            read(&bytes, &head).map_err(|error| head.failure(error))
        };
        let outcome = self.attempt(request, Wanted::Whole, &mut attempts, whole).await;
        outcome.map_err(|error| error.after_attempts(attempts))
    }

    /// Signs a request and sends it once.
    async fn once(&self, request: http::Request<Bytes>, wanted: Wanted) -> Result<Exchange, Failed> {
        let request = self.resolved.signing.sign(&self.client, request).await.map_err(Failed::before)?;
        let secrets = self.secrets_of(&request);
        let outcome = self.exchange(request, wanted, &secrets).await;
        outcome.map_err(|failed| Failed { error: secrets.redact_error(failed.error), ..failed })
    }

    /// Returns the credentials in a request. Requests with the same ones share what finds them in texts.
    fn secrets_of(&self, request: &http::Request<Bytes>) -> Secrets {
        let secrets = Secrets::of(request);
        let mut known = self.resolved.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != secrets {
            *known = secrets;
        }
        known.clone()
    }

    /// Sends a signed request. An answer with an error status is an error.
    async fn exchange(
        &self,
        request: http::Request<Bytes>,
        wanted: Wanted,
        secrets: &Secrets,
    ) -> Result<Exchange, Failed> {
        let (clock, timeouts) = (self.client.clock(), self.resolved.timeouts);
        let bounds = self.client.limits();
        let sent = clock.now();
        let limit = match wanted {
            Wanted::Whole => timeouts.head,
            Wanted::Stream => timeouts.first_event,
        };
        let sending = async {
            let mut response = self.client.transport().send(request).await?;
            if wanted == Wanted::Stream && response.status().is_success() {
                response.body_mut().begin().await.map_err(begun)?;
            }
            Ok(response)
        };
        let outcome = within(clock.as_ref(), limit.min(timeouts.total), sending).await;
        let (mut parts, body) = outcome.map_err(lost)?.into_parts();
        end_to_end(&mut parts.headers);
        parts.headers.remove(header::SET_COOKIE);
        secrets.redact_headers(&mut parts.headers);
        let body = guarded(body, clock.clone(), &timeouts, sent);
        let limits = RateLimits::read(&parts.headers, clock.today());
        if parts.status.is_success() {
            let longest = match wanted {
                Wanted::Whole => bounds.body,
                Wanted::Stream => bounds.stream,
            };
            let body = unpack(body.bounded(longest, |error| error), &mut parts.headers, bounds.ratio);
            let body = self.resolved.codec.unframe(body.map_err(Failed::after)?, &mut parts.headers);
            let hidden = secrets.clone();
            return Ok(Exchange {
                status: parts.status,
                request_id: request_id(&parts.headers),
                headers: parts.headers,
                limits,
                body: body.map_err(Failed::after)?.bounded(longest, move |error| redacted(error, &hidden)),
                attempts: Vec::new(),
                secrets: secrets.clone(),
                sent,
                longest,
            });
        }
        if parts.status.is_redirection() {
            return Err(Failed::before(moved(parts.status, &parts.headers)));
        }
        // A status that does not refuse the request: it may have been accepted all the same.
        if !parts.status.is_client_error() && !parts.status.is_server_error() {
            let told = format!("the server answered with status {}, which is not an answer", parts.status.as_u16());
            return Err(Failed::after(ikigai_core::Error::protocol(told)));
        }
        // A body with an unknown encoding is ignored, because the status says enough.
        let body = unpack(body, &mut parts.headers, bounds.ratio).unwrap_or_else(|_| Body::whole(""));
        let status = parts.status;
        let error = self.failed(parts, body, limits, secrets).await;
        // Some say only in the body that the time was up, under any status.
        let perhaps_done = is_from_the_way(status) || error.kind() == ikigai_core::ErrorKind::Timeout;
        Err(if perhaps_done { Failed::after(error) } else { Failed::before(error) })
    }

    /// Returns the error for an answer with an error status.
    async fn failed(
        &self,
        mut parts: http::response::Parts,
        body: Body,
        limits: RateLimits,
        secrets: &Secrets,
    ) -> Error {
        let clock = self.client.clock();
        let body = body.beginning(LONGEST_FAILURE, clock.sleep(self.resolved.timeouts.error_body)).await;
        let mut bytes = body.bytes;
        if body.extent == Extent::Cut {
            // A key may have been cut in two.
            bytes.truncate(LONGEST_FAILURE.saturating_sub(secrets.longest()));
        }
        let bytes = secrets.redact_bytes(bytes);
        let mut error = self.resolved.codec.decode_error(parts.status.as_u16(), &parts.headers, &bytes);
        error.request_id = error.request_id.or_else(|| request_id(&parts.headers));
        let no_such_path = matches!(parts.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED);
        if let Some(hint) = self.other_dialect().filter(|_| no_such_path && error.code.is_none()) {
            error.message = format!("{} ({hint})", error.message);
        }
        let limited = error.kind == ikigai_core::ErrorKind::RateLimit;
        let wait = match error.retry_after_ms {
            Some(_) => None,
            None => retry_date(&parts.headers, clock.today()).or_else(|| limited.then(|| limits.wait()).flatten()),
        };
        // The length of the original body.
        parts.headers.remove(header::CONTENT_LENGTH);
        let response = FailedResponse { status: parts.status, headers: parts.headers, body: bytes };
        Error::new(error).wait(wait).limited(limits).with_response(response)
    }
}

/// Returns the error for a request that got no answer.
fn lost(error: TransportError) -> Failed {
    match error.failure() {
        // There was no server, or none that accepted the request.
        Failure::Connect | Failure::Refused | Failure::Request => Failed::before(error),
        Failure::Timeout | Failure::Broken | Failure::TooLarge => Failed::after(error),
    }
}

/// Changes an error after the head of a good answer: whatever failed, the request was accepted.
fn begun(error: TransportError) -> TransportError {
    match error.failure() {
        Failure::Connect | Failure::Refused | Failure::Request => {
            TransportError::new(Failure::Broken, error.to_string())
        }
        Failure::Timeout | Failure::Broken | Failure::TooLarge => error,
    }
}

/// Whether the status only says that a proxy on the way has waited long enough, or that its connection to the provider
/// broke. The work may still continue, or may have been done.
fn is_from_the_way(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 504 | 520 | 524 | 598 | 599)
}

fn redacted(mut error: TransportError, secrets: &Secrets) -> TransportError {
    secrets.redact_transport_error(&mut error);
    error
}

/// Returns the error for a redirect, which is not followed: the key would be sent along. The URL has to be changed.
fn moved(status: StatusCode, headers: &HeaderMap) -> Error {
    let to = headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
    let to: String = to.split(['?', '#']).next().unwrap_or(to).chars().take(LONGEST_ADDRESS).collect();
    let mut error = ikigai_core::Error::invalid_request(format!(
        "the API has moved to {to}; redirects are not followed, so change the base URL"
    ));
    error.status = Some(status.as_u16());
    error.into()
}

//! Sending: one try, and the tries after it.

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};

use super::Upstream;
use super::exchange::{Exchange, Wanted, end_to_end, request_id};
use super::rate_limits::{RateLimits, retry_date};
use crate::error::{Attempt, Error, FailedResponse};
use crate::redact::Secrets;
use crate::transport::{Body, Extent, TransportError, idle_guard, within};

/// The longest answer.
const LONGEST: usize = 256 << 20;
/// The longest failure that is read: its beginning says what failed.
const LONGEST_FAILURE: usize = 64 << 10;
/// How long the body of a failure may take.
const FAILURE_TIME: std::time::Duration = std::time::Duration::from_secs(30);

impl Upstream {
    /// Sends a request and reads its answer as far as `read` wants, again where that is worth it. Every try that fails is
    /// added to `attempts`.
    ///
    /// This is the only place that sends and the only one that tries again: what `read` gives has reached the caller.
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
        let mut made = 0;
        loop {
            made += 1;
            let outcome = match self.once(request.clone(), wanted).await {
                Ok(exchange) => {
                    let secrets = exchange.secrets.clone();
                    read(exchange).await.map_err(|error| secrets.redact_error(error))
                }
                Err(error) => Err(error),
            };
            let error = match outcome {
                Ok(value) => return Ok(value),
                Err(error) => error.at(&self.resolved.name),
            };
            let wait = retry.wait(&error, made, clock.now().saturating_sub(began), fastrand::f64());
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

    /// Sends a request and reads its whole answer, again where that is worth it.
    pub(crate) async fn whole<T>(
        &self,
        request: &http::Request<Bytes>,
        read: impl Fn(&[u8], &Secrets) -> Result<T, ikigai_core::Error>,
    ) -> Result<T, Error> {
        let mut attempts = Vec::new();
        let read = &read;
        let whole = |exchange: Exchange| async move {
            let (head, body) = exchange.into_parts();
            let bytes = body.read(LONGEST).await?;
            read(&bytes, &head.secrets).map_err(|error| head.failure(error))
        };
        let outcome = self.attempt(request, Wanted::Whole, &mut attempts, whole).await;
        outcome.map_err(|error| error.after_attempts(attempts))
    }

    /// Signs a request and sends it once.
    async fn once(&self, request: http::Request<Bytes>, wanted: Wanted) -> Result<Exchange, Error> {
        let request = self.resolved.signing.sign(&self.client, request).await?;
        let secrets = Secrets::of(&request);
        self.exchange(request, wanted, &secrets).await.map_err(|error| secrets.redact_error(error))
    }

    /// An answer with a bad status is an error.
    async fn exchange(
        &self,
        request: http::Request<Bytes>,
        wanted: Wanted,
        secrets: &Secrets,
    ) -> Result<Exchange, Error> {
        let (clock, timeouts) = (self.client.clock(), self.resolved.timeouts);
        let limit = match wanted {
            Wanted::Whole => timeouts.first_byte,
            Wanted::Stream => timeouts.first_event,
        };
        let sent = async {
            let mut response = self.client.transport().send(request).await?;
            if wanted == Wanted::Stream && response.status().is_success() {
                response.body_mut().begin().await?;
            }
            Ok(response)
        };
        let (mut parts, body) = within(clock.as_ref(), limit, sent).await?.into_parts();
        end_to_end(&mut parts.headers);
        parts.headers.remove(header::SET_COOKIE);
        secrets.redact_headers(&mut parts.headers);
        let body = idle_guard(body, clock.clone(), timeouts.idle);
        let limits = RateLimits::read(&parts.headers, clock.today());
        if parts.status.is_success() {
            let body = self.resolved.codec.unframe(body, &mut parts.headers)?;
            let hidden = secrets.clone();
            return Ok(Exchange {
                status: parts.status,
                request_id: request_id(&parts.headers),
                headers: parts.headers,
                limits,
                body: body.bounded(LONGEST, move |error| redacted(error, &hidden)),
                attempts: Vec::new(),
                secrets: secrets.clone(),
            });
        }
        if parts.status.is_redirection() {
            return Err(moved(parts.status, &parts.headers));
        }
        Err(self.failed(parts, body, limits, secrets).await)
    }

    /// The failure that an answer with a bad status is.
    async fn failed(
        &self,
        mut parts: http::response::Parts,
        body: Body,
        limits: RateLimits,
        secrets: &Secrets,
    ) -> Error {
        let clock = self.client.clock();
        let body = body.beginning(LONGEST_FAILURE, clock.sleep(FAILURE_TIME)).await;
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
        // It is that of the body as it came.
        parts.headers.remove(header::CONTENT_LENGTH);
        let response = FailedResponse { status: parts.status, headers: parts.headers, body: bytes };
        Error::new(error).wait(wait).limited(limits).with_response(response)
    }
}

fn redacted(mut error: TransportError, secrets: &Secrets) -> TransportError {
    secrets.redact_transport_error(&mut error);
    error
}

/// Redirects are not followed: the key would go along. The address has to be set anew.
fn moved(status: StatusCode, headers: &HeaderMap) -> Error {
    let to = headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
    let to = to.split(['?', '#']).next().unwrap_or(to);
    let mut error = ikigai_core::Error::invalid_request(format!(
        "the API has moved to {to}; it is not followed there, so set the base URL anew"
    ));
    error.status = Some(status.as_u16());
    error.into()
}

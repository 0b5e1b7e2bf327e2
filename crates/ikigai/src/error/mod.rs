//! The error type.

mod reason;
mod response;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ikigai_core::{ErrorKind, Message, ModelName, Response};

use crate::redact::Secrets;
use crate::upstream::RateLimits;

pub use reason::{Mismatch, Reason, ServerFault};
pub use response::FailedResponse;

/// The longest excerpt of a provider's message, in bytes.
const EXCERPT: usize = 1000;

/// Anything that can go wrong: with the request, on the way, at the provider, or with its answer.
///
/// [`kind`](Error::kind) tells you what to do about it; most programs need nothing else. Cheap to clone. Never contains
/// a key.
///
/// ```
/// # async fn f() -> Result<(), ikigai::Error> {
/// match ikigai::ask("anthropic:claude-haiku-4-5", "Hello").await {
///     Ok(answer) => println!("{answer}"),
///     Err(error) if error.kind() == ikigai::ErrorKind::RateLimit => println!("wait {:?}", error.retry_after()),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    reason: Reason,
    model: Option<ModelName>,
    retry_after: Option<Duration>,
    partial: Option<Response>,
    messages: Vec<Message>,
    attempts: Vec<Attempt>,
    limits: RateLimits,
    response: Option<FailedResponse>,
    may_be_charged: bool,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// The model that was asked.
    pub model: ModelName,
    /// What kind of failure it was.
    pub kind: ErrorKind,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The error message.
    pub message: String,
    /// The wait before the next attempt with the same model; `None` if there was no such attempt.
    pub waited: Option<Duration>,
}

impl Error {
    pub(crate) fn new(reason: impl Into<Reason>) -> Self {
        Error(Arc::new(Inner {
            reason: reason.into(),
            model: None,
            retry_after: None,
            partial: None,
            messages: Vec::new(),
            attempts: Vec::new(),
            limits: RateLimits::default(),
            response: None,
            may_be_charged: false,
        }))
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.reason.kind()
    }

    /// Returns what happened, in detail.
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }

    /// Returns the HTTP status, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.reason.provider_error().and_then(|error| error.status)
    }

    /// Returns the provider's code, such as `rate_limit_exceeded`.
    pub fn code(&self) -> Option<&str> {
        let error = self.0.reason.provider_error()?;
        error.code.as_deref().or(error.error_type.as_deref())
    }

    /// Returns the id of the provider that was asked.
    pub fn provider(&self) -> Option<&str> {
        match (&self.0.model, &self.0.reason) {
            (Some(model), _) => Some(&model.provider),
            (None, Reason::MissingKey(missing)) => Some(&missing.id),
            (None, reason) => reason.provider_error().and_then(|error| error.provider.as_deref()),
        }
    }

    /// Returns the model that was asked.
    pub fn model(&self) -> Option<&ModelName> {
        self.0.model.as_ref()
    }

    /// Returns the provider's id of the request, to quote to its support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.reason.provider_error().and_then(|error| error.request_id.as_deref())
    }

    /// Returns how long the provider asks you to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        let told = || self.0.reason.provider_error().and_then(|error| error.retry_after_ms).map(Duration::from_millis);
        self.0.retry_after.or_else(told)
    }

    /// Returns whether it is worth trying again later. The client has already made all the attempts that its retry
    /// policy allows.
    pub fn is_retryable(&self) -> bool {
        self.0.reason.is_retryable()
    }

    /// Returns whether the provider may have done the work: the request was sent, and no answer says that it was refused.
    /// If it is sent again, it may be paid for twice.
    pub fn may_be_charged(&self) -> bool {
        self.0.may_be_charged
    }

    /// Marks a failure as one that [`may_be_charged`](Error::may_be_charged): for programs that read the bytes of an
    /// [`Exchange`](crate::Exchange) themselves.
    #[must_use]
    pub fn charged(self) -> Self {
        self.with(|inner| inner.may_be_charged = true)
    }

    /// Returns the provider's own message, at most a thousand bytes of it; `None` if there is none.
    pub fn excerpt(&self) -> Option<&str> {
        self.0.reason.provider_error().map(|error| beginning(&error.message, EXCERPT)).filter(|words| !words.is_empty())
    }

    /// Returns the part of a stream that had arrived before it broke.
    pub fn partial(&self) -> Option<&Response> {
        self.0.partial.as_ref()
    }

    /// Returns the messages of this turn that were complete before it failed: answers with their tool calls, and the
    /// results. Tools that have run are not run again; a conversation continues from here.
    pub fn messages(&self) -> &[Message] {
        &self.0.messages
    }

    /// Returns all failed attempts, oldest first, including the last one; empty if nothing was sent.
    pub fn attempts(&self) -> &[Attempt] {
        &self.0.attempts
    }

    /// Returns what the provider reported about its rate limits.
    pub fn limits(&self) -> &RateLimits {
        &self.0.limits
    }

    /// Returns the provider's unchanged response if its status was 400 or more, for a client of the same dialect. A
    /// redirect is left out, because the provider's new address is not meant for clients.
    pub fn response(&self) -> Option<&FailedResponse> {
        self.0.response.as_ref()
    }

    /// Returns the failure in the canonical form, which a server can encode in its client's dialect. One that
    /// [`may_be_charged`](Error::may_be_charged) is not retryable there: clients would send the request again by themselves.
    pub fn canonical(&self) -> ikigai_core::Error {
        let mut error = match self.0.reason.provider_error() {
            Some(error) => error.clone(),
            None => ikigai_core::Error::new(self.kind(), self.to_string()),
        };
        if error.retry_after_ms.is_none() {
            error.retry_after_ms = self.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        }
        if self.0.may_be_charged {
            error.retryable = Some(false);
        }
        error
    }

    /// Returns this failure as one attempt among several.
    pub(crate) fn attempt(&self, model: &ModelName) -> Attempt {
        Attempt {
            model: model.clone(),
            kind: self.kind(),
            status: self.status(),
            message: beginning(&self.0.reason.to_string(), EXCERPT).to_owned(),
            waited: None,
        }
    }

    pub(crate) fn at(self, model: &ModelName) -> Self {
        self.with(|inner| inner.model = Some(model.clone()))
    }

    pub(crate) fn after_attempts(self, attempts: Vec<Attempt>) -> Self {
        self.with(|inner| inner.attempts = attempts)
    }

    pub(crate) fn wait(self, retry_after: Option<Duration>) -> Self {
        if retry_after.is_none() { self } else { self.with(|inner| inner.retry_after = retry_after) }
    }

    pub(crate) fn limited(self, limits: RateLimits) -> Self {
        self.with(|inner| inner.limits = limits)
    }

    pub(crate) fn with_response(self, response: FailedResponse) -> Self {
        self.with(|inner| inner.response = Some(response))
    }

    /// Removes secrets from the messages, the partial answer and the attempts. The unchanged response contains none.
    pub(crate) fn redacted(self, secrets: &Secrets) -> Self {
        self.with(|inner| {
            secrets.redact_reason(&mut inner.reason);
            if let Some(partial) = &mut inner.partial {
                secrets.redact_response(partial);
            }
            for attempt in &mut inner.attempts {
                attempt.message = secrets.redact(&attempt.message).into_owned();
            }
        })
    }

    pub(crate) fn with_partial(self, partial: Response) -> Self {
        self.with(|inner| inner.partial = Some(partial))
    }

    pub(crate) fn with_messages(self, messages: Vec<Message>) -> Self {
        self.with(|inner| inner.messages = messages)
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says_who = self.0.reason.provider_error().is_some_and(|error| error.provider.is_some());
        if let (Some(model), true, false) = (&self.0.model, self.0.reason.is_remote(), says_who) {
            write!(f, "{}: ", model.provider)?;
        }
        write!(f, "{}", self.0.reason)?;
        tried(&self.0.attempts, f)
    }
}

/// Writes what was tried, if more than once: `anthropic:claude-x (overloaded, 3 times), openai:gpt-y (rate_limit)`.
fn tried(attempts: &[Attempt], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if attempts.len() < 2 {
        return Ok(());
    }
    let mut groups: Vec<(&Attempt, usize)> = Vec::new();
    for attempt in attempts {
        match groups.last_mut() {
            Some((last, count)) if last.model == attempt.model => {
                *last = attempt;
                *count += 1;
            }
            _ => groups.push((attempt, 1)),
        }
    }
    f.write_str("; tried ")?;
    for (place, (attempt, count)) in groups.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{} ({}", attempt.model, attempt.kind)?;
        if *count > 1 {
            write!(f, ", {count} times")?;
        }
        f.write_str(")")?;
    }
    Ok(())
}

/// Prints the message, because that is what a `main` prints that returns the error; `{:#?}` prints everything.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return write!(f, "{self} [{}]", self.kind());
        }
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("message", &self.to_string())
            .field("model", &self.0.model)
            .field("retry_after", &self.retry_after())
            .field("attempts", &self.0.attempts)
            .field("partial", &self.0.partial)
            .field("limits", &self.0.limits)
            .field("response", &self.0.response)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.reason.source()
    }
}

impl<R: Into<Reason>> From<R> for Error {
    fn from(reason: R) -> Self {
        Error::new(reason)
    }
}

/// Returns the beginning of a text, cut at a character boundary.
pub(crate) fn beginning(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

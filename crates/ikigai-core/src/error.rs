//! Failures of providers, in one form for all of them.

use serde::{Deserialize, Serialize};

use crate::{ProviderData, Response};

/// The kind of a failure, which decides whether to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The key is missing, wrong or expired.
    Auth,
    /// The key is valid, but not for this model, region or feature.
    Permission,
    /// The provider rejected the request as invalid.
    InvalidRequest,
    /// The model, file or stored response does not exist.
    NotFound,
    /// Too many requests or tokens at the moment.
    RateLimit,
    /// The credit or the plan is used up.
    Quota,
    /// The prompt does not fit into the model's context window.
    ContextTooLong,
    /// The request has more bytes than the provider accepts; another provider may accept more.
    RequestTooLarge,
    /// Blocked by a policy, and reported as an error.
    ContentFiltered,
    /// The provider has no capacity.
    Overloaded,
    /// The provider failed.
    Server,
    /// The request took too long.
    Timeout,
    /// The connection failed.
    Network,
    /// Unreadable bytes, or a stream that ended without its end marker.
    Protocol,
    /// The caller stopped it.
    Cancelled,
    /// The model still wanted to call tools when the step limit was reached.
    StepLimit,
    /// A hook of the program stopped the request.
    Vetoed,
}

/// A failure, with the provider's own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{}", self.describe())]
#[non_exhaustive]
pub struct Error {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// The provider's message, unchanged, or our own if it sent none.
    pub message: String,
    /// The HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's code, such as `rate_limit_exceeded`; numbers are converted to strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The provider's type, such as `invalid_request_error`, or Google's status, such as `UNAVAILABLE`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The parameter that the provider complains about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// The provider that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's id of the request, to quote when you contact its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// How long the provider asks you to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Whether a retry is worthwhile; absent: the kind decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// The provider's own error object, size-limited, by dialect.
    #[serde(default, skip_serializing_if = "ProviderData::is_empty")]
    pub provider_data: ProviderData,
    /// What had arrived before a stream broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<Response>>,
}

impl Error {
    /// Creates a failure of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            status: None,
            code: None,
            error_type: None,
            param: None,
            provider: None,
            request_id: None,
            retry_after_ms: None,
            retryable: None,
            provider_data: ProviderData::default(),
            partial: None,
        }
    }

    /// Creates a protocol error: unreadable bytes.
    pub fn protocol(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Protocol, message)
    }

    /// Creates an error for an invalid request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::InvalidRequest, message)
    }

    /// Creates an error for a request that is invalid because of the value in one place.
    pub(crate) fn invalid_param(place: impl Into<String>, message: impl Into<String>) -> Self {
        Error { param: Some(place.into()), ..Error::invalid_request(message) }
    }

    /// Returns whether a retry is worthwhile. It is for rate limits and server failures, but not for quota,
    /// authentication and refusals.
    pub fn is_retryable(&self) -> bool {
        self.retryable.unwrap_or(match self.kind {
            ErrorKind::RateLimit
            | ErrorKind::Overloaded
            | ErrorKind::Server
            | ErrorKind::Timeout
            | ErrorKind::Network
            | ErrorKind::Protocol => true,
            ErrorKind::Auth
            | ErrorKind::Permission
            | ErrorKind::InvalidRequest
            | ErrorKind::NotFound
            | ErrorKind::Quota
            | ErrorKind::ContextTooLong
            | ErrorKind::RequestTooLarge
            | ErrorKind::ContentFiltered
            | ErrorKind::Cancelled
            | ErrorKind::StepLimit
            | ErrorKind::Vetoed => false,
        })
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        if let Some(provider) = &self.provider {
            text.push_str(provider);
            text.push_str(": ");
        }
        text.push_str(&self.message);
        let details: Vec<String> = [
            self.status.map(|status| format!("status {status}")),
            self.code.as_ref().map(|code| format!("code {code}")),
            self.request_id.as_ref().map(|id| format!("request {id}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !details.is_empty() {
            text.push_str(&format!(" ({})", details.join(", ")));
        }
        text
    }
}

impl ErrorKind {
    /// Returns the kind as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Auth => "auth",
            ErrorKind::Permission => "permission",
            ErrorKind::InvalidRequest => "invalid_request",
            ErrorKind::NotFound => "not_found",
            ErrorKind::RateLimit => "rate_limit",
            ErrorKind::Quota => "quota",
            ErrorKind::ContextTooLong => "context_too_long",
            ErrorKind::RequestTooLarge => "request_too_large",
            ErrorKind::ContentFiltered => "content_filtered",
            ErrorKind::Overloaded => "overloaded",
            ErrorKind::Server => "server",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Network => "network",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::StepLimit => "step_limit",
            ErrorKind::Vetoed => "vetoed",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

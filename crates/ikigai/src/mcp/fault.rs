//! Messages about a server that failed: they name it and say what to do.

use std::error::Error as StdError;
use std::time::Duration;

use ikigai_core::ErrorKind;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError, StreamableHttpError};
use secrecy::SecretString;

use super::server::{Place, Server};
use crate::error::{ServerFault, beginning};
use crate::redact::Secrets;

/// The longest excerpt of a server's message, in bytes.
const EXCERPT: usize = 1000;

/// Returns what nobody may see of a server: the values of its variables and headers.
pub(super) fn secrets_of(server: &Server) -> Secrets {
    match &server.place {
        Place::Program(program) => Secrets::new(program.variables.iter().map(|(_, value)| value.clone())),
        Place::Remote(remote) => {
            let bearer = remote.bearer.as_ref().map(|key| SecretString::from(key.expose()));
            Secrets::new(remote.headers.iter().map(|(_, value)| value.clone()).chain(bearer))
        }
    }
}

/// What went wrong, without the server's name, which is put before it.
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) why: String,
}

impl Fault {
    fn new(kind: ErrorKind, why: impl Into<String>) -> Self {
        Fault { kind, why: why.into() }
    }

    pub(super) fn too_slow(limit: Duration) -> Self {
        let seconds = limit.as_secs_f64();
        Fault::new(ErrorKind::Timeout, format!("did not answer within {seconds} s; set a longer `connect_timeout`"))
    }

    pub(super) fn ended(status: Option<String>) -> Self {
        let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
        Fault::new(ErrorKind::Network, format!("has ended{status}"))
    }

    /// The program cannot be started.
    pub(super) fn not_started(program: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Fault::new(
                ErrorKind::NotFound,
                format!("cannot be started: there is no program `{program}`; install it, or give its full path"),
            ),
            std::io::ErrorKind::PermissionDenied => Fault::new(
                ErrorKind::Permission,
                format!("cannot be started: `{program}` cannot be run; is it a program, and executable (chmod +x)?"),
            ),
            _ => Fault::new(ErrorKind::InvalidRequest, format!("cannot be started: {error}")),
        }
    }

    pub(super) fn no_folder(folder: &std::path::Path) -> Self {
        let told = format!("cannot be started: there is no folder {}", folder.display());
        Fault::new(ErrorKind::NotFound, told)
    }

    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Fault::new(ErrorKind::InvalidRequest, why)
    }

    pub(super) fn protocol(why: impl Into<String>) -> Self {
        Fault::new(ErrorKind::Protocol, why)
    }

    /// The handshake failed.
    pub(super) fn at_start(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::TransportError { error, .. } => Fault::on_the_way(error.error.as_ref()),
            ClientInitializeError::ConnectionClosed(_) => Fault::ended(None),
            ClientInitializeError::JsonRpcError(error) => {
                Fault::protocol(format!("refuses the connection: {}", beginning(&error.message, EXCERPT)))
            }
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => Fault::at_start(fallback),
            other => {
                let told = other.to_string();
                Fault::protocol(format!("does not follow the MCP protocol: {}", beginning(&told, EXCERPT)))
            }
        }
    }

    /// A request failed.
    pub(super) fn at_work(error: &ServiceError) -> Self {
        match error {
            ServiceError::TransportClosed => Fault::ended(None),
            ServiceError::TransportSend(error) => Fault::on_the_way(error.error.as_ref()),
            ServiceError::McpError(error) => Fault::protocol(format!("says: {}", beginning(&error.message, EXCERPT))),
            ServiceError::UnexpectedResponse => Fault::protocol("sent an answer that does not match the request"),
            other => Fault::protocol(format!("failed: {}", beginning(&other.to_string(), EXCERPT))),
        }
    }

    /// Something failed on the way to the server.
    fn on_the_way(error: &(dyn StdError + 'static)) -> Self {
        let mut innermost = error;
        let mut next = Some(error);
        while let Some(current) = next {
            if current.is::<AuthRequiredError>() {
                return Fault::new(ErrorKind::Auth, "needs a valid key; set one with `bearer` or `header`");
            }
            if current.is::<InsufficientScopeError>() {
                return Fault::new(ErrorKind::Permission, "rejected this key");
            }
            if let Some(error) = current.downcast_ref::<reqwest::Error>() {
                return Fault::over_http(error);
            }
            if let Some(error) = current.downcast_ref::<StreamableHttpError<reqwest::Error>>()
                && let Some(told) = Fault::refused(error)
            {
                return told;
            }
            innermost = current;
            next = current.source();
        }
        Fault::new(ErrorKind::Network, format!("cannot be reached: {}", beginning(&innermost.to_string(), EXCERPT)))
    }

    /// The server answered with an error status.
    fn refused(error: &StreamableHttpError<reqwest::Error>) -> Option<Self> {
        match error {
            StreamableHttpError::Client(error) => Some(Fault::over_http(error)),
            StreamableHttpError::HttpStatus(error) => Some(Fault::status(error.status)),
            // The SDK has no field for it, only this text: "HTTP 404 Not Found: …".
            StreamableHttpError::UnexpectedServerResponse(words) => {
                let status = words.strip_prefix("HTTP ").and_then(|words| words.get(..3)?.parse().ok());
                let why =
                    || Fault::protocol(format!("sent an answer that cannot be used: {}", beginning(words, EXCERPT)));
                Some(status.map_or_else(why, Fault::status))
            }
            _ => None,
        }
    }

    fn over_http(error: &reqwest::Error) -> Self {
        if let Some(status) = error.status() {
            return Fault::status(status.as_u16());
        }
        let kind = if error.is_timeout() { ErrorKind::Timeout } else { ErrorKind::Network };
        // The innermost cause: the layers above it repeat the URL, which may contain a key.
        let mut cause: &dyn StdError = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Fault::new(kind, format!("cannot be reached: {}", beginning(&cause.to_string(), EXCERPT)))
    }

    fn status(status: u16) -> Self {
        match status {
            401 => Fault::new(ErrorKind::Auth, "needs a valid key; set one with `bearer` or `header`"),
            403 => Fault::new(ErrorKind::Permission, "rejected this key"),
            404 | 405 => Fault::new(ErrorKind::NotFound, "was not found: nothing at this address speaks MCP"),
            300..=399 => Fault::invalid(format!("has moved to another host (status {status}); use the new address")),
            429 => Fault::new(ErrorKind::RateLimit, "got too many requests; try again later"),
            _ => Fault::new(ErrorKind::Server, format!("failed with status {status}")),
        }
    }

    /// Adds the server's name and its last output.
    pub(super) fn of(self, server: &str, log: Vec<String>, secrets: &Secrets) -> ServerFault {
        ServerFault { server: server.to_owned(), why: secrets.redact(&self.why).into_owned(), log, kind: self.kind }
    }
}

//! How the program ends: the exit code and the error message.

use std::process::ExitCode;

use ikigai::{ErrorKind, Reason};

/// What the exit code means. Scripts rely on these; they are documented in `ikigai --help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Ok,
    /// Something went wrong.
    Error,
    /// The command-line arguments are invalid.
    Usage,
    /// There is no key, or the provider does not accept it.
    NoKey,
    /// The provider had no capacity for us after all retries: rate limits, quotas, overload.
    Busy,
    /// The provider refused to answer: a filter or a policy.
    Refused,
    /// The answer was cut off by the length limit, and that was to be an error.
    CutOff,
    /// The answer does not match the schema.
    Mismatch,
    /// Ctrl-C. The code that a shell shows for a program ended by SIGINT.
    Interrupted,
    /// The reader of the output is gone. The code that a shell shows for a program ended by SIGPIPE.
    ClosedPipe,
}

impl Exit {
    /// Returns the number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::NoKey => 3,
            Exit::Busy => 4,
            Exit::Refused => 5,
            Exit::CutOff => 6,
            Exit::Mismatch => 7,
            Exit::Interrupted => 130,
            Exit::ClosedPipe => 141,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not do what was asked: what failed, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What went wrong, and where.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Creates a general error.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Error, what: what.into(), hint: None }
    }

    /// Creates an error about invalid command-line arguments.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Usage, ..Failure::new(what) }
    }

    /// Ctrl-C. Nothing has to be said about it, because the user who pressed it knows.
    pub(crate) fn interrupted() -> Self {
        Failure { exit: Exit::Interrupted, ..Failure::new("stopped by Ctrl-C") }
    }

    /// Sets another exit code.
    #[must_use]
    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Output could not be written. If the reader is gone, that is not our error: the program ends quietly.
    pub(crate) fn writing(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => {
                Failure { exit: Exit::ClosedPipe, ..Failure::new("the reader went away") }
            }
            _ => Failure::new(format!("cannot write the output: {error}")),
        }
    }

    /// A file or folder cannot be used as intended: `doing("write", …)` reads "cannot write PATH: …".
    pub(crate) fn file(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Failure::new(format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl From<ikigai::Error> for Failure {
    fn from(error: ikigai::Error) -> Self {
        Failure::from(&error)
    }
}

impl From<&ikigai::Error> for Failure {
    fn from(error: &ikigai::Error) -> Self {
        let failure = Failure::new(error.to_string()).exit(exit(error));
        match hint(error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<ikigai_store::Error> for Failure {
    fn from(error: ikigai_store::Error) -> Self {
        Failure::new(error.to_string())
    }
}

fn exit(error: &ikigai::Error) -> Exit {
    if matches!(error.reason(), Reason::Mismatch(_)) {
        return Exit::Mismatch;
    }
    match error.kind() {
        ErrorKind::Auth | ErrorKind::Permission => Exit::NoKey,
        ErrorKind::RateLimit | ErrorKind::Quota | ErrorKind::Overloaded => Exit::Busy,
        ErrorKind::ContentFiltered => Exit::Refused,
        ErrorKind::InvalidRequest
        | ErrorKind::NotFound
        | ErrorKind::ContextTooLong
        | ErrorKind::RequestTooLarge
        | ErrorKind::Server
        | ErrorKind::Timeout
        | ErrorKind::Network
        | ErrorKind::Protocol
        | ErrorKind::Cancelled
        | ErrorKind::StepLimit
        | ErrorKind::Vetoed => Exit::Error,
        // Kinds that do not exist yet.
        _ => Exit::Error,
    }
}

fn hint(error: &ikigai::Error) -> Option<String> {
    match error.reason() {
        Reason::MissingKey(missing) => return Some(format!("Or store one with: ikigai keys set {}", missing.id)),
        Reason::Model(_) => return Some("`ikigai models list` lists the models.".to_owned()),
        Reason::Credentials(_) | Reason::File(_) => return Some("`ikigai config check` checks all files.".to_owned()),
        _ => {}
    }
    match error.kind() {
        ErrorKind::Auth => Some(format!(
            "`ikigai keys list` shows where the key comes from; store another with: ikigai keys set {}",
            error.provider().unwrap_or("PROVIDER")
        )),
        ErrorKind::Permission => {
            Some("The key is valid but may not do this; check its permissions in the provider's console.".into())
        }
        ErrorKind::RateLimit | ErrorKind::Overloaded => Some(match error.retry_after() {
            Some(wait) => format!("The provider asks you to wait {} s.", wait.as_secs_f64().ceil()),
            None => "Wait a moment, or ask another model with -m.".to_owned(),
        }),
        ErrorKind::Quota => {
            Some("Waiting will not help: the account has reached its limit or run out of credit.".to_owned())
        }
        ErrorKind::RequestTooLarge => {
            Some("Send fewer or smaller attachments, or ask another provider with -m.".to_owned())
        }
        ErrorKind::ContextTooLong => {
            Some("Send less, or ask a model with a larger window: ikigai models list".to_owned())
        }
        ErrorKind::ContentFiltered => Some("Sending it again will not help; try rephrasing it.".to_owned()),
        ErrorKind::Network | ErrorKind::Timeout => Some("Run `ikigai doctor` to see what is reachable.".to_owned()),
        ErrorKind::NotFound => Some("`ikigai models list` lists the models.".to_owned()),
        ErrorKind::InvalidRequest | ErrorKind::Server | ErrorKind::Protocol | ErrorKind::Cancelled => None,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ikigai_core::Error as ProviderError;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_kind_of_error_has_its_exit_code() {
        let of = |kind: ErrorKind| Failure::from(ikigai::Error::from(ProviderError::new(kind, "words"))).exit.code();
        let codes = [
            (ErrorKind::Auth, 3),
            (ErrorKind::Permission, 3),
            (ErrorKind::RateLimit, 4),
            (ErrorKind::Quota, 4),
            (ErrorKind::Overloaded, 4),
            (ErrorKind::ContentFiltered, 5),
            (ErrorKind::InvalidRequest, 1),
            (ErrorKind::NotFound, 1),
            (ErrorKind::ContextTooLong, 1),
            (ErrorKind::Server, 1),
            (ErrorKind::Timeout, 1),
            (ErrorKind::Network, 1),
            (ErrorKind::Protocol, 1),
            (ErrorKind::Cancelled, 1),
            (ErrorKind::RequestTooLarge, 1),
            (ErrorKind::StepLimit, 1),
            (ErrorKind::Vetoed, 1),
        ];
        for (kind, code) in codes {
            assert_eq!(of(kind), code, "{kind}");
        }
    }

    #[test]
    fn a_missing_key_says_how_to_store_one() {
        let environment = ikigai::config::Environment::of([("X", "y")]);
        let client = ikigai::Client::builder().environment(environment).build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(client.models("anthropic")).unwrap_err();
        assert_eq!(
            Failure::from(error),
            Failure {
                exit: Exit::NoKey,
                what: "there is no key for Anthropic: set ANTHROPIC_API_KEY; get one at \
                       https://console.anthropic.com/settings/keys"
                    .to_owned(),
                hint: Some("Or store one with: ikigai keys set anthropic".to_owned()),
            }
        );
    }

    #[test]
    fn a_wait_that_the_provider_asks_for_is_told() {
        let mut error = ProviderError::new(ErrorKind::RateLimit, "slow down");
        error.retry_after_ms = Some(1500);
        assert_eq!(
            Failure::from(ikigai::Error::from(error)).hint.as_deref(),
            Some("The provider asks you to wait 2 s.")
        );
    }
}

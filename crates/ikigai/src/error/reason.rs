//! What went wrong, in detail.

use std::fmt;
use std::path::PathBuf;

use ikigai_core::catalog::FileError;
use ikigai_core::provider::ProviderSetupError;
use ikigai_core::validate::Invalid;
use ikigai_core::{ErrorKind, ModelError};

use crate::config::{CredentialsError, MissingKey};
use crate::transport::{Failure, TransportError};

/// What happened, in detail. Most programs only need [`Error::kind`](crate::Error::kind).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reason {
    /// The provider failed or refused, or its answer could not be read.
    Provider(Box<ikigai_core::Error>),
    /// The request failed in transport.
    Transport(TransportError),
    /// The request breaks a rule; nothing was sent.
    Invalid(Invalid),
    /// No model has this name.
    Model(ModelError),
    /// The provider is unknown or not set up.
    NoSuchProvider(ProviderSetupError),
    /// There is no key.
    MissingKey(MissingKey),
    /// A credentials file cannot be used.
    Credentials(CredentialsError),
    /// A file of providers or models cannot be read.
    File(FileError),
    /// A file cannot be attached.
    Attachment {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// The answer does not match the schema, even after the model was asked to fix it.
    Mismatch(Mismatch),
    /// The model still requested tools when the limit of steps was reached.
    StepLimit(u32),
    /// An MCP server cannot be used.
    Server(ServerFault),
    /// This build or this provider does not support it.
    Unsupported(String),
}

/// An MCP server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFault {
    /// The server's name, and its command or address.
    pub server: String,
    /// What is wrong, and how to fix it.
    pub why: String,
    /// The last lines that its program wrote to its standard error.
    pub log: Vec<String>,
    /// What kind of failure it is.
    pub kind: ErrorKind,
}

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the MCP server {} {}", self.server, self.why)?;
        if !self.log.is_empty() {
            f.write_str("; its last output:")?;
        }
        self.log.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl std::error::Error for ServerFault {}

/// An answer that does not match its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// What is wrong, each with its location.
    pub faults: Vec<String>,
    /// The answer as received.
    pub text: String,
}

impl Reason {
    /// Returns the kind of failure.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Reason::Provider(error) => error.kind,
            Reason::Transport(error) => match error.failure() {
                Failure::Connect | Failure::Refused | Failure::Broken => ErrorKind::Network,
                Failure::Timeout => ErrorKind::Timeout,
                Failure::TooLarge => ErrorKind::Protocol,
                Failure::Request => ErrorKind::InvalidRequest,
            },
            Reason::Model(ModelError::UnknownModel { .. } | ModelError::UnknownProvider { .. })
            | Reason::NoSuchProvider(ProviderSetupError::Unknown { .. }) => ErrorKind::NotFound,
            Reason::MissingKey(_) | Reason::Credentials(_) => ErrorKind::Auth,
            Reason::Mismatch(_) => ErrorKind::Protocol,
            Reason::Server(fault) => fault.kind,
            Reason::StepLimit(_) => ErrorKind::StepLimit,
            Reason::Invalid(_)
            | Reason::Model(_)
            | Reason::NoSuchProvider(_)
            | Reason::File(_)
            | Reason::Attachment { .. }
            | Reason::Unsupported(_) => ErrorKind::InvalidRequest,
        }
    }

    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Reason::Provider(error) => error.is_retryable(),
            Reason::Transport(error) => match error.failure() {
                Failure::Connect | Failure::Refused | Failure::Broken | Failure::Timeout => true,
                Failure::TooLarge | Failure::Request => false,
            },
            Reason::Mismatch(_) => true,
            Reason::Server(fault) => matches!(fault.kind, ErrorKind::Timeout | ErrorKind::Network),
            Reason::Invalid(_)
            | Reason::Model(_)
            | Reason::NoSuchProvider(_)
            | Reason::MissingKey(_)
            | Reason::Credentials(_)
            | Reason::File(_)
            | Reason::Attachment { .. }
            | Reason::StepLimit(_)
            | Reason::Unsupported(_) => false,
        }
    }

    /// Whether it happened outside this machine.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, Reason::Provider(_) | Reason::Transport(_) | Reason::Mismatch(_))
    }

    pub(crate) fn provider_error(&self) -> Option<&ikigai_core::Error> {
        match self {
            Reason::Provider(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the underlying error, but not the reason itself, whose message the error already prints.
    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Reason::Transport(error) => std::error::Error::source(error),
            Reason::Provider(error) => std::error::Error::source(error.as_ref()),
            Reason::Invalid(error) => std::error::Error::source(error),
            Reason::Model(error) => std::error::Error::source(error),
            Reason::NoSuchProvider(error) => std::error::Error::source(error),
            Reason::File(error) => std::error::Error::source(error),
            Reason::MissingKey(_)
            | Reason::Credentials(_)
            | Reason::Server(_)
            | Reason::Attachment { .. }
            | Reason::Mismatch(_)
            | Reason::StepLimit(_)
            | Reason::Unsupported(_) => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Provider(error) => error.fmt(f),
            Reason::Transport(error) => error.fmt(f),
            Reason::Invalid(error) => error.fmt(f),
            Reason::Model(error) => error.fmt(f),
            Reason::NoSuchProvider(error) => error.fmt(f),
            Reason::MissingKey(error) => error.fmt(f),
            Reason::Credentials(error) => error.fmt(f),
            Reason::File(error) => error.fmt(f),
            Reason::Attachment { file, why } => write!(f, "cannot attach {}: {why}", file.display()),
            Reason::Mismatch(mismatch) => {
                write!(f, "the answer does not match the schema: {}", mismatch.faults.join("; "))
            }
            Reason::StepLimit(steps) => {
                write!(f, "the model still wants tools after {steps} steps; raise `max_steps` or ask again")
            }
            Reason::Server(error) => error.fmt(f),
            Reason::Unsupported(what) => f.write_str(what),
        }
    }
}

macro_rules! reasons {
    ($($error:ty => $variant:ident),* $(,)?) => {$(
        impl From<$error> for Reason {
            fn from(error: $error) -> Self {
                Reason::$variant(error)
            }
        }
    )*};
}

reasons! {
    TransportError => Transport,
    Invalid => Invalid,
    ModelError => Model,
    ProviderSetupError => NoSuchProvider,
    MissingKey => MissingKey,
    CredentialsError => Credentials,
    FileError => File,
    Mismatch => Mismatch,
    ServerFault => Server,
}

impl From<ikigai_core::Error> for Reason {
    fn from(error: ikigai_core::Error) -> Self {
        Reason::Provider(Box::new(error))
    }
}

impl From<Box<ikigai_core::Error>> for Reason {
    fn from(error: Box<ikigai_core::Error>) -> Self {
        Reason::Provider(error)
    }
}

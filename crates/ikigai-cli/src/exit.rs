//! How the program ends: the exit code, and the words that go with it.

use std::process::ExitCode;

/// What the exit code says. Scripts rely on these; they are documented in `ikigai --help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Ok,
    /// Something went wrong.
    Error,
    /// The command line makes no sense.
    Usage,
    /// The reader of the output went away. The code that a shell shows for a program ended by SIGPIPE.
    ClosedPipe,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::ClosedPipe => 141,
        })
    }
}

/// Why a command could not do what was asked: what and where, and the way out.
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
    /// Something went wrong.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Error, what: what.into(), hint: None }
    }

    /// The command line makes no sense.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Usage, ..Failure::new(what) }
    }

    /// With the way out.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Output that could not be written. A reader that went away is no error of ours: the program ends quietly.
    pub(crate) fn writing(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => {
                Failure { exit: Exit::ClosedPipe, ..Failure::new("the reader went away") }
            }
            _ => Failure::new(format!("cannot write the output: {error}")),
        }
    }
}

//! Whether there is a tokio runtime.

use crate::error::{Error, Reason};

/// The error message for a program without one.
pub(crate) const MISSING: &str =
    "there is no tokio runtime here: call this from a function under #[tokio::main], or from within Runtime::block_on";

/// Checks for a runtime: without one, timers and sockets panic.
pub(crate) fn check() -> Result<(), Error> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(Reason::Unsupported(MISSING.to_owned()).into()),
    }
}

//! Is there a runtime to wait in?

use crate::error::{Error, Reason};

/// What a program is told that has none.
pub(crate) const MISSING: &str =
    "there is no tokio runtime here: call this from a function under #[tokio::main], or from within Runtime::block_on";

/// Without a runtime, timers and sockets panic.
pub(crate) fn check() -> Result<(), Error> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(Reason::Unsupported(MISSING.to_owned()).into()),
    }
}

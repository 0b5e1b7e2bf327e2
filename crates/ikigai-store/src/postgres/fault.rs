//! Converts the errors of the server and of the connections.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::error::{Error, ErrorKind};

/// Everything that an error says, including its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.contains(&more) {
            said.push_str(": ");
            said.push_str(&more);
        }
        cause = error.source();
    }
    said
}

/// The error of a statement. Its transaction failed with it, so nothing was changed.
pub(super) fn statement(error: tokio_postgres::Error) -> Error {
    let Some(state) = error.code().cloned() else {
        // Closed connections and I/O errors are the connection's fault; anything else, such as a wrong type, is ours.
        return match error.is_closed() || is_io(&error) {
            true => Error::new(ErrorKind::Unreachable, chain(&error)).caused_by(error).worth_another_try(),
            false => Error::internal(chain(&error)).caused_by(error),
        };
    };
    let said = match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => chain(&error),
    };
    let made = Error::new(kind(&state), said).caused_by(error);
    // The server chose this transaction to be run again, or shut down between two statements.
    let again = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::ADMIN_SHUTDOWN];
    if again.contains(&state) { made.worth_another_try() } else { made }
}

/// The error of a commit. If the connection was lost, nobody knows whether the commit happened, so it is not retried.
pub(super) fn commit(error: tokio_postgres::Error) -> Error {
    if error.code().is_some() {
        return statement(error);
    }
    let said = format!("{}; it is not known whether the last change was kept", chain(&error));
    Error::new(ErrorKind::Unreachable, said).caused_by(error)
}

/// The error of getting a connection.
pub(super) fn pool(error: PoolError) -> Error {
    match error {
        PoolError::Backend(error) => {
            let made = statement(error);
            // What the server says while we connect is never the fault of a statement.
            if made.kind() == ErrorKind::Internal { Error::new(ErrorKind::Unreachable, made.message()) } else { made }
        }
        PoolError::Closed => Error::closed(),
        PoolError::Timeout(_) => Error::new(ErrorKind::Unreachable, "no connection became available in 30 seconds"),
        other @ (PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_)) => {
            Error::new(ErrorKind::Unreachable, chain(&other)).caused_by(other)
        }
    }
}

/// The error of work on another thread that did not finish.
pub(super) fn task(error: tokio::task::JoinError) -> Error {
    if error.is_cancelled() { Error::closed() } else { Error::internal(error.to_string()) }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The kind of an error, by the class of the server's code.
fn kind(state: &SqlState) -> ErrorKind {
    match state.code() {
        // Lock not available.
        "55P03" => ErrorKind::Busy,
        // Insufficient privilege, read-only transaction, disk full.
        "42501" | "25006" | "53100" => ErrorKind::Access,
        code => match code.get(..2).unwrap_or_default() {
            // Connection, authorization, no such database, resources, shutdown.
            "08" | "28" | "3D" | "53" | "57" => ErrorKind::Unreachable,
            // Something does not fit: too long, too large.
            "54" => ErrorKind::Invalid,
            // Another transaction has to finish first.
            "40" => ErrorKind::Busy,
            "58" => ErrorKind::Access,
            "XX" => ErrorKind::Corrupt,
            _ => ErrorKind::Internal,
        },
    }
}

//! The errors of a store, the same for both engines.

use std::fmt;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The conversation or message does not exist.
    NotFound,
    /// The input cannot be stored.
    Invalid,
    /// The database was made by a newer program.
    Newer,
    /// It is a database, but not one of ours.
    Foreign,
    /// The database is damaged. Nothing was overwritten.
    Corrupt,
    /// Another program kept the database locked for too long.
    Busy,
    /// The file or the folder cannot be used: permissions, a full disk.
    Access,
    /// The server cannot be reached, or refuses the connection.
    Unreachable,
    /// The store was closed.
    Closed,
    /// The answer was closed by another program while it was growing.
    Settled,
    /// A line of an import cannot be read.
    Import,
    /// The database rejected a statement, which is a bug in this program.
    Internal,
}

impl ErrorKind {
    /// What to do about it; empty if the message itself says so.
    fn hint(self) -> &'static str {
        match self {
            ErrorKind::NotFound | ErrorKind::Invalid | ErrorKind::Settled | ErrorKind::Import => "",
            ErrorKind::Newer => "Update ikigai, or choose another database. Nothing was changed.",
            ErrorKind::Foreign => "Choose another file or database. Nothing was changed.",
            ErrorKind::Corrupt => {
                "Nothing was overwritten. Keep a copy, then restore a backup, or save what can be read with \
                 `sqlite3 FILE .recover`."
            }
            ErrorKind::Busy => "Close the program that holds it, and try again.",
            ErrorKind::Access => "Check the permissions, the free space and the path.",
            ErrorKind::Unreachable => "Check that the server runs, the address, the name and the password.",
            ErrorKind::Closed => "Open the store again.",
            ErrorKind::Internal => "Please report this.",
        }
    }
}

/// A failure: what happened, where, and what to do about it.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use ikigai_store::{ErrorKind, Sqlite};
///
/// let error = Sqlite::open("/proc/nowhere/ikigai.db").await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Access);
/// assert!(error.to_string().starts_with("/proc/nowhere/ikigai.db: "));
/// # });
/// ```
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    place: Option<Box<str>>,
    message: Box<str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    #[cfg(feature = "postgres")]
    again: bool,
}

impl Error {
    /// Returns the kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the file, or the server's address without the password.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// Returns what happened, without the place and the advice.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            place: None,
            message: message.into().into(),
            source: None,
            #[cfg(feature = "postgres")]
            again: false,
        }
    }

    pub(crate) fn not_found(what: &str, id: impl fmt::Display) -> Self {
        Error::new(ErrorKind::NotFound, format!("there is no {what} {id}"))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Corrupt, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Internal, message)
    }

    pub(crate) fn closed() -> Self {
        Error::new(ErrorKind::Closed, "the store is closed")
    }

    pub(crate) fn newer(found: i64, known: i64) -> Self {
        Error::new(
            ErrorKind::Newer,
            format!(
                "a newer ikigai made this database: its schema is version {found}, this program knows up to {known}"
            ),
        )
    }

    /// Records where it happened, unless that is already known.
    pub(crate) fn at(mut self, place: &str) -> Self {
        self.place.get_or_insert_with(|| place.into());
        self
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Marks a failure that changed nothing, so that a second try may work.
    #[cfg(feature = "postgres")]
    pub(crate) fn worth_another_try(mut self) -> Self {
        self.again = true;
        self
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn is_worth_another_try(&self) -> bool {
        self.again
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        match self.kind.hint() {
            "" => Ok(()),
            hint => write!(f, ". {hint}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// The result of every operation.
pub type Result<T> = std::result::Result<T, Error>;

//! The numbered steps that bring an old database up to date, one list per engine.
//!
//! A released step is never changed: a database may be at any of them.

/// One step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) then: Then,
}

/// What to do after the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Nothing,
    /// Fill the search index: its words come from the program. Also used if the words themselves change.
    Reindex,
}

/// The version that this program creates, and the newest it knows.
pub(crate) const LATEST: i64 = 3;

macro_rules! migrations {
    ($folder:literal) => {
        [
            Migration {
                version: 1,
                name: "conversations",
                sql: include_str!(concat!("../migrations/", $folder, "/1_conversations.sql")),
                then: Then::Nothing,
            },
            Migration {
                version: 2,
                name: "search",
                sql: include_str!(concat!("../migrations/", $folder, "/2_search.sql")),
                then: Then::Reindex,
            },
            Migration {
                version: LATEST,
                name: "created",
                sql: include_str!(concat!("../migrations/", $folder, "/3_created.sql")),
                then: Then::Nothing,
            },
        ]
    };
}

#[cfg(feature = "sqlite")]
pub(crate) const SQLITE: [Migration; 3] = migrations!("sqlite");

#[cfg(feature = "postgres")]
pub(crate) const POSTGRES: [Migration; 3] = migrations!("postgres");

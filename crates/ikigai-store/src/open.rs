//! A database by its name.

use std::sync::Arc;

use crate::Store;
use crate::error::{Error, Result};

/// Opens the database that a text names: a URL beginning with `postgres://` or `postgresql://`, or the path of a SQLite
/// file, with or without `sqlite:` before it; `:memory:` is gone when the store is.
///
/// # Errors
/// As [`Sqlite::open`](crate::Sqlite::open) and [`Postgres::open`](crate::Postgres::open). An engine that this program was
/// built without is an error, too.
pub async fn open(location: &str) -> Result<Arc<dyn Store>> {
    let location = location.trim();
    if location.is_empty() {
        return Err(Error::invalid("no database is named; name a file or a postgres:// URL"));
    }
    if location.starts_with("postgres://") || location.starts_with("postgresql://") {
        return postgres(location).await;
    }
    // A file may have any name, but hardly one that is the address of another database.
    if let Some((scheme, _)) = location.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") {
        return Err(Error::invalid(format!("{scheme}:// is no database that is known; use a file or postgres://")));
    }
    let path = location.strip_prefix("sqlite://").or(location.strip_prefix("sqlite:")).unwrap_or(location);
    sqlite(path).await
}

#[cfg(feature = "sqlite")]
async fn sqlite(path: &str) -> Result<Arc<dyn Store>> {
    Ok(match path {
        ":memory:" => Arc::new(crate::Sqlite::memory().await?),
        path => Arc::new(crate::Sqlite::open(path).await?),
    })
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(_: &str) -> Result<Arc<dyn Store>> {
    Err(Error::invalid("this program was built without SQLite (the feature `sqlite`); use a postgres:// URL"))
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(crate::Postgres::open(url).await?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<Arc<dyn Store>> {
    Err(Error::invalid("this program was built without PostgreSQL (the feature `postgres`); use a file"))
}

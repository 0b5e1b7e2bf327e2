//! Finds a database by its name.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy as _;

use crate::Store;
use crate::error::{Error, Result};

/// Opens the database at a location: a URL beginning with `postgres://` or `postgresql://`, or the path of a SQLite
/// file, with or without `sqlite:` before it. `:memory:` lasts as long as the store.
///
/// # Errors
/// Same as [`Sqlite::open`](crate::Sqlite::open) and [`Postgres::open`](crate::Postgres::open). Also returns an error
/// if this program was built without the engine.
pub async fn open(location: &str) -> Result<Arc<dyn Store>> {
    let location = location.trim();
    if location.is_empty() {
        return Err(Error::invalid("no database is named; name a file or a postgres:// URL"));
    }
    if location.starts_with("postgres://") || location.starts_with("postgresql://") {
        return postgres(location).await;
    }
    // A file may have any name, but hardly the address of another database.
    if let Some((scheme, _)) = location.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") {
        return Err(Error::invalid(format!("unknown database {scheme}://; use a file or postgres://")));
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

/// Returns the location to [`open`] if none is given: `$IKIGAI_DATABASE`, else `ikigai.db` in the folder
/// `$IKIGAI_HOME`, else `ikigai/ikigai.db` in the system's data folder (`$XDG_DATA_HOME`, usually `~/.local/share`).
///
/// # Errors
/// Returns an error if there is no such folder, as for a user without a home, or its path is not UTF-8.
pub fn default_location() -> Result<String> {
    let data = || etcetera::choose_base_strategy().ok().map(|places| places.data_dir());
    location(|name| std::env::var_os(name), data)
}

fn location(variable: impl Fn(&str) -> Option<OsString>, data: impl FnOnce() -> Option<PathBuf>) -> Result<String> {
    let variable = |name| variable(name).filter(|value| !value.is_empty());
    let (path, from) = if let Some(named) = variable("IKIGAI_DATABASE") {
        (named, "IKIGAI_DATABASE")
    } else if let Some(home) = variable("IKIGAI_HOME") {
        (PathBuf::from(home).join("ikigai.db").into(), "IKIGAI_HOME")
    } else if let Some(data) = data() {
        (data.join("ikigai").join("ikigai.db").into(), "the folder for data")
    } else {
        return Err(Error::invalid(
            "there is no home folder to keep conversations in; name a database in IKIGAI_DATABASE",
        ));
    };
    path.into_string().map_err(|path| {
        Error::invalid(format!("{from} is not UTF-8: {}; name another place in IKIGAI_DATABASE", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_default_is_a_variable_or_a_folder() {
        let located = |variables: &[(&str, &str)], data: Option<&str>| {
            let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            location(variable, || data.map(PathBuf::from)).map_err(|error| error.to_string())
        };
        let url = ("IKIGAI_DATABASE", "postgres://db/chats");
        assert_eq!(located(&[url, ("IKIGAI_HOME", "/h")], Some("/d")), Ok("postgres://db/chats".into()));
        assert_eq!(located(&[("IKIGAI_DATABASE", ""), ("IKIGAI_HOME", "/h")], Some("/d")), Ok("/h/ikigai.db".into()));
        assert_eq!(located(&[], Some("/d")), Ok("/d/ikigai/ikigai.db".into()));
        let said = "there is no home folder to keep conversations in; name a database in IKIGAI_DATABASE";
        assert_eq!(located(&[], None), Err(said.into()));
    }
}

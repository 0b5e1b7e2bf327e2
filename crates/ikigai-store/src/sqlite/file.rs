//! The file: opened with care, kept clean, checked.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::migrate::migrate;
use super::session::fault;
use crate::error::{Error, ErrorKind, Result};
use crate::migrations::{LATEST, SQLITE};
use crate::sql::Inspection;

/// "ikig": marks a file as ours, in its header.
const APPLICATION: i64 = 0x696B_6967;
/// How long to wait for another program.
const PATIENCE: Duration = Duration::from_secs(30);

/// Opens the file for writing, creates it if it does not exist, and brings it up to date.
pub(super) fn open(path: &Path) -> Result<Connection> {
    make(path)?;
    refuse_lost_log(path)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match prepare(path) {
            // Two programs are creating the same file: SQLite does not always wait on its own here.
            Err(error) if error.kind() == ErrorKind::Busy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            outcome => return outcome,
        }
    }
}

fn prepare(path: &Path) -> Result<Connection> {
    let mut connection = connect(path)?;
    // Look before changing anything.
    if identify(&connection)? == Found::Nothing {
        pragma(&connection, "PRAGMA auto_vacuum = INCREMENTAL")?;
    }
    pragma(&connection, "PRAGMA journal_mode = WAL")?;
    configure(&connection)?;
    migrate(&mut connection, &SQLITE, APPLICATION)?;
    Ok(connection)
}

/// A database in memory.
pub(super) fn memory() -> Result<Connection> {
    let mut connection = Connection::open_in_memory().map_err(fault)?;
    configure(&connection)?;
    migrate(&mut connection, &SQLITE, APPLICATION)?;
    Ok(connection)
}

/// Opens a file that was opened before, for reading only.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let connection = connect(path)?;
    configure(&connection)?;
    pragma(&connection, "PRAGMA query_only = ON")?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection> {
    // Without "create": a file that has disappeared must not come back empty.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection.busy_timeout(PATIENCE).map_err(fault)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<()> {
    for sql in [
        "PRAGMA foreign_keys = ON",
        // What was committed survives a power cut as well.
        "PRAGMA synchronous = FULL",
        // What is deleted is overwritten.
        "PRAGMA secure_delete = ON",
        "PRAGMA temp_store = MEMORY",
        "PRAGMA cell_size_check = ON",
        "PRAGMA trusted_schema = OFF",
        // A log that has grown does not stay that large.
        "PRAGMA journal_size_limit = 16777216",
    ] {
        pragma(connection, sql)?;
    }
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Writes without waiting for the disk, and leaves the checkpoint of the log to the next write that waits. What was
/// written survives the end of this program, however it ends; after a power cut, the last seconds may be missing.
pub(super) fn without_waiting<T>(
    connection: &mut Connection,
    write: impl FnOnce(&mut Connection) -> Result<T>,
) -> Result<T> {
    pragma(connection, "PRAGMA synchronous = NORMAL")?;
    pragma(connection, "PRAGMA wal_autocheckpoint = 0")?;
    let written = write(connection);
    pragma(connection, "PRAGMA wal_autocheckpoint = 1000")?;
    pragma(connection, "PRAGMA synchronous = FULL")?;
    written
}

/// Runs a pragma to its end, whatever it returns.
fn pragma(connection: &Connection, sql: &str) -> Result<()> {
    let mut statement = connection.prepare(sql).map_err(fault)?;
    let mut rows = statement.query([]).map_err(fault)?;
    while rows.next().map_err(fault)?.is_some() {}
    Ok(())
}

pub(super) fn number(connection: &Connection, sql: &str) -> Result<i64> {
    connection.query_row(sql, [], |row| row.get(0)).map_err(fault)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Ours,
}

/// Finds out whose database it is.
fn identify(connection: &Connection) -> Result<Found> {
    // In one transaction: another program may be creating it right now.
    pragma(connection, "BEGIN")?;
    let looked = || -> Result<_> {
        let application = number(connection, "PRAGMA application_id")?;
        let version = number(connection, "PRAGMA user_version")?;
        Ok((application, version, number(connection, "SELECT count(*) FROM sqlite_schema")?))
    };
    let seen = looked();
    pragma(connection, "COMMIT")?;
    match seen? {
        (APPLICATION, version, _) if version > LATEST => Err(Error::newer(version, LATEST)),
        (APPLICATION, _, _) => Ok(Found::Ours),
        (0, 0, 0) => Ok(Found::Nothing),
        _ => Err(Error::new(ErrorKind::Foreign, "this is the database of another program")),
    }
}

/// Creates the folder and an empty file, readable only by their owner.
fn make(path: &Path) -> Result<()> {
    let refused =
        |what: &str, error: std::io::Error| Error::new(ErrorKind::Access, format!("{what}: {error}")).caused_by(error);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| refused("the folder cannot be created", error))?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(refused("the file cannot be created", error)),
    }
}

/// SQLite deletes the log of an empty database. If the log has something in it, the database was lost: then nothing may
/// be touched.
fn refuse_lost_log(path: &Path) -> Result<()> {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    if size(path) == 0 && size(&log) > 0 {
        return Err(Error::corrupt(format!(
            "the file is empty, but {} holds changes to it: it was lost or emptied",
            log.display()
        )));
    }
    Ok(())
}

/// Gives free pages back and empties the log, which may hold older states of pages. Returns whether all of it was
/// possible. What was deleted has been overwritten already.
pub(super) fn scrub(connection: &Connection, patience: Duration) -> bool {
    let truncated = || -> Result<bool> {
        pragma(connection, "PRAGMA incremental_vacuum")?;
        connection.busy_timeout(patience).map_err(fault)?;
        number(connection, "PRAGMA wal_checkpoint(TRUNCATE)").map(|busy| busy == 0)
    };
    let done = truncated().unwrap_or(false);
    connection.busy_timeout(PATIENCE).is_ok() && done
}

/// Writes a copy of the whole database.
pub(super) fn backup(connection: &Connection, to: &Path) -> Result<()> {
    let text = to.to_str().ok_or_else(|| Error::invalid(format!("the path {} is not UTF-8", to.display())))?;
    if to.exists() {
        return Err(Error::new(ErrorKind::Access, format!("{text} is there already")));
    }
    // For SQLite, a copy is a write.
    let reads_only = number(connection, "PRAGMA query_only")?;
    pragma(connection, "PRAGMA query_only = 0")?;
    let copied = connection.execute("VACUUM INTO ?1", [text]).map_err(fault).map(drop);
    pragma(connection, &format!("PRAGMA query_only = {reads_only}"))?;
    copied
}

/// SQLite's own check: pages, indexes, the search index, references.
pub(super) fn inspect(connection: &Connection) -> Result<Inspection> {
    let mut problems = texts(connection, "PRAGMA integrity_check(20)")?;
    problems.retain(|said| said != "ok");
    let dangling = texts(connection, "SELECT DISTINCT \"table\" FROM pragma_foreign_key_check()")?;
    problems.extend(dangling.iter().map(|table| format!("rows of {table} refer to rows that are missing")));
    Ok(Inspection {
        engine: format!("SQLite {}", rusqlite::version()),
        schema: number(connection, "PRAGMA user_version")?,
        problems,
    })
}

fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql).map_err(fault)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(fault)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fault)
}

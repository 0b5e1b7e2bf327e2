//! Brings an old database up to date: in one transaction, so that a program that dies leaves it unchanged.

use rusqlite::Connection;

use super::file::number;
use super::session::{Transaction, fault, now};
use crate::Time;
use crate::error::{Error, Result};
use crate::migrations::{Migration, Then};
use crate::ops::reindex;

/// Runs the steps that the database lacks.
pub(super) fn migrate(connection: &mut Connection, steps: &[Migration], application: i64) -> Result<()> {
    let latest = steps.last().map_or(0, |step| step.version);
    if number(connection, "PRAGMA user_version")? == latest {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE").map_err(fault)?;
    let outcome =
        apply(connection, steps, latest, application).and_then(|()| connection.execute_batch("COMMIT").map_err(fault));
    if outcome.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    outcome
}

fn apply(connection: &mut Connection, steps: &[Migration], latest: i64, application: i64) -> Result<()> {
    // Again, now that nobody else can write: another program may have done it meanwhile.
    let found = number(connection, "PRAGMA user_version")?;
    if found > latest {
        return Err(Error::newer(found, latest));
    }
    connection
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS migrations (\
             version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL) STRICT",
        )
        .map_err(fault)?;
    for step in steps.iter().filter(|step| step.version > found) {
        connection.execute_batch(step.sql).map_err(fault)?;
        if step.then == Then::Reindex {
            now(reindex(&mut Transaction { connection }))?;
        }
        let row = (step.version, step.name, Time::now().to_string());
        connection
            .execute("INSERT INTO migrations (version, name, applied) VALUES (?1, ?2, ?3)", row)
            .map_err(fault)?;
    }
    connection
        .execute_batch(&format!("PRAGMA application_id = {application}; PRAGMA user_version = {latest}"))
        .map_err(fault)
}

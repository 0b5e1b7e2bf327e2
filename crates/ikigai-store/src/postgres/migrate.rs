//! Creates the tables, or brings old ones up to date: in one transaction, and one program at a time.

use deadpool_postgres::Client;
use tokio_postgres::IsolationLevel;

use super::fault::statement;
use super::session::{MIGRATIONS, Transaction};
use crate::Time;
use crate::error::{Error, ErrorKind, Result};
use crate::migrations::{Migration, Then};
use crate::ops::reindex;
use crate::sql::{Session as _, params};

/// The oldest version of the server that has what we use.
const OLDEST: i64 = 12;

/// Runs the steps that the database lacks.
pub(super) async fn migrate(client: &mut Client, steps: &[Migration]) -> Result<()> {
    let latest = steps.last().map_or(0, |step| step.version);
    // Whatever the server's default is: after waiting for the lock, we must see what others did meanwhile.
    let begin = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let mut transaction = Transaction { inner: begin.start().await.map_err(statement)? };
    refuse_unfit(&mut transaction).await?;
    // First without the lock: no right to change the database is needed if it is up to date.
    let mut found = version(&mut transaction).await?;
    if found < latest {
        transaction.advisory(MIGRATIONS).await?;
        found = version(&mut transaction).await?;
    }
    if found > latest {
        return Err(Error::newer(found, latest));
    }
    if found < latest {
        if found == 0 {
            let sql = "CREATE SCHEMA IF NOT EXISTS ikigai; CREATE TABLE ikigai.migrations (\
                 version bigint PRIMARY KEY, name text NOT NULL, applied text NOT NULL)";
            transaction.inner.batch_execute(sql).await.map_err(statement)?;
        }
        for step in steps.iter().filter(|step| step.version > found) {
            transaction.inner.batch_execute(step.sql).await.map_err(statement)?;
            if step.then == Then::Reindex {
                reindex(&mut transaction).await?;
            }
            let sql = "INSERT INTO migrations (version, name, applied) VALUES ($1, $2, $3)";
            transaction.execute(sql, params![step.version, step.name, Time::now().to_string()]).await?;
        }
    }
    transaction.inner.commit().await.map_err(statement)
}

/// The version of the tables, or 0 if there are none.
async fn version(transaction: &mut Transaction<'_>) -> Result<i64> {
    let sql = "SELECT count(*) FILTER (WHERE c.relname = 'migrations'), count(*) FROM pg_class c \
         JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = 'ikigai'";
    let row = transaction.first(sql, &[]).await?;
    let mut row = row.ok_or_else(|| Error::internal("the server did not say which tables it has"))?;
    match (row.int(0)?, row.int(1)?) {
        (0, 0) => return Ok(0),
        (0, _) => {
            let said = "there is a schema `ikigai` in this database, but not one of ours";
            return Err(Error::new(ErrorKind::Foreign, said));
        }
        (_, _) => {}
    }
    let row = transaction.first("SELECT CAST(max(version) AS bigint) FROM ikigai.migrations", &[]).await?;
    Ok(row.map(|mut row| row.opt_int(0)).transpose()?.flatten().unwrap_or_default())
}

async fn refuse_unfit(transaction: &mut Transaction<'_>) -> Result<()> {
    let sql = "SELECT CAST(current_setting('server_version_num') AS bigint), \
         CAST(current_setting('server_encoding') AS text)";
    let row = transaction.first(sql, &[]).await?;
    let mut row = row.ok_or_else(|| Error::internal("the server did not say its version"))?;
    let (version, encoding) = (row.int(0)? / 10_000, row.text(1)?);
    if version < OLDEST {
        let said = format!("the server is PostgreSQL {version}; version {OLDEST} or later is needed");
        return Err(Error::new(ErrorKind::Unreachable, said));
    }
    if encoding != "UTF8" {
        let said = format!("the database is encoded as {encoding}, and must be UTF8");
        return Err(Error::new(ErrorKind::Foreign, said));
    }
    Ok(())
}

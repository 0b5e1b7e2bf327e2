//! A transaction on a connection. Nothing in it ever waits for anything but the disk.

use std::future::{Future, ready};
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql};

use crate::error::{Error, ErrorKind, Result};
use crate::find::{Order, Place};
use crate::sql::{Found, Lock, Operation, Row, Session, Value, params};
use crate::text::Query;

/// Runs an operation in a transaction: all of it happens, or nothing.
pub(super) fn transaction<O: Operation>(connection: &mut Connection, begin: &str, operation: &O) -> Result<O::Output> {
    connection.execute_batch(begin).map_err(fault)?;
    let outcome = now(operation.run(&mut Transaction { connection }))
        .and_then(|output| connection.execute_batch("COMMIT").map_err(fault).map(|()| output));
    if outcome.is_err() && !connection.is_autocommit() {
        // The first error is the one to report. A rollback fails only if there is nothing to roll back.
        let _ = connection.execute_batch("ROLLBACK");
    }
    outcome
}

/// The result of a future that never waits.
pub(super) fn now<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(Error::internal("an operation waited where nothing can be waited for")),
    }
}

#[derive(Debug)]
pub(super) struct Transaction<'a> {
    pub(super) connection: &'a mut Connection,
}

/// Up to this many messages are looked up one by one.
const FEW: usize = 1000;

impl Transaction<'_> {
    fn execute_now(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        let mut statement = self.connection.prepare_cached(&translated(sql)).map_err(fault)?;
        let changed = statement.execute(rusqlite::params_from_iter(params)).map_err(fault)?;
        Ok(changed as u64)
    }

    fn query_now(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>> {
        let mut all = Vec::new();
        self.each(sql, params, |row| {
            all.push(Row(std::mem::take(&mut row.0)));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// Passes on row by row, until that is enough.
    fn each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&mut Row) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(&translated(sql)).map_err(fault)?;
        let columns = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let values = (0..columns).map(|column| value(row.get_ref(column).map_err(fault)?));
            if take(&mut Row(values.collect::<Result<_>>()?))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn best(&mut self, query: &Query, limit: i64, offset: i64) -> Result<Vec<Found>> {
        let wanted = limit.saturating_add(offset);
        let mut found = Vec::new();
        for place in [Place::Title, Place::Prompt, Place::Answer, Place::Tool] {
            let room = wanted.saturating_sub(found.len() as i64);
            if room <= 0 {
                break;
            }
            let sql = "SELECT rowid FROM search WHERE search MATCH $1 ORDER BY rank LIMIT $2";
            let matching = format!("{{{}}} : ({})", column(place), query.to_fts5());
            for mut row in self.query_now(sql, params![matching, room])? {
                found.push(Found { place, n: row.int(0)?.abs() });
            }
        }
        Ok(found.split_off(usize::try_from(offset).unwrap_or(usize::MAX).min(found.len())))
    }

    /// All keys that match are collected. If there are many, messages are read from the newest on until enough of them
    /// match: a word that is everywhere soon turns up.
    fn newest(&mut self, query: &Query, limit: i64, offset: i64) -> Result<Vec<Found>> {
        let mut keys = Vec::new();
        self.each("SELECT rowid FROM search WHERE search MATCH $1", params![query.to_fts5()], |row| {
            keys.push(row.int(0)?);
            Ok(ControlFlow::Continue(()))
        })?;
        keys.sort_unstable();
        let titles = keys.partition_point(|key| *key < 0);
        let is_found = |key: i64| keys.binary_search(&key).is_ok();
        let wanted = usize::try_from(limit.saturating_add(offset)).unwrap_or(usize::MAX);
        let mut found: Vec<(i64, i64, Place)> = Vec::new();
        if keys.len() <= FEW {
            for n in keys.iter().copied().filter(|key| *key > 0) {
                let row = self.query_now("SELECT created FROM messages WHERE n = $1", params![n])?;
                let created = row.into_iter().next().map(|mut row| row.int(0)).transpose()?;
                found.extend(created.map(|created| (created, n, Place::Answer)));
            }
        } else if titles < keys.len() {
            self.each("SELECT n, created FROM messages ORDER BY created DESC, n DESC", &[], |row| {
                let (n, created) = (row.int(0)?, row.int(1)?);
                if is_found(n) {
                    found.push((created, n, Place::Answer));
                }
                Ok(if found.len() < wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
        }
        if titles > 0 {
            self.each("SELECT n, created FROM conversations", &[], |row| {
                let (n, created) = (row.int(0)?, row.int(1)?);
                if is_found(-n) {
                    found.push((created, n, Place::Title));
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        found.sort_unstable_by_key(|(created, n, _)| std::cmp::Reverse((*created, *n)));
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let page = found.into_iter().skip(start).take(usize::try_from(limit).unwrap_or(usize::MAX));
        let place = |(_, n, place): (i64, i64, Place)| {
            if place == Place::Title {
                return Ok(Found { place, n });
            }
            let role = self.query_now("SELECT role FROM messages WHERE n = $1", params![n])?;
            let role = role.into_iter().next().map(|mut row| row.text(0)).transpose()?;
            let place = match role.as_deref() {
                Some("user") => Place::Prompt,
                Some("assistant") => Place::Answer,
                _ => Place::Tool,
            };
            Ok(Found { place, n })
        };
        page.map(place).collect()
    }

    fn index(&mut self, key: i64, place: Place, words: &[String]) -> Result<()> {
        self.execute_now("DELETE FROM search WHERE rowid = $1", params![key])?;
        if !words.is_empty() {
            let sql = format!("INSERT INTO search (rowid, {}) VALUES ($1, $2)", column(place));
            self.execute_now(&sql, params![key, words.join(" ")])?;
        }
        Ok(())
    }
}

fn column(place: Place) -> &'static str {
    match place {
        Place::Title => "title",
        Place::Prompt => "prompt",
        Place::Answer => "answer",
        Place::Tool => "tool",
    }
}

impl Session for Transaction<'_> {
    /// A transaction that writes has the whole database to itself.
    const FOR_UPDATE: &'static str = "";

    fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> impl Future<Output = Result<u64>> + Send {
        ready(self.execute_now(sql, params))
    }

    fn query(&mut self, sql: &str, params: &[Value<'_>]) -> impl Future<Output = Result<Vec<Row>>> + Send {
        ready(self.query_now(sql, params))
    }

    fn lock(&mut self, _: Lock) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    fn index_message(&mut self, n: i64, place: Place, words: &[String]) -> impl Future<Output = Result<()>> + Send {
        ready(self.index(n, place, words))
    }

    fn index_title(&mut self, n: i64, words: &[String]) -> impl Future<Output = Result<()>> + Send {
        ready(self.index(-n, Place::Title, words))
    }

    fn search(
        &mut self,
        query: &Query,
        order: Order,
        limit: i64,
        offset: i64,
    ) -> impl Future<Output = Result<Vec<Found>>> + Send {
        ready(match order {
            Order::Best => self.best(query, limit, offset),
            Order::Newest => self.newest(query, limit, offset),
        })
    }

    fn size(&mut self) -> impl Future<Output = Result<i64>> + Send {
        let pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        ready(self.query_now(pages, &[]).and_then(|rows| match rows.into_iter().next() {
            Some(mut row) => row.int(0),
            None => Ok(0),
        }))
    }
}

/// PostgreSQL's parameters as SQLite numbers them. Our statements contain no other `$`.
fn translated(sql: &str) -> String {
    sql.replace('$', "?")
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(value: ValueRef<'_>) -> Result<Value<'static>> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Int(number)),
        ValueRef::Text(text) => match String::from_utf8(text.to_vec()) {
            Ok(text) => Ok(Value::Text(text.into())),
            Err(_) => Err(Error::corrupt("a text is not UTF-8")),
        },
        ValueRef::Blob(bytes) => Ok(Value::Bytes(bytes.to_vec().into())),
        ValueRef::Real(_) => Err(Error::corrupt("there is a fraction where a number must be")),
    }
}

/// Converts an error of SQLite.
pub(super) fn fault(error: rusqlite::Error) -> Error {
    let said = match &error {
        rusqlite::Error::SqliteFailure(_, Some(said)) => said.clone(),
        other => other.to_string(),
    };
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Corrupt,
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::OutOfMemory,
        ) => ErrorKind::Access,
        Some(ErrorCode::TooBig) => ErrorKind::Invalid,
        // Foreign codes: a correct program does not meet any of the others.
        _ => ErrorKind::Internal,
    };
    Error::new(kind, said).caused_by(error)
}

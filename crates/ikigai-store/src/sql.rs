//! What both engines share: values, rows, a session in a transaction, and operations that run in one.
//!
//! Every operation is written once, in SQL that both databases understand, and runs in one transaction. A [`Session`] is
//! that transaction, and handles what the databases do differently (search, locks).

use std::borrow::Cow;
use std::future::Future;

use crate::error::{Error, Result};
use crate::text::Query;
use crate::{Order, Place};

/// A value in a database, of the types that we use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text.into())
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(text.as_str().into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(bytes.into())
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::sql::Value::from($value)),*] };
}
pub(crate) use params;

/// A row of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row(pub(crate) Vec<Value<'static>>);

impl Row {
    pub(crate) fn int(&mut self, column: usize) -> Result<i64> {
        self.opt_int(column)?.ok_or_else(|| missing(column))
    }

    pub(crate) fn opt_int(&mut self, column: usize) -> Result<Option<i64>> {
        match self.take(column)? {
            Value::Null => Ok(None),
            Value::Int(number) => Ok(Some(number)),
            other @ (Value::Text(_) | Value::Bytes(_)) => Err(strange(column, "a number", &other)),
        }
    }

    pub(crate) fn text(&mut self, column: usize) -> Result<String> {
        self.opt_text(column)?.ok_or_else(|| missing(column))
    }

    pub(crate) fn opt_text(&mut self, column: usize) -> Result<Option<String>> {
        match self.take(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text.into_owned())),
            other @ (Value::Int(_) | Value::Bytes(_)) => Err(strange(column, "a text", &other)),
        }
    }

    pub(crate) fn bytes(&mut self, column: usize) -> Result<Vec<u8>> {
        match self.take(column)? {
            Value::Bytes(bytes) => Ok(bytes.into_owned()),
            other @ (Value::Null | Value::Int(_) | Value::Text(_)) => Err(strange(column, "bytes", &other)),
        }
    }

    /// Each value can be read once, so that large ones are not copied.
    fn take(&mut self, column: usize) -> Result<Value<'static>> {
        let value = self.0.get_mut(column).ok_or_else(|| Error::internal(format!("there is no column {column}")))?;
        Ok(std::mem::replace(value, Value::Null))
    }
}

fn missing(column: usize) -> Error {
    Error::corrupt(format!("a row has nothing in column {column}, where something must be"))
}

fn strange(column: usize, wanted: &str, value: &Value<'_>) -> Error {
    let found = match value {
        Value::Null => "nothing",
        Value::Int(_) => "a number",
        Value::Text(_) => "a text",
        Value::Bytes(_) => "bytes",
    };
    Error::corrupt(format!("a row has {found} in column {column}, where {wanted} must be"))
}

/// What concurrent transactions would get wrong. SQLite has one writer at a time, and nothing to lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Which conversations share which messages.
    Family,
    /// Attachments are being added, and must not be collected meanwhile.
    AddAttachments,
    /// Attachments that are no longer needed are being collected.
    CollectAttachments,
}

/// A row that a search found, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) place: Place,
    /// The key of the conversation for a title, otherwise of the message.
    pub(crate) n: i64,
}

/// A transaction of one of the engines.
///
/// Statements are written for PostgreSQL (`$1`); SQLite's session translates them.
pub(crate) trait Session: Send {
    /// Appended to a `SELECT` to keep others from changing the rows until the end of the transaction.
    const FOR_UPDATE: &'static str;

    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> impl Future<Output = Result<u64>> + Send;

    /// Runs a query and returns all of its rows.
    fn query(&mut self, sql: &str, params: &[Value<'_>]) -> impl Future<Output = Result<Vec<Row>>> + Send;

    /// Takes a lock, which lasts until the end of the transaction.
    fn lock(&mut self, lock: Lock) -> impl Future<Output = Result<()>> + Send;

    /// Makes a message's words searchable, replacing earlier ones.
    fn index_message(&mut self, n: i64, place: Place, words: &[String]) -> impl Future<Output = Result<()>> + Send;

    /// Makes a title's words searchable, replacing earlier ones.
    fn index_title(&mut self, n: i64, words: &[String]) -> impl Future<Output = Result<()>> + Send;

    /// Returns what a search finds, best or newest first.
    fn search(
        &mut self,
        query: &Query,
        order: Order,
        limit: i64,
        offset: i64,
    ) -> impl Future<Output = Result<Vec<Found>>> + Send;

    /// Returns the size of the database in bytes.
    fn size(&mut self) -> impl Future<Output = Result<i64>> + Send;

    /// Returns the first row of a query, if any.
    fn first(&mut self, sql: &str, params: &[Value<'_>]) -> impl Future<Output = Result<Option<Row>>> + Send {
        async move { Ok(self.query(sql, params).await?.into_iter().next()) }
    }
}

/// Something that runs in one transaction. It may run again from the start if the database asks for that.
pub(crate) trait Operation: Send + Sync + 'static {
    type Output: Send + 'static;

    /// Whether what it deletes must be gone from the files as well.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "a server looks after its files itself"))]
    const DELETES: bool = false;

    /// Whether it writes a part of something that is written again as a whole: the part must survive the end of the
    /// program, but need not wait for the disk.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "a server looks after its disk itself"))]
    const GROWS: bool = false;

    fn run<S: Session>(&self, session: &mut S) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// An engine, which runs operations.
pub(crate) trait Engine: std::fmt::Debug + Send + Sync + 'static {
    /// The file, or the address without the password.
    fn place(&self) -> &str;

    /// Runs an operation that only reads, on one snapshot of the database.
    fn read<O: Operation>(&self, operation: O) -> impl Future<Output = Result<O::Output>> + Send;

    /// Runs an operation that writes: all of it happens, or nothing.
    fn write<O: Operation>(&self, operation: O) -> impl Future<Output = Result<O::Output>> + Send;

    /// Does work that would hold up others on this thread.
    fn offload<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send;

    /// The engine's own check of the whole database.
    fn inspect(&self) -> impl Future<Output = Result<Inspection>> + Send;

    /// Ends everything that is running.
    fn shut(&self) -> impl Future<Output = Result<()>> + Send;
}

/// What an engine says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inspection {
    pub(crate) engine: String,
    pub(crate) schema: i64,
    pub(crate) problems: Vec<String>,
}

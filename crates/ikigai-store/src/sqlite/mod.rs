//! SQLite: one file, no server.
//!
//! One thread writes, a few read; they get their work over bounded channels. Several programs may use the file at once:
//! readers never wait, and writers wait for each other.

mod file;
mod migrate;
mod session;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::migrations::LATEST;
use crate::sql::{Engine, Inspection, Operation};

use worker::{Pool, Worker};

/// The number of threads that read.
const READERS: usize = 3;

/// Conversations in a SQLite database: one file, or memory.
///
/// The file is in WAL mode: while it is in use, `ikigai.db-wal` and `ikigai.db-shm` are next to `ikigai.db`. They
/// belong to it; do not move or delete them alone. The file must be on a local disk, not a network file system.
///
/// Nothing here needs a particular async runtime.
#[derive(Debug)]
pub struct Sqlite {
    place: Arc<str>,
    writer: Pool,
    /// `None` for a database in memory, which exists for one connection only.
    readers: Option<Pool>,
}

impl Sqlite {
    /// Opens a database, creates it if it does not exist, and brings an old one up to date. Only their owner can read a
    /// new file and its folder.
    ///
    /// # Errors
    /// Returns an error if the file was made by a newer program, is damaged, is something else, or cannot be used. It
    /// is then left unchanged.
    pub async fn open(path: impl AsRef<Path>) -> Result<Sqlite> {
        Sqlite::start(Some(path.as_ref().to_owned())).await
    }

    /// Opens a database in memory, which lasts as long as the store: for conversations that should not be kept.
    ///
    /// # Errors
    /// Returns an error if there is no memory left.
    pub async fn memory() -> Result<Sqlite> {
        Sqlite::start(None).await
    }

    async fn start(path: Option<PathBuf>) -> Result<Sqlite> {
        let place: Arc<str> = path.as_deref().map_or("memory".into(), |path| path.display().to_string().into());
        let at = |error: Error| error.at(&place);
        let writer = Pool::start("ikigai-store-writer", 1, Worker::writer(path.clone())).map_err(at)?;
        let readers = match path {
            None => None,
            Some(path) => Some(Pool::start("ikigai-store-reader", READERS, Worker::reader(path)).map_err(at)?),
        };
        // The first request makes the connection, with all the checks.
        writer.run(|worker| worker.connection().map(drop)).await.map_err(at)?;
        Ok(Sqlite { place, writer, readers })
    }

    /// Writes a copy of the whole database to a new file, while it is in use.
    ///
    /// # Errors
    /// Returns an error if the file exists, or cannot be written.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<()> {
        let to = to.as_ref().to_owned();
        let at = |error: Error| error.at(&self.place);
        self.reading().run(move |worker| file::backup(worker.connection()?, &to)).await.map_err(at)
    }

    fn reading(&self) -> &Pool {
        self.readers.as_ref().unwrap_or(&self.writer)
    }
}

impl Engine for Sqlite {
    fn place(&self) -> &str {
        &self.place
    }

    async fn read<O: Operation>(&self, operation: O) -> Result<O::Output> {
        let run = move |worker: &mut Worker| session::transaction(worker.connection()?, "BEGIN", &operation);
        self.reading().run(run).await.map_err(|error| error.at(&self.place))
    }

    async fn write<O: Operation>(&self, operation: O) -> Result<O::Output> {
        let run = move |worker: &mut Worker| {
            let connection = worker.connection()?;
            let written = match O::GROWS {
                true => file::without_waiting(connection, |connection| {
                    session::transaction(connection, "BEGIN IMMEDIATE", &Checked(operation))
                })?,
                false => session::transaction(connection, "BEGIN IMMEDIATE", &Checked(operation))?,
            };
            if O::DELETES {
                worker.scrub_later();
            }
            worker.scrub();
            Ok(written)
        };
        self.writer.run(run).await.map_err(|error| error.at(&self.place))
    }

    async fn offload<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        self.reading().run(move |_| work()).await.map_err(|error| error.at(&self.place))
    }

    async fn inspect(&self) -> Result<Inspection> {
        self.reading().run(Worker::inspect).await.map_err(|error| error.at(&self.place))
    }

    async fn shut(&self) -> Result<()> {
        if let Some(readers) = &self.readers {
            readers.stop().await;
        }
        // Last, so that the last connection to close is the one that tidies up.
        self.writer.stop().await;
        Ok(())
    }
}

/// An operation that first makes sure that no newer program has changed the database since it was opened.
#[derive(Debug)]
struct Checked<O>(O);

impl<O: Operation> Operation for Checked<O> {
    type Output = O::Output;

    async fn run<S: crate::sql::Session>(&self, session: &mut S) -> Result<O::Output> {
        let row = session.first("PRAGMA user_version", &[]).await?;
        match row.map(|mut row| row.int(0)).transpose()? {
            Some(found) if found > LATEST => Err(Error::newer(found, LATEST)),
            Some(_) | None => self.0.run(session).await,
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

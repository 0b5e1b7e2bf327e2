//! PostgreSQL: a server, by URL.
//!
//! All tables are in the schema `ikigai` of the database that the URL names. Connections are kept open and shared.

mod connect;
mod fault;
mod migrate;
mod session;

use std::time::Duration;

use deadpool_postgres::Pool;
use tokio_postgres::IsolationLevel;

use crate::error::Result;
use crate::sql::{Engine, Inspection, Operation};

use session::Transaction;

/// How often an operation is tried if the server asks for a retry, or a connection has died.
const TRIES: u32 = 6;

/// Conversations in a PostgreSQL database.
///
/// ```no_run
/// # async fn example() -> ikigai_store::Result<()> {
/// use ikigai_store::{Details, Postgres, Store};
///
/// let store = Postgres::open("postgres://ikigai:secret@db.example.com/ikigai?sslmode=require").await?;
/// let chat = store.create(Details::default().title("Taxes")).await?;
/// # Ok(()) }
/// ```
///
/// Requires a running tokio runtime.
#[derive(Debug)]
pub struct Postgres {
    place: String,
    pool: Pool,
}

impl Postgres {
    /// Connects to a database, and creates or updates the tables if needed. Several programs may do so at once.
    ///
    /// The URL is `postgres://user:password@host:port/database`. With `?sslmode=require`, the connection is encrypted
    /// and the server's certificate must be valid for its name, by the system's certificates or those in
    /// `SSL_CERT_FILE`. This is also the default for a server elsewhere; the connection to one on this machine is
    /// unencrypted by default. With `?sslmode=disable`, no connection is encrypted.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or refuses the connection, or a newer program made the tables.
    pub async fn open(url: &str) -> Result<Postgres> {
        let (place, pool) = connect::pool(url)?;
        let store = Postgres { place, pool };
        let migrated = async {
            let mut client = store.pool.get().await.map_err(fault::pool)?;
            migrate::migrate(&mut client, &crate::migrations::POSTGRES).await
        };
        migrated.await.map_err(|error| error.at(&store.place))?;
        Ok(store)
    }

    async fn attempt<O: Operation>(&self, operation: &O, mode: Mode) -> Result<O::Output> {
        let mut client = self.pool.get().await.map_err(fault::pool)?;
        let begin = client.build_transaction();
        let begin = match mode {
            // One snapshot of the database for all queries.
            Mode::Read => begin.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
            Mode::Write => begin.isolation_level(IsolationLevel::ReadCommitted),
        };
        let mut transaction = Transaction { inner: begin.start().await.map_err(fault::statement)? };
        let output = operation.run(&mut transaction).await?;
        transaction.inner.commit().await.map_err(fault::commit)?;
        Ok(output)
    }

    async fn run<O: Operation>(&self, operation: O, mode: Mode) -> Result<O::Output> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.attempt(&operation, mode).await {
                Err(error) if error.is_worth_another_try() && tries < TRIES => {
                    // So that not everyone retries at the same moment.
                    let spread = u64::from(uuid::Uuid::new_v4().as_bytes()[0]);
                    tokio::time::sleep(Duration::from_millis(u64::from(tries) * (5 + spread / 8))).await;
                }
                outcome => return outcome.map_err(|error| error.at(&self.place)),
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Mode {
    Read,
    Write,
}

impl Engine for Postgres {
    fn place(&self) -> &str {
        &self.place
    }

    async fn read<O: Operation>(&self, operation: O) -> Result<O::Output> {
        self.run(operation, Mode::Read).await
    }

    async fn write<O: Operation>(&self, operation: O) -> Result<O::Output> {
        self.run(operation, Mode::Write).await
    }

    async fn offload<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(fault::task(error))).map_err(|error| error.at(&self.place))
    }

    async fn inspect(&self) -> Result<Inspection> {
        self.read(Inspect).await
    }

    async fn shut(&self) -> Result<()> {
        self.pool.close();
        Ok(())
    }
}

/// Reads what the server says about itself. It checks references on every write, and has no other check to ask for.
#[derive(Debug)]
struct Inspect;

impl Operation for Inspect {
    type Output = Inspection;

    async fn run<S: crate::sql::Session>(&self, session: &mut S) -> Result<Inspection> {
        let sql = "SELECT CAST(current_setting('server_version') AS text), \
             (SELECT CAST(max(version) AS bigint) FROM migrations)";
        let row = session.first(sql, &[]).await?;
        let mut row = row.ok_or_else(|| crate::Error::internal("the server did not say its version"))?;
        Ok(Inspection { engine: format!("PostgreSQL {}", row.text(0)?), schema: row.int(1)?, problems: Vec::new() })
    }
}

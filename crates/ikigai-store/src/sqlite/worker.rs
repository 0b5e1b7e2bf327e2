//! Threads that own connections and do the jobs they are given.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::file;
use crate::error::{Error, ErrorKind, Result};
use crate::sql::Inspection;

/// How many jobs may wait; the sender of another one waits as well.
const WAITING: usize = 64;
/// Messages are trees; reading deep ones takes stack.
const STACK: usize = 8 * 1024 * 1024;

/// What a thread's connection is for, and its file.
#[derive(Debug, Clone)]
enum Kind {
    Writer(Option<PathBuf>),
    Reader(PathBuf),
}

/// What a thread owns: a connection, once one is needed.
#[derive(Debug)]
pub(super) struct Worker {
    kind: Kind,
    connection: Option<Connection>,
    scrub: bool,
}

impl Worker {
    /// Opens, checks and migrates the file, or makes a database in memory.
    pub(super) fn writer(path: Option<PathBuf>) -> impl Fn() -> Worker + Send + Sync + 'static {
        move || Worker { kind: Kind::Writer(path.clone()), connection: None, scrub: false }
    }

    pub(super) fn reader(path: PathBuf) -> impl Fn() -> Worker + Send + Sync + 'static {
        move || Worker { kind: Kind::Reader(path.clone()), connection: None, scrub: false }
    }

    pub(super) fn connection(&mut self) -> Result<&mut Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => match &self.kind {
                Kind::Writer(Some(path)) => file::open(path)?,
                Kind::Writer(None) => file::memory()?,
                Kind::Reader(path) => file::reader(path)?,
            },
        };
        Ok(self.connection.insert(connection))
    }

    /// SQLite's own check. On an unused connection: one that searched before another one wrote finds faults in the
    /// search index that are not there.
    pub(super) fn inspect(&mut self) -> Result<Inspection> {
        match &self.kind {
            Kind::Reader(path) => file::inspect(&file::reader(path)?),
            Kind::Writer(_) => file::inspect(self.connection()?),
        }
    }

    /// Notes that something was deleted, and must go from the files as well.
    pub(super) fn scrub_later(&mut self) {
        self.scrub = true;
    }

    /// Removes what was deleted from the files. If another program is reading, this waits for the next write.
    pub(super) fn scrub(&mut self) {
        // A program that reads for long must not hold up an answer that is stored as it grows.
        self.scrub_within(Duration::from_millis(100));
    }

    fn scrub_within(&mut self, patience: Duration) {
        if self.scrub
            && let Some(connection) = &self.connection
        {
            self.scrub = !file::scrub(connection, patience);
        }
    }
}

type Job = Box<dyn FnOnce(&mut Worker) + Send>;

enum Order {
    Do(Job),
    Stop,
}

/// Some threads and their work.
pub(super) struct Pool {
    jobs: mpsc::Sender<Order>,
    threads: usize,
    /// Ends when all threads have ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn start(
        name: &str,
        threads: usize,
        worker: impl Fn() -> Worker + Send + Sync + 'static,
    ) -> Result<Pool> {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        let worker = Arc::new(worker);
        let (alive, ended) = mpsc::channel(1);
        for _ in 0..threads {
            let (waiting, worker, alive) = (Arc::clone(&waiting), Arc::clone(&worker), alive.clone());
            std::thread::Builder::new()
                .name(name.to_owned())
                .stack_size(STACK)
                .spawn(move || {
                    let mut worker = worker();
                    while let Some(Order::Do(job)) = next(&waiting) {
                        job(&mut worker);
                    }
                    // The last chance, so it may take a while.
                    worker.scrub_within(Duration::from_secs(2));
                    // The connection is closed before the end is reported.
                    drop(worker);
                    drop(waiting);
                    drop(alive);
                })
                .map_err(|error| Error::new(ErrorKind::Access, format!("no thread can be started: {error}")))?;
        }
        Ok(Pool { jobs, threads, ended: tokio::sync::Mutex::new(ended) })
    }

    /// Has a thread do something, and waits for the result.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (give, take) = oneshot::channel();
        let job: Job = Box::new(move |worker| {
            // The caller may be gone; the work is done anyway.
            let _ = give.send(work(worker));
        });
        self.jobs.send(Order::Do(job)).await.map_err(|_| Error::closed())?;
        take.await.map_err(|_| Error::closed())?
    }

    /// Lets the waiting jobs be done, ends the threads, and waits for them.
    pub(super) async fn stop(&self) {
        for _ in 0..self.threads {
            if self.jobs.send(Order::Stop).await.is_err() {
                break;
            }
        }
        let mut ended = self.ended.lock().await;
        while ended.recv().await.is_some() {}
    }
}

/// The next order, for one of the waiting threads.
fn next(waiting: &Mutex<mpsc::Receiver<Order>>) -> Option<Order> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

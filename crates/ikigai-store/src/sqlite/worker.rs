//! Threads that own connections and do what they are handed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::file;
use crate::error::{Error, ErrorKind, Result};
use crate::sql::Inspection;

/// So many jobs may wait; who brings another one waits as well.
const WAITING: usize = 64;
/// Messages are trees; reading deep ones takes room.
const STACK: usize = 8 * 1024 * 1024;

/// What a thread has: a connection, once someone asked for it.
#[derive(Debug, Clone)]
enum Kind {
    Writer(Option<PathBuf>),
    Reader(PathBuf),
}

/// A thread's own things.
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

    /// SQLite's own check. On a connection that nobody has used: one that has searched before another one wrote finds
    /// faults in the search index that are not there.
    pub(super) fn inspect(&mut self) -> Result<Inspection> {
        match &self.kind {
            Kind::Reader(path) => file::inspect(&file::reader(path)?),
            Kind::Writer(_) => file::inspect(self.connection()?),
        }
    }

    /// Something was deleted, and must go from the files as well.
    pub(super) fn scrub_later(&mut self) {
        self.scrub = true;
    }

    /// Removes what was deleted from the files. When another program is reading, this waits for the next write.
    pub(super) fn scrub(&mut self) {
        // A program that reads for long must not hold up an answer that is to be kept every second.
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
    /// Tells by its end that all threads have ended.
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
                    // The last chance, so that it may take a while.
                    worker.scrub_within(Duration::from_secs(2));
                    // The connection is closed before anyone is told.
                    drop(worker);
                    drop(waiting);
                    drop(alive);
                })
                .map_err(|error| Error::new(ErrorKind::Access, format!("no thread can be started: {error}")))?;
        }
        Ok(Pool { jobs, threads, ended: tokio::sync::Mutex::new(ended) })
    }

    /// Has a thread do something, and waits for what it gives.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (give, take) = oneshot::channel();
        let job: Job = Box::new(move |worker| {
            // Whoever asked may have gone; what was asked for is done all the same.
            let _ = give.send(work(worker));
        });
        self.jobs.send(Order::Do(job)).await.map_err(|_| Error::closed())?;
        take.await.map_err(|_| Error::closed())?
    }

    /// Lets what waits be done, ends the threads, and waits for that.
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

/// The next order, for one of the threads that wait.
fn next(waiting: &Mutex<mpsc::Receiver<Order>>) -> Option<Order> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

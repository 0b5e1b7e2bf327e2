//! Threads that serve connections, each with its own runtime.
//!
//! A request is handled on its connection's thread, and so is the connection to the provider: nothing moves between
//! threads meanwhile. This costs a third less than a runtime whose threads share their tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tracing::dispatcher;

/// More would not help: a gateway mostly waits for others.
const MOST: usize = 32;

/// The threads. They end when this is dropped, and so do all connections.
pub(crate) struct Workers<T> {
    workers: Vec<Worker<T>>,
}

struct Worker<T> {
    connections: mpsc::UnboundedSender<Connection<T>>,
    open: Arc<AtomicUsize>,
}

struct Connection<T> {
    stream: std::net::TcpStream,
    with: T,
    counted: Counted,
}

/// One open connection, counted until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(open))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T: Send + 'static> Workers<T> {
    /// Starts one thread per processor. Each passes its connections to `serve`.
    pub(crate) fn start<S, F>(serve: S) -> std::io::Result<Self>
    where
        S: Fn(TcpStream, T) -> F + Clone + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let wanted = thread::available_parallelism().map_or(1, usize::from).min(MOST);
        let workers = (0..wanted).map(|_| Worker::start(serve.clone())).collect::<Result<_, _>>()?;
        Ok(Workers { workers })
    }

    /// Gives a connection to the worker with the fewest. One that cannot be passed on is closed.
    pub(crate) fn serve(&self, stream: TcpStream, with: T) {
        let open = |worker: &&Worker<T>| worker.open.load(Ordering::Relaxed);
        let (Some(worker), Ok(stream)) = (self.workers.iter().min_by_key(open), stream.into_std()) else { return };
        let _ = worker.connections.send(Connection { stream, with, counted: Counted::new(&worker.open) });
    }
}

impl<T: Send + 'static> Worker<T> {
    fn start<S, F>(serve: S) -> std::io::Result<Self>
    where
        S: Fn(TcpStream, T) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (connections, mut given) = mpsc::unbounded_channel::<Connection<T>>();
        let log = dispatcher::get_default(Clone::clone);
        thread::Builder::new().name("gateway".to_owned()).spawn(move || {
            let _log = dispatcher::set_default(&log);
            runtime.block_on(async move {
                while let Some(Connection { stream, with, counted }) = given.recv().await {
                    let Ok(stream) = TcpStream::from_std(stream) else { continue };
                    let serving = Box::pin(serve(stream, with));
                    tokio::spawn(async move {
                        serving.await;
                        drop(counted);
                    });
                }
            });
            // A body that is being translated would hold up the thread.
            runtime.shutdown_background();
        })?;
        Ok(Worker { connections, open: Arc::default() })
    }
}

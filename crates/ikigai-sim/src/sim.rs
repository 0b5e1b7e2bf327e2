//! The running simulator.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use ikigai_listen::{Drain, Patient, Waits};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::fault::FaultRule;
use crate::log::{Entry, Received};
use crate::memory::Memory;
use crate::net::Connection;
use crate::record::Recorder;
use crate::replay::Recordings;
use crate::script::Script;
use crate::service;

/// The settings of a simulator.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The address to listen on; port 0 picks a free one.
    pub address: SocketAddr,
    /// The seed of everything that looks random.
    pub seed: u64,
    /// The keys that are accepted. Empty: any key that is not empty.
    pub keys: Vec<String>,
    /// The token for the controls under `/_sim/`, besides the keys. Absent: a random one if there are no keys.
    pub token: Option<String>,
    /// The most bytes of received requests to keep for [`Sim::requests`]; the oldest go first. 0 keeps none.
    pub log_bytes: usize,
    /// The most connections that may be open. Others wait until one closes.
    pub connections: usize,
    /// How long clients may take.
    pub timeouts: Timeouts,
    /// Where answers come from.
    pub source: Source,
    /// Prepared replies.
    pub script: Script,
    /// What goes wrong, and when.
    pub faults: Vec<FaultRule>,
    /// Whether to answer every request of a kind with the same bytes, made once: for load tests.
    pub canned: bool,
}

impl Config {
    /// Returns the settings for a program's own simulator: it accepts one random key, which [`Sim::token`] returns, and
    /// keeps no log, so that other programs on the machine can neither use it nor read what was said.
    pub fn private() -> Self {
        Config { keys: vec![random()], log_bytes: 0, ..Config::default() }
    }
}

fn random() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl Default for Config {
    fn default() -> Self {
        Config {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            seed: 0,
            keys: Vec::new(),
            token: None,
            log_bytes: 64 << 20,
            connections: 10_000,
            timeouts: Timeouts::default(),
            source: Source::Talker,
            script: Script::default(),
            faults: Vec::new(),
            canned: false,
        }
    }
}

/// Where the answers of a simulator come from.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Source {
    /// Its own rules and its script.
    #[default]
    Talker,
    /// A provider; the exchanges are recorded.
    Record(Recorder),
    /// Recorded exchanges.
    Replay(Recordings),
}

/// How long clients may take before their connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// For the whole head of a request, and between two requests on one connection.
    pub head: Duration,
    /// Between two pieces of the body.
    pub body: Duration,
    /// Without reading any of the answer.
    pub write: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Timeouts { head: seconds(30), body: seconds(30), write: seconds(60) }
    }
}

/// The reason why a simulator could not start.
#[derive(Debug, thiserror::Error)]
#[error("the simulator cannot listen on {address}: {source}")]
pub struct StartError {
    address: SocketAddr,
    source: std::io::Error,
}

/// A running simulator. It stops when dropped.
#[derive(Debug)]
pub struct Sim {
    address: SocketAddr,
    memory: Arc<Memory>,
    stop: Option<oneshot::Sender<()>>,
    stopped: Option<oneshot::Receiver<()>>,
}

impl Sim {
    /// Starts a simulator with the default settings, on a free port of this machine.
    ///
    /// # Errors
    /// Returns an error if it cannot listen.
    pub async fn start() -> Result<Self, StartError> {
        Sim::with(Config::default()).await
    }

    /// Starts a simulator.
    ///
    /// # Errors
    /// Returns an error if it cannot listen.
    pub async fn with(mut config: Config) -> Result<Self, StartError> {
        if config.token.is_none() && config.keys.is_empty() {
            config.token = Some(random());
        }
        let wanted = config.address;
        let failed = |source| StartError { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (refuse, refusals) = mpsc::unbounded_channel();
        let memory = Arc::new(Memory::new(config, refuse));
        let (stop, stopping) = oneshot::channel();
        let (done, stopped) = oneshot::channel();
        let serving = Arc::clone(&memory);
        tokio::spawn(async move {
            serve(listener, serving, refusals, stopping).await;
            let _ = done.send(());
        });
        Ok(Sim { address, memory, stop: Some(stop), stopped: Some(stopped) })
    }

    /// Returns its URL, such as `http://127.0.0.1:40123`: the base for every dialect's own path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the base URL for a dialect's clients.
    pub fn base_url(&self, dialect: ikigai_core::Dialect) -> String {
        match dialect {
            ikigai_core::Dialect::OpenaiChat | ikigai_core::Dialect::OpenaiResponses => format!("{}/v1", self.url()),
            ikigai_core::Dialect::Gemini => format!("{}/v1beta", self.url()),
            _ => self.url(),
        }
    }

    /// Returns what opens the controls under `/_sim/`, as `Authorization: Bearer …`: the token, or a key.
    pub fn token(&self) -> &str {
        self.memory.config.token.as_ref().or(self.memory.config.keys.first()).map_or("", String::as_str)
    }

    /// Returns the requests received so far, oldest first.
    pub fn requests(&self) -> Vec<Received> {
        self.memory.received().iter().map(Entry::received).collect()
    }

    /// Adds prepared replies.
    pub fn expect(&self, script: Script) {
        self.memory.expect(script);
    }

    /// Adds a fault.
    pub fn fault(&self, rule: FaultRule) {
        self.memory.add_fault(rule);
    }

    /// Forgets what was received, queued and stored, and the faults added since the start.
    pub fn reset(&self) {
        self.memory.reset();
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.memory.connections()
    }

    /// Stops accepting connections, gives requests in progress a second to finish, and then stops.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(stopped) = self.stopped.take() {
            let _ = stopped.await;
        }
    }
}

async fn serve(
    listener: TcpListener,
    memory: Arc<Memory>,
    mut refusals: mpsc::UnboundedReceiver<Duration>,
    mut stopping: oneshot::Receiver<()>,
) {
    let Ok(address) = listener.local_addr() else { return };
    let mut listener = Some(listener);
    let drain = Drain::new();
    let permits = Arc::new(Semaphore::new(memory.config.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let timeouts = memory.config.timeouts;
    let waits = Waits { head: timeouts.head, write: timeouts.write };
    loop {
        let Some(open) = &listener else {
            // Retried, in case something else has taken the port that was given up for a while.
            listener = TcpListener::bind(address).await.ok();
            if listener.is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            continue;
        };
        tokio::select! {
            (stream, permit) = ikigai_listen::accept(open, &permits) => {
                let connection = Connection::new(stream);
                let (breaker, memory) = (connection.breaker(), Arc::clone(&memory));
                let opened = memory.open_connection();
                let service = service_fn(move |request| {
                    Box::pin(service::handle(Arc::clone(&memory), breaker.clone(), request))
                });
                let (connection, watcher) = (Patient::new(connection, timeouts.write), drain.watcher());
                tokio::spawn(async move {
                    ikigai_listen::serve(connection, waits, watcher, service).await;
                    drop((opened, permit));
                });
            }
            Some(pause) = refusals.recv() => {
                listener = None;
                tokio::time::sleep(pause).await;
            }
            _ = &mut stopping => break,
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(Duration::from_secs(1), drain.finish()).await;
}

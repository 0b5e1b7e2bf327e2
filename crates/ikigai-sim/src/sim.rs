//! The running simulator.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use crate::fault::FaultRule;
use crate::memory::{Memory, Received};
use crate::net::Connection;
use crate::script::Script;
use crate::service;

/// How a simulator is set up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens; port 0 is any free one.
    pub address: SocketAddr,
    /// Everything that looks like chance follows from it.
    pub seed: u64,
    /// The keys that are accepted. Empty: any key that is not empty.
    pub keys: Vec<String>,
    /// Replies to come.
    pub script: Script,
    /// What goes wrong, and when.
    pub faults: Vec<FaultRule>,
    /// Answer every request of a kind with the same bytes, made once: for load tests.
    pub canned: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            seed: 0,
            keys: Vec::new(),
            script: Script::default(),
            faults: Vec::new(),
            canned: false,
        }
    }
}

/// Why a simulator could not start.
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
    /// Starts one with the default set-up, on a free port of this machine.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn start() -> Result<Self, StartError> {
        Sim::with(Config::default()).await
    }

    /// Starts one.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn with(config: Config) -> Result<Self, StartError> {
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

    /// Its address, such as `http://127.0.0.1:40123`: the base for every dialect's own path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL that a client of a dialect wants.
    pub fn base_url(&self, dialect: ikigai_core::Dialect) -> String {
        match dialect {
            ikigai_core::Dialect::Anthropic | ikigai_core::Dialect::BedrockConverse => self.url(),
            ikigai_core::Dialect::OpenaiChat | ikigai_core::Dialect::OpenaiResponses => format!("{}/v1", self.url()),
            ikigai_core::Dialect::Gemini => format!("{}/v1beta", self.url()),
        }
    }

    /// What it has received so far, oldest first.
    pub fn requests(&self) -> Vec<Received> {
        self.memory.received()
    }

    /// Adds replies to come.
    pub fn expect(&self, script: Script) {
        self.memory.expect(script);
    }

    /// Adds a fault.
    pub fn fault(&self, rule: FaultRule) {
        self.memory.add_fault(rule);
    }

    /// Forgets what was received, queued and stored; faults given since the start go too.
    pub fn reset(&self) {
        self.memory.reset();
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.memory.connections()
    }

    /// Stops: no new connections, requests under way get a second to end.
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
    let graceful = GracefulShutdown::new();
    loop {
        let Some(open) = &listener else {
            // A port that was given up for a while may be taken by nobody else on this machine in that time.
            listener = TcpListener::bind(address).await.ok();
            if listener.is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            continue;
        };
        tokio::select! {
            accepted = open.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let _ = stream.set_nodelay(true);
                let connection = Connection::new(stream);
                let (breaker, memory) = (connection.breaker(), Arc::clone(&memory));
                let opened = memory.open_connection();
                let service = service_fn(move |request| service::handle(Arc::clone(&memory), breaker.clone(), request));
                let builder = auto::Builder::new(TokioExecutor::new());
                let serving = builder.serve_connection(TokioIo::new(connection), service).into_owned();
                let serving = graceful.watch(serving);
                tokio::spawn(async move {
                    let _ = serving.await;
                    drop(opened);
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
    let _ = tokio::time::timeout(Duration::from_secs(1), graceful.shutdown()).await;
}

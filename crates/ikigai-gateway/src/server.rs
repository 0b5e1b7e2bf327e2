//! The running gateway.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::service::service_fn;
use ikigai_listen::{Drain, Patient, Room, Waits, Watcher};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_rustls::TlsAcceptor;

use crate::config::{Config, ServerTimeouts, TlsFiles};
use crate::memory::Memory;
use crate::service;
use crate::state::{Setup, State};
use crate::turns::Turns;
use crate::workers::Workers;

/// How long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The reason why a gateway does not start, or does not accept a new configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("{file}: {message}")]
    Certificate {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// The threads that serve connections cannot be started.
    #[error("cannot start the threads that serve connections: {0}")]
    Threads(std::io::Error),
    /// The client cannot be set up.
    #[error(transparent)]
    Client(#[from] ikigai::Error),
    /// A running gateway cannot change this setting.
    #[error("`{0}` cannot be changed while the gateway runs; restart it")]
    Restart(&'static str),
}

/// A running gateway. It stops when dropped.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    is_tls: bool,
    shared: Arc<Shared>,
    setup: Setup,
    stop: Option<oneshot::Sender<()>>,
    stopped: Option<oneshot::Receiver<()>>,
}

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: ArcSwap<State>,
    pub(crate) room: Room,
    pub(crate) memory: Memory,
    pub(crate) turns: Turns,
    draining: AtomicBool,
}

impl Shared {
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}

impl Gateway {
    /// Starts a gateway.
    ///
    /// # Errors
    /// Returns an error if it cannot listen, or the certificate, the threads or the client cannot be set up.
    pub async fn start(config: Config, setup: Setup) -> Result<Self, StartError> {
        let (limits, timeouts) = (config.limits, config.timeouts);
        let acceptor = config.tls.as_ref().map(acceptor).transpose()?;
        let failed = |source| StartError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            room: Room::new(limits.bodies),
            memory: Memory::new(timeouts.state),
            turns: Turns::new(),
            state: ArcSwap::from_pointee(State::new(config, &setup)?),
            draining: AtomicBool::new(false),
        });
        let (stop, stopping) = oneshot::channel();
        let (done, stopped) = oneshot::channel();
        let is_tls = acceptor.is_some();
        let serving = Serving { shared: Arc::clone(&shared), acceptor, timeouts };
        let workers =
            Workers::start(move |stream, given| serving.clone().serve(stream, given)).map_err(StartError::Threads)?;
        let listening =
            Listening { shared: Arc::clone(&shared), workers, drain: timeouts.drain, most: limits.connections };
        tokio::spawn(async move {
            listening.serve(listener, stopping).await;
            let _ = done.send(());
        });
        Ok(Gateway { address, is_tls, shared, setup, stop: Some(stop), stopped: Some(stopped) })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its URL, such as `http://127.0.0.1:4000`.
    pub fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the ids of the providers that it can reach, sorted.
    pub fn reachable(&self) -> Vec<String> {
        let mut reachable: Vec<String> = self.shared.state.load().reachable.iter().cloned().collect();
        reachable.sort();
        reachable
    }

    /// Switches to a new configuration. Requests in progress keep the old one. An unusable one changes nothing.
    ///
    /// # Errors
    /// Returns an error if a setting differs that a running gateway cannot change, or the client cannot be set up.
    pub fn reload(&self, config: Config) -> Result<(), StartError> {
        if let Some(setting) = self.shared.state.load().config.needs_restart(&config) {
            return Err(StartError::Restart(setting));
        }
        let state = State::new(config, &self.setup)?;
        self.shared.state.store(Arc::new(state));
        Ok(())
    }

    /// Stops accepting connections, gives requests in progress the drain time to finish, and then stops.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(stopped) = self.stopped.take() {
            let _ = stopped.await;
        }
    }
}

/// The part that accepts connections.
struct Listening {
    shared: Arc<Shared>,
    workers: Workers<Given>,
    drain: Duration,
    most: usize,
}

/// What each connection gets: a permit to stay open, and a watcher that says when the gateway stops.
type Given = (OwnedSemaphorePermit, Watcher);

impl Listening {
    async fn serve(self, listener: TcpListener, mut stopping: oneshot::Receiver<()>) {
        let drain = Drain::new();
        let permits = Arc::new(Semaphore::new(self.most));
        loop {
            tokio::select! {
                (stream, permit) = ikigai_listen::accept(&listener, &permits) => {
                    self.workers.serve(stream, (permit, drain.watcher()));
                }
                _ = &mut stopping => break,
            }
        }
        drop(listener);
        self.shared.draining.store(true, Ordering::Relaxed);
        let _ = tokio::time::timeout(self.drain, drain.finish()).await;
    }
}

/// The part that serves connections.
#[derive(Clone)]
struct Serving {
    shared: Arc<Shared>,
    acceptor: Option<TlsAcceptor>,
    timeouts: ServerTimeouts,
}

impl Serving {
    async fn serve(self, stream: TcpStream, (permit, watcher): Given) {
        let Serving { shared, acceptor, timeouts } = self;
        // Boxed; otherwise a connection would keep memory for the request handler as long as it is open.
        let service = service_fn(move |request| Box::pin(service::handle(Arc::clone(&shared), request)));
        let stream = Patient::new(stream, timeouts.write);
        let waits = Waits { head: timeouts.head, write: timeouts.write };
        match acceptor {
            None => ikigai_listen::serve(stream, waits, watcher, service).await,
            // Boxed; otherwise every connection would take the memory that one with TLS needs.
            Some(acceptor) => {
                let serving = async move {
                    if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        ikigai_listen::serve(stream, waits, watcher, service).await;
                    }
                };
                Box::pin(serving).await;
            }
        }
        drop(permit);
    }
}

/// TLS with a certificate from files.
fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, StartError> {
    let broken =
        |file: &std::path::Path, message: String| StartError::Certificate { file: file.display().to_string(), message };
    let read = CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = read.map_err(|error| broken(&files.certificate, format!("cannot read a certificate: {error}")))?;
    if chain.is_empty() {
        return Err(broken(&files.certificate, "it contains no certificate".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| broken(&files.key, format!("cannot read a private key: {error}")))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| broken(&files.certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

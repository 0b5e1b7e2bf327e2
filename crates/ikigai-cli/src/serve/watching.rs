//! What the gateway watches while it runs: its configuration file, and the signals to reload it or stop.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ikigai_gateway::{Config, Gateway};
use tokio::sync::oneshot;

use super::Source;
use crate::exit::Failure;

/// How often the file is checked. Polling works everywhere, even if the file is replaced through a link.
const LOOK: Duration = Duration::from_secs(1);

/// Applies new configurations until the gateway is stopped. The running one was read from a file with this stamp.
pub(super) async fn until_stopped(gateway: &Gateway, source: &Arc<Source>, mut seen: Option<Stamp>) {
    let mut signals = Signals::new();
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let (mut asked, mut reading): (bool, Option<Reading>) = (false, None);
    loop {
        tokio::select! {
            signal = signals.next() => match signal {
                Signal::Stop => return,
                Signal::Reload => asked = true,
            },
            read = done(&mut reading) => {
                reading = None;
                apply(gateway, read);
            }
            _ = ticks.tick() => {}
        }
        let Some(file) = source.file() else { continue };
        let now = stamp(file);
        if asked || seen != now {
            (asked, seen) = (false, now);
            if reading.replace(read(source)).is_some() {
                tracing::warn!(
                    target: "ikigai::gateway",
                    "the last reading of the configuration has not ended; it is read anew"
                );
            }
        }
    }
}

/// The outcome of reading a configuration, once there is one.
type Reading = oneshot::Receiver<Result<Config, Failure>>;

/// Reads the configuration in a separate thread. That may take forever (a secret from a pipe, a disk that is gone), and
/// it must still be possible to stop the gateway, or to read a configuration without that.
fn read(source: &Arc<Source>) -> Reading {
    let (tell, told) = oneshot::channel();
    let source = Arc::clone(source);
    std::thread::spawn(move || {
        // Nobody is waiting any longer when the program stops.
        let _ = tell.send(source.read());
    });
    told
}

async fn done(reading: &mut Option<Reading>) -> Result<Config, Failure> {
    match reading {
        Some(reading) => reading.await.unwrap_or_else(|_| Err(Failure::new("it could not be read"))),
        None => std::future::pending().await,
    }
}

/// Applies a new configuration. An invalid one changes nothing.
fn apply(gateway: &Gateway, read: Result<Config, Failure>) {
    let outcome = match read {
        Ok(config) => {
            for warning in &config.warnings {
                tracing::warn!(target: "ikigai::gateway", "{warning}");
            }
            gateway.reload(config).map_err(|error| error.to_string())
        }
        Err(failure) => Err(failure.what),
    };
    match outcome {
        Ok(()) => tracing::info!(target: "ikigai::gateway", "configuration reloaded"),
        Err(error) => {
            tracing::error!(target: "ikigai::gateway", error, "the new configuration is invalid; keeping the old one")
        }
    }
}

/// What distinguishes one state of a file from another: when it was changed, and its length.
pub(super) type Stamp = (SystemTime, u64);

/// Returns the stamp of a file as it is now. Take it before reading the file, so that no change is missed.
pub(super) fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The action that a signal requests.
enum Signal {
    Stop,
    Reload,
}

#[cfg(unix)]
struct Signals {
    interrupt: Option<tokio::signal::unix::Signal>,
    terminate: Option<tokio::signal::unix::Signal>,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).ok();
        Signals {
            interrupt: listen(SignalKind::interrupt()),
            terminate: listen(SignalKind::terminate()),
            hang_up: listen(SignalKind::hangup()),
        }
    }

    async fn next(&mut self) -> Signal {
        async fn one(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => _ = signal.recv().await,
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = one(&mut self.interrupt) => Signal::Stop,
            () = one(&mut self.terminate) => Signal::Stop,
            () = one(&mut self.hang_up) => Signal::Reload,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        Signals
    }

    async fn next(&mut self) -> Signal {
        let _ = tokio::signal::ctrl_c().await;
        Signal::Stop
    }
}

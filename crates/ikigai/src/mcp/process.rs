//! Servers that run as programs.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};

use super::fault::Fault;
use super::server::Program;
use crate::error::beginning;
use crate::redact::Secrets;

/// How many of a program's last lines are kept, and how much of each.
const LINES: usize = 20;
const LINE: usize = 500;
/// How long a program may take to exit on its own once it is no longer needed.
const GRACE: Duration = Duration::from_secs(2);

/// Variables that programs need and that hold no keys.
const VARIABLES: [&str; 36] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERNAME",
    "USERPROFILE",
];

/// A running program.
pub(super) struct Running {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) log: Log,
    pub(super) life: Life,
}

/// Ends the program when dropped: after a moment to exit on its own, it is killed, along with all it started.
pub(super) struct Life {
    /// How it ended, once it has.
    pub(super) status: watch::Receiver<Option<String>>,
    _needed: oneshot::Sender<()>,
}

/// The last lines that a program wrote to its standard error.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<VecDeque<String>>>);

impl Log {
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(super) fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Starts a program.
pub(super) fn start(program: &Program, secrets: &Secrets) -> Result<Running, Fault> {
    if let Some(folder) = program.folder.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Fault::no_folder(folder));
    }
    let name = program.program.to_string_lossy();
    let mut child = command(program).spawn().map_err(|error| Fault::not_started(&name, &error))?;
    let (input, output, errors) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
        return Err(Fault::invalid("cannot be started: it has no standard input and output"));
    };
    let log = Log::default();
    tokio::spawn(keep(errors, log.clone(), secrets.clone()));
    let (ended, status) = watch::channel(None);
    let (needed, unneeded) = oneshot::channel();
    tokio::spawn(watch_over(child, unneeded, ended));
    Ok(Running { input, output, log, life: Life { status, _needed: needed } })
}

fn command(program: &Program) -> CommandWrap {
    let mut wrapped = CommandWrap::with_new(&program.program, |command| {
        command.args(&program.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !program.inherits {
            command.env_clear();
            command.envs(VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.envs(program.variables.iter().map(|(name, value)| (name, value.expose_secret())));
        if let Some(folder) = &program.folder {
            command.current_dir(folder);
        }
    });
    wrapped.wrap(KillOnDrop);
    // Its own process group: what the program starts ends with it, and Ctrl-C in the terminal does not reach it.
    #[cfg(unix)]
    wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    wrapped.wrap(process_wrap::tokio::JobObject);
    wrapped
}

/// A program and what it has started. All of it is killed when this is dropped, possibly because the runtime is shutting
/// down and nothing waits for the program any longer.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.start_kill();
    }
}

/// Waits until a program ends or is no longer needed.
async fn watch_over(
    child: Box<dyn ChildWrapper>,
    unneeded: oneshot::Receiver<()>,
    ended: watch::Sender<Option<String>>,
) {
    let mut child = Group(child);
    let status = tokio::select! {
        status = child.0.wait() => status,
        // The sender is only ever dropped.
        _ = unneeded => match tokio::time::timeout(GRACE, child.0.wait()).await {
            Ok(status) => status,
            Err(_) => {
                if let Err(error) = Box::into_pin(child.0.kill()).await {
                    tracing::warn!(target: "ikigai", %error, "an MCP server cannot be ended");
                }
                child.0.wait().await
            }
        },
    };
    drop(child);
    let told = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    // There may be no receiver left.
    let _ = ended.send(Some(told));
}

/// Reads a program's standard error to its end, and keeps the last lines.
async fn keep(mut errors: impl AsyncRead + Unpin, log: Log, secrets: Secrets) {
    let mut line = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let count = match errors.read(&mut bytes).await {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        for &byte in bytes.iter().take(count) {
            match byte {
                b'\n' => note(&mut line, &log, &secrets),
                // The rest of a long line is skipped.
                _ if line.len() < 4 * LINE => line.push(byte),
                _ => {}
            }
        }
    }
    note(&mut line, &log, &secrets);
}

fn note(line: &mut Vec<u8>, log: &Log, secrets: &Secrets) {
    let text = secrets.redact(String::from_utf8_lossy(line).trim_end()).into_owned();
    line.clear();
    if !text.is_empty() {
        tracing::debug!(target: "ikigai::mcp", "{}", beginning(&text, LINE));
        log.push(beginning(&text, LINE).to_owned());
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_and_long_ones_are_cut() {
        let mut text: String = (0..100).map(|count| format!("line {count}\r\n\n")).collect();
        text.push_str(&"x".repeat(10_000));
        text.push_str("\nthe end");
        let log = Log::default();
        keep(text.as_bytes(), log.clone(), Secrets::default()).await;
        let lines = log.lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[19].as_str()), (LINES, "line 82", "the end"));
        assert_eq!(lines[18], "x".repeat(LINE));
    }
}

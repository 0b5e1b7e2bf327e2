//! `shell`: runs commands, and everything that they start, within a time limit.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ikigai::schemars::{self, JsonSchema};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::LIMIT;
use super::capture::Capture;
use super::scope::Scope;

/// How long a command may take unless the model says otherwise.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The longest time that it can set.
const LONGEST: Duration = Duration::from_secs(600);
/// How long to wait for the rest of the output once the command itself has ended.
const GRACE: Duration = Duration::from_millis(200);

/// Runs a command in the working folder, by bash (cmd on Windows), and gives its output and exit code. It gets no input, and
/// is stopped after 120 seconds unless timeout_seconds says otherwise; nothing that it starts goes on after it. Only the
/// usual variables are in its environment, no keys.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ShellArguments {
    /// The command, as it would be typed.
    pub(super) command: String,
    /// How long it may take: at most 600.
    pub(super) timeout_seconds: Option<u64>,
}

pub(super) async fn run(scope: Arc<Scope>, arguments: ShellArguments) -> Result<ikigai::tools::Output, String> {
    let seconds = arguments.timeout_seconds.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.max(1)));
    let shell = Shell::new(scope.root()).timeout(seconds.min(LONGEST));
    let output =
        shell.run(&arguments.command).await.map_err(|error| format!("the shell cannot be started: {error}"))?;
    // A failed command is reported as such; its output is returned in both cases.
    Ok(match output.ended.is_ok() {
        true => ikigai::tools::Output::new(output.for_model()),
        false => ikigai::tools::Output::error(output.for_model()),
    })
}

/// How commands are run.
#[derive(Clone)]
pub(crate) struct Shell {
    folder: PathBuf,
    timeout: Duration,
    variables: Variables,
    watch: Option<Arc<Watch>>,
}

/// The function that receives the output as it arrives.
type Watch = dyn Fn(&str) + Send + Sync;

/// The variables that a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variables {
    /// Those that programs need and that contain no secrets.
    Usual,
    /// All of ours.
    All,
}

/// Variables that programs need and that contain no secrets. A command has to set anything else itself.
const USUAL: [&str; 58] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "HOSTNAME",
    "UID",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_DIRS",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOPROXY",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "M2_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "PNPM_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "PYTHONPATH",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "MANPATH",
    "CC",
    "CXX",
    "MAKEFLAGS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
];
/// Proxies, which may contain a password.
const PROXIES: [&str; 7] =
    ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/// There is nobody to turn pages, see colours or type passwords.
const SET: [(&str, &str); 5] =
    [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("GIT_TERMINAL_PROMPT", "0")];

/// Whether a model's command may see this variable.
fn is_usual(name: &str, value: &str) -> bool {
    let is_named =
        USUAL.contains(&name) || name.starts_with("LC_") || cfg!(windows) && USUAL.contains(&&*name.to_uppercase());
    is_named || PROXIES.contains(&name) && !value.contains('@')
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    /// What it wrote to both of its outputs, in order of arrival; of long output, only the beginning and the end.
    pub(crate) text: String,
    /// How it ended.
    pub(crate) ended: Ended,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long, and was stopped.
    TimedOut(Duration),
}

impl Ended {
    /// Whether it succeeded.
    pub(crate) fn is_ok(self) -> bool {
        self == Ended::Code(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Code(code) => write!(f, "exit code {code}"),
            Ended::Signal(signal) => write!(f, "stopped by signal {signal}"),
            Ended::TimedOut(limit) => {
                write!(f, "stopped after {} s, with everything that it had started", limit.as_secs_f64())
            }
        }
    }
}

impl Output {
    /// Returns the text that a model gets.
    pub(crate) fn for_model(&self) -> String {
        let text = self.text.trim_end();
        let between = if text.is_empty() { "" } else { "\n" };
        match self.ended {
            Ended::Code(0) if text.is_empty() => "[no output]".to_owned(),
            Ended::Code(0) => text.to_owned(),
            Ended::Code(_) | Ended::Signal(_) | Ended::TimedOut(_) => format!("{text}{between}[{}]", self.ended),
        }
    }
}

impl Shell {
    /// Creates a shell that runs commands in a folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Shell { folder: folder.to_owned(), timeout: TIMEOUT, variables: Variables::Usual, watch: None }
    }

    /// Sets how long a command may take.
    #[must_use]
    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Lets commands see all variables, for those that the user types.
    #[must_use]
    pub(crate) fn with_all_variables(mut self) -> Self {
        self.variables = Variables::All;
        self
    }

    /// Passes on a command's output while it runs, line by line and unchanged: it may contain control characters.
    #[must_use]
    pub(crate) fn watched(mut self, watch: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.watch = Some(Arc::new(watch));
        self
    }

    /// Runs a command. When it has ended, takes too long or is no longer waited for, it is killed with all that it
    /// started, except what has left its process group, as daemons do. On Windows only the command itself is killed.
    ///
    /// # Errors
    /// Returns an error if the shell cannot be started.
    pub(crate) async fn run(&self, command: &str) -> io::Result<Output> {
        let mut child = self.command(command).spawn()?;
        let group = Group::of(&child);
        let (lines, mut arriving) = mpsc::channel::<Vec<u8>>(16);
        let readers = [
            child.stdout.take().map(|stream| tokio::spawn(forward(stream, lines.clone()))),
            child.stderr.take().map(|stream| tokio::spawn(forward(stream, lines.clone()))),
        ];
        drop(lines);
        let mut capture = Capture::new(LIMIT);
        let mut take = |bytes: Vec<u8>| {
            if let Some(watch) = &self.watch {
                watch(&String::from_utf8_lossy(&bytes));
            }
            capture.push(&bytes);
        };
        // The output is read while waiting: a program whose output nobody reads comes to a halt.
        let waiting = tokio::time::timeout(self.timeout, async {
            loop {
                tokio::select! {
                    biased;
                    Some(bytes) = arriving.recv() => take(bytes),
                    status = child.wait() => return status,
                }
            }
        });
        let status = waiting.await;
        // Processes started in the background hold the outputs open, so that they would never end.
        group.end();
        let _ = child.start_kill();
        let rest = tokio::time::timeout(GRACE, async {
            while let Some(bytes) = arriving.recv().await {
                take(bytes);
            }
        });
        let _ = rest.await;
        for reader in readers.into_iter().flatten() {
            reader.abort();
        }
        let ended = match status {
            Ok(status) => ended(status?),
            Err(_) => {
                // So that no zombie is left.
                let _ = tokio::time::timeout(GRACE, child.wait()).await;
                Ended::TimedOut(self.timeout)
            }
        };
        Ok(Output { text: capture.text(), ended })
    }

    fn command(&self, text: &str) -> Command {
        let mut command = if cfg!(windows) { Command::new("cmd") } else { Command::new(shell()) };
        command.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(text);
        command.current_dir(&self.folder).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        command.process_group(0);
        if self.variables == Variables::Usual {
            command.env_clear();
            for (name, value) in std::env::vars_os() {
                if is_usual(&name.to_string_lossy(), &value.to_string_lossy()) {
                    command.env(name, value);
                }
            }
        }
        command.envs(SET);
        command
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shell").field("folder", &self.folder).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Returns bash, or sh if there is none.
fn shell() -> &'static str {
    if ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].iter().any(|path| Path::new(path).exists()) {
        "bash"
    } else {
        "sh"
    }
}

/// Forwards what a stream contains, cut at line breaks if possible, so that two streams do not mix within a line.
async fn forward(mut stream: impl AsyncRead + Unpin, to: mpsc::Sender<Vec<u8>>) {
    let mut pending: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        pending.extend(buffer.iter().take(count));
        let whole = memchr::memrchr(b'\n', &pending).map(|end| end + 1);
        let whole = whole.unwrap_or(if pending.len() >= buffer.len() { pending.len() } else { 0 });
        if whole > 0 {
            let rest = pending.split_off(whole);
            if to.send(std::mem::replace(&mut pending, rest)).await.is_err() {
                return;
            }
        }
    }
    if !pending.is_empty() {
        let _ = to.send(pending).await;
    }
}

#[cfg(unix)]
fn ended(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> Ended {
    Ended::Code(status.code().unwrap_or(-1))
}

/// The processes that a command has started. They are killed when this is dropped.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Group { leader }
    }

    #[cfg(not(unix))]
    fn of(_: &Child) -> Self {
        Group {}
    }

    fn end(self) {
        drop(self);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            // The group may have ended already.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "shell_tests.rs"]
mod tests;

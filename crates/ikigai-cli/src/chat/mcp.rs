//! MCP servers from the settings, connected in the background, so that nobody has to wait for a slow one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ikigai::Callable;
use ikigai::mcp::{Connection, Server};
use tokio::task::JoinHandle;

use crate::screen::notice;
use crate::settings::McpServer;

/// How often a connecting server is checked.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long programs may take to exit on their own when the chat ends, before they are killed.
const GRACE: Duration = Duration::from_millis(100);

/// The servers and their states.
#[derive(Debug, Clone, Default)]
pub(crate) struct Servers(Arc<Mutex<BTreeMap<String, State>>>);

#[derive(Debug)]
enum State {
    Connecting(JoinHandle<()>),
    Ready { connection: Box<Connection>, tools: Vec<Callable> },
    Failed(String),
}

impl Servers {
    /// Starts connecting to all of them. Errors are reported in words.
    pub(crate) fn begin(
        configured: BTreeMap<String, McpServer>,
        tell: impl Fn(String) + Clone + Send + 'static,
    ) -> Self {
        let servers = Servers::default();
        for (name, server) in configured {
            let (known, tell, label) = (servers.clone(), tell.clone(), name.clone());
            // Nothing is recorded about a server before this lock is released.
            let mut states = servers.states();
            let task = tokio::spawn(async move {
                let state = match connect(&label, server).await {
                    Ok((connection, tools)) => State::Ready { connection: Box::new(connection), tools },
                    Err(words) => {
                        tell(format!("MCP server {label}: {words}"));
                        State::Failed(words)
                    }
                };
                known.states().insert(label, state);
            });
            states.insert(name, State::Connecting(task));
        }
        servers
    }

    /// Disconnects from all of them, including those still connecting. A program sees the end of its input and may exit
    /// on its own; it is killed along with the runtime.
    pub(crate) async fn end(&self) {
        let states = std::mem::take(&mut *self.states());
        for state in states.values() {
            if let State::Connecting(task) = state {
                task.abort();
            }
        }
        if !states.is_empty() {
            drop(states);
            tokio::time::sleep(GRACE).await;
        }
    }

    /// Returns the tools of all connected servers.
    pub(crate) fn tools(&self) -> Vec<Callable> {
        let states = self.states();
        let ready = states.values().filter_map(|state| match state {
            State::Ready { tools, .. } => Some(tools.iter().cloned()),
            State::Connecting(_) | State::Failed(_) => None,
        });
        ready.flatten().collect()
    }

    /// Returns each server and its status, in words.
    pub(crate) fn list(&self) -> Vec<(String, Result<String, String>)> {
        let states = self.states();
        let words = |state: &State| match state {
            State::Connecting(_) => Ok("connecting …".to_owned()),
            State::Ready { connection, .. } if !connection.is_connected() => {
                Err(format!("gone: {}", connection.log().last().cloned().unwrap_or_default()))
            }
            State::Ready { tools, .. } => {
                let names: Vec<&str> = tools.iter().filter_map(|tool| tool.definition().name()).collect();
                Ok(format!("{}: {}", notice::several(names.len() as u64, "tool"), names.join(", ")))
            }
            State::Failed(words) => Err(words.clone()),
        };
        states.iter().map(|(name, state)| (name.clone(), words(state))).collect()
    }

    /// Waits until each one is connected or has failed.
    pub(crate) async fn settled(&self) {
        while self.states().values().any(|state| matches!(state, State::Connecting(_))) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to a server and asks for its tools.
async fn connect(name: &str, configured: McpServer) -> Result<(Connection, Vec<Callable>), String> {
    let McpServer { command, env, url, headers } = configured;
    let mut server = match (command.split_first(), url) {
        (Some((program, arguments)), None) => Server::command(program, arguments),
        (None, Some(url)) => Server::url(url),
        (Some(_), Some(_)) => return Err("it has both a command and a url; remove one".to_owned()),
        (None, None) => return Err("it has neither a command nor a url".to_owned()),
    };
    for (variable, value) in env {
        server = server.env(variable, value);
    }
    for (header, value) in headers {
        server = server.header(header, value);
    }
    let connection = server.name(name).connect().await.map_err(|error| error.to_string())?;
    let tools = connection.tools().await.map_err(|error| error.to_string())?;
    Ok((connection, tools))
}

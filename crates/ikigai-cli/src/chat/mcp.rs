//! MCP servers from the settings: connected in the background, so that a slow one keeps nobody waiting.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ikigai::Callable;
use ikigai::mcp::{Connection, Server};

use crate::settings::McpServer;

/// How often a server that is connecting is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The servers, each in its state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Servers(Arc<Mutex<BTreeMap<String, State>>>);

#[derive(Debug)]
enum State {
    Connecting,
    Ready { connection: Box<Connection>, tools: Vec<Callable> },
    Failed(String),
}

impl Servers {
    /// Begins to connect to all of them.
    pub(crate) fn begin(configured: BTreeMap<String, McpServer>) -> Self {
        let servers = Servers::default();
        for (name, server) in configured {
            servers.set(&name, State::Connecting);
            let servers = servers.clone();
            tokio::spawn(async move {
                let state = match connect(&name, server).await {
                    Ok((connection, tools)) => State::Ready { connection: Box::new(connection), tools },
                    Err(words) => State::Failed(words),
                };
                servers.set(&name, state);
            });
        }
        servers
    }

    /// The tools of all servers that are there. Names that several servers have are told apart by the server's.
    pub(crate) fn tools(&self) -> Vec<Callable> {
        let states = self.states();
        let ready = states.values().filter_map(|state| match state {
            State::Ready { tools, .. } => Some(tools.iter().cloned()),
            State::Connecting | State::Failed(_) => None,
        });
        ready.flatten().collect()
    }

    /// Each server and how it is, in words.
    pub(crate) fn list(&self) -> Vec<(String, Result<String, String>)> {
        let states = self.states();
        let words = |state: &State| match state {
            State::Connecting => Ok("connecting …".to_owned()),
            State::Ready { connection, .. } if !connection.is_connected() => {
                Err(format!("gone: {}", connection.log().last().cloned().unwrap_or_default()))
            }
            State::Ready { tools, .. } => {
                let names: Vec<&str> = tools.iter().filter_map(|tool| tool.definition().name()).collect();
                Ok(format!("{} tools: {}", names.len(), names.join(", ")))
            }
            State::Failed(words) => Err(words.clone()),
        };
        states.iter().map(|(name, state)| (name.clone(), words(state))).collect()
    }

    /// Waits until each is there or has failed.
    pub(crate) async fn settled(&self) {
        while self.states().values().any(|state| matches!(state, State::Connecting)) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn set(&self, name: &str, state: State) {
        self.states().insert(name.to_owned(), state);
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to a server, and asks what it can do.
async fn connect(name: &str, configured: McpServer) -> Result<(Connection, Vec<Callable>), String> {
    let McpServer { command, env, url, headers } = configured;
    let mut server = match (command.split_first(), url) {
        (Some((program, arguments)), None) => Server::command(program, arguments),
        (None, Some(url)) => Server::url(url),
        (Some(_), Some(_)) => return Err("it has a command and a url; one of them is enough".to_owned()),
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

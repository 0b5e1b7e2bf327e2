//! A connection to an MCP server.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ikigai_core::{Limits, Tool, ToolCall};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ErrorCode, Implementation, PaginatedRequestParams,
    ProtocolVersion,
};
use rmcp::service::{
    ClientCacheConfig, ClientLifecycleMode, NotificationContext, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::fault::{Fault, secrets_of};
use super::lines::{BoundedLines, Line};
use super::owed::AnswersFirst;
use super::process::{Life, Log};
use super::server::{Place, Server};
use super::{content, names, process, remote};
use crate::error::{Error, ServerFault, beginning};
use crate::redact::Secrets;
use crate::tools::{Callable, Hints, Output};

/// The longest message from a server.
pub(super) const LONGEST: usize = Limits::client().event;
/// The longest list of tools, and the most pages that it may come in: a server with more is broken.
const MOST_TOOLS: usize = 10_000;
const MOST_PAGES: usize = 1000;
/// How much of a server's own name is used.
const LONGEST_NAME: usize = 100;
/// How much of an unusable schema is included in a tool's description.
const LONGEST_SCHEMA: usize = 4000;
/// How many of a program's last lines are shown to the model.
const LINES_FOR_THE_MODEL: usize = 5;
/// How long to wait for the last output and the status of a program that has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A connection to an MCP server. Cheap to clone; clones are the same connection.
///
/// The server stays connected as long as this connection or one of its tools exists. Then a program is stopped (and
/// killed if it does not exit on its own), and a session is closed.
#[derive(Clone)]
pub struct Connection {
    link: Arc<Link>,
    changes: watch::Receiver<u64>,
}

struct Link {
    /// Dropped before `life`, so that the program sees the end of its input first.
    service: RunningService<RoleClient, Handler>,
    /// The server's name in errors.
    label: String,
    /// The server's name in messages to a model.
    short: String,
    /// The name given by the user.
    name: Option<String>,
    connect: Duration,
    call: Option<Duration>,
    log: Log,
    life: Option<Life>,
    secrets: Secrets,
}

/// Receives the server's notifications.
struct Handler {
    changes: watch::Sender<u64>,
}

impl ClientHandler for Handler {
    fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) -> impl Future<Output = ()> + Send + '_ {
        self.changes.send_modify(|count| *count += 1);
        std::future::ready(())
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("ikigai", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

impl Connection {
    pub(super) async fn open(server: Server) -> Result<Self, Error> {
        let secrets = secrets_of(&server);
        let label = secrets.redact(&server.label()).into_owned();
        let (changed, changes) = watch::channel(0);
        let handler = Handler { changes: changed };
        let mut log = Log::default();
        let mut life = None;
        let fault = |told: Fault, log: &Log| told.of(&label, log.lines(), &secrets);
        // Uses the original handshake; newer servers support it too.
        let lifecycle = ClientLifecycleMode::Initialize;
        let served = match &server.place {
            Place::Program(program) => {
                let running = process::start(program, &secrets).map_err(|told| fault(told, &log))?;
                log = running.log;
                life = Some(running.life);
                let output = BoundedLines::new(running.output, log.clone());
                let transport = AsyncRwTransport::new_client(output, running.input).with_max_line_length(usize::MAX);
                let served = serve_client_with_lifecycle(handler, AnswersFirst::new(transport), lifecycle);
                tokio::time::timeout(server.connect, served).await
            }
            Place::Remote(remote) => {
                let transport = remote::transport(remote).map_err(|told| fault(told, &log))?;
                let served = serve_client_with_lifecycle(handler, AnswersFirst::new(transport), lifecycle);
                tokio::time::timeout(server.connect, served).await
            }
        };
        let service = match served {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => {
                let status = last_words(life.as_ref()).await;
                let told = status.map_or_else(|| Fault::at_start(&error), |status| Fault::ended(Some(status)));
                return Err(fault(told, &log).into());
            }
            Err(_) => return Err(fault(Fault::too_slow(server.connect), &log).into()),
        };
        // A list is read when a program asks for it, and not kept: a server could fill the memory with it.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        let closing = service.cancellation_token();
        let ended = ended(life.as_ref());
        if life.is_some() {
            tokio::spawn(async move {
                ended.await;
                // Processes that it started may hold its output open. What it wrote before it ended is read first.
                tokio::time::sleep(LAST_WORDS).await;
                closing.cancel();
            });
        }
        let short = server.short();
        let Server { name, connect, call, .. } = server;
        let link = Link { service, label, short, name, connect, call, log, life, secrets };
        Ok(Connection { link: Arc::new(link), changes })
    }

    /// Returns the server's current tools, for [`Model::tools`](crate::Model::tools). [The module](super) explains
    /// their names.
    ///
    /// # Errors
    /// Returns an error if the server has ended, does not answer in time, or sends an endless list.
    pub async fn tools(&self) -> Result<Vec<Callable>, Error> {
        let tools = self.list().await?;
        let names = names::unique(tools.iter().map(|tool| (self.link.name.clone(), tool.name.to_string())).collect());
        Ok(tools.into_iter().zip(names).map(|(tool, name)| self.callable(tool, name)).collect())
    }

    /// Returns the server's name: the one you gave it, or else the one it reports, or else its command or URL.
    pub fn name(&self) -> String {
        let own = || {
            let info = self.link.service.peer_info()?;
            Some(beginning(&info.server_info.as_ref()?.name, LONGEST_NAME).to_owned())
        };
        self.link.name.clone().or_else(own).unwrap_or_else(|| self.link.label.clone())
    }

    /// Returns the server's own instructions for its use, for the system prompt.
    pub fn instructions(&self) -> Option<String> {
        self.link.service.peer_info()?.instructions.clone().filter(|text| !text.trim().is_empty())
    }

    /// Waits until the server reports that its tools have changed; then call [`tools`](Connection::tools) again.
    /// Returns `false` if the server has ended and there will be no more changes.
    ///
    /// ```no_run
    /// # async fn f(mut server: ikigai::mcp::Connection, mut chat: ikigai::Chat) -> Result<(), ikigai::Error> {
    /// if server.changed().await {
    ///     let model = chat.model().clone().without_tools().tools(server.tools().await?);
    ///     chat.set_model(model);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn changed(&mut self) -> bool {
        let ended = ended(self.link.life.as_ref());
        tokio::select! {
            changed = self.changes.changed() => changed.is_ok(),
            _ = ended => false,
        }
    }

    /// Returns whether the server is still running, as far as is known. This does not contact a remote server.
    pub fn is_connected(&self) -> bool {
        let ended = self.link.life.as_ref().is_some_and(|life| life.status.borrow().is_some());
        !ended && !self.link.service.is_transport_closed()
    }

    /// Returns the last lines that a program wrote to its standard error.
    pub fn log(&self) -> Vec<String> {
        self.link.log.lines()
    }

    /// Lists all tools.
    async fn list(&self) -> Result<Vec<rmcp::model::Tool>, Error> {
        let pages = tokio::time::timeout(self.link.connect, self.pages()).await;
        pages.unwrap_or_else(|_| Err(self.link.told(Fault::too_slow(self.link.connect)).into()))
    }

    /// Lists all tools, page by page.
    async fn pages(&self) -> Result<Vec<rmcp::model::Tool>, Error> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        // All pages together may be as large as one message.
        let mut size = Line::default();
        let endless = || Err(self.link.told(Fault::protocol("has an endless list of tools")).into());
        for _ in 0..MOST_PAGES {
            let asked =
                self.link.service.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor.clone())));
            let page = match asked.await {
                Ok(page) => page,
                // A server without tools.
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => return Ok(tools),
                Err(error) => return Err(self.link.fault(&error).await.into()),
            };
            if let Err(why) = size.take(&serde_json::to_vec(&page.tools).unwrap_or_default()) {
                let why = format!("has a list of tools that cannot be read: {why}");
                return Err(self.link.told(Fault::protocol(why)).into());
            }
            tools.extend(page.tools);
            if tools.len() > MOST_TOOLS {
                let why = format!("has more than {MOST_TOOLS} tools");
                return Err(self.link.told(Fault::protocol(why)).into());
            }
            match page.next_cursor {
                None => return Ok(tools),
                Some(next) if cursor.as_ref() == Some(&next) => return endless(),
                next => cursor = next,
            }
        }
        endless()
    }

    /// Makes one of the server's tools callable under a name.
    fn callable(&self, tool: rmcp::model::Tool, name: String) -> Callable {
        let link = Arc::clone(&self.link);
        let definition = definition(&tool, name);
        let own = tool.name.clone();
        let callable = Callable::new(definition, move |call: ToolCall| {
            let (link, own) = (Arc::clone(&link), own.clone());
            async move { link.call(own, call.arguments.object().clone()).await }
        });
        let callable = callable.with_hints(hints(&tool));
        match self.link.call {
            Some(limit) => callable.timeout(limit),
            None => callable,
        }
    }
}

impl Link {
    /// Runs a tool. Dropping the future cancels the call at the server.
    async fn call(&self, tool: std::borrow::Cow<'static, str>, arguments: Map<String, Value>) -> Output {
        let asked = CallToolRequestParams::new(tool).with_arguments(arguments);
        match self.service.call_tool(asked).await {
            Ok(result) => content::output(result),
            // The server's own message about this call, not a failure of the server.
            Err(ServiceError::McpError(error)) => Output::error(self.secrets.redact(&error.message).into_owned()),
            Err(error) => {
                let mut fault = self.fault(&error).await;
                // Not the whole command, which may contain things that are not for a model.
                fault.server.clone_from(&self.short);
                fault.log = fault.log.split_off(fault.log.len().saturating_sub(LINES_FOR_THE_MODEL));
                Output::error(fault.to_string())
            }
        }
    }

    /// Returns the fault for a failed request, which may have failed because the program has ended.
    async fn fault(&self, error: &ServiceError) -> ServerFault {
        let told = match error {
            ServiceError::TransportClosed | ServiceError::TransportSend(_) | ServiceError::Cancelled { .. } => {
                match last_words(self.life.as_ref()).await {
                    Some(status) => Fault::ended(Some(status)),
                    None => Fault::at_work(error),
                }
            }
            _ => Fault::at_work(error),
        };
        self.told(told)
    }

    fn told(&self, told: Fault) -> ServerFault {
        told.of(&self.label, self.log.lines(), &self.secrets)
    }
}

/// Returns how a program ended, if it has. Its status may take a moment to become known, and so may its last output.
async fn last_words(life: Option<&Life>) -> Option<String> {
    let ended = ended(Some(life?));
    let status = tokio::time::timeout(LAST_WORDS, ended).await.ok();
    tokio::time::sleep(LAST_WORDS / 10).await;
    status
}

/// Waits until a program ends, and says how. Never returns for a remote server.
fn ended(life: Option<&Life>) -> impl Future<Output = String> + Send + use<> {
    let status = life.map(|life| life.status.clone());
    async move {
        if let Some(mut status) = status
            && let Ok(told) = status.wait_for(Option::is_some).await
        {
            return told.clone().unwrap_or_default();
        }
        std::future::pending().await
    }
}

/// Returns a tool as the model sees it.
fn definition(tool: &rmcp::model::Tool, name: String) -> Tool {
    let mut description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default().to_owned();
    let mut schema = tool.input_schema.as_ref().clone();
    // Providers require arguments to be declared as an object; some servers leave that out.
    schema.entry("type").or_insert_with(|| Value::from("object"));
    let schema = Value::Object(schema);
    // The schema belongs to the server, so it is not adapted to a provider's strict rules.
    let definition = Tool::new(name, description.as_str()).parameters(schema.clone()).lenient();
    let fits = schema.get("type") == Some(&Value::from("object"))
        && definition.as_function().is_none_or(|function| function.argument_checker().is_ok());
    if fits {
        return definition;
    }
    // One bad schema must not make the others unusable: the model reads it, and the server checks the arguments.
    let told = schema.to_string();
    description.push_str("\n\nThe JSON Schema of its arguments: ");
    description.push_str(beginning(&told, LONGEST_SCHEMA));
    Tool::new(definition.name().unwrap_or_default(), description).parameters(json!({"type": "object"})).lenient()
}

fn hints(tool: &rmcp::model::Tool) -> Hints {
    let mut hints = Hints { title: tool.title.clone(), ..Hints::default() };
    if let Some(told) = &tool.annotations {
        hints.title = hints.title.or_else(|| told.title.clone());
        hints.read_only = told.read_only_hint;
        hints.destructive = told.destructive_hint;
        hints.idempotent = told.idempotent_hint;
        hints.open_world = told.open_world_hint;
    }
    hints
}

/// Returns the tools of several servers under unique names: if unnamed servers have a tool of the same name, the
/// server's name is put before it, as in `server__tool`.
///
/// ```no_run
/// # async fn f(notes: ikigai::mcp::Connection, files: ikigai::mcp::Connection) -> Result<(), ikigai::Error> {
/// let model = ikigai::model("claude-sonnet-4-5")?.tools(ikigai::mcp::tools([&notes, &files]).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Same as [`Connection::tools`].
pub async fn tools<'a>(servers: impl IntoIterator<Item = &'a Connection>) -> Result<Vec<Callable>, Error> {
    let mut found = Vec::new();
    for server in servers {
        for tool in server.list().await? {
            let name = names::safe(server.link.name.as_deref(), &tool.name);
            found.push((server, tool, name));
        }
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, _, name) in &found {
        *counts.entry(name).or_default() += 1;
    }
    let named = found.iter().map(|(server, tool, name)| {
        let clashes = counts.get(name.as_str()).is_some_and(|count| *count > 1);
        let prefix = server.link.name.clone().or_else(|| clashes.then(|| server.name()));
        (prefix, tool.name.to_string())
    });
    let names = names::unique(named.collect());
    Ok(found.into_iter().zip(names).map(|((server, tool, _), name)| server.callable(tool, name)).collect())
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server", &self.link.label)
            .field("connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn defined(schema: Value) -> (String, Value) {
        let given = json!({"name": "t", "description": "Does it.", "inputSchema": schema});
        let tool = definition(&serde_json::from_value(given).unwrap(), "t".to_owned());
        let function = tool.as_function().unwrap();
        (function.description.clone().unwrap(), function.parameters.clone().into())
    }

    #[test]
    fn a_schema_is_kept_and_one_that_nobody_can_use_is_told_in_words() {
        let good = json!({"properties": {"a": {"type": "string"}}, "type": "object"});
        assert_eq!(defined(good.clone()), ("Does it.".to_owned(), good));
        assert_eq!(defined(json!({})), ("Does it.".to_owned(), json!({"type": "object"})));
        for bad in [
            json!({"type": "array"}),
            json!({"type": "object", "properties": 7}),
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.org/schema.json"}}}),
        ] {
            let told = format!("Does it.\n\nThe JSON Schema of its arguments: {bad}");
            assert_eq!(defined(bad), (told, json!({"type": "object"})));
        }
    }
}

//! How to reach a server.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::Connection;
use crate::config::Key;
use crate::error::{Error, Reason};
use crate::transport::HttpBuilder;

/// An MCP server that is not yet connected.
///
/// ```no_run
/// use ikigai::mcp::Server;
///
/// # async fn f() -> Result<(), ikigai::Error> {
/// let files = Server::command("npx", ["-y", "some-server"]).env("TOKEN", "…").name("files").connect().await?;
/// let web = Server::url("https://example.org/mcp").bearer("…").header("x-team", "blue").connect().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Server {
    pub(super) place: Place,
    pub(super) name: Option<String>,
    pub(super) connect: Duration,
    pub(super) call: Option<Duration>,
}

/// Where a server is.
#[derive(Clone)]
pub(super) enum Place {
    /// A program to start.
    Program(Program),
    /// A URL.
    Remote(Remote),
}

#[derive(Clone)]
pub(super) struct Program {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(String, SecretString)>,
    pub(super) inherits: bool,
    pub(super) folder: Option<PathBuf>,
    /// A setting that only remote servers have, if one was made.
    pub(super) misplaced: Option<&'static str>,
}

#[derive(Clone)]
pub(super) struct Remote {
    pub(super) url: String,
    pub(super) bearer: Option<Key>,
    pub(super) headers: Vec<(String, SecretString)>,
    pub(super) http: Option<HttpBuilder>,
    /// A setting that only programs have, if one was made.
    pub(super) misplaced: Option<&'static str>,
}

impl Server {
    /// Describes a server that is started as a program; the client talks to it over standard input and output.
    pub fn command<A: Into<OsString>>(program: impl Into<OsString>, arguments: impl IntoIterator<Item = A>) -> Self {
        Server::at(Place::Program(Program {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            variables: Vec::new(),
            inherits: false,
            folder: None,
            misplaced: None,
        }))
    }

    /// Describes a server at a URL, over streamable HTTP.
    pub fn url(url: impl Into<String>) -> Self {
        let url = url.into();
        Server::at(Place::Remote(Remote { url, bearer: None, headers: Vec::new(), http: None, misplaced: None }))
    }

    fn at(place: Place) -> Self {
        Server { place, name: None, connect: Duration::from_secs(60), call: None }
    }

    /// Names the server. The name comes before the names of its tools, as in `name__tool`, and appears in errors.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a variable to the program's environment.
    pub fn env(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.program("env", |program| program.variables.push((name.into(), SecretString::from(value.into()))))
    }

    /// Passes all variables of this process to the program, including keys. By default it gets only the few that
    /// programs need.
    pub fn inherit_env(self) -> Self {
        self.program("inherit_env", |program| program.inherits = true)
    }

    /// Sets the program's working directory, instead of this process's own.
    pub fn current_dir(self, folder: impl Into<PathBuf>) -> Self {
        self.program("current_dir", |program| program.folder = Some(folder.into()))
    }

    /// Sets a key, sent as `Authorization: Bearer …`.
    pub fn bearer(self, key: impl Into<Key>) -> Self {
        self.remote("bearer", |remote| remote.bearer = Some(key.into()))
    }

    /// Adds a header to every request.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.remote("header", |remote| remote.headers.push((name.into(), SecretString::from(value.into()))))
    }

    /// Configures HTTP: proxies, certificates.
    pub fn http(self, http: HttpBuilder) -> Self {
        self.remote("http", |remote| remote.http = Some(http))
    }

    /// Sets how long the server may take to get ready, and for its list of tools. The default is 60 seconds: a program that has to be downloaded first, as with `npx`, takes a while.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets how long one call of a tool may take, instead of [`Model::tool_timeout`](crate::Model::tool_timeout).
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call = Some(limit);
        self
    }

    /// Starts the program or connects to the URL, and waits until the server is ready.
    ///
    /// # Errors
    /// Returns an error if the program does not exist, if nothing answers, or if what answers is not an MCP server. The
    /// error says how to fix it, and includes the last lines that a program wrote to its standard error.
    pub async fn connect(self) -> Result<Connection, Error> {
        let (misplaced, here, there) = match &self.place {
            Place::Program(program) => (program.misplaced, "a program", "servers at an address"),
            Place::Remote(remote) => (remote.misplaced, "at an address", "servers that are programs"),
        };
        if let Some(what) = misplaced {
            let told = format!("`{what}` is for {there}; the MCP server {} is {here}", self.label());
            return Err(Reason::Unsupported(told).into());
        }
        Connection::open(self).await
    }

    /// Returns the server's label in errors: its name, and its command or URL.
    pub(super) fn label(&self) -> String {
        match &self.name {
            Some(name) => format!("`{name}` ({})", self.place),
            None => format!("`{}`", self.place),
        }
    }

    /// Returns a short label for a model, which need not see the rest of a command or URL.
    pub(super) fn short(&self) -> String {
        let of = match (&self.name, &self.place) {
            (Some(name), _) => name.clone(),
            (None, Place::Program(program)) => {
                let file = std::path::Path::new(&program.program).file_name().unwrap_or(&program.program);
                file.to_string_lossy().into_owned()
            }
            (None, Place::Remote(remote)) => {
                let host = remote.url.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
                host.unwrap_or_else(|| "at an address".to_owned())
            }
        };
        format!("`{of}`")
    }

    fn program(mut self, setting: &'static str, change: impl FnOnce(&mut Program)) -> Self {
        match &mut self.place {
            Place::Program(program) => change(program),
            Place::Remote(remote) => remote.misplaced = Some(setting),
        }
        self
    }

    fn remote(mut self, setting: &'static str, change: impl FnOnce(&mut Remote)) -> Self {
        match &mut self.place {
            Place::Remote(remote) => change(remote),
            Place::Program(program) => program.misplaced = Some(setting),
        }
        self
    }
}

/// Prints the command, or the URL without anything that may be a key.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Program(program) => {
                write!(f, "{}", program.program.to_string_lossy())?;
                program.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
            }
            Place::Remote(remote) => f.write_str(&bare(&remote.url)),
        }
    }
}

/// Removes the query, and a user name and password, from a URL.
fn bare(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

/// Prints the names of variables and headers without their values: some of them are keys.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, SecretString)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let mut shown = f.debug_struct("Server");
        shown.field("name", &self.name).field("place", &self.place.to_string());
        match &self.place {
            Place::Program(program) => {
                shown.field("env", &names(&program.variables)).field("current_dir", &program.folder)
            }
            Place::Remote(remote) => shown.field("bearer", &remote.bearer).field("headers", &names(&remote.headers)),
        };
        shown.field("connect_timeout", &self.connect).field("call_timeout", &self.call).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn nothing_secret_is_shown() {
        let program = Server::command("npx", ["-y", "some-server"]).env("TOKEN", "very-secret-token-1234");
        let remote = Server::url("https://ada:hunter2hunter2@example.org:8443/mcp?key=query-secret")
            .bearer("bearer-secret-5678")
            .header("x-key", "header-secret")
            .name("web");
        let shown = format!("{program:?} {remote:?} {} {}", program.label(), remote.label());
        for secret in ["very-secret-token", "hunter2", "query-secret", "bearer-secret", "header-secret"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        assert_eq!(program.label(), "`npx -y some-server`");
        assert_eq!(remote.label(), "`web` (https://example.org:8443/mcp)");
    }

    #[tokio::test]
    async fn a_setting_in_the_wrong_place_is_an_error() {
        let error = Server::url("http://localhost/mcp").env("A", "b").connect().await.unwrap_err();
        let told = "`env` is for servers that are programs; the MCP server `http://localhost/mcp` is at an address";
        assert_eq!(error.to_string(), told);
        let error = Server::command("cat", ["-"]).bearer("b").connect().await.unwrap_err();
        let told = "`bearer` is for servers at an address; the MCP server `cat -` is a program";
        assert_eq!(error.to_string(), told);
    }
}

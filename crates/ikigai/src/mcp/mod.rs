//! Tools of MCP servers, with the feature `mcp`.
//!
//! ```no_run
//! use ikigai::mcp::Server;
//!
//! # async fn f() -> Result<(), ikigai::Error> {
//! // A program that is started, and spoken to through its standard input and output.
//! let files = Server::command("npx", ["-y", "@modelcontextprotocol/server-filesystem", "."]).name("files").connect().await?;
//! // A server at an address, over streamable HTTP.
//! let web = Server::url("https://example.org/mcp").bearer("a key").connect().await?;
//!
//! let model = ikigai::model("claude-sonnet-4-5")?.tools(files.tools().await?).tools(web.tools().await?);
//! println!("{}", model.ask("What is in the file notes.txt?").await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Names
//!
//! With [`Server::name`], a tool is called `name__tool`, always. Without it, a tool keeps its own name; should two servers
//! have the same one, [`tools`] takes both lists and puts the server's name before those names alone. What providers do not
//! accept in a name becomes `_`, and a name of more than 64 characters is cut, with a mark that keeps it apart from others.
//!
//! # Results
//!
//! Text, pictures, sounds and embedded resources become blocks of the result; a link to a resource becomes text that
//! names it. Structured content is kept as its JSON, unless the text says the same already. What the server calls an error
//! is an error for the model, and so is a server that has ended: the model is told, nothing hangs. A result may have up to
//! 16 MiB; a longer one is never read, and its call ends with the tool's time limit.
//!
//! # What a server may do
//!
//! A server is a stranger's program. It gets a few variables of the environment (`PATH`, `HOME` and such), not the keys
//! that lie there; [`Server::env`] adds to them. What it writes to its standard error is kept for error messages, and never
//! reaches the terminal. Its requests for models and for a person's answers are turned down. What it says about its tools is
//! in [`Callable::hints`](crate::Callable::hints): hints, not promises.
//!
//! A program is killed when its connection and the last of its tools are gone. Should this process be killed itself, a
//! program sees the end of its input; one that ignores that keeps running.

mod bounded;
mod connection;
mod content;
mod fault;
mod lines;
mod names;
mod process;
mod remote;
mod server;

pub use connection::{Connection, tools};
pub use server::Server;

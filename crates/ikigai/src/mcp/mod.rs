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
//! With [`Server::name`], a tool is always called `name__tool`. Without it, a tool keeps its own name. If two servers
//! use the same name, [`tools`] takes both lists and puts the server's name before only those names. Characters that
//! providers do not accept become `_`, and a name of more than 64 characters is cut, with a mark that distinguishes it
//! from others.
//!
//! # Results
//!
//! Text, pictures, audio and embedded resources become blocks of the result; a link to a resource becomes text that
//! names it. Structured content is kept as JSON, unless the text already says the same. An error reported by the server
//! is reported to the model as an error. If the server has ended, the model is told so, and nothing hangs. A result can
//! have up to 16 MiB; a longer one is never read, and its call ends at the tool's time limit.
//!
//! # What a server may do
//!
//! A server is an untrusted program. It gets a few environment variables (`PATH`, `HOME` and such), which contain no
//! keys; [`Server::env`] adds more. What it writes to its standard error is kept for error messages, and never reaches
//! the terminal. Its requests for model answers (sampling) and for user input (elicitation) are declined, and while 64 of
//! its requests are unanswered, nothing more is read. It can have up to 10,000 tools, listed in up to 1,000 pages that
//! together have up to 16 MiB. What it says about its tools is in [`Callable::hints`](crate::Callable::hints); these are
//! hints, not promises.
//!
//! A program is killed when its connection and the last of its tools have been dropped. If this process is killed, the
//! program sees the end of its input; a program that ignores that keeps running.

mod bounded;
mod connection;
mod content;
mod fault;
mod lines;
mod names;
mod owed;
mod process;
mod remote;
mod server;

pub use connection::{Connection, tools};
pub use server::Server;

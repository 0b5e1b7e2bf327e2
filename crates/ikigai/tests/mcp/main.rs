//! Tools of real MCP servers, made with the official SDK: as programs, and over HTTP.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a helper that fails is a test that fails"
)]

mod hostile;
mod over_http;
mod program;
mod server;
mod support;

//! Whole sessions in a real terminal: tmux shows what a user would see.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]
#![cfg(unix)]

mod approval;
mod compare;
mod draft;
mod everyday;
mod first_minutes;
mod mcp;
mod models;
mod paste;
mod project;
mod roles;
mod session;
mod sources;
mod status;
mod support;

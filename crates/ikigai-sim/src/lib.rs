//! A strict, faithful, offline provider: a server that speaks Anthropic Messages, OpenAI Chat Completions, OpenAI
//! Responses and Google Gemini, checks requests as the real APIs do, and answers by rules, always the same way.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ikigai_sim::StartError> {
//! let sim = ikigai_sim::Sim::start().await?;
//! assert!(sim.url().starts_with("http://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod as_sent;
mod audio;
mod auth;
mod bounded;
mod control;
mod count;
mod deliver;
mod embed;
mod exchange;
mod fault;
mod form;
mod generate;
mod image;
mod log;
mod media;
mod memory;
mod models;
mod net;
mod order;
mod png;
mod record;
mod replay;
mod script;
mod seals;
mod service;
mod sim;
mod speech;
mod stored;
mod strict;
mod talk;
mod transcribe;
mod tree;
mod wishes;

pub use fault::{Fault, FaultRule, UnknownFault};
pub use log::Received;
pub use record::{Forwarding, NextPiece, Recorder, Upstream};
pub use replay::{Recordings, RecordingsError};
pub use script::{Script, ScriptError, Scripted, ScriptedCall, ScriptedCitation, ScriptedPage, ScriptedSearch, When};
pub use sim::{Config, Sim, Source, StartError, Timeouts};

//! The gateway: any client dialect in, any provider out.
//!
//! A client that speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages or Gemini reaches every provider
//! and model with no change but its base URL. If both sides speak the same dialect, the bytes pass through; otherwise
//! they go through the canonical form, and anything that cannot be carried is reported.
//!
//! ```no_run
//! use ikigai::config::Environment;
//! use ikigai_gateway::{Config, Gateway, Setup};
//!
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! let text = std::fs::read_to_string("gateway.toml")?;
//! let setup = Setup::new(Environment::process())?;
//! let config = Config::read("gateway.toml", &text, setup.environment())?;
//! let gateway = Gateway::start(config, setup).await?;
//! println!("{}", gateway.url());
//! gateway.stop().await;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod access;
mod config;
mod generate;
mod kept;
mod live;
mod log;
mod memory;
mod pass;
mod path;
mod pause;
mod plan;
mod reply;
mod server;
mod service;
mod state;
mod translate;
mod translating;
mod turns;
mod verbs;
mod workers;

pub use config::{
    Access, ClientKey, Config, ModelSetup, ProviderSetup, ServerLimits, ServerTimeouts, TargetSetup, TlsFiles, example,
};
pub use server::{Gateway, StartError};
pub use state::Setup;

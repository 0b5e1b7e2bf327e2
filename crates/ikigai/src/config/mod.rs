//! Keys and settings: where they are looked for, and in which order.
//!
//! A key is taken from the first place that has one:
//!
//! 1. the call's own argument, [`Model::key`](crate::Model::key);
//! 2. the client's memory, [`ClientBuilder::key`](crate::ClientBuilder::key);
//! 3. the environment: `ANTHROPIC_API_KEY` and so on, as the table of providers says;
//! 4. `credentials.toml`, then `credentials.json`, in a settings folder, if the program named one;
//! 5. a `.env` file, if the program named one.
//!
//! A program reads no files unless it says so: a server must not take keys or addresses from the folder that it happens
//! to be started in.
//!
//! ```
//! use ikigai::{Client, config::Environment};
//!
//! # fn f() -> Result<(), ikigai::Error> {
//! let client = Client::builder().environment(Environment::process().with_dotenv(".env")).build()?;
//! # Ok(())
//! # }
//! ```
//!
//! The settings folder needs the feature `settings`: `Environment::with_user_settings` names the one that the program
//! `ikigai` uses (`$IKIGAI_HOME`, or else `$XDG_CONFIG_HOME/ikigai`, mostly `~/.config/ikigai`), with its keys and the
//! user's own rows in `providers.toml` and `models.toml`; `Environment::with_settings` names any other.
//!
//! A client looks a key up once, when a provider is first asked; a client that is built anew sees what has changed.
//!
//! A base URL is taken from the client's memory, then from the environment (`ANTHROPIC_BASE_URL` …), then from the
//! table of providers. A `.env` file may set one only for a key of its own: otherwise a folder from a stranger could send
//! the user's key anywhere.

#[cfg(feature = "settings")]
mod credentials;
mod dotenv;
mod environment;
mod key;
mod lookup;

#[cfg(feature = "settings")]
pub use credentials::Credentials;
pub use environment::Environment;
pub use key::Key;
pub use lookup::{CredentialsError, Found, KeySource, MissingKey};
pub(crate) use lookup::{Lookup, is_private};

#[cfg(test)]
#[cfg(feature = "settings")]
mod config_tests;

//! Keys and settings: where they are looked for, and in which order.
//!
//! A key is taken from the first place that has one:
//!
//! 1. the call's own argument, [`Model::key`](crate::Model::key);
//! 2. the client's memory, [`ClientBuilder::key`](crate::ClientBuilder::key);
//! 3. the environment: `ANTHROPIC_API_KEY` and so on, as the table of providers says;
//! 4. `credentials.toml`, then `credentials.json`, in the settings folder: `$IKIGAI_HOME`, or else
//!    `$XDG_CONFIG_HOME/ikigai`, mostly `~/.config/ikigai`;
//! 5. `.env` in the working directory.
//!
//! A client looks a key up once, when a provider is first asked; a client that is built anew sees what has changed.
//!
//! A base URL is taken from the client's memory, then from the environment (`ANTHROPIC_BASE_URL` …), then from the
//! table of providers. A `.env` file may set one only for a key of its own: otherwise a folder from a stranger could send
//! the user's key anywhere.

mod credentials;
mod dotenv;
mod environment;
mod key;
mod lookup;

pub use credentials::{Credentials, CredentialsError};
pub use environment::Environment;
pub use key::Key;
pub use lookup::{Found, KeySource, MissingKey};
pub(crate) use lookup::{Lookup, is_private};

#[cfg(test)]
mod config_tests;

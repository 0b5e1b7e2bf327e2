//! Keys and settings: where they come from, and in which order.
//!
//! A key comes from the first of these that has one:
//!
//! 1. the model, [`Model::key`](crate::Model::key);
//! 2. the client, [`ClientBuilder::key`](crate::ClientBuilder::key);
//! 3. the environment: `ANTHROPIC_API_KEY` and so on, as listed in the table of providers;
//! 4. `credentials.toml`, then `credentials.json`, in a settings folder, if the program adds one;
//! 5. a `.env` file, if the program adds one.
//!
//! No files are read unless the program asks for it: a server must not use keys or addresses from the folder that it
//! happens to be started in.
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
//! The settings folder needs the feature `settings`. `Environment::with_user_settings` adds the one that the program
//! `ikigai` uses (`$IKIGAI_HOME`, or else `$XDG_CONFIG_HOME/ikigai`, usually `~/.config/ikigai`), with its keys and the
//! user's own rows in `providers.toml` and `models.toml`; `Environment::with_settings` adds any other folder.
//!
//! A client looks a key up once, on the first request to a provider. If a key has changed, build a new client.
//!
//! A base URL comes from the client, then from the environment (`ANTHROPIC_BASE_URL` …), then from the table of
//! providers. A `.env` file may set one only together with its own key: otherwise an untrusted folder could send the
//! user's key anywhere.

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

//! `ikigai keys`: the keys of providers.

mod check;
mod list;
mod prompt;
mod remove;
mod set;
mod store;

use clap::{Args, Subcommand};
use ikigai::config::{Found, KeySource};
use ikigai::{Client, Provider, Registry};

pub(crate) use self::check::{Tried, all as check_all, client as checking_client};
use crate::exit::Failure;
use crate::models::unknown_provider;
use crate::output::Out;
use crate::places;

/// Store, list and test API keys
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai keys set anthropic
  ikigai keys list
  ikigai keys check

A key is taken from the first place that has one:
  1. the provider's variable: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …
  2. credentials.toml in the settings folder, which `ikigai keys set` writes
  3. .env in the working folder
Only the last four characters of a key are ever shown, and a key is never read from the command line.")]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Set(set::Set),
    List(list::List),
    Remove(remove::Remove),
    Check(check::Check),
}

pub(crate) fn run(keys: Keys, out: &mut Out) -> Result<(), Failure> {
    let registry = places::registry(out);
    match keys.command {
        Command::Set(set) => set::run(&set, &registry, out),
        Command::List(list) => list::run(&list, registry, out),
        Command::Remove(remove) => remove::run(&remove, registry, out),
        Command::Check(check) => check::run(&check, registry, out),
    }
}

/// Finds a provider by a name or an alias.
fn provider<'a>(registry: &'a Registry, name: &str) -> Result<&'a Provider, Failure> {
    registry.providers.find(name).ok_or_else(|| unknown_provider(registry, name))
}

/// Returns every provider with a key and the key's source, sorted by the providers' ids; and an error met on the way.
pub(crate) fn found(client: &Client) -> (Vec<(&Provider, Found)>, Option<Failure>) {
    let mut all = Vec::new();
    let mut broken = None;
    for provider in client.registry().providers.iter() {
        match client.key_of(&provider.id) {
            Ok(Some(found)) => all.push((provider, found)),
            Ok(None) => {}
            // The same file causes the error for all of them: once is enough.
            Err(error) => broken = Some(Failure::from(error)),
        }
    }
    all.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
    (all, broken)
}

/// Describes where a key comes from, briefly.
pub(crate) fn source(from: &KeySource) -> String {
    match from {
        KeySource::Variable(name) => name.clone(),
        other => other.to_string(),
    }
}

//! `ikigai models list`.

use clap::{Args, ValueEnum};
use ikigai_core::catalog::Facts;
use ikigai_core::provider::Registry;

use super::card::Card;
use super::unknown_provider;
use crate::exit::Failure;
use crate::output::Out;
use crate::table::{Side, Table};
use crate::{keys, trust};

/// List the models
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai models list --provider google
  ikigai models list sonnet 4
  ikigai models list --mine --sort price
  ikigai models list --json | jq -r '.[] | select(.context >= 1000000) | .model'

Prices are in dollars per million tokens. A dash means unknown.")]
pub(crate) struct List {
    /// Only models with these words in their names or ids
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only models of providers you have a key for
    #[arg(long)]
    mine: bool,
    /// Sort by
    #[arg(long, value_enum, value_name = "BY", default_value = "name")]
    sort: Sort,
    /// Only models of this provider
    #[arg(long, short, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Same as WORDS
    #[arg(long = "query", short = 'q', value_name = "TEXT")]
    query: Option<String>,
    /// Print a JSON list, one model per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(list: &List, registry: &Registry, out: &mut Out) -> Result<(), Failure> {
    let provider = match &list.provider {
        None => None,
        Some(name) => Some(registry.providers.find(name).ok_or_else(|| unknown_provider(registry, name))?),
    };
    let query = format!("{} {}", list.words.join(" "), list.query.as_deref().unwrap_or_default()).to_lowercase();
    let mine = if list.mine { Some(with_key(registry)?) } else { None };
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut models: Vec<&Facts> = registry
        .catalog
        .models()
        .filter(|facts| provider.is_none_or(|provider| provider.id == facts.provider))
        .filter(|facts| mine.as_ref().is_none_or(|ids| ids.iter().any(|id| *id == facts.provider)))
        .filter(|facts| has_all(facts, &words))
        .collect();
    models.sort_by_key(|facts| (facts.provider.clone(), facts.id.to_lowercase()));
    match list.sort {
        Sort::Name => {}
        Sort::Price => models.sort_by_key(|facts| facts.prices.output.unwrap_or(u64::MAX)),
        Sort::Context => models.sort_by_key(|facts| std::cmp::Reverse(facts.context)),
        Sort::Newest => models.sort_by_key(|facts| std::cmp::Reverse(facts.released.clone())),
    }
    if list.json {
        return print_json(&models, registry, out);
    }
    if models.is_empty() {
        return Err(Failure::new("no model matches").hint("`ikigai models list` lists them all."));
    }
    out.text(&table(&models, registry).print(out.width()))
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// By provider and name
    Name,
    /// Cheapest answers first
    Price,
    /// Largest window first
    Context,
    /// Newest first
    Newest,
}

fn with_key(registry: &Registry) -> Result<Vec<String>, Failure> {
    let client = trust::lookup(registry.clone())?;
    let (keys, broken) = keys::found(&client);
    match broken {
        Some(failure) => Err(failure),
        None => Ok(keys.iter().map(|(provider, _)| provider.id.to_string()).collect()),
    }
}

/// Whether each of these words occurs in a name of the model or of its provider.
fn has_all(facts: &Facts, words: &[&str]) -> bool {
    let names: Vec<String> =
        facts.names().chain([facts.name.as_ref(), facts.provider.as_ref()]).map(str::to_lowercase).collect();
    words.iter().all(|word| names.iter().any(|name| name.contains(word)))
}

fn print_json(models: &[&Facts], registry: &Registry, out: &mut Out) -> Result<(), Failure> {
    // One per line: a list for programs that a person can still read and search.
    out.data(b"[")?;
    for (place, facts) in models.iter().enumerate() {
        out.data(if place == 0 { b"\n" } else { b",\n" })?;
        out.json_inline(&Card::new(facts, registry))?;
    }
    out.data(b"\n]\n")
}

fn table(models: &[&Facts], registry: &Registry) -> Table {
    let mut table = Table::new([
        ("MODEL", Side::Left),
        ("CONTEXT", Side::Right),
        ("OUTPUT", Side::Right),
        ("IN $/M", Side::Right),
        ("OUT $/M", Side::Right),
        ("THINKING", Side::Left),
        ("STATUS", Side::Left),
    ]);
    for facts in models {
        table.row(Card::new(facts, registry).row());
    }
    table
}

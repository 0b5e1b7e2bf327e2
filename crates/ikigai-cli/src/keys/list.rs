//! `ikigai keys list`.

use clap::Args;
use ikigai::Registry;
use serde_json::json;

use super::{found, source};
use crate::exit::Failure;
use crate::output::Out;
use crate::table::{Side, Table};
use crate::trust;

/// List the keys and where they come from
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai keys list
  ikigai keys list --all
  ikigai keys list --json | jq -r '.[].provider'

Only the last four characters of a key are shown, and nothing of a short one.")]
pub(crate) struct List {
    /// Include providers without a key, with the variables that may hold one
    #[arg(long)]
    all: bool,
    /// Print a JSON list
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(list: &List, registry: Registry, out: &mut Out) -> Result<(), Failure> {
    let client = trust::lookup(registry)?;
    let (keys, broken) = found(&client);
    let mut rows: Vec<(&str, String, String)> =
        keys.iter().map(|(provider, found)| (provider.id.as_ref(), found.key.hint(), source(&found.from))).collect();
    if list.all {
        let without = client.registry().providers.iter().filter(|provider| {
            provider.needs_key()
                && provider.unsupported.is_empty()
                && !keys.iter().any(|(with, _)| with.id == provider.id)
        });
        rows.extend(without.map(|provider| (provider.id.as_ref(), String::new(), provider.key_env.join(" or "))));
        rows.sort();
    }
    if list.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(provider, key, from)| match key.as_str() {
                "" => json!({"provider": provider, "key": null, "variables": from.split(" or ").collect::<Vec<_>>()}),
                key => json!({"provider": provider, "key": key, "from": from}),
            })
            .collect();
        out.json(&rows)?;
    } else if rows.is_empty() {
        out.note(
            "There are no keys yet. Store one with `ikigai keys set PROVIDER`; `ikigai keys list --all` lists the providers.\n",
        );
    } else {
        let mut table = Table::new([("PROVIDER", Side::Left), ("KEY", Side::Left), ("FROM", Side::Left)]);
        for (provider, key, from) in rows {
            let (key, from) = if key.is_empty() { ("-".to_owned(), format!("(set {from})")) } else { (key, from) };
            table.row([provider.to_owned(), key, from]);
        }
        out.text(&table.print(out.width()))?;
    }
    broken.map_or(Ok(()), Err)
}

//! `ikigai models show`.

use clap::Args;
use ikigai_core::provider::Registry;

use super::card::Card;
use super::{no_such_model, unknown};
use crate::exit::Failure;
use crate::output::{DIM, HEADING, NAME, Out};

/// Show what is known about a model
///
/// Window, longest answer, prices with cache and tiers, what it reads and writes, how it thinks, whether it is still
/// served, and its other names. Unknown facts are left out.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai models show claude-sonnet-4-5
  ikigai models show openrouter:google/gemini-2.5-pro
  ikigai models show o3 --json | jq .prices")]
pub(crate) struct Show {
    /// Which model: [PROVIDER:]MODEL
    #[arg(value_name = "MODEL")]
    model: String,
    /// Print a JSON object; prices in dollars per million tokens
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(show: &Show, registry: &Registry, out: &mut Out) -> Result<(), Failure> {
    let name = registry.parse(&show.model).map_err(|error| unknown(&error))?;
    let route = registry.route(&name).map_err(|error| Failure::new(error.to_string()))?;
    // A name can be valid for its provider even if it is not in the catalogue.
    let facts =
        route.facts.ok_or_else(|| no_such_model(&name.to_string(), &registry.catalog.nearest(&name.model, 3)))?;
    let card = Card::new(facts, registry);
    if show.json {
        return out.json(&card);
    }
    let (title, typed) = card.heading();
    let mut text = format!("{HEADING}{title}{HEADING:#}  {NAME}{typed}{NAME:#}\n\n");
    for (what, value) in card.lines() {
        text.push_str(&format!("  {DIM}{what:<15}{DIM:#} {value}\n"));
    }
    out.text(&text)
}

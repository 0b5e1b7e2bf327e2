//! `ikigai models thinking`.

use clap::Args;
use ikigai_core::ModelError;
use ikigai_core::catalog::{Rules, ThinkingKind, rules_for};
use ikigai_core::provider::{Registry, Route};

use super::card::Levels;
use super::unknown;
use crate::exit::Failure;
use crate::levels;
use crate::output::Out;
use crate::table::{Side, Table};

/// Show what each thinking level means for a model
///
/// What a request sends for the four levels none, low, med and high: a budget in tokens, or the word that the model's API
/// accepts. A model that the catalogue does not know follows the rules of its family.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai models thinking claude-sonnet-4-5
  ikigai models thinking gemini-2.5-pro --json
      {\"none\":128,\"low\":11008,\"med\":21888,\"high\":32768}

With --json, budgets come from the formula: the smallest for `none`, the largest for `high`. A request asks for off
where the model can be off, and sends less where the budget would leave no room for the answer.")]
pub(crate) struct Thinking {
    /// Which model: [PROVIDER:]MODEL
    #[arg(value_name = "MODEL")]
    model: String,
    /// Print one JSON object: {"none": …, "low": …, "med": …, "high": …}
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(thinking: &Thinking, registry: &Registry, out: &mut Out) -> Result<(), Failure> {
    let route = route(&thinking.model, registry).map_err(|error| unknown(&error))?;
    let rule = &levels::rules(&route).thinking;
    if thinking.json {
        return out.json_line(&Levels::of(rule));
    }
    if rule.kind == ThinkingKind::None {
        return out.text(&format!("{} does not think.\n", thinking.model));
    }
    let mut table = Table::new([("LEVEL", Side::Left), ("SENT", Side::Right)]);
    for (level, sent) in levels::sent(&route) {
        table.row([level.to_string(), sent]);
    }
    out.text(&table.print(out.width()))
}

/// Returns the route to a model, or to its family if several providers serve it.
fn route<'a>(name: &str, registry: &'a Registry) -> Result<Route<'a>, ModelError> {
    let name = match registry.parse(name) {
        Ok(name) => name,
        // The name may still mean one family: `gpt-oss-120b` is served by many providers.
        Err(_) if rules_for(name).thinking.kind != ThinkingKind::None => {
            return Ok(registry.route_of_family(name));
        }
        Err(error) => return Err(error),
    };
    match registry.route(&name) {
        Ok(route) if route.facts.is_some() || *route.rules != Rules::default() => Ok(route),
        // After a provider, any name is accepted, but this one is unknown.
        Ok(_) | Err(_) => {
            let nearest = registry.catalog.nearest(&name.model, 3);
            Err(ModelError::UnknownModel { name: name.to_string(), nearest })
        }
    }
}

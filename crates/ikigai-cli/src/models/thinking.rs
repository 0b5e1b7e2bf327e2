//! `ikigai models thinking`.

use std::borrow::Cow;

use clap::Args;
use ikigai_core::{ModelError, Registry, Rules, ThinkingKind, ThinkingRule, rules_for};

use super::card::Levels;
use super::unknown;
use crate::exit::Failure;
use crate::output::Out;
use crate::table::{Side, Table};

/// Show what each thinking level means for a model
///
/// A budget in tokens or the word that the model's API takes, for the four levels none, low, med and high. A model that
/// the catalogue does not know is answered by the rules of its family.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai models thinking claude-sonnet-4-5
  ikigai models thinking gemini-2.5-pro --json
      {\"none\":128,\"low\":11008,\"med\":21888,\"high\":32768}

`none` shows the least that the levels' arithmetic gives. A request asks for off wherever the model can be off.")]
pub(crate) struct Thinking {
    /// Which model: [PROVIDER:]MODEL
    #[arg(value_name = "MODEL")]
    model: String,
    /// Print one JSON object: {"none": …, "low": …, "med": …, "high": …}
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(thinking: &Thinking, registry: &Registry, out: &mut Out) -> Result<(), Failure> {
    let rule = rule(&thinking.model, registry).map_err(|error| unknown(&error))?;
    let levels = Levels::of(&rule);
    if thinking.json {
        return out.json_line(&levels);
    }
    if rule.kind == ThinkingKind::None {
        return out.text(&format!("{} does not think.\n", thinking.model));
    }
    let mut table = Table::new([("LEVEL", Side::Left), ("MEANS", Side::Right)]);
    for (level, value) in levels.rows() {
        table.row([level.to_string(), value]);
    }
    out.text(&table.print(out.width()))
}

/// How a model thinks: as the catalogue and its family say, or its family alone where the name means no one model.
fn rule(name: &str, registry: &Registry) -> Result<Cow<'static, ThinkingRule>, ModelError> {
    let of_family = |model: &str| Cow::Borrowed(&rules_for(model).thinking);
    let name = match registry.parse(name) {
        Ok(name) => name,
        // The name means no one model, but perhaps one family: `gpt-oss-120b` is served by many.
        Err(_) if rules_for(name).thinking.kind != ThinkingKind::None => return Ok(of_family(name)),
        Err(error) => return Err(error),
    };
    let rules = rules_for(&name.id);
    match registry.catalog.find(Some(&name.provider), &name.id).map(|facts| rules.with_facts(facts)) {
        Some(Cow::Owned(rules)) => Ok(Cow::Owned(rules.thinking)),
        // After a provider any name is taken, but of this one nobody has heard.
        None if *rules == Rules::default() => {
            let nearest = registry.catalog.nearest(&name.model, 3);
            Err(ModelError::UnknownModel { name: name.to_string(), nearest })
        }
        Some(Cow::Borrowed(_)) | None => Ok(of_family(&name.id)),
    }
}

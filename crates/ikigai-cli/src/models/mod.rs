//! `ikigai models`: what is known about models.

mod card;
mod list;
mod show;
mod thinking;

use clap::{Args, Subcommand};
use ikigai_core::ModelError;
use ikigai_core::provider::Registry;

use crate::exit::Failure;
use crate::output::Out;
use crate::places;

/// Show limits, prices and thinking of models
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Examples:
  ikigai models
  ikigai models sonnet
  ikigai models list --provider anthropic
  ikigai models show claude-sonnet-4-5
  ikigai models thinking gemini-2.5-pro --json

A model is named [PROVIDER:]MODEL[/LEVEL]: claude-sonnet-4-5, openrouter:google/gemini-2.5-pro, o3/high.
Your own models and prices go into models.toml, your own providers into providers.toml; see `ikigai --help`."
)]
pub(crate) struct Models {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::List,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Thinking(thinking::Thinking),
}

pub(crate) fn run(models: Models, out: &mut Out) -> Result<(), Failure> {
    let registry = places::registry(out);
    match models.command {
        None => list::run(&models.list, &registry, out),
        Some(Command::List(list)) => list::run(&list, &registry, out),
        Some(Command::Show(show)) => show::run(&show, &registry, out),
        Some(Command::Thinking(thinking)) => thinking::run(&thinking, &registry, out),
    }
}

/// Returns the error for an unknown provider.
pub(crate) fn unknown_provider(registry: &Registry, name: &str) -> Failure {
    let failure = Failure::usage(format!("unknown provider `{name}`"));
    match registry.providers.nearest(name) {
        Some(nearest) => failure.hint(format!("Did you mean `{nearest}`?")),
        None => {
            let ids: Vec<&str> = registry.providers.iter().map(|provider| provider.id.as_ref()).collect();
            failure.hint(format!("The providers are {}.", ids.join(", ")))
        }
    }
}

/// Returns the error for an unknown model.
fn unknown(error: &ModelError) -> Failure {
    match error {
        ModelError::UnknownModel { name, nearest } => no_such_model(name, nearest),
        other => Failure::new(other.to_string()),
    }
}

fn no_such_model(name: &str, nearest: &[String]) -> Failure {
    let failure = Failure::new(format!("unknown model `{name}`"));
    if nearest.is_empty() {
        return failure.hint("`ikigai models list` lists them all.");
    }
    failure.hint(format!("The nearest are {}; `ikigai models list` lists them all.", nearest.join(", ")))
}

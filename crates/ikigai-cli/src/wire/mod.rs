//! `ikigai wire`: the translations, from a shell.

mod schema;

use clap::{Args, Subcommand};

use crate::exit::Failure;
use crate::output::Out;

/// Translate between the canonical format and the wire formats
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai wire schema > ikigai.schema.json")]
pub(crate) struct Wire {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Schema(schema::Schema),
}

pub(crate) fn run(wire: Wire, out: &mut Out) -> Result<(), Failure> {
    match wire.command {
        Command::Schema(schema) => schema::run(&schema, out),
    }
}

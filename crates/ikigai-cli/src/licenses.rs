//! `ikigai licenses`: third-party work in the program, and its licences.

use clap::Args;

use crate::exit::Failure;
use crate::output::Out;
use crate::screen;

/// Print the licences of the syntax definitions that colour code, as Markdown
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai licenses | less

ikigai itself is under the MIT licence or Apache 2.0, at your option.")]
pub(crate) struct Licenses {}

pub(crate) fn run(_: &Licenses, out: &mut Out) -> Result<(), Failure> {
    let text = screen::acknowledgements();
    out.data(text.trim_end().as_bytes())?;
    out.data(b"\n")
}

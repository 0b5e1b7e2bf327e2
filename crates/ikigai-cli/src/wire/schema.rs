//! `ikigai wire schema`: the JSON Schema of the canonical format.

use clap::Args;

use crate::exit::Failure;
use crate::output::Out;

/// Print the JSON Schema of the canonical format
///
/// One document: `#/$defs/Request`, `#/$defs/Response`, `#/$defs/Event` and `#/$defs/Error`, with everything that they
/// are made of. Its `x-ikigai-version` changes whenever the same document would be written differently.
#[derive(Debug, Args)]
pub(crate) struct Schema {}

pub(crate) fn run(_: &Schema, out: &mut Out) -> Result<(), Failure> {
    out.json(&ikigai_core::schema())
}

//! `ikigai keys remove`.

use clap::Args;
use ikigai::Registry;

use super::{provider, source, store};
use crate::exit::Failure;
use crate::output::Out;
use crate::places::Places;
use crate::trust;

/// Remove a provider's key from credentials.toml
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai keys remove openai

The key itself stays valid until you revoke it in the provider's console.")]
pub(crate) struct Remove {
    /// Which provider
    #[arg(value_name = "PROVIDER")]
    provider: String,
}

pub(crate) fn run(remove: &Remove, registry: Registry, out: &mut Out) -> Result<(), Failure> {
    let client = trust::lookup(registry)?;
    let provider = provider(client.registry(), &remove.provider)?;
    let file = Places::required()?.credentials();
    let mut document = store::read(&file)?;
    let was_there = store::take(&mut document, provider);
    if was_there {
        store::write(&file, &document)?;
        out.text(&format!("Removed the key for {} from {}\n", provider.name, file.display()))?;
    }
    let elsewhere = client.key_of(&provider.id)?;
    match (was_there, elsewhere) {
        (true, None) => Ok(()),
        (true, Some(found)) => {
            out.warning(&format!("there is another key in {}: {}", source(&found.from), found.key.hint()));
            Ok(())
        }
        (false, elsewhere) => {
            let failure = Failure::new(format!("there is no key for {} in {}", provider.name, file.display()));
            Err(match elsewhere {
                Some(found) => failure.hint(format!("There is one in {}; remove it there.", source(&found.from))),
                None => failure,
            })
        }
    }
}

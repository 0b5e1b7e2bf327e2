//! `ikigai keys set`.

use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use ikigai::config::Key;
use ikigai::{Auth, Provider, Registry};

use super::{prompt, provider, source, store};
use crate::exit::Failure;
use crate::output::{NAME, Out};
use crate::places::Places;
use crate::trust;

/// Longer than any key.
const LONGEST: u64 = 16 << 10;

/// Store a provider's key
///
/// The key is typed or pasted at a prompt that does not show it, or comes from standard input in a pipe. It is never an
/// argument: those end up in the shell's history and in the list of processes. It is written to credentials.toml in the
/// settings folder, which only you may read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ikigai keys set anthropic
  pass show openai | ikigai keys set openai
  ikigai keys set groq < key.txt")]
pub(crate) struct Set {
    /// Which provider, such as anthropic, openai or google
    #[arg(value_name = "PROVIDER")]
    provider: String,
}

pub(crate) fn run(set: &Set, registry: &Registry, out: &mut Out) -> Result<(), Failure> {
    let provider = provider(registry, &set.provider)?;
    if provider.auth == Auth::None {
        return Err(Failure::new(format!("{} needs no key", provider.name)));
    }
    let places = Places::required()?;
    let file = places.credentials();
    let mut document = store::read(&file)?;
    let key = checked(&read(provider, out)?)?;
    store::put(&mut document, provider, key.expose());
    store::write(&file, &document)?;
    out.text(&format!("Stored the key for {} ({NAME}{}{NAME:#}) in {}\n", provider.name, key.hint(), file.display()))?;
    // The stored key may not be the one that is used.
    let client = trust::lookup(registry.clone())?;
    match client.key_of(&provider.id)? {
        Some(found) if found.key.expose() != key.expose() => {
            out.warning(&format!(
                "{} takes precedence: it holds another key, {}",
                source(&found.from),
                found.key.hint()
            ));
        }
        _ => out.note(&format!("To try it: ikigai keys check {}\n", provider.id)),
    }
    Ok(())
}

fn read(provider: &Provider, out: &mut Out) -> Result<String, Failure> {
    if std::io::stdin().is_terminal() {
        let page = provider.key_page();
        let page = if page.is_empty() { String::new() } else { format!("; get one at {page}") };
        return prompt::secret(&format!("Key for {} (input is hidden{page}): ", provider.name), out);
    }
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("cannot read the key: {error}")))?;
    Ok(text)
}

/// Checks that a key is one word of visible characters. Errors do not show the text: it may be a key all the same.
fn checked(text: &str) -> Result<Key, Failure> {
    let text = text.trim();
    let wrong = |what: &str| Err(Failure::new(format!("this is not a valid key: {what}")).hint("Nothing was stored."));
    match text {
        "" => wrong("it is empty"),
        text if u64::try_from(text.len()).is_ok_and(|length| length > LONGEST) => wrong("it is too long"),
        text if text.lines().count() > 1 => wrong("it has several lines"),
        text if text.contains(char::is_whitespace) => wrong("it contains spaces"),
        text if !text.chars().all(|character| character.is_ascii_graphic()) => {
            wrong("it contains characters that no key has")
        }
        text => Ok(Key::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_what_can_be_a_key_is_taken() {
        assert_eq!(checked(" sk-1234\r\n").unwrap().expose(), "sk-1234");
        for text in ["", " \n", "a b", "a\nb", "schlüssel", "a\u{1b}b", &"x".repeat(20_000)] {
            let failure = checked(text).unwrap_err();
            assert!(failure.what.starts_with("this is not a valid key: "), "{failure:?}");
        }
    }
}

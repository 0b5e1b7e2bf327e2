//! Edits the credentials file without touching anything else in it.

use std::path::Path;

use ikigai::Provider;
use toml_edit::{DocumentMut, Item};

use crate::exit::Failure;
use crate::files::Mode;
use crate::places;
use crate::settings::replace;

/// Reads the file; empty if there is none.
pub(super) fn read(file: &Path) -> Result<DocumentMut, Failure> {
    let text = places::read(file).map_err(Failure::new)?.unwrap_or_default();
    text.parse().map_err(|error: toml_edit::TomlError| {
        // The parser's own message shows the line, which contains a key.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Failure::new(format!("{}:{line}: {}", file.display(), error.message())).hint("Fix the file, then try again.")
    })
}

/// Writes the file so that only its owner has access.
pub(super) fn write(file: &Path, document: &DocumentMut) -> Result<(), Failure> {
    places::write(file, &document.to_string(), Mode::Private)
}

/// Stores a provider's key, replacing an existing one under any of the provider's names.
pub(super) fn put(document: &mut DocumentMut, provider: &Provider, key: &str) {
    let name = name(document, provider).unwrap_or_else(|| provider.id.to_string());
    match document.get_mut(&name).and_then(Item::as_table_like_mut) {
        Some(table) => {
            let field = if table.contains_key("key") && !table.contains_key("api_key") { "key" } else { "api_key" };
            replace(table, field, key.into());
        }
        None => replace(document.as_table_mut(), &name, key.into()),
    }
}

/// Removes a provider's key. Returns whether there was one.
pub(super) fn take(document: &mut DocumentMut, provider: &Provider) -> bool {
    match name(document, provider) {
        Some(name) => document.remove(&name).is_some(),
        None => false,
    }
}

/// Returns the name that a provider has in the file: its id or an alias.
fn name(document: &DocumentMut, provider: &Provider) -> Option<String> {
    let is_called = |name: &str| {
        std::iter::once(&provider.id).chain(provider.aliases.iter()).any(|own| own.eq_ignore_ascii_case(name))
    };
    document.iter().map(|(name, _)| name).find(|name| is_called(name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use ikigai::Registry;
    use pretty_assertions::assert_eq;

    use super::*;

    fn changed(text: &str, id: &str, key: Option<&str>) -> String {
        let registry = Registry::default();
        let provider = registry.providers.find(id).unwrap();
        let mut document: DocumentMut = text.parse().unwrap();
        match key {
            Some(key) => put(&mut document, provider, key),
            None => assert!(take(&mut document, provider)),
        }
        document.to_string()
    }

    #[test]
    fn keys_go_where_they_were_and_everything_else_stays() {
        let text = "# mine\nanthropic = \"a\" # work\n\n[openai]\nkey = \"o\"\nnote = 1\n\n[Gemini]\n";
        assert_eq!(changed(text, "anthropic", Some("n")), text.replace("\"a\"", "\"n\""));
        assert_eq!(changed(text, "openai", Some("n")), text.replace("\"o\"", "\"n\""));
        assert_eq!(changed(text, "google", Some("n")), format!("{text}api_key = \"n\"\n"));
        assert_eq!(changed(text, "groq", Some("n")), text.replace(" # work\n", " # work\ngroq = \"n\"\n"));
        assert_eq!(changed("", "groq", Some("a\"b\\")), "groq = 'a\"b\\'\n");
        assert_eq!(changed(text, "openai", None), "# mine\nanthropic = \"a\" # work\n\n[Gemini]\n");
    }
}

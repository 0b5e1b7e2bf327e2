use pretty_assertions::assert_eq;

use super::*;

fn resolve(text: &str) -> Result<String, String> {
    let own = [("fast", "flash/none"), ("sonnet", "claude-sonnet-4-5"), ("local", "ollama:gemma3:4b")];
    let aliases: BTreeMap<String, String> = own.map(|(name, meant)| (name.to_owned(), meant.to_owned())).into();
    let registry = Registry::default();
    let names = Names::new(&registry, &aliases);
    names.resolve(text).map(|name| name.to_string()).map_err(|failure| failure.what)
}

#[test]
fn names_are_forgiving() {
    for (text, meant) in [
        ("claude-sonnet-4-5/high", "anthropic:claude-sonnet-4-5/high"),
        ("o3", "openai:o3"),
        ("opus", "anthropic:claude-opus-4-8"),
        ("haiku/low", "anthropic:claude-haiku-4-5/low"),
        ("flash", "google:gemini-3.5-flash"),
        ("pro", "google:gemini-2.5-pro"),
        ("gpt", "openai:gpt-5.5"),
        ("mini/med", "openai:gpt-5.4-mini/med"),
        ("gemini-3-pro/none", "google:gemini-3-pro/none"),
        // The user's aliases take precedence over all others, and a typed level over the alias's.
        ("sonnet", "anthropic:claude-sonnet-4-5"),
        ("fast", "google:gemini-3.5-flash/none"),
        ("fast/high", "google:gemini-3.5-flash/high"),
        ("local", "ollama:gemma3:4b"),
        // A part that occurs in only one name.
        ("opus-4-8", "anthropic:claude-opus-4-8"),
        // Providers whose models cannot be listed.
        ("ollama:anything", "ollama:anything"),
        ("claude-sonnet-9-9!", "anthropic:claude-sonnet-9-9"),
    ] {
        assert_eq!(resolve(text), Ok(meant.to_owned()), "{text}");
    }
}

#[test]
fn a_misspelt_name_is_refused_with_what_may_have_been_meant() {
    for (text, suggestion) in [
        ("claude-sonet-4-5", "did you mean claude-sonnet-4-5"),
        ("cluade-sonnet-4-5", "did you mean claude-sonnet-4-5"),
        ("groq:llama-3.3-70b", "did you mean llama-3.3-70b-versatile"),
        ("groq:foo", "unknown model `groq:foo`"),
        ("gemini-2.5", "did you mean gemini-2.5-pro"),
        ("o3/hihg", "unknown thinking level"),
        ("", "unknown model ``"),
    ] {
        let told = resolve(text).unwrap_err();
        assert!(told.contains(suggestion), "{text}: {told}");
    }
}

#[test]
fn the_provider_whose_key_is_there_has_a_good_default() {
    let registry = Registry::default();
    let aliases = BTreeMap::new();
    let names = Names::new(&registry, &aliases);
    let default = |ids: &[&str]| {
        let providers: Vec<&Provider> = ids.iter().filter_map(|id| registry.providers.find(id)).collect();
        names.default(&providers).map(|name| name.to_string())
    };
    assert_eq!(default(&["openai", "anthropic"]).as_deref(), Some("anthropic:claude-sonnet-5"));
    assert_eq!(default(&["openai"]).as_deref(), Some("openai:gpt-5.5"));
    assert_eq!(default(&["google"]).as_deref(), Some("google:gemini-2.5-pro"));
    for id in ["mistral", "deepseek", "groq", "xai", "openrouter"] {
        assert!(default(&[id]).is_some_and(|name| name.starts_with(&format!("{id}:"))), "{id}: {:?}", default(&[id]));
    }
    assert_eq!(default(&[]), None);
}

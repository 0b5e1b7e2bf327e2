use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// Provider, model as written, id on the wire, level.
type Parts<'a> = (&'a str, &'a str, &'a str, Option<Level>);

fn parse(text: &str) -> Result<ModelName, ModelError> {
    ModelName::parse(text)
}

fn name((provider, model, id, level): Parts<'_>) -> ModelName {
    ModelName { provider: provider.to_owned(), model: model.to_owned(), id: id.to_owned(), level }
}

#[test]
fn names_are_read_as_people_write_them() {
    let cases: &[(&str, Parts<'_>)] = &[
        ("claude-sonnet-4-5", ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5", None)),
        ("claude-sonnet-4-5/med", ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5", Some(Level::Med))),
        ("claude-sonnet-4-5/medium", ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5", Some(Level::Med))),
        ("  claude-sonnet-4-5/high\n", ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5", Some(Level::High))),
        ("claude-sonnet-4-5-20250929", ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", None)),
        ("claude-3-7-sonnet/low", ("anthropic", "claude-3-7-sonnet", "claude-3-7-sonnet-20250219", Some(Level::Low))),
        ("anthropic:claude-haiku-4-5", ("anthropic", "claude-haiku-4-5", "claude-haiku-4-5", None)),
        ("Anthropic:claude-haiku-4-5", ("anthropic", "claude-haiku-4-5", "claude-haiku-4-5", None)),
        // Not in the catalogue: the maker follows from the prefix, or was named.
        ("claude-opus-99/xhigh", ("anthropic", "claude-opus-99", "claude-opus-99", Some(Level::Xhigh))),
        ("anthropic:whatever-1", ("anthropic", "whatever-1", "whatever-1", None)),
        ("gemini-2.5-pro/high", ("google", "gemini-2.5-pro", "gemini-2.5-pro", Some(Level::High))),
        ("gemini-3-pro/none", ("google", "gemini-3-pro", "gemini-3-pro-preview", Some(Level::None))),
        ("google:gemini-3-pro", ("google", "gemini-3-pro", "gemini-3-pro-preview", None)),
        ("o3/med", ("openai", "o3", "o3", Some(Level::Med))),
        ("o3-mini/none", ("openai", "o3-mini", "o3-mini", Some(Level::None))),
        ("gpt-5.4-2026-03-05/minimal", ("openai", "gpt-5.4-2026-03-05", "gpt-5.4-2026-03-05", Some(Level::Minimal))),
        ("openrouter:google/gemini-2.5-pro", ("openrouter", "google/gemini-2.5-pro", "google/gemini-2.5-pro", None)),
        (
            "openrouter:google/gemini-2.5-pro/low",
            ("openrouter", "google/gemini-2.5-pro", "google/gemini-2.5-pro", Some(Level::Low)),
        ),
        (
            "openrouter:anthropic/claude-3.7-sonnet:thinking",
            ("openrouter", "anthropic/claude-3.7-sonnet:thinking", "anthropic/claude-3.7-sonnet:thinking", None),
        ),
        (
            "openrouter:anthropic/claude-3.7-sonnet:thinking/high",
            (
                "openrouter",
                "anthropic/claude-3.7-sonnet:thinking",
                "anthropic/claude-3.7-sonnet:thinking",
                Some(Level::High),
            ),
        ),
        ("openrouter:some/brand-new", ("openrouter", "some/brand-new", "some/brand-new", None)),
        ("ollama:gemma3:4b", ("ollama", "gemma3:4b", "gemma3:4b", None)),
        ("ollama:gemma3:4b/none", ("ollama", "gemma3:4b", "gemma3:4b", Some(Level::None))),
        ("ollama:hf.co/some/model:Q4_K_M", ("ollama", "hf.co/some/model:Q4_K_M", "hf.co/some/model:Q4_K_M", None)),
        ("llama.cpp:default", ("llamacpp", "default", "default", None)),
        ("togetherai:openai/gpt-oss-20b", ("together", "openai/gpt-oss-20b", "openai/gpt-oss-20b", None)),
        (
            "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0/high",
            (
                "bedrock",
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                Some(Level::High),
            ),
        ),
        (
            "vertex-anthropic:claude-sonnet-4-5",
            ("vertex-anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5@20250929", None),
        ),
        ("minimax:minimax-m2", ("minimax", "minimax-m2", "MiniMax-M2", None)),
        ("sim:claude-sonnet-4-5/low", ("sim", "claude-sonnet-4-5", "claude-sonnet-4-5", Some(Level::Low))),
        // A colon without a provider before it.
        ("gemma3:4b", ("ollama-cloud", "gemma3:4b", "gemma3:4b", None)),
        ("llama-3.3-70b-versatile", ("groq", "llama-3.3-70b-versatile", "llama-3.3-70b-versatile", None)),
    ];
    for (text, parts) in cases {
        assert_eq!(parse(text), Ok(name(*parts)), "{text}");
    }
}

#[test]
fn names_that_mean_nothing_say_why() {
    let told = |text: &str| parse(text).unwrap_err().to_string();
    for (text, expected) in [
        ("", "`` does not name a model; write `provider:model` or `provider:model/level`"),
        ("anthropic:", "`anthropic:` does not name a model; write `provider:model` or `provider:model/level`"),
        (
            "anthropic:/high",
            "`anthropic:/high` does not name a model; write `provider:model` or `provider:model/level`",
        ),
        ("claude sonnet", "`claude sonnet` is not a model name: it contains spaces or control characters"),
        ("gpt-5\u{7}", "`gpt-5\\u{7}` is not a model name: it contains spaces or control characters"),
        ("antropic:claude-sonnet-4-5", "unknown provider `antropic`; did you mean `anthropic`?"),
        (
            "cluade-sonnet-4-5",
            "unknown model `cluade-sonnet-4-5` (did you mean claude-sonnet-4-5, claude-sonnet-4-0, claude-sonnet-4-6?); \
             to use it anyway, name its provider: `provider:cluade-sonnet-4-5`",
        ),
        (
            "claude-sonnet-4-5/hihg",
            "unknown thinking level `hihg`; use none, low, med or high (some models also take minimal, xhigh or max)",
        ),
        (
            "openrouter:google/gemini-2.5-pro/hihg",
            "unknown thinking level `hihg`; use none, low, med or high (some models also take minimal, xhigh or max)",
        ),
        (
            "deepseek-v3.2",
            "several providers serve `deepseek-v3.2`; choose one: azure:deepseek-v3.2, ollama-cloud:deepseek-v3.2",
        ),
        (
            "deepseek-v3.2/low",
            "several providers serve `deepseek-v3.2`; choose one: azure:deepseek-v3.2, ollama-cloud:deepseek-v3.2",
        ),
    ] {
        assert_eq!(told(text), expected);
    }
    for (text, level) in [("claude-opus-99/", ""), ("sim:claude-sonnet-4-5/x", "x"), ("deepseek-v3.2/x", "x")] {
        assert_eq!(parse(text), Err(ModelError::Level(UnknownLevel(level.to_owned()))), "{text}");
    }
    for text in ["gpt-oss-20b", "o30", "/high", "/", ":", "a/b/c", "nobody:nothing"] {
        assert!(
            matches!(parse(text), Err(ModelError::UnknownModel { .. } | ModelError::Empty(_))),
            "{text}: {:?}",
            parse(text)
        );
    }
}

#[test]
fn an_unknown_name_lists_three() {
    match parse("gmni-2.5-flash") {
        Err(ModelError::UnknownModel { nearest, .. }) => assert_eq!(nearest.len(), 3),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_users_own_rows_count() {
    let registry = Registry {
        providers: Providers::shared().with_toml("p.toml", "[home]\nbase_url = \"http://10.0.0.1:8000\"").unwrap(),
        catalog: Catalog::shared().with_toml("m.toml", "[home.\"my/high\"]\nnicknames = \"mine\"").unwrap(),
    };
    assert_eq!(registry.parse("mine/low"), Ok(name(("home", "mine", "my/high", Some(Level::Low)))));
    // The catalogue has the whole name as a model.
    assert_eq!(registry.parse("my/high"), Ok(name(("home", "my/high", "my/high", None))));
    assert_eq!(registry.parse("home:my/high/high"), Ok(name(("home", "my/high", "my/high", Some(Level::High)))));
    assert!(matches!(
        ModelName::parse("home:my/high"),
        Err(ModelError::UnknownModel { .. } | ModelError::UnknownProvider { .. })
    ));
}

proptest! {
    #[test]
    fn what_is_read_can_be_written_and_read_again(
        text in prop_oneof![
            "\\PC{0,30}",
            "(openai:|openrouter:|ollama:|x:)?(gpt-5|google/gemini-2.5-pro|gemma3:4b|a/b|/|:)?(/high|/low|/x|/)?",
        ],
    ) {
        if let Ok(name) = parse(&text) {
            prop_assert!(!name.model.is_empty() && !name.id.is_empty());
            prop_assert_eq!(parse(&name.to_string()), Ok(name));
        }
    }
}

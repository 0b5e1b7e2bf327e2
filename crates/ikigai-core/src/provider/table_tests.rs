use std::collections::{BTreeMap, BTreeSet};

use pretty_assertions::assert_eq;

use super::super::base_url::variables;
use super::super::{ChatQuirks, MaxTokensField, ProviderSetupError, Quirks, RequiredChoice, SeedField};
use super::*;
use crate::catalog::rows::from_toml;

const FILE: &str = include_str!("../../data/providers.toml");

fn row(id: &str) -> &'static Provider {
    Providers::shared().find(id).unwrap()
}

fn unset(_: &str) -> Option<String> {
    None
}

/// Returns the variables of all placeholders in a template that have no default.
fn needed(template: &str) -> Vec<&str> {
    let placeholders = template.split("${").skip(1).map(|rest| rest.split_once('}').unwrap().0);
    placeholders.map(variables).filter(|(_, default)| default.is_none()).map(|(names, _)| names[0]).collect()
}

#[test]
fn the_built_in_table_is_the_file() {
    let rows: BTreeMap<String, Provider> = from_toml("providers.toml", FILE).unwrap();
    let rows: Vec<Provider> = rows.into_iter().map(|(id, row)| Provider { id: Cow::Owned(id), ..row }).collect();
    assert_eq!(PROVIDERS.iter().collect::<Vec<_>>(), rows.iter().collect::<Vec<_>>());
}

#[test]
fn every_row_can_be_used() {
    let mut names = BTreeSet::new();
    for row in Providers::shared().iter() {
        let id = row.id.as_ref();
        for name in row.names() {
            assert!(names.insert(name.to_ascii_lowercase()), "{id}: the name {name} is taken");
            assert!(!name.is_empty() && !name.contains([':', '/', ' ']), "{id}: {name}");
            assert_eq!(Providers::shared().find(&name.to_ascii_uppercase()).unwrap().id, id);
        }
        assert!(!row.name.is_empty(), "{id}: no name");
        assert!(row.key_page().starts_with("https://") || !row.needs_key(), "{id}: nowhere to get a key");
        assert_eq!(row.auth == Auth::None, row.key_env.is_empty(), "{id}: a key without a variable, or the reverse");
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| matches!(c, 'A'..='Z' | '0'..='9' | '_'));
        for name in row.key_env.iter().chain(row.base_url_env.iter()) {
            assert!(is_name(name), "{id}: `{name}` is no variable");
        }
        let dialects: BTreeSet<_> = row.dialects().collect();
        assert_eq!(dialects.len(), row.dialects().count(), "{id}: a dialect stands twice");

        if !row.unsupported.is_empty() {
            assert!(row.base_url.is_empty() && row.prefixes.is_empty(), "{id}: it cannot be used, and yet");
            continue;
        }
        let templates =
            std::iter::once(&row.base_url).chain(row.also.iter().map(|(_, url)| url).filter(|url| !url.is_empty()));
        let templates: Vec<&str> = templates.map(|url| url.as_ref()).collect();
        for template in &templates {
            assert!(needed(template).iter().all(|name| is_name(name)), "{id}: {template}");
            assert!(!template.ends_with('/'), "{id}: {template} ends with a slash");
        }
        // The user provides whole URLs; parts are inserted into ours.
        let env = |name: &str| {
            let whole = templates.iter().any(|template| template.starts_with(&format!("${{{name}}}")));
            let part = templates.iter().any(|template| needed(template).contains(&name));
            part.then(|| if whole { "http://127.0.0.1:9" } else { "sample" }.to_owned())
        };
        for dialect in row.dialects() {
            let url = row.base_url_for(dialect, env).unwrap_or_else(|error| panic!("{id}: {error}"));
            let local = url.starts_with("http://localhost") || url.starts_with("http://127.0.0.1");
            assert!(url.starts_with("https://") || local, "{id}: {url}");
            assert!(!url.contains("${") && !url.ends_with("/v1/v1"), "{id}: {url}");
            assert!(dialect != Dialect::Anthropic || !url.ends_with("/v1"), "{id}: the path has /v1 already: {url}");
        }
        for (name, value) in row.headers.iter() {
            assert!(!name.is_empty() && !value.contains(['\r', '\n']), "{id}: {name}");
        }
    }
}

#[test]
fn nobody_claims_what_another_claims() {
    for row in Providers::shared().iter() {
        for prefix in row.prefixes.iter().filter(|prefix| !prefix.starts_with('!')) {
            let claims: Vec<_> =
                Providers::shared().iter().filter(|other| other.claims(prefix)).map(|row| &row.id).collect();
            assert_eq!(claims, [&row.id], "{prefix}");
        }
    }
}

#[test]
fn ids_and_aliases_find_their_row() {
    for (name, id) in [
        ("anthropic", "anthropic"),
        ("Anthropic", "anthropic"),
        ("togetherai", "together"),
        ("fireworks-ai", "fireworks"),
        ("moonshotai", "moonshot"),
        ("google-vertex", "vertex"),
        ("google-vertex-anthropic", "vertex-anthropic"),
        ("amazon-bedrock", "bedrock"),
        ("llama.cpp", "llamacpp"),
    ] {
        assert_eq!(row(name).id, id);
    }
    let expected = "anthropic openai google vertex vertex-anthropic azure bedrock xai groq mistral deepseek openrouter together \
        fireworks cerebras perplexity cohere moonshot zai minimax nvidia huggingface github-models ollama lmstudio vllm \
        llamacpp sim";
    assert!(expected.split_whitespace().all(|id| row(id).id == id));
    assert!(Providers::shared().find("").is_none());
    assert_eq!(Providers::shared().nearest("antropic"), Some("anthropic"));
    assert_eq!(Providers::shared().nearest("the-moon"), None);
    for dialect in Dialect::ALL {
        assert!(Providers::shared().of_dialect(dialect).speaks(dialect));
    }
}

#[test]
fn prefixes_end_where_words_end() {
    let claimant = |model| Providers::shared().claimant(model).map(|row| row.id.as_ref());
    for (model, id) in [
        ("claude-anything", Some("anthropic")),
        ("Claude-Anything", Some("anthropic")),
        ("gpt-7", Some("openai")),
        ("o1", Some("openai")),
        ("o3-mini", Some("openai")),
        ("o3@2025", Some("openai")),
        ("o30", None),
        ("o1x-mini", None),
        ("gpt-oss-20b", None),
        ("gpt-ossify", Some("openai")),
        ("gemma-3-27b-it", Some("google")),
        ("imagen-4.0-generate-001", Some("google")),
        ("dall-e-3", Some("openai")),
        ("whisper-1", Some("openai")),
        ("gemma3:4b", None),
        ("MiniMax-M9", Some("minimax")),
        ("sonar", Some("perplexity")),
        ("sonars", None),
        ("", None),
        ("ö", None),
    ] {
        assert_eq!(claimant(model), id, "{model}");
    }
}

#[test]
fn quirks_of_the_providers_that_differ_most() {
    let mistral = ChatQuirks {
        max_tokens: MaxTokensField::MaxTokens,
        seed: SeedField::RandomSeed,
        no_stream_options: true,
        tool_choice_required: RequiredChoice::Any,
        no_specific_tool: true,
        no_tools_on_none: true,
        tool_ids_of_nine: true,
        no_user_after_tool: true,
        reasoning_field: super::super::ReasoningField::ContentPart,
        replay_reasoning: super::super::ReplayReasoning::Always,
        ..ChatQuirks::default()
    };
    assert_eq!(row("mistral").quirks, Quirks { chat: mistral, ..Quirks::default() });
    assert!(row("xai").quirks.chat.no_closed_schemas);
    assert_eq!(row("groq").quirks.chat.reasoning_request, super::super::ReasoningRequest::EffortAndFormat);
    for id in ["anthropic", "openai", "google", "azure", "github-models"] {
        assert_eq!(row(id).quirks, Quirks::default(), "{id}");
    }
    assert_eq!(row("bedrock").quirks.anthropic.version.as_deref(), Some("bedrock-2023-05-31"));
    assert_eq!(Quirks::NONE, Quirks::default());
}

#[test]
fn variables_fill_a_template() {
    let env = |set: &'static [(&'static str, &'static str)]| {
        move |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let url = |id: &str, dialect, set| row(id).base_url_for(dialect, env(set)).map_err(|error| error.to_string());
    /// Provider, dialect, variables that are set, result.
    type Case<'a> = (&'a str, Dialect, &'static [(&'static str, &'static str)], Result<&'a str, &'a str>);
    let cases: &[Case<'_>] = &[
        ("openai", Dialect::OpenaiChat, &[], Ok("https://api.openai.com/v1")),
        (
            "openai",
            Dialect::OpenaiResponses,
            &[("OPENAI_BASE_URL", "https://proxy.example/")],
            Ok("https://proxy.example/v1"),
        ),
        (
            "openai",
            Dialect::OpenaiResponses,
            &[("OPENAI_BASE_URL", "https://proxy.example")],
            Ok("https://proxy.example/v1"),
        ),
        ("openai", Dialect::OpenaiResponses, &[("OPENAI_BASE_URL", " ")], Ok("https://api.openai.com/v1")),
        (
            "openai",
            Dialect::OpenaiResponses,
            &[("OPENAI_BASE_URL", "proxy")],
            Err("the base URL of openai is invalid: `proxy/v1`"),
        ),
        ("openai", Dialect::Gemini, &[], Err("openai does not speak gemini; it speaks openai-responses, openai-chat")),
        (
            "anthropic",
            Dialect::Anthropic,
            &[("ANTHROPIC_BASE_URL", "http://localhost:8080/v1/")],
            Ok("http://localhost:8080"),
        ),
        (
            "google",
            Dialect::Gemini,
            &[("GOOGLE_GEMINI_BASE_URL", "https://p.example/")],
            Ok("https://p.example/v1beta"),
        ),
        (
            "google",
            Dialect::Gemini,
            &[("GEMINI_BASE_URL", "https://p.example/x/v1alpha")],
            Ok("https://p.example/x/v1alpha"),
        ),
        (
            "google",
            Dialect::OpenaiChat,
            &[("GEMINI_BASE_URL", "https://p.example")],
            Ok("https://p.example/v1beta/openai"),
        ),
        (
            "deepseek",
            Dialect::Anthropic,
            &[("DEEPSEEK_BASE_URL", "https://p.example")],
            Ok("https://api.deepseek.com/anthropic"),
        ),
        (
            "azure",
            Dialect::OpenaiChat,
            &[("AZURE_RESOURCE_NAME", "mine")],
            Ok("https://mine.openai.azure.com/openai/v1"),
        ),
        ("azure", Dialect::OpenaiChat, &[], Err("azure has no fixed address; set AZURE_RESOURCE_NAME")),
        ("bedrock", Dialect::Anthropic, &[], Ok("https://bedrock-runtime.us-east-1.amazonaws.com")),
        (
            "bedrock",
            Dialect::Anthropic,
            &[("AWS_DEFAULT_REGION", "eu-west-1")],
            Ok("https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ),
        (
            "vertex",
            Dialect::Gemini,
            &[("GOOGLE_CLOUD_PROJECT", "p")],
            Ok("https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"),
        ),
        (
            "vertex",
            Dialect::Gemini,
            &[("GOOGLE_CLOUD_PROJECT", "p"), ("GOOGLE_VERTEX_LOCATION", "us-central1")],
            Ok("https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google"),
        ),
        (
            "vertex-anthropic",
            Dialect::Anthropic,
            &[],
            Err("vertex-anthropic has no fixed address; set GOOGLE_VERTEX_PROJECT or GOOGLE_CLOUD_PROJECT"),
        ),
        (
            "databricks",
            Dialect::OpenaiChat,
            &[("DATABRICKS_HOST", "https://dbc-1.cloud.databricks.com/")],
            Ok("https://dbc-1.cloud.databricks.com/ai-gateway/mlflow/v1"),
        ),
        ("sim", Dialect::Gemini, &[("IKIGAI_SIM_URL", "http://127.0.0.1:4010")], Ok("http://127.0.0.1:4010/v1beta")),
        ("sim", Dialect::Anthropic, &[("IKIGAI_SIM_URL", "http://127.0.0.1:4010/")], Ok("http://127.0.0.1:4010")),
        ("sim", Dialect::OpenaiChat, &[], Err("sim has no fixed address; set IKIGAI_SIM_URL")),
    ];
    for (id, dialect, set, expected) in cases {
        assert_eq!(
            url(id, *dialect, set).as_deref(),
            expected.map_err(|error| error.to_owned()).as_ref().copied(),
            "{id} {set:?}"
        );
    }
}

#[test]
fn a_users_row_goes_over_the_built_in_one() {
    let text = r#"
        [Mistral]
        base_url = "https://proxy.example"
        key_env = "MY_KEY"
        quirks.chat = { top_k = true, tool_choice_required = "required" }

        [togetherai]
        name = "Together, ours"
    "#;
    let providers = Providers::shared().with_toml("my.toml", text).unwrap();
    let below = &row("mistral").quirks;
    let chat = ChatQuirks { top_k: true, tool_choice_required: RequiredChoice::Required, ..below.chat };
    let expected = Provider {
        base_url: "https://proxy.example/v1".into(),
        key_env: Cow::Owned(vec!["MY_KEY".into()]),
        quirks: Quirks { chat, ..below.clone() },
        ..row("mistral").clone()
    };
    assert_eq!(providers.find("mistral"), Some(&expected));
    assert_eq!(providers.find("together").map(|row| row.name.as_ref()), Some("Together, ours"));
    assert_eq!(providers.iter().count(), Providers::shared().iter().count());
    // A second file is overlaid on the first.
    let twice = providers.with_toml("more.toml", "[mistral]\nname = \"M\"").unwrap();
    assert_eq!(twice.find("mistral"), Some(&Provider { name: "M".into(), ..expected }));
}

#[test]
fn a_users_base_url_moves_those_that_begin_with_the_old_one() {
    let url = |text: &str| {
        let providers = Providers::shared().with_toml("my.toml", text).unwrap();
        providers.find("google").unwrap().base_url_for(Dialect::OpenaiChat, unset).unwrap()
    };
    let moved = "[google]\nbase_url = \"http://proxy.example\"";
    assert_eq!(url(moved), "http://proxy.example/v1beta/openai");
    let own = "https://generativelanguage.googleapis.com/v1beta/openai";
    assert_eq!(url("[google]\nname = \"G\""), own);
    assert_eq!(url(&format!("{moved}\nalso.openai-chat = \"http://other.example/v1\"")), "http://other.example/v1");
}

#[test]
fn a_users_new_row_is_completed() {
    let providers = Providers::shared()
        .with_toml("my.toml", "[my-server]\nbase_url = \"http://10.0.0.1:8000\"\nprefixes = \"my-\"")
        .unwrap();
    let expected = Provider {
        id: "my-server".into(),
        name: "my-server".into(),
        base_url: "http://10.0.0.1:8000/v1".into(),
        key_env: Cow::Owned(vec!["MY_SERVER_API_KEY".into()]),
        prefixes: Cow::Owned(vec!["my-".into()]),
        ..Provider::default()
    };
    assert_eq!(providers.find("MY-server"), Some(&expected));
    assert_eq!(providers.claimant("my-model"), Some(&expected));
    assert_eq!(expected.base_url_for(Dialect::OpenaiChat, unset).as_deref(), Ok("http://10.0.0.1:8000/v1"));
}

#[test]
fn a_users_bad_row_is_refused_at_its_place() {
    let refused = |text: &str| Providers::shared().with_toml("my.toml", text).unwrap_err().to_string();
    for (text, expected) in [
        ("[mine]\nname = \"x\"", "my.toml:1:2: mine: a new provider needs a `base_url`"),
        (
            "\n[mine]\nbase_url = \"ftp://x\"",
            "my.toml:2:2: mine.base_url: `ftp://x/v1` is not a URL; it must start with https:// or http://",
        ),
        (
            "[mine]\nbase_url = \"https://x\"\naliases = \"openai\"",
            "my.toml:1:2: mine.aliases: `openai` is the name of another provider",
        ),
        (
            "[\"a:b\"]\nbase_url = \"https://x\"",
            "my.toml:1:2: a:b: an id must not be empty or contain a colon or a slash",
        ),
        ("[openai]\nquirk = {}", "my.toml:2:1: openai.quirk: unknown key `quirk`; did you mean `quirks`?"),
    ] {
        assert_eq!(refused(text), expected);
    }
}

#[test]
fn an_empty_address_is_the_users_to_give() {
    let row = Provider { id: "x".into(), ..Provider::default() };
    let error = ProviderSetupError::MissingVariable { provider: "x".into(), variables: vec!["X_BASE_URL".into()] };
    assert_eq!(row.base_url_for(Dialect::OpenaiChat, unset), Err(error));
    let given = row.base_url_for(Dialect::OpenaiChat, |name| (name == "X_BASE_URL").then(|| "https://y".into()));
    assert_eq!(given.as_deref(), Ok("https://y/v1"));
    let broken = Provider { base_url: "https://${A".into(), ..row };
    assert!(matches!(broken.base_url_for(Dialect::OpenaiChat, unset), Err(ProviderSetupError::NotAUrl { .. })));
}

use std::borrow::Cow;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::facts::{Modality, Prices, Status, TierPrices};
use super::*;
use crate::{Dialect, Level};

fn find(provider: &str, model: &str) -> Option<&'static str> {
    Catalog::shared().find(Some(provider), model).map(|facts| facts.id.as_ref())
}

fn bare(model: &str) -> Option<(&'static str, &'static str)> {
    Catalog::shared().find(None, model).map(|facts| (facts.provider.as_ref(), facts.id.as_ref()))
}

#[test]
fn the_built_in_catalogue_is_the_files() {
    let mut rows = Vec::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/models");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let table: BTreeMap<String, BTreeMap<String, Row>> = from_toml(&file.display().to_string(), &text).unwrap();
        for (provider, models) in table {
            assert_eq!(Some(provider.as_str()), file.file_stem().and_then(|name| name.to_str()));
            rows.extend(models.into_iter().map(|(id, row)| row.onto(None, &provider, &id)));
        }
    }
    assert_eq!(MODELS.iter().count(), rows.len());
    for (built_in, row) in MODELS.iter().zip(&rows) {
        assert_eq!(built_in, row);
    }
}

#[test]
fn every_name_finds_its_model_and_no_other() {
    for facts in Catalog::shared().models() {
        for name in facts.names() {
            for name in [name.to_owned(), name.to_ascii_uppercase()] {
                assert_eq!(Catalog::shared().exact(&facts.provider, &name), Some(facts), "{name}");
            }
            let named: Vec<_> = Catalog::shared().named(name).map(|facts| &facts.provider).collect();
            let is_called = |other: &&Facts| other.names().any(|own| own.eq_ignore_ascii_case(name));
            let mut scanned: Vec<_> = MODELS.iter().filter(is_called).map(|facts| &facts.provider).collect();
            scanned.sort();
            assert_eq!(named, scanned, "{name}");
        }
    }
}

#[test]
fn every_model_makes_sense() {
    for facts in Catalog::shared().models() {
        let id = format!("{}:{}", facts.provider, facts.id);
        assert!(Providers::shared().find(&facts.provider).is_some_and(|row| row.id == facts.provider), "{id}");
        assert!(!facts.name.is_empty(), "{id}");
        for number in [facts.context, facts.max_input, facts.max_output] {
            assert_ne!(number, Some(0), "{id}: unknown is absent, not zero");
        }
        let prices = facts.prices;
        assert_eq!(prices.input.is_some(), prices.output.is_some(), "{id}: half a price");
        assert!(prices.input.is_some() || prices == Prices::default(), "{id}");
        for tier in facts.tiers.iter() {
            assert!(tier.above > 0 && tier.prices.input.is_some() && tier.prices.output.is_some(), "{id}");
        }
        assert!(facts.tiers.is_sorted_by_key(|tier| tier.above), "{id}");
        assert!(facts.efforts.is_sorted(), "{id}");
        assert!(facts.efforts.is_empty() || facts.thinking == Some(true), "{id}");
        if let Some(dialect) = facts.dialect {
            assert!(Providers::shared().find(&facts.provider).unwrap().speaks(dialect), "{id}");
        }
        let is_date = |date: &str| date.len() >= 7 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        for date in [&facts.released, &facts.retires].into_iter().flatten() {
            assert!(is_date(date), "{id}: {date}");
        }
    }
}

#[test]
fn the_models_of_the_documents_are_there() {
    for (provider, model, id) in [
        ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-opus-4-5", "claude-opus-4-5"),
        ("anthropic", "claude-haiku-4-5", "claude-haiku-4-5"),
        ("anthropic", "claude-3-7-sonnet", "claude-3-7-sonnet-20250219"),
        ("anthropic", "claude-3-5-sonnet", "claude-3-5-sonnet-20241022"),
        ("google", "gemini-2.5-pro", "gemini-2.5-pro"),
        ("google", "gemini-2.5-flash", "gemini-2.5-flash"),
        ("google", "gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("google", "gemini-3-pro", "gemini-3-pro-preview"),
        ("openai", "o1", "o1"),
        ("openai", "o1-mini", "o1-mini"),
        ("openai", "o3", "o3"),
        ("openai", "o3-mini", "o3-mini"),
        ("openai", "o4-mini", "o4-mini"),
        ("openai", "gpt-5", "gpt-5"),
        ("openai", "gpt-5.4", "gpt-5.4"),
        ("togetherai", "openai/gpt-oss-20b", "openai/gpt-oss-20b"),
    ] {
        assert_eq!(find(provider, model), Some(id), "{provider}:{model}");
    }
}

#[test]
fn words_about_the_version_are_taken_off_and_no_others() {
    for (provider, model, id) in [
        ("openai", "gpt-4.1-nano-2025-04-14", Some("gpt-4.1-nano")),
        ("openai", "o3-mini-2025-01-31", Some("o3-mini")),
        ("openai", "o3-2025-04-16", Some("o3")),
        ("openai", "gpt-4-0613", Some("gpt-4")),
        // Listed under another name, or separately because of their prices.
        ("openai", "gpt-4-1106-preview", Some("gpt-4-turbo")),
        ("openai", "gpt-3.5-turbo-1106", Some("gpt-3.5-turbo-1106")),
        ("openai", "gpt-4o-2024-05-13", Some("gpt-4o-2024-05-13")),
        ("openai", "o30", None),
        ("openai", "o3-mini-high", None),
        ("openai", "gpt-5.4-turbo", None),
        ("openai", "gpt-5-4", None),
        ("openai", "gpt-4o-70", None),
        ("openai", "", None),
        ("openai", "-", None),
        ("openai", "-2025-04-14", None),
        ("anthropic", "claude-opus-4-6-20260205", Some("claude-opus-4-6")),
        ("anthropic", "claude-opus-4-9", None),
        ("anthropic", "claude-sonnet-4-5@20250929", Some("claude-sonnet-4-5")),
        ("google", "gemini-2.5-pro-preview-05-06", Some("gemini-2.5-pro")),
        ("google", "gemini-2.0-flash-001", Some("gemini-2.0-flash")),
        ("google", "gemini-2.5-flash-preview-tts", Some("gemini-2.5-flash-preview-tts")),
        ("google", "gemini-2.5-flash-native-audio-latest", None),
        ("vertex-anthropic", "claude-sonnet-4-5@20250929", Some("claude-sonnet-4-5@20250929")),
        ("vertex-anthropic", "claude-sonnet-4-5", Some("claude-sonnet-4-5@20250929")),
        ("vertex-anthropic", "claude-opus-4-6", Some("claude-opus-4-6@default")),
        ("bedrock", "anthropic.claude-opus-4-7-v1:0", Some("anthropic.claude-opus-4-7")),
        ("openrouter", "anthropic/claude-opus-4.5:thinking", Some("anthropic/claude-opus-4.5")),
        ("openrouter", "anthropic/claude-opus-4.5:free", None),
        ("nobody", "gpt-5", None),
    ] {
        assert_eq!(find(provider, model), id, "{provider}:{model}");
    }
}

#[test]
fn a_bare_name_is_its_makers_or_the_only_one() {
    assert_eq!(bare("claude-sonnet-4-5"), Some(("anthropic", "claude-sonnet-4-5")));
    assert_eq!(bare("gpt-5.4-2026-03-05"), Some(("openai", "gpt-5.4")));
    assert_eq!(bare("gemini-2.5-pro"), Some(("google", "gemini-2.5-pro")));
    assert_eq!(bare("kimi-k2.5"), Some(("moonshot", "kimi-k2.5")));
    assert_eq!(bare("minimax-m2"), Some(("minimax", "MiniMax-M2")));
    assert_eq!(bare("llama-3.3-70b-versatile"), Some(("groq", "llama-3.3-70b-versatile")));
    // On several hosts, none of which is the maker.
    assert_eq!(bare("openai/gpt-oss-120b"), None);
    assert_eq!(bare("nothing-like-it"), None);
}

#[test]
fn a_users_file_goes_over_the_catalogue() {
    let text = r#"
        [anthropic.claude-sonnet-4-5]
        context = 1000000
        prices = { cache_read = 0.25 }
        tiers = [
            { above = 400000, prices = { input = 9 } },
            { above = 200000, prices = { input = 6.0, output = 22.5 } },
        ]
        status = "deprecated"

        [anthropic.claude-opus-4-20250514]
        max_output = 1

        [togetherai."my/model"]
        aliases = "my-model"
        thinking = true
        efforts = ["low", "medium"]
        input = ["text", "image"]
    "#;
    let catalog = Catalog::shared().with_toml("models.toml", text).unwrap();
    let built_in = Catalog::shared().find(Some("anthropic"), "claude-sonnet-4-5").unwrap();
    let tier = |above, input, output| TierPrices { above, prices: Prices { input, output, ..Prices::default() } };
    let sonnet = Facts {
        context: Some(1_000_000),
        prices: Prices { cache_read: Some(250_000), ..built_in.prices },
        tiers: Cow::Owned(vec![tier(200_000, Some(6_000_000), Some(22_500_000)), tier(400_000, Some(9_000_000), None)]),
        status: Status::Deprecated,
        ..built_in.clone()
    };
    assert_eq!(catalog.find(Some("anthropic"), "claude-sonnet-4-5"), Some(&sonnet));
    assert_eq!(catalog.find(None, "claude-sonnet-4-5-20250929"), Some(&sonnet));
    // A row for one of several ids leaves the others unchanged.
    let old = Catalog::shared().find(Some("anthropic"), "claude-opus-4-0").unwrap();
    assert_eq!(catalog.find(Some("anthropic"), "claude-opus-4-0"), Some(old));
    let dated = Facts {
        id: "claude-opus-4-20250514".into(),
        aliases: Cow::Borrowed(&[]),
        nicknames: Cow::Borrowed(&[]),
        max_output: Some(1),
        ..old.clone()
    };
    assert_eq!(catalog.find(Some("anthropic"), "claude-opus-4-20250514"), Some(&dated));
    let mine = Facts {
        provider: "together".into(),
        id: "my/model".into(),
        aliases: Cow::Owned(vec!["my-model".into()]),
        thinking: Some(true),
        efforts: Cow::Owned(vec![Level::Low, Level::Med]),
        input: Cow::Owned(vec![Modality::Text, Modality::Image]),
        ..Facts::default()
    };
    assert_eq!(catalog.find(None, "MY-MODEL"), Some(&mine));
    assert_eq!(catalog.models().count(), MODELS.iter().count() + 2);
    assert_eq!(catalog.nearest("my-modle", 1), ["my-model"]);

    // A later file removes a name.
    let later = catalog.with_toml("later.toml", "[together.\"my/model\"]\naliases = []").unwrap();
    assert_eq!(later.find(None, "my-model"), None);
    assert_eq!(later.find(None, "my/model").map(|facts| facts.thinking), Some(Some(true)));
}

#[test]
fn a_users_broken_file_is_told_with_its_place() {
    let told = |text: &str| Catalog::shared().with_toml("models.toml", text).unwrap_err().to_string();
    for (text, expected) in [
        (
            "[anthropic.claude-sonnet-4-5]\ncontxt = 5",
            "models.toml:2:1: anthropic.claude-sonnet-4-5.contxt: unknown key `contxt`; did you mean `context`?",
        ),
        ("[a.b]\ncontext = -5", "models.toml:2:11: a.b.context: invalid value: integer `-5`, expected u32"),
        (
            "[a.b]\nprices = { input = \"3\" }",
            "models.toml:2:20: a.b.prices.input: invalid type: string \"3\", expected f64",
        ),
        (
            "[a.b]\ninput = [\"smell\"]",
            "models.toml:2:10: a.b.input[0]: unknown word `smell`; use text, image, pdf, audio, video, embedding",
        ),
        ("[a.b]\ntiers = [{ prices = {} }]", "models.toml:2:10: a.b.tiers[0]: missing field `above`"),
    ] {
        assert_eq!(told(text), expected);
    }
}

#[test]
fn an_api_json_goes_over_the_catalogue() {
    let text = r#"{
        "fireworks-ai": {"id": "fireworks-ai", "env": ["FIREWORKS_API_KEY"], "npm": "@ai-sdk/openai-compatible",
            "api": "https://api.fireworks.ai/inference/v1/", "name": "Fireworks AI", "models": {
            "new-model": {"id": "new-model", "name": "New", "attachment": true, "reasoning": true, "tool_call": true,
                "structured_output": false, "temperature": true, "knowledge": "2026-01", "release_date": "2026-10-01",
                "modalities": {"input": ["text", "image", "smell"], "output": ["text"]}, "open_weights": true,
                "cost": {"input": 0.6, "output": 2.4, "cache_read": 0.06, "reasoning": 2.4,
                    "context_over_200k": {"input": 1.2, "output": 4.8}},
                "limit": {"context": 256000, "output": 0}, "status": "beta"}}},
        "google": {"models": {
            "gemini-2.5-pro": {"id": "gemini-2.5-pro", "cost": {"input": 1.3, "output": 10,
                "tiers": [{"tier": {"type": "context", "size": 200000}, "input": 2.6, "output": 15}],
                "context_over_200k": {"input": 2.6, "output": 15}}, "limit": null}}},
        "empty": {}
    }"#;
    let catalog = Catalog::shared().with_api_json("api.json", text).unwrap();
    let new = Facts {
        provider: "fireworks".into(),
        id: "new-model".into(),
        name: "New".into(),
        released: Some("2026-10-01".into()),
        knowledge: Some("2026-01".into()),
        context: Some(256_000),
        prices: Prices { input: Some(600_000), output: Some(2_400_000), cache_read: Some(60_000), ..Prices::default() },
        tiers: Cow::Owned(vec![TierPrices {
            above: 200_000,
            prices: Prices { input: Some(1_200_000), output: Some(4_800_000), ..Prices::default() },
        }]),
        input: Cow::Owned(vec![Modality::Text, Modality::Image]),
        output: Cow::Owned(vec![Modality::Text]),
        thinking: Some(true),
        tools: Some(true),
        structured_output: Some(false),
        temperature: Some(true),
        status: Status::Preview,
        ..Facts::default()
    };
    assert_eq!(catalog.find(Some("fireworks"), "new-model"), Some(&new));
    let built_in = Catalog::shared().find(Some("google"), "gemini-2.5-pro").unwrap();
    let pro = Facts {
        prices: Prices { input: Some(1_300_000), ..built_in.prices },
        tiers: Cow::Owned(vec![TierPrices {
            above: 200_000,
            prices: Prices { input: Some(2_600_000), output: Some(15_000_000), ..Prices::default() },
        }]),
        ..built_in.clone()
    };
    assert_eq!(catalog.find(Some("google"), "gemini-2.5-pro"), Some(&pro));
}

#[test]
fn models_that_speak_another_dialect_than_their_provider() {
    let dialect = |provider, model| Catalog::shared().find(Some(provider), model).unwrap().dialect;
    assert_eq!(dialect("openai", "o1-mini"), Some(Dialect::OpenaiChat));
    assert_eq!(dialect("openai", "o1-preview"), Some(Dialect::OpenaiChat));
    assert_eq!(dialect("openai", "o1"), None);
    assert_eq!(dialect("azure", "claude-sonnet-4-5"), Some(Dialect::Anthropic));
}

#[test]
fn the_nearest_names_can_be_typed() {
    assert_eq!(
        Catalog::shared().nearest("cluade-sonnet-4-5", 3),
        ["claude-sonnet-4-5", "claude-sonnet-4-0", "claude-sonnet-4-6"]
    );
    assert_eq!(Catalog::shared().nearest("gemini-2.5-por", 1), ["gemini-2.5-pro"]);
    assert_eq!(Catalog::shared().nearest("deepseek-v3.2", 1), ["azure:deepseek-v3.2"]);
    for name in Catalog::shared().nearest("", 3) {
        assert!(crate::ModelName::parse(&name).is_ok(), "{name}");
    }
    assert!(Catalog::shared().nearest(&"x".repeat(10_000), 3).is_empty());
}

proptest! {
    #[test]
    fn any_name_is_survived(name in "\\PC{0,40}", dated in "[a-z0-9:@/-]{0,40}") {
        for name in [name, dated] {
            let found = Catalog::shared().find(Some("openai"), &name);
            prop_assert!(found.is_none_or(|facts| facts.names().any(|own| name.len() >= own.len())));
            for shorter in unversioned(&name) {
                prop_assert!(name.starts_with(shorter) && shorter.len() < name.len() && !shorter.is_empty());
            }
        }
    }
}

#[test]
fn bedrock_has_the_models_of_every_maker() {
    let known = |id: &str| {
        let facts = Catalog::shared().find(Some("bedrock"), id).unwrap();
        (facts.context, facts.max_output, facts.prices.input, facts.prices.output)
    };
    assert_eq!(known("amazon.nova-lite-v1:0"), (Some(300_000), Some(8_192), Some(60_000), Some(240_000)));
    assert_eq!(known("us.amazon.nova-pro-v1:0"), (Some(300_000), Some(8_192), Some(800_000), Some(3_200_000)));
    assert_eq!(known("meta.llama3-3-70b-instruct-v1:0"), (Some(128_000), Some(4_096), Some(720_000), Some(720_000)));
    assert_eq!(known("us.meta.llama4-scout-17b-instruct-v1:0").2, Some(170_000));
    assert_eq!(known("deepseek.r1-v1:0").3, Some(5_400_000));
    assert_eq!(known("google.gemma-3-12b-it").2, Some(50_000), "the list has 0.04999…");
}

#[test]
fn a_model_from_values_takes_the_place_of_what_is_known() {
    let facts = crate::catalog::Facts::new("claude", "x");
    assert_eq!(Catalog::shared().with_model(facts).find(Some("claude"), "x").unwrap().id, "x");
    let facts = crate::catalog::Facts::new("aws-bedrock", "amazon.nova-lite-v1:0")
        .name("My Nova")
        .context(1000)
        .max_output(100)
        .prices(Prices::per_million(1.5, -1.0))
        .thinks([crate::Level::Low]);
    let catalog = Catalog::shared().with_model(facts.clone());
    let found = catalog.find(Some("bedrock"), "amazon.nova-lite-v1:0").unwrap();
    assert_eq!(found, &crate::catalog::Facts { provider: "bedrock".into(), ..facts });
    assert_eq!(found.prices, Prices { input: Some(1_500_000), ..Prices::default() });
}

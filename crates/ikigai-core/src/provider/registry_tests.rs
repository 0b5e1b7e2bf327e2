use pretty_assertions::assert_eq;

use super::*;
use crate::provider::Quirks;

fn way(name: &str) -> (String, Dialect, String, bool) {
    let registry = Registry::shared();
    let route = registry.route(&registry.parse(name).unwrap()).unwrap();
    (route.provider.id.to_string(), route.dialect, route.model, route.facts.is_some())
}

#[test]
fn each_model_is_spoken_to_in_its_dialect() {
    for (name, provider, dialect, model, known) in [
        ("claude-sonnet-4-5/med", "anthropic", Dialect::Anthropic, "claude-sonnet-4-5", true),
        ("gpt-5.4", "openai", Dialect::OpenaiResponses, "gpt-5.4", true),
        ("gpt-99", "openai", Dialect::OpenaiResponses, "gpt-99", false),
        ("o1-mini", "openai", Dialect::OpenaiChat, "o1-mini", true),
        ("o1-preview-2024-09-12", "openai", Dialect::OpenaiChat, "o1-preview-2024-09-12", true),
        ("gemini-3-pro", "google", Dialect::Gemini, "gemini-3-pro-preview", true),
        ("openrouter:openai/gpt-5.4", "openrouter", Dialect::OpenaiChat, "openai/gpt-5.4", true),
        ("azure:claude-sonnet-4-5", "azure", Dialect::Anthropic, "claude-sonnet-4-5", true),
        ("azure:gpt-5.4", "azure", Dialect::OpenaiChat, "gpt-5.4", true),
        ("bedrock:openai.gpt-oss-120b-1:0", "bedrock", Dialect::OpenaiChat, "openai.gpt-oss-120b-1:0", true),
        ("bedrock:anthropic.claude-sonnet-4-6", "bedrock", Dialect::Anthropic, "anthropic.claude-sonnet-4-6", true),
        ("bedrock:us.amazon.nova-lite-v1:0", "bedrock", Dialect::BedrockConverse, "us.amazon.nova-lite-v1:0", true),
        (
            "bedrock-converse:anthropic.claude-sonnet-4-6",
            "bedrock-converse",
            Dialect::BedrockConverse,
            "anthropic.claude-sonnet-4-6",
            true,
        ),
        (
            "bedrock-converse:openai.gpt-oss-120b-1:0",
            "bedrock-converse",
            Dialect::BedrockConverse,
            "openai.gpt-oss-120b-1:0",
            true,
        ),
        ("vertex:gemini-2.5-pro", "vertex", Dialect::Gemini, "gemini-2.5-pro", true),
        ("vertex:claude-sonnet-4-5", "vertex", Dialect::Anthropic, "claude-sonnet-4-5@20250929", true),
        ("vertex:claude-opus-99", "vertex", Dialect::Anthropic, "claude-opus-99", false),
        ("vertex:openai/gpt-oss-20b-maas", "vertex", Dialect::OpenaiChat, "openai/gpt-oss-20b-maas", true),
        ("ollama:gemma3:4b", "ollama", Dialect::OpenaiChat, "gemma3:4b", false),
        ("sim:claude-sonnet-4-5", "sim", Dialect::Anthropic, "claude-sonnet-4-5", true),
        ("sim:gemini-3-pro", "sim", Dialect::Gemini, "gemini-3-pro-preview", true),
        ("sim:gpt-99", "sim", Dialect::OpenaiResponses, "gpt-99", false),
        ("sim:o1-mini", "sim", Dialect::OpenaiChat, "o1-mini", true),
        ("sim:anything", "sim", Dialect::OpenaiChat, "anything", false),
    ] {
        assert_eq!(way(name), (provider.to_owned(), dialect, model.to_owned(), known), "{name}");
    }
}

#[test]
fn bedrock_speaks_anthropic_for_claude_alone() {
    let registry = Registry::shared();
    for (id, model, dialect) in [
        ("bedrock", "anthropic.claude-sonnet-4-6", Dialect::Anthropic),
        ("bedrock", "eu.anthropic.claude-sonnet-99", Dialect::Anthropic),
        ("bedrock", "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-6", Dialect::Anthropic),
        ("bedrock", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", Dialect::BedrockConverse),
        ("bedrock", "us.amazon.nova-lite-v1:0", Dialect::BedrockConverse),
        ("bedrock-converse", "anthropic.claude-sonnet-4-6", Dialect::BedrockConverse),
        ("anthropic", "claude-sonnet-4-6", Dialect::Anthropic),
        ("vertex", "claude-sonnet-4-6", Dialect::Anthropic),
    ] {
        let row = registry.providers.find(id).unwrap();
        assert_eq!(registry.dialect_for(row, model), dialect, "{id}:{model}");
    }
    // Claude can also be reached through Converse; others require it.
    let claude = registry.parse("bedrock:anthropic.claude-sonnet-4-6").unwrap();
    assert_eq!(registry.route_in(&claude, Dialect::BedrockConverse).unwrap().dialect, Dialect::BedrockConverse);
    let nova = registry.parse("bedrock:us.amazon.nova-lite-v1:0").unwrap();
    let error = registry.route_in(&nova, Dialect::Anthropic).unwrap_err();
    assert_eq!(error.to_string(), "bedrock does not speak anthropic; it speaks bedrock-converse, openai-chat");
}

#[test]
fn a_caller_may_want_another_dialect() {
    let registry = Registry::shared();
    let name = registry.parse("gpt-5.4").unwrap();
    assert_eq!(registry.route_in(&name, Dialect::OpenaiChat).unwrap().dialect, Dialect::OpenaiChat);
    assert_eq!(
        registry.route_in(&name, Dialect::Gemini).unwrap_err(),
        ProviderSetupError::NotSpoken {
            provider: "openai".to_owned(),
            dialect: Dialect::Gemini,
            speaks: vec![Dialect::OpenaiResponses, Dialect::OpenaiChat],
        }
    );
    let nobody = ModelName::new("opnai", "gpt-5.4");
    assert_eq!(registry.route(&nobody).unwrap_err().to_string(), "unknown provider `opnai`; did you mean `openai`?");
    assert_eq!(registry.route(&ModelName::new("qqqqqq", "x")).unwrap_err().to_string(), "unknown provider `qqqqqq`");
}

#[test]
fn what_cannot_be_used_says_why() {
    let registry = Registry::shared();
    let refused = |name| registry.route(&registry.parse(name).unwrap()).unwrap_err().to_string();
    assert_eq!(refused("gitlab:duo"), "gitlab cannot be used: it speaks a protocol of its own");
    let gitlab = registry.providers.find("gitlab").unwrap();
    assert!(matches!(gitlab.base_url_for(Dialect::OpenaiChat, |_| None), Err(ProviderSetupError::Unsupported { .. })));
}

#[test]
fn every_dialect_has_a_home() {
    for (dialect, model, provider, id) in [
        (Dialect::Anthropic, "claude-3-7-sonnet", "anthropic", "claude-3-7-sonnet-20250219"),
        (Dialect::OpenaiChat, "gpt-5.4", "openai", "gpt-5.4"),
        (Dialect::OpenaiResponses, "gpt-5.4", "openai", "gpt-5.4"),
        (Dialect::Gemini, "whatever", "google", "whatever"),
    ] {
        let route = Registry::shared().route_of_dialect(dialect, model);
        assert_eq!((route.dialect, route.model.as_str()), (dialect, id));
        let target = route.target();
        assert_eq!((target.provider, target.quirks), (provider, &Quirks::default()));
        assert_eq!(target.rules, rules_for(id));
        assert_eq!(target.facts.is_some(), model != "whatever");
    }
}

#[test]
fn clouds_have_the_model_in_the_path() {
    for (name, streams, path) in [
        ("bedrock:anthropic.claude-sonnet-4-6", false, "/model/anthropic.claude-sonnet-4-6/invoke"),
        (
            "bedrock:anthropic.claude-haiku-4-5-20251001-v1:0",
            true,
            "/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream",
        ),
        (
            "bedrock:arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.x",
            false,
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.x/invoke",
        ),
        ("vertex:claude-sonnet-4-5", false, "/models/claude-sonnet-4-5@20250929:rawPredict"),
        ("vertex:claude-sonnet-4-5", true, "/models/claude-sonnet-4-5@20250929:streamRawPredict"),
        ("vertex:gemini-2.5-pro", true, "/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
    ] {
        let registry = Registry::shared();
        let route = registry.route(&registry.parse(name).unwrap()).unwrap();
        let mut request = crate::Request::new(&route.model).user("Hi");
        request.stream = streams.then_some(true);
        assert_eq!(
            route.dialect.encode_request(&request, &route.target(), &crate::Limits::default()).unwrap().path,
            path,
            "{name}"
        );
    }
}

use pretty_assertions::assert_eq;

use super::*;
use crate::provider::Providers;

/// Returns where a provider's request goes if its variable is set.
fn with(id: &str, dialect: Dialect, configured: &str) -> String {
    let row = Providers::shared().find(id).unwrap();
    let variable = row.base_url_variables().remove(0);
    row.base_url_for(dialect, |name| (name == variable).then(|| configured.to_owned())).unwrap()
}

#[test]
fn every_usual_spelling_means_the_same_server() {
    for (spelling, openai, anthropic, gemini) in [
        ("http://host", "http://host/v1", "http://host", "http://host/v1beta"),
        ("http://host/", "http://host/v1", "http://host", "http://host/v1beta"),
        ("http://host//", "http://host/v1", "http://host", "http://host/v1beta"),
        (" http://host/ ", "http://host/v1", "http://host", "http://host/v1beta"),
        ("http://host:4000", "http://host:4000/v1", "http://host:4000", "http://host:4000/v1beta"),
        ("http://host/path", "http://host/path/v1", "http://host/path", "http://host/path/v1beta"),
        ("http://host/path/", "http://host/path/v1", "http://host/path", "http://host/path/v1beta"),
        ("http://host/a/b/", "http://host/a/b/v1", "http://host/a/b", "http://host/a/b/v1beta"),
        ("http://host/v1", "http://host/v1", "http://host", "http://host/v1"),
        ("http://host/v1/", "http://host/v1", "http://host", "http://host/v1"),
        ("http://host/path/v1", "http://host/path/v1", "http://host/path", "http://host/path/v1"),
        ("http://host/path/v1/", "http://host/path/v1", "http://host/path", "http://host/path/v1"),
        ("http://host?a=b", "http://host/v1?a=b", "http://host?a=b", "http://host/v1beta?a=b"),
        ("http://host/v1/?a=b/", "http://host/v1?a=b/", "http://host?a=b/", "http://host/v1?a=b/"),
    ] {
        assert_eq!(with("openai", Dialect::OpenaiResponses, spelling), openai, "{spelling}");
        assert_eq!(with("openai", Dialect::OpenaiChat, spelling), openai, "{spelling}");
        assert_eq!(with("groq", Dialect::OpenaiChat, spelling), openai, "{spelling}");
        assert_eq!(with("anthropic", Dialect::Anthropic, spelling), anthropic, "{spelling}");
        assert_eq!(with("google", Dialect::Gemini, spelling), gemini, "{spelling}");
    }
    for spelling in ["http://host/v1beta", "http://host/v1beta/", "http://host", "http://host/"] {
        assert_eq!(with("google", Dialect::Gemini, spelling), "http://host/v1beta", "{spelling}");
        assert_eq!(with("google", Dialect::OpenaiChat, spelling), "http://host/v1beta/openai", "{spelling}");
    }
}

#[test]
fn a_provider_whose_own_address_has_another_version_or_none_keeps_it() {
    for (id, spelling, expected) in [
        ("zai", "http://host/api/paas", "http://host/api/paas/v4"),
        ("zai", "http://host/api/paas/v4/", "http://host/api/paas/v4"),
        // A server with the dialect's own paths: a gateway, the simulator.
        ("zai", "http://host", "http://host/v1"),
        ("deepinfra", "https://api.deepinfra.com/v1/openai/", "https://api.deepinfra.com/v1/openai"),
        // APIs that begin at the host itself, without a version.
        ("perplexity", "https://api.perplexity.ai", "https://api.perplexity.ai"),
        ("perplexity", "https://api.perplexity.ai/", "https://api.perplexity.ai"),
        ("perplexity", "http://host/v1", "http://host/v1"),
        ("github-models", "http://host/inference/", "http://host/inference"),
        ("github-models", "http://host", "http://host/v1"),
        ("azure", "https://mine.openai.azure.com/openai", "https://mine.openai.azure.com/openai/v1"),
    ] {
        assert_eq!(with(id, Dialect::OpenaiChat, spelling), expected, "{id} {spelling}");
    }
}

#[test]
fn a_row_is_taken_at_its_word_when_it_has_a_path() {
    let base = |text: &str| {
        let providers = Providers::shared().with_toml("my.toml", text).unwrap();
        providers.find("mine").unwrap().base_url.to_string()
    };
    for (url, expected) in [
        ("http://host", "http://host/v1"),
        ("http://host/", "http://host/v1"),
        ("http://host/v1/", "http://host/v1"),
        ("http://host/inference", "http://host/inference"),
    ] {
        assert_eq!(base(&format!("[mine]\nbase_url = \"{url}\"")), expected);
    }
}

#[test]
fn a_version_that_the_base_url_has_is_not_said_twice() {
    for (dialect, path, expected) in [
        (Dialect::OpenaiChat, "/v1/chat/completions", "/chat/completions"),
        (Dialect::OpenaiChat, "/chat/completions", "/chat/completions"),
        (Dialect::OpenaiResponses, "/v1/responses?a=/v1/", "/responses?a=/v1/"),
        (Dialect::Gemini, "/v1beta/models/m:generateContent", "/models/m:generateContent"),
        (Dialect::Gemini, "/v1/models/m:generateContent", "/models/m:generateContent"),
        (Dialect::Gemini, "/models/v2/m:generateContent", "/models/v2/m:generateContent"),
        (Dialect::Anthropic, "/v1/messages", "/v1/messages"),
        (Dialect::OpenaiChat, "/v1", "/v1"),
        (Dialect::OpenaiChat, "", ""),
    ] {
        assert_eq!(dialect.below_base_url(path), expected, "{dialect} {path}");
    }
}

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn of(line: &str, headers: &[&str]) -> Option<Endpoint> {
    let (method, target) = line.split_once(' ').unwrap();
    Endpoint::of(method, target, |name| headers.contains(&name))
}

fn endpoint(dialect: Dialect, verb: Verb, model: Option<&str>) -> Option<Endpoint> {
    Some(Endpoint { dialect, verb, model: model.map(str::to_owned) })
}

#[test]
fn paths_lead_to_their_endpoints() {
    use Dialect::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    let retrieve = |id: &str| Verb::RetrieveResponse { id: id.to_owned() };
    let sse = Verb::Stream(Framing::Sse);
    let array = Verb::Stream(Framing::JsonArray);
    for (line, expected) in [
        ("POST /v1/messages", endpoint(Anthropic, Verb::Generate, None)),
        ("POST /v1/messages?beta=true", endpoint(Anthropic, Verb::Generate, None)),
        ("POST /v1/messages/", endpoint(Anthropic, Verb::Generate, None)),
        ("POST //v1/messages", endpoint(Anthropic, Verb::Generate, None)),
        ("POST /anthropic/v1/messages", endpoint(Anthropic, Verb::Generate, None)),
        ("POST /v1/messages/count_tokens?beta=true", endpoint(Anthropic, Verb::CountTokens, None)),
        ("POST /v1/chat/completions", endpoint(OpenaiChat, Verb::Generate, None)),
        ("POST /openai/v1/chat/completions/", endpoint(OpenaiChat, Verb::Generate, None)),
        ("POST /v1/responses", endpoint(OpenaiResponses, Verb::Generate, None)),
        ("POST /openai/v1/responses/input_tokens", endpoint(OpenaiResponses, Verb::CountTokens, None)),
        ("POST /v1beta/openai/chat/completions", endpoint(OpenaiChat, Verb::Generate, None)),
        ("POST /gemini/v1beta/openai/embeddings", endpoint(OpenaiChat, Verb::Embed, None)),
        ("GET /v1/responses/resp_1?include=x", endpoint(OpenaiResponses, retrieve("resp_1"), None)),
        ("GET /v1/responses/resp%5F1/", endpoint(OpenaiResponses, retrieve("resp_1"), None)),
        (
            "DELETE /v1/responses/resp_1",
            endpoint(OpenaiResponses, Verb::DeleteResponse { id: "resp_1".to_owned() }, None),
        ),
        ("POST /v1/embeddings", endpoint(OpenaiChat, Verb::Embed, None)),
        ("POST /v1/images/generations", endpoint(OpenaiChat, Verb::Draw, None)),
        ("POST /openai/v1/images/edits", endpoint(OpenaiChat, Verb::Edit, None)),
        ("POST /v1/audio/speech", endpoint(OpenaiChat, Verb::Speak, None)),
        ("POST /v1/audio/transcriptions", endpoint(OpenaiChat, Verb::Transcribe, None)),
        ("POST /v1beta/models/imagen-4:predict", endpoint(Gemini, Verb::Predict, Some("imagen-4"))),
        ("POST /v1beta/models/m:generateContent", endpoint(Gemini, Verb::Generate, Some("m"))),
        ("POST /v1alpha/models/m:generateContent/", endpoint(Gemini, Verb::Generate, Some("m"))),
        ("POST /gemini/v1beta/models/m:generateContent", endpoint(Gemini, Verb::Generate, Some("m"))),
        ("POST /v1/models/m:streamGenerateContent?alt=sse", endpoint(Gemini, sse.clone(), Some("m"))),
        ("POST /v1/models/m:streamGenerateContent?key=k&$alt=SSE", endpoint(Gemini, sse, Some("m"))),
        ("POST /v1/models/m:streamGenerateContent", endpoint(Gemini, array.clone(), Some("m"))),
        ("POST /v1/models/m:streamGenerateContent?x=alt=sse", endpoint(Gemini, array.clone(), Some("m"))),
        ("POST /v1/models/m:streamGenerateContent?alt=json", endpoint(Gemini, array, Some("m"))),
        ("POST /v1beta/models/a:b:countTokens", endpoint(Gemini, Verb::CountTokens, Some("a:b"))),
        ("POST /v1beta/models/org%2Fm%3A1:countTokens", endpoint(Gemini, Verb::CountTokens, Some("org/m:1"))),
        ("POST /v1beta/models/org/m%3AcountTokens", endpoint(Gemini, Verb::CountTokens, Some("org/m"))),
        ("POST /v1beta/models/models%2Fm:countTokens", endpoint(Gemini, Verb::CountTokens, Some("m"))),
        ("POST /v1beta/tunedModels/t-1:generateContent", endpoint(Gemini, Verb::Generate, Some("tunedModels/t-1"))),
        ("POST /v1beta/models/tunedModels/t:generateContent", endpoint(Gemini, Verb::Generate, Some("tunedModels/t"))),
        ("POST /v1beta/models/m:embedContent", endpoint(Gemini, Verb::Embed, Some("m"))),
        ("POST /v1beta/models/m:batchEmbedContents", endpoint(Gemini, Verb::EmbedBatch, Some("m"))),
        ("POST /v1beta/models/100%:generateContent", endpoint(Gemini, Verb::Generate, Some("100%"))),
    ] {
        assert_eq!(of(line, &[]), expected, "{line}");
    }
}

#[test]
fn headers_and_bases_tell_the_lists_of_models_apart() {
    use Dialect::{Anthropic, Gemini, OpenaiChat};
    for (line, headers, dialect, model) in [
        ("GET /v1/models", &[][..], OpenaiChat, None),
        ("GET /v1/models/", &["authorization"], OpenaiChat, None),
        ("GET /v1/models/org%2Fm", &[], OpenaiChat, Some("org/m")),
        ("GET /v1/models", &["anthropic-version", "authorization"], Anthropic, None),
        ("GET /v1/models/claude?x=1", &["x-api-key"], Anthropic, Some("claude")),
        ("GET /v1/models", &["x-goog-api-key"], Gemini, None),
        ("GET /v1/models?pageSize=5&key=k", &[], Gemini, None),
        ("GET /v1/models?monkey=k", &[], OpenaiChat, None),
        ("GET /v1beta/models", &["anthropic-version"], Gemini, None),
        ("GET /v1beta/models/models%2Fm", &[], Gemini, Some("m")),
        ("GET /anthropic/v1/models", &[], Anthropic, None),
        ("GET /openai/v1/models/m", &["x-goog-api-key"], OpenaiChat, Some("m")),
        ("GET /v1beta/openai/models", &[], OpenaiChat, None),
        ("GET /gemini/v1/models", &[], Gemini, None),
        ("GET /gemini/v1beta/models/m", &[], Gemini, Some("m")),
    ] {
        let verb = if model.is_some() { Verb::GetModel } else { Verb::ListModels };
        assert_eq!(of(line, headers), endpoint(dialect, verb, model), "{line}");
    }
}

#[test]
fn other_paths_and_methods_are_unknown() {
    for line in [
        "GET /",
        "GET /v1",
        "GET /v1/messages",
        "PUT /v1/messages",
        "post /v1/messages",
        "POST /v1/messages/batches",
        "POST /v1beta/openai/messages",
        "POST /v1/openai/chat/completions",
        "POST /anthropic/v1beta/openai/chat/completions",
        "POST /v2/messages",
        "POST /v1beta/messages",
        "POST /openai/v1/messages",
        "POST /anthropic/v1/chat/completions",
        "POST /gemini/v1/chat/completions",
        "POST /anthropic/v1beta/messages",
        "POST /anthropic/v1/models/m:generateContent",
        "POST /v1/models",
        "GET /v1/modelsmith",
        "GET /v1/responses",
        "GET /v1/responses/resp_1/input_items",
        "DELETE /v1/models/m",
        "GET /v1beta/models/m%FF",
        "POST /v1beta/models/:generateContent",
        "POST /v1beta/tunedModels/:generateContent",
        "POST /v1beta/m:generateContent",
        "POST /v1beta/models/m:dream",
        "POST /v1beta/images/generations",
        "POST /anthropic/v1/images/generations",
        "GET /v1/audio/speech",
        "POST /anthropic",
    ] {
        assert_eq!(of(line, &[]), None, "{line}");
    }
}

proptest! {
    #[test]
    fn any_model_name_comes_back_from_an_escaped_path(name in "[^%]{1,12}") {
        prop_assume!(!name.starts_with("models/") && name.trim_matches('/') == name);
        let escaped: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let line = format!("POST /v1beta/models/{escaped}:generateContent");
        prop_assert_eq!(of(&line, &[]), endpoint(Dialect::Gemini, Verb::Generate, Some(&name)));
    }

    #[test]
    fn any_target_is_survived(method in "GET|POST|DELETE", target in "(/|v1|models|:|%|%2|generateContent|\\?|#|é|\\PC){0,12}") {
        let _ = Endpoint::of(&method, &target, |_| false);
    }
}

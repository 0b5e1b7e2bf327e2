//! Which API a request is for.

use http::{HeaderMap, Method};
use ikigai_core::Dialect;

/// One thing that a provider's API can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Write an answer.
    Generate(Dialect),
    /// Count the tokens of a request.
    CountTokens(Dialect),
    /// Read a stored answer of the Responses API.
    RetrieveResponse(String),
    /// Forget a stored answer of the Responses API.
    DeleteResponse(String),
    /// Turn texts into vectors.
    Embed(Embed),
    /// List the models, or tell about one.
    Models(ModelsShape, Option<String>),
    /// The simulator's own controls.
    Control(Control),
}

/// How vectors are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embed {
    /// OpenAI's `/embeddings`.
    Openai,
    /// Gemini's `:embedContent`.
    Gemini,
    /// Gemini's `:batchEmbedContents`.
    GeminiBatch,
}

/// Whose shape a list of models has: the paths are the same, the headers tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelsShape {
    /// `{"object": "list", "data": …}`.
    Openai,
    /// `{"data": …, "has_more": …}`.
    Anthropic,
    /// `{"models": …}`.
    Gemini,
}

/// The simulator's own controls, under `/_sim/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// Queue replies.
    Expect,
    /// Read back what was received.
    Requests,
    /// Forget everything.
    Reset,
    /// Stop listening for a while.
    Refuse,
}

impl Endpoint {
    /// The endpoint of a request; none for a path that no provider has.
    pub(crate) fn of(method: &Method, path: &str, query: Option<&str>, headers: &HeaderMap) -> Option<Self> {
        if let Some(control) = path.strip_prefix("/_sim/") {
            return match (method.as_str(), control) {
                ("POST", "expect") => Some(Endpoint::Control(Control::Expect)),
                ("GET", "requests") => Some(Endpoint::Control(Control::Requests)),
                ("POST", "reset") => Some(Endpoint::Control(Control::Reset)),
                ("POST", "refuse") => Some(Endpoint::Control(Control::Refuse)),
                _ => None,
            };
        }
        let (version, rest) = path.strip_prefix('/')?.split_once('/')?;
        let google = matches!(version, "v1" | "v1beta" | "v1alpha");
        if google
            && let Some(model_and_method) = rest.strip_prefix("models/")
            && let Some((model, verb)) = model_and_method.rsplit_once(':')
            && let Some(endpoint) = gemini(method, model, verb)
        {
            return Some(endpoint);
        }
        if version != "v1" {
            return (google && method == Method::GET).then(|| models(rest, ModelsShape::Gemini)).flatten();
        }
        match (method.as_str(), rest) {
            ("POST", "messages") => Some(Endpoint::Generate(Dialect::Anthropic)),
            ("POST", "messages/count_tokens") => Some(Endpoint::CountTokens(Dialect::Anthropic)),
            ("POST", "chat/completions") => Some(Endpoint::Generate(Dialect::OpenaiChat)),
            ("POST", "responses") => Some(Endpoint::Generate(Dialect::OpenaiResponses)),
            ("POST", "responses/input_tokens") => Some(Endpoint::CountTokens(Dialect::OpenaiResponses)),
            ("POST", "embeddings") => Some(Endpoint::Embed(Embed::Openai)),
            ("GET", _) if rest == "models" || rest.starts_with("models/") => models(rest, shape(query, headers)),
            ("GET", _) => Some(Endpoint::RetrieveResponse(rest.strip_prefix("responses/")?.to_owned())),
            ("DELETE", _) => Some(Endpoint::DeleteResponse(rest.strip_prefix("responses/")?.to_owned())),
            _ => None,
        }
    }
}

fn gemini(method: &Method, model: &str, verb: &str) -> Option<Endpoint> {
    if method != Method::POST || model.is_empty() {
        return None;
    }
    match verb {
        "generateContent" | "streamGenerateContent" => Some(Endpoint::Generate(Dialect::Gemini)),
        "countTokens" => Some(Endpoint::CountTokens(Dialect::Gemini)),
        "embedContent" => Some(Endpoint::Embed(Embed::Gemini)),
        "batchEmbedContents" => Some(Endpoint::Embed(Embed::GeminiBatch)),
        _ => None,
    }
}

fn models(rest: &str, shape: ModelsShape) -> Option<Endpoint> {
    match rest.strip_prefix("models")? {
        "" => Some(Endpoint::Models(shape, None)),
        one => Some(Endpoint::Models(shape, Some(one.strip_prefix('/')?.to_owned()))),
    }
}

/// `GET /v1/models` has three shapes; the key's header tells them apart, as it does at the providers.
fn shape(query: Option<&str>, headers: &HeaderMap) -> ModelsShape {
    let key_in_query = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("key=")));
    if headers.contains_key("x-goog-api-key") || key_in_query {
        ModelsShape::Gemini
    } else if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
        ModelsShape::Anthropic
    } else {
        ModelsShape::Openai
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Endpoint> {
        let (method, target) = line.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        Endpoint::of(&method.parse().unwrap(), path, query, &HeaderMap::new())
    }

    #[test]
    fn paths_lead_to_their_endpoints() {
        let generate = |dialect| Some(Endpoint::Generate(dialect));
        for (line, expected) in [
            ("POST /v1/messages", generate(Dialect::Anthropic)),
            ("POST /v1/messages?beta=true", generate(Dialect::Anthropic)),
            ("POST /v1/messages/count_tokens", Some(Endpoint::CountTokens(Dialect::Anthropic))),
            ("POST /v1/chat/completions", generate(Dialect::OpenaiChat)),
            ("POST /v1/responses", generate(Dialect::OpenaiResponses)),
            ("POST /v1/responses/input_tokens", Some(Endpoint::CountTokens(Dialect::OpenaiResponses))),
            ("GET /v1/responses/resp_1", Some(Endpoint::RetrieveResponse("resp_1".into()))),
            ("DELETE /v1/responses/resp_1", Some(Endpoint::DeleteResponse("resp_1".into()))),
            ("POST /v1/embeddings", Some(Endpoint::Embed(Embed::Openai))),
            ("POST /v1beta/models/gemini-2.5-pro:generateContent", generate(Dialect::Gemini)),
            ("POST /v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse", generate(Dialect::Gemini)),
            ("POST /v1beta/models/a:b:countTokens", Some(Endpoint::CountTokens(Dialect::Gemini))),
            ("POST /v1beta/models/m:embedContent", Some(Endpoint::Embed(Embed::Gemini))),
            ("POST /v1beta/models/m:batchEmbedContents", Some(Endpoint::Embed(Embed::GeminiBatch))),
            ("GET /v1beta/models", Some(Endpoint::Models(ModelsShape::Gemini, None))),
            ("GET /v1beta/models/m", Some(Endpoint::Models(ModelsShape::Gemini, Some("m".into())))),
            ("GET /v1/models", Some(Endpoint::Models(ModelsShape::Openai, None))),
            ("GET /v1/models?key=k", Some(Endpoint::Models(ModelsShape::Gemini, None))),
            ("GET /_sim/requests", Some(Endpoint::Control(Control::Requests))),
            ("GET /v1/messages", None),
            ("POST /v1beta/models/m:dream", None),
            ("GET /", None),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }
}

//! Identifies what a request asks for, using only its method, path and headers.

use std::borrow::Cow;

use crate::Dialect;
use crate::dialect::verbs::segment;

/// One operation of a provider's API, as a client requests it.
///
/// ```
/// use ikigai_core::Dialect;
/// use ikigai_core::server::{Endpoint, Framing, Verb};
///
/// let no_headers = |_: &str| false;
/// let path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
/// let endpoint = Endpoint::of("POST", path, no_headers).unwrap();
/// assert_eq!(endpoint.dialect, Dialect::Gemini);
/// assert_eq!(endpoint.verb, Verb::Stream(Framing::Sse));
/// assert_eq!(endpoint.model.as_deref(), Some("gemini-2.5-pro"));
///
/// // `GET /v1/models` exists in three dialects; the headers tell them apart.
/// let endpoint = Endpoint::of("GET", "/v1/models", |name| name == "anthropic-version").unwrap();
/// assert_eq!((endpoint.dialect, endpoint.verb), (Dialect::Anthropic, Verb::ListModels));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// The dialect of the request and of its answer. For operations that both OpenAI dialects share (embeddings,
    /// pictures, sound, the list of models), it is [`Dialect::OpenaiChat`].
    pub dialect: Dialect,
    /// The requested operation.
    pub verb: Verb,
    /// The model named in the path, decoded and without `models/`. A tuned model keeps its `tunedModels/`. Absent if
    /// the body names the model.
    pub model: Option<String>,
}

/// The operation that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// Write an answer, in one piece unless `stream` in the body says otherwise.
    Generate,
    /// Write an answer as a stream. Only Gemini says so in the path; other dialects use [`Verb::Generate`] and say so
    /// in the body.
    Stream(Framing),
    /// Count the tokens of a request.
    CountTokens,
    /// Turn texts into vectors.
    Embed,
    /// Turn texts into vectors, one request for each: Gemini's `batchEmbedContents`.
    EmbedBatch,
    /// Generate pictures.
    Draw,
    /// Generate pictures from others: a form with files.
    Edit,
    /// Generate pictures in the format of Google's Imagen: `predict`.
    Predict,
    /// Read a text aloud.
    Speak,
    /// Transcribe speech: a form with a file.
    Transcribe,
    /// List the models.
    ListModels,
    /// Describe the model that the path names.
    GetModel,
    /// Read a stored answer of the Responses API.
    RetrieveResponse {
        /// The answer's id.
        id: String,
    },
    /// Delete a stored answer of the Responses API.
    DeleteResponse {
        /// The answer's id.
        id: String,
    },
}

/// How a stream is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// A growing JSON array, which Gemini sends unless `alt=sse` asks for events.
    JsonArray,
}

/// The API that a path belongs to, if its base says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The plain path of any API.
    Any,
    Anthropic,
    Openai,
    Gemini,
}

impl Endpoint {
    /// Returns the endpoint of a request, or `None` if no dialect has this method and path.
    ///
    /// `target` is the path with its query, as the client sent it. `has_header` is called with lower-case names. A base
    /// such as `/anthropic`, `/openai` or `/gemini` before the path is accepted, and decides if the path alone is
    /// ambiguous.
    pub fn of(method: &str, target: &str, has_header: impl Fn(&str) -> bool) -> Option<Self> {
        let target = target.split('#').next().unwrap_or(target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (base, path) = base(path.trim_matches('/'));
        let (version, rest) = path.split_once('/')?;
        if !matches!(version, "v1" | "v1beta" | "v1alpha") {
            return None;
        }
        // The path under which Google serves OpenAI's API.
        let (base, version, rest) = match (base, rest.strip_prefix("openai/")) {
            (Base::Any | Base::Gemini, Some(rest)) if version != "v1" => (Base::Openai, "v1", rest),
            _ => (base, version, rest),
        };
        if matches!(base, Base::Any | Base::Gemini)
            && let Some(endpoint) = gemini(method, rest, query)
        {
            return Some(endpoint);
        }
        let base = match (base, version) {
            (Base::Any, "v1") => base,
            (Base::Any | Base::Gemini, _) => Base::Gemini,
            (Base::Anthropic | Base::Openai, "v1") => base,
            (Base::Anthropic | Base::Openai, _) => return None,
        };
        if method == "GET"
            && let Some(model) = resource(rest, "models")
        {
            return models(list_dialect(base, query, has_header), model);
        }
        match base {
            Base::Any => anthropic(method, rest).or_else(|| openai(method, rest)),
            Base::Anthropic => anthropic(method, rest),
            Base::Openai => openai(method, rest),
            Base::Gemini => None,
        }
    }
}

impl Endpoint {
    /// Returns the path of the same operation for a model whose name at the provider may differ, to forward a request.
    /// The query is the client's own, including any keys in it.
    ///
    /// ```
    /// use ikigai_core::server::Endpoint;
    ///
    /// let target = "/gemini/v1/models/fast:streamGenerateContent?alt=sse";
    /// let endpoint = Endpoint::of("POST", target, |_| false).unwrap();
    /// assert_eq!(endpoint.path("gemini-2.5-pro", target), "/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
    /// ```
    pub fn path(&self, model: &str, target: &str) -> String {
        let target = target.split('#').next().unwrap_or(target);
        let path = match (&self.verb, self.dialect) {
            (verb, Dialect::Gemini) => gemini_path(verb, model),
            (Verb::CountTokens, Dialect::Anthropic) => "/v1/messages/count_tokens".to_owned(),
            (_, Dialect::Anthropic) => "/v1/messages".to_owned(),
            (Verb::Embed | Verb::EmbedBatch, _) => "/embeddings".to_owned(),
            (Verb::Draw | Verb::Predict, _) => "/images/generations".to_owned(),
            (Verb::Edit, _) => "/images/edits".to_owned(),
            (Verb::Speak, _) => "/audio/speech".to_owned(),
            (Verb::Transcribe, _) => "/audio/transcriptions".to_owned(),
            (Verb::CountTokens, _) => "/responses/input_tokens".to_owned(),
            (_, Dialect::OpenaiResponses) => "/responses".to_owned(),
            (_, Dialect::OpenaiChat | Dialect::BedrockConverse) => "/chat/completions".to_owned(),
        };
        match target.split_once('?') {
            Some((_, query)) if !query.is_empty() => format!("{path}?{query}"),
            _ => path,
        }
    }
}

fn gemini_path(verb: &Verb, model: &str) -> String {
    let method = match verb {
        Verb::Stream(_) => "streamGenerateContent",
        Verb::CountTokens => "countTokens",
        Verb::Embed => "embedContent",
        Verb::EmbedBatch => "batchEmbedContents",
        Verb::Predict => "predict",
        Verb::Generate
        | Verb::Draw
        | Verb::Edit
        | Verb::Speak
        | Verb::Transcribe
        | Verb::ListModels
        | Verb::GetModel
        | Verb::RetrieveResponse { .. }
        | Verb::DeleteResponse { .. } => "generateContent",
    };
    match model.strip_prefix("tunedModels/") {
        Some(tuned) => format!("/tunedModels/{}:{method}", segment(tuned)),
        None => format!("/models/{}:{method}", segment(model)),
    }
}

/// Removes a provider's name from the front of a path.
fn base(path: &str) -> (Base, &str) {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    match first {
        "anthropic" => (Base::Anthropic, rest),
        "openai" => (Base::Openai, rest),
        "gemini" => (Base::Gemini, rest),
        _ => (Base::Any, path),
    }
}

fn anthropic(method: &str, rest: &str) -> Option<Endpoint> {
    let verb = match (method, rest) {
        ("POST", "messages") => Verb::Generate,
        ("POST", "messages/count_tokens") => Verb::CountTokens,
        _ => return None,
    };
    Some(Endpoint { dialect: Dialect::Anthropic, verb, model: None })
}

fn openai(method: &str, rest: &str) -> Option<Endpoint> {
    let (dialect, verb) = match (method, rest) {
        ("POST", "chat/completions") => (Dialect::OpenaiChat, Verb::Generate),
        ("POST", "embeddings") => (Dialect::OpenaiChat, Verb::Embed),
        ("POST", "images/generations") => (Dialect::OpenaiChat, Verb::Draw),
        ("POST", "images/edits") => (Dialect::OpenaiChat, Verb::Edit),
        ("POST", "audio/speech") => (Dialect::OpenaiChat, Verb::Speak),
        ("POST", "audio/transcriptions") => (Dialect::OpenaiChat, Verb::Transcribe),
        ("POST", "responses") => (Dialect::OpenaiResponses, Verb::Generate),
        ("POST", "responses/input_tokens") => (Dialect::OpenaiResponses, Verb::CountTokens),
        ("GET", _) => (Dialect::OpenaiResponses, Verb::RetrieveResponse { id: stored(rest)? }),
        ("DELETE", _) => (Dialect::OpenaiResponses, Verb::DeleteResponse { id: stored(rest)? }),
        _ => return None,
    };
    Some(Endpoint { dialect, verb, model: None })
}

/// Returns the id in `responses/{id}`. Anything below it, such as its input items, is another operation.
fn stored(rest: &str) -> Option<String> {
    let id = resource(rest, "responses").filter(|id| !id.is_empty() && !id.contains('/'))?;
    Some(unescape(id)?.into_owned())
}

/// Reads `models/{model}:{method}`. The name may itself contain colons and slashes; they may be escaped, and so may the
/// colon before the method.
fn gemini(method: &str, rest: &str, query: &str) -> Option<Endpoint> {
    if method != "POST" {
        return None;
    }
    let rest = unescape(rest)?;
    let (name, verb) = rest.rsplit_once(':')?;
    let verb = match verb {
        "generateContent" => Verb::Generate,
        "streamGenerateContent" => Verb::Stream(framing(query)),
        "countTokens" => Verb::CountTokens,
        "embedContent" => Verb::Embed,
        "batchEmbedContents" => Verb::EmbedBatch,
        "predict" => Verb::Predict,
        _ => return None,
    };
    Some(Endpoint { dialect: Dialect::Gemini, verb, model: Some(model_name(name)?) })
}

/// Returns a model's resource name without `models/`, which some clients send twice.
fn model_name(resource: &str) -> Option<String> {
    let mut name = resource;
    while let Some(inner) = name.strip_prefix("models/") {
        name = inner;
    }
    let is_model = name.len() < resource.len() || name.starts_with("tunedModels/");
    (is_model && !name.is_empty() && name != "tunedModels/").then(|| name.to_owned())
}

/// Returns the framing: `alt=sse` asks for an event stream. All of Google's APIs also accept the other spellings.
fn framing(query: &str) -> Framing {
    let alt = pairs(query).find(|(key, _)| matches!(*key, "alt" | "$alt" | "%24alt")).map(|(_, value)| value);
    if alt.is_some_and(|alt| alt.eq_ignore_ascii_case("sse")) { Framing::Sse } else { Framing::JsonArray }
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Returns what follows `name/` in a path; empty for `name` alone.
fn resource<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    match rest.strip_prefix(name)? {
        "" => Some(""),
        one => one.strip_prefix('/'),
    }
}

fn models(dialect: Dialect, model: &str) -> Option<Endpoint> {
    if model.is_empty() {
        return Some(Endpoint { dialect, verb: Verb::ListModels, model: None });
    }
    let model = unescape(model)?;
    let model = match dialect {
        Dialect::Gemini => model.trim_start_matches("models/"),
        Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => &model,
    };
    Some(Endpoint { dialect, verb: Verb::GetModel, model: Some(model.to_owned()) })
}

/// Returns the dialect of a list of models. All three have the same path, but their clients send different headers.
fn list_dialect(base: Base, query: &str, has_header: impl Fn(&str) -> bool) -> Dialect {
    match base {
        Base::Anthropic => Dialect::Anthropic,
        Base::Openai => Dialect::OpenaiChat,
        Base::Gemini => Dialect::Gemini,
        Base::Any if has_header("x-goog-api-key") || pairs(query).any(|(key, _)| key == "key") => Dialect::Gemini,
        Base::Any if has_header("anthropic-version") || has_header("x-api-key") => Dialect::Anthropic,
        Base::Any => Dialect::OpenaiChat,
    }
}

/// Decodes percent escapes. Returns `None` if the result is not UTF-8. A lone `%` is kept.
pub fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        match behind {
            [high, low, after @ ..] if byte == b'%' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(hex(*high) << 4 | hex(*low));
                rest = after;
            }
            _ => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Returns the value of a hexadecimal digit.
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;

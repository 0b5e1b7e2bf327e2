//! Paths that clients build from a base URL meant for another client, or for a cloud.

use std::borrow::Cow;

use ikigai::Dialect;
use ikigai_core::server::{Endpoint, unescape};

/// What a path may begin with to say whose API is meant.
const BASES: [&str; 3] = ["anthropic", "openai", "gemini"];

/// A path as the dialects have it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Usual {
    /// The path with its query.
    pub(crate) target: String,
    /// The model, if it was a part of the path that the dialect does not have.
    pub(crate) model: Option<String>,
}

/// Returns a path in its usual form: one version, no empty parts, nothing of a cloud. Clients differ in whether the base
/// URL ends with the version, so it may be there twice or not at all. Of two, the last one counts: the client itself has
/// added it.
///
/// Azure's clients put the model into the path (`/openai/deployments/{model}/chat/completions`), and Vertex AI's put a
/// project before it (`/v1/projects/{}/locations/{}/publishers/google/models/{model}:generateContent`).
pub(crate) fn usual(target: &str) -> Usual {
    let (path, mut query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
    let mut usual = Usual { target: String::with_capacity(target.len() + 4), model: None };
    if let Some(base) = parts.next_if(|part| BASES.contains(part)) {
        usual.target.push('/');
        usual.target.push_str(base);
    }
    let mut version = None;
    while let Some(named) = parts.next_if(|part| matches!(*part, "v1" | "v1beta" | "v1alpha" | "v1beta1")) {
        version = Some(if named == "v1beta1" { "v1beta" } else { named });
    }
    while parts.next_if(|part| matches!(*part, "projects" | "locations" | "publishers")).is_some() {
        parts.next();
    }
    if parts.next_if_eq(&"deployments").is_some() {
        usual.model = parts.next().and_then(unescape).map(Cow::into_owned);
        // The version of Azure's API means nothing to others.
        query = None;
    }
    usual.target.push('/');
    usual.target.push_str(version.unwrap_or("v1"));
    for part in parts {
        usual.target.push('/');
        usual.target.push_str(part);
    }
    if let Some(query) = query {
        usual.target.push('?');
        usual.target.push_str(query);
    }
    usual
}

/// Guesses the dialect of a client that asks for something unknown: by the longest part of its path that means something,
/// or else by what a list of models under the same base and version would be.
pub(crate) fn guess(target: &str, has_header: impl Fn(&str) -> bool) -> Option<Dialect> {
    let target = target.strip_prefix("/upload").unwrap_or(target);
    let known = |method: &str, target: &str| Some(Endpoint::of(method, target, &has_header)?.dialect);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let ends = path.match_indices('/').rev().map(|(end, _)| end).filter(|end| *end > 0);
    let parts = std::iter::once(path.len()).chain(ends).filter_map(|end| path.get(..end));
    let listed = || {
        let usual = usual(path).target;
        let end = usual.match_indices('/').map(|(at, _)| at).nth(if has_base(&usual) { 2 } else { 1 });
        let base = usual.get(..end.unwrap_or(usual.len())).unwrap_or_default();
        known("GET", &format!("{base}/models?{query}"))
    };
    known("GET", target).or_else(|| parts.into_iter().find_map(|part| known("POST", part))).or_else(listed)
}

fn has_base(usual: &str) -> bool {
    BASES.iter().any(|base| usual.strip_prefix('/').is_some_and(|path| path.starts_with(base)))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_version_is_there_once_and_nothing_is_empty() {
        for (target, expected) in [
            ("/chat/completions", "/v1/chat/completions"),
            ("/v1/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("/v1//responses", "/v1/responses"),
            ("/v1/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
            ("/models/m:streamGenerateContent?alt=sse", "/v1/models/m:streamGenerateContent?alt=sse"),
            ("/openai/chat/completions", "/openai/v1/chat/completions"),
            ("//anthropic/v1/v1/messages/", "/anthropic/v1/messages"),
            ("/v1/messages", "/v1/messages"),
            ("/", "/v1"),
            ("", "/v1"),
        ] {
            assert_eq!(usual(target), Usual { target: expected.to_owned(), model: None }, "{target}");
        }
    }

    #[test]
    fn the_paths_of_clouds_are_understood() {
        for (target, expected, model) in [
            (
                "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
                "/openai/v1/chat/completions",
                Some("my gpt"),
            ),
            ("/deployments/m/embeddings", "/v1/embeddings", Some("m")),
            ("/openai/v1/responses?api-version=preview", "/openai/v1/responses?api-version=preview", None),
            (
                "/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
                "/v1/models/m:generateContent",
                None,
            ),
            ("/v1beta1/publishers/google/models/m:countTokens?key=k", "/v1beta/models/m:countTokens?key=k", None),
            ("/openai/deployments", "/openai/v1", None),
            ("/v1/projects", "/v1", None),
        ] {
            let expected = Usual { target: expected.to_owned(), model: model.map(str::to_owned) };
            assert_eq!(usual(target), expected, "{target}");
        }
    }

    #[test]
    fn an_unknown_path_tells_who_asks() {
        let [anthropic, chat, responses, gemini] = Dialect::ALL;
        for (target, header, expected) in [
            ("/v1/messages/batches", "authorization", anthropic),
            ("/v1/messages/batches/b/results", "authorization", anthropic),
            ("/v1/files", "anthropic-version", anthropic),
            ("/anthropic/v1/files", "authorization", anthropic),
            ("/v1/files", "authorization", chat),
            ("/files?key=k", "authorization", gemini),
            ("/openai/files", "authorization", chat),
            ("/v1/chat/completions/c/messages", "authorization", chat),
            ("/v1/responses/r/input_items", "authorization", responses),
            ("/v1beta/cachedContents", "authorization", gemini),
            ("/v1beta/models/m:batchGenerateContent", "authorization", gemini),
            ("/gemini/files", "authorization", gemini),
            ("/upload/v1beta/files?key=k", "authorization", gemini),
            ("/v1beta/openai/files", "authorization", gemini),
            ("/v1/files", "x-goog-api-key", gemini),
            ("/", "authorization", chat),
        ] {
            assert_eq!(guess(target, |name| name == header), Some(expected), "{target}");
        }
    }
}

//! The URLs of requests, which are built only here.

use std::borrow::Cow;

use http::Uri;
use ikigai_core::Dialect;

use crate::error::Reason;
use crate::redact::plain;

/// Query parameters that clients put their keys into.
const KEYS: [&str; 5] = ["key", "api_key", "api-key", "access_token", "token"];

/// Builds the URL of a request from a base URL and a path below it. A query in the base URL is kept, after the path.
///
/// The path may come from a stranger. It stays below the base URL and cannot bring a key.
pub(super) fn address(base: &str, dialect: Dialect, path: &str) -> Result<Uri, Reason> {
    let refused = |why: &str| Reason::from(ikigai_core::Error::invalid_request(format!("the path `{path}` {why}")));
    let (below, query) = match path.split_once('?') {
        Some((below, query)) => (below, Some(query)),
        None => (path, None),
    };
    // Without a slash, it would continue the host name.
    if !below.starts_with('/') {
        return Err(refused("does not begin with a slash"));
    }
    if below.split('/').any(is_dots) {
        return Err(refused("leads out of the API"));
    }
    let (base, fixed) = match base.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (base, None),
    };
    let mut address = String::with_capacity(base.len() + path.len());
    address.push_str(base.trim_end_matches('/'));
    address.push_str(dialect.below_base_url(below));
    let mut separator = '?';
    for query in [query.map(without_keys), fixed.map(Cow::Borrowed)].into_iter().flatten() {
        if !query.is_empty() {
            address.push(separator);
            address.push_str(&query);
            separator = '&';
        }
    }
    address.parse().map_err(|_| refused("is not part of a valid address"))
}

/// Removes possible keys from a caller's query: ours goes into a header, and theirs is not for the provider.
fn without_keys(query: &str) -> Cow<'_, str> {
    let is_key = |pair: &str| {
        // Decoded first: the provider would understand escaped letters, too.
        let name = plain(pair.split_once('=').map_or(pair, |(name, _)| name));
        KEYS.iter().any(|key| name.eq_ignore_ascii_case(key))
    };
    if query.split('&').any(is_key) {
        let kept: Vec<&str> = query.split('&').filter(|pair| !is_key(pair)).collect();
        Cow::Owned(kept.join("&"))
    } else {
        Cow::Borrowed(query)
    }
}

/// Whether a path segment is `.` or `..`, however it is spelled.
pub(super) fn is_dots(part: &str) -> bool {
    part.starts_with(['.', '%']) && {
        let plain = part.replace("%2e", ".").replace("%2E", ".");
        plain == "." || plain == ".."
    }
}

/// Returns the host and the port of a base URL, for traces.
pub(super) fn host(base: &str) -> Option<(String, u16)> {
    let uri: Uri = base.parse().ok()?;
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
    Some((uri.host()?.to_owned(), port))
}

/// Removes what may be a password or a key from a base URL: a user name before the host, and a query.
pub(crate) fn shown_url(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let shown = url.get(..end).unwrap_or_default();
    let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let colon = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{colon}{host}{path}")
}

/// Escapes a name for use as a path segment.
pub(crate) fn segment(name: &str) -> String {
    percent_encoded(name, |byte| byte.is_ascii_alphanumeric() || b"-._~@:".contains(&byte))
}

/// Escapes all bytes of a text that are not plain.
fn percent_encoded(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_path_continues_the_base_url() {
        let openai = "https://api.openai.com/v1";
        for (base, dialect, path, expected) in [
            (openai, Dialect::OpenaiChat, "/chat/completions", "https://api.openai.com/v1/chat/completions"),
            (openai, Dialect::OpenaiChat, "/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
            ("http://h", Dialect::Anthropic, "/v1/messages?beta=true", "http://h/v1/messages?beta=true"),
            ("http://h/x/v1beta", Dialect::Gemini, "/v1/models/m:f?alt=sse", "http://h/x/v1beta/models/m:f?alt=sse"),
            ("http://h/d?api-version=1", Dialect::OpenaiChat, "/chat?x=y", "http://h/d/chat?x=y&api-version=1"),
            ("http://h/d/?api-version=1", Dialect::OpenaiChat, "/chat", "http://h/d/chat?api-version=1"),
            (
                "http://h/v1beta",
                Dialect::Gemini,
                "/models?pageToken=a&key=theirs",
                "http://h/v1beta/models?pageToken=a",
            ),
            ("http://h/v1beta", Dialect::Gemini, "/models?key=theirs", "http://h/v1beta/models"),
            ("http://h/v1beta", Dialect::Gemini, "/models?%6Bey=theirs&a%70i_key=theirs", "http://h/v1beta/models"),
        ] {
            assert_eq!(address(base, dialect, path).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn a_path_stays_below_the_base_url() {
        for path in
            ["", ".evil.example/", "@evil.example/", "/../x", "/a/%2e%2E/b", "/a/./b", "/model/../invoke", "/a b"]
        {
            assert!(address("https://api.example", Dialect::Anthropic, path).is_err(), "{path}");
        }
        let error = address("https://api.example", Dialect::Anthropic, "/a/../b").unwrap_err();
        assert_eq!(error.to_string(), "the path `/a/../b` leads out of the API");
    }
}

//! Keys: checked as each provider does, and kept out of everything that is shown.

use http::HeaderMap;
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};

use crate::Config;
use crate::service::{Call, refuse, wire_error};

/// Checks that there is a key, and that it is one of `keys` if any are given.
pub(crate) fn check(dialect: Dialect, call: &Call, keys: &[String]) -> Result<(), WireError> {
    let known = |key: &str| keys.is_empty() || keys.iter().any(|known| known == key);
    match key(dialect, call) {
        Some(key) if known(key) => Ok(()),
        Some(_) => Err(wrong_key(dialect)),
        None => Err(no_key(dialect)),
    }
}

/// Whether a call may use the simulator's controls.
pub(crate) fn may_control(call: &Call, config: &Config) -> bool {
    let opens = |secret: &str| config.token.iter().chain(&config.keys).any(|known| known == secret);
    bearer(call).is_some_and(|secret| !secret.is_empty() && opens(secret))
}

fn bearer(call: &Call) -> Option<&str> {
    call.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::trim)
}

/// The key of a call, from any place where this dialect's clients may put it.
fn key(dialect: Dialect, call: &Call) -> Option<&str> {
    let bearer = bearer(call);
    let key = match dialect {
        Dialect::Anthropic => call.header("x-api-key").or(bearer),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => bearer.or_else(|| call.header("api-key")),
        Dialect::Gemini => call.header("x-goog-api-key").or_else(|| key_in_query(call)).or(bearer),
        _ => bearer,
    };
    key.filter(|key| !key.is_empty())
}

fn key_in_query(call: &Call) -> Option<&str> {
    call.query.as_deref()?.split('&').find_map(|pair| pair.strip_prefix("key="))
}

fn no_key(dialect: Dialect) -> WireError {
    match dialect {
        Dialect::Anthropic => refuse(dialect, ErrorKind::Auth, "x-api-key header is required"),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => refuse(
            dialect,
            ErrorKind::Auth,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        ),
        Dialect::Gemini => {
            let mut wire = refuse(
                dialect,
                ErrorKind::Permission,
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
            );
            wire.status = 403;
            wire
        }
        _ => refuse(dialect, ErrorKind::Auth, "no key was sent"),
    }
}

fn wrong_key(dialect: Dialect) -> WireError {
    match dialect {
        Dialect::Anthropic => refuse(dialect, ErrorKind::Auth, "invalid x-api-key"),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            refuse(dialect, ErrorKind::Auth, "Incorrect API key provided.")
        }
        // Google answers a wrong key with 400 and a reason, not with 401.
        Dialect::Gemini => wire_error(
            400,
            &serde_json::json!({"error": {
                "code": 400,
                "message": "API key not valid. Please pass a valid API key.",
                "status": "INVALID_ARGUMENT",
                "details": [{
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com",
                    "metadata": {"service": "generativelanguage.googleapis.com"}
                }]
            }}),
        ),
        _ => refuse(dialect, ErrorKind::Auth, "the key is wrong"),
    }
}

/// The headers with every key masked.
pub(crate) fn without_keys(headers: &HeaderMap) -> Vec<(String, String)> {
    let secret = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];
    headers
        .iter()
        .map(|(name, value)| {
            let shown = if secret.contains(&name.as_str()) {
                "…".to_owned()
            } else {
                String::from_utf8_lossy(value.as_bytes()).into_owned()
            };
            (name.as_str().to_owned(), shown)
        })
        .collect()
}

/// A path with the key in its query masked.
pub(crate) fn without_key(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let pairs: Vec<&str> = query.split('&').map(|pair| if pair.starts_with("key=") { "key=…" } else { pair }).collect();
    format!("{path}?{}", pairs.join("&"))
}

//! Keys, and how they are kept out of recordings.

use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use ikigai_core::secrets::Finder;
use serde_json::Value;

use crate::form;
use crate::service::holds_too_much;

/// Written in place of a key.
pub(super) const MASK: &str = "[key]";
/// Shorter strings are hardly keys, and masking them would mask half of every body.
const SHORTEST: usize = 8;
/// Words in the name of a header, a parameter or a field whose value is a key, or says whose account it is.
const NAMES: [&str; 11] = [
    "-project",
    "api-key",
    "apikey",
    "auth",
    "cookie",
    "credential",
    "organization",
    "password",
    "secret",
    "signature",
    "token",
];
/// Names with such a word whose values are not keys: token counts, signatures of thinking that must stay whole.
const HARMLESS: [&str; 6] =
    ["tokens", "tokenizer", "token_type", "token-limit", "thoughtsignature", "thought_signature"];
/// The prefixes of well-known providers' keys.
const BEGINNINGS: [&str; 22] = [
    "sk-",
    "AIza",
    "gsk_",
    "hf_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xai-",
    "AKIA",
    "ASIA",
    "ek_",
    "csk-",
    "fw_",
    "nvapi-",
    "pplx-",
    "r8_",
    "tvly-",
    "sess-",
];
/// The fewest characters of a key after its prefix.
const LEAST_BEHIND: usize = 16;

/// Whether the name of a header or a parameter says that its value is a key.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let harmless = HARMLESS.iter().any(|word| name.contains(&word.replace('_', "-")));
    name == "key" || (!harmless && NAMES.iter().any(|word| name.contains(word)))
}

/// A path with the values of the keys in its query masked.
pub(super) fn without_keys(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let masked = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(masked).collect::<Vec<_>>().join("&"))
}

/// The keys of one exchange.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    keys: Vec<String>,
    /// Finds them, however they are spelled. Made when it is first needed.
    finder: Arc<OnceLock<Finder>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.keys.len())
    }
}

impl Secrets {
    /// The keys in the headers and the query of a request.
    pub(crate) fn of(headers: &HeaderMap, target: &str) -> Self {
        let mut secrets = Secrets::default();
        for (_, value) in headers.iter().filter(|(name, _)| is_secret(name.as_str())) {
            let value = String::from_utf8_lossy(value.as_bytes());
            // `Bearer …`, `Basic …`, `a=…; b=…`.
            let parts = value.split([' ', ';', ',']).map(|part| part.split_once('=').map_or(part, |(_, value)| value));
            parts.chain([value.as_ref()]).for_each(|part| secrets.add(part));
        }
        let query = target.split_once('?').map_or("", |(_, query)| query);
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            if is_secret(name) {
                secrets.add(value);
                if let Some(plain) = ikigai_core::server::unescape(value) {
                    secrets.add(&plain);
                }
            }
        }
        secrets
    }

    fn add(&mut self, text: &str) {
        let text = text.trim().trim_matches('"');
        let is_new = !self.keys.iter().any(|known| known == text);
        if text.len() >= SHORTEST && !text.eq_ignore_ascii_case("Bearer") && is_new {
            self.keys.push(text.to_owned());
            self.finder = Arc::default();
        }
    }

    /// Adds the keys in the fields of a body, such as the authorization of an MCP server.
    pub(crate) fn find_in(&mut self, json: &Value) {
        match json {
            Value::Array(items) => items.iter().for_each(|item| self.find_in(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(_) | Value::Array(_) if names_a_key(name) => self.add_all(value),
                        Value::Object(headers) if are_headers(name) => {
                            headers
                                .iter()
                                .filter(|(name, _)| is_secret(name))
                                .for_each(|(_, value)| self.add_all(value));
                        }
                        value => self.find_in(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Adds a string, or the strings of a list. An object may be a schema, whose strings are words.
    fn add_all(&mut self, json: &Value) {
        match json {
            Value::String(text) => self.add(text.strip_prefix("Bearer ").unwrap_or(text)),
            Value::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Value::Object(_) => self.find_in(json),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds the keys in the fields of a form, with or without files.
    pub(crate) fn find_in_form(&mut self, content_type: &str, body: &[u8]) {
        if let Ok(fields) = form::read(Some(content_type), body) {
            for field in fields.iter().filter(|field| field.file_name.is_none() && names_a_key(&field.name)) {
                self.add(&String::from_utf8_lossy(field.content));
            }
        } else if content_type.starts_with("application/x-www-form-urlencoded") {
            let body = String::from_utf8_lossy(body);
            for (name, value) in body.split('&').filter_map(|pair| pair.split_once('=')) {
                if names_a_key(name) || name == "assertion" {
                    self.add(value);
                    if let Some(plain) = ikigai_core::server::unescape(value) {
                        self.add(&plain);
                    }
                }
            }
        }
    }

    /// Adds the keys that an answer brings, such as a new token.
    pub(crate) fn find_in_answer(&mut self, body: &[u8]) {
        if holds_too_much(body) {
            return;
        }
        if let Ok(Value::Object(fields)) = serde_json::from_slice(body) {
            fields.iter().filter(|(name, _)| names_a_key(name)).for_each(|(_, value)| self.add_all(value));
        }
    }

    fn finder(&self) -> &Finder {
        self.finder.get_or_init(|| Finder::new(self.keys.iter().map(String::as_str)))
    }

    /// The places of every key, and of anything that looks like one.
    fn places(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let known = self.finder().find(bytes).into_iter().map(|place| (place.start, place.end));
        let mut places: Vec<(usize, usize)> = known.chain(shaped(bytes)).collect();
        places.sort_unstable();
        places.dedup_by(|(start, end), (_, before)| {
            let overlap = *start < *before;
            *before = if overlap { (*before).max(*end) } else { *before };
            overlap
        });
        places
    }

    /// A text with every key masked.
    pub(crate) fn take_out(&self, text: &str) -> String {
        masked(text, self.places(text.as_bytes()))
    }

    pub(crate) fn take_out_of_json(&self, json: &mut Value) {
        match json {
            Value::String(text) => *text = self.take_out(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_out_of_json(item)),
            Value::Object(fields) => {
                for (name, mut value) in std::mem::take(fields) {
                    match &mut value {
                        Value::String(text) if names_a_key(&name) => *text = MASK.to_owned(),
                        // The strings in it are known as keys.
                        value => self.take_out_of_json(value),
                    }
                    fields.insert(self.take_out(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Overwrites every key in bytes, keeping their number.
    pub(crate) fn blank(&self, bytes: &mut [u8]) {
        for (start, end) in self.places(bytes) {
            if let Some(place) = bytes.get_mut(start..end) {
                place.fill(b'*');
            }
        }
    }
}

/// A text with the mask in these places.
fn masked(text: &str, places: impl IntoIterator<Item = (usize, usize)>) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (start, end) in places {
        // Part of a key may be part of a character.
        out.push_str(text.get(from..text.floor_char_boundary(start)).unwrap_or_default());
        out.push_str(MASK);
        from = text.ceil_char_boundary(end);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Whether a field holds the headers that a provider is to send to a server.
fn are_headers(name: &str) -> bool {
    matches!(name, "headers" | "http_headers" | "extra_headers")
}

/// Whether a field of a body holds a key. Narrower than for headers: a body talks about many things.
fn names_a_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['_', '-'], "");
    matches!(
        name.as_str(),
        "authorization"
            | "authorizationtoken"
            | "apikey"
            | "xapikey"
            | "xgoogapikey"
            | "accesstoken"
            | "refreshtoken"
            | "bearertoken"
            | "authtoken"
            | "clientsecret"
            | "secret"
            | "password"
    )
}

/// The places of anything that looks like a key of a well-known provider.
fn shaped(bytes: &[u8]) -> Vec<(usize, usize)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
    let (mut found, mut place) = (Vec::new(), 0);
    while let Some(start) = bytes.get(place..).and_then(|rest| rest.iter().position(is_part)).map(|to| place + to) {
        let word = bytes.get(start..).unwrap_or_default();
        let word = word.get(..word.iter().position(|byte| !is_part(byte)).unwrap_or(word.len())).unwrap_or_default();
        place = start + word.len().max(1);
        let begins = BEGINNINGS.iter().find(|beginning| word.starts_with(beginning.as_bytes()));
        let has_digit = word.iter().any(u8::is_ascii_digit);
        if begins.is_some_and(|beginning| word.len() >= beginning.len() + LEAST_BEHIND) && has_digit {
            found.push((start, place));
        }
    }
    found
}

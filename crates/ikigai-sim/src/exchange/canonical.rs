//! What makes two requests the same: method, path and body, regardless of the order of their keys.

use serde_json::{Map, Value};

use super::{Asked, Content};
use crate::generate::fingerprint;

/// Placeholders for ids and dates when those do not count.
const ID: &str = "‹id›";
const DATE: &str = "‹date›";
/// Prefixes of the ids that providers and clients make.
const PREFIXES: [&str; 14] =
    ["call", "chatcmpl", "fc", "item", "msg", "req", "resp", "rs", "run", "sess", "session", "thread", "toolu", "turn"];

/// A request in the form used for comparing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Canonical {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The parameters of the query, sorted.
    pub(crate) query: Vec<String>,
    pub(crate) body: Value,
}

impl Canonical {
    pub(crate) fn of(asked: &Asked) -> Self {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let mut query: Vec<String> = query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
        query.sort();
        let body = match &asked.body {
            Content::Empty => Value::Null,
            Content::Json(json) => sorted(json),
            Content::Text(text) | Content::Base64(text) => Value::String(text.clone()),
        };
        Canonical { method: asked.method.clone(), path: path.to_owned(), query, body }
    }

    /// The same without ids and dates, since a client makes new ones each time.
    pub(crate) fn without_ids(&self) -> Self {
        let query = self.query.iter().map(|pair| plain(pair)).collect();
        Canonical { path: plain(&self.path), query, body: without_ids(&self.body), ..self.clone() }
    }

    /// A number that is the same for the same request, on every machine.
    pub(crate) fn fingerprint(&self) -> u32 {
        let text = format!("{} {} {:?} {}", self.method, self.path, self.query, self.without_ids().body);
        (fingerprint(text.as_bytes()) >> 32) as u32
    }
}

fn sorted(json: &Value) -> Value {
    match json {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut pairs: Vec<(&String, &Value)> = fields.iter().collect();
            pairs.sort_by_key(|(name, _)| *name);
            Value::Object(pairs.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn without_ids(json: &Value) -> Value {
    match json {
        Value::String(text) => Value::String(plain(text)),
        Value::Array(items) => items.iter().map(without_ids).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), without_ids(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// A text with its ids and dates replaced.
fn plain(text: &str) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut place) = (String::new(), 0, 0);
    while let Some(byte) = bytes.get(place) {
        let starts =
            is_word(*byte) && !place.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|b| is_word(*b));
        if !starts {
            place += 1;
            continue;
        }
        let rest = bytes.get(place..).unwrap_or_default();
        let word = rest.get(..rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len())).unwrap_or_default();
        let found = match date(rest) {
            Some(length) => Some((DATE, length)),
            None => is_id(word).then_some((ID, word.len())),
        };
        if let Some((name, length)) = found {
            out.push_str(text.get(copied..place).unwrap_or_default());
            out.push_str(name);
            copied = place + length;
        }
        place += found.map_or(word.len(), |(_, length)| length).max(1);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// Whether a word is a UUID, a long hexadecimal number, or a prefix and something generated.
fn is_id(word: &[u8]) -> bool {
    let is_hex = |part: &[u8]| part.iter().all(u8::is_ascii_hexdigit);
    let parts: Vec<&[u8]> = word.split(|byte| *byte == b'-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if lengths == [8, 4, 4, 4, 12] && parts.iter().all(|part| is_hex(part)) {
        return true;
    }
    let has_digit = word.iter().any(u8::is_ascii_digit);
    if word.len() >= 16 && has_digit && is_hex(word) {
        return true;
    }
    let Some(cut) = word.iter().position(|byte| *byte == b'_' || *byte == b'-') else { return false };
    let (prefix, made) = word.split_at(cut);
    PREFIXES.iter().any(|known| known.as_bytes() == prefix) && made.len() > 8 && has_digit
}

/// The length of a date at the start of a text, including any time: `2026-11-16`, `2026-11-16T10:53:53.1Z`.
fn date(text: &[u8]) -> Option<usize> {
    let fits = |from: usize, pattern: &str| {
        let part = text.get(from..from + pattern.len())?;
        let same = |(byte, wanted): (&u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { *byte == wanted };
        part.iter().zip(pattern.bytes()).all(same).then_some(from + pattern.len())
    };
    let day = fits(0, "0000-00-00")?;
    let time = fits(day, "T00:00").or_else(|| fits(day, " 00:00"));
    let Some(minutes) = time else {
        // `2026-11-16-draft` is not a date.
        let next = text.get(day);
        return next.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-').then_some(day);
    };
    let mut end = fits(minutes, ":00").unwrap_or(minutes);
    if text.get(end) == Some(&b'.') {
        let digits = text.get(end + 1..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
        end += if digits > 0 { 1 + digits } else { 0 };
    }
    Some(fits(end, "Z").or_else(|| fits(end, "+00:00")).or_else(|| fits(end, "-00:00")).unwrap_or(end))
}

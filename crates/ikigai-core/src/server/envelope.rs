//! The top level of a JSON body, without parsing the rest.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::skip::{self, DEEPEST, Fault};

/// The maximum number of top-level keys. Real requests have a few dozen at most; the limit keeps the index small.
const MOST_KEYS: usize = 1024;

/// Keys that this type interprets itself: if there were two, it would be unclear which one applies.
const SINGLE: [&str; 2] = ["model", "stream"];

/// A JSON object that is read only at its top level.
///
/// It knows each key and where its value is, and nothing more: values are skipped in one pass, not parsed. A single
/// value can be replaced while every other byte stays unchanged, so that numbers keep their spelling, objects keep
/// their order, and a prompt cache still recognises the conversation.
///
/// It checks that the bytes are UTF-8, that there is one object with nothing after it, that keys and top-level scalars
/// are well formed, and that brackets and quotation marks inside the values are balanced. The *inside* of a nested
/// value may still be invalid JSON, which its receiver will report.
///
/// ```
/// use ikigai_core::server::{Edit, Envelope};
///
/// let body = br#"{"model": "fast", "messages": [{"role": "user", "content": "Hi"}], "temperature": 1.0}"#;
/// let envelope = Envelope::read(body)?;
/// assert_eq!(envelope.model().as_deref(), Some("fast"));
/// assert_eq!(envelope.stream(), None);
/// assert_eq!(envelope.get("temperature"), Some(&b"1.0"[..]));
///
/// let edited = envelope.with(&[("model", Edit::Text("gpt-5.1")), ("stream", Edit::Flag(true))]);
/// let expected =
///     r#"{"model": "gpt-5.1", "messages": [{"role": "user", "content": "Hi"}], "temperature": 1.0,"stream":true}"#;
/// assert_eq!(edited, expected.as_bytes());
/// # Ok::<(), ikigai_core::server::EnvelopeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Envelope<'a> {
    body: &'a [u8],
    fields: Vec<Field<'a>>,
    /// The place to insert the first key if there is none: right after the opening brace.
    start: usize,
}

#[derive(Debug, Clone)]
struct Field<'a> {
    key: Cow<'a, str>,
    /// The start of the key, at its quotation mark.
    at: usize,
    value: Range<usize>,
}

/// What to do with one top-level value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edit<'a> {
    /// Set it to a string.
    Text(&'a str),
    /// Set it to `true` or `false`.
    Flag(bool),
    /// Set it to this JSON value, which is not checked.
    Json(&'a str),
    /// Remove the key and its value.
    Remove,
}

/// Two top-level keys that some readers treat as the same.
///
/// ```
/// use ikigai_core::server::Envelope;
///
/// let envelope = Envelope::read(br#"{"top_p": 1, "Top_P": 2, "topP": 3}"#)?;
/// let clashes = envelope.clashes();
/// assert_eq!((&*clashes[0].key, clashes[0].at, &*clashes[0].earlier), ("Top_P", 13, "top_p"));
/// assert_eq!(clashes.len(), 2);
/// # Ok::<(), ikigai_core::server::EnvelopeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash<'a> {
    /// The later key.
    pub key: Cow<'a, str>,
    /// The byte at which it begins.
    pub at: usize,
    /// The first key that it clashes with: an equal one, or one that differs only in case and underscores.
    pub earlier: Cow<'a, str>,
}

/// Why a body is not accepted.
///
/// ```
/// use ikigai_core::server::Envelope;
///
/// let error = Envelope::read(br#"{"model": "m"] "#).unwrap_err();
/// assert_eq!(error.to_string(), "expected `,` or `}` at byte 13 of the body");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// Something else was expected here.
    #[error("expected {what} at byte {at} of the body")]
    Unexpected {
        /// What was expected.
        what: &'static str,
        /// The place, in bytes.
        at: usize,
    },
    /// The body ends before the object does.
    #[error("the body ends too early, at byte {at}, inside what begins at byte {begun}")]
    Cut {
        /// The length of the body.
        at: usize,
        /// The start of the incomplete value or key.
        begun: usize,
    },
    /// The body is not UTF-8.
    #[error("the body is not UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first invalid byte.
        at: usize,
    },
    /// Too many brackets are open.
    #[error("the body is nested deeper than {limit} levels at byte {at}")]
    TooDeep {
        /// The maximum.
        limit: u32,
        /// The bracket that exceeds it.
        at: usize,
    },
    /// A key that this type interprets appears twice.
    #[error("`{key}` appears twice in the body, at byte {first} and at byte {at}")]
    Duplicate {
        /// The key.
        key: &'static str,
        /// Its first place.
        first: usize,
        /// Its second place.
        at: usize,
    },
    /// There are more top-level keys than any request has.
    #[error("the body has more than {limit} top-level keys")]
    TooManyKeys {
        /// The maximum.
        limit: usize,
    },
}

impl<'a> Envelope<'a> {
    /// Reads the top level of a body.
    ///
    /// # Errors
    /// Returns an error if the body is not a single JSON object, or has `model` or `stream` twice.
    pub fn read(body: &'a [u8]) -> Result<Self, EnvelopeError> {
        simdutf8::compat::from_utf8(body).map_err(|fault| EnvelopeError::NotUtf8 { at: fault.valid_up_to() })?;
        let open = skip::blanks(body, 0);
        expect(body, open, b'{', "a JSON object", open)?;
        let mut envelope = Envelope { body, fields: Vec::with_capacity(16), start: open + 1 };
        let end = envelope.read_fields(open)?;
        let behind = skip::blanks(body, end);
        if behind < body.len() {
            return Err(EnvelopeError::Unexpected { what: "nothing more", at: behind });
        }
        envelope.check_single()?;
        Ok(envelope)
    }

    /// Reads the keys. Returns the place after the closing brace.
    fn read_fields(&mut self, open: usize) -> Result<usize, EnvelopeError> {
        let body = self.body;
        let mut at = skip::blanks(body, self.start);
        if body.get(at) == Some(&b'}') {
            return Ok(at + 1);
        }
        loop {
            expect(body, at, b'"', "a key in quotation marks", open)?;
            let key_end = skip::string(body, at + 1).ok_or(EnvelopeError::Cut { at: body.len(), begun: at })?;
            let key = skip::text(body.get(at..key_end).unwrap_or_default())
                .ok_or(EnvelopeError::Unexpected { what: "a valid key", at })?;
            let colon = skip::blanks(body, key_end);
            expect(body, colon, b':', "`:`", open)?;
            let start = skip::blanks(body, colon + 1);
            let end = skip::value(body, start).map_err(|fault| match fault {
                Fault::Cut => EnvelopeError::Cut { at: body.len(), begun: start.min(body.len()) },
                Fault::Unexpected(at) if at == start => EnvelopeError::Unexpected { what: "a JSON value", at },
                Fault::Unexpected(at) => EnvelopeError::Unexpected { what: "the bracket that is open", at },
                Fault::TooDeep(at) => EnvelopeError::TooDeep { limit: DEEPEST, at },
            })?;
            if self.fields.len() == MOST_KEYS {
                return Err(EnvelopeError::TooManyKeys { limit: MOST_KEYS });
            }
            self.fields.push(Field { key, at, value: start..end });
            at = skip::blanks(body, end);
            match body.get(at) {
                Some(b',') => at = skip::blanks(body, at + 1),
                Some(b'}') => return Ok(at + 1),
                Some(_) => return Err(EnvelopeError::Unexpected { what: "`,` or `}`", at }),
                None => return Err(EnvelopeError::Cut { at, begun: open }),
            }
        }
    }

    fn check_single(&self) -> Result<(), EnvelopeError> {
        for key in SINGLE {
            let mut places = self.fields.iter().filter(|field| field.key == key).map(|field| field.at);
            if let (Some(first), Some(at)) = (places.next(), places.next()) {
                return Err(EnvelopeError::Duplicate { key, first, at });
            }
        }
        Ok(())
    }

    /// Returns the requested model. `None` if there is no `model`, or if it is not a string.
    pub fn model(&self) -> Option<Cow<'a, str>> {
        self.text("model")
    }

    /// Returns whether a stream is requested. `None` if there is no `stream`, or if it is neither `true` nor `false`.
    pub fn stream(&self) -> Option<bool> {
        self.flag("stream")
    }

    /// Returns the JSON of a value, byte for byte. If a key appears twice, the last value counts, as usual in JSON.
    pub fn get(&self, key: &str) -> Option<&'a [u8]> {
        let field = self.fields.iter().rev().find(|field| field.key == key)?;
        self.body.get(field.value.clone())
    }

    /// Returns the position of a value, to replace it later. As in [`get`](Envelope::get), the last one counts.
    pub fn place(&self, key: &str) -> Option<Range<usize>> {
        self.fields.iter().rev().find(|field| field.key == key).map(|field| field.value.clone())
    }

    /// Returns a value that is a string.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        skip::text(self.get(key)?)
    }

    /// Returns a value that is `true` or `false`.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns a value that is a whole number, such as a token limit.
    pub fn number(&self, key: &str) -> Option<u64> {
        std::str::from_utf8(self.get(key)?).ok()?.parse().ok()
    }

    /// Returns the keys in order, including those that appear twice.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.key.as_ref())
    }

    /// Returns the keys that some readers treat as the same: equal ones, and those that differ only in case and
    /// underscores (Gemini accepts `generation_config` and `generationConfig`; some servers do not distinguish `Model`
    /// from `model`).
    pub fn clashes(&self) -> Vec<Clash<'a>> {
        let mut seen: HashMap<String, &Field<'a>> = HashMap::with_capacity(self.fields.len());
        let mut clashes = Vec::new();
        for field in &self.fields {
            let plain = field.key.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
            match seen.entry(plain) {
                std::collections::hash_map::Entry::Occupied(first) => {
                    clashes.push(Clash { key: field.key.clone(), at: field.at, earlier: first.get().key.clone() })
                }
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(field);
                }
            }
        }
        clashes
    }

    /// Returns the body with some values replaced, added or removed; every other byte is unchanged.
    ///
    /// A key that appears twice is changed in both places. A new key is added at the end. If `edits` names a key more
    /// than once, the last edit counts.
    pub fn with(&self, edits: &[(&str, Edit<'_>)]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body.len() + edits.len() * 64);
        // The end of the part that has been handled.
        let mut done = self.start;
        let mut is_first = true;
        for field in &self.fields {
            let edit = edits.iter().rev().find(|(key, _)| *key == field.key).map(|(_, edit)| edit);
            let gap = done..field.at;
            done = field.value.end;
            if edit == Some(&Edit::Remove) {
                continue;
            }
            if is_first {
                // A removed first field takes the comma after it with it; a later one takes the comma before it.
                let first = self.fields.first().map_or(self.start, |field| field.at);
                out.extend_from_slice(self.body.get(..first).unwrap_or_default());
                is_first = false;
            } else {
                out.extend_from_slice(self.body.get(gap).unwrap_or_default());
            }
            out.extend_from_slice(self.body.get(field.at..field.value.start).unwrap_or_default());
            match edit {
                Some(edit) => edit.write(&mut out),
                None => out.extend_from_slice(self.body.get(field.value.clone()).unwrap_or_default()),
            }
        }
        if is_first {
            out.extend_from_slice(self.body.get(..self.start).unwrap_or_default());
        }
        for (index, (key, edit)) in edits.iter().enumerate() {
            let is_overruled = edits.iter().skip(index + 1).any(|(later, _)| later == key);
            if *edit == Edit::Remove || is_overruled || self.fields.iter().any(|field| field.key == *key) {
                continue;
            }
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            Edit::Text(key).write(&mut out);
            out.push(b':');
            edit.write(&mut out);
        }
        out.extend_from_slice(self.body.get(done..).unwrap_or_default());
        out
    }
}

impl Edit<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            // A string always has a JSON form, and writing to a Vec cannot fail.
            Edit::Text(text) => {
                let _ = serde_json::to_writer(out, text);
            }
            Edit::Flag(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
            Edit::Json(json) => out.extend_from_slice(json.as_bytes()),
            Edit::Remove => {}
        }
    }
}

fn expect(body: &[u8], at: usize, byte: u8, what: &'static str, begun: usize) -> Result<(), EnvelopeError> {
    match body.get(at) {
        Some(found) if *found == byte => Ok(()),
        Some(_) => Err(EnvelopeError::Unexpected { what, at }),
        None if at == begun => Err(EnvelopeError::Unexpected { what, at }),
        None => Err(EnvelopeError::Cut { at: body.len(), begun }),
    }
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;

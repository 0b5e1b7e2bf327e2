//! Reads files of rows that people write, and reports their errors.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "files")]
use serde::de::DeserializeOwned;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

#[cfg(feature = "files")]
use crate::near;

/// An error in a file of providers or models, with its place. The tables remain unchanged.
///
/// ```
/// use ikigai_core::provider::Providers;
///
/// let error = Providers::shared().with_toml("providers.toml", "[mistral]\nbase_urls = \"https://localhost\"").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "providers.toml:2:1: mistral.base_urls: unknown key `base_urls`; did you mean `base_url`?",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {}{message}", Prefix(.key))]
#[non_exhaustive]
pub struct FileError {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The key with its parents: `mistral.quirks.chat.top_k`. Empty if the text is not TOML or JSON at all.
    pub key: String,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// The key and a colon, if there is a key.
struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

impl FileError {
    /// Creates an error at a byte of the text.
    pub fn at(file: &str, text: &str, offset: usize, key: impl Into<String>, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        FileError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            key: key.into(),
            message: message.into(),
        }
    }
}

/// The name that the reader of places gives to the value that it wraps.
#[cfg(feature = "files")]
const SPANNED: &str = ".$__serde_spanned_private_value";

/// Reads TOML. An error says where it is, and suggests the closest known key for an unknown one.
///
/// # Errors
/// Returns an error if the text is not TOML, or does not describe a `T`.
#[cfg(feature = "files")]
pub fn from_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FileError> {
    let place = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let document = toml::Deserializer::parse(text)
        .map_err(|error| FileError::at(file, text, place(&error), "", plain(error.message())))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        // Values with their places are wrapped during reading.
        let mut key = error.path().to_string().replace(SPANNED, "");
        let error = error.into_inner();
        // A key that is itself wrong is not yet part of the path.
        if let (Some(above), Some((word, _))) = (key.strip_suffix('?'), unknown(error.message())) {
            key = format!("{above}{word}");
        }
        FileError::at(file, text, place(&error), key, plain(error.message()))
    })
}

/// Reads rows from JSON.
#[cfg(feature = "files")]
pub(crate) fn from_json<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FileError> {
    let mut document = serde_json::Deserializer::from_str(text);
    let rows = serde_path_to_error::deserialize(&mut document).map_err(|error| {
        let key = error.path().to_string();
        let error = error.into_inner();
        let key = if error.is_syntax() || error.is_eof() { String::new() } else { key };
        json_error(file, &error, key)
    })?;
    document.end().map_err(|error| json_error(file, &error, String::new()))?;
    Ok(rows)
}

#[cfg(feature = "files")]
fn json_error(file: &str, error: &serde_json::Error, key: String) -> FileError {
    // The message repeats the place at its end.
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let (line, column) = (error.line().max(1), error.column().max(1));
    FileError { file: file.to_owned(), line, column, key, message: plain(message) }
}

/// Rewrites a parser's message: for an unknown key or word, it names the closest known one.
#[cfg(feature = "files")]
fn plain(message: &str) -> String {
    let Some((word, expected)) = unknown(message) else { return message.to_owned() };
    let kind = if message.starts_with("unknown field") { "key" } else { "word" };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    match near::close(word, known.iter().copied()) {
        Some(close) => format!("unknown {kind} `{word}`; did you mean `{close}`?"),
        None => format!("unknown {kind} `{word}`; use {}", known.join(", ")),
    }
}

/// Returns the unknown key or word, and what the parser says about the known ones.
#[cfg(feature = "files")]
fn unknown(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    rest.split_once('`')
}

/// Reads a list that may be written as a single string.
pub(crate) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, [Cow<'static, str>]>, D::Error> {
    struct List;
    impl<'de> Visitor<'de> for List {
        type Value = Vec<Cow<'static, str>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a list of strings")
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![Cow::Owned(text.to_owned())])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut list = Vec::new();
            while let Some(text) = seq.next_element::<String>()? {
                list.push(Cow::Owned(text));
            }
            Ok(list)
        }
    }
    from.deserialize_any(List).map(Cow::Owned)
}

/// Pairs, written as a table.
pub(crate) mod pairs {
    use super::*;

    /// The pairs of a table, in order.
    type Pairs<K> = Cow<'static, [(K, Cow<'static, str>)]>;

    pub(crate) fn serialize<K: Serialize + Clone, S: Serializer>(pairs: &Pairs<K>, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(pairs.len()))?;
        for (key, value) in pairs.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }

    pub(crate) fn deserialize<'de, K, D>(from: D) -> Result<Pairs<K>, D::Error>
    where
        K: Deserialize<'de> + Clone + 'static,
        D: Deserializer<'de>,
    {
        struct Table<K>(PhantomData<K>);
        impl<'de, K: Deserialize<'de>> Visitor<'de> for Table<K> {
            type Value = Vec<(K, Cow<'static, str>)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<K, String>()? {
                    pairs.push((key, Cow::Owned(value)));
                }
                Ok(pairs)
            }
        }
        from.deserialize_map(Table(PhantomData)).map(Cow::Owned)
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;

//! Recorded exchanges: a request and its answer, one per file, for people to read and for programs to compare.
//!
//! Keys are removed before anything is written. The bytes of an answer are kept in the pieces in which they arrived.

mod canonical;
mod difference;
mod secrets;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::service::holds_too_much;

pub(crate) use canonical::Canonical;
pub(crate) use difference::difference;
pub(crate) use secrets::Secrets;

/// The extension of a recording; other files in its folder are left alone.
const ENDING: &str = "json";
/// The longest part of a path that goes into a file's name.
const LONGEST_NAME: usize = 60;
/// Headers of a connection, not of an exchange, and those that say how a body was encoded.
const NOT_KEPT: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "host",
    "keep-alive",
    "proxy-connection",
    "set-cookie",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A request and its answer, without keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    pub(crate) request: Asked,
    pub(crate) response: Answered,
}

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Content::is_empty")]
    pub(crate) body: Content,
}

/// The body of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    #[default]
    Empty,
    Json(Value),
    Text(String),
    Base64(String),
}

/// A recorded answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Pieces,
}

/// The bytes of an answer as they arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pieces {
    /// All at once, with their number known in advance.
    Whole(Piece),
    /// One chunk after the other.
    Chunks(Vec<Piece>),
}

/// A piece of an answer: its lines, or base64 if it is not text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Piece {
    Lines(Vec<String>),
    Base64(String),
}

impl Content {
    fn is_empty(&self) -> bool {
        *self == Content::Empty
    }

    fn of(body: &[u8]) -> Self {
        if body.is_empty() {
            return Content::Empty;
        }
        let json = if holds_too_much(body) { None } else { serde_json::from_slice(body).ok() };
        match (json, std::str::from_utf8(body)) {
            (Some(json), _) => Content::Json(json),
            (None, Ok(text)) => Content::Text(text.to_owned()),
            (None, Err(_)) => Content::Base64(STANDARD.encode(body)),
        }
    }
}

impl Asked {
    /// Returns a request without its keys, and the keys.
    pub(crate) fn of(method: &str, target: &str, headers: &HeaderMap, body: &[u8]) -> (Self, Secrets) {
        let content = Content::of(body);
        let mut secrets = Secrets::of(headers, target);
        if let Content::Json(json) = &content {
            secrets.find_in(json);
        }
        let content = match content {
            Content::Json(mut json) => {
                secrets.take_out_of_json(&mut json);
                Content::Json(json)
            }
            Content::Text(text) => Content::Text(secrets.take_out(&text)),
            Content::Base64(_) => {
                let mut bytes = body.to_vec();
                secrets.blank(&mut bytes);
                Content::Base64(STANDARD.encode(bytes))
            }
            Content::Empty => Content::Empty,
        };
        let path = secrets.take_out(&secrets::without_keys(target));
        let asked = Asked { method: method.to_owned(), path, headers: kept(headers, &secrets), body: content };
        (asked, secrets)
    }
}

impl Answered {
    /// An answer without the keys of its request.
    pub(crate) fn of(status: u16, headers: &HeaderMap, chunks: &[Bytes], secrets: &Secrets) -> Self {
        let mut all = chunks.concat();
        // The length stays the same, so that every piece stays where it is.
        secrets.blank(&mut all);
        let body = if headers.contains_key(http::header::CONTENT_LENGTH) || chunks.is_empty() {
            Pieces::Whole(Piece::of(&all))
        } else {
            let mut rest = all.as_slice();
            let pieces = chunks.iter().map(|chunk| {
                let (piece, behind) = rest.split_at_checked(chunk.len()).unwrap_or((rest, &[]));
                rest = behind;
                Piece::of(piece)
            });
            Pieces::Chunks(pieces.collect())
        };
        Answered { status, headers: kept(headers, secrets), body }
    }
}

impl Piece {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Piece::Lines(text.split_inclusive('\n').map(str::to_owned).collect()),
            Err(_) => Piece::Base64(STANDARD.encode(bytes)),
        }
    }

    pub(crate) fn bytes(&self) -> Result<Bytes, base64::DecodeError> {
        match self {
            Piece::Lines(lines) => Ok(lines.concat().into()),
            Piece::Base64(text) => STANDARD.decode(text).map(Bytes::from),
        }
    }
}

/// The headers that belong to an exchange, with keys masked.
fn kept(headers: &HeaderMap, secrets: &Secrets) -> BTreeMap<String, String> {
    let kept = headers.iter().filter(|(name, _)| !NOT_KEPT.contains(&name.as_str()));
    kept.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        let shown = if secrets::is_secret(name.as_str()) { secrets::MASK.to_owned() } else { secrets.take_out(&value) };
        (name.as_str().to_owned(), shown)
    })
    .collect()
}

/// The name of an exchange's file. Nothing that a client sent goes into it but letters and digits.
fn name(number: usize, asked: &Asked) -> String {
    let path = asked.path.split('?').next().unwrap_or_default();
    let mut slug = String::new();
    for character in path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }) {
        if slug.len() < LONGEST_NAME && !(character == '-' && (slug.is_empty() || slug.ends_with('-'))) {
            slug.push(character.to_ascii_lowercase());
        }
    }
    let key = Canonical::of(asked).fingerprint();
    format!("{number:04}-{}-{key:08x}.{ENDING}", slug.trim_end_matches('-'))
}

/// The recordings in a folder: their numbers and paths.
pub(crate) fn files(folder: &Path) -> std::io::Result<Vec<(usize, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = stem.split('-').next().and_then(|number| number.parse().ok());
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|ending| ending == ENDING)) {
            files.push((number, path));
        }
    }
    files.sort();
    Ok(files)
}

/// Writes an exchange into a folder, whole or not at all, readable only by its owner.
pub(crate) fn write(folder: &Path, number: usize, exchange: &Exchange) -> std::io::Result<PathBuf> {
    let path = folder.join(name(number, &exchange.request));
    let text = serde_json::to_string_pretty(exchange).map_err(std::io::Error::other)? + "\n";
    let unfinished = path.with_extension("unfinished");
    let written = (|| {
        // Removes what a crash left behind; a link that someone placed there is not followed.
        if let Err(fault) = std::fs::remove_file(&unfinished)
            && fault.kind() != std::io::ErrorKind::NotFound
        {
            return Err(fault);
        }
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written.map(|()| path)
}

/// Creates a folder for recordings, readable only by its owner.
pub(crate) fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;

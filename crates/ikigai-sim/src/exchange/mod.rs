//! Recorded exchanges: a request and its answer, one per file, for people to read and for programs to compare.
//!
//! Keys are removed before anything is written. The bytes of an answer are kept in the pieces in which they arrived.

mod canonical;
mod difference;
mod secrets;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::form;
use crate::service::{has_more_values, holds_too_much};

pub(crate) use canonical::Canonical;
pub(crate) use difference::difference;
pub(crate) use secrets::Secrets;

/// The extension of a recording; other files in its folder are left alone.
const ENDING: &str = "json";
/// The longest part of a path that goes into a file's name.
const LONGEST_NAME: usize = 60;
/// The most lines of an answer that are written one by one: each takes many times its own bytes.
const MOST_LINES: usize = 100_000;
/// The largest file that is read: what is recorded is at most a request of 32 MB and an answer of 64 MB, with escapes.
const LARGEST_FILE: u64 = 256 << 20;
/// The most values in a file: those of a request, and a few for every piece of an answer.
const MOST_VALUES: usize = 3_000_000;
/// The highest number of a file.
const LAST: usize = u32::MAX as usize;
/// The boundary of a form as it is recorded: clients make a new one each time.
const BOUNDARY: &str = "boundary";
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
        let mut secrets = Secrets::of(headers, target);
        let content_type =
            headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let boundary =
            form::boundary(content_type).filter(|boundary| body.starts_with(format!("--{boundary}").as_bytes()));
        secrets.find_in_form(content_type, body);
        let body = &*boundary.as_ref().map_or(Cow::Borrowed(body), |boundary| replaced(body, boundary.as_bytes()));
        let content = Content::of(body);
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
        let mut headers = kept(headers, &secrets);
        if let (Some(boundary), Some(kind)) = (boundary, headers.get_mut("content-type")) {
            *kind = kind.replace(&boundary, BOUNDARY);
        }
        let asked = Asked { method: method.to_owned(), path, headers, body: content };
        (asked, secrets)
    }
}

impl Answered {
    /// An answer without the keys of its request.
    pub(crate) fn of(status: u16, headers: &HeaderMap, chunks: &[Bytes], secrets: &Secrets) -> Self {
        let mut all = chunks.concat();
        let mut secrets = secrets.clone();
        secrets.find_in_answer(&all);
        // The length stays the same, so that every piece stays where it is.
        secrets.blank(&mut all);
        let by_line = memchr::memchr_iter(b'\n', &all).count() <= MOST_LINES;
        let body = if headers.contains_key(http::header::CONTENT_LENGTH) || chunks.is_empty() {
            Pieces::Whole(Piece::of(&all, by_line))
        } else {
            let mut rest = all.as_slice();
            let pieces = chunks.iter().map(|chunk| {
                let (piece, behind) = rest.split_at_checked(chunk.len()).unwrap_or((rest, &[]));
                rest = behind;
                Piece::of(piece, by_line)
            });
            Pieces::Chunks(pieces.collect())
        };
        Answered { status, headers: kept(headers, &secrets), body }
    }
}

/// A form with [`BOUNDARY`] as its boundary.
fn replaced(body: &[u8], boundary: &[u8]) -> Cow<'static, [u8]> {
    let (mut replaced, mut from) = (Vec::with_capacity(body.len()), 0);
    for place in memchr::memmem::find_iter(body, boundary) {
        replaced.extend_from_slice(body.get(from..place).unwrap_or_default());
        replaced.extend_from_slice(BOUNDARY.as_bytes());
        from = place + boundary.len();
    }
    replaced.extend_from_slice(body.get(from..).unwrap_or_default());
    replaced.into()
}

impl Piece {
    fn of(bytes: &[u8], by_line: bool) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if by_line => Piece::Lines(text.split_inclusive('\n').map(str::to_owned).collect()),
            Ok(text) => Piece::Lines(vec![text.to_owned()]),
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
        let number = stem.split('-').next().and_then(|number| number.parse().ok()).filter(|number| *number < LAST);
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|ending| ending == ENDING)) {
            files.push((number, path));
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a recording. Anything but a file of some size is refused: a pipe would be waited for, a device has no end.
pub(crate) fn read(path: &Path) -> Result<Exchange, String> {
    let told = |error: std::io::Error| error.to_string();
    let about = std::fs::metadata(path).map_err(told)?;
    if !about.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut text = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut text)).map_err(told)?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(format!("it is larger than {} MB", LARGEST_FILE >> 20));
    }
    if has_more_values(&text, MOST_VALUES) {
        return Err(format!("it has more than {MOST_VALUES} JSON values"));
    }
    serde_json::from_slice(&text).map_err(|error| error.to_string())
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

//! What an API can do besides writing answers: count the tokens of a prompt, turn texts into vectors, list its models, draw
//! pictures, speak and listen.
//!
//! Each is one request and one answer, so each stands here once for all dialects.

mod count;
mod embed;
mod image;
mod list;
mod media;
mod multipart;
mod speech;
mod transcribe;
mod vector;

use serde_json::Value;

use crate::server::Envelope;
use crate::{Dialect, Error, Limits};

pub use embed::{EmbedRequest, VectorForm, Vectors};
pub use image::{ImageRequest, Picture, Pictures};
pub use list::ListedModel;
pub use media::MediaFile;
pub use speech::{SpeechRequest, Spoken};
pub use transcribe::{TranscribeRequest, Transcribed};

/// The longest failure that is read.
const LONGEST_FAILURE: usize = 64 << 10;

/// A small answer as JSON.
fn read(body: &[u8], limits: &Limits) -> Result<Value, Error> {
    // As a tree, and then as what is made of it, it takes more than other answers do.
    Limits { values: limits.values / 2, ..*limits }.check_answer(body)?;
    crate::json::wire::read_answer(body)
}

/// A small answer as bytes.
fn written(answer: &Value) -> Vec<u8> {
    // A value always has a JSON form.
    serde_json::to_vec(answer).unwrap_or_default()
}

/// The failure that is in an answer with a good status, where there is one.
fn failure(dialect: Dialect, body: &[u8], limits: &Limits) -> Option<Error> {
    limits.check_answer(body).ok()?;
    let envelope = Envelope::read(body).ok()?;
    let error = envelope.get("error").filter(|error| *error != b"null")?;
    // A failure is not that long, and a tree of it takes many times its bytes.
    let told = match error.get(..LONGEST_FAILURE) {
        Some(beginning) => String::from_utf8_lossy(beginning).into_owned(),
        None => format!("{{\"error\":{}}}", String::from_utf8_lossy(error)),
    };
    Some(dialect.decode_error(None, &[], &told))
}

/// JSON that is not the answer that was asked for; it would be no other the next time.
fn unexpected(message: impl Into<String>) -> Error {
    let mut error = Error::protocol(message);
    error.retryable = Some(false);
    error
}

/// The error of one field of a request.
fn named(field: &str, what: &str) -> Error {
    Error::invalid_param(field, format!("`{field}` {what}"))
}

/// A name as a part of a path or a query: what would end it or mean something else there is escaped.
pub(crate) fn segment(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@:".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
#[path = "verbs_tests.rs"]
mod tests;

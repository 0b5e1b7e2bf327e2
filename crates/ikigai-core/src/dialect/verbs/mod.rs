//! What an API can do besides writing answers: count a prompt's tokens, turn strings into vectors, list its models,
//! draw pictures, speak and transcribe.
//!
//! Each is one request and one answer, written once for all dialects.

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

/// Reads a small answer as JSON.
fn read(body: &[u8], limits: &Limits) -> Result<Value, Error> {
    // As a tree and then as what is made of it, it takes more memory than other answers.
    Limits { values: limits.values / 2, ..*limits }.check_answer(body)?;
    crate::json::wire::read_answer(body)
}

/// Serialises a small answer.
fn written(answer: &Value) -> Vec<u8> {
    // A `Value` can always be serialised.
    serde_json::to_vec(answer).unwrap_or_default()
}

/// Returns the failure in an answer with a successful status, if there is one.
fn failure(dialect: Dialect, body: &[u8], limits: &Limits) -> Option<Error> {
    limits.check_answer(body).ok()?;
    let envelope = Envelope::read(body).ok()?;
    let error = envelope.get("error").filter(|error| *error != b"null")?;
    // Failures are shorter than this, and a tree takes many times its bytes.
    let told = match error.get(..LONGEST_FAILURE) {
        Some(beginning) => String::from_utf8_lossy(beginning).into_owned(),
        None => format!("{{\"error\":{}}}", String::from_utf8_lossy(error)),
    };
    Some(dialect.decode_error(None, &[], &told))
}

/// The error for JSON that is not the requested answer; a retry would give the same.
fn unexpected(message: impl Into<String>) -> Error {
    let mut error = Error::protocol(message);
    error.retryable = Some(false);
    error
}

/// The error for one field of a request.
fn named(field: &str, what: &str) -> Error {
    Error::invalid_param(field, format!("`{field}` {what}"))
}

/// Escapes a name for use in a path or query, so that nothing in it ends the segment or has a special meaning.
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

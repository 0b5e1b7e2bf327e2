//! What an API can do besides writing answers: count the tokens of a prompt, turn texts into vectors, list its models.
//!
//! Each is one small request and one small answer, so each stands here once for all dialects.

mod count;
mod embed;
mod list;
mod vector;

use serde_json::Value;

use crate::{Error, Limits};

pub use embed::{EmbedRequest, VectorForm, Vectors};
pub use list::ListedModel;

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

/// JSON that is not the answer that was asked for; it would be no other the next time.
fn unexpected(message: impl Into<String>) -> Error {
    let mut error = Error::protocol(message);
    error.retryable = Some(false);
    error
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

//! Large attachments, each stored once, however often it is attached.
//!
//! A message is stored without them, as a canonical message with empty sources; they are put back by their order in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::{Block, Message, Source};
use sha2::{Digest as _, Sha256};

/// Anything smaller stays in its message.
const SMALLEST: usize = 4096;

/// How the bytes are written in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As base64; the bytes themselves are stored.
    Base64,
    /// Unchanged.
    Text,
}

impl Form {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Form::Base64 => "base64",
            Form::Text => "text",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Form> {
        [Form::Base64, Form::Text].into_iter().find(|form| form.as_str() == word)
    }
}

/// An attachment that was taken out of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// Which of the message's sources it is, from 0.
    pub(crate) place: i64,
    pub(crate) form: Form,
    /// The SHA-256 of the bytes, in hexadecimal.
    pub(crate) hash: String,
    pub(crate) bytes: Vec<u8>,
}

/// An attachment as read from the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) place: i64,
    pub(crate) form: Form,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Takes the large sources out of a message and leaves them empty.
pub(crate) fn take_out(message: &mut Message) -> Vec<Attachment> {
    let mut taken = Vec::new();
    each_source(&mut message.content, 0, &mut |place, source| {
        let (form, bytes) = match source {
            Source::Base64 { data, .. } if data.len() >= SMALLEST => {
                let text = std::mem::take(data);
                match STANDARD.decode(&text) {
                    // Stored as bytes only if encoding them again gives the same text.
                    Ok(bytes) if STANDARD.encode(&bytes) == text => (Form::Base64, bytes),
                    Ok(_) | Err(_) => (Form::Text, text.into_bytes()),
                }
            }
            Source::Text { text, .. } if text.len() >= SMALLEST => (Form::Text, std::mem::take(text).into_bytes()),
            // URLs and file ids are small; a new kind stays in the message.
            _ => return,
        };
        taken.push(Attachment { place, form, hash: hash(&bytes), bytes });
    });
    taken
}

/// Puts back what was taken out.
pub(crate) fn put_back(message: &mut Message, parts: Vec<Part>) -> Result<(), String> {
    let mut parts = parts.into_iter().peekable();
    let mut fault = None;
    each_source(&mut message.content, 0, &mut |place, source| {
        let Some(part) = parts.next_if(|part| part.place == place) else { return };
        let text = match part.form {
            Form::Base64 => STANDARD.encode(&part.bytes),
            Form::Text => match String::from_utf8(part.bytes) {
                Ok(text) => text,
                Err(_) => return fault = Some(format!("attachment {place} is not text")),
            },
        };
        match source {
            Source::Base64 { data, .. } => *data = text,
            Source::Text { text: data, .. } => *data = text,
            _ => fault = Some(format!("there is an attachment for source {place}, which takes none")),
        }
    });
    match (fault, parts.next()) {
        (None, None) => Ok(()),
        (Some(fault), _) => Err(fault),
        (None, Some(part)) => Err(format!("there is an attachment {}, but no place for it", part.place)),
    }
}

/// Visits every source in order, and returns the number of the next one.
fn each_source(blocks: &mut [Block], first: i64, visit: &mut dyn FnMut(i64, &mut Source)) -> i64 {
    let mut next = first;
    for block in blocks {
        let source = match block {
            Block::Image(image) => &mut image.source,
            Block::Document(document) => &mut document.source,
            Block::Audio(audio) => &mut audio.source,
            Block::ToolResult(result) => {
                next = each_source(&mut result.content, next, visit);
                continue;
            }
            // These have no sources. A new kind keeps its data in the message.
            _ => continue,
        };
        visit(next, source);
        next += 1;
    }
    next
}

#[cfg(test)]
#[path = "attachments_tests.rs"]
mod tests;

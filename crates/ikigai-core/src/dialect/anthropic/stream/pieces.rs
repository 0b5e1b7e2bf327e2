//! Pieces of text, thinking and arguments, the bulk of every stream: read without parsing, and written directly as
//! bytes.

use std::borrow::Cow;

use crate::json::text;
use crate::server::alike::words;
use crate::server::skip;
use crate::sse::{begin_frame, end_frame};

/// The kind of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    Thinking,
    Arguments,
}

impl PieceKind {
    /// Returns the kind of a delta by its type.
    pub(super) fn of(delta: &str) -> Option<Self> {
        let all = [PieceKind::Text, PieceKind::Thinking, PieceKind::Arguments];
        all.into_iter().find(|kind| kind.names().0 == delta)
    }

    /// Returns the type of such deltas, and the field that has the piece.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            PieceKind::Text => ("text_delta", "text"),
            PieceKind::Thinking => ("thinking_delta", "thinking"),
            PieceKind::Arguments => ("input_json_delta", "partial_json"),
        }
    }
}

/// Another piece of an open block.
#[derive(Debug, PartialEq)]
pub(super) struct Piece<'a> {
    pub(super) kind: PieceKind,
    /// The block's index on the wire.
    pub(super) index: u64,
    pub(super) text: Cow<'a, str>,
}

/// Reads the piece in a frame. The API writes such frames in one form, and a stream has thousands of them, so that form
/// is read without parsing. Returns `None` for any other frame and any other form, which is left to the parser.
pub(super) fn read_piece(frame: &str) -> Option<Piece<'_>> {
    let rest = frame.strip_prefix(r#"{"type":"content_block_delta","index":"#)?;
    let (index, rest) = rest.split_at_checked(rest.bytes().position(|byte| byte == b',')?)?;
    let rest = rest.strip_prefix(r#","delta":{"type":""#)?;
    let (kind, rest) = if let Some(rest) = rest.strip_prefix(r#"text_delta","text":""#) {
        (PieceKind::Text, rest)
    } else if let Some(rest) = rest.strip_prefix(r#"input_json_delta","partial_json":""#) {
        (PieceKind::Arguments, rest)
    } else {
        (PieceKind::Thinking, rest.strip_prefix(r#"thinking_delta","thinking":""#)?)
    };
    let (text, rest) = rest.split_at_checked(skip::string(rest.as_bytes(), 0)? - 1)?;
    // The API pads frames with blanks.
    let rest = rest.strip_prefix("\"}")?.trim_start_matches(is_blank).strip_prefix('}')?;
    let text = words(text).filter(|_| rest.chars().all(is_blank))?;
    Some(Piece { kind, index: number(index)?, text })
}

/// Parses an index as JSON writes it.
fn number(digits: &str) -> Option<u64> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if is_number { digits.parse().ok() } else { None }
}

/// Whether this is whitespace in JSON.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Writes a piece directly, without a value tree: there is one for every few characters of an answer.
pub(super) fn write_piece(out: &mut Vec<u8>, kind: PieceKind, number: usize, text: &str) {
    // The official client skips frames without a name.
    begin_frame(out, Some("content_block_delta"));
    out.extend_from_slice(br#"{"type":"content_block_delta","index":"#);
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut *out, &number);
    out.extend_from_slice(match kind {
        PieceKind::Text => br#","delta":{"type":"text_delta","text":"#,
        PieceKind::Thinking => br#","delta":{"type":"thinking_delta","thinking":"#,
        PieceKind::Arguments => br#","delta":{"type":"input_json_delta","partial_json":"#,
    });
    text::write(text, out);
    out.extend_from_slice(b"}}");
    end_frame(out);
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;

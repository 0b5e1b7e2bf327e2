//! Frames: read with a single pass, and written straight into bytes.

use std::borrow::Cow;
use std::io::Write as _;

use serde::{Deserialize, Serialize};

use crate::json::text::unescape_inner;
use crate::json::wire::{Raw, Text};
use crate::sse::{begin_frame, end_frame};

use super::super::wire::{Answer, Block};

/// Any frame; fields that it does not have are absent.
#[derive(Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Option<Text<'a>>,
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Answer<'a>>,
    #[serde(borrow)]
    pub(super) content_block: Option<Block<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<Raw<'a>>,
}

/// What a frame adds to its block.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) partial_json: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) citation: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Raw<'a>>,
}

wire! {
    /// How the answer ended.
    pub(super) struct MessageDelta<'a> {
        kind "type": Text<'a>,
        delta "delta": Answer<'a>,
        usage "usage": Raw<'a>,
    }
}

/// The text of a raw value; empty if it is absent or not a text.
pub(super) fn text_of<'a>(raw: Option<&'a Raw<'_>>) -> Cow<'a, str> {
    raw.and_then(Raw::as_str).unwrap_or_default()
}

/// What a piece is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    Thinking,
    Arguments,
}

/// One more piece of an open block.
#[derive(Debug, PartialEq)]
pub(super) struct Piece<'a> {
    pub(super) kind: PieceKind,
    /// The block's number on the wire.
    pub(super) index: u64,
    pub(super) text: Cow<'a, str>,
}

/// The piece in a frame. The API writes such frames in one form, and a stream has thousands of them, so that form is
/// read at a glance; `None` if the frame is anything else, or the same in another form, which is left to the parser.
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
    let (text, rest) = rest.split_at_checked(end_of_string(rest)?)?;
    // The API pads frames with blanks.
    let rest = rest.strip_prefix("\"}")?.trim_start_matches(is_blank).strip_prefix('}')?;
    let plain = rest.chars().all(is_blank) && text.bytes().fold(u8::MAX, u8::min) >= b' ';
    let text = plain.then(|| unescape_inner(text))??;
    Some(Piece { kind, index: number(index)?, text })
}

/// Where the string ends that has begun: at a quotation mark that is not escaped.
fn end_of_string(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.as_bytes().get(at..)?)?;
        match text.as_bytes().get(at)? {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

/// A number as JSON writes it.
fn number(digits: &str) -> Option<u64> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if is_number { digits.parse().ok() } else { None }
}

/// The blanks of JSON.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Writes a piece, without a value tree in between: there is one for every few characters of an answer.
pub(super) fn write_piece(out: &mut Vec<u8>, kind: PieceKind, number: usize, text: &str) {
    let opening: &str = match kind {
        PieceKind::Text => r#""type":"text_delta","text":"#,
        PieceKind::Thinking => r#""type":"thinking_delta","thinking":"#,
        PieceKind::Arguments => r#""type":"input_json_delta","partial_json":"#,
    };
    write_delta(out, number, opening, text);
}

/// Writes a delta: `opening` is its type and the name of its value.
pub(super) fn write_delta(out: &mut Vec<u8>, number: usize, opening: &str, value: &(impl Serialize + ?Sized)) {
    write_numbered(out, "content_block_delta", number, |out| {
        out.extend_from_slice(br#","delta":{"#);
        out.extend_from_slice(opening.as_bytes());
        write_json(out, value);
        out.push(b'}');
    });
}

/// Writes the start of a block.
pub(super) fn write_block_start(out: &mut Vec<u8>, number: usize, block: &impl Serialize) {
    write_numbered(out, "content_block_start", number, |out| {
        out.extend_from_slice(br#","content_block":"#);
        write_json(out, block);
    });
}

/// Writes the end of a block.
pub(super) fn write_block_stop(out: &mut Vec<u8>, number: usize) {
    write_numbered(out, "content_block_stop", number, |_| {});
}

fn write_numbered(out: &mut Vec<u8>, name: &str, number: usize, rest: impl FnOnce(&mut Vec<u8>)) {
    // The official client skips frames without a name.
    begin_frame(out, Some(name));
    // Writing into memory does not fail.
    let _ = write!(out, r#"{{"type":"{name}","index":{number}"#);
    rest(out);
    out.push(b'}');
    end_frame(out);
}

/// Writing JSON of our own into memory does not fail.
fn write_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let _ = serde_json::to_writer(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Whether the JSON parser reads the same.
    fn parsed_as(frame: &str, piece: &Piece<'_>) -> bool {
        let Ok(frame) = serde_json::from_str::<Frame<'_>>(frame) else { return false };
        let (Some(index), Some(delta)) = (frame.index, frame.delta) else { return false };
        let (kind, text) = match delta.kind.as_ref().map(Text::as_str) {
            Some("text_delta") => (PieceKind::Text, text_of(delta.text.as_ref())),
            Some("thinking_delta") => (PieceKind::Thinking, text_of(delta.thinking.as_ref())),
            Some("input_json_delta") => (PieceKind::Arguments, text_of(delta.partial_json.as_ref())),
            _ => return false,
        };
        *piece == Piece { kind, index, text }
    }

    #[test]
    fn the_apis_own_form_is_read_and_no_other() {
        let text = |frame: &str| read_piece(frame).map(|piece| piece.text.into_owned());
        let start = r#"{"type":"content_block_delta","index":12,"delta":{"type":"text_delta","text":"#;
        assert_eq!(text(&format!(r#"{start}"a\n\"\\"}}      }}  "#)).as_deref(), Some("a\n\"\\"));
        for odd in
            ["\"a\",\"x\":1}}", "\"a\"}", "\"a}}", "null}}", "\"\\x\"}}", "\"\\u12\"}}", "\"a\u{1}\"}}", "\"a\"}}x"]
        {
            assert_eq!(text(&format!("{start}{odd}")), None, "{odd}");
        }
        assert_eq!(text(r#"{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"a"}}"#), None);
    }

    proptest! {
        #[test]
        fn what_is_read_at_a_glance_is_what_the_parser_reads(
            text in any::<String>(), index in 0..u64::MAX, kind in 0..3_usize, junk in ".{0,3}", at in 0..200_usize,
        ) {
            let (kind, field) =
                [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")][kind];
            let mut delta = json!({"type": kind});
            delta[field] = text.clone().into();
            let frame = json!({"type": "content_block_delta", "index": index, "delta": delta}).to_string();
            let piece = read_piece(&frame).unwrap();
            prop_assert_eq!(&piece.text, &text);
            prop_assert!(parsed_as(&frame, &piece));
            // With something in the wrong place the glance may give up, but never reads anything else.
            let at = frame.char_indices().map(|(at, _)| at).take_while(|place| *place <= at).last().unwrap_or(0);
            let broken = format!("{}{junk}{}", &frame[..at], &frame[at..]);
            if let Some(piece) = read_piece(&broken) {
                prop_assert!(parsed_as(&broken, &piece));
            }
        }
    }
}

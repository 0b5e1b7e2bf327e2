//! The frame that a stream is mostly made of: one more piece of text, thinking or arguments.
//!
//! The API writes it in one form, and a stream has thousands of them, so that form is read at a glance. Every other way
//! to write the same frame is left to the JSON parser.

use std::borrow::Cow;

use super::unescape::unescape_inner;

/// One more piece of an open block.
#[derive(Debug, PartialEq)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    /// The block's number on the wire.
    pub(super) index: u64,
    pub(super) text: Cow<'a, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Arguments,
}

/// The piece in a frame; none when the frame is anything else, or is not written in the API's own form.
pub(super) fn read(frame: &str) -> Option<Piece<'_>> {
    let rest = frame.strip_prefix(r#"{"type":"content_block_delta","index":"#)?;
    let (index, rest) = rest.split_at_checked(rest.bytes().position(|byte| byte == b',')?)?;
    let rest = rest.strip_prefix(r#","delta":{"type":""#)?;
    let (kind, rest) = if let Some(rest) = rest.strip_prefix(r#"text_delta","text":""#) {
        (Kind::Text, rest)
    } else if let Some(rest) = rest.strip_prefix(r#"input_json_delta","partial_json":""#) {
        (Kind::Arguments, rest)
    } else {
        (Kind::Thinking, rest.strip_prefix(r#"thinking_delta","thinking":""#)?)
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

#[cfg(test)]
mod tests {
    use super::super::wire::{Frame, text_of};
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// The same by way of the JSON parser.
    fn parsed(frame: &str) -> Option<Piece<'_>> {
        let frame: Frame<'_> = serde_json::from_str(frame).ok()?;
        let (index, delta) = (frame.index?, frame.delta?);
        let (kind, text) = match delta.kind?.0.as_ref() {
            "text_delta" => (Kind::Text, text_of(delta.text)),
            "thinking_delta" => (Kind::Thinking, text_of(delta.thinking)),
            "input_json_delta" => (Kind::Arguments, text_of(delta.partial_json)),
            _ => return None,
        };
        Some(Piece { kind, index, text })
    }

    #[test]
    fn the_apis_own_form_is_read_and_no_other() {
        let text = |frame: &str| read(frame).map(|piece| piece.text.into_owned());
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
            prop_assert_eq!(&read(&frame).unwrap().text, &text);
            prop_assert_eq!(read(&frame), parsed(&frame));
            // With something in the wrong place the glance may give up, but never reads anything else.
            let at = frame.char_indices().map(|(at, _)| at).take_while(|place| *place <= at).last().unwrap_or(0);
            let broken = format!("{}{junk}{}", &frame[..at], &frame[at..]);
            if let Some(piece) = read(&broken) {
                prop_assert_eq!(Some(piece), parsed(&broken));
            }
        }
    }
}

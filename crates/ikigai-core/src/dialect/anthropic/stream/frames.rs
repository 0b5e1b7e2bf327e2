//! Frames, straight into bytes.

use std::io::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::sse::{begin_frame, end_frame, write_frame};

/// What a block on the wire is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Call,
    /// Whole from the start.
    Whole,
    /// Without a form on this wire.
    Nothing,
}

/// One frame. The official client skips frames without a name.
pub(super) fn frame(out: &mut Vec<u8>, name: &str, data: &Value) {
    write_frame(out, Some(name), data);
}

/// Writing JSON of our own into memory does not fail.
fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    let _ = serde_json::to_writer(out, value);
}

fn write_number(out: &mut Vec<u8>, number: usize) {
    let _ = write!(out, "{number}");
}

/// A delta, without a value tree in between: there is one for every few characters of an answer.
pub(super) fn write_delta(out: &mut Vec<u8>, kind: Kind, number: usize, text: &str) {
    let opening: &[u8] = match kind {
        Kind::Text => br#","delta":{"type":"text_delta","text":"#,
        Kind::Thinking => br#","delta":{"type":"thinking_delta","thinking":"#,
        Kind::Call => br#","delta":{"type":"input_json_delta","partial_json":"#,
        Kind::Whole | Kind::Nothing => return,
    };
    begin_frame(out, Some("content_block_delta"));
    out.extend_from_slice(br#"{"type":"content_block_delta","index":"#);
    write_number(out, number);
    out.extend_from_slice(opening);
    write_json(out, text);
    out.extend_from_slice(b"}}");
    end_frame(out);
}

pub(super) fn write_block_start(out: &mut Vec<u8>, number: usize, fields: &Map<String, Value>) {
    begin_frame(out, Some("content_block_start"));
    out.extend_from_slice(br#"{"type":"content_block_start","index":"#);
    write_number(out, number);
    out.extend_from_slice(br#","content_block":"#);
    write_json(out, fields);
    out.push(b'}');
    end_frame(out);
}

pub(super) fn write_block_stop(out: &mut Vec<u8>, number: usize) {
    begin_frame(out, Some("content_block_stop"));
    out.extend_from_slice(br#"{"type":"content_block_stop","index":"#);
    write_number(out, number);
    out.push(b'}');
    end_frame(out);
}

pub(super) fn write_whole(out: &mut Vec<u8>, number: usize, fields: &Map<String, Value>) {
    write_block_start(out, number, fields);
    write_block_stop(out, number);
}

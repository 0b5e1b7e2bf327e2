//! Writing frames: each has the next number.

use serde_json::Value;

use crate::dialect::openai_responses::Object;
use crate::sse::{begin_frame, end_frame, write_frame};

/// Numbers the frames of one stream.
#[derive(Debug, Default)]
pub(super) struct Frames {
    next: u64,
}

/// A delta's event and what follows its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeltaKind {
    event: &'static str,
    /// The member that names the part, if any.
    part: Option<&'static str>,
    after: &'static str,
}

pub(super) const TEXT: DeltaKind =
    DeltaKind { event: "response.output_text.delta", part: Some("content_index"), after: ",\"logprobs\":[]" };
pub(super) const REFUSAL: DeltaKind =
    DeltaKind { event: "response.refusal.delta", part: Some("content_index"), after: "" };
pub(super) const SUMMARY: DeltaKind =
    DeltaKind { event: "response.reasoning_summary_text.delta", part: Some("summary_index"), after: "" };
pub(super) const ARGUMENTS: DeltaKind =
    DeltaKind { event: "response.function_call_arguments.delta", part: None, after: "" };

/// Where a delta belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) item_id: &'a str,
    pub(super) output_index: usize,
    pub(super) part: usize,
}

impl Frames {
    /// Writes a frame with some fields.
    pub(super) fn send(&mut self, event: &str, fields: Object, out: &mut Vec<u8>) {
        let mut data = Object::with_capacity(fields.len() + 2);
        data.insert("type".into(), event.into());
        data.insert("sequence_number".into(), self.number().into());
        data.extend(fields);
        write_frame(out, Some(event), &Value::Object(data));
    }

    /// Writes a delta straight into the buffer.
    pub(super) fn delta(&mut self, kind: DeltaKind, place: Place<'_>, text: &str, out: &mut Vec<u8>) {
        begin_frame(out, Some(kind.event));
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.event.as_bytes());
        out.extend_from_slice(b"\",\"sequence_number\":");
        write(out, &self.number());
        out.extend_from_slice(b",\"item_id\":");
        write(out, &place.item_id);
        out.extend_from_slice(b",\"output_index\":");
        write(out, &place.output_index);
        if let Some(part) = kind.part {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(part.as_bytes());
            out.extend_from_slice(b"\":");
            write(out, &place.part);
        }
        out.extend_from_slice(b",\"delta\":");
        write(out, &text);
        out.extend_from_slice(kind.after.as_bytes());
        out.push(b'}');
        end_frame(out);
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        number
    }
}

/// Numbers and texts always have a JSON form, and a buffer in memory takes every write.
fn write(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    let _ = serde_json::to_writer(out, value);
}

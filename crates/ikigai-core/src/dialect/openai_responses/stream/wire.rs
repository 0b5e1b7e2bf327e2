//! Frames, both ways.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::dialect::openai_responses::wire::{Item, Part, Response};
use crate::json::text;
use crate::json::wire::{Raw, Text};
use crate::server::alike::{self, PartKind};
use crate::sse::{begin_frame, end_frame, write_frame};
use crate::{Fields, Json};

loose! {
    /// A received frame, with the fields of all types.
    pub(super) struct Frame<'a> {
        kind "type": Option<Text<'a>>,
        output_index "output_index": Option<u64>,
        content_index "content_index": Option<u64>,
        delta "delta": Option<Text<'a>>,
        item "item": Option<Box<Item<'a>>>,
        part "part": Option<Box<Part<'a>>>,
        response "response": Option<Box<Response<'a>>>,
        error "error": Option<Raw<'a>>,
    }
}

impl Frame<'_> {
    /// Returns the fields that differ in each frame with a piece, but mean nothing: its number, padding against guesses
    /// by length, and the item's id, because items are identified by index.
    pub(super) fn passed_over(&self) -> impl Iterator<Item = alike::Part<'_, ()>> {
        self.rest.iter().filter_map(|(name, raw)| {
            let inner = || raw.get().strip_prefix('"')?.strip_suffix('"');
            match name.as_ref() {
                "sequence_number" => Some(alike::Part { text: raw.get(), kind: PartKind::Number, slot: None }),
                "item_id" | "obfuscation" => Some(alike::Part { text: inner()?, kind: PartKind::Plain, slot: None }),
                _ => None,
            }
        })
    }
}

/// Returns the piece in a frame, which differs in the next one.
pub(super) fn said<'a>(text: &'a Text<'_>) -> alike::Part<'a, ()> {
    alike::Part { text: text.as_str(), kind: PartKind::Text, slot: Some(()) }
}

/// What a piece belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Text,
    Refusal,
    Summary,
    Reasoning,
    Arguments,
}

impl Kind {
    /// Returns what frames with this prefix contain, first in pieces and then whole.
    pub(super) fn of(beginning: &str) -> Option<Self> {
        match beginning {
            "response.output_text" => Some(Kind::Text),
            "response.refusal" => Some(Kind::Refusal),
            "response.reasoning_summary_text" => Some(Kind::Summary),
            "response.reasoning_text" => Some(Kind::Reasoning),
            "response.function_call_arguments" => Some(Kind::Arguments),
            _ => None,
        }
    }
}

/// Numbers the frames of a stream being written.
#[derive(Debug, Default)]
pub(super) struct Frames {
    next: u64,
}

/// The place that a frame belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place<'a> {
    pub(super) item_id: Option<&'a str>,
    pub(super) output_index: Option<usize>,
    pub(super) content_index: Option<usize>,
    pub(super) summary_index: Option<usize>,
}

impl<'a> Place<'a> {
    /// A whole item.
    pub(super) fn item(output: usize) -> Self {
        Place { output_index: Some(output), ..Place::default() }
    }

    /// A place inside an item.
    pub(super) fn within(id: &'a str, output: usize) -> Self {
        Place { item_id: Some(id), output_index: Some(output), ..Place::default() }
    }
}

impl Frames {
    /// Writes a frame: its type, its number, its place, and its content.
    pub(super) fn send(&mut self, kind: &str, place: Place<'_>, said: &[(&str, &dyn Said)], out: &mut Vec<u8>) {
        begin_frame(out, Some(kind));
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"sequence_number\":");
        self.number().write(out);
        if let Some(id) = place.item_id {
            out.extend_from_slice(b",\"item_id\":");
            text::write(id, out);
        }
        let numbers: [(&[u8], _); 3] = [
            (b",\"output_index\":", place.output_index),
            (b",\"content_index\":", place.content_index),
            (b",\"summary_index\":", place.summary_index),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                out.extend_from_slice(name);
                number.write(out);
            }
        }
        for (name, value) in said {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            value.write(out);
        }
        out.push(b'}');
        end_frame(out);
    }

    /// Writes a frame from another stream of this dialect, with a number and a place in this one.
    pub(super) fn pass_on(&mut self, data: &Json, place: Place<'_>, out: &mut Vec<u8>) {
        let Ok(mut fields) = data.to::<Fields>() else { return };
        let Some(kind) = fields.str("type").map(Cow::into_owned) else { return };
        fields.set("sequence_number", Value::from(self.number()));
        if let (Some(id), Some(output)) = (place.item_id, place.output_index) {
            fields.set("item_id", id);
            fields.set("output_index", Value::from(output));
        }
        write_frame(out, Some(&kind), &fields);
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        number
    }
}

/// A value that a frame can contain.
pub(super) trait Said {
    fn write(&self, out: &mut Vec<u8>);
}

impl<T: Serialize + ?Sized> Said for T {
    fn write(&self, out: &mut Vec<u8>) {
        // Strings, numbers and wire structs always have a JSON form, and writing to memory does not fail.
        let _ = serde_json::to_writer(out, self);
    }
}

//! Frames, both ways.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::text::unescape;
use crate::json::wire::Text;
use crate::sse::{begin_frame, end_frame, write_frame};
use crate::{Fields, Json};

/// A frame that came, with the members that any event has.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Option<Text<'a>>,
    #[serde(borrow)]
    output_index: Option<&'a RawValue>,
    #[serde(borrow)]
    content_index: Option<&'a RawValue>,
    #[serde(borrow)]
    summary_index: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// A frame that most of a stream consists of: a piece of a text.
#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a str>,
    pub(super) output_index: Option<u64>,
    content_index: Option<u64>,
    summary_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
}

impl<'a> Delta<'a> {
    /// Reads a frame; `None` if it is not a piece of a text that we know.
    pub(super) fn read(data: &'a str) -> Option<(Self, Kind, String)> {
        let frame: Delta<'_> = serde_json::from_str(data).ok()?;
        let kind = match frame.kind? {
            "response.output_text.delta" => Kind::Text,
            "response.reasoning_summary_text.delta" => Kind::Summary,
            "response.function_call_arguments.delta" => Kind::Arguments,
            "response.reasoning_text.delta" => Kind::Reasoning,
            "response.refusal.delta" => Kind::Refusal,
            _ => return None,
        };
        let text = words(frame.delta)?.into_owned();
        Some((frame, kind, text))
    }

    /// The part that it is about.
    pub(super) fn part(&self) -> PartPlace {
        PartPlace { content: self.content_index.unwrap_or(0), summary: self.summary_index.unwrap_or(0) }
    }
}

/// Which part of its item a frame is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartPlace {
    pub(super) content: u64,
    pub(super) summary: u64,
}

/// What a piece is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Refusal,
    Summary,
    Reasoning,
    Arguments,
}

impl<'a> Frame<'a> {
    /// The item that it is about.
    pub(super) fn output_index(&self) -> Option<u64> {
        number(self.output_index)
    }

    /// The part that it is about.
    pub(super) fn part(&self) -> PartPlace {
        PartPlace { content: number(self.content_index).unwrap_or(0), summary: number(self.summary_index).unwrap_or(0) }
    }

    /// The whole text that it brings, if there is any.
    pub(super) fn whole(&self, kind: Kind) -> Option<Cow<'a, str>> {
        let raw = match kind {
            Kind::Text | Kind::Summary | Kind::Reasoning => self.text,
            Kind::Refusal => self.refusal,
            Kind::Arguments => self.arguments,
        };
        words(raw).filter(|text| !text.is_empty())
    }

    /// Its item, part or response; the default if it has none, or one of another form.
    pub(super) fn item<T: Deserialize<'a> + Default>(&self) -> T {
        read(self.item)
    }

    pub(super) fn content_part<T: Deserialize<'a> + Default>(&self) -> T {
        read(self.part)
    }

    pub(super) fn response<T: Deserialize<'a> + Default>(&self) -> T {
        read(self.response)
    }
}

fn read<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn words(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    unescape(raw?.get())
}

fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw?.get().parse().ok()
}

/// Numbers the frames of a stream that is written.
#[derive(Debug, Default)]
pub(super) struct Frames {
    next: u64,
}

/// Where a frame belongs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place<'a> {
    pub(super) item_id: Option<&'a str>,
    pub(super) output_index: Option<usize>,
    pub(super) content_index: Option<usize>,
    pub(super) summary_index: Option<usize>,
}

impl<'a> Place<'a> {
    /// An item as a whole.
    pub(super) fn item(output: usize) -> Self {
        Place { output_index: Some(output), ..Place::default() }
    }

    /// Something in an item.
    pub(super) fn within(id: &'a str, output: usize) -> Self {
        Place { item_id: Some(id), output_index: Some(output), ..Place::default() }
    }
}

impl Frames {
    /// Writes a frame: its type, its number, its place, and what it says.
    pub(super) fn send(&mut self, kind: &str, place: Place<'_>, said: &[(&str, &dyn Said)], out: &mut Vec<u8>) {
        self.begin(kind, place, out);
        for (name, value) in said {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            value.write(out);
        }
        out.push(b'}');
        end_frame(out);
    }

    /// Writes a frame as another stream of this dialect had it, with a number and a place of this one.
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

    fn begin(&mut self, kind: &str, place: Place<'_>, out: &mut Vec<u8>) {
        begin_frame(out, Some(kind));
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"sequence_number\":");
        self.number().write(out);
        if let Some(id) = place.item_id {
            out.extend_from_slice(b",\"item_id\":");
            id.write(out);
        }
        let numbers = [
            (",\"output_index\":", place.output_index),
            (",\"content_index\":", place.content_index),
            (",\"summary_index\":", place.summary_index),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                out.extend_from_slice(name.as_bytes());
                number.write(out);
            }
        }
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        number
    }
}

/// Something that a frame can say.
pub(super) trait Said {
    fn write(&self, out: &mut Vec<u8>);
}

impl<T: Serialize + ?Sized> Said for T {
    fn write(&self, out: &mut Vec<u8>) {
        // Texts, numbers and wire structs always have a JSON form, and a buffer in memory takes every write.
        let _ = serde_json::to_writer(out, self);
    }
}

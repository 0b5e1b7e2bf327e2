//! Frames, both ways.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::openai_responses::wire;
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
    delta: Option<&'a RawValue>,
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
    pub(super) fn part_index(&self) -> u64 {
        number(self.content_index).unwrap_or(0)
    }

    /// The part of a summary that it is about.
    pub(super) fn summary_index(&self) -> u64 {
        number(self.summary_index).unwrap_or(0)
    }

    /// The piece of text that it brings, and what it is a piece of.
    pub(super) fn delta(&self) -> Option<(Kind, String)> {
        let kind = match self.kind.as_ref()?.as_str() {
            "response.output_text.delta" => Kind::Text,
            "response.reasoning_summary_text.delta" => Kind::Summary,
            "response.function_call_arguments.delta" => Kind::Arguments,
            "response.reasoning_text.delta" => Kind::Reasoning,
            "response.refusal.delta" => Kind::Refusal,
            _ => return None,
        };
        words(self.delta).map(|text| (kind, text.into_owned()))
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

    pub(super) fn part<T: Deserialize<'a> + Default>(&self) -> T {
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

/// A frame that goes out.
#[derive(Debug, Serialize)]
struct Outgoing<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    sequence_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a wire::Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[(); 0]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'a wire::Response<'a>>,
}

/// What a frame says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said<'a> {
    Part(&'a wire::Part<'a>),
    Text(&'a str),
    Summary(&'a str),
    Refusal(&'a str),
    Arguments { name: &'a str, arguments: &'a str },
    Item(&'a Json),
    Response(&'a wire::Response<'a>),
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
    /// Writes a frame.
    pub(super) fn send(&mut self, kind: &str, place: Place<'_>, said: Said<'_>, out: &mut Vec<u8>) {
        let mut frame = Outgoing {
            kind,
            sequence_number: self.number(),
            item_id: place.item_id,
            output_index: place.output_index,
            content_index: place.content_index,
            summary_index: place.summary_index,
            part: None,
            text: None,
            logprobs: None,
            refusal: None,
            name: None,
            arguments: None,
            item: None,
            response: None,
        };
        match said {
            Said::Part(part) => frame.part = Some(part),
            Said::Text(text) => (frame.text, frame.logprobs) = (Some(text), Some([])),
            Said::Summary(text) => frame.text = Some(text),
            Said::Refusal(text) => frame.refusal = Some(text),
            Said::Arguments { name, arguments } => (frame.name, frame.arguments) = (Some(name), Some(arguments)),
            Said::Item(item) => frame.item = Some(item),
            Said::Response(response) => frame.response = Some(response),
        }
        write_frame(out, Some(kind), &frame);
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

    /// Writes a delta straight into the buffer. `after` is what follows its text.
    pub(super) fn delta(&mut self, kind: &str, place: Place<'_>, text: &str, after: &str, out: &mut Vec<u8>) {
        begin_frame(out, Some(kind));
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"sequence_number\":");
        write(out, &self.number());
        out.extend_from_slice(b",\"item_id\":");
        write(out, &place.item_id);
        let numbers = [
            ("output_index", place.output_index),
            ("content_index", place.content_index),
            ("summary_index", place.summary_index),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\":");
                write(out, &number);
            }
        }
        out.extend_from_slice(b",\"delta\":");
        write(out, &text);
        out.extend_from_slice(after.as_bytes());
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
fn write(out: &mut Vec<u8>, value: &impl Serialize) {
    let _ = serde_json::to_writer(out, value);
}

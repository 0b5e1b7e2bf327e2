//! Frames to events.

use serde_json::value::RawValue;

use crate::dialect::{Ids, ReadFrames};
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::{Error, Event, Fields, Json, Part, ProviderData};

use super::super::response::{finish, read_blocks, read_rest};
use super::super::wire::Answer;
use super::super::{DIALECT, error, usage};
use super::blocks::Open;
use super::wire::{Frame, MessageDelta, read_piece};

/// The longest excerpt of a frame in an error, in characters.
const EXCERPT: usize = 200;

/// The events that this reader knows.
const KNOWN: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// Reads a stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(super) ids: Ids,
    /// Frames seen, for errors.
    frames: u64,
    stage: Stage,
    /// The id that the answer began with.
    id: Option<String>,
    /// How many blocks were opened so far: the place of the next one.
    pub(super) opened: usize,
    pub(super) open: Vec<Open>,
    /// Bytes held in `open`.
    pub(super) held: usize,
    pub(super) has_calls: bool,
    usage: Fields,
    /// Fields of the answer that have no place in the format.
    kept: Fields,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    Over,
}

impl ReadFrames for Decoder {
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        if self.stage == Stage::Over {
            return;
        }
        self.frames += 1;
        if let Some(piece) = read_piece(data)
            && self.piece(piece, out).is_ok()
        {
            return;
        }
        // Spaces behind the JSON are no part of it; serde_json takes them.
        let frame = match serde_json::from_str::<Frame<'_>>(data) {
            Ok(frame) => frame,
            Err(fault) => return self.unreadable(data, &fault, out),
        };
        let kind = frame.kind.as_ref().map(Text::as_str).or(name).unwrap_or_default();
        match kind {
            "content_block_delta" => self.delta(&frame, data, out),
            "content_block_start" => self.block_start(frame, data, out),
            "content_block_stop" => self.block_stop(frame.index, out),
            "message_start" => match frame.message {
                Some(message) => self.message_start(message, out),
                None => self.malformed("message_start", data, out),
            },
            "message_delta" => self.message_delta(data, out),
            "message_stop" => {
                self.pass_on(data, out);
                self.finish(out);
            }
            "ping" => self.pass_on(data, out),
            "error" => self.failed(data, out),
            _ if frame.error.is_some() => self.failed(data, out),
            _ => self.other(frame.index, data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        if self.stage == Stage::Over {
            return;
        }
        if self.kept.str("stop_reason").is_some() {
            self.finish(out);
            if let Some(Event::Done { provider_data, .. }) = out.last_mut() {
                provider_data.set_part(DIALECT, Part::Shape, "without_message_stop", true);
            }
            return;
        }
        let message = match self.stage {
            Stage::Before => "the stream ended before the answer began",
            Stage::Within | Stage::Over => "the stream ended without its end: the answer is cut off",
        };
        self.fail(truncated(message), out);
    }
}

fn truncated(message: &str) -> Error {
    let mut error = Error::protocol(message);
    error.code = Some("truncated".to_owned());
    error
}

impl Decoder {
    /// A reader; `ids` is for tool calls that come without one.
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            frames: 0,
            stage: Stage::Before,
            id: None,
            opened: 0,
            open: Vec::new(),
            held: 0,
            has_calls: false,
            usage: Fields::default(),
            kept: Fields::default(),
        }
    }

    fn message_start(&mut self, mut message: Answer<'_>, out: &mut Vec<Event>) {
        let id = message.id.take().map(Text::into_string);
        if self.stage == Stage::Within {
            // A proxy repeats itself, or has spliced a second try into the stream.
            if id == self.id {
                return;
            }
            if self.opened > 0 || !self.open.is_empty() {
                let message = "a second answer began before the first had ended; what had arrived is not whole";
                return self.fail(truncated(message), out);
            }
            (self.usage, self.kept) = (Fields::default(), Fields::default());
        }
        let model = message.model.take().map(Text::into_string);
        let content = message.content.take();
        self.read_rest(message);
        if self.stage == Stage::Before {
            self.stage = Stage::Within;
            self.id.clone_from(&id);
            let mut provider_data = ProviderData::default();
            provider_data.extend_part(DIALECT, Part::Answer, self.kept.clone());
            out.push(Event::Start { id, model, provider_data });
        }
        self.report_usage(out);
        if let Some(blocks) = content.filter(|blocks| !blocks.is_empty()) {
            let blocks = read_blocks(blocks, &mut self.ids);
            self.whole_blocks(blocks, out);
        }
    }

    /// Takes over what stands beside the content: at the start all of it, at the end what has changed.
    fn read_rest(&mut self, answer: Answer<'_>) {
        let (kept, counts) = read_rest(answer);
        self.kept.merge(kept);
        // Totals, not additions: what is present replaces what was.
        self.usage.merge(counts.unwrap_or_default());
    }

    fn report_usage(&self, out: &mut Vec<Event>) {
        if !self.usage.is_empty() {
            out.push(Event::Usage { usage: usage::decode(self.usage.clone()) });
        }
    }

    fn message_delta(&mut self, data: &str, out: &mut Vec<Event>) {
        let Ok(mut frame) = serde_json::from_str::<MessageDelta<'_>>(data) else {
            return self.malformed("message_delta", data, out);
        };
        self.begin(out);
        frame.kind = None;
        if let Some(delta) = frame.delta.take() {
            self.read_rest(Answer { id: None, model: None, content: None, ..delta });
        }
        if let Some(counts) = frame.usage.as_ref().and_then(Raw::to::<Fields>) {
            self.usage.merge(counts);
            frame.usage = None;
        }
        self.kept.merge(frame.leftovers());
        self.report_usage(out);
    }

    /// Some proxies leave the beginning out.
    pub(super) fn begin(&mut self, out: &mut Vec<Event>) {
        if self.stage == Stage::Before {
            self.stage = Stage::Within;
            out.push(Event::Start { id: None, model: None, provider_data: ProviderData::default() });
        }
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        self.begin(out);
        for open in std::mem::take(&mut self.open) {
            self.close(open, out);
        }
        let finish_reason = finish(self.kept.str("stop_reason").as_deref(), self.has_calls);
        let mut provider_data = ProviderData::default();
        provider_data.extend_part(DIALECT, Part::Answer, std::mem::take(&mut self.kept));
        self.stage = Stage::Over;
        out.push(Event::Done { finish_reason, provider_data });
    }

    /// The provider's own failure. As the very first event it stands for a failed HTTP answer.
    fn failed(&mut self, data: &str, out: &mut Vec<Event>) {
        let mut failure = error::from_body(data.as_bytes());
        if self.stage == Stage::Before {
            failure.status = Some(error::status_of(failure.kind));
        }
        self.fail(failure, out);
    }

    pub(super) fn fail(&mut self, failure: Error, out: &mut Vec<Event>) {
        self.stage = Stage::Over;
        self.open = Vec::new();
        out.push(Event::Error { error: Box::new(failure) });
    }

    fn unreadable(&mut self, data: &str, fault: &serde_json::Error, out: &mut Vec<Event>) {
        // An event that nobody knows may be made in any way, as long as it is JSON.
        let kind = serde_json::from_str::<Fields>(data).ok().and_then(|fields| Some(fields.str("type")?.into_owned()));
        if kind.is_some_and(|kind| !KNOWN.contains(&kind.as_str())) {
            return self.other(None, data, out);
        }
        let message = format!("frame {} of the stream does not parse ({fault}): {}", self.frames, excerpt(data));
        self.fail(Error::protocol(message), out);
    }

    pub(super) fn malformed(&mut self, kind: &str, data: &str, out: &mut Vec<Event>) {
        let message = format!("frame {} of the stream is not a valid {kind}: {}", self.frames, excerpt(data));
        self.fail(Error::protocol(message), out);
    }

    /// Something that has no meaning here is passed on whole.
    pub(super) fn other(&mut self, wire: Option<u64>, data: &str, out: &mut Vec<Event>) {
        self.begin(out);
        let open = wire.and_then(|wire| self.open.iter().find(|open| open.wire == wire));
        let index = open.and_then(|open| open.index);
        if let Ok(data) = Json::parse(data) {
            out.push(Event::Other { index, dialect: DIALECT, data });
        }
    }

    /// A frame that mostly says nothing: passed on only when it says more than its name.
    fn pass_on(&mut self, data: &str, out: &mut Vec<Event>) {
        const LONGEST_EMPTY: usize = r#"{ "type": "message_stop" }"#.len();
        let says_more = data.trim_end().len() > LONGEST_EMPTY
            && serde_json::from_str::<std::collections::HashMap<String, &RawValue>>(data)
                .is_ok_and(|fields| fields.len() > 1);
        if says_more {
            self.other(None, data, out);
        }
    }
}

/// The beginning of a frame, for an error.
fn excerpt(data: &str) -> String {
    data.chars().take(EXCERPT).collect()
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

//! Frames to events.

use crate::dialect::{Fault, Ids, ReadFrames, Seen};
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::{Event, Fields, Json, Limits, Part, ProviderData};

use super::super::response::{finish, read_blocks, read_rest};
use super::super::wire::Answer;
use super::super::{DIALECT, error, usage};
use super::blocks::Open;
use super::wire::{Frame, MessageDelta, read_piece};

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
    pub(super) limits: Limits,
    stage: Stage,
    /// The id that the answer began with.
    id: Option<String>,
    /// How many blocks were opened so far: the place of the next one.
    pub(super) opened: usize,
    pub(super) open: Vec<Open>,
    pub(super) has_calls: bool,
    usage: Fields,
    /// Fields of the answer that have no place in the format.
    kept: Fields,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
}

impl ReadFrames for Decoder {
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        if let Some(piece) = read_piece(data)
            && self.piece(piece, out).is_ok()
        {
            return Ok(Seen::Known);
        }
        // Spaces behind the JSON are no part of it; serde_json takes them.
        let frame = match serde_json::from_str::<Frame<'_>>(data) {
            Ok(frame) => frame,
            Err(fault) => return unreadable(data, fault),
        };
        let kind = frame.kind.as_ref().map(Text::as_str).or(name).unwrap_or_default();
        match kind {
            "content_block_delta" => return self.delta(&frame, out),
            "content_block_start" => self.block_start(frame, out)?,
            "content_block_stop" => self.block_stop(frame.index, out),
            "message_start" => self.message_start(frame.message.ok_or_else(|| lacks("message"))?, out)?,
            "message_delta" => self.message_delta(serde_json::from_str(data)?, out),
            "message_stop" => {
                self.begin(out);
                if says_more(data) {
                    out.push(Event::Other {
                        index: None,
                        dialect: DIALECT,
                        data: Json::parse(data).unwrap_or_default(),
                    });
                }
                self.finish(out);
            }
            "ping" if !says_more(data) => {}
            "error" => return Err(self.failed(data)),
            _ if frame.error.is_some() => return Err(self.failed(data)),
            _ => return Ok(self.unknown(frame.index)),
        }
        Ok(Seen::Known)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        if self.kept.str("stop_reason").is_none() {
            return Err(Fault::CutOff);
        }
        self.finish(out);
        if let Some(Event::Done { provider_data, .. }) = out.last_mut() {
            provider_data.set_part(DIALECT, Part::Shape, "without_message_stop", true);
        }
        Ok(())
    }
}

/// A frame of a known kind without what it has to bring.
pub(super) fn lacks(field: &str) -> Fault {
    Fault::Broken(format!("it has no `{field}`"))
}

impl Decoder {
    /// A reader; `ids` is for tool calls that come without one.
    pub(crate) fn new(ids: Ids, limits: &Limits) -> Self {
        Decoder {
            ids,
            limits: *limits,
            stage: Stage::Before,
            id: None,
            opened: 0,
            open: Vec::new(),
            has_calls: false,
            usage: Fields::default(),
            kept: Fields::default(),
        }
    }

    fn message_start(&mut self, mut message: Answer<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        let id = message.id.take().map(Text::into_string);
        if self.stage == Stage::Within {
            // A proxy repeats itself, or has spliced a second try into the stream.
            if id == self.id {
                return Ok(());
            }
            if self.opened > 0 || !self.open.is_empty() {
                return Err(Fault::Broken("a second answer begins before the first has ended".to_owned()));
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
        Ok(())
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

    fn message_delta(&mut self, mut frame: MessageDelta<'_>, out: &mut Vec<Event>) {
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
        out.push(Event::Done { finish_reason, provider_data });
    }

    /// The provider's own failure. As the very first event it stands for a failed HTTP answer.
    fn failed(&self, data: &str) -> Fault {
        let mut failure = error::from_body(data.as_bytes());
        if self.stage == Stage::Before {
            failure.status = Some(error::status_of(failure.kind));
        }
        failure.into()
    }

    /// Something that has no meaning here, beside the block that it names.
    pub(super) fn unknown(&self, wire: Option<u64>) -> Seen {
        let open = wire.and_then(|wire| self.open.iter().find(|open| open.wire == wire));
        Seen::Unknown(open.and_then(|open| open.index))
    }
}

/// An event that nobody knows may be made in any way, as long as it is JSON.
fn unreadable(data: &str, fault: serde_json::Error) -> Result<Seen, Fault> {
    let fields: Fields = serde_json::from_str(data)?;
    match fields.str("type") {
        Some(kind) if !KNOWN.contains(&kind.as_ref()) => Ok(Seen::Unknown(None)),
        _ => Err(fault.into()),
    }
}

/// Whether a frame that mostly has only a name has anything beside it.
fn says_more(data: &str) -> bool {
    const LONGEST_EMPTY: usize = r#"{ "type": "message_stop" }"#.len();
    data.trim_end().len() > LONGEST_EMPTY && serde_json::from_str::<Fields>(data).is_ok_and(|fields| fields.len() > 1)
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

//! Streams: from the events of one answer to canonical ones.
//!
//! Text and thinking are not announced: their first piece opens the block. The end is held back until the counts after
//! it have arrived, or the bytes end.

mod blocks;
pub(super) mod own;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::dialect::weight::Weigh as _;
use crate::dialect::{Fault, ReadFrames, Seen};
use crate::json::tagged::Object;
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::wire::Ids;
use crate::{Event, Fields, Json, Limits, Part, ProviderData};

use self::blocks::Open;
use super::response::{finish, kept};
use super::{DIALECT, content, error, usage, wire};

/// The reader of one answer's events.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    limits: Limits,
    stage: Stage,
    /// The open blocks, by index on the wire.
    open: BTreeMap<u64, Open>,
    /// How many blocks have been opened.
    opened: usize,
    has_calls: bool,
    /// The provider's stop reason.
    word: Option<String>,
    counts: Option<Fields>,
    /// The other fields of the end.
    rest: Fields,
}

/// How far a stream has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    /// It has stopped; the counts may follow.
    Stopped,
}

impl Decoder {
    pub(crate) fn new(ids: Ids, limits: &Limits) -> Self {
        Decoder {
            ids,
            limits: *limits,
            stage: Stage::Before,
            open: BTreeMap::new(),
            opened: 0,
            has_calls: false,
            word: None,
            counts: None,
            rest: Fields::default(),
        }
    }

    /// Writes the start, if that has not been done yet.
    fn begin(&mut self, provider_data: ProviderData, out: &mut Vec<Event>) {
        if self.stage == Stage::Before {
            self.stage = Stage::Within;
            out.push(Event::Start { id: None, model: None, provider_data });
        }
    }

    /// Keeps the fields of the end, event by event.
    fn keep(&mut self, mut event: wire::Event<'_>) {
        let counts = event.usage.as_ref().and_then(Raw::to::<Fields>);
        if counts.is_some() {
            event.usage = None;
            self.counts = counts;
        }
        event.leftovers().into_iter().for_each(|(name, value)| self.rest.push(name, value));
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        while let Some((_, open)) = self.open.pop_first() {
            self.close(open, out);
        }
        if let Some(counts) = self.counts.take() {
            out.push(Event::Usage { usage: usage::decode(counts) });
        }
        let finish_reason = finish(self.word.as_deref(), self.has_calls);
        let mut provider_data = ProviderData::default();
        let kept = kept(self.word.take(), std::mem::take(&mut self.rest));
        provider_data.extend_part(DIALECT, Part::Answer, kept);
        out.push(Event::Done { finish_reason, provider_data });
    }

    /// Reads the provider's own failure. As the very first event it replaces a failed HTTP answer.
    fn failed(&self, name: &str, payload: &RawValue) -> Fault {
        let mut failure = error::from_event(name, &Json::copy(payload));
        if self.stage == Stage::Before {
            failure.status = Some(error::status_of(failure.kind));
        }
        failure.into()
    }

    fn message_start(&mut self, mut event: wire::Event<'_>, out: &mut Vec<Event>) {
        event.role.take_if(|role| role.as_str() == "assistant");
        self.begin(content::extra(event.leftovers()), out);
    }

    fn message_stop(&mut self, mut event: wire::Event<'_>) {
        self.word = event.stop_reason.take().map(Text::into_string);
        self.stage = Stage::Stopped;
        self.keep(event);
    }
}

impl ReadFrames for Decoder {
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let whole: &RawValue = serde_json::from_str(data)?;
        let object: Object<'_> = serde_json::from_str(data)?;
        if name.is_none() && ["output", "message", "Message"].iter().any(|name| object.get(name).is_some()) {
            return Ok(Seen::Whole);
        }
        let (name, payload) = match (object.0.as_slice(), name) {
            // In the form of the API's union.
            ([(key, payload)], name) if name.is_none_or(|name| name == key) => (key.clone(), payload.as_ref()),
            (_, Some(name)) => (Cow::Borrowed(name), whole),
            (_, None) => return Ok(Seen::Unknown(None)),
        };
        if name == "error" || name.ends_with("Exception") {
            return Err(self.failed(&name, payload));
        }
        let known = ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop"];
        if !known.contains(&name.as_ref()) && name != "messageStop" && name != "metadata" {
            return Ok(Seen::Unknown(None));
        }
        let mut event: wire::Event<'_> = serde_json::from_str(payload.get())?;
        event.filler = None;
        if name == "messageStart" {
            self.message_start(event, out);
            return Ok(Seen::Known);
        }
        self.begin(ProviderData::default(), out);
        match name.as_ref() {
            "contentBlockStart" => return self.block_start(event, out),
            "contentBlockDelta" => return self.delta(event, out),
            "contentBlockStop" => self.block_stop(event.index.unwrap_or_default(), out),
            "messageStop" => self.message_stop(event),
            _ => {
                self.keep(event);
                if self.stage == Stage::Stopped {
                    self.finish(out);
                }
            }
        }
        Ok(Seen::Known)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault> {
        // An end without counts is still an end.
        if self.stage != Stage::Stopped {
            return Err(Fault::CutOff);
        }
        self.finish(out);
        Ok(())
    }

    fn held(&self) -> usize {
        self.open.weight() + self.counts.weight() + self.rest.weight()
    }

    fn flush(&mut self, out: &mut Vec<Event>) {
        for open in std::mem::take(&mut self.open).into_values() {
            self.show_held(open, out);
        }
    }
}

#[cfg(test)]
mod tests;

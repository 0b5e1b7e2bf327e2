//! Watches an answer that passes through.

use serde_json::{Map, Value};

use super::response::finish;
use super::{error, usage};
use crate::dialect::watch::{self, Frame, LARGE_ERROR, Rest};
use crate::server::picks::{Flow, Picks, Shape, Take};
use crate::server::{Delivery, Seen, skip};
use crate::{Fields, FinishReason};

/// How the most frequent frames of a stream begin.
const DELTA: &[u8] = br#"{"type":"content_block_delta""#;

/// The watcher of one answer.
#[derive(Debug)]
pub(crate) struct Watcher {
    delivery: Delivery,
    seen: Seen,
    is_over: bool,
    usage: Map<String, Value>,
    stop_reason: Option<String>,
    has_calls: bool,
    has_blocks: bool,
    frame: Parts,
}

/// The content of the current frame.
#[derive(Debug, Default)]
struct Parts {
    kind: Option<String>,
    error: Option<Box<str>>,
    id: Option<String>,
    model: Option<String>,
    /// Present, and possibly `null`.
    stop_reason: Option<Option<String>>,
    usage: Option<Map<String, Value>>,
    delta_usage: Option<Map<String, Value>>,
    has_message: bool,
    has_block: bool,
    has_content: bool,
    calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Frame,
    /// The answer: the whole body, or the start of a stream.
    Message,
    Delta,
    /// The content of the answer, and each block in it.
    Content,
    /// The block that begins.
    Block,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Kind,
    Error,
    Id,
    Model,
    StopReason,
    Usage,
    DeltaUsage,
    BlockKind,
}

impl Picks for Watcher {
    type Place = Place;
    type Slot = Slot;

    fn root(&self) -> Place {
        match self.delivery {
            Delivery::Whole => Place::Message,
            Delivery::Stream => Place::Frame,
        }
    }

    fn open(&mut self, place: Place, shape: Shape) {
        match (place, shape) {
            (Place::Frame, Shape::Object) => self.frame = Parts::default(),
            (Place::Message, Shape::Object) => self.frame.has_message = true,
            (Place::Block, Shape::Object) => self.frame.has_block = true,
            (Place::Content, Shape::List) => self.frame.has_content = true,
            (Place::Content, Shape::Object) => self.frame.has_block = true,
            _ => {}
        }
    }

    fn close(&mut self, _: Place) {}

    fn field(&self, place: Place, key: &str) -> Take<Place, Slot> {
        match (place, key) {
            (Place::Frame, "type") => Take::Keep(Slot::Kind),
            (Place::Message, "type") if self.delivery == Delivery::Whole => Take::Keep(Slot::Kind),
            (Place::Frame, "message") => Take::Enter(Place::Message),
            (Place::Frame, "delta") => Take::Enter(Place::Delta),
            (Place::Frame, "content_block") => Take::Enter(Place::Block),
            (Place::Frame | Place::Message, "error") => Take::Keep(Slot::Error),
            // A frame with these fields is a whole answer.
            (Place::Frame | Place::Message, "id") => Take::Keep(Slot::Id),
            (Place::Frame | Place::Message, "model") => Take::Keep(Slot::Model),
            (Place::Frame | Place::Message, "content") => Take::Enter(Place::Content),
            (Place::Frame | Place::Message, "usage") => Take::Keep(Slot::Usage),
            (Place::Delta, "usage") => Take::Keep(Slot::DeltaUsage),
            (Place::Frame | Place::Message | Place::Delta, "stop_reason") => Take::Keep(Slot::StopReason),
            (Place::Block | Place::Content, "type") => Take::Keep(Slot::BlockKind),
            _ => Take::Skip,
        }
    }

    fn value(&mut self, slot: Slot, json: &str) -> Flow {
        let text = || skip::text(json.as_bytes()).map(std::borrow::Cow::into_owned);
        match slot {
            Slot::Kind => match json {
                r#""content_block_delta""# if self.delivery == Delivery::Stream => {
                    self.delta();
                    return Flow::Enough;
                }
                _ => self.frame.kind = text(),
            },
            Slot::Error if json != "null" => self.frame.error = Some(json.into()),
            Slot::Error => {}
            Slot::Id => self.frame.id = text(),
            Slot::Model => self.frame.model = text(),
            Slot::StopReason => self.frame.stop_reason = Some(text()),
            Slot::Usage => self.frame.usage = serde_json::from_str(json).ok(),
            Slot::DeltaUsage => self.frame.delta_usage = serde_json::from_str(json).ok(),
            Slot::BlockKind => self.frame.calls |= json == r#""tool_use""#,
        }
        Flow::GoOn
    }

    fn large(&mut self, slot: Slot) {
        if let Slot::Error = slot {
            self.frame.error = Some(LARGE_ERROR.into());
        }
    }
}

impl watch::Watcher for Watcher {
    fn new(delivery: Delivery) -> Self {
        Watcher {
            delivery,
            seen: Seen::default(),
            is_over: false,
            usage: Map::new(),
            stop_reason: None,
            has_calls: false,
            has_blocks: false,
            frame: Parts::default(),
        }
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn glance(&mut self, frame: &[u8]) -> bool {
        let is_delta = frame.starts_with(DELTA);
        if is_delta {
            self.delta();
        }
        is_delta
    }

    fn frame(&mut self, frame: Frame<'_>) {
        let mut parts = std::mem::take(&mut self.frame);
        if self.delivery == Delivery::Whole || (!self.seen.started && parts.kind.as_deref() == Some("message")) {
            return self.whole(parts, frame);
        }
        let kind = parts.kind.take();
        match kind.as_deref().or(frame.name).unwrap_or_default() {
            "content_block_delta" => self.delta(),
            "content_block_start" if !parts.has_block => self.is_over = true,
            "content_block_start" => {
                self.seen.started = true;
                self.has_blocks = true;
                self.has_calls |= parts.calls;
                self.seen.has_output |= parts.calls;
            }
            "content_block_stop" | "ping" => {}
            "message_start" => self.message_start(parts),
            "message_delta" => {
                self.seen.started = true;
                self.take(parts);
            }
            "message_stop" => {
                self.seen.started = true;
                self.finish();
            }
            "error" => self.fail(&parts, frame),
            _ if parts.error.is_some() => self.fail(&parts, frame),
            // Passed on, but not part of the answer.
            _ => {}
        }
    }

    fn done(&mut self) {
        // Neither a frame of this dialect nor JSON.
        self.is_over = true;
    }

    fn is_list(&mut self) {
        self.is_over = true;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(mut self, rest: Rest) -> Seen {
        if !self.is_over && rest == Rest::Whole && self.delivery == Delivery::Stream && self.stop_reason.is_some() {
            self.finish();
        }
        if !self.usage.is_empty() {
            self.seen.usage = Some(usage::decode(Fields::from(self.usage)));
        }
        self.seen
    }
}

impl Watcher {
    fn delta(&mut self) {
        (self.seen.started, self.seen.has_output) = (true, true);
    }

    fn message_start(&mut self, parts: Parts) {
        if !parts.has_message {
            self.is_over = true;
            return;
        }
        if self.seen.started {
            // A proxy repeats itself, or has put a retry into the stream.
            if parts.id == self.seen.id {
                return;
            }
            if self.has_blocks {
                self.is_over = true;
                return;
            }
            (self.usage, self.stop_reason) = (Map::new(), None);
        } else {
            self.seen.started = true;
            (self.seen.id, self.seen.model) = (parts.id.clone(), parts.model.clone());
        }
        self.take(parts);
    }

    /// Adopts the fields next to the content: they are totals, not increments, so new values replace old ones.
    fn take(&mut self, parts: Parts) {
        if let Some(word) = parts.stop_reason {
            self.stop_reason = word;
        }
        self.usage.extend(parts.delta_usage.into_iter().flatten());
        self.usage.extend(parts.usage.into_iter().flatten());
        self.has_calls |= parts.calls;
        self.has_blocks |= parts.has_block;
        self.seen.has_output |= parts.has_block;
    }

    fn whole(&mut self, parts: Parts, frame: Frame<'_>) {
        if parts.kind.as_deref() == Some("error") || (!parts.has_content && parts.error.is_some()) {
            return self.fail(&parts, frame);
        }
        if !parts.has_content {
            self.is_over = true;
            return;
        }
        self.seen.started = true;
        (self.seen.id, self.seen.model) = (parts.id.clone(), parts.model.clone());
        self.take(parts);
        self.finish();
    }

    fn finish(&mut self) {
        self.is_over = true;
        self.seen.ended = true;
        self.seen.finish_reason = Some(finish(self.stop_reason.as_deref(), usize::from(self.has_calls)));
    }

    fn fail(&mut self, parts: &Parts, frame: Frame<'_>) {
        self.is_over = true;
        let mut error = match frame.json {
            Some(json) => error::from_body(json.as_bytes()),
            None => {
                let error = parts.error.as_deref().unwrap_or("null");
                error::from_body(format!(r#"{{"type":"error","error":{error}}}"#).as_bytes())
            }
        };
        if self.delivery == Delivery::Stream && !self.seen.started {
            error.status = Some(error::status_of(error.kind));
        }
        self.seen.error = Some(error);
        self.seen.finish_reason = Some(FinishReason::Error);
    }
}

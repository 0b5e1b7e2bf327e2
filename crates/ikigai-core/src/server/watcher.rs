//! Reads the frames of an answer that passes through.
//!
//! Of each frame only an outline is built: the fields that its dialect looks at, without the content. The dialect's own
//! reader reads the outline, so a watch and a decoder cannot disagree about how an answer ended. Most frames of a
//! stream contain only a piece of text, and are recognised as such without an outline.

use std::ops::Range;

use super::alike::Alike;
use super::picks::{Flow, Picks, Shape, Take};
use super::{Delivery, Seen};
use crate::dialect::Progress;
use crate::dialect::watch::{Field, Keep, List, Watched};
use crate::wire::{Frame, Ids};
use crate::{BlockKind, Dialect, Error, ErrorKind, Event, FinishReason, Limits, Response};

/// The longest outline, in bytes. Whatever goes beyond it is left out.
const LONGEST: usize = 128 << 10;

/// Enough for the outline of almost any frame.
const USUAL: usize = 1 << 10;

/// Replaces, as JSON, an error that is too large to hold.
const LARGE_ERROR: &str = r#""the provider's error is too large to be read""#;

/// Replaces, as JSON, a text that says something.
const SOME_WORDS: &str = r#""x""#;

/// How a frame with a piece of a block begins, if it has a type.
const BEGINNING: &[u8] = br#"{"type":""#;

/// How the bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// With a complete frame, or with nothing.
    Whole,
    /// With something that is not a frame, or with an incomplete one.
    Broken,
}

/// The watcher of one answer.
#[derive(Debug)]
pub(super) struct Watcher {
    dialect: Dialect,
    delivery: Delivery,
    watched: &'static Watched,
    progress: Progress,
    seen: Seen,
    is_over: bool,
    /// The last frame that had only a piece of a block, if its type does not show that.
    alike: Alike<()>,
    /// The counts of the frames that were like it; empty if there are none.
    counts: String,
    outline: Outline,
}

/// The outline of the current frame.
#[derive(Debug, Default)]
struct Outline {
    /// As JSON.
    text: String,
    levels: Vec<Level>,
    /// Whether the frame's type says that it is a piece.
    is_piece: bool,
    /// Whether it has counts elsewhere than usual.
    has_more_counts: bool,
}

/// An object or a list that is open.
#[derive(Debug)]
struct Level {
    shape: Shape,
    /// The place of its first bracket.
    start: usize,
    /// The last element of a list.
    last: Range<usize>,
}

impl Outline {
    fn clear(&mut self) {
        self.text.clear();
        self.text.reserve(USUAL);
        self.levels.clear();
        (self.is_piece, self.has_more_counts) = (false, false);
    }

    /// Begins a member of the open object, or an element of the open list.
    fn begin(&mut self, name: &str) {
        if !self.text.is_empty() && !self.text.ends_with(['{', '[']) {
            self.text.push(',');
        }
        if self.levels.last().is_some_and(|level| level.shape == Shape::Object) {
            self.text.push('"');
            self.text.push_str(name);
            self.text.push_str("\":");
        }
    }

    fn write(&mut self, name: &str, json: &str) {
        if self.text.len() + json.len() <= LONGEST {
            self.begin(name);
            self.text.push_str(json);
        }
    }

    fn open(&mut self, name: &str, shape: Shape) {
        self.begin(name);
        self.levels.push(Level { shape, start: self.text.len(), last: 0..0 });
        self.text.push(if shape == Shape::Object { '{' } else { '[' });
    }

    fn close(&mut self, shape: Shape) {
        self.text.push(if shape == Shape::Object { '}' } else { ']' });
        let Some(Level { start, .. }) = self.levels.pop() else { return };
        let Some(list) = self.levels.last_mut().filter(|level| level.shape == Shape::List) else { return };
        // An element like the one before it says nothing new.
        if self.text.len() > LONGEST || self.text.get(start..) == self.text.get(list.last.clone()) {
            self.text.truncate(start);
            if self.text.ends_with(',') {
                self.text.pop();
            }
        } else {
            list.last = start..self.text.len();
        }
    }
}

impl Picks for Watcher {
    type Place = &'static Field;
    type Slot = &'static Field;

    fn root(&self) -> &'static Field {
        &self.watched.fields
    }

    fn open(&mut self, place: &'static Field, shape: Shape) {
        if place.name.is_empty() {
            self.outline.clear();
        }
        self.outline.open(place.name, shape);
    }

    fn scalar(&mut self, place: &'static Field) -> Option<&'static Field> {
        Some(place)
    }

    fn close(&mut self, shape: Shape) {
        self.outline.close(shape);
    }

    fn field(&self, place: &'static Field, key: &str) -> Take<&'static Field, &'static Field> {
        let Keep::Fields(fields) = place.keep else { return Take::Skip };
        match fields.iter().find(|field| field.name == key) {
            Some(field) if matches!(field.keep, Keep::Fields(_)) => Take::Enter(field),
            Some(field) => Take::Keep(field),
            None => Take::Skip,
        }
    }

    fn value(&mut self, field: &'static Field, json: &str) -> Flow {
        let is_top = self.outline.levels.len() == 1;
        if is_top && field.name == "type" && (self.watched.is_piece)(json.trim_matches('"').as_bytes()) {
            if self.seen.has_output {
                return Flow::Enough;
            }
            self.outline.is_piece = true;
        }
        self.outline.has_more_counts |= !is_top && field.name == "usage";
        let is_text = json.starts_with('"') && json != r#""""#;
        self.outline.write(
            field.name,
            match field.keep {
                Keep::Words | Keep::Fields(_) if is_text => SOME_WORDS,
                Keep::Words | Keep::Fields(_) | Keep::Value => json,
            },
        );
        Flow::GoOn
    }

    fn large(&mut self, field: &'static Field) {
        match field.keep {
            Keep::Words | Keep::Fields(_) => self.outline.write(field.name, SOME_WORDS),
            Keep::Value if field.name == "error" => self.outline.write(field.name, LARGE_ERROR),
            Keep::Value => {}
        }
    }
}

impl Watcher {
    pub(super) fn new(dialect: Dialect, watched: &'static Watched, delivery: Delivery) -> Self {
        Watcher {
            dialect,
            delivery,
            watched,
            progress: Progress::new(dialect, Ids::default(), &Limits::default()),
            seen: Seen::default(),
            is_over: false,
            alike: Alike::default(),
            counts: String::new(),
            outline: Outline::default(),
        }
    }

    /// Returns what has been seen so far.
    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Returns how much memory is held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.outline.text.capacity() + self.counts.capacity()
    }

    /// Whether nothing more is to come, because the answer has ended or failed.
    pub(super) fn is_over(&self) -> bool {
        self.is_over || self.progress.is_over()
    }

    /// Reads a frame that is obviously just another piece of a block. Returns `false` for others.
    pub(super) fn glance(&mut self, frame: &[u8]) -> bool {
        if !self.seen.has_output {
            return false;
        }
        if let Some(rest) = frame.strip_prefix(BEGINNING)
            && let Some(kind) = memchr::memchr(b'"', rest).and_then(|end| rest.get(..end))
            && (self.watched.is_piece)(kind)
        {
            return true;
        }
        let mut counts = None;
        let Some(()) = self.alike.read(frame, |(), place| counts = frame.get(place)) else { return false };
        if let Some(counts) = counts.and_then(|counts| std::str::from_utf8(counts).ok()) {
            counts.clone_into(&mut self.counts);
        }
        true
    }

    /// Ends a frame, or a document that is not a stream. `json` is its whole text, unless that is too large to hold.
    pub(super) fn frame(&mut self, name: Option<&str>, json: Option<&str>) {
        self.settle();
        // Not kept for the next frame: a stream would hold the memory as long as it is open.
        let text = std::mem::take(&mut self.outline.text);
        match self.delivery {
            Delivery::Whole => self.whole(json.unwrap_or(&text)),
            Delivery::Stream => {
                let is_piece = self.read(Frame { name, data: &text });
                self.seen.has_output |= self.outline.is_piece;
                let holes = self.watched.holes.filter(|_| is_piece && !self.outline.has_more_counts);
                match (json, holes) {
                    (Some(json), Some(holes)) => self.alike.learn(json, holes),
                    // What is not repeated in every frame may have changed.
                    _ => self.alike.forget(),
                }
                // The whole frame may say more about a failure.
                let said = json.filter(|_| self.seen.error.is_some());
                if let Some(error) = said.and_then(|data| self.progress.failure_in(Frame { name, data })) {
                    self.seen.error = Some(error);
                }
            }
        }
    }

    /// Handles the frame `[DONE]`.
    pub(super) fn done(&mut self) {
        self.settle();
        self.read(Frame { name: None, data: "[DONE]" });
    }

    /// Notes that an answer that is not a stream turns out to be a list of frames.
    pub(super) fn is_list(&mut self) {
        match self.watched.list {
            List::Frames => self.delivery = Delivery::Stream,
            List::Nothing => self.is_over = true,
        }
    }

    /// Ends the input.
    pub(super) fn end(mut self, rest: Rest) -> Seen {
        if !self.is_over() && self.delivery == Delivery::Stream {
            self.settle();
            let mut events = Vec::new();
            match rest {
                Rest::Whole => self.progress.finish(&mut events),
                Rest::Broken => self.progress.fail(Error::protocol("the rest is not a stream"), &mut events),
            }
            self.note(events);
        }
        for name in [&mut self.seen.id, &mut self.seen.model] {
            // A server that has no name for it sends an empty one.
            name.take_if(|name| name.is_empty());
        }
        self.seen
    }

    /// Reads the counts of frames that only a glance was taken at.
    fn settle(&mut self) {
        if let Some(name) =
            self.watched.holes.and_then(|holes| holes.values.first()).filter(|_| !self.counts.is_empty())
        {
            let data = format!(r#"{{"{name}":{}}}"#, self.counts);
            self.counts.clear();
            self.read(Frame { name: None, data: &data });
        }
    }

    /// Reads a frame. Returns whether it has only pieces of blocks, and counts.
    fn read(&mut self, frame: Frame<'_>) -> bool {
        let mut events = Vec::new();
        self.progress.read(frame, &mut events);
        self.note(events)
    }

    fn note(&mut self, events: Vec<Event>) -> bool {
        let mut is_piece = self.seen.has_output;
        let seen = &mut self.seen;
        for event in events {
            is_piece &= matches!(
                event,
                Event::TextDelta { .. }
                    | Event::ThinkingDelta { .. }
                    | Event::ToolCallDelta { .. }
                    | Event::Usage { .. }
            );
            match event {
                Event::Start { id, model, .. } => (seen.started, seen.id, seen.model) = (true, id, model),
                Event::TextDelta { .. }
                | Event::ThinkingDelta { .. }
                | Event::ToolCallDelta { .. }
                | Event::ToolCallStart { .. } => seen.has_output = true,
                Event::BlockStart { block, .. } => {
                    seen.has_output |= !matches!(block.kind(), BlockKind::Text | BlockKind::Thinking);
                }
                Event::Usage { usage } => seen.usage = Some(usage),
                Event::Done { finish_reason, .. } => {
                    (seen.ended, seen.finish_reason) = (true, Some(finish_reason));
                }
                Event::Error { error } => seen.fail(*error),
                Event::ToolCallDone { .. }
                | Event::BlockReplaced { .. }
                | Event::Citation { .. }
                | Event::Sources { .. }
                | Event::BlockDone { .. }
                | Event::Other { .. } => {}
            }
        }
        is_piece
    }

    /// Reads the answer in one piece.
    fn whole(&mut self, body: &str) {
        self.is_over = true;
        match self.dialect.decode_response(body.as_bytes(), &mut Ids::default(), &Limits::default()) {
            Ok(response) => self.seen.take(response),
            Err(mut error) => {
                if let Some(partial) = error.partial.take() {
                    self.seen.take(*partial);
                    (self.seen.ended, self.seen.finish_reason) = (false, None);
                }
                self.seen.fail(error);
            }
        }
    }
}

impl Seen {
    fn take(&mut self, response: Response) {
        self.started = true;
        self.has_output = !response.content.is_empty();
        (self.id, self.model) = (response.id, Some(response.model));
        (self.usage, self.finish_reason) = (response.usage, Some(response.finish_reason));
        self.error = response.error.map(|error| *error);
        self.ended = self.error.is_none();
    }

    /// Notes a failure of the provider. An answer that a reader finds broken or incomplete just has no end.
    fn fail(&mut self, mut error: Error) {
        if error.kind != ErrorKind::Protocol {
            error.partial = None;
            (self.error, self.finish_reason) = (Some(error), Some(FinishReason::Error));
        }
    }
}

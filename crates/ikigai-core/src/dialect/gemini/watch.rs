//! Watches an answer that passes through.

use serde_json::{Value, json};

use super::error::decode_error;
use super::response::finish;
use super::usage::{self, Counts, UsageMetadata};
use crate::dialect::watch::{self, Frame, LARGE_ERROR, Rest};
use crate::server::alike::{Alike, Holes};
use crate::server::picks::{Flow, Picks, Shape, Take};
use crate::server::{Delivery, Seen, skip};
use crate::{Fields, FinishReason, Json, Usage};

/// What differs between frames that contain only text and counts.
const HOLES: Holes<'_> = Holes { texts: &["text"], value: Some("usageMetadata") };

/// The most fields kept of the counts.
const MOST_FIELDS: usize = 64;

/// The watcher of one answer.
#[derive(Debug)]
pub(crate) struct Watcher {
    delivery: Delivery,
    seen: Seen,
    is_over: bool,
    finish: Option<String>,
    calls: bool,
    blocked: bool,
    counts: RunningCounts,
    alike: Alike<()>,
    frame: Parts,
    candidate: Candidate,
}

/// The counts so far. Each frame repeats them; one that omits a count does not withdraw it.
#[derive(Debug, Default)]
struct RunningCounts {
    /// The last frame's counts, as JSON. The buffer is reused for the next frame.
    last: String,
    /// Those of earlier frames, if the last one has other fields.
    counts: Counts,
    rest: Fields,
}

/// The content of the current frame.
#[derive(Debug, Default)]
struct Parts {
    id: Option<String>,
    model: Option<String>,
    error: Option<Box<str>>,
    usage: String,
    /// Whether the prompt was blocked, if there is feedback on it.
    blocked: Option<bool>,
    /// The candidate with index 0; in a whole answer the first one, if none has it.
    candidate: Option<Candidate>,
    is_exact: bool,
}

#[derive(Debug, Default)]
struct Candidate {
    is_other: bool,
    finish: Option<String>,
    calls: bool,
    says: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Frame,
    Candidate,
    Content,
    Part,
    Call,
    /// A part that is neither text nor a call.
    Media,
    Feedback,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Id,
    Model,
    Error,
    Usage,
    BlockReason,
    Index,
    Finish,
    Text,
    CallName,
}

impl Picks for Watcher {
    type Place = Place;
    type Slot = Slot;

    fn root(&self) -> Place {
        Place::Frame
    }

    fn open(&mut self, place: Place, shape: Shape) {
        match (place, shape) {
            (Place::Frame, Shape::Object) => self.frame.clear(),
            (Place::Candidate, Shape::Object) => self.candidate = Candidate::default(),
            (Place::Call | Place::Media, Shape::Object) => self.candidate.says = true,
            (Place::Feedback, Shape::Object) => self.frame.blocked = Some(false),
            _ => {}
        }
    }

    fn close(&mut self, place: Place) {
        if place == Place::Candidate {
            let candidate = std::mem::take(&mut self.candidate);
            self.frame.add(candidate, self.delivery);
        }
    }

    fn field(&self, place: Place, key: &str) -> Take<Place, Slot> {
        match (place, key) {
            (Place::Frame, "candidates") => Take::Enter(Place::Candidate),
            (Place::Frame, "usageMetadata") => Take::Keep(Slot::Usage),
            (Place::Frame, "modelVersion") => Take::Keep(Slot::Model),
            (Place::Frame, "responseId") => Take::Keep(Slot::Id),
            (Place::Frame, "error") => Take::Keep(Slot::Error),
            (Place::Frame, "promptFeedback") => Take::Enter(Place::Feedback),
            (Place::Feedback, "blockReason") => Take::Keep(Slot::BlockReason),
            (Place::Candidate, "index") => Take::Keep(Slot::Index),
            (Place::Candidate, "finishReason") => Take::Keep(Slot::Finish),
            (Place::Candidate, "content") => Take::Enter(Place::Content),
            (Place::Content, "parts") => Take::Enter(Place::Part),
            (Place::Part, "text") => Take::Keep(Slot::Text),
            (Place::Part, "functionCall") => Take::Enter(Place::Call),
            (Place::Part, _) => Take::Enter(Place::Media),
            (Place::Call, "name") => Take::Keep(Slot::CallName),
            _ => Take::Skip,
        }
    }

    fn value(&mut self, slot: Slot, json: &str) -> Flow {
        let text = || skip::text(json.as_bytes()).map(std::borrow::Cow::into_owned);
        match slot {
            // Every frame repeats these; the first frame's count.
            Slot::Id if !self.seen.started => self.frame.id = text(),
            Slot::Model if !self.seen.started => self.frame.model = text(),
            Slot::Id | Slot::Model => {}
            Slot::Error if json != "null" => self.frame.error = Some(json.into()),
            Slot::Error => {}
            Slot::Usage => json.clone_into(&mut self.frame.usage),
            Slot::BlockReason => self.frame.blocked = Some(json != "null"),
            Slot::Index => self.candidate.is_other = json.parse::<u64>().is_ok_and(|index| index > 0),
            Slot::Finish => self.candidate.finish = text(),
            Slot::Text => self.candidate.says |= !matches!(json, "\"\"" | "null"),
            Slot::CallName => self.candidate.calls |= json.starts_with('"'),
        }
        Flow::GoOn
    }

    fn large(&mut self, slot: Slot) {
        match slot {
            Slot::Error => self.frame.error = Some(LARGE_ERROR.into()),
            Slot::Text => self.candidate.says = true,
            _ => {}
        }
    }
}

impl Parts {
    fn clear(&mut self) {
        self.usage.clear();
        (self.id, self.model, self.error) = (None, None, None);
        (self.blocked, self.candidate, self.is_exact) = (None, None, false);
    }

    fn add(&mut self, candidate: Candidate, delivery: Delivery) {
        if !candidate.is_other && !self.is_exact {
            self.is_exact = true;
            self.candidate = Some(candidate);
        } else if delivery == Delivery::Whole && self.candidate.is_none() {
            self.candidate = Some(candidate);
        }
    }
}

impl RunningCounts {
    /// Adds the counts of a frame.
    fn take(&mut self, json: &str) {
        self.merge();
        json.clone_into(&mut self.last);
    }

    /// Sets counts that have the same fields as the last ones, of which nothing remains.
    fn replace(&mut self, json: &str) {
        json.clone_into(&mut self.last);
    }

    fn merge(&mut self) {
        let Ok(metadata) = serde_json::from_str::<UsageMetadata<'_>>(&self.last) else { return };
        self.counts = metadata.counts().after(self.counts);
        for (name, value) in metadata.details().filter(|(_, value)| value.get() != "null") {
            if self.rest.len() < MOST_FIELDS || self.rest.get(&name).is_some() {
                self.rest.set(name, Json::copy(&value));
            }
        }
    }

    /// Returns the counts of an answer that ended, with their other fields.
    fn whole(mut self) -> Option<Usage> {
        self.merge();
        usage::decode(&UsageMetadata::new(self.counts, &self.rest))
    }

    /// Returns only the counts, for an answer that broke.
    fn bare(mut self) -> Option<Usage> {
        self.merge();
        (self.counts != Counts::default()).then(|| self.counts.usage())
    }
}

impl watch::Watcher for Watcher {
    fn new(delivery: Delivery) -> Self {
        Watcher {
            delivery,
            seen: Seen::default(),
            is_over: false,
            finish: None,
            calls: false,
            blocked: false,
            counts: RunningCounts::default(),
            alike: Alike::default(),
            frame: Parts::default(),
            candidate: Candidate::default(),
        }
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn glance(&mut self, frame: &[u8]) -> bool {
        let mut counts = None;
        let Some(()) = self.alike.read(frame, |(), place| counts = frame.get(place)) else { return false };
        if let Some(counts) = counts.and_then(|counts| std::str::from_utf8(counts).ok()) {
            self.counts.replace(counts);
        }
        true
    }

    fn frame(&mut self, frame: Frame<'_>) {
        if self.frame.error.is_some() {
            return self.fail(frame);
        }
        if self.delivery == Delivery::Whole {
            return self.whole();
        }
        if !self.seen.started {
            self.seen.started = true;
            (self.seen.id, self.seen.model) = (self.frame.id.take(), self.frame.model.take());
        }
        if !self.frame.usage.is_empty() {
            self.counts.take(&self.frame.usage);
        }
        self.blocked = self.frame.blocked.unwrap_or(self.blocked);
        let candidate = self.frame.candidate.take().unwrap_or_default();
        self.calls |= candidate.calls;
        self.seen.has_output |= candidate.says;
        let has_counts = self.frame.usage.is_empty() || self.frame.usage.starts_with('{');
        let is_plain = candidate.says && candidate.finish.is_none() && self.frame.blocked.is_none() && has_counts;
        match frame.json.filter(|_| is_plain) {
            Some(json) => self.alike.learn(json, HOLES),
            // Its counts may have other fields than those of the frame that was learned.
            None => self.alike.forget(),
        }
        if let Some(word) = candidate.finish {
            self.finish = Some(word);
        }
    }

    fn done(&mut self) {
        // Neither a frame of this dialect nor JSON.
        self.is_over = true;
    }

    fn is_list(&mut self) {
        self.delivery = Delivery::Stream;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(mut self, rest: Rest) -> Seen {
        if !self.is_over && rest == Rest::Whole && self.delivery == Delivery::Stream && self.seen.started {
            let reason = match &self.finish {
                Some(word) => Some(finish(Some(word), usize::from(self.calls))),
                None if !self.seen.has_output && self.blocked => Some(FinishReason::ContentFilter),
                None => None,
            };
            (self.seen.finish_reason, self.seen.ended) = (reason, reason.is_some());
        }
        if self.delivery == Delivery::Stream {
            self.seen.usage = if self.seen.ended { self.counts.whole() } else { self.counts.bare() };
        }
        self.seen
    }
}

impl Watcher {
    fn whole(&mut self) {
        self.is_over = true;
        let reason = match &self.frame.candidate {
            Some(candidate) => finish(candidate.finish.as_deref(), usize::from(candidate.calls)),
            None if self.frame.blocked == Some(true) => FinishReason::ContentFilter,
            // Neither an answer nor a reason why there is none.
            None => return,
        };
        (self.seen.started, self.seen.ended) = (true, true);
        (self.seen.id, self.seen.model) = (self.frame.id.take(), self.frame.model.take());
        self.seen.has_output = self.frame.candidate.as_ref().is_some_and(|candidate| candidate.says);
        self.seen.finish_reason = Some(reason);
        let object = serde_json::from_str::<UsageMetadata<'_>>(&self.frame.usage).ok();
        self.seen.usage = object.as_ref().and_then(usage::decode);
    }

    fn fail(&mut self, frame: Frame<'_>) {
        self.is_over = true;
        let body = frame.json.map_or_else(
            || {
                let error = self.frame.error.as_deref().and_then(|error| serde_json::from_str::<Value>(error).ok());
                json!({"error": error}).to_string()
            },
            str::to_owned,
        );
        self.seen.error = Some(decode_error(None, &[], &body));
        self.seen.finish_reason = Some(FinishReason::Error);
    }
}

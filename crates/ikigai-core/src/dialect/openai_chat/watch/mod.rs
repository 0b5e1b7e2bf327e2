//! Watches an answer that passes through.

mod chunk;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::chunk::{Choice, Parts};
use super::DIALECT;
use super::response::{Holds, broken, finish};
use super::usage;
use crate::dialect::openai_error;
use crate::dialect::watch::{self, Frame, LARGE_ERROR, Rest};
use crate::server::alike::{Alike, Holes};
use crate::server::picks::{Flow, Picks, Shape, Take};
use crate::server::{Delivery, Seen, skip};
use crate::{FinishReason, Usage};

/// What differs between chunks that contain only text; some also contain running counts.
const HOLES: Holes<'_> = Holes {
    texts: &["content", "reasoning_content", "reasoning", "reasoning_text", "text", "arguments", "obfuscation"],
    value: Some("usage"),
};

/// The watcher of one answer.
#[derive(Debug)]
pub(crate) struct Watcher {
    delivery: Delivery,
    seen: Seen,
    is_over: bool,
    finish: Option<String>,
    /// The error in the choice.
    told: Option<Box<str>>,
    holds: Holds,
    /// The most recent counts; empty if there are none.
    usage: String,
    /// Whether the counts were found elsewhere than in `usage`.
    usage_elsewhere: bool,
    alike: Alike<()>,
    chunk: Parts,
    choice: Choice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Chunk,
    Choice,
    Delta,
    Message,
    Call,
    /// The older form of a call.
    Function,
    /// A part of a whole message's content.
    Part,
    /// Groq's own field, where its counts used to be.
    Groq,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Id,
    Model,
    Error,
    Usage,
    ChoiceUsage,
    GroqUsage,
    Index,
    Finish,
    ChoiceError,
    Words,
    Refusal,
    FunctionPart,
    PartKind,
}

impl Picks for Watcher {
    type Place = Place;
    type Slot = Slot;

    fn root(&self) -> Place {
        Place::Chunk
    }

    fn open(&mut self, place: Place, shape: Shape) {
        match (place, shape) {
            (Place::Chunk, Shape::Object) => self.chunk.clear(),
            (Place::Choice, Shape::List) => self.chunk.has_choices = true,
            (Place::Choice, Shape::Object) => self.choice = Choice::default(),
            (Place::Delta, _) => self.choice.has_delta = true,
            (Place::Message, _) => self.choice.has_message = true,
            (Place::Call, Shape::Object) => (self.choice.calls, self.choice.says) = (true, true),
            _ => {}
        }
    }

    fn close(&mut self, place: Place) {
        if place == Place::Choice {
            let choice = std::mem::take(&mut self.choice);
            self.chunk.add(choice, self.delivery);
        }
    }

    fn field(&self, place: Place, key: &str) -> Take<Place, Slot> {
        match (place, key) {
            (Place::Chunk, "id") => Take::Keep(Slot::Id),
            (Place::Chunk, "model") => Take::Keep(Slot::Model),
            (Place::Chunk, "error") => Take::Keep(Slot::Error),
            (Place::Chunk, "usage") => Take::Keep(Slot::Usage),
            (Place::Chunk, "choices") => Take::Enter(Place::Choice),
            (Place::Chunk, "x_groq") => Take::Enter(Place::Groq),
            (Place::Groq, "usage") => Take::Keep(Slot::GroqUsage),
            (Place::Choice, "index") => Take::Keep(Slot::Index),
            (Place::Choice, "finish_reason") => Take::Keep(Slot::Finish),
            (Place::Choice, "usage") => Take::Keep(Slot::ChoiceUsage),
            (Place::Choice, "error") => Take::Keep(Slot::ChoiceError),
            (Place::Choice, "delta") => Take::Enter(Place::Delta),
            (Place::Choice, "message") => Take::Enter(Place::Message),
            (Place::Message, "content") => Take::Enter(Place::Part),
            (Place::Part, "type") => Take::Keep(Slot::PartKind),
            (
                Place::Delta,
                "content" | "reasoning_content" | "reasoning" | "reasoning_text" | "reasoning_details" | "images",
            ) => Take::Keep(Slot::Words),
            (Place::Delta | Place::Message, "refusal") => Take::Keep(Slot::Refusal),
            (Place::Delta | Place::Message, "tool_calls") => Take::Enter(Place::Call),
            (Place::Delta | Place::Message, "function_call") => Take::Enter(Place::Function),
            (Place::Function, "name" | "arguments") => Take::Keep(Slot::FunctionPart),
            _ => Take::Skip,
        }
    }

    fn value(&mut self, slot: Slot, json: &str) -> Flow {
        let text = || skip::text(json.as_bytes()).filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned);
        let says = !matches!(json, "null" | "\"\"" | "[]" | "{}");
        match slot {
            // Every chunk repeats these; the first non-empty ones count.
            Slot::Id if !self.seen.started => self.chunk.id = text(),
            Slot::Model if !self.seen.started => self.chunk.model = text(),
            Slot::Id | Slot::Model => {}
            Slot::Error if json != "null" => self.chunk.error = Some(json.into()),
            Slot::ChoiceError if says => self.choice.error = Some(json.into()),
            Slot::Error | Slot::ChoiceError => {}
            Slot::Usage => self.chunk.usage.set(json),
            Slot::GroqUsage => self.chunk.groq_usage.set_object(json),
            Slot::ChoiceUsage if !self.choice.is_other => self.chunk.choice_usage.set_object(json),
            Slot::ChoiceUsage => {}
            Slot::Index => {
                self.choice.has_index = json == "0";
                self.choice.is_other = json != "0" && json.parse::<u64>().is_ok();
            }
            Slot::Finish => self.choice.finish = text(),
            Slot::Words => self.choice.says |= says,
            Slot::Refusal => {
                self.choice.refused |= text().is_some();
                self.choice.says |= says;
            }
            Slot::FunctionPart => self.choice.calls |= says,
            Slot::PartKind => self.choice.refused |= json == r#""refusal""#,
        }
        Flow::GoOn
    }

    fn large(&mut self, slot: Slot) {
        match slot {
            Slot::Error => self.chunk.error = Some(LARGE_ERROR.into()),
            Slot::ChoiceError => self.choice.error = Some(LARGE_ERROR.into()),
            Slot::Words => self.choice.says = true,
            Slot::Refusal => (self.choice.refused, self.choice.says) = (true, true),
            Slot::FunctionPart => self.choice.calls = true,
            _ => {}
        }
    }
}

impl watch::Watcher for Watcher {
    fn new(delivery: Delivery) -> Self {
        Watcher {
            delivery,
            seen: Seen::default(),
            is_over: false,
            finish: None,
            told: None,
            holds: Holds::default(),
            usage: String::new(),
            usage_elsewhere: false,
            alike: Alike::default(),
            chunk: Parts::default(),
            choice: Choice::default(),
        }
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn glance(&mut self, frame: &[u8]) -> bool {
        let mut counts = None;
        let Some(()) = self.alike.read(frame, |(), place| counts = frame.get(place)) else { return false };
        if let Some(counts) = counts.and_then(|counts| std::str::from_utf8(counts).ok()) {
            counts.clone_into(&mut self.usage);
        }
        true
    }

    fn frame(&mut self, frame: Frame<'_>) {
        if let Some(error) = self.error(frame) {
            if self.seen.started {
                self.note_counts();
            }
            return self.fail(error);
        }
        if self.delivery == Delivery::Whole || (!self.seen.started && self.chunk.choice.has_message) {
            return self.whole();
        }
        self.note_counts();
        let chunk = &mut self.chunk;
        if !self.seen.started {
            self.seen.id = self.seen.id.take().or(chunk.id.take());
            self.seen.model = self.seen.model.take().or(chunk.model.take());
            self.seen.started = chunk.choices > 0;
        }
        let choice = std::mem::take(&mut chunk.choice);
        self.holds.calls |= choice.calls;
        self.holds.refusal |= choice.refused;
        self.seen.has_output |= choice.says;
        let has_other_counts = chunk.groq_usage.get().or(chunk.choice_usage.get()).is_some();
        let is_plain = choice.finish.is_none() && choice.says && !has_other_counts;
        if is_plain && let Some(json) = frame.json {
            self.alike.learn(json, HOLES);
        }
        if let Some(word) = choice.finish {
            self.finish = Some(word);
        }
        if choice.error.is_some() {
            self.told = choice.error;
        }
    }

    fn done(&mut self) {
        if self.finish.is_some() || (self.seen.started && !self.usage.is_empty()) {
            self.finish();
        }
        self.is_over = true;
    }

    fn is_list(&mut self) {
        self.is_over = true;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(mut self, rest: Rest) -> Seen {
        if !self.is_over && rest == Rest::Whole && self.finish.is_some() {
            self.finish();
        }
        if self.seen.started {
            self.seen.usage = self.counts();
        } else {
            // Whatever came before an answer starts is not about an answer.
            (self.seen.id, self.seen.model) = (None, None);
        }
        self.seen
    }
}

impl Watcher {
    /// Returns the failure in a chunk. Only one that has an error, or is not a chunk, is parsed again.
    fn error(&self, frame: Frame<'_>) -> Option<crate::Error> {
        if self.chunk.error.is_none() && self.chunk.has_choices {
            return None;
        }
        let body = frame.json.and_then(|json| serde_json::from_str(json).ok());
        let body = body.or_else(|| {
            let error: Value = serde_json::from_str(self.chunk.error.as_deref()?).ok()?;
            Some(json!({"error": error}))
        })?;
        openai_error::find(DIALECT, &body)
    }

    /// Keeps a chunk's counts.
    fn note_counts(&mut self) {
        let chunk = &self.chunk;
        if let Some(json) = chunk.choice_usage.get().or(chunk.usage.get()) {
            json.clone_into(&mut self.usage);
        }
        if let Some(json) = chunk.groq_usage.get().filter(|_| self.usage.is_empty()) {
            json.clone_into(&mut self.usage);
        }
    }

    fn fail(&mut self, error: crate::Error) {
        self.is_over = true;
        self.seen.error = Some(error);
        self.seen.finish_reason = Some(FinishReason::Error);
    }

    /// Reads the answer in one piece.
    fn whole(&mut self) {
        self.is_over = true;
        if self.chunk.choices == 0 {
            return;
        }
        self.seen.started = true;
        (self.seen.id, self.seen.model) = (self.chunk.id.take(), self.chunk.model.take());
        if self.chunk.usage.json.starts_with('{') {
            self.usage = std::mem::take(&mut self.chunk.usage.json);
        } else if let Some(json) = self.chunk.groq_usage.get().or(self.chunk.choice_usage.get()) {
            json.clone_into(&mut self.usage);
            self.usage_elsewhere = true;
        }
        let choice = std::mem::take(&mut self.chunk.choice);
        self.seen.has_output = choice.has_message;
        self.holds = Holds { calls: choice.calls, broken_call: false, refusal: choice.refused };
        (self.finish, self.told) = (choice.finish, choice.error);
        self.finish();
    }

    fn finish(&mut self) {
        self.is_over = true;
        let reason = finish(self.finish.as_deref(), self.holds);
        self.seen.finish_reason = Some(reason);
        if reason == FinishReason::Error {
            let told = self.told.take().and_then(|error| serde_json::from_str::<Value>(&error).ok());
            let told = told.and_then(|error| openai_error::find(DIALECT, &json!({"error": error})));
            self.seen.error = Some(told.unwrap_or_else(|| broken(self.finish.as_deref())));
        } else {
            self.seen.ended = true;
        }
    }

    fn counts(&self) -> Option<Usage> {
        match serde_json::from_str::<&RawValue>(&self.usage) {
            Ok(raw) if !raw.get().starts_with('{') => None,
            Ok(raw) if self.usage_elsewhere => Some(usage::decode_elsewhere(raw)),
            Ok(raw) => Some(usage::decode(raw)),
            Err(_) => None,
        }
    }
}

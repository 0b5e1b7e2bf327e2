//! Halves of a surrogate pair that is split over two events.
//!
//! JavaScript servers cut text between UTF-16 units, so that one delta ends with `\ud83d` and the next begins with
//! `\ude00`. UTF-8 text cannot hold half a pair. Before an event is read, each lone half is therefore replaced by a
//! private character; where two of them meet in the deltas of one block, they become the original character, and one
//! that stays alone becomes U+FFFD.

use std::borrow::Cow;

use memchr::memmem;

use crate::Event;

/// The private character for the first unit, U+D800; the others follow it.
const FIRST: u32 = 0x10_F800;

/// Joins the halves in the events of one stream.
#[derive(Debug, Default)]
pub(super) struct Surrogates {
    /// High halves at the end of a delta, with the block they belong to.
    held: Vec<Held>,
    /// Whether a half has been seen: until then, events are not examined.
    seen: bool,
}

#[derive(Debug)]
struct Held {
    index: usize,
    kind: Kind,
    unit: u32,
}

/// What a delta belongs to.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Thinking,
    Arguments,
}

impl Surrogates {
    /// Replaces each lone half in an event's data by a private character.
    pub(super) fn mark<'a>(&mut self, data: &'a str) -> Cow<'a, str> {
        // Most events contain no escape at all, which is quick to check.
        let suspect = memchr::memchr(b'\\', data.as_bytes()).is_some()
            && (memmem::find(data.as_bytes(), b"\\ud").is_some() || memmem::find(data.as_bytes(), b"\\uD").is_some());
        match suspect.then(|| mark_lone_halves(data)).flatten() {
            Some(marked) => {
                self.seen = true;
                Cow::Owned(marked)
            }
            None => Cow::Borrowed(data),
        }
    }

    /// Joins halves in the events that were just read, which begin at `from`.
    #[inline]
    pub(super) fn join(&mut self, events: &mut Vec<Event>, from: usize) {
        if self.seen {
            self.join_all(events, from);
        }
    }

    fn join_all(&mut self, events: &mut Vec<Event>, from: usize) {
        for event in events.iter_mut().skip(from) {
            match event {
                Event::TextDelta { index, text } => self.join_delta(*index, Kind::Text, text),
                Event::ThinkingDelta { index, text } => self.join_delta(*index, Kind::Thinking, text),
                Event::ToolCallDelta { index, arguments } => self.join_delta(*index, Kind::Arguments, arguments),
                Event::Start { .. }
                | Event::BlockStart { .. }
                | Event::ToolCallStart { .. }
                | Event::ToolCallDone { .. }
                | Event::BlockReplaced { .. }
                | Event::Citation { .. }
                | Event::Sources { .. }
                | Event::BlockDone { .. }
                | Event::Usage { .. }
                | Event::Done { .. }
                | Event::Error { .. }
                | Event::Other { .. } => {}
            }
        }
        self.release(events, from);
    }

    /// Writes U+FFFD for a half that is still waiting when its block ends, before that end.
    fn release(&mut self, events: &mut Vec<Event>, from: usize) {
        let mut at = from;
        while let Some(event) = events.get(at) {
            let ended = match event {
                Event::BlockDone { index, .. } | Event::ToolCallDone { index, .. } => Some(*index),
                _ => None,
            };
            let place = self.held.iter().position(|held| Some(held.index) == ended);
            if let Some(Held { index, kind, .. }) = place.map(|place| self.held.swap_remove(place)) {
                let text = char::REPLACEMENT_CHARACTER.to_string();
                let delta = match kind {
                    Kind::Text => Event::TextDelta { index, text },
                    Kind::Thinking => Event::ThinkingDelta { index, text },
                    Kind::Arguments => Event::ToolCallDelta { index, arguments: text },
                };
                events.insert(at, delta);
                at += 1;
            }
            at += 1;
        }
    }

    fn join_delta(&mut self, index: usize, kind: Kind, text: &mut String) {
        let place = self.held.iter().position(|held| held.index == index);
        let held = place.map(|place| self.held.swap_remove(place).unit);
        if held.is_none() && !text.chars().any(|c| unit_of(c).is_some()) {
            return;
        }
        let mut joined = String::with_capacity(text.len() + 4);
        let mut first = held;
        for c in text.chars() {
            match (first.take(), unit_of(c)) {
                (Some(high), Some(low @ 0xDC00..=0xDFFF)) => joined.push(pair(high, low)),
                (before, unit) => {
                    if before.is_some() {
                        joined.push(char::REPLACEMENT_CHARACTER);
                    }
                    match unit {
                        Some(high @ 0xD800..=0xDBFF) => first = Some(high),
                        Some(_) => joined.push(char::REPLACEMENT_CHARACTER),
                        None => joined.push(c),
                    }
                }
            }
        }
        if let Some(high) = first {
            self.held.push(Held { index, kind, unit: high });
        }
        *text = joined;
    }
}

/// The UTF-16 unit that a private character represents.
fn unit_of(c: char) -> Option<u32> {
    u32::from(c).checked_sub(FIRST).map(|unit| 0xD800 + unit)
}

fn pair(high: u32, low: u32) -> char {
    let c = 0x10000 + (high.wrapping_sub(0xD800) << 10) + low.wrapping_sub(0xDC00);
    char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Replaces each lone escaped half in JSON text by a private character. Returns `None` if there is none.
fn mark_lone_halves(data: &str) -> Option<String> {
    let mut marked = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = data.as_bytes().get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let escape = at + found;
        let unit = |at: usize| unit_at(data, at);
        match (unit(escape), unit(escape + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at = escape + 12,
            (Some(half @ 0xD800..=0xDFFF), _) => {
                marked.push_str(data.get(from..escape)?);
                marked.push(char::from_u32(FIRST + (half - 0xD800))?);
                at = escape + 6;
                from = at;
            }
            (Some(_), _) => at = escape + 6,
            (None, _) => at = escape + 2,
        }
    }
    if from == 0 && marked.is_empty() {
        return None;
    }
    marked.push_str(data.get(from..)?);
    Some(marked)
}

/// The unit of a `\uXXXX` that begins here.
fn unit_at(data: &str, at: usize) -> Option<u32> {
    let digits = data.get(at..at.checked_add(6)?)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
#[path = "surrogates_tests.rs"]
mod tests;

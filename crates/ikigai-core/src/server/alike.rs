//! Frames that are like one that was read before, but for their text and their numbers.
//!
//! Most frames of a stream repeat everything around a few words: ids, names, fields that are `null`. Once one of them
//! was read and brought nothing but text, another one with the same bytes around its text brings nothing else either.
//! Such a frame is recognised by comparing bytes. Whatever differs is read in full.
//!
//! Watchers find what may differ by its name ([`Alike::learn`]). Decoders have read the frame and know the places
//! ([`Alike::learn_parts`]).

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::skip;
use crate::json::text::{is_plain, unescape_inner};
use crate::order::by_number;

/// So many texts and numbers may differ; a frame with more is not worth remembering.
const MOST_HOLES: usize = 32;

/// The longest frame that is worth remembering.
const LONGEST: usize = 8 << 10;

/// What of a frame may differ in those that are like it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Holes<'a> {
    /// The keys whose strings may differ. Numbers may differ everywhere.
    pub(crate) texts: &'a [&'a str],
    /// The top-level key whose object is handed over.
    pub(crate) value: Option<&'a str>,
}

/// A piece of a frame that may differ in those that are like it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a, S> {
    /// The piece itself, borrowed from the frame; of a string, its inside.
    pub(crate) text: &'a str,
    pub(crate) kind: PartKind,
    /// Where its counterpart in another frame is handed over to; `None` if nobody wants it.
    pub(crate) slot: Option<S>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// The inside of a string, which [`words`] reads.
    Text,
    /// The inside of a string in which nothing is escaped.
    Plain,
    /// A whole number.
    Number,
    /// A value in which only the numbers may differ.
    Numbers,
    /// Any value. It was only stepped over: whoever takes it has to check that it is JSON.
    Value,
}

/// A frame that was read, with holes for what may differ.
#[derive(Debug)]
pub(crate) struct Alike<S> {
    frame: Vec<u8>,
    /// The texts, and the end.
    stops: Vec<Stop<S>>,
    /// What else may differ.
    holes: Vec<Hole<S>>,
}

#[derive(Debug)]
struct Hole<S> {
    start: usize,
    end: usize,
    kind: HoleKind,
    slot: Option<S>,
}

/// The inside of a string that may differ; or the end of the frame.
#[derive(Debug)]
struct Stop<S> {
    start: usize,
    end: usize,
    slot: Option<S>,
    /// How many holes are before it.
    holes: usize,
    /// Whether there are values among those since the last stop.
    tells: bool,
    is_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoleKind {
    /// The inside of a string in which nothing is escaped.
    Plain,
    /// A run of digits, as a number may have it.
    Digits,
    /// Any value, nested no deeper than this.
    Value { depth: u32 },
    /// Nothing: here the value begins that is handed over.
    ValueStart,
    /// Nothing: here it ends.
    ValueEnd,
}

impl<S> Default for Alike<S> {
    fn default() -> Self {
        Alike { frame: Vec::new(), stops: Vec::new(), holes: Vec::new() }
    }
}

impl Alike<()> {
    /// Remembers a frame.
    pub(crate) fn learn(&mut self, frame: &str, may_differ: Holes<'_>) {
        self.remember(frame, |alike| alike.find_holes(frame.as_bytes(), 0, may_differ, Some(())));
    }
}

impl<S: Copy> Alike<S> {
    /// Remembers a frame in which these parts may differ, and nothing else.
    pub(crate) fn learn_parts<'a>(&mut self, frame: &'a str, parts: impl IntoIterator<Item = Part<'a, S>>) {
        self.remember(frame, |alike| {
            parts.into_iter().try_for_each(|part| {
                let Range { start, end } = place_of(frame, part.text)?;
                match part.kind {
                    PartKind::Text => alike.push_text(start, end, part.slot),
                    PartKind::Plain => alike.push(start, end, HoleKind::Plain, part.slot),
                    PartKind::Number if digits(part.text.as_bytes(), 0) == part.text.len() => {
                        alike.push(start, end, HoleKind::Digits, part.slot)
                    }
                    PartKind::Number => None,
                    PartKind::Numbers => {
                        alike.push(start, start, HoleKind::ValueStart, None)?;
                        alike.find_holes(part.text.as_bytes(), start, Holes::default(), None)?;
                        alike.push(end, end, HoleKind::ValueEnd, part.slot)
                    }
                    PartKind::Value => {
                        // Limits hold for the frame that was learned, and so for one that is no deeper.
                        let depth = skip::depth(part.text.as_bytes());
                        alike.push(start, end, HoleKind::Value { depth }, part.slot)
                    }
                }
            })
        });
    }

    fn remember(&mut self, frame: &str, find: impl FnOnce(&mut Self) -> Option<()>) {
        self.forget();
        if frame.len() > LONGEST || find(self).is_none() {
            return self.forget();
        }
        by_number(&mut self.holes, |hole| hole.start);
        by_number(&mut self.stops, |stop| stop.start);
        let end = frame.len();
        self.stops.push(Stop { start: end, end, slot: None, holes: 0, tells: false, is_end: true });
        let mut from = 0;
        for stop in &mut self.stops {
            stop.holes = self.holes.partition_point(|hole| hole.end <= stop.start);
            stop.tells = self.holes.iter().take(stop.holes).skip(from).any(|hole| hole.kind.is_value());
            from = stop.holes;
        }
        self.frame.extend_from_slice(frame.as_bytes());
    }

    /// No frame is like any other.
    pub(crate) fn forget(&mut self) {
        self.frame.clear();
        self.stops.clear();
        self.holes.clear();
    }

    /// Finds the holes in a piece of a frame that begins at `base`.
    fn find_holes(&mut self, piece: &[u8], base: usize, may_differ: Holes<'_>, slot: Option<S>) -> Option<()> {
        let (mut at, mut depth) = (0, 0_usize);
        let mut key: &[u8] = b"";
        while let Some(byte) = piece.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    at = skip::string(piece, at)?;
                    let inner = piece.get(start + 1..at - 1)?;
                    if piece.get(skip::blanks(piece, at)) == Some(&b':') {
                        key = inner;
                    } else if may_differ.texts.iter().any(|text| text.as_bytes() == key) {
                        self.push_text(base + start + 1, base + at - 1, None)?;
                    }
                }
                b'0'..=b'9' => {
                    at = start + digits(piece, start);
                    self.push(base + start, base + at, HoleKind::Digits, None)?;
                }
                b'{' => {
                    if depth == 1 && may_differ.value.is_some_and(|value| key == value.as_bytes()) {
                        let end = skip::value(piece, start).ok()?;
                        self.push(base + start, base + start, HoleKind::ValueStart, None)?;
                        self.push(base + end, base + end, HoleKind::ValueEnd, slot)?;
                    }
                    depth += 1;
                }
                b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        Some(())
    }

    fn push(&mut self, start: usize, end: usize, kind: HoleKind, slot: Option<S>) -> Option<()> {
        self.holes.push(Hole { start, end, kind, slot });
        self.is_worth_it()
    }

    fn push_text(&mut self, start: usize, end: usize, slot: Option<S>) -> Option<()> {
        self.stops.push(Stop { start, end, slot, holes: 0, tells: false, is_end: false });
        self.is_worth_it()
    }

    fn is_worth_it(&self) -> Option<()> {
        (self.stops.len() + self.holes.len() <= MOST_HOLES).then_some(())
    }

    /// Is this frame like the one that was learned? Tells where the parts are that somebody wants: texts and values in any
    /// case, a number if it is another one. `None` if the frame is not alike, and then what was told means nothing.
    pub(crate) fn read(&self, frame: &[u8], mut found: impl FnMut(S, Range<usize>)) -> Option<()> {
        // The same place in both: in the frame that was learned, and in this one.
        let (mut learned, mut at) = (0, 0);
        let (mut from, mut value_start) = (0, 0);
        for stop in &self.stops {
            let stretch = self.frame.get(learned..stop.start)?;
            if frame.get(at..)?.starts_with(stretch) {
                // Mostly only texts differ: one comparison is enough then.
                if stop.tells {
                    for hole in self.holes.get(from..stop.holes)? {
                        let start = at + (hole.start - learned);
                        let filling = start..start + (hole.end - hole.start);
                        hole.tell_value(filling, &mut value_start, &mut found);
                    }
                }
                at += stretch.len();
            } else {
                for hole in self.holes.get(from..stop.holes)? {
                    at = same(self.frame.get(learned..hole.start)?, frame, at)?;
                    let end = match hole.kind {
                        HoleKind::Digits => whole_number(frame, at)?,
                        HoleKind::Plain => plain(frame, at)?,
                        HoleKind::Value { depth } => value(frame, at, depth)?,
                        HoleKind::ValueStart | HoleKind::ValueEnd => at,
                    };
                    hole.tell(at..end, &mut value_start, &mut found);
                    (learned, at) = (hole.end, end);
                }
                at = same(self.frame.get(learned..stop.start)?, frame, at)?;
            }
            if stop.is_end {
                return (at == frame.len()).then_some(());
            }
            let end = skip::string(frame, at)? - 1;
            if let Some(slot) = stop.slot {
                found(slot, at..end);
            }
            (at, learned, from) = (end, stop.end, stop.holes);
        }
        None
    }
}

impl HoleKind {
    fn is_value(self) -> bool {
        match self {
            HoleKind::Value { .. } | HoleKind::ValueStart | HoleKind::ValueEnd => true,
            HoleKind::Plain | HoleKind::Digits => false,
        }
    }
}

impl<S: Copy> Hole<S> {
    fn tell(&self, mut filling: Range<usize>, value_start: &mut usize, found: &mut impl FnMut(S, Range<usize>)) {
        match self.kind {
            HoleKind::ValueStart => *value_start = filling.start,
            HoleKind::ValueEnd => filling.start = *value_start,
            HoleKind::Plain | HoleKind::Digits | HoleKind::Value { .. } => {}
        }
        if let Some(slot) = self.slot {
            found(slot, filling);
        }
    }

    /// Tells values, and nothing else.
    fn tell_value(&self, filling: Range<usize>, value_start: &mut usize, found: &mut impl FnMut(S, Range<usize>)) {
        if self.kind.is_value() {
            self.tell(filling, value_start, found);
        }
    }
}

/// The text that the inside of a string stands for. `None` if it is left to the parser: where it is not JSON, and where a
/// character may be split over two frames.
#[inline]
pub(crate) fn words(inner: &str) -> Option<Cow<'_, str>> {
    if is_plain(inner.as_bytes()) { Some(Cow::Borrowed(inner)) } else { unescaped(inner) }
}

fn unescaped(inner: &str) -> Option<Cow<'_, str>> {
    let text = unescape_inner(inner).filter(|_| inner.bytes().all(|byte| byte >= b' '))?;
    // Half a character is replaced by this one.
    let is_split = text.contains(char::REPLACEMENT_CHARACTER) && may_be_split(inner.as_bytes());
    (!is_split).then_some(text)
}

/// Whether a character may be escaped in two halves.
fn may_be_split(json: &[u8]) -> bool {
    memchr::memchr(b'\\', json).is_some()
        && (memmem::find(json, b"\\ud").is_some() || memmem::find(json, b"\\uD").is_some())
}

/// Where a piece of a frame is in it: its address says so.
fn place_of(frame: &str, piece: &str) -> Option<Range<usize>> {
    let start = piece.as_ptr().addr().checked_sub(frame.as_ptr().addr())?;
    let place = start..start.checked_add(piece.len())?;
    (frame.get(place.clone()) == Some(piece)).then_some(place)
}

/// The place behind a part of the learned frame, if it is what follows in this one.
fn same(part: &[u8], frame: &[u8], at: usize) -> Option<usize> {
    frame.get(at..)?.starts_with(part).then_some(at + part.len())
}

/// The end of the inside of a string in which nothing is escaped.
fn plain(frame: &[u8], at: usize) -> Option<usize> {
    let end = skip::string(frame, at)? - 1;
    is_plain(frame.get(at..end)?).then_some(end)
}

/// The place behind a value that is nested no deeper than this.
fn value(frame: &[u8], at: usize, depth: u32) -> Option<usize> {
    let end = skip::value_within(frame, at, depth).ok()?;
    (!may_be_split(frame.get(at..end)?)).then_some(end)
}

/// The place behind a whole number.
#[inline]
fn whole_number(bytes: &[u8], at: usize) -> Option<usize> {
    let count = digits(bytes, at);
    let is_number = count == 1 || (count > 1 && bytes.get(at) != Some(&b'0'));
    is_number.then_some(at + count)
}

fn digits(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;

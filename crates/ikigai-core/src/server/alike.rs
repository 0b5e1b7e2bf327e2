//! Frames that are like an earlier one except for their text and their numbers.
//!
//! Most frames of a stream repeat everything around a few words: ids, names, fields that are `null`. Once one of them
//! has been read and contained nothing but text, another one with the same bytes around its text contains nothing else
//! either. Such a frame is recognised by comparing bytes. Any frame that differs is read in full.
//!
//! Watchers find the parts that may differ by their names ([`Alike::learn`]). Decoders have read the frame and know the
//! places ([`Alike::learn_parts`]).

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::skip;
use crate::json::text::{is_plain, unescape_inner};
use crate::order::by_number;

/// The maximum number of texts and numbers that may differ; a frame with more is not worth remembering.
const MOST_HOLES: usize = 32;

/// The key of numbers that say what a frame belongs to. They are the same in all frames like it.
const INDEX: &[u8] = b"index";

/// The longest frame that is worth remembering.
const LONGEST: usize = 8 << 10;

/// The parts of a frame that may differ in frames like it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Holes<'a> {
    /// The keys whose strings may differ. Numbers may differ anywhere, except for an index.
    pub(crate) texts: &'a [&'a str],
    /// The spellings of the top-level key whose object is reported, the usual one first.
    pub(crate) values: &'a [&'a str],
}

/// A piece of a frame that may differ in frames like it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a, S> {
    /// The piece itself, borrowed from the frame; for a string, its inside.
    pub(crate) text: &'a str,
    pub(crate) kind: PartKind,
    /// The slot under which its counterpart in another frame is reported; `None` if nobody needs it.
    pub(crate) slot: Option<S>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// The inside of a string, which [`words`] reads.
    Text,
    /// The inside of a string without escapes.
    Plain,
    /// A whole number.
    Number,
    /// A value in which only the numbers may differ.
    Numbers,
    /// Any value. It was only skipped: the receiver has to check that it is JSON.
    Value,
}

/// A frame that has been read, with holes for the parts that may differ.
#[derive(Debug)]
pub(crate) struct Alike<S> {
    frame: Vec<u8>,
    /// The texts, and the end.
    stops: Vec<Stop<S>>,
    /// The other parts that may differ.
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
    /// The number of holes before it.
    holes: usize,
    /// Whether any holes since the last stop are values.
    tells: bool,
    is_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoleKind {
    /// The inside of a string without escapes.
    Plain,
    /// A run of digits in a number.
    Digits,
    /// Any value, nested no deeper than this.
    Value { depth: u32 },
    /// An empty hole: the start of a value that is reported.
    ValueStart,
    /// An empty hole: its end.
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
    /// Remembers a frame in which only these parts may differ.
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
                        // Limits were checked for the learned frame, so they hold for one that is no deeper.
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

    /// Forgets the frame: no other is like it.
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
                    if key != INDEX {
                        self.push(base + start, base + at, HoleKind::Digits, None)?;
                    }
                }
                b'{' => {
                    if depth == 1 && may_differ.values.iter().any(|value| key == value.as_bytes()) {
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

    /// Returns whether this frame is like the learned one, and reports where the wanted parts are: texts and values
    /// always, a number only if it differs. `None` if it is not alike; anything reported until then is meaningless.
    pub(crate) fn read(&self, frame: &[u8], mut found: impl FnMut(S, Range<usize>)) -> Option<()> {
        // The same place in the learned frame and in this one.
        let (mut learned, mut at) = (0, 0);
        let (mut from, mut value_start) = (0, 0);
        for stop in &self.stops {
            let stretch = self.frame.get(learned..stop.start)?;
            if frame.get(at..)?.starts_with(stretch) {
                // Usually only texts differ, so one comparison is enough.
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

    /// Reports values, and nothing else.
    fn tell_value(&self, filling: Range<usize>, value_start: &mut usize, found: &mut impl FnMut(S, Range<usize>)) {
        if self.kind.is_value() {
            self.tell(filling, value_start, found);
        }
    }
}

/// Returns the text that the inside of a string stands for. `None` if it is left to the parser: if it is not JSON, or
/// if a character may be split over two frames.
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

/// Returns whether a character may be escaped in two halves.
fn may_be_split(json: &[u8]) -> bool {
    memchr::memchr(b'\\', json).is_some()
        && (memmem::find(json, b"\\ud").is_some() || memmem::find(json, b"\\uD").is_some())
}

/// Returns the position of a piece in its frame, judging by its address.
fn place_of(frame: &str, piece: &str) -> Option<Range<usize>> {
    let start = piece.as_ptr().addr().checked_sub(frame.as_ptr().addr())?;
    let place = start..start.checked_add(piece.len())?;
    (frame.get(place.clone()) == Some(piece)).then_some(place)
}

/// Returns the place after a part of the learned frame, if it comes next in this one.
fn same(part: &[u8], frame: &[u8], at: usize) -> Option<usize> {
    frame.get(at..)?.starts_with(part).then_some(at + part.len())
}

/// Returns the end of the inside of a string without escapes.
fn plain(frame: &[u8], at: usize) -> Option<usize> {
    let end = skip::string(frame, at)? - 1;
    is_plain(frame.get(at..end)?).then_some(end)
}

/// Returns the place after a value that is nested no deeper than this.
fn value(frame: &[u8], at: usize, depth: u32) -> Option<usize> {
    let end = skip::value_within(frame, at, depth).ok()?;
    (!may_be_split(frame.get(at..end)?)).then_some(end)
}

/// Returns the place after a whole number.
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

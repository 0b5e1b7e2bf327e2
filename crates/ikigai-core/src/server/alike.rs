//! Frames that are like one that was read before, but for their text and their numbers.
//!
//! Most frames of a stream repeat everything around a few words: ids, names, fields that are `null`. Once one of them
//! was read and brought nothing but text, another one with the same bytes around its text brings nothing else either.
//! Such a frame is recognised by comparing bytes. Whatever differs is read in full.

use super::skip;

/// So many texts and numbers may differ; a frame with more is not worth remembering.
const MOST_HOLES: usize = 32;

/// The longest frame that is worth remembering.
const LONGEST: usize = 8 << 10;

/// What of a frame may differ in those that are like it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holes<'a> {
    /// The keys whose strings may differ. Numbers may differ everywhere.
    pub(crate) texts: &'a [&'a str],
    /// The top-level key whose object is handed over.
    pub(crate) value: &'a str,
}

/// A frame that was read, with holes for what may differ.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    frame: Vec<u8>,
    holes: Vec<Hole>,
}

#[derive(Debug)]
struct Hole {
    start: usize,
    end: usize,
    kind: HoleKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoleKind {
    /// The inside of a string.
    Text,
    /// A run of digits.
    Digits,
    /// Nothing: here the value begins that is handed over.
    ValueStart,
    /// Nothing: here it ends.
    ValueEnd,
}

impl Alike {
    /// Remembers a frame.
    pub(crate) fn learn(&mut self, frame: &str, may_differ: Holes<'_>) {
        self.forget();
        if frame.len() > LONGEST || self.find_holes(frame.as_bytes(), may_differ).is_none() {
            return self.forget();
        }
        self.holes.sort_by_key(|hole| hole.start);
        self.frame.extend_from_slice(frame.as_bytes());
    }

    /// No frame is like any other.
    pub(crate) fn forget(&mut self) {
        self.frame.clear();
        self.holes.clear();
    }

    fn find_holes(&mut self, frame: &[u8], may_differ: Holes<'_>) -> Option<()> {
        let (mut at, mut depth) = (0, 0_usize);
        let mut key: &[u8] = b"";
        while let Some(byte) = frame.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    at = skip::string(frame, at)?;
                    let inner = frame.get(start + 1..at - 1)?;
                    if frame.get(skip::blanks(frame, at)) == Some(&b':') {
                        key = inner;
                    } else if may_differ.texts.iter().any(|text| text.as_bytes() == key) {
                        self.push(start + 1, at - 1, HoleKind::Text)?;
                    }
                }
                b'0'..=b'9' => {
                    at = start + digits(frame, start);
                    self.push(start, at, HoleKind::Digits)?;
                }
                b'{' => {
                    if depth == 1 && key == may_differ.value.as_bytes() {
                        let end = skip::value(frame, start).ok()?;
                        self.push(start, start, HoleKind::ValueStart)?;
                        self.push(end, end, HoleKind::ValueEnd)?;
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

    fn push(&mut self, start: usize, end: usize, kind: HoleKind) -> Option<()> {
        self.holes.push(Hole { start, end, kind });
        (self.holes.len() <= MOST_HOLES).then_some(())
    }

    /// Is this frame like the one that was learned? Then the value that is handed over, if it has one.
    pub(crate) fn read<'a>(&self, frame: &'a [u8]) -> Option<Option<&'a [u8]>> {
        if self.frame.is_empty() {
            return None;
        }
        // The same place in both: in the frame that was learned, and in this one.
        let (mut learned, mut at) = (0, 0);
        let (mut value_start, mut value_end) = (0, None);
        for hole in &self.holes {
            at = same(self.frame.get(learned..hole.start)?, frame, at)?;
            learned = hole.end;
            match hole.kind {
                HoleKind::Text => at = skip::string(frame, at)? - 1,
                HoleKind::Digits => {
                    let count = digits(frame, at);
                    if count == 0 {
                        return None;
                    }
                    at += count;
                }
                HoleKind::ValueStart => value_start = at,
                HoleKind::ValueEnd => value_end = Some(at),
            }
        }
        at = same(self.frame.get(learned..)?, frame, at)?;
        if at != frame.len() {
            return None;
        }
        match value_end {
            Some(value_end) => Some(Some(frame.get(value_start..value_end)?)),
            None => Some(None),
        }
    }
}

/// The place behind a part of the learned frame, if it is what follows in this one.
fn same(part: &[u8], frame: &[u8], at: usize) -> Option<usize> {
    frame.get(at..)?.starts_with(part).then_some(at + part.len())
}

fn digits(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;

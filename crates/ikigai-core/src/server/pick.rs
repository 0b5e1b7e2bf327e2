//! Picks single values out of JSON that arrives in pieces, split anywhere.
//!
//! At each key, a reader decides what to do with the value: skip it, enter it, or keep it. Only the kept values, each
//! up to a limit, and the path of the entered objects are held in memory.

use memchr::memchr;

use super::picks::{Flow, Picks, Shape, Take};
use super::skip;

/// The largest value that is kept, in bytes.
const LARGEST: usize = 64 << 10;

/// The longest key that is compared with anything.
const LONGEST_KEY: usize = 256;

/// The maximum number of levels entered. Readers enter only known objects, which are never that deep.
const DEEPEST: usize = 16;

/// How far the picker got with some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    /// It read all of them.
    All,
    /// The outermost object ended after this many bytes.
    Closed(usize),
    /// The reader had enough after this many bytes. The rest of the object is skipped.
    Enough(usize),
    /// This is not JSON.
    Broken,
}

/// The picker.
#[derive(Debug)]
pub(crate) struct Picker<T: Picks> {
    levels: Vec<Level<T::Place>>,
    state: State<T::Place, T::Slot>,
    /// The start of an unfinished key or kept value.
    held: Vec<u8>,
    /// The held value exceeds the limit.
    lost: bool,
}

#[derive(Debug, Clone, Copy)]
struct Level<P> {
    place: P,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
enum State<P, S> {
    /// Before an outermost object. White space and the punctuation of a list are skipped.
    Outside,
    /// In an object before a key, or in a list before an element.
    Between,
    Key {
        odd: bool,
    },
    Colon(Take<P, S>),
    Value(Take<P, S>),
    /// In a string, or in brackets if `depth` is not 0. `odd`: the bytes ended with an escaping backslash.
    Inside {
        keep: Option<S>,
        depth: u32,
        in_string: bool,
        odd: bool,
    },
    /// In a number or a keyword.
    Word {
        keep: Option<S>,
    },
}

impl<T: Picks> Picker<T> {
    pub(crate) fn new() -> Self {
        Picker { levels: Vec::new(), state: State::Outside, held: Vec::new(), lost: false }
    }

    /// Returns whether an object has begun but not ended.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.state, State::Outside)
    }

    /// Returns how much memory is held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held.capacity()
    }

    /// Forgets the open object.
    pub(crate) fn reset(&mut self) {
        self.levels.clear();
        self.state = State::Outside;
        self.drop_held();
    }

    /// Reads the next bytes, up to the end of the object.
    pub(crate) fn feed(&mut self, bytes: &[u8], picks: &mut T) -> Fed {
        let mut at = 0;
        while at < bytes.len() {
            let step = match self.state {
                State::Outside => self.outside(bytes, at, picks),
                State::Between => self.between(bytes, at, picks),
                State::Key { odd } => self.key(bytes, at, odd, picks),
                State::Colon(take) => {
                    at = skip::blanks(bytes, at);
                    match bytes.get(at) {
                        Some(b':') => {
                            self.state = State::Value(take);
                            Step::To(at + 1)
                        }
                        Some(_) => Step::Stop(Fed::Broken),
                        None => Step::To(at),
                    }
                }
                State::Value(take) => self.begin(bytes, skip::blanks(bytes, at), take, picks),
                State::Inside { keep, depth, in_string, odd } => {
                    self.inside(bytes, at, Inside { keep, depth, in_string, odd }, picks)
                }
                State::Word { keep } => self.word(bytes, at, keep, picks),
            };
            match step {
                Step::To(next) => at = next,
                Step::Stop(fed) => return fed,
            }
        }
        Fed::All
    }

    fn outside(&mut self, bytes: &[u8], at: usize, picks: &mut T) -> Step {
        let rest = bytes.get(at..).unwrap_or_default();
        let at = at + rest.iter().take_while(|byte| is_blank(byte) || matches!(byte, b',' | b'[' | b']')).count();
        match bytes.get(at) {
            Some(b'{') => {
                self.enter(picks.root(), Shape::Object, picks);
                Step::To(at + 1)
            }
            Some(_) => Step::Stop(Fed::Broken),
            None => Step::To(at),
        }
    }

    fn enter(&mut self, place: T::Place, shape: Shape, picks: &mut T) {
        picks.open(place, shape);
        self.levels.push(Level { place, shape });
        self.state = State::Between;
    }

    fn between(&mut self, bytes: &[u8], at: usize, picks: &mut T) -> Step {
        let Some(level) = self.levels.last().copied() else { return Step::Stop(Fed::Broken) };
        let rest = bytes.get(at..).unwrap_or_default();
        let at = at + rest.iter().take_while(|byte| is_blank(byte) || **byte == b',').count();
        match (bytes.get(at), level.shape) {
            (None, _) => Step::To(at),
            (Some(b'"'), Shape::Object) => {
                self.state = State::Key { odd: false };
                Step::To(at + 1)
            }
            (Some(b'}'), Shape::Object) | (Some(b']'), Shape::List) => self.close(level, at + 1, picks),
            (Some(b'{'), Shape::List) if self.levels.len() < DEEPEST => {
                self.enter(level.place, Shape::Object, picks);
                Step::To(at + 1)
            }
            (Some(_), Shape::List) => self.begin(bytes, at, Take::Skip, picks),
            (Some(_), Shape::Object) => Step::Stop(Fed::Broken),
        }
    }

    fn close(&mut self, level: Level<T::Place>, at: usize, picks: &mut T) -> Step {
        self.levels.pop();
        picks.close(level.shape);
        if self.levels.is_empty() {
            self.state = State::Outside;
            return Step::Stop(Fed::Closed(at));
        }
        self.state = State::Between;
        Step::To(at)
    }

    fn key(&mut self, bytes: &[u8], at: usize, odd: bool, picks: &mut T) -> Step {
        let Some(level) = self.levels.last().copied() else { return Step::Stop(Fed::Broken) };
        let (end, odd) = string_end(bytes, at, odd);
        let Some(end) = end else {
            self.state = State::Key { odd };
            self.hold(bytes.get(at..).unwrap_or_default(), LONGEST_KEY);
            return Step::To(bytes.len());
        };
        let last = bytes.get(at..end - 1).unwrap_or_default();
        let take = if self.held.is_empty() && !self.lost {
            field(picks, level.place, last)
        } else {
            self.hold(last, LONGEST_KEY);
            if self.lost { Take::Skip } else { field(picks, level.place, &self.held) }
        };
        self.drop_held();
        self.state = State::Colon(take);
        Step::To(end)
    }

    /// Begins a value at `at`.
    fn begin(&mut self, bytes: &[u8], at: usize, take: Take<T::Place, T::Slot>, picks: &mut T) -> Step {
        let Some(first) = bytes.get(at) else { return Step::To(at) };
        let keep = match take {
            Take::Keep(slot) => Some(slot),
            Take::Skip => None,
            Take::Enter(place) => {
                let shape = match first {
                    b'{' => Some(Shape::Object),
                    b'[' => Some(Shape::List),
                    _ => None,
                };
                match shape.filter(|_| self.levels.len() < DEEPEST) {
                    Some(shape) => {
                        self.enter(place, shape, picks);
                        return Step::To(at + 1);
                    }
                    None => picks.scalar(place),
                }
            }
        };
        let first_of_value = match first {
            b'"' => Inside { keep, depth: 0, in_string: true, odd: false },
            b'{' | b'[' => Inside { keep, depth: 1, in_string: false, odd: false },
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => return self.word(bytes, at, keep, picks),
            _ => return Step::Stop(Fed::Broken),
        };
        self.rest_of_value(bytes, at, at + 1, first_of_value, picks)
    }

    fn inside(&mut self, bytes: &[u8], at: usize, inside: Inside<T::Slot>, picks: &mut T) -> Step {
        self.rest_of_value(bytes, at, at, inside, picks)
    }

    /// Looks for the end of a string or of brackets, from `at` on. The part of it in these bytes begins at `from`.
    fn rest_of_value(
        &mut self,
        bytes: &[u8],
        from: usize,
        mut at: usize,
        mut inside: Inside<T::Slot>,
        picks: &mut T,
    ) -> Step {
        loop {
            if inside.in_string {
                let (end, odd) = string_end(bytes, at, inside.odd);
                let Some(end) = end else {
                    inside.odd = odd;
                    return self.pause(bytes, from, inside);
                };
                (inside.in_string, inside.odd) = (false, false);
                at = end;
                if inside.depth == 0 {
                    return self.complete(bytes, from, end, inside.keep, picks);
                }
            }
            let Some(byte) = bytes.get(at) else { return self.pause(bytes, from, inside) };
            at += 1;
            match byte {
                b'"' => inside.in_string = true,
                b'{' | b'[' => inside.depth = inside.depth.saturating_add(1),
                b'}' | b']' => {
                    inside.depth = inside.depth.saturating_sub(1);
                    if inside.depth == 0 {
                        return self.complete(bytes, from, at, inside.keep, picks);
                    }
                }
                _ => {}
            }
        }
    }

    /// Handles the end of the bytes before the end of the value.
    fn pause(&mut self, bytes: &[u8], from: usize, inside: Inside<T::Slot>) -> Step {
        let Inside { keep, depth, in_string, odd } = inside;
        self.state = State::Inside { keep, depth, in_string, odd };
        if keep.is_some() {
            self.hold(bytes.get(from..).unwrap_or_default(), LARGEST);
        }
        Step::To(bytes.len())
    }

    fn word(&mut self, bytes: &[u8], at: usize, keep: Option<T::Slot>, picks: &mut T) -> Step {
        let rest = bytes.get(at..).unwrap_or_default();
        let is_end = |byte: &u8| is_blank(byte) || matches!(byte, b',' | b'}' | b']' | b'"' | b':');
        match rest.iter().position(is_end) {
            Some(length) => self.complete(bytes, at, at + length, keep, picks),
            None => {
                self.state = State::Word { keep };
                if keep.is_some() {
                    self.hold(rest, LARGEST);
                }
                Step::To(bytes.len())
            }
        }
    }

    /// Ends a value at `end`; the part of it in these bytes begins at `from`.
    fn complete(&mut self, bytes: &[u8], from: usize, end: usize, keep: Option<T::Slot>, picks: &mut T) -> Step {
        if self.levels.is_empty() {
            // The skipped rest after the reader had enough.
            self.state = State::Outside;
            return Step::Stop(Fed::Closed(end));
        }
        self.state = State::Between;
        let Some(slot) = keep else { return Step::To(end) };
        let last = bytes.get(from..end).unwrap_or_default();
        let is_cut = self.lost || !self.held.is_empty();
        if is_cut || last.len() > LARGEST {
            self.hold(last, LARGEST);
        }
        let json = if is_cut { &self.held } else { last };
        let flow = if self.lost {
            picks.large(slot);
            Flow::GoOn
        } else {
            std::str::from_utf8(json).map_or(Flow::GoOn, |json| picks.value(slot, json))
        };
        self.drop_held();
        match flow {
            Flow::GoOn => Step::To(end),
            Flow::Enough => {
                let depth = u32::try_from(self.levels.len()).unwrap_or(u32::MAX);
                self.levels.clear();
                self.state = State::Inside { keep: None, depth, in_string: false, odd: false };
                Step::Stop(Fed::Enough(end))
            }
        }
    }

    fn hold(&mut self, bytes: &[u8], limit: usize) {
        if self.lost || self.held.len() + bytes.len() > limit {
            self.lost = true;
            self.held.clear();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn drop_held(&mut self) {
        self.held.clear();
        self.lost = false;
    }
}

#[derive(Debug, Clone, Copy)]
struct Inside<S> {
    keep: Option<S>,
    depth: u32,
    in_string: bool,
    odd: bool,
}

/// What follows: another place in the same bytes, or a stop.
enum Step {
    To(usize),
    Stop(Fed),
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn field<T: Picks>(picks: &T, place: T::Place, key: &[u8]) -> Take<T::Place, T::Slot> {
    if key.contains(&b'\\') {
        let quoted = [b"\"", key, b"\""].concat();
        return skip::text(&quoted).map_or(Take::Skip, |key| picks.field(place, &key));
    }
    std::str::from_utf8(key).map_or(Take::Skip, |key| picks.field(place, key))
}

/// Returns the place after the quotation mark that ends a string. `odd` says that the bytes before these ended with an
/// escaping backslash; if the string does not end here, the new value is returned for the bytes after these.
fn string_end(bytes: &[u8], from: usize, odd: bool) -> (Option<usize>, bool) {
    let mut at = from;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let quote = memchr(b'"', rest).map(|found| at + found);
        let before = bytes.get(from..quote.unwrap_or(bytes.len())).unwrap_or_default();
        let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        let is_odd = (slashes % 2 == 1) != (odd && slashes == before.len());
        match quote {
            Some(quote) if is_odd => at = quote + 1,
            Some(quote) => return (Some(quote + 1), false),
            None => return (None, is_odd),
        }
    }
}

#[cfg(test)]
#[path = "pick_tests.rs"]
mod tests;

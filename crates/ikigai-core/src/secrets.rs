//! Finds secrets in texts, however they are spelled there.

use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// From this length, a part of a secret is one as well. A part of a shorter one could be any word.
const LONG: usize = 24;
/// How much of the beginning of a long secret is found without the rest: texts are cut off anywhere.
const BEGINNING: usize = 12;
/// How much of any other part of a long secret is found. The kind of key stands at its beginning, so less would do there.
const PART: usize = 16;
/// The shortest secret that is looked for: shorter ones could be parts of ordinary words.
const SHORTEST: usize = 8;

/// A piece of this many bytes of the text is looked up …
const PIECE: usize = 4;
/// … at every such place. Anything of [`SHORTEST`] bytes contains a piece that begins at one of them.
const STRIDE: usize = SHORTEST - PIECE + 1;
/// How many bytes an escape of one byte may have: `&#0045;`.
const LONGEST_ESCAPE: usize = 7;
/// The number of bits that say which pieces occur in a secret.
const BITS: usize = 4096;

/// Finds secrets in texts: plain, in hexadecimal or base64 (also within longer encoded text), in capitals, and with
/// escapes of URLs, JSON or HTML. Of a long secret, it also finds a part.
///
/// ```
/// use ikigai_core::secrets::Finder;
///
/// let finder = Finder::new(["sk-proj-0123456789abcdefghij"]);
/// assert_eq!(finder.find(b"the key SK-PROJ-0123456789ABCDEFGHIJ is wrong"), [8..36]);
/// assert_eq!(finder.find(b"it ends with 456789abcdefghij"), [13..29]);
/// assert!(finder.find(b"it begins with sk-proj-").is_empty());
/// ```
pub struct Finder {
    forms: Vec<Form>,
    /// Which pieces occur in the forms, by their hash.
    pieces: Box<[u64; BITS / 64]>,
}

/// One spelling of a secret.
struct Form {
    /// Folded, as texts are while they are compared.
    bytes: Box<[u8]>,
    /// How much of its beginning is enough.
    beginning: usize,
    /// How much of any other part is enough.
    part: usize,
}

impl Finder {
    /// Creates a finder. Secrets of fewer than eight bytes are ignored.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut finder = Finder { forms: Vec::new(), pieces: Box::new([0; BITS / 64]) };
        for secret in secrets.into_iter().filter(|secret| secret.len() >= SHORTEST) {
            finder.add(secret);
        }
        finder
    }

    fn add(&mut self, secret: &str) {
        let bytes = secret.as_bytes();
        let (beginning, part) = if bytes.len() < LONG { (bytes.len(), bytes.len()) } else { (BEGINNING, PART) };
        self.push(bytes, beginning, part);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.push(hex.as_bytes(), 2 * beginning, 2 * part);
        // Within longer text, a secret can begin at any of three places of a group of four letters. The letters that it
        // shares with what is before and after it are left out.
        for before in 0..3_usize {
            let text = STANDARD_NO_PAD.encode([vec![0; before].as_slice(), bytes].concat());
            let (from, to) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
            let letters = |bytes: usize| bytes * 8 / 6 - 2;
            // At the end of the whole text, its last letter is known, too.
            let inner = text.as_bytes().get(from..).unwrap_or_default();
            let most = to - from;
            let (beginning, part) = if bytes.len() < LONG { (most, most) } else { (letters(beginning), letters(part)) };
            self.push(inner, beginning, part);
        }
    }

    fn push(&mut self, bytes: &[u8], beginning: usize, part: usize) {
        let bytes: Box<[u8]> = bytes.iter().copied().map(folded).collect();
        for piece in bytes.array_windows() {
            let place = hash(*piece);
            if let Some(bits) = self.pieces.get_mut(place / 64) {
                *bits |= 1 << (place % 64);
            }
        }
        self.forms.push(Form { bytes, beginning, part });
    }

    /// Returns where the secrets are in a text, in order and without overlaps.
    pub fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        if self.forms.is_empty() || text.len() < SHORTEST {
            return Vec::new();
        }
        let found = self.find_plain(text);
        let Some(plain) = Plain::of(text) else { return found };
        // What looks like an escape may be the beginning of a secret, so both readings count.
        let unescaped = self.find_plain(&plain.bytes);
        let unescaped = unescaped.into_iter().map(|found| plain.place(found.start)..plain.place(found.end));
        merged(found.into_iter().chain(unescaped).collect())
    }

    /// Returns how many bytes at the end of a text may belong to a secret that continues after it. The rest can be
    /// searched without what follows.
    ///
    /// ```
    /// use ikigai_core::secrets::Finder;
    ///
    /// let finder = Finder::new(["sk-proj-0123456789abcdefghij"]);
    /// assert_eq!(finder.unfinished(b"the key sk-proj-01"), 10);
    /// assert_eq!(finder.unfinished(b"the key is wrong."), 0);
    /// ```
    pub fn unfinished(&self, text: &[u8]) -> usize {
        let longest = self.forms.iter().map(|form| form.bytes.len()).max().unwrap_or(0);
        let text = text.get(text.len().saturating_sub(longest * LONGEST_ESCAPE)..).unwrap_or_default();
        let before = text.get(..text.len() - cut_escape(text)).unwrap_or_default();
        let mut from = (text.len() - self.end_of(text)).min(before.len() - self.end_of(before));
        if let Some(plain) = Plain::of(before) {
            from = from.min(plain.place(plain.bytes.len() - self.end_of(&plain.bytes)));
        }
        text.len() - from
    }

    /// Returns how many bytes at the end of a text are part of a secret, in a text without escapes.
    fn end_of(&self, text: &[u8]) -> usize {
        let parts = self.forms.iter().flat_map(|form| (1..=form.bytes.len()).filter_map(|end| form.bytes.get(..end)));
        parts.map(|part| same(part.iter().rev(), text.iter().rev())).max().unwrap_or(0)
    }

    /// Like [`find`](Finder::find), in a text without escapes.
    fn find_plain(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let (mut at, mut from) = (0, 0);
        while let Some(piece) = text.get(at..).and_then(|rest| rest.first_chunk::<PIECE>()) {
            at = match self.around(text, from, at, piece.map(folded)) {
                Some(place) => {
                    from = place.end;
                    found.push(place);
                    from
                }
                None => at + STRIDE,
            };
        }
        found
    }

    /// Returns the longest secret, or part of one, around a piece of a text; it begins at `from` or later.
    fn around(&self, text: &[u8], from: usize, at: usize, piece: [u8; PIECE]) -> Option<Range<usize>> {
        let place = hash(piece);
        if self.pieces.get(place / 64)? & (1 << (place % 64)) == 0 {
            return None;
        }
        let mut longest: Option<Range<usize>> = None;
        for form in &self.forms {
            for place in memchr::memmem::find_iter(&form.bytes, &piece) {
                let (before, after) = (form.bytes.get(..place)?, form.bytes.get(place..)?);
                let (text_before, text_after) = (text.get(from..at)?, text.get(at..)?);
                let left = same(before.iter().rev(), text_before.iter().rev());
                let right = same(after.iter(), text_after.iter());
                let enough = if left == place { form.beginning } else { form.part };
                let length = left + right;
                if length >= enough && longest.as_ref().is_none_or(|longest| longest.len() < length) {
                    longest = Some(at - left..at + right);
                }
            }
        }
        longest
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finder").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}

/// Joins places that overlap.
fn merged(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(places.len());
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}

/// How many bytes are the same at the beginning of a form and of a text.
fn same<'a>(form: impl Iterator<Item = &'a u8>, text: impl Iterator<Item = &'a u8>) -> usize {
    form.zip(text).take_while(|(wanted, found)| **wanted == folded(**found)).count()
}

/// A byte as it is compared: in lower case, and the same in both alphabets of base64.
fn folded(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte.to_ascii_lowercase(),
    }
}

fn hash(piece: [u8; PIECE]) -> usize {
    (u32::from_le_bytes(piece).wrapping_mul(0x9E37_79B1) >> 20) as usize % BITS
}

/// A text without its escapes.
struct Plain {
    bytes: Vec<u8>,
    /// After each escape: its place here, and in the text.
    places: Vec<(usize, usize)>,
}

impl Plain {
    /// Replaces the escapes of a text; `None` if it has none.
    fn of(text: &[u8]) -> Option<Self> {
        let mut plain = Plain { bytes: Vec::new(), places: Vec::new() };
        let mut from = 0;
        for at in memchr::memchr3_iter(b'%', b'\\', b'&', text) {
            if at < from {
                continue;
            }
            let Some((byte, length)) = text.get(at..).and_then(escaped) else { continue };
            plain.bytes.extend_from_slice(text.get(from..at).unwrap_or_default());
            plain.bytes.push(byte);
            from = at + length;
            plain.places.push((plain.bytes.len(), from));
        }
        if from == 0 {
            return None;
        }
        plain.bytes.extend_from_slice(text.get(from..).unwrap_or_default());
        Some(plain)
    }

    /// The place in the text of a place here. An escape that begins there belongs to what follows.
    fn place(&self, at: usize) -> usize {
        let after = self.places.partition_point(|(here, _)| *here <= at);
        match after.checked_sub(1).and_then(|last| self.places.get(last)) {
            Some((here, there)) => there + (at - here),
            None => at,
        }
    }
}

/// Returns the character of an escape and the escape's length: `%2d`, `\u002d`, `\x2d`, `\/`, `&#45;`, `&#x2d;`.
fn escaped(text: &[u8]) -> Option<(u8, usize)> {
    let number = |digits: &[u8], radix: u32| {
        let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
        byte.is_ascii().then_some(byte)
    };
    match text {
        [b'%', a, b, ..] => Some((number(&[*a, *b], 16)?, 3)),
        [b'\\', b'u', b'0', b'0', a, b, ..] => Some((number(&[*a, *b], 16)?, 6)),
        [b'\\', b'x', a, b, ..] => Some((number(&[*a, *b], 16)?, 4)),
        [b'\\', byte @ (b'/' | b'"' | b'\\'), ..] => Some((*byte, 2)),
        [b'&', b'#', rest @ ..] => {
            let end = rest.iter().take(5).position(|byte| *byte == b';')?;
            let digits = rest.get(..end)?;
            let byte = match digits {
                [b'x' | b'X', digits @ ..] => number(digits, 16)?,
                digits => number(digits, 10)?,
            };
            Some((byte, end + 3))
        }
        _ => None,
    }
}

/// Returns how many bytes at the end of a text may be an escape that is cut off.
fn cut_escape(text: &[u8]) -> usize {
    let tail = text.get(text.len().saturating_sub(LONGEST_ESCAPE - 1)..).unwrap_or_default();
    match tail.iter().rposition(|byte| matches!(byte, b'%' | b'\\' | b'&')) {
        Some(at) if tail.get(at..).and_then(escaped).is_none() => tail.len() - at,
        _ => 0,
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;

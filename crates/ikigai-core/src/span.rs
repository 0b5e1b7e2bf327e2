//! Positions in text, and the units in which they are counted.

use serde::{Deserialize, Serialize};

/// A range of a text in UTF-8 bytes, with an exclusive end, on character boundaries. In an empty range, which marks a
/// point, the start equals the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// Creates a span from one byte to another.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// Returns the part of it that is in the text, on character boundaries. `None` if it begins after the end of the
    /// text, or ends before it begins.
    pub(crate) fn clip(self, text: &str) -> Option<Span> {
        if self.start > self.end || self.start > text.len() {
            return None;
        }
        let on_boundary = |byte: usize| (0..=byte.min(text.len())).rev().find(|byte| text.is_char_boundary(*byte));
        Some(Span { start: on_boundary(self.start)?, end: on_boundary(self.end)? })
    }

    /// Returns the same range, moved back by this many bytes.
    pub(crate) fn behind(self, bytes: usize) -> Span {
        Span { start: self.start.saturating_add(bytes), end: self.end.saturating_add(bytes) }
    }
}

/// Counts the bytes and characters of a text that arrives in pieces, without keeping it, to convert positions between
/// the two units. It takes less memory than the text, whatever its characters.
///
/// A character is a code point, which is how the wires that use this unit count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ruler {
    bytes: usize,
    chars: usize,
    /// The text before the first page is ASCII. Each page but the last covers at least [`PAGE`] characters.
    pages: Vec<Page>,
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy)]
struct Page {
    /// Its first byte and its first character.
    byte: usize,
    char: usize,
    widths: Widths,
}

/// The byte widths of the characters of a page.
#[derive(Debug, Clone, Copy)]
enum Widths {
    /// The same for all of them.
    Same(usize),
    /// Two bits per character: its width minus one.
    Mixed(u128),
}

/// The number of characters of different widths that fit in a page.
const PAGE: usize = 64;

impl Page {
    const FIRST: Page = Page { byte: 0, char: 0, widths: Widths::Same(1) };

    /// Returns the width of one of its characters.
    fn width(&self, place: usize) -> usize {
        match self.widths {
            Widths::Same(width) => width,
            Widths::Mixed(widths) => ((widths >> (2 * place)) & 3) as usize + 1,
        }
    }

    /// Returns the byte at which one of its characters begins.
    fn byte_of(&self, place: usize) -> usize {
        match self.widths {
            Widths::Same(width) => self.byte + place * width,
            Widths::Mixed(_) => self.byte + (0..place).map(|place| self.width(place)).sum::<usize>(),
        }
    }

    /// Returns how many of its characters end at or before this byte.
    fn chars_until(&self, byte: usize) -> usize {
        match self.widths {
            Widths::Same(width) => (byte - self.byte) / width,
            Widths::Mixed(_) => {
                let ends = (0..PAGE).scan(self.byte, |end, place| {
                    *end += self.width(place);
                    Some(*end)
                });
                ends.take_while(|end| *end <= byte).count()
            }
        }
    }
}

impl Ruler {
    pub(crate) fn of(text: &str) -> Self {
        let mut ruler = Ruler::default();
        ruler.push(text);
        ruler
    }

    pub(crate) fn push(&mut self, piece: &str) {
        if piece.is_ascii() {
            return self.run(1, piece.len());
        }
        for c in piece.chars() {
            self.run(c.len_utf8(), 1);
        }
    }

    /// Adds characters of the same width.
    fn run(&mut self, width: usize, count: usize) {
        let mut left = count;
        while left > 0 {
            let taken = self.take(width, left);
            (self.bytes, self.chars) = (self.bytes + width * taken, self.chars + taken);
            left -= taken;
        }
    }

    /// Records the width of up to `count` characters. Returns how many were recorded.
    fn take(&mut self, width: usize, count: usize) -> usize {
        let last = self.pages.last().copied().unwrap_or(Page::FIRST);
        let covered = self.chars - last.char;
        let widths = match last.widths {
            Widths::Same(own) if own == width => return count,
            Widths::Same(own) if covered < PAGE => {
                (0..covered).fold(0, |widths, place| widths | ((own as u128 - 1) << (2 * place)))
            }
            Widths::Mixed(widths) if covered < PAGE => widths,
            Widths::Same(_) | Widths::Mixed(_) => {
                self.pages.push(Page { byte: self.bytes, char: self.chars, widths: Widths::Same(width) });
                return count;
            }
        };
        self.pages.pop();
        let widths = Widths::Mixed(widths | ((width as u128 - 1) << (2 * covered)));
        self.pages.push(Page { widths, ..last });
        1
    }

    /// Returns the number of bytes so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns roughly how many bytes it occupies.
    pub(crate) fn weight(&self) -> usize {
        size_of_val(self.pages.as_slice())
    }

    /// Returns it with another text appended.
    pub(crate) fn and(mut self, other: &Ruler) -> Ruler {
        let begins_plain = other.pages.first().is_none_or(|page| page.byte > 0) && other.bytes > 0;
        if begins_plain && !self.pages.is_empty() {
            self.pages.push(Page { byte: self.bytes, char: self.chars, ..Page::FIRST });
        }
        self.pages.extend(other.pages.iter().map(|page| Page {
            byte: page.byte + self.bytes,
            char: page.char + self.chars,
            ..*page
        }));
        (self.bytes, self.chars) = (self.bytes + other.bytes, self.chars + other.chars);
        self
    }

    /// Returns the start of the character that contains this byte.
    pub(crate) fn on_boundary(&self, byte: usize) -> usize {
        self.byte_at(self.chars_before(byte))
    }

    /// Returns how many characters come before this byte.
    pub(crate) fn chars_before(&self, byte: usize) -> usize {
        let byte = byte.min(self.bytes);
        let page = self.page_before(self.pages.partition_point(|page| page.byte <= byte));
        page.char + page.chars_until(byte)
    }

    /// Returns the page before the one with this number, which always exists.
    fn page_before(&self, number: usize) -> Page {
        number.checked_sub(1).and_then(|place| self.pages.get(place)).copied().unwrap_or(Page::FIRST)
    }

    /// Converts a range of characters to bytes, cut at the end of the text. `None` if it begins after the end, or ends
    /// before it begins.
    pub(crate) fn span_of_chars(&self, start: u64, end: u64) -> Option<Span> {
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).unwrap_or(usize::MAX));
        (start <= end && start <= self.chars).then(|| Span::new(self.byte_at(start), self.byte_at(end)))
    }

    /// Converts a range of bytes to characters.
    pub(crate) fn chars_of_span(&self, span: Span) -> (usize, usize) {
        (self.chars_before(span.start), self.chars_before(span.end))
    }

    /// Returns the byte at which this character begins.
    fn byte_at(&self, char: usize) -> usize {
        let char = char.min(self.chars);
        let page = self.page_before(self.pages.partition_point(|page| page.char <= char));
        page.byte_of(char - page.char)
    }
}

/// Cuts a text at the edges of spans. Each piece has the numbers of the spans that cover it; a point belongs to the
/// text before it.
pub(crate) fn cut(text: &str, spans: &[Option<Span>]) -> Vec<(Span, Vec<usize>)> {
    let clipped: Vec<Span> =
        spans.iter().map(|span| span.and_then(|span| span.clip(text)).unwrap_or(Span::new(0, text.len()))).collect();
    let mut edges: Vec<usize> = clipped.iter().flat_map(|span| [span.start, span.end]).collect();
    edges.extend([0, text.len()]);
    edges.sort_unstable();
    edges.dedup();
    let mut pieces: Vec<(Span, Vec<usize>)> =
        edges.windows(2).filter_map(|edge| Some((Span::new(*edge.first()?, *edge.last()?), Vec::new()))).collect();
    if pieces.is_empty() {
        pieces.push((Span::default(), Vec::new()));
    }
    for (number, span) in clipped.iter().enumerate() {
        let first = pieces.partition_point(|(piece, _)| piece.end <= span.start);
        if span.start == span.end {
            // The piece that ends here; at the very start, the first one.
            let at = pieces.partition_point(|(piece, _)| piece.end < span.end).min(pieces.len() - 1);
            if let Some((_, covering)) = pieces.get_mut(at) {
                covering.push(number);
            }
            continue;
        }
        for (_, covering) in pieces.iter_mut().skip(first).take_while(|(piece, _)| piece.start < span.end) {
            covering.push(number);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn places_are_told_in_bytes_and_in_characters() {
        let text = "aé€😀z";
        for pieces in [vec![text], text.split_inclusive(|_| true).collect()] {
            let mut ruler = Ruler::default();
            pieces.iter().for_each(|piece| ruler.push(piece));
            let bytes: Vec<usize> = text.char_indices().map(|(byte, _)| byte).chain([text.len()]).collect();
            for (chars, byte) in bytes.iter().enumerate() {
                assert_eq!(ruler.chars_before(*byte), chars);
                let end = bytes.len() as u64 - 1;
                assert_eq!(ruler.span_of_chars(chars as u64, end), Some(Span::new(*byte, text.len())));
            }
        }
    }

    #[test]
    fn texts_of_all_widths_are_measured_in_little_memory() {
        let units = ["a", "é", "€", "😀", "aé", "a€😀", &"a".repeat(70), &"é".repeat(63), "ab€"];
        for (number, unit) in units.iter().enumerate() {
            for other in units {
                let text = format!("{}{other}{}", unit.repeat(40), other.repeat(number * 7));
                let middle = (0..=text.len() / 2).rev().find(|byte| text.is_char_boundary(*byte)).unwrap();
                let (before, behind) = text.split_at(middle);
                let mut in_pieces = Ruler::default();
                text.split_inclusive(|_| true).for_each(|piece| in_pieces.push(piece));
                for ruler in [Ruler::of(&text), Ruler::of(before).and(&Ruler::of(behind)), in_pieces] {
                    let bytes = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
                    for (chars, byte) in bytes.enumerate() {
                        assert_eq!((ruler.chars_before(byte), ruler.byte_at(chars)), (chars, byte), "{text}");
                    }
                    assert!(ruler.weight() <= text.len() + 4 * size_of::<Page>(), "{text}");
                }
            }
        }
    }

    #[test]
    fn ranges_outside_a_text_are_cut_or_refused() {
        let ruler = Ruler::of("né");
        assert_eq!(ruler.span_of_chars(1, 9), Some(Span::new(1, 3)));
        assert_eq!(ruler.span_of_chars(2, 2), Some(Span::new(3, 3)));
        assert_eq!((ruler.span_of_chars(3, 4), ruler.span_of_chars(2, 1)), (None, None));
        assert_eq!(Span::new(0, 2).clip("né"), Some(Span::new(0, 1)));
        assert_eq!(Span::new(1, 99).clip("né"), Some(Span::new(1, 3)));
        assert_eq!((Span::new(4, 5).clip("né"), Span::new(2, 1).clip("né")), (None, None));
    }

    fn cut_text<'t>(text: &'t str, spans: &[(usize, usize)]) -> Vec<(&'t str, Vec<usize>)> {
        let spans: Vec<_> = spans.iter().map(|(start, end)| Some(Span::new(*start, *end))).collect();
        cut(text, &spans).into_iter().map(|(span, of)| (&text[span.start..span.end], of)).collect()
    }

    #[test]
    fn a_text_is_cut_at_the_edges_of_its_spans() {
        assert_eq!(cut_text("abcdef", &[]), [("abcdef", vec![])]);
        assert_eq!(cut_text("abcdef", &[(2, 4)]), [("ab", vec![]), ("cd", vec![0]), ("ef", vec![])]);
        let overlapping = [("a", vec![0]), ("bc", vec![0, 1]), ("def", vec![1])];
        assert_eq!(cut_text("abcdef", &[(0, 3), (1, 6)]), overlapping);
        let nested = [("a", vec![0]), ("b", vec![0, 1]), ("cdef", vec![0])];
        assert_eq!(cut_text("abcdef", &[(0, 6), (1, 2)]), nested);
        assert_eq!(cut_text("abcdef", &[(0, 6), (0, 6)]), [("abcdef", vec![0, 1])]);
        assert_eq!(cut_text("abc", &[(0, 0), (3, 3), (1, 1)]), [("a", vec![0, 2]), ("bc", vec![1])]);
        assert_eq!(cut_text("né", &[(0, 2)]), [("n", vec![0]), ("é", vec![])]);
        assert_eq!(cut_text("", &[(0, 0)]), [("", vec![0])]);
        assert_eq!(cut("ab", &[None]), [(Span::new(0, 2), vec![0])]);
    }
}

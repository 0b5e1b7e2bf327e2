//! Marks for the cited sources in the text of an answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{Block, Citation, CitedSource, Event, FoundSource, Text};

/// Numbers the sources that an answer cites, from 1, and inserts a mark after each passage that a source supports.
///
/// A source that is cited again keeps its number. Texts can be streamed ([`event`](Footnotes::event)) or complete
/// ([`text`](Footnotes::text)); both number sources in the order of their citations. Code blocks get no marks.
///
/// ```
/// use ikigai_core::{Citation, Footnotes, Text};
///
/// let mut text = Text::new("Oslo has 717 710 people.\n");
/// text.citations.push(Citation::url("https://ssb.no"));
/// let mut footnotes = Footnotes::new(|number| format!("[{number}]"));
/// assert_eq!(footnotes.text(&text), "Oslo has 717 710 people.[1]\n");
/// assert_eq!(footnotes.sources()[0].url.as_deref(), Some("https://ssb.no"));
/// ```
#[derive(Debug, Clone)]
pub struct Footnotes {
    mark: fn(usize) -> String,
    sources: Vec<FoundSource>,
    numbers: HashMap<String, usize>,
    /// The text block that was opened last.
    block: Option<usize>,
    text: String,
    /// How much of it has been returned. Trailing spaces are held back, because a mark goes before them; so is the text
    /// after a printed link, because its citation comes next.
    given: usize,
    /// The end of its last word.
    words: usize,
    link: Link,
    /// The marks still to be inserted, by their places in the text.
    waiting: BTreeMap<usize, BTreeSet<usize>>,
    code: Code,
}

/// A link that the model printed, at the end of the text so far.
#[derive(Debug, Clone, Copy)]
enum Link {
    None,
    Open,
    /// Another bracket may follow.
    JustEnded,
}

/// The place of a mark that goes to the end of its block.
const END: usize = usize::MAX;
/// The part of a printed link before its address.
const LINK: &str = "](http";
/// The maximum number of bytes of spaces that a mark is moved in front of.
const MOST_SPACES: usize = 64;
/// The maximum number of closing brackets that a mark is moved after.
const MOST_BRACKETS: usize = 2;
/// The maximum number of bytes between a passage and its mark.
const FEW: usize = 8;

impl Footnotes {
    /// Creates it without sources. `mark` writes the mark for a number.
    pub fn new(mark: fn(usize) -> String) -> Self {
        Footnotes {
            mark,
            sources: Vec::new(),
            numbers: HashMap::new(),
            block: None,
            text: String::new(),
            given: 0,
            words: 0,
            link: Link::None,
            waiting: BTreeMap::new(),
            code: Code::default(),
        }
    }

    /// Returns the text that the next event of a stream adds, with its marks. It may lag a little behind the text that
    /// has arrived; the end of the answer returns the rest.
    ///
    /// A citation that arrives after its passage has been returned gets no mark, but its source gets a number: some
    /// providers send all citations at the end.
    pub fn event(&mut self, event: &Event) -> String {
        let mut out = String::new();
        if !matches!(event, Event::Citation { .. }) {
            self.give(self.words, &mut out);
        }
        match event {
            Event::BlockStart { index, block: Block::Text(text) } => {
                self.open(*index, &mut out);
                self.push(&text.text, &mut out);
            }
            Event::TextDelta { index, text } => {
                if self.block != Some(*index) {
                    self.open(*index, &mut out);
                }
                self.push(text, &mut out);
            }
            Event::Citation { index, citation } => {
                let number = self.number(citation);
                if let Some(number) = number.filter(|_| self.block == Some(*index)) {
                    self.wait(number, citation);
                    self.advance(&mut out);
                }
            }
            Event::BlockDone { index, .. } if self.block == Some(*index) => self.close(&mut out),
            Event::Done { .. } | Event::Error { .. } => self.end(&mut out),
            _ => {}
        }
        out
    }

    /// Returns a complete text block with its marks. Adjacent texts are joined without a space.
    pub fn text(&mut self, text: &Text) -> String {
        let mut out = String::new();
        self.open(0, &mut out);
        for citation in &text.citations {
            if let Some(number) = self.number(citation) {
                self.wait(number, citation);
            }
        }
        self.push(&text.text, &mut out);
        self.close(&mut out);
        self.end(&mut out);
        out
    }

    /// Returns the numbered sources, in order.
    pub fn sources(&self) -> &[FoundSource] {
        &self.sources
    }

    /// Returns the number of a citation's source, new or known. `None` if the source cannot be distinguished from
    /// others.
    pub fn number(&mut self, citation: &Citation) -> Option<usize> {
        let mut source = FoundSource::from(citation);
        if let (None, CitedSource::Document { index: Some(index), .. }) = (source.key(), &citation.source) {
            source.title = Some(format!("document {}", index.saturating_add(1)));
        }
        let key = source.key()?.to_owned();
        let next = self.sources.len() + 1;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.sources.push(source);
        }
        Some(number)
    }

    fn open(&mut self, index: usize, out: &mut String) {
        self.end(out);
        self.block = Some(index);
    }

    /// Returns the text so far, except for trailing spaces and the text after a link.
    fn push(&mut self, piece: &str, out: &mut String) {
        self.text.push_str(piece);
        self.advance(out);
        let before = self.text.len() - piece.len();
        let link = self.link_end(before);
        let end = piece.trim_end().len();
        if end > 0 {
            self.words = before + end;
            self.give(link.unwrap_or(self.words), out);
        }
    }

    /// Returns the end of the first link, including its brackets, that ends in the piece beginning here.
    fn link_end(&mut self, piece: usize) -> Option<usize> {
        let from = match self.link {
            Link::Open => piece,
            Link::JustEnded if self.text.get(piece..)?.starts_with(')') => piece,
            Link::None | Link::JustEnded => {
                self.link = Link::None;
                let near = self.on_boundary(piece.saturating_sub(LINK.len()));
                near + self.text.get(near..)?.find(LINK)?
            }
        };
        let Some(end) = self.text.get(from..)?.find(')').map(|end| from + end + 1) else {
            self.link = Link::Open;
            return None;
        };
        let rest = self.text.get(end..).unwrap_or_default();
        let last = rest.rfind(LINK).and_then(|start| rest.get(start..));
        self.link = match last {
            _ if rest.is_empty() => Link::JustEnded,
            Some(link) if !link.contains(')') => Link::Open,
            _ => Link::None,
        };
        Some(end + usize::from(rest.starts_with(')')))
    }

    /// Queues a mark for its place in the open block, or for right here if only a few signs have followed the passage.
    fn wait(&mut self, number: usize, citation: &Citation) {
        let place = citation.span.map_or(END, |span| span.end);
        let is_word = |c: char| c.is_alphanumeric() || c == '\n';
        let place = match self.text.get(place..self.given) {
            Some(since) if since.len() > FEW || since.contains(is_word) => return,
            Some(_) => self.given,
            None => place,
        };
        self.waiting.entry(place).or_default().insert(number);
    }

    /// Writes the marks whose places have been reached.
    fn advance(&mut self, out: &mut String) {
        while let Some(entry) = self.waiting.first_entry().filter(|entry| *entry.key() <= self.text.len()) {
            let (place, numbers) = entry.remove_entry();
            self.mark(place, &numbers, out);
        }
    }

    /// Completes the block: marks that are still queued go to its end.
    fn close(&mut self, out: &mut String) {
        for (_, numbers) in std::mem::take(&mut self.waiting) {
            self.mark(self.text.len(), &numbers, out);
        }
    }

    /// Finishes the block, of which nothing more will come.
    fn end(&mut self, out: &mut String) {
        self.close(out);
        self.give(self.text.len(), out);
        self.block = None;
        self.text.clear();
        (self.given, self.words, self.link) = (0, 0, Link::None);
    }

    fn mark(&mut self, place: usize, numbers: &BTreeSet<usize>, out: &mut String) {
        let place = self.on_boundary(place);
        let near = self.on_boundary(place.saturating_sub(MOST_SPACES)).max(self.given);
        let spaces = self.text.get(near..place).map_or(0, |end| end.len() - end.trim_end().len());
        let place = place - spaces;
        // Inside a link, the mark would become part of the address.
        let after = self.text.bytes().skip(place).take(MOST_BRACKETS);
        let place = place + after.take_while(|byte| *byte == b')').count();
        self.give(place, out);
        match self.code.place() {
            Place::Text => {}
            // The line that ends the code block has to stay unchanged.
            Place::LastLine => out.push('\n'),
            Place::Code => return,
        }
        out.extend(numbers.iter().map(|number| (self.mark)(*number)));
    }

    fn on_boundary(&self, place: usize) -> usize {
        (0..=place.min(self.text.len())).rev().find(|place| self.text.is_char_boundary(*place)).unwrap_or(0)
    }

    /// Writes the text up to a place.
    fn give(&mut self, until: usize, out: &mut String) {
        if let Some(text) = self.text.get(self.given..until).filter(|text| !text.is_empty()) {
            self.code.read(text);
            out.push_str(text);
            self.given = until;
        }
    }
}

/// Follows a text to find its code blocks.
#[derive(Debug, Clone, Default)]
struct Code {
    /// The fence that opened the current block.
    fence: Option<(char, usize)>,
    /// The line that is being read.
    line: String,
}

enum Place {
    Text,
    Code,
    /// The line that ends a code block.
    LastLine,
}

impl Code {
    fn read(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                self.fence = match (self.fence, fence(&self.line)) {
                    (None, opened) => opened.map(|(sign, count, _)| (sign, count)),
                    (Some(_), _) if self.is_last_line() => None,
                    (open, _) => open,
                };
                self.line.clear();
            }
        }
    }

    fn is_last_line(&self) -> bool {
        match (self.fence, fence(&self.line)) {
            (Some((sign, count)), Some((found, length, rest))) => {
                found == sign && length >= count && rest.trim().is_empty()
            }
            _ => false,
        }
    }

    fn place(&self) -> Place {
        match self.fence {
            Some(_) if self.is_last_line() => Place::LastLine,
            Some(_) => Place::Code,
            None if fence(&self.line).is_some() => Place::Code,
            None => Place::Text,
        }
    }
}

/// Returns the fence that a line begins with: its character, its length, and the rest of the line.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let count = line.len() - rest.len();
    (count >= 3).then_some((sign, count, rest))
}

#[cfg(test)]
#[path = "footnotes_tests.rs"]
mod tests;

//! Outlines the blocks of a text, to tell which of them more text can change.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The supported extensions of CommonMark.
pub(super) const OPTIONS: Options = Options::ENABLE_STRIKETHROUGH
    .union(Options::ENABLE_MATH)
    .union(Options::ENABLE_TABLES)
    .union(Options::ENABLE_TASKLISTS);

/// The last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tip {
    /// None, or one that cannot continue.
    Closed,
    Paragraph,
    Table,
    /// Code between fences.
    Fenced,
    /// Indented code, or HTML.
    Lines,
    /// Complete once its line is.
    Heading,
}

/// The outermost container in which a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outer {
    Quote,
    /// With the number of the item that the text begins with.
    List {
        next: Option<u64>,
    },
}

/// A position that no block spans, except the outermost container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) at: usize,
    pub(super) outer: Option<Outer>,
    /// Whether a blank line comes before it.
    pub(super) blank: bool,
}

#[derive(Debug)]
pub(super) struct Outline {
    pub(super) tip: Tip,
    /// Where the last block begins.
    pub(super) start: usize,
    /// Everything that begins before this position stays the same whatever follows.
    pub(super) until: usize,
    /// The last position to cut at.
    pub(super) cut: Cut,
}

/// Returns the outline of a text that begins with the cut `first`.
pub(super) fn outline(text: &str, first: Cut) -> Outline {
    let mut reader = Reader::new(text, first);
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        reader.event(&event, &range);
    }
    let Reader { mut tip, start, pending, cut, .. } = reader;
    let end = reader.end.unwrap_or_default();
    let until = match (tip, pending) {
        (_, Some(container)) => {
            tip = Tip::Closed;
            container
        }
        (Tip::Closed, None) => end,
        // At least its first line is known.
        (Tip::Fenced | Tip::Lines, None) => end.max(start + 1),
        (Tip::Heading, None) => end,
        (Tip::Paragraph | Tip::Table, None) if next_line(text, end) < text.len() => {
            // A following line that does not belong to it has closed it.
            tip = Tip::Closed;
            text.len()
        }
        (Tip::Paragraph | Tip::Table, None) => start,
    };
    Outline { tip, start, until, cut }
}

/// Follows the events of a text.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    first: Cut,
    cut: Cut,
    tip: Tip,
    start: usize,
    /// Where the content of the last block, or of an empty item, ends.
    end: Option<usize>,
    /// Whether a blank line comes before that block.
    pub(super) blank: bool,
    /// The first container that began after it, and whether one of them was an item that has ended.
    pending: Option<usize>,
    closed: bool,
    depth: usize,
    outer: Option<Outer>,
    /// Whether text belongs to the open block. In a list without blank lines, paragraphs have no events.
    in_leaf: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, first: Cut) -> Self {
        let (tip, start, end, pending, outer) = (Tip::Closed, 0, None, None, None);
        let (blank, closed, depth, in_leaf) = (false, false, 0, false);
        Reader { text, first, cut: first, tip, start, end, blank, pending, closed, depth, outer, in_leaf }
    }

    /// Returns the container that continues from before, if it begins here.
    pub(super) fn goes_on(&self, start: usize) -> Option<Outer> {
        self.first.outer.filter(|_| line_start(self.text, start) == 0)
    }

    pub(super) fn event(&mut self, event: &Event<'_>, range: &Range<usize>) {
        let Range { start, end } = *range;
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.open(Outer::Quote, start),
            Event::Start(Tag::List(number)) => self.open(Outer::List { next: *number }, start),
            Event::Start(Tag::Item) => {
                self.begin(start);
                if let (1, Some(Outer::List { next })) = (self.depth, &mut self.outer) {
                    *next = next.map(|number| number + 1);
                }
                self.depth += 1;
                self.pending.get_or_insert(start);
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => {
                self.in_leaf = false;
                self.depth = self.depth.saturating_sub(1);
                // An item without content is shown, a quote without content is not.
                if let (Some(pending), Event::End(TagEnd::Item), false) = (self.pending, event, self.closed) {
                    self.blank = self.is_after_blank(pending);
                    self.closed = true;
                    self.end = Some(start + 1);
                }
            }
            // It belongs to the item.
            Event::TaskListMarker(_) => {}
            Event::Start(Tag::Paragraph) => self.leaf(Tip::Paragraph, start),
            Event::Start(Tag::Heading { .. }) => self.leaf(Tip::Heading, start),
            Event::Start(Tag::Table(_)) => self.leaf(Tip::Table, start),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => self.leaf(Tip::Fenced, start),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented) | Tag::HtmlBlock) => self.leaf(Tip::Lines, start),
            Event::Rule => {
                self.leaf(Tip::Closed, start);
                self.close(end);
            }
            Event::End(TagEnd::Heading(_) | TagEnd::Table | TagEnd::Paragraph) => self.close(end),
            // Blank lines after code and HTML may become part of it.
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                self.in_leaf = false;
                let content = next_line(self.text, self.start + 1).max(self.end.unwrap_or_default());
                if self.tip == Tip::Fenced && end > content {
                    self.tip = Tip::Closed;
                    self.end = Some(end);
                }
            }
            _ => {
                if !self.in_leaf {
                    self.leaf(Tip::Paragraph, start);
                }
                self.end = Some(end);
            }
        }
    }

    fn open(&mut self, outer: Outer, start: usize) {
        self.begin(start);
        if self.depth == 0 {
            self.outer = Some(self.goes_on(start).unwrap_or(outer));
        }
        self.depth += 1;
        self.pending.get_or_insert(start);
    }

    fn leaf(&mut self, tip: Tip, start: usize) {
        self.begin(start);
        self.blank = self.is_after_blank(self.pending.unwrap_or(start));
        (self.tip, self.start, self.end) = (tip, start, Some(start));
        self.in_leaf = true;
        self.pending = None;
    }

    fn close(&mut self, end: usize) {
        self.in_leaf = false;
        self.end = Some(end);
    }

    /// Notes that a block or item begins: what precedes its line can be cut off, unless it is deep within a container.
    fn begin(&mut self, start: usize) {
        self.in_leaf = false;
        if std::mem::take(&mut self.closed) {
            self.pending = None;
        }
        let outer = match (self.depth, self.outer) {
            (0, _) => None,
            // A quote only continues if there is something in it.
            (1, Some(Outer::Quote)) if self.pending.is_some() => return,
            (1, outer) => outer,
            _ => return,
        };
        let at = line_start(self.text, start);
        if at > self.cut.at {
            self.cut = Cut { at, outer, blank: self.is_after_blank(at) };
        }
    }

    /// Whether a blank line is between the last block and this position.
    fn is_after_blank(&self, place: usize) -> bool {
        let lines = next_line(self.text, self.end.unwrap_or_default())..line_start(self.text, place);
        let mut lines = self.text.get(lines).unwrap_or_default().lines();
        lines.any(|line| line.chars().all(|sign| matches!(sign, ' ' | '>'))) || self.end.is_none() && self.first.blank
    }
}

/// Returns where the line that contains this position begins.
pub(super) fn line_start(text: &str, place: usize) -> usize {
    text.get(..place).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// Returns where the next line begins, or the position itself if a line begins there.
pub(super) fn next_line(text: &str, place: usize) -> usize {
    if line_start(text, place) == place {
        return place;
    }
    text.get(place..).and_then(|after| after.find('\n')).map_or(text.len(), |end| place + end + 1)
}

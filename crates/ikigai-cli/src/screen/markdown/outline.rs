//! What the blocks of a text are, as far as more text can change them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// What is parsed besides CommonMark.
pub(super) const OPTIONS: Options = Options::ENABLE_STRIKETHROUGH
    .union(Options::ENABLE_MATH)
    .union(Options::ENABLE_TABLES)
    .union(Options::ENABLE_TASKLISTS);

/// The last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tip {
    /// Nothing that goes on, or nothing yet.
    Closed,
    Paragraph,
    Table,
    /// Code between fences.
    Fenced,
    /// Code by its indentation, or HTML.
    Lines,
    /// Complete if its line is.
    Heading,
}

/// The container at the outside that a text begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outer {
    Quote,
    /// With the number of the item that the text begins with.
    List {
        next: Option<u64>,
    },
}

/// A place that no block reaches across, but for the container at the outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) at: usize,
    pub(super) outer: Option<Outer>,
    /// Whether a blank line is before it.
    pub(super) blank: bool,
}

#[derive(Debug)]
pub(super) struct Outline {
    pub(super) tip: Tip,
    /// Where the last block begins.
    pub(super) start: usize,
    /// What begins before this place stays as it is whatever follows.
    pub(super) until: usize,
    /// The last place to cut.
    pub(super) cut: Cut,
}

/// The outline of a text that begins like `first`, a cut at its very beginning.
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
        // Its first line is known at least.
        (Tip::Fenced | Tip::Lines, None) => end.max(start + 1),
        (Tip::Heading, None) => end,
        (Tip::Paragraph | Tip::Table, None) if next_line(text, end) < text.len() => {
            // A line after it that is not in it has closed it.
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
    /// Where the content of the last block ends, or that of an empty item.
    end: Option<usize>,
    /// Whether a blank line is before that block.
    pub(super) blank: bool,
    /// The first container that began after it, and whether one of them was an item that has ended.
    pending: Option<usize>,
    closed: bool,
    depth: usize,
    outer: Option<Outer>,
    /// Whether text belongs to the block that is open. In a list without blank lines paragraphs have no events.
    in_leaf: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, first: Cut) -> Self {
        let (tip, start, end, pending, outer) = (Tip::Closed, 0, None, None, None);
        let (blank, closed, depth, in_leaf) = (false, false, 0, false);
        Reader { text, first, cut: first, tip, start, end, blank, pending, closed, depth, outer, in_leaf }
    }

    /// The container that goes on from before, if it begins here.
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

    /// A block or an item begins: what is before its line may be cut off, unless that is deep within a container.
    fn begin(&mut self, start: usize) {
        self.in_leaf = false;
        if std::mem::take(&mut self.closed) {
            self.pending = None;
        }
        let outer = match (self.depth, self.outer) {
            (0, _) => None,
            // A quote goes on only if there is something in it.
            (1, Some(Outer::Quote)) if self.pending.is_some() => return,
            (1, outer) => outer,
            _ => return,
        };
        let at = line_start(self.text, start);
        if at > self.cut.at {
            self.cut = Cut { at, outer, blank: self.is_after_blank(at) };
        }
    }

    /// Whether a blank line is between the last block and this place.
    fn is_after_blank(&self, place: usize) -> bool {
        let lines = next_line(self.text, self.end.unwrap_or_default())..line_start(self.text, place);
        let mut lines = self.text.get(lines).unwrap_or_default().lines();
        lines.any(|line| line.chars().all(|sign| matches!(sign, ' ' | '>'))) || self.end.is_none() && self.first.blank
    }
}

/// Where the line begins that this place is in.
pub(super) fn line_start(text: &str, place: usize) -> usize {
    text.get(..place).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// Where the next line begins; the place itself if a line begins there.
pub(super) fn next_line(text: &str, place: usize) -> usize {
    if line_start(text, place) == place {
        return place;
    }
    text.get(place..).and_then(|after| after.find('\n')).map_or(text.len(), |end| place + end + 1)
}

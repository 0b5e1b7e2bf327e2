//! What the blocks of a text are, as far as more text can change them.

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
    let mut reader = Reader {
        text,
        first,
        cut: first,
        tip: Tip::Closed,
        start: 0,
        end: None,
        pending: None,
        closed: false,
        depth: 0,
        outer: None,
        in_leaf: false,
    };
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        reader.event(&event, range.start, range.end);
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

struct Reader<'a> {
    text: &'a str,
    first: Cut,
    cut: Cut,
    tip: Tip,
    start: usize,
    /// Where the content of the last block ends, or that of an empty item.
    end: Option<usize>,
    /// The first container that began after it, and whether one of them was an item that has ended.
    pending: Option<usize>,
    closed: bool,
    depth: usize,
    outer: Option<Outer>,
    /// Whether text belongs to the block that is open. In a list without blank lines paragraphs have no events.
    in_leaf: bool,
}

impl Reader<'_> {
    fn event(&mut self, event: &Event<'_>, start: usize, end: usize) {
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
                if self.pending.is_some() && matches!(event, Event::End(TagEnd::Item)) {
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
            self.outer = Some(match self.first.outer {
                Some(first) if line_start(self.text, start) == 0 => first,
                _ => outer,
            });
        }
        self.depth += 1;
        self.pending.get_or_insert(start);
    }

    fn leaf(&mut self, tip: Tip, start: usize) {
        self.begin(start);
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
            let blank = is_after_blank(self.text, self.end, at, self.first);
            self.cut = Cut { at, outer, blank };
        }
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

/// Whether a blank line is between the end of a block and another place; without a block, between that and what was before.
pub(super) fn is_after_blank(text: &str, end: Option<usize>, place: usize, first: Cut) -> bool {
    let between = text.get(next_line(text, end.unwrap_or_default())..line_start(text, place)).unwrap_or_default();
    let blank = between.lines().any(|line| line.chars().all(|sign| matches!(sign, ' ' | '>')));
    blank || end.is_none() && first.blank
}

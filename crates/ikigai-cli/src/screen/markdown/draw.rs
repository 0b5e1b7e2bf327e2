//! Draws the blocks of a text.

use std::cell::RefCell;
use std::ops::Range;

use anstyle::Style;
use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, Parser, Tag, TagEnd};

use super::code::{Colours, language};
use super::definition::{Links, key, unguarded};
use super::nest::{Container, Nest};
use super::outline::{Cut, OPTIONS, Outer, Reader};
use super::running::Running;
use super::table::TableReader;
use crate::screen::look::{DIM, HEADING, Look};
use crate::screen::text::{Inline, Row, Span, chop, fill, paint, shorten};

/// The part of a text to draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Everything that begins before this position has been drawn.
    pub(super) from: usize,
    /// What begins here or later is not drawn this time.
    pub(super) until: usize,
    pub(super) end: End,
}

/// What happens to the last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is drawn like all others.
    Closed,
    /// More of the block that begins here will arrive, and this is only a preview.
    Ahead(usize),
    /// The last row of the paragraph that begins here is kept back.
    Kept(usize),
}

/// The state of a block that has been drawn in part.
#[derive(Debug, Clone, Default)]
pub(super) enum Begun {
    #[default]
    Nothing,
    Code(Option<Colours>),
    /// A long paragraph: where the rest begins, and the unfinished row before that.
    Paragraph {
        rest: usize,
        row: Vec<Inline>,
    },
}

/// The block that is being read.
pub(super) enum Leaf {
    None,
    Text(Running),
    Code(Option<Colours>),
    Html,
    Table { start: usize, blank: bool, reader: TableReader },
}

/// Draws one text.
pub(super) struct Pen<'a> {
    pub(super) text: &'a str,
    pub(super) look: Look,
    pub(super) part: Part,
    pub(super) reader: Reader<'a>,
    pub(super) links: &'a RefCell<Links>,
    pub(super) leaf: Leaf,
    pub(super) nest: Nest,
    pub(super) begun: Begun,
    pub(super) drawn: String,
}

impl<'a> Pen<'a> {
    /// Creates a pen for a text that begins with the cut `first`; `used` says whether the document had blocks before.
    pub(super) fn new(text: &'a str, first: Cut, used: bool, look: Look, links: &'a RefCell<Links>) -> Self {
        let part = Part { from: 0, until: usize::MAX, end: End::Closed };
        let (reader, nest) = (Reader::new(text, first), Nest::new(used));
        let (leaf, begun, drawn) = (Leaf::None, Begun::Nothing, String::new());
        Pen { text, look, part, reader, links, leaf, nest, begun, drawn }
    }

    /// Draws a part of the text; some of its first block may already have been drawn.
    pub(super) fn draw(mut self, part: Part, begun: Begun) -> Self {
        (self.part, self.begun) = (part, begun);
        let links = self.links;
        let known = |link: BrokenLink<'_>| {
            let target = links.borrow().get(&key(&unguarded(&link.reference)))?.clone();
            Some((CowStr::from(target), CowStr::from("")))
        };
        let parser = Parser::new_with_broken_link_callback(self.text, OPTIONS, Some(known));
        for (event, range) in parser.into_offset_iter() {
            // The empty cells at the end of a table begin where it ends.
            if range.start >= part.until && !matches!(event, Event::End(_)) && !matches!(self.leaf, Leaf::Table { .. })
            {
                break;
            }
            self.event(event, range);
        }
        self.close_text();
        self
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        self.reader.event(&event, &range);
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.open(Outer::Quote, range.start),
            Event::Start(Tag::List(next)) => self.open(Outer::List { next }, range.start),
            Event::Start(Tag::Item) => {
                self.close_text();
                let source = self.text.get(range.start..).unwrap_or_default().trim_start();
                let sign = source.trim_start_matches(|sign: char| sign.is_ascii_digit()).chars().next();
                self.nest.item(sign.unwrap_or('.'), self.look);
            }
            Event::End(TagEnd::Item) => {
                self.close_text();
                if self.nest.is_at_marker() {
                    // An item without content is still an item.
                    self.block(range.start, self.reader.blank, vec![Row::new()]);
                }
                self.nest.pop();
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => {
                self.close_text();
                self.nest.pop();
            }
            Event::Start(Tag::Paragraph) => self.open_text(range.start, Style::new()),
            Event::Start(Tag::Heading { level, .. }) => {
                self.open_text(
                    range.start,
                    match level {
                        HeadingLevel::H1 => HEADING.underline(),
                        HeadingLevel::H2 => HEADING,
                        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HEADING.italic(),
                    },
                );
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) => self.close_text(),
            Event::Rule => {
                self.close_text();
                let rule = fill(&[self.rule()], self.width());
                self.block(range.start, self.reader.blank, rule);
            }
            Event::Start(Tag::CodeBlock(kind)) => self.open_code(&kind, range.start),
            Event::Start(Tag::HtmlBlock) => {
                self.close_text();
                self.block(range.start, self.reader.blank, Vec::new());
                self.leaf = Leaf::Html;
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Leaf::Code(colours) = std::mem::replace(&mut self.leaf, Leaf::None)
                    && !matches!(self.begun, Begun::Paragraph { .. })
                {
                    self.begun = Begun::Code(colours);
                }
            }
            Event::End(TagEnd::HtmlBlock) => self.leaf = Leaf::None,
            Event::Start(Tag::Table(sides)) => {
                self.close_text();
                let (blank, reader) = (self.reader.blank, TableReader::new(sides));
                self.leaf = Leaf::Table { start: range.start, blank, reader };
            }
            Event::End(TagEnd::Table) => self.close_table(),
            Event::TaskListMarker(done) => self.nest.task(done, self.look),
            event => self.content(event, range),
        }
    }

    fn open(&mut self, outer: Outer, start: usize) {
        self.close_text();
        let first = if self.nest.is_empty() { self.reader.goes_on(start) } else { None };
        self.nest.push(Container::new(first.unwrap_or(outer), first.is_some()));
    }

    /// Handles content within a block of text.
    fn content(&mut self, event: Event<'_>, range: Range<usize>) {
        if matches!(self.leaf, Leaf::None) {
            self.open_text(range.start, Style::new());
        }
        match &mut self.leaf {
            Leaf::Code(_) | Leaf::Html => self.lines(range),
            Leaf::Table { reader, .. } => reader.event(event, range, self.text),
            Leaf::Text(_) => self.running(event, range),
            Leaf::None => {}
        }
    }

    /// Draws lines of code or HTML, unchanged.
    fn lines(&mut self, range: Range<usize>) {
        let mut place = range.start;
        let text = self.text.get(range).unwrap_or_default();
        for line in text.split_inclusive('\n') {
            let start = place;
            place += line.len();
            if start < self.part.from {
                continue;
            }
            let line = unguarded(line.trim_end_matches('\n'));
            match &mut self.leaf {
                Leaf::Code(colours) => {
                    let row = colours.as_mut().map_or_else(|| vec![Span::plain(&line)], |colours| colours.line(&line));
                    let row = self.nest.place_code(row, self.look);
                    self.write(&row);
                }
                Leaf::Html => {
                    let rows = chop(&[Span::new(&line, DIM)], self.width());
                    self.rows(rows);
                }
                Leaf::None | Leaf::Text(_) | Leaf::Table { .. } => {}
            }
        }
    }

    fn open_code(&mut self, kind: &CodeBlockKind<'_>, start: usize) {
        self.close_text();
        let info = match kind {
            CodeBlockKind::Fenced(info) => unguarded(info).trim().to_owned(),
            CodeBlockKind::Indented => String::new(),
        };
        let goes_on = start < self.part.from;
        // The words after the fence are shown if they say more than the language.
        let title = if goes_on || language(&info) == info {
            Vec::new()
        } else {
            fill(&[Inline::new(&info, DIM)], self.width())
        };
        let untitled = title.is_empty();
        self.block(start, self.reader.blank, title);
        if untitled && self.nest.is_at_marker() {
            self.rows(vec![Row::new()]);
        }
        let colours = match &mut self.begun {
            Begun::Code(colours) if goes_on => colours.take(),
            _ if goes_on => None,
            Begun::Nothing | Begun::Code(_) | Begun::Paragraph { .. } => Colours::new(&info, self.look),
        };
        self.leaf = Leaf::Code(colours);
    }

    fn close_table(&mut self) {
        let Leaf::Table { start, blank, reader } = std::mem::replace(&mut self.leaf, Leaf::None) else { return };
        let table = reader.table;
        let rows = match self.part.end {
            _ if start < self.part.from => Vec::new(),
            End::Ahead(tip) if tip == start => vec![self.placeholder(table.rows.len())],
            End::Closed | End::Ahead(_) | End::Kept(_) => table.draw(self.width(), self.look),
        };
        self.block(start, blank, rows);
    }

    /// Returns a line across all columns.
    pub(super) fn rule(&self) -> Inline {
        Inline::new(&self.look.sign("─", "-").repeat(self.width()), DIM)
    }

    /// Returns the placeholder for an incomplete table.
    pub(super) fn placeholder(&self, rows: usize) -> Row {
        let sign = self.look.sign("┄", "-");
        let text = match rows {
            0 => format!("{sign} table"),
            1 => format!("{sign} table, 1 row so far"),
            rows => format!("{sign} table, {rows} rows so far"),
        };
        vec![Span::new(&shorten(&text, self.width(), self.look), DIM)]
    }

    /// Draws the rows of a block, after a blank line if needed. Without rows, the block only begins or has been drawn.
    pub(super) fn block(&mut self, start: usize, blank: bool, rows: Vec<Row>) {
        let gap = self.nest.use_all(blank, self.look);
        if start < self.part.from {
            return self.nest.set_drawn();
        }
        if let Some(prefix) = gap {
            self.drawn.push_str(paint(&prefix, self.look).trim_end());
            self.drawn.push('\n');
        }
        self.rows(rows);
    }

    pub(super) fn rows(&mut self, rows: Vec<Row>) {
        for row in rows {
            let lines = self.nest.place(row, self.look);
            self.write(&lines);
        }
    }

    fn write(&mut self, rows: &[Row]) {
        for row in rows {
            self.drawn.push_str(&paint(row, self.look));
            self.drawn.push('\n');
        }
    }

    /// Returns the columns available to a block of text.
    pub(super) fn width(&self) -> usize {
        self.nest.inner_width(self.look)
    }
}

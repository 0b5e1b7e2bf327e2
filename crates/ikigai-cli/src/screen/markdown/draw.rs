//! Draws the blocks of a text.

use std::cell::RefCell;
use std::ops::Range;

use anstyle::Style;
use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, Parser, Tag, TagEnd};

use super::code::{Colours, language};
use super::definition::{Definition, Links, key, unguarded};
use super::inline::Parts;
use super::nest::{Container, Nest};
use super::outline::{Cut, OPTIONS, Outer, is_after_blank, line_start};
use super::table::TableReader;
use crate::screen::look::{DIM, HEADING, Look};
use crate::screen::text::{Inline, Row, Span, chop, fill, paint, shorten};

/// Which part of a text is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// What begins before this place has been drawn.
    pub(super) from: usize,
    /// What begins here or later is left for another time.
    pub(super) until: usize,
    pub(super) end: End,
}

/// What becomes of the last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is drawn like all others.
    Closed,
    /// More of the block that begins here will come, and this is only a look ahead.
    Ahead(usize),
    /// The last row of the paragraph that begins here is kept.
    Kept(usize),
}

/// What is kept of a block that has been drawn in part.
#[derive(Debug, Clone, Default)]
pub(super) enum Begun {
    #[default]
    Nothing,
    Code(Option<Colours>),
    /// A long paragraph: where the rest begins, and the row before that.
    Paragraph {
        rest: usize,
        row: Vec<Inline>,
    },
}

/// The block that is being read.
enum Leaf {
    None,
    Text(Running),
    Code(Option<Colours>),
    Html,
    Table(usize, TableReader),
}

/// A paragraph or a heading.
struct Running {
    start: usize,
    /// Where what has been read of it ends.
    end: usize,
    parts: Parts,
    /// What it began with, drawn.
    definitions: Vec<Row>,
    /// Whether the next line may be another one.
    may_define: bool,
    /// What is before this place has been drawn.
    skip: usize,
    /// What begins here or later may become a table.
    bars: Option<usize>,
}

/// Draws one text.
pub(super) struct Pen<'a> {
    text: &'a str,
    look: Look,
    part: Part,
    first: Cut,
    links: &'a RefCell<Links>,
    leaf: Leaf,
    /// Where the last block ended, and the first container that began after it.
    last_end: Option<usize>,
    pending: Option<usize>,
    pub(super) nest: Nest,
    pub(super) begun: Begun,
    pub(super) drawn: String,
}

impl<'a> Pen<'a> {
    /// A pen for a text that begins with the cut `first`, after a document that did or did not have blocks.
    pub(super) fn new(text: &'a str, first: Cut, used: bool, look: Look, links: &'a RefCell<Links>) -> Self {
        let part = Part { from: 0, until: usize::MAX, end: End::Closed };
        let nest = Nest::new(used);
        let (leaf, begun, drawn) = (Leaf::None, Begun::Nothing, String::new());
        Pen { text, look, part, first, links, leaf, last_end: None, pending: None, nest, begun, drawn }
    }

    /// Draws a part of the text, of whose first block some may have been drawn.
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
            if range.start >= part.until && !matches!(event, Event::End(_)) && !matches!(self.leaf, Leaf::Table(..)) {
                break;
            }
            self.event(event, range);
        }
        self.close_text();
        self
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.open(Outer::Quote, &range),
            Event::Start(Tag::List(next)) => self.open(Outer::List { next }, &range),
            Event::Start(Tag::Item) => {
                self.close_text();
                self.pending.get_or_insert(range.start);
                let source = self.text.get(range.start..).unwrap_or_default().trim_start();
                let sign = source.trim_start_matches(|sign: char| sign.is_ascii_digit()).chars().next();
                self.nest.item(sign.unwrap_or('.'), self.look);
            }
            Event::End(TagEnd::Item) => {
                self.close_text();
                if self.nest.is_at_marker() {
                    // An item without content is still an item.
                    self.block(range.start, vec![Row::new()]);
                    self.last_end = Some(range.start + 1);
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
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) => {
                self.close_text();
                self.last_end = Some(range.end);
            }
            Event::Rule => {
                self.close_text();
                let rule = self.look.sign("─", "-").repeat(self.width());
                self.block(range.start, vec![vec![Span::new(&rule, DIM)]]);
                self.last_end = Some(range.end);
            }
            Event::Start(Tag::CodeBlock(kind)) => self.open_code(&kind, range.start),
            Event::Start(Tag::HtmlBlock) => {
                self.close_text();
                self.block(range.start, Vec::new());
                self.leaf = Leaf::Html;
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Leaf::Code(colours) = std::mem::replace(&mut self.leaf, Leaf::None)
                    && !matches!(self.begun, Begun::Paragraph { .. })
                {
                    self.begun = Begun::Code(colours);
                }
                self.last_end = Some(range.end);
            }
            Event::End(TagEnd::HtmlBlock) => {
                self.leaf = Leaf::None;
                self.last_end = Some(range.end);
            }
            Event::Start(Tag::Table(sides)) => {
                self.close_text();
                self.leaf = Leaf::Table(range.start, TableReader::new(sides));
            }
            Event::End(TagEnd::Table) => {
                self.close_table();
                self.last_end = Some(range.end);
            }
            Event::TaskListMarker(done) => self.nest.task(done, self.look),
            event => self.content(event, range),
        }
    }

    fn open(&mut self, outer: Outer, range: &Range<usize>) {
        self.close_text();
        self.pending.get_or_insert(range.start);
        let first = self.first.outer.filter(|_| self.nest.is_empty() && line_start(self.text, range.start) == 0);
        self.nest.push(Container::new(first.unwrap_or(outer), first.is_some()));
    }

    /// What is within a block of text.
    fn content(&mut self, event: Event<'_>, range: Range<usize>) {
        if matches!(self.leaf, Leaf::None) {
            self.open_text(range.start, Style::new());
        }
        match &mut self.leaf {
            Leaf::Code(_) | Leaf::Html => self.lines(range),
            Leaf::Table(_, table) => table.event(event, range, self.text),
            Leaf::Text(_) => self.running(event, range),
            Leaf::None => {}
        }
    }

    /// Lines of code or HTML, which are shown as they are.
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
                Leaf::None | Leaf::Text(_) | Leaf::Table(..) => {}
            }
        }
    }

    /// A part of a paragraph or a heading.
    fn running(&mut self, event: Event<'_>, range: Range<usize>) {
        let Leaf::Text(running) = &mut self.leaf else { return };
        running.end = range.end;
        if range.end <= running.skip || running.bars.is_some_and(|bars| range.start >= bars) {
            return;
        }
        if running.may_define {
            let line = self.text.get(range.start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            if let Some(definition) = Definition::new(line) {
                running.skip = range.start + line.len() + 1;
                let width = self.nest.inner_width(self.look);
                running.definitions.extend(fill(&[Inline::new(definition.line, DIM)], width));
                if !matches!(self.part.end, End::Ahead(_)) {
                    let mut links = self.links.borrow_mut();
                    links.entry(key(definition.label)).or_insert_with(|| definition.target.to_owned());
                }
                return;
            }
            running.may_define = false;
        }
        match event {
            // It was drawn up to a place within this piece.
            Event::Text(_) if range.start < running.skip => {
                let rest = self.text.get(running.skip..range.end).unwrap_or_default();
                running.parts.event(Event::Text(CowStr::from(rest)));
            }
            event => running.parts.event(event),
        }
    }

    fn open_text(&mut self, start: usize, style: Style) {
        self.close_text();
        let (style, skip) = match &self.begun {
            Begun::Paragraph { rest, .. } if start == self.part.from => (Style::new(), *rest),
            Begun::Nothing | Begun::Code(_) | Begun::Paragraph { .. } => (style, 0),
        };
        let bars = match self.part.end {
            End::Ahead(tip) if tip == start => last_line_of_bars(self.text, start),
            End::Closed | End::Ahead(_) | End::Kept(_) => None,
        };
        let (parts, definitions) = (Parts::new(style), Vec::new());
        let may_define = skip == 0 && start >= self.part.from;
        self.leaf = Leaf::Text(Running { start, end: start, parts, definitions, may_define, skip, bars });
    }

    fn close_text(&mut self) {
        let running = match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::Text(running) => running,
            leaf => return self.leaf = leaf,
        };
        let start = running.start;
        if start < self.part.from {
            self.block(start, Vec::new());
        } else {
            self.draw_text(running.parts.found, running.definitions, running.bars.is_some(), start);
        }
        self.last_end = Some(running.end);
    }

    fn draw_text(&mut self, text: Vec<Inline>, definitions: Vec<Row>, is_table: bool, start: usize) {
        let begun = match std::mem::take(&mut self.begun) {
            Begun::Paragraph { row, .. } if start == self.part.from => Some(row),
            Begun::Nothing | Begun::Code(_) | Begun::Paragraph { .. } => None,
        };
        let goes_on = begun.is_some();
        let mut all = begun.unwrap_or_default();
        all.extend(text);
        let nothing = all.is_empty() && (is_table || !definitions.is_empty());
        if !definitions.is_empty() {
            self.block(start, definitions);
            self.last_end = Some(start);
        }
        let mut rows = if nothing { Vec::new() } else { fill(&all, self.width()) };
        if is_table {
            rows.push(self.placeholder(0));
        }
        if self.part.end == End::Kept(start) {
            let row = rows.pop().unwrap_or_default().into_iter().map(Inline::Text).collect();
            self.begun = Begun::Paragraph { rest: start, row };
        }
        if goes_on {
            self.nest.use_all(false, self.look);
            self.nest.set_drawn();
            self.rows(rows);
        } else if !nothing || is_table {
            self.block(start, rows);
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
        self.block(start, title);
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
        let Leaf::Table(start, reader) = std::mem::replace(&mut self.leaf, Leaf::None) else { return };
        let table = reader.table;
        let rows = match self.part.end {
            _ if start < self.part.from => Vec::new(),
            End::Ahead(tip) if tip == start => vec![self.placeholder(table.rows.len())],
            End::Closed | End::Ahead(_) | End::Kept(_) => table.draw(self.width(), self.look),
        };
        self.block(start, rows);
    }

    /// What stands for a table that is not whole yet.
    fn placeholder(&self, rows: usize) -> Row {
        let sign = self.look.sign("┄", "-");
        let text = match rows {
            0 => format!("{sign} table"),
            1 => format!("{sign} table, 1 row so far"),
            rows => format!("{sign} table, {rows} rows so far"),
        };
        vec![Span::new(&shorten(&text, self.width(), self.look), DIM)]
    }

    /// A block with its rows, after a blank line where one belongs. Without rows, of a block that begins or has been drawn.
    fn block(&mut self, start: usize, rows: Vec<Row>) {
        let begin = self.pending.take().unwrap_or(start);
        let blank = is_after_blank(self.text, self.last_end, begin, self.first);
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

    fn rows(&mut self, rows: Vec<Row>) {
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

    /// The columns left to a block of text.
    fn width(&self) -> usize {
        self.nest.inner_width(self.look)
    }
}

/// Where the last line begins, if it looks like a line of a table and is in the block that begins at `start`.
fn last_line_of_bars(text: &str, start: usize) -> Option<usize> {
    let line = line_start(text, text.trim_end().len()).max(start);
    text.get(line..)?.trim_start_matches([' ', '>']).starts_with('|').then_some(line)
}

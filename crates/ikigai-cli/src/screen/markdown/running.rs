//! Paragraphs and headings.

use std::ops::Range;

use anstyle::Style;
use pulldown_cmark::{CowStr, Event};

use super::definition::{Definition, key};
use super::draw::{Begun, End, Leaf, Pen};
use super::inline::Parts;
use super::outline::line_start;
use crate::screen::look::DIM;
use crate::screen::text::{Inline, Row, fill};

/// A paragraph or a heading.
pub(super) struct Running {
    start: usize,
    /// Whether a blank line comes before it.
    blank: bool,
    parts: Parts,
    is_heading: bool,
    /// Definitions at its beginning, drawn.
    definitions: Vec<Row>,
    /// Whether the next line may be another one.
    may_define: bool,
    /// Everything before this position has been drawn.
    skip: usize,
    /// What begins here or later may become a table.
    bars: Option<usize>,
}

impl Pen<'_> {
    /// Handles a part of a paragraph or a heading.
    pub(super) fn running(&mut self, event: Event<'_>, range: Range<usize>) {
        let Leaf::Text(running) = &mut self.leaf else { return };
        let is_drawn = running.start < self.part.from || range.end <= running.skip;
        if is_drawn || running.bars.is_some_and(|bars| range.start >= bars) {
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
            // Part of this piece has been drawn.
            Event::Text(_) if range.start < running.skip => {
                let rest = self.text.get(running.skip..range.end).unwrap_or_default();
                running.parts.event(Event::Text(CowStr::from(rest)));
            }
            event => running.parts.event(event),
        }
    }

    pub(super) fn open_text(&mut self, start: usize, style: Style) {
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
        let may_define = skip == 0;
        let blank = self.reader.blank;
        self.leaf = Leaf::Text(Running {
            start,
            blank,
            parts,
            is_heading: style != Style::new(),
            definitions,
            may_define,
            skip,
            bars,
        });
    }

    pub(super) fn close_text(&mut self) {
        let running = match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::Text(running) => running,
            leaf => return self.leaf = leaf,
        };
        if running.start < self.part.from {
            self.block(running.start, running.blank, Vec::new());
        } else {
            self.draw_text(running);
        }
    }

    fn draw_text(&mut self, running: Running) {
        let Running { start, mut blank, parts, is_heading, definitions, skip, bars, .. } = running;
        let begun = match std::mem::take(&mut self.begun) {
            Begun::Paragraph { row, .. } if start == self.part.from => Some(row),
            Begun::Nothing | Begun::Code(_) | Begun::Paragraph { .. } => None,
        };
        let goes_on = begun.is_some();
        let mut all = begun.unwrap_or_default();
        all.extend(parts.found);
        if all.is_empty() && is_heading && !definitions.is_empty() {
            // Definitions cannot be underlined: dashes are a rule, and other characters are text.
            let line = self.text.get(skip..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            let line = line.trim_matches([' ', '>']);
            all.push(if line.starts_with('-') { self.rule() } else { Inline::new(line, Style::new()) });
        }
        let nothing = all.is_empty() && (bars.is_some() || !definitions.is_empty());
        if !definitions.is_empty() {
            self.block(start, std::mem::take(&mut blank), definitions);
        }
        let mut rows = if nothing { Vec::new() } else { fill(&all, self.width()) };
        rows.extend(bars.map(|_| self.placeholder(0)));
        if self.part.end == End::Kept(start) {
            let row = rows.pop().unwrap_or_default().into_iter().map(Inline::Text).collect();
            self.begun = Begun::Paragraph { rest: start, row };
        }
        if goes_on {
            self.nest.use_all(false, self.look);
            self.nest.set_drawn();
            self.rows(rows);
        } else if !rows.is_empty() || !nothing {
            self.block(start, blank, rows);
        }
    }
}

/// Returns where the last line begins, if it looks like a table row and belongs to the block starting at `start`.
fn last_line_of_bars(text: &str, start: usize) -> Option<usize> {
    let line = line_start(text, text.trim_end().len()).max(start);
    text.get(line..)?.trim_start_matches([' ', '>']).starts_with('|').then_some(line)
}

//! Tables: with borders if they fit, otherwise one record after another.

use std::ops::Range;

use anstyle::Style;
use pulldown_cmark::{Alignment, Event, Tag, TagEnd};

use super::definition::unguarded;
use super::inline::Parts;
use crate::screen::look::{DIM, HEADING, Look};
use crate::screen::text::{Inline, Row, Span, fill, row_width};

/// No column is narrower than this, unless its content is.
const NARROWEST: usize = 5;

/// The cells of a table, row by row.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) sides: Vec<Alignment>,
    pub(super) heading: Vec<Cell>,
    pub(super) rows: Vec<Vec<Cell>>,
}

pub(super) type Cell = Vec<Inline>;

/// Collects a table from its events.
#[derive(Debug)]
pub(super) struct TableReader {
    pub(super) table: Table,
    cell: Parts,
    cell_end: usize,
}

impl TableReader {
    pub(super) fn new(sides: Vec<Alignment>) -> Self {
        TableReader { table: Table { sides, ..Table::default() }, cell: Parts::new(HEADING), cell_end: 0 }
    }

    pub(super) fn event(&mut self, event: Event<'_>, range: Range<usize>, text: &str) {
        let Table { heading, rows, .. } = &mut self.table;
        match event {
            Event::Start(Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                self.cell = Parts::new(if rows.is_empty() { HEADING } else { Style::new() });
            }
            Event::End(TagEnd::TableCell) => {
                rows.last_mut().unwrap_or(heading).push(std::mem::take(&mut self.cell.found));
                self.cell_end = range.end;
            }
            Event::End(TagEnd::TableRow) => {
                // Surplus cells can only go into the last column.
                let extra = text.get(self.cell_end..range.end).unwrap_or_default().trim();
                let extra = extra.trim_matches('|').trim();
                if let Some(last) = rows.last_mut().and_then(|row| row.last_mut()).filter(|_| !extra.is_empty()) {
                    last.push(Inline::new(&unguarded(&format!(" | {extra}")), Style::new()));
                }
            }
            event => self.cell.event(event),
        }
    }
}

impl Table {
    /// Draws the table in rows of at most `width` columns.
    pub(super) fn draw(&self, width: usize, look: Look) -> Vec<Row> {
        let mut natural = vec![1; self.sides.len()];
        for row in std::iter::once(&self.heading).chain(&self.rows) {
            for (most, cell) in natural.iter_mut().zip(row) {
                let lines = fill(cell, usize::MAX);
                *most = lines.iter().map(|line| row_width(line)).chain([*most]).max().unwrap_or(1);
            }
        }
        // A bar and a space on both sides of each column, and the last bar.
        match width.checked_sub(3 * natural.len() + 1).and_then(|room| fit(&natural, room)) {
            Some(widths) => self.bordered(&widths, look),
            None => records(&self.heading, &self.rows, width, look),
        }
    }

    fn bordered(&self, widths: &[usize], look: Look) -> Vec<Row> {
        let border = |left, middle, right, ascii| {
            let dash = look.sign("─", "-");
            let cells: Vec<String> = widths.iter().map(|width| dash.repeat(width + 2)).collect();
            let (left, middle, right) = if look.unicode { (left, middle, right) } else { (ascii, ascii, ascii) };
            vec![Span::new(&format!("{left}{}{right}", cells.join(middle)), DIM)]
        };
        let mut drawn = vec![border("┌", "┬", "┐", "+")];
        drawn.extend(self.row(&self.heading, widths, look));
        let between = || border("├", "┼", "┤", "+");
        drawn.push(between());
        let rows: Vec<Vec<Row>> = self.rows.iter().map(|row| self.row(row, widths, look)).collect();
        // If rows have several lines, it must be visible where the next one begins.
        let tall = rows.iter().any(|row| row.len() > 1);
        for (place, row) in rows.into_iter().enumerate() {
            if tall && place > 0 {
                drawn.push(between());
            }
            drawn.extend(row);
        }
        drawn.push(border("└", "┴", "┘", "+"));
        drawn
    }

    fn row(&self, cells: &[Cell], widths: &[usize], look: Look) -> Vec<Row> {
        let filled: Vec<Vec<Row>> = cells.iter().zip(widths).map(|(cell, width)| fill(cell, *width)).collect();
        let height = filled.iter().map(Vec::len).max().unwrap_or(1);
        let bar = look.sign("│", "|");
        let line = |place: usize| {
            let mut row = Row::new();
            for ((lines, width), side) in filled.iter().zip(widths).zip(&self.sides) {
                let text = lines.get(place).cloned().unwrap_or_default();
                let space = width.saturating_sub(row_width(&text));
                let before = match side {
                    Alignment::Left | Alignment::None => 0,
                    Alignment::Center => space / 2,
                    Alignment::Right => space,
                };
                row.push(Span::new(bar, DIM));
                row.push(Span::plain(&" ".repeat(before + 1)));
                row.extend(text);
                row.push(Span::plain(&" ".repeat(space - before + 1)));
            }
            row.push(Span::new(bar, DIM));
            row
        };
        (0..height).map(line).collect()
    }
}

/// Returns column widths that fit into `room`: the widest columns shrink first. `None` if they would be too narrow.
fn fit(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let all = |cap: usize| natural.iter().map(|width| (*width).min(cap)).sum::<usize>();
    let widest = natural.iter().copied().max().unwrap_or(0);
    if all(widest) <= room {
        return Some(natural.to_vec());
    }
    if all(NARROWEST) > room {
        return None;
    }
    let (mut low, mut high) = (NARROWEST, widest);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if all(middle) <= room {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut left = room - all(low);
    let share = |width: &usize| {
        let more = usize::from(*width > low && left > 0);
        left -= more;
        (*width).min(low) + more
    };
    Some(natural.iter().map(share).collect())
}

/// Draws each row as lines of `heading: value`.
fn records(heading: &[Cell], rows: &[Vec<Cell>], width: usize, look: Look) -> Vec<Row> {
    let rule = || vec![Span::new(&look.sign("┄", "-").repeat(width.min(8)), DIM)];
    let mut drawn = Vec::new();
    if rows.is_empty() {
        drawn.extend(heading.iter().flat_map(|cell| fill(cell, width)));
    }
    for (place, row) in rows.iter().enumerate() {
        if place > 0 {
            drawn.push(rule());
        }
        for (name, value) in heading.iter().zip(row) {
            let mut line = name.clone();
            line.push(Inline::new(": ", HEADING));
            line.extend(value.iter().cloned());
            drawn.extend(fill(&line, width));
        }
    }
    drawn
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;

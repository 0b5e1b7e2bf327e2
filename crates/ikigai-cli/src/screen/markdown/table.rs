//! Tables: borders where they fit, else one record after another.

use anstyle::Style;

use super::inline::{Links, inline};
use super::starts::{self, Side};
use crate::screen::look::{DIM, HEADING, Look};
use crate::screen::text::{Inline, Row, Span, fill, row_width};

/// No column is narrower than this, unless its content is.
const NARROWEST: usize = 5;

/// A whole table as the lines of its source.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) sides: Vec<Side>,
    pub(super) heading: String,
    pub(super) rows: Vec<String>,
}

type Cell = Vec<Inline>;

impl Table {
    /// The table in rows of at most `width` columns.
    pub(super) fn draw(&self, width: usize, links: &Links, look: Look) -> Vec<Row> {
        let heading = self.cells(&self.heading, HEADING, links);
        let rows: Vec<Vec<Cell>> = self.rows.iter().map(|row| self.cells(row, Style::new(), links)).collect();
        let mut natural = vec![1; self.sides.len()];
        for row in std::iter::once(&heading).chain(&rows) {
            for (most, cell) in natural.iter_mut().zip(row) {
                let lines = fill(cell, usize::MAX);
                *most = lines.iter().map(|line| row_width(line)).chain([*most]).max().unwrap_or(1);
            }
        }
        // A bar and a space on both sides of each column, and the last bar.
        match width.checked_sub(3 * natural.len() + 1).and_then(|room| fit(&natural, room)) {
            Some(widths) => self.bordered(&heading, &rows, &widths, look),
            None => records(&heading, &rows, width, look),
        }
    }

    fn cells(&self, line: &str, style: Style, links: &Links) -> Vec<Cell> {
        let mut texts = starts::cells(line);
        // Cells without a column have nowhere to go but the last one.
        let extra = texts.split_off(texts.len().min(self.sides.len()));
        if let Some(last) = texts.last_mut() {
            for text in extra {
                last.push_str(" | ");
                last.push_str(&text);
            }
        }
        texts.resize(self.sides.len(), String::new());
        texts.iter().map(|text| inline(text, style, links)).collect()
    }

    fn bordered(&self, heading: &[Cell], rows: &[Vec<Cell>], widths: &[usize], look: Look) -> Vec<Row> {
        let border = |left, middle, right, ascii| {
            let dash = look.sign("─", "-");
            let cells: Vec<String> = widths.iter().map(|width| dash.repeat(width + 2)).collect();
            let (left, middle, right) = if look.unicode { (left, middle, right) } else { (ascii, ascii, ascii) };
            vec![Span::new(&format!("{left}{}{right}", cells.join(middle)), DIM)]
        };
        let mut drawn = vec![border("┌", "┬", "┐", "+")];
        drawn.extend(self.row(heading, widths, look));
        let between = || border("├", "┼", "┤", "+");
        drawn.push(between());
        let rows: Vec<Vec<Row>> = rows.iter().map(|row| self.row(row, widths, look)).collect();
        // Where a row takes several lines, the eye needs to see where the next one begins.
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
                    Side::Left => 0,
                    Side::Centre => space / 2,
                    Side::Right => space,
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

/// The widths of the columns within `room`: the widest give way first. Nothing where the columns would be too narrow.
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

/// Each row as lines of `heading: value`.
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

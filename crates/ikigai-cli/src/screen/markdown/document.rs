//! The block structure, one line at a time.
//!
//! This is CommonMark's way of parsing: a line first goes through the open containers, then may open new ones, and what is
//! left of it belongs to the block of text at the tip. Blocks are drawn when they are closed, so nothing is parsed twice.

use std::sync::Arc;

use super::inline::{Links, completed, key};
use super::leaf::{Code, Html, Leaf, Paragraph, heading};
use super::nest::{Container, Nest};
use super::starts::{self, HtmlEnd, ListItem};
use super::table::Table;
use crate::screen::clean::clean;
use crate::screen::look::{DIM, Look};
use crate::screen::text::{Inline, Row, Span, fill, paint, untabbed};

/// Code by indentation begins this far in.
const CODE: usize = 4;
/// Tabs stand this far apart in Markdown.
pub(super) const TAB: usize = 4;

/// A document as far as it has been read, and what of it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) look: Look,
    pub(super) nest: Nest,
    pub(super) leaf: Leaf,
    pub(super) links: Arc<Links>,
    pub(super) drawn: String,
    /// This is a copy that looks ahead: what is not whole gets a placeholder.
    pub(super) ahead: bool,
}

impl Document {
    pub(super) fn new(look: Look) -> Self {
        let (nest, leaf, links) = (Nest::default(), Leaf::None, Arc::default());
        Document { look, nest, leaf, links, drawn: String::new(), ahead: false }
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    pub(super) fn resize(&mut self, width: usize) {
        self.look = self.look.with_width(width);
    }

    /// The lines drawn since the last time.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.drawn)
    }

    /// The end of the text.
    pub(super) fn end(&mut self) {
        self.close_to(0);
    }

    /// A whole line.
    pub(super) fn line(&mut self, line: &str) {
        let line = untabbed(&clean(line), TAB).into_owned();
        let (matched, rest) = self.nest.follow(&line);
        let whole = matched == self.nest.len();
        if whole && self.goes_on(rest) {
            return;
        }
        if rest.trim().is_empty() {
            self.close_to(matched);
            self.close_leaf();
            self.nest.blank();
            return;
        }
        let (matched, rest) = match self.starts(matched, rest) {
            Rest::Done => return,
            Rest::Text { matched, rest } => (matched, rest),
        };
        if matched < self.nest.len() {
            if let Leaf::Paragraph(paragraph) = &mut self.leaf {
                // A paragraph goes on even where the signs of its quote or the indentation of its item are left out.
                paragraph.line(rest);
                return self.draw_long();
            }
            self.close_to(matched);
        }
        self.text(rest);
    }

    /// Whether the line belongs to the open block whatever it looks like.
    fn goes_on(&mut self, line: &str) -> bool {
        let width = self.width();
        let blank = line.trim().is_empty();
        let rows = match &mut self.leaf {
            Leaf::Code(Code { fence: Some(fence), .. }) if fence.is_closed_by(line) => {
                self.leaf = Leaf::None;
                return true;
            }
            Leaf::Code(code) if code.fence.is_some() => {
                let row = code.line(starts::strip_indent(line, code.indent));
                self.draw_code(vec![row]);
                return true;
            }
            Leaf::Code(code) if blank => {
                code.blanks += 1;
                self.nest.blank();
                return true;
            }
            Leaf::Code(code) if starts::indent(line) >= CODE => {
                self.nest.goes_on();
                let mut rows = vec![Row::new(); std::mem::take(&mut code.blanks)];
                rows.push(code.line(starts::strip_indent(line, CODE)));
                self.draw_code(rows);
                return true;
            }
            Leaf::Html(html) if html.end != HtmlEnd::BlankLine || !blank => {
                let rows = html.line(line, width);
                if html.end.is_met_by(line) {
                    self.leaf = Leaf::None;
                }
                rows
            }
            Leaf::None | Leaf::Paragraph(_) | Leaf::Code(_) | Leaf::Html(_) | Leaf::Table(_) | Leaf::Definitions => {
                return false;
            }
        };
        self.draw(rows);
        true
    }

    /// Opens what the line begins: containers, and at most one block of text.
    fn starts<'a>(&mut self, mut matched: usize, mut rest: &'a str) -> Rest<'a> {
        loop {
            let indent = starts::indent(rest);
            let at_paragraph = matched == self.nest.len() && matches!(self.leaf, Leaf::Paragraph(_));
            if indent >= CODE {
                // A paragraph goes on; nothing else does that far in.
                if matches!(self.leaf, Leaf::Paragraph(_)) {
                    return Rest::Text { matched, rest };
                }
                self.open(matched);
                let mut code = Code::new(None, 0, "", self.look);
                let row = code.line(starts::strip_indent(rest, CODE));
                self.leaf = Leaf::Code(code);
                self.draw_code(vec![row]);
                return Rest::Done;
            }
            let text = starts::strip_indent(rest, indent);
            if self.starts_leaf(matched, text, indent, at_paragraph) {
                return Rest::Done;
            }
            if let Some(inner) = starts::quote(text).filter(|_| self.nest.has_room(matched)) {
                self.close_to(matched);
                self.close_leaf();
                self.nest.leave_list();
                self.nest.push(Container::Quote { used: false });
                rest = inner;
            } else if let Some(item) = starts::list_item(text, at_paragraph).filter(|_| self.nest.has_room(matched)) {
                rest = item.content;
                self.open_item(matched, indent, &item);
            } else {
                return Rest::Text { matched, rest: text };
            }
            matched = self.nest.len();
            if rest.trim().is_empty() {
                return Rest::Done;
            }
        }
    }

    /// Whether the line is or begins a block of text other than a paragraph.
    fn starts_leaf(&mut self, matched: usize, text: &str, indent: usize, at_paragraph: bool) -> bool {
        if let Some((level, title)) = starts::heading(text) {
            self.open(matched);
            let title = if self.ahead { completed(title) } else { title.into() };
            let rows = heading(level, &title, self.width(), &self.links);
            self.draw(rows);
        } else if let Some((fence, info)) = starts::fence(text) {
            self.open(matched);
            let rows = Code::title(info, self.width());
            self.leaf = Leaf::Code(Code::new(Some(fence), indent, info, self.look));
            self.draw(rows);
        } else if let Some(end) = starts::html(text, matches!(self.leaf, Leaf::Paragraph(_))) {
            self.open(matched);
            let mut html = Html::new(end);
            let rows = html.line(text, self.width());
            if !end.is_met_by(text) {
                self.leaf = Leaf::Html(html);
            }
            self.draw(rows);
        } else if at_paragraph && self.underlines(text) {
            // It was drawn as the heading that it is.
        } else if starts::is_rule(text) {
            self.open(matched);
            let rule = self.look.sign("─", "-").repeat(self.width());
            self.draw(vec![vec![Span::new(&rule, DIM)]]);
        } else {
            return false;
        }
        true
    }

    /// Makes the open paragraph a heading if this line underlines it.
    fn underlines(&mut self, line: &str) -> bool {
        let Some(level) = starts::underline(line) else { return false };
        let Leaf::Paragraph(paragraph) = &self.leaf else { return false };
        if !paragraph.is_whole() {
            return false;
        }
        let rows = heading(level, &paragraph.text, self.width(), &self.links);
        self.leaf = Leaf::None;
        self.draw(rows);
        true
    }

    fn open_item(&mut self, matched: usize, indent: usize, item: &ListItem<'_>) {
        self.close_to(matched);
        self.close_leaf();
        self.nest.item(item, indent, self.look);
    }

    /// A line of text that begins nothing.
    fn text(&mut self, line: &str) {
        if let Some(definition) = starts::definition(line.trim()) {
            if matches!(self.leaf, Leaf::None | Leaf::Definitions) {
                if matches!(self.leaf, Leaf::None) {
                    self.open(self.nest.len());
                    self.leaf = Leaf::Definitions;
                }
                Arc::make_mut(&mut self.links).entry(key(definition.label)).or_insert(definition.target.to_owned());
                let rows = fill(&[Inline::new(line.trim(), DIM)], self.width());
                return self.draw(rows);
            }
        } else if matches!(self.leaf, Leaf::Definitions) {
            self.leaf = Leaf::None;
        }
        match &mut self.leaf {
            Leaf::Table(table) => Arc::make_mut(table).rows.push(line.to_owned()),
            Leaf::Paragraph(paragraph) => {
                if let Some(table) = table(paragraph, line) {
                    self.begin_table(table);
                } else {
                    paragraph.line(line);
                    self.draw_long();
                }
            }
            Leaf::None | Leaf::Code(_) | Leaf::Html(_) | Leaf::Definitions => {
                self.open(self.nest.len());
                let text = match starts::task(line).filter(|_| self.nest.is_at_marker()) {
                    Some((done, text)) => {
                        self.nest.task(done, self.look);
                        text
                    }
                    None => line,
                };
                self.leaf = Leaf::Paragraph(Paragraph::new(text));
            }
        }
    }

    fn begin_table(&mut self, table: Table) {
        if let Leaf::Paragraph(paragraph) = &self.leaf
            && !paragraph.is_empty()
        {
            self.close_leaf();
            self.open(self.nest.len());
        }
        self.leaf = Leaf::Table(Arc::new(table));
    }

    /// Makes room for a block of text in the innermost of `matched` containers.
    pub(super) fn open(&mut self, matched: usize) {
        self.close_to(matched);
        self.close_leaf();
        self.nest.leave_list();
        self.gap();
    }

    /// A blank line before what comes next, where one belongs.
    fn gap(&mut self) {
        if let Some(prefix) = self.nest.use_all(self.look) {
            self.drawn.push_str(paint(&prefix, self.look).trim_end());
            self.drawn.push('\n');
        }
    }

    fn close_to(&mut self, depth: usize) {
        if depth < self.nest.len() || depth == 0 {
            self.close_leaf();
        }
        while self.nest.len() > depth {
            if self.nest.is_at_marker() {
                // An item without content is still an item.
                self.gap();
                self.draw(vec![Row::new()]);
            }
            self.nest.pop();
        }
    }

    fn close_leaf(&mut self) {
        let width = self.width();
        let rows = match std::mem::take(&mut self.leaf) {
            Leaf::Paragraph(paragraph) if self.ahead => self.preview_paragraph(paragraph),
            Leaf::Paragraph(paragraph) => paragraph.draw(width, &self.links),
            Leaf::Table(table) if self.ahead => vec![self.placeholder(table.rows.len())],
            Leaf::Table(table) => table.draw(width, &self.links, self.look),
            Leaf::None | Leaf::Code(_) | Leaf::Html(_) | Leaf::Definitions => return,
        };
        self.draw(rows);
    }

    /// The columns left to a block of text.
    pub(super) fn width(&self) -> usize {
        self.nest.inner_width(self.look)
    }

    pub(super) fn draw_code(&mut self, rows: Vec<Row>) {
        for row in rows {
            for line in self.nest.place_code(row, self.look) {
                self.drawn.push_str(&paint(&line, self.look));
                self.drawn.push('\n');
            }
        }
    }

    pub(super) fn draw(&mut self, rows: Vec<Row>) {
        for row in rows {
            for line in self.nest.place(row, self.look) {
                self.drawn.push_str(&paint(&line, self.look));
                self.drawn.push('\n');
            }
        }
    }
}

/// What is left of a line after everything that it begins.
enum Rest<'a> {
    Done,
    Text { matched: usize, rest: &'a str },
}

/// The table that a paragraph's last line and the line of dashes under it begin. The line is taken from the paragraph.
fn table(paragraph: &mut Paragraph, line: &str) -> Option<Table> {
    let sides = starts::delimiters(line)?;
    let heading = paragraph.last_line()?;
    if starts::cells(heading).len() != sides.len() {
        return None;
    }
    Some(Table { sides, heading: paragraph.split_last_line(), rows: Vec::new() })
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;

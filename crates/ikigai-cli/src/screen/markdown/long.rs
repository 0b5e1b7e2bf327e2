//! Lines that are too long to wait for their end, and paragraphs that are too long to keep.

use std::sync::Arc;

use super::LONGEST;
use super::document::{Document, TAB};
use super::leaf::{Leaf, Paragraph};
use crate::screen::clean::clean;
use crate::screen::text::untabbed;

impl Document {
    /// The first part of a line that is too long to wait for its end.
    pub(super) fn first_part(&mut self, text: &str) {
        let text = untabbed(&clean(text), TAB).into_owned();
        let (matched, rest) = self.nest.follow(&text);
        if matched == self.nest.len() && self.part(rest) {
            return;
        }
        self.line(&text);
    }

    /// A part in the middle of such a line.
    pub(super) fn next_part(&mut self, text: &str) {
        let text = untabbed(&clean(text), TAB).into_owned();
        if !self.part(&text) {
            self.more(&text);
        }
    }

    /// Its last part.
    pub(super) fn last_part(&mut self, text: &str) {
        let text = untabbed(&clean(text), TAB).into_owned();
        let width = self.width();
        let rows = match &mut self.leaf {
            Leaf::Code(code) => {
                let row = code.line(&text);
                return self.draw_code(vec![row]);
            }
            Leaf::Html(html) => html.line(&text, width),
            Leaf::None | Leaf::Paragraph(_) | Leaf::Table(_) | Leaf::Definitions => return self.more(&text),
        };
        self.draw(rows);
    }

    /// Takes a part of a line if the open block shows its text as it is.
    fn part(&mut self, text: &str) -> bool {
        let width = self.width();
        let rows = match &mut self.leaf {
            Leaf::Code(code) => {
                code.part(text);
                return true;
            }
            Leaf::Html(html) => html.part(text, width),
            Leaf::None | Leaf::Paragraph(_) | Leaf::Table(_) | Leaf::Definitions => return false,
        };
        self.draw(rows);
        true
    }

    /// More of a long line that is no code.
    fn more(&mut self, text: &str) {
        match &mut self.leaf {
            Leaf::Paragraph(paragraph) => paragraph.more(text),
            Leaf::Table(table) => {
                let table = Arc::make_mut(table);
                table.rows.last_mut().unwrap_or(&mut table.heading).push_str(text);
            }
            Leaf::None | Leaf::Definitions | Leaf::Code(_) | Leaf::Html(_) => {
                self.open(self.nest.len());
                self.leaf = Leaf::Paragraph(Paragraph::new(text));
            }
        }
        self.draw_long();
    }

    /// Draws what there is of a long paragraph.
    pub(super) fn draw_long(&mut self) {
        let width = self.width();
        if let Leaf::Paragraph(paragraph) = &mut self.leaf
            && paragraph.text.len() >= LONGEST
        {
            let rows = paragraph.draw_part(width, &self.links);
            self.draw(rows);
        }
    }
}

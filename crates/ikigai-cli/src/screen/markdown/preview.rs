//! What is open, drawn as if it ended here.
//!
//! A copy of the document takes what there is of the last line. What is open is small, and the rest is shared.

use super::document::Document;
use super::inline::completed;
use super::leaf::{Code, Leaf, Paragraph};
use crate::screen::look::DIM;
use crate::screen::text::{Row, Span, shorten};

impl Document {
    /// The lines of what is open, if the last line were `line`.
    pub(super) fn preview(&self, line: &str, begun: bool) -> Vec<String> {
        let (nest, leaf, links) = (self.nest.clone(), self.leaf.clone(), self.links.clone());
        let mut ahead = Document { look: self.look, nest, leaf, links, drawn: String::new(), ahead: true };
        if begun {
            ahead.last_part(line);
        } else if !ahead.is_unclear(line) {
            ahead.line(line);
        }
        ahead.end();
        ahead.drawn.lines().map(str::to_owned).collect()
    }

    /// Whether the beginning of a line may still become many things: showing one of them would make the text jump.
    fn is_unclear(&self, line: &str) -> bool {
        match &self.leaf {
            Leaf::Code(Code { fence: Some(fence), .. }) => {
                line.is_empty() || fence.may_be_closed_by(line.trim_start_matches([' ', '>']))
            }
            Leaf::Table(_) => true,
            Leaf::None | Leaf::Paragraph(_) | Leaf::Code(_) | Leaf::Html(_) | Leaf::Definitions => {
                line.chars().all(|sign| " \t-=*+#`~_|:>.)[<".contains(sign) || sign.is_ascii_digit())
            }
        }
    }

    /// A paragraph of which more will come.
    pub(super) fn preview_paragraph(&self, mut paragraph: Paragraph) -> Vec<Row> {
        let is_table = paragraph.last_line().is_some_and(|line| line.starts_with('|'));
        if is_table {
            paragraph.split_last_line();
        }
        paragraph.text = completed(&paragraph.text).into_owned();
        let mut rows = Vec::new();
        if !paragraph.is_empty() {
            rows.extend(paragraph.draw(self.width(), &self.links));
        }
        if is_table {
            rows.push(self.placeholder(0));
        }
        rows
    }

    /// What stands for a table that is not whole yet.
    pub(super) fn placeholder(&self, rows: usize) -> Row {
        let sign = self.look.sign("┄", "-");
        let text = match rows {
            0 => format!("{sign} table"),
            1 => format!("{sign} table, 1 row so far"),
            rows => format!("{sign} table, {rows} rows so far"),
        };
        vec![Span::new(&shorten(&text, self.width(), self.look), DIM)]
    }
}

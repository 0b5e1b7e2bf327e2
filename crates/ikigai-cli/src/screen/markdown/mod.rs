//! Markdown, drawn while it arrives.
//!
//! Text comes in pieces of any size. Whole lines go through the block parser at once, and what cannot change any more is
//! final: it is handed out and never drawn again. A line of code is final at its end, a paragraph or a heading when the
//! next block begins, an item of a list when the next one does, a table when it is whole. What is still open is drawn
//! anew for each frame, and it is never large, so the cost of a frame does not grow with the document.
//!
//! The block structure follows CommonMark with the tables, tasks and strikethrough of GitHub. Where it differs:
//! - A link by name finds its address only when the definition came before. Definitions are therefore shown.
//! - Lists have blank lines where the source has them; a later item does not change how an earlier one looks.
//! - A paragraph of more than [`LONGEST`] bytes is drawn in parts: emphasis that spans two of them stays as it was
//!   written.
//! - Lists and quotes nest [`nest::DEEPEST`] deep; what is deeper is text.

mod code;
mod document;
mod inline;
mod leaf;
mod long;
mod nest;
mod preview;
mod starts;
mod table;

use anstyle::Style;
pub(crate) use code::acknowledgements;
use document::Document;

use super::look::Look;
use super::text::Inline;

/// How much of one line or one paragraph is kept back until its end, in bytes.
const LONGEST: usize = 8 * 1024;

/// What to draw now.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Whole lines that became final since the last frame, each with its line end.
    pub(crate) finished: String,
    /// The lines of what is still growing: they take the place of those in the last frame.
    pub(crate) open: Vec<String>,
}

/// Draws a document that arrives in pieces.
#[derive(Debug)]
pub(crate) struct Renderer {
    document: Document,
    /// The last line, of which more may come.
    line: String,
    /// The beginning of this line was too long to wait for the rest, and is in the document already.
    begun: bool,
    /// The last character was a carriage return: a line feed after it belongs to the same line end.
    after_return: bool,
}

/// A whole document, drawn at once.
pub(crate) fn markdown(text: &str, look: Look) -> String {
    let mut renderer = Renderer::new(look);
    renderer.push(text);
    renderer.finish()
}

/// A line of running text in its styles, for what is no document.
pub(super) fn inline(line: &str, base: Style) -> Vec<Inline> {
    inline::inline(line, base, &inline::Links::new())
}

impl Renderer {
    /// A renderer at the beginning of a document.
    pub(crate) fn new(look: Look) -> Self {
        Renderer { document: Document::new(look), line: String::new(), begun: false, after_return: false }
    }

    /// Takes a piece of the text. What is still open is not drawn: for that, ask for a [`frame`](Self::frame).
    pub(crate) fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(next) = rest.find(['\n', '\r']) {
            let (text, ended) = rest.split_at(next);
            let feed = ended.starts_with('\n');
            rest = ended.get(1..).unwrap_or_default();
            let same_end = std::mem::take(&mut self.after_return) && feed && text.is_empty();
            if !same_end {
                self.text(text);
                self.end_line();
            }
            self.after_return = !feed;
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.text(rest);
        }
    }

    /// What became final since the last frame, and what is open now. Drawing thirty of them a second is plenty.
    pub(crate) fn frame(&mut self) -> Frame {
        Frame { finished: self.document.take(), open: self.document.preview(&self.line, self.begun) }
    }

    /// Ends the document: everything that no frame has handed out yet. The renderer is then ready for another one.
    pub(crate) fn finish(&mut self) -> String {
        if !self.line.is_empty() || self.begun {
            self.end_line();
        }
        self.document.end();
        let rest = self.document.take();
        *self = Renderer::new(self.document.look());
        rest
    }

    /// Draws at another width from here on. What was handed out stays as it is.
    pub(crate) fn resize(&mut self, width: usize) {
        self.document.resize(width);
    }

    fn text(&mut self, mut text: &str) {
        // Where a long line is cut must depend on the line alone, not on the pieces it came in.
        while self.line.len() + text.len() > LONGEST {
            let fits = text.floor_char_boundary(LONGEST.saturating_sub(self.line.len()));
            let (start, end) = text.split_at(fits);
            self.line.push_str(start);
            text = end;
            let cut = self.line.rfind(' ').map_or(self.line.len(), |space| space + 1);
            let left = self.line.split_off(cut);
            if self.begun {
                self.document.next_part(&self.line);
            } else {
                self.document.first_part(&self.line);
            }
            self.begun = true;
            self.line = left;
        }
        self.line.push_str(text);
    }

    fn end_line(&mut self) {
        if self.begun {
            self.document.last_part(&self.line);
        } else {
            self.document.line(&self.line);
        }
        self.line.clear();
        self.begun = false;
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

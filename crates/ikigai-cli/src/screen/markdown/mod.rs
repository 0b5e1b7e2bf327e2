//! Markdown that is drawn while it arrives.
//!
//! Text arrives in pieces of any size. What can no longer change is final: it is returned and never drawn again. A line
//! of code is final at its end, a paragraph when a blank line or another block follows, a heading at its end, a table
//! when it is complete. What is still open is parsed and drawn again for each frame.
//!
//! pulldown-cmark does the parsing: CommonMark with GitHub's tables, tasks and strikethrough. Differences:
//! - A link by name finds its URL only if the definition came before it. Definitions are therefore shown.
//! - Lists have blank lines where the source has them; a later item does not change how an earlier one looks.
//! - Surplus cells of a table row are shown in the last column.
//! - A paragraph of more than [`LONGEST`] bytes is drawn in parts: emphasis across two of them is shown as written.
//! - Lists and quotes are shown [`nest::DEEPEST`] deep.

mod code;
mod definition;
mod document;
mod draw;
mod inline;
mod nest;
mod outline;
mod running;
mod table;

use anstyle::Style;
pub(crate) use code::acknowledgements;
use document::Document;

use super::look::Look;
use super::text::Inline;

/// How much of one line or paragraph is kept back until its end, in bytes.
const LONGEST: usize = 8 * 1024;

/// What is open is rarely larger than this, in bytes. If it is, it is parsed again only when it has grown by a share
/// that is worth it.
const LARGE: usize = 16 * 1024;
const WORTH: usize = 32;

/// What to draw now.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Complete lines that became final since the last frame, each with its line break.
    pub(crate) finished: String,
    /// The lines that are still growing: they replace those of the last frame.
    pub(crate) open: Vec<String>,
}

/// Draws a document that arrives in pieces.
#[derive(Debug)]
pub(crate) struct Renderer {
    document: Document,
    /// The last line, which may continue.
    line: String,
    /// Whether the last character was a carriage return: a line feed after it belongs to the same line break.
    after_return: bool,
    /// How much text has to arrive before it is drawn without a request. This depends on the text alone, not on the
    /// pieces it arrives in: a long paragraph is divided where this happens.
    room: usize,
    /// What was open in the last frame.
    open: Vec<String>,
}

/// Draws a complete document at once.
pub(crate) fn markdown(text: &str, look: Look) -> String {
    let mut renderer = Renderer::new(look);
    renderer.push(text);
    renderer.finish()
}

/// Parses a line of running text into styled parts, for text that is not a document.
pub(super) fn inline(line: &str, base: Style) -> Vec<Inline> {
    inline::inline(line, base)
}

impl Renderer {
    /// Creates a renderer at the beginning of a document.
    pub(crate) fn new(look: Look) -> Self {
        let (document, line, open) = (Document::new(look), String::new(), Vec::new());
        Renderer { document, line, after_return: false, room: LONGEST, open }
    }

    /// Adds a piece of the text. What is still open is not drawn: call [`frame`](Self::frame) for that.
    pub(crate) fn push(&mut self, mut piece: &str) {
        while piece.len() >= self.room {
            let fits = piece.ceil_char_boundary(self.room);
            let (text, rest) = piece.split_at(fits);
            self.text(text);
            piece = rest;
            self.document.advance();
            self.document.shorten(&mut self.line);
            self.room = LONGEST.max((self.document.source.len() + self.line.len()) / 4);
        }
        self.room -= piece.len();
        self.text(piece);
    }

    /// Returns what became final since the last frame, and what is open now. Thirty frames per second are plenty.
    pub(crate) fn frame(&mut self) -> Frame {
        let size = self.document.source.len();
        if size <= LARGE || self.document.news() > size / WORTH || self.document.has_drawn() {
            self.document.advance();
            self.open = self.document.preview(&self.line);
        }
        Frame { finished: self.document.take(), open: self.open.clone() }
    }

    /// Ends the document, and returns what no frame has returned yet. The renderer is then ready for another one.
    pub(crate) fn finish(&mut self) -> String {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.document.end();
        let rest = self.document.take();
        *self = Renderer::new(self.document.look);
        rest
    }

    /// Draws at another width from here on. What has been returned stays unchanged.
    pub(crate) fn resize(&mut self, width: usize) {
        self.document.look = self.document.look.with_width(width);
        self.open = self.document.preview(&self.line);
    }

    fn text(&mut self, text: &str) {
        for part in text.split_inclusive(['\n', '\r']) {
            let after_return = std::mem::replace(&mut self.after_return, part.ends_with('\r'));
            if after_return && part == "\n" {
                continue;
            }
            let line = part.trim_end_matches(['\n', '\r']);
            self.line.push_str(line);
            if line.len() < part.len() {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        self.document.line(&self.line);
        self.line.clear();
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

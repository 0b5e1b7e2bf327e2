//! The part of a document that may still change, and what has been drawn of the rest.
//!
//! Only the end of a text can change: the last block, and what is open around it. That is parsed again when more arrives.
//! What is certain is drawn once, and its source is dropped as soon as nothing after it needs it: everything before the
//! last outermost block or item, lines of code, the beginning of a long paragraph.

use std::cell::RefCell;

use anstyle::Style;

use super::LONGEST;
use super::definition::{Links, guarded, unguarded};
use super::draw::{Begun, End, Part, Pen};
use super::inline::completed;
use super::outline::{Cut, Tip, next_line, outline};
use crate::screen::clean::clean;
use crate::screen::look::Look;
use crate::screen::text::{Inline, untabbed};

/// The distance of tab stops in Markdown.
const TAB: usize = 4;

/// A document as far as it has been read, and what has been drawn of it.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) look: Look,
    /// Complete lines that are still needed.
    pub(super) source: String,
    /// How much of them had arrived when they were last parsed.
    parsed: usize,
    /// The cut at which they begin.
    first: Cut,
    /// Whether there were blocks before.
    used: bool,
    tip: Tip,
    /// Everything that begins before this position has been drawn.
    drawn_to: usize,
    begun: Begun,
    links: RefCell<Links>,
    drawn: String,
}

impl Document {
    pub(super) fn new(look: Look) -> Self {
        Document {
            look,
            source: String::new(),
            parsed: 0,
            first: Cut { at: 0, outer: None, blank: false },
            used: false,
            tip: Tip::Closed,
            drawn_to: 0,
            begun: Begun::Nothing,
            links: RefCell::default(),
            drawn: String::new(),
        }
    }

    /// Returns the lines drawn since the last call.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.drawn)
    }

    /// Whether there are such lines.
    pub(super) fn has_drawn(&self) -> bool {
        !self.drawn.is_empty()
    }

    /// Adds a complete line. It is not drawn before another method is called.
    pub(super) fn line(&mut self, line: &str) {
        self.source.push_str(&prepared(line));
        self.source.push('\n');
    }

    /// Returns how much text has arrived since the last drawing.
    pub(super) fn news(&self) -> usize {
        self.source.len() - self.parsed
    }

    /// Ends the text.
    pub(super) fn end(&mut self) {
        let part = Part { from: self.drawn_to, until: usize::MAX, end: End::Closed };
        let pen = self.pen(&self.source).draw(part, self.begun.clone());
        self.drawn.push_str(&pen.drawn);
    }

    /// Draws everything that is certain.
    pub(super) fn advance(&mut self) {
        if self.news() == 0 {
            return;
        }
        let outline = outline(&self.source, self.first);
        let part = Part { from: self.drawn_to, until: outline.until, end: End::Closed };
        let pen = self.pen(&self.source).draw(part, self.begun.clone());
        let (drawn, begun, used) = (pen.drawn, pen.begun, pen.nest.used);
        self.drawn.push_str(&drawn);
        self.begun = begun;
        self.tip = outline.tip;
        self.drawn_to = self.drawn_to.max(outline.until);
        if outline.tip == Tip::Fenced {
            let code = next_line(&self.source, outline.start + 1);
            if code < outline.until {
                self.source.replace_range(code..outline.until, "");
                self.drawn_to = code;
            }
        }
        if outline.cut.at > 0 {
            self.source.drain(..outline.cut.at);
            self.drawn_to = self.drawn_to.saturating_sub(outline.cut.at);
            self.first = Cut { at: 0, ..outline.cut };
            self.used = used;
            if let Begun::Paragraph { rest, .. } = &mut self.begun {
                *rest = rest.saturating_sub(outline.cut.at);
            }
        }
        self.parsed = self.source.len();
    }

    /// Draws the beginning of the last paragraph if it is long. `line` is the last line, which may continue.
    pub(super) fn shorten(&mut self, line: &mut String) {
        let mut text = format!("{}{}", self.source, prepared(line));
        let outline = outline(&text, self.first);
        let open = outline.until == outline.start && outline.tip == Tip::Paragraph;
        if !open || text.len() - outline.start < LONGEST {
            return;
        }
        let from = match &self.begun {
            Begun::Paragraph { rest, .. } if outline.start == self.drawn_to => *rest,
            Begun::Nothing | Begun::Code(_) | Begun::Paragraph { .. } => outline.start,
        };
        let space = text.get(from..).and_then(|rest| rest.rfind([' ', '\n']));
        let cut = space.map_or(text.len(), |space| from + space + 1);
        let part = Part { from: self.drawn_to, until: usize::MAX, end: End::Kept(outline.start) };
        let pen = self.pen(text.get(..cut).unwrap_or_default()).draw(part, self.begun.clone());
        let (drawn, begun) = (pen.drawn, pen.begun);
        self.drawn.push_str(&drawn);
        // A word replaces what has been drawn, so that the rest is still parsed as a paragraph.
        let beginning = match text.as_bytes().get(cut - 1) {
            Some(b'\n') => "x\n",
            Some(b' ') => "x ",
            _ => "x",
        };
        text.replace_range(outline.start..cut, beginning);
        self.begun = match begun {
            Begun::Paragraph { mut row, .. } => {
                row.extend(space.map(|_| Inline::new(" ", Style::new())));
                Begun::Paragraph { rest: outline.start + beginning.len(), row }
            }
            begun @ (Begun::Nothing | Begun::Code(_)) => begun,
        };
        self.drawn_to = outline.start;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if cut > self.source.len() {
            *line = unguarded(text.get(whole..).unwrap_or_default()).into_owned();
        }
        text.truncate(whole);
        self.source = text;
        self.parsed = 0;
    }

    /// Returns the open lines as if the last line were `line`.
    pub(super) fn preview(&self, line: &str) -> Vec<String> {
        let mut text = self.source.clone();
        if !self.is_unclear(line) {
            text.push_str(&prepared(line));
        }
        let tip = outline(&text, self.first);
        if matches!(tip.tip, Tip::Paragraph | Tip::Heading) {
            let open = text.split_off(tip.start);
            text.push_str(&completed(&open));
        }
        let part = Part { from: self.drawn_to, until: usize::MAX, end: End::Ahead(tip.start) };
        let pen = self.pen(&text).draw(part, self.begun.clone());
        pen.drawn.lines().map(str::to_owned).collect()
    }

    /// Whether the beginning of a line may still become many things: showing one of them would make the text jump.
    fn is_unclear(&self, line: &str) -> bool {
        match self.tip {
            Tip::Fenced => line.trim_start_matches([' ', '>']).chars().all(|sign| matches!(sign, '`' | '~' | ' ')),
            Tip::Table => true,
            Tip::Closed | Tip::Paragraph | Tip::Lines | Tip::Heading => {
                line.chars().all(|sign| " \t-=*+#`~_|:>.)[<".contains(sign) || sign.is_ascii_digit())
            }
        }
    }

    fn pen<'a>(&'a self, text: &'a str) -> Pen<'a> {
        Pen::new(text, self.first, self.used, self.look, &self.links)
    }
}

/// Prepares a line for parsing.
fn prepared(line: &str) -> String {
    guarded(&untabbed(&clean(line), TAB)).into_owned()
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;

//! The blocks that hold text: what is kept of them while they are open, and how they are drawn.

use std::sync::Arc;

use anstyle::Style;

use super::code::{Colours, language};
use super::inline::{Links, inline};
use super::starts::{Fence, HtmlEnd};
use super::table::Table;
use crate::screen::look::{DIM, HEADING, Look};
use crate::screen::text::{Inline, Row, Span, chop, fill};

/// The block that takes the next line.
#[derive(Debug, Clone, Default)]
pub(super) enum Leaf {
    #[default]
    None,
    Paragraph(Paragraph),
    Code(Code),
    Html(Html),
    /// Shared with the copies that are made for each frame.
    Table(Arc<Table>),
    /// Addresses of links, drawn line by line as they came.
    Definitions,
}

/// Running text.
#[derive(Debug, Clone, Default)]
pub(super) struct Paragraph {
    /// The lines so far, without their indentation.
    pub(super) text: String,
    /// Of a long paragraph: the last line of what has been drawn, which the rest goes on from.
    drawn: Option<Vec<Inline>>,
}

impl Paragraph {
    pub(super) fn new(line: &str) -> Self {
        Paragraph { text: line.trim_start().to_owned(), drawn: None }
    }

    pub(super) fn line(&mut self, line: &str) {
        if !self.text.is_empty() || self.drawn.is_some() {
            self.text.push('\n');
        }
        self.text.push_str(line.trim_start());
    }

    /// More of the last line.
    pub(super) fn more(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Whether nothing of it has been drawn.
    pub(super) fn is_whole(&self) -> bool {
        self.drawn.is_none()
    }

    /// The last line, if nothing of it has been drawn.
    pub(super) fn last_line(&self) -> Option<&str> {
        match self.text.rsplit_once('\n') {
            Some((_, line)) => Some(line),
            None => self.is_whole().then_some(self.text.as_str()),
        }
    }

    /// Takes the last line away.
    pub(super) fn split_last_line(&mut self) -> String {
        match self.text.rfind('\n') {
            Some(end) => {
                let line = self.text.split_off(end + 1);
                self.text.truncate(end);
                line
            }
            None => std::mem::take(&mut self.text),
        }
    }

    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.drawn.is_none()
    }

    /// Draws what there is and keeps the last line, for the text that will follow.
    pub(super) fn draw_part(&mut self, width: usize, links: &Links) -> Vec<Row> {
        let ends_in_space = self.text.ends_with([' ', '\n']);
        let mut rows = self.draw(width, links);
        let mut last: Vec<Inline> = rows.pop().unwrap_or_default().into_iter().map(Inline::Text).collect();
        if ends_in_space {
            last.push(Inline::new(" ", Style::new()));
        }
        *self = Paragraph { text: String::new(), drawn: Some(last) };
        rows
    }

    pub(super) fn draw(&self, width: usize, links: &Links) -> Vec<Row> {
        let mut all = self.drawn.clone().unwrap_or_default();
        if !all.is_empty() && self.text.starts_with(['\n', ' ']) {
            all.push(Inline::new(" ", Style::new()));
        }
        all.extend(inline(self.text.trim_start_matches('\n'), Style::new(), links));
        fill(&all, width)
    }
}

/// A heading's rows.
pub(super) fn heading(level: usize, text: &str, width: usize, links: &Links) -> Vec<Row> {
    let style = match level {
        1 => HEADING.underline(),
        2 => HEADING,
        _ => HEADING.italic(),
    };
    fill(&inline(text, style, links), width)
}

/// A block of code.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// Without one it is code by its indentation.
    pub(super) fence: Option<Fence>,
    /// How far the fence is indented: so much is taken from each line.
    pub(super) indent: usize,
    /// Blank lines that are code only when more of it follows.
    pub(super) blanks: usize,
    colours: Option<Colours>,
    /// Of a long line: what there is of it.
    begun: Row,
}

/// Code is drawn as it is: from the left edge and each line in one piece, which the terminal breaks where it has to. So it can be
/// copied from the screen.
impl Code {
    pub(super) fn new(fence: Option<Fence>, indent: usize, info: &str, look: Look) -> Self {
        Code { fence, indent, blanks: 0, colours: Colours::new(info, look), begun: Row::new() }
    }

    /// What is shown above the code: the words after the fence, if they say more than the language.
    pub(super) fn title(info: &str, width: usize) -> Vec<Row> {
        if info.is_empty() || language(info) == info {
            return Vec::new();
        }
        fill(&[Inline::new(info, DIM)], width)
    }

    /// A line of code, or the last part of one.
    pub(super) fn line(&mut self, line: &str) -> Row {
        let mut spans = std::mem::take(&mut self.begun);
        match &mut self.colours {
            Some(colours) if spans.is_empty() => spans = colours.line(line),
            Some(_) | None => spans.push(Span::plain(line)),
        }
        spans
    }

    /// A part of a line that is longer than what is parsed at once.
    pub(super) fn part(&mut self, text: &str) {
        self.begun.push(Span::plain(text));
    }
}

/// A block of HTML, shown as it is written.
#[derive(Debug, Clone)]
pub(super) struct Html {
    pub(super) end: HtmlEnd,
    /// Of a long line: the last row of what has been drawn.
    drawn: Row,
}

impl Html {
    pub(super) fn new(end: HtmlEnd) -> Self {
        Html { end, drawn: Row::new() }
    }

    /// A line, or the last part of one.
    pub(super) fn line(&mut self, line: &str, width: usize) -> Vec<Row> {
        let mut spans = std::mem::take(&mut self.drawn);
        spans.push(Span::new(line, DIM));
        chop(&spans, width)
    }

    /// A part of a line that is too long to wait for its end.
    pub(super) fn part(&mut self, text: &str, width: usize) -> Vec<Row> {
        let mut rows = self.line(text, width);
        self.drawn = rows.pop().unwrap_or_default();
        rows
    }
}

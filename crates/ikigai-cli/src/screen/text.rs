//! Styled text in lines: its width, where it may break, how it is written.

use std::borrow::Cow;
use std::sync::Arc;

use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::clean::clean;
use super::links;
use super::look::Look;

/// How text looks, and where it links to.
#[derive(Debug, Clone, PartialEq)]
struct Ink {
    style: Style,
    link: Option<Arc<str>>,
}

/// A run of text with the same look. It never contains control characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    text: String,
    ink: Ink,
}

impl Span {
    pub(super) fn new(text: &str, style: Style) -> Self {
        Span::linked(text, style, None)
    }

    /// Creates a span that links to a URL returned by [`links::target`].
    pub(super) fn linked(text: &str, style: Style, link: Option<Arc<str>>) -> Self {
        Span { text: clean(text).into_owned(), ink: Ink { style, link } }
    }

    pub(super) fn plain(text: &str) -> Self {
        Span::new(text, Style::new())
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// One line of the screen.
pub(super) type Row = Vec<Span>;

/// A part of running text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Inline {
    Text(Span),
    /// A line break in the source.
    Break,
}

impl Inline {
    pub(super) fn new(text: &str, style: Style) -> Self {
        Inline::Text(Span::new(text, style))
    }
}

/// Returns how many columns a text occupies.
///
/// Sums up what readers see as characters, because terminals place those one by one.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(|part| part.width()).sum() }
}

/// Returns how many columns a row occupies.
pub(super) fn row_width(row: &[Span]) -> usize {
    row.iter().map(|span| width(&span.text)).sum()
}

/// Formats a row for writing. Spaces at its end are left out: they are invisible, but would be copied along.
pub(super) fn paint(row: &[Span], look: Look) -> String {
    let mut left: usize = row.iter().map(|span| span.text.len()).sum();
    for span in row.iter().rev() {
        let text = span.text.trim_end_matches(' ');
        left -= span.text.len() - text.len();
        if !text.is_empty() {
            break;
        }
    }
    let mut line = String::with_capacity(left);
    let mut spans = row.iter().peekable();
    while let Some(span) = spans.next() {
        let mut text = span.text.clone();
        let is_same = |next: &&Span| match look.links {
            true => next.ink == span.ink,
            false => next.ink.style == span.ink.style,
        };
        while let Some(next) = spans.next_if(is_same) {
            text.push_str(&next.text);
        }
        text.truncate(left);
        left -= text.len();
        let shown = look.paint(span.ink.style, &text);
        match span.ink.link.as_ref().filter(|_| look.links && !text.is_empty()) {
            Some(link) => line.push_str(&format!("\x1b]8;;{link}\x1b\\{shown}{}", links::END)),
            None => line.push_str(&shown),
        }
    }
    line
}

/// Wraps running text into rows of at most `width` columns.
pub(super) fn fill(text: &[Inline], width: usize) -> Vec<Row> {
    let mut filler = Filler::new(width);
    for part in text {
        match part {
            Inline::Text(span) => filler.span(span),
            Inline::Break => filler.next_row(),
        }
    }
    filler.finish()
}

/// Cuts text into rows of at most `width` columns, keeping its spaces. There is at least one row.
pub(super) fn chop(text: &[Span], width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = Row::new();
    let mut taken = 0;
    for span in text {
        if span.text.is_ascii() && taken + span.text.len() <= width {
            append(&mut row, &span.text, &span.ink);
            taken += span.text.len();
            continue;
        }
        for part in pieces(&span.text, width) {
            let part_width = part.width();
            if taken + part_width > width && taken > 0 {
                rows.push(std::mem::take(&mut row));
                taken = 0;
            }
            append(&mut row, part, &span.ink);
            taken += part_width;
        }
    }
    rows.push(row);
    rows
}

/// Wraps plain text at the look's width; its own line breaks stay.
pub(crate) fn wrap(text: &str, look: Look) -> Vec<String> {
    let rows = text.lines().flat_map(|line| fill(&[Inline::new(line, Style::new())], look.width));
    rows.map(|row| paint(&row, look)).collect()
}

/// Replaces tabs with spaces, with tab stops at this distance.
pub(crate) fn untabbed(line: &str, tab: usize) -> Cow<'_, str> {
    if !line.contains('\t') {
        return Cow::Borrowed(line);
    }
    let mut spaced = String::with_capacity(line.len() + 16);
    let mut column = 0;
    for (place, part) in line.split('\t').enumerate() {
        if place > 0 {
            let step = tab - column % tab;
            spaced.push_str(&" ".repeat(step));
            column += step;
        }
        spaced.push_str(part);
        column += width(part);
    }
    Cow::Owned(spaced)
}

/// Cuts text to one line of at most this many columns, with a symbol where something is missing.
pub(crate) fn shorten(text: &str, most: usize, look: Look) -> String {
    let text = clean(text).replace(['\n', '\t'], " ");
    if width(&text) <= most {
        return text;
    }
    let sign = look.sign("…", "...");
    let mut left = most.saturating_sub(width(sign));
    let mut short = String::new();
    for part in text.graphemes(true) {
        left = match left.checked_sub(part.width()) {
            Some(left) => left,
            None => break,
        };
        short.push_str(part);
    }
    short.truncate(short.trim_end().len());
    short.push_str(sign);
    short
}

/// Splits text into what readers see as characters, and splits those that are wider than a whole line.
fn pieces(text: &str, width: usize) -> impl Iterator<Item = &str> {
    text.graphemes(true).flat_map(move |part| {
        let whole = (part.width() <= width).then_some(part);
        let split = if whole.is_some() { "" } else { part };
        whole.into_iter().chain(split.split("").filter(|character| !character.is_empty()))
    })
}

fn append(row: &mut Row, text: &str, ink: &Ink) {
    match row.last_mut() {
        Some(last) if last.ink == *ink => last.text.push_str(text),
        Some(_) | None => row.push(Span { text: text.to_owned(), ink: ink.clone() }),
    }
}

struct Filler {
    width: usize,
    rows: Vec<Row>,
    row: Row,
    row_width: usize,
    /// The word that is being collected.
    word: Row,
    word_width: usize,
    /// A space that waits for the next word.
    space: Option<Ink>,
    /// Whether a line may end after the last character, without a space.
    wide: bool,
}

impl Filler {
    fn new(width: usize) -> Self {
        Filler {
            width: width.max(2),
            rows: Vec::new(),
            row: Row::new(),
            row_width: 0,
            word: Row::new(),
            word_width: 0,
            space: None,
            wide: false,
        }
    }

    fn span(&mut self, span: &Span) {
        if span.text.is_ascii() {
            return self.ascii(span);
        }
        for part in pieces(&span.text, self.width) {
            self.part(part, &span.ink);
        }
    }

    fn part(&mut self, part: &str, ink: &Ink) {
        if matches!(part, " " | "\n" | "\t" | "\r\n") {
            return self.set_space(ink);
        }
        let part_width = part.width();
        let wide = part_width > 1;
        if (wide || self.wide) && !clings(part) {
            self.end_word();
        }
        if self.word_width + part_width > self.width {
            self.break_word();
        }
        append(&mut self.word, part, ink);
        self.word_width += part_width;
        self.wide = wide;
    }

    fn set_space(&mut self, ink: &Ink) {
        self.end_word();
        self.space = Some(ink.clone());
        self.wide = false;
    }

    /// Adds ASCII text word by word, which is the usual case.
    fn ascii(&mut self, span: &Span) {
        for (place, word) in span.text.split([' ', '\n', '\t']).enumerate() {
            if place > 0 {
                self.set_space(&span.ink);
            }
            if std::mem::take(&mut self.wide) && !word.is_empty() && !clings(word) {
                self.end_word();
            }
            let mut rest = word;
            while !rest.is_empty() {
                let (part, after) = rest.split_at_checked(self.width - self.word_width).unwrap_or((rest, ""));
                append(&mut self.word, part, &span.ink);
                self.word_width += part.len();
                rest = after;
                if !rest.is_empty() {
                    self.break_word();
                }
            }
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let space = usize::from(self.space.is_some() && !self.row.is_empty());
        if self.row_width + space + self.word_width > self.width && !self.row.is_empty() {
            self.rows.push(std::mem::take(&mut self.row));
            self.row_width = 0;
        }
        if let Some(ink) = self.space.take().filter(|_| !self.row.is_empty()) {
            append(&mut self.row, " ", &ink);
            self.row_width += 1;
        }
        for span in std::mem::take(&mut self.word) {
            append(&mut self.row, &span.text, &span.ink);
        }
        self.row_width += std::mem::take(&mut self.word_width);
    }

    /// Breaks a word that is longer than a line: what there is of it becomes a separate row.
    fn break_word(&mut self) {
        self.end_word();
        self.rows.push(std::mem::take(&mut self.row));
        self.row_width = 0;
    }

    fn next_row(&mut self) {
        self.end_word();
        self.rows.push(std::mem::take(&mut self.row));
        self.row_width = 0;
        self.space = None;
        self.wide = false;
    }

    fn finish(mut self) -> Vec<Row> {
        self.end_word();
        if !self.row.is_empty() || self.rows.is_empty() {
            self.rows.push(self.row);
        }
        self.rows
    }
}

/// Whether a character stays with the one before it although that is wide: a line must not begin with these.
fn clings(part: &str) -> bool {
    part.chars().next().is_some_and(|character| {
        matches!(
            character,
            '、' | '。'
                | '，'
                | '．'
                | '：'
                | '；'
                | '！'
                | '？'
                | '）'
                | '」'
                | '』'
                | '】'
                | '》'
                | '〉'
                | '〕'
                | '］'
                | '｝'
                | 'ー'
                | '々'
                | '…'
        ) || character.is_ascii_punctuation() && !matches!(character, '(' | '[' | '{' | '<')
    })
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

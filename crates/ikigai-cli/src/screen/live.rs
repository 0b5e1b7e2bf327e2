//! The lines at the bottom that are still changing, and the finished ones above them.
//!
//! Finished text goes into the terminal's own scrollback and is never touched again. Only the open lines below it are
//! redrawn, in one write and, if the terminal supports it, as one frame.

use std::io::{self, Write};

use unicode_segmentation::UnicodeSegmentation as _;

use super::text::width;

/// The terminal shows everything between these two at once.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Lines wider than we measured are cut, not wrapped: a wrapped line would shift everything below it.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
/// Clears from the cursor to the end of the line, and to the end of the screen.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// The size of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// Whether lines can be redrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    /// On a terminal that can redraw lines.
    Live,
    /// In a file or a pipe, or on a print-only terminal: only finished text is written.
    Plain,
}

impl Region {
    /// Returns the kind of region for this output; `TERM` in the environment may say that the terminal only prints.
    pub(crate) fn detect(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        if is_terminal && variable("TERM").as_deref() != Some("dumb") { Region::Live } else { Region::Plain }
    }
}

/// Draws finished text and, below it, lines that may change.
#[derive(Debug)]
pub(crate) struct Live<W> {
    writer: W,
    size: Size,
    region: Region,
    reflows: bool,
    /// The open lines as they are on the screen. The cursor is at the end of the last one.
    shown: Vec<String>,
    /// How many rows of the screen they occupy.
    height: usize,
}

impl<W: Write> Live<W> {
    /// Creates a region that begins at the cursor, which has to be at the beginning of a line.
    pub(crate) fn new(writer: W, size: Size, region: Region) -> Self {
        let size = Size { columns: size.columns.max(1), rows: size.rows.max(1) };
        Live { writer, size, region, reflows: true, shown: Vec::new(), height: 0 }
    }

    /// Sets whether the terminal rewraps its lines when its width changes. Nearly all do; xterm itself (which sets
    /// `XTERM_VERSION`) does not.
    pub(crate) fn reflows(self, reflows: bool) -> Self {
        Live { reflows, ..self }
    }

    /// Returns the writer, to inspect what was written.
    #[cfg(test)]
    pub(crate) fn writer(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes finished lines above the region, then shows `open` as the region. If there are more lines than rows on
    /// the screen, the last ones are shown. A line break is added to finished text that does not end with one.
    pub(crate) fn draw(&mut self, finished: &str, open: &[String]) -> io::Result<()> {
        if self.region == Region::Plain {
            self.writer.write_all(finished.as_bytes())?;
            if !finished.is_empty() && !finished.ends_with('\n') {
                self.writer.write_all(b"\n")?;
            }
            return self.writer.flush();
        }
        let most = self.size.rows.saturating_sub(1).max(1);
        let hidden = open.len().saturating_sub(most);
        let open: Vec<String> = open.iter().skip(hidden).map(|line| clip(line, self.size.columns)).collect();
        // Without finished text, unchanged lines need not be redrawn.
        let same = if finished.is_empty() && self.height == self.shown.len() {
            self.shown.iter().zip(&open).take_while(|(old, new)| old == new).count()
        } else {
            0
        };
        if finished.is_empty() && same == self.shown.len() && same == open.len() {
            return Ok(());
        }
        // The cursor cannot be below the last line, so that one is redrawn if nothing but unchanged lines is left.
        let same = same.min(open.len().saturating_sub(1)).min(self.shown.len().saturating_sub(1));
        let old_rows = self.height - same;
        let mut rows = open.len() - same;
        let mut text = String::from(BEGIN);
        text.push_str(&up(old_rows.saturating_sub(1)));
        for line in finished.lines() {
            let width = visible_width(line);
            rows += self.rows_of(width);
            // Cleared before it is drawn: after a full line the cursor is still on its last character. Of a line that the
            // terminal has to wrap, all rows but the last are full.
            text.push_str(CLEAR_LINE);
            text.push_str(line);
            if width > self.size.columns && !width.is_multiple_of(self.size.columns) {
                text.push_str(CLEAR_LINE);
            }
            text.push_str("\r\n");
        }
        text.push_str(NO_WRAP);
        text.push_str(CLEAR_LINE);
        for (place, line) in open.iter().skip(same).enumerate() {
            text.push_str(if place == 0 { "" } else { "\r\n\x1b[K" });
            text.push_str(line);
        }
        if old_rows > rows.max(1) {
            // From the row below: tmux keeps everything cleared from the first cell of the screen in its history.
            let end = open.last().map_or(0, |line| visible_width(line)).min(self.size.columns.saturating_sub(1));
            text.push_str(&format!("\r\n{CLEAR_BELOW}\x1b[A\x1b[{}G", end + 1));
        }
        text.push_str(WRAP);
        text.push_str(END);
        self.height = open.len();
        self.shown = open;
        self.writer.write_all(text.as_bytes())?;
        self.writer.flush()
    }

    /// Removes the region. The cursor is then at the beginning of the line where the region was.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        self.draw("", &[])
    }

    /// Forgets the region, which is no longer on the screen: the next one is drawn at the cursor.
    pub(crate) fn forget(&mut self) {
        self.shown.clear();
        self.height = 0;
    }

    /// Adapts to another terminal size.
    pub(crate) fn resize(&mut self, size: Size) {
        self.size = Size { columns: size.columns.max(1), rows: size.rows.max(1) };
        let rows = |line: &String| if self.reflows { self.rows_of(visible_width(line)) } else { 1 };
        self.height = self.shown.iter().map(rows).sum();
    }

    /// Returns how many rows a line of this width occupies.
    fn rows_of(&self, width: usize) -> usize {
        width.div_ceil(self.size.columns).max(1)
    }
}

/// Moves to the beginning of the line this many rows above.
fn up(rows: usize) -> String {
    if rows == 0 { "\r".to_owned() } else { format!("\r\x1b[{rows}A") }
}

/// Returns how many columns a styled line occupies.
pub(super) fn visible_width(line: &str) -> usize {
    parts(line).map(|part| if part.starts_with('\x1b') { 0 } else { width(part) }).sum()
}

/// Cuts a line to this many columns, keeping all its style sequences, so that its styles also end.
fn clip(line: &str, columns: usize) -> String {
    let mut left = columns;
    let mut full = false;
    let mut cut = String::with_capacity(line.len());
    for part in parts(line) {
        if part.starts_with('\x1b') {
            cut.push_str(part);
            continue;
        }
        for character in part.graphemes(true) {
            match left.checked_sub(width(character)).filter(|_| !full) {
                Some(rest) => {
                    left = rest;
                    cut.push_str(character);
                }
                None => full = true,
            }
        }
    }
    cut
}

/// Splits a line into pieces of text and single escape sequences.
pub(super) fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let link = if rest.starts_with("\x1b]8;") { rest.find("\x1b\\") } else { None };
        let end = match (link, rest.strip_prefix("\x1b[")) {
            (Some(end), _) => end + 2,
            (None, Some(sequence)) => {
                sequence.find(|end: char| ('@'..='~').contains(&end)).map_or(rest.len(), |end| end + 3)
            }
            (None, None) => {
                rest.char_indices().skip(1).find(|(_, start)| *start == '\x1b').map_or(rest.len(), |(place, _)| place)
            }
        };
        let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;

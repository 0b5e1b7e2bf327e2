//! Shows everything that the user is asked to approve, in a frame, page by page.

use anstyle::Style;

use super::diff::diff;
use super::look::{DIM, HEADING, Look, YELLOW};
use super::notice::more_lines;
use super::spell::{spelt, spelt_lines};
use super::text::{Row, Span, chop, paint, row_width, shorten, width};

/// The columns of the frame and the blanks next to the text.
const FRAME: usize = 4;
/// How many rows stay on the screen after the decision.
const KEPT: usize = 40;

/// What the user is asked to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// A command, or the arguments of a call.
    Text(String),
    /// A file before and after a change; `old` is empty for a new file.
    Diff {
        /// The file, relative to the working folder.
        path: String,
        /// The content before.
        old: String,
        /// The content after.
        new: String,
    },
}

/// The content, laid out for a width.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    title: String,
    rows: Vec<Row>,
}

impl Sheet {
    /// Lays out all of it: nothing is left out, and nothing in it is invisible.
    pub(crate) fn new(title: &str, warnings: &[String], content: &Content, look: Look) -> Self {
        let room = look.width.saturating_sub(FRAME);
        let mut rows: Vec<Row> = Vec::new();
        for warning in warnings {
            let mut line = vec![Span::new(look.sign("⚠ ", "! "), YELLOW)];
            line.extend(spelt(warning, YELLOW));
            rows.extend(chop(&line, room));
        }
        match content {
            Content::Text(text) => {
                rows.extend(spelt_lines(text, Style::new()).iter().flat_map(|line| chop(line, room)));
            }
            Content::Diff { path, old, new } => rows.extend(diff(old, new, path, look.with_width(room))),
        }
        Sheet { title: title.to_owned(), rows }
    }

    /// Returns how many rows it has.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns a page of it in its frame, with a note below.
    pub(crate) fn page(&self, top: usize, height: usize, note: &str, look: Look) -> Vec<String> {
        let room = look.width.saturating_sub(FRAME);
        let side = |sign: &'static str| Span::new(sign, DIM);
        let mut lines = vec![edge(look.sign("╭", "+"), &self.title, HEADING, look.sign("╮", "+"), look)];
        for row in self.rows.iter().skip(top).take(height) {
            let mut line = vec![side(look.sign("│ ", "| "))];
            line.extend(row.iter().cloned());
            line.push(Span::plain(&" ".repeat(room.saturating_sub(row_width(row)))));
            line.push(side(look.sign(" │", " |")));
            lines.push(paint(&line, look));
        }
        lines.push(edge(look.sign("╰", "+"), note, DIM, look.sign("╯", "+"), look));
        lines
    }

    /// Returns what stays on the screen after the decision: its beginning, without a frame.
    pub(crate) fn kept(&self, look: Look) -> String {
        let mut text = String::new();
        for row in self.rows.iter().take(KEPT) {
            let mut line = vec![Span::plain("  ")];
            line.extend(row.iter().cloned());
            text.push_str(&paint(&line, look));
            text.push('\n');
        }
        text.push_str(&more_lines(self.rows.len().saturating_sub(KEPT), look));
        text
    }
}

/// Draws the upper or lower edge of the frame, with words in it.
fn edge(left: &'static str, words: &str, style: Style, right: &'static str, look: Look) -> String {
    let dash = look.sign("─", "-");
    let words = shorten(words, look.width.saturating_sub(6), look);
    let mut line = vec![Span::new(&format!("{left}{dash}"), DIM)];
    let mut taken = 3;
    if !words.is_empty() {
        taken += width(&words) + 2;
        line.extend([Span::plain(" "), Span::new(&words, style), Span::plain(" ")]);
    }
    line.push(Span::new(&format!("{}{right}", dash.repeat(look.width.saturating_sub(taken))), DIM));
    paint(&line, look)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::screen::testing::plain;

    #[test]
    fn a_command_is_shown_whole_however_it_is_padded() {
        let look = plain(44);
        let command = format!("git status{}; touch HIDDEN\n\u{202e}ls --with --many --more --words", " ".repeat(300));
        let sheet = Sheet::new("shell", &["It runs by itself.".to_owned()], &Content::Text(command), look);
        assert_snapshot!(sheet.page(0, 99, "", look).join("\n"), @"
        ╭─ shell ──────────────────────────────────╮
        │ ⚠ It runs by itself.                     │
        │ git status<300 spaces>; touch HIDDEN     │
        │ <U+202E>ls --with --many --more --words  │
        ╰──────────────────────────────────────────╯
        ");
    }

    #[test]
    fn pages_cover_all_rows_and_nothing_is_wider_than_the_screen() {
        let look = plain(30);
        let text: String = (1..=7).map(|line| format!("line {line} {}\n", "日本".repeat(line))).collect();
        let sheet = Sheet::new("write_file with a very long name indeed", &[], &Content::Text(text), look);
        assert_snapshot!(sheet.page(2, 3, "3 to 5 of 9", look).join("\n"), @"
        ╭─ write_file with a very… ──╮
        │ line 3 日本日本日本        │
        │ line 4 日本日本日本日本    │
        │ line 5 日本日本日本日本日  │
        ╰─ 3 to 5 of 9 ──────────────╯
        ");
        let all = sheet.page(0, 99, "", look);
        assert_eq!(all.iter().map(|line| width(line)).max(), Some(30));
        assert_eq!(all.len(), sheet.len() + 2);
    }
}

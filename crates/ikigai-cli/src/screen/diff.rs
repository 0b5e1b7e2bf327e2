//! Shows what changed in a file.

use anstyle::Style;
use similar::{ChangeTag, TextDiff};

use super::look::{DIM, GREEN, HEADING, Look, RED};
use super::spell::spelt;
use super::text::{Row, Span, chop};

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;
/// Diffs of large texts can take too long; then the changed middle is shown as removed and added.
const TIMEOUT: std::time::Duration = std::time::Duration::from_millis(500);

/// Returns all changes from `old` to `new`, with the number of added and removed lines; for a file that does not
/// change, a line that says so. Everything in them is made visible.
pub(super) fn diff(old: &str, new: &str, path: &str, look: Look) -> Vec<Row> {
    let changes = TextDiff::configure().timeout(TIMEOUT).diff_lines(old, new);
    let (mut added, mut removed) = (0_usize, 0_usize);
    let mut lines: Vec<(&str, Style, Vec<Span>)> = Vec::new();
    for (place, group) in changes.grouped_ops(CONTEXT).iter().enumerate() {
        if place > 0 {
            lines.push((" ", DIM, vec![Span::new(look.sign("⋯", "..."), DIM)]));
        }
        for change in group.iter().flat_map(|operation| changes.iter_changes(operation)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ("-", RED),
                ChangeTag::Insert => ("+", GREEN),
                ChangeTag::Equal => (" ", DIM),
            };
            added += usize::from(sign == "+");
            removed += usize::from(sign == "-");
            lines.push((sign, style, spelt(change.value().strip_suffix('\n').unwrap_or(change.value()), style)));
            if change.missing_newline() && change.tag() != ChangeTag::Equal {
                lines.push((" ", DIM, vec![Span::new("(no line end at the end of the file)", DIM)]));
            }
        }
    }
    let mut rows = heading(path, added, removed, look);
    for (sign, style, text) in lines {
        for (place, row) in chop(&text, look.width.saturating_sub(2)).into_iter().enumerate() {
            let mut line = vec![Span::new(if place == 0 { sign } else { " " }, style), Span::new(" ", style)];
            line.extend(row);
            rows.push(line);
        }
    }
    rows
}

fn heading(path: &str, added: usize, removed: usize, look: Look) -> Vec<Row> {
    let mut line = spelt(path, HEADING);
    line.push(Span::plain("  "));
    if added + removed == 0 {
        line.push(Span::new("no changes", DIM));
    } else {
        line.extend([Span::new(&format!("+{added}"), GREEN), Span::plain(" "), Span::new(&format!("-{removed}"), RED)]);
    }
    chop(&line, look.width)
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;

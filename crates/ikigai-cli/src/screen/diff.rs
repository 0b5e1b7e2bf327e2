//! What changed in a file.

use similar::{ChangeTag, TextDiff};

use super::clean::clean;
use super::look::{DIM, GREEN, HEADING, Look, RED};
use super::notice::{Lines, more_lines};
use super::text::{Span, chop, paint};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// A diff of larger texts takes too long; then the changed middle is shown as taken out and put in.
const TIMEOUT: std::time::Duration = std::time::Duration::from_millis(500);

/// The changes from `old` to `new`, with how many lines went and came, and at most `most` lines of them. A file that
/// stays as it is says so.
pub(crate) fn diff(old: &str, new: &str, path: &str, most: Lines, look: Look) -> String {
    let changes = TextDiff::configure().timeout(TIMEOUT).diff_lines(old, new);
    let (mut added, mut removed) = (0_usize, 0_usize);
    let mut lines = Vec::new();
    for (place, group) in changes.grouped_ops(CONTEXT).iter().enumerate() {
        if place > 0 {
            lines.push((" ", look.sign("⋯", "...").to_owned(), DIM));
        }
        for change in group.iter().flat_map(|operation| changes.iter_changes(operation)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ("-", RED),
                ChangeTag::Insert => ("+", GREEN),
                ChangeTag::Equal => (" ", DIM),
            };
            added += usize::from(sign == "+");
            removed += usize::from(sign == "-");
            let text = change.value().trim_end_matches('\n').replace('\t', "    ");
            lines.push((sign, text, style));
            if change.missing_newline() && change.tag() != ChangeTag::Equal {
                lines.push((" ", "(no line end at the end of the file)".to_owned(), DIM));
            }
        }
    }
    let path = clean(path).replace(['\n', '\t'], " ");
    let mut shown = heading(&path, added, removed, look);
    let hidden = lines.len().saturating_sub(most.0);
    for (sign, text, style) in lines.into_iter().take(most.0) {
        for (place, row) in chop(&[Span::new(&text, style)], look.width.saturating_sub(4)).into_iter().enumerate() {
            let mut line = vec![Span::new(if place == 0 { sign } else { " " }, style), Span::new(" ", style)];
            line.insert(0, Span::plain("  "));
            line.extend(row);
            shown.push_str(&paint(&line, look));
            shown.push('\n');
        }
    }
    shown.push_str(&more_lines(hidden, look));
    shown
}

fn heading(path: &str, added: usize, removed: usize, look: Look) -> String {
    let counts = if added + removed == 0 {
        vec![Span::new("no changes", DIM)]
    } else {
        vec![Span::new(&format!("+{added}"), GREEN), Span::plain(" "), Span::new(&format!("-{removed}"), RED)]
    };
    let mut line = vec![Span::new(path, HEADING), Span::plain("  ")];
    line.extend(counts);
    let rows = chop(&line, look.width);
    rows.iter().map(|row| paint(row, look) + "\n").collect()
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;

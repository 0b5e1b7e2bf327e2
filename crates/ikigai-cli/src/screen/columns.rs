//! Texts side by side, each in a separate column.

use super::links;
use super::live::{parts, visible_width};
use super::look::{DIM, Look};

/// Narrower columns are hard to read, so the texts are then shown one below the other.
const NARROWEST: usize = 50;
/// The separator between two columns.
const GAP: [&str; 2] = [" │ ", " | "];
const GAP_WIDTH: usize = 3;
/// Ends all styles.
const RESET: &str = "\x1b[0m";

/// Returns the width of each column, for this many columns. `None` if there is no room for them.
pub(crate) fn column_width(count: usize, look: Look) -> Option<usize> {
    let gaps = GAP_WIDTH * count.saturating_sub(1);
    let width = look.width.checked_sub(gaps)?.checked_div(count)?;
    (width >= NARROWEST).then_some(width)
}

/// Puts the lines of the columns side by side. A line too wide for its column continues on the next row.
pub(crate) fn beside(columns: &[Vec<String>], width: usize, look: Look) -> Vec<String> {
    let columns: Vec<Vec<String>> =
        columns.iter().map(|lines| lines.iter().flat_map(|line| fold(line, width)).collect()).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let gap = look.paint(DIM, look.sign(GAP[0], GAP[1]));
    let row = |place: usize| {
        let mut text = String::new();
        for (column, lines) in columns.iter().enumerate() {
            let line = lines.get(place).map_or("", String::as_str);
            text.push_str(line);
            if column + 1 < columns.len() {
                text.push_str(&" ".repeat(width.saturating_sub(visible_width(line))));
                text.push_str(&gap);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    };
    (0..height).map(row).collect()
}

/// Wraps a styled line at this width. A style that continues is started again on each line.
fn fold(line: &str, width: usize) -> Vec<String> {
    use unicode_segmentation::UnicodeSegmentation as _;
    if visible_width(line) <= width {
        return vec![line.to_owned()];
    }
    let (mut lines, mut row, mut taken) = (Vec::new(), String::new(), 0);
    let (mut styles, mut link) = (String::new(), String::new());
    for part in parts(line) {
        if part.starts_with('\x1b') {
            row.push_str(part);
            match part {
                links::END => link.clear(),
                RESET => styles.clear(),
                _ if part.starts_with("\x1b]") => part.clone_into(&mut link),
                _ => styles.push_str(part),
            }
            continue;
        }
        for character in part.graphemes(true) {
            let wide = super::text::width(character);
            if taken + wide > width && taken > 0 {
                let end = if styles.is_empty() { "" } else { RESET };
                let link_end = if link.is_empty() { "" } else { links::END };
                let next = format!("{link}{styles}");
                lines.push(format!("{}{end}{link_end}", std::mem::replace(&mut row, next)));
                taken = 0;
            }
            row.push_str(character);
            taken += wide;
        }
    }
    lines.push(row);
    lines
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn look(width: usize) -> Look {
        Look { width, colour: false, styles: false, unicode: true, links: false, motion: true }
    }

    #[test]
    fn there_are_columns_only_where_there_is_room() {
        assert_eq!(column_width(2, look(120)), Some(58));
        assert_eq!(column_width(2, look(103)), Some(50));
        assert_eq!(column_width(2, look(102)), None);
        assert_eq!(column_width(3, look(120)), None);
        assert_eq!(column_width(4, look(240)), Some(57));
    }

    #[test]
    fn lines_stand_beside_each_other() {
        let columns = [vec!["one".to_owned(), "zwei 二".to_owned()], vec!["a".to_owned()], vec![]];
        assert_eq!(beside(&columns, 8, look(40)), ["one      │ a        │", "zwei 二  │          │"]);
    }

    #[test]
    fn what_is_too_wide_goes_on_below_in_its_style() {
        let columns = [vec!["\x1b[1mabcdef\x1b[0mgh".to_owned()], vec!["x".to_owned()]];
        let shown = ["\x1b[1mabcd\x1b[0m │ x", "\x1b[1mef\x1b[0mgh │"];
        assert_eq!(beside(&columns, 4, look(40)), shown);
        // The same for a link.
        let (begin, end) = ("\x1b]8;;https://a.b\x1b\\", "\x1b]8;;\x1b\\");
        let columns = [vec![format!("{begin}abcdef{end}g")], vec!["x".to_owned()]];
        let shown = [format!("{begin}abcd{end} │ x"), format!("{begin}ef{end}g  │")];
        assert_eq!(beside(&columns, 4, look(40)), shown);
    }
}

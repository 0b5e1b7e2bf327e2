//! Plain tables: a heading, columns as wide as needed, and fewer columns on a narrow terminal.

use unicode_width::UnicodeWidthStr as _;

use crate::output::HEADING;
use crate::screen::clean;

/// The number of spaces between two columns.
const GAP: usize = 2;

/// How the values of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    /// For numbers.
    Right,
}

/// A table to print.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these columns, the most important first: on a narrow terminal the last ones are left out.
    pub(crate) fn new(columns: impl Into<Vec<(&'static str, Side)>>) -> Self {
        Table { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row with one value per column.
    pub(crate) fn row(&mut self, values: impl Into<Vec<String>>) {
        let values: Vec<String> = values.into();
        self.rows.push(values.iter().map(|value| clean(value).into_owned()).collect());
    }

    /// Returns the table as text, at most `width` columns wide if at least one column fits.
    pub(crate) fn print(&self, width: Option<usize>) -> String {
        let widths = self.widths();
        let shown = fitting(&widths, width);
        let mut text = String::new();
        let heading: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        text.push_str(&format!("{HEADING}{}{HEADING:#}\n", self.line(&heading, &widths, shown)));
        for row in &self.rows {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            text.push_str(&self.line(&row, &widths, shown));
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let values = |column: usize| self.rows.iter().filter_map(move |row| row.get(column)).map(|value| value.width());
        let of = |(column, (name, _)): (usize, &(&str, Side))| values(column).max().unwrap_or(0).max(name.width());
        self.columns.iter().enumerate().map(of).collect()
    }

    fn line(&self, values: &[&str], widths: &[usize], shown: usize) -> String {
        let mut line = String::new();
        for ((value, (_, side)), width) in values.iter().zip(&self.columns).zip(widths).take(shown) {
            if !line.is_empty() {
                line.push_str(&" ".repeat(GAP));
            }
            let fill = " ".repeat(width.saturating_sub(value.width()));
            match side {
                Side::Left => line.extend([*value, &fill]),
                Side::Right => line.extend([&fill, *value]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Returns how many columns fit.
fn fitting(widths: &[usize], width: Option<usize>) -> usize {
    let Some(width) = width else { return widths.len() };
    let mut taken = 0;
    let fit = widths.iter().take_while(|column| {
        taken += *column + if taken == 0 { 0 } else { GAP };
        taken <= width
    });
    fit.count().max(1)
}

/// Formats a number with commas between the thousands.
pub(crate) fn thousands(number: impl Into<i64>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use pretty_assertions::assert_eq;

    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("NAME", Side::Left), ("SIZE", Side::Right), ("NOTE", Side::Left)]);
        table.row(["a".to_owned(), "1,000".to_owned(), "first".to_owned()]);
        table.row(["日本".to_owned(), "5".to_owned(), String::new()]);
        table
    }

    fn plain(width: Option<usize>) -> String {
        anstream::adapter::strip_str(&table().print(width)).to_string()
    }

    #[test]
    fn columns_are_as_wide_as_they_need() {
        assert_snapshot!(plain(None), @r"
        NAME   SIZE  NOTE
        a     1,000  first
        日本      5
        ");
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns() {
        assert_eq!(plain(Some(18)), plain(None));
        assert_snapshot!(plain(Some(17)), @r"
        NAME   SIZE
        a     1,000
        日本      5
        ");
        assert_snapshot!(plain(Some(1)), @r"
        NAME
        a
        日本
        ");
    }

    #[test]
    fn thousands_have_commas() {
        let all = [0_i64, 7, 999, 1000, 43_008, 1_048_576, -1, -1000].map(thousands);
        assert_eq!(all, ["0", "7", "999", "1,000", "43,008", "1,048,576", "-1", "-1,000"]);
    }
}

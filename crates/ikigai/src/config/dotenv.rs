//! `.env` files, which belong to other programs and are read for a few names only.

use std::path::Path;

/// Reads the assignments of a `.env` file; empty if it does not exist. Other lines are skipped, because the programs
/// that own such files each have their own idea of the format.
pub(crate) fn read(file: &Path) -> Vec<(String, String)> {
    std::fs::read_to_string(file).map(|text| parse(&text)).unwrap_or_default()
}

/// Parses `NAME=value` lines, with an optional `export` before the name and optional quotes. After a blank, `#` begins
/// a comment. The last assignment of a name wins.
pub(crate) fn parse(text: &str) -> Vec<(String, String)> {
    text.trim_start_matches('\u{feff}').lines().filter_map(assignment).collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = value.trim();
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let (inside, _) = value.get(1..)?.split_once(quote)?;
            inside
        }
        Some('#') => "",
        _ => value.split_once(" #").map_or(value, |(before, _)| before).trim_end(),
    };
    Some((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::parse;

    #[test]
    fn the_usual_forms_are_read_and_the_rest_is_passed_over() {
        let text = "\u{feff}# a comment\nA=1\r\nexport B = two words # and a comment\nC=\"x # y\" # z\nD='q\"'\nE=\n\
                    no assignment\n1F=x\nG-H=x\nI=\"open\nJ=a=b\nK=#\nA=2";
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x # y"),
            ("D", "q\""),
            ("E", ""),
            ("J", "a=b"),
            ("K", ""),
            ("A", "2"),
        ];
        let read = parse(text);
        assert_eq!(read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>(), expected);
    }
}

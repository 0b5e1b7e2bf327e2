//! Link definitions: URLs that are given under a name.
//!
//! The parser removes definitions from the text and looks names up in all of it. While text arrives, that would change
//! what is already on the screen, so definitions are hidden from the parser and read here.

use std::borrow::Cow;
use std::collections::HashMap;

/// Put before what may be a definition, so that the parser takes it for running text. Cleaned text never contains it.
const GUARD: char = '\u{1}';

/// The URLs of link names so far, by [`key`].
pub(super) type Links = HashMap<String, String>;

/// Normalises a link's name for comparison.
pub(super) fn key(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Adds a guard to a line where a definition may begin.
pub(super) fn guarded(line: &str) -> Cow<'_, str> {
    let content = line.trim_start_matches(|sign: char| " >-+*.)".contains(sign) || sign.is_ascii_digit());
    let Some(label) = content.strip_prefix('[') else { return Cow::Borrowed(line) };
    let mut escaped = false;
    let end = label.find(|sign: char| {
        let ends = sign == ']' && !escaped;
        escaped = sign == '\\' && !escaped;
        ends
    });
    // A name may continue on the next line.
    if end.and_then(|end| label.get(end + 1..)).is_some_and(|after| !after.starts_with(':')) {
        return Cow::Borrowed(line);
    }
    let start = line.len() - content.len();
    Cow::Owned(format!("{}{GUARD}{content}", line.get(..start).unwrap_or_default()))
}

/// Removes the guards from a text.
pub(super) fn unguarded(text: &str) -> Cow<'_, str> {
    if text.contains(GUARD) { Cow::Owned(text.replace(GUARD, "")) } else { Cow::Borrowed(text) }
}

/// A definition on a single guarded line, which is by far the most common form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Definition<'a> {
    /// The line as shown.
    pub(super) line: &'a str,
    pub(super) label: &'a str,
    pub(super) target: &'a str,
}

impl<'a> Definition<'a> {
    pub(super) fn new(line: &'a str) -> Option<Self> {
        let line = line.strip_prefix(GUARD)?.trim_end();
        let (label, rest) = line.strip_prefix('[')?.split_once("]:")?;
        if label.trim().is_empty() || label.contains(['[', ']']) || label.len() > 999 {
            return None;
        }
        let rest = rest.trim();
        let (target, title) = match rest.strip_prefix('<') {
            Some(rest) => rest.split_once('>')?,
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        let title = title.trim();
        let quoted = |open, close| title.len() > 1 && title.starts_with(open) && title.ends_with(close);
        if target.is_empty() || !(title.is_empty() || quoted('"', '"') || quoted('\'', '\'') || quoted('(', ')')) {
            return None;
        }
        Some(Definition { line, label, target })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn definitions() {
        let found = |line| {
            let line = guarded(line).into_owned();
            Definition::new(&line).map(|found| (found.label.to_owned(), found.target.to_owned()))
        };
        assert_eq!(found("[a b]: http://x 'title'"), Some(("a b".to_owned(), "http://x".to_owned())));
        assert_eq!(found("[a]: <x y>"), Some(("a".to_owned(), "x y".to_owned())));
        let none = ["[a]: x y", "[]: x", "[a]:", "[a] : x", "a]: x", "[a]: x \""];
        assert_eq!(none.map(found), [const { None }; 6]);
    }

    #[test]
    fn only_what_may_be_a_definition_is_guarded() {
        let lines = ["[a]: b", "> - 1. [a", r"[a\]: b", r"[a\\]: b", "- [ ] a", "- [x]", "[a](b)", "a [b]: c", ""];
        let expected = [
            "\u{1}[a]: b",
            "> - 1. \u{1}[a",
            "\u{1}[a\\]: b",
            "\u{1}[a\\\\]: b",
            "- [ ] a",
            "- [x]",
            "[a](b)",
            "a [b]: c",
            "",
        ];
        assert_eq!(lines.map(guarded), expected);
        assert_eq!(expected.map(unguarded), lines);
    }
}

//! The part of a text that shows why it was found.

use std::ops::Range;

use super::query::Query;
use super::words::words;

/// How much is shown, in characters, and how much of that comes before the first match.
const WIDTH: usize = 160;
const BEFORE: usize = 40;

/// A piece of a text, on one line, with the matching words marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The piece, with `…` where something was left out.
    pub text: String,
    /// The positions of the matching words in it, as byte ranges.
    pub marks: Vec<Range<usize>>,
}

/// The piece of a text with the most matches.
pub(crate) fn snippet(text: &str, query: &Query) -> Snippet {
    let words: Vec<_> = words(text).collect();
    let found = query.matches(&words);
    let window = window(text, &found);
    let mut made = Snippet::default();
    if window.start > 0 {
        made.text.push('…');
    }
    let mut mark: Option<usize> = None;
    for (at, character) in text.char_indices().skip_while(|(at, _)| *at < window.start) {
        if at >= window.end {
            break;
        }
        let inside = found.iter().any(|range| range.contains(&at));
        match mark {
            None if inside => mark = Some(made.text.len()),
            Some(start) if !inside => {
                made.marks.push(start..made.text.len());
                mark = None;
            }
            None | Some(_) => {}
        }
        if !character.is_whitespace() && !character.is_control() {
            made.text.push(character);
        } else if !made.text.is_empty() && !made.text.ends_with([' ', '…']) {
            made.text.push(' ');
        }
    }
    if let Some(start) = mark {
        made.marks.push(start..made.text.len());
    }
    made.text.truncate(made.text.trim_end().len());
    if window.end < text.trim_end().len() {
        made.text.push('…');
    }
    made
}

/// The part of the text to show: the first of those with the most matches.
fn window(text: &str, found: &[Range<usize>]) -> Range<usize> {
    let best = found
        .iter()
        .enumerate()
        .map(|(at, first)| {
            let end = forward(text, first.start, WIDTH - BEFORE);
            (found.iter().skip(at).take_while(|range| range.end <= end).count(), first.start)
        })
        // The first of the best: `max_by_key` alone would give the last.
        .rev()
        .max_by_key(|(count, _)| *count);
    let anchor = best.map_or(0, |(_, start)| start);
    let mut start = back(text, anchor, BEFORE);
    if start > 0 {
        // Not in the middle of a word, if that costs little.
        let before = text.get(start..anchor).unwrap_or_default();
        let blank = before.char_indices().find(|(_, character)| character.is_whitespace());
        start += blank.map_or(0, |(at, blank)| at + blank.len_utf8());
    }
    start..forward(text, start, WIDTH)
}

/// The offset this many characters further on.
fn forward(text: &str, from: usize, count: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.char_indices().nth(count).map_or(text.len(), |(at, _)| from + at)
}

/// The offset this many characters back.
fn back(text: &str, from: usize, count: usize) -> usize {
    let before = text.get(..from).unwrap_or_default();
    before.char_indices().rev().take(count).last().map_or(from, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    /// The snippet with its marks as brackets.
    fn marked(text: &str, query: &str) -> String {
        let snippet = snippet(text, &Query::parse(query).unwrap());
        let mut shown = snippet.text;
        for mark in snippet.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        shown
    }

    #[test]
    fn what_was_found_is_marked() {
        assert_eq!(marked("Why is the\n\n sky blue?\n", "SKY blue"), "Why is the [sky] [blue]?");
        assert_eq!(marked("Why is the sky blue?", "\"sky blue\""), "Why is the [sky blue]?");
        assert_eq!(marked("L'été est là", "ete la"), "L'[été] est [là]");
        assert_eq!(marked("searching seas", "sea*"), "[searching] [seas]");
        assert_eq!(marked("日本語の本", "本"), "日[本]語の[本]");
        assert_eq!(marked("nothing here", "other"), "nothing here");
        assert_eq!(marked("", "other"), "");
    }

    #[test]
    fn a_long_text_is_shown_where_most_was_found() {
        let text = format!("cat {}cat and dog{}", "lorem ipsum ".repeat(50), " dolor sit".repeat(50));
        let shown = marked(&text, "cat dog");
        assert_eq!(
            shown,
            "…lorem ipsum lorem ipsum lorem ipsum [cat] and [dog] dolor sit dolor sit dolor sit dolor sit dolor sit dolor \
             sit dolor sit dolor sit dolor sit dolor sit dolor sit do…"
        );
    }

    #[test]
    fn blanks_may_be_of_any_length() {
        let text = format!("{}\u{2028}a cat{}", "x".repeat(50), " dolor sit".repeat(50));
        let shown = marked(&text, "cat");
        assert!(shown.starts_with("…a [cat] dolor sit"), "{shown}");
        assert_eq!(shown.chars().count(), WIDTH + 2 + 2);
    }

    proptest! {
        #[test]
        fn any_text_has_one(text in "\\PC{0,300}", query in "\\PC{1,10}") {
            let snippet = snippet(&text, &Query::parse(&query).unwrap());
            prop_assert!(snippet.text.chars().count() <= WIDTH + 2);
            for mark in snippet.marks {
                prop_assert!(snippet.text.get(mark).is_some_and(|marked| !marked.is_empty()));
            }
        }
    }
}

use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, plain};

fn filled(text: &str, width: usize) -> Vec<String> {
    fill(&[Inline::new(text, Style::new())], width).iter().map(|row| paint(row, plain(width))).collect()
}

fn chopped(text: &str, width: usize) -> Vec<String> {
    chop(&[Span::plain(text)], width).iter().map(|row| paint(row, plain(width))).collect()
}

#[test]
fn words_stay_whole_where_they_can() {
    assert_eq!(filled("one two three", 7), ["one two", "three"]);
    assert_eq!(filled("  one   two ", 20), ["one two"]);
    assert_eq!(filled("a extraordinarily b", 6), ["a", "extrao", "rdinar", "ily b"]);
    assert_eq!(filled("", 6), [""]);
    assert_eq!(filled("a\u{a0}b c", 3), ["a\u{a0}b", "c"]);
}

#[test]
fn wide_text_breaks_anywhere_but_before_its_punctuation() {
    assert_eq!(filled("日本語のテキスト", 6), ["日本語", "のテキ", "スト"]);
    assert_eq!(filled("日本語。日本", 6), ["日本", "語。日", "本"]);
    assert_eq!(filled("ab日本cd", 4), ["ab日", "本cd"]);
    assert_eq!(filled("👍👍👍", 5), ["👍👍", "👍"]);
}

#[test]
fn characters_of_several_parts_stay_together() {
    let family = "👩‍👩‍👧‍👦";
    assert_eq!(filled(&family.repeat(3), 4), [family.repeat(2), family.to_owned()]);
    assert_eq!(filled("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
    assert_eq!(filled("שלום עליכם חברים", 10), ["שלום עליכם", "חברים"]);
}

#[test]
fn code_keeps_its_spaces() {
    assert_eq!(chopped("  a  b  c", 5), ["  a  ".trim_end(), "b  c"]);
    assert_eq!(chopped("", 5), [""]);
    assert_eq!(chopped("日本語", 5), ["日本", "語"]);
}

#[test]
fn styles_are_written_once_for_a_run() {
    let bold = Style::new().bold();
    let row = [Span::new("a", bold), Span::new("b", bold), Span::plain(" c ")];
    assert_eq!(paint(&row, coloured(20)), "\x1b[1mab\x1b[0m c");
    assert_eq!(paint(&row, plain(20)), "ab c");
}

#[test]
fn plain_text_is_wrapped_line_by_line() {
    assert_eq!(wrap("one two\n\n\x1b[1mthree four five six", plain(20)), ["one two", "", "␛[1mthree four five", "six"]);
}

#[test]
fn what_is_too_long_is_cut() {
    let look = plain(80);
    assert_eq!(shorten("one two", 7, look), "one two");
    assert_eq!(shorten("one two three", 8, look), "one two…");
    assert_eq!(shorten("one two three", 5, look), "one…");
    assert_eq!(shorten("日本語", 4, look), "日…");
    assert_eq!(shorten("one two three", 8, Look { unicode: false, ..look }), "one t...");
    assert_eq!(shorten("a\nb\tc\x1b", 80, look), "a b c␛");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    /// The fast path for ASCII breaks lines like the slow one.
    #[test]
    fn ascii_is_no_different(text in "[ -~]{0,80}", width in 2_usize..30) {
        let parts = [Inline::new(&text, Style::new())];
        let mut long = Filler::new(width);
        for part in text.graphemes(true) {
            long.part(part, &Ink { style: Style::new(), link: None });
        }
        proptest::prop_assert_eq!(fill(&parts, width), long.finish());
    }
}

#[test]
fn a_link_is_whole_in_every_row_and_only_where_links_are_wanted() {
    let link = super::links::target("https://a.b/c");
    let text = [Inline::new("see", Style::new()), Inline::Text(Span::linked(" the docs", Style::new(), link))];
    let rows = fill(&text, 7);
    let drawn = |links| rows.iter().map(|row| paint(row, Look { links, ..plain(7) })).collect::<Vec<_>>();
    assert_eq!(drawn(false), ["see the", "docs"]);
    let (begin, end) = ("\x1b]8;;https://a.b/c\x1b\\", "\x1b]8;;\x1b\\");
    assert_eq!(drawn(true), [format!("see{begin} the{end}"), format!("{begin}docs{end}")]);
}

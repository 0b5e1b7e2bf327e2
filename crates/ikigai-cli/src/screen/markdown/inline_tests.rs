use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, readable};
use crate::screen::text::{fill, paint};

fn shown(text: &str) -> String {
    let rows = fill(&inline(text, Style::new()), 200);
    rows.iter().map(|row| readable(&paint(row, coloured(200)))).collect::<Vec<_>>().join("\n")
}

#[test]
fn styles_nest() {
    assert_snapshot!(shown("a *b **c** `d`* ~~e *f*~~"), @"a ‹italic›b ‹bold italic›c‹italic› ‹italic cyan›d‹› ‹strike›e ‹italic strike›f‹›");
}

#[test]
fn links_show_where_they_lead() {
    assert_snapshot!(shown("[a *b*](http://x) [http://y](http://y) <http://z> <me@x.org> [m][other]"), @"‹underline›a ‹italic underline›b‹dim› (http://x)‹› ‹underline›http://y‹› ‹underline›http://z‹› ‹underline›me@x.org‹› [m][other]");
    assert_snapshot!(shown("![alt](i.png) [](http://e) [![badge](b.svg)](http://l)"), @"‹dim›image: ‹›alt‹dim› (i.png)‹› ‹dim›(http://e)‹› ‹dim›image: ‹underline›badge‹dim› (b.svg) (http://l)‹›");
}

#[test]
fn what_looks_like_a_block_is_text() {
    let all = ["# a", "- a", "1. a", "> a", "---", "===", "| a |", "    a", "a\n- b\n# c\n===\n```\nd"].map(shown);
    let expected = ["# a", "- a", "1. a", "> a", "---", "===", "| a |", "a", "a - b # c === ``` d"];
    assert_eq!(all, expected);
}

#[test]
fn line_breaks_are_kept_where_they_are_meant() {
    assert_eq!(shown("a\nb  \nc\\\nd<br/>e<BR>f"), "a b\nc\nd\ne\nf");
}

#[test]
fn open_marks_are_closed_for_the_moment() {
    let texts = [
        ("a **b", "a **b**"),
        ("a **b*", "a **b**"),
        ("a **", "a "),
        ("**a** and **", "**a** and "),
        ("**a** b", "**a** b"),
        ("a ** b", "a ** b**"),
        ("*a", "*a"),
        ("`a", "`a`"),
        ("``a`", "``a``"),
        ("a `", "a "),
        ("`**`", "`**`"),
        (r"\**a \`b", r"\**a \`b"),
        ("[a](http://b", "[a](http://b)"),
        ("[a](b) c", "[a](b) c"),
        ("[a", "[a"),
    ];
    for (text, expected) in texts {
        assert_eq!(completed(text), expected);
    }
}

use std::time::Instant;

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::screen::testing::{coloured, plain, readable};

const EVERYTHING: &str = include_str!("samples/everything.md");

fn shown(text: &str, width: usize) -> String {
    markdown(text, plain(width))
}

/// Draws the document in pieces of this many characters, with a frame after each.
fn streamed(text: &str, size: usize, look: Look) -> String {
    let mut renderer = Renderer::new(look);
    let mut finished = String::new();
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(size) {
        renderer.push(&piece.iter().collect::<String>());
        let frame = renderer.frame();
        finished.push_str(&frame.finished);
    }
    finished + &renderer.finish()
}

/// Returns the lines that are too wide, except code, which stays in one piece as in the source.
fn too_wide<'a>(shown: &'a str, source: &str, width: usize) -> Vec<&'a str> {
    let bare = |text: &str| {
        text.chars().filter(|sign| !sign.is_whitespace() && *sign != '│' && *sign != '>').collect::<String>()
    };
    let source = bare(&crate::screen::clean::clean(source));
    let lines = shown.lines().filter(|line| crate::screen::text::width(line) > width);
    lines.filter(|line| !source.contains(&bare(line))).collect()
}

fn widest(text: &str) -> usize {
    text.lines().map(crate::screen::text::width).max().unwrap_or(0)
}

#[test]
fn a_document_with_everything_in_it() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for width in [40, 80, 120] {
            assert_snapshot!(format!("everything-{width}-plain"), markdown(EVERYTHING, plain(width)));
            assert_snapshot!(format!("everything-{width}-colour"), readable(&markdown(EVERYTHING, coloured(width))));
        }
    });
}

#[test]
fn colours_change_nothing_else() {
    for width in [20, 40, 80, 120] {
        let with = markdown(EVERYTHING, coloured(width));
        assert_eq!(anstream::adapter::strip_str(&with).to_string(), markdown(EVERYTHING, plain(width)));
    }
}

#[test]
fn without_unicode_our_own_signs_are_ascii() {
    let look = Look { unicode: false, ..plain(30) };
    assert_snapshot!(markdown("- a\n  - [x] b\n\n> c\n\n***\n\n|h|\n|-|\n|v|", look), @"
    - a
      [x] b

    | c

    ------------------------------

    +---+
    | h |
    +---+
    | v |
    +---+
    ");
}

#[test]
fn any_cut_gives_the_same() {
    for look in [plain(40), coloured(80)] {
        let whole = markdown(EVERYTHING, look);
        for size in [1, 3, 7, 1000] {
            assert_eq!(streamed(EVERYTHING, size, look), whole, "in pieces of {size}");
        }
    }
}

#[test]
fn line_ends_of_every_kind_are_line_ends() {
    let text = "# a\n\n- b\n- c\n\n```\nd\n\ne\n```\n";
    assert_eq!(streamed(&text.replace('\n', "\r\n"), 1, plain(40)), shown(text, 40));
    assert_eq!(streamed(&text.replace('\n', "\r"), 1, plain(40)), shown(text, 40));
}

#[test]
fn half_a_code_block_is_code() {
    let mut renderer = Renderer::new(plain(40));
    renderer.push("Look:\n\n```rust\nfn main() {\n    let a");
    let frame = renderer.frame();
    assert_snapshot!(frame.finished, @"
    Look:

    fn main() {
    ");
    assert_eq!(frame.open, ["    let a"]);
    // What may be the end of the block is not shown as code.
    renderer.push(" = 1;\n``");
    assert_eq!(renderer.frame(), Frame { finished: "    let a = 1;\n".to_owned(), open: Vec::new() });
    renderer.push("`\n*after*");
    assert_eq!(renderer.frame(), Frame { finished: String::new(), open: vec![String::new(), "after".to_owned()] });
    assert_eq!(renderer.finish(), "\nafter\n");
}

#[test]
fn a_table_waits_until_it_is_whole() {
    let mut renderer = Renderer::new(plain(40));
    let mut placeholders = Vec::new();
    for piece in ["Values:\n\n| a", " | b |\n", "|---|", "--:|\n", "| 1 | 2 |", "\n| 3 ", "| 4 |\n", "| 5 | 6 |\n"] {
        renderer.push(piece);
        placeholders.push(renderer.frame().open.join("/"));
    }
    let rows = ["/┄ table, 1 row so far", "/┄ table, 2 rows so far", "/┄ table, 3 rows so far"];
    let begun = ["/┄ table"; 5];
    assert_eq!(placeholders, [begun.as_slice(), rows.as_slice()].concat());
    renderer.push("\nDone");
    let frame = renderer.frame();
    assert_snapshot!(frame.finished, @"
    ┌───┬───┐
    │ a │ b │
    ├───┼───┤
    │ 1 │ 2 │
    │ 3 │ 4 │
    │ 5 │ 6 │
    └───┴───┘
    ");
    assert_eq!(frame.open, ["", "Done"]);
}

#[test]
fn what_is_open_is_shown_as_what_it_will_be() {
    let mut renderer = Renderer::new(coloured(40));
    let mut open = |piece: &str| {
        renderer.push(piece);
        readable(&renderer.frame().open.join("\n"))
    };
    assert_eq!(open("Some **"), "Some");
    assert_eq!(open("bold"), "Some ‹bold›bold‹›");
    assert_eq!(open("*"), "Some ‹bold›bold‹›");
    assert_eq!(open("* and `co"), "Some ‹bold›bold‹› and ‹cyan›co‹›");
    assert_eq!(open("de`\n-"), "Some ‹bold›bold‹› and ‹cyan›code‹›");
    assert_eq!(open(" item"), "Some ‹bold›bold‹› and ‹cyan›code‹›\n\n• item");
    // Only the end of the line makes it certain.
    assert_eq!(open("\n"), "\n• item");
    assert_eq!(open("\n# Head **"), "\n‹bold underline›Head‹›");
}

#[test]
fn another_width_holds_from_then_on() {
    let mut renderer = Renderer::new(plain(20));
    renderer.push("one two three four five\n\nsix seven eight nine ten");
    assert_eq!(renderer.frame().finished, "one two three four\nfive\n");
    renderer.resize(30);
    assert_eq!(renderer.frame().open, ["", "six seven eight nine ten"]);
    assert_eq!(renderer.finish(), "\nsix seven eight nine ten\n");
    // The renderer starts over, at the last width.
    renderer.push("one two three four five");
    assert_eq!(renderer.finish(), "one two three four five\n");
}

#[test]
fn a_code_block_commits_its_lines() {
    let mut renderer = Renderer::new(plain(40));
    renderer.push("```\n");
    for line in 0..1000 {
        renderer.push(&format!("line {line}\n"));
        assert_eq!(renderer.frame(), Frame { finished: format!("line {line}\n"), open: Vec::new() });
    }
}

#[test]
fn nothing_in_the_text_reaches_the_terminal_as_a_command() {
    let text = "\x1b[2J *a\x1b]0;x\x07* `b\u{9b}1m` &#27;[31m &#x9b; [l](http://x/\x1b[1m) <\x1b>\n\n```\n\x1b[1mc\r\n```\n| \x1b[1mt |\n|-|\n\n    \x1b[5mi\n\n[x]: \x1b[1m\n\n<div>\x1b[1m</div>\n";
    for size in [1, 1000] {
        let all = streamed(text, size, plain(80));
        assert!(all.chars().all(|character| character == '\n' || !character.is_control()), "{all:?}");
    }
    let open = {
        let mut renderer = Renderer::new(plain(80));
        renderer.push(text);
        renderer.push("\n\x1b[1m&#27;");
        renderer.frame().open.concat()
    };
    assert!(open.ends_with("␛[1m␛"), "{open:?}");
}

#[test]
fn a_long_paragraph_is_drawn_in_parts_and_nothing_is_lost() {
    let words: Vec<String> = (0..10_000).map(|number| format!("word{number}")).collect();
    for text in [words.join(" "), words.join("\n")] {
        let all = streamed(&text, 30_011, plain(77));
        assert_eq!(all.split_whitespace().collect::<Vec<_>>(), words);
        assert!(widest(&all) <= 77);
        // One paragraph: every line except the last is full.
        let short = all.lines().rev().skip(1).filter(|line| line.len() < 65).count();
        assert_eq!(short, 0);
        assert_eq!(all, shown(&text, 77));
    }
}

#[test]
fn long_lines_of_every_kind_are_kept() {
    let long = "word ".repeat(5_000);
    for start in ["", "# ", "- ", "> ", "<div>\n", "| h |\n|-|\n| ", "[x]: "] {
        let all = streamed(&format!("{start}{long}"), 9_999, plain(100));
        assert!(widest(&all) <= 100, "{start:?}");
        assert_eq!(all.replace([' ', '\n', '│'], "").matches("word").count(), 5_000, "{start:?}");
    }
    let code = streamed(&format!("```\n{long}"), 9_999, plain(100));
    assert!(code == format!("{}\n", long.trim_end()), "code is in one piece");
    assert_eq!(shown(&format!("    {long}"), 100).matches("word").count(), 5_000);
    let solid = "x".repeat(30_000);
    assert_eq!(shown(&solid, 100).matches('x').count(), 30_000);
    assert_eq!(shown(&format!("```\n{solid}"), 100).matches('x').count(), 30_000);
}

/// The time per byte must not grow with the text. On a busy machine, eight times the text may take thirty-two times as
/// long, but only a quadratic cost does so five times out of five.
#[test]
fn the_cost_is_linear() {
    let time = |unit: &str, size: usize| {
        let text = unit.repeat(size / unit.len());
        let start = Instant::now();
        let mut renderer = Renderer::new(plain(80));
        for piece in text.as_bytes().chunks(4) {
            renderer.push(std::str::from_utf8(piece).expect("ASCII"));
        }
        std::hint::black_box(renderer.finish());
        start.elapsed()
    };
    let text =
        ["word *and* more ", "- item\n", "> quote\n", "```\ncode\n```\n", "a\n\n", "| a | b |\n|--|--|\n| 1 | 2 |\n"];
    // Input that makes parsers backtrack.
    let traps = ["[", "*a ", "**", "`a``b", "<a ", "![](", "$", "_a", "&", "\\", "[a]: b\n", "> - ", "~a"];
    for unit in text.into_iter().chain(traps) {
        let mut slow = Vec::new();
        while slow.len() < 5 {
            let (small, large) = (time(unit, 2 * LONGEST), time(unit, 16 * LONGEST));
            if large < small * 32 {
                break;
            }
            slow.push((small, large));
        }
        assert!(slow.len() < 5, "{unit:?}: {slow:?}");
    }
}

#[test]
fn a_frame_costs_the_same_late_in_a_long_paragraph() {
    let mut renderer = Renderer::new(plain(80));
    let mut tallest = 0;
    for _ in 0..40 {
        renderer.push(&"some *words* of a long paragraph ".repeat(100));
        tallest = tallest.max(renderer.frame().open.len());
    }
    assert!(tallest < 2 * LONGEST / 60, "{tallest} lines are open");
}

/// Only what may still change is parsed again, so a frame costs the same however long the document is.
#[test]
fn what_is_certain_is_forgotten() {
    let units = [
        "a\n\n",
        "# a\n",
        "word *and* more\n",
        "- item\n  - inner\n\n    text\n",
        "1. a\n   ```rust\n   code\n   ```\n",
        "> quote\n>\n",
        "```\ncode\n```\n",
        "[a]: b\n",
        "<div>\n\n",
    ];
    for (start, unit) in units.map(|unit| ("", unit)).into_iter().chain([("```\n", "code\n"), ("- ```\n", "  code\n")])
    {
        let mut renderer = Renderer::new(plain(80));
        renderer.push(start);
        let mut most = 0;
        for _ in 0..3 * LONGEST / unit.len() {
            renderer.push(unit);
            renderer.document.advance();
            most = most.max(renderer.document.source.len());
        }
        assert!(most < 2 * LONGEST + unit.len(), "{unit:?}: {most} bytes are kept");
    }
}

#[test]
fn what_is_large_and_open_is_shown_once() {
    let mut renderer = Renderer::new(plain(40));
    let mut lines = vec!["• outer".to_owned()];
    let mut finished = 0;
    renderer.push("- outer\n");
    for number in 0..2_000 {
        renderer.push(&format!("  - item {number} of many\n"));
        lines.push(format!("  ◦ item {number} of many"));
        let frame = renderer.frame();
        let last: Vec<String> = frame.finished.lines().map(str::to_owned).chain(frame.open).collect();
        assert_eq!(lines.get(finished..finished + last.len()), Some(last.as_slice()));
        finished += frame.finished.lines().count();
    }
    assert_eq!(renderer.finish().lines().count(), lines.len() - finished);
}

/// Pieces of documents, combined in any order.
fn document() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => "[a-zA-Zäß日本語한👍é]{1,12}",
        2 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("\n- ".to_owned()),
        1 => Just("\n  - [x] ".to_owned()),
        1 => Just("\n12. ".to_owned()),
        1 => Just("\n> ".to_owned()),
        1 => Just("\n    ".to_owned()),
        1 => Just("\n# ".to_owned()),
        1 => Just("\n---\n".to_owned()),
        1 => Just("\n===\n".to_owned()),
        1 => Just("\n```rust\n".to_owned()),
        1 => Just("\n~~~\n".to_owned()),
        1 => Just("\n| a | b |\n|:-|-:|\n| ".to_owned()),
        1 => Just(" | ".to_owned()),
        1 => Just("**".to_owned()),
        1 => Just("*".to_owned()),
        1 => Just("`".to_owned()),
        1 => Just("[x](http://y)".to_owned()),
        1 => Just("\n[x]: http://y\n".to_owned()),
        1 => Just("<div>".to_owned()),
        1 => Just("\n<!-- ".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\u{301}\u{200d}".to_owned()),
        1 => Just("שלום عليكم".to_owned()),
        1 => "[ -~]{1,6}",
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

/// Returns the letters of a text, sorted: none of them may be lost, wherever they are shown.
fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|letter| letter.is_alphabetic()).collect();
    letters.sort_unstable();
    letters
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_in_any_cut_at_any_width(text in document(), size in 1_usize..9, width in 20_usize..100) {
        let whole = shown(&text, width);
        prop_assert_eq!(&streamed(&text, size, plain(width)), &whole);
        prop_assert_eq!(too_wide(&whole, &text, width), Vec::<&str>::new());
        // Without a language, because unoptimised grammars are slow.
        let with = markdown(&text.replace("rust", ""), coloured(width));
        prop_assert_eq!(anstream::adapter::strip_str(&with).to_string(), shown(&text.replace("rust", ""), width));
    }

    #[test]
    fn no_word_is_lost(text in "([a-z]{1,30}( |\n|\n\n|\n- |\n1\\. |\n> |\n# |\n\n    |, |\\*|\\*\\*|`|\n```\n|\n\\| )){0,40}", width in 20_usize..100) {
        prop_assert_eq!(letters(&shown(&text, width)), letters(&text));
    }

    #[test]
    fn no_frame_is_wider_than_the_screen(text in document(), size in 1_usize..9, width in 20_usize..60) {
        let mut renderer = Renderer::new(plain(width));
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            renderer.push(&piece.iter().collect::<String>());
            let frame = renderer.frame();
            let open = frame.open.join("\n");
            prop_assert_eq!(too_wide(&open, &text, width), Vec::<&str>::new());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_documents_in_any_cut(text in document(), size in 500_usize..9_000, width in 20_usize..100) {
        let text = text.repeat(3 * LONGEST / text.len().max(1));
        prop_assert_eq!(streamed(&text, size, plain(width)), shown(&text, width));
    }
}

use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, plain, readable};

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

fn new() -> String {
    OLD.replace("two\n", "two and a half\nalmost three\n").replace("twelve\n", "twelve")
}

#[test]
fn changes_have_signs_and_some_lines_around_them() {
    assert_snapshot!(diff(OLD, &new(), "src/a.txt", Lines(100), plain(60)), @"
    src/a.txt  +3 -2
        one
      - two
      + two and a half
      + almost three
        three
        four
        five
        ⋯
        nine
        ten
        eleven
      - twelve
      + twelve
        (no line end at the end of the file)
    ");
    assert_snapshot!(readable(&diff("a\nb\n", "a\nc\n", "x", Lines(100), coloured(60))), @"
    ‹bold›x‹›  ‹green›+1‹› ‹red›-1‹›
      ‹dim›  a‹›
      ‹red›- b‹›
      ‹green›+ c‹›
    ");
}

#[test]
fn only_so_many_lines_are_shown() {
    assert_snapshot!(diff(OLD, &new(), "src/a.txt", Lines(3), plain(60)), @"
    src/a.txt  +3 -2
        one
      - two
      + two and a half
      … 11 more lines
    ");
}

#[test]
fn new_and_unchanged_files() {
    assert_snapshot!(diff("", "a\n\tb\x1b[2J\n", "new\n.txt", Lines(9), plain(60)), @"
    new .txt  +2 -0
      + a
      +     b␛[2J
    ");
    assert_snapshot!(diff("a\n", "a\n", "same", Lines(9), plain(60)), @"same  no changes");
}

#[test]
fn long_lines_are_broken_and_nothing_is_wider() {
    let shown = diff(
        "",
        "some words that are longer than twenty columns 日本語日本語日本語\n",
        "a/path/that/is/long/too",
        Lines(9),
        plain(20),
    );
    assert_snapshot!(shown, @"
    a/path/that/is/long/
    too  +1 -0
      + some words that
        are longer than
        twenty columns
        日本語日本語日本
        語
    ");
    assert_eq!(shown.lines().map(super::super::text::width).max(), Some(20));
}

#[test]
fn large_files_are_compared_in_time() {
    let old: String = (0..20_000).map(|line| format!("{}\n", line * 7 % 10_007)).collect();
    let new: String = (0..20_000).map(|line| format!("{}\n", line * 11 % 10_009)).collect();
    let start = std::time::Instant::now();
    let shown = diff(&old, &new, "large", Lines(10), plain(80));
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(shown.lines().count(), 12);
}

use insta::assert_snapshot;

use super::*;
use crate::screen::testing::{coloured, plain, readable};
use crate::screen::text::{paint, row_width};

fn shown(old: &str, new: &str, path: &str, look: Look) -> String {
    let rows = diff(old, new, path, look);
    assert!(rows.iter().all(|row| row_width(row) <= look.width));
    rows.iter().map(|row| paint(row, look) + "\n").collect()
}

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

fn new() -> String {
    OLD.replace("two\n", "two and a half\nalmost three\n").replace("twelve\n", "twelve")
}

#[test]
fn changes_have_signs_and_some_lines_around_them() {
    assert_snapshot!(shown(OLD, &new(), "src/a.txt", plain(60)), @"
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
    assert_snapshot!(readable(&shown("a\nb\n", "a\nc\n", "x", coloured(60))), @"
    ‹bold›x‹›  ‹green›+1‹› ‹red›-1‹›
    ‹dim›  a‹›
    ‹red›- b‹›
    ‹green›+ c‹›
    ");
}

#[test]
fn new_and_unchanged_files() {
    assert_snapshot!(shown("", "a\n\tb\x1b[2J\n", "new\n.txt", plain(60)), @"
    new<U+000A>.txt  +2 -0
    + a
    + <tab>b<U+001B>[2J
    ");
    assert_snapshot!(shown("a\n", "a\n", "same", plain(60)), @"same  no changes");
}

#[test]
fn long_lines_are_broken_and_nothing_is_wider() {
    let text = "some words that are longer than twenty columns 日本語日本語日本語\n";
    assert_snapshot!(shown("", text, "a/path/that/is/long/too", plain(20)), @"
    a/path/that/is/long/
    too  +1 -0
    + some words that ar
      e longer than twen
      ty columns 日本語
      日本語日本語
    ");
}

#[test]
fn large_files_are_compared_in_time() {
    let old: String = (0..20_000).map(|line| format!("{}\n", line * 7 % 10_007)).collect();
    let new: String = (0..20_000).map(|line| format!("{}\n", line * 11 % 10_009)).collect();
    let start = std::time::Instant::now();
    let rows = diff(&old, &new, "large", plain(80));
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(rows.len() > 20_000, "{}", rows.len());
}

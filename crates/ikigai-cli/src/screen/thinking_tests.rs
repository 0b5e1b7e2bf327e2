use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, plain, readable};

const TEXT: &str = "\n**Plan**\n\nFirst I read the file, then I think about what to change in it.\x1b[2J\n";

fn thought(text: &str, milliseconds: impl Into<Option<u64>>, tokens: impl Into<Option<u64>>) -> Thought<'_> {
    Thought { text, elapsed: milliseconds.into().map(Duration::from_millis), tokens: tokens.into(), estimated: false }
}

#[test]
fn one_line_tells_how_long_and_how_much() {
    let line = |thought: Thought<'_>| collapsed(&thought, plain(80));
    assert_eq!(line(thought(TEXT, 4000, 1234)), "▸ Thought for 4.0 s · 1,234 tokens\n");
    assert_eq!(line(thought(TEXT, 4000, None)), "▸ Thought for 4.0 s\n");
    assert_eq!(line(thought(TEXT, None, 1)), "▸ Thought · 1 token\n");
    assert_eq!(line(thought(TEXT, None, None)), "▸ Thought\n");
    assert_eq!(line(thought(TEXT, 72_000, 0)), "▸ Thought for 1 min 12 s\n");
    assert_eq!(
        readable(&collapsed(&thought(TEXT, 4000, 1234), coloured(80))),
        "‹dim›▸ Thought for 4.0 s · 1,234 tokens‹›\n"
    );
}

#[test]
fn short_times_have_a_decimal() {
    let line = |milliseconds: u64| collapsed(&thought(TEXT, milliseconds, None), plain(80));
    assert_eq!(
        [40, 400, 1500, 59_700].map(line),
        ["0.0 s", "0.4 s", "1.5 s", "59 s"].map(|time| format!("▸ Thought for {time}\n"))
    );
}

#[test]
fn all_of_it_is_dim_and_stands_in() {
    assert_snapshot!(expanded(&thought(TEXT, 4000, 1234), plain(40)), @"
    ▾ Thought for 4.0 s · 1,234 tokens
      Plan

      First I read the file, then I think
      about what to change in it.␛[2J
    ");
    assert_snapshot!(readable(&expanded(&thought(TEXT, 4000, 1234), coloured(80))), @"
    ‹dim›▾ Thought for 4.0 s · 1,234 tokens‹›
      ‹bold dim›Plan‹›

      ‹dim›First I read the file, then I think about what to change in it.␛[2J‹›
    ");
}

#[test]
fn without_text_there_is_nothing_to_open() {
    assert_eq!(collapsed(&thought(" \n", 4000, 1234), plain(80)), "▸ Thought for 4.0 s · 1,234 tokens\n");
    assert_eq!(expanded(&thought(" \n", 4000, 1234), plain(80)), "▸ Thought for 4.0 s · 1,234 tokens\n");
    for nothing in [thought("", 4000, None), thought(" \n", 4000, 0), thought("", None, None)] {
        assert_eq!((collapsed(&nothing, plain(80)), expanded(&nothing, plain(80))), (String::new(), String::new()));
    }
}

#[test]
fn ascii_has_its_own_signs() {
    let look = Look { unicode: false, ..plain(80) };
    assert_eq!(collapsed(&thought("x", 4000, 5), look), "> Thought for 4.0 s - 5 tokens\n");
    assert_eq!(expanded(&thought("x", 4000, 5), look), "v Thought for 4.0 s - 5 tokens\n  x\n");
}

use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::fit;
use crate::screen::markdown::markdown;
use crate::screen::testing::{coloured, plain, readable};

#[test]
fn wide_characters_line_up() {
    let text =
        "| 名前 | Größe | 絵 |\n|:--|--:|:-:|\n| 日本語のテキスト | 1 | 👍 |\n| é | 1,000 | 👩‍🚀 |\n| שלום | | x |";
    assert_snapshot!(markdown(text, plain(80)), @"
    ┌──────────────────┬───────┬────┐
    │ 名前             │ Größe │ 絵 │
    ├──────────────────┼───────┼────┤
    │ 日本語のテキスト │     1 │ 👍 │
    │ é                │ 1,000 │ 👩‍🚀 │
    │ שלום             │       │ x  │
    └──────────────────┴───────┴────┘
    ");
    assert_snapshot!(markdown(text, plain(26)), @"
    ┌───────────┬───────┬────┐
    │ 名前      │ Größe │ 絵 │
    ├───────────┼───────┼────┤
    │ 日本語の  │     1 │ 👍 │
    │ テキスト  │       │    │
    ├───────────┼───────┼────┤
    │ é         │ 1,000 │ 👩‍🚀 │
    ├───────────┼───────┼────┤
    │ שלום      │       │ x  │
    └───────────┴───────┴────┘
    ");
}

#[test]
fn cells_have_styles() {
    let text = "| *a* |\n|---|\n| **b** `c` [d](http://e) |";
    assert_snapshot!(readable(&markdown(text, coloured(80))), @"
    ‹dim›┌──────────────────┐‹›
    ‹dim›│‹› ‹bold italic›a‹›                ‹dim›│‹›
    ‹dim›├──────────────────┤‹›
    ‹dim›│‹› ‹bold›b‹› ‹cyan›c‹› ‹underline›d‹dim› (http://e)‹› ‹dim›│‹›
    ‹dim›└──────────────────┘‹›
    ");
}

#[test]
fn the_widest_columns_give_way() {
    let text = "| id | a long text | another long text |\n|---|---|---|\n| 1 | some words that take more room than there is | and here are even more words, so that both columns have to be broken |\n| 2 | short<br>lines | averyveryverylongwordwithoutanyspaces |";
    assert_snapshot!(markdown(text, plain(60)), @"
    ┌────┬──────────────────────────┬──────────────────────────┐
    │ id │ a long text              │ another long text        │
    ├────┼──────────────────────────┼──────────────────────────┤
    │ 1  │ some words that take     │ and here are even more   │
    │    │ more room than there is  │ words, so that both      │
    │    │                          │ columns have to be       │
    │    │                          │ broken                   │
    ├────┼──────────────────────────┼──────────────────────────┤
    │ 2  │ short                    │ averyveryverylongwordwit │
    │    │ lines                    │ houtanyspaces            │
    └────┴──────────────────────────┴──────────────────────────┘
    ");
}

#[test]
fn too_many_columns_become_records() {
    let text = "| one | two | three | four |\n|---|---|---|---|\n| a first value | b | c | d |\n| e | f | a value that is long | h |";
    assert_snapshot!(markdown(text, plain(28)), @"
    one: a first value
    two: b
    three: c
    four: d
    ┄┄┄┄┄┄┄┄
    one: e
    two: f
    three: a value that is long
    four: h
    ");
    assert_snapshot!(markdown("| one | two | three | four | five |\n|---|---|---|---|---|", plain(20)), @"
    one
    two
    three
    four
    five
    ");
}

#[test]
fn widths_use_all_the_room() {
    assert_eq!(fit(&[3, 4], 10), Some(vec![3, 4]));
    assert_eq!(fit(&[3, 40, 50], 43), Some(vec![3, 20, 20]));
    assert_eq!(fit(&[3, 40, 50], 44), Some(vec![3, 21, 20]));
    assert_eq!(fit(&[30, 30], 9), None);
    assert_eq!(fit(&[30, 30], 10), Some(vec![5, 5]));
}

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn headings() {
    let all = ["# a", "#", "### a b ##", "# a#", "####### a", "#a", "## #"].map(heading);
    let expected = [Some((1, "a")), Some((1, "")), Some((3, "a b")), Some((1, "a#")), None, None, Some((2, ""))];
    assert_eq!(all, expected);
}

#[test]
fn rules() {
    let all = ["---", "* * *", "_____", "--", "-- -", "- - x", "+++", ""].map(is_rule);
    assert_eq!(all, [true, true, true, false, true, false, false, false]);
}

#[test]
fn fences() {
    let info = |line| fence(line).map(|(fence, info)| (fence.length, info));
    let all = ["```", "~~~~ rust x", "``", "``` a`b", "~~~ a`b"].map(info);
    assert_eq!(all, [Some((3, "")), Some((4, "rust x")), None, None, Some((3, "a`b"))]);
    let (open, _) = fence("````").expect("a fence");
    let closed =
        ["````", "   `````  ", "```", "    ````", "~~~~", "```` x", "> ````"].map(|line| open.is_closed_by(line));
    assert_eq!(closed, [true, true, false, false, false, false, false]);
    assert_eq!(["`", "``", "`a", ""].map(|line| open.may_be_closed_by(line)), [true, true, false, false]);
}

#[test]
fn items() {
    let item =
        |line, paragraph| list_item(line, paragraph).map(|item| (item.kind, item.number, item.indent, item.content));
    let all = ["- a", "12)   b", "-", "-a", "1.", "1234567890. a", "*      code"].map(|line| item(line, false));
    assert_eq!(
        all,
        [
            Some((ListKind::Bullet('-'), 0, 2, "a")),
            Some((ListKind::Numbered(')'), 12, 6, "b")),
            Some((ListKind::Bullet('-'), 0, 2, "")),
            None,
            Some((ListKind::Numbered('.'), 1, 3, "")),
            None,
            Some((ListKind::Bullet('*'), 0, 2, "     code")),
        ]
    );
    assert_eq!(["2. a", "-", "1. a"].map(|line| item(line, true).is_some()), [false, false, true]);
}

#[test]
fn blocks_of_html() {
    use HtmlEnd::{BlankLine, RawElement, Text};
    let lines = [
        "<!-- x",
        "<?php",
        "<!DOCTYPE html>",
        "<pre class=x>",
        "</div",
        "<P/>",
        "<x-y a=1>",
        "<b> text",
        "< a",
        "<a@b.c>",
    ];
    let expected = [
        Some(Text("-->")),
        Some(Text("?>")),
        Some(Text(">")),
        Some(RawElement),
        Some(BlankLine),
        Some(BlankLine),
        Some(BlankLine),
        None,
        None,
        None,
    ];
    assert_eq!(lines.map(|line| html(line, false)), expected);
    assert_eq!(html("<x-y>", true), None);
    assert!(RawElement.is_met_by("x </PRE> y"));
}

#[test]
fn parts_of_tables() {
    use Side::{Centre, Left, Right};
    assert_eq!(delimiters("|:--|:-:|--:|---|"), Some(vec![Left, Centre, Right, Left]));
    assert_eq!(delimiters(":-"), Some(vec![Left]));
    assert_eq!(["---", "| - x |", "|:|", "||", "|--||"].map(delimiters), [None, None, None, None, None]);
    assert_eq!(cells("| a | b \\| c | `d\\|e` | \\\\ |"), ["a", "b | c", "`d|e`", "\\\\"]);
    assert_eq!([cells("a"), cells(""), cells("|"), cells("a||")], [vec!["a"], vec![""], vec![""], vec!["a", ""]]);
}

#[test]
fn definitions() {
    let found = |line| definition(line).map(|found| (found.label, found.target));
    assert_eq!(found("[a b]: http://x 'title'"), Some(("a b", "http://x")));
    assert_eq!(found("[a]: <x y>"), Some(("a", "x y")));
    assert_eq!(["[a]: x y", "[]: x", "[a]:", "[a] : x", "a]: x", "[a]: x \""].map(found), [None; 6]);
}

#[test]
fn tasks() {
    assert_eq!(task("[ ] a"), Some((false, "a")));
    assert_eq!(task("[X] a"), Some((true, "a")));
    assert_eq!(["[x]", "[y] a", "日本語", ""].map(task), [None; 4]);
}

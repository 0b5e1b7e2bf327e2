use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, plain, readable};

fn status(doing: &str, elapsed: u64) -> Status<'_> {
    Status {
        model: "claude-sonnet-4-5",
        doing,
        elapsed: Duration::from_secs(elapsed),
        stops: "Esc",
        ..Status::default()
    }
}

fn writing() -> Status<'static> {
    let cost = Some(ikigai::Money::from_pico(12_340_000_000));
    Status { tokens: 1234, cost, about: Some("Reading the file"), ..status("thinking", 72) }
}

#[test]
fn it_says_who_answers_what_goes_on_and_how_to_stop() {
    assert_snapshot!(row(&status("waiting", 3), plain(80)), @"⠋ claude-sonnet-4-5 · waiting · 3 s · Esc stops");
    assert_snapshot!(row(&writing(), plain(120)), @"⠋ claude-sonnet-4-5 · thinking: Reading the file · 1 min 12 s · ~1,234 tokens · ~$0.0123 · Esc stops");
    assert_snapshot!(readable(&row(&status("running shell", 0), coloured(80))), @"⠋ ‹dim›claude-sonnet-4-5 · running shell · 0 s · Esc stops‹›");
}

#[test]
fn a_stall_is_told() {
    let stalled = Status { silent: Duration::from_secs(8), ..writing() };
    assert_snapshot!(readable(&row(&stalled, coloured(120))), @"⠋ ‹yellow›claude-sonnet-4-5 · nothing for 8 s · 1 min 12 s · ~1,234 tokens · ~$0.0123 · Esc stops‹›");
    let short = Status { silent: Duration::from_secs(4), ..status("writing", 9) };
    assert_snapshot!(row(&short, plain(80)), @"⠋ claude-sonnet-4-5 · writing · 9 s · Esc stops");
}

#[test]
fn what_matters_least_goes_first_where_there_is_no_room() {
    let rows: Vec<String> = [80, 70, 60, 50, 30].map(|width| row(&writing(), plain(width))).into();
    assert_snapshot!(rows.join("\n"), @"
    ⠋ claude-sonnet-4-5 · thinking · 1 min 12 s · ~1,234 tokens · Esc stops
    ⠋ claude-sonnet-4-5 · thinking · 1 min 12 s · Esc stops
    ⠋ claude-sonnet-4-5 · thinking · 1 min 12 s · Esc stops
    ⠋ claude-sonnet-4-5 · thinking · 1 min 12 s · Esc…
    ⠋ claude-sonnet-4-5 · thinkin…
    ");
    assert!(rows.iter().zip([80, 70, 60, 50, 30]).all(|(row, most)| width(row) <= most));
}

#[test]
fn a_thought_is_about_its_first_heading() {
    assert_eq!(heading("**Reading the file**\n\nI should…\n\n**Next**"), Some("Reading the file"));
    assert_eq!(heading("**half a head"), None);
    assert_eq!(heading(""), None);
}

#[test]
fn it_moves_where_it_may() {
    let signs = |look: Look| -> String {
        let at = |tick| Status { elapsed: INTERVAL * tick, ..Status::default() };
        (0..12).filter_map(|tick| row(&at(tick), look).chars().next()).collect()
    };
    assert_eq!(signs(plain(80)), "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⠋⠙");
    assert_eq!(signs(Look { unicode: false, ..plain(80) }), "|/-\\|/-\\|/-\\");
    assert_eq!(signs(Look { motion: false, ..plain(80) }), "•".repeat(12));
    assert_snapshot!(row(&status("x", 1), Look { unicode: false, motion: false, ..plain(80) }), @"* claude-sonnet-4-5 - x - 1 s - Esc stops");
}

use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, plain, readable};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn it_says_what_it_waits_for_how_long_and_how_to_stop() {
    assert_snapshot!(waiting("claude-sonnet-4-5", seconds(3), plain(80)), @"⠋ Waiting for claude-sonnet-4-5 · 3 s · Ctrl-C stops");
    assert_snapshot!(busy("Running shell", seconds(72), plain(80)), @"⠋ Running shell · 1 min 12 s · Ctrl-C stops");
    assert_snapshot!(readable(&waiting("o3", seconds(0), coloured(80))), @"⠋ ‹dim›Waiting for o3 · 0 s · Ctrl-C stops‹›");
}

#[test]
fn it_says_what_the_model_thinks_about() {
    let text = "**Reading the file**\n\nI should…\n\n**Next**";
    assert_snapshot!(thinking(text, Some(340), seconds(12), plain(80)), @"⠋ Thinking… 12 s · 340 tokens · Reading the file");
    assert_snapshot!(thinking("**half a head", Some(1), seconds(12), plain(80)), @"⠋ Thinking… 12 s · 1 token");
    assert_snapshot!(thinking("", None, seconds(1), plain(80)), @"⠋ Thinking… 1 s");
}

#[test]
fn it_fits_the_width() {
    assert_snapshot!(thinking("**A heading that is quite long**", Some(1234), seconds(12), plain(40)), @"⠋ Thinking… 12 s · 1,234 tokens · A hea…");
    assert_snapshot!(waiting("a\x1b[1m-model-with-a-long-name", seconds(3), plain(20)), @"⠋ Waiting for a␛[1m…");
}

#[test]
fn it_moves_where_it_may() {
    let signs =
        |look: Look| -> String { (0..12).filter_map(|tick| busy("x", INTERVAL * tick, look).chars().next()).collect() };
    assert_eq!(signs(plain(80)), "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⠋⠙");
    assert_eq!(signs(Look { unicode: false, ..plain(80) }), "|/-\\|/-\\|/-\\");
    assert_eq!(signs(Look { motion: false, ..plain(80) }), "•".repeat(12));
    assert_snapshot!(busy("x", seconds(1), Look { unicode: false, motion: false, ..plain(80) }), @"* x - 1 s - Ctrl-C stops");
}

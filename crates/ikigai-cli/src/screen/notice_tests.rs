use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;
use crate::screen::testing::{coloured, plain, readable};

#[test]
fn errors_name_the_way_out() {
    let hint = Some("Set ANTHROPIC_API_KEY, or run:\nikigai keys set anthropic");
    assert_snapshot!(error("no key for anthropic", hint, plain(40)), @"
    ✗ no key for anthropic
      Set ANTHROPIC_API_KEY, or run:
      ikigai keys set anthropic
    ");
    assert_snapshot!(readable(&error("no key for anthropic: this is a long message\x1b[2J\nof two lines", hint, coloured(40))), @"
    ‹red›✗ no key for anthropic: this is a long‹›
      ‹red›message␛[2J‹›
    ‹red›  of two lines‹›
    ‹dim›  Set ANTHROPIC_API_KEY, or run:‹›
    ‹dim›  ikigai keys set anthropic‹›
    ");
}

#[test]
fn warnings_and_successes() {
    assert_snapshot!(readable(&warning("The context is nearly full.", coloured(40))), @"‹yellow›⚠ ‹›The context is nearly full.");
    assert_snapshot!(readable(&info("by the way\nof two lines", coloured(40))), @"
    ‹dim›by the way‹›
    ‹dim›of two lines‹›
    ");
    let more = ["⚠ This model does not support disabling thinking", "Thinking: LOW level (minimum)"];
    assert_snapshot!(readable(&success("Switched to Google gemini-3-pro", &more, coloured(80))), @"
    ‹green›✓ ‹›Switched to Google gemini-3-pro
    ‹yellow›  ⚠ ‹›This model does not support disabling thinking
    ‹dim›  ‹›Thinking: LOW level (minimum)
    ");
    assert_snapshot!(success("Switched to Google gemini-3-pro", &more, plain(40)), @"
    ✓ Switched to Google gemini-3-pro
      ⚠ This model does not support
        disabling thinking
      Thinking: LOW level (minimum)
    ");
    assert_snapshot!(error("a", Some("b"), Look { unicode: false, ..plain(80) }), @"
    x a
      b
    ");
}

#[test]
fn results_are_folded() {
    let text = "one\n\ttwo \x1b[1m\n\nfour is a line that is longer than the screen\nfive\nsix\n";
    assert_snapshot!(folded(text, Lines(4), plain(30)), @"
    one
        two ␛[1m

    four is a line that is long…
    … 2 more lines
    ");
    assert_snapshot!(folded(text, Lines(5), plain(80)), @"
    one
        two ␛[1m

    four is a line that is longer than the screen
    five
    … 1 more line
    ");
    assert_snapshot!(readable(&folded("a\nb", Lines(1), coloured(80))), @"
    ‹dim›a‹›
    ‹dim›… 1 more line‹›
    ");
    assert_eq!(folded("", Lines(3), plain(80)), "");
    assert_eq!(folded("a\n", Lines(1), plain(80)), "  a\n");
    assert_eq!(folded("a\n".repeat(5000).as_str(), Lines(0), plain(80)), "  … 5,000 more lines\n");
}

#[test]
fn numbers() {
    assert_eq!([count(0), count(1234), count(u64::MAX)], ["0", "1,234", "9,223,372,036,854,775,807"]);
    assert_eq!([tokens(1), tokens(43_008)], ["1 token", "43,008 tokens"]);
    let time = |seconds| duration(Duration::from_secs(seconds));
    assert_eq!([0, 4, 60, 72, 3600, 7500].map(time), ["0 s", "4 s", "1 min", "1 min 12 s", "1 h", "2 h 5 min"]);
    assert_eq!(duration(Duration::from_millis(4999)), "4 s");
    let sizes = [0, 1023, 1024, 1536, 10_240, 1_048_575, 1_048_576, 20 << 20, 3 << 40, u64::MAX].map(size);
    assert_eq!(
        sizes,
        ["0 B", "1023 B", "1 KiB", "1.5 KiB", "10 KiB", "1023 KiB", "1 MiB", "20 MiB", "3 TiB", "16777215 TiB"]
    );
}

#[test]
fn times_and_sums_are_written_in_one_way() {
    let times = [0, 40, 999, 1_000, 9_999, 10_000, 72_000].map(|millis| took(Duration::from_millis(millis)));
    assert_eq!(times, ["0.0 s", "0.0 s", "0.9 s", "1.0 s", "9.9 s", "10 s", "1 min 12 s"]);
    let sums = ["0", "0.00001", "0.00006", "0.0068", "0.99", "1", "12.345"].map(|sum| money(sum.parse().unwrap()));
    assert_eq!(sums, ["$0", "<$0.0001", "$0.0001", "$0.0068", "$0.9900", "$1.00", "$12.35"]);
    let estimates = ["0.0068", "0.00001"].map(|sum| about(sum.parse().unwrap(), true));
    assert_eq!(estimates, ["~$0.0068", "<$0.0001"]);
}

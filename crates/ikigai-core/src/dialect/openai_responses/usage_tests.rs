use pretty_assertions::assert_eq;

use super::*;

/// Returns input, output, thinking, read, written.
fn counts(wire: &Value) -> Option<[u64; 5]> {
    let usage = decode(&wire.into())?;
    assert_eq!(encode(&usage), *wire, "it comes back as it was");
    Some([
        usage.input_tokens,
        usage.output_tokens,
        usage.thinking_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    ])
}

#[test]
fn counts_of_every_shape_are_disjoint() {
    for (wire, want) in [
        (
            json!({"input_tokens": 50, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 120,
                   "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 170}),
            [50, 100, 20, 0, 0],
        ),
        (
            json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                   "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 105}),
            [10, 0, 5, 60, 30],
        ),
        // The names in this project's original documents, and those of Chat Completions.
        (
            json!({"prompt_tokens": 50, "completion_tokens": 120,
                   "completion_tokens_details": {"reasoning_tokens": 20}}),
            [50, 100, 20, 0, 0],
        ),
        (json!({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "cost": 0.1}), [7, 3, 0, 0, 0]),
        (json!({"input_tokens": 7, "input_tokens_details": null}), [7, 0, 0, 0, 0]),
        // From servers without integers.
        (
            json!({"input_tokens": 7.0, "output_tokens": 3.0, "output_tokens_details": {"reasoning_tokens": 1.0},
                   "total_tokens": 10.0}),
            [7, 2, 1, 0, 0],
        ),
        // Reasoning that is not included in the answer, as the total shows, and impossible counts.
        (
            json!({"input_tokens": 7, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 9},
                   "total_tokens": 19}),
            [7, 3, 9, 0, 0],
        ),
        (
            json!({"input_tokens": 7, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 9}}),
            [7, 0, 9, 0, 0],
        ),
    ] {
        assert_eq!(counts(&wire), Some(want), "{wire}");
    }
    for none in [json!(null), json!({}), json!([]), json!({"input_tokens": null}), json!({"input_tokens": -1})] {
        assert_eq!(counts(&none), None, "{none}");
    }
}

#[test]
fn counts_that_were_changed_are_written_anew() {
    let mut usage = decode(&json!({"input_tokens": 7, "output_tokens": 3, "cost": 0.1}).into()).unwrap();
    usage.output_tokens = 4;
    assert_eq!(
        encode(&usage),
        json!({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 4,
               "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 11})
    );
}

#[test]
fn counts_from_elsewhere_have_every_member_of_the_official_types() {
    let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
    let details = |usage: &Usage| encode(usage).value()["input_tokens_details"].clone();
    assert_eq!(details(&usage), json!({"cached_tokens": 0, "cache_write_tokens": 0}));
    let written = Usage { cache_write_tokens: 2, ..usage };
    assert_eq!(details(&written), json!({"cached_tokens": 0, "cache_write_tokens": 2}));
}

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn read(value: &Value) -> Usage {
    read_any(value).unwrap()
}

fn read_any(value: &Value) -> Option<Usage> {
    let text = value.to_string();
    decode(&serde_json::from_str(&text).unwrap())
}

fn written(usage: &Usage) -> Value {
    serde_json::to_value(encode(usage, &Usage::default())).unwrap()
}

#[test]
fn counts_are_disjoint_and_come_back() {
    for (wire, [input, output, thinking, cached], total) in [
        (
            json!({"promptTokenCount": 29, "candidatesTokenCount": 15, "thoughtsTokenCount": 804, "totalTokenCount": 848}),
            [29, 15, 804, 0],
            848,
        ),
        (
            json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 5, "totalTokenCount": 105}),
            [40, 5, 0, 60],
            105,
        ),
        (
            json!({"promptTokenCount": 10, "toolUsePromptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 20, "serviceTier": "standard"}),
            [17, 3, 0, 0],
            20,
        ),
        (json!({"promptTokenCount": 29.0, "candidatesTokenCount": 15.0, "totalTokenCount": 44.0}), [29, 15, 0, 0], 44),
        // All spent on thoughts: the candidates are left out.
        (json!({"promptTokenCount": 15, "thoughtsTokenCount": 2, "totalTokenCount": 17}), [15, 0, 2, 0], 17),
        (
            json!({"promptTokenCount": 14, "totalTokenCount": 14, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 14}]}),
            [14, 0, 0, 0],
            14,
        ),
        // A proxy that includes the thoughts in the candidates.
        (
            json!({"promptTokenCount": 50, "candidatesTokenCount": 120, "thoughtsTokenCount": 20, "totalTokenCount": 170}),
            [50, 100, 20, 0],
            170,
        ),
        // The counts of the documents' example fit the exclusive reading.
        (
            json!({"promptTokenCount": 50, "candidatesTokenCount": 120, "thoughtsTokenCount": 20, "totalTokenCount": 190}),
            [50, 120, 20, 0],
            190,
        ),
        (
            json!({"promptTokenCount": 15, "candidatesTokenCount": 0, "thoughtsTokenCount": 2, "totalTokenCount": 17}),
            [15, 0, 2, 0],
            17,
        ),
        (json!({"promptTokenCount": "12", "candidatesTokenCount": "3", "totalTokenCount": "15"}), [12, 3, 0, 0], 15),
        (json!({"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 99}), [12, 3, 0, 0], 15),
    ] {
        let usage = read(&wire);
        let numbers = [usage.input_tokens, usage.output_tokens, usage.thinking_tokens, usage.cached_tokens()];
        assert_eq!((numbers, usage.total_tokens()), ([input, output, thinking, cached], total), "{wire}");
        assert_eq!(written(&usage), wire);
    }
}

#[test]
fn nothing_counted_is_no_usage() {
    assert_eq!(read_any(&json!({"trafficType": "ON_DEMAND"})), None);
}

#[test]
fn a_total_that_is_no_sum_is_noticed() {
    assert_eq!(odd_total(&read(&json!({"promptTokenCount": 1, "totalTokenCount": 9}))), Some(9));
    assert_eq!(odd_total(&read(&json!({"promptTokenCount": 9, "totalTokenCount": 9}))), None);
}

#[test]
fn a_foreign_usage_is_written_with_the_cache_in_the_prompt() {
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        thinking_tokens: 0,
        cache_read_tokens: 100,
        cache_write_tokens: 20,
        ..Usage::default()
    };
    assert_eq!(
        written(&usage),
        json!({"promptTokenCount": 130, "candidatesTokenCount": 5, "cachedContentTokenCount": 100, "totalTokenCount": 135}),
    );
}

#[test]
fn changed_numbers_are_not_overridden_by_what_was_kept() {
    let mut usage = read(&json!({"promptTokenCount": 15, "thoughtsTokenCount": 2, "totalTokenCount": 99}));
    usage.output_tokens = 4;
    assert_eq!(
        written(&usage),
        json!({"promptTokenCount": 15, "candidatesTokenCount": 4, "thoughtsTokenCount": 2, "totalTokenCount": 21}),
    );
}

fn counts(value: Value) -> Counts {
    let text = value.to_string();
    serde_json::from_str::<UsageMetadata<'_>>(&text).unwrap().counts()
}

#[test]
fn in_a_stream_a_count_stays_unless_the_total_takes_it_back() {
    let earlier = counts(json!({"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}));
    for (later, [input, output, thinking]) in [
        // Left out, but still counted in the total.
        (json!({"thoughtsTokenCount": 4, "totalTokenCount": 11}), [5, 2, 4]),
        (json!({"candidatesTokenCount": 3}), [5, 3, 0]),
        // The total is only right without the two tokens: they have been withdrawn.
        (json!({"promptTokenCount": 5, "totalTokenCount": 5}), [5, 0, 0]),
        // A total that is wrong either way decides nothing.
        (json!({"promptTokenCount": 6, "totalTokenCount": 99}), [6, 2, 0]),
    ] {
        let usage = counts(later.clone()).after(earlier).usage();
        assert_eq!(
            [usage.input_tokens, usage.output_tokens, usage.thinking_tokens],
            [input, output, thinking],
            "{later}"
        );
    }
}

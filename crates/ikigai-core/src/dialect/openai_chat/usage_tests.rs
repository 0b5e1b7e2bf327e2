use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;

fn decode(raw: &Value) -> Usage {
    super::decode(&Raw::of(raw).0)
}

fn encode(usage: &Usage) -> Option<Value> {
    super::encode(usage).and_then(|raw| raw.to())
}

/// Returns input, output, thinking, cache read, cache write.
fn numbers(raw: Value) -> [u64; 5] {
    let usage = decode(&raw);
    [usage.input_tokens, usage.output_tokens, usage.thinking_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
}

#[test]
fn every_spelling_of_the_family_is_counted_once() {
    // OpenAI: the answer includes reasoning, the prompt includes the cache.
    let openai = json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 20, "accepted_prediction_tokens": 5}});
    assert_eq!(numbers(openai), [30, 30, 20, 60, 10]);
    // DeepSeek and Mistral have their own names for the cache.
    let deepseek = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
        "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5});
    assert_eq!(numbers(deepseek), [5, 3, 0, 4, 0]);
    let mistral = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "num_cached_tokens": 8});
    assert_eq!(numbers(mistral), [1, 3, 0, 8, 0]);
    // xAI: reasoning is next to the answer, as the total shows.
    let xai = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
        "completion_tokens_details": {"reasoning_tokens": 100}});
    assert_eq!(numbers(xai), [10, 5, 100, 0, 0]);
    // Some have no integers.
    let doubles = json!({"prompt_tokens": 20.0, "completion_tokens": 10.0, "total_tokens": 30.0,
        "prompt_tokens_details": {"cached_tokens": 5.0}});
    assert_eq!(numbers(doubles), [15, 10, 0, 5, 0]);
    // Some write them as strings, or with the names of the Responses API.
    let strings = json!({"prompt_tokens": "20", "completion_tokens": "10", "total_tokens": "30"});
    assert_eq!(numbers(strings), [20, 10, 0, 0, 0]);
    let responses = json!({"input_tokens": 20, "output_tokens": 10, "total_tokens": 30,
        "input_tokens_details": {"cached_tokens": 5}, "output_tokens_details": {"reasoning_tokens": 4}});
    assert_eq!(numbers(responses), [15, 6, 4, 5, 0]);
    // Nonsense counts never go below zero.
    let more = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 7}});
    assert_eq!(numbers(more), [10, 0, 7, 20, 0]);
    let odd = json!({"prompt_tokens": -1, "completion_tokens": null, "prompt_tokens_details": null});
    assert_eq!(numbers(odd), [0, 0, 0, 0, 0]);
    assert_eq!(numbers(json!("none")), [0, 0, 0, 0, 0]);
}

#[test]
fn counts_are_written_as_they_came_until_they_change() {
    let raw = json!({"total_tokens": 12, "prompt_tokens": 9, "completion_tokens": 3, "cost": 0.1});
    let mut usage = decode(&raw);
    assert_eq!(encode(&usage), Some(raw));
    usage.output_tokens = 4;
    usage.cache_write_tokens = 2;
    assert_eq!(
        encode(&usage),
        Some(json!({"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 0}}))
    );
    assert_eq!(encode(&decode_elsewhere(&Raw::of(&json!({"prompt_tokens": 9})).0)), None);
}

#[test]
fn what_is_more_than_a_count_and_a_total_that_differs_are_kept_apart() {
    let kept = |raw: &Value| serde_json::to_value(decode(raw).provider_data.part(DIALECT, Part::Answer)).unwrap();
    let plain = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "prompt_tokens_details": {"audio_tokens": 1}});
    assert_eq!(kept(&plain), json!({}));
    let odd = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 13, "cost": 0.1, "x": null});
    assert_eq!(kept(&odd), json!({"total_tokens": 13, "cost": 0.1}));
    assert_eq!(
        decode(&odd).inconsistency().map(|loss| (loss.code, loss.to_string())),
        Some((
            crate::LossCode::Inconsistent,
            "usage at usage.total_tokens: the provider says 13, the counts add up to 12".to_owned()
        ))
    );
    assert_eq!(decode(&plain).inconsistency(), None);
}

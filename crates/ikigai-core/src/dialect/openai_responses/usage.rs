//! Token counts. On the wire the prompt includes what was cached, and the answer includes the reasoning.

use serde_json::{Value, json};

use super::ME;
use crate::Usage;

/// Reads the counts; none when there are none. The names of Chat Completions are understood too.
pub(super) fn decode(wire: &Value) -> Option<Usage> {
    let fields = wire.as_object()?;
    let number = |keys: [&str; 2]| keys.iter().find_map(|key| fields.get(*key)?.as_u64());
    let detail = |groups: [&str; 2], key: &str| {
        groups.iter().find_map(|group| fields.get(*group)?.get(key)?.as_u64()).unwrap_or(0)
    };
    let prompt = number(["input_tokens", "prompt_tokens"]);
    let answer = number(["output_tokens", "completion_tokens"]);
    if prompt.is_none() && answer.is_none() {
        return None;
    }
    let (prompt, answer) = (prompt.unwrap_or(0), answer.unwrap_or(0));
    let of_prompt = ["input_tokens_details", "prompt_tokens_details"];
    let read = detail(of_prompt, "cached_tokens");
    let write = detail(of_prompt, "cache_write_tokens");
    let thinking = detail(["output_tokens_details", "completion_tokens_details"], "reasoning_tokens");
    let total = fields.get("total_tokens").and_then(Value::as_u64);
    let mut usage = Usage {
        input_tokens: without(prompt, read.saturating_add(write), total.and_then(|total| total.checked_sub(answer))),
        output_tokens: without(answer, thinking, total.and_then(|total| total.checked_sub(prompt))),
        thinking_tokens: thinking,
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    };
    if encode(&usage) != *wire {
        usage.provider_data.set(ME, "usage", wire.clone());
    }
    Some(usage)
}

/// The rest of a sum. A part that is larger than the sum was not counted in it, if the total says so too.
fn without(sum: u64, part: u64, total: Option<u64>) -> u64 {
    match sum.checked_sub(part) {
        Some(rest) => rest,
        None if total == sum.checked_add(part) => sum,
        None => 0,
    }
}

/// What the provider counts in all, where that is not the sum of its counts.
pub(super) fn odd_total(usage: &Usage) -> Option<u64> {
    let total = usage.provider_data.value(ME, "usage")?.get("total_tokens")?.as_u64()?;
    (total != usage.total_tokens()).then_some(total)
}

/// Writes the counts, all five members always, or as they were read where they still say the same.
pub(super) fn encode(usage: &Usage) -> Value {
    if let Some(raw) = usage.provider_data.value(ME, "usage")
        && decode(raw).as_ref() == Some(usage)
    {
        return raw.clone();
    }
    let mut of_prompt = json!({"cached_tokens": usage.cache_read_tokens});
    if usage.cache_write_tokens > 0
        && let Value::Object(of_prompt) = &mut of_prompt
    {
        of_prompt.insert("cache_write_tokens".into(), usage.cache_write_tokens.into());
    }
    json!({
        "input_tokens": usage.prompt_tokens(),
        "input_tokens_details": of_prompt,
        "output_tokens": usage.completion_tokens(),
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": usage.total_tokens(),
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// input, output, thinking, read, written.
    fn counts(wire: &Value) -> Option<[u64; 5]> {
        let usage = decode(wire)?;
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
            // The names of the documents that this project began with, and of Chat Completions.
            (
                json!({"prompt_tokens": 50, "completion_tokens": 120,
                       "completion_tokens_details": {"reasoning_tokens": 20}}),
                [50, 100, 20, 0, 0],
            ),
            (json!({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "cost": 0.1}), [7, 3, 0, 0, 0]),
            (json!({"input_tokens": 7, "input_tokens_details": null}), [7, 0, 0, 0, 0]),
            // Reasoning that is not counted in the answer, as the total shows, and counts that cannot be.
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
        let mut usage = decode(&json!({"input_tokens": 7, "output_tokens": 3, "cost": 0.1})).unwrap();
        usage.output_tokens = 4;
        assert_eq!(
            encode(&usage),
            json!({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 4,
                   "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 11})
        );
    }
}

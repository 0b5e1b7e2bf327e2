//! Token counts of the whole family, as one arithmetic.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::DIALECT;
use super::notes::shape;
use crate::json::wire::Raw;
use crate::{Fields, Json, Part, Usage};

/// Shape: the counts as they came, to be written again while they still mean the same.
const RAW: &str = "usage";
/// Shape: the counts stood elsewhere than in `usage`.
const ELSEWHERE: &str = "elsewhere";

/// Reads a `usage` object.
///
/// The prompt includes what came from the cache and what went there. The answer includes reasoning, except where the
/// total shows that it does not.
pub(super) fn decode(raw: &RawValue) -> Usage {
    let fields: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
    let mut usage = counts(raw);
    usage.provider_data.set_part(DIALECT, Part::Shape, RAW, Json::copy(raw));
    let sum = usage.total_tokens();
    let total = fields.get("total_tokens").and_then(|total| total.to::<u64>().ok());
    for (name, value) in fields {
        let is_count = name.ends_with("tokens") || name.ends_with("tokens_details");
        if !(is_count || value.is_null()) || (name == "total_tokens" && total.is_some_and(|total| total != sum)) {
            usage.provider_data.set_part(DIALECT, Part::Answer, name, value);
        }
    }
    usage
}

/// Reads counts that stood elsewhere than in `usage`; they are not written again as `usage`.
pub(super) fn decode_elsewhere(raw: &RawValue) -> Usage {
    let mut usage = counts(raw);
    usage.provider_data.set_part(DIALECT, Part::Shape, ELSEWHERE, true);
    usage
}

fn counts(raw: &RawValue) -> Usage {
    let raw: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let at = |path: &[&str]| path.iter().try_fold(&raw, |value, key| value.get(*key)).and_then(Value::as_u64);
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| at(path)).unwrap_or(0);
    let prompt = first(&[&["prompt_tokens"]]);
    let completion = first(&[&["completion_tokens"]]);
    let total = at(&["total_tokens"]);
    let read = first(&[
        &["prompt_tokens_details", "cached_tokens"],
        &["prompt_cache_hit_tokens"],
        &["num_cached_tokens"],
        &["cached_tokens"],
        &["cache_read_input_tokens"],
    ]);
    let write = first(&[&["prompt_tokens_details", "cache_write_tokens"], &["cache_creation_input_tokens"]]);
    let thinking = first(&[&["completion_tokens_details", "reasoning_tokens"], &["reasoning_tokens"]]);
    let cached = read.saturating_add(write);
    let both = prompt.saturating_add(completion);
    // The one provider whose answers do not include reasoning shows it in the total.
    let apart = thinking > 0 && total.is_some_and(|total| total != both && total == both.saturating_add(thinking));
    Usage {
        // More cached than there were: then the prompt does not include it.
        input_tokens: prompt.checked_sub(cached).unwrap_or(prompt),
        output_tokens: if apart { completion } else { completion.saturating_sub(thinking) },
        thinking_tokens: thinking,
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    }
}

/// Writes a `usage` object: as it came while the counts are the same, else in OpenAI's form. `None` if the counts stood
/// elsewhere, and stay there.
pub(super) fn encode(usage: &Usage) -> Option<Raw<'_>> {
    let shape = shape(&usage.provider_data);
    if shape.flag(ELSEWHERE) {
        return None;
    }
    let means = |raw: &&Json| Usage { provider_data: usage.provider_data.clone(), ..counts(raw.raw()) };
    let same = shape.get(RAW).filter(|raw| means(raw) == *usage);
    Some(same.map_or_else(|| plain(usage), Raw::from))
}

/// The counts in OpenAI's form.
pub(super) fn plain(usage: &Usage) -> Raw<'static> {
    let mut prompt = json!({"cached_tokens": usage.cache_read_tokens});
    if let Some(prompt) = prompt.as_object_mut().filter(|_| usage.cache_write_tokens > 0) {
        prompt.insert("cache_write_tokens".to_owned(), usage.cache_write_tokens.into());
    }
    Raw::of(&json!({
        "prompt_tokens": usage.prompt_tokens(),
        "completion_tokens": usage.completion_tokens(),
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
    }))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn decode(raw: &Value) -> Usage {
        super::decode(&Raw::of(raw).0)
    }

    fn encode(usage: &Usage) -> Option<Value> {
        super::encode(usage).and_then(|raw| raw.to())
    }

    /// input, output, thinking, cache read, cache write.
    fn numbers(raw: Value) -> [u64; 5] {
        let usage = decode(&raw);
        [
            usage.input_tokens,
            usage.output_tokens,
            usage.thinking_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
        ]
    }

    #[test]
    fn every_spelling_of_the_family_is_counted_once() {
        // OpenAI: the answer includes reasoning, the prompt includes the cache.
        let openai = json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 20, "accepted_prediction_tokens": 5}});
        assert_eq!(numbers(openai), [30, 30, 20, 60, 10]);
        // DeepSeek and Mistral have names of their own for the cache.
        let deepseek = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
            "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5});
        assert_eq!(numbers(deepseek), [5, 3, 0, 4, 0]);
        let mistral = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "num_cached_tokens": 8});
        assert_eq!(numbers(mistral), [1, 3, 0, 8, 0]);
        // xAI: reasoning stands beside the answer, and the total tells.
        let xai = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
            "completion_tokens_details": {"reasoning_tokens": 100}});
        assert_eq!(numbers(xai), [10, 5, 100, 0, 0]);
        // Nonsense stays above zero.
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
}

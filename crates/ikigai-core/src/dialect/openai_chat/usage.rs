//! Token counts of the whole family, in one calculation.

use serde_json::json;
use serde_json::value::RawValue;

use super::DIALECT;
use super::notes::shape;
use crate::json;
use crate::json::wire::Raw;
use crate::{Fields, Json, Part, ProviderTool, Usage};

/// Shape: the counts as received, written back while they still mean the same.
const RAW: &str = "usage";
/// Shape: the counts were not in `usage`.
const ELSEWHERE: &str = "elsewhere";

/// Reads a `usage` object.
///
/// The prompt includes what was read from and written to the cache. The answer includes reasoning, unless the total
/// shows that it does not.
pub(super) fn decode(raw: &RawValue) -> Usage {
    let fields = fields(raw);
    let mut usage = counts(&fields);
    usage.provider_data.set_part(DIALECT, Part::Shape, RAW, Json::copy(raw));
    let sum = usage.total_tokens();
    let total = count(&fields, "total_tokens");
    for (name, value) in fields {
        let is_count = name.ends_with("tokens") || name.ends_with("tokens_details");
        if !(is_count || value.is_null()) || (name == "total_tokens" && total.is_some_and(|total| total != sum)) {
            usage.provider_data.set_part(DIALECT, Part::Answer, name, value);
        }
    }
    usage
}

/// Reads counts that were not in `usage`; they are not written back as `usage`.
pub(super) fn decode_elsewhere(raw: &RawValue) -> Usage {
    let mut usage = counts(&fields(raw));
    usage.provider_data.set_part(DIALECT, Part::Shape, ELSEWHERE, true);
    usage
}

fn fields(raw: &RawValue) -> Fields {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn count(fields: &Fields, name: &str) -> Option<u64> {
    json::count(fields.get(name)?.text())
}

fn counts(fields: &Fields) -> Usage {
    let details = |name: &str| -> Fields { fields.get(name).and_then(|value| value.to().ok()).unwrap_or_default() };
    let top = |name: &str| count(fields, name);
    // Some servers use the names of the Responses API.
    let either = |name: &str, other: &str| top(name).or_else(|| top(other)).unwrap_or(0);
    let part = |name: &'static str, other: &'static str| details(if fields.get(name).is_some() { name } else { other });
    let of_prompt = part("prompt_tokens_details", "input_tokens_details");
    let of_completion = part("completion_tokens_details", "output_tokens_details");
    let prompt = either("prompt_tokens", "input_tokens");
    let completion = either("completion_tokens", "output_tokens");
    let total = top("total_tokens");
    let elsewhere = ["prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens", "cache_read_input_tokens"];
    let read = count(&of_prompt, "cached_tokens").or_else(|| elsewhere.into_iter().find_map(top)).unwrap_or(0);
    let write = count(&of_prompt, "cache_write_tokens").or_else(|| top("cache_creation_input_tokens")).unwrap_or(0);
    let thinking = count(&of_completion, "reasoning_tokens").or_else(|| top("reasoning_tokens")).unwrap_or(0);
    let cached = read.saturating_add(write);
    let both = prompt.saturating_add(completion);
    // The one provider whose answers do not include reasoning adds it to the total.
    let apart = thinking > 0 && total.is_some_and(|total| total != both && total == both.saturating_add(thinking));
    let searches =
        count(&details("server_tool_use_details"), "web_search_requests").or_else(|| top("num_search_queries"));
    Usage {
        provider_calls: searches.map(|count| (ProviderTool::WebSearch, count)).into_iter().collect(),
        // If more is cached than the prompt has, the prompt does not include it.
        input_tokens: prompt.checked_sub(cached).unwrap_or(prompt),
        output_tokens: if apart { completion } else { completion.saturating_sub(thinking) },
        thinking_tokens: thinking,
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    }
}

/// Writes a `usage` object: as received while the counts are the same, otherwise in OpenAI's form. Returns `None` if
/// the counts were elsewhere, where they stay.
pub(super) fn encode(usage: &Usage) -> Option<Raw<'_>> {
    let shape = shape(&usage.provider_data);
    if shape.flag(ELSEWHERE) {
        return None;
    }
    let means = |raw: &&Json| Usage { provider_data: usage.provider_data.clone(), ..counts(&fields(raw.raw())) };
    let same = shape.get(RAW).filter(|raw| means(raw) == *usage);
    Some(same.map_or_else(|| plain(usage), Raw::from))
}

/// Writes the counts in OpenAI's form.
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
#[path = "usage_tests.rs"]
mod tests;

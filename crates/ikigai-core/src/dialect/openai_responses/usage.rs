//! Token counts. On the wire the prompt includes cached tokens, and the answer includes the reasoning.

use serde_json::{Value, json};

use super::DIALECT;
use crate::json::count;
use crate::json::loose::read_raw;
use crate::json::wire::{Raw, keep};
use crate::{Json, Loss, LossCode, Part, ProviderTool, Usage};

loose! {
    /// The counts of an answer. The names of Chat Completions are accepted too.
    struct Counts<'a> {
        input "input_tokens": Option<Raw<'a>>,
        prompt "prompt_tokens": Option<Raw<'a>>,
        of_input "input_tokens_details": Option<Box<Details<'a>>>,
        of_prompt "prompt_tokens_details": Option<Box<Details<'a>>>,
        output "output_tokens": Option<Raw<'a>>,
        completion "completion_tokens": Option<Raw<'a>>,
        of_output "output_tokens_details": Option<Box<Details<'a>>>,
        of_completion "completion_tokens_details": Option<Box<Details<'a>>>,
        total "total_tokens": Option<Raw<'a>>,
    }

    /// The breakdown of a count.
    struct Details<'a> {
        cached "cached_tokens": Option<Raw<'a>>,
        written "cache_write_tokens": Option<Raw<'a>>,
        reasoning "reasoning_tokens": Option<Raw<'a>>,
    }
}

/// Reads the counts. Returns `None` if there are none.
pub(super) fn decode(wire: &Json) -> Option<Usage> {
    let counts: Counts<'_> = read_raw(wire.raw())?;
    let number = |raw: Option<Raw<'_>>| count(raw?.text());
    let (prompt, answer) = (number(counts.input.or(counts.prompt)), number(counts.output.or(counts.completion)));
    if prompt.is_none() && answer.is_none() {
        return None;
    }
    let (prompt, answer, total) = (prompt.unwrap_or(0), answer.unwrap_or(0), number(counts.total));
    let of_input = counts.of_input.or(counts.of_prompt).unwrap_or_default();
    let of_output = counts.of_output.or(counts.of_completion).unwrap_or_default();
    let (read, write) = (number(of_input.cached).unwrap_or(0), number(of_input.written).unwrap_or(0));
    let thinking = number(of_output.reasoning).unwrap_or(0);
    let mut usage = Usage {
        input_tokens: without(prompt, read.saturating_add(write), total.and_then(|total| total.checked_sub(answer))),
        output_tokens: without(answer, thinking, total.and_then(|total| total.checked_sub(prompt))),
        thinking_tokens: thinking,
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    };
    let mut unknown = keep(counts.rest);
    unknown.retain(|_, value| !value.is_null());
    for (name, rest) in [("input_tokens_details", of_input.rest), ("output_tokens_details", of_output.rest)] {
        if !rest.is_empty() {
            unknown.set(name, keep(rest));
        }
    }
    usage.provider_data.extend_part(DIALECT, Part::Answer, unknown);
    if let Some(total) = total.filter(|total| *total != usage.total_tokens()) {
        usage.provider_data.set_part(DIALECT, Part::Shape, "total_tokens", Value::from(total));
    }
    if *wire != plain(&usage) {
        usage.provider_data.set_part(DIALECT, Part::Shape, "usage", wire.clone());
    }
    Some(usage)
}

/// Returns how often the provider searched, which an answer reports next to its usage.
pub(super) fn searches(tool_usage: &Value) -> Option<u64> {
    tool_usage.pointer("/web_search/num_requests").and_then(Value::as_u64)
}

/// Notes how often the provider searched.
pub(super) fn note_calls(usage: &mut Usage, searches: Option<u64>) {
    if let Some(searches) = searches.filter(|searches| *searches > 0) {
        usage.provider_calls.insert(ProviderTool::WebSearch, searches);
        usage.provider_data.set_part(DIALECT, Part::Shape, "tool_usage", Value::Bool(true));
    }
}

/// Subtracts a part from a sum. A part larger than the sum was not included in it, if the total agrees.
fn without(sum: u64, part: u64, total: Option<u64>) -> u64 {
    match sum.checked_sub(part) {
        Some(rest) => rest,
        None if total == sum.checked_add(part) => sum,
        None => 0,
    }
}

/// The warning for a total that is not the sum of the provider's counts.
pub(super) fn warning(usage: &Usage) -> Option<Loss> {
    let total = usage.provider_data.part(DIALECT, Part::Shape).get("total_tokens")?;
    let why = format!("the provider counts {total} tokens in all, which is not the sum of its counts");
    Some(Loss::info(LossCode::Inconsistent, "usage", "usage.total_tokens", why))
}

/// Writes all six counts, or the original object if it still says the same.
pub(super) fn encode(usage: &Usage) -> Json {
    if let Some(raw) = usage.provider_data.part(DIALECT, Part::Shape).get("usage")
        && decode(raw).is_some_and(|mut read| {
            note_calls(&mut read, usage.provider_calls.get(&ProviderTool::WebSearch).copied());
            read == *usage
        })
    {
        return raw.clone();
    }
    plain(usage).into()
}

/// Writes the counts as the official types require: with cache writes even if there are none.
fn plain(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens(),
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.completion_tokens(),
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": usage.total_tokens(),
    })
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

//! Token counts. On the wire the prompt includes what was cached, and the answer includes the reasoning.

use serde_json::{Value, json};

use super::DIALECT;
use crate::json::wire::Raw;
use crate::{Fields, Json, Loss, LossCode, Part, Usage};

wire! {
    /// The counts of an answer. The names of Chat Completions are understood too.
    struct Counts<'a> {
        input "input_tokens": Raw<'a>,
        prompt "prompt_tokens": Raw<'a>,
        of_input "input_tokens_details": Raw<'a>,
        of_prompt "prompt_tokens_details": Raw<'a>,
        output "output_tokens": Raw<'a>,
        completion "completion_tokens": Raw<'a>,
        of_output "output_tokens_details": Raw<'a>,
        of_completion "completion_tokens_details": Raw<'a>,
        total "total_tokens": Raw<'a>,
    }

    /// What a count is made of.
    struct Details<'a> {
        cached "cached_tokens": Raw<'a>,
        written "cache_write_tokens": Raw<'a>,
        reasoning "reasoning_tokens": Raw<'a>,
    }
}

/// Reads the counts; `None` if there are none.
pub(super) fn decode(wire: &Json) -> Option<Usage> {
    let counts: Counts<'_> = wire.to().ok()?;
    let number = |raw: &Option<Raw<'_>>| raw.as_ref().and_then(Raw::to::<u64>);
    let prompt = number(&counts.input).or_else(|| number(&counts.prompt));
    let answer = number(&counts.output).or_else(|| number(&counts.completion));
    if prompt.is_none() && answer.is_none() {
        return None;
    }
    let (prompt, answer, total) = (prompt.unwrap_or(0), answer.unwrap_or(0), number(&counts.total));
    let of_input = details(&counts.of_input, &counts.of_prompt);
    let of_output = details(&counts.of_output, &counts.of_completion);
    let read = number(&of_input.cached).unwrap_or(0);
    let write = number(&of_input.written).unwrap_or(0);
    let thinking = number(&of_output.reasoning).unwrap_or(0);
    let mut usage = Usage {
        input_tokens: without(prompt, read.saturating_add(write), total.and_then(|total| total.checked_sub(answer))),
        output_tokens: without(answer, thinking, total.and_then(|total| total.checked_sub(prompt))),
        thinking_tokens: thinking,
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    };
    let data = &mut usage.provider_data;
    let unknown = [("input_tokens_details", of_input.rest), ("output_tokens_details", of_output.rest)];
    let unknown = unknown.into_iter().filter(|(_, rest)| !rest.is_empty());
    let unknown = unknown.map(|(name, rest)| (name.to_owned(), Json::from(crate::json::wire::keep(rest))));
    let mut answer_fields = crate::json::wire::keep(counts.rest);
    answer_fields.retain(|_, value| !value.is_null());
    data.extend_part(DIALECT, Part::Answer, answer_fields);
    data.extend_part(DIALECT, Part::Answer, unknown.collect::<Fields>());
    if let Some(total) = total.filter(|total| *total != usage.total_tokens()) {
        usage.provider_data.set_part(DIALECT, Part::Shape, "total_tokens", Value::from(total));
    }
    if *wire != plain(&usage) {
        usage.provider_data.set_part(DIALECT, Part::Shape, "usage", wire.clone());
    }
    Some(usage)
}

fn details<'a>(own: &'a Option<Raw<'_>>, of_chat: &'a Option<Raw<'_>>) -> Details<'a> {
    [own, of_chat].into_iter().flatten().find_map(Raw::to).unwrap_or_default()
}

/// The rest of a sum. A part that is larger than the sum was not counted in it, if the total says so too.
fn without(sum: u64, part: u64, total: Option<u64>) -> u64 {
    match sum.checked_sub(part) {
        Some(rest) => rest,
        None if total == sum.checked_add(part) => sum,
        None => 0,
    }
}

/// A warning if the provider's total is not the sum of its counts.
pub(super) fn warning(usage: &Usage) -> Option<Loss> {
    let total = usage.provider_data.part(DIALECT, Part::Shape).get("total_tokens")?;
    let why = format!("the provider counts {total} tokens in all, which is not the sum of its counts");
    Some(Loss::info(LossCode::Inconsistent, "usage", "usage.total_tokens", why))
}

/// Writes the counts, all five members always, or as they were read where they still say the same.
pub(super) fn encode(usage: &Usage) -> Json {
    if let Some(raw) = usage.provider_data.part(DIALECT, Part::Shape).get("usage")
        && decode(raw).as_ref() == Some(usage)
    {
        return raw.clone();
    }
    plain(usage).into()
}

fn plain(usage: &Usage) -> Value {
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
        let mut usage = decode(&json!({"input_tokens": 7, "output_tokens": 3, "cost": 0.1}).into()).unwrap();
        usage.output_tokens = 4;
        assert_eq!(
            encode(&usage),
            json!({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 4,
                   "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 11})
        );
    }
}

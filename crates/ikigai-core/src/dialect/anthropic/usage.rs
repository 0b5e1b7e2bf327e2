//! Tokens. The wire's input count leaves the cached ones out, and its output count has the thinking in it.

use crate::json::wire::Raw;
use crate::{Fields, Json, Part, Usage};

use super::{DIALECT, wire};

const INPUT: &str = "input_tokens";
const OUTPUT: &str = "output_tokens";
const CACHE_READ: &str = "cache_read_input_tokens";
const CACHE_WRITE: &str = "cache_creation_input_tokens";
const DETAILS: &str = "output_tokens_details";
const THINKING: &str = "thinking_tokens";

/// Reads a `usage` object. What is more than counts stays in `provider_data`, field by field; `absent` in its shape lists
/// the counts that the provider did not give.
pub(super) fn decode(mut fields: Fields) -> Usage {
    let number = |json: &Json| json.to::<u64>().ok();
    let of = |name: &str| fields.get(name).and_then(number);
    let details: Fields = fields.get(DETAILS).and_then(|details| details.to().ok()).unwrap_or_default();
    // The API counts the thinking inside the output. The documents that define the format show a count beside the
    // others, on top of them.
    let inside = details.get(THINKING).and_then(number);
    let thinking = inside.or_else(|| of(THINKING)).unwrap_or(0);
    let mut usage = Usage {
        input_tokens: of(INPUT).unwrap_or(0),
        output_tokens: of(OUTPUT).unwrap_or(0).saturating_sub(inside.unwrap_or(0)),
        thinking_tokens: thinking,
        cache_read_tokens: of(CACHE_READ).unwrap_or(0),
        cache_write_tokens: of(CACHE_WRITE).unwrap_or(0),
        ..Usage::default()
    };
    let counts = [INPUT, OUTPUT, CACHE_WRITE, CACHE_READ];
    let absent: Vec<&str> = counts.into_iter().filter(|name| fields.get(name).is_none()).collect();
    if !absent.is_empty() {
        let absent = Json::of(&absent).unwrap_or_default();
        usage.provider_data.set_part(DIALECT, Part::Shape, "absent", absent);
    }
    fields.retain(|name, value| match name {
        INPUT | OUTPUT | CACHE_READ | CACHE_WRITE => number(value).is_none(),
        // A zero is written only where one was read.
        DETAILS => thinking == 0 || details.len() != 1,
        _ => true,
    });
    usage.provider_data.extend_part(DIALECT, Part::Answer, fields);
    usage
}

/// Writes a `usage` object; zeros if nobody counted.
pub(super) fn encode(usage: Option<&Usage>) -> Raw<'static> {
    let nobody = Usage::default();
    let usage = usage.unwrap_or(&nobody);
    let own = usage.provider_data.part(DIALECT, Part::Answer);
    let absent: Vec<String> = usage
        .provider_data
        .part(DIALECT, Part::Shape)
        .get("absent")
        .and_then(|absent| absent.to().ok())
        .unwrap_or_default();
    let count = |name: &str, count: u64| {
        let was_given = own.get(name).is_none() && !absent.iter().any(|absent| absent == name);
        (count > 0 || was_given).then_some(count)
    };
    let thinking = |json: &Json| json.to::<u64>().ok() == Some(usage.thinking_tokens);
    let beside = usage.thinking_tokens > 0 && own.get(THINKING).is_some_and(thinking);
    let mut details: Fields = own.get(DETAILS).and_then(|details| details.to().ok()).unwrap_or_default();
    let counted = details.get(THINKING).is_some_and(thinking);
    if usage.thinking_tokens > 0 && !beside && !counted {
        details.set(THINKING, Json::of(&usage.thinking_tokens).unwrap_or_default());
    }
    let details = (usage.thinking_tokens > 0 && !beside).then(|| Raw::of(&details));
    let mut rest = own.clone();
    // A count that has since changed must not come back from an old copy.
    rest.retain(|name, value| match name {
        THINKING => thinking(value),
        DETAILS => details.is_none() && (counted || usage.thinking_tokens == 0 && !mentions_thinking(value)),
        _ => true,
    });
    let output = if beside { usage.output_tokens } else { usage.completion_tokens() };
    Raw::of(&wire::Usage {
        input_tokens: count(INPUT, usage.input_tokens),
        cache_write: count(CACHE_WRITE, usage.cache_write_tokens),
        cache_read: count(CACHE_READ, usage.cache_read_tokens),
        output_tokens: count(OUTPUT, output),
        details,
        rest: rest.as_rest(),
    })
}

fn mentions_thinking(details: &Json) -> bool {
    details.to::<Fields>().is_ok_and(|details| details.get(THINKING).is_some())
}

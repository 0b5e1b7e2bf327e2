//! Token counts. The wire's input count excludes cached tokens; its output count includes the thinking.

use crate::{Fields, Json, Part, Usage};

use super::DIALECT;

const INPUT: &str = "inputTokens";
const OUTPUT: &str = "outputTokens";
const CACHE_READ: &str = "cacheReadInputTokens";
const CACHE_WRITE: &str = "cacheWriteInputTokens";
const TOTAL: &str = "totalTokens";

/// Reads a `usage` object. Whatever is not a count stays in `provider_data`, and so does a total that is not their sum.
pub(super) fn decode(mut fields: Fields) -> Usage {
    let number = |json: &Json| json.to::<u64>().ok();
    let of = |name: &str| fields.get(name).and_then(number);
    let mut usage = Usage {
        input_tokens: of(INPUT).unwrap_or(0),
        output_tokens: of(OUTPUT).unwrap_or(0),
        cache_read_tokens: of(CACHE_READ).unwrap_or(0),
        cache_write_tokens: of(CACHE_WRITE).unwrap_or(0),
        ..Usage::default()
    };
    let total = usage.total_tokens();
    fields.retain(|name, value| match name {
        INPUT | OUTPUT | CACHE_READ | CACHE_WRITE => number(value).is_none(),
        TOTAL => number(value) != Some(total),
        _ => true,
    });
    usage.provider_data.extend_part(DIALECT, Part::Answer, fields);
    usage
}

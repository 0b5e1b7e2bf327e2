//! Tokens. The wire's input count leaves the cached ones out, and its output count has the thinking in it.

use serde_json::{Map, Value};

use crate::Usage;

use super::DIALECT;

const INPUT: &str = "input_tokens";
const OUTPUT: &str = "output_tokens";
const CACHE_READ: &str = "cache_read_input_tokens";
const CACHE_WRITE: &str = "cache_creation_input_tokens";
const DETAILS: &str = "output_tokens_details";
const THINKING: &str = "thinking_tokens";

/// Reads a `usage` object. What is more than counts stays in `provider_data`, field by field; `absent` there lists the
/// counts that the provider did not give.
pub(super) fn decode(fields: Map<String, Value>) -> Usage {
    let number = |key: &str| fields.get(key).and_then(Value::as_u64);
    let in_details = fields.get(DETAILS).and_then(|details| details.get(THINKING)).and_then(Value::as_u64);
    // The documents that define the format show a count beside the others; the API has it one level down.
    let thinking = in_details.or_else(|| number(THINKING)).unwrap_or(0);
    let mut usage = Usage {
        input_tokens: number(INPUT).unwrap_or(0),
        output_tokens: number(OUTPUT).unwrap_or(0).saturating_sub(thinking),
        thinking_tokens: thinking,
        cache_read_tokens: number(CACHE_READ).unwrap_or(0),
        cache_write_tokens: number(CACHE_WRITE).unwrap_or(0),
        ..Usage::default()
    };
    let absent: Vec<Value> = [INPUT, OUTPUT, CACHE_WRITE, CACHE_READ]
        .iter()
        .filter(|key| !fields.contains_key(**key))
        .map(|key| (*key).into())
        .collect();
    let mut own = Map::new();
    for (key, value) in fields {
        let counted = match key.as_str() {
            INPUT | OUTPUT | CACHE_READ | CACHE_WRITE => value.is_u64(),
            // A zero is written only where one was read.
            DETAILS => thinking > 0 && value.as_object().is_some_and(|details| details.len() == 1),
            _ => false,
        };
        if !counted {
            own.insert(key, value);
        }
    }
    if !absent.is_empty() {
        own.insert("absent".to_owned(), Value::Array(absent));
    }
    usage.provider_data.extend(DIALECT, own);
    usage
}

/// Writes a `usage` object; zeros when nobody counted.
pub(super) fn encode(usage: Option<&Usage>) -> Value {
    let nobody = Usage::default();
    let usage = usage.unwrap_or(&nobody);
    let own = usage.provider_data.get(DIALECT);
    let was_absent = |key: &str| {
        let absent = own.and_then(|own| own.get("absent")).and_then(Value::as_array);
        absent.is_some_and(|absent| absent.iter().any(|name| name == key))
    };
    let counts = [
        (INPUT, usage.input_tokens),
        (CACHE_WRITE, usage.cache_write_tokens),
        (CACHE_READ, usage.cache_read_tokens),
        (OUTPUT, usage.completion_tokens()),
    ];
    let mut fields = Map::new();
    for (key, count) in counts {
        let odd = own.is_some_and(|own| own.contains_key(key));
        if count > 0 || !(was_absent(key) || odd) {
            fields.insert(key.to_owned(), count.into());
        }
    }
    if usage.thinking_tokens > 0 {
        let flat = own.and_then(|own| own.get(THINKING)).and_then(Value::as_u64) == Some(usage.thinking_tokens);
        if !flat {
            let mut details =
                own.and_then(|own| own.get(DETAILS)).and_then(Value::as_object).cloned().unwrap_or_default();
            details.insert(THINKING.to_owned(), usage.thinking_tokens.into());
            fields.insert(DETAILS.to_owned(), Value::Object(details));
        }
    }
    for (key, value) in own.into_iter().flatten().filter(|(key, _)| key.as_str() != "absent") {
        // A count that has since changed must not come back from an old copy.
        let stale = match key.as_str() {
            THINKING => value.as_u64() != Some(usage.thinking_tokens),
            DETAILS => value.get(THINKING).and_then(Value::as_u64).unwrap_or(0) != usage.thinking_tokens,
            _ => false,
        };
        if !fields.contains_key(key) && !stale {
            fields.insert(key.clone(), value.clone());
        }
    }
    Value::Object(fields)
}

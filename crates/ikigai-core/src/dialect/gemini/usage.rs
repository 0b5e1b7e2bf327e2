//! Token counts.
//!
//! `promptTokenCount` includes what came from the cache; `candidatesTokenCount` leaves out the thoughts. A count that is
//! absent is 0, and int64 counts may be written as texts.

use serde_json::{Map, Value};

use crate::{Dialect, Usage};

/// The counts as the wire had them, where our own writing would differ: a 0 left out, a total that is no sum.
const COUNTS: &str = "counts";
const TOOL_USE: &str = "toolUsePromptTokenCount";

/// The counts, by their names on the wire.
pub(super) const NAMES: [&str; 6] = [
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    TOOL_USE,
    "totalTokenCount",
];

/// The counts of one `usageMetadata`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) prompt: Option<u64>,
    pub(super) candidates: Option<u64>,
    pub(super) thoughts: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) tool_use: Option<u64>,
    pub(super) total: Option<u64>,
}

impl Counts {
    /// The place of a count, by its name on the wire.
    pub(super) fn slot(&mut self, name: &str) -> Option<&mut Option<u64>> {
        match name {
            "promptTokenCount" => Some(&mut self.prompt),
            "candidatesTokenCount" => Some(&mut self.candidates),
            "thoughtsTokenCount" => Some(&mut self.thoughts),
            "cachedContentTokenCount" => Some(&mut self.cached),
            TOOL_USE => Some(&mut self.tool_use),
            "totalTokenCount" => Some(&mut self.total),
            _ => None,
        }
    }

    fn read(fields: &Map<String, Value>) -> Self {
        let mut counts = Counts::default();
        for (name, value) in fields {
            if let Some(slot) = counts.slot(name) {
                *slot = number(value);
            }
        }
        counts
    }

    /// Is any token counted?
    pub(super) fn any(&self) -> bool {
        *self != Counts::default()
    }

    /// The disjoint counts. Some proxies count the thoughts into the candidates as well: then the total tells.
    pub(super) fn usage(&self) -> Usage {
        let zero = Option::<u64>::unwrap_or_default;
        let (prompt, cached, tool_use) = (zero(self.prompt), zero(self.cached), zero(self.tool_use));
        let (candidates, thoughts) = (zero(self.candidates), zero(self.thoughts));
        let inclusive = thoughts > 0
            && candidates >= thoughts
            && self.total == Some(prompt.saturating_add(tool_use).saturating_add(candidates));
        Usage {
            input_tokens: prompt.saturating_sub(cached).saturating_add(tool_use),
            output_tokens: if inclusive { candidates - thoughts } else { candidates },
            thinking_tokens: thoughts,
            cache_read_tokens: cached,
            ..Usage::default()
        }
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The usage in a `usageMetadata`; none when nothing is counted in it.
pub(super) fn decode(fields: &Map<String, Value>) -> Option<Usage> {
    let counts = Counts::read(fields);
    if !counts.any() {
        return None;
    }
    let mut usage = counts.usage();
    let (mut counted, mut rest) = (Map::new(), Map::new());
    for (name, value) in fields {
        let is_count = counts.clone().slot(name).is_some();
        if is_count {
            counted.insert(name.clone(), value.clone());
        }
        if !is_count || name == TOOL_USE {
            rest.insert(name.clone(), value.clone());
        }
    }
    usage.provider_data.extend(Dialect::Gemini, rest);
    if own_counts(&usage) != counted {
        usage.provider_data.set(Dialect::Gemini, COUNTS, counted);
    }
    Some(usage)
}

/// The total of the wire, where it is not the sum of the counts.
pub(super) fn odd_total(usage: &Usage) -> Option<u64> {
    let counts = usage.provider_data.value(Dialect::Gemini, COUNTS)?.as_object()?;
    Counts::read(counts).total.filter(|&total| total != usage.total_tokens())
}

/// A usage as `usageMetadata`.
pub(super) fn encode(usage: &Usage) -> Map<String, Value> {
    let data = &usage.provider_data;
    let kept = data.value(Dialect::Gemini, COUNTS).and_then(Value::as_object);
    let mut fields = match kept {
        Some(counts) if same_numbers(&Counts::read(counts).usage(), usage) => counts.clone(),
        _ => own_counts(usage),
    };
    for (name, value) in data.get(Dialect::Gemini).into_iter().flatten() {
        if name != COUNTS && !fields.contains_key(name) {
            fields.insert(name.clone(), value.clone());
        }
    }
    fields
}

fn same_numbers(one: &Usage, other: &Usage) -> bool {
    let numbers = |usage: &Usage| {
        (
            usage.input_tokens,
            usage.output_tokens,
            usage.thinking_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
        )
    };
    numbers(one) == numbers(other)
}

fn own_counts(usage: &Usage) -> Map<String, Value> {
    let tool_use = usage.provider_data.value(Dialect::Gemini, TOOL_USE);
    let mut fields = Map::new();
    let prompt = usage.prompt_tokens().saturating_sub(tool_use.and_then(number).unwrap_or_default());
    fields.insert("promptTokenCount".to_owned(), prompt.into());
    // As protobuf does, and Google with it: a count of nothing is left out.
    for (name, count) in [
        ("candidatesTokenCount", usage.output_tokens),
        ("thoughtsTokenCount", usage.thinking_tokens),
        ("cachedContentTokenCount", usage.cache_read_tokens),
    ] {
        if count > 0 {
            fields.insert(name.to_owned(), count.into());
        }
    }
    if let Some(tool_use) = tool_use {
        fields.insert(TOOL_USE.to_owned(), tool_use.clone());
    }
    fields.insert("totalTokenCount".to_owned(), usage.total_tokens().into());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn read(value: &Value) -> Usage {
        decode(value.as_object().unwrap()).unwrap()
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
            // All spent on thoughts: the candidates are left out.
            (json!({"promptTokenCount": 15, "thoughtsTokenCount": 2, "totalTokenCount": 17}), [15, 0, 2, 0], 17),
            (
                json!({"promptTokenCount": 14, "totalTokenCount": 14, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 14}]}),
                [14, 0, 0, 0],
                14,
            ),
            // A proxy that counts the thoughts into the candidates.
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
            (
                json!({"promptTokenCount": "12", "candidatesTokenCount": "3", "totalTokenCount": "15"}),
                [12, 3, 0, 0],
                15,
            ),
            (json!({"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 99}), [12, 3, 0, 0], 15),
        ] {
            let usage = read(&wire);
            let numbers = [usage.input_tokens, usage.output_tokens, usage.thinking_tokens, usage.cached_tokens()];
            assert_eq!((numbers, usage.total_tokens()), ([input, output, thinking, cached], total), "{wire}");
            assert_eq!(Value::Object(encode(&usage)), wire);
        }
    }

    #[test]
    fn nothing_counted_is_no_usage() {
        assert_eq!(decode(json!({"trafficType": "ON_DEMAND"}).as_object().unwrap()), None);
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
            Value::Object(encode(&usage)),
            json!({"promptTokenCount": 130, "candidatesTokenCount": 5, "cachedContentTokenCount": 100, "totalTokenCount": 135}),
        );
    }

    #[test]
    fn changed_numbers_are_not_overridden_by_what_was_kept() {
        let mut usage = read(&json!({"promptTokenCount": 15, "thoughtsTokenCount": 2, "totalTokenCount": 99}));
        usage.output_tokens = 4;
        assert_eq!(
            Value::Object(encode(&usage)),
            json!({"promptTokenCount": 15, "candidatesTokenCount": 4, "thoughtsTokenCount": 2, "totalTokenCount": 21}),
        );
    }
}

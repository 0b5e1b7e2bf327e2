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
    for (name, count) in counted(usage, tool_use.and_then(number).unwrap_or_default()) {
        fields.insert(name.to_owned(), count.into());
    }
    if let Some(tool_use) = tool_use {
        fields.insert(TOOL_USE.to_owned(), tool_use.clone());
    }
    fields
}

/// The counts as the wire has them. As protobuf does, and Google with it, a count of nothing is left out.
fn counted(usage: &Usage, tool_use: u64) -> impl Iterator<Item = (&'static str, u64)> {
    let always = |name: &str| name == "promptTokenCount" || name == "totalTokenCount";
    [
        ("promptTokenCount", usage.prompt_tokens().saturating_sub(tool_use)),
        ("candidatesTokenCount", usage.output_tokens),
        ("thoughtsTokenCount", usage.thinking_tokens),
        ("cachedContentTokenCount", usage.cache_read_tokens),
        ("totalTokenCount", usage.total_tokens()),
    ]
    .into_iter()
    .filter(move |(name, count)| *count > 0 || always(name))
}

/// A usage inside a stream. A count that was told before and is nothing now has to be said: readers keep the last one
/// that they saw.
pub(super) fn encode_after(usage: &Usage, before: &Usage) -> Map<String, Value> {
    let mut fields = encode(usage);
    for (name, count) in taken_back(usage, before) {
        fields.entry(name).or_insert_with(|| count.into());
    }
    fields
}

/// The counts that were something before and are nothing now.
fn taken_back(usage: &Usage, before: &Usage) -> impl Iterator<Item = (&'static str, u64)> {
    let changes = [
        ("candidatesTokenCount", before.output_tokens, usage.output_tokens),
        ("thoughtsTokenCount", before.thinking_tokens, usage.thinking_tokens),
        ("cachedContentTokenCount", before.cache_read_tokens, usage.cache_read_tokens),
    ];
    changes.into_iter().filter(|(_, before, now)| *before > 0 && *now == 0).map(|(name, _, _)| (name, 0))
}

/// Writes the same; in a stream it may come with every frame: plain counts need no object to be made.
pub(super) fn write_after(usage: &Usage, before: &Usage, out: &mut Vec<u8>) {
    if usage.provider_data.get(Dialect::Gemini).is_some() {
        // Memory never refuses, and a map always prints.
        let _ = serde_json::to_writer(out, &encode_after(usage, before));
        return;
    }
    let zeros = taken_back(usage, before);
    let mut before = b'{';
    for (name, count) in counted(usage, 0).chain(zeros) {
        out.push(before);
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        let _ = serde_json::to_writer(&mut *out, &count);
        before = b',';
    }
    out.push(b'}');
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

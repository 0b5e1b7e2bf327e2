//! Token counts.
//!
//! `promptTokenCount` includes tokens from the cache; `candidatesTokenCount` excludes the thoughts. A missing count is
//! 0, and int64 counts may be written as strings.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::DIALECT;
use crate::json::{
    self,
    wire::{Names, Raw, Rest, keep},
};
use crate::{Fields, Part, ProviderData, Usage};

/// In the shape: the counts as on the wire, where ours would differ: a 0 left out, a total that is not the sum.
const COUNTS: &str = "counts";
const TOOL_USE: &str = "toolUsePromptTokenCount";
/// The names of the counts in the order of [`Counts`], in which they are also written.
const NAMES: [&str; 6] = [
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    TOOL_USE,
    "totalTokenCount",
];
const PROMPT_DETAILS: &str = "promptTokensDetails";
const PROMPT_DETAILS_SNAKE: &str = "prompt_tokens_details";

wire! {
    /// An answer's token counts; `rest` is whatever is not a count.
    pub(super) struct UsageMetadata<'a> [names] {
        prompt "promptTokenCount" | "prompt_token_count": Count<'a>,
        candidates "candidatesTokenCount" | "candidates_token_count": Count<'a>,
        thoughts "thoughtsTokenCount" | "thoughts_token_count": Count<'a>,
        cached "cachedContentTokenCount" | "cached_content_token_count": Count<'a>,
        tool_use "toolUsePromptTokenCount" | "tool_use_prompt_token_count": Count<'a>,
        total "totalTokenCount" | "total_token_count": Count<'a>,
        /// Sent with every frame of a stream: here it needs no allocation.
        prompt_details "promptTokensDetails" | "prompt_tokens_details": Raw<'a>,
    }
}

/// One count: as received, or a number to write.
#[derive(Debug, Clone)]
pub(super) enum Count<'a> {
    Written(Raw<'a>),
    Number(u64),
}

impl Count<'_> {
    fn value(&self) -> Option<u64> {
        match self {
            Count::Written(raw) => json::count(raw.text()),
            Count::Number(count) => Some(*count),
        }
    }

    /// Returns the text that it was read from.
    pub(super) fn written(&self) -> Option<&str> {
        match self {
            Count::Written(raw) => Some(raw.text()),
            Count::Number(_) => None,
        }
    }
}

impl Serialize for Count<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Count::Written(raw) => raw.serialize(serializer),
            Count::Number(count) => serializer.serialize_u64(*count),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Count<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(Count::Written)
    }
}

impl<'a> UsageMetadata<'a> {
    pub(super) fn counts(&self) -> Counts {
        Counts(self.numbers().map(|count| count.as_ref()?.value()))
    }

    /// Returns the counts in the order of [`Counts`].
    pub(super) fn numbers(&self) -> [&Option<Count<'a>>; 6] {
        [&self.prompt, &self.candidates, &self.thoughts, &self.cached, &self.tool_use, &self.total]
    }

    /// Creates the metadata from a stream's counts and its other fields, under the names that they had.
    pub(super) fn new(counts: Counts, details: &'a Fields, names: Names<'a>) -> Self {
        let mut rest = details.as_rest();
        let place = rest.iter().position(|(name, _)| name == PROMPT_DETAILS);
        let prompt_details = place.map(|place| Raw(rest.remove(place).1));
        UsageMetadata { prompt_details, rest, names, ..counts.into() }
    }

    /// Returns whatever is not a count.
    pub(super) fn details(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, RawValue>)> {
        let name = if self.names.iter().any(|name| name == PROMPT_DETAILS_SNAKE) {
            PROMPT_DETAILS_SNAKE
        } else {
            PROMPT_DETAILS
        };
        let prompt = self.prompt_details.map(|raw| (Cow::Borrowed(name), raw.0));
        prompt.into_iter().chain(self.rest)
    }

    /// Returns only the counts, as written.
    fn counted(&self) -> Raw<'static> {
        Raw::of(&UsageMetadata { prompt_details: None, rest: Rest::default(), ..self.clone() })
    }
}

impl From<Counts> for UsageMetadata<'_> {
    fn from(counts: Counts) -> Self {
        let [prompt, candidates, thoughts, cached, tool_use, total] = counts.0.map(|count| count.map(Count::Number));
        UsageMetadata { prompt, candidates, thoughts, cached, tool_use, total, ..UsageMetadata::default() }
    }
}

/// The counts of one `usageMetadata`: for the prompt, the candidates, the thoughts, tokens from the cache, tokens that
/// tools added to the prompt, and the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts([Option<u64>; 6]);

impl Counts {
    /// Reads the count with this index.
    pub(super) fn read(&mut self, place: usize, written: &str) {
        if let Some(count) = self.0.get_mut(place) {
            *count = json::count(written);
        }
    }

    fn total(&self) -> Option<u64> {
        let [.., total] = self.0;
        total
    }

    /// Combines these counts with earlier ones in a stream. A frame may omit counts that an earlier one had; but if the
    /// total is only right without them, they have been withdrawn.
    pub(super) fn after(self, earlier: Counts) -> Counts {
        let mut both = self;
        both.0.iter_mut().zip(earlier.0).for_each(|(own, earlier)| *own = own.or(earlier));
        // Usually a frame omits nothing.
        if both == self {
            return self;
        }
        let adds_up = |counts: &Counts| counts.total() == Some(counts.usage().total_tokens());
        if self.total().is_some() && !adds_up(&both) && adds_up(&self) { self } else { both }
    }

    /// Returns the disjoint counts. Some proxies include the thoughts in the candidates: then the total shows it.
    pub(super) fn usage(&self) -> Usage {
        let [prompt, candidates, thoughts, cached, tool_use, _] = self.0.map(Option::unwrap_or_default);
        let inclusive = thoughts > 0
            && candidates >= thoughts
            && self.total() == Some(prompt.saturating_add(tool_use).saturating_add(candidates));
        Usage {
            input_tokens: prompt.saturating_sub(cached).saturating_add(tool_use),
            output_tokens: if inclusive { candidates - thoughts } else { candidates },
            thinking_tokens: thoughts,
            cache_read_tokens: cached,
            ..Usage::default()
        }
    }

    /// Adds a 0 for each missing count that was reported before.
    fn or_nothing(mut self, before: &Usage) -> Self {
        let [_, candidates, thoughts, cached, ..] = &mut self.0;
        for (count, before) in
            [(candidates, before.output_tokens), (thoughts, before.thinking_tokens), (cached, before.cache_read_tokens)]
        {
            *count = count.or((before > 0).then_some(0));
        }
        self
    }

    /// Returns the counts as we write them. Like protobuf, and Google, it omits counts of 0.
    fn of(usage: &Usage) -> Self {
        let tool_use = usage.provider_data.part(DIALECT, Part::Answer).get(TOOL_USE);
        let tool_use = tool_use.and_then(|count| json::count(count.text()));
        let some = |count: u64| (count > 0).then_some(count);
        let prompt = usage.prompt_tokens().saturating_sub(tool_use.unwrap_or_default());
        let (candidates, thoughts) = (some(usage.output_tokens), some(usage.thinking_tokens));
        let cached = some(usage.cache_read_tokens);
        Counts([Some(prompt), candidates, thoughts, cached, tool_use, Some(usage.total_tokens())])
    }
}

/// Reads the usage in a `usageMetadata`. Returns `None` if it has no counts.
pub(super) fn decode(metadata: &UsageMetadata<'_>) -> Option<Usage> {
    let counts = metadata.counts();
    if counts == Counts::default() {
        return None;
    }
    let mut usage = counts.usage();
    let mut details = keep(metadata.clone().details().collect());
    if let Some(tool_use) = &metadata.tool_use {
        details.push(TOOL_USE, Raw::of(tool_use).into_json());
    }
    usage.provider_data.extend_part(DIALECT, Part::Answer, details);
    let (theirs, ours) = (metadata.counted(), UsageMetadata::from(Counts::of(&usage)).counted());
    if theirs.text() != ours.text() {
        usage.provider_data.set_part(DIALECT, Part::Shape, COUNTS, theirs.into_json());
    }
    Some(usage)
}

/// Returns the counts as on the wire, if they were kept.
fn kept_counts(usage: &Usage) -> Option<UsageMetadata<'_>> {
    usage.provider_data.part(DIALECT, Part::Shape).get(COUNTS)?.to().ok()
}

/// Returns the wire's total, if it is not the sum of the counts.
pub(super) fn odd_total(usage: &Usage) -> Option<u64> {
    kept_counts(usage)?.counts().total().filter(|&total| total != usage.total_tokens())
}

/// Writes a usage as `usageMetadata`. In a stream, a count reported `before` that is now 0 must be written: readers
/// keep the last value they saw.
pub(super) fn encode<'a>(usage: &'a Usage, before: &Usage) -> UsageMetadata<'a> {
    let numbers = || Usage { provider_data: ProviderData::default(), ..usage.clone() };
    let kept = kept_counts(usage).filter(|kept| kept.counts().usage() == numbers());
    let mut metadata = kept.unwrap_or_else(|| Counts::of(usage).into());
    metadata.rest = usage.provider_data.part(DIALECT, Part::Answer).as_rest();
    let [_, candidates, thoughts, cached, ..] = Counts::default().or_nothing(before).0;
    for (count, nothing) in
        [(&mut metadata.candidates, candidates), (&mut metadata.thoughts, thoughts), (&mut metadata.cached, cached)]
    {
        *count = count.take().or(nothing.map(Count::Number));
    }
    metadata
}

/// Writes the output of [`encode`]. Some streams send new counts with every few words, so plain ones are written
/// directly as bytes.
pub(super) fn write(usage: &Usage, before: &Usage, out: &mut Vec<u8>) {
    // Numbers and wire structs always have a JSON form, and writing to memory does not fail.
    if !usage.provider_data.is_empty() {
        let _ = serde_json::to_writer(out, &encode(usage, before));
        return;
    }
    let mut open: &[u8] = b"{\"";
    for (name, count) in NAMES.iter().zip(Counts::of(usage).or_nothing(before).0) {
        if let Some(count) = count {
            out.extend_from_slice(open);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            let _ = serde_json::to_writer(&mut *out, &count);
            open = b",\"";
        }
    }
    out.push(b'}');
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

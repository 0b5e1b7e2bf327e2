//! Token counts.
//!
//! `promptTokenCount` includes what came from the cache; `candidatesTokenCount` leaves out the thoughts. A count that is
//! absent is 0, and int64 counts may be written as texts.

use super::DIALECT;
use crate::json::wire::{Raw, Rest, keep};
use crate::{Part, ProviderData, Usage};

/// In the shape: the counts as the wire had them, where our own writing would differ: a 0 left out, a total that is not
/// the sum.
const COUNTS: &str = "counts";
const TOOL_USE: &str = "toolUsePromptTokenCount";

wire! {
    /// What an answer says about tokens; `rest` is what is not a count.
    pub(super) struct UsageMetadata<'a> {
        prompt "promptTokenCount": Raw<'a>,
        candidates "candidatesTokenCount": Raw<'a>,
        thoughts "thoughtsTokenCount": Raw<'a>,
        cached "cachedContentTokenCount": Raw<'a>,
        tool_use "toolUsePromptTokenCount": Raw<'a>,
        total "totalTokenCount": Raw<'a>,
    }
}

impl UsageMetadata<'_> {
    pub(super) fn counts(&self) -> Counts {
        let number = |raw: &Option<Raw<'_>>| number(raw.as_ref()?.text());
        Counts {
            prompt: number(&self.prompt),
            candidates: number(&self.candidates),
            thoughts: number(&self.thoughts),
            cached: number(&self.cached),
            tool_use: number(&self.tool_use),
            total: number(&self.total),
        }
    }

    /// The counts alone, as they are written.
    fn counted(&self) -> Raw<'static> {
        Raw::of(&UsageMetadata { rest: Rest::default(), ..self.clone() })
    }
}

impl From<Counts> for UsageMetadata<'_> {
    fn from(counts: Counts) -> Self {
        let raw = |count: Option<u64>| count.map(|count| Raw::of(&count));
        UsageMetadata {
            prompt: raw(counts.prompt),
            candidates: raw(counts.candidates),
            thoughts: raw(counts.thoughts),
            cached: raw(counts.cached),
            tool_use: raw(counts.tool_use),
            total: raw(counts.total),
            rest: Rest::default(),
        }
    }
}

/// The counts of one `usageMetadata`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    prompt: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    cached: Option<u64>,
    tool_use: Option<u64>,
    total: Option<u64>,
}

impl Counts {
    /// These counts in a stream, after earlier ones. A frame may leave out what an earlier one told; but a total that
    /// holds only without the earlier counts says that they are taken back.
    pub(super) fn after(self, earlier: Counts) -> Counts {
        let both = Counts {
            prompt: self.prompt.or(earlier.prompt),
            candidates: self.candidates.or(earlier.candidates),
            thoughts: self.thoughts.or(earlier.thoughts),
            cached: self.cached.or(earlier.cached),
            tool_use: self.tool_use.or(earlier.tool_use),
            total: self.total.or(earlier.total),
        };
        // Mostly a frame leaves nothing out.
        if both == self {
            return self;
        }
        let adds_up = |counts: &Counts| counts.total == Some(counts.usage().total_tokens());
        if self.total.is_some() && !adds_up(&both) && adds_up(&self) { self } else { both }
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

    /// The counts as we write them. As protobuf does, and Google with it, a count of nothing is left out.
    fn of(usage: &Usage) -> Self {
        let tool_use = usage.provider_data.part(DIALECT, Part::Answer).get(TOOL_USE);
        let tool_use = tool_use.and_then(|count| number(count.text()));
        let some = |count: u64| (count > 0).then_some(count);
        Counts {
            prompt: Some(usage.prompt_tokens().saturating_sub(tool_use.unwrap_or_default())),
            candidates: some(usage.output_tokens),
            thoughts: some(usage.thinking_tokens),
            cached: some(usage.cache_read_tokens),
            tool_use,
            total: Some(usage.total_tokens()),
        }
    }
}

fn number(value: &str) -> Option<u64> {
    value.trim_matches('"').parse().ok()
}

/// The usage in a `usageMetadata`; `None` if nothing is counted in it.
pub(super) fn decode(metadata: &UsageMetadata<'_>) -> Option<Usage> {
    let counts = metadata.counts();
    if counts == Counts::default() {
        return None;
    }
    let mut usage = counts.usage();
    let mut details = keep(metadata.rest.clone());
    if let Some(tool_use) = counts.tool_use {
        details.push(TOOL_USE, Raw::of(&tool_use).to_json());
    }
    usage.provider_data.extend_part(DIALECT, Part::Answer, details);
    let (theirs, ours) = (metadata.counted(), UsageMetadata::from(Counts::of(&usage)).counted());
    if theirs.text() != ours.text() {
        usage.provider_data.set_part(DIALECT, Part::Shape, COUNTS, theirs.into_json());
    }
    Some(usage)
}

/// The counts as the wire had them, where they were kept.
fn kept_counts(usage: &Usage) -> Option<UsageMetadata<'_>> {
    usage.provider_data.part(DIALECT, Part::Shape).get(COUNTS)?.to().ok()
}

/// The total of the wire, where it is not the sum of the counts.
pub(super) fn odd_total(usage: &Usage) -> Option<u64> {
    kept_counts(usage)?.counts().total.filter(|&total| total != usage.total_tokens())
}

/// A usage as `usageMetadata`. In a stream, a count that was told `before` and is nothing now has to be said: readers keep
/// the last one that they saw.
pub(super) fn encode<'a>(usage: &'a Usage, before: &Usage) -> UsageMetadata<'a> {
    let numbers = || Usage { provider_data: ProviderData::default(), ..usage.clone() };
    let kept = kept_counts(usage).filter(|kept| kept.counts().usage() == numbers());
    let mut metadata = kept.unwrap_or_else(|| Counts::of(usage).into());
    metadata.rest = usage.provider_data.part(DIALECT, Part::Answer).as_rest();
    for (count, before, now) in [
        (&mut metadata.candidates, before.output_tokens, usage.output_tokens),
        (&mut metadata.thoughts, before.thinking_tokens, usage.thinking_tokens),
        (&mut metadata.cached, before.cache_read_tokens, usage.cache_read_tokens),
    ] {
        if before > 0 && now == 0 {
            count.get_or_insert_with(|| Raw::of(&0));
        }
    }
    metadata
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

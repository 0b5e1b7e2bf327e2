//! Token counts.
//!
//! `promptTokenCount` includes what came from the cache; `candidatesTokenCount` leaves out the thoughts. A count that is
//! absent is 0, and int64 counts may be written as texts.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::DIALECT;
use crate::json::wire::{Raw, Rest, keep};
use crate::{Fields, Part, ProviderData, Usage};

/// In the shape: the counts as the wire had them, where our own writing would differ: a 0 left out, a total that is not
/// the sum.
const COUNTS: &str = "counts";
const TOOL_USE: &str = "toolUsePromptTokenCount";
const PROMPT_DETAILS: &str = "promptTokensDetails";

wire! {
    /// What an answer says about tokens; `rest` is what is not a count.
    pub(super) struct UsageMetadata<'a> {
        prompt "promptTokenCount": Raw<'a>,
        candidates "candidatesTokenCount": Raw<'a>,
        thoughts "thoughtsTokenCount": Raw<'a>,
        cached "cachedContentTokenCount": Raw<'a>,
        tool_use "toolUsePromptTokenCount": Raw<'a>,
        total "totalTokenCount": Raw<'a>,
        /// Comes with every frame of a stream: here it takes no memory.
        prompt_details "promptTokensDetails": Raw<'a>,
    }
}

impl<'a> UsageMetadata<'a> {
    pub(super) fn counts(&self) -> Counts {
        let all = [&self.prompt, &self.candidates, &self.thoughts, &self.cached, &self.tool_use, &self.total];
        Counts(all.map(|raw| number(raw.as_ref()?.text())))
    }

    /// What a stream counted, and what it said beside the counts.
    pub(super) fn new(counts: Counts, details: &'a Fields) -> Self {
        let mut rest = details.as_rest();
        let place = rest.iter().position(|(name, _)| name == PROMPT_DETAILS);
        let prompt_details = place.map(|place| Raw(rest.remove(place).1));
        UsageMetadata { prompt_details, rest, ..counts.into() }
    }

    /// What is not a count.
    pub(super) fn details(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, RawValue>)> {
        let prompt = self.prompt_details.map(|raw| (Cow::Borrowed(PROMPT_DETAILS), raw.0));
        prompt.into_iter().chain(self.rest)
    }

    /// The counts alone, as they are written.
    fn counted(&self) -> Raw<'static> {
        Raw::of(&UsageMetadata { prompt_details: None, rest: Rest::default(), ..self.clone() })
    }
}

impl From<Counts> for UsageMetadata<'_> {
    fn from(counts: Counts) -> Self {
        let raws = counts.0.map(|count| count.map(|count| Raw::of(&count)));
        let [prompt, candidates, thoughts, cached, tool_use, total] = raws;
        UsageMetadata { prompt, candidates, thoughts, cached, tool_use, total, ..UsageMetadata::default() }
    }
}

/// The counts of one `usageMetadata`: of the prompt, the candidates, the thoughts, what came from the cache, what tools
/// put into the prompt, and the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts([Option<u64>; 6]);

impl Counts {
    fn total(&self) -> Option<u64> {
        let [.., total] = self.0;
        total
    }

    /// These counts in a stream, after earlier ones. A frame may leave out what an earlier one told; but a total that
    /// holds only without the earlier counts says that they are taken back.
    pub(super) fn after(self, earlier: Counts) -> Counts {
        let mut both = self;
        both.0.iter_mut().zip(earlier.0).for_each(|(own, earlier)| *own = own.or(earlier));
        // Mostly a frame leaves nothing out.
        if both == self {
            return self;
        }
        let adds_up = |counts: &Counts| counts.total() == Some(counts.usage().total_tokens());
        if self.total().is_some() && !adds_up(&both) && adds_up(&self) { self } else { both }
    }

    /// The disjoint counts. Some proxies count the thoughts into the candidates as well: then the total tells.
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

    /// The counts as we write them. As protobuf does, and Google with it, a count of nothing is left out.
    fn of(usage: &Usage) -> Self {
        let tool_use = usage.provider_data.part(DIALECT, Part::Answer).get(TOOL_USE);
        let tool_use = tool_use.and_then(|count| number(count.text()));
        let some = |count: u64| (count > 0).then_some(count);
        let prompt = usage.prompt_tokens().saturating_sub(tool_use.unwrap_or_default());
        let (candidates, thoughts) = (some(usage.output_tokens), some(usage.thinking_tokens));
        let cached = some(usage.cache_read_tokens);
        Counts([Some(prompt), candidates, thoughts, cached, tool_use, Some(usage.total_tokens())])
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
    let mut details = keep(metadata.clone().details().collect());
    if let Some(tool_use) = &metadata.tool_use {
        details.push(TOOL_USE, tool_use.to_json());
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
    kept_counts(usage)?.counts().total().filter(|&total| total != usage.total_tokens())
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

//! Token counts.
//!
//! `promptTokenCount` includes what came from the cache; `candidatesTokenCount` leaves out the thoughts. A count that is
//! absent is 0, and int64 counts may be written as texts.

use std::borrow::Cow;

use super::DIALECT;
use super::leftovers::owned;
use super::wire::Open;
use crate::json::wire::{Raw, Rest};
use crate::{Fields, Json, Part, Usage};

/// In the shape: the counts as the wire had them, where our own writing would differ: a 0 left out, a total that is not
/// the sum.
const COUNTS: &str = "counts";
const TOOL_USE: &str = "toolUsePromptTokenCount";

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
    /// The place of a count, by its name on the wire.
    fn slot(&mut self, name: &str) -> Option<&mut Option<u64>> {
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

    fn read<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut counts = Counts::default();
        for (name, value) in fields {
            if let Some(slot) = counts.slot(name) {
                *slot = number(value);
            }
        }
        counts
    }

    /// The counts in an object.
    pub(super) fn of(object: &Open<'_>) -> Self {
        Counts::read(object.rest.iter().map(|(name, value)| (name.as_ref(), value.get())))
    }

    /// Is any token counted?
    fn any(&self) -> bool {
        *self != Counts::default()
    }

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

    /// The counts by their names on the wire.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("promptTokenCount", self.prompt),
            ("candidatesTokenCount", self.candidates),
            ("thoughtsTokenCount", self.thoughts),
            ("cachedContentTokenCount", self.cached),
            (TOOL_USE, self.tool_use),
            ("totalTokenCount", self.total),
        ]
        .into_iter()
        .filter_map(|(name, count)| Some((name, count?)))
    }
}

/// Whether a field is a count.
pub(super) fn is_count(name: &str) -> bool {
    Counts::default().slot(name).is_some()
}

fn number(value: &str) -> Option<u64> {
    value.trim_matches('"').parse().ok()
}

/// The usage in a `usageMetadata`; `None` if nothing is counted in it.
pub(super) fn decode(object: &Open<'_>) -> Option<Usage> {
    let counts = Counts::of(object);
    if !counts.any() {
        return None;
    }
    let mut usage = counts.usage();
    let (mut counted, mut details) = (Fields::default(), Fields::default());
    for (name, value) in &object.rest {
        let fields = if is_count(name) { &mut counted } else { &mut details };
        fields.push(name.as_ref(), Json::copy(value));
    }
    if let Some(tool_use) = counted.get(TOOL_USE) {
        details.push(TOOL_USE, tool_use.clone());
    }
    usage.provider_data.extend_part(DIALECT, Part::Answer, details);
    let own = own_counts(&usage);
    let same = own.len() == counted.len()
        && own.iter().all(|(name, count)| counted.get(name).is_some_and(|own| own.text() == count.get()));
    if !same {
        usage.provider_data.set_part(DIALECT, Part::Shape, COUNTS, counted);
    }
    Some(usage)
}

/// The counts as the wire had them, where they were kept.
fn kept_counts(usage: &Usage) -> Option<Fields> {
    usage.provider_data.part(DIALECT, Part::Shape).get(COUNTS)?.to().ok()
}

fn counts_of(fields: &Fields) -> Counts {
    Counts::read(fields.iter().map(|(name, value)| (name, value.text())))
}

/// The total of the wire, where it is not the sum of the counts.
pub(super) fn odd_total(usage: &Usage) -> Option<u64> {
    counts_of(&kept_counts(usage)?).total.filter(|&total| total != usage.total_tokens())
}

/// A usage as `usageMetadata`. In a stream, a count that was told `before` and is nothing now has to be said: readers keep
/// the last one that they saw.
pub(super) fn encode<'a>(usage: &'a Usage, before: &Usage) -> Open<'a> {
    let numbers = |usage: &Usage| Usage { provider_data: crate::ProviderData::default(), ..usage.clone() };
    let kept = kept_counts(usage).filter(|kept| counts_of(kept).usage() == numbers(usage));
    let mut rest = match kept {
        Some(kept) => owned(kept),
        None => own_counts(usage),
    };
    for (name, value) in usage.provider_data.part(DIALECT, Part::Answer).iter() {
        if !is_count(name) {
            rest.push((name.into(), Cow::Borrowed(value.raw())));
        }
    }
    let taken_back = [
        ("candidatesTokenCount", before.output_tokens, usage.output_tokens),
        ("thoughtsTokenCount", before.thinking_tokens, usage.thinking_tokens),
        ("cachedContentTokenCount", before.cache_read_tokens, usage.cache_read_tokens),
    ];
    for (name, before, now) in taken_back {
        if before > 0 && now == 0 && !rest.iter().any(|(known, _)| known == name) {
            rest.push((name.into(), Raw::of(&0).0));
        }
    }
    Open { rest }
}

/// The counts as we write them. As protobuf does, and Google with it, a count of nothing is left out.
fn own_counts(usage: &Usage) -> Rest<'_> {
    let tool_use = usage.provider_data.part(DIALECT, Part::Answer).get(TOOL_USE);
    let outside = tool_use.and_then(|count| number(count.text())).unwrap_or_default();
    let always = |name: &str| name == "promptTokenCount" || name == "totalTokenCount";
    let counts = [
        ("promptTokenCount", usage.prompt_tokens().saturating_sub(outside)),
        ("candidatesTokenCount", usage.output_tokens),
        ("thoughtsTokenCount", usage.thinking_tokens),
        ("cachedContentTokenCount", usage.cache_read_tokens),
        ("totalTokenCount", usage.total_tokens()),
    ];
    let counts = counts.into_iter().filter(|(name, count)| *count > 0 || always(name));
    let mut rest: Rest<'_> = counts.map(|(name, count)| (Cow::Borrowed(name), Raw::of(&count).0)).collect();
    rest.extend(tool_use.map(|count| (Cow::Borrowed(TOOL_USE), Cow::Borrowed(count.raw()))));
    rest
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

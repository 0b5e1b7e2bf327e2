//! Token counts.
//!
//! `promptTokenCount` includes what came from the cache; `candidatesTokenCount` leaves out the thoughts. A count that is
//! absent is 0, and int64 counts may be written as texts.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::DIALECT;
use super::wire::OneOrMany;
use crate::json::wire::{Raw, Rest, Text};
use crate::{Fields, Json, Part, ProviderData, Usage};

/// In the shape: the counts as the wire had them, where our own writing would differ: a 0 left out, a total that is not
/// the sum.
const COUNTS: &str = "counts";
const TOOL_USE: &str = "toolUsePromptTokenCount";

type Field<'a> = (Cow<'a, str>, Cow<'a, RawValue>);

/// What an answer says about tokens. In a stream it comes with every frame, so that reading it takes no memory.
#[derive(Debug, Clone)]
pub(super) struct UsageMetadata<'a> {
    pub(super) counts: Counts,
    /// Counts that are not written as plain numbers.
    odd: Rest<'a>,
    /// What is not a count.
    pub(super) details: OneOrMany<Field<'a>>,
}

impl<'a> UsageMetadata<'a> {
    pub(super) fn new(counts: Counts, details: Rest<'a>) -> Self {
        UsageMetadata { counts, odd: Rest::default(), details: OneOrMany::Many(details) }
    }

    /// The counts alone, as they were written.
    fn counted(&self) -> Fields {
        let plain = self.counts.named().filter(|(name, _)| !self.odd.iter().any(|(odd, _)| odd == name));
        let plain = plain.map(|(name, count)| (name.to_owned(), Raw::of(&count).to_json()));
        plain.chain(self.odd.iter().map(|(name, raw)| (name.to_string(), Json::copy(raw)))).collect()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for UsageMetadata<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = UsageMetadata<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UsageMetadata<'de>, A::Error> {
                let mut usage = UsageMetadata::new(Counts::default(), Rest::default());
                let mut first = None;
                let mut details = Vec::new();
                while let Some(name) = map.next_key::<Text<'de>>()? {
                    let Some(slot) = usage.counts.slot(name.as_str()) else {
                        let Raw(raw) = map.next_value()?;
                        match first {
                            None => first = Some((name.0, raw)),
                            Some(_) => details.push((name.0, raw)),
                        }
                        continue;
                    };
                    let count: Count = map.next_value()?;
                    *slot = count.number();
                    if let Count::Odd(raw) = count {
                        usage.odd.push((name.0, raw));
                    }
                }
                usage.details = match first {
                    Some(only) if details.is_empty() => OneOrMany::Single(only),
                    first => {
                        details.splice(..0, first);
                        OneOrMany::Many(details)
                    }
                };
                Ok(usage)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A count as it is written.
pub(super) enum Count {
    Plain(u64),
    /// A text, or something that counts nothing.
    Odd(Cow<'static, RawValue>),
}

impl Count {
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Count::Plain(count) => Some(*count),
            Count::Odd(raw) => number(raw.get()),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }

            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count::Plain(count))
            }

            fn visit_i64<E>(self, count: i64) -> Result<Count, E> {
                Ok(Count::Odd(Raw::of(&count).0))
            }

            fn visit_f64<E>(self, count: f64) -> Result<Count, E> {
                Ok(Count::Odd(Raw::of(&count).0))
            }

            fn visit_str<E>(self, count: &str) -> Result<Count, E> {
                Ok(Count::Odd(Raw::of(count).0))
            }

            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count::Odd(Cow::Borrowed(RawValue::NULL)))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl Serialize for UsageMetadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, count) in self.counts.named() {
            if !self.odd.iter().any(|(odd, _)| odd == name) {
                map.serialize_entry(name, &count)?;
            }
        }
        for (name, raw) in self.odd.iter().chain(self.details.iter()) {
            map.serialize_entry(name, raw)?;
        }
        map.end()
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

    /// The counts by their names on the wire.
    fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
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
    if metadata.counts == Counts::default() {
        return None;
    }
    let mut usage = metadata.counts.usage();
    let mut details: Fields = metadata.details.iter().map(|(name, raw)| (name.to_string(), Json::copy(raw))).collect();
    if let Some(tool_use) = metadata.counts.tool_use {
        details.push(TOOL_USE, Raw::of(&tool_use).to_json());
    }
    usage.provider_data.extend_part(DIALECT, Part::Answer, details);
    if !metadata.odd.is_empty() || metadata.counts != Counts::of(&usage) {
        usage.provider_data.set_part(DIALECT, Part::Shape, COUNTS, metadata.counted());
    }
    Some(usage)
}

/// The counts as the wire had them, where they were kept.
fn kept_counts(usage: &Usage) -> Option<UsageMetadata<'_>> {
    usage.provider_data.part(DIALECT, Part::Shape).get(COUNTS)?.to().ok()
}

/// The total of the wire, where it is not the sum of the counts.
pub(super) fn odd_total(usage: &Usage) -> Option<u64> {
    kept_counts(usage)?.counts.total.filter(|&total| total != usage.total_tokens())
}

/// A usage as `usageMetadata`. In a stream, a count that was told `before` and is nothing now has to be said: readers keep
/// the last one that they saw.
pub(super) fn encode<'a>(usage: &'a Usage, before: &Usage) -> UsageMetadata<'a> {
    let numbers = || Usage { provider_data: ProviderData::default(), ..usage.clone() };
    let kept = kept_counts(usage).filter(|kept| kept.counts.usage() == numbers());
    let mut metadata = kept.unwrap_or_else(|| UsageMetadata::new(Counts::of(usage), Rest::default()));
    let details = usage.provider_data.part(DIALECT, Part::Answer);
    if !details.is_empty() {
        let mut rest = details.as_rest();
        rest.retain(|(name, _)| Counts::default().slot(name).is_none());
        metadata.details = OneOrMany::Many(rest);
    }
    let counts = &mut metadata.counts;
    for (count, before, now) in [
        (&mut counts.candidates, before.output_tokens, usage.output_tokens),
        (&mut counts.thoughts, before.thinking_tokens, usage.thinking_tokens),
        (&mut counts.cached, before.cache_read_tokens, usage.cache_read_tokens),
    ] {
        if before > 0 && now == 0 {
            count.get_or_insert(0);
        }
    }
    metadata
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

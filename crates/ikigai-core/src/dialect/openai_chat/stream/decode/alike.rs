//! Chunks that differ from the previous one only in their text.
//!
//! A chunk repeats everything around its few words: ids, names, times, `null` fields. Some servers change more than the
//! text from chunk to chunk: the id, the time, running counts, probabilities, padding. A chunk that differs in nothing
//! else need not be parsed.

use std::borrow::Cow;

use super::choices;
use super::merge::grows;
use crate::dialect::openai_chat::wire::{Answer, Choice, Content, Message};
use crate::json::loose::{Item, Loose as _, Words};
use crate::json::wire::{Rest, Text};
use crate::server::alike::{Part, PartKind};

/// A value to read from a chunk that is like the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Said(Field),
    Id,
    Created,
    Usage,
    Logprobs,
}

/// The field of a chunk's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Content,
    /// With the field's name.
    Reasoning(&'static str),
}

/// Returns the parts that may differ in chunks like this one. `None` if it contains anything that must not be skipped
/// when repeated, or an escape in its text.
pub(super) fn parts<'c>(chunk: &'c Answer<'_>) -> Option<impl Iterator<Item = Part<'c, Slot>>> {
    let [Item::Fits(choice)] = chunk.choices.as_slice() else { return None };
    let delta = choice.delta.as_deref()?;
    if brings_more(choice, delta) {
        return None;
    }
    let said = said(delta)?;
    let id = chunk.id.0.as_ref().map(|id| part(id.as_str(), PartKind::Plain, Some(Slot::Id)));
    let created = chunk.created.as_ref().map(|raw| part(raw.text(), PartKind::Number, Some(Slot::Created)));
    let usage = chunk.usage.as_ref().map(|raw| part(raw.text(), PartKind::Numbers, Some(Slot::Usage)));
    let logprobs = choice.logprobs.as_ref().map(|raw| part(raw.text(), PartKind::Value, Some(Slot::Logprobs)));
    let padding = chunk.rest.iter().filter(|(name, _)| choices::is_padding(name)).filter_map(|(_, raw)| {
        let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
        Some(part(inner, PartKind::Plain, None))
    });
    Some([Some(said), id, created, usage, logprobs].into_iter().flatten().chain(padding))
}

fn part<'c>(text: &'c str, kind: PartKind, slot: Option<Slot>) -> Part<'c, Slot> {
    Part { text, kind, slot }
}

/// Returns the only text of a delta.
fn said<'c>(delta: &'c Message<'_>) -> Option<Part<'c, Slot>> {
    let content = match &delta.content {
        Content::Absent => None,
        Content::Text(text) if text.as_str().is_empty() => None,
        Content::Text(text) => Some((text, Field::Content)),
        Content::List(_) => return None,
    };
    let thought =
        |words: &'c Words<'_>, name: &'static str| words.0.as_ref().map(|text| (text, Field::Reasoning(name)));
    let said = [
        content,
        thought(&delta.reasoning_content, "reasoning_content"),
        thought(&delta.reasoning, "reasoning"),
        thought(&delta.reasoning_text, "reasoning_text"),
    ];
    let mut said = said.into_iter().flatten();
    match (said.next(), said.next()) {
        (Some((Text(Cow::Borrowed(text)), field)), None) => Some(part(text, PartKind::Text, Some(Slot::Said(field)))),
        _ => None,
    }
}

fn brings_more(choice: &Choice<'_>, delta: &Message<'_>) -> bool {
    let any_grows = |rest: &Rest<'_>| rest.iter().any(|(name, value)| grows(name, value));
    choice.index.is_some_and(|index| index != 0)
        || choice.finish_reason.is_some()
        || choices::has_usage(choice)
        || !delta.refusal.is_absent()
        || delta.audio.is_some()
        || delta.function_call.is_some()
        || delta.extra_content.is_some()
        || !(delta.details.is_empty() && delta.tool_calls.is_empty() && delta.images.is_empty())
        || any_grows(&delta.rest)
        || any_grows(&choice.rest)
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;

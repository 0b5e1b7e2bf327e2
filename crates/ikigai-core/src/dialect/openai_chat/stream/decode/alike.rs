//! Chunks that are like the one before, but for their text.
//!
//! A chunk repeats all that stands around its few words: ids, names, times, fields that are `null`. Once a chunk was
//! read and was found to bring text and nothing else, another one with the same bytes around its text brings nothing
//! else either, and need not be read again. Whatever differs is left to the JSON parser.

use std::borrow::Cow;
use std::ops::Range;

use crate::dialect::openai_chat::wire::{Answer, Content};
use crate::json::loose::{Item, Loose as _};
use crate::json::wire::{Rest, Text};
use crate::server::skip;

/// What OpenAI pads its chunks with, so that their length tells nothing: the last field, different in each.
const PADDING: &str = r#""obfuscation":"#;

/// The bytes around the text of the last chunk that brought nothing else.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Up to the text, with its quotation mark.
    before: String,
    /// Behind the text's quotation mark, and up to the padding where there is some.
    behind: String,
    padded: bool,
}

impl Alike {
    /// The text of a chunk, when all around it is known.
    pub(super) fn read<'a>(&self, data: &'a str) -> Option<Cow<'a, str>> {
        let start = self.before.len();
        if start == 0 || !data.starts_with(&self.before) {
            return None;
        }
        let end = skip::string(data.as_bytes(), start)?;
        let rest = data.get(end..)?.strip_prefix(self.behind.as_str())?;
        let known = if self.padded { is_padding(rest) } else { rest.is_empty() };
        // With its quotation marks, the text is JSON by itself.
        if known { skip::text(data.as_bytes().get(start - 1..end)?) } else { None }
    }

    /// Remembers what stands around the text.
    pub(super) fn learn(&mut self, data: &str, text: Range<usize>) {
        let (Some(before), Some(behind)) = (data.get(..text.start), data.get(text.end + 1..)) else { return };
        let parts = behind.rfind(PADDING).and_then(|at| behind.split_at_checked(at + PADDING.len()));
        let padded = parts.filter(|(_, rest)| is_padding(rest));
        self.padded = padded.is_some();
        before.clone_into(&mut self.before);
        padded.map_or(behind, |(behind, _)| behind).clone_into(&mut self.behind);
    }
}

/// Whether this is one string and the end of the chunk.
fn is_padding(rest: &str) -> bool {
    rest.strip_suffix('}').is_some_and(|padding| {
        let bytes = padding.as_bytes();
        skip::string(bytes, 1) == Some(bytes.len()) && skip::text(bytes).is_some()
    })
}

/// Where the text of a chunk stands in its bytes; `None` if the chunk brings anything else that cannot be passed over when
/// it comes again, or has an escape in the text.
pub(super) fn only_text(data: &str, chunk: &Answer<'_>) -> Option<Range<usize>> {
    let [Item::Fits(choice)] = chunk.choices.as_slice() else { return None };
    let delta = choice.delta.as_deref()?;
    let Content::Text(Text(Cow::Borrowed(text))) = &delta.content else { return None };
    // Lists would grow by the same items once more.
    let grows = |rest: &Rest<'_>| rest.iter().any(|(_, value)| value.get().contains('[') && value.get() != "[]");
    let brings_more = chunk.usage.is_some()
        || choice.index.is_some_and(|index| index != 0)
        || choice.finish_reason.is_some()
        || choice.logprobs.is_some()
        || super::has_usage(choice)
        || !delta.reasoning_content.is_absent()
        || !delta.reasoning.is_absent()
        || !delta.refusal.is_absent()
        || delta.audio.is_some()
        || delta.function_call.is_some()
        || delta.extra_content.is_some()
        || !(delta.details.is_empty() && delta.tool_calls.is_empty() && delta.images.is_empty())
        || grows(&delta.rest)
        || grows(&choice.rest);
    // The text is a piece of the data: its address says which.
    let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let place = start..start.checked_add(text.len())?;
    (!brings_more && data.get(place.clone()) == Some(*text)).then_some(place)
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;

//! Frames that differ from the previous one only in their text and their counts.

use super::super::wire::{Answer, Part};
use crate::BlockKind;
use crate::server::alike;
use crate::server::alike::PartKind;

/// A value to read from a frame that is like the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Text or thinking.
    Said(BlockKind),
    /// The count with this index.
    Count(usize),
}

/// Returns the parts that may differ in frames like this one. `None` if it contains anything that must not be skipped
/// when repeated.
pub(super) fn parts<'f>(frame: &'f Answer<'_>) -> Option<impl Iterator<Item = alike::Part<'f, Slot>>> {
    let candidate = frame.candidates.as_ref()?.only()?;
    let part = candidate.content.as_ref()?.parts.as_ref()?.only()?;
    if !is_plain(part) || !candidate.is_first() || candidate.finish.is_some() {
        return None;
    }
    let slot = Some(Slot::Said(said_in(part)));
    let said = alike::Part { text: part.text.as_ref()?.as_str(), kind: PartKind::Text, slot };
    let counts = (0..).zip(frame.usage.iter().flat_map(|usage| usage.numbers())).filter_map(|(number, count)| {
        let slot = Some(Slot::Count(number));
        Some(alike::Part { text: count.as_ref()?.written()?, kind: PartKind::Number, slot })
    });
    Some(counts.chain([said]))
}

/// Whether this is only text or thinking.
pub(super) fn is_plain(part: &Part<'_>) -> bool {
    part.signature.as_ref().is_none_or(|signature| signature.as_str().is_empty())
        && part.rest.iter().all(|(_, value)| value.get() == "null")
        && part.inline_data.is_none()
        && part.file_data.is_none()
        && part.call.is_none()
        && part.result.is_none()
}

/// Returns the kind of block for a part's text.
pub(super) fn said_in(part: &Part<'_>) -> BlockKind {
    if part.thought == Some(true) { BlockKind::Thinking } else { BlockKind::Text }
}

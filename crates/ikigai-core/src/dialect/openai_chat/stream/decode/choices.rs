//! Choices of a chunk: which one is read, and what else they have.

use crate::Json;
use crate::dialect::openai_chat::wire::Choice;
use crate::json::loose::{Item, read_raw};

/// Converts an assembled choice to its form in a whole answer, where calls have no indices.
pub(super) fn as_whole(choice: &Json) -> Json {
    let Some(mut whole) = read_raw::<Choice<'_>>(choice.raw()) else { return choice.clone() };
    for item in whole.message.iter_mut().flat_map(|message| &mut message.tool_calls) {
        if let Item::Fits(call) = item {
            call.index = None;
        }
    }
    Json::of(&whole).unwrap_or_default()
}

/// Whether this has a message instead of a delta: a whole answer, not a piece.
pub(super) fn is_whole(item: &Item<'_, Choice<'_>>) -> bool {
    matches!(item, Item::Fits(choice) if choice.message.is_some() && choice.delta.is_none())
}

pub(super) fn own_choice<'c, 'a>(item: &'c Item<'a, Choice<'a>>) -> Option<&'c Choice<'a>> {
    match item {
        Item::Fits(choice) if choice.index.is_none_or(|index| index == 0) => Some(choice),
        Item::Fits(_) | Item::Odd(_) => None,
    }
}

/// Whether this is meaningless padding, which prevents guesses by length.
pub(super) fn is_padding(name: &str) -> bool {
    matches!(name, "obfuscation" | "p")
}

/// Whether the counts are in the choice.
pub(super) fn has_usage(choice: &Choice<'_>) -> bool {
    choice.rest.iter().any(|(name, value)| name == "usage" && value.get() != "null")
}

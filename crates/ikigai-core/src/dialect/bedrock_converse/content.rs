//! The blocks of an answer: from the wire to canonical. A malformed one is kept whole.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::tagged::Object;
use crate::json::text::unescape;
use crate::json::wire::{Leftovers as _, Raw, Text};
use crate::wire::Ids;
use crate::{Arguments, Block, Fields, Json, Other, Part, ProviderData, ThinkingBlock, ToolCall};

use super::DIALECT;
use super::wire::{Cited, Reasoning, ReasoningText, ToolUse};

/// The type of an ordinary call, which need not be given.
const CALL: &str = "tool_use";

/// Reads a block.
pub(super) fn read(raw: &Raw<'_>, ids: &mut Ids) -> Block {
    known(raw, ids).unwrap_or_else(|| own(raw.to_json()))
}

/// Keeps a whole block of this dialect.
pub(super) fn own(data: Json) -> Block {
    Block::Other(Other { dialect: DIALECT, data })
}

/// Reads a block that has a canonical form.
fn known(raw: &Raw<'_>, ids: &mut Ids) -> Option<Block> {
    let object: Object<'_> = raw.to()?;
    // A block with two keys is unknown.
    let [(kind, value)] = object.0.as_slice() else { return None };
    match kind.as_ref() {
        "text" => Some(Block::text(unescape(value.get())?)),
        "toolUse" => {
            let mut call: ToolUse<'_> = of(value)?;
            let input = call.input.take();
            let mut call = read_call(call, ids)?;
            if let Some(input) = input {
                call.arguments = Arguments::from_text(input.text());
            }
            Some(Block::ToolCall(call))
        }
        "reasoningContent" => read_thinking(of(value)?),
        "citationsContent" => read_cited(of(value)?),
        _ => None,
    }
}

fn of<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// Reads a call without its arguments. Returns `None` if the provider runs its tool itself, or it has no name.
pub(super) fn read_call(mut call: ToolUse<'_>, ids: &mut Ids) -> Option<ToolCall> {
    if call.kind.take().is_some_and(|kind| kind.as_str() != CALL) {
        return None;
    }
    let name = call.name.take().map(Text::into_string).filter(|name| !name.is_empty())?;
    let id = call.id.take().map(Text::into_string).filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| format!("tooluse_{}", ids.next_id()));
    let provider_data = extra(call.leftovers());
    Some(ToolCall { id, name, provider_data, ..ToolCall::default() })
}

fn read_thinking(reasoning: Reasoning<'_>) -> Option<Block> {
    match reasoning {
        Reasoning { text: Some(text), redacted: None, rest } if rest.is_empty() => Some(Block::Thinking(visible(text))),
        Reasoning { text: None, redacted: Some(redacted), rest } if rest.is_empty() => {
            let provider_data = redacted_state(redacted.into_string());
            Some(Block::Thinking(ThinkingBlock { provider_data, ..ThinkingBlock::default() }))
        }
        _ => None,
    }
}

fn visible(mut reasoning: ReasoningText<'_>) -> ThinkingBlock {
    let text = reasoning.text.take().map(Text::into_string).unwrap_or_default();
    let mut provider_data = signature_state(reasoning.signature.take().map(Text::into_string));
    provider_data.extend_part(DIALECT, Part::Extra, reasoning.leftovers());
    ThinkingBlock { text, provider_data }
}

/// Keeps the signature of visible thinking, or that there is none.
pub(super) fn signature_state(signature: Option<String>) -> ProviderData {
    let mut data = ProviderData::default();
    match signature.filter(|signature| !signature.is_empty()) {
        Some(signature) => data.set_part(DIALECT, Part::State, "signature", signature),
        None => data.set_part(DIALECT, Part::Shape, "unsigned", true),
    }
    data
}

/// Keeps redacted thinking: its bytes as base64.
pub(super) fn redacted_state(base64: String) -> ProviderData {
    let mut data = ProviderData::default();
    data.set_part(DIALECT, Part::State, "redacted_data", base64);
    data
}

fn read_cited(mut cited: Cited<'_>) -> Option<Block> {
    let parts = cited.content.take()?;
    if !parts.iter().all(|part| part.rest.is_empty() && part.text.is_some()) {
        return None;
    }
    let text: String = parts.iter().filter_map(|part| part.text.as_ref()).map(Text::as_str).collect();
    Some(Block::Text(crate::Text { text, provider_data: extra(cited.leftovers()), ..crate::Text::default() }))
}

/// Keeps wire fields that the format has no field for.
pub(super) fn extra(fields: Fields) -> ProviderData {
    let mut data = ProviderData::default();
    data.extend_part(DIALECT, Part::Extra, fields);
    data
}

//! Wire answers to canonical ones.

use crate::json::tagged::Object;
use crate::json::wire::{Leftovers as _, Raw, Text, read_answer};
use crate::wire::Ids;
use crate::{Block, Error, Fields, FinishReason, Part, Response};

use super::super::content::{self, Reading};
use super::super::wire::{Answer, Item};
use super::super::{DIALECT, error, usage};

/// Decodes an answer.
///
/// # Errors
/// Returns the failure in the body, whatever its status, or an error if the body is not an answer.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids) -> Result<Response, Error> {
    let mut answer: Answer<'_> = read_answer(body)?;
    if is_failure(&answer) {
        return Err(error::from_body(body));
    }
    let Some(content) = answer.content.take() else {
        let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
        return Err(Error::protocol(format!("the answer has no `content`; it begins: {text}")));
    };
    let blocks = content.into_iter().map(Item::into_fields);
    let mut response =
        Response { content: blocks.filter_map(|block| read_block(block, ids)).collect(), ..Response::default() };
    response.id = answer.id.take().map(Text::into_string);
    response.model = answer.model.take().map(Text::into_string).unwrap_or_default();
    let (kept, counts) = read_rest(answer);
    response.usage = counts.map(usage::decode);
    response.finish_reason = finish(kept.str("stop_reason").as_deref(), response.tool_calls().count());
    response.provider_data.extend_part(DIALECT, Part::Answer, kept);
    Ok(response)
}

/// Whether this body is a failure, whatever its status.
fn is_failure(answer: &Answer<'_>) -> bool {
    answer.kind.as_ref().is_some_and(|kind| kind.as_str() == "error")
        || (answer.content.is_none() && answer.error.is_some())
}

/// Returns the rest of an answer: everything that the format has no field for, and the counts.
pub(in super::super) fn read_rest(mut answer: Answer<'_>) -> (Fields, Option<Fields>) {
    answer.kind.take_if(|kind| kind.as_str() == "message");
    answer.role.take_if(|role| role.as_str() == "assistant");
    let counts = answer.usage.as_ref().and_then(Raw::to::<Fields>);
    if counts.is_some() {
        answer.usage = None;
    }
    // In the same order for whole and streamed answers.
    let mut kept = Fields::default();
    let mut rest = answer.leftovers();
    for name in ["stop_reason", "stop_sequence", "stop_details"] {
        if let Some(value) = rest.remove(name) {
            kept.push(name, value);
        }
    }
    rest.into_iter().for_each(|(name, value)| kept.push(name, value));
    (kept, counts)
}

/// Reads one block of an answer, and gives an id to a call without one. There always is a block: a malformed one is
/// kept whole.
pub(in super::super) fn read_block(block: Object<'_>, ids: &mut Ids) -> Option<Block> {
    let mut read = content::read(block, Reading::Answer).ok()?;
    if let Block::ToolCall(call) = &mut read
        && call.id.is_empty()
    {
        call.id = format!("toolu_{}", ids.next_id());
    }
    Some(read)
}

/// Translates the provider's stop reason, given the number of calls.
pub(in super::super) fn finish(word: Option<&str>, calls: usize) -> FinishReason {
    match word {
        // Some copies of this API also send `end_turn` after calls.
        Some("end_turn") if calls > 0 => FinishReason::ToolUse,
        Some("end_turn" | "stop_sequence" | "pause_turn") => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("tool_use") => FinishReason::ToolUse,
        Some("refusal") => FinishReason::ContentFilter,
        Some(_) | None => FinishReason::Unknown,
    }
}

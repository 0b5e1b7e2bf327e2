//! Whole answers: from the wire to canonical.

use crate::json::wire::{Leftovers as _, Raw, Text, read_answer};
use crate::wire::Ids;
use crate::{Error, Fields, FinishReason, Part, Response};

use super::wire::Answer;
use super::{DIALECT, content, error, usage};

/// The finish reason's name among the fields that are kept.
const STOP_REASON: &str = "stopReason";
/// A model's response fields from its own API.
const OF_MODEL: &str = "additionalModelResponseFields";

/// Decodes an answer.
///
/// # Errors
/// Returns the failure in the body, whatever its status, or an error if the body is not an answer.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids) -> Result<Response, Error> {
    let mut answer: Answer<'_> = read_answer(body)?;
    let Some(mut output) = answer.output.take() else {
        return Err(error::instead_of_answer(body, &answer));
    };
    let mut response = Response::default();
    if let Some(mut message) = output.message.take() {
        let blocks = message.content.take().unwrap_or_default();
        response.content = blocks.iter().map(|block| content::read(block, ids)).collect();
        message.role.take_if(|role| role.as_str() == "assistant");
        response.provider_data.extend_part(DIALECT, Part::Extra, message.leftovers());
    }
    let counts = answer.usage.as_ref().and_then(Raw::to::<Fields>);
    if counts.is_some() {
        answer.usage = None;
    }
    response.usage = counts.map(usage::decode);
    let word = answer.stop_reason.take().map(Text::into_string);
    let has_calls = response.tool_calls().next().is_some();
    response.finish_reason = finish(word.as_deref(), has_calls);
    let mut rest = answer.leftovers();
    output.leftovers().into_iter().for_each(|(name, value)| rest.push(name, value));
    response.provider_data.extend_part(DIALECT, Part::Answer, kept(word, rest));
    Ok(response)
}

/// Returns the fields without canonical equivalents, in the same order for whole and streamed answers.
pub(super) fn kept(word: Option<String>, mut rest: Fields) -> Fields {
    let mut kept = Fields::default();
    if let Some(word) = word {
        kept.push(STOP_REASON, word);
    }
    if let Some(fields) = rest.remove(OF_MODEL) {
        kept.push(OF_MODEL, fields);
    }
    rest.into_iter().for_each(|(name, value)| kept.push(name, value));
    kept
}

/// Translates the provider's stop reason.
pub(super) fn finish(word: Option<&str>, has_calls: bool) -> FinishReason {
    match word {
        // Some models also send `end_turn` after calls.
        Some("end_turn") if has_calls => FinishReason::ToolUse,
        Some("end_turn" | "stop_sequence" | "pause_turn") => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("tool_use") => FinishReason::ToolUse,
        Some("guardrail_intervened" | "content_filtered" | "refusal") => FinishReason::ContentFilter,
        Some(_) | None => FinishReason::Unknown,
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;

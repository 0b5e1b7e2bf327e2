//! Whole answers: wire to canonical and back.

use crate::dialect::losses::note_foreign;
use crate::dialect::{Reply, WireResponse};
use crate::json::wire::{Leftovers as _, Raw, Text, read_answer, write};
use crate::wire::Ids;
use crate::{Block, Error, Fields, FinishReason, Json, Part, Response};

use super::answer::BlockWriter;
use super::content::{self, Reading};
use super::wire::{self, Answer};
use super::{DIALECT, error, usage};

/// Reads an answer.
///
/// # Errors
/// The failure that the body is, whatever its status; or that it is not an answer at all.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids) -> Result<Response, Error> {
    let mut answer: Answer<'_> = read_answer(body)?;
    if is_failure(&answer) {
        return Err(error::from_body(body));
    }
    let Some(content) = answer.content.take() else {
        let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
        return Err(Error::protocol(format!("the answer has no `content`; it begins: {text}")));
    };
    let mut response = Response { content: read_blocks(content, ids), ..Response::default() };
    response.id = answer.id.take().map(Text::into_string);
    response.model = answer.model.take().map(Text::into_string).unwrap_or_default();
    let (kept, counts) = read_rest(answer);
    response.usage = counts.map(usage::decode);
    response.finish_reason = finish(kept.str("stop_reason").as_deref(), has_calls(&response));
    response.provider_data.extend_part(DIALECT, Part::Answer, kept);
    Ok(response)
}

/// Whether this body is a failure, whatever its status says.
fn is_failure(answer: &Answer<'_>) -> bool {
    answer.kind.as_ref().is_some_and(|kind| kind.as_str() == "error")
        || (answer.content.is_none() && answer.error.is_some())
}

/// What an answer says besides its content: all that the format has no field for, and the counts.
pub(super) fn read_rest(mut answer: Answer<'_>) -> (Fields, Option<Fields>) {
    answer.kind.take_if(|kind| kind.as_str() == "message");
    answer.role.take_if(|role| role.as_str() == "assistant");
    let counts = answer.usage.as_ref().and_then(Raw::to::<Fields>);
    if counts.is_some() {
        answer.usage = None;
    }
    // In one order, whether the answer comes whole or as a stream.
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

/// Reads the blocks of an answer, and gives an id to calls that came without.
pub(super) fn read_blocks(blocks: Vec<wire::Block<'_>>, ids: &mut Ids) -> Vec<Block> {
    blocks.into_iter().filter_map(|block| read_block(block, ids)).collect()
}

/// Reads one block of an answer. There always is one: what is not made as it should be is kept whole.
pub(super) fn read_block(block: wire::Block<'_>, ids: &mut Ids) -> Option<Block> {
    let mut read = content::read(block, Reading::Answer).ok()?;
    if let Block::ToolCall(call) = &mut read
        && call.id.is_empty()
    {
        call.id = format!("toolu_{}", ids.next_id());
    }
    Some(read)
}

fn has_calls(response: &Response) -> bool {
    response.tool_calls().next().is_some()
}

/// What the provider's word means.
pub(super) fn finish(word: Option<&str>, has_calls: bool) -> FinishReason {
    match word {
        // Some that copy this API say `end_turn` after calls, too.
        Some("end_turn") if has_calls => FinishReason::ToolUse,
        Some("end_turn" | "stop_sequence" | "pause_turn") => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("tool_use") => FinishReason::ToolUse,
        Some("refusal") => FinishReason::ContentFilter,
        Some(_) | None => FinishReason::Unknown,
    }
}

/// The word for a client: the one that this API gave, where it still fits, else the one for the reason.
pub(super) fn stop_reason(reason: FinishReason, own: Option<&Json>, has_calls: bool) -> Raw<'_> {
    if let Some(word) = own
        && finish(word.as_str().as_deref(), has_calls) == reason
    {
        return Raw::from(word);
    }
    Raw::of(match reason {
        FinishReason::Stop | FinishReason::Error | FinishReason::Unknown => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ToolUse => "tool_use",
        FinishReason::ContentFilter => "refusal",
    })
}

/// Writes an answer for a client. An answer that broke is an error body.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> WireResponse {
    if response.finish_reason == FinishReason::Error {
        let unknown = Error::new(crate::ErrorKind::Server, "the answer broke off");
        let body = error::encode_error(response.error.as_deref().unwrap_or(&unknown)).body;
        return WireResponse { body, losses: Vec::new() };
    }
    let model = if response.model.is_empty() { reply.model.clone() } else { Some(response.model.clone()) };
    let mut writer = BlockWriter::new(reply, model.clone(), response.tool_calls().map(|call| call.id.as_str()));
    let blocks = response.content.iter().enumerate();
    let content: Vec<wire::Block<'_>> = blocks.flat_map(|(index, block)| writer.write(index, block)).collect();
    let mut losses = writer.losses;
    note_foreign(&response.provider_data, DIALECT, &[Part::State, Part::Extra, Part::Answer], "", &mut losses);
    if let Some(usage) = &response.usage {
        note_foreign(&usage.provider_data, DIALECT, &[Part::Extra, Part::Answer], "usage.", &mut losses);
    }

    let own = response.provider_data.part(DIALECT, Part::Answer);
    let is_own = !own.is_empty();
    let word = own.get("stop_reason");
    let says_reason = word.is_some() || !is_own || response.finish_reason != FinishReason::Unknown;
    let null = |wanted: bool| (wanted && !is_own).then(|| Raw::of(&()));
    let answer = Answer {
        id: Some(id(response, reply).into()),
        kind: own.get("type").is_none().then(|| "message".into()),
        role: own.get("role").is_none().then(|| "assistant".into()),
        model: Some(model.unwrap_or_default().into()),
        content: Some(content),
        stop_reason: says_reason.then(|| stop_reason(response.finish_reason, word, has_calls(response))),
        stop_sequence: own.get("stop_sequence").map(Raw::from).or_else(|| null(true)),
        stop_details: null(response.finish_reason == FinishReason::ContentFilter),
        usage: (response.usage.is_some() || !is_own).then(|| usage::encode(response.usage.as_ref())),
        error: None,
        rest: own.as_rest(),
    };
    WireResponse { body: write(&answer), losses }
}

fn id(response: &Response, reply: &Reply) -> String {
    match &response.id {
        Some(id) => id.clone(),
        None => format!("msg_{}", reply.ids.clone().next_id()),
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;

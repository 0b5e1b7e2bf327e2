//! Whole answers: wire to canonical and back.

use serde_json::{Map, Value};

use crate::dialect::Reply;
use crate::{Block, Error, FinishReason, Ids, Response};

use super::answer::{self, Origin};
use super::block::{self, Reading};
use super::names::Safe;
use super::{DIALECT, error, usage};

/// The longest id of a tool call that is handed to a client.
pub(super) const LONGEST_ID: usize = 256;

/// Reads an answer.
///
/// # Errors
/// The failure that the body is, whatever its status; or that it is no answer at all.
pub(crate) fn decode_response(body: Value, ids: &mut Ids) -> Result<Response, Error> {
    if error::is_failure(&body) {
        return Err(error::from_body(&body));
    }
    let Value::Object(fields) = body else { return Err(no_answer(&body)) };
    if !fields.get("content").is_some_and(Value::is_array) {
        return Err(no_answer(&Value::Object(fields)));
    }
    let mut response = Response::default();
    let mut kept = Map::new();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("id", Value::String(id)) => response.id = Some(id),
            ("model", Value::String(model)) => response.model = model,
            ("content", Value::Array(blocks)) => response.content = read_blocks(blocks, ids)?,
            ("stop_reason", word) => response.provider_data.set(DIALECT, "stop_reason", word),
            ("usage", Value::Object(counts)) => response.usage = Some(usage::decode(counts)),
            (_, value) if !is_implied(&key, &value) => {
                kept.insert(key, value);
            }
            _ => {}
        }
    }
    // Also when it is empty: it says that nothing else stood there.
    response.provider_data.set(DIALECT, "response", kept);
    response.finish_reason = finish(response.provider_data.str(DIALECT, "stop_reason"), has_calls(&response));
    Ok(response)
}

/// Does every answer say this?
pub(super) fn is_implied(key: &str, value: &Value) -> bool {
    matches!((key, value.as_str()), ("type", Some("message")) | ("role", Some("assistant")))
}

fn no_answer(body: &Value) -> Error {
    let mut excerpt: String = body.to_string().chars().take(200).collect();
    if excerpt.is_empty() {
        excerpt.push_str("nothing");
    }
    Error::protocol(format!("the answer has no `content`; it begins: {excerpt}"))
}

/// Reads the blocks of an answer, and gives an id to calls that came without.
pub(super) fn read_blocks(blocks: Vec<Value>, ids: &mut Ids) -> Result<Vec<Block>, Error> {
    blocks.into_iter().map(|value| read_block(value, ids)).collect()
}

pub(super) fn read_block(value: Value, ids: &mut Ids) -> Result<Block, Error> {
    let mut read = block::decode(value, Reading::Answer)?;
    if let Block::ToolCall(call) = &mut read
        && call.id.is_empty()
    {
        call.id = format!("toolu_{}", ids.next_id());
    }
    Ok(read)
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
pub(super) fn stop_reason(reason: FinishReason, own: Option<&Value>, has_calls: bool) -> Value {
    if let Some(word) = own
        && finish(word.as_str(), has_calls) == reason
    {
        return word.clone();
    }
    match reason {
        FinishReason::Stop | FinishReason::Error | FinishReason::Unknown => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ToolUse => "tool_use",
        FinishReason::ContentFilter => "refusal",
    }
    .into()
}

/// Writes an answer for a client. An answer that broke is an error body.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> Value {
    if response.finish_reason == FinishReason::Error {
        let unknown = Error::new(crate::ErrorKind::Server, "the answer broke off");
        return error::encode_error(response.error.as_deref().unwrap_or(&unknown)).body;
    }
    let model = if response.model.is_empty() { reply.model.clone() } else { Some(response.model.clone()) };
    let origin = Origin { provider: reply.provider.clone(), model: model.clone() };
    let mut ids = Safe::new(LONGEST_ID, response.tool_calls().map(|call| call.id.as_str()));
    let content: Vec<Value> = response
        .content
        .iter()
        .flat_map(|block| answer::wire_blocks(block, &origin, &mut ids))
        .map(Value::Object)
        .collect();

    let own = response.provider_data.get(DIALECT);
    let kept = own.and_then(|own| own.get("response")).and_then(Value::as_object);
    let mut fields = Map::new();
    fields.insert("id".to_owned(), id(response, reply).into());
    fields.insert("type".to_owned(), "message".into());
    fields.insert("role".to_owned(), "assistant".into());
    fields.insert("model".to_owned(), model.unwrap_or_default().into());
    fields.insert("content".to_owned(), Value::Array(content));
    let word = own.and_then(|own| own.get("stop_reason"));
    if word.is_some() || kept.is_none() || response.finish_reason != FinishReason::Unknown {
        fields.insert("stop_reason".to_owned(), stop_reason(response.finish_reason, word, has_calls(response)));
    }
    if kept.is_none() {
        fields.insert("stop_sequence".to_owned(), Value::Null);
        if response.finish_reason == FinishReason::ContentFilter {
            fields.insert("stop_details".to_owned(), Value::Null);
        }
    }
    for (key, value) in kept.into_iter().flatten() {
        fields.insert(key.clone(), value.clone());
    }
    if response.usage.is_some() || kept.is_none() {
        fields.insert("usage".to_owned(), usage::encode(response.usage.as_ref()));
    }
    Value::Object(fields)
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

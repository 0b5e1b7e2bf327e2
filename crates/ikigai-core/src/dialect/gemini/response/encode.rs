//! A [`Response`] to a wire answer.

use serde_json::{Map, Value, json};

use super::super::error::encode_error;
use super::super::part::{self, GENERATED};
use super::super::state::Sealer;
use super::super::{fields, usage};
use super::decode::{FINISH, KEPT, SPLIT, finish, is_blocked};
use crate::{Block, Dialect, Error, ErrorKind, FinishReason, ProviderData, Reply, Response, ToolCall};

/// Writes a whole answer.
///
/// A call whose arguments are cut off is left out, as Google leaves it out: a client would run it. When no call is left
/// of an answer that waits for results, its end is the word for a broken call.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> Value {
    let own = response.provider_data.get(Dialect::Gemini);
    let kept = own.and_then(|own| own.get(KEPT)).and_then(Value::as_object);
    let native = own.is_some_and(|own| own.contains_key(FINISH) || own.contains_key(KEPT));
    let calls = response.tool_calls().any(ToolCall::is_complete);
    let word = finish_word(&response.provider_data, response.finish_reason, calls);
    if response.error.is_some() || (response.finish_reason == FinishReason::Error && word.is_none()) {
        return encode_error(&failure(response.error.as_deref())).body;
    }
    let mut body = Map::new();
    let blocked =
        response.content.is_empty() && kept.is_some_and(is_blocked) && !own.is_some_and(|own| own.contains_key(FINISH));
    if !blocked {
        let mut candidate = Map::new();
        if let Some(content) = content(response, kept, reply) {
            candidate.insert("content".to_owned(), content.into());
        }
        if let Some(word) = word {
            candidate.insert("finishReason".to_owned(), word.into());
        }
        match kept.and_then(|kept| kept.get("candidate")).and_then(Value::as_object) {
            Some(extra) => fields::put_back(&mut candidate, extra, &[]),
            None if native => {}
            None => {
                candidate.insert("index".to_owned(), 0.into());
            }
        }
        let mut candidates = vec![Value::Object(candidate)];
        let further = kept.and_then(|kept| kept.get("candidates")).and_then(Value::as_array);
        candidates.extend(further.into_iter().flatten().cloned());
        body.insert("candidates".to_owned(), candidates.into());
    }
    if let Some(usage) = &response.usage {
        body.insert("usageMetadata".to_owned(), usage::encode(usage).into());
    }
    let model = if response.model.is_empty() { reply.model.as_deref() } else { Some(response.model.as_str()) };
    if let Some(model) = model {
        body.insert("modelVersion".to_owned(), model.into());
    }
    let id = response.id.clone().or_else(|| (!native).then(|| reply.ids.clone().next_id()));
    if let Some(id) = id {
        body.insert("responseId".to_owned(), id.into());
    }
    for (name, value) in kept.into_iter().flatten() {
        if !["candidate", "candidates", "content", "empty"].contains(&name.as_str())
            || (blocked && name == "candidates")
        {
            body.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    Value::Object(body)
}

/// What broke the answer, in words.
pub(in super::super) fn failure(error: Option<&Error>) -> Error {
    error.cloned().unwrap_or_else(|| Error::new(ErrorKind::Server, "the model's answer broke off"))
}

/// The word for why the answer ended: the provider's own while it still fits. None where the wire had none, and for a
/// failure, which has no word.
pub(in super::super) fn finish_word(data: &ProviderData, reason: FinishReason, calls: bool) -> Option<&str> {
    match data.value(Dialect::Gemini, FINISH) {
        Some(Value::String(word)) if finish(Some(word), calls) == reason => return Some(word),
        Some(Value::Null) if reason == FinishReason::Unknown => return None,
        _ => {}
    }
    match reason {
        // Calls that cannot be said here, such as one that is no JSON: a plain end would hide that something is missing.
        FinishReason::ToolUse if !calls => Some("MALFORMED_FUNCTION_CALL"),
        FinishReason::Stop | FinishReason::ToolUse => Some("STOP"),
        FinishReason::Length => Some("MAX_TOKENS"),
        FinishReason::ContentFilter => Some("SAFETY"),
        FinishReason::Unknown => Some("OTHER"),
        FinishReason::Error => None,
    }
}

fn content(response: &Response, kept: Option<&Map<String, Value>>, reply: &Reply) -> Option<Map<String, Value>> {
    let sealer = Sealer::new(reply, Some(&response.model));
    let mut parts: Vec<Value> = response.content.iter().flat_map(|block| block_parts(block, sealer)).collect();
    for empty in kept.and_then(|kept| kept.get("empty")).and_then(Value::as_array).into_iter().flatten() {
        let place = empty.get("at").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
        if let Some(place) = place.filter(|place| *place <= parts.len()) {
            parts.insert(place, part::text("", empty.get("thought") == Some(&Value::Bool(true))).into());
        }
    }
    let mut content = match kept.and_then(|kept| kept.get("content")) {
        Some(Value::Object(content)) => content.clone(),
        Some(Value::Null) if parts.is_empty() => return None,
        _ => Map::from_iter([("role".to_owned(), json!("model"))]),
    };
    if !parts.is_empty() {
        let role = content.shift_remove("role");
        content.insert("parts".to_owned(), parts.into());
        if let Some(role) = role {
            content.insert("role".to_owned(), role);
        }
    }
    Some(content)
}

/// The parts that a block becomes for a client.
pub(in super::super) fn block_parts(block: &Block, sealer: Sealer<'_>) -> Vec<Value> {
    let mut parts = match block {
        Block::Text(text) => texts(&text.text, false, &text.provider_data),
        Block::Thinking(thinking) => texts(&thinking.text, true, &thinking.provider_data),
        Block::Image(image) => part::media(&image.source, None, &image.provider_data, false).into_iter().collect(),
        Block::Audio(audio) => part::media(&audio.source, None, &audio.provider_data, false).into_iter().collect(),
        Block::Document(document) => {
            let name = document.name.as_deref();
            part::media(&document.source, name, &document.provider_data, false).into_iter().collect()
        }
        Block::ToolCall(call) => call_part(call).into_iter().collect(),
        // Results stand in requests only.
        Block::ToolResult(_) => Vec::new(),
        Block::Other(other) if other.dialect == Dialect::Gemini => return vec![other.data.clone().into()],
        Block::Other(other) => {
            let mut part = part::text("", true);
            part::sign(&mut part, &sealer.block(other));
            vec![part]
        }
    };
    if let (Some(data), Some(last)) = (block.provider_data(), parts.last_mut()) {
        if let Some(signature) = sealer.signature(data) {
            part::sign(last, &signature);
        }
        part::dress(last, data, true);
    }
    parts.into_iter().map(Value::Object).collect()
}

/// A call as a part, without its signature; none when it cannot be run.
pub(in super::super) fn call_part(call: &ToolCall) -> Option<Map<String, Value>> {
    let id = Some(call.id.as_str()).filter(|id| !id.is_empty() && !call.provider_data.flag(Dialect::Gemini, GENERATED));
    call.is_complete().then(|| part::call(call, id))
}

/// A text in the parts that it came in.
pub(in super::super) fn texts(text: &str, thought: bool, data: &ProviderData) -> Vec<Map<String, Value>> {
    let lengths = data.value(Dialect::Gemini, SPLIT).and_then(Value::as_array);
    let pieces = lengths.and_then(|lengths| pieces(text, lengths)).unwrap_or_else(|| vec![text]);
    pieces.into_iter().map(|piece| part::text(piece, thought)).collect()
}

/// The text cut as noted; none when the note does not fit it any more.
fn pieces<'a>(text: &'a str, lengths: &[Value]) -> Option<Vec<&'a str>> {
    let mut rest = text;
    let mut pieces = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (piece, behind) = rest.split_at_checked(usize::try_from(length.as_u64()?).ok()?)?;
        pieces.push(piece);
        rest = behind;
    }
    (rest.is_empty() && !pieces.is_empty()).then_some(pieces)
}

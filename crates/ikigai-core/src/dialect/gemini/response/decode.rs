//! A wire answer to a [`Response`].

use serde_json::{Map, Value, json};

use super::super::part::{self, GENERATED};
use super::super::stream::Decoder;
use super::super::{error, usage};
use crate::dialect::ReadFrames as _;
use crate::{Block, Collector, Dialect, Error, FinishReason, Ids, Loss, Other, Response};

/// The key of the provider's word for why the answer ended.
pub(in super::super) const FINISH: &str = "finish_reason";
/// The key of what the format has no field for.
pub(in super::super) const KEPT: &str = "response";
/// How several text parts made one block: their lengths in bytes.
pub(super) const SPLIT: &str = "split";

/// Reads a whole answer. An array is the body of a stream that nobody asked to be one.
pub(crate) fn decode_response(body: Value, ids: &mut Ids) -> Result<Response, Error> {
    match body {
        Value::Object(body) => whole(body, ids),
        Value::Array(frames) => pieces(frames, ids),
        other => {
            let text = other.to_string();
            Err(Error::protocol(format!("the answer is no JSON object: {}", error::excerpt(&text, 200))))
        }
    }
}

fn pieces(frames: Vec<Value>, ids: &mut Ids) -> Result<Response, Error> {
    let mut decoder = Decoder::new(ids.clone());
    let mut events = Vec::new();
    for frame in frames {
        decoder.frame(None, &frame.to_string(), &mut events);
    }
    decoder.end(&mut events);
    *ids = decoder.into_ids();
    let mut collector = Collector::default();
    collector.extend(events);
    let mut response = collector.finish();
    match response.error.take() {
        None => Ok(response),
        Some(mut error) => {
            if !response.content.is_empty() {
                error.partial = Some(Box::new(response));
            }
            Err(*error)
        }
    }
}

fn whole(mut body: Map<String, Value>, ids: &mut Ids) -> Result<Response, Error> {
    match body.get("error") {
        None | Some(Value::Null) => {}
        Some(Value::Object(object)) => return Err(error::from_object(None, object.clone())),
        Some(_) => return Err(error::decode_error(None, &[], &Value::Object(body).to_string())),
    }
    let mut response = Response::default();
    let (candidate, further) = candidates(&mut body);
    if let Some(Value::String(model)) = body.get("modelVersion") {
        response.model.clone_from(model);
        body.shift_remove("modelVersion");
    }
    if let Some(Value::String(id)) = body.get("responseId") {
        response.id = Some(id.clone());
        body.shift_remove("responseId");
    }
    if let Some(counts) = body.get("usageMetadata").and_then(Value::as_object) {
        response.usage = usage::decode(counts);
        if response.usage.is_some() {
            body.shift_remove("usageMetadata");
        }
    }
    if let Some(total) = response.usage.as_ref().and_then(usage::odd_total) {
        let why = format!("the provider's own total is {total}, which is not the sum of its counts; the sum is used");
        response.warnings.push(Loss::uncoded_info("usage", "usage.total_tokens", why));
    }
    let mut kept = body;
    match candidate {
        Some(candidate) => read_candidate(candidate, &mut kept, &mut response, ids),
        None if is_blocked(&kept) => response.finish_reason = FinishReason::ContentFilter,
        None => return Err(Error::protocol("the answer is empty: it has no candidate and no reason for that")),
    }
    if !further.is_empty() {
        kept.insert("candidates".to_owned(), further.into());
    }
    if !kept.is_empty() {
        response.provider_data.set(Dialect::Gemini, KEPT, kept);
    }
    Ok(response)
}

/// Was the prompt itself refused?
pub(in super::super) fn is_blocked(body: &Map<String, Value>) -> bool {
    body.get("promptFeedback").and_then(|feedback| feedback.get("blockReason")).is_some_and(|reason| !reason.is_null())
}

/// The candidate with index 0, or the first; and the others.
fn candidates(body: &mut Map<String, Value>) -> (Option<Map<String, Value>>, Vec<Value>) {
    let Some(Value::Array(all)) = body.get_mut("candidates") else { return (None, Vec::new()) };
    let zero = |candidate: &Value| candidate.get("index").is_none_or(|index| index.as_u64().unwrap_or_default() == 0);
    let place = all.iter().position(|candidate| candidate.is_object() && zero(candidate));
    let place = place.or_else(|| all.iter().position(Value::is_object));
    let Some(place) = place else { return (None, Vec::new()) };
    let chosen = all.remove(place);
    let further = std::mem::take(all);
    body.shift_remove("candidates");
    match chosen {
        Value::Object(candidate) => (Some(candidate), further),
        _ => (None, further),
    }
}

fn read_candidate(
    mut candidate: Map<String, Value>,
    kept: &mut Map<String, Value>,
    response: &mut Response,
    ids: &mut Ids,
) {
    let word = match candidate.get("finishReason") {
        Some(Value::String(_)) => candidate.shift_remove("finishReason"),
        _ => None,
    };
    let content = candidate.shift_remove("content");
    let usual = json!({"role": "model"});
    let shape = match content {
        Some(Value::Object(mut content)) => {
            match content.shift_remove("parts") {
                Some(Value::Array(parts)) if !parts.is_empty() => {
                    let (blocks, empty) = blocks(parts, ids);
                    response.content = blocks;
                    if !empty.is_empty() {
                        kept.insert("empty".to_owned(), empty.into());
                    }
                }
                Some(parts) => {
                    content.insert("parts".to_owned(), parts);
                }
                None => {}
            }
            Value::Object(content)
        }
        other => other.unwrap_or(Value::Null),
    };
    if shape != usual {
        kept.insert("content".to_owned(), shape);
    }
    if !candidate.is_empty() {
        kept.insert("candidate".to_owned(), candidate.into());
    }
    let calls = response.tool_calls().next().is_some();
    response.finish_reason = finish(word.as_ref().and_then(Value::as_str), calls);
    response.provider_data.set(Dialect::Gemini, FINISH, word.unwrap_or(Value::Null));
}

/// The blocks of an answer, and its empty parts with their places. Text parts side by side are one block as long as
/// they are plain: a signature or any other sibling belongs to its part alone.
fn blocks(parts: Vec<Value>, ids: &mut Ids) -> (Vec<Block>, Vec<Value>) {
    let (mut blocks, mut empty) = (Vec::<Block>::with_capacity(parts.len()), Vec::new());
    let mut lengths = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        let block = match part {
            Value::Object(part) => part::decode(part),
            data => Block::Other(Other { dialect: Dialect::Gemini, data: data.into() }),
        };
        let Some(text) = plain_text(&block) else {
            close(&mut blocks, &mut lengths);
            blocks.push(named(block, ids));
            continue;
        };
        if text.is_empty() {
            empty.push(json!({"at": place, "thought": matches!(block, Block::Thinking(_))}));
            continue;
        }
        let length = text.len();
        match (blocks.last_mut(), block) {
            (Some(Block::Text(last)), Block::Text(more)) if !lengths.is_empty() => last.text.push_str(&more.text),
            (Some(Block::Thinking(last)), Block::Thinking(more)) if !lengths.is_empty() => {
                last.text.push_str(&more.text)
            }
            (_, block) => {
                close(&mut blocks, &mut lengths);
                blocks.push(block);
            }
        }
        lengths.push(length);
    }
    close(&mut blocks, &mut lengths);
    (blocks, empty)
}

/// Notes where the parts of the last block met.
fn close(blocks: &mut [Block], lengths: &mut Vec<usize>) {
    if lengths.len() > 1
        && let Some(data) = blocks.last_mut().and_then(Block::provider_data_mut)
    {
        data.set(Dialect::Gemini, SPLIT, lengths.as_slice());
    }
    lengths.clear();
}

/// The text of a part that is nothing but text.
fn plain_text(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) if text.provider_data.is_empty() => Some(&text.text),
        Block::Thinking(thinking) if thinking.provider_data.is_empty() => Some(&thinking.text),
        _ => None,
    }
}

/// Gives a call without an id one of ours.
pub(in super::super) fn named(mut block: Block, ids: &mut Ids) -> Block {
    if let Block::ToolCall(call) = &mut block
        && call.id.is_empty()
    {
        call.id = ids.next_id();
        call.provider_data.set(Dialect::Gemini, GENERATED, true);
    }
    block
}

/// Why the answer ended. The wire has no word for tool use: the calls tell.
pub(in super::super) fn finish(word: Option<&str>, calls: bool) -> FinishReason {
    match word {
        Some("STOP") if calls => FinishReason::ToolUse,
        Some("STOP") => FinishReason::Stop,
        Some("MAX_TOKENS" | "CONTINUATION") => FinishReason::Length,
        Some(
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR",
        ) => FinishReason::ContentFilter,
        Some(
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "LANGUAGE"
            | "NO_IMAGE",
        ) => FinishReason::Error,
        // `OTHER`, `IMAGE_OTHER`, `FINISH_REASON_UNSPECIFIED`, and words that are not known yet.
        Some(_) | None => FinishReason::Unknown,
    }
}

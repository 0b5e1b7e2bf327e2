//! Converts a wire answer to a [`Response`].

use std::borrow::Cow;

use serde_json::json;

use super::super::leftovers::NAMES;
use super::super::wire::{Answer, Candidate, Part};
use super::super::{DIALECT, Decoder, content, error, usage};
use super::{CANDIDATES, keep_candidate};
use crate::json::wire::{Names, Raw, Text, keep, read_answer};
use crate::wire::{Ids, StreamDecoder};
use crate::{
    Block, Collector, Error, ErrorKind, Fields, FinishReason, Json, Limits, Loss, LossCode, Part as DataPart,
    ProviderData, Response,
};

/// In the answer: the provider's finish reason, `null` if it gave none.
pub(in super::super) const FINISH: &str = "finish_reason";
/// In the shape: the content object without its parts, if it was unusual; `null` if there was none.
pub(super) const CONTENT: &str = "content";
/// The usual content object, without its parts.
const USUAL: &str = r#"{"role":"model"}"#;
/// In the shape: empty parts, with their indices.
pub(super) const EMPTY: &str = "empty";

/// Decodes a whole answer. An array is the body of a stream that was not requested.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids, limits: &Limits) -> Result<Response, Error> {
    match body.trim_ascii_start().first() {
        Some(b'[') => pieces(body, ids, limits),
        _ => whole(read_answer(body)?, ids, limits),
    }
}

fn pieces(body: &[u8], ids: &mut Ids, limits: &Limits) -> Result<Response, Error> {
    let ids = ids.branch();
    let reader = Box::new(Decoder::new(ids.clone(), limits));
    let mut decoder = StreamDecoder::of(DIALECT, reader, ids, limits);
    let mut events = Vec::new();
    decoder.feed(body, &mut events);
    decoder.end(&mut events);
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

fn whole(mut answer: Answer<'_>, ids: &mut Ids, limits: &Limits) -> Result<Response, Error> {
    if let Some(fault) = answer.error {
        return Err(error::decode_error(None, &[], &format!(r#"{{"error":{}}}"#, fault.text())));
    }
    let mut response = Response {
        model: answer.model.map(Text::into_string).unwrap_or_default(),
        id: answer.id.map(Text::into_string),
        ..Response::default()
    };
    if let Some(counts) = answer.usage {
        response.usage = usage::decode(&counts);
        if response.usage.is_none() {
            answer.rest.push((usage_name(&answer.names), Raw::of(&counts).0));
        }
    }
    if let Some(total) = response.usage.as_ref().and_then(usage::odd_total) {
        let why = format!("the provider's own total is {total}, which is not the sum of its counts; the sum is used");
        response.warnings.push(Loss::info(LossCode::Inconsistent, "usage", "usage.total_tokens", why));
    }
    let mut names = answer.names;
    let kept = keep(answer.rest);
    let is_blocked = is_blocked(&kept);
    response.provider_data.extend_part(DIALECT, DataPart::Answer, kept);
    let had_candidates = answer.candidates.is_some();
    let mut candidates: Vec<Candidate<'_>> = answer.candidates.into_iter().flatten().collect();
    // The one with index 0, or else the first.
    let place = candidates.iter().position(Candidate::is_first).unwrap_or_default();
    if place < candidates.len() {
        let mut candidate = candidates.remove(place);
        names.append(&mut candidate.names);
        read_candidate(candidate, &mut response, ids, limits)?;
    } else if is_blocked {
        response.finish_reason = FinishReason::ContentFilter;
    } else {
        return Err(Error::protocol("the answer is empty: it has no candidate and no reason for that"));
    }
    if !candidates.is_empty() || (is_blocked && had_candidates) {
        let further = Json::of(&candidates).unwrap_or_default();
        response.provider_data.set_part(DIALECT, DataPart::Answer, CANDIDATES, further);
    }
    keep_names(names, &mut response.provider_data);
    Ok(response)
}

/// Returns the name under which counts are written.
pub(in super::super) fn usage_name<'a>(names: &[Cow<'_, str>]) -> Cow<'a, str> {
    let snake = names.iter().any(|name| name == "usage_metadata");
    Cow::Borrowed(if snake { "usage_metadata" } else { "usageMetadata" })
}

/// Keeps the unusual names of fields, in an order that does not depend on that of the fields.
pub(in super::super) fn keep_names(mut names: Names<'_>, data: &mut ProviderData) {
    if !names.is_empty() {
        names.sort_unstable();
        data.set_part(DIALECT, DataPart::Shape, NAMES, Json::of(&names).unwrap_or_default());
    }
}

/// Whether the prompt itself was refused.
pub(in super::super) fn is_blocked(kept: &Fields) -> bool {
    let feedback = ["promptFeedback", "prompt_feedback"].iter().find_map(|name| kept.get(name)?.to::<Fields>().ok());
    let reason = |feedback: &Fields, name| feedback.get(name).is_some_and(|reason| !reason.is_null());
    feedback.is_some_and(|feedback| ["blockReason", "block_reason"].iter().any(|name| reason(&feedback, name)))
}

fn read_candidate(
    mut candidate: Candidate<'_>,
    response: &mut Response,
    ids: &mut Ids,
    limits: &Limits,
) -> Result<(), Error> {
    let mut shape = Fields::default();
    match candidate.content.take() {
        Some(mut content) => {
            let parts = content.parts.take_if(|parts| !parts.is_empty());
            let written = Raw::of(&content);
            if written.text() != USUAL {
                shape.push(CONTENT, written.into_json());
            }
            let parts: Vec<Part<'_>> = parts.into_iter().flatten().collect();
            limits.check_blocks(parts.len(), ErrorKind::Protocol)?;
            let empty = read_parts(parts, response, ids);
            if !empty.is_empty() {
                shape.push(EMPTY, Json::of(&empty).unwrap_or_default());
            }
        }
        None => shape.push(CONTENT, Json::null()),
    }
    let word = candidate.finish.take();
    let calls = response.tool_calls().count();
    response.finish_reason = finish(word.as_ref().map(|word| word.as_str()), calls);
    let data = &mut response.provider_data;
    data.set_part(DIALECT, DataPart::Answer, FINISH, word.map_or_else(Json::null, |word| word.as_str().into()));
    data.extend_part(DIALECT, DataPart::Shape, shape);
    let index = candidate.index.map(|index| ("index".to_owned(), index.to_json()));
    keep_candidate(data, index.into_iter().chain(keep(candidate.rest)).collect());
    Ok(())
}

/// Reads the blocks of an answer, and returns its empty parts with their indices. Adjacent text parts are one block as
/// long as they are plain: a signature or any other sibling belongs only to its part.
fn read_parts(parts: Vec<Part<'_>>, response: &mut Response, ids: &mut Ids) -> Vec<serde_json::Value> {
    let (mut blocks, mut empty) = (Vec::<Block>::with_capacity(parts.len()), Vec::new());
    // The lengths of the plain texts that form the last block.
    let mut lengths = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        let block = content::decode(part);
        let Some(text) = plain_text(&block) else {
            close(&mut blocks, &mut lengths);
            blocks.push(content::named(block, ids));
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
                last.text.push_str(&more.text);
            }
            (_, block) => {
                close(&mut blocks, &mut lengths);
                blocks.push(block);
            }
        }
        lengths.push(length);
    }
    close(&mut blocks, &mut lengths);
    response.content = blocks;
    empty
}

/// Notes where the parts of the last block were joined.
fn close(blocks: &mut [Block], lengths: &mut Vec<usize>) {
    if lengths.len() > 1
        && let Some(last) = blocks.last_mut()
    {
        content::note_split(last, lengths);
    }
    lengths.clear();
}

/// Returns the text of a part that is only text.
fn plain_text(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) if text.provider_data.is_empty() => Some(&text.text),
        Block::Thinking(thinking) if thinking.provider_data.is_empty() => Some(&thinking.text),
        _ => None,
    }
}

/// Determines why the answer ended. The wire has no finish reason for tool use: the calls show it.
pub(in super::super) fn finish(word: Option<&str>, calls: usize) -> FinishReason {
    match word {
        Some("STOP") if calls > 0 => FinishReason::ToolUse,
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
            | "MODEL_ARMOR"
            | "ESCALATION",
        ) => FinishReason::ContentFilter,
        Some(
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE"
            | "PUP_LIMITED_DISABLED"
            | "LANGUAGE"
            | "NO_IMAGE",
        ) => FinishReason::Error,
        // `OTHER`, `IMAGE_OTHER`, `FINISH_REASON_UNSPECIFIED`, and unknown reasons.
        Some(_) | None => FinishReason::Unknown,
    }
}

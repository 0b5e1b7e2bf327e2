//! Converts a [`Response`] to a wire answer.

use std::borrow::Cow;

use serde::Deserialize;

use super::super::error::encode_error;
use super::super::leftovers::NAMES;
use super::super::state::{Waiting, signature};
use super::super::wire::{Answer, Candidate, Content, OneOrMany, Part};
use super::super::{DIALECT, content, usage};
use super::decode::{CONTENT, EMPTY, FINISH, finish, is_blocked};
use super::{CANDIDATES, kept_fields};
use crate::dialect::losses::{block_loss, lost_in_failure, note_answer, note_block, note_usage};
use crate::dialect::seal::Answerer;
use crate::fit::Spelling;
use crate::json::wire::{Names, Raw, Text, write};
use crate::wire::{Reply, WireResponse};
use crate::{
    Block, BlockKind, Error, ErrorKind, FinishReason, Loss, LossCode, Part as DataPart, ProviderData, Response, Usage,
};

/// Encodes a whole answer.
///
/// A call whose arguments are cut off is left out, as Google does: a client would run it. If an answer that waits for
/// results has no calls left, its finish reason is the one for a broken call.
pub(crate) fn encode_response(response: &Response, reply: &Reply) -> WireResponse {
    let kept = response.provider_data.part(DIALECT, DataPart::Answer);
    let calls = response.tool_calls().filter(|call| call.is_complete()).count();
    let word = finish_word(&response.provider_data, response.finish_reason, calls);
    if response.error.is_some() || (response.finish_reason == FinishReason::Error && word.is_none()) {
        let body = encode_error(&failure(response.error.as_deref())).body;
        return WireResponse { body, losses: lost_in_failure(response) };
    }
    let mut losses = Vec::new();
    let answerer = Answerer::new(reply, Some(&response.model));
    let mut parts = Parts { answerer: &answerer, losses: &mut losses };
    let blocked = response.content.is_empty() && is_blocked(kept) && kept.get(FINISH).is_none();
    let mut candidates = Vec::new();
    let (mut rest, mut candidate) = kept_fields(&response.provider_data);
    let names = response.provider_data.part(DIALECT, DataPart::Shape).get(NAMES);
    let names: Names<'_> = names.and_then(|names| names.to().ok()).unwrap_or_default();
    if !blocked {
        candidate.finish = word.map(Text);
        candidate.names.clone_from(&names);
        candidate.content = content(response, &mut parts);
        if kept.is_empty() {
            candidate.index = Some(Raw::of(&0));
        }
        candidates.push(candidate);
        let further: Option<Vec<Candidate<'_>>> = kept.get(CANDIDATES).and_then(|further| further.to().ok());
        candidates.extend(further.unwrap_or_default());
    }
    let fresh = || kept.is_empty().then(|| Cow::Owned(reply.ids.clone().next_id()));
    if blocked && let Some(candidates) = kept.get(CANDIDATES) {
        rest.push((Cow::Borrowed(CANDIDATES), Cow::Borrowed(candidates.raw())));
    }
    let answer = Answer {
        candidates: (!candidates.is_empty()).then_some(OneOrMany::Many(candidates)),
        usage: response.usage.as_ref().map(|usage| usage::encode(usage, &Usage::default())),
        model: answerer.model.as_deref().map(Text::from),
        id: response.id.as_deref().map(Cow::Borrowed).or_else(fresh).map(Text),
        error: None,
        names,
        rest,
    };
    note_answer(&response.provider_data, DIALECT, &mut losses);
    note_usage(response.usage.as_ref(), DIALECT, &mut losses);
    WireResponse { body: write(&answer), losses }
}

/// Returns the error that broke the answer.
pub(in super::super) fn failure(error: Option<&Error>) -> Error {
    error.cloned().unwrap_or_else(|| Error::new(ErrorKind::Server, "the model's answer broke off"))
}

/// Returns the finish reason: the provider's own while it still fits. `None` if the wire had none, and for a failure,
/// which has none.
pub(in super::super) fn finish_word(data: &ProviderData, reason: FinishReason, calls: usize) -> Option<Cow<'_, str>> {
    if let Some(own) = data.part(DIALECT, DataPart::Answer).get(FINISH) {
        match own.as_str() {
            Some(word) if finish(Some(&word), calls) == reason => return Some(word),
            None if reason == FinishReason::Unknown => return None,
            _ => {}
        }
    }
    let word = match reason {
        // Calls that cannot be written here, such as one that is cut off: a normal end would hide that one is missing.
        FinishReason::ToolUse if calls == 0 => "MALFORMED_FUNCTION_CALL",
        FinishReason::Stop | FinishReason::ToolUse => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::ContentFilter => "SAFETY",
        FinishReason::Unknown => "OTHER",
        FinishReason::Error => return None,
    };
    Some(Cow::Borrowed(word))
}

/// An empty part.
#[derive(Deserialize)]
struct Empty {
    at: usize,
    thought: bool,
}

fn content<'a>(response: &'a Response, writer: &mut Parts<'_>) -> Option<Content<'a>> {
    let shape = response.provider_data.part(DIALECT, DataPart::Shape);
    let (mut parts, mut waiting) = (Vec::with_capacity(response.content.len()), Waiting::default());
    for (index, block) in response.content.iter().enumerate() {
        writer.add(index, block, &mut waiting, |part| parts.push(part));
    }
    parts.extend(waiting.alone());
    let empty: Vec<Empty> = shape.get(EMPTY).and_then(|empty| empty.to().ok()).unwrap_or_default();
    if !empty.is_empty() {
        parts = with_empty(parts, empty);
    }
    let mut content = match shape.get(CONTENT) {
        Some(content) if content.is_null() && parts.is_empty() => return None,
        Some(content) if content.is_object() => content.to().unwrap_or_default(),
        _ => Content { role: Some("model".into()), ..Content::default() },
    };
    if !parts.is_empty() {
        content.parts = Some(OneOrMany::Many(parts));
    }
    Some(content)
}

/// Puts empty parts back at their indices, which are in ascending order.
fn with_empty<'a>(parts: Vec<Part<'a>>, empty: Vec<Empty>) -> Vec<Part<'a>> {
    let mut all = Vec::with_capacity(parts.len() + empty.len());
    let mut parts = parts.into_iter();
    for Empty { at, thought } in empty {
        all.extend(parts.by_ref().take(at.saturating_sub(all.len())));
        if all.len() == at {
            all.push(content::text("", if thought { BlockKind::Thinking } else { BlockKind::Text }));
        }
    }
    all.extend(parts);
    all
}

/// Writes blocks as parts for a client, with a loss for each that has no part.
pub(in super::super) struct Parts<'a> {
    pub(in super::super) answerer: &'a Answerer,
    pub(in super::super) losses: &'a mut Vec<Loss>,
}

impl Parts<'_> {
    /// Writes a block as parts, with the state that waits for one.
    pub(in super::super) fn add<'b>(
        &mut self,
        index: usize,
        block: &'b Block,
        waiting: &mut Waiting,
        mut write: impl FnMut(Part<'b>),
    ) {
        let next = Waiting::of(block, self.answerer);
        if !next.is_empty() {
            if let Some(data) = block.provider_data() {
                note_block(data, DIALECT, index, self.losses);
            }
            waiting.alone().into_iter().for_each(&mut write);
            *waiting = next;
            return;
        }
        for mut part in self.of(index, block) {
            waiting.put_on(&mut part).into_iter().for_each(&mut write);
            write(part);
        }
    }

    /// Writes a block as parts.
    fn of<'b>(&mut self, index: usize, block: &'b Block) -> Vec<Part<'b>> {
        let mut parts = match block {
            Block::Text(text) => content::texts(&text.text, BlockKind::Text, &text.provider_data),
            Block::Thinking(thinking) => content::texts(&thinking.text, BlockKind::Thinking, &thinking.provider_data),
            Block::Image(_) | Block::Audio(_) | Block::Document(_) => {
                let part = content::media(block, Spelling::AsItCame);
                part.map_err(|why| self.lost(LossCode::Media, block, index, why)).into_iter().collect()
            }
            Block::ToolCall(call) if call.is_complete() => {
                vec![content::call(call, call.arguments.as_raw(), content::wire_id(call))]
            }
            Block::ToolCall(call) => {
                let (name, id) = (&call.name, &call.id);
                let why = format!(
                    "the arguments of the call {id} of {name} are cut off, and a client would run it without them; left out"
                );
                self.lost(LossCode::NotInDialect, block, index, &why);
                Vec::new()
            }
            Block::ToolResult(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {
                let why = "answers of this API cannot contain tool results; left out";
                self.lost(LossCode::NotInDialect, block, index, why);
                return Vec::new();
            }
            Block::Other(other) if other.dialect == DIALECT => return content::whole(other).into_iter().collect(),
            Block::Other(other) => {
                self.losses.push(block_loss(other, format!("content[{index}]")));
                return Vec::new();
            }
        };
        let Some(data) = block.provider_data() else { return parts };
        note_block(data, DIALECT, index, self.losses);
        if let Some(last) = parts.last_mut() {
            last.signature = signature(data, block.kind(), 0, self.answerer).map(Text::from);
            content::dress(last, data, Spelling::AsItCame);
        }
        parts
    }

    fn lost(&mut self, code: LossCode, block: &Block, index: usize, why: &str) {
        self.losses.push(Loss::new(code, block.kind().as_str(), format!("content[{index}]"), why));
    }
}

//! Another dialect's state, carried through a client of this one.
//!
//! It travels in `reasoning_details`, in the form that relays use for encrypted reasoning and that clients send back
//! unchanged. Each item contains the block it belongs to: its kind, its index, and the length of its text. A signature
//! is worthless once its text has changed, so it is restored only if the text still has that length.

use std::collections::HashMap;

use serde::Serialize;

use super::wire::{Detail, Message};
use super::{DIALECT, notes};
use crate::dialect::seal::{Answerer, Sealed};
use crate::json::loose::read_raw;
use crate::json::wire::Raw;
use crate::order::by_number;
use crate::{Block, BlockKind, Json, ProviderData, Text, ThinkingBlock};

const FORMAT: &str = "ikigai-v1";
/// The notes in a sealed record: the kind of its block, and the length of its text.
const OF: &str = "of";
const LENGTH: &str = "length";

/// An item of `reasoning_details` that contains sealed state.
#[derive(Debug, Serialize)]
pub(super) struct SealedItem {
    r#type: &'static str,
    data: String,
    id: String,
    format: &'static str,
    index: usize,
}

/// The block that state belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner<'a> {
    /// With the length of its text.
    Thinking(usize),
    Text(usize),
    /// With its id.
    Call(&'a str),
}

/// Makes the item for a block's foreign state. Returns `None` if the block has no such state.
pub(super) fn seal(index: usize, block: &Block, answerer: &Answerer) -> Option<SealedItem> {
    let owner = match block {
        Block::Thinking(thinking) => Owner::Thinking(thinking.text.len()),
        Block::Text(text) => Owner::Text(text.text.len()),
        Block::ToolCall(call) => Owner::Call(&call.id),
        Block::Image(_)
        | Block::Document(_)
        | Block::Audio(_)
        | Block::ToolResult(_)
        | Block::ProviderCall(_)
        | Block::ProviderResult(_)
        | Block::Other(_) => return None,
    };
    seal_parts(index, owner, block.provider_data()?, answerer)
}

/// Does the same for a block that is known only by its parts, as in a stream.
pub(super) fn seal_parts(
    index: usize,
    owner: Owner<'_>,
    data: &ProviderData,
    answerer: &Answerer,
) -> Option<SealedItem> {
    let (kind, of, id, length) = match owner {
        Owner::Thinking(length) => (BlockKind::Thinking, "thinking", format!("thinking_{index}"), length),
        Owner::Text(length) => (BlockKind::Text, "text", format!("text_{index}"), length),
        Owner::Call(id) => (BlockKind::ToolCall, "call", id.to_owned(), 0),
    };
    let mut sealed = Sealed::of(data, kind, DIALECT, answerer)?;
    sealed.note.set(OF, of);
    sealed.note.set(LENGTH, Json::of(&length).unwrap_or_default());
    Some(SealedItem { r#type: "reasoning.encrypted", data: sealed.to_text(), id, format: FORMAT, index })
}

/// A sealed item that was sent back.
#[derive(Debug)]
pub(super) struct Opened {
    index: usize,
    id: String,
    of: String,
    length: usize,
    record: Sealed,
}

/// Takes our own items out of a message's `reasoning_details`; foreign ones stay.
pub(super) fn take_sealed(message: &mut Message<'_>) -> Vec<Opened> {
    let mut items = Vec::new();
    message.details.retain(|detail| match open(detail) {
        Some(item) => {
            items.push(item);
            false
        }
        None => true,
    });
    by_number(&mut items, |item: &Opened| item.index);
    items
}

fn open(detail: &Raw<'_>) -> Option<Opened> {
    let detail: Detail<'_> = read_raw(&detail.0)?;
    let record = Sealed::from_text(detail.data?.as_str())?;
    Some(Opened {
        index: detail.index.and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX),
        id: detail.id.map(|id| id.into_string()).unwrap_or_default(),
        of: record.note.str(OF)?.into_owned(),
        length: record.note.get(LENGTH)?.to().ok()?,
        record,
    })
}

/// Restores the state to its blocks, and returns who issued it: provider and model.
pub(super) fn unseal(content: &mut Vec<Block>, items: Vec<Opened>) -> (Option<String>, Option<String>) {
    let issuer = items.iter().find_map(|item| item.record.provider.clone());
    let model = items.iter().find_map(|item| item.record.model.clone());
    let (mut thinking, mut texts, mut placed) = (Vec::new(), Vec::new(), Vec::new());
    let mut calls: HashMap<String, ProviderData> = HashMap::new();
    for item in items {
        match item.of.as_str() {
            "thinking" => thinking.push(item),
            "call" => calls.entry(item.id).or_default().merge(item.record.data),
            // Its text was empty, so the client has no trace of the block.
            "text" if item.length == 0 => {
                let block = Text { provider_data: item.record.data, ..Text::default() };
                placed.push((item.index, Block::Text(block)));
            }
            "text" => texts.push(item),
            _ => {}
        }
    }
    placed.extend(restore_thinking(content, thinking));
    for block in content.iter_mut() {
        if let Block::ToolCall(call) = block
            && let Some(data) = calls.remove(&call.id)
        {
            call.provider_data.merge(data);
        }
    }
    let mut spoken = content.iter_mut().filter(|block| block.as_text().is_some());
    if let (Some(Block::Text(text)), None) = (spoken.next(), spoken.next()) {
        let length = text.text.len();
        for item in texts.into_iter().filter(|item| item.length == length) {
            text.provider_data.merge(item.record.data);
        }
    }
    by_number(&mut placed, |(index, _)| *index);
    notes::put_in_places(content, placed);
    (issuer, model)
}

/// Cuts the thinking blocks, with their indices, out of the single text that the client has.
fn restore_thinking(content: &mut Vec<Block>, items: Vec<Opened>) -> Vec<(usize, Block)> {
    if items.is_empty() {
        return Vec::new();
    }
    let texts = content.iter().filter_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking.text.as_str()),
        _ => None,
    });
    let whole: String = texts.collect();
    let mut rest = whole.as_str();
    let mut blocks = Vec::new();
    for item in items {
        let Some((text, tail)) = rest.split_at_checked(item.length) else { return Vec::new() };
        rest = tail;
        let block = ThinkingBlock { text: text.to_owned(), provider_data: item.record.data };
        blocks.push((item.index, Block::Thinking(block)));
    }
    // Either all text is accounted for, or the state belongs to no text at all.
    let silent = rest.len() == whole.len();
    if !rest.is_empty() && !silent {
        return Vec::new();
    }
    if !silent || whole.is_empty() {
        content.retain(|block| !matches!(block, Block::Thinking(_)));
    }
    blocks
}

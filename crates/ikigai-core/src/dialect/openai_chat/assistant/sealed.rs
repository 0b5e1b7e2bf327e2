//! State of another dialect, carried through a client of this one.
//!
//! It rides in `reasoning_details`, in the form that relays use for encrypted reasoning and that clients send back
//! whole. Each item says inside which block it belongs to: its kind, its place, and how long its text was. A signature
//! over a text that came back changed is worth nothing, so it is restored only where the text still has that length.

use serde_json::{Map, Value, json};

use super::super::marks::DIALECT;
use crate::dialect::Reply;
use crate::dialect::seal::Sealed;
use crate::{Block, Dialect, ProviderData, Text, ThinkingBlock};

const FORMAT: &str = "ikigai-v1";
/// Notes to ourselves inside the sealed record.
const OF: &str = "of";
const LENGTH: &str = "length";

/// The item for one block's state of other dialects; none when it has no such state.
pub(in super::super) fn seal(index: usize, block: &Block, reply: &Reply, model: &str) -> Option<Value> {
    let (of, id, length) = match block {
        Block::Thinking(thinking) => ("thinking", format!("thinking_{index}"), thinking.text.len()),
        Block::Text(text) => ("text", format!("text_{index}"), text.text.len()),
        Block::ToolCall(call) => ("call", call.id.clone(), 0),
        Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) | Block::Other(_) => return None,
    };
    seal_parts(index, of, &id, length, block.provider_data()?, reply, model)
}

/// The same for a block that is known only by its parts, as in a stream.
pub(in super::super) fn seal_parts(
    index: usize,
    of: &str,
    id: &str,
    length: usize,
    state: &ProviderData,
    reply: &Reply,
    model: &str,
) -> Option<Value> {
    let mut data = ProviderData::default();
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != DIALECT) {
        if let Some(own) = state.get(dialect) {
            data.extend(dialect, own.clone());
        }
    }
    if data.is_empty() {
        return None;
    }
    data.set(DIALECT, OF, of);
    data.set(DIALECT, LENGTH, length);
    let model = (!model.is_empty()).then(|| model.to_owned());
    let sealed = Sealed { provider: reply.provider.clone(), model, data };
    Some(json!({
        "type": "reasoning.encrypted",
        "data": sealed.to_text(),
        "id": id,
        "format": FORMAT,
        "index": index,
    }))
}

/// A sealed item that came back.
#[derive(Debug)]
pub(in super::super) struct Item {
    index: usize,
    id: String,
    of: String,
    length: usize,
    record: Sealed,
}

/// Takes our own items out of a message's `reasoning_details`; foreign ones stay.
pub(in super::super) fn take_sealed(fields: &mut Map<String, Value>) -> Vec<Item> {
    let Some(Value::Array(details)) = fields.get_mut("reasoning_details") else { return Vec::new() };
    let mut items = Vec::new();
    details.retain(|detail| match open(detail) {
        Some(item) => {
            items.push(item);
            false
        }
        None => true,
    });
    if details.is_empty() && !items.is_empty() {
        fields.shift_remove("reasoning_details");
    }
    items.sort_by_key(|item| item.index);
    items
}

fn open(detail: &Value) -> Option<Item> {
    let mut record = Sealed::from_text(detail.get("data")?.as_str()?)?;
    let of = record.data.remove(DIALECT, OF)?.as_str()?.to_owned();
    let length = usize::try_from(record.data.remove(DIALECT, LENGTH)?.as_u64()?).ok()?;
    Some(Item {
        index: detail
            .get("index")
            .and_then(Value::as_u64)
            .and_then(|at| usize::try_from(at).ok())
            .unwrap_or(usize::MAX),
        id: detail.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
        of,
        length,
        record,
    })
}

/// Gives the state back to the blocks that it belongs to, and says who issued it.
pub(in super::super) fn unseal(content: &mut Vec<Block>, items: Vec<Item>) -> (Option<String>, Option<String>) {
    let issuer = items.iter().find_map(|item| item.record.provider.clone());
    let model = items.iter().find_map(|item| item.record.model.clone());
    let (thinking, rest): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|item| item.of == "thinking");
    let mut placed = restore_thinking(content, thinking);
    for item in rest {
        match item.of.as_str() {
            "call" => {
                let call = content.iter_mut().find(|block| block.as_tool_call().is_some_and(|call| call.id == item.id));
                if let Some(data) = call.and_then(Block::provider_data_mut) {
                    data.merge(item.record.data);
                }
            }
            // Nothing was said in it; the client has no trace of it.
            "text" if item.length == 0 => {
                let block = Text { provider_data: item.record.data, ..Text::default() };
                placed.push((item.index, Block::Text(block)));
            }
            "text" => {
                let mut texts = content.iter_mut().filter(|block| block.as_text().is_some());
                if let (Some(Block::Text(text)), None) = (texts.next(), texts.next())
                    && text.text.len() == item.length
                {
                    text.provider_data.merge(item.record.data);
                }
            }
            _ => {}
        }
    }
    placed.sort_by_key(|(index, _)| *index);
    for (index, block) in placed {
        content.insert(index.min(content.len()), block);
    }
    (issuer, model)
}

/// The thinking blocks with their places, cut out of the one text that the client knows.
fn restore_thinking(content: &mut Vec<Block>, items: Vec<Item>) -> Vec<(usize, Block)> {
    if items.is_empty() {
        return Vec::new();
    }
    let whole: String = content
        .iter()
        .filter_map(|block| match block {
            Block::Thinking(thinking) => Some(thinking.text.as_str()),
            _ => None,
        })
        .collect();
    let mut rest = whole.as_str();
    let mut blocks = Vec::new();
    for item in items {
        let Some((text, tail)) = rest.split_at_checked(item.length) else { return Vec::new() };
        rest = tail;
        let block = ThinkingBlock { text: text.to_owned(), provider_data: item.record.data };
        blocks.push((item.index, Block::Thinking(block)));
    }
    // Either every text is accounted for, or the state spoke of no text at all.
    let silent = rest.len() == whole.len();
    if !rest.is_empty() && !silent {
        return Vec::new();
    }
    if !silent || whole.is_empty() {
        content.retain(|block| !matches!(block, Block::Thinking(_)));
    }
    blocks
}

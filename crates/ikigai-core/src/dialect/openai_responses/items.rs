//! The items of the model's side, both ways: reasoning, function calls, and [messages](super::message). They look the same
//! in a request's history, in an answer and in a stream.

use std::borrow::Cow;

use super::content::{Keep, bare_text, other};
use super::wire::{self, Content, Entry, Item, Many, Parts, find, word};
use super::{DIALECT, hosted, message};
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::{Text as Words, read_str};
use crate::{Arguments, Block, Fields, Json, Part, ProviderData, ThinkingBlock, ToolCall};

/// Reads one item. An unknown or malformed one is kept whole.
///
/// `lists` is the part of a text's data that its citations and probabilities go to.
pub(super) fn decode(item: Entry<'_, Item<'_>>, lists: Part) -> Vec<Block> {
    let Entry::Fits(item) = item else { return vec![Block::Other(other(&item))] };
    match word(&item.kind) {
        "reasoning" if is_texts(&item.summary) && is_texts(&item.content) => vec![Block::Thinking(thinking(item))],
        "function_call" if is_call(&item) => vec![Block::ToolCall(call(item))],
        _ if message::is_message(&item) => message::decode(item, lists),
        kind => {
            let may_be_hosted = kind.ends_with("_call");
            let whole = other(&item);
            match may_be_hosted.then(|| hosted::raise(&whole.data)).flatten() {
                Some(pair) => pair.into(),
                None => vec![Block::Other(whole)],
            }
        }
    }
}

/// Takes out an item's id and status, which only its server can use.
pub(super) fn head(item: &mut Item<'_>) -> Fields {
    let mut head = Fields::default();
    for (name, value) in [("id", item.id.take()), ("status", item.status.take())] {
        if let Some(value) = value {
            head.push(name, value.as_str());
        }
    }
    head
}

/// Whether these are absent, or a list of parts that all have text.
fn is_texts(parts: &Content<'_>) -> bool {
    match parts {
        Many::Absent => true,
        Many::Text(_) => false,
        Many::List(list) => parts.objects().filter(|part| part.text.is_some()).count() == list.len(),
    }
}

/// Returns the joined text of parts, without separators: each part of a summary begins with its own heading.
pub(super) fn text_of(parts: &Content<'_>) -> String {
    parts.objects().map(|part| word(&part.text)).collect()
}

/// Reads reasoning. It shows the reasoning itself if the provider sends it, otherwise its summary.
fn thinking(mut item: Item<'_>) -> ThinkingBlock {
    let mut data = ProviderData::default();
    item.kind = None;
    for (part, name, value) in [
        (Part::State, "id", item.id.take()),
        (Part::State, "encrypted_content", item.encrypted_content.take()),
        (Part::Shape, "status", item.status.take()),
    ] {
        if let Some(value) = value {
            data.set_part(DIALECT, part, name, value.as_str());
        }
    }
    let (summary, raw) = (text_of(&item.summary), text_of(&item.content));
    match std::mem::take(&mut item.summary) {
        Many::List(parts) => {
            let parts = Json::of(&parts).unwrap_or_default();
            if !raw.is_empty() && !summary.is_empty() {
                // What the visible text does not contain.
                data.set_part(DIALECT, Part::Extra, "summary", parts);
            } else if parts != Json::of(&plain_summary(&summary)).unwrap_or_default() {
                data.set_part(DIALECT, Part::Shape, "summary", parts);
            }
        }
        Many::Text(_) | Many::Absent if find(&item.rest, "summary").is_some() => {}
        Many::Text(_) | Many::Absent => data.set_part(DIALECT, Part::Shape, "summary", Json::null()),
    }
    if !raw.is_empty() {
        let parts = std::mem::take(&mut item.content);
        data.set_part(DIALECT, Part::Shape, "content", Json::of(&parts).unwrap_or_default());
    }
    data.extend_part(DIALECT, Part::Extra, item.leftovers());
    ThinkingBlock { text: if raw.is_empty() { summary } else { raw }, provider_data: data }
}

/// Shows the summary in place of the reasoning itself, if a stream began with it and has sent `said` so far.
pub(super) fn show_said(block: &mut ThinkingBlock, said: &str) {
    let data = &mut block.provider_data;
    let Some(parts) = data.part(DIALECT, Part::Extra).get("summary").cloned() else { return };
    let text = read_raw(parts.raw()).map(|parts: Content<'_>| text_of(&parts)).unwrap_or_default();
    if block.text.starts_with(said) || !text.starts_with(said) {
        return;
    }
    data.remove_part(DIALECT, Part::Extra, "summary");
    if let Some(content) = data.remove_part(DIALECT, Part::Shape, "content") {
        data.set_part(DIALECT, Part::Extra, "content", content);
    }
    if parts != Json::of(&plain_summary(&text)).unwrap_or_default() {
        data.set_part(DIALECT, Part::Shape, "summary", parts);
    }
    block.text = text;
}

/// Returns the summary that a text is written as.
fn plain_summary(text: &str) -> Content<'_> {
    let part = || Entry::Fits(wire::Part::text("summary_text", text));
    Many::List(if text.is_empty() { Vec::new() } else { vec![part()] })
}

fn is_call(item: &Item<'_>) -> bool {
    let has_id = item.call_id.is_some() || (find(&item.rest, "call_id").is_none() && item.id.is_some());
    let arguments = find(&item.rest, "arguments").map_or("null", |raw| raw.get());
    !word(&item.name).is_empty() && has_id && (arguments == "null" || arguments.starts_with('{'))
}

fn call(mut item: Item<'_>) -> ToolCall {
    let mut call = ToolCall::default();
    let mut shape = head(&mut item);
    // On servers that send no other id, the item's own id is used.
    call.id = match item.call_id.take() {
        Some(id) => id.into_string(),
        None => {
            shape.set("no_call_id", true);
            shape.str("id").unwrap_or_default().into_owned()
        }
    };
    call.name = item.name.take().unwrap_or_default().into_string();
    let object = item.rest.iter().position(|(name, raw)| name == "arguments" && raw.get() != "null");
    match (item.arguments.take(), object) {
        (Some(text), _) => call.arguments = Arguments::from_text(text.into_string()),
        (None, Some(object)) => {
            call.arguments = Json::copy(&item.rest.remove(object).1).into();
            shape.set("arguments", "object");
        }
        (None, None) => shape.set("arguments", "absent"),
    }
    item.kind = None;
    call.provider_data.extend_part(DIALECT, Part::Shape, shape);
    call.provider_data.extend_part(DIALECT, Part::Extra, item.leftovers());
    call
}

/// Returns the text alone if the parts contain nothing else.
pub(super) fn text_or_parts<'a>(mut parts: Parts<'a>, usual: &str) -> Content<'a> {
    if let [Entry::Fits(part)] = parts.as_mut_slice()
        && let Some(text) = bare_text(part, usual)
    {
        return Many::Text(text);
    }
    Many::List(parts)
}

/// Returns a string from a shape or a state.
pub(super) fn said<'a>(fields: &'a Fields, name: &str) -> Option<Words<'a>> {
    fields.str(name).map(Words)
}

/// Writes a function call.
pub(super) fn encode_call(call: &ToolCall, keep: Keep) -> Item<'_> {
    let shape = keep.shape(&call.provider_data);
    let mut item = Item {
        kind: Some("function_call".into()),
        id: said(shape, "id"),
        status: said(shape, "status"),
        name: Some(call.name.as_str().into()),
        rest: keep.extra(&call.provider_data),
        ..Item::default()
    };
    if !(shape.flag("no_call_id") && word(&item.id) == call.id) {
        item.call_id = Some(call.id.as_str().into());
    }
    let object = || Some(Cow::Borrowed(read_str(call.arguments.as_object_text().unwrap_or("{}")).ok()?));
    match shape.str("arguments").as_deref() {
        Some("object") if call.is_complete() => item.rest.extend(object().map(|raw| ("arguments".into(), raw))),
        Some("absent") if call.arguments.text() == "{}" => {}
        _ => item.arguments = Some(call.arguments.text().into()),
    }
    item
}

/// Writes a reasoning item with the state that this dialect left on the block.
pub(super) fn encode_reasoning(block: &ThinkingBlock, keep: Keep) -> Item<'_> {
    let data = &block.provider_data;
    let (state, shape) = (data.part(DIALECT, Part::State), data.part(DIALECT, Part::Shape));
    // The block shows either the reasoning itself or its summary. Parts that no longer match the block are not written
    // back.
    let says = |name: &str| {
        let parts: Option<Content<'_>> = read_raw(shape.get(name)?.raw());
        parts.filter(|parts| text_of(parts) == block.text)
    };
    let content = says("content");
    let mut item = Item {
        kind: Some("reasoning".into()),
        id: said(state, "id"),
        encrypted_content: said(state, "encrypted_content"),
        rest: keep.extra(data),
        ..Item::default()
    };
    if keep == Keep::Everything {
        item.status = said(shape, "status");
    } else {
        item.rest.retain(|(_, value)| value.get() != "null");
    }
    let unsaid = shape.get("summary").is_some_and(Json::is_null) && (block.text.is_empty() || content.is_some());
    if find(&item.rest, "summary").is_none() && !(unsaid && keep == Keep::Everything) {
        item.summary = match says("summary") {
            Some(parts) => parts,
            None if content.is_some() => Many::List(Vec::new()),
            None => plain_summary(&block.text),
        };
    }
    item.content = content.unwrap_or_default();
    item
}

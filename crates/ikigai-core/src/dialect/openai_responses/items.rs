//! The items of the model's side, both ways: messages, reasoning, function calls. They look the same in a request's
//! history, in an answer and in a stream.

use super::DIALECT;
use super::content::{self, Keep, OUTPUT, is_bare_text, leftovers, other};
use super::wire::{self, Any, Content, Item, Loose, Object, has_text, is, take_text};
use crate::json::wire::Rest;
use crate::{Arguments, Block, Fields, Json, Part, ProviderData, Text, ThinkingBlock, ToolCall};

/// Which fields of a text are those of its item.
const OF_ITEM: &str = "of_item";

/// Reads one item. One that we do not know, or that is not made as it should be, is kept whole.
///
/// `lists` is the part of a text's data that its citations and probabilities go to.
pub(super) fn decode(item: Object<'_, Item<'_>>, lists: Part) -> Vec<Block> {
    let Any::Object(item) = item else { return vec![Block::Other(other(&item))] };
    if is_message(&item) {
        message(item, lists)
    } else if is(&item.kind, "reasoning") && is_texts(&item.summary) && is_texts(&item.content) {
        vec![Block::Thinking(thinking(item))]
    } else if is(&item.kind, "function_call") && is_call(&item) {
        vec![Block::ToolCall(call(item))]
    } else {
        vec![Block::Other(other(&item))]
    }
}

/// A message of the model. One of a stated type may leave out its role.
fn is_message(item: &Item<'_>) -> bool {
    let typed = is(&item.kind, "message");
    let spoken = is(&item.role, "assistant") || (typed && item.role.is_none());
    let fits = match &item.content {
        Some(Any::Text(_)) => true,
        Some(Any::List(parts)) => !parts.is_empty() && parts.iter().all(is_text_part),
        Some(Any::Object(_) | Any::Other(_)) | None => false,
    };
    (typed || item.kind.is_none()) && spoken && fits
}

fn is_text_part(part: &Object<'_, wire::Part<'_>>) -> bool {
    part.as_object().is_some_and(|part| match part.kind.as_ref().and_then(Any::as_str) {
        Some("output_text" | "input_text" | "text") => has_text(&part.text),
        Some("refusal") => has_text(&part.refusal),
        _ => false,
    })
}

/// The first text of a message carries what the item has beside its parts.
fn message(mut item: Item<'_>, lists: Part) -> Vec<Block> {
    let mut first = ProviderData::default();
    let mut set = |name: &str, value: Json| first.set_part(DIALECT, Part::Shape, name, value);
    if item.kind.take().is_none() {
        set("easy", true.into());
    }
    if item.role.take().is_none() {
        set("role", "absent".into());
    }
    let content = item.content.take();
    if matches!(content, Some(Any::Text(_))) {
        set("string", true.into());
    }
    set("item", leftovers(&head(&mut item)).into());
    keep_item_fields(&mut first, leftovers(&item));
    let mut texts = match content {
        Some(Any::Text(text)) => vec![Text { text: text.into_string(), ..Text::default() }],
        Some(Any::List(parts)) => {
            let parts = parts.into_iter().filter_map(|part| match part {
                Any::Object(part) => Some(content::text(part, OUTPUT, lists)),
                Any::Text(_) | Any::List(_) | Any::Other(_) => None,
            });
            parts.collect()
        }
        Some(Any::Object(_) | Any::Other(_)) | None => Vec::new(),
    };
    if let Some(text) = texts.first_mut() {
        // In the order in which a stream brings it.
        first.merge(std::mem::take(&mut text.provider_data));
        text.provider_data = first;
    }
    texts.into_iter().map(Block::Text).collect()
}

/// Keeps the fields of a message item that the format does not know on its first text, beside those of the text's part.
pub(super) fn keep_item_fields(first: &mut ProviderData, fields: Fields) {
    if !fields.is_empty() {
        let names: Vec<&str> = fields.names().collect();
        first.set_part(DIALECT, Part::Shape, OF_ITEM, serde_json::json!(names));
        first.extend_part(DIALECT, Part::Extra, fields);
    }
}

/// Tells the fields of a message item from those of its first part, which stand on the same text. Nobody has seen a phase
/// of a part, so a caller need not say whose it is.
pub(super) fn is_of_item(data: &ProviderData) -> impl Fn(&str) -> bool {
    let names = data.part(DIALECT, Part::Shape).get(OF_ITEM).and_then(|names| names.to::<Vec<String>>().ok());
    let names = names.unwrap_or_default();
    move |name| name == "phase" || names.iter().any(|own| own == name)
}

/// Leaves what is the part's own of fields that stand on the same block.
pub(super) fn drop_item_fields(data: &ProviderData, rest: &mut Rest<'_>) {
    let of_item = is_of_item(data);
    rest.retain(|(name, _)| !of_item(name));
}

/// Takes out what names an item and how far it is, which nobody but its server can use.
pub(super) fn head<'a>(item: &mut Item<'a>) -> Item<'a> {
    Item { id: item.id.take(), status: item.status.take(), ..Item::default() }
}

/// Absent, or a list of parts that all have a text.
fn is_texts(parts: &Option<Content<'_>>) -> bool {
    let said = |part: &Object<'_, wire::Part<'_>>| part.as_object().is_some_and(|part| has_text(&part.text));
    match parts {
        None => true,
        Some(parts) => parts.as_list().is_some_and(|parts| parts.iter().all(said)),
    }
}

/// The texts of parts, joined by nothing: each part of a summary begins with its own heading.
pub(super) fn text_of(parts: &Option<Content<'_>>) -> String {
    let parts = parts.as_ref().and_then(Any::as_list).unwrap_or_default().iter().filter_map(Any::as_object);
    parts.filter_map(|part| part.text.as_ref()?.as_str()).collect()
}

/// Reasoning. What is shown is the reasoning itself where the provider gives it, else its summary.
fn thinking(mut item: Item<'_>) -> ThinkingBlock {
    let mut data = ProviderData::default();
    item.kind = None;
    for (name, value) in
        [("id", take_text(&mut item.id)), ("encrypted_content", take_text(&mut item.encrypted_content))]
    {
        if let Some(value) = value {
            data.set_part(DIALECT, Part::State, name, value);
        }
    }
    if let Some(status) = item.status.take() {
        data.set_part(DIALECT, Part::Shape, "status", Json::of(&status).unwrap_or_default());
    }
    let (summary, raw) = (text_of(&item.summary), text_of(&item.content));
    let shown = if raw.is_empty() { summary.clone() } else { raw.clone() };
    match item.summary.take() {
        None if item.rest.iter().any(|(name, _)| name == "summary") => {}
        None => data.set_part(DIALECT, Part::Shape, "summary", Json::null()),
        // What the shown text does not say.
        Some(parts) if !raw.is_empty() && !summary.is_empty() => {
            data.set_part(DIALECT, Part::Extra, "summary", Json::of(&parts).unwrap_or_default());
        }
        Some(parts) => {
            let parts = Json::of(&parts).unwrap_or_default();
            if parts != Json::of(&plain_summary(&summary)).unwrap_or_default() {
                data.set_part(DIALECT, Part::Shape, "summary", parts);
            }
        }
    }
    if !raw.is_empty()
        && let Some(parts) = item.content.take()
    {
        data.set_part(DIALECT, Part::Shape, "content", Json::of(&parts).unwrap_or_default());
    }
    data.extend_part(DIALECT, Part::Extra, leftovers(&item));
    ThinkingBlock { text: shown, provider_data: data }
}

/// The summary that a text is written as.
fn plain_summary(text: &str) -> Content<'_> {
    let part = || Any::Object(wire::Part::text("summary_text", text));
    Any::List(if text.is_empty() { Vec::new() } else { vec![part()] })
}

fn is_call(item: &Item<'_>) -> bool {
    let named = item.name.as_ref().and_then(Any::as_str).is_some_and(|name| !name.is_empty());
    let has_id = has_text(&item.call_id) || (item.call_id.is_none() && has_text(&item.id));
    named && has_id && matches!(item.arguments, None | Some(Any::Text(_) | Any::Object(_)))
}

fn call(mut item: Item<'_>) -> ToolCall {
    let mut call = ToolCall::default();
    let mut shape = leftovers(&head(&mut item));
    // The item's own id stands in on servers that give no other.
    let id = take_text(&mut item.call_id);
    if id.is_none() {
        shape.set("no_call_id", true);
    }
    call.id = id.or_else(|| shape.str("id").map(Into::into)).unwrap_or_default();
    call.name = take_text(&mut item.name).unwrap_or_default();
    match item.arguments.take() {
        Some(Any::Text(text)) => call.arguments = Arguments::from_text(text.into_string()),
        Some(Any::Object(fields)) => {
            call.arguments = Json::from(fields).into();
            shape.set("arguments", "object");
        }
        Some(Any::List(_) | Any::Other(_)) | None => shape.set("arguments", "absent"),
    }
    item.kind = None;
    call.provider_data.extend_part(DIALECT, Part::Shape, shape);
    call.provider_data.extend_part(DIALECT, Part::Extra, leftovers(&item));
    call
}

/// Whether a new message item begins with this text, as it was read.
pub(super) fn begins_item(text: &Text) -> bool {
    text.provider_data.part(DIALECT, Part::Shape).get("item").is_some()
}

/// A value that is mostly a text.
pub(super) fn shaped(fields: &Fields, name: &str) -> Option<Loose<'static>> {
    fields.get(name).map(|value| match value.as_str() {
        Some(text) => Any::text(text.into_owned()),
        None => Any::other(value.clone()),
    })
}

/// Begins a message item with the text that carries its marks. The parts follow.
pub(super) fn open_message(first: &Text, keep: Keep) -> Item<'_> {
    let data = &first.provider_data;
    let shape = keep.shape(data);
    let mut item = Item::default();
    if !shape.flag("easy") {
        item.kind = Some(Any::text("message"));
    }
    if shape.str("role").as_deref() != Some("absent") {
        item.role = Some(Any::text("assistant"));
    }
    if let Some(head) = shape.get("item").and_then(|head| head.to::<Fields>().ok()) {
        item.id = shaped(&head, "id");
        item.status = shaped(&head, "status");
    }
    let of_item = is_of_item(data);
    item.rest = keep.extra(data);
    item.rest.retain(|(name, _)| of_item(name));
    item
}

/// Ends a message item: its parts, or their text alone where it was written so.
pub(super) fn close_message<'a>(item: &mut Item<'a>, mut parts: Vec<wire::Part<'a>>, first: &Text, keep: Keep) {
    let as_text = keep.shape(&first.provider_data).flag("string");
    item.content = Some(match parts.as_mut_slice() {
        [part] if as_text && is_bare_text(part, OUTPUT) => match part.text.take() {
            Some(Any::Text(text)) => Any::Text(text),
            Some(Any::List(_) | Any::Object(_) | Any::Other(_)) | None => Any::List(Vec::new()),
        },
        _ => Any::List(parts.into_iter().map(Any::Object).collect()),
    });
}

/// Writes a function call.
pub(super) fn encode_call<'a>(call: &'a ToolCall, call_id: &'a str, name: &'a str, keep: Keep) -> Item<'a> {
    let shape = keep.shape(&call.provider_data);
    let arguments = match shape.str("arguments").as_deref() {
        Some("object") if call.is_complete() => {
            let object = call.arguments.as_object_text().unwrap_or("{}");
            Some(serde_json::from_str(object).map_or_else(|_| Any::text(call.arguments.text()), Any::Object))
        }
        Some("absent") if call.arguments.text() == "{}" => None,
        _ => Some(Any::text(call.arguments.text())),
    };
    let id = shaped(shape, "id");
    let stands_in = shape.flag("no_call_id") && id.as_ref().and_then(Any::as_str) == Some(call_id);
    Item {
        kind: Some(Any::text("function_call")),
        id,
        status: shaped(shape, "status"),
        call_id: (!stands_in).then(|| Any::text(call_id)),
        name: Some(Any::text(name)),
        arguments,
        rest: keep.extra(&call.provider_data),
        ..Item::default()
    }
}

/// Writes a reasoning item with the state that this dialect left on the block.
pub(super) fn encode_reasoning(block: &ThinkingBlock, keep: Keep) -> Item<'_> {
    let data = &block.provider_data;
    let (state, shape) = (data.part(DIALECT, Part::State), data.part(DIALECT, Part::Shape));
    // What the block shows is either the reasoning itself or its summary. Parts that no longer say the same as the block
    // are not written again.
    let says = |name: &str| {
        let parts: Option<Content<'_>> = shape.get(name)?.to().ok();
        (text_of(&parts) == block.text).then_some(parts).flatten()
    };
    let content = says("content");
    let mut item = Item {
        kind: Some(Any::text("reasoning")),
        id: shaped(state, "id"),
        encrypted_content: shaped(state, "encrypted_content"),
        rest: keep.extra(data),
        ..Item::default()
    };
    if keep == Keep::Everything {
        item.status = shaped(shape, "status");
    } else {
        item.rest.retain(|(_, value)| value.get() != "null");
    }
    let in_rest = item.rest.iter().any(|(name, _)| name == "summary");
    let unsaid = shape.get("summary").is_some_and(Json::is_null) && (block.text.is_empty() || content.is_some());
    item.summary = match says("summary") {
        _ if in_rest || (unsaid && keep == Keep::Everything) => None,
        Some(parts) => Some(parts),
        None if content.is_some() => Some(Any::List(Vec::new())),
        None => Some(plain_summary(&block.text)),
    };
    item.content = content;
    item
}

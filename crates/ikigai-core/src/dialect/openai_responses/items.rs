//! The items of the model's side, both ways: messages, reasoning, function calls. They look the same in a request's
//! history, in an answer and in a stream.

use std::borrow::Cow;
use std::vec;

use serde_json::value::RawValue;

use super::content::{self, Keep, OUTPUT, bare_text, other};
use super::wire::{self, Content, Entry, Item, Many, Parts, find, kind_of, word};
use super::{DIALECT, hosted};
use crate::json::loose::{Loose as _, read_raw};
use crate::json::wire::{Text as Words, read_str};
use crate::{Arguments, Block, Fields, Json, Other, Part, ProviderData, Text, ThinkingBlock, ToolCall};

/// The names of a text's fields that belong to its item.
const OF_ITEM: &str = "of_item";
/// The types of the unknown parts directly before the first text of a message. They are blocks of their own.
const BEFORE: &str = "before";
/// The types of those directly after a text.
const AFTER: &str = "after";

/// Reads one item. An unknown or malformed one is kept whole.
///
/// `lists` is the part of a text's data that its citations and probabilities go to.
pub(super) fn decode(item: Entry<'_, Item<'_>>, lists: Part) -> Vec<Block> {
    let Entry::Fits(item) = item else { return vec![Block::Other(other(&item))] };
    match word(&item.kind) {
        "reasoning" if is_texts(&item.summary) && is_texts(&item.content) => vec![Block::Thinking(thinking(item))],
        "function_call" if is_call(&item) => vec![Block::ToolCall(call(item))],
        _ if is_message(&item) => message(item, lists),
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

/// Whether this is a message of the model with some text. If its type is given, its role may be missing.
fn is_message(item: &Item<'_>) -> bool {
    let typed = word(&item.kind) == "message";
    let spoken = word(&item.role) == "assistant" || (typed && item.role.is_none());
    let fits = match &item.content {
        Many::Text(_) => true,
        Many::List(parts) => parts.iter().any(is_text_part),
        Many::Absent => false,
    };
    (typed || item.kind.is_none()) && spoken && fits
}

fn is_text_part(part: &Entry<'_, wire::Part<'_>>) -> bool {
    let Entry::Fits(part) = part else { return false };
    match word(&part.kind) {
        "output_text" | "input_text" | "text" => part.text.is_some(),
        "refusal" => part.refusal.is_some(),
        _ => false,
    }
}

fn message(mut item: Item<'_>, lists: Part) -> Vec<Block> {
    let mut shape = Fields::default();
    if item.kind.take().is_none() {
        shape.set("easy", true);
    }
    if item.role.take().is_none() {
        shape.set("role", "absent");
    }
    let mut blocks: Vec<Block> = match std::mem::take(&mut item.content) {
        Many::Text(text) => {
            shape.set("string", true);
            vec![Block::text(text.into_string())]
        }
        Many::List(parts) => {
            let parts = parts.into_iter().map(|part| match part {
                part if !is_text_part(&part) => Block::Other(other(&part)),
                Entry::Fits(part) => Block::Text(content::text(part, OUTPUT, lists)),
                Entry::Odd(_) => Block::Other(other(&part)),
            });
            parts.collect()
        }
        Many::Absent => Vec::new(),
    };
    mark_others(&mut blocks, &mut shape);
    if let Some(data) = blocks.iter_mut().find_map(Block::provider_data_mut) {
        begin_item(data, shape, item);
    }
    blocks
}

/// Marks the texts next to unknown parts, so that these are put back into the message.
fn mark_others(blocks: &mut [Block], shape: &mut Fields) {
    let mut last: Option<&mut Text> = None;
    let mut types: Vec<String> = Vec::new();
    let mut mark = |text: Option<&mut Text>, types: &mut Vec<String>| {
        let types = std::mem::take(types);
        match text {
            _ if types.is_empty() => {}
            Some(text) => text.provider_data.set_part(DIALECT, Part::Shape, AFTER, serde_json::json!(types)),
            None => shape.set(BEFORE, serde_json::json!(types)),
        }
    };
    for block in blocks {
        match block {
            Block::Text(text) => mark(last.replace(text), &mut types),
            Block::Other(other) => types.push(type_of(other)),
            _ => {}
        }
    }
    mark(last, &mut types);
}

/// Marks the beginning of a message with the unknown parts before its first text.
pub(super) fn mark_before<'o>(data: &mut ProviderData, others: impl Iterator<Item = &'o Other>) {
    let types: Vec<String> = others.map(type_of).collect();
    if !types.is_empty() {
        let header = std::mem::take(data);
        data.set_part(DIALECT, Part::Shape, BEFORE, serde_json::json!(types));
        data.merge(header);
    }
}

/// Returns the type of an object that is kept whole, or `""`.
pub(super) fn type_of(other: &Other) -> String {
    kind_of(other.data.raw()).unwrap_or_default()
}

fn types(text: &Text, name: &str) -> Vec<String> {
    let types = text.provider_data.part(DIALECT, Part::Shape).get(name);
    types.and_then(|types| types.to().ok()).unwrap_or_default()
}

/// Returns how many of the objects written last belong to the message that begins with this text.
pub(super) fn count_before<'w>(text: &Text, written: impl Iterator<Item = &'w RawValue>) -> usize {
    let types = types(text, BEFORE);
    let same = written.zip(types.iter().rev()).filter(|(raw, kind)| kind_of(raw).unwrap_or_default() == **kind);
    if same.count() == types.len() { types.len() } else { 0 }
}

/// Returns the types of the unknown parts that follow a text in its message.
pub(super) fn after(text: &Text) -> vec::IntoIter<String> {
    types(text, AFTER).into_iter()
}

/// A message item being written.
#[derive(Debug)]
pub(super) struct OpenMessage<'a> {
    pub(super) first: &'a Text,
    keep: Keep,
    parts: Parts<'a>,
    /// The types of the unknown parts that come next.
    after: vec::IntoIter<String>,
}

impl<'a> OpenMessage<'a> {
    /// Begins a message with the text that has its marks, and the parts before that.
    pub(super) fn new(first: &'a Text, before: Parts<'a>, keep: Keep) -> Self {
        OpenMessage { first, keep, parts: before, after: vec::IntoIter::default() }
    }

    pub(super) fn text(&mut self, text: &'a Text, part: wire::Part<'a>) {
        self.after = after(text);
        self.parts.push(Entry::Fits(part));
    }

    /// Adds an unknown part. Returns `false` if the message has none here.
    pub(super) fn other(&mut self, other: &'a Other) -> bool {
        let expected = self.after.as_slice().first().is_some_and(|kind| *kind == type_of(other));
        if expected {
            self.after.next();
            self.parts.push(Entry::Odd(Cow::Borrowed(other.data.raw())));
        }
        expected
    }

    pub(super) fn close(self) -> Item<'a> {
        let mut item = open_message(self.first, self.keep);
        close_message(&mut item, self.parts, self.first, self.keep);
        item
    }
}

/// Adds a message item's own fields to the block that it begins with.
pub(super) fn begin_item(data: &mut ProviderData, shape: Fields, mut item: Item<'_>) {
    // In the order in which a stream sends it.
    let of_part = std::mem::take(data);
    let mut head = head(&mut item);
    let mut fields = item.leftovers();
    fields.retain(|name, value| {
        // A field that the part also has cannot be kept next to it.
        let twice = of_part.part(DIALECT, Part::Extra).get(name).is_some();
        if twice {
            head.push(name, value.clone());
        }
        !twice
    });
    data.extend_part(DIALECT, Part::Shape, shape);
    data.set_part(DIALECT, Part::Shape, "item", head);
    if !fields.is_empty() {
        let names: Vec<&str> = fields.names().collect();
        data.set_part(DIALECT, Part::Shape, OF_ITEM, serde_json::json!(names));
        data.extend_part(DIALECT, Part::Extra, fields);
    }
    data.merge(of_part);
}

/// Distinguishes the fields of a message item from those of its first part, which are on the same text block. No part
/// is known to have a phase, so a caller need not say which one it belongs to.
pub(super) fn is_of_item(data: &ProviderData) -> impl Fn(&str) -> bool {
    let names = data.part(DIALECT, Part::Shape).get(OF_ITEM).and_then(|names| names.to::<Vec<String>>().ok());
    let names = names.unwrap_or_default();
    move |name| name == "phase" || names.iter().any(|own| own == name)
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

/// Whether a new message item began with this text when it was read.
pub(super) fn begins_item(text: &Text) -> bool {
    text.provider_data.part(DIALECT, Part::Shape).get("item").is_some()
}

/// Writes a message item's type and id, and the other fields kept on its first block.
pub(super) fn encode_head(item: &mut Item<'_>, shape: &Fields) {
    if !shape.flag("easy") {
        item.kind = Some("message".into());
    }
    let head = shape.get("item").and_then(|head| head.to::<Fields>().ok()).unwrap_or_default();
    for (name, value) in head {
        let text = value.as_str().map(|text| Words::from(text.into_owned()));
        match name.as_str() {
            "id" if item.id.is_none() => item.id = text,
            "status" if item.status.is_none() => item.status = text,
            _ => item.rest.push((Cow::Owned(name), Cow::Owned(value.raw().to_owned()))),
        }
    }
}

/// Begins a message item with the text that has its marks. The parts follow.
pub(super) fn open_message(first: &Text, keep: Keep) -> Item<'_> {
    let data = &first.provider_data;
    let shape = keep.shape(data);
    let of_item = is_of_item(data);
    let mut item = Item { rest: keep.extra(data), ..Item::default() };
    item.rest.retain(|(name, _)| of_item(name));
    encode_head(&mut item, shape);
    if shape.str("role").as_deref() != Some("absent") {
        item.role = Some("assistant".into());
    }
    item
}

/// Ends a message item: with its parts, or only their text if it was written that way.
pub(super) fn close_message<'a>(item: &mut Item<'a>, parts: Parts<'a>, first: &Text, keep: Keep) {
    let string = keep.shape(&first.provider_data).flag("string");
    item.content = if string { text_or_parts(parts, OUTPUT) } else { Many::List(parts) };
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

//! Message items, both ways: their texts, and parts of unknown types, which are blocks of their own.

use std::borrow::Cow;
use std::vec;

use serde_json::value::RawValue;

use super::DIALECT;
use super::content::{self, Keep, OUTPUT, other};
use super::items::{head, text_or_parts};
use super::wire::{self, Entry, Item, Many, Parts, kind_of, word};
use crate::json::loose::Loose as _;
use crate::json::wire::Text as Words;
use crate::{Block, Fields, Other, Part, ProviderData, Text};

/// The names of a text's fields that belong to its item.
const OF_ITEM: &str = "of_item";
/// The types of the unknown parts directly before the first text of a message. They are blocks of their own.
const BEFORE: &str = "before";
/// The types of those directly after a text.
const AFTER: &str = "after";

/// Whether this is a message of the model with some text. If its type is given, its role may be missing.
pub(super) fn is_message(item: &Item<'_>) -> bool {
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

/// Reads a message. `lists` is the part of a text's data that its citations and probabilities go to.
pub(super) fn decode(mut item: Item<'_>, lists: Part) -> Vec<Block> {
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
            let known = parts.iter().filter(|part| is_text_part(part)).count();
            if known == parts.len() {
                let texts = parts.into_iter().filter_map(|part| match part {
                    Entry::Fits(part) => Some(Block::Text(content::text(part, OUTPUT, lists))),
                    Entry::Odd(_) => None,
                });
                texts.collect()
            } else {
                with_others(parts, &mut shape, lists)
            }
        }
        Many::Absent => Vec::new(),
    };
    if let Some(data) = blocks.iter_mut().find_map(Block::provider_data_mut) {
        begin_item(data, shape, item);
    }
    blocks
}

/// Reads parts of which some are of unknown types.
fn with_others(parts: Parts<'_>, shape: &mut Fields, lists: Part) -> Vec<Block> {
    let blocks = parts.into_iter().map(|part| match part {
        part if !is_text_part(&part) => Block::Other(other(&part)),
        Entry::Fits(part) => Block::Text(content::text(part, OUTPUT, lists)),
        Entry::Odd(_) => Block::Other(other(&part)),
    });
    let mut blocks: Vec<Block> = blocks.collect();
    mark_others(&mut blocks, shape);
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

//! Texts in a written stream: which of them share a message item, and when that item is done.

use serde_json::{Value, json};

use super::encoder::{Encoder, Slot};
use super::frames::{Place, REFUSAL, TEXT};
use crate::Text;
use crate::dialect::openai_responses::Object;
use crate::dialect::openai_responses::fields::{object, own_object, put_back, text};
use crate::dialect::openai_responses::items::{self, Keep, OpenMessage};

/// A message item and the texts in it.
#[derive(Debug)]
pub(super) struct MessageItem {
    pub(super) output: usize,
    pub(super) id: String,
    /// The texts that are done, by their place.
    parts: Vec<Option<Text>>,
    /// No further text joins it.
    left: bool,
    done: bool,
}

impl Encoder {
    pub(super) fn open_text(&mut self, text: &Text, out: &mut Vec<u8>) -> Slot {
        if items::begins_item(text) {
            self.leave_message(out);
        }
        let at = match self.current {
            Some(at) => at,
            None => self.open_message(text, out),
        };
        let Some(message) = self.messages.get_mut(at) else { return Slot::Gone };
        let part = message.parts.len();
        message.parts.push(None);
        let opening = Text { text: String::new(), cache: None, provider_data: text.provider_data.clone() };
        let fields = part_fields(message, part, "part", Value::Object(whole_part(&opening)));
        self.frames.send("response.content_part.added", fields, out);
        Slot::Text { message: at, part, block: text.clone() }
    }

    fn open_message(&mut self, first: &Text, out: &mut Vec<u8>) -> usize {
        let header = own_object(&first.provider_data, "item");
        let id = self.item_id(header.and_then(|header| text(header, "id")), "msg");
        let output = self.new_output();
        let mut item = object([
            ("id", id.as_str().into()),
            ("type", "message".into()),
            ("status", "in_progress".into()),
            ("role", "assistant".into()),
            ("content", json!([])),
        ]);
        put_back(&mut item, header);
        self.added(output, item, out);
        self.messages.push(MessageItem { output, id, parts: Vec::new(), left: false, done: false });
        let at = self.messages.len().saturating_sub(1);
        self.current = Some(at);
        at
    }

    pub(super) fn text_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(Slot::Text { message, part, block }) = self.blocks.get_mut(index) else { return };
        let Some(message) = self.messages.get(*message) else { return };
        block.text.push_str(text);
        let kind = if block.is_refusal() { REFUSAL } else { TEXT };
        let place = Place { item_id: &message.id, output_index: message.output, part: *part };
        self.frames.delta(kind, place, text, out);
    }

    pub(super) fn text_done(&mut self, at: usize, part: usize, block: Text, out: &mut Vec<u8>) {
        let Some(message) = self.messages.get(at) else { return };
        let whole = Value::from(block.text.as_str());
        if block.is_refusal() {
            self.asks.refuses = true;
            self.frames.send("response.refusal.done", part_fields(message, part, "refusal", whole), out);
        } else {
            let mut fields = part_fields(message, part, "text", whole);
            fields.insert("logprobs".into(), json!([]));
            self.frames.send("response.output_text.done", fields, out);
        }
        let fields = part_fields(message, part, "part", Value::Object(whole_part(&block)));
        self.frames.send("response.content_part.done", fields, out);
        let sealed = self.seal_of_text(&block);
        if let Some(place) = self.messages.get_mut(at).and_then(|message| message.parts.get_mut(part)) {
            *place = Some(block);
        }
        if sealed.is_some() && self.current == Some(at) {
            self.leave_message(out);
        }
        self.close_message(at, out);
        self.sealed(sealed, out);
    }

    pub(super) fn leave_message(&mut self, out: &mut Vec<u8>) {
        if let Some(at) = self.current.take() {
            if let Some(message) = self.messages.get_mut(at) {
                message.left = true;
            }
            self.close_message(at, out);
        }
    }

    /// Closes a message that nothing joins any more and whose texts are all done.
    fn close_message(&mut self, at: usize, out: &mut Vec<u8>) {
        let Some(message) = self.messages.get_mut(at) else { return };
        if message.done || !message.left || message.parts.iter().any(Option::is_none) {
            return;
        }
        message.done = true;
        let (output, id) = (message.output, message.id.clone());
        let mut texts = std::mem::take(&mut message.parts).into_iter().flatten().peekable();
        let Some(first) = texts.peek() else { return };
        let mut whole = OpenMessage::new(first, Keep::Everything);
        texts.for_each(|text| whole.push(whole_part(&text)));
        let mut item = whole.close();
        put_back(&mut item, Some(&object([("type", "message".into()), ("status", "completed".into())])));
        self.done(output, &id, item, out);
    }
}

fn part_fields(message: &MessageItem, part: usize, key: &str, value: Value) -> Object {
    object([
        ("item_id", message.id.as_str().into()),
        ("output_index", message.output.into()),
        ("content_index", part.into()),
        (key, value),
    ])
}

/// A part with the lists that clients insist on.
fn whole_part(text: &Text) -> Object {
    let mut part = items::output_part(text, Keep::Everything);
    if part.get("type").is_some_and(|kind| kind != "refusal") {
        put_back(&mut part, Some(&object([("annotations", json!([])), ("logprobs", json!([]))])));
    }
    part
}

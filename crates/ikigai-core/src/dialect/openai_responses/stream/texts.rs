//! Texts in a written stream: which of them share a message item, and when that item is done.

use super::encode::{Encoder, Slot};
use super::wire::{Place, Said};
use crate::dialect::openai_responses::content::Keep;
use crate::dialect::openai_responses::response::Seal;
use crate::dialect::openai_responses::wire::{self, Any, Item};
use crate::dialect::openai_responses::{items, response};
use crate::json::wire::Raw;
use crate::{Json, Text};

/// A message item and the texts in it.
#[derive(Debug)]
pub(super) struct MessageItem {
    pub(super) output: usize,
    pub(super) id: String,
    /// The texts that are done, by their place.
    parts: Vec<Option<Text>>,
    /// How many texts are not done.
    open: usize,
    progress: Progress,
}

/// How far a message item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Another text may join it.
    Open,
    /// No further text joins it.
    Left,
    Done,
}

impl MessageItem {
    fn place(&self, part: usize) -> Place<'_> {
        Place { content_index: Some(part), ..Place::within(&self.id, self.output) }
    }
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
        message.open += 1;
        let opening = Text { text: String::new(), cache: None, provider_data: text.provider_data.clone() };
        let said = whole_part(&opening);
        self.frames.send("response.content_part.added", message.place(part), Said::Part(&said), out);
        Slot::Text { message: at, part, block: text.clone() }
    }

    fn open_message(&mut self, first: &Text, out: &mut Vec<u8>) -> usize {
        let own = items::open_message(first, Keep::Everything);
        let id = self.item_id(own.id.as_ref().and_then(Any::as_str), "msg");
        let output = self.new_output();
        let item = Item {
            id: Some(Any::text(id.as_str())),
            kind: Some(Any::text("message")),
            status: Some(Any::text("in_progress")),
            role: Some(Any::text("assistant")),
            content: Some(Any::List(Vec::new())),
            ..own
        };
        self.added(output, &item, out);
        self.messages.push(MessageItem { output, id, parts: Vec::new(), open: 0, progress: Progress::Open });
        let at = self.messages.len().saturating_sub(1);
        self.current = Some(at);
        at
    }

    pub(super) fn text_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(Slot::Text { message, part, block }) = self.blocks.get_mut(index) else { return };
        let Some(message) = self.messages.get(*message) else { return };
        block.text.push_str(text);
        let (kind, after) = if block.is_refusal() {
            ("response.refusal.delta", "")
        } else {
            ("response.output_text.delta", ",\"logprobs\":[]")
        };
        self.frames.delta(kind, message.place(*part), text, after, out);
    }

    pub(super) fn text_done(&mut self, at: usize, part: usize, block: Text, out: &mut Vec<u8>) {
        let Some(message) = self.messages.get_mut(at) else { return };
        if block.is_refusal() {
            self.asks.refuses = true;
            self.frames.send("response.refusal.done", message.place(part), Said::Refusal(&block.text), out);
        } else {
            self.frames.send("response.output_text.done", message.place(part), Said::Text(&block.text), out);
        }
        let said = whole_part(&block);
        self.frames.send("response.content_part.done", message.place(part), Said::Part(&said), out);
        drop(said);
        message.open = message.open.saturating_sub(1);
        let sealed =
            Seal { provider: self.reply.provider.as_deref(), model: &self.model }.of_text(&block, &mut self.ids);
        if let Some(place) = self.messages.get_mut(at).and_then(|message| message.parts.get_mut(part)) {
            *place = Some(block);
        }
        if sealed.is_some() && self.current == Some(at) {
            self.leave_message(out);
        }
        self.close_message(at, out);
        self.carry(sealed, out);
    }

    pub(super) fn leave_message(&mut self, out: &mut Vec<u8>) {
        if let Some(at) = self.current.take() {
            if let Some(message) = self.messages.get_mut(at) {
                message.progress = Progress::Left;
            }
            self.close_message(at, out);
        }
    }

    /// Closes a message that nothing joins any more and whose texts are all done.
    fn close_message(&mut self, at: usize, out: &mut Vec<u8>) {
        let Some(message) = self.messages.get_mut(at) else { return };
        if message.progress != Progress::Left || message.open > 0 {
            return;
        }
        message.progress = Progress::Done;
        let (output, id) = (message.output, message.id.clone());
        let texts: Vec<Text> = std::mem::take(&mut message.parts).into_iter().flatten().collect();
        let Some(first) = texts.first() else { return };
        let mut item = items::open_message(first, Keep::Everything);
        items::close_message(&mut item, texts.iter().map(whole_part).collect(), first, Keep::Everything);
        item.kind = Some(Any::text("message"));
        item.status.get_or_insert_with(|| Any::text("completed"));
        self.done(output, &id, item, out);
    }
}

/// A part with the lists that clients insist on.
fn whole_part(text: &Text) -> wire::Part<'_> {
    let mut part = response::serve_part(text);
    let there = |name: &str, part: &wire::Part<'_>| part.rest.iter().any(|(own, _)| own == name);
    if part.refusal.is_none() {
        if part.annotations.is_none() && !there("annotations", &part) {
            part.annotations = Some(empty_list());
        }
        if part.logprobs.is_none() && !there("logprobs", &part) {
            part.logprobs = Some(empty_list());
        }
    }
    part
}

fn empty_list() -> Raw<'static> {
    Raw::of::<[Json; 0]>(&[])
}

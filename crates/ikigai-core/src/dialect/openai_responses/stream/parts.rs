//! Messages in a stream being written: their parts, and the blocks that may turn out to be parts.

use std::borrow::Cow;

use super::blocks::Slot;
use super::encode::Encoder;
use super::wire::{Place, Said};
use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::content::Keep;
use crate::dialect::openai_responses::message;
use crate::dialect::openai_responses::response;
use crate::dialect::openai_responses::wire::{self, Entry, Item, Many, find};
use crate::json::loose::read_raw;
use crate::{Block, Json, Other, Part, ProviderData, Text};

/// A block that has not been written yet.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) index: usize,
    pub(super) block: Other,
    pub(super) is_done: bool,
}

/// A part of a message.
#[derive(Debug)]
pub(super) enum Member {
    Text(Text),
    Other(Other),
}

impl Encoder {
    pub(super) fn open_text(&mut self, text: &Text, out: &mut Vec<u8>) -> Option<Slot> {
        if message::begins_item(text) {
            self.leave_message(out);
        }
        let before = self.take_held(text, out);
        let output = match self.message {
            Some(output) => output,
            None => {
                let item = Item {
                    kind: Some("message".into()),
                    status: Some("in_progress".into()),
                    role: Some("assistant".into()),
                    content: Many::List(Vec::new()),
                    ..message::open_message(text, Keep::Everything)
                };
                self.add(item, "msg", out)
            }
        };
        self.message = Some(output);
        for Held { index, block, is_done } in before {
            let slot = self.open_part(output, &block, out);
            self.begin_held(index, slot, is_done, out);
        }
        let item = self.items.get_mut(output)?;
        let part = item.parts.len();
        item.parts.push(None);
        let opening = Text { provider_data: text.provider_data.clone(), ..Text::default() };
        let place = Place { content_index: Some(part), ..Place::within(&item.id, output) };
        self.frames.send("response.content_part.added", place, &[("part", &whole_part(&opening))], out);
        Some(Slot { output, part, refuses: text.is_refusal(), block: Block::Text(text.clone()) })
    }

    /// Returns the message that an unknown part is in, if it can be seen: one of its texts is unfinished, or was marked.
    pub(super) fn message_of(&mut self, other: &Other) -> Option<usize> {
        let output = self.message?;
        let item = self.items.get_mut(output)?;
        let expected = item.after.as_slice().first().is_some_and(|kind| *kind == message::type_of(other));
        if expected {
            item.after.next();
        }
        (expected || item.parts.iter().any(Option::is_none)).then_some(output)
    }

    /// Opens an unknown part of a message.
    pub(super) fn open_part(&mut self, output: usize, other: &Other, out: &mut Vec<u8>) -> Option<Slot> {
        let item = self.items.get_mut(output)?;
        let part = item.parts.len();
        item.parts.push(None);
        let place = Place { content_index: Some(part), ..Place::within(&item.id, output) };
        self.frames.send("response.content_part.added", place, &[("part", &other.data)], out);
        Some(Slot { output, part, refuses: false, block: Block::Other(other.clone()) })
    }

    /// Takes the blocks that are the first parts of the message that begins with this text. Others become items.
    fn take_held(&mut self, text: &Text, out: &mut Vec<u8>) -> Vec<Held> {
        if self.held.is_empty() {
            return Vec::new();
        }
        let count = message::count_before(text, self.held.iter().rev().map(|held| held.block.data.raw()));
        let before = self.held.split_off(self.held.len().saturating_sub(count));
        self.release(out);
        before
    }

    /// Writes the held blocks as items.
    pub(super) fn release(&mut self, out: &mut Vec<u8>) {
        for Held { index, block, is_done } in std::mem::take(&mut self.held) {
            let output = read_raw(block.data.raw()).map(|item| self.add(item, "item", out));
            let slot = output.map(|output| Slot { output, part: 0, refuses: false, block: Block::Other(block) });
            self.begin_held(index, slot, is_done, out);
        }
    }

    fn begin_held(&mut self, index: usize, slot: Option<Slot>, is_done: bool, out: &mut Vec<u8>) {
        if let Some(place) = self.blocks.get_mut(index) {
            *place = slot;
        }
        if is_done {
            self.end_block(index, None, &ProviderData::NONE, out);
        }
    }

    /// Opens the text that has not been opened yet.
    pub(super) fn say(&mut self, out: &mut Vec<u8>) {
        if let Some((index, text)) = self.unsaid.take() {
            let slot = self.open_text(&text, out);
            if let Some(place) = self.blocks.get_mut(index) {
                *place = slot;
            }
        }
    }

    /// Ends a text that has not been opened, if it is nothing but state.
    pub(super) fn end_unsaid(&mut self, index: usize, data: &ProviderData, out: &mut Vec<u8>) {
        let Some((_, mut text)) = self.unsaid.take_if(|(unsaid, _)| *unsaid == index) else { return };
        let opening = text.clone();
        text.provider_data.merge(data.clone());
        let Some(carrier) = response::seal_alone(&text, &self.answerer, &mut self.ids) else {
            self.unsaid = Some((index, opening));
            return self.say(out);
        };
        response::note_block(&Block::Text(text), index, &mut self.losses);
        self.leave_message(out);
        self.carry(Some(carrier), out);
    }

    /// Ends an item that only this dialect has, or such a part of a message.
    pub(super) fn other_done(&mut self, output: usize, part: usize, other: Other, out: &mut Vec<u8>) {
        let Some(item) = self.items.get_mut(output) else { return };
        if let Some(member) = item.parts.get_mut(part) {
            let place = Place { content_index: Some(part), ..Place::within(&item.id, output) };
            self.frames.send("response.content_part.done", place, &[("part", &other.data)], out);
            *member = Some(Member::Other(other));
            self.close_message(output, out);
        } else if let Some(item) = read_raw(other.data.raw()) {
            self.done(output, item, out);
        }
    }

    pub(super) fn text_done(&mut self, output: usize, part: usize, text: Text, out: &mut Vec<u8>) {
        let Some(item) = self.items.get_mut(output) else { return };
        let place = Place { content_index: Some(part), ..Place::within(&item.id, output) };
        if text.is_refusal() {
            self.frames.send("response.refusal.done", place, &[("refusal", &text.text)], out);
        } else {
            let annotations = text.provider_data.part(DIALECT, Part::Answer).get("annotations");
            let annotations: Vec<Json> = annotations.and_then(|list| list.to().ok()).unwrap_or_default();
            for (number, annotation) in annotations.iter().enumerate() {
                let said: [(&str, &dyn Said); 2] = [("annotation", annotation), ("annotation_index", &number)];
                self.frames.send("response.output_text.annotation.added", place, &said, out);
            }
            let said: [(&str, &dyn Said); 2] = [("text", &text.text), ("logprobs", &[(); 0])];
            self.frames.send("response.output_text.done", place, &said, out);
        }
        self.frames.send("response.content_part.done", place, &[("part", &whole_part(&text))], out);
        let sealed = response::seal_text(&text, &self.answerer, &mut self.ids);
        // Those that have been opened need not be expected.
        let opened = item.parts.len().saturating_sub(part + 1);
        item.after = message::after(&text);
        item.after.by_ref().take(opened).for_each(drop);
        if let Some(place) = item.parts.get_mut(part) {
            *place = Some(Member::Text(text));
        }
        if sealed.is_some() && self.message == Some(output) {
            self.message = None;
        }
        self.close_message(output, out);
        self.carry(sealed, out);
    }

    /// Notes that no further text joins the message.
    pub(super) fn leave_message(&mut self, out: &mut Vec<u8>) {
        if let Some(output) = self.message.take() {
            self.close_message(output, out);
        }
    }

    /// Ends a message once nothing more can join it and all its texts are done.
    fn close_message(&mut self, output: usize, out: &mut Vec<u8>) {
        let Some(message) = self.items.get_mut(output) else { return };
        if self.message == Some(output) || message.parts.iter().any(Option::is_none) {
            return;
        }
        let members: Vec<Member> = std::mem::take(&mut message.parts).into_iter().flatten().collect();
        let first = members.iter().find_map(|member| match member {
            Member::Text(text) => Some(text),
            Member::Other(_) => None,
        });
        let Some(first) = first else { return };
        let mut item = message::open_message(first, Keep::Everything);
        let parts = members.iter().map(|member| match member {
            Member::Text(text) => Entry::Fits(whole_part(text)),
            Member::Other(other) => Entry::Odd(Cow::Borrowed(other.data.raw())),
        });
        let parts = parts.collect();
        message::close_message(&mut item, parts, first, Keep::Everything);
        item.kind = Some("message".into());
        item.status.get_or_insert_with(|| "completed".into());
        self.done(output, item, out);
    }
}

/// Whether a block may be a part of a message. An item of a stream has an id.
pub(super) fn may_be_part(other: &Other) -> bool {
    other.data.value().get("id").is_none()
}

/// Writes a part with the lists that clients require.
fn whole_part(text: &Text) -> wire::Part<'_> {
    let mut part = response::serve_part(text);
    if part.refusal.is_none() {
        for (name, list) in [("annotations", &mut part.annotations), ("logprobs", &mut part.logprobs)] {
            if list.is_none() && find(&part.rest, name).is_none() {
                *list = Some(response::empty_list());
            }
        }
    }
    part
}

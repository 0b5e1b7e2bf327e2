//! Blocks in a stream being written: the items that they are in, and when those are done.

use std::borrow::Cow;
use std::vec;

use super::encode::Encoder;
use super::wire::{Place, Said};
use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::content::{Keep, other};
use crate::dialect::openai_responses::items::{self, said};
use crate::dialect::openai_responses::response;
use crate::dialect::openai_responses::wire::{self, Entry, Item, Many, find};
use crate::dialect::seal::may_be_state_alone;
use crate::json::loose::read_raw;
use crate::json::wire::Text as Words;
use crate::{Arguments, Block, Json, Other, Part, ProviderData, Text, ThinkingBlock, ToolCall};

/// An open block.
#[derive(Debug)]
pub(super) struct Slot {
    /// The index of its item.
    pub(super) output: usize,
    /// For a part, its index in the message; for a summary, how many parts have been opened.
    part: usize,
    /// Whether it is a refusal.
    refuses: bool,
    pub(super) block: Block,
}

/// An item that has been added.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) id: String,
    /// The finished parts of a message, by index.
    parts: Vec<Option<Member>>,
    /// The types of the unknown parts that come next.
    after: vec::IntoIter<String>,
    /// The finished item.
    pub(super) whole: Option<Json>,
}

/// A part of a message.
#[derive(Debug)]
enum Member {
    Text(Text),
    Other(Other),
}

/// A block that has not been written yet.
#[derive(Debug)]
pub(super) struct Held {
    index: usize,
    block: Other,
    is_done: bool,
}

impl Encoder {
    /// Opens a block. Returns `None` if this wire has no place for it.
    pub(super) fn begin_block(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) -> Option<Slot> {
        if let Block::Text(text) = block {
            if !text.provider_data.is_empty() && may_be_state_alone(text, DIALECT) {
                self.release(out);
                self.unsaid = Some((index, text.clone()));
                return None;
            }
            return self.open_text(text, out);
        }
        if let Block::Other(other) = block
            && other.dialect == DIALECT
            && may_be_part(other)
        {
            if let Some(output) = self.message_of(other) {
                return self.open_part(output, other, out);
            }
            self.leave_message(out);
            self.held.push(Held { index, block: other.clone(), is_done: false });
            return None;
        }
        self.release(out);
        self.leave_message(out);
        let mut kept = block.clone();
        let (item, prefix) = match block {
            Block::Thinking(thinking) => {
                let id = said(thinking.provider_data.part(DIALECT, Part::State), "id");
                let summary = Many::List(Vec::new());
                (Item { id, kind: Some("reasoning".into()), summary, ..Item::default() }, "rs")
            }
            Block::ToolCall(call) => {
                let item = Item {
                    id: said(call.provider_data.part(DIALECT, Part::Shape), "id"),
                    kind: Some("function_call".into()),
                    status: Some("in_progress".into()),
                    call_id: Some(call.id.as_str().into()),
                    name: Some(call.name.as_str().into()),
                    arguments: Some("".into()),
                    ..Item::default()
                };
                (item, "fc")
            }
            _ => {
                response::note_block(block, index, &mut self.losses);
                let item = match block {
                    Block::Other(other) if other.dialect == DIALECT => read_raw(other.data.raw())?,
                    Block::Image(image) => response::serve_image(image, &mut self.ids)?,
                    _ => return None,
                };
                kept = Block::Other(other(&item));
                (item, "item")
            }
        };
        let output = self.add(item, prefix, out);
        if let Block::Other(item) = &kept {
            self.tell_code(output, &item.data, out);
        }
        Some(Slot { output, part: 0, refuses: false, block: kept })
    }

    /// Sends the code of a call that is complete from the start: some clients notice a call only when its code is done.
    fn tell_code(&mut self, output: usize, item: &Json, out: &mut Vec<u8>) {
        let is_code = item.value()["type"] == "code_interpreter_call";
        let code = item.value()["code"].as_str().filter(|code| is_code && !code.is_empty());
        if let (Some(code), Some(added)) = (code, self.items.get(output)) {
            let place = Place::within(&added.id, output);
            self.frames.send("response.code_interpreter_call_code.delta", place, &[("delta", &code)], out);
            self.frames.send("response.code_interpreter_call_code.done", place, &[("code", &code)], out);
        }
    }

    /// Adds an item under its own id, or a new one.
    fn add(&mut self, item: Item<'_>, prefix: &str, out: &mut Vec<u8>) -> usize {
        let id = item.id.map_or_else(|| response::new_id(prefix, &mut self.ids), Words::into_string);
        let item = Item { id: Some(id.as_str().into()), ..item };
        let output = self.items.len();
        self.frames.send("response.output_item.added", Place::item(output), &[("item", &item)], out);
        self.items.push(Added { id, parts: Vec::new(), after: vec::IntoIter::default(), whole: None });
        output
    }

    /// Ends an item, under the id that it was added with.
    fn done(&mut self, output: usize, item: Item<'_>, out: &mut Vec<u8>) {
        if let Some(added) = self.items.get_mut(output) {
            let item = Item { id: Some(added.id.as_str().into()), ..item };
            let item = Json::of(&item).unwrap_or_default();
            self.frames.send("response.output_item.done", Place::item(output), &[("item", &item)], out);
            added.whole = Some(item);
        }
    }

    fn open_text(&mut self, text: &Text, out: &mut Vec<u8>) -> Option<Slot> {
        if items::begins_item(text) {
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
                    ..items::open_message(text, Keep::Everything)
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
    fn message_of(&mut self, other: &Other) -> Option<usize> {
        let output = self.message?;
        let item = self.items.get_mut(output)?;
        let expected = item.after.as_slice().first().is_some_and(|kind| *kind == items::type_of(other));
        if expected {
            item.after.next();
        }
        (expected || item.parts.iter().any(Option::is_none)).then_some(output)
    }

    /// Opens an unknown part of a message.
    fn open_part(&mut self, output: usize, other: &Other, out: &mut Vec<u8>) -> Option<Slot> {
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
        let count = items::count_before(text, self.held.iter().rev().map(|held| held.block.data.raw()));
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
    fn end_unsaid(&mut self, index: usize, data: &ProviderData, out: &mut Vec<u8>) {
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

    /// Writes a piece of a block.
    pub(super) fn delta(&mut self, index: usize, piece: &str, out: &mut Vec<u8>) {
        self.say(out);
        let Some(slot) = self.blocks.get_mut(index).and_then(Option::as_mut) else { return };
        let Some(item) = self.items.get(slot.output) else { return };
        let place = Place::within(&item.id, slot.output);
        match &mut slot.block {
            Block::Text(text) => {
                text.text.push_str(piece);
                let place = Place { content_index: Some(slot.part), ..place };
                if slot.refuses {
                    self.frames.send("response.refusal.delta", place, &[("delta", &piece)], out);
                } else {
                    let said: [(&str, &dyn Said); 2] = [("delta", &piece), ("logprobs", &[(); 0])];
                    self.frames.send("response.output_text.delta", place, &said, out);
                }
            }
            Block::Thinking(thinking) => {
                thinking.text.push_str(piece);
                let place = Place { summary_index: Some(0), ..place };
                if slot.part == 0 {
                    slot.part = 1;
                    let said = wire::Part::text("summary_text", "");
                    self.frames.send("response.reasoning_summary_part.added", place, &[("part", &said)], out);
                }
                self.frames.send("response.reasoning_summary_text.delta", place, &[("delta", &piece)], out);
            }
            _ => self.frames.send("response.function_call_arguments.delta", place, &[("delta", &piece)], out),
        }
    }

    /// Ends a block, with the data from its end event.
    pub(super) fn end_block(
        &mut self,
        index: usize,
        arguments: Option<&Arguments>,
        data: &ProviderData,
        out: &mut Vec<u8>,
    ) {
        self.end_unsaid(index, data, out);
        if let Some(held) = self.held.iter_mut().find(|held| held.index == index) {
            held.is_done = true;
            if let Some(whole) = data.part(DIALECT, Part::Shape).get("data") {
                held.block.data = whole.clone();
            }
            return;
        }
        let slot = self.blocks.get_mut(index).and_then(Option::take);
        let Some(Slot { output, part, mut block, .. }) = slot else { return };
        if let (Block::ToolCall(call), Some(arguments)) = (&mut block, arguments) {
            call.arguments = arguments.clone();
        }
        match &mut block {
            // The item is unfinished as it was added.
            Block::Other(item) => {
                if let Some(whole) = data.part(DIALECT, Part::Shape).get("data") {
                    item.data = whole.clone();
                }
            }
            _ => {
                if let Some(own) = block.provider_data_mut() {
                    own.merge(data.clone());
                }
                response::note_block(&block, index, &mut self.losses);
            }
        }
        self.asks.see(&block);
        match block {
            Block::Text(text) => self.text_done(output, part, text, out),
            Block::Thinking(thinking) => self.thinking_done(output, part, &thinking, out),
            Block::ToolCall(call) => self.call_done(output, &call, out),
            Block::Other(other) => self.other_done(output, part, other, out),
            Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_) => {}
        }
    }

    /// Ends an item that only this dialect has, or such a part of a message.
    fn other_done(&mut self, output: usize, part: usize, other: Other, out: &mut Vec<u8>) {
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

    fn text_done(&mut self, output: usize, part: usize, text: Text, out: &mut Vec<u8>) {
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
        item.after = items::after(&text);
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
        let mut item = items::open_message(first, Keep::Everything);
        let parts = members.iter().map(|member| match member {
            Member::Text(text) => Entry::Fits(whole_part(text)),
            Member::Other(other) => Entry::Odd(Cow::Borrowed(other.data.raw())),
        });
        let parts = parts.collect();
        items::close_message(&mut item, parts, first, Keep::Everything);
        item.kind = Some("message".into());
        item.status.get_or_insert_with(|| "completed".into());
        self.done(output, item, out);
    }

    fn thinking_done(&mut self, output: usize, parts: usize, block: &ThinkingBlock, out: &mut Vec<u8>) {
        let Some(item) = self.items.get(output) else { return };
        if parts > 0 {
            let place = Place { summary_index: Some(0), ..Place::within(&item.id, output) };
            self.frames.send("response.reasoning_summary_text.done", place, &[("text", &block.text)], out);
            let said = wire::Part::text("summary_text", &block.text);
            self.frames.send("response.reasoning_summary_part.done", place, &[("part", &said)], out);
        }
        let mut item = response::serve_reasoning(block, &self.answerer, &mut self.ids);
        // Strict clients refuse reasoning without it.
        if matches!(item.summary, Many::Absent) && find(&item.rest, "summary").is_none_or(|raw| raw.get() == "null") {
            item.summary = Many::List(Vec::new());
        }
        self.done(output, item, out);
    }

    fn call_done(&mut self, output: usize, call: &ToolCall, out: &mut Vec<u8>) {
        let Some(item) = self.items.get(output) else { return };
        let place = Place::within(&item.id, output);
        let said: [(&str, &dyn Said); 2] = [("name", &call.name), ("arguments", &call.arguments.text())];
        self.frames.send("response.function_call_arguments.done", place, &said, out);
        let item = response::serve_call(call, &mut self.ids);
        self.done(output, Item { call_id: Some(call.id.as_str().into()), ..item }, out);
        let sealed = response::seal_call(call, &self.answerer, &mut self.ids);
        self.carry(sealed, out);
    }

    /// Writes a reasoning item that only carries another dialect's state.
    fn carry(&mut self, item: Option<Item<'_>>, out: &mut Vec<u8>) {
        if let Some(item) = item {
            let output = self.add(Item { encrypted_content: None, ..item.clone() }, "rs", out);
            self.done(output, item, out);
        }
    }
}

/// Whether a block may be a part of a message. An item of a stream has an id.
fn may_be_part(other: &Other) -> bool {
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

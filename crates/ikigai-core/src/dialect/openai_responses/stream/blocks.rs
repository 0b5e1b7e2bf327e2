//! Blocks in a stream being written: the items that they are in, and when those are done.

use std::vec;

use super::encode::Encoder;
use super::parts::{Held, Member, may_be_part};
use super::wire::{Place, Said};
use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::content::other;
use crate::dialect::openai_responses::items::said;
use crate::dialect::openai_responses::response;
use crate::dialect::openai_responses::wire::{self, Item, Many, find};
use crate::dialect::seal::may_be_state_alone;
use crate::json::loose::read_raw;
use crate::json::wire::Text as Words;
use crate::{Arguments, Block, Json, Part, ProviderData, ThinkingBlock, ToolCall};

/// An open block.
#[derive(Debug)]
pub(super) struct Slot {
    /// The index of its item.
    pub(super) output: usize,
    /// For a part, its index in the message; for a summary, how many parts have been opened.
    pub(super) part: usize,
    /// Whether it is a refusal.
    pub(super) refuses: bool,
    pub(super) block: Block,
}

/// An item that has been added.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) id: String,
    /// The finished parts of a message, by index.
    pub(super) parts: Vec<Option<Member>>,
    /// The types of the unknown parts that come next.
    pub(super) after: vec::IntoIter<String>,
    /// The finished item.
    pub(super) whole: Option<Json>,
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
    pub(super) fn add(&mut self, item: Item<'_>, prefix: &str, out: &mut Vec<u8>) -> usize {
        let id = item.id.map_or_else(|| response::new_id(prefix, &mut self.ids), Words::into_string);
        let item = Item { id: Some(id.as_str().into()), ..item };
        let output = self.items.len();
        self.frames.send("response.output_item.added", Place::item(output), &[("item", &item)], out);
        self.items.push(Added { id, parts: Vec::new(), after: vec::IntoIter::default(), whole: None });
        output
    }

    /// Ends an item, under the id that it was added with.
    pub(super) fn done(&mut self, output: usize, item: Item<'_>, out: &mut Vec<u8>) {
        if let Some(added) = self.items.get_mut(output) {
            let item = Item { id: Some(added.id.as_str().into()), ..item };
            let item = Json::of(&item).unwrap_or_default();
            self.frames.send("response.output_item.done", Place::item(output), &[("item", &item)], out);
            added.whole = Some(item);
        }
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
    pub(super) fn carry(&mut self, item: Option<Item<'_>>, out: &mut Vec<u8>) {
        if let Some(item) = item {
            let output = self.add(Item { encrypted_content: None, ..item.clone() }, "rs", out);
            self.done(output, item, out);
        }
    }
}

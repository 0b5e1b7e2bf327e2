//! Wire frames to events.
//!
//! Everything is keyed by `output_index`: ids of items change between the events of some relays. A block opens with
//! `output_item.added` (a text with its part) and closes with `output_item.done`, whose copy of the item is the one that
//! counts. What the terminal event holds beyond that is added before the end; what it repeats in other words (reasoning
//! encrypted once more, new ids) comes too late for blocks that are closed.

use std::collections::BTreeMap;

use super::open::{OpenBlock, OpenItem};
use super::wire::{Delta, Frame, Kind, PartPlace};
use crate::dialect::openai_responses::content::{leftovers, other};
use crate::dialect::openai_responses::response::{self, Asks};
use crate::dialect::openai_responses::wire::{self, Any, Item, Object, is, take_text};
use crate::dialect::openai_responses::{DIALECT, error, items};
use crate::dialect::{Fault, Ids, ReadFrames, Seen};
use crate::json::wire::Text as Words;
use crate::{Block, BlockKind, Event, Fields, Part, ProviderData, Text, ThinkingBlock};

/// Reads the frames of a stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    started: bool,
    /// The place of the next block.
    next: usize,
    items: BTreeMap<u64, OpenItem>,
    /// The item of the latest frame, for frames that do not say theirs.
    current: u64,
    asks: Asks,
}

impl ReadFrames for Decoder {
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        // Some compatible servers end like Chat Completions.
        if data.trim() == "[DONE]" {
            return Ok(Seen::Known);
        }
        if let Some((delta, kind, piece)) = Delta::read(data) {
            self.current = delta.output_index.unwrap_or(self.current);
            self.piece(self.current, kind, delta.part(), piece, out);
            return Ok(Seen::Known);
        }
        self.read(&serde_json::from_str(data)?, name, data, out)
    }

    fn end(&mut self, _out: &mut Vec<Event>) -> Result<(), Fault> {
        Err(Fault::CutOff)
    }
}

impl Decoder {
    /// A reader of one stream.
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder { ids, started: false, next: 0, items: BTreeMap::new(), current: 0, asks: Asks::default() }
    }

    fn read(&mut self, frame: &Frame<'_>, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let at = frame.output_index().unwrap_or(self.current);
        let kind = frame.kind.as_ref().map(Words::as_str).or(name).unwrap_or_default();
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => self.begin(frame.response(), out),
            "response.output_item.added" => {
                self.current = at;
                self.item_added(at, frame.item(), out);
            }
            "response.output_item.done" => {
                self.start(out);
                self.item_done(at, Any::Object(frame.item()), out);
            }
            "response.content_part.added" => {
                let part: wire::Part<'_> = frame.content_part();
                if is(&part.kind, "output_text") || is(&part.kind, "refusal") {
                    let kind = if is(&part.kind, "refusal") { Kind::Refusal } else { Kind::Text };
                    self.text_block(at, frame.part().content, kind, out);
                }
            }
            "response.output_text.done" => self.whole_text(at, Kind::Text, frame, out),
            "response.refusal.done" => self.whole_text(at, Kind::Refusal, frame, out),
            "response.reasoning_summary_text.done" => self.whole_summary(at, frame, out),
            "response.reasoning_text.done" => {
                let untold = self.items.get(&at).is_none_or(|item| item.source.is_none());
                if let Some(whole) = frame.whole(Kind::Reasoning).filter(|_| untold) {
                    self.piece(at, Kind::Reasoning, frame.part(), whole.into_owned(), out);
                }
            }
            "response.function_call_arguments.done" => {
                let item = self.items.entry(at).or_insert_with(|| OpenItem::of_kind("function_call"));
                if let (Some(whole), Some(call)) = (frame.whole(Kind::Arguments), item.only(BlockKind::ToolCall)) {
                    call.reconcile(&whole, out);
                }
            }
            // The same again, which `output_item.done` repeats once more.
            "response.content_part.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done" => {}
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.finish(frame, data, out)?;
            }
            "error" | "response.error" => return Err(error::of_event(data).into()),
            "keepalive" | "ping" => {}
            _ if frame.error.is_some() => return Err(error::of_event(data).into()),
            _ => {
                let item = frame.output_index().and_then(|at| self.items.get(&at));
                let open = item.and_then(|item| item.blocks.get(&frame.part().content));
                return Ok(Seen::Unknown(open.map(|open| open.index)));
            }
        }
        Ok(Seen::Known)
    }

    /// A piece of a text, of thinking or of arguments.
    fn piece(&mut self, at: u64, kind: Kind, part: PartPlace, piece: String, out: &mut Vec<Event>) {
        match kind {
            Kind::Text | Kind::Refusal => {
                if let Some(open) = self.text_block(at, part.content, kind, out) {
                    open.say(piece, out);
                }
            }
            Kind::Summary | Kind::Reasoning => {
                if !self.items.contains_key(&at) {
                    self.start(out);
                    self.open_thinking(at, OpenItem::of_kind("reasoning"), out);
                }
                let Some(item) = self.items.get_mut(&at).filter(|item| !item.done) else { return };
                if *item.source.get_or_insert(kind) != kind {
                    return;
                }
                if kind == Kind::Summary {
                    item.summary_part = Some(part.summary);
                }
                if let Some(open) = item.only(BlockKind::Thinking) {
                    open.say(piece, out);
                }
            }
            Kind::Arguments => {
                let item = self.items.entry(at).or_insert_with(|| OpenItem::of_kind("function_call"));
                if let Some(call) = item.only(BlockKind::ToolCall) {
                    call.say(piece, out);
                }
            }
        }
    }

    /// The open text block of a part, opened if it is not there yet. `None` if its item is closed.
    fn text_block(&mut self, at: u64, part: u64, kind: Kind, out: &mut Vec<Event>) -> Option<&mut OpenBlock> {
        let known = self.items.get(&at).is_some_and(|item| item.done || item.blocks.contains_key(&part));
        if !known {
            self.start(out);
            let index = self.take_place();
            let item = self.items.entry(at).or_insert_with(|| {
                let mut item = OpenItem::of_kind("message");
                item.header.set_part(DIALECT, Part::Shape, "item", Fields::default());
                item
            });
            let mut block = Text { provider_data: std::mem::take(&mut item.header), ..Text::default() };
            if kind == Kind::Refusal {
                block.provider_data.set_part(DIALECT, Part::Shape, "refusal", true);
            }
            item.blocks.insert(part, OpenBlock::new(index, BlockKind::Text));
            out.push(Event::BlockStart { index, block: Block::Text(block) });
        }
        self.items.get_mut(&at)?.blocks.get_mut(&part).filter(|open| open.kind == BlockKind::Text)
    }

    fn open_thinking(&mut self, at: u64, mut item: OpenItem, out: &mut Vec<Event>) {
        let index = self.take_place();
        let mut block = ThinkingBlock::default();
        if let Some(id) = &item.id {
            block.provider_data.set_part(DIALECT, Part::State, "id", id.as_str());
        }
        item.blocks.insert(0, OpenBlock::new(index, BlockKind::Thinking));
        self.items.insert(at, item);
        out.push(Event::BlockStart { index, block: Block::Thinking(block) });
    }

    fn take_place(&mut self) -> usize {
        let index = self.next;
        self.next = self.next.saturating_add(1);
        index
    }

    fn start(&mut self, out: &mut Vec<Event>) {
        if !self.started {
            self.started = true;
            out.push(Event::Start { id: None, model: None, provider_data: ProviderData::default() });
        }
    }

    fn begin(&mut self, body: wire::Response<'_>, out: &mut Vec<Event>) {
        if self.started {
            return;
        }
        self.started = true;
        let mut parsed = response::parse(body);
        // Where the answer stands now says nothing about its end, which repeats the rest.
        parsed.data.remove_part(DIALECT, Part::Shape, "status");
        parsed.data.take_part(DIALECT, Part::Answer);
        out.push(Event::Start { id: parsed.id, model: parsed.model, provider_data: parsed.data });
    }

    fn item_added(&mut self, at: u64, mut item: Item<'_>, out: &mut Vec<Event>) {
        self.start(out);
        if let Some(before) = self.items.remove(&at) {
            // A server that numbers every item the same.
            self.close(before, out);
        }
        let kind = item.kind.as_ref().and_then(Any::as_str).unwrap_or("message").to_owned();
        let id = item.id.as_ref().and_then(Any::as_str).map(str::to_owned);
        let mut state = OpenItem { id, kind, ..OpenItem::default() };
        match state.kind.as_str() {
            "message" => {
                let head = leftovers(&items::head(&mut item));
                state.header.set_part(DIALECT, Part::Shape, "item", head);
                let rest = leftovers(&Item { kind: None, role: None, content: None, ..item });
                items::keep_item_fields(&mut state.header, rest);
                self.items.insert(at, state);
            }
            "reasoning" => self.open_thinking(at, state, out),
            "function_call" => {
                let words = |value| take_text(value).filter(|text| !text.is_empty());
                let arguments = words(&mut item.arguments).unwrap_or_default();
                // One without a name opens when its whole comes.
                if let (Some(id), Some(name)) = (words(&mut item.call_id), words(&mut item.name)) {
                    let mut call = self.open_call(state.id.as_deref(), id, name, out);
                    call.say(arguments, out);
                    state.blocks.insert(0, call);
                }
                self.items.insert(at, state);
            }
            _ => {
                let index = self.take_place();
                state.blocks.insert(0, OpenBlock::new(index, BlockKind::Other));
                self.items.insert(at, state);
                out.push(Event::BlockStart { index, block: Block::Other(other(&item)) });
            }
        }
    }
    /// Opens a call with the id of its item, so that it is known from the start.
    fn open_call(&mut self, item: Option<&str>, id: String, name: String, out: &mut Vec<Event>) -> OpenBlock {
        let index = self.take_place();
        let mut provider_data = ProviderData::default();
        if let Some(item) = item {
            provider_data.set_part(DIALECT, Part::Shape, "id", item);
        }
        let id = if id.is_empty() { format!("call_{}", self.ids.next_id()) } else { id };
        out.push(Event::ToolCallStart { index, id, name, provider_data });
        OpenBlock::new(index, BlockKind::ToolCall)
    }

    fn whole_text(&mut self, at: u64, kind: Kind, frame: &Frame<'_>, out: &mut Vec<Event>) {
        if let Some(whole) = frame.whole(kind)
            && let Some(open) = self.text_block(at, frame.part().content, kind, out)
        {
            open.reconcile(&whole, out);
        }
    }

    /// A part of a summary that no delta brought.
    fn whole_summary(&mut self, at: u64, frame: &Frame<'_>, out: &mut Vec<Event>) {
        let part = frame.part().summary;
        let told = self.items.get(&at).and_then(|item| item.summary_part).is_some_and(|last| last >= part);
        if let Some(whole) = frame.whole(Kind::Summary).filter(|_| !told) {
            self.piece(at, Kind::Summary, frame.part(), whole.into_owned(), out);
        }
    }

    /// The whole item: what was streamed of it is completed and closed.
    fn item_done(&mut self, at: u64, item: Object<'_, Item<'_>>, out: &mut Vec<Event>) {
        let mut state = self.items.remove(&at).unwrap_or_default();
        if !state.done {
            if let Any::Object(item) = &item {
                state.id = item.id.as_ref().and_then(Any::as_str).map(str::to_owned).or(state.id);
                state.kind = item.kind.as_ref().and_then(Any::as_str).unwrap_or("message").to_owned();
            }
            let mut open = std::mem::take(&mut state.blocks).into_values();
            for block in items::decode(item, Part::Answer) {
                self.asks.see(&block);
                match open.next() {
                    Some(open) if open.kind == block.kind() => open.complete(block, out),
                    Some(open) => open.close(out),
                    None => self.whole_block(block, out),
                }
            }
            open.for_each(|open| open.close(out));
            state.done = true;
        }
        self.items.insert(at, state);
    }

    /// A block that comes in one piece.
    fn whole_block(&mut self, mut block: Block, out: &mut Vec<Event>) {
        if let Block::ToolCall(call) = block {
            let item = call.provider_data.part_str(DIALECT, Part::Shape, "id");
            let open = self.open_call(item.as_deref(), call.id.clone(), call.name.clone(), out);
            return open.complete(Block::ToolCall(call), out);
        }
        let mut open = OpenBlock::new(self.take_place(), block.kind());
        let piece = match &mut block {
            Block::Text(text) => std::mem::take(&mut text.text),
            Block::Thinking(thinking) => std::mem::take(&mut thinking.text),
            _ => String::new(),
        };
        out.push(Event::BlockStart { index: open.index, block });
        open.say(piece, out);
        open.close(out);
    }

    /// Closes what is open of an item whose whole never came.
    fn close(&mut self, item: OpenItem, out: &mut Vec<Event>) {
        for open in item.blocks.into_values() {
            self.asks.tools |= open.kind == BlockKind::ToolCall;
            open.close(out);
        }
    }

    fn finish(&mut self, frame: &Frame<'_>, data: &str, out: &mut Vec<Event>) -> Result<(), Fault> {
        self.begin(frame.response(), out);
        let mut parsed = response::parse(frame.response());
        // Some relays say something beside the response object.
        let mut beside: Fields = serde_json::from_str(data).unwrap_or_default();
        beside.retain(|name, _| !matches!(name, "type" | "sequence_number" | "response" | "obfuscation"));
        parsed.data.extend_part(DIALECT, Part::Answer, beside);
        self.complete_items(std::mem::take(&mut parsed.output), out);
        for (_, item) in std::mem::take(&mut self.items) {
            self.close(item, out);
        }
        if let Some(usage) = parsed.usage {
            out.push(Event::Usage { usage });
        }
        if let Some(error) = parsed.error {
            return Err(Fault::Failed(error));
        }
        let finish_reason = response::finish(&parsed.data, self.asks);
        out.push(Event::Done { finish_reason, provider_data: parsed.data });
        Ok(())
    }

    /// The items of the terminal event: those that never ended are completed, those that never came are added.
    ///
    /// They are found by id, else by place: some relays change ids, some leave out places.
    fn complete_items(&mut self, output: Vec<Object<'_, Item<'_>>>, out: &mut Vec<Event>) {
        let by_id: BTreeMap<String, u64> =
            self.items.iter().filter_map(|(at, item)| Some((item.id.clone()?, *at))).collect();
        let all_seen = self.items.len() >= output.len();
        let mut beyond = self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (place, item) in (0_u64..).zip(output) {
            let Any::Object(item) = item else { continue };
            let kind = item.kind.as_ref().and_then(Any::as_str).unwrap_or("message");
            let same = item.id.as_ref().and_then(Any::as_str).and_then(|id| by_id.get(id)).copied();
            let same_place = || self.items.get(&place).filter(|seen| seen.kind == kind).map(|_| place);
            match same.or_else(same_place) {
                Some(at) => self.item_done(at, Any::Object(item), out),
                None if all_seen => {}
                None => {
                    self.item_done(beyond, Any::Object(item), out);
                    beyond = beyond.saturating_add(1);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

//! Wire frames to events.
//!
//! Everything is keyed by `output_index`: some relays change item ids between events. A block opens with
//! `output_item.added` (a text with its part) and closes with `output_item.done`, whose copy of the item is
//! authoritative. Anything more in the terminal event is added; if it differs, that is too late for closed blocks.

use std::collections::BTreeMap;

use super::open::{OpenBlock, OpenItem};
use super::wire::{Frame, Kind, said};
use crate::dialect::openai_responses::response::{self, Asks, Parsed};
use crate::dialect::openai_responses::wire::{Entry, Item, Items, word};
use crate::dialect::openai_responses::{DIALECT, content, error, hosted, items};
use crate::dialect::weight::Weigh as _;
use crate::dialect::{Fault, Ids, ReadFrames, Seen};
use crate::json::loose::{self, Loose as _};
use crate::json::many::find;
use crate::json::wire::Text as Words;
use crate::server::alike::{Alike, words};
use crate::span::Ruler;
use crate::{
    Block, BlockKind, Event, Fields, FoundSource, Json, Limits, Other, Part, ProviderData, Text, ThinkingBlock,
};

/// The reader of a stream's frames.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    ids: Ids,
    limits: Limits,
    started: bool,
    /// The index of the next block.
    next: usize,
    items: BTreeMap<u64, OpenItem>,
    /// The item of the latest frame, for frames without an index.
    current: u64,
    asks: Asks,
    /// Citations in text blocks that do not exist.
    loose: Vec<FoundSource>,
    /// The form of the last frame with a piece, and what it was a piece of.
    alike: Alike<()>,
    piece: Piece,
}

/// What a piece belongs to.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    kind: Kind,
    /// The `output_index` of its item.
    at: u64,
    /// Its `content_index`.
    part: u64,
}

impl ReadFrames for Decoder {
    fn glance(&mut self, data: &str, out: &mut Vec<Event>) -> Option<()> {
        let mut said = None;
        self.alike.read(data.as_bytes(), |(), place| said = data.get(place))?;
        self.say(self.piece, words(said?)?.into_owned(), out);
        Some(())
    }

    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let mut frame = Frame::default();
        match loose::read(data, &mut frame) {
            Ok(None) => self.read(frame, name, data, out),
            // Some compatible servers end like Chat Completions.
            Ok(Some(_)) | Err(_) if data.trim() == "[DONE]" => Ok(Seen::Known),
            Ok(Some(_)) => Err(Fault::Broken("a frame has to be an object".to_owned())),
            Err(fault) => Err(fault.into()),
        }
    }

    fn end(&mut self, _out: &mut Vec<Event>) -> Result<(), Fault> {
        Err(Fault::CutOff)
    }

    fn held(&self) -> usize {
        self.items.weight() + self.loose.weight()
    }
}

impl Decoder {
    /// Creates a reader for one stream.
    pub(crate) fn new(ids: Ids, limits: &Limits) -> Self {
        Decoder { ids, limits: *limits, ..Decoder::default() }
    }

    fn read(
        &mut self,
        mut frame: Frame<'_>,
        name: Option<&str>,
        data: &str,
        out: &mut Vec<Event>,
    ) -> Result<Seen, Fault> {
        let at = frame.output_index.unwrap_or(self.current);
        let kind = frame.kind.take();
        let is_typed = kind.is_some();
        let kind = kind.as_ref().map(Words::as_str).or(name).unwrap_or_default();
        let (beginning, ending) = kind.rsplit_once('.').unwrap_or_default();
        if ending == "delta"
            && let Some(of) = Kind::of(beginning)
            && let Some(text) = frame.delta.take()
        {
            self.piece = Piece { kind: of, at, part: frame.content_index.unwrap_or(0) };
            match frame.output_index.filter(|_| is_typed) {
                Some(_) => self.alike.learn_parts(data, frame.passed_over().chain([said(&text)])),
                None => self.alike.forget(),
            }
            self.say(self.piece, text.into_string(), out);
            return Ok(Seen::Known);
        }
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                if !self.started {
                    self.begin(&response::parse(*frame.response.unwrap_or_default()), out);
                }
            }
            "response.output_item.added" => {
                self.current = at;
                self.item_added(at, *frame.item.unwrap_or_default(), out);
            }
            "response.output_item.done" => {
                self.start(out);
                self.item_done(at, *frame.item.unwrap_or_default(), out);
            }
            "response.content_part.added" => {
                let part = frame.content_index.unwrap_or(0);
                match frame.part.as_ref().map_or("", |part| word(&part.kind)) {
                    "output_text" => drop(self.text_block(at, part, Kind::Text, out)),
                    "refusal" => drop(self.text_block(at, part, Kind::Refusal, out)),
                    "" | "text" | "input_text" => {}
                    _ => self.other_part(at, part, frame.part.as_ref().map(content::other), out),
                }
            }
            "response.output_text.annotation.added" => {
                let wire = find(&frame.rest, "annotation").map(Json::copy).filter(Json::is_object);
                let item = self.items.get_mut(&at).filter(|item| !item.done);
                let open = item.and_then(|item| item.blocks.get_mut(&frame.content_index.unwrap_or(0)));
                let Some(wire) = wire else { return Ok(Seen::Unknown(None)) };
                let Some(open) = open else {
                    self.loose.push((&hosted::citation(wire, &Ruler::default())).into());
                    return Ok(Seen::Unknown(None));
                };
                open.cite(wire, out);
            }
            // Repetitions that `output_item.done` contains too; and keepalives.
            _ if ending == "done" && Kind::of(beginning).is_some() => {}
            "response.content_part.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "keepalive"
            | "ping" => {}
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.finish(frame, out)?;
            }
            "" if find(&frame.rest, "object").is_some_and(|object| object.get() == "\"response\"") => {
                return Ok(Seen::Whole);
            }
            "error" | "response.error" => return Err(error::of_event(data).into()),
            _ if frame.error.is_some() => return Err(error::of_event(data).into()),
            "" if !self.started
                && let Some(error) = error::of_body(data) =>
            {
                return Err(error.into());
            }
            _ => {
                let item = frame.output_index.and_then(|at| self.items.get(&at));
                let open = item.and_then(|item| item.blocks.get(&frame.content_index.unwrap_or(0)));
                return Ok(Seen::Unknown(open.map(|open| open.index)));
            }
        }
        Ok(Seen::Known)
    }

    /// Adds a piece of text, thinking or arguments.
    fn say(&mut self, Piece { kind, at, part }: Piece, text: String, out: &mut Vec<Event>) {
        self.current = at;
        let block = match kind {
            Kind::Text | Kind::Refusal => self.text_block(at, part, kind, out),
            Kind::Summary | Kind::Reasoning => {
                if !self.items.contains_key(&at) {
                    self.start(out);
                    self.open_thinking(at, OpenItem::of_kind("reasoning"), out);
                }
                let item = self.items.get_mut(&at).filter(|item| !item.done);
                let item = item.filter(|item| item.source.is_none_or(|source| source == kind));
                item.and_then(|item| {
                    item.source = Some(kind);
                    item.only(BlockKind::Thinking)
                })
            }
            Kind::Arguments => {
                let item = self.items.entry(at).or_insert_with(|| OpenItem::of_kind("function_call"));
                item.only(BlockKind::ToolCall)
            }
        };
        if let Some(block) = block {
            block.say(text, out);
        }
    }

    /// Returns the open text block of a part, opening it if necessary. `None` if its item is closed.
    fn text_block(&mut self, at: u64, part: u64, kind: Kind, out: &mut Vec<Event>) -> Option<&mut OpenBlock> {
        let known = self.items.get(&at).is_some_and(|item| item.done || item.blocks.contains_key(&part));
        if !known {
            self.start(out);
            let waiting = self.items.get_mut(&at).map(|item| std::mem::take(&mut item.waiting));
            let mut before = waiting.unwrap_or_default();
            let later = before.split_off(&part);
            if let Some(item) = self.items.get_mut(&at) {
                items::mark_before(&mut item.header, before.values());
            }
            self.open_others(at, before, out);
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
            self.open_others(at, later, out);
        }
        self.items.get_mut(&at)?.blocks.get_mut(&part).filter(|open| open.kind == BlockKind::Text)
    }

    /// Opens the block of a message's unknown part, or lets it wait for the first text.
    fn other_part(&mut self, at: u64, part: u64, other: Option<Other>, out: &mut Vec<Event>) {
        let is_message =
            |item: &&mut OpenItem| item.kind == "message" && !item.done && !item.blocks.contains_key(&part);
        if let (Some(item), Some(other)) = (self.items.get_mut(&at).filter(is_message), other) {
            if item.blocks.is_empty() {
                item.waiting.insert(part, other);
            } else {
                self.open_others(at, BTreeMap::from([(part, other)]), out);
            }
        }
    }

    fn open_others(&mut self, at: u64, others: BTreeMap<u64, Other>, out: &mut Vec<Event>) {
        for (part, other) in others {
            let index = self.take_place();
            if let Some(item) = self.items.get_mut(&at) {
                item.blocks.insert(part, OpenBlock::new(index, BlockKind::Other));
                out.push(Event::BlockStart { index, block: Block::Other(other) });
            }
        }
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
        self.begin(&Parsed::default(), out);
    }

    fn begin(&mut self, parsed: &Parsed<'_>, out: &mut Vec<Event>) {
        if self.started {
            return;
        }
        self.started = true;
        let mut provider_data = parsed.data.clone();
        // The current status says nothing about the end, which repeats the rest.
        provider_data.remove_part(DIALECT, Part::Shape, "status");
        provider_data.take_part(DIALECT, Part::Answer);
        out.push(Event::Start { id: parsed.id.clone(), model: parsed.model.clone(), provider_data });
    }

    fn item_added(&mut self, at: u64, mut item: Item<'_>, out: &mut Vec<Event>) {
        self.start(out);
        if let Some(before) = self.items.remove(&at) {
            // The server gives every item the same index.
            self.close(before, out);
        }
        let mut state = OpenItem::of(&item);
        match state.kind.as_str() {
            "message" => {
                let beside = Item { kind: None, role: None, content: Default::default(), ..item };
                items::begin_item(&mut state.header, Fields::default(), beside);
            }
            "reasoning" => return self.open_thinking(at, state, out),
            "function_call" => {
                // One without a name opens once the complete item arrives.
                if !word(&item.call_id).is_empty() && !word(&item.name).is_empty() {
                    let mut call = self.open_call(state.id.as_deref(), word(&item.call_id), word(&item.name), out);
                    call.say(item.arguments.take().unwrap_or_default().into_string(), out);
                    state.blocks.insert(0, call);
                }
            }
            _ => {
                // A call of a tool that the API runs is two blocks, unfinished for now.
                for (part, block) in (0..).zip(items::decode(Entry::Fits(item), Part::Answer)) {
                    let index = self.take_place();
                    state.blocks.insert(part, OpenBlock::new(index, block.kind()));
                    out.push(Event::BlockStart { index, block });
                }
            }
        }
        self.items.insert(at, state);
    }

    /// Opens a call with the id of its item, so that it is known from the start.
    fn open_call(&mut self, item: Option<&str>, id: &str, name: &str, out: &mut Vec<Event>) -> OpenBlock {
        let index = self.take_place();
        let mut provider_data = ProviderData::default();
        if let Some(item) = item {
            provider_data.set_part(DIALECT, Part::Shape, "id", item);
        }
        let id = if id.is_empty() { format!("call_{}", self.ids.next_id()) } else { id.to_owned() };
        out.push(Event::ToolCallStart { index, id, name: name.to_owned(), provider_data });
        OpenBlock::new(index, BlockKind::ToolCall)
    }

    /// Reads the complete item: the streamed part is completed and closed.
    fn item_done(&mut self, at: u64, item: Item<'_>, out: &mut Vec<Event>) {
        let mut state = self.items.remove(&at).unwrap_or_default();
        if !state.done {
            let whole = OpenItem::of(&item);
            state.id = whole.id.or(state.id);
            state.kind = whole.kind;
            let mut open = std::mem::take(&mut state.blocks);
            let blocks = items::decode(Entry::Fits(item), Part::Answer);
            // Not every part was announced. Numbers that do not fit only show the order.
            let by_part = open.len() < blocks.len()
                && open.keys().all(|part| usize::try_from(*part).is_ok_and(|part| part < blocks.len()));
            for (part, block) in (0..).zip(blocks) {
                self.asks.see(&block);
                let open = if by_part { open.remove(&part) } else { open.pop_first().map(|(_, open)| open) };
                match open {
                    Some(open) if open.kind == block.kind() => open.complete(block, out),
                    Some(open) => {
                        let is_unknown = open.kind == BlockKind::Other || block.kind() == BlockKind::Other;
                        open.close(out);
                        if is_unknown {
                            self.whole_block(block, out);
                        }
                    }
                    None => self.whole_block(block, out),
                }
            }
            open.into_values().for_each(|open| open.close(out));
            state.waiting.clear();
            state.done = true;
        }
        self.items.insert(at, state);
    }

    /// Adds a block that comes in one piece.
    fn whole_block(&mut self, mut block: Block, out: &mut Vec<Event>) {
        if let Block::ToolCall(call) = block {
            let item = call.provider_data.part_str(DIALECT, Part::Shape, "id");
            let open = self.open_call(item.as_deref(), &call.id, &call.name, out);
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

    /// Closes the open blocks of an item that was never completed.
    fn close(&mut self, item: OpenItem, out: &mut Vec<Event>) {
        for open in item.blocks.into_values() {
            self.asks.tools |= open.kind == BlockKind::ToolCall;
            open.close(out);
        }
        for other in item.waiting.into_values() {
            self.whole_block(Block::Other(other), out);
        }
    }

    fn finish(&mut self, mut frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        let mut parsed = response::parse(*frame.response.take().unwrap_or_default());
        // The driver counts blocks too, but only after the frame, which may have very many.
        self.limits.check_answer_blocks(parsed.output.len())?;
        self.begin(&parsed, out);
        // Some relays add fields next to the response object.
        let mut beside = frame.leftovers();
        beside.retain(|name, _| !matches!(name, "sequence_number" | "response" | "obfuscation"));
        parsed.data.extend_part(DIALECT, Part::Answer, beside);
        self.complete_items(std::mem::take(&mut parsed.output), out);
        for (_, item) in std::mem::take(&mut self.items) {
            self.close(item, out);
        }
        let sources = std::mem::take(&mut self.loose);
        out.extend((!sources.is_empty()).then_some(Event::Sources { sources }));
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

    /// Reads the items of the terminal event: unfinished ones are completed, missing ones are added.
    ///
    /// They are matched by id, or else by index: some relays change ids, some skip indices.
    fn complete_items(&mut self, output: Items<'_>, out: &mut Vec<Event>) {
        let by_id: BTreeMap<String, u64> =
            self.items.iter().filter_map(|(at, item)| Some((item.id.clone()?, *at))).collect();
        let all_seen = self.items.len() >= output.len();
        let mut beyond = self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (place, item) in (0_u64..).zip(output) {
            let Entry::Fits(item) = item else { continue };
            let kind = OpenItem::kind_of(&item);
            let same_place = || self.items.get(&place).filter(|seen| seen.kind == kind).map(|_| place);
            match by_id.get(word(&item.id)).copied().or_else(same_place) {
                Some(at) => self.item_done(at, item, out),
                None if all_seen => {}
                None => {
                    self.item_done(beyond, item, out);
                    beyond = beyond.saturating_add(1);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

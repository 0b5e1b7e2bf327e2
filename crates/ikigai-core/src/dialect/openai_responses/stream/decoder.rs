//! Wire frames to events.
//!
//! Everything is keyed by `output_index`: ids of items change between the events of some relays. A block opens with
//! `output_item.added` (a text with its part) and closes with `output_item.done`, whose copy of the item is the one that
//! counts. What the terminal event holds beyond that is added before the end; what it repeats in other words (reasoning
//! encrypted once more, new ids) comes too late for blocks that are closed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::delta::{Frame, Kind, Seen};
use super::open::{Item, Open, OpenKind};
use crate::dialect::openai_responses::fields::{other, take_object, take_text, text};
use crate::dialect::openai_responses::response::{self, Asks};
use crate::dialect::openai_responses::{ME, Object, error, items};
use crate::dialect::{Ids, ReadFrames};
use crate::{Block, Error, Event, ProviderData, Text, ThinkingBlock, ToolCall};

/// The longest piece of a frame that an error shows, in characters.
const EXCERPT: usize = 200;

/// Reads the frames of a stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    frames: u64,
    started: bool,
    ended: bool,
    /// The place of the next block.
    next: usize,
    last_is_text: bool,
    items: BTreeMap<u64, Item>,
    /// The item of the latest frame, for frames that do not say theirs.
    current: u64,
    asks: Asks,
}

impl ReadFrames for Decoder {
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        self.frames = self.frames.saturating_add(1);
        let frame = Frame::read(data);
        if let Some(frame) = &frame
            && let Some(kind) = frame.delta_kind()
            && let Some(text) = frame.text()
        {
            self.delta(frame, kind, text, out);
            return;
        }
        self.other_frame(name, data, out);
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        if !self.ended {
            self.fail(Error::protocol("the stream ended without its end: the answer is cut off"), out);
        }
    }
}

impl Decoder {
    /// A reader of one stream.
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            frames: 0,
            started: false,
            ended: false,
            next: 0,
            last_is_text: false,
            items: BTreeMap::new(),
            current: 0,
            asks: Asks::default(),
        }
    }

    fn delta(&mut self, frame: &Frame<'_>, kind: Kind, text: String, out: &mut Vec<Event>) {
        let at = frame.output_index.unwrap_or(self.current);
        self.current = at;
        match kind {
            Kind::Text | Kind::Refusal => {
                let part = frame.content_index.unwrap_or(0);
                if let Some(open) = self.text_block(at, part, kind == Kind::Refusal, out) {
                    open.seen.push(&text);
                    out.push(Event::TextDelta { index: open.index, text });
                }
            }
            Kind::Summary | Kind::Reasoning => {
                if let Some((item, index)) = self.thinking_block(at, kind, out) {
                    if kind == Kind::Summary {
                        item.summary_part = Some(frame.summary_index.unwrap_or(0));
                    }
                    if let Some(open) = item.blocks.get_mut(&0) {
                        open.seen.push(&text);
                    }
                    out.push(Event::ThinkingDelta { index, text });
                }
            }
            Kind::Arguments => {
                let item = self.items.entry(at).or_insert_with(|| Item::of_kind("function_call"));
                item.arguments.push_str(&text);
                if let Some(open) = item.blocks.get_mut(&0).filter(|open| open.kind == OpenKind::Call) {
                    out.push(Event::ToolCallDelta { index: open.index, arguments: text });
                }
            }
        }
    }

    /// The open text block of a part, opened when it is not there yet. None when its item is closed.
    fn text_block(&mut self, at: u64, part: u64, refusal: bool, out: &mut Vec<Event>) -> Option<&mut Open> {
        let known = self.items.get(&at).is_some_and(|item| item.done || item.blocks.contains_key(&part));
        if !known {
            self.start(out);
            let after_text = self.last_is_text;
            let index = self.take_place(true);
            let item = self.items.entry(at).or_insert_with(|| Item::of_kind("message"));
            let mut block = Text::default();
            if item.blocks.is_empty() {
                item.after_text = after_text;
                if after_text || !item.header.is_empty() {
                    block.provider_data.set(ME, "item", Value::Object(std::mem::take(&mut item.header)));
                }
            }
            if refusal {
                block.provider_data.set(ME, "refusal", true);
            }
            item.blocks.insert(part, Open { index, kind: OpenKind::Text, seen: Seen::default() });
            out.push(Event::BlockStart { index, block: Block::Text(block) });
        }
        self.items.get_mut(&at)?.blocks.get_mut(&part).filter(|open| open.kind == OpenKind::Text)
    }

    /// The open thinking block of an item, opened when it is not there yet. None when this kind of delta is not shown.
    fn thinking_block(&mut self, at: u64, kind: Kind, out: &mut Vec<Event>) -> Option<(&mut Item, usize)> {
        if !self.items.contains_key(&at) {
            self.start(out);
            self.open_thinking(at, Item::of_kind("reasoning"), out);
        }
        let item = self.items.get_mut(&at)?;
        let index = item.blocks.get(&0).filter(|open| open.kind == OpenKind::Thinking)?.index;
        (*item.source.get_or_insert(kind) == kind).then_some((item, index))
    }

    fn open_thinking(&mut self, at: u64, mut item: Item, out: &mut Vec<Event>) {
        let index = self.take_place(false);
        let mut block = ThinkingBlock::default();
        if let Some(id) = &item.id {
            block.provider_data.set(ME, "id", id.as_str());
        }
        item.blocks.insert(0, Open { index, kind: OpenKind::Thinking, seen: Seen::default() });
        self.items.insert(at, item);
        out.push(Event::BlockStart { index, block: Block::Thinking(block) });
    }

    fn take_place(&mut self, is_text: bool) -> usize {
        let index = self.next;
        self.next = self.next.saturating_add(1);
        self.last_is_text = is_text;
        index
    }

    fn start(&mut self, out: &mut Vec<Event>) {
        if !self.started {
            self.started = true;
            out.push(Event::Start { id: None, model: None, provider_data: ProviderData::default() });
        }
    }

    fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        self.ended = true;
        out.push(Event::Error { error: Box::new(error) });
    }

    fn other_frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        // Some compatible servers end like Chat Completions.
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return;
        }
        let mut event = match serde_json::from_str::<Value>(data) {
            Ok(Value::Object(event)) => event,
            Ok(_) => return self.fail(self.broken("is no JSON object", data), out),
            Err(fault) => return self.fail(self.broken(&format!("is no JSON ({fault})"), data), out),
        };
        let kind = text(&event, "type").or(name).unwrap_or_default().to_owned();
        let at = event.get("output_index").and_then(Value::as_u64).unwrap_or(self.current);
        let part = event.get("content_index").and_then(Value::as_u64).unwrap_or(0);
        match kind.as_str() {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.begin(take_object(&mut event, "response").unwrap_or_default(), out);
            }
            "response.output_item.added" => {
                self.current = at;
                self.item_added(at, take_object(&mut event, "item").unwrap_or_default(), out);
            }
            "response.output_item.done" => {
                self.start(out);
                self.item_done(at, take_object(&mut event, "item").unwrap_or_default(), out);
            }
            "response.content_part.added" => match event.get("part").and_then(|part| part.get("type")) {
                Some(kind) if kind == "output_text" || kind == "refusal" => {
                    self.text_block(at, part, kind == "refusal", out);
                }
                _ => {}
            },
            "response.output_text.done" => {
                self.whole_text(at, part, false, take_text(&mut event, "text"), out);
            }
            "response.refusal.done" => {
                self.whole_text(at, part, true, take_text(&mut event, "refusal"), out);
            }
            "response.reasoning_summary_text.done" => {
                let part = event.get("summary_index").and_then(Value::as_u64).unwrap_or(0);
                self.whole_summary(at, part, take_text(&mut event, "text"), out);
            }
            "response.reasoning_text.done" => {
                let untold = self.items.get(&at).is_none_or(|item| item.source.is_none());
                if untold && let Some(whole) = take_text(&mut event, "text").filter(|text| !text.is_empty()) {
                    self.thinking_piece(at, Kind::Reasoning, whole, out);
                }
            }
            "response.function_call_arguments.done" => {
                self.whole_arguments(at, take_text(&mut event, "arguments"), out);
            }
            // The same again, which `output_item.done` repeats once more.
            "response.content_part.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done" => {}
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.finish(take_object(&mut event, "response").unwrap_or_default(), out);
            }
            "error" | "response.error" => self.fail(error::of_event(event), out),
            "keepalive" | "ping" => {}
            _ if event.get("error").is_some_and(|error| !error.is_null()) => self.fail(error::of_event(event), out),
            // Neither our dialect nor an error: a comment of some relay.
            "" => {}
            _ => {
                self.start(out);
                let block = self.items.get(&at).filter(|_| event.contains_key("output_index"));
                let index = block.and_then(|item| item.blocks.get(&part)).map(|open| open.index);
                out.push(Event::Other { index, dialect: ME, data: Value::Object(event).into() });
            }
        }
    }

    fn broken(&self, what: &str, data: &str) -> Error {
        let excerpt: String = data.chars().take(EXCERPT).collect();
        Error::protocol(format!("frame {} of the stream {what}: {excerpt}", self.frames))
    }

    fn begin(&mut self, body: Object, out: &mut Vec<Event>) {
        if self.started {
            return;
        }
        self.started = true;
        let mut parsed = response::parse(body);
        // Where the answer stands now is no word about its end.
        parsed.data.remove(ME, "status");
        out.push(Event::Start { id: parsed.id, model: parsed.model, provider_data: parsed.data });
    }

    fn item_added(&mut self, at: u64, mut item: Object, out: &mut Vec<Event>) {
        self.start(out);
        if let Some(before) = self.items.remove(&at) {
            // A server that numbers every item the same.
            self.close(before, out);
        }
        let kind = text(&item, "type").unwrap_or("message").to_owned();
        let mut state = Item { id: text(&item, "id").map(str::to_owned), kind: kind.clone(), ..Item::default() };
        match kind.as_str() {
            "message" => {
                for key in ["type", "role", "content"] {
                    item.shift_remove(key);
                }
                state.header = item;
                self.items.insert(at, state);
            }
            "reasoning" => self.open_thinking(at, state, out),
            "function_call" => {
                let id = take_text(&mut item, "call_id").filter(|id| !id.is_empty());
                let name = take_text(&mut item, "name").filter(|name| !name.is_empty());
                let arguments = take_text(&mut item, "arguments").unwrap_or_default();
                if let (Some(id), Some(name)) = (id, name) {
                    let call = ToolCall { id, name, ..ToolCall::default() };
                    self.open_call(&mut state, call, out);
                }
                state.arguments.push_str(&arguments);
                if let Some(open) = state.blocks.get(&0)
                    && !arguments.is_empty()
                {
                    out.push(Event::ToolCallDelta { index: open.index, arguments });
                }
                self.items.insert(at, state);
            }
            _ => {
                let index = self.take_place(false);
                state.blocks.insert(0, Open { index, kind: OpenKind::Other, seen: Seen::default() });
                self.items.insert(at, state);
                out.push(Event::BlockStart { index, block: Block::Other(other(item)) });
            }
        }
    }

    /// Opens a call with the id of its item, so that it is known from the start.
    fn open_call(&mut self, item: &mut Item, call: ToolCall, out: &mut Vec<Event>) {
        let index = self.take_place(false);
        let mut provider_data = ProviderData::default();
        if let Some(id) = &item.id {
            provider_data.set(ME, "id", id.as_str());
        }
        let id = if call.id.is_empty() { format!("call_{}", self.ids.next_id()) } else { call.id };
        item.blocks.insert(0, Open { index, kind: OpenKind::Call, seen: Seen::default() });
        out.push(Event::ToolCallStart { index, id, name: call.name, provider_data });
    }

    fn whole_text(&mut self, at: u64, part: u64, refusal: bool, whole: Option<String>, out: &mut Vec<Event>) {
        let Some(whole) = whole.filter(|whole| !whole.is_empty()) else { return };
        if let Some(open) = self.text_block(at, part, refusal, out) {
            open.reconcile(&whole, out);
        }
    }

    /// A part of a summary that no delta brought.
    fn whole_summary(&mut self, at: u64, part: u64, whole: Option<String>, out: &mut Vec<Event>) {
        let told = self.items.get(&at).and_then(|item| item.summary_part).is_some_and(|last| last >= part);
        if let Some(whole) = whole.filter(|whole| !told && !whole.is_empty()) {
            self.thinking_piece(at, Kind::Summary, whole, out);
            if let Some(item) = self.items.get_mut(&at) {
                item.summary_part = Some(part);
            }
        }
    }

    fn thinking_piece(&mut self, at: u64, kind: Kind, piece: String, out: &mut Vec<Event>) {
        if let Some((item, index)) = self.thinking_block(at, kind, out) {
            if let Some(open) = item.blocks.get_mut(&0) {
                open.seen.push(&piece);
            }
            out.push(Event::ThinkingDelta { index, text: piece });
        }
    }

    fn whole_arguments(&mut self, at: u64, whole: Option<String>, out: &mut Vec<Event>) {
        let Some(whole) = whole else { return };
        let item = self.items.entry(at).or_insert_with(|| Item::of_kind("function_call"));
        if let Some(open) = item.blocks.get(&0).filter(|open| open.kind == OpenKind::Call)
            && let Some(rest) = whole.strip_prefix(item.arguments.as_str()).filter(|rest| !rest.is_empty())
        {
            out.push(Event::ToolCallDelta { index: open.index, arguments: rest.to_owned() });
        }
        if !item.done {
            item.arguments = whole;
        }
    }

    /// The whole item: what was streamed of it is completed and closed.
    fn item_done(&mut self, at: u64, item: Object, out: &mut Vec<Event>) {
        let mut state = self.items.remove(&at).unwrap_or_default();
        if !state.done {
            state.id = text(&item, "id").map(str::to_owned).or(state.id);
            state.kind = text(&item, "type").unwrap_or("message").to_owned();
            let after_text = if state.blocks.is_empty() { self.last_is_text } else { state.after_text };
            let mut open = std::mem::take(&mut state.blocks).into_values();
            for block in items::decode(item, after_text) {
                self.asks.see(&block);
                match open.next() {
                    Some(open) if open.fits(&block) => open.complete(block, &state.arguments, out),
                    Some(open) => open.close(&state.arguments, out),
                    None => self.whole_block(block, &mut state, out),
                }
            }
            open.for_each(|open| open.close(&state.arguments, out));
            state.done = true;
            state.arguments = String::new();
        }
        self.items.insert(at, state);
    }

    /// A block that comes in one piece.
    fn whole_block(&mut self, mut block: Block, item: &mut Item, out: &mut Vec<Event>) {
        let mut piece = String::new();
        let open = match &mut block {
            Block::ToolCall(call) => {
                self.open_call(item, call.clone(), out);
                item.arguments.clear();
                item.blocks.remove(&0)
            }
            Block::Text(text) => {
                std::mem::swap(&mut piece, &mut text.text);
                None
            }
            Block::Thinking(thinking) => {
                std::mem::swap(&mut piece, &mut thinking.text);
                None
            }
            _ => None,
        };
        if let Some(open) = open {
            open.complete(block, "", out);
            return;
        }
        let is_text = matches!(block, Block::Text(_));
        let thinks = matches!(block, Block::Thinking(_));
        let index = self.take_place(is_text);
        out.push(Event::BlockStart { index, block });
        if !piece.is_empty() && is_text {
            out.push(Event::TextDelta { index, text: piece });
        } else if !piece.is_empty() && thinks {
            out.push(Event::ThinkingDelta { index, text: piece });
        }
        out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
    }

    /// Closes what is open of an item whose whole never came.
    fn close(&mut self, item: Item, out: &mut Vec<Event>) {
        self.asks.tools |= item.blocks.values().any(|open| open.kind == OpenKind::Call);
        for open in item.blocks.into_values() {
            open.close(&item.arguments, out);
        }
    }

    fn finish(&mut self, body: Object, out: &mut Vec<Event>) {
        if !self.started {
            self.begin(body.clone(), out);
        }
        let mut parsed = response::parse(body);
        let output = std::mem::take(&mut parsed.output);
        self.complete_items(output, out);
        for (_, item) in std::mem::take(&mut self.items) {
            self.close(item, out);
        }
        if let Some(usage) = parsed.usage {
            out.push(Event::Usage { usage });
        }
        match parsed.error {
            Some(error) => self.fail(*error, out),
            None => {
                self.ended = true;
                let finish_reason = response::finish(&parsed.data, self.asks);
                out.push(Event::Done { finish_reason, provider_data: parsed.data });
            }
        }
    }

    /// The items of the terminal event: those that never ended are completed, those that never came are added.
    ///
    /// They are found by id, else by place: some relays change ids, some leave out places.
    fn complete_items(&mut self, output: Vec<Value>, out: &mut Vec<Event>) {
        let by_id: BTreeMap<String, u64> =
            self.items.iter().filter_map(|(at, item)| Some((item.id.clone()?, *at))).collect();
        let all_seen = self.items.len() >= output.len();
        let mut beyond = self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (place, item) in (0_u64..).zip(output) {
            let Value::Object(item) = item else { continue };
            let kind = text(&item, "type").unwrap_or("message");
            let same = text(&item, "id").and_then(|id| by_id.get(id)).copied();
            let same_place = || self.items.get(&place).filter(|seen| seen.kind == kind).map(|_| place);
            match same.or_else(same_place) {
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
#[path = "decoder_tests.rs"]
mod tests;

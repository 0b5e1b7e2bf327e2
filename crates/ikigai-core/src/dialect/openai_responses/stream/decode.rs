//! Wire frames to events.
//!
//! Everything is keyed by `output_index`: some relays change item ids between events. A block opens with
//! `output_item.added` (a text with its part) and closes with `output_item.done`, whose copy of the item is
//! authoritative. Anything more in the terminal event is added; if it differs, that is too late for closed blocks.

use std::collections::BTreeMap;

use super::open::{OpenBlock, OpenItem};
use super::wire::{Frame, Kind, said};
use crate::dialect::openai_responses::response::{self, Asks, Parsed};
use crate::dialect::openai_responses::wire::word;
use crate::dialect::openai_responses::{DIALECT, content, error, hosted, message};
use crate::dialect::weight::Weigh as _;
use crate::dialect::{Fault, Ids, ReadFrames, Seen};
use crate::json::loose::{self, Loose as _};
use crate::json::many::find;
use crate::json::wire::Text as Words;
use crate::server::alike::{Alike, words};
use crate::span::Ruler;
use crate::{Block, BlockKind, Event, Fields, FoundSource, Json, Limits, Other, Part, Text, ThinkingBlock};

/// The reader of a stream's frames.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pub(super) ids: Ids,
    limits: Limits,
    started: bool,
    /// The index of the next block.
    next: usize,
    pub(super) items: BTreeMap<u64, OpenItem>,
    /// The item of the latest frame, for frames without an index.
    current: u64,
    pub(super) asks: Asks,
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
                message::mark_before(&mut item.header, before.values());
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

    pub(super) fn open_thinking(&mut self, at: u64, mut item: OpenItem, out: &mut Vec<Event>) {
        let index = self.take_place();
        let mut block = ThinkingBlock::default();
        if let Some(id) = &item.id {
            block.provider_data.set_part(DIALECT, Part::State, "id", id.as_str());
        }
        item.blocks.insert(0, OpenBlock::new(index, BlockKind::Thinking));
        self.items.insert(at, item);
        out.push(Event::BlockStart { index, block: Block::Thinking(block) });
    }

    pub(super) fn take_place(&mut self) -> usize {
        let index = self.next;
        self.next = self.next.saturating_add(1);
        index
    }

    pub(super) fn start(&mut self, out: &mut Vec<Event>) {
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
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

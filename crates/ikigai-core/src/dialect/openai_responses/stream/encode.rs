//! Events to wire frames: the whole sequence that the official clients check while they accumulate.
//!
//! The first frame is `response.created`; every item is added before anything is said about it, every part before its
//! deltas; whatever was added is done before the end, and the end repeats all of it.

use super::texts::MessageItem;
use super::wire::{Frames, Place, Said};
use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::content::other;
use crate::dialect::openai_responses::response::{self, Asks, End, Head, Seal};
use crate::dialect::openai_responses::wire::{self, Any, Item};
use crate::dialect::{Ids, Reply, WriteFrames};
use crate::{
    Block, Error, Event, FinishReason, Json, Loss, LossCode, Part, ProviderData, Text, ThinkingBlock, ToolCall, Usage,
};

/// Writes a stream for a client.
///
/// As in whole answers, sounds, documents, pictures by address and another dialect's own blocks have no place: they are
/// losses.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(super) reply: Reply,
    pub(super) ids: Ids,
    pub(super) frames: Frames,
    started: bool,
    ended: bool,
    /// The response object as it began, with the id that every frame repeats.
    head: Head,
    pub(super) model: String,
    /// What the answer brought along in this dialect.
    data: ProviderData,
    /// One for each block, by its index.
    pub(super) blocks: Vec<Slot>,
    pub(super) messages: Vec<MessageItem>,
    /// The message that another text may join.
    pub(super) current: Option<usize>,
    /// The items that are done, by their place.
    output: Vec<Option<Json>>,
    usage: Option<Usage>,
    pub(super) asks: Asks,
    losses: Vec<Loss>,
}

/// What became of a block.
#[derive(Debug)]
pub(super) enum Slot {
    Text {
        message: usize,
        part: usize,
        block: Text,
    },
    Thinking {
        output: usize,
        id: String,
        block: ThinkingBlock,
        part: SummaryPart,
    },
    Call {
        output: usize,
        id: String,
        call: ToolCall,
    },
    Item {
        output: usize,
        id: String,
        item: Json,
    },
    /// Done, or without a place on this wire.
    Gone,
}

/// Whether the only part of a summary has been opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryPart {
    Unopened,
    Open,
}

impl WriteFrames for Encoder {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::Start { id, model, provider_data } => {
                self.start(id.as_deref(), model.as_deref(), provider_data, out)
            }
            Event::TextDelta { index, text } => self.text_delta(*index, text, out),
            Event::ThinkingDelta { index, text } => self.thinking_delta(*index, text, out),
            Event::ToolCallDelta { index, arguments } => self.arguments_delta(*index, arguments, out),
            Event::BlockStart { index, block } => {
                self.start_unless_started(out);
                let slot = self.open(*index, block, out);
                self.put(*index, slot);
            }
            Event::ToolCallStart { index, id, name, provider_data } => {
                self.start_unless_started(out);
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    provider_data: provider_data.clone(),
                    ..ToolCall::default()
                };
                let slot = self.open_call(call, out);
                self.put(*index, slot);
            }
            Event::ToolCallDone { index, arguments, provider_data } => {
                if let Slot::Call { output, id, mut call } = self.take(*index) {
                    call.arguments = arguments.clone();
                    call.provider_data.merge(provider_data.clone());
                    self.call_done(*index, output, &id, call, out);
                }
            }
            Event::BlockDone { index, provider_data } => {
                let slot = self.take(*index);
                self.block_done(*index, slot, provider_data, out);
            }
            Event::Usage { usage } => self.usage = Some(usage.clone()),
            Event::Done { finish_reason, provider_data } => {
                self.start_unless_started(out);
                self.data.merge(provider_data.clone());
                self.end(*finish_reason, None, out);
            }
            Event::Error { error } => {
                self.start_unless_started(out);
                self.end(FinishReason::Error, Some(error), out);
            }
            Event::Other { index, dialect, data } if *dialect == DIALECT => self.pass_on(*index, data, out),
            Event::Other { dialect, .. } => {
                let why = format!("only {dialect} knows this event; left out");
                self.losses.push(Loss::new(LossCode::ForeignContent, "other", "events", why));
            }
        }
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

impl Encoder {
    /// A writer of one stream.
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder {
            ids: reply.ids.clone(),
            reply,
            frames: Frames::default(),
            started: false,
            ended: false,
            head: Head::default(),
            model: String::new(),
            data: ProviderData::default(),
            blocks: Vec::new(),
            messages: Vec::new(),
            current: None,
            output: Vec::new(),
            usage: None,
            asks: Asks::default(),
            losses: Vec::new(),
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        if self.started {
            return;
        }
        self.started = true;
        self.model = model.unwrap_or_default().to_owned();
        self.data = data.clone();
        self.head = Head::new(data, id, &self.model, &self.reply, &mut self.ids);
        if self.head.id.is_none() {
            self.head.id = Some(response::new_id("resp", &mut self.ids));
        }
        let mut first = self.head.begin();
        first.status = Some(Any::text("in_progress"));
        first.output = Some(Any::List(Vec::new()));
        for event in ["response.created", "response.in_progress"] {
            self.frames.send(event, Place::default(), &[("response", &first)], out);
        }
    }

    fn start_unless_started(&mut self, out: &mut Vec<u8>) {
        self.start(None, None, &ProviderData::default(), out);
    }

    fn put(&mut self, index: usize, slot: Slot) {
        // Blocks open in order; anything else is no stream of ours and has no place.
        if index == self.blocks.len() {
            self.blocks.push(slot);
        }
    }

    fn take(&mut self, index: usize) -> Slot {
        self.blocks.get_mut(index).map_or(Slot::Gone, |slot| std::mem::replace(slot, Slot::Gone))
    }

    pub(super) fn new_output(&mut self) -> usize {
        self.output.push(None);
        self.output.len().saturating_sub(1)
    }

    /// The id that the item came with, or a new one.
    pub(super) fn item_id(&mut self, own: Option<&str>, kind: &str) -> String {
        own.map_or_else(|| response::new_id(kind, &mut self.ids), str::to_owned)
    }

    pub(super) fn added(&mut self, output: usize, item: &Item<'_>, out: &mut Vec<u8>) {
        let item = Json::of(item).unwrap_or_default();
        self.frames.send("response.output_item.added", Place::item(output), &[("item", &item)], out);
    }

    /// The whole item, under the id that it was added with.
    pub(super) fn done(&mut self, output: usize, id: &str, item: Item<'_>, out: &mut Vec<u8>) {
        let item = Item { id: Some(Any::text(id)), ..item };
        let item = Json::of(&item).unwrap_or_default();
        self.frames.send("response.output_item.done", Place::item(output), &[("item", &item)], out);
        if let Some(place) = self.output.get_mut(output) {
            *place = Some(item);
        }
    }

    fn open(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) -> Slot {
        match block {
            Block::Text(_) | Block::Thinking(_) | Block::ToolCall(_) => {}
            _ => response::note_block(block, index, &mut self.losses),
        }
        if let Block::Text(text) = block {
            return self.open_text(text, out);
        }
        self.leave_message(out);
        match block {
            Block::Thinking(thinking) => {
                let own = thinking.provider_data.part_str(DIALECT, Part::State, "id");
                let id = self.item_id(own.as_deref(), "rs");
                let output = self.new_output();
                let item = Item {
                    id: Some(Any::text(id.as_str())),
                    kind: Some(Any::text("reasoning")),
                    summary: Some(Any::List(Vec::new())),
                    ..Item::default()
                };
                self.added(output, &item, out);
                Slot::Thinking { output, id, block: thinking.clone(), part: SummaryPart::Unopened }
            }
            Block::ToolCall(call) => self.open_call(call.clone(), out),
            Block::Other(other) if other.dialect == DIALECT => match other.data.to::<Item<'_>>() {
                Ok(item) => self.open_item(item, out),
                Err(_) => Slot::Gone,
            },
            Block::Image(image) => match response::serve_image(image, &mut self.ids) {
                Some(item) => self.open_item(item, out),
                None => Slot::Gone,
            },
            Block::Other(_) | Block::Text(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => {
                Slot::Gone
            }
        }
    }

    fn open_item(&mut self, item: Item<'_>, out: &mut Vec<u8>) -> Slot {
        let id = self.item_id(item.id.as_ref().and_then(Any::as_str), "item");
        let output = self.new_output();
        let item = Item { id: Some(Any::text(id.as_str())), ..item };
        self.added(output, &item, out);
        let item = Json::of(&item).unwrap_or_default();
        Slot::Item { output, id, item }
    }

    fn open_call(&mut self, call: ToolCall, out: &mut Vec<u8>) -> Slot {
        self.leave_message(out);
        let own = call.provider_data.part_str(DIALECT, Part::Shape, "id");
        let id = self.item_id(own.as_deref(), "fc");
        let output = self.new_output();
        let item = Item {
            id: Some(Any::text(id.as_str())),
            kind: Some(Any::text("function_call")),
            status: Some(Any::text("in_progress")),
            call_id: Some(Any::text(call.id.as_str())),
            name: Some(Any::text(call.name.as_str())),
            arguments: Some(Any::text("")),
            ..Item::default()
        };
        self.added(output, &item, out);
        Slot::Call { output, id, call }
    }

    fn thinking_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(Slot::Thinking { output, id, block, part }) = self.blocks.get_mut(index) else { return };
        let place = summary_place(id, *output);
        if *part == SummaryPart::Unopened {
            *part = SummaryPart::Open;
            let said = wire::Part::text("summary_text", "");
            self.frames.send("response.reasoning_summary_part.added", place, &[("part", &said)], out);
        }
        block.text.push_str(text);
        self.frames.send("response.reasoning_summary_text.delta", place, &[("delta", &text)], out);
    }

    fn arguments_delta(&mut self, index: usize, arguments: &str, out: &mut Vec<u8>) {
        if let Some(Slot::Call { output, id, .. }) = self.blocks.get(index) {
            let place = Place::within(id, *output);
            self.frames.send("response.function_call_arguments.delta", place, &[("delta", &arguments)], out);
        }
    }

    fn call_done(&mut self, index: usize, output: usize, id: &str, call: ToolCall, out: &mut Vec<u8>) {
        let said: [(&str, &dyn Said); 2] = [("name", &call.name), ("arguments", &call.arguments.text())];
        self.frames.send("response.function_call_arguments.done", Place::within(id, output), &said, out);
        let item = response::serve_call(&call, &mut self.ids);
        let item = Item { call_id: Some(Any::text(call.id.as_str())), ..item };
        self.done(output, id, item, out);
        self.asks.tools = true;
        let sealed =
            Seal { provider: self.reply.provider.as_deref(), model: &self.model }.of_call(&call, &mut self.ids);
        self.carry(sealed, out);
        response::note_block(&Block::ToolCall(call), index, &mut self.losses);
    }

    /// A reasoning item that only carries another dialect's state.
    pub(super) fn carry(&mut self, item: Option<Item<'_>>, out: &mut Vec<u8>) {
        let Some(item) = item else { return };
        let id = item.id.as_ref().and_then(Any::as_str).unwrap_or_default().to_owned();
        let output = self.new_output();
        self.added(output, &Item { encrypted_content: None, ..item.clone() }, out);
        self.done(output, &id, item, out);
    }

    fn block_done(&mut self, index: usize, slot: Slot, data: &ProviderData, out: &mut Vec<u8>) {
        match slot {
            Slot::Text { message, part, mut block } => {
                block.provider_data.merge(data.clone());
                let noted = Block::Text(Text { text: String::new(), ..block.clone() });
                response::note_block(&noted, index, &mut self.losses);
                self.text_done(message, part, block, out);
            }
            Slot::Thinking { output, id, mut block, part } => {
                block.provider_data.merge(data.clone());
                self.thinking_done(output, &id, &block, part, out);
                response::note_block(&Block::Thinking(block), index, &mut self.losses);
            }
            Slot::Item { output, id, item } => {
                let whole = data.part(DIALECT, Part::Shape).get("data").unwrap_or(&item);
                self.asks.see(&Block::Other(other(whole)));
                if let Ok(whole) = whole.to::<Item<'_>>() {
                    self.done(output, &id, whole, out);
                }
            }
            // A call ends with its own event.
            Slot::Call { .. } | Slot::Gone => {}
        }
    }

    fn thinking_done(&mut self, output: usize, id: &str, block: &ThinkingBlock, part: SummaryPart, out: &mut Vec<u8>) {
        if part == SummaryPart::Open {
            let place = summary_place(id, output);
            self.frames.send("response.reasoning_summary_text.done", place, &[("text", &block.text)], out);
            let said = wire::Part::text("summary_text", &block.text);
            self.frames.send("response.reasoning_summary_part.done", place, &[("part", &said)], out);
        }
        let seal = Seal { provider: self.reply.provider.as_deref(), model: &self.model };
        let mut item = response::serve_reasoning(block, seal, &mut self.ids);
        // Strict readers refuse reasoning without it.
        if item.summary.is_none() && !item.rest.iter().any(|(name, raw)| name == "summary" && raw.get() != "null") {
            item.summary = Some(Any::List(Vec::new()));
        }
        self.done(output, id, item, out);
    }

    fn end(&mut self, finish: FinishReason, error: Option<&Error>, out: &mut Vec<u8>) {
        self.leave_message(out);
        self.ended = true;
        // What the provider said at its end, not at the beginning.
        self.head.update(&self.data);
        let mut body = self.head.begin();
        let end = End { finish, error, usage: self.usage.as_ref() };
        end.write(&self.data, self.asks, &mut body, &mut self.losses);
        let output = std::mem::take(&mut self.output).into_iter().flatten();
        body.output = Some(Any::List(output.map(Any::other).collect()));
        let event = match body.status.as_ref().and_then(Any::as_str) {
            Some("failed" | "cancelled") => "response.failed",
            Some("incomplete") => "response.incomplete",
            _ => "response.completed",
        };
        self.frames.send(event, Place::default(), &[("response", &body)], out);
    }

    /// A frame of this dialect that has no meaning in others, with the numbers of this stream.
    fn pass_on(&mut self, index: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        if !self.started {
            return;
        }
        let place = match index.and_then(|index| self.blocks.get(index)) {
            Some(Slot::Text { message, .. }) => {
                self.messages.get(*message).map(|message| Place::within(&message.id, message.output))
            }
            Some(Slot::Thinking { output, id, .. } | Slot::Call { output, id, .. } | Slot::Item { output, id, .. }) => {
                Some(Place::within(id, *output))
            }
            Some(Slot::Gone) | None => None,
        };
        self.frames.pass_on(data, place.unwrap_or_default(), out);
    }
}

fn summary_place(id: &str, output: usize) -> Place<'_> {
    Place { summary_index: Some(0), ..Place::within(id, output) }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

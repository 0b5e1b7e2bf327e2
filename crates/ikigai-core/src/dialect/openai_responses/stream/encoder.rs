//! Events to wire frames: the whole sequence that the official clients check while they accumulate.
//!
//! The first frame is `response.created`; every item is added before anything is said about it, every part before its
//! deltas; whatever was added is done before the end, and the end repeats all of it.

use serde_json::{Value, json};

use super::frames::{ARGUMENTS, Frames, Place, SUMMARY};
use super::texts::MessageItem;
use crate::dialect::openai_responses::fields::{object, own_object, put_back, text};
use crate::dialect::openai_responses::response::{self, Asks, End, Seal};
use crate::dialect::openai_responses::{ME, Object};
use crate::dialect::{Ids, Reply, WriteFrames};
use crate::{Block, Error, Event, FinishReason, ProviderData, Text, ThinkingBlock, ToolCall, Usage};

/// Writes a stream for a client.
///
/// As in whole answers, sounds, documents, pictures by address and another dialect's own blocks have no place.
#[derive(Debug)]
pub(crate) struct Encoder {
    reply: Reply,
    ids: Ids,
    pub(super) frames: Frames,
    started: bool,
    ended: bool,
    /// The response object as it began, with the id that every frame repeats.
    base: Object,
    model: String,
    /// What the answer brought along in this dialect.
    data: ProviderData,
    /// One for each block, by its index.
    pub(super) blocks: Vec<Slot>,
    pub(super) messages: Vec<MessageItem>,
    /// The message that another text may join.
    pub(super) current: Option<usize>,
    /// The items, by their place; null until they are done.
    output: Vec<Value>,
    usage: Option<Usage>,
    pub(super) asks: Asks,
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
        part_open: bool,
    },
    Call {
        output: usize,
        id: String,
        call: ToolCall,
    },
    Item {
        output: usize,
        item: Object,
    },
    /// Done, or without a place on this wire.
    Gone,
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
                let slot = self.open(block, out);
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
                    self.call_done(output, id, &call, out);
                }
            }
            Event::BlockDone { index, provider_data } => {
                let slot = self.take(*index);
                self.block_done(slot, provider_data, out);
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
            Event::Other { index, dialect, data } => {
                if *dialect == ME {
                    self.pass_on(*index, data.value(), out);
                }
            }
        }
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
            base: Object::new(),
            model: String::new(),
            data: ProviderData::default(),
            blocks: Vec::new(),
            messages: Vec::new(),
            current: None,
            output: Vec::new(),
            usage: None,
            asks: Asks::default(),
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        if self.started {
            return;
        }
        self.started = true;
        self.model = model.unwrap_or_default().to_owned();
        self.data = data.clone();
        self.base = response::begin(data, id, &self.model, &self.reply, &mut self.ids);
        self.base.entry("id").or_insert_with(|| response::new_id("resp", &mut self.ids));
        let mut first = self.base.clone();
        first.insert("status".into(), "in_progress".into());
        first.insert("output".into(), json!([]));
        for event in ["response.created", "response.in_progress"] {
            self.frames.send(event, object([("response", Value::Object(first.clone()))]), out);
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
        self.output.push(Value::Null);
        self.output.len().saturating_sub(1)
    }

    /// The id that the item came with, or a new one.
    pub(super) fn item_id(&mut self, own: Option<&str>, kind: &str) -> String {
        own.map_or_else(|| format!("{kind}_{}", self.ids.next_id()), str::to_owned)
    }

    pub(super) fn added(&mut self, output: usize, item: Object, out: &mut Vec<u8>) {
        let fields = object([("output_index", output.into()), ("item", Value::Object(item))]);
        self.frames.send("response.output_item.added", fields, out);
    }

    /// The whole item, under the id that it was added with.
    pub(super) fn done(&mut self, output: usize, id: &str, mut item: Object, out: &mut Vec<u8>) {
        item.insert("id".into(), id.into());
        let item = Value::Object(item);
        let fields = object([("output_index", output.into()), ("item", item.clone())]);
        self.frames.send("response.output_item.done", fields, out);
        if let Some(place) = self.output.get_mut(output) {
            *place = item;
        }
    }

    fn open(&mut self, block: &Block, out: &mut Vec<u8>) -> Slot {
        if let Block::Text(text) = block {
            return self.open_text(text, out);
        }
        self.leave_message(out);
        match block {
            Block::Thinking(thinking) => {
                let id = self.item_id(thinking.provider_data.str(ME, "id"), "rs");
                let output = self.new_output();
                let item = object([("id", id.as_str().into()), ("type", "reasoning".into()), ("summary", json!([]))]);
                self.added(output, item, out);
                Slot::Thinking { output, id, block: thinking.clone(), part_open: false }
            }
            Block::ToolCall(call) => self.open_call(call.clone(), out),
            Block::Other(other) if other.dialect == ME => match other.data.value().as_object() {
                Some(item) => self.open_item(item.clone(), out),
                None => Slot::Gone,
            },
            Block::Image(image) => match response::served_image(image, &mut self.ids) {
                Some(item) => self.open_item(item, out),
                None => Slot::Gone,
            },
            Block::Other(_) | Block::Text(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => {
                Slot::Gone
            }
        }
    }

    fn open_item(&mut self, item: Object, out: &mut Vec<u8>) -> Slot {
        let output = self.new_output();
        self.added(output, item.clone(), out);
        Slot::Item { output, item }
    }

    fn open_call(&mut self, call: ToolCall, out: &mut Vec<u8>) -> Slot {
        self.leave_message(out);
        let id = self.item_id(call.provider_data.str(ME, "id"), "fc");
        let output = self.new_output();
        let item = object([
            ("id", id.as_str().into()),
            ("type", "function_call".into()),
            ("status", "in_progress".into()),
            ("call_id", call.id.as_str().into()),
            ("name", call.name.as_str().into()),
            ("arguments", "".into()),
        ]);
        self.added(output, item, out);
        Slot::Call { output, id, call }
    }

    fn thinking_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(Slot::Thinking { output, id, block, part_open }) = self.blocks.get_mut(index) else { return };
        if !*part_open {
            *part_open = true;
            let fields = summary_fields(id, *output, "part", json!({"type": "summary_text", "text": ""}));
            self.frames.send("response.reasoning_summary_part.added", fields, out);
        }
        block.text.push_str(text);
        self.frames.delta(SUMMARY, Place { item_id: id, output_index: *output, part: 0 }, text, out);
    }

    pub(super) fn seal_of_text(&mut self, text: &Text) -> Option<Object> {
        Seal { provider: self.reply.provider.as_deref(), model: &self.model }.of_text(text, &mut self.ids)
    }

    fn arguments_delta(&mut self, index: usize, arguments: &str, out: &mut Vec<u8>) {
        if let Some(Slot::Call { output, id, .. }) = self.blocks.get(index) {
            self.frames.delta(ARGUMENTS, Place { item_id: id, output_index: *output, part: 0 }, arguments, out);
        }
    }

    fn call_done(&mut self, output: usize, id: String, call: &ToolCall, out: &mut Vec<u8>) {
        let arguments = object([
            ("item_id", id.as_str().into()),
            ("output_index", output.into()),
            ("name", call.name.as_str().into()),
            ("arguments", call.arguments.text().to_owned().into()),
        ]);
        self.frames.send("response.function_call_arguments.done", arguments, out);
        let item = response::served_call(call, &mut self.ids);
        self.done(output, &id, item, out);
        self.asks.tools = true;
        let seal = Seal { provider: self.reply.provider.as_deref(), model: &self.model };
        let sealed = seal.of_call(call, &mut self.ids);
        self.sealed(sealed, out);
    }

    /// A reasoning item that only carries another dialect's state.
    pub(super) fn sealed(&mut self, item: Option<Object>, out: &mut Vec<u8>) {
        let Some(item) = item else { return };
        let id = text(&item, "id").unwrap_or_default().to_owned();
        let output = self.new_output();
        let mut opening = item.clone();
        opening.shift_remove("encrypted_content");
        self.added(output, opening, out);
        self.done(output, &id, item, out);
    }

    fn block_done(&mut self, slot: Slot, data: &ProviderData, out: &mut Vec<u8>) {
        match slot {
            Slot::Text { message, part, mut block } => {
                block.provider_data.merge(data.clone());
                self.text_done(message, part, block, out);
            }
            Slot::Thinking { output, id, mut block, part_open } => {
                block.provider_data.merge(data.clone());
                self.thinking_done(output, &id, &block, part_open, out);
            }
            Slot::Item { output, item } => {
                let id = text(&item, "id").map(str::to_owned);
                let whole = data.value(ME, "data").and_then(Value::as_object).cloned().unwrap_or(item);
                self.asks.see(&Block::Other(crate::Other { dialect: ME, data: Value::Object(whole.clone()).into() }));
                let id = id.or_else(|| text(&whole, "id").map(str::to_owned));
                let id = self.item_id(id.as_deref(), "item");
                self.done(output, &id, whole, out);
            }
            // A call ends with its own event.
            Slot::Call { .. } | Slot::Gone => {}
        }
    }

    fn thinking_done(&mut self, output: usize, id: &str, block: &ThinkingBlock, part_open: bool, out: &mut Vec<u8>) {
        if part_open {
            let whole = summary_fields(id, output, "text", block.text.as_str().into());
            self.frames.send("response.reasoning_summary_text.done", whole, out);
            let part = json!({"type": "summary_text", "text": block.text});
            let fields = summary_fields(id, output, "part", part);
            self.frames.send("response.reasoning_summary_part.done", fields, out);
        }
        let seal = Seal { provider: self.reply.provider.as_deref(), model: &self.model };
        let mut item = response::served_reasoning(block, seal, &mut self.ids);
        // Strict readers refuse reasoning without it.
        item.entry("summary").or_insert_with(|| json!([]));
        self.done(output, id, item, out);
    }

    fn end(&mut self, finish: FinishReason, error: Option<&Error>, out: &mut Vec<u8>) {
        self.leave_message(out);
        self.ended = true;
        let mut body = self.base.clone();
        if let Some(whole) = own_object(&self.data, "response") {
            // What the provider said at its end, not at the beginning.
            body.retain(|key, _| matches!(key.as_str(), "id" | "model"));
            put_back(&mut body, Some(whole));
        }
        let end = End { finish, error, usage: self.usage.as_ref() };
        response::finish_object(&mut body, &self.data, end, self.asks);
        let output: Vec<Value> = std::mem::take(&mut self.output).into_iter().filter(|item| !item.is_null()).collect();
        body.insert("output".into(), Value::Array(output));
        let event = match body.get("status").and_then(Value::as_str) {
            Some("failed" | "cancelled") => "response.failed",
            Some("incomplete") => "response.incomplete",
            _ => "response.completed",
        };
        self.frames.send(event, object([("response", Value::Object(body))]), out);
    }

    /// A frame of this dialect that has no meaning in others, with the numbers of this stream.
    fn pass_on(&mut self, index: Option<usize>, data: &Value, out: &mut Vec<u8>) {
        let Some(kind) = data.get("type").and_then(Value::as_str) else { return };
        let (Some(fields), true) = (data.as_object(), self.started) else { return };
        let mut fields = fields.clone();
        fields.shift_remove("type");
        fields.shift_remove("sequence_number");
        let place = match index.and_then(|index| self.blocks.get(index)) {
            Some(Slot::Text { message, .. }) => {
                self.messages.get(*message).map(|message| (message.output, message.id.as_str()))
            }
            Some(Slot::Thinking { output, id, .. } | Slot::Call { output, id, .. }) => Some((*output, id.as_str())),
            Some(Slot::Item { output, item }) => text(item, "id").map(|id| (*output, id)),
            Some(Slot::Gone) | None => None,
        };
        if let Some((output, id)) = place {
            fields.insert("output_index".into(), output.into());
            fields.insert("item_id".into(), id.into());
        }
        self.frames.send(kind, fields, out);
    }
}

fn summary_fields(id: &str, output: usize, key: &str, value: Value) -> Object {
    object([("item_id", id.into()), ("output_index", output.into()), ("summary_index", 0.into()), (key, value)])
}

#[cfg(test)]
#[path = "encoder_tests.rs"]
mod tests;

//! Events to wire frames: the whole sequence that the official clients check while they accumulate.
//!
//! The first frame is `response.created`; every item is added before anything is said about it, every part before its
//! deltas; whatever was added is done before the end, and the end repeats all of it.

use serde_json::{Value, json};

use super::frames::{ARGUMENTS, Frames, Place, REFUSAL, SUMMARY, TEXT};
use crate::dialect::openai_responses::fields::{object, own_object, put_back, text};
use crate::dialect::openai_responses::items::{self, Keep, OpenMessage};
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
    frames: Frames,
    started: bool,
    ended: bool,
    /// The response object as it began, with the id that every frame repeats.
    base: Object,
    model: String,
    /// What the answer brought along in this dialect.
    data: ProviderData,
    /// One for each block, by its index.
    blocks: Vec<Slot>,
    messages: Vec<MessageItem>,
    /// The message that another text may join.
    current: Option<usize>,
    /// The items, by their place; null until they are done.
    output: Vec<Value>,
    usage: Option<Usage>,
    asks: Asks,
}

/// What became of a block.
#[derive(Debug)]
enum Slot {
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

/// A message item and the texts in it.
#[derive(Debug)]
struct MessageItem {
    output: usize,
    id: String,
    /// The texts that are done, by their place.
    parts: Vec<Option<Text>>,
    /// No further text joins it.
    left: bool,
    done: bool,
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
            Event::ToolCallDone { index, arguments, arguments_text, provider_data } => {
                if let Slot::Call { output, id, mut call } = self.take(*index) {
                    call.arguments = arguments.clone();
                    call.arguments_text = arguments_text.clone();
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
                    self.pass_on(*index, data, out);
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

    fn new_output(&mut self) -> usize {
        self.output.push(Value::Null);
        self.output.len().saturating_sub(1)
    }

    /// The id that the item came with, or a new one.
    fn item_id(&mut self, own: Option<&str>, kind: &str) -> String {
        own.map_or_else(|| format!("{kind}_{}", self.ids.next_id()), str::to_owned)
    }

    fn added(&mut self, output: usize, item: Object, out: &mut Vec<u8>) {
        let fields = object([("output_index", output.into()), ("item", Value::Object(item))]);
        self.frames.send("response.output_item.added", fields, out);
    }

    /// The whole item, under the id that it was added with.
    fn done(&mut self, output: usize, id: &str, mut item: Object, out: &mut Vec<u8>) {
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
            Block::Other(other) if other.dialect == ME => match other.data.as_object() {
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

    fn open_text(&mut self, text: &Text, out: &mut Vec<u8>) -> Slot {
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
        let opening = Text { text: String::new(), cache: None, provider_data: text.provider_data.clone() };
        let fields = part_fields(message, part, "part", Value::Object(whole_part(&opening)));
        self.frames.send("response.content_part.added", fields, out);
        Slot::Text { message: at, part, block: text.clone() }
    }

    fn open_message(&mut self, first: &Text, out: &mut Vec<u8>) -> usize {
        let header = own_object(&first.provider_data, "item");
        let id = self.item_id(header.and_then(|header| text(header, "id")), "msg");
        let output = self.new_output();
        let mut item = object([
            ("id", id.as_str().into()),
            ("type", "message".into()),
            ("status", "in_progress".into()),
            ("role", "assistant".into()),
            ("content", json!([])),
        ]);
        put_back(&mut item, header);
        self.added(output, item, out);
        self.messages.push(MessageItem { output, id, parts: Vec::new(), left: false, done: false });
        let at = self.messages.len().saturating_sub(1);
        self.current = Some(at);
        at
    }

    fn text_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(Slot::Text { message, part, block }) = self.blocks.get_mut(index) else { return };
        let Some(message) = self.messages.get(*message) else { return };
        block.text.push_str(text);
        let kind = if items::is_refusal(block) { REFUSAL } else { TEXT };
        let place = Place { item_id: &message.id, output_index: message.output, part: *part };
        self.frames.delta(kind, place, text, out);
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
            ("arguments", call.arguments_json().into()),
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
    fn sealed(&mut self, item: Option<Object>, out: &mut Vec<u8>) {
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
                self.asks.see(&Block::Other(crate::Other { dialect: ME, data: Value::Object(whole.clone()) }));
                let id = id.or_else(|| text(&whole, "id").map(str::to_owned));
                let id = self.item_id(id.as_deref(), "item");
                self.done(output, &id, whole, out);
            }
            // A call ends with its own event.
            Slot::Call { .. } | Slot::Gone => {}
        }
    }

    fn text_done(&mut self, at: usize, part: usize, block: Text, out: &mut Vec<u8>) {
        let Some(message) = self.messages.get(at) else { return };
        let whole = Value::from(block.text.as_str());
        if items::is_refusal(&block) {
            self.asks.refuses = true;
            self.frames.send("response.refusal.done", part_fields(message, part, "refusal", whole), out);
        } else {
            let mut fields = part_fields(message, part, "text", whole);
            fields.insert("logprobs".into(), json!([]));
            self.frames.send("response.output_text.done", fields, out);
        }
        let fields = part_fields(message, part, "part", Value::Object(whole_part(&block)));
        self.frames.send("response.content_part.done", fields, out);
        let seal = Seal { provider: self.reply.provider.as_deref(), model: &self.model };
        let sealed = seal.of_text(&block, &mut self.ids);
        if let Some(place) = self.messages.get_mut(at).and_then(|message| message.parts.get_mut(part)) {
            *place = Some(block);
        }
        if sealed.is_some() && self.current == Some(at) {
            self.leave_message(out);
        }
        self.close_message(at, out);
        self.sealed(sealed, out);
    }

    fn leave_message(&mut self, out: &mut Vec<u8>) {
        if let Some(at) = self.current.take() {
            if let Some(message) = self.messages.get_mut(at) {
                message.left = true;
            }
            self.close_message(at, out);
        }
    }

    /// Closes a message that nothing joins any more and whose texts are all done.
    fn close_message(&mut self, at: usize, out: &mut Vec<u8>) {
        let Some(message) = self.messages.get_mut(at) else { return };
        if message.done || !message.left || message.parts.iter().any(Option::is_none) {
            return;
        }
        message.done = true;
        let (output, id) = (message.output, message.id.clone());
        let mut texts = std::mem::take(&mut message.parts).into_iter().flatten().peekable();
        let Some(first) = texts.peek() else { return };
        let mut whole = OpenMessage::new(first, Keep::Everything);
        texts.for_each(|text| whole.push(whole_part(&text)));
        let mut item = whole.close();
        put_back(&mut item, Some(&object([("type", "message".into()), ("status", "completed".into())])));
        self.done(output, &id, item, out);
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

fn part_fields(message: &MessageItem, part: usize, key: &str, value: Value) -> Object {
    object([
        ("item_id", message.id.as_str().into()),
        ("output_index", message.output.into()),
        ("content_index", part.into()),
        (key, value),
    ])
}

fn summary_fields(id: &str, output: usize, key: &str, value: Value) -> Object {
    object([("item_id", id.into()), ("output_index", output.into()), ("summary_index", 0.into()), (key, value)])
}

/// A part with the lists that clients insist on.
fn whole_part(text: &Text) -> Object {
    let mut part = items::output_part(text, Keep::Everything);
    if part.get("type").is_some_and(|kind| kind != "refusal") {
        put_back(&mut part, Some(&object([("annotations", json!([])), ("logprobs", json!([]))])));
    }
    part
}

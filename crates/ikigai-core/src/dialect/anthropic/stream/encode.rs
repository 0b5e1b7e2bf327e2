//! Events to frames.
//!
//! A client appends each block as it starts and then finds it by its number, so on this wire one block ends before the
//! next begins. Blocks that are open beside another one wait, with what came for them so far.

use serde_json::{Map, Value, json};

use crate::dialect::{Reply, WriteFrames};
use crate::{Block, Event, FinishReason, ProviderData, Usage};

use super::super::answer::{self, Neighbour, Origin};
use super::super::names::Safe;
use super::super::response::{LONGEST_ID, stop_reason};
use super::super::{DIALECT, block, error, usage};
use super::frames::{Kind, frame, write_block_start, write_block_stop, write_delta, write_whole};

/// Writes a stream.
#[derive(Debug)]
pub(crate) struct Encoder {
    reply: Reply,
    origin: Origin,
    ids: Safe,
    stage: Stage,
    /// Blocks that have begun and not ended, in the order of their beginning; the first is the one on the wire.
    open: Vec<Open>,
    /// How many blocks were started on the wire: the number of the next one.
    started: usize,
    has_calls: bool,
    usage: Option<Usage>,
}

#[derive(Debug)]
enum Stage {
    Before,
    /// The start is held back for the usage that comes right behind it.
    Starting(Value),
    Within,
    Over,
}

#[derive(Debug)]
struct Open {
    /// The block's place in the answer.
    index: usize,
    kind: Kind,
    /// What `content_block_start` says.
    start: Map<String, Value>,
    /// The block's state, as far as it is known.
    data: ProviderData,
    /// Text or arguments that wait to be written.
    waiting: String,
    /// Has a delta been written?
    wrote: bool,
    /// Its number on the wire, once it stands there.
    number: Option<usize>,
    /// The block has ended; its arguments, if it is a call.
    ended: Option<Option<String>>,
}

impl WriteFrames for Encoder {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        match self.stage {
            Stage::Over => return,
            Stage::Starting(_) if !matches!(event, Event::Usage { .. }) => self.write_start(out),
            Stage::Starting(_) | Stage::Before | Stage::Within => {}
        }
        match event {
            Event::Start { id, model, provider_data } => {
                self.start(id.as_deref(), model.as_deref(), provider_data, out);
            }
            Event::TextDelta { index, text } | Event::ThinkingDelta { index, text } => self.delta(*index, text, out),
            Event::ToolCallDelta { index, arguments } => self.delta(*index, arguments, out),
            Event::BlockStart { index, block } => self.block_start(*index, block, out),
            Event::ToolCallStart { index, id, name, provider_data } => {
                self.call_start(*index, id, name, provider_data, out);
            }
            Event::ToolCallDone { index, arguments, provider_data } => {
                let text = arguments.text().to_owned();
                self.block_end(*index, provider_data, Some(text), out);
            }
            Event::BlockDone { index, provider_data } => self.block_end(*index, provider_data, None, out),
            Event::Usage { usage } => {
                self.usage = Some(usage.clone());
                self.write_start(out);
            }
            Event::Done { finish_reason, provider_data } => self.done(*finish_reason, provider_data, out),
            Event::Error { error } => {
                frame(out, "error", &error::encode_error(error).body);
                self.stage = Stage::Over;
            }
            Event::Other { index, dialect, data } => {
                if *dialect == DIALECT {
                    self.other(*index, data.value(), out);
                }
            }
        }
    }
}

impl Encoder {
    /// A writer of one answer.
    pub(crate) fn new(reply: Reply) -> Self {
        let origin = Origin { provider: reply.provider.clone(), model: reply.model.clone() };
        Encoder {
            reply,
            origin,
            ids: Safe::new(LONGEST_ID, std::iter::empty()),
            stage: Stage::Before,
            open: Vec::new(),
            started: 0,
            has_calls: false,
            usage: None,
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        if !matches!(self.stage, Stage::Before) {
            return;
        }
        if let Some(model) = model {
            self.origin.model = Some(model.to_owned());
        }
        let id = id.map_or_else(|| format!("msg_{}", self.reply.ids.next_id()), str::to_owned);
        let mut message = json!({
            "id": id, "type": "message", "role": "assistant", "model": self.origin.model.as_deref().unwrap_or_default(),
            "content": [], "stop_reason": null, "stop_sequence": null,
        });
        let kept = data.value(DIALECT, "response").and_then(Value::as_object);
        if let Some(fields) = message.as_object_mut() {
            for (key, value) in kept.into_iter().flatten() {
                fields.insert(key.clone(), value.clone());
            }
        }
        self.stage = Stage::Starting(message);
        // This dialect's own streams tell the usage right behind the start; others only at their end.
        if kept.is_none() {
            self.write_start(out);
        }
    }

    /// Writes the start, with the usage that is known by now.
    fn write_start(&mut self, out: &mut Vec<u8>) {
        if !matches!(self.stage, Stage::Starting(_)) {
            return;
        }
        if let Stage::Starting(mut message) = std::mem::replace(&mut self.stage, Stage::Within) {
            if let Some(fields) = message.as_object_mut() {
                fields.insert("usage".to_owned(), usage::encode(self.usage.as_ref()));
            }
            frame(out, "message_start", &json!({"type": "message_start", "message": message}));
        }
    }

    /// Nothing comes before the start, whoever left it out.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if matches!(self.stage, Stage::Before) {
            self.start(None, None, &ProviderData::default(), out);
        }
    }

    fn block_start(&mut self, index: usize, content: &Block, out: &mut Vec<u8>) {
        self.begin(out);
        let mut waiting = String::new();
        let data = content.provider_data().cloned().unwrap_or_default();
        let own = data.get(DIALECT);
        let (kind, start) = match content {
            Block::Text(text) => {
                waiting.clone_from(&text.text);
                let mut start = block::text("", None, own);
                if start
                    .get("citations")
                    .is_some_and(|citations| citations.as_array().is_some_and(|list| !list.is_empty()))
                {
                    start.insert("citations".to_owned(), json!([]));
                }
                (Kind::Text, start)
            }
            Block::Thinking(thinking) if data.value(DIALECT, "redacted_data").is_none() => {
                waiting.clone_from(&thinking.text);
                (Kind::Thinking, block::thinking("", Some(""), own))
            }
            Block::ToolCall(call) => return self.call_start(index, &call.id, &call.name, &call.provider_data, out),
            _ => match answer::wire_blocks(content, &self.origin, &mut self.ids).pop() {
                Some(fields) => (Kind::Whole, fields),
                None => (Kind::Nothing, Map::new()),
            },
        };
        self.open_block(Open { index, kind, start, data, waiting, wrote: false, number: None, ended: None }, out);
    }

    fn call_start(&mut self, index: usize, id: &str, name: &str, data: &ProviderData, out: &mut Vec<u8>) {
        self.begin(out);
        self.has_calls = true;
        let mut start = Map::new();
        start.insert("type".to_owned(), "tool_use".into());
        start.insert("id".to_owned(), self.ids.word(id).into_owned().into());
        start.insert("name".to_owned(), name.into());
        start.insert("input".to_owned(), json!({}));
        block::put_back(&mut start, data.get(DIALECT));
        let (data, waiting) = (data.clone(), String::new());
        self.open_block(
            Open { index, kind: Kind::Call, start, data, waiting, wrote: false, number: None, ended: None },
            out,
        );
    }

    fn open_block(&mut self, open: Open, out: &mut Vec<u8>) {
        self.open.push(open);
        if self.open.len() == 1 {
            self.write_first(out);
        }
    }

    fn delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let Some(place) = self.open.iter().position(|open| open.index == index) else { return };
        let Some(open) = self.open.get_mut(place) else { return };
        match open.number {
            Some(number) if open.ended.is_none() => {
                open.wrote = true;
                write_delta(out, open.kind, number, text);
            }
            _ => open.waiting.push_str(text),
        }
    }

    fn block_end(&mut self, index: usize, data: &ProviderData, arguments: Option<String>, out: &mut Vec<u8>) {
        let Some(open) = self.open.iter_mut().find(|open| open.index == index) else { return };
        open.data.merge(data.clone());
        open.ended = Some(arguments);
        if open.number.is_some() || open.kind == Kind::Nothing {
            self.write_ends(out);
        }
    }

    /// Starts the first open block on the wire, with what waits for it.
    fn write_first(&mut self, out: &mut Vec<u8>) {
        let Some(first) = self.open.first_mut() else { return };
        if first.number.is_some() || first.kind == Kind::Nothing {
            return;
        }
        // State that is known by now goes before the block, the rest behind it.
        let carrier = match first.kind {
            Kind::Text | Kind::Call => self.origin.carrier(&first.data, Neighbour::Next),
            Kind::Thinking | Kind::Whole | Kind::Nothing => None,
        };
        if let Some(carrier) = carrier {
            first.data = block::own_only(&first.data);
            write_whole(out, self.started, &carrier);
            self.started += 1;
        }
        let number = self.started;
        self.started += 1;
        first.number = Some(number);
        write_block_start(out, number, &first.start);
        if !first.waiting.is_empty() {
            first.wrote = true;
            write_delta(out, first.kind, number, &first.waiting);
            first.waiting = String::new();
        }
    }

    /// Ends the blocks at the front that have ended, and starts the ones that waited for them.
    fn write_ends(&mut self, out: &mut Vec<u8>) {
        while self.open.first().is_some_and(|first| first.ended.is_some()) {
            self.write_first(out);
            let first = self.open.remove(0);
            self.write_end(first, out);
            self.write_first(out);
        }
    }

    fn write_end(&mut self, open: Open, out: &mut Vec<u8>) {
        let Some(number) = open.number else { return };
        match open.kind {
            Kind::Thinking => {
                let signature = self.origin.signature(&open.data);
                let delta = json!({"type": "signature_delta", "signature": signature});
                frame(
                    out,
                    "content_block_delta",
                    &json!({"type": "content_block_delta", "index": number, "delta": delta}),
                );
            }
            Kind::Call => {
                // All at once: the arguments came only with the end.
                let arguments =
                    open.ended.as_ref().and_then(Option::as_deref).filter(|text| !open.wrote && *text != "{}");
                if let Some(arguments) = arguments {
                    write_delta(out, Kind::Call, number, arguments);
                }
            }
            Kind::Text => {
                let citations = open.data.value(DIALECT, "citations").and_then(Value::as_array);
                for citation in citations.into_iter().flatten() {
                    let delta = json!({"type": "citations_delta", "citation": citation});
                    frame(
                        out,
                        "content_block_delta",
                        &json!({"type": "content_block_delta", "index": number, "delta": delta}),
                    );
                }
            }
            Kind::Whole | Kind::Nothing => {}
        }
        write_block_stop(out, number);
        let carrier = match open.kind {
            Kind::Text | Kind::Call => self.origin.carrier(&open.data, Neighbour::Previous),
            Kind::Thinking | Kind::Whole | Kind::Nothing => None,
        };
        if let Some(carrier) = carrier {
            write_whole(out, self.started, &carrier);
            self.started += 1;
        }
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.begin(out);
        for open in &mut self.open {
            open.ended.get_or_insert(None);
        }
        self.write_ends(out);
        self.stage = Stage::Over;
        if reason == FinishReason::Error {
            let failure = crate::Error::new(crate::ErrorKind::Server, "the answer broke off");
            return frame(out, "error", &error::encode_error(&failure).body);
        }
        let mut delta = Map::new();
        let word = data.value(DIALECT, "stop_reason");
        delta.insert("stop_reason".to_owned(), stop_reason(reason, word, self.has_calls));
        delta.insert("stop_sequence".to_owned(), Value::Null);
        if reason == FinishReason::ContentFilter {
            delta.insert("stop_details".to_owned(), Value::Null);
        }
        let kept = data.value(DIALECT, "response").and_then(Value::as_object);
        let mut event = Map::new();
        event.insert("type".to_owned(), "message_delta".into());
        for (key, value) in kept.into_iter().flatten() {
            // The API has this one beside the delta, the others in it.
            let place = if key == "context_management" { &mut event } else { &mut delta };
            place.insert(key.clone(), value.clone());
        }
        event.insert("delta".to_owned(), Value::Object(delta));
        event.insert("usage".to_owned(), usage::encode(self.usage.as_ref()));
        frame(out, "message_delta", &Value::Object(event));
        frame(out, "message_stop", &json!({"type": "message_stop"}));
    }

    /// An event of this dialect that has no meaning elsewhere goes on, with its block's number on this wire.
    fn other(&mut self, index: Option<usize>, data: &Value, out: &mut Vec<u8>) {
        let Some(kind) = data.get("type").and_then(Value::as_str) else { return };
        // An end is written once, by us.
        if kind == "message_stop" || kind.contains(['\n', '\r']) {
            return;
        }
        self.begin(out);
        let Some(index) = index else { return frame(out, kind, data) };
        let number = self.open.iter().find(|open| open.index == index).and_then(|open| open.number);
        if let Some(number) = number {
            let mut data = data.clone();
            if let Some(fields) = data.as_object_mut() {
                fields.insert("index".to_owned(), number.into());
            }
            frame(out, kind, &data);
        }
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

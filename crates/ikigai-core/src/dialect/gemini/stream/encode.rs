//! Events to frames.
//!
//! Clients read lines that begin with exactly `data: ` and choke on anything else, so there are no comments, no event
//! names and no end marker. Calls go out whole, in one frame.

use serde_json::{Map, Value};

use super::super::error::encode_error;
use super::super::response::{KEPT, block_parts, call_part, failure, finish_word, is_blocked};
use super::super::state::Sealer;
use super::super::{fields, part, usage};
use crate::dialect::WriteFrames;
use crate::{Block, Dialect, Error, Event, FinishReason, ProviderData, Reply, ToolCall, Usage};

/// Writes the frames of a stream.
#[derive(Debug)]
pub(crate) struct Encoder {
    reply: Reply,
    id: Option<String>,
    model: Option<String>,
    data: ProviderData,
    usage: Option<Usage>,
    /// The greatest counts that went out.
    told: Usage,
    /// The end of every frame, behind the candidate: counts, model, id.
    tail: Vec<u8>,
    open: Vec<Open>,
    /// Did any block go out?
    content: bool,
    calls: bool,
    first: bool,
    over: bool,
}

/// A block that is open.
#[derive(Debug)]
struct Open {
    index: usize,
    kind: Kind,
    data: ProviderData,
    /// What stood on the block from its start is not written yet.
    unsigned: bool,
    /// How much of its text went out.
    written: usize,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking,
    Call {
        id: String,
        name: String,
    },
    /// Went out whole.
    Whole,
}

impl WriteFrames for Encoder {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match event {
            Event::Start { id, model, provider_data } => {
                self.id = id.clone().or_else(|| self.fresh_id(provider_data));
                self.model = model.clone().filter(|model| !model.is_empty()).or_else(|| self.reply.model.clone());
                self.data = provider_data.clone();
                self.make_tail();
            }
            Event::BlockStart { index, block } => self.start(*index, block, out),
            Event::TextDelta { index, text } => self.text(*index, text, "", out),
            Event::ThinkingDelta { index, text } => self.text(*index, text, r#","thought":true"#, out),
            Event::ToolCallStart { index, id, name, provider_data } => {
                let kind = Kind::Call { id: id.clone(), name: name.clone() };
                self.open.push(Open { index: *index, kind, data: provider_data.clone(), unsigned: false, written: 0 });
            }
            // A call goes out whole, at its end.
            Event::ToolCallDelta { .. } => {}
            Event::ToolCallDone { index, arguments, provider_data } => {
                self.call(*index, arguments, provider_data, out);
            }
            Event::BlockDone { index, provider_data } => self.done(*index, provider_data, out),
            Event::Usage { usage } => {
                if let Some(before) = self.usage.replace(usage.clone()) {
                    self.told.output_tokens = self.told.output_tokens.max(before.output_tokens);
                    self.told.thinking_tokens = self.told.thinking_tokens.max(before.thinking_tokens);
                    self.told.cache_read_tokens = self.told.cache_read_tokens.max(before.cache_read_tokens);
                }
                self.make_tail();
            }
            Event::Done { finish_reason, provider_data } => {
                self.data.merge(provider_data.clone());
                self.finish(*finish_reason, out);
            }
            Event::Error { error } => self.fail(error, out),
            // Nothing of another dialect, and of this one there is none.
            Event::Other { .. } => {}
        }
    }
}

impl Encoder {
    pub(crate) fn new(reply: Reply) -> Self {
        let model = reply.model.clone();
        let mut encoder = Encoder {
            reply,
            id: None,
            model,
            data: ProviderData::default(),
            usage: None,
            told: Usage::default(),
            tail: Vec::new(),
            open: Vec::new(),
            content: false,
            calls: false,
            first: true,
            over: false,
        };
        encoder.make_tail();
        encoder
    }

    /// An id of ours; an answer of this dialect that had none stays without.
    fn fresh_id(&mut self, data: &ProviderData) -> Option<String> {
        data.get(Dialect::Gemini).is_none().then(|| self.reply.ids.next_id())
    }

    fn make_tail(&mut self) {
        self.tail.clear();
        if let Some(usage) = &self.usage {
            self.tail.extend_from_slice(br#","usageMetadata":"#);
            usage::write_after(usage, &self.told, &mut self.tail);
        }
        if let Some(model) = &self.model {
            self.tail.extend_from_slice(br#","modelVersion":"#);
            json(model, &mut self.tail);
        }
        if let Some(id) = &self.id {
            self.tail.extend_from_slice(br#","responseId":"#);
            json(id, &mut self.tail);
        }
        self.tail.push(b'}');
    }

    /// Begins a frame; [`close_frame`](Encoder::close_frame) ends it.
    fn open_frame(&mut self, out: &mut Vec<u8>) {
        if !self.reply.json_array {
            out.extend_from_slice(b"data: ");
        } else if self.first {
            out.push(b'[');
        } else {
            out.extend_from_slice(b",\r\n");
        }
        self.first = false;
    }

    fn close_frame(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.reply.json_array { b"\n" } else { b"\r\n\r\n" });
    }

    /// A frame around parts.
    fn frame(&mut self, out: &mut Vec<u8>, parts: impl FnOnce(&mut Vec<u8>)) {
        self.content = true;
        self.open_frame(out);
        out.extend_from_slice(br#"{"candidates":[{"content":{"parts":["#);
        parts(out);
        out.extend_from_slice(br#"],"role":"model"},"index":0}]"#);
        out.extend_from_slice(&self.tail);
        self.close_frame(out);
    }

    fn start(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let data = block.provider_data().cloned().unwrap_or_default();
        let (kind, text) = match block {
            Block::Text(text) => (Kind::Text, text.text.as_str()),
            Block::Thinking(thinking) => (Kind::Thinking, thinking.text.as_str()),
            Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Other(_) => {
                self.whole(block, out);
                (Kind::Whole, "")
            }
        };
        let (unsigned, thinking) = (!data.is_empty(), matches!(kind, Kind::Thinking));
        self.open.push(Open { index, kind, data, unsigned, written: 0 });
        if !text.is_empty() {
            self.text(index, text, if thinking { r#","thought":true"# } else { "" }, out);
        }
    }

    fn whole(&mut self, block: &Block, out: &mut Vec<u8>) {
        let parts = block_parts(block, Sealer::new(&self.reply, self.model.as_deref()));
        for part in parts {
            self.frame(out, |out| json(&part, out));
        }
    }

    fn text(&mut self, index: usize, text: &str, thought: &str, out: &mut Vec<u8>) {
        let mut siblings = Vec::new();
        if let Some(open) = self.open.iter_mut().find(|open| open.index == index) {
            open.written += text.len();
            // A signature of this dialect stands on its own part. Another's state covers the whole block, and waits.
            if open.data.get(Dialect::Gemini).is_some() && std::mem::take(&mut open.unsigned) {
                let sealer = Sealer::new(&self.reply, self.model.as_deref());
                siblings = siblings_of(&open.data, sealer.signature(&open.data));
            }
        }
        self.frame(out, |out| {
            out.extend_from_slice(br#"{"text":"#);
            json(text, out);
            out.extend_from_slice(thought.as_bytes());
            out.extend_from_slice(&siblings);
            out.push(b'}');
        });
    }

    fn call(&mut self, index: usize, arguments: &crate::Arguments, provider_data: &ProviderData, out: &mut Vec<u8>) {
        let Some(open) = self.take(index) else { return };
        let Kind::Call { id, name } = open.kind else { return };
        let mut data = open.data;
        data.merge(provider_data.clone());
        let call = ToolCall { id, name, arguments: arguments.clone().into(), cache: None, provider_data: data };
        let Some(mut part) = call_part(&call) else { return };
        if let Some(signature) = Sealer::new(&self.reply, self.model.as_deref()).signature(&call.provider_data) {
            part::sign(&mut part, &signature);
        }
        part::dress(&mut part, &call.provider_data, true);
        self.calls = true;
        self.frame(out, |out| json(&part, out));
    }

    /// Ends a block. A signature that came last stands on an empty part behind the text.
    fn done(&mut self, index: usize, provider_data: &ProviderData, out: &mut Vec<u8>) {
        let Some(mut open) = self.take(index) else { return };
        let thought = match open.kind {
            Kind::Text => false,
            Kind::Thinking => true,
            Kind::Call { .. } | Kind::Whole => return,
        };
        if provider_data.is_empty() && !open.unsigned {
            return;
        }
        open.data.merge(provider_data.clone());
        let sealer = Sealer::new(&self.reply, self.model.as_deref());
        let signature = match open.written {
            0 => sealer.signature(&open.data),
            written => sealer.signature_behind(&open.data, written),
        };
        let Some(signature) = signature else { return };
        let mut part = part::text("", thought);
        part::sign(&mut part, &signature);
        if open.written == 0 {
            part::dress(&mut part, &open.data, true);
        }
        self.frame(out, |out| json(&part, out));
    }

    fn take(&mut self, index: usize) -> Option<Open> {
        let place = self.open.iter().position(|open| open.index == index)?;
        Some(self.open.swap_remove(place))
    }

    fn finish(&mut self, reason: FinishReason, out: &mut Vec<u8>) {
        let word = finish_word(&self.data, reason, self.calls).map(str::to_owned);
        let kept = self.data.value(Dialect::Gemini, KEPT).and_then(Value::as_object).cloned().unwrap_or_default();
        let Some(word) = word.or_else(|| (reason == FinishReason::Unknown).then(|| "OTHER".to_owned())) else {
            return self.fail(&failure(None), out);
        };
        self.over = true;
        let mut body = Map::new();
        if self.content || !is_blocked(&kept) {
            let mut candidate = Map::new();
            // Some readers want a part in every candidate.
            let content = serde_json::json!({"parts": [{"text": ""}], "role": "model"});
            candidate.insert("content".to_owned(), content);
            candidate.insert("finishReason".to_owned(), word.into());
            candidate.insert("index".to_owned(), 0.into());
            if let Some(extra) = kept.get("candidate").and_then(Value::as_object) {
                fields::put_back(&mut candidate, extra, &[]);
            }
            body.insert("candidates".to_owned(), Value::Array(vec![candidate.into()]));
        }
        if let Some(usage) = &self.usage {
            body.insert("usageMetadata".to_owned(), usage::encode_after(usage, &self.told).into());
        }
        for (name, text) in [("modelVersion", &self.model), ("responseId", &self.id)] {
            if let Some(text) = text {
                body.insert(name.to_owned(), text.as_str().into());
            }
        }
        for (name, value) in kept {
            if !["candidate", "candidates", "content", "empty"].contains(&name.as_str()) {
                body.entry(name).or_insert(value);
            }
        }
        self.open_frame(out);
        json(&body, out);
        self.close(out);
    }

    fn fail(&mut self, error: &Error, out: &mut Vec<u8>) {
        self.over = true;
        self.open_frame(out);
        json(&encode_error(error).body, out);
        self.close(out);
    }

    fn close(&self, out: &mut Vec<u8>) {
        self.close_frame(out);
        if self.reply.json_array {
            out.push(b']');
        }
    }
}

/// What stands beside a text in its part, written: `,"thoughtSignature":"…"`.
fn siblings_of(data: &ProviderData, signature: Option<String>) -> Vec<u8> {
    let mut part = Map::new();
    if let Some(signature) = signature {
        part::sign(&mut part, &signature);
    }
    part::dress(&mut part, data, false);
    part.shift_remove("text");
    part.shift_remove("thought");
    let mut out = Vec::new();
    for (name, value) in &part {
        out.push(b',');
        json(name, &mut out);
        out.push(b':');
        json(value, &mut out);
    }
    out
}

/// Writes a value; memory never refuses, and our values always print.
fn json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
}

//! Events to chunks, as OpenAI writes them.
//!
//! The official clients put a stream together by joining strings, so the role, a call's id and its name come once.
//! Reasoning goes into `reasoning_content`, or into the field that it came in; state of other dialects is sealed into
//! `reasoning_details` when its block ends.

use serde_json::{Value, json};

use crate::dialect::openai_chat::assistant::{self, details_of};
use crate::dialect::openai_chat::marks::{DIALECT, REASONING_DETAILS, REASONING_FIELD, Side};
use crate::dialect::openai_chat::part::{self, FIELD_CONTENT};
use crate::dialect::openai_chat::response::{FINISH_REASON, Holds, finish, word_of};
use crate::dialect::openai_chat::usage;
use crate::dialect::{Reply, WriteFrames, openai_error};
use crate::{Block, Event, FinishReason, ProviderData, Source, ThinkingBlock, ToolCall, Usage};

/// Writes the chunks of one answer.
#[derive(Debug)]
pub(crate) struct Encoder {
    reply: Reply,
    model: String,
    /// The beginning of every chunk, up to and with `"choices":[`.
    head: Vec<u8>,
    /// What is known of each block. They may begin out of their order: a text waits for the one before it.
    blocks: Vec<Open>,
    calls: usize,
    /// A call whose arguments are cut off.
    broken_call: bool,
    usage: Option<Usage>,
    started: bool,
    over: bool,
}

/// What the writer knows of a block.
#[derive(Debug)]
struct Open {
    index: usize,
    kind: Kind,
    /// State so far: from the beginning, and added to at the end.
    state: ProviderData,
    /// How much text went out.
    length: usize,
}

#[derive(Debug)]
enum Kind {
    Text,
    Refusal,
    /// The field that its text goes into; none where the text travels in details.
    Thinking(Option<&'static str>),
    Call {
        number: usize,
        id: String,
    },
    Whole,
}

impl Encoder {
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder {
            reply,
            model: String::new(),
            head: Vec::new(),
            blocks: Vec::new(),
            calls: 0,
            broken_call: false,
            usage: None,
            started: false,
            over: false,
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
        if self.started {
            return;
        }
        self.started = true;
        let id = match id {
            Some(id) => id.to_owned(),
            None => format!("chatcmpl-{}", self.reply.ids.next_id()),
        };
        model.or(self.reply.model.as_deref()).unwrap_or_default().clone_into(&mut self.model);
        self.head.extend_from_slice(b"data: {\"id\":");
        write(&id, &mut self.head);
        self.head.extend_from_slice(b",\"object\":\"chat.completion.chunk\",\"created\":");
        write(&self.reply.created, &mut self.head);
        self.head.extend_from_slice(b",\"model\":");
        write(&self.model, &mut self.head);
        self.head.extend_from_slice(b",\"choices\":[");
        self.delta(out, b"\"role\":\"assistant\",\"content\":\"\"", |_| {});
    }

    /// A chunk whose delta has the given fields.
    fn delta(&self, out: &mut Vec<u8>, fields: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"{\"index\":0,\"delta\":{");
        out.extend_from_slice(fields);
        value(out);
        out.extend_from_slice(b"},\"finish_reason\":null}]}\n\n");
    }

    fn text_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(open) = find(&mut self.blocks, index) else { return };
        open.length += text.len();
        let field: &[u8] = match open.kind {
            Kind::Text => b"\"content\":",
            Kind::Refusal => b"\"refusal\":",
            Kind::Thinking(Some("reasoning")) => b"\"reasoning\":",
            Kind::Thinking(Some(_)) => b"\"reasoning_content\":",
            Kind::Thinking(None) | Kind::Call { .. } | Kind::Whole => return,
        };
        self.delta(out, field, |out| write(text, out));
    }

    fn block_start(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let state = block.provider_data().cloned().unwrap_or_default();
        let mut first = "";
        let kind = match block {
            Block::Text(text) => {
                first = &text.text;
                if text.is_refusal() { Kind::Refusal } else { Kind::Text }
            }
            Block::Thinking(thinking) => {
                first = &thinking.text;
                Kind::Thinking(field_for(thinking))
            }
            Block::Image(_) | Block::Audio(_) => {
                self.media(block, out);
                Kind::Whole
            }
            Block::Document(_) | Block::ToolCall(_) | Block::ToolResult(_) | Block::Other(_) => Kind::Whole,
        };
        self.note(Open { index, kind, state, length: 0 });
        if let Block::ToolCall(call) = block {
            // Against the grammar, but no reason to lose a call.
            self.call_start(index, &call.id, &call.name, &call.provider_data, out);
            self.call_done(index, call, &ProviderData::default(), out);
        } else if !first.is_empty() {
            self.text_delta(index, first, out);
        }
    }

    fn note(&mut self, open: Open) {
        match find(&mut self.blocks, open.index) {
            Some(known) => *known = open,
            None => self.blocks.push(open),
        }
    }

    fn block_done(&mut self, index: usize, added: &ProviderData, out: &mut Vec<u8>) {
        let Some(open) = find(&mut self.blocks, index) else { return };
        open.state.merge(added.clone());
        let (of, id) = match &open.kind {
            Kind::Text | Kind::Refusal => ("text", format!("text_{index}")),
            Kind::Thinking(_) => ("thinking", format!("thinking_{index}")),
            Kind::Call { .. } | Kind::Whole => return,
        };
        let mut details = match &open.kind {
            Kind::Thinking(_) => {
                let state = std::mem::take(&mut open.state);
                let thinking = ThinkingBlock { text: String::new(), provider_data: state };
                let own = details_of(&thinking).to_vec();
                open.state = thinking.provider_data;
                own
            }
            Kind::Text | Kind::Refusal | Kind::Call { .. } | Kind::Whole => Vec::new(),
        };
        let length = open.length;
        let sealed = assistant::seal_parts(index, of, &id, length, &open.state, &self.reply, &self.model);
        details.extend(sealed);
        self.details(&details, out);
    }

    fn details(&self, details: &[Value], out: &mut Vec<u8>) {
        if !details.is_empty() {
            self.delta(out, b"\"reasoning_details\":", |out| write(details, out));
        }
    }

    fn call_start(&mut self, index: usize, id: &str, name: &str, state: &ProviderData, out: &mut Vec<u8>) {
        let number = self.calls;
        self.calls += 1;
        let kind = Kind::Call { number, id: id.to_owned() };
        self.note(Open { index, kind, state: state.clone(), length: 0 });
        self.delta(out, b"\"tool_calls\":[{\"index\":", |out| {
            write(&number, out);
            out.extend_from_slice(b",\"id\":");
            write(id, out);
            out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
            write(name, out);
            out.extend_from_slice(b",\"arguments\":\"\"}");
            if let Some(state) = assistant::call_state(state) {
                out.extend_from_slice(b",\"extra_content\":");
                write(state, out);
            }
            out.extend_from_slice(b"}]");
        });
    }

    fn call_delta(&mut self, index: usize, arguments: &str, out: &mut Vec<u8>) {
        let Some(open) = find(&mut self.blocks, index) else { return };
        let Kind::Call { number, .. } = open.kind else { return };
        open.length += arguments.len();
        self.delta(out, b"\"tool_calls\":[{\"index\":", |out| {
            write(&number, out);
            out.extend_from_slice(b",\"function\":{\"arguments\":");
            write(arguments, out);
            out.extend_from_slice(b"}}]");
        });
    }

    fn call_done(&mut self, index: usize, call: &ToolCall, added: &ProviderData, out: &mut Vec<u8>) {
        let Some(open) = find(&mut self.blocks, index) else { return };
        let Kind::Call { number, id } = &open.kind else { return };
        let (number, id) = (*number, id.clone());
        self.broken_call |= !call.is_complete();
        let late_state = assistant::call_state(added).cloned();
        open.state.merge(added.clone());
        let state = open.state.clone();
        // Some give the arguments only at the end.
        if open.length == 0 {
            self.call_delta(index, &call.arguments.text().to_owned(), out);
        }
        if let Some(state) = late_state {
            self.delta(out, b"\"tool_calls\":[{\"index\":", |out| {
                write(&number, out);
                out.extend_from_slice(b",\"extra_content\":");
                write(&state, out);
                out.extend_from_slice(b"}]");
            });
        }
        let sealed = assistant::seal_parts(index, "call", &id, 0, &state, &self.reply, &self.model);
        self.details(sealed.as_slice(), out);
    }

    /// Pictures and speech come whole.
    fn media(&self, block: &Block, out: &mut Vec<u8>) {
        match block {
            Block::Image(_) => {
                if let Some(part) = part::encode(block, Side::Response) {
                    self.delta(out, b"\"images\":", |out| write(&[part], out));
                }
            }
            Block::Audio(audio) => {
                if let Source::Base64 { data, .. } = &audio.source {
                    let id = assistant::audio_id(audio).cloned().unwrap_or_default();
                    self.delta(out, b"\"audio\":", |out| write(&json!({"id": id, "data": data}), out));
                }
            }
            Block::Text(_)
            | Block::Document(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Thinking(_)
            | Block::Other(_) => {}
        }
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        let holds = Holds {
            calls: self.calls > 0,
            broken_call: self.broken_call,
            refusal: self.blocks.iter().any(|open| matches!(open.kind, Kind::Refusal)),
        };
        // The provider's own word while it still means the same, else ours. Clients wait for one: an end without a known
        // reason is an end all the same.
        let own = data.str(DIALECT, FINISH_REASON).filter(|word| finish(Some(word), holds) == reason);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"{\"index\":0,\"delta\":{},\"finish_reason\":");
        write(own.or(word_of(reason)).unwrap_or("stop"), out);
        out.extend_from_slice(b"}]}\n\n");
        if let Some(usage) = self.usage.take().filter(|_| self.reply.stream_usage) {
            out.extend_from_slice(&self.head);
            out.extend_from_slice(b"],\"usage\":");
            write(&usage::encode(&usage).unwrap_or_else(|| Value::Object(usage::plain(&usage))), out);
            out.extend_from_slice(b"}\n\n");
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }
}

impl WriteFrames for Encoder {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match event {
            Event::Start { id, model, .. } => self.start(id.as_deref(), model.as_deref(), out),
            // A failure needs no beginning: clients look for `error` in any chunk. No `[DONE]` follows.
            Event::Error { error } => {
                self.over = true;
                out.extend_from_slice(b"data: ");
                write(&json!({"error": openai_error::object(error)}), out);
                out.extend_from_slice(b"\n\n");
            }
            Event::BlockStart { .. }
            | Event::TextDelta { .. }
            | Event::ThinkingDelta { .. }
            | Event::ToolCallStart { .. }
            | Event::ToolCallDelta { .. }
            | Event::ToolCallDone { .. }
            | Event::BlockDone { .. }
            | Event::Usage { .. }
            | Event::Done { .. }
            | Event::Other { .. } => {
                self.start(None, None, out);
                self.inside(event, out);
            }
        }
    }
}

impl Encoder {
    /// Everything between the beginning and a failure.
    fn inside(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::BlockStart { index, block } => self.block_start(*index, block, out),
            Event::TextDelta { index, text } | Event::ThinkingDelta { index, text } => {
                self.text_delta(*index, text, out);
            }
            Event::ToolCallStart { index, id, name, provider_data } => {
                self.call_start(*index, id, name, provider_data, out);
            }
            Event::ToolCallDelta { index, arguments } => self.call_delta(*index, arguments, out),
            Event::ToolCallDone { index, arguments, provider_data } => {
                let call = ToolCall { arguments: arguments.clone(), ..ToolCall::default() };
                self.call_done(*index, &call, provider_data, out);
            }
            Event::BlockDone { index, provider_data } => self.block_done(*index, provider_data, out),
            Event::Usage { usage } => self.usage = Some(usage.clone()),
            Event::Done { finish_reason, provider_data } => {
                self.over = true;
                self.done(*finish_reason, provider_data, out);
            }
            // What another dialect says in passing has no place here.
            Event::Other { .. } | Event::Start { .. } | Event::Error { .. } => {}
        }
    }
}

/// What is known of a block. The newest is the one that is spoken of, mostly.
fn find(blocks: &mut [Open], index: usize) -> Option<&mut Open> {
    blocks.iter_mut().rev().find(|open| open.index == index)
}

/// The field that a thinking block's text goes into.
fn field_for(thinking: &ThinkingBlock) -> Option<&'static str> {
    match thinking.provider_data.str(DIALECT, REASONING_FIELD) {
        Some("reasoning") => Some("reasoning"),
        Some(REASONING_DETAILS) => None,
        // A part of `content` has no form in a stream that clients of OpenAI's own API would bear.
        Some(FIELD_CONTENT) | Some(_) | None => Some("reasoning_content"),
    }
}

/// Writes JSON. A `Vec` takes everything, and what is written here has text keys only.
fn write<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(&mut *out, value);
    debug_assert!(written.is_ok(), "JSON of plain values always writes");
}

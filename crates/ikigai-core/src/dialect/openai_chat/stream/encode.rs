//! Events to chunks, as OpenAI writes them.
//!
//! The official clients assemble a stream by joining strings, so the role, a call's id and its name are sent once.
//! Reasoning goes into `reasoning_content`, or into its original field; other dialects' state is sealed into
//! `reasoning_details` when its block ends.

use std::collections::BTreeMap;

use serde_json::json;

use crate::dialect::losses::note_foreign;
use crate::dialect::openai_chat::assistant::{details_of, field_of, write_speech};
use crate::dialect::openai_chat::calls::{FUNCTION_CALL, call_state, second_call, stateless_call};
use crate::dialect::openai_chat::notes::{EXTRA_CONTENT, REASONING_DETAILS, Side, extra};
use crate::dialect::openai_chat::response::{
    FINISH_REASON, Holds, finish, foreign_fields, note_fields, service_tier, unsaid, word_of,
};
use crate::dialect::openai_chat::sealed::{Owner, seal_parts};
use crate::dialect::openai_chat::wire::{Call, Function};
use crate::dialect::openai_chat::{DIALECT, content, usage};
use crate::dialect::{Reply, WriteFrames, openai_error};
use crate::fit::StateUse;
use crate::json::loose::Words;
use crate::json::text;
use crate::json::wire::Raw;
use crate::{
    Arguments, Block, Event, Fields, FinishReason, Json, Loss, LossCode, Part, ProviderData, ThinkingBlock, Usage,
};

use super::around::{write, write_around, write_head};

/// The writer of one answer's chunks.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    reply: Reply,
    id: Json,
    model: String,
    /// The beginning of every chunk, up to and including `"choices":[`.
    head: Vec<u8>,
    /// The beginning of a chunk with a delta, up to and including `"delta":{`.
    delta_head: Vec<u8>,
    /// The blocks that are still open.
    open: BTreeMap<usize, Open>,
    calls: u64,
    holds: Holds,
    usage: Option<Usage>,
    service_tier: Option<Json>,
    /// This dialect's own fields around the answer.
    own: Fields,
    /// The state that its provider wants back with the message.
    state: Option<Json>,
    is_over: bool,
    losses: Vec<Loss>,
}

/// An open block.
#[derive(Debug)]
struct Open {
    kind: Kind,
    /// The state so far: from the start, extended at the end.
    state: ProviderData,
    /// How many bytes of text have been written.
    length: usize,
}

#[derive(Debug)]
enum Kind {
    /// With the field for its text.
    Text(&'static [u8]),
    /// With the field for its text; `None` if the text is sent in details.
    Thinking(Option<&'static [u8]>),
    Call {
        number: u64,
        id: String,
    },
    Whole,
}

impl WriteFrames for Encoder {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        // A failure needs no start: clients look for `error` in any chunk. No `[DONE]` follows.
        if self.head.is_empty() && !matches!(event, Event::Start { .. } | Event::Error { .. }) {
            self.start(None, None, out);
        }
        match event {
            Event::Start { id, model, provider_data } => {
                self.start(id.as_deref(), model.as_deref(), out);
                self.about_answer(provider_data);
            }
            Event::BlockStart { index, block } => self.block_start(*index, block, out),
            Event::TextDelta { index, text } | Event::ThinkingDelta { index, text } => {
                self.text_delta(*index, text, out);
            }
            Event::ToolCallStart { index, id, name, provider_data } => {
                self.call_start(*index, id, name, provider_data, out);
            }
            Event::ToolCallDelta { index, arguments } => self.call_delta(*index, arguments, out),
            Event::ToolCallDone { index, arguments, provider_data } => {
                self.call_done(*index, arguments, provider_data, out);
            }
            // The driver has already converted them for this wire.
            Event::BlockReplaced { .. } | Event::Citation { .. } | Event::Sources { .. } => {}
            Event::BlockDone { index, provider_data } => self.block_done(*index, provider_data, out),
            Event::Usage { usage } => self.usage = Some(usage.clone()),
            Event::Done { finish_reason, provider_data } => self.done(*finish_reason, provider_data, out),
            Event::Error { error } => {
                self.is_over = true;
                out.extend_from_slice(b"data: ");
                write(&json!({"error": openai_error::object(error)}), out);
                out.extend_from_slice(b"\n\n");
            }
            Event::Other { dialect, data, .. } if *dialect == DIALECT => {
                out.extend_from_slice(b"data: ");
                write(data, out);
                out.extend_from_slice(b"\n\n");
            }
            // The driver reports those.
            Event::Other { .. } => {}
        }
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

impl Encoder {
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder { reply, ..Encoder::default() }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
        if !self.head.is_empty() {
            return;
        }
        let id = match id {
            Some(id) => id.to_owned(),
            None => format!("chatcmpl-{}", self.reply.ids.next_id()),
        };
        model.or(self.reply.model.as_deref()).unwrap_or_default().clone_into(&mut self.model);
        self.set_head(Json::from(id));
        self.delta(out, b"\"role\":\"assistant\",\"content\":\"\"", |_| {});
    }

    fn set_head(&mut self, id: Json) {
        let mut head = b"data: ".to_vec();
        write_head(&id, &Json::of(&self.reply.created).unwrap_or_default(), &self.model, &mut head);
        self.delta_head = [&head, b"{\"index\":0,\"delta\":{".as_slice()].concat();
        (self.id, self.head) = (id, head);
    }

    /// Notes what other dialects left on the answer, and keeps what has a place here.
    fn about_answer(&mut self, data: &ProviderData) {
        self.service_tier = service_tier(data).cloned().or(self.service_tier.take());
        self.own.merge(extra(data, Side::Response).clone());
        self.state = data.part(DIALECT, Part::State).get(EXTRA_CONTENT).cloned().or(self.state.take());
        foreign_fields(data, None, &mut self.losses);
    }

    /// Writes a chunk whose delta has these fields.
    fn delta(&self, out: &mut Vec<u8>, fields: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.delta_head);
        out.extend_from_slice(fields);
        value(out);
        out.extend_from_slice(b"},\"finish_reason\":null}]}\n\n");
    }

    fn text_delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(open) = self.open.get_mut(&index) else { return };
        open.length += text.len();
        if let Kind::Text(field) | Kind::Thinking(Some(field)) = open.kind {
            self.delta(out, field, |out| text::write(text, out));
        }
    }

    fn block_start(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let mut first = "";
        let (kind, said) = match block {
            Block::Text(text) => {
                first = &text.text;
                self.holds.refusal |= text.is_refusal();
                (Kind::Text(if text.is_refusal() { b"\"refusal\":" } else { b"\"content\":" }), true)
            }
            Block::Thinking(thinking) => {
                first = &thinking.text;
                (Kind::Thinking(field_for(thinking)), true)
            }
            // Pictures and speech are sent whole.
            Block::Image(_) => {
                let image = content::encode(block, Side::Response, StateUse::Own);
                image.iter().for_each(|image| self.delta(out, b"\"images\":", |out| write(&[image], out)));
                (Kind::Whole, image.is_some())
            }
            Block::Audio(audio) => {
                let speech = write_speech(audio, Side::Response, StateUse::Own);
                speech.iter().for_each(|speech| self.delta(out, b"\"audio\":", |out| write(speech, out)));
                (Kind::Whole, speech.is_some())
            }
            Block::Document(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Other(_) => (Kind::Whole, false),
            Block::ToolCall(call) => {
                // This violates the grammar, but is no reason to lose a call.
                self.call_start(index, &call.id, &call.name, &call.provider_data, out);
                return self.call_done(index, &call.arguments, &ProviderData::default(), out);
            }
        };
        let state = block.provider_data().cloned().unwrap_or_default();
        note_fields(&state, index, &mut self.losses);
        if matches!(kind, Kind::Text(_) | Kind::Thinking(_)) {
            self.note_own(&state, index);
        }
        if !said {
            self.losses.push(unsaid(block, index));
        }
        self.open.insert(index, Open { kind, state, length: 0 });
        if !first.is_empty() {
            self.text_delta(index, first, out);
        }
    }

    /// Notes what this dialect itself left on a block in fields that its deltas do not have.
    fn note_own(&mut self, data: &ProviderData, index: usize) {
        let names: Vec<&str> = data.part(DIALECT, Part::Extra).names().collect();
        if !names.is_empty() {
            let why = format!("a stream has no place for {}; left out", names.join(", "));
            let place = format!("content[{index}].provider_data.{DIALECT}");
            self.losses.push(Loss::new(LossCode::NotInDialect, "provider_data", place, why));
        }
    }

    fn block_done(&mut self, index: usize, added: &ProviderData, out: &mut Vec<u8>) {
        let Some(mut open) = self.open.remove(&index) else { return };
        note_fields(added, index, &mut self.losses);
        open.state.merge(added.clone());
        let (owner, details) = match &open.kind {
            Kind::Text(_) => (Owner::Text(open.length), Vec::new()),
            Kind::Thinking(_) => (Owner::Thinking(open.length), details_of(&open.state)),
            Kind::Call { id, .. } => (Owner::Call(id), Vec::new()),
            Kind::Whole => return,
        };
        let sealed = seal_parts(index, owner, &open.state, &self.reply, &self.model);
        let details: Vec<Raw<'_>> = details.into_iter().chain(sealed.as_ref().map(Raw::of)).collect();
        if !details.is_empty() {
            self.delta(out, b"\"reasoning_details\":", |out| write(&details, out));
        }
    }

    /// Writes a chunk with a piece of a call.
    fn call(&self, call: &Call<'_>, out: &mut Vec<u8>) {
        self.delta(out, b"\"tool_calls\":", |out| write(&[call], out));
    }

    fn call_start(&mut self, index: usize, id: &str, name: &str, state: &ProviderData, out: &mut Vec<u8>) {
        let number = self.calls;
        self.calls += 1;
        self.holds.calls = true;
        note_fields(state, index, &mut self.losses);
        self.note_own(state, index);
        if self.reply.older_calls && number > 0 {
            self.losses.push(second_call());
            self.open.insert(index, Open { kind: Kind::Whole, state: ProviderData::default(), length: 0 });
            return;
        }
        let kind = Kind::Call { number, id: id.to_owned() };
        self.open.insert(index, Open { kind, state: state.clone(), length: 0 });
        let function = Function { name: Some(name.into()), arguments: Some(Raw::of("")), ..Function::default() };
        if self.reply.older_calls {
            self.losses.extend(call_state(state).map(|_| stateless_call()));
            return self.delta(out, b"\"function_call\":", |out| write(&function, out));
        }
        let call = Call {
            index: Some(number),
            id: Words(Some(id.into())),
            kind: Some("function".into()),
            function: Some(Box::new(function)),
            extra_content: call_state(state).map(Raw::from),
            ..Call::default()
        };
        self.call(&call, out);
    }

    fn call_delta(&mut self, index: usize, arguments: &str, out: &mut Vec<u8>) {
        let Some(open) = self.open.get_mut(&index) else { return };
        let Kind::Call { number, .. } = open.kind else { return };
        open.length += arguments.len();
        if self.reply.older_calls {
            return self.delta(out, b"\"function_call\":{\"arguments\":", |out| {
                text::write(arguments, out);
                out.push(b'}');
            });
        }
        self.delta(out, b"\"tool_calls\":[{\"index\":", |out| {
            write(&number, out);
            out.extend_from_slice(b",\"function\":{\"arguments\":");
            text::write(arguments, out);
            out.extend_from_slice(b"}}]");
        });
    }

    fn call_done(&mut self, index: usize, arguments: &Arguments, added: &ProviderData, out: &mut Vec<u8>) {
        // Some send the arguments only at the end.
        if self.open.get(&index).is_some_and(|open| open.length == 0) {
            self.call_delta(index, arguments.text(), out);
        }
        let Some(&Open { kind: Kind::Call { number, .. }, .. }) = self.open.get(&index) else { return };
        self.holds.broken_call |= !arguments.is_complete();
        if let Some(state) = call_state(added).filter(|_| !self.reply.older_calls) {
            self.call(&Call { index: Some(number), extra_content: Some(state.into()), ..Call::default() }, out);
        }
        self.block_done(index, added, out);
    }

    /// Writes the chunk with the finish reason and this dialect's own fields around the answer.
    fn last_chunk(&mut self, word: &str, out: &mut Vec<u8>) {
        let mut own = std::mem::take(&mut self.own);
        let (id, model) = (own.remove("id"), own.remove("model"));
        if id.is_some() || model.is_some() {
            // The original last chunk had its own id or model.
            self.model = model.and_then(|model| model.to().ok()).unwrap_or_else(|| std::mem::take(&mut self.model));
            let id = id.unwrap_or_else(|| std::mem::take(&mut self.id));
            self.set_head(id);
        }
        if let Some(tier) = self.service_tier.take() {
            own.set("service_tier", tier);
        }
        out.extend_from_slice(&self.head);
        write_around(own, self.state.as_ref(), Some(word), out);
        out.extend_from_slice(b"\n\n");
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.is_over = true;
        self.about_answer(data);
        // The provider's own finish reason while it still means the same, otherwise ours. Clients wait for one, so an
        // unknown reason is written too.
        let own = data.part_str(DIALECT, Part::Shape, FINISH_REASON);
        let own = own.as_deref().filter(|word| finish(Some(word), self.holds) == reason);
        let older = (self.reply.older_calls && reason == FinishReason::ToolUse).then_some(FUNCTION_CALL);
        self.last_chunk(older.or(own).or(word_of(reason)).unwrap_or("stop"), out);
        if let Some(usage) = self.usage.take() {
            note_foreign(&usage.provider_data, DIALECT, &[Part::Extra, Part::Answer], "usage.", &mut self.losses);
            if self.reply.stream_usage {
                out.extend_from_slice(&self.head);
                out.extend_from_slice(b"],\"usage\":");
                write(&usage::encode(&usage).unwrap_or_else(|| usage::plain(&usage)), out);
                out.extend_from_slice(b"}\n\n");
            }
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }
}

/// Returns the field for a thinking block's text. Clients of OpenAI's own API would not accept a part of `content` in a
/// stream.
fn field_for(thinking: &ThinkingBlock) -> Option<&'static [u8]> {
    match field_of(thinking).as_deref() {
        Some("reasoning") => Some(b"\"reasoning\":"),
        Some(REASONING_DETAILS) => None,
        Some(_) | None => Some(b"\"reasoning_content\":"),
    }
}

//! Events to chunks, as OpenAI writes them.
//!
//! The official clients assemble a stream by joining strings, so the role, a call's id and its name are sent once.
//! Reasoning goes into `reasoning_content`, or into its original field; other dialects' state is sealed into
//! `reasoning_details` when its block ends.

use std::collections::BTreeMap;

use serde_json::json;

use crate::dialect::losses::{note_answer, note_block, note_foreign, note_usage};
use crate::dialect::openai_chat::assistant::{details_of, field_of, items_of, write_speech};
use crate::dialect::openai_chat::calls::{FUNCTION_CALL, call_state, second_call, stateless_call};
use crate::dialect::openai_chat::notes::{MESSAGE_STATE, REASONING_DETAILS, Side, THINKING_BLOCKS, extra, shape};
use crate::dialect::openai_chat::response::{
    CHOICE, ERROR, FINISH_REASON, Holds, failed, finish, note_media, service_tier, unsaid, word_of,
};
use crate::dialect::openai_chat::sealed::{Owner, seal_parts};
use crate::dialect::openai_chat::wire::{Call, Function};
use crate::dialect::openai_chat::{DIALECT, content, usage};
use crate::dialect::seal::Answerer;
use crate::dialect::{Reply, WriteFrames, openai_error};
use crate::fit::StateUse;
use crate::json::loose::Words;
use crate::json::text;
use crate::json::wire::{Raw, append};
use crate::sse::write_frame;
use crate::{
    Arguments, Block, Error, Fields, FinishReason, Json, Loss, LossCode, Part, ProviderData, ThinkingBlock, ToolCall,
    Usage,
};

use super::around::{write_around, write_head};

/// The writer of one answer's chunks.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    reply: Reply,
    id: Json,
    answerer: Answerer,
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
    state: Fields,
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
    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        let id = match id {
            Some(id) => id.to_owned(),
            None => format!("chatcmpl-{}", self.reply.ids.next_id()),
        };
        self.answerer = Answerer::new(&self.reply, model);
        self.set_head(Json::from(id));
        self.delta(out, b"\"role\":\"assistant\",\"content\":\"\"", |_| {});
        self.about_answer(data);
    }

    fn open(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let mut first = "";
        let kind = match block {
            Block::Text(text) => {
                first = &text.text;
                self.holds.refusal |= text.is_refusal();
                Some(Kind::Text(if text.is_refusal() { b"\"refusal\":" } else { b"\"content\":" }))
            }
            Block::Thinking(thinking) => {
                first = &thinking.text;
                Some(Kind::Thinking(field_for(thinking)))
            }
            Block::ToolCall(call) => Some(self.call_start(call, out)),
            // Pictures and speech are sent whole.
            Block::Image(_) => content::encode(block, Side::Response, StateUse::Own).map(|image| {
                self.delta(out, b"\"images\":", |out| append(&[image], out));
                Kind::Whole
            }),
            Block::Audio(audio) => write_speech(audio, Side::Response, StateUse::Own).map(|speech| {
                self.delta(out, b"\"audio\":", |out| append(&speech, out));
                Kind::Whole
            }),
            Block::Document(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Other(_) => None,
        };
        let state = block.provider_data().cloned().unwrap_or_default();
        note_block(&state, DIALECT, index, &mut self.losses);
        let kind = match kind {
            Some(kind) => {
                note_media(block, index, &mut self.losses);
                kind
            }
            None => {
                self.losses.push(unsaid(block, index));
                Kind::Whole
            }
        };
        if !matches!(kind, Kind::Whole) {
            self.note_own(&state, index);
        }
        self.open.insert(index, Open { kind, state, length: 0 });
        if !first.is_empty() {
            self.piece(index, first, out);
        }
    }

    fn piece(&mut self, index: usize, piece: &str, out: &mut Vec<u8>) {
        let Some(open) = self.open.get_mut(&index) else { return };
        open.length += piece.len();
        match open.kind {
            Kind::Text(field) | Kind::Thinking(Some(field)) => self.delta(out, field, |out| text::write(piece, out)),
            Kind::Call { .. } if self.reply.older_calls => {
                self.delta(out, b"\"function_call\":{\"arguments\":", |out| {
                    text::write(piece, out);
                    out.push(b'}');
                });
            }
            Kind::Call { number, .. } => self.delta(out, b"\"tool_calls\":[{\"index\":", |out| {
                append(&number, out);
                out.extend_from_slice(b",\"function\":{\"arguments\":");
                text::write(piece, out);
                out.extend_from_slice(b"}}]");
            }),
            Kind::Thinking(None) | Kind::Whole => {}
        }
    }

    fn close(&mut self, index: usize, arguments: Option<&Arguments>, added: &ProviderData, out: &mut Vec<u8>) {
        // Some send the arguments only at the end.
        if let Some(arguments) = arguments
            && self.open.get(&index).is_some_and(|open| open.length == 0)
        {
            self.piece(index, arguments.text(), out);
        }
        let Some(mut open) = self.open.remove(&index) else { return };
        note_block(added, DIALECT, index, &mut self.losses);
        if arguments.is_none() {
            self.note_own(added, index);
        }
        open.state.merge(added.clone());
        let (owner, details) = match &open.kind {
            Kind::Text(_) => (Owner::Text(open.length), Vec::new()),
            Kind::Thinking(_) => {
                let blocks = items_of(&open.state, THINKING_BLOCKS);
                if !blocks.is_empty() {
                    self.delta(out, b"\"thinking_blocks\":", |out| append(&blocks, out));
                }
                (Owner::Thinking(open.length), details_of(&open.state))
            }
            Kind::Call { number, id } => {
                self.holds.broken_call |= arguments.is_some_and(|arguments| !arguments.is_complete());
                if let Some(state) = call_state(added).filter(|_| !self.reply.older_calls) {
                    self.call(
                        &Call { index: Some(*number), extra_content: Some(state.into()), ..Call::default() },
                        out,
                    );
                }
                (Owner::Call(id), Vec::new())
            }
            Kind::Whole => {
                let place = format!("content[{index}].");
                return note_foreign(added, DIALECT, &[Part::State], &place, &mut self.losses);
            }
        };
        let sealed = seal_parts(index, owner, &open.state, &self.answerer);
        let details: Vec<Raw<'_>> = details.into_iter().chain(sealed.as_ref().map(Raw::of)).collect();
        if !details.is_empty() {
            self.delta(out, b"\"reasoning_details\":", |out| append(&details, out));
        }
    }

    fn usage(&mut self, usage: &Usage, _: &mut Vec<u8>) {
        self.usage = Some(usage.clone());
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.about_answer(data);
        // The provider's own finish reason while it still means the same, otherwise ours. Clients wait for one, so an
        // unknown reason is written too.
        let own = data.part_str(DIALECT, Part::Shape, FINISH_REASON);
        let own = own.as_deref().filter(|word| finish(Some(word), self.holds) == reason);
        if reason == FinishReason::Error && own.is_none() {
            self.own.set(format!("{CHOICE}.{ERROR}"), failed(None));
        }
        let older = (self.reply.older_calls && reason == FinishReason::ToolUse).then_some(FUNCTION_CALL);
        self.last_chunk(older.or(own).or(word_of(reason)).unwrap_or("stop"), out);
        if let Some(usage) = self.usage.take() {
            note_usage(Some(&usage), DIALECT, &mut self.losses);
            if self.reply.stream_usage {
                out.extend_from_slice(&self.head);
                out.extend_from_slice(b"],\"usage\":");
                append(&usage::encode(&usage).unwrap_or_else(|| usage::plain(&usage)), out);
                out.extend_from_slice(b"}\n\n");
            }
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    /// Writes the failure alone: clients look for `error` in any chunk. No `[DONE]` follows.
    fn fail(&mut self, failure: &Error, out: &mut Vec<u8>) {
        let mut chunk = json!({"error": openai_error::object(failure)});
        // Counts that came with a failure of this dialect are in the same chunk.
        let own = self.usage.take().filter(|usage| !shape(&usage.provider_data).is_empty());
        if let (Some(raw), Some(chunk)) = (own.as_ref().and_then(usage::encode), chunk.as_object_mut()) {
            chunk.insert("usage".to_owned(), raw.to().unwrap_or_default());
        }
        write_frame(out, None, &chunk);
    }

    fn other(&mut self, _: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        write_frame(out, None, data);
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

impl Encoder {
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder { reply, ..Encoder::default() }
    }

    fn set_head(&mut self, id: Json) {
        let mut head = b"data: ".to_vec();
        let model = self.answerer.model.as_deref().unwrap_or_default();
        write_head(&id, &Json::of(&self.reply.created).unwrap_or_default(), model, &mut head);
        self.delta_head = [&head, b"{\"index\":0,\"delta\":{".as_slice()].concat();
        (self.id, self.head) = (id, head);
    }

    /// Notes what other dialects left on the answer, and keeps what has a place here.
    fn about_answer(&mut self, data: &ProviderData) {
        self.service_tier = service_tier(data).cloned().or(self.service_tier.take());
        self.own.merge(extra(data, Side::Response).clone());
        let state = data.part(DIALECT, Part::State).iter().filter(|(name, _)| MESSAGE_STATE.contains(name));
        state.for_each(|(name, value)| self.state.set(name, value.clone()));
        note_answer(data, DIALECT, &mut self.losses);
    }

    /// Writes a chunk whose delta has these fields.
    fn delta(&self, out: &mut Vec<u8>, fields: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.delta_head);
        out.extend_from_slice(fields);
        value(out);
        out.extend_from_slice(b"},\"finish_reason\":null}]}\n\n");
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

    /// Writes a chunk with a piece of a call.
    fn call(&self, call: &Call<'_>, out: &mut Vec<u8>) {
        self.delta(out, b"\"tool_calls\":", |out| append(&[call], out));
    }

    fn call_start(&mut self, call: &ToolCall, out: &mut Vec<u8>) -> Kind {
        let number = self.calls;
        self.calls += 1;
        self.holds.calls = true;
        if self.reply.older_calls && number > 0 {
            self.losses.push(second_call());
            return Kind::Whole;
        }
        let kind = Kind::Call { number, id: call.id.clone() };
        let function =
            Function { name: Some(call.name.as_str().into()), arguments: Some(Raw::of("")), ..Function::default() };
        let state = call_state(&call.provider_data);
        if self.reply.older_calls {
            self.losses.extend(state.map(|_| stateless_call()));
            self.delta(out, b"\"function_call\":", |out| append(&function, out));
            return kind;
        }
        let written = Call {
            index: Some(number),
            id: Words(Some(call.id.as_str().into())),
            kind: Some("function".into()),
            function: Some(Box::new(function)),
            extra_content: state.map(Raw::from),
            ..Call::default()
        };
        self.call(&written, out);
        kind
    }

    /// Writes the chunk with the finish reason and this dialect's own fields around the answer.
    fn last_chunk(&mut self, word: &str, out: &mut Vec<u8>) {
        let mut own = std::mem::take(&mut self.own);
        let (id, model) = (own.remove("id"), own.remove("model"));
        if id.is_some() || model.is_some() {
            // The original last chunk had its own id or model.
            self.answerer.model = model.and_then(|model| model.to().ok()).or(self.answerer.model.take());
            let id = id.unwrap_or_else(|| std::mem::take(&mut self.id));
            self.set_head(id);
        }
        if let Some(tier) = self.service_tier.take() {
            own.set("service_tier", tier);
        }
        out.extend_from_slice(&self.head);
        write_around(own, &self.state, Some(word), out);
        out.extend_from_slice(b"\n\n");
    }
}

/// Returns the field for a thinking block's text. Clients of OpenAI's own API would not accept a part of `content` in a
/// stream.
fn field_for(thinking: &ThinkingBlock) -> Option<&'static [u8]> {
    match field_of(thinking).as_deref() {
        Some("reasoning") => Some(b"\"reasoning\":"),
        Some("reasoning_text") => Some(b"\"reasoning_text\":"),
        Some(REASONING_DETAILS | THINKING_BLOCKS) => None,
        Some(_) | None => Some(b"\"reasoning_content\":"),
    }
}

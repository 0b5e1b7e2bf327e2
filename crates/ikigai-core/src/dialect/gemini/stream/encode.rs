//! Events to frames.
//!
//! Clients read lines that begin with exactly `data: ` and fail on anything else, so there are no comments, event names
//! or end marker. Calls are sent whole, in one frame.

use std::borrow::Cow;

use super::super::error::encode_error;
use super::super::response::{Parts, failure, finish_word, is_blocked, kept_fields};
use super::super::state::{Waiting, own_signature, signature, text_of};
use super::super::wire::{Answer, Content, OneOrMany, Part};
use super::super::{DIALECT, content, usage};
use crate::dialect::WriteFrames;
use crate::dialect::losses::{note_answer, note_block, note_usage};
use crate::dialect::seal::Answerer;
use crate::fit::Spelling;
use crate::json::text;
use crate::json::wire::{Raw, Text, append, write};
use crate::wire::Reply;
use crate::{
    Arguments, Block, BlockKind, Error, FinishReason, Json, Loss, LossCode, Part as DataPart, ProviderData, Usage,
};

/// The writer of a stream's frames.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    reply: Reply,
    id: Option<String>,
    answerer: Answerer,
    data: ProviderData,
    usage: Option<Usage>,
    /// The highest counts that have been sent.
    told: Usage,
    /// What follows the part in every frame: counts, model, id, the frame's end.
    tail: Vec<u8>,
    /// Model and id.
    names: Vec<u8>,
    open: Vec<Open>,
    waiting: Waiting,
    /// How many blocks and calls have been sent.
    blocks: usize,
    calls: usize,
    frames: usize,
    losses: Vec<Loss>,
}

/// An open block.
#[derive(Debug)]
struct Open {
    index: usize,
    /// The block without its text.
    block: Block,
    /// Whether the block's data from its start has not been written yet.
    unsigned: bool,
    /// How many bytes of its text have been sent.
    written: usize,
}

impl WriteFrames for Encoder {
    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, _: &mut Vec<u8>) {
        // An answer of this dialect without an id stays that way.
        let own = data.part(DIALECT, DataPart::Answer).is_empty();
        self.id = id.map(str::to_owned).or_else(|| own.then(|| self.reply.ids.next_id()));
        self.answerer = Answerer::new(&self.reply, model);
        self.data = data.clone();
        self.make_names();
    }

    fn open(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let mut block = block.clone();
        // Anything else is sent at its end, when it is complete.
        let text = text_of(&mut block).map(std::mem::take).unwrap_or_default();
        let unsigned = block.provider_data().is_some_and(|data| !data.is_empty());
        self.open.push(Open { index, block, unsigned, written: 0 });
        if !text.is_empty() {
            self.piece(index, &text, out);
        }
    }

    fn piece(&mut self, index: usize, piece: &str, out: &mut Vec<u8>) {
        let Some(open) = self.open.iter_mut().find(|open| open.index == index) else { return };
        let kind = open.block.kind();
        if kind == BlockKind::ToolCall {
            // A call is sent whole, at its end.
            return;
        }
        open.written += piece.len();
        // This dialect's own signature goes on its own part. Another's state covers the whole block, and waits.
        if !open.unsigned || !open.block.provider_data().is_some_and(is_own) {
            return match self.waiting.is_empty() || piece.is_empty() {
                true => self.plain_part(piece, kind, out),
                false => self.part(content::text(piece, kind), out),
            };
        }
        open.unsigned = false;
        let mut part = content::text(piece, kind);
        let data = open.block.provider_data().cloned().unwrap_or_default();
        part.signature = own_signature(&data).map(Text);
        content::dress(&mut part, &data, Spelling::Ours);
        self.part(part, out);
    }

    /// Ends a block. A signature that came last goes on an empty part after the text.
    fn close(&mut self, index: usize, arguments: Option<&Arguments>, added: &ProviderData, out: &mut Vec<u8>) {
        let Some(place) = self.open.iter().position(|open| open.index == index) else { return };
        let Open { mut block, unsigned, written, .. } = self.open.swap_remove(place);
        if let Block::Other(other) = &mut block
            && let Some(data) = added.part(other.dialect, DataPart::Shape).get("data")
        {
            other.data = data.clone();
        }
        if let (Block::ToolCall(call), Some(arguments)) = (&mut block, arguments) {
            call.arguments = arguments.clone();
            self.calls += usize::from(call.is_complete());
        }
        if let Some(data) = block.provider_data_mut() {
            data.merge(added.clone());
        }
        if text_of(&mut block).is_none() || (written == 0 && !Waiting::of(&block, &self.answerer).is_empty()) {
            return self.whole(index, &block, out);
        }
        let kind = block.kind();
        let Some(data) = block.provider_data() else { return };
        note_block(data, DIALECT, index, &mut self.losses);
        if added.is_empty() && !unsigned {
            return;
        }
        let mut part = content::text("", kind);
        part.signature = signature(data, kind, written, &self.answerer).map(Text::from);
        let says_more = written == 0 && !data.part(DIALECT, DataPart::Extra).is_empty();
        if part.signature.is_none() && !says_more {
            return;
        }
        if written == 0 {
            content::dress(&mut part, data, Spelling::AsItCame);
        }
        self.part(part, out);
    }

    fn usage(&mut self, usage: &Usage, _: &mut Vec<u8>) {
        if let Some(before) = self.usage.replace(usage.clone()) {
            self.told.output_tokens = self.told.output_tokens.max(before.output_tokens);
            self.told.thinking_tokens = self.told.thinking_tokens.max(before.thinking_tokens);
            self.told.cache_read_tokens = self.told.cache_read_tokens.max(before.cache_read_tokens);
        }
        self.make_tail();
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.end_waiting(out);
        self.data.merge(data.clone());
        let data = std::mem::take(&mut self.data);
        let word = finish_word(&data, reason, self.calls);
        let Some(word) = word.or_else(|| (reason == FinishReason::Unknown).then_some(Cow::Borrowed("OTHER"))) else {
            self.data = data;
            return self.fail(&failure(None), out);
        };
        let (rest, mut candidate) = kept_fields(&data);
        // Some clients require a part in every candidate.
        let parts = Some(OneOrMany::Single(content::text("", BlockKind::Text)));
        candidate.content = Some(Content { parts, role: Some("model".into()), ..Content::default() });
        candidate.finish = Some(Text(word));
        candidate.index.get_or_insert_with(|| Raw::of(&0));
        let is_blocked = self.blocks == 0 && is_blocked(data.part(DIALECT, DataPart::Answer));
        let usage = self.usage.as_ref().map(|usage| usage::encode(usage, &self.told));
        let (model, id) = (self.answerer.model.as_deref().map(Text::from), self.id.as_deref().map(Text::from));
        let candidates = (!is_blocked).then_some(OneOrMany::Single(candidate));
        let answer = Answer { candidates, usage, model, id, rest, ..Answer::default() };
        self.last_frame(&write(&answer), out);
        note_answer(&data, DIALECT, &mut self.losses);
        note_usage(self.usage.as_ref(), DIALECT, &mut self.losses);
    }

    /// Writes a failure, and notes what is lost: unfinished blocks, and the fields next to parts if there were none.
    fn fail(&mut self, failure: &Error, out: &mut Vec<u8>) {
        self.end_waiting(out);
        for open in std::mem::take(&mut self.open) {
            if !matches!(open.block, Block::Text(_) | Block::Thinking(_)) {
                let (kind, place) = (open.block.kind().as_str(), format!("content[{}]", open.index));
                let why = "the stream failed before it was whole; left out";
                self.losses.push(Loss::new(LossCode::NotInDialect, kind, place, why));
            } else if let Some(data) = open.block.provider_data() {
                note_block(data, DIALECT, open.index, &mut self.losses);
            }
        }
        if self.blocks == 0 {
            for (name, _) in
                [("id", &self.id), ("model", &self.answerer.model)].iter().filter(|(_, text)| text.is_some())
            {
                let why = "the stream failed before its first part, which would say it; left out";
                self.losses.push(Loss::new(LossCode::NotInDialect, *name, *name, why));
            }
        }
        note_answer(&self.data, DIALECT, &mut self.losses);
        self.last_frame(&encode_error(failure).body, out);
    }

    fn other(&mut self, _: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        self.open_frame(out);
        out.extend_from_slice(data.text().as_bytes());
        out.extend_from_slice(self.frame_end());
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

impl Encoder {
    /// Creates a writer for one stream.
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder { reply, ..Encoder::default() }
    }

    fn make_names(&mut self) {
        self.names.clear();
        for (name, value) in [(r#","modelVersion":"#, &self.answerer.model), (r#","responseId":"#, &self.id)] {
            if let Some(value) = value {
                self.names.extend_from_slice(name.as_bytes());
                text::write(value, &mut self.names);
            }
        }
        self.names.push(b'}');
        self.make_tail();
    }

    fn make_tail(&mut self) {
        self.tail.clear();
        self.tail.extend_from_slice(br#"],"role":"model"},"index":0}]"#);
        if let Some(usage) = &self.usage {
            self.tail.extend_from_slice(br#","usageMetadata":"#);
            usage::write(usage, &self.told, &mut self.tail);
        }
        self.tail.extend_from_slice(&self.names);
        self.tail.extend_from_slice(self.frame_end());
    }

    /// Begins a frame; [`frame_end`](Encoder::frame_end) ends it.
    fn open_frame(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(match (self.reply.json_array, self.frames) {
            (false, _) => b"data: ",
            (true, 0) => b"[",
            (true, _) => b",\r\n",
        });
        self.frames += 1;
    }

    fn frame_end(&self) -> &'static [u8] {
        if self.reply.json_array { b"\n" } else { b"\r\n\r\n" }
    }

    fn last_frame(&mut self, body: &[u8], out: &mut Vec<u8>) {
        self.open_frame(out);
        out.extend_from_slice(body);
        out.extend_from_slice(self.frame_end());
        if self.reply.json_array {
            out.push(b']');
        }
    }

    /// Writes a frame with a part, and with the state that waits for one.
    fn part(&mut self, mut part: Part<'_>, out: &mut Vec<u8>) {
        if let Some(before) = self.waiting.put_on(&mut part) {
            self.frame(&before, out);
        }
        self.frame(&part, out);
    }

    /// Writes the state for which no part came.
    fn end_waiting(&mut self, out: &mut Vec<u8>) {
        if let Some(part) = self.waiting.alone() {
            self.frame(&part, out);
        }
    }

    fn frame(&mut self, part: &Part<'_>, out: &mut Vec<u8>) {
        self.blocks += 1;
        self.open_frame(out);
        out.extend_from_slice(br#"{"candidates":[{"content":{"parts":["#);
        append(part, out);
        out.extend_from_slice(&self.tail);
    }

    /// Writes a frame with plain text or thinking: there is one for every few words.
    fn plain_part(&mut self, text: &str, kind: BlockKind, out: &mut Vec<u8>) {
        self.blocks += 1;
        self.open_frame(out);
        out.extend_from_slice(br#"{"candidates":[{"content":{"parts":[{"text":"#);
        text::write(text, out);
        out.extend_from_slice(if kind == BlockKind::Thinking { br#","thought":true}"# } else { b"}" });
        out.extend_from_slice(&self.tail);
    }

    /// Writes a block in one piece.
    fn whole(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let mut parts = Vec::new();
        let mut writer = Parts { answerer: &self.answerer, losses: &mut self.losses };
        writer.add(index, block, &mut self.waiting, |part| parts.push(part));
        for part in &parts {
            self.frame(part, out);
        }
    }
}

/// Whether this dialect left anything on a block.
fn is_own(data: &ProviderData) -> bool {
    [DataPart::State, DataPart::Extra, DataPart::Shape].iter().any(|part| !data.part(DIALECT, *part).is_empty())
}

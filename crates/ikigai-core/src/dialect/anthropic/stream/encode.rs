//! Events to frames.
//!
//! A client appends each block as it starts and then finds it by its number, so on this wire one block ends before the
//! next begins. Blocks that are open beside another one wait, with what came for them so far.

use std::collections::VecDeque;

use crate::dialect::losses::note_foreign;
use crate::dialect::{Reply, WriteFrames};
use crate::json::wire::Raw;
use crate::sse::write_frame;
use crate::{
    Block, BlockKind, Error, ErrorKind, Event, Fields, FinishReason, Json, Loss, LossCode, Part, ProviderData, Usage,
};

use super::super::answer::{BlockWriter, Neighbour, kind_of};
use super::super::response::stop_reason;
use super::super::wire::{Answer, BlockFields};
use super::super::{DIALECT, content, error, usage};
use super::wire::{MessageDelta, PieceKind, write_block_start, write_block_stop, write_delta, write_piece};

/// Writes a stream.
#[derive(Debug)]
pub(crate) struct Encoder {
    reply: Reply,
    writer: BlockWriter,
    stage: Stage,
    /// Blocks that have begun and not ended, in the order of their beginning; the first is the one on the wire.
    open: VecDeque<Open>,
    /// How many blocks were started on the wire: the number of the next one.
    started: usize,
    has_calls: bool,
    usage: Option<Usage>,
    /// What this dialect said of the answer at its start.
    own: Fields,
}

#[derive(Debug)]
enum Stage {
    Before,
    /// The start, with this id, is held back for the usage that comes right behind it.
    Starting(String),
    Within,
    Over,
}

/// What a block on the wire is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Pieces, of a block of this kind.
    Pieces(PieceKind, BlockKind),
    /// Whole from the start.
    Whole,
    /// Nothing: it has no form on this wire.
    Nothing,
}

#[derive(Debug)]
struct Open {
    /// The block's place in the answer.
    index: usize,
    form: Form,
    /// What `content_block_start` says.
    start: Json,
    /// What dialects left on the block, as far as it is known.
    data: ProviderData,
    /// Text or arguments that wait to be written.
    waiting: String,
    /// Its number on the wire, once it is there.
    number: Option<usize>,
    progress: Progress,
}

/// How far an open block is.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// Nothing of it was written or waits.
    Empty,
    Growing,
    Ended,
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
                let call = crate::ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    provider_data: provider_data.clone(),
                    ..crate::ToolCall::default()
                };
                self.block_start(*index, &Block::ToolCall(call), out);
            }
            Event::ToolCallDone { index, arguments, provider_data } => {
                // All at once: the arguments came only with the end.
                let late = arguments.text() != "{}" && self.is_empty(*index);
                self.delta(*index, if late { arguments.text() } else { "" }, out);
                self.block_end(*index, provider_data, out);
            }
            Event::BlockDone { index, provider_data } => self.block_end(*index, provider_data, out),
            Event::Usage { usage } => {
                self.usage = Some(usage.clone());
                self.write_start(out);
            }
            Event::Done { finish_reason, provider_data } => self.done(*finish_reason, provider_data, out),
            Event::Error { error } => self.fail(error, out),
            Event::Other { index, dialect, data } if *dialect == DIALECT => self.other(*index, data, out),
            Event::Other { index, dialect, data } => {
                let place = index.map_or_else(|| "events".to_owned(), |index| format!("content[{index}]"));
                let why = format!("only {dialect} knows {}; left out", kind_of(data));
                let loss = Loss::new(LossCode::ForeignContent, "event", place, why);
                if self.writer.losses.last() != Some(&loss) {
                    self.writer.losses.push(loss);
                }
            }
        }
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.writer.losses)
    }
}

impl Encoder {
    /// A writer of one answer.
    pub(crate) fn new(reply: Reply) -> Self {
        let writer = BlockWriter::new(&reply, reply.model.clone(), std::iter::empty());
        Encoder {
            reply,
            writer,
            stage: Stage::Before,
            open: VecDeque::new(),
            started: 0,
            has_calls: false,
            usage: None,
            own: Fields::default(),
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        if !matches!(self.stage, Stage::Before) {
            return;
        }
        if let Some(model) = model {
            self.writer.model = Some(model.to_owned());
        }
        self.note_foreign(data);
        self.own = data.part(DIALECT, Part::Answer).clone();
        let id = id.map_or_else(|| format!("msg_{}", self.reply.ids.next_id()), str::to_owned);
        self.stage = Stage::Starting(id);
        // This dialect's own streams tell the usage right behind the start; others only at their end.
        if self.own.is_empty() {
            self.write_start(out);
        }
    }

    /// Notes what other dialects said of the answer.
    fn note_foreign(&mut self, data: &ProviderData) {
        note_foreign(data, DIALECT, &[Part::State, Part::Extra, Part::Answer], "", &mut self.writer.losses);
    }

    /// Writes the start, with the usage that is known by now.
    fn write_start(&mut self, out: &mut Vec<u8>) {
        if !matches!(self.stage, Stage::Starting(_)) {
            return;
        }
        let Stage::Starting(id) = std::mem::replace(&mut self.stage, Stage::Within) else { return };
        let null = || Some(Raw::of(&()));
        let message = Answer {
            id: Some(id.into()),
            kind: Some("message".into()),
            role: Some("assistant".into()),
            model: Some(self.writer.model.as_deref().unwrap_or_default().into()),
            content: Some(Vec::new()),
            stop_reason: null(),
            stop_sequence: null(),
            usage: Some(usage::encode(self.usage.as_ref())),
            rest: self.own.as_rest().into_iter().filter(|(name, _)| name != "stop_details").collect(),
            ..Answer::default()
        };
        #[derive(serde::Serialize)]
        struct MessageStart<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            message: Answer<'a>,
        }
        write_frame(out, Some("message_start"), &MessageStart { kind: "message_start", message });
    }

    /// Nothing comes before the start, even if the provider left it out.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if matches!(self.stage, Stage::Before) {
            self.start(None, None, &ProviderData::default(), out);
            self.write_start(out);
        }
    }

    fn block_start(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        self.begin(out);
        let data = block.provider_data().cloned().unwrap_or_default();
        let (form, start, waiting) = match block {
            Block::Text(text) => {
                let mut fields = content::write_text("", None, &text.provider_data);
                // They come as deltas of their own.
                let citations = fields.rest.iter_mut().find(|(name, raw)| name == "citations" && raw.get() != "null");
                if let Some((_, citations)) = citations {
                    *citations = Raw::of(&[(); 0]).0;
                }
                (Form::Pieces(PieceKind::Text, block.kind()), Json::of(&fields), text.text.as_str())
            }
            Block::Thinking(thinking) if !is_redacted(&data) => {
                let fields = content::write_thinking(thinking, Some("".into()));
                let fields = BlockFields { thinking: Some("".into()), ..fields };
                (Form::Pieces(PieceKind::Thinking, block.kind()), Json::of(&fields), thinking.text.as_str())
            }
            Block::ToolCall(call) => {
                self.has_calls = true;
                let (id, input) = (self.writer.ids.word(&call.id), Some(content::no_arguments()));
                let fields = content::write_call(call, id, input, None, &call.provider_data);
                (Form::Pieces(PieceKind::Arguments, block.kind()), Json::of(&fields), "")
            }
            Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolResult(_)
            | Block::Thinking(_)
            | Block::Other(_) => match self.writer.write(index, block).pop() {
                Some(whole) => (Form::Whole, Json::of(&whole), ""),
                None => (Form::Nothing, Ok(Json::null()), ""),
            },
        };
        let (start, waiting) = (start.unwrap_or_default(), waiting.to_owned());
        let progress = if waiting.is_empty() { Progress::Empty } else { Progress::Growing };
        self.open.push_back(Open { index, form, start, data, waiting, number: None, progress });
        if self.open.len() == 1 {
            self.write_first(out);
        }
    }

    /// An open block. The one on the wire is the first, which is the one that mostly is meant.
    fn find(&mut self, index: usize) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.index == index)
    }

    fn is_empty(&mut self, index: usize) -> bool {
        self.find(index).is_some_and(|open| open.progress == Progress::Empty)
    }

    fn delta(&mut self, index: usize, text: &str, out: &mut Vec<u8>) {
        let Some(open) = self.find(index).filter(|open| !text.is_empty() && open.progress != Progress::Ended) else {
            return;
        };
        open.progress = Progress::Growing;
        match (open.number, open.form) {
            (Some(number), Form::Pieces(kind, _)) => write_piece(out, kind, number, text),
            (None, Form::Pieces(..)) => open.waiting.push_str(text),
            (_, Form::Whole | Form::Nothing) => {}
        }
    }

    fn block_end(&mut self, index: usize, data: &ProviderData, out: &mut Vec<u8>) {
        let Some(open) = self.find(index) else { return };
        open.data.merge(data.clone());
        open.progress = Progress::Ended;
        if matches!(open.form, Form::Pieces(..)) {
            let data = open.data.clone();
            self.writer.note_foreign(&data, index);
        }
        self.write_ends(out);
    }

    /// Starts the first open block on the wire, with what waits for it.
    fn write_first(&mut self, out: &mut Vec<u8>) {
        let Some(first) = self.open.front_mut().filter(|first| first.number.is_none()) else { return };
        if first.form == Form::Nothing {
            return;
        }
        // State that is known by now goes before the block, the rest behind it.
        if let Form::Pieces(PieceKind::Text | PieceKind::Arguments, kind) = first.form
            && let Some(carrier) = self.writer.carrier(&first.data, kind, Neighbour::Next)
        {
            first.data.without(Part::State);
            write_whole(out, self.started, &carrier);
            self.started += 1;
        }
        let number = self.started;
        self.started += 1;
        first.number = Some(number);
        write_block_start(out, number, &first.start);
        if let Form::Pieces(kind, _) = first.form
            && !first.waiting.is_empty()
        {
            write_piece(out, kind, number, &std::mem::take(&mut first.waiting));
        }
    }

    /// Ends the blocks at the front that have ended, and starts the ones that waited for them.
    fn write_ends(&mut self, out: &mut Vec<u8>) {
        while self.open.front().is_some_and(|first| first.progress == Progress::Ended) {
            self.write_first(out);
            if let Some(first) = self.open.pop_front() {
                self.write_end(&first, out);
            }
            self.write_first(out);
        }
    }

    fn write_end(&mut self, open: &Open, out: &mut Vec<u8>) {
        let Some(number) = open.number else { return };
        if let Form::Pieces(PieceKind::Thinking, _) = open.form {
            let signature = self.writer.signature(&open.data);
            if !signature.is_empty() {
                write_delta(out, number, r#""type":"signature_delta","signature":"#, &signature);
            }
        }
        if let Form::Pieces(PieceKind::Text, _) = open.form {
            let citations: Option<Vec<Json>> =
                content::extra(&open.data).get("citations").and_then(|citations| citations.to().ok());
            for citation in citations.unwrap_or_default() {
                write_delta(out, number, r#""type":"citations_delta","citation":"#, &citation);
            }
        }
        write_block_stop(out, number);
        if let Form::Pieces(PieceKind::Text | PieceKind::Arguments, kind) = open.form
            && let Some(carrier) = self.writer.carrier(&open.data, kind, Neighbour::Previous)
        {
            write_whole(out, self.started, &carrier);
            self.started += 1;
        }
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.begin(out);
        self.open.iter_mut().for_each(|open| open.progress = Progress::Ended);
        self.write_ends(out);
        if reason == FinishReason::Error {
            return self.fail(&Error::new(ErrorKind::Server, "the answer broke off"), out);
        }
        self.stage = Stage::Over;
        self.note_foreign(data);
        if let Some(usage) = &self.usage {
            let parts = [Part::Extra, Part::Answer];
            note_foreign(&usage.provider_data, DIALECT, &parts, "usage.", &mut self.writer.losses);
        }
        let mut own = std::mem::take(&mut self.own);
        own.retain(|name, _| name.starts_with("stop_"));
        own.merge(data.part(DIALECT, Part::Answer).clone());
        let null = || Some(Raw::of(&()));
        // The API has this one beside the delta, the others in it.
        let beside = own.remove("context_management");
        let delta = Answer {
            stop_reason: Some(stop_reason(reason, own.get("stop_reason"), self.has_calls)),
            stop_sequence: own.get("stop_sequence").map(Raw::from).or_else(null),
            stop_details: own
                .get("stop_details")
                .map(Raw::from)
                .or_else(|| null().filter(|_| reason == FinishReason::ContentFilter)),
            rest: own.as_rest(),
            ..Answer::default()
        };
        let frame = MessageDelta {
            kind: Some("message_delta".into()),
            delta: Some(delta),
            usage: Some(usage::encode(self.usage.as_ref())),
            rest: beside.iter().map(|value| ("context_management".into(), Raw::from(value).0)).collect(),
        };
        write_frame(out, Some("message_delta"), &frame);
        write_frame(out, Some("message_stop"), &serde_json::json!({"type": "message_stop"}));
    }

    fn fail(&mut self, failure: &Error, out: &mut Vec<u8>) {
        self.stage = Stage::Over;
        write_frame(out, Some("error"), &error::failure(failure));
    }

    /// An event of this dialect that has no meaning elsewhere goes on, with its block's number on this wire.
    fn other(&mut self, index: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        let Ok(mut fields) = data.to::<Fields>() else { return };
        let Some(kind) = fields.str("type").map(|kind| kind.into_owned()) else { return };
        // An end is written once, by us.
        if kind == "message_stop" || kind.contains(['\n', '\r']) {
            return;
        }
        self.begin(out);
        if let Some(index) = index {
            let Some(number) = self.find(index).and_then(|open| open.number) else { return };
            fields.set("index", Json::of(&number).unwrap_or_default());
        }
        write_frame(out, Some(&kind), &fields);
    }
}

fn is_redacted(data: &ProviderData) -> bool {
    data.part(DIALECT, Part::State).get("redacted_data").is_some()
}

fn write_whole(out: &mut Vec<u8>, number: usize, block: &BlockFields<'_>) {
    write_block_start(out, number, block);
    write_block_stop(out, number);
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

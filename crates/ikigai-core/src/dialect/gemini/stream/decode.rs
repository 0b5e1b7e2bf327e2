//! Frames to events.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::part::{self, GENERATED, SIGNATURE};
use super::super::response::{FINISH, KEPT, finish, is_blocked, named};
use super::super::{error, usage};
use super::args::PartialArgs;
use super::wire::{self, Candidate, Frame, Kept, Part, Totals};
use crate::dialect::ReadFrames;
use crate::{Block, BlockKind, Dialect, Error, Event, FinishReason, Ids, ProviderData};

/// Reads the frames of a stream.
///
/// The answer is over at the end of the bytes and not before: a frame behind the one with the finish reason may bring
/// counts or a signature, and a stream in which code ran has several finish reasons, of which the last holds.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    frames: usize,
    started: bool,
    over: bool,
    /// The block that goes on: its place and kind. Text and thinking stay open until something else comes.
    open: Option<(usize, BlockKind)>,
    /// The call whose arguments are still arriving.
    partial: Option<(usize, PartialArgs)>,
    /// How many blocks were opened.
    blocks: usize,
    calls: bool,
    finish: Option<String>,
    totals: Totals,
    candidate: Kept,
    /// The counts that were told last.
    told: usage::Counts,
}

impl ReadFrames for Decoder {
    fn frame(&mut self, _name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        if self.over || data.trim_ascii().is_empty() {
            return;
        }
        self.frames += 1;
        if data.trim_ascii_start().starts_with('[') {
            // A whole array in one frame: proxies wrap errors like that.
            match serde_json::from_str::<Vec<&RawValue>>(data) {
                Ok(frames) => frames.into_iter().for_each(|frame| self.one(frame.get(), out)),
                Err(fault) => self.broken(&fault, data, out),
            }
            return;
        }
        self.one(data, out);
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        if self.over {
            return;
        }
        let mut kept: Map<String, Value> = self.totals.top.parsed().collect();
        let word = self.finish.take();
        let finish_reason = match &word {
            Some(word) => {
                // A call that was still arriving is whole only if the model says that it was done.
                self.close_partial(if word == "STOP" { Complete::Yes } else { Complete::No }, out);
                finish(Some(word), self.calls)
            }
            None if self.blocks == 0 && is_blocked(&kept) => FinishReason::ContentFilter,
            None if self.blocks == 0 && self.frames == 0 => {
                return self.fail(Error::protocol("the answer is empty: the stream ended before its first frame"), out);
            }
            None => {
                let message = "the stream ended without a finish reason: the answer is cut off";
                return self.fail(Error::protocol(message), out);
            }
        };
        self.close(out);
        let counts: Map<String, Value> = self.usage_fields();
        match usage::decode(&counts) {
            Some(usage) => out.push(Event::Usage { usage }),
            None if !counts.is_empty() => {
                kept.insert("usageMetadata".to_owned(), counts.into());
            }
            None => {}
        }
        let candidate: Map<String, Value> = self.candidate.parsed().collect();
        if !candidate.is_empty() {
            kept.insert("candidate".to_owned(), candidate.into());
        }
        let mut provider_data = ProviderData::default();
        if let Some(word) = word {
            provider_data.set(Dialect::Gemini, FINISH, word);
        }
        if !kept.is_empty() {
            provider_data.set(Dialect::Gemini, KEPT, kept);
        }
        self.over = true;
        out.push(Event::Done { finish_reason, provider_data });
    }
}

/// Did the arguments of a call come to their end?
#[derive(Clone, Copy, PartialEq)]
enum Complete {
    Yes,
    No,
}

impl Decoder {
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            frames: 0,
            started: false,
            over: false,
            open: None,
            partial: None,
            blocks: 0,
            calls: false,
            finish: None,
            totals: Totals::default(),
            candidate: Kept::default(),
            told: usage::Counts::default(),
        }
    }

    /// The ids that are left.
    pub(in super::super) fn into_ids(self) -> Ids {
        self.ids
    }

    fn one(&mut self, data: &str, out: &mut Vec<Event>) {
        if self.over {
            return;
        }
        let frame = match wire::read(data, &mut self.totals) {
            Ok(frame) => frame,
            Err(fault) => return self.broken(&fault, data, out),
        };
        if frame.error {
            return self.fail(error::decode_error(None, &[], data), out);
        }
        self.start(&frame, out);
        // Before the content: whoever writes this stream in another dialect may want the prompt's count at its start.
        if self.totals.counts != self.told {
            self.told = self.totals.counts;
            out.push(Event::Usage { usage: self.told.usage() });
        }
        if let Some(candidate) = frame.candidate {
            self.candidate(candidate, out);
        }
    }

    fn start(&mut self, frame: &Frame<'_>, out: &mut Vec<Event>) {
        if self.started {
            return;
        }
        self.started = true;
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let provider_data = ProviderData::default();
        out.push(Event::Start { id: owned(&frame.id), model: owned(&frame.model), provider_data });
    }

    fn candidate(&mut self, candidate: Candidate<'_>, out: &mut Vec<Event>) {
        if let Some(index) = candidate.index
            && !self.candidate.has("index")
        {
            self.candidate.set("index", index.to_string());
        }
        for (name, value) in candidate.rest {
            self.candidate.keep(&name, value);
        }
        for part in candidate.parts {
            self.part(part, out);
            if self.over {
                return;
            }
        }
        if let Some(word) = candidate.finish {
            self.finish = Some(word.into_owned());
        }
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<Event>) {
        match part {
            Part { text: Some(text), thought, signature: None, rest } if rest.is_empty() => {
                self.plain(text, if thought { BlockKind::Thinking } else { BlockKind::Text }, out);
            }
            part => match part.object() {
                Ok(object) => self.other(object, out),
                Err(fault) => self.broken(&fault, "", out),
            },
        }
    }

    /// More text or thinking, without anything to it.
    fn plain(&mut self, text: Cow<'_, str>, kind: BlockKind, out: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        let index = match self.open {
            Some((index, open)) if open == kind => index,
            _ => {
                let thinking = kind == BlockKind::Thinking;
                let index = self.open(if thinking { Block::thinking("") } else { Block::text("") }, out);
                self.open = Some((index, kind));
                index
            }
        };
        let text = text.into_owned();
        out.push(match kind {
            BlockKind::Thinking => Event::ThinkingDelta { index, text },
            _ => Event::TextDelta { index, text },
        });
    }

    /// Any other part: a block of its own, whole in this frame, unless it is a piece of a call.
    fn other(&mut self, part: Map<String, Value>, out: &mut Vec<Event>) {
        if let Some(call) = part.get("functionCall").and_then(Value::as_object)
            && self.is_piece(call)
        {
            return self.piece(&part, out);
        }
        match named(part::decode(part), &mut self.ids) {
            Block::Text(mut block) => {
                let text = std::mem::take(&mut block.text);
                let index = self.open(Block::Text(block), out);
                if !text.is_empty() {
                    out.push(Event::TextDelta { index, text });
                }
                done(index, out);
            }
            Block::Thinking(mut block) => {
                let text = std::mem::take(&mut block.text);
                let index = self.open(Block::Thinking(block), out);
                if !text.is_empty() {
                    out.push(Event::ThinkingDelta { index, text });
                }
                done(index, out);
            }
            Block::ToolCall(call) => {
                let index = self.open_call(call.id, call.name, call.provider_data, out);
                finish_call(index, call.arguments.object().clone(), out);
            }
            block => {
                let index = self.open(block, out);
                done(index, out);
            }
        }
    }

    /// Does this belong to a call that comes in pieces?
    fn is_piece(&self, call: &Map<String, Value>) -> bool {
        let goes_on = self.partial.is_some() && !call.contains_key("name");
        goes_on || call.contains_key("willContinue") || call.contains_key("partialArgs")
    }

    fn piece(&mut self, part: &Map<String, Value>, out: &mut Vec<Event>) {
        let Some(call) = part.get("functionCall").and_then(Value::as_object) else { return };
        if let Some(name) = call.get("name").and_then(Value::as_str) {
            let mut data = ProviderData::default();
            if let Some(signature) = part.get("thoughtSignature").and_then(Value::as_str) {
                data.set(Dialect::Gemini, SIGNATURE, signature);
            }
            let id = match call.get("id").and_then(Value::as_str) {
                Some(id) if !id.is_empty() => id.to_owned(),
                _ => {
                    data.set(Dialect::Gemini, GENERATED, true);
                    self.ids.next_id()
                }
            };
            let index = self.open_call(id, name.to_owned(), data, out);
            self.partial = Some((index, PartialArgs::default()));
        }
        let Some((_, args)) = &mut self.partial else {
            let message = format!("frame {} goes on with a call that never began", self.frames);
            return self.fail(Error::protocol(message), out);
        };
        for piece in call.get("partialArgs").and_then(Value::as_array).into_iter().flatten() {
            if let Err(fault) = args.push(piece) {
                let message = format!("frame {}: {fault}", self.frames);
                return self.fail(Error::protocol(message), out);
            }
        }
        if !call.get("willContinue").and_then(Value::as_bool).unwrap_or_default() {
            self.close_partial(Complete::Yes, out);
        }
    }

    fn open_call(&mut self, id: String, name: String, provider_data: ProviderData, out: &mut Vec<Event>) -> usize {
        self.close(out);
        self.calls = true;
        let index = self.next();
        out.push(Event::ToolCallStart { index, id, name, provider_data });
        index
    }

    /// Opens a block; the one that was open is closed.
    fn open(&mut self, block: Block, out: &mut Vec<Event>) -> usize {
        self.close(out);
        let index = self.next();
        out.push(Event::BlockStart { index, block });
        index
    }

    fn next(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn close(&mut self, out: &mut Vec<Event>) {
        if let Some((index, _)) = self.open.take() {
            done(index, out);
        }
        self.close_partial(Complete::No, out);
    }

    /// Ends the call that came in pieces. One that something else cut short must not be run: its arguments are left
    /// as text without their last brace.
    fn close_partial(&mut self, complete: Complete, out: &mut Vec<Event>) {
        let Some((index, args)) = self.partial.take() else { return };
        let arguments = args.finish();
        if complete == Complete::Yes {
            return finish_call(index, arguments, out);
        }
        let mut text = Value::Object(arguments).to_string();
        text.pop();
        out.push(Event::ToolCallDelta { index, arguments: text.clone() });
        let (arguments, provider_data) = (crate::Arguments::from_text(text), ProviderData::default());
        out.push(Event::ToolCallDone { index, arguments, provider_data });
    }

    /// The counts and what stands beside them, as one whole answer would have had them.
    fn usage_fields(&mut self) -> Map<String, Value> {
        let mut counts = self.totals.counts;
        let mut fields = Map::new();
        for name in usage::NAMES {
            if let Some(count) = counts.slot(name).copied().flatten() {
                fields.insert(name.to_owned(), count.into());
            }
        }
        fields.extend(self.totals.usage.parsed());
        fields
    }

    fn broken(&mut self, fault: &serde_json::Error, data: &str, out: &mut Vec<Event>) {
        // The parser's own words may quote the frame as well.
        let fault = fault.to_string();
        let (fault, begins) = (error::excerpt(&fault, 200), error::excerpt(data, 200));
        self.fail(Error::protocol(format!("frame {} does not parse: {fault}; it begins: {begins}", self.frames)), out);
    }

    fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        self.over = true;
        out.push(Event::Error { error: Box::new(error) });
    }
}

impl Part<'_> {
    /// The part as the object that it was.
    fn object(self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut object = Map::new();
        if let Some(text) = self.text {
            object.insert("text".to_owned(), text.into_owned().into());
        }
        for (name, value) in self.rest {
            object.insert(name.into_owned(), serde_json::from_str(value.get())?);
        }
        if self.thought {
            object.insert("thought".to_owned(), true.into());
        }
        if let Some(signature) = self.signature {
            object.insert("thoughtSignature".to_owned(), signature.into_owned().into());
        }
        Ok(object)
    }
}

fn done(index: usize, out: &mut Vec<Event>) {
    out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
}

fn finish_call(index: usize, arguments: Map<String, Value>, out: &mut Vec<Event>) {
    let text = serde_json::to_string(&arguments).unwrap_or_default();
    out.push(Event::ToolCallDelta { index, arguments: text });
    out.push(Event::ToolCallDone { index, arguments: arguments.into(), provider_data: ProviderData::default() });
}

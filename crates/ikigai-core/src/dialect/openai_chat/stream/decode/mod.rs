//! Chunks to events.
//!
//! One block is open at a time, as the pieces come: reasoning, then text, then calls. A block closes when something
//! else begins; a call, when the next one begins and its arguments are whole, or else at the end. The end itself is only
//! known at `[DONE]`, because counts come after the finish reason.

mod alike;
mod calls;
mod kept;
mod speech;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::details::Details;
use super::wire::{self, Choice, Chunk, Content, Delta, Few};
use crate::dialect::openai_chat::assistant;
use crate::dialect::openai_chat::marks::{DIALECT, PART, REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, Side};
use crate::dialect::openai_chat::part::{self, FIELD_CONTENT};
use crate::dialect::openai_chat::response::{Holds, broken, decode_response, finish};
use crate::dialect::openai_chat::usage;
use crate::dialect::{ReadFrames, openai_error};
use crate::{Block, BlockKind, Error, Event, FinishReason, Ids, ProviderData, ThinkingBlock};

use alike::{Alike, only_text};
use calls::Calls;
use kept::Kept;
use speech::Speech;

/// Reads the chunks of one answer.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    frames: usize,
    /// What the last chunk was like that brought only text.
    alike: Alike,
    state: State,
    id: Option<String>,
    model: Option<String>,
    /// The number of the next block.
    next: usize,
    open: Open,
    /// White space before the first word. It may come before the reasoning, and belongs after it.
    held: String,
    has_text: bool,
    details: Details,
    /// Further fields of `thinking` parts.
    thinking_part: Map<String, Value>,
    /// The second field that says the same as the first.
    also: Option<&'static str>,
    /// Reasoning came as plain text: details then only repeat it.
    has_plain_reasoning: bool,
    calls: Calls,
    speech: Option<Speech>,
    finish: Option<String>,
    refused: bool,
    usage: String,
    kept: Kept,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was said yet.
    Waiting,
    Started,
    Over,
}

/// The block that text pieces go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Thinking(usize),
    Text(usize),
    Refusal(usize),
}

impl Decoder {
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            frames: 0,
            alike: Alike::default(),
            state: State::Waiting,
            id: None,
            model: None,
            next: 0,
            open: Open::Nothing,
            held: String::new(),
            has_text: false,
            details: Details::default(),
            thinking_part: Map::new(),
            also: None,
            has_plain_reasoning: false,
            calls: Calls::default(),
            speech: None,
            finish: None,
            refused: false,
            usage: String::new(),
            kept: Kept::default(),
        }
    }

    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) {
        if let Some(text) = self.alike.read(data) {
            return self.text(text.into_owned(), out);
        }
        let mut chunk = Chunk::default();
        if let Err(error) = wire::read(data, &mut chunk) {
            return self.fail(unreadable(self.frames, data, &error), out);
        }
        let is_answer = chunk.choices.is_some();
        if chunk.error.is_some() || !is_answer {
            match serde_json::from_str::<Value>(data).ok() {
                Some(body @ Value::Object(_)) => {
                    if let Some(error) = openai_error::find(DIALECT, &body) {
                        return self.fail(error, out);
                    }
                }
                _ => return self.fail(foreign(self.frames, data), out),
            }
        }
        if let Some(raw) = chunk.usage {
            raw.get().clone_into(&mut self.usage);
        }
        if self.state != State::Waiting
            && let Some(text) = only_text(data, &chunk)
        {
            self.alike.learn(data, text);
        }
        let choices = chunk.choices.get_or_insert_default();
        if self.state == State::Waiting && choices.iter().any(|choice| choice.is_whole) {
            return self.whole(data, out);
        }
        let is_special = self.state == State::Waiting
            || choices.is_empty()
            || choices.iter().any(|choice| choice.more || choice.finish_reason.0.is_some());
        if is_special {
            self.kept.chunk(data, &mut self.usage);
        }
        if self.state == State::Waiting {
            self.id = self.id.take().or_else(|| chunk.id.take().map(Into::into));
            self.model = self.model.take().or_else(|| chunk.model.take().map(Into::into));
            if choices.is_empty() {
                // Some begin with a chunk about the prompt that names neither answer nor model.
                return;
            }
            self.start(out);
        }
        self.choices(choices, out);
    }

    /// The answer in one piece, though a stream was asked for.
    fn whole(&mut self, data: &str, out: &mut Vec<Event>) {
        let body = serde_json::from_str(data).unwrap_or_default();
        self.state = State::Over;
        match decode_response(body, &mut self.ids) {
            Ok(response) => out.extend(crate::events(&response)),
            Err(error) => out.push(Event::Error { error: Box::new(error) }),
        }
    }

    fn start(&mut self, out: &mut Vec<Event>) {
        self.state = State::Started;
        out.push(Event::Start { id: self.id.take(), model: self.model.take(), provider_data: ProviderData::default() });
    }

    fn choices(&mut self, choices: &mut Few<Choice<'_>>, out: &mut Vec<Event>) {
        for choice in choices.iter_mut() {
            // Only the first is read.
            if choice.index.0.is_some_and(|index| index != 0) {
                continue;
            }
            if let Some(raw) = choice.logprobs {
                self.kept.logprobs(raw);
            }
            self.delta(&mut choice.delta, out);
            if let Some(word) = choice.finish_reason.take() {
                self.finish = Some(word.into());
            }
        }
    }

    fn delta(&mut self, delta: &mut Delta<'_>, out: &mut Vec<Event>) {
        self.reasoning(delta, out);
        match std::mem::take(&mut delta.content) {
            Content::None => {}
            Content::Text(text) => self.text(text.into_owned(), out),
            Content::Parts(parts) => {
                self.kept.parts = true;
                for part in parts {
                    self.part(part, out);
                }
            }
        }
        if let Some(text) = delta.refusal.take() {
            self.flush_held(out);
            let index = match self.open {
                Open::Refusal(index) => index,
                Open::Nothing | Open::Thinking(_) | Open::Text(_) => {
                    self.refused = true;
                    let index = self.open_block(assistant::refusal(String::new()), out);
                    self.open = Open::Refusal(index);
                    index
                }
            };
            out.push(Event::TextDelta { index, text: text.into_owned() });
        }
        if !delta.tool_calls.is_empty() || delta.function_call.is_some() {
            self.flush_held(out);
            self.close(out);
            self.settle_details(out);
            for piece in std::mem::take(&mut delta.tool_calls) {
                self.calls.piece(piece, &mut self.next, &mut self.ids, out);
            }
            if let Some(function) = delta.function_call.take() {
                self.calls.older_form(*function, &mut self.next, &mut self.ids, out);
            }
        }
        if let Some(raw) = delta.audio {
            self.speech.get_or_insert_default().add(raw);
        }
        for (key, raw) in &delta.rest {
            self.rest(key, raw, out);
        }
    }

    /// Reasoning under either name, or only as details.
    fn reasoning(&mut self, delta: &Delta<'_>, out: &mut Vec<Event>) {
        let fields = [("reasoning_content", &delta.reasoning_content), ("reasoning", &delta.reasoning)];
        let mut said = fields.into_iter().filter_map(|(field, text)| Some((field, text.as_some()?)));
        let first = said.next();
        if let (Some((_, text)), Some((also, same))) = (first, said.next())
            && text == same
        {
            self.also = Some(also);
        }
        if let Some((field, text)) = first {
            self.has_plain_reasoning = true;
            self.think(field, text.to_owned(), out);
        }
        for piece in &delta.details {
            self.details.push(piece);
            let text = [&piece.text, &piece.summary].into_iter().find_map(|text| text.as_some());
            if let (false, Some(text)) = (self.has_plain_reasoning, text) {
                self.think(REASONING_DETAILS, text.to_owned(), out);
            }
        }
    }

    fn think(&mut self, field: &str, text: String, out: &mut Vec<Event>) {
        let index = match self.open {
            Open::Thinking(index) => index,
            Open::Nothing | Open::Text(_) | Open::Refusal(_) => self.open_thinking(field, out),
        };
        out.push(Event::ThinkingDelta { index, text });
    }

    fn open_thinking(&mut self, field: &str, out: &mut Vec<Event>) -> usize {
        let mut block = ThinkingBlock::default();
        block.provider_data.set(DIALECT, REASONING_FIELD, field);
        let index = self.open_block(Block::Thinking(block), out);
        self.open = Open::Thinking(index);
        index
    }

    fn text(&mut self, text: String, out: &mut Vec<Event>) {
        if let Open::Text(index) = self.open {
            if !text.is_empty() {
                out.push(Event::TextDelta { index, text });
            }
            return;
        }
        if !self.has_text && text.trim_start().is_empty() {
            self.held.push_str(&text);
            return;
        }
        if text.is_empty() {
            return;
        }
        let text = if self.held.is_empty() {
            text
        } else {
            let mut whole = std::mem::take(&mut self.held);
            whole.push_str(&text);
            whole
        };
        self.open_text(text, out);
    }

    fn open_text(&mut self, text: String, out: &mut Vec<Event>) {
        self.has_text = true;
        let index = self.open_block(Block::text(""), out);
        self.open = Open::Text(index);
        out.push(Event::TextDelta { index, text });
    }

    /// White space that no word followed is text all the same.
    fn flush_held(&mut self, out: &mut Vec<Event>) {
        if !self.held.is_empty() {
            let text = std::mem::take(&mut self.held);
            self.open_text(text, out);
        }
    }

    /// One part of a list of content: text, thinking, or something of the dialect's own.
    fn part(&mut self, part: Value, out: &mut Vec<Event>) {
        match part::decode(part, Side::Response) {
            Block::Text(text) if !text.is_refusal() => self.text(text.text, out),
            Block::Thinking(mut thinking) => {
                if !matches!(self.open, Open::Thinking(_)) {
                    self.open_thinking(FIELD_CONTENT, out);
                }
                if let Some(Value::Object(more)) = thinking.provider_data.remove(DIALECT, PART) {
                    self.thinking_part.extend(more);
                }
                if !thinking.text.is_empty() {
                    self.think(FIELD_CONTENT, thinking.text, out);
                }
            }
            block => {
                self.flush_held(out);
                let index = self.open_block(block, out);
                out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
            }
        }
    }

    /// Closes what is open and opens a block; the caller says what it is.
    fn open_block(&mut self, block: Block, out: &mut Vec<Event>) -> usize {
        self.close(out);
        if block.kind() != BlockKind::Thinking {
            self.settle_details(out);
        }
        let index = self.next;
        self.next += 1;
        out.push(Event::BlockStart { index, block });
        index
    }

    /// Sealed reasoning without a visible text is a block of its own, in the place where it came.
    fn settle_details(&mut self, out: &mut Vec<Event>) {
        if !self.details.is_empty() {
            self.open_thinking(REASONING_DETAILS, out);
            self.close(out);
        }
    }

    /// Closes the open block, and gives a thinking block what it ends with.
    fn close(&mut self, out: &mut Vec<Event>) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Text(index) | Open::Refusal(index) => {
                out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
            }
            Open::Thinking(index) => {
                let provider_data = self.thinking_end();
                out.push(Event::BlockDone { index, provider_data });
            }
        }
    }

    fn thinking_end(&mut self) -> ProviderData {
        let mut data = ProviderData::default();
        if let Some(also) = self.also.take() {
            data.set(DIALECT, REASONING_ALSO, also);
        }
        if !self.details.is_empty() {
            data.set(DIALECT, REASONING_DETAILS, self.details.take());
        }
        if !self.thinking_part.is_empty() {
            data.set(DIALECT, PART, std::mem::take(&mut self.thinking_part));
        }
        data
    }

    /// Fields of a delta that only some know.
    fn rest(&mut self, key: &str, raw: &RawValue, out: &mut Vec<Event>) {
        let Ok(value) = serde_json::from_str::<Value>(raw.get()) else { return };
        match (key, value) {
            ("images", Value::Array(images)) => {
                for block in assistant::made_images(images) {
                    self.flush_held(out);
                    let index = self.open_block(block, out);
                    out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
                }
            }
            (_, value) => self.kept.field(key, value),
        }
    }

    /// Closes everything and ends the stream as the answer ended.
    fn finish(&mut self, out: &mut Vec<Event>) {
        if self.state == State::Waiting {
            self.start(out);
        }
        self.flush_held(out);
        self.close(out);
        self.settle_details(out);
        let calls = self.calls.finish(out);
        if let Some(speech) = self.speech.take() {
            let index = self.open_block(speech.into_block(), out);
            out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
        }
        self.usage(out);
        if let Some(fault) = calls.fault {
            self.state = State::Over;
            out.push(Event::Error { error: Box::new(Error::protocol(fault)) });
            return;
        }
        let holds = Holds { calls: calls.any, broken_call: calls.broken, refusal: self.refused };
        let word = self.finish.take();
        let finish_reason = finish(word.as_deref(), holds);
        self.state = State::Over;
        if finish_reason == FinishReason::Error {
            out.push(Event::Error { error: Box::new(broken(word.as_deref())) });
            return;
        }
        let provider_data = std::mem::take(&mut self.kept).into_data(word);
        out.push(Event::Done { finish_reason, provider_data });
    }

    fn usage(&mut self, out: &mut Vec<Event>) {
        if let Ok(raw @ Value::Object(_)) = serde_json::from_str::<Value>(&self.usage) {
            out.push(Event::Usage { usage: usage::decode(raw) });
        }
    }

    fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        if self.state == State::Started {
            self.flush_held(out);
            self.usage(out);
        }
        self.state = State::Over;
        out.push(Event::Error { error: Box::new(error) });
    }
}

impl ReadFrames for Decoder {
    fn frame(&mut self, _name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        if self.state == State::Over {
            return;
        }
        self.frames += 1;
        match data.trim() {
            // The end, whether or not a reason came: counts are given only for an answer that is whole.
            "[DONE]" if self.finish.is_some() || (self.state == State::Started && !self.usage.is_empty()) => {
                self.finish(out);
            }
            "[DONE]" => self.fail(cut_off(self.state), out),
            "" => {}
            _ => self.chunk(data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        match (self.state, &self.finish) {
            (State::Over, _) => {}
            (_, Some(_)) => self.finish(out),
            (state, None) => self.fail(cut_off(state), out),
        }
    }
}

fn cut_off(state: State) -> Error {
    match state {
        State::Waiting => Error::protocol("the stream ended before an answer began"),
        State::Started | State::Over => {
            Error::protocol("the stream ended without a finish reason: the answer is cut off")
        }
    }
}

fn unreadable(frame: usize, data: &str, error: &serde_json::Error) -> Error {
    Error::protocol(format!("event {frame} of the stream is no JSON ({error}): {}", excerpt(data)))
}

fn foreign(frame: usize, data: &str) -> Error {
    Error::protocol(format!("event {frame} of the stream is no chunk of an answer: {}", excerpt(data)))
}

fn excerpt(data: &str) -> String {
    data.chars().take(200).collect()
}

//! Chunks to events.
//!
//! One block is open at a time, as the pieces come: reasoning, then text, then calls. A block closes when something
//! else begins; a call, when the next one begins and its arguments are whole, or else at the end. The end itself is only
//! known at `[DONE]`, because counts come after the finish reason.

mod calls;

use base64::Engine as _;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::details::Details;
use super::wire::{Any, Choice, Chunk, Content, Delta, Few};
use crate::dialect::openai_chat::assistant::{self, audio_block};
use crate::dialect::openai_chat::marks::{
    CONTENT, DIALECT, EXTRA, EXTRA_CONTENT, PART, REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, RESPONSE, Shape,
    Side, keep_extra,
};
use crate::dialect::openai_chat::part::{self, FIELD_CONTENT};
use crate::dialect::openai_chat::response::{CHOICE, FINISH_REASON, Holds, MESSAGE, broken, decode_response, finish};
use crate::dialect::openai_chat::usage;
use crate::dialect::{ReadFrames, openai_error};
use crate::{Block, BlockKind, Error, Event, FinishReason, Ids, ProviderData, Source, ThinkingBlock};

use calls::Calls;

/// Speech is put together before it is given on; no answer is longer than this, in bytes.
const MAX_AUDIO: usize = 64 << 20;

/// Reads the chunks of one answer.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    frames: usize,
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
    audio: Option<Audio>,
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

/// Leftovers, as a whole answer has them.
#[derive(Debug, Default)]
struct Kept {
    body: Map<String, Value>,
    choice: Map<String, Value>,
    message: Map<String, Value>,
    logprobs: Option<Value>,
    parts: bool,
    extra_content: Option<Value>,
}

#[derive(Debug, Default)]
struct Audio {
    bytes: Vec<u8>,
    fields: Map<String, Value>,
}

impl Decoder {
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            frames: 0,
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
            audio: None,
            finish: None,
            refused: false,
            usage: String::new(),
            kept: Kept::default(),
        }
    }

    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) {
        let chunk = match serde_json::from_str::<Any<Chunk<'_>>>(data) {
            Ok(Any(chunk)) => chunk,
            Err(error) => return self.fail(unreadable(self.frames, data, &error), out),
        };
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
        let choices = chunk.choices.unwrap_or_default();
        if self.state == State::Waiting && choices.iter().any(|choice| choice.is_whole) {
            return self.whole(data, out);
        }
        let is_special = self.state == State::Waiting
            || choices.is_empty()
            || choices.iter().any(|choice| choice.more || choice.finish_reason.0.is_some());
        if is_special {
            self.look_again(data);
        }
        if self.state == State::Waiting {
            self.id = self.id.take().or_else(|| chunk.id.some().map(Into::into));
            self.model = self.model.take().or_else(|| chunk.model.some().map(Into::into));
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

    fn choices(&mut self, choices: Few<Choice<'_>>, out: &mut Vec<Event>) {
        for choice in choices {
            // Only the first is read.
            if choice.index.0.is_some_and(|index| index != 0) {
                continue;
            }
            if let Some(raw) = choice.logprobs {
                self.logprobs(raw);
            }
            self.delta(choice.delta, out);
            if let Some(word) = choice.finish_reason.some() {
                self.finish = Some(word.into());
            }
        }
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        self.reasoning(&delta, out);
        match delta.content {
            Content::None => {}
            Content::Text(text) => self.text(text.into_owned(), out),
            Content::Parts(parts) => {
                self.kept.parts = true;
                for part in parts {
                    self.part(part, out);
                }
            }
        }
        if let Some(text) = delta.refusal.some() {
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
            for piece in delta.tool_calls {
                self.calls.piece(piece, &mut self.next, &mut self.ids, out);
            }
            if let Some(function) = delta.function_call {
                self.calls.older_form(function, &mut self.next, &mut self.ids, out);
            }
        }
        if let Some(raw) = delta.audio {
            self.speech(raw);
        }
        for (key, raw) in delta.rest {
            self.rest(&key, raw, out);
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
        for piece in delta.details.iter() {
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

    /// Speech comes in pieces that are each encoded by themselves.
    fn speech(&mut self, raw: &RawValue) {
        let Ok(Value::Object(piece)) = serde_json::from_str(raw.get()) else { return };
        let audio = self.audio.get_or_insert_default();
        for (key, value) in piece {
            match (key.as_str(), &value) {
                ("data", Value::String(data)) => {
                    let room = MAX_AUDIO.saturating_sub(audio.bytes.len());
                    let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap_or_default();
                    audio.bytes.extend(bytes.into_iter().take(room));
                }
                ("transcript", Value::String(more)) => match audio.fields.get_mut("transcript") {
                    Some(Value::String(text)) => text.push_str(more),
                    _ => {
                        audio.fields.insert(key, value);
                    }
                },
                _ => {
                    audio.fields.insert(key, value);
                }
            }
        }
    }

    /// Fields of a delta that only some know. Lists grow, the rest is replaced.
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
            ("extra_content", value) => self.kept.extra_content = Some(value),
            (_, Value::Array(more)) => match self.kept.message.get_mut(key) {
                Some(Value::Array(list)) => list.extend(more),
                _ => {
                    self.kept.message.insert(key.to_owned(), Value::Array(more));
                }
            },
            (_, value) => {
                self.kept.message.insert(key.to_owned(), value);
            }
        }
    }

    /// The leftovers of the first and the last chunks, where a stream says what a whole answer says around its text.
    fn look_again(&mut self, data: &str) {
        let Ok(Value::Object(body)) = serde_json::from_str::<Value>(data) else { return };
        for (key, value) in body {
            match key.as_str() {
                "id" | "object" | "model" | "usage" | "error" | "obfuscation" | "p" => {}
                "choices" => {
                    let Value::Array(choices) = value else { continue };
                    let own = choices.into_iter().find(|choice| choice.get("index").is_none_or(|index| index == 0));
                    if let Some(Value::Object(choice)) = own {
                        self.look_at_choice(choice);
                    }
                }
                _ => {
                    if let Some(usage) = value.get("usage").filter(|usage| usage.is_object())
                        && self.usage.is_empty()
                    {
                        self.usage = usage.to_string();
                    }
                    keep_later(&mut self.kept.body, key, value);
                }
            }
        }
    }

    fn look_at_choice(&mut self, choice: Map<String, Value>) {
        for (key, value) in choice {
            match key.as_str() {
                "index" | "delta" | "finish_reason" | "logprobs" | "message" => {}
                "usage" if value.is_object() => self.usage = value.to_string(),
                _ => keep_later(&mut self.kept.choice, key, value),
            }
        }
    }

    fn logprobs(&mut self, raw: &RawValue) {
        let Ok(more) = serde_json::from_str::<Value>(raw.get()) else { return };
        match (&mut self.kept.logprobs, more) {
            (Some(Value::Object(known)), Value::Object(more)) => {
                for (key, value) in more {
                    match (known.get_mut(&key), value) {
                        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                        (Some(Value::Null) | None, value) => {
                            known.insert(key, value);
                        }
                        (Some(_), _) => {}
                    }
                }
            }
            (kept, more) => *kept = Some(more),
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
        if let Some(audio) = self.audio.take() {
            self.say(audio, out);
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
        let provider_data = self.end_data(word);
        out.push(Event::Done { finish_reason, provider_data });
    }

    fn say(&mut self, audio: Audio, out: &mut Vec<Event>) {
        let data = assistant::joined_audio(&audio.bytes);
        let media_type = part::sniffed(&data).unwrap_or("audio/pcm").to_owned();
        let block = audio_block(Source::Base64 { media_type, data }, audio.fields, Side::Response);
        let index = self.open_block(block, out);
        out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
    }

    fn usage(&mut self, out: &mut Vec<Event>) {
        if let Ok(raw @ Value::Object(_)) = serde_json::from_str::<Value>(&self.usage) {
            out.push(Event::Usage { usage: usage::decode(raw) });
        }
    }

    fn end_data(&mut self, word: Option<String>) -> ProviderData {
        let mut kept = std::mem::take(&mut self.kept);
        let mut data = ProviderData::default();
        if let Some(word) = word {
            data.set(DIALECT, FINISH_REASON, word);
        }
        if let Some(state) = kept.extra_content.take() {
            data.set(DIALECT, EXTRA_CONTENT, state);
        }
        if let Some(logprobs) = kept.logprobs {
            kept.choice.insert("logprobs".to_owned(), logprobs);
        }
        let mut message = Map::new();
        if kept.parts {
            message.insert(CONTENT.to_owned(), Shape::Parts.as_str().into());
        }
        keep_extra(&mut message, kept.message);
        let mut response = Map::new();
        for (key, fields) in [(EXTRA, kept.body), (CHOICE, kept.choice), (MESSAGE, message)] {
            if !fields.is_empty() {
                response.insert(key.to_owned(), Value::Object(fields));
            }
        }
        data.set(DIALECT, RESPONSE, response);
        data
    }

    fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        if self.state == State::Started {
            self.flush_held(out);
        }
        self.usage(out);
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

/// A later value replaces an earlier one; a null only fills a gap.
fn keep_later(into: &mut Map<String, Value>, key: String, value: Value) {
    if value.is_null() {
        into.entry(key).or_insert(value);
    } else {
        into.insert(key, value);
    }
}

//! Frames to events.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::dialect::{Ids, ReadFrames};
use crate::{Block, Error, Event, ProviderData, Response, ToolCall};

use super::super::block::other;
use super::super::response::{finish, is_implied, read_block, read_blocks};
use super::super::{DIALECT, error, usage};
use super::unescape::unescape;

/// The most that is held back for blocks that are still open, in bytes.
const LIMIT: usize = 64 << 20;
/// The most blocks that are open at once; the API has one.
const MOST_OPEN: usize = 64;
/// The longest excerpt of a frame in an error, in characters.
const EXCERPT: usize = 200;

/// The events that this reader knows.
const KNOWN: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// Reads a stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    ids: Ids,
    /// Frames seen, for errors.
    frames: u64,
    stage: Stage,
    /// The id that the answer began with.
    id: Option<String>,
    /// How many blocks were opened so far: the place of the next one.
    opened: usize,
    open: Vec<Open>,
    /// Bytes held in `open`.
    held: usize,
    has_calls: bool,
    usage: Map<String, Value>,
    stop_reason: Option<Value>,
    /// Fields of the answer that have no place in the format.
    kept: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    Over,
}

/// A block that has begun and not ended.
#[derive(Debug)]
struct Open {
    /// Its number on the wire.
    wire: u64,
    /// Its place in the answer; a block that is held back has none yet.
    index: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text {
        citations: Option<Value>,
    },
    Thinking {
        signature: Option<String>,
    },
    Redacted,
    Call {
        /// The arguments that came with the start; they count when none follow.
        input: Map<String, Value>,
        text: String,
    },
    /// A block of the dialect's own, held back until it is whole.
    Own {
        fields: Map<String, Value>,
        input: String,
    },
}

/// A text that is borrowed where it holds no escape.
#[derive(Debug)]
struct Word<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Word<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Word<'de>, E> {
                Ok(Word(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Word<'de>, E> {
                Ok(Word(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Any frame; what stands inside is read further only where that is needed.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Word<'a>>,
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Word<'a>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    citation: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The text of a raw value; empty when it is absent or no text.
fn text_of(raw: Option<&RawValue>) -> Cow<'_, str> {
    raw.and_then(|raw| unescape(raw.get())).unwrap_or_default()
}

impl ReadFrames for Decoder {
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        if self.stage == Stage::Over {
            return;
        }
        self.frames += 1;
        // Spaces behind the JSON are no part of it; serde_json takes them.
        let frame = match serde_json::from_str::<Frame<'_>>(data) {
            Ok(frame) => frame,
            Err(fault) => return self.unreadable(data, &fault, out),
        };
        let kind = frame.kind.as_ref().map(|kind| kind.0.as_ref()).or(name).unwrap_or_default();
        match kind {
            "content_block_delta" => self.delta(&frame, data, out),
            "content_block_start" => self.block_start(&frame, data, out),
            "content_block_stop" => self.block_stop(frame.index, out),
            "message_start" => self.message_start(&frame, data, out),
            "message_delta" => self.message_delta(data, out),
            "message_stop" => {
                self.pass_on(data, out);
                self.finish(false, out);
            }
            "ping" => self.pass_on(data, out),
            "error" => self.failed(data, out),
            _ if frame.error.is_some_and(|error| error.get() != "null") => self.failed(data, out),
            _ => self.other(frame.index, data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        if self.stage == Stage::Over {
            return;
        }
        if self.stop_reason.as_ref().is_some_and(Value::is_string) {
            return self.finish(true, out);
        }
        let message = match self.stage {
            Stage::Before => "the stream ended before the answer began",
            Stage::Within | Stage::Over => "the stream ended without its end: the answer is cut off",
        };
        self.fail(truncated(message), out);
    }
}

fn truncated(message: &str) -> Error {
    let mut error = Error::protocol(message);
    error.code = Some("truncated".to_owned());
    error
}

impl Decoder {
    /// A reader; `ids` is for tool calls that come without one.
    pub(crate) fn new(ids: Ids) -> Self {
        Decoder {
            ids,
            frames: 0,
            stage: Stage::Before,
            id: None,
            opened: 0,
            open: Vec::new(),
            held: 0,
            has_calls: false,
            usage: Map::new(),
            stop_reason: None,
            kept: Map::new(),
        }
    }

    fn message_start(&mut self, frame: &Frame<'_>, data: &str, out: &mut Vec<Event>) {
        let message = frame.message.map(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()));
        let Some(Ok(mut message)) = message else { return self.malformed("message_start", data, out) };
        let id = message.get("id").and_then(Value::as_str).map(str::to_owned);
        if self.stage == Stage::Within {
            // A proxy repeats itself, or has spliced a second try into the stream.
            if id == self.id {
                return;
            }
            if self.opened > 0 || !self.open.is_empty() {
                let message = "a second answer began before the first had ended; what had arrived is not whole";
                return self.fail(truncated(message), out);
            }
            (self.usage, self.kept, self.stop_reason) = (Map::new(), Map::new(), None);
        }
        let model = message.get("model").and_then(Value::as_str).map(str::to_owned);
        let content = message.get_mut("content").map(Value::take);
        self.read_answer_fields(message);
        if self.stage == Stage::Before {
            self.stage = Stage::Within;
            self.id.clone_from(&id);
            let mut provider_data = ProviderData::default();
            provider_data.set(DIALECT, "response", self.kept.clone());
            out.push(Event::Start { id, model, provider_data });
        }
        self.report_usage(out);
        if let Some(Value::Array(blocks)) = content
            && let Ok(blocks) = read_blocks(blocks, &mut self.ids)
        {
            self.whole_blocks(blocks, out);
        }
    }

    /// Takes over what stands beside the content: at the start all of it, at the end what has changed.
    fn read_answer_fields(&mut self, fields: Map<String, Value>) {
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("id" | "model" | "content", _) => {}
                ("stop_reason", word) => self.stop_reason = Some(word),
                // Totals, not additions: what is present replaces what was.
                ("usage", Value::Object(counts)) => self.usage.extend(counts),
                (_, value) if is_implied(&key, &value) => {}
                (_, value) => {
                    self.kept.insert(key, value);
                }
            }
        }
    }

    fn report_usage(&self, out: &mut Vec<Event>) {
        if !self.usage.is_empty() {
            out.push(Event::Usage { usage: usage::decode(self.usage.clone()) });
        }
    }

    /// Blocks that are there at once and whole.
    fn whole_blocks(&mut self, content: Vec<Block>, out: &mut Vec<Event>) {
        self.has_calls |= content.iter().any(|block| matches!(block, Block::ToolCall(_)));
        let before = self.opened;
        self.opened += content.len();
        let whole = Response { content, ..Response::default() };
        for mut event in crate::events(&whole) {
            match &mut event {
                Event::BlockStart { index, .. }
                | Event::TextDelta { index, .. }
                | Event::ThinkingDelta { index, .. }
                | Event::ToolCallStart { index, .. }
                | Event::ToolCallDelta { index, .. }
                | Event::ToolCallDone { index, .. }
                | Event::BlockDone { index, .. } => *index += before,
                Event::Start { .. } | Event::Usage { .. } | Event::Done { .. } | Event::Error { .. } => continue,
                Event::Other { .. } => {}
            }
            out.push(event);
        }
    }

    fn block_start(&mut self, frame: &Frame<'_>, data: &str, out: &mut Vec<Event>) {
        let block = frame.content_block.map(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()));
        let Some(Ok(fields)) = block else { return self.malformed("content_block_start", data, out) };
        self.begin(out);
        let wire = frame.index.unwrap_or(self.opened as u64);
        self.block_stop(Some(wire), out);
        if self.open.len() >= MOST_OPEN {
            return self.fail(Error::protocol(format!("more than {MOST_OPEN} blocks are open at once")), out);
        }
        let whole = Value::Object(fields);
        let known = whole.get("type").and_then(Value::as_str);
        let held = !matches!(known, Some("text" | "thinking" | "redacted_thinking" | "tool_use"));
        if held {
            let Value::Object(fields) = whole else { return };
            self.held += data.len();
            let content = Content::Own { fields, input: String::new() };
            self.open.push(Open { wire, index: usize::MAX, content });
            return;
        }
        match read_block(whole, &mut self.ids) {
            Ok(block) => self.open_block(wire, block, out),
            Err(fault) => self.fail(fault, out),
        }
    }

    /// Opens a block whose text or arguments may still grow.
    fn open_block(&mut self, wire: u64, mut block: Block, out: &mut Vec<Event>) {
        let index = self.opened;
        self.opened += 1;
        let mut first = None;
        let content = match &mut block {
            Block::Text(text) => {
                first = Some(std::mem::take(&mut text.text)).filter(|text| !text.is_empty());
                let citations = text.provider_data.remove(DIALECT, "citations");
                Content::Text { citations }
            }
            Block::Thinking(thinking) if thinking.provider_data.value(DIALECT, "redacted_data").is_some() => {
                Content::Redacted
            }
            Block::Thinking(thinking) => {
                first = Some(std::mem::take(&mut thinking.text)).filter(|text| !text.is_empty());
                thinking.provider_data.remove(DIALECT, "unsigned");
                let signature = thinking.provider_data.remove(DIALECT, "signature");
                // The stream opens with an empty signature; the real one comes before the end.
                let signature = signature.as_ref().and_then(Value::as_str).filter(|text| !text.is_empty());
                Content::Thinking { signature: signature.map(str::to_owned) }
            }
            Block::ToolCall(call) => return self.open_call(wire, index, std::mem::take(call), out),
            // A block of a known kind that is not made like one: kept whole.
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) | Block::Other(_) => {
                Content::Redacted
            }
        };
        let is_thinking = matches!(content, Content::Thinking { .. });
        self.open.push(Open { wire, index, content });
        out.push(Event::BlockStart { index, block });
        if let Some(text) = first {
            out.push(if is_thinking { Event::ThinkingDelta { index, text } } else { Event::TextDelta { index, text } });
        }
    }

    fn open_call(&mut self, wire: u64, index: usize, mut call: ToolCall, out: &mut Vec<Event>) {
        self.has_calls = true;
        call.provider_data.remove(DIALECT, "no_input");
        call.provider_data.remove(DIALECT, "input");
        self.open.push(Open { wire, index, content: Content::Call { input: call.arguments, text: String::new() } });
        out.push(Event::ToolCallStart { index, id: call.id, name: call.name, provider_data: call.provider_data });
    }

    fn delta(&mut self, frame: &Frame<'_>, data: &str, out: &mut Vec<Event>) {
        let Some(delta) = &frame.delta else { return self.malformed("content_block_delta", data, out) };
        let kind = delta.kind.as_ref().map(|kind| kind.0.as_ref()).unwrap_or_default();
        let wire = frame.index.or_else(|| self.open.last().map(|open| open.wire)).unwrap_or(0);
        if !self.open.iter().any(|open| open.wire == wire) {
            // A proxy left the block's beginning out. What it says is still the answer.
            let block = match kind {
                "text_delta" => Block::text(""),
                "thinking_delta" => Block::thinking(""),
                _ => return self.other(None, data, out),
            };
            self.begin(out);
            self.open_block(wire, block, out);
        }
        let Some(open) = self.open.iter_mut().find(|open| open.wire == wire) else { return };
        let index = open.index;
        match (kind, &mut open.content) {
            ("text_delta", Content::Text { .. }) => {
                let piece = text_of(delta.text);
                if !piece.is_empty() {
                    out.push(Event::TextDelta { index, text: piece.into_owned() });
                }
            }
            ("thinking_delta", Content::Thinking { .. }) => {
                let piece = text_of(delta.thinking);
                if !piece.is_empty() {
                    out.push(Event::ThinkingDelta { index, text: piece.into_owned() });
                }
            }
            ("input_json_delta", Content::Call { text, .. }) => {
                let piece = text_of(delta.partial_json);
                if !piece.is_empty() {
                    text.push_str(&piece);
                    self.held += piece.len();
                    out.push(Event::ToolCallDelta { index, arguments: piece.into_owned() });
                }
            }
            // There is one for a block; a later one replaces it.
            ("signature_delta", Content::Thinking { signature }) => {
                *signature = Some(text_of(delta.signature).into_owned());
            }
            ("citations_delta", Content::Text { citations }) => {
                let citation = delta.citation.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
                if let Some(citation) = citation {
                    self.held += data.len();
                    match citations {
                        Some(Value::Array(list)) => list.push(citation),
                        _ => *citations = Some(Value::Array(vec![citation])),
                    }
                }
            }
            (_, Content::Own { fields, input }) => {
                self.held += data.len();
                match kind {
                    "input_json_delta" => input.push_str(&text_of(delta.partial_json)),
                    "text_delta" => append(fields, "text", &text_of(delta.text)),
                    "compaction_delta" => append(fields, "content", &text_of(delta.content)),
                    _ => return self.other(None, data, out),
                }
            }
            _ => return self.other(Some(wire), data, out),
        }
        if self.held > LIMIT {
            self.fail(Error::protocol(format!("open blocks hold more than {LIMIT} bytes")), out);
        }
    }

    fn block_stop(&mut self, wire: Option<u64>, out: &mut Vec<Event>) {
        let place = match wire {
            Some(wire) => self.open.iter().position(|open| open.wire == wire),
            None => self.open.len().checked_sub(1),
        };
        if let Some(place) = place {
            let open = self.open.remove(place);
            self.close(open, out);
            if self.open.is_empty() {
                self.held = 0;
            }
        }
    }

    fn close(&mut self, open: Open, out: &mut Vec<Event>) {
        let index = open.index;
        let mut provider_data = ProviderData::default();
        match open.content {
            Content::Text { citations } => {
                if let Some(citations) = citations {
                    provider_data.set(DIALECT, "citations", citations);
                }
            }
            Content::Thinking { signature: Some(signature) } => provider_data.set(DIALECT, "signature", signature),
            Content::Thinking { signature: None } => provider_data.set(DIALECT, "unsigned", true),
            Content::Redacted => {}
            Content::Call { input, text } => {
                if text.is_empty() && !input.is_empty() {
                    let arguments = Value::Object(input.clone()).to_string();
                    out.push(Event::ToolCallDelta { index, arguments });
                }
                let (arguments, arguments_text) = arguments(input, text);
                return out.push(Event::ToolCallDone { index, arguments, arguments_text, provider_data });
            }
            Content::Own { mut fields, input } => {
                if !input.is_empty() {
                    let (arguments, broken) = arguments(Map::new(), input);
                    let input = broken.map_or(Value::Object(arguments), Value::String);
                    fields.insert("input".to_owned(), input);
                }
                let index = self.opened;
                self.opened += 1;
                out.push(Event::BlockStart { index, block: other(fields) });
                return out.push(Event::BlockDone { index, provider_data });
            }
        }
        out.push(Event::BlockDone { index, provider_data });
    }

    fn message_delta(&mut self, data: &str, out: &mut Vec<Event>) {
        let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(data) else {
            return self.malformed("message_delta", data, out);
        };
        self.begin(out);
        fields.shift_remove("type");
        if let Some(Value::Object(delta)) = fields.shift_remove("delta") {
            self.read_answer_fields(delta);
        }
        self.read_answer_fields(fields);
        self.report_usage(out);
    }

    /// Some proxies leave the beginning out.
    fn begin(&mut self, out: &mut Vec<Event>) {
        if self.stage == Stage::Before {
            self.stage = Stage::Within;
            out.push(Event::Start { id: None, model: None, provider_data: ProviderData::default() });
        }
    }

    fn finish(&mut self, early: bool, out: &mut Vec<Event>) {
        self.begin(out);
        for open in std::mem::take(&mut self.open) {
            self.close(open, out);
        }
        let word = self.stop_reason.as_ref().and_then(Value::as_str);
        let finish_reason = finish(word, self.has_calls);
        let mut provider_data = ProviderData::default();
        if let Some(word) = self.stop_reason.take() {
            provider_data.set(DIALECT, "stop_reason", word);
        }
        provider_data.set(DIALECT, "response", std::mem::take(&mut self.kept));
        if early {
            provider_data.set(DIALECT, "without_message_stop", true);
        }
        self.stage = Stage::Over;
        out.push(Event::Done { finish_reason, provider_data });
    }

    /// The provider's own failure. As the very first event it stands for a failed HTTP answer.
    fn failed(&mut self, data: &str, out: &mut Vec<Event>) {
        let mut failure = match serde_json::from_str::<Value>(data) {
            Ok(body) => error::from_body(&body),
            Err(fault) => return self.unreadable(data, &fault, out),
        };
        if self.stage == Stage::Before {
            failure.status = Some(error::status_of(failure.kind));
        }
        self.fail(failure, out);
    }

    fn fail(&mut self, failure: Error, out: &mut Vec<Event>) {
        self.stage = Stage::Over;
        self.open = Vec::new();
        out.push(Event::Error { error: Box::new(failure) });
    }

    fn unreadable(&mut self, data: &str, fault: &serde_json::Error, out: &mut Vec<Event>) {
        // An event that nobody knows may be made in any way, as long as it is JSON.
        if let Ok(event) = serde_json::from_str::<Value>(data)
            && event.get("type").and_then(Value::as_str).is_some_and(|kind| !KNOWN.contains(&kind))
        {
            return self.other(None, data, out);
        }
        let message = format!("frame {} of the stream does not parse ({fault}): {}", self.frames, excerpt(data));
        self.fail(Error::protocol(message), out);
    }

    fn malformed(&mut self, kind: &str, data: &str, out: &mut Vec<Event>) {
        let message = format!("frame {} of the stream is no {kind} as it should be: {}", self.frames, excerpt(data));
        self.fail(Error::protocol(message), out);
    }

    /// Something that has no meaning here is passed on whole.
    fn other(&mut self, wire: Option<u64>, data: &str, out: &mut Vec<Event>) {
        self.begin(out);
        let open = wire.and_then(|wire| self.open.iter().find(|open| open.wire == wire));
        let index = open.map(|open| open.index).filter(|index| *index != usize::MAX);
        if let Ok(data) = serde_json::from_str(data) {
            out.push(Event::Other { index, dialect: DIALECT, data });
        }
    }

    /// A frame that mostly says nothing: passed on only when it says more than its name.
    fn pass_on(&mut self, data: &str, out: &mut Vec<Event>) {
        const LONGEST_EMPTY: usize = r#"{ "type": "message_stop" }"#.len();
        let says_more = data.trim_end().len() > LONGEST_EMPTY
            && serde_json::from_str::<Map<String, Value>>(data).is_ok_and(|fields| fields.len() > 1);
        if says_more {
            self.other(None, data, out);
        }
    }
}

/// The arguments of a call. The wire has them as an object wherever it does not stream, so the text matters only where
/// it is none: there it is kept, and the call is never run.
fn arguments(input: Map<String, Value>, text: String) -> (Map<String, Value>, Option<String>) {
    if text.trim().is_empty() {
        return (input, None);
    }
    match serde_json::from_str(&text) {
        Ok(arguments) => (arguments, None),
        Err(_) => (Map::new(), Some(text)),
    }
}

fn append(fields: &mut Map<String, Value>, key: &str, piece: &str) {
    match fields.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            fields.insert(key.to_owned(), piece.into());
        }
    }
}

/// The beginning of a frame, for an error.
fn excerpt(data: &str) -> String {
    data.chars().take(EXCERPT).collect()
}

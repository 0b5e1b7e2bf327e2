//! The blocks of a stream: how they open, grow and close.

use serde_json::{Map, Value};

use crate::{Block, Error, Event, ProviderData, Response, ToolCall};

use super::super::DIALECT;
use super::super::block::other;
use super::super::response::read_block;
use super::decode::Decoder;
use super::open::{Content, Open, append, arguments};
use super::piece::{Kind, Piece};
use super::wire::{Delta, Frame, text_of};

/// The most that is held back for blocks that are still open, in bytes.
const LIMIT: usize = 64 << 20;
/// The most blocks that are open at once; the API has one.
const MOST_OPEN: usize = 64;

/// There is no open block that takes such a piece.
#[derive(Debug)]
pub(super) struct NotOpen;

impl Decoder {
    /// Blocks that are there at once and whole.
    pub(super) fn whole_blocks(&mut self, content: Vec<Block>, out: &mut Vec<Event>) {
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

    pub(super) fn block_start(&mut self, frame: &Frame<'_>, data: &str, out: &mut Vec<Event>) {
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
                Content::Whole
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
                Content::Whole
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
        self.open.push(Open {
            wire,
            index,
            content: Content::Call { input: call.arguments.object().clone(), text: String::new() },
        });
        out.push(Event::ToolCallStart { index, id: call.id, name: call.name, provider_data: call.provider_data });
    }

    pub(super) fn delta(&mut self, frame: &Frame<'_>, data: &str, out: &mut Vec<Event>) {
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
        let piece = match kind {
            "text_delta" => Some((Kind::Text, text_of(delta.text))),
            "thinking_delta" => Some((Kind::Thinking, text_of(delta.thinking))),
            "input_json_delta" => Some((Kind::Arguments, text_of(delta.partial_json))),
            _ => None,
        };
        match piece {
            Some((kind, text)) => {
                if self.piece(Piece { kind, index: wire, text }, out).is_err() {
                    self.other(Some(wire), data, out);
                }
            }
            None => self.rare_delta(wire, kind, delta, data, out),
        }
    }

    /// One more piece of an open block.
    pub(super) fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<Event>) -> Result<(), NotOpen> {
        let open = self.open.iter_mut().find(|open| open.wire == piece.index).ok_or(NotOpen)?;
        let (index, text) = (open.index, piece.text);
        match (piece.kind, &mut open.content) {
            (Kind::Text, Content::Text { .. })
            | (Kind::Thinking, Content::Thinking { .. })
            | (Kind::Arguments, Content::Call { .. })
                if text.is_empty() => {}
            (Kind::Text, Content::Text { .. }) => out.push(Event::TextDelta { index, text: text.into_owned() }),
            (Kind::Thinking, Content::Thinking { .. }) => {
                out.push(Event::ThinkingDelta { index, text: text.into_owned() });
            }
            (Kind::Arguments, Content::Call { text: so_far, .. }) => {
                so_far.push_str(&text);
                self.held += text.len();
                out.push(Event::ToolCallDelta { index, arguments: text.into_owned() });
                self.check_held(out);
            }
            (kind, Content::Own { fields, input }) => {
                self.held += text.len();
                match kind {
                    Kind::Arguments => input.push_str(&text),
                    Kind::Text => append(fields, "text", &text),
                    Kind::Thinking => append(fields, "thinking", &text),
                }
                self.check_held(out);
            }
            _ => return Err(NotOpen),
        }
        Ok(())
    }

    fn check_held(&mut self, out: &mut Vec<Event>) {
        if self.held > LIMIT {
            self.fail(Error::protocol(format!("open blocks hold more than {LIMIT} bytes")), out);
        }
    }

    /// A delta that comes once in a while.
    fn rare_delta(&mut self, wire: u64, kind: &str, delta: &Delta<'_>, data: &str, out: &mut Vec<Event>) {
        let Some(open) = self.open.iter_mut().find(|open| open.wire == wire) else { return };
        match (kind, &mut open.content) {
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
            ("compaction_delta", Content::Own { fields, .. }) => {
                self.held += data.len();
                append(fields, "content", &text_of(delta.content));
            }
            _ => return self.other(Some(wire), data, out),
        }
        self.check_held(out);
    }

    pub(super) fn block_stop(&mut self, wire: Option<u64>, out: &mut Vec<Event>) {
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

    pub(super) fn close(&mut self, open: Open, out: &mut Vec<Event>) {
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
            Content::Whole => {}
            Content::Call { input, text } => {
                if text.is_empty() && !input.is_empty() {
                    let arguments = Value::Object(input.clone()).to_string();
                    out.push(Event::ToolCallDelta { index, arguments });
                }
                let (arguments, arguments_text) = arguments(input, text);
                return out.push(Event::ToolCallDone {
                    index,
                    arguments: arguments_text.map_or_else(|| arguments.into(), crate::Arguments::from_text),
                    provider_data,
                });
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
}

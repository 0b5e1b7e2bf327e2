//! The blocks of a stream that is read: how they open, grow and close.

use crate::dialect::{Fault, Seen};
use crate::json::tagged::Tagged;
use crate::json::wire::{Raw, Text};
use crate::{Arguments, Block, Event, Fields, Json, Other, Part, ProviderData, Response, ToolCall};

use super::super::response::read_block;
use super::super::{DIALECT, wire};
use super::decode::{Decoder, lacks};
use super::wire::{Delta, Frame, Piece, PieceKind, text_of};

/// A block that has begun and not ended.
#[derive(Debug)]
pub(super) struct Open {
    /// Its number on the wire.
    pub(super) wire: u64,
    /// Its place in the answer; a block that is held back has none yet.
    pub(super) index: Option<usize>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text {
        /// What stood there at the start.
        citations: Option<Json>,
        /// What came since.
        more: Vec<Json>,
    },
    Thinking {
        signature: Option<String>,
    },
    /// Whole from the start.
    Whole,
    Call {
        /// The arguments that came with the start; they count if none follow.
        input: Arguments,
        text: String,
    },
    /// A block of the dialect's own, held back until it is whole; with the texts that came for its fields.
    Own {
        fields: Fields,
        grown: Vec<(&'static str, String)>,
    },
}

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

    pub(super) fn block_start(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        let block = frame.content_block.ok_or_else(|| lacks("content_block"))?;
        self.begin(out);
        let wire = frame.index.unwrap_or(self.opened as u64);
        self.block_stop(Some(wire), out);
        self.limits.check_open(self.open.len() + 1)?;
        if !is_streamed(&block) {
            let fields = Raw::of(&block).to().unwrap_or_default();
            self.open.push(Open { wire, index: None, content: Content::Own { fields, grown: Vec::new() } });
        } else if let Some(block) = read_block(block, &mut self.ids) {
            self.open_block(wire, block, out);
        }
        Ok(())
    }

    /// Opens a block whose text or arguments may still grow.
    fn open_block(&mut self, wire: u64, mut block: Block, out: &mut Vec<Event>) {
        let index = self.opened;
        self.opened += 1;
        let mut first = String::new();
        let content = match &mut block {
            Block::Text(text) => {
                first = std::mem::take(&mut text.text);
                let citations = text.provider_data.remove_part(DIALECT, Part::Extra, "citations");
                Content::Text { citations, more: Vec::new() }
            }
            Block::Thinking(thinking) if is_redacted(&thinking.provider_data) => Content::Whole,
            Block::Thinking(thinking) => {
                first = std::mem::take(&mut thinking.text);
                // The stream opens with an empty signature; the real one comes before the end.
                thinking.provider_data.take_part(DIALECT, Part::Shape);
                let mut state = thinking.provider_data.take_part(DIALECT, Part::State);
                let signature = state.remove("signature").and_then(|json| json.as_str().map(|text| text.into_owned()));
                Content::Thinking { signature }
            }
            Block::ToolCall(call) => return self.open_call(wire, index, std::mem::take(call), out),
            // A block of a known kind that is not made like one: kept whole.
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) | Block::Other(_) => {
                Content::Whole
            }
        };
        let is_thinking = matches!(content, Content::Thinking { .. });
        self.open.push(Open { wire, index: Some(index), content });
        out.push(Event::BlockStart { index, block });
        match first {
            text if text.is_empty() => {}
            text if is_thinking => out.push(Event::ThinkingDelta { index, text }),
            text => out.push(Event::TextDelta { index, text }),
        }
    }

    fn open_call(&mut self, wire: u64, index: usize, mut call: ToolCall, out: &mut Vec<Event>) {
        self.has_calls = true;
        call.provider_data.take_part(DIALECT, Part::Shape);
        call.provider_data.remove_part(DIALECT, Part::Extra, "input");
        let content = Content::Call { input: call.arguments, text: String::new() };
        self.open.push(Open { wire, index: Some(index), content });
        out.push(Event::ToolCallStart { index, id: call.id, name: call.name, provider_data: call.provider_data });
    }

    pub(super) fn delta(&mut self, frame: &Frame<'_>, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let delta = frame.delta.as_ref().ok_or_else(|| lacks("delta"))?;
        let kind = delta.kind.as_ref().map(Text::as_str).unwrap_or_default();
        let wire = frame.index.or_else(|| self.open.last().map(|open| open.wire)).unwrap_or(0);
        if !self.open.iter().any(|open| open.wire == wire) {
            // A proxy left the block's beginning out. What it says is still the answer.
            let block = match kind {
                "text_delta" => Block::text(""),
                "thinking_delta" => Block::thinking(""),
                _ => return Ok(Seen::Unknown(None)),
            };
            self.begin(out);
            self.open_block(wire, block, out);
        }
        let (kind, text) = match kind {
            "text_delta" => (PieceKind::Text, text_of(delta.text.as_ref())),
            "thinking_delta" => (PieceKind::Thinking, text_of(delta.thinking.as_ref())),
            "input_json_delta" => (PieceKind::Arguments, text_of(delta.partial_json.as_ref())),
            _ => return Ok(self.rare_delta(wire, kind, delta)),
        };
        match self.piece(Piece { kind, index: wire, text }, out) {
            Ok(()) => Ok(Seen::Known),
            Err(NotOpen) => Ok(self.unknown(Some(wire))),
        }
    }

    /// One more piece of text, thinking or arguments.
    pub(super) fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<Event>) -> Result<(), NotOpen> {
        let Piece { kind, index: wire, text } = piece;
        let open = self.open.iter_mut().find(|open| open.wire == wire).ok_or(NotOpen)?;
        if text.is_empty() {
            return Ok(());
        }
        match (kind, &mut open.content, open.index) {
            (PieceKind::Text, Content::Text { .. }, Some(index)) => {
                out.push(Event::TextDelta { index, text: text.into_owned() });
            }
            (PieceKind::Thinking, Content::Thinking { .. }, Some(index)) => {
                out.push(Event::ThinkingDelta { index, text: text.into_owned() });
            }
            (PieceKind::Arguments, Content::Call { text: so_far, .. }, Some(index)) => {
                so_far.push_str(&text);
                out.push(Event::ToolCallDelta { index, arguments: text.into_owned() });
            }
            (kind, Content::Own { grown, .. }, _) => {
                let name = match kind {
                    PieceKind::Arguments => "input",
                    PieceKind::Text => "text",
                    PieceKind::Thinking => "thinking",
                };
                grow(grown, name, &text);
            }
            _ => return Err(NotOpen),
        }
        Ok(())
    }

    /// A delta that comes once in a while.
    fn rare_delta(&mut self, wire: u64, kind: &str, delta: &Delta<'_>) -> Seen {
        let open = self.open.iter_mut().find(|open| open.wire == wire);
        match (kind, open.map(|open| &mut open.content)) {
            // There is one for a block; a later one replaces it.
            ("signature_delta", Some(Content::Thinking { signature })) => {
                *signature = Some(text_of(delta.signature.as_ref()).into_owned());
            }
            ("citations_delta", Some(Content::Text { more, .. })) => {
                more.extend(delta.citation.as_ref().map(Raw::to_json));
            }
            ("compaction_delta", Some(Content::Own { grown, .. })) => {
                grow(grown, "content", &text_of(delta.content.as_ref()));
            }
            _ => return self.unknown(Some(wire)),
        }
        Seen::Known
    }

    pub(super) fn block_stop(&mut self, wire: Option<u64>, out: &mut Vec<Event>) {
        let place = match wire {
            Some(wire) => self.open.iter().position(|open| open.wire == wire),
            None => self.open.len().checked_sub(1),
        };
        if let Some(place) = place {
            let open = self.open.remove(place);
            self.close(open, out);
        }
    }

    pub(super) fn close(&mut self, open: Open, out: &mut Vec<Event>) {
        let mut provider_data = ProviderData::default();
        let index = open.index.unwrap_or(self.opened);
        match open.content {
            Content::Text { citations, more } => {
                let citations = match more.is_empty() {
                    true => citations,
                    false => {
                        let first: Vec<Json> = citations.and_then(|list| list.to().ok()).unwrap_or_default();
                        Json::of(&[first, more].concat()).ok()
                    }
                };
                if let Some(citations) = citations {
                    provider_data.set_part(DIALECT, Part::Extra, "citations", citations);
                }
            }
            Content::Thinking { signature } => match signature.filter(|signature| !signature.is_empty()) {
                Some(signature) => provider_data.set_part(DIALECT, Part::State, "signature", signature),
                None => provider_data.set_part(DIALECT, Part::Shape, "unsigned", true),
            },
            Content::Whole => {}
            Content::Call { input, text } => {
                if text.is_empty() && input != Arguments::default() {
                    out.push(Event::ToolCallDelta { index, arguments: input.text().to_owned() });
                }
                let arguments = match text.trim().is_empty() {
                    true => input,
                    false => Arguments::from_text(text),
                };
                return out.push(Event::ToolCallDone { index, arguments, provider_data });
            }
            Content::Own { fields, grown } => {
                self.opened += 1;
                let data = Json::from(whole(fields, grown));
                out.push(Event::BlockStart { index, block: Block::Other(Other { dialect: DIALECT, data }) });
            }
        }
        out.push(Event::BlockDone { index, provider_data });
    }
}

/// Whether blocks of this kind come in pieces that the format knows.
fn is_streamed(block: &wire::Block<'_>) -> bool {
    let Tagged::Known(fields) = block else { return false };
    let kind = fields.kind.as_ref().map(Text::as_str);
    matches!(kind, Some("text" | "thinking" | "redacted_thinking" | "tool_use"))
}

fn is_redacted(data: &ProviderData) -> bool {
    data.part(DIALECT, Part::State).get("redacted_data").is_some()
}

fn grow(grown: &mut Vec<(&'static str, String)>, name: &'static str, piece: &str) {
    match grown.iter_mut().find(|(own, _)| *own == name) {
        Some((_, text)) => text.push_str(piece),
        None => grown.push((name, piece.to_owned())),
    }
}

/// A block of the dialect's own with the texts that came for its fields.
fn whole(mut fields: Fields, grown: Vec<(&'static str, String)>) -> Fields {
    for (name, piece) in grown {
        let value = match name {
            "input" => match Arguments::from_text(piece.as_str()).is_complete() {
                true => Json::parse(piece).unwrap_or_default(),
                false => Json::from(piece),
            },
            _ => Json::from(fields.str(name).unwrap_or_default().into_owned() + &piece),
        };
        fields.set(name, value);
    }
    fields
}

//! The blocks of a stream being read: how they open, grow and close.

use std::borrow::Cow;

use crate::dialect::weight::Weigh;
use crate::dialect::{Fault, Seen};
use crate::json::tagged::Object;
use crate::{Arguments, Block, Event, Fields, Json, Part, ProviderData, ToolCall};

use super::super::response::read_block;
use super::super::{DIALECT, hosted};
use super::decode::{Decoder, field, required};
use super::pieces::{Piece, PieceKind};

/// A block that has begun and not ended.
#[derive(Debug)]
pub(super) struct OpenBlock {
    /// Its index on the wire.
    pub(super) number: u64,
    /// Its index in the answer; a block that is held back has none yet.
    pub(super) index: Option<usize>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text {
        /// The empty list that a cited block starts with; kept if no citation follows.
        empty: Option<Json>,
    },
    Thinking {
        signature: Option<String>,
    },
    Call {
        /// The arguments in the start frame; used if no others follow.
        input: Arguments,
        text: String,
    },
    /// A block of the dialect's own, held back until it is complete, with the strings received for its fields.
    Own {
        fields: Fields,
        grown: Vec<(&'static str, String)>,
    },
}

impl Weigh for OpenBlock {
    fn weight(&self) -> usize {
        match &self.content {
            Content::Text { empty } => empty.weight(),
            Content::Thinking { signature } => signature.weight(),
            // Pieces are counted with their events.
            Content::Call { input, .. } => input.weight(),
            Content::Own { fields, grown } => {
                fields.weight() + grown.iter().map(|(_, text)| text.weight()).sum::<usize>()
            }
        }
    }
}

impl Decoder {
    pub(super) fn block_start(&mut self, number: u64, block: Object<'_>, out: &mut Vec<Event>) -> Result<(), Fault> {
        self.block_stop(Some(number), out);
        self.limits.check_open(self.open.len() + 1)?;
        if let Some(block) = read_block(block, &mut self.ids) {
            self.open_block(number, block, out);
        }
        Ok(())
    }

    /// Opens a block whose text or arguments may still grow.
    fn open_block(&mut self, number: u64, mut block: Block, out: &mut Vec<Event>) {
        let index = self.opened;
        let first;
        let content = match &mut block {
            Block::Text(text) => {
                first = std::mem::take(&mut text.text);
                let is_empty = |list: &Json| list.text() == "[]";
                let opens = text.provider_data.part(DIALECT, Part::Extra).get("citations").is_some_and(is_empty);
                let empty = opens.then(|| text.provider_data.remove_part(DIALECT, Part::Extra, "citations")).flatten();
                Content::Text { empty }
            }
            Block::Thinking(thinking) if !is_redacted(&thinking.provider_data) => {
                first = std::mem::take(&mut thinking.text);
                // The stream starts with an empty signature; the real one comes before the end.
                thinking.provider_data.take_part(DIALECT, Part::Shape);
                let mut state = thinking.provider_data.take_part(DIALECT, Part::State);
                let signature = state.remove("signature").and_then(|json| json.as_str().map(|text| text.into_owned()));
                Content::Thinking { signature }
            }
            Block::ToolCall(call) => return self.open_call(number, std::mem::take(call), out),
            Block::Other(_) | Block::ProviderCall(_) | Block::ProviderResult(_) => {
                let fields = block.wire(DIALECT).and_then(|data| data.to().ok()).unwrap_or_default();
                let content = Content::Own { fields, grown: Vec::new() };
                return self.open.push(OpenBlock { number, index: None, content });
            }
            // Complete from the start; answers do not have the others.
            Block::Thinking(_) | Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => {
                self.opened += 1;
                out.push(Event::BlockStart { index, block });
                return out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
            }
        };
        self.opened += 1;
        let is_thinking = matches!(content, Content::Thinking { .. });
        self.open.push(OpenBlock { number, index: Some(index), content });
        out.push(Event::BlockStart { index, block });
        match first {
            text if text.is_empty() => {}
            text if is_thinking => out.push(Event::ThinkingDelta { index, text }),
            text => out.push(Event::TextDelta { index, text }),
        }
    }

    fn open_call(&mut self, number: u64, mut call: ToolCall, out: &mut Vec<Event>) {
        let index = self.opened;
        (self.opened, self.calls) = (index + 1, self.calls + 1);
        call.provider_data.take_part(DIALECT, Part::Shape);
        call.provider_data.remove_part(DIALECT, Part::Extra, "input");
        let content = Content::Call { input: call.arguments, text: String::new() };
        self.open.push(OpenBlock { number, index: Some(index), content });
        out.push(Event::ToolCallStart { index, id: call.id, name: call.name, provider_data: call.provider_data });
    }

    pub(super) fn delta(&mut self, frame: &Object<'_>, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let number: Option<u64> = field(frame, "index")?;
        let delta: Object<'_> = required(frame, "delta")?;
        let number = number.or_else(|| self.open.last().map(|open| open.number)).unwrap_or(0);
        let kind = delta.text("type").unwrap_or_default();
        let piece = PieceKind::of(&kind);
        if !self.open.iter().any(|open| open.number == number) {
            // A proxy dropped the start of the block. Its content is still part of the answer.
            let block = match piece {
                Some(PieceKind::Text) => Block::text(""),
                Some(PieceKind::Thinking) => Block::thinking(""),
                Some(PieceKind::Arguments) | None => return Ok(Seen::Unknown(None)),
            };
            self.begin(out);
            self.open_block(number, block, out);
        }
        let Some(kind) = piece else { return Ok(self.rare_delta(number, &kind, &delta, out)) };
        let text = delta.text(kind.names().1).unwrap_or_default();
        match self.piece(Piece { kind, index: number, text }, out) {
            Some(()) => Ok(Seen::Known),
            None => Ok(self.unknown(Some(number))),
        }
    }

    /// Adds a piece of text, thinking or arguments. Returns `None` if there is no open block for it.
    pub(super) fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<Event>) -> Option<()> {
        let Piece { kind, index: number, text } = piece;
        let open = self.open.iter_mut().find(|open| open.number == number)?;
        if text.is_empty() {
            return Some(());
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
            _ => return None,
        }
        Some(())
    }

    /// Reads one of the rarer deltas.
    fn rare_delta(&mut self, number: u64, kind: &str, delta: &Object<'_>, out: &mut Vec<Event>) -> Seen {
        let open = self.open.iter_mut().find(|open| open.number == number);
        match (kind, open.map(|open| (&mut open.content, open.index))) {
            // A block has one; a later one replaces it.
            ("signature_delta", Some((Content::Thinking { signature }, _))) => {
                *signature = delta.text("signature").map(Cow::into_owned);
            }
            ("citations_delta", Some((Content::Text { empty }, Some(index)))) => {
                let Some(wire) = delta.get("citation").map(Json::copy).filter(Json::is_object) else {
                    return self.unknown(Some(number));
                };
                *empty = None;
                out.push(Event::Citation { index, citation: Box::new(hosted::citation(wire)) });
            }
            ("compaction_delta", Some((Content::Own { grown, .. }, _))) => {
                for name in ["content", "encrypted_content"] {
                    if let Some(piece) = delta.text(name) {
                        grow(grown, name, &piece);
                    }
                }
            }
            _ => return self.unknown(Some(number)),
        }
        Seen::Known
    }

    pub(super) fn block_stop(&mut self, number: Option<u64>, out: &mut Vec<Event>) {
        let place = match number {
            Some(number) => self.open.iter().position(|open| open.number == number),
            None => self.open.len().checked_sub(1),
        };
        if let Some(place) = place {
            let open = self.open.remove(place);
            self.close(open, out);
        }
    }

    pub(super) fn close(&mut self, open: OpenBlock, out: &mut Vec<Event>) {
        let mut provider_data = ProviderData::default();
        let index = open.index.unwrap_or(self.opened);
        match open.content {
            Content::Text { empty } => {
                if let Some(empty) = empty {
                    provider_data.set_part(DIALECT, Part::Extra, "citations", empty);
                }
            }
            Content::Thinking { signature } => match signature.filter(|signature| !signature.is_empty()) {
                Some(signature) => provider_data.set_part(DIALECT, Part::State, "signature", signature),
                None => provider_data.set_part(DIALECT, Part::Shape, "unsigned", true),
            },
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
                out.push(Event::BlockStart { index, block: hosted::raise(data) });
            }
        }
        out.push(Event::BlockDone { index, provider_data });
    }
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

/// Completes a block of the dialect's own with the strings received for its fields.
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

//! The blocks of a stream: how they open, grow and close.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::dialect::weight::Weigh;
use crate::dialect::{Fault, Seen};
use crate::json::tagged::Object;
use crate::json::wire::{Raw, Text};
use crate::{Arguments, Block, Event, Json, Part, ProviderData};

use super::super::wire::{self, Delta, ReasoningDelta, ToolUse};
use super::super::{DIALECT, content};
use super::Decoder;
use super::own::Pieces;

/// A block that has begun and not ended.
#[derive(Debug)]
pub(super) enum Open {
    Text {
        index: usize,
        citations: Vec<Json>,
    },
    Thinking {
        index: usize,
        signature: String,
    },
    /// Redacted thinking.
    Redacted {
        index: usize,
        bytes: Vec<u8>,
    },
    Call {
        index: usize,
        /// The arguments from the start event; used if no others follow.
        input: Option<Json>,
        text: String,
    },
    /// A block of the wire's own, held back until it is complete.
    Own(Pieces),
}

impl Weigh for Open {
    fn weight(&self) -> usize {
        match self {
            Open::Text { citations, .. } => citations.weight(),
            Open::Thinking { signature, .. } => signature.weight(),
            Open::Redacted { bytes, .. } => bytes.len(),
            // Pieces are counted with their events.
            Open::Call { input, .. } => input.weight(),
            Open::Own(pieces) => pieces.weight(),
        }
    }
}

impl Open {
    /// Returns its index in the answer; a block that is held back has none yet.
    fn index(&self) -> Option<usize> {
        match self {
            Open::Text { index, .. }
            | Open::Thinking { index, .. }
            | Open::Redacted { index, .. }
            | Open::Call { index, .. } => Some(*index),
            Open::Own(_) => None,
        }
    }
}

impl Decoder {
    pub(super) fn block_start(&mut self, event: wire::Event<'_>, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let wire = event.index.unwrap_or_default();
        self.block_stop(wire, out);
        // Without further information, the first piece shows the kind of block.
        let Some(start) = event.start else { return Ok(Seen::Known) };
        let Some(object) = start.to::<Object<'_>>() else { return Ok(Seen::Unknown(None)) };
        if object.0.is_empty() {
            return Ok(Seen::Known);
        }
        let call = match object.0.as_slice() {
            [(kind, call)] if kind == "toolUse" => serde_json::from_str::<ToolUse<'_>>(call.get()).ok(),
            _ => None,
        };
        let mut call = call.unwrap_or_default();
        let input = call.input.take().map(Raw::into_json);
        match content::read_call(call, &mut self.ids) {
            Some(call) => {
                self.has_calls = true;
                let index = self.next();
                self.open.insert(wire, Open::Call { index, input, text: String::new() });
                out.push(Event::ToolCallStart {
                    index,
                    id: call.id,
                    name: call.name,
                    provider_data: call.provider_data,
                });
            }
            None => self.hold(wire, Pieces::begun(start.to_json()))?,
        }
        Ok(Seen::Known)
    }

    fn next(&mut self) -> usize {
        self.opened += 1;
        self.opened - 1
    }

    fn hold(&mut self, wire: u64, pieces: Pieces) -> Result<(), Fault> {
        // The driver counts the blocks that have been announced, and this one has not.
        self.limits.check_open(self.open.len() + 1)?;
        self.open.insert(wire, Open::Own(pieces));
        Ok(())
    }

    pub(super) fn delta(&mut self, event: wire::Event<'_>, out: &mut Vec<Event>) -> Result<Seen, Fault> {
        let wire = event.index.unwrap_or_default();
        let raw = event.delta.ok_or_else(|| Fault::Broken("`delta` is missing".to_owned()))?;
        match raw.to::<Delta<'_>>() {
            Some(Delta { text: Some(text), citation: None, tool_use: None, reasoning: None, rest })
                if rest.is_empty() =>
            {
                self.text(wire, text, out);
                return Ok(Seen::Known);
            }
            Some(Delta { text: None, citation: Some(citation), tool_use: None, reasoning: None, rest })
                if rest.is_empty() =>
            {
                self.citation(wire, citation, out);
                return Ok(Seen::Known);
            }
            Some(Delta { text: None, citation: None, tool_use: Some(call), reasoning: None, rest })
                if rest.is_empty() && call.rest.is_empty() =>
            {
                if let (Some(input), Some(Open::Call { index, text, .. })) = (call.input, self.open.get_mut(&wire)) {
                    text.push_str(input.as_str());
                    out.push(Event::ToolCallDelta { index: *index, arguments: input.into_string() });
                    return Ok(Seen::Known);
                }
            }
            Some(Delta { text: None, citation: None, tool_use: None, reasoning: Some(reasoning), rest })
                if rest.is_empty() && reasoning.rest.is_empty() =>
            {
                if self.thinking(wire, reasoning, out) {
                    return Ok(Seen::Known);
                }
            }
            Some(_) => {}
            None if raw.to::<Object<'_>>().is_some() => {}
            None => return Ok(Seen::Unknown(self.open.get(&wire).and_then(Open::index))),
        }
        if let Some(Open::Own(pieces)) = self.open.get_mut(&wire) {
            pieces.push(raw.into_json());
        } else {
            self.block_stop(wire, out);
            self.hold(wire, Pieces::of(raw.into_json()))?;
        }
        Ok(Seen::Known)
    }

    /// Returns the open text block with this index, opening it if necessary.
    fn open_text(&mut self, wire: u64, out: &mut Vec<Event>) -> usize {
        if let Some(Open::Text { index, .. }) = self.open.get(&wire) {
            return *index;
        }
        self.block_stop(wire, out);
        let index = self.next();
        self.open.insert(wire, Open::Text { index, citations: Vec::new() });
        out.push(Event::BlockStart { index, block: Block::text("") });
        index
    }

    fn text(&mut self, wire: u64, text: Text<'_>, out: &mut Vec<Event>) {
        let index = self.open_text(wire, out);
        if !text.as_str().is_empty() {
            out.push(Event::TextDelta { index, text: text.into_string() });
        }
    }

    fn citation(&mut self, wire: u64, citation: Raw<'_>, out: &mut Vec<Event>) {
        self.open_text(wire, out);
        if let Some(Open::Text { citations, .. }) = self.open.get_mut(&wire) {
            citations.push(citation.into_json());
        }
    }

    /// Adds a piece of thinking. Returns whether it is of a known kind.
    fn thinking(&mut self, wire: u64, piece: ReasoningDelta<'_>, out: &mut Vec<Event>) -> bool {
        if let Some(redacted) = piece.redacted {
            let bytes = STANDARD.decode(redacted.as_str());
            return piece.text.is_none()
                && piece.signature.is_none()
                && bytes.is_ok_and(|bytes| self.redacted(wire, bytes, out));
        }
        if piece.text.is_none() && piece.signature.is_none() {
            return false;
        }
        if !matches!(self.open.get(&wire), Some(Open::Thinking { .. })) {
            self.block_stop(wire, out);
            let index = self.next();
            self.open.insert(wire, Open::Thinking { index, signature: String::new() });
            out.push(Event::BlockStart { index, block: Block::thinking("") });
        }
        if let Some(Open::Thinking { index, signature }) = self.open.get_mut(&wire) {
            if let Some(text) = piece.text.filter(|text| !text.as_str().is_empty()) {
                out.push(Event::ThinkingDelta { index: *index, text: text.into_string() });
            }
            // A block has one; a later one replaces it.
            if let Some(last) = piece.signature.filter(|last| !last.as_str().is_empty()) {
                *signature = last.into_string();
            }
        }
        true
    }

    fn redacted(&mut self, wire: u64, piece: Vec<u8>, out: &mut Vec<Event>) -> bool {
        if let Some(Open::Redacted { bytes, .. }) = self.open.get_mut(&wire) {
            bytes.extend(piece);
            return true;
        }
        self.block_stop(wire, out);
        let index = self.next();
        self.open.insert(wire, Open::Redacted { index, bytes: piece });
        out.push(Event::BlockStart { index, block: Block::thinking("") });
        true
    }

    pub(super) fn block_stop(&mut self, wire: u64, out: &mut Vec<Event>) {
        if let Some(open) = self.open.remove(&wire) {
            self.close(open, out);
        }
    }

    pub(super) fn close(&mut self, open: Open, out: &mut Vec<Event>) {
        let (index, provider_data) = match open {
            Open::Text { index, citations } => {
                let mut data = ProviderData::default();
                if let Some(citations) = (!citations.is_empty()).then(|| Json::of(&citations).ok()).flatten() {
                    data.set_part(DIALECT, Part::Extra, "citations", citations);
                }
                (index, data)
            }
            Open::Thinking { index, signature } => (index, content::signature_state(Some(signature))),
            Open::Redacted { index, bytes } => (index, content::redacted_state(STANDARD.encode(bytes))),
            Open::Call { index, input, text } => {
                let arguments = match input.filter(|_| text.is_empty()) {
                    Some(input) => {
                        out.push(Event::ToolCallDelta { index, arguments: input.text().to_owned() });
                        Arguments::from(input)
                    }
                    None if text.trim().is_empty() => Arguments::default(),
                    None => Arguments::from_text(text),
                };
                return out.push(Event::ToolCallDone { index, arguments, provider_data: ProviderData::default() });
            }
            Open::Own(_) => {
                let index = self.opened;
                self.show_held(open, out);
                (index, ProviderData::default())
            }
        };
        out.push(Event::BlockDone { index, provider_data });
    }

    /// Opens a block that was held back.
    pub(super) fn show_held(&mut self, open: Open, out: &mut Vec<Event>) {
        if let Open::Own(pieces) = open {
            let index = self.next();
            out.push(Event::BlockStart { index, block: content::own(pieces.into_whole()) });
        }
    }
}

//! The blocks of text and thinking, one open at a time.

use super::details::Details;
use crate::dialect::openai_chat::assistant;
use crate::dialect::openai_chat::content::{self, FIELD_CONTENT};
use crate::dialect::openai_chat::notes::{
    DIALECT, REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, SIGNATURE, Side,
};
use crate::dialect::openai_chat::wire::{Detail, Message, Part as WirePart};
use crate::json::loose::{Item, read_raw};
use crate::json::wire::Text;
use crate::{Block, BlockKind, Event, Fields, Part, ProviderData, ThinkingBlock};

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The number of the next block.
    pub(super) next: usize,
    open: Open,
    /// White space before the first word. It may come before the reasoning, and belongs after it.
    held: String,
    has_text: bool,
    /// Whether a refusal was among them.
    pub(super) refused: bool,
    details: Details,
    /// Further fields of `thinking` parts.
    thinking_part: Fields,
    /// The second field that says the same as the first.
    also: Option<&'static str>,
    /// Reasoning came as plain text: details then only repeat it.
    has_plain_reasoning: bool,
}

/// The block that text pieces go to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    Thinking(usize),
    Text(usize),
    Refusal(usize),
}

impl Blocks {
    /// Reasoning under either name, or only as details.
    pub(super) fn reasoning(&mut self, delta: &mut Message<'_>, out: &mut Vec<Event>) {
        let (first, second) = (delta.reasoning_content.take(), delta.reasoning.take());
        if first.is_some() && first == second {
            self.also = Some("reasoning");
        }
        let said = first.map(|text| ("reasoning_content", text)).or(second.map(|text| ("reasoning", text)));
        if let Some((field, text)) = said {
            self.has_plain_reasoning = true;
            self.think(field, text.into_owned(), out);
        }
        for raw in &delta.details {
            let Some(piece) = read_raw::<Detail<'_>>(&raw.0) else { continue };
            let text = piece.text.as_ref().or(piece.summary.as_ref()).map(Text::as_str).filter(|text| !text.is_empty());
            if let (false, Some(text)) = (self.has_plain_reasoning, text) {
                self.think(REASONING_DETAILS, text.to_owned(), out);
            }
            self.details.push(piece);
        }
    }

    pub(super) fn refuse(&mut self, text: String, out: &mut Vec<Event>) {
        self.flush_held(out);
        self.refused = true;
        let index = match self.open {
            Open::Refusal(index) => index,
            Open::Nothing | Open::Thinking(_) | Open::Text(_) => {
                let index = self.open_block(assistant::refusal(String::new()), out);
                self.open = Open::Refusal(index);
                index
            }
        };
        out.push(Event::TextDelta { index, text });
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
        block.provider_data.set_part(DIALECT, Part::Shape, REASONING_FIELD, field);
        let index = self.open_block(Block::Thinking(block), out);
        self.open = Open::Thinking(index);
        index
    }

    pub(super) fn text(&mut self, text: String, out: &mut Vec<Event>) {
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
        let text = if self.held.is_empty() { text } else { std::mem::take(&mut self.held) + &text };
        self.open_text(text, out);
    }

    fn open_text(&mut self, text: String, out: &mut Vec<Event>) {
        self.has_text = true;
        let index = self.open_block(Block::text(""), out);
        self.open = Open::Text(index);
        out.push(Event::TextDelta { index, text });
    }

    /// White space that no word followed is text all the same.
    pub(super) fn flush_held(&mut self, out: &mut Vec<Event>) {
        if !self.held.is_empty() {
            let text = std::mem::take(&mut self.held);
            self.open_text(text, out);
        }
    }

    /// One part of a list of content: text, thinking, or something of the dialect's own.
    pub(super) fn part(&mut self, part: Item<'_, WirePart<'_>>, out: &mut Vec<Event>) {
        match content::decode(part, Side::Response) {
            Block::Text(text) if !text.is_refusal() => self.text(text.text, out),
            Block::Thinking(mut thinking) => {
                if !matches!(self.open, Open::Thinking(_)) {
                    self.open_thinking(FIELD_CONTENT, out);
                }
                for part in [Part::Extra, Part::State] {
                    self.thinking_part.merge(thinking.provider_data.take_part(DIALECT, part));
                }
                if !thinking.text.is_empty() {
                    self.think(FIELD_CONTENT, thinking.text, out);
                }
            }
            block => {
                self.flush_held(out);
                self.whole(block, out);
            }
        }
    }

    /// A block that comes in one piece.
    pub(super) fn whole(&mut self, block: Block, out: &mut Vec<Event>) {
        let index = self.open_block(block, out);
        out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
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
    pub(super) fn settle_details(&mut self, out: &mut Vec<Event>) {
        if !self.details.is_empty() {
            self.open_thinking(REASONING_DETAILS, out);
            self.close(out);
        }
    }

    /// Closes the open block, and gives a thinking block what it ends with.
    pub(super) fn close(&mut self, out: &mut Vec<Event>) {
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
            data.set_part(DIALECT, Part::Shape, REASONING_ALSO, also);
        }
        if !self.details.is_empty() {
            data.set_part(DIALECT, Part::State, REASONING_DETAILS, self.details.take());
        }
        let mut fields = std::mem::take(&mut self.thinking_part);
        if let Some(signature) = fields.remove(SIGNATURE) {
            data.set_part(DIALECT, Part::State, SIGNATURE, signature);
        }
        data.extend_part(DIALECT, Part::Extra, fields);
        data
    }
}

//! Blocks of text and thinking, one open at a time.

use super::merge::Items;
use super::signed::ThinkingBlocks;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::assistant::{self, REASONING_FIELDS};
use crate::dialect::openai_chat::content;
use crate::dialect::openai_chat::notes::{
    REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, SIGNATURE, Side, THINKING_BLOCKS,
};
use crate::dialect::openai_chat::reasoning::{FIELD_CONTENT, KIND};
use crate::dialect::openai_chat::wire::{Message, Part as WirePart};
use crate::dialect::weight::Weigh as _;
use crate::json::loose::Item;
use crate::{Block, BlockKind, Event, Fields, Json, Part, ProviderData, ThinkingBlock};

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The index of the next block.
    pub(super) next: usize,
    /// The block that receives pieces, and its kind.
    open: Option<(Kind, usize)>,
    /// Whitespace before the first word. It may come before the reasoning, but belongs after it.
    held: String,
    has_text: bool,
    /// Whether there was a refusal.
    pub(super) refused: bool,
    details: Items,
    signed: ThinkingBlocks,
    /// Further fields of `thinking` parts.
    thinking_part: Fields,
    /// The kind of those parts, if it is another.
    part_kind: Option<Json>,
    /// The second field, with the same reasoning as the first.
    also: Option<&'static str>,
    /// Whether reasoning came as plain text, so that details only repeat it.
    has_plain_reasoning: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Thinking,
    Text,
    Refusal,
}

impl Blocks {
    /// Returns roughly how many bytes are held back.
    pub(super) fn held(&self) -> usize {
        self.held.len() + self.details.held() + self.signed.held() + self.thinking_part.weight()
    }

    /// Reads reasoning under either name, or only as details.
    pub(super) fn reasoning(&mut self, delta: &mut Message<'_>, out: &mut Vec<Event>) {
        let fields = [delta.reasoning_content.take(), delta.reasoning.take(), delta.reasoning_text.take()];
        let mut said = REASONING_FIELDS.into_iter().zip(fields).filter_map(|(name, text)| Some((name, text?)));
        if let Some((field, text)) = said.next() {
            self.also = said.find(|(_, other)| *other == text).map(|(name, _)| name).or(self.also);
            self.think_aloud(field, text.into_owned(), out);
        }
        for detail in &delta.details {
            let text = assistant::detail_text(detail).filter(|text| !text.is_empty() && !self.has_plain_reasoning);
            if let Some(text) = text {
                self.think(REASONING_DETAILS, text, out);
            }
            self.details.push(&detail.0);
        }
        for block in &delta.thinking_blocks {
            let text = assistant::signed_text(block).filter(|text| !text.is_empty() && !self.has_plain_reasoning);
            if let Some(text) = text {
                self.think(THINKING_BLOCKS, text, out);
            }
            self.signed.push(block);
        }
    }

    pub(super) fn refuse(&mut self, text: String, out: &mut Vec<Event>) {
        self.flush_held(out);
        self.refused = true;
        let index = self.block(Kind::Refusal, || assistant::refusal(String::new()), out);
        out.push(Event::TextDelta { index, text });
    }

    /// Adds reasoning in plain text.
    pub(super) fn think_aloud(&mut self, field: &str, text: String, out: &mut Vec<Event>) {
        if !text.is_empty() {
            self.has_plain_reasoning = true;
            self.think(field, text, out);
        }
    }

    fn think(&mut self, field: &str, text: String, out: &mut Vec<Event>) {
        let index = self.open_thinking(field, out);
        if !text.is_empty() {
            out.push(Event::ThinkingDelta { index, text });
        }
    }

    fn open_thinking(&mut self, field: &str, out: &mut Vec<Event>) -> usize {
        let block = || {
            let mut block = ThinkingBlock::default();
            block.provider_data.set_part(DIALECT, Part::Shape, REASONING_FIELD, field);
            Block::Thinking(block)
        };
        self.block(Kind::Thinking, block, out)
    }

    #[inline]
    pub(super) fn text(&mut self, text: String, out: &mut Vec<Event>) {
        match self.open {
            Some((Kind::Text, index)) if !text.is_empty() => out.push(Event::TextDelta { index, text }),
            Some((Kind::Text, _)) => {}
            Some((Kind::Thinking | Kind::Refusal, _)) | None => self.first_text(text, out),
        }
    }

    /// Adds text while no text block is open.
    fn first_text(&mut self, text: String, out: &mut Vec<Event>) {
        if !self.has_text && text.trim_start().is_empty() {
            self.held.push_str(&text);
        } else if !text.is_empty() {
            let text = if self.held.is_empty() { text } else { std::mem::take(&mut self.held) + &text };
            self.open_text(text, out);
        }
    }

    fn open_text(&mut self, text: String, out: &mut Vec<Event>) {
        self.has_text = true;
        let index = self.block(Kind::Text, || Block::text(""), out);
        out.push(Event::TextDelta { index, text });
    }

    /// Adds whitespace that was not followed by a word, which is text too.
    pub(super) fn flush_held(&mut self, out: &mut Vec<Event>) {
        if !self.held.is_empty() {
            let text = std::mem::take(&mut self.held);
            self.open_text(text, out);
        }
    }

    /// Adds a part of a content list: text, thinking, or one of the dialect's own kinds.
    pub(super) fn part(&mut self, part: Item<'_, WirePart<'_>>, out: &mut Vec<Event>) {
        match content::decode(part, Side::Response) {
            Block::Text(text) if !text.is_refusal() => self.text(text.text, out),
            Block::Thinking(mut thinking) => {
                self.think(FIELD_CONTENT, thinking.text, out);
                self.part_kind =
                    thinking.provider_data.remove_part(DIALECT, Part::Shape, KIND).or(self.part_kind.take());
                for part in [Part::Extra, Part::State] {
                    self.thinking_part.merge(thinking.provider_data.take_part(DIALECT, part));
                }
            }
            block => self.whole(block, out),
        }
    }

    /// Adds a block that comes in one piece.
    pub(super) fn whole(&mut self, block: Block, out: &mut Vec<Event>) {
        self.flush_held(out);
        let index = self.open_block(block, out);
        out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
    }

    /// Returns the open block of this kind, or a new one.
    fn block(&mut self, kind: Kind, new: impl FnOnce() -> Block, out: &mut Vec<Event>) -> usize {
        match self.open {
            Some((open, index)) if open == kind => index,
            Some(_) | None => {
                let index = self.open_block(new(), out);
                self.open = Some((kind, index));
                index
            }
        }
    }

    fn open_block(&mut self, block: Block, out: &mut Vec<Event>) -> usize {
        self.close_open(out);
        if block.kind() != BlockKind::Thinking {
            self.settle_details(out);
        }
        let index = self.next;
        self.next += 1;
        out.push(Event::BlockStart { index, block });
        index
    }

    /// Closes everything, because something else begins or the answer ends.
    pub(super) fn close(&mut self, out: &mut Vec<Event>) {
        self.flush_held(out);
        self.close_open(out);
        self.settle_details(out);
    }

    /// Makes a separate block of sealed reasoning without visible text, in the place where it came.
    fn settle_details(&mut self, out: &mut Vec<Event>) {
        let field = match (self.details.is_empty(), self.signed.is_empty()) {
            (true, true) => return,
            (false, _) => REASONING_DETAILS,
            (true, false) => THINKING_BLOCKS,
        };
        self.open_thinking(field, out);
        self.close_open(out);
    }

    /// Closes the open block, with the data for the end of a thinking block.
    fn close_open(&mut self, out: &mut Vec<Event>) {
        let Some((kind, index)) = self.open.take() else { return };
        let provider_data = if kind == Kind::Thinking { self.thinking_end() } else { ProviderData::default() };
        out.push(Event::BlockDone { index, provider_data });
    }

    fn thinking_end(&mut self) -> ProviderData {
        let mut data = ProviderData::default();
        if let Some(also) = self.also.take() {
            data.set_part(DIALECT, Part::Shape, REASONING_ALSO, also);
        }
        if !self.details.is_empty() {
            data.set_part(DIALECT, Part::State, REASONING_DETAILS, Json::of(&self.details.take()).unwrap_or_default());
        }
        if !self.signed.is_empty() {
            data.set_part(DIALECT, Part::State, THINKING_BLOCKS, Json::of(&self.signed.take()).unwrap_or_default());
        }
        if let Some(kind) = self.part_kind.take() {
            data.set_part(DIALECT, Part::Shape, KIND, kind);
        }
        let mut fields = std::mem::take(&mut self.thinking_part);
        if let Some(signature) = fields.remove(SIGNATURE) {
            data.set_part(DIALECT, Part::State, SIGNATURE, signature);
        }
        data.extend_part(DIALECT, Part::Extra, fields);
        data
    }
}

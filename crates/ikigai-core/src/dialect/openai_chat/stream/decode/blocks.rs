//! The blocks of text and thinking, one open at a time.

use super::merge::Items;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::assistant;
use crate::dialect::openai_chat::content::{self, FIELD_CONTENT};
use crate::dialect::openai_chat::notes::{REASONING_ALSO, REASONING_DETAILS, REASONING_FIELD, SIGNATURE, Side};
use crate::dialect::openai_chat::wire::{Message, Part as WirePart};
use crate::dialect::weight::Weigh as _;
use crate::json::loose::Item;
use crate::{Block, BlockKind, Event, Fields, Json, Part, ProviderData, ThinkingBlock};

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The number of the next block.
    pub(super) next: usize,
    /// The block that pieces go to, and what it is.
    open: Option<(Kind, usize)>,
    /// White space before the first word. It may come before the reasoning, and belongs after it.
    held: String,
    has_text: bool,
    /// Whether a refusal was among them.
    pub(super) refused: bool,
    details: Items,
    /// Further fields of `thinking` parts.
    thinking_part: Fields,
    /// The second field that says the same as the first.
    also: Option<&'static str>,
    /// Reasoning came as plain text: details then only repeat it.
    has_plain_reasoning: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Thinking,
    Text,
    Refusal,
}

impl Blocks {
    /// About how many bytes it holds back.
    pub(super) fn held(&self) -> usize {
        self.held.len() + self.details.held() + self.thinking_part.weight()
    }

    /// Reasoning under either name, or only as details.
    pub(super) fn reasoning(&mut self, delta: &mut Message<'_>, out: &mut Vec<Event>) {
        let (first, second) = (delta.reasoning_content.take(), delta.reasoning.take());
        if first.is_some() && first == second {
            self.also = Some("reasoning");
        }
        let said = first.map(|text| ("reasoning_content", text)).or(second.map(|text| ("reasoning", text)));
        if let Some((field, text)) = said {
            self.think_aloud(field, text.into_owned(), out);
        }
        for detail in &delta.details {
            let text = assistant::detail_text(detail).filter(|text| !text.is_empty() && !self.has_plain_reasoning);
            if let Some(text) = text {
                self.think(REASONING_DETAILS, text, out);
            }
            self.details.push(&detail.0);
        }
    }

    pub(super) fn refuse(&mut self, text: String, out: &mut Vec<Event>) {
        self.flush_held(out);
        self.refused = true;
        let index = self.block(Kind::Refusal, || assistant::refusal(String::new()), out);
        out.push(Event::TextDelta { index, text });
    }

    /// Reasoning as plain text.
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

    /// Text while no block of text is open.
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
                self.think(FIELD_CONTENT, thinking.text, out);
                for part in [Part::Extra, Part::State] {
                    self.thinking_part.merge(thinking.provider_data.take_part(DIALECT, part));
                }
            }
            block => self.whole(block, out),
        }
    }

    /// A block that comes in one piece.
    pub(super) fn whole(&mut self, block: Block, out: &mut Vec<Event>) {
        self.flush_held(out);
        let index = self.open_block(block, out);
        out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
    }

    /// The block of this kind that is open, or else a new one.
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

    /// Sealed reasoning without a visible text is a block of its own, in the place where it came.
    fn settle_details(&mut self, out: &mut Vec<Event>) {
        if !self.details.is_empty() {
            self.open_thinking(REASONING_DETAILS, out);
            self.close_open(out);
        }
    }

    /// Closes the open block, and gives a thinking block what it ends with.
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
        let mut fields = std::mem::take(&mut self.thinking_part);
        if let Some(signature) = fields.remove(SIGNATURE) {
            data.set_part(DIALECT, Part::State, SIGNATURE, signature);
        }
        data.extend_part(DIALECT, Part::Extra, fields);
        data
    }
}

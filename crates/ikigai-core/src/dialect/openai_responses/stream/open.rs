//! Items and blocks that are open while a stream is read.

use std::collections::BTreeMap;

use super::wire::Kind;
use crate::dialect::openai_responses::wire::Item;
use crate::dialect::openai_responses::{DIALECT, hosted, items};
use crate::dialect::weight::Weigh;
use crate::json::wire::Text;
use crate::span::Ruler;
use crate::{Arguments, Block, BlockKind, Event, Json, Other, Part, ProviderData};

/// An item that has begun.
#[derive(Debug, Default)]
pub(super) struct OpenItem {
    pub(super) id: Option<String>,
    pub(super) kind: String,
    pub(super) done: bool,
    /// A message's own fields, for its first part.
    pub(super) header: ProviderData,
    /// A message's unknown parts before its first text, by `content_index`: if there is no text, the message is kept
    /// whole.
    pub(super) waiting: BTreeMap<u64, Other>,
    /// Its open blocks, by `content_index`.
    pub(super) blocks: BTreeMap<u64, OpenBlock>,
    /// The source of its thinking: the first kind of delta decides, so that nothing appears twice.
    pub(super) source: Option<Kind>,
}

impl OpenItem {
    /// Creates an item from its first frame.
    pub(super) fn of(item: &Item<'_>) -> Self {
        let id = item.id.as_ref().map(|id| id.as_str().to_owned());
        OpenItem { id, ..OpenItem::of_kind(OpenItem::kind_of(item)) }
    }

    pub(super) fn kind_of<'i>(item: &'i Item<'_>) -> &'i str {
        item.kind.as_ref().map_or("message", Text::as_str)
    }

    /// Creates an item that was not announced: its first piece shows its type.
    pub(super) fn of_kind(kind: &str) -> Self {
        OpenItem { kind: kind.to_owned(), ..OpenItem::default() }
    }

    /// Returns its only block, if that is of this kind.
    pub(super) fn only(&mut self, kind: BlockKind) -> Option<&mut OpenBlock> {
        self.blocks.get_mut(&0).filter(|block| block.kind == kind)
    }
}

/// An open block.
#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) index: usize,
    pub(super) kind: BlockKind,
    /// What has been streamed of it.
    said: String,
    /// Measures it, as far as citations require.
    ruler: Ruler,
    /// How many of its citations have been passed on.
    cited: usize,
    /// Set once a citation refers to text that has not arrived; it and later ones wait for the complete item.
    waits: bool,
}

impl Weigh for OpenItem {
    fn weight(&self) -> usize {
        // Short lists have spare capacity.
        let waiting: usize = self.waiting.values().map(|other| other.data.weight()).sum();
        self.id.weight() + self.kind.weight() + 3 * self.header.weight() + waiting + self.blocks.weight()
    }
}

impl Weigh for OpenBlock {
    fn weight(&self) -> usize {
        // Arguments are counted with their events.
        let said = if self.kind == BlockKind::ToolCall { 0 } else { self.said.weight() };
        said + self.ruler.weight()
    }
}

impl OpenBlock {
    pub(super) fn new(index: usize, kind: BlockKind) -> Self {
        OpenBlock { index, kind, said: String::new(), ruler: Ruler::default(), cited: 0, waits: false }
    }

    /// Adds a piece of its text, thinking or arguments.
    pub(super) fn say(&mut self, piece: String, out: &mut Vec<Event>) {
        if piece.is_empty() {
            return;
        }
        self.said.push_str(&piece);
        let index = self.index;
        out.push(match self.kind {
            BlockKind::Thinking => Event::ThinkingDelta { index, text: piece },
            BlockKind::ToolCall => Event::ToolCallDelta { index, arguments: piece },
            _ => Event::TextDelta { index, text: piece },
        });
    }

    /// Adds a citation of what has been streamed.
    pub(super) fn cite(&mut self, wire: Json, out: &mut Vec<Event>) {
        self.ruler.push(self.said.get(self.ruler.bytes()..).unwrap_or_default());
        self.waits |= hosted::reaches(&wire) > self.ruler.chars_before(usize::MAX) as u64;
        if self.kind == BlockKind::Text && !self.waits {
            self.cited += 1;
            let citation = Box::new(hosted::citation(wire, &self.ruler));
            out.push(Event::Citation { index: self.index, citation });
        }
    }

    /// Adds what the complete item has beyond the pieces. If it does not start with them, they cannot be taken back.
    fn reconcile(&mut self, whole: &str, out: &mut Vec<Event>) {
        if let Some(rest) = whole.strip_prefix(self.said.as_str()).map(str::to_owned) {
            self.say(rest, out);
        }
    }

    /// Closes the block with its complete content.
    pub(super) fn complete(mut self, block: Block, out: &mut Vec<Event>) {
        let index = self.index;
        let provider_data = match block {
            Block::Text(text) => {
                self.reconcile(&text.text, out);
                let cited = text.citations.into_iter().skip(self.cited).map(Box::new);
                out.extend(cited.map(|citation| Event::Citation { index, citation }));
                text.provider_data
            }
            Block::Thinking(mut thinking) => {
                items::show_said(&mut thinking, &self.said);
                self.reconcile(&thinking.text, out);
                thinking.provider_data
            }
            Block::ToolCall(call) => {
                self.reconcile(call.arguments.text(), out);
                out.push(Event::ToolCallDone { index, arguments: call.arguments, provider_data: call.provider_data });
                return;
            }
            Block::Other(other) => {
                // The item is unfinished as it was added; the collector adopts the complete one.
                let mut data = ProviderData::default();
                data.set_part(DIALECT, Part::Shape, "data", other.data);
                data
            }
            Block::ProviderCall(_) | Block::ProviderResult(_) => {
                out.push(Event::BlockReplaced { index, block });
                ProviderData::default()
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => ProviderData::default(),
        };
        out.push(Event::BlockDone { index, provider_data });
    }

    /// Closes the block with what has been streamed.
    pub(super) fn close(self, out: &mut Vec<Event>) {
        let (index, provider_data) = (self.index, ProviderData::default());
        out.push(match self.kind {
            BlockKind::ToolCall => {
                Event::ToolCallDone { index, arguments: Arguments::from_text(self.said), provider_data }
            }
            _ => Event::BlockDone { index, provider_data },
        });
    }
}

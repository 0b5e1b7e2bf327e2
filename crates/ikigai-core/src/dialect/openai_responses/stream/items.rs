//! Items that begin and end while a stream is read.

use std::collections::BTreeMap;

use super::decode::Decoder;
use super::open::{OpenBlock, OpenItem};
use crate::dialect::openai_responses::wire::{Entry, Item, Items, word};
use crate::dialect::openai_responses::{DIALECT, items, message};
use crate::{Block, BlockKind, Event, Fields, Part, ProviderData};

impl Decoder {
    pub(super) fn item_added(&mut self, at: u64, mut item: Item<'_>, out: &mut Vec<Event>) {
        self.start(out);
        if let Some(before) = self.items.remove(&at) {
            // The server gives every item the same index.
            self.close(before, out);
        }
        let mut state = OpenItem::of(&item);
        match state.kind.as_str() {
            "message" => {
                let beside = Item { kind: None, role: None, content: Default::default(), ..item };
                message::begin_item(&mut state.header, Fields::default(), beside);
            }
            "reasoning" => return self.open_thinking(at, state, out),
            "function_call" => {
                // One without a name opens once the complete item arrives.
                if !word(&item.call_id).is_empty() && !word(&item.name).is_empty() {
                    let mut call = self.open_call(state.id.as_deref(), word(&item.call_id), word(&item.name), out);
                    call.say(item.arguments.take().unwrap_or_default().into_string(), out);
                    state.blocks.insert(0, call);
                }
            }
            _ => {
                // A call of a tool that the API runs is two blocks, unfinished for now.
                for (part, block) in (0..).zip(items::decode(Entry::Fits(item), Part::Answer)) {
                    let index = self.take_place();
                    state.blocks.insert(part, OpenBlock::new(index, block.kind()));
                    out.push(Event::BlockStart { index, block });
                }
            }
        }
        self.items.insert(at, state);
    }

    /// Opens a call with the id of its item, so that it is known from the start.
    fn open_call(&mut self, item: Option<&str>, id: &str, name: &str, out: &mut Vec<Event>) -> OpenBlock {
        let index = self.take_place();
        let mut provider_data = ProviderData::default();
        if let Some(item) = item {
            provider_data.set_part(DIALECT, Part::Shape, "id", item);
        }
        let id = if id.is_empty() { format!("call_{}", self.ids.next_id()) } else { id.to_owned() };
        out.push(Event::ToolCallStart { index, id, name: name.to_owned(), provider_data });
        OpenBlock::new(index, BlockKind::ToolCall)
    }

    /// Reads the complete item: the streamed part is completed and closed.
    pub(super) fn item_done(&mut self, at: u64, item: Item<'_>, out: &mut Vec<Event>) {
        let mut state = self.items.remove(&at).unwrap_or_default();
        if !state.done {
            let whole = OpenItem::of(&item);
            state.id = whole.id.or(state.id);
            state.kind = whole.kind;
            let mut open = std::mem::take(&mut state.blocks);
            let blocks = items::decode(Entry::Fits(item), Part::Answer);
            // Not every part was announced. Numbers that do not fit only show the order.
            let by_part = open.len() < blocks.len()
                && open.keys().all(|part| usize::try_from(*part).is_ok_and(|part| part < blocks.len()));
            for (part, block) in (0..).zip(blocks) {
                self.asks.see(&block);
                let open = if by_part { open.remove(&part) } else { open.pop_first().map(|(_, open)| open) };
                match open {
                    Some(open) if open.kind == block.kind() => open.complete(block, out),
                    Some(open) => {
                        let is_unknown = open.kind == BlockKind::Other || block.kind() == BlockKind::Other;
                        open.close(out);
                        if is_unknown {
                            self.whole_block(block, out);
                        }
                    }
                    None => self.whole_block(block, out),
                }
            }
            open.into_values().for_each(|open| open.close(out));
            state.waiting.clear();
            state.done = true;
        }
        self.items.insert(at, state);
    }

    /// Adds a block that comes in one piece.
    fn whole_block(&mut self, mut block: Block, out: &mut Vec<Event>) {
        if let Block::ToolCall(call) = block {
            let item = call.provider_data.part_str(DIALECT, Part::Shape, "id");
            let open = self.open_call(item.as_deref(), &call.id, &call.name, out);
            return open.complete(Block::ToolCall(call), out);
        }
        let mut open = OpenBlock::new(self.take_place(), block.kind());
        let piece = match &mut block {
            Block::Text(text) => std::mem::take(&mut text.text),
            Block::Thinking(thinking) => std::mem::take(&mut thinking.text),
            _ => String::new(),
        };
        out.push(Event::BlockStart { index: open.index, block });
        open.say(piece, out);
        open.close(out);
    }

    /// Closes the open blocks of an item that was never completed.
    pub(super) fn close(&mut self, item: OpenItem, out: &mut Vec<Event>) {
        for open in item.blocks.into_values() {
            self.asks.tools |= open.kind == BlockKind::ToolCall;
            open.close(out);
        }
        for other in item.waiting.into_values() {
            self.whole_block(Block::Other(other), out);
        }
    }

    /// Reads the items of the terminal event: unfinished ones are completed, missing ones are added.
    ///
    /// They are matched by id, or else by index: some relays change ids, some skip indices.
    pub(super) fn complete_items(&mut self, output: Items<'_>, out: &mut Vec<Event>) {
        let by_id: BTreeMap<String, u64> =
            self.items.iter().filter_map(|(at, item)| Some((item.id.clone()?, *at))).collect();
        let all_seen = self.items.len() >= output.len();
        let mut beyond = self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (place, item) in (0_u64..).zip(output) {
            let Entry::Fits(item) = item else { continue };
            let kind = OpenItem::kind_of(&item);
            let same_place = || self.items.get(&place).filter(|seen| seen.kind == kind).map(|_| place);
            match by_id.get(word(&item.id)).copied().or_else(same_place) {
                Some(at) => self.item_done(at, item, out),
                None if all_seen => {}
                None => {
                    self.item_done(beyond, item, out);
                    beyond = beyond.saturating_add(1);
                }
            }
        }
    }
}

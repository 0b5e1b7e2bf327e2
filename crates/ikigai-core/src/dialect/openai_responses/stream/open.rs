//! Items and blocks that are open while a stream is read.

use std::collections::BTreeMap;

use super::delta::{Kind, Seen};
use crate::dialect::openai_responses::{ME, Object};
use crate::{Block, Event, ProviderData, ToolCall};

/// An item that has begun.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) id: Option<String>,
    pub(super) kind: String,
    pub(super) done: bool,
    /// The block before its first one is a text.
    pub(super) after_text: bool,
    /// The fields of a message, for its first part.
    pub(super) header: Object,
    /// Its open blocks, by `content_index`.
    pub(super) blocks: BTreeMap<u64, Open>,
    /// The arguments of a call so far.
    pub(super) arguments: String,
    /// Where its thinking comes from: the first kind of delta decides, so that nothing is said twice.
    pub(super) source: Option<Kind>,
    /// The last part of a summary that had deltas.
    pub(super) summary_part: Option<u64>,
}

impl Item {
    /// An item that nobody announced: its first piece tells what it is.
    pub(super) fn of_kind(kind: &str) -> Self {
        Item { kind: kind.to_owned(), ..Item::default() }
    }
}

/// An open block.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) index: usize,
    pub(super) kind: OpenKind,
    pub(super) seen: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenKind {
    Text,
    Thinking,
    Call,
    Other,
}

impl Open {
    /// Is this the block that the item's whole has in its place?
    pub(super) fn fits(&self, block: &Block) -> bool {
        match block {
            Block::Text(_) => self.kind == OpenKind::Text,
            Block::Thinking(_) => self.kind == OpenKind::Thinking,
            Block::ToolCall(_) => self.kind == OpenKind::Call,
            Block::Other(_) => self.kind == OpenKind::Other,
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => false,
        }
    }

    /// Adds what the whole text has beyond the pieces. Pieces that it does not begin with cannot be taken back.
    pub(super) fn reconcile(&mut self, whole: &str, out: &mut Vec<Event>) {
        if let Some(rest) = self.seen.rest(whole).filter(|rest| !rest.is_empty()) {
            self.seen.push(rest);
            let (index, text) = (self.index, rest.to_owned());
            out.push(match self.kind {
                OpenKind::Thinking => Event::ThinkingDelta { index, text },
                OpenKind::Text | OpenKind::Call | OpenKind::Other => Event::TextDelta { index, text },
            });
        }
    }

    /// Closes the block with what its whole says. `arguments` are those of a call that have been streamed.
    pub(super) fn complete(mut self, block: Block, arguments: &str, out: &mut Vec<Event>) {
        let index = self.index;
        let provider_data = match block {
            Block::Text(text) => {
                self.reconcile(&text.text, out);
                text.provider_data
            }
            Block::Thinking(thinking) => {
                self.reconcile(&thinking.text, out);
                thinking.provider_data
            }
            Block::ToolCall(call) => {
                let whole = call.arguments.text().to_owned();
                if let Some(rest) = whole.strip_prefix(arguments).filter(|rest| !rest.is_empty()) {
                    out.push(Event::ToolCallDelta { index, arguments: rest.to_owned() });
                }
                out.push(Event::ToolCallDone { index, arguments: call.arguments, provider_data: call.provider_data });
                return;
            }
            Block::Other(other) => {
                // The item as it was added is unfinished; the collector takes over the whole.
                let mut data = ProviderData::default();
                data.set(ME, "data", other.data);
                data
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) => ProviderData::default(),
        };
        out.push(Event::BlockDone { index, provider_data });
    }

    /// Closes the block with what has been streamed.
    pub(super) fn close(self, arguments: &str, out: &mut Vec<Event>) {
        let index = self.index;
        if self.kind == OpenKind::Call {
            let mut call = ToolCall::default();
            call.arguments = crate::Arguments::from_text(arguments.to_owned());
            out.push(Event::ToolCallDone { index, arguments: call.arguments, provider_data: ProviderData::default() });
        } else {
            out.push(Event::BlockDone { index, provider_data: ProviderData::default() });
        }
    }
}

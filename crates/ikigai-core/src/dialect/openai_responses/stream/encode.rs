//! Events to wire frames: the full sequence that the official clients check as they accumulate it.
//!
//! The first frame is `response.created`; every item is added before any frame about it, every part before its deltas;
//! whatever was added is done before the end, and the end repeats all of it.

use std::borrow::Cow;

use super::blocks::{Added, Slot};
use super::wire::{Frames, Place};
use crate::dialect::openai_responses::DIALECT;
use crate::dialect::openai_responses::response::{self, Asks, End, Head};
use crate::dialect::openai_responses::wire::{Entry, Many, word};
use crate::dialect::{Ids, Reply, WriteFrames};
use crate::{Block, BlockKind, Error, Event, FinishReason, Json, Loss, ProviderData, ToolCall, Usage};

/// The writer of a stream for a client.
///
/// As in whole answers, audio, documents, pictures by URL and another dialect's own blocks have no place: they are
/// losses.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(super) reply: Reply,
    pub(super) ids: Ids,
    pub(super) frames: Frames,
    started: bool,
    ended: bool,
    /// The initial response object, with the id that every frame repeats.
    head: Head,
    pub(super) model: String,
    /// The answer's own data in this dialect.
    data: ProviderData,
    /// One entry per block, by index; `None` if it is done, or has no place on this wire.
    pub(super) blocks: Vec<Option<Slot>>,
    /// One entry per item, by its index in the output.
    pub(super) items: Vec<Added>,
    /// The message that another text may join.
    pub(super) message: Option<usize>,
    usage: Option<Usage>,
    pub(super) asks: Asks,
    pub(super) losses: Vec<Loss>,
}

impl WriteFrames for Encoder {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::Start { id, model, provider_data } => {
                self.start(id.as_deref(), model.as_deref(), provider_data, out)
            }
            Event::TextDelta { index, text } => self.delta(*index, BlockKind::Text, text, out),
            Event::ThinkingDelta { index, text } => self.delta(*index, BlockKind::Thinking, text, out),
            Event::ToolCallDelta { index, arguments } => self.delta(*index, BlockKind::ToolCall, arguments, out),
            Event::BlockStart { index, block } => self.open_at(*index, block, out),
            Event::ToolCallStart { index, id, name, provider_data } => {
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    provider_data: provider_data.clone(),
                    ..ToolCall::default()
                };
                self.open_at(*index, &Block::ToolCall(call), out);
            }
            Event::ToolCallDone { index, arguments, provider_data } => {
                if let Some(Some(Slot { block: Block::ToolCall(call), .. })) = self.blocks.get_mut(*index) {
                    call.arguments = arguments.clone();
                    self.close(*index, provider_data, out);
                }
            }
            // The driver has already converted them for this wire.
            Event::BlockReplaced { .. } | Event::Citation { .. } | Event::Sources { .. } => {}
            Event::BlockDone { index, provider_data } => self.close(*index, provider_data, out),
            Event::Usage { usage } => self.usage = Some(usage.clone()),
            Event::Done { finish_reason, provider_data } => {
                self.start_unless_started(out);
                self.data.merge(provider_data.clone());
                self.end(*finish_reason, None, out);
            }
            Event::Error { error } => {
                self.start_unless_started(out);
                self.end(FinishReason::Error, Some(error), out);
            }
            Event::Other { index, dialect, data } if *dialect == DIALECT => self.pass_on(*index, data, out),
            // The driver reports those.
            Event::Other { .. } => {}
        }
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

impl Encoder {
    /// Creates a writer for one stream.
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder {
            ids: reply.ids.clone(),
            reply,
            frames: Frames::default(),
            started: false,
            ended: false,
            head: Head::default(),
            model: String::new(),
            data: ProviderData::default(),
            blocks: Vec::new(),
            items: Vec::new(),
            message: None,
            usage: None,
            asks: Asks::default(),
            losses: Vec::new(),
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        if self.started {
            return;
        }
        self.started = true;
        self.model = model.unwrap_or_default().to_owned();
        self.data = data.clone();
        self.head = Head::new(data, id, &self.model, &self.reply, &mut self.ids);
        if self.head.id.is_none() {
            self.head.id = Some(response::new_id("resp", &mut self.ids));
        }
        let mut first = self.head.begin();
        first.status = Some("in_progress".into());
        first.output = Many::List(Vec::new());
        for event in ["response.created", "response.in_progress"] {
            self.frames.send(event, Place::default(), &[("response", &first)], out);
        }
    }

    fn start_unless_started(&mut self, out: &mut Vec<u8>) {
        self.start(None, None, &ProviderData::default(), out);
    }

    fn open_at(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        self.start_unless_started(out);
        let slot = self.open(index, block, out);
        // Blocks open in order; anything else is not a valid stream and has no place.
        if index == self.blocks.len() {
            self.blocks.push(slot);
        }
    }

    fn end(&mut self, finish: FinishReason, error: Option<&Error>, out: &mut Vec<u8>) {
        self.leave_message(out);
        self.ended = true;
        // The provider's fields from its end, not from the start.
        self.head.update(&self.data);
        let mut body = self.head.begin();
        let end = End { finish, error, usage: self.usage.as_ref() };
        end.write(&self.data, self.asks, &mut body, &mut self.losses);
        let output = self.items.iter().filter_map(|item| item.whole.as_ref());
        body.output = Many::List(output.map(|item| Entry::Odd(Cow::Borrowed(item.raw()))).collect());
        let event = match word(&body.status) {
            "failed" | "cancelled" => "response.failed",
            "incomplete" => "response.incomplete",
            _ => "response.completed",
        };
        self.frames.send(event, Place::default(), &[("response", &body)], out);
    }

    /// Passes on a frame that only this dialect has, with the numbers of this stream.
    fn pass_on(&mut self, index: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        if self.started {
            let slot = index.and_then(|index| self.blocks.get(index)?.as_ref());
            let place = slot.and_then(|slot| Some(Place::within(&self.items.get(slot.output)?.id, slot.output)));
            self.frames.pass_on(data, place.unwrap_or_default(), out);
        }
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

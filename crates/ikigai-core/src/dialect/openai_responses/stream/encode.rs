//! Events to wire frames: the full sequence that the official clients check as they accumulate it.
//!
//! The first frame is `response.created`; every item is added before any frame about it, every part before its deltas;
//! whatever was added is done before the end, and the end repeats all of it.

use std::borrow::Cow;

use super::blocks::{Added, Slot};
use super::parts::Held;
use super::wire::{Frames, Place};
use crate::dialect::openai_responses::response::{self, Asks, End, Head};
use crate::dialect::openai_responses::wire::{Entry, Many, word};
use crate::dialect::seal::Answerer;
use crate::dialect::{Ids, Reply, WriteFrames};
use crate::{Arguments, Block, Error, FinishReason, Json, Loss, ProviderData, Text, Usage};

/// The writer of a stream for a client.
///
/// As in whole answers, audio, documents, pictures by URL and another dialect's own blocks have no place: they are
/// losses.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    reply: Reply,
    pub(super) ids: Ids,
    pub(super) frames: Frames,
    /// The initial response object, with the id that every frame repeats.
    head: Head,
    pub(super) answerer: Answerer,
    /// The answer's own data in this dialect.
    data: ProviderData,
    /// One entry per block, by index; `None` if it is done, or has no place on this wire.
    pub(super) blocks: Vec<Option<Slot>>,
    /// One entry per item, by its index in the output.
    pub(super) items: Vec<Added>,
    /// A text block with another dialect's state, which may turn out to be nothing else.
    pub(super) unsaid: Option<(usize, Text)>,
    /// This dialect's own blocks that may turn out to be parts of a message that begins with them.
    pub(super) held: Vec<Held>,
    /// The message that another text may join.
    pub(super) message: Option<usize>,
    usage: Option<Usage>,
    pub(super) asks: Asks,
    pub(super) losses: Vec<Loss>,
}

impl WriteFrames for Encoder {
    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        self.answerer = Answerer::new(&self.reply, model);
        self.data = data.clone();
        self.head = Head::new(data, id, &self.answerer, self.reply.created, &mut self.ids);
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

    fn open(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        self.say(out);
        let slot = self.begin_block(index, block, out);
        // Blocks open in order; anything else is not a valid stream and has no place.
        if index == self.blocks.len() {
            self.blocks.push(slot);
        }
    }

    fn piece(&mut self, index: usize, piece: &str, out: &mut Vec<u8>) {
        self.delta(index, piece, out);
    }

    fn close(&mut self, index: usize, arguments: Option<&Arguments>, data: &ProviderData, out: &mut Vec<u8>) {
        self.end_block(index, arguments, data, out);
    }

    fn usage(&mut self, usage: &Usage, _: &mut Vec<u8>) {
        self.usage = Some(usage.clone());
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.data.merge(data.clone());
        self.end(reason, None, out);
    }

    fn fail(&mut self, failure: &Error, out: &mut Vec<u8>) {
        if self.head.id.is_none() {
            self.start(None, None, &ProviderData::NONE, out);
        }
        self.end(FinishReason::Error, Some(failure), out);
    }

    /// Passes the frame on with the numbers of this stream.
    fn other(&mut self, index: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        let slot = index.and_then(|index| self.blocks.get(index)?.as_ref());
        let place = slot.and_then(|slot| Some(Place::within(&self.items.get(slot.output)?.id, slot.output)));
        self.frames.pass_on(data, place.unwrap_or_default(), out);
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

impl Encoder {
    /// Creates a writer for one stream.
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder { ids: reply.ids.clone(), reply, ..Encoder::default() }
    }

    fn end(&mut self, finish: FinishReason, error: Option<&Error>, out: &mut Vec<u8>) {
        self.release(out);
        self.leave_message(out);
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
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

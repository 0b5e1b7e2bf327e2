//! Events to bytes.

use super::super::hosted::Lowering;
use super::super::lanes::{Lanes, Queue};
use super::super::losses::note_event;
use super::super::{Reply, WriteFrames, anthropic, gemini, openai_chat, openai_responses};
use crate::{Arguments, Block, Dialect, Event, Loss, ProviderData, ToolCall};

/// An encoder of one dialect's streams: canonical events in, that dialect's own event sequence out.
///
/// For a dialect that clients do not speak ([`Dialect::serves_clients`]) it writes nothing and reports a loss.
#[derive(Debug)]
pub struct StreamEncoder {
    dialect: Dialect,
    writing: Writing,
    lowering: Lowering,
    /// For wires that cannot tell open blocks apart.
    queue: Option<Queue>,
    losses: Vec<Loss>,
}

impl StreamEncoder {
    /// Creates an encoder for one stream.
    pub fn new(dialect: Dialect, reply: Reply) -> Self {
        let (mut losses, lowering, model) = (Vec::new(), Lowering::new(dialect, &reply), reply.model.clone());
        let writer: Option<Box<dyn WriteFrames>> = match dialect {
            Dialect::Anthropic => Some(Box::new(anthropic::Encoder::new(reply))),
            Dialect::OpenaiChat => Some(Box::new(openai_chat::Encoder::new(reply))),
            Dialect::OpenaiResponses => Some(Box::new(openai_responses::Encoder::new(reply))),
            Dialect::Gemini => Some(Box::new(gemini::Encoder::new(reply))),
            Dialect::BedrockConverse => {
                losses.push(dialect.lost_answer());
                None
            }
        };
        let queue = match dialect {
            // Calls have indices, but OpenAI's own client parses a call's arguments as soon as the next index appears.
            Dialect::OpenaiChat => Some(Queue::new(Lanes::SameKind)),
            Dialect::Gemini | Dialect::Anthropic => Some(Queue::new(Lanes::All)),
            // Items have indices.
            Dialect::OpenaiResponses | Dialect::BedrockConverse => None,
        };
        StreamEncoder {
            dialect,
            writing: Writing { writer, model, started: false, ended: false },
            lowering,
            queue,
            losses,
        }
    }

    /// Encodes the next event and appends its bytes. [`Event::Done`] and [`Event::Error`] end the stream.
    pub fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        if note_event(event, self.dialect, &mut self.losses) {
            return;
        }
        let (writing, queue) = (&mut self.writing, &mut self.queue);
        self.lowering.push(event, &mut |event| match queue {
            Some(queue) => queue.push(event, |event| writing.event(event, out)),
            None => writing.event(event, out),
        });
        let written = self.writing.writer.as_mut().map(|writer| writer.take_losses()).unwrap_or_default();
        self.lowering.settle(written, &mut self.losses);
    }

    /// Returns what could not be carried so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}

/// A dialect's writer, and how far its answer has got.
#[derive(Debug)]
struct Writing {
    /// `None` for a dialect that clients do not speak.
    writer: Option<Box<dyn WriteFrames>>,
    /// The model to name if the answer names none.
    model: Option<String>,
    started: bool,
    ended: bool,
}

impl Writing {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        let Some(writer) = self.writer.as_mut().filter(|_| !self.ended) else { return };
        if !self.started && !matches!(event, Event::Error { .. }) {
            self.started = true;
            let (id, model, data) = match event {
                Event::Start { id, model, provider_data } => (id.as_deref(), model.as_deref(), provider_data),
                _ => (None, None, &ProviderData::NONE),
            };
            let model = model.filter(|model| !model.is_empty()).or(self.model.as_deref());
            writer.start(id, model, data, out);
        }
        self.ended = event.is_terminal();
        match event {
            // It is written.
            Event::Start { .. } => {}
            Event::BlockStart { index, block: Block::ToolCall(call) } => {
                // This violates the grammar, but is no reason to lose a call.
                let call_only = ToolCall { arguments: Arguments::default(), ..call.clone() };
                writer.open(*index, &Block::ToolCall(call_only), out);
                writer.close(*index, Some(&call.arguments), &ProviderData::NONE, out);
            }
            Event::BlockStart { index, block } => writer.open(*index, block, out),
            Event::ToolCallStart { index, id, name, provider_data } => {
                let (id, name, provider_data) = (id.clone(), name.clone(), provider_data.clone());
                let call = ToolCall { id, name, provider_data, ..ToolCall::default() };
                writer.open(*index, &Block::ToolCall(call), out);
            }
            Event::TextDelta { index, text: piece }
            | Event::ThinkingDelta { index, text: piece }
            | Event::ToolCallDelta { index, arguments: piece } => writer.piece(*index, piece, out),
            Event::ToolCallDone { index, arguments, provider_data } => {
                writer.close(*index, Some(arguments), provider_data, out);
            }
            Event::BlockDone { index, provider_data } => writer.close(*index, None, provider_data, out),
            // Those that are left have been lowered to this dialect.
            Event::BlockReplaced { .. } | Event::Citation { .. } | Event::Sources { .. } => {}
            Event::Usage { usage } => writer.usage(usage, out),
            Event::Done { finish_reason, provider_data } => writer.done(*finish_reason, provider_data, out),
            Event::Error { error } => writer.fail(error, out),
            Event::Other { index, data, .. } => writer.other(*index, data, out),
        }
    }
}

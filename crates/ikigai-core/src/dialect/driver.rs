//! Bytes to events and events to bytes, for all dialects.
//!
//! The driver alone decides what happens to unknown, broken and cut-off frames, and to anything after the end, so
//! dialects cannot differ in this: an unknown frame is passed on whole, a broken one ends the stream with an error, an
//! answer that is cut off ends with an error whose code is `truncated`, and nothing is read after the end. A complete
//! answer received in place of a stream becomes the events that would have carried it.

mod budget;
mod progress;

pub(crate) use progress::Progress;
use progress::Reader;

use super::hosted::Lowering;
use super::lanes::{Lanes, Queue};
use super::losses::note_event;
use super::{Reply, WriteFrames, anthropic, gemini, openai_chat, openai_responses};
use crate::limits::limit_reached;
use crate::wire::{Ids, Sse, SseError};
use crate::{Dialect, Error, Event, Limits, Loss};

/// A decoder of one dialect's streams: bytes in, cut anywhere; canonical events out.
///
/// A stream always ends with [`Event::Done`] or [`Event::Error`]: unreadable bytes, and an end without the dialect's
/// own end marker, become an error event.
///
/// ```
/// use ikigai_core::{Collector, Dialect, Limits};
/// use ikigai_core::wire::{Ids, StreamDecoder};
///
/// let bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
/// let mut decoder = StreamDecoder::new(Dialect::OpenaiChat, Ids::default(), &Limits::default());
/// let mut events = Vec::new();
/// for byte in bytes {
///     decoder.feed(&[*byte], &mut events);
/// }
/// decoder.end(&mut events);
/// let mut collector = Collector::default();
/// collector.extend(events);
/// assert_eq!(collector.finish().text(), "Hi");
/// ```
#[derive(Debug)]
pub struct StreamDecoder {
    sse: Sse,
    progress: Progress,
}

impl StreamDecoder {
    /// Creates a decoder for one stream. `ids` supplies ids for calls that have none on the wire.
    pub fn new(dialect: Dialect, ids: Ids, limits: &Limits) -> Self {
        StreamDecoder { sse: Sse::with_limit(limits.event), progress: Progress::new(dialect, ids, limits) }
    }

    /// Like [`new`](StreamDecoder::new), with the dialect's reader.
    pub(super) fn of(dialect: Dialect, reader: Reader, ids: Ids, limits: &Limits) -> Self {
        StreamDecoder { sse: Sse::with_limit(limits.event), progress: Progress::of(dialect, reader, ids, limits) }
    }

    /// Decodes the next bytes and appends the events that they complete. Anything after the end is ignored.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        if self.progress.ended {
            return;
        }
        self.progress.bytes = self.progress.bytes.saturating_add(bytes.len());
        if self.progress.bytes > self.progress.limits.stream {
            let most = self.progress.limits.stream;
            return self.progress.fail(limit_reached(format!("the stream has more than {most} bytes")), out);
        }
        let outcome = self.sse.feed(bytes, |frame| self.progress.pass(frame, out));
        self.report(outcome, out);
        self.progress.look_into_reader(out);
    }

    /// Ends the input and appends the remaining events.
    pub fn end(&mut self, out: &mut Vec<Event>) {
        if self.progress.ended {
            return;
        }
        let outcome = self.sse.end(|frame| self.progress.pass(frame, out));
        self.report(outcome, out);
        if self.progress.ended {
            return;
        }
        let stray = self.sse.stray().trim_end();
        if self.progress.frames == 0 && !stray.is_empty() {
            let message = format!("the answer is not an event stream; it begins: {stray}");
            return self.progress.fail(Error::protocol(message), out);
        }
        self.progress.finish(out);
    }

    /// Returns whether the stream has ended.
    pub fn is_done(&self) -> bool {
        self.progress.ended
    }

    fn report(&mut self, outcome: Result<(), SseError>, out: &mut Vec<Event>) {
        if let Err(fault) = outcome {
            let error = match fault {
                SseError::TooLarge { .. } => limit_reached(fault.to_string()),
                SseError::NotUtf8 { .. } => Error::protocol(fault.to_string()),
            };
            self.progress.fail(error, out);
        }
    }
}

/// An encoder of one dialect's streams: canonical events in, that dialect's own event sequence out.
///
/// For a dialect that clients do not speak ([`Dialect::serves_clients`]) it writes nothing and reports a loss.
#[cfg(feature = "server")]
#[derive(Debug)]
pub struct StreamEncoder {
    dialect: Dialect,
    writer: Writer,
    lowering: Lowering,
    /// For wires that cannot tell open blocks apart.
    queue: Option<Queue>,
    losses: Vec<Loss>,
}

#[cfg(feature = "server")]
#[derive(Debug)]
enum Writer {
    Anthropic(Box<anthropic::Encoder>),
    OpenaiChat(Box<openai_chat::Encoder>),
    OpenaiResponses(Box<openai_responses::Encoder>),
    Gemini(Box<gemini::Encoder>),
    /// For a dialect that clients do not speak.
    Nobody,
}

#[cfg(feature = "server")]
impl StreamEncoder {
    /// Creates an encoder for one stream.
    pub fn new(dialect: Dialect, reply: Reply) -> Self {
        let (mut losses, lowering) = (Vec::new(), Lowering::new(dialect, &reply));
        let writer = match dialect {
            Dialect::Anthropic => Writer::Anthropic(Box::new(anthropic::Encoder::new(reply))),
            Dialect::OpenaiChat => Writer::OpenaiChat(Box::new(openai_chat::Encoder::new(reply))),
            Dialect::OpenaiResponses => Writer::OpenaiResponses(Box::new(openai_responses::Encoder::new(reply))),
            Dialect::Gemini => Writer::Gemini(Box::new(gemini::Encoder::new(reply))),
            Dialect::BedrockConverse => {
                losses.push(dialect.lost_answer());
                Writer::Nobody
            }
        };
        let queue = match dialect {
            // Calls have indices, but OpenAI's own client parses a call's arguments as soon as the next index appears.
            Dialect::OpenaiChat => Some(Queue::new(Lanes::SameKind)),
            Dialect::Gemini | Dialect::Anthropic => Some(Queue::new(Lanes::All)),
            // Items have indices.
            Dialect::OpenaiResponses | Dialect::BedrockConverse => None,
        };
        StreamEncoder { dialect, writer, lowering, queue, losses }
    }

    /// Encodes the next event and appends its bytes. [`Event::Done`] and [`Event::Error`] end the stream.
    pub fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        if note_event(event, self.dialect, &mut self.losses) {
            return;
        }
        let (writer, queue) = (&mut self.writer, &mut self.queue);
        self.lowering.push(event, &mut |event| match queue {
            Some(queue) => queue.push(event, |event| writer.event(event, out)),
            None => writer.event(event, out),
        });
        self.lowering.settle(self.writer.take_losses(), &mut self.losses);
    }

    /// Returns what could not be carried so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}

#[cfg(feature = "server")]
impl Writer {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        match self {
            Writer::Anthropic(writer) => writer.event(event, out),
            Writer::OpenaiChat(writer) => writer.event(event, out),
            Writer::OpenaiResponses(writer) => writer.event(event, out),
            Writer::Gemini(writer) => writer.event(event, out),
            Writer::Nobody => {}
        }
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        match self {
            Writer::Anthropic(writer) => writer.take_losses(),
            Writer::OpenaiChat(writer) => writer.take_losses(),
            Writer::OpenaiResponses(writer) => writer.take_losses(),
            Writer::Gemini(writer) => writer.take_losses(),
            Writer::Nobody => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;

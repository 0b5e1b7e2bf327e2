//! Bytes to events and events to bytes, over all dialects.
//!
//! The driver alone decides what happens to broken frames and to what comes after the end, so dialects cannot differ
//! in that.

use super::lanes::{Lanes, Queue};
use super::surrogates::Surrogates;
use super::{ReadFrames, Reply, WriteFrames, anthropic, gemini, openai_chat, openai_responses};
use crate::json::check_depth;
use crate::limits::limit_reached;
use crate::wire::{Frame, Ids, Sse, SseError};
use crate::{Dialect, Error, Event, Limits, Loss};

/// Decodes a stream of one dialect: bytes in, cut anywhere; canonical events out.
///
/// A stream ends with [`Event::Done`] or [`Event::Error`], always: bytes that make no sense, and an end without the
/// dialect's own end, become an error event.
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
    reader: Reader,
    progress: Progress,
}

/// How far a stream is.
#[derive(Debug)]
struct Progress {
    limits: Limits,
    bytes: usize,
    began: bool,
    ended: bool,
    surrogates: Surrogates,
}

#[derive(Debug)]
enum Reader {
    Anthropic(Box<anthropic::Decoder>),
    OpenaiChat(Box<openai_chat::Decoder>),
    OpenaiResponses(Box<openai_responses::Decoder>),
    Gemini(Box<gemini::Decoder>),
}

impl StreamDecoder {
    /// A decoder for one stream. `ids` names calls that the wire leaves without an id.
    pub fn new(dialect: Dialect, ids: Ids, limits: &Limits) -> Self {
        let sse = Sse::with_limit(limits.event);
        let reader = match dialect {
            Dialect::Anthropic => Reader::Anthropic(Box::new(anthropic::Decoder::new(ids))),
            Dialect::OpenaiChat => Reader::OpenaiChat(Box::new(openai_chat::Decoder::new(ids))),
            Dialect::OpenaiResponses => Reader::OpenaiResponses(Box::new(openai_responses::Decoder::new(ids))),
            Dialect::Gemini => Reader::Gemini(Box::new(gemini::Decoder::new(ids))),
        };
        let surrogates = Surrogates::default();
        let progress = Progress { limits: *limits, bytes: 0, began: false, ended: false, surrogates };
        StreamDecoder { sse, reader, progress }
    }

    /// Takes the next bytes and appends the events that they complete. What comes after the end is ignored.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        if self.progress.ended {
            return;
        }
        self.progress.bytes = self.progress.bytes.saturating_add(bytes.len());
        if self.progress.bytes > self.progress.limits.stream {
            let most = self.progress.limits.stream;
            return self.progress.fail(limit_reached(format!("the stream has more than {most} bytes")), out);
        }
        let (reader, progress) = (&mut self.reader, &mut self.progress);
        let outcome = self.sse.feed(bytes, |frame| progress.pass(reader, frame, out));
        self.report(outcome, out);
    }

    /// The end of the bytes: appends what is still owed.
    pub fn end(&mut self, out: &mut Vec<Event>) {
        if self.progress.ended {
            return;
        }
        let (reader, progress) = (&mut self.reader, &mut self.progress);
        let outcome = self.sse.end(|frame| progress.pass(reader, frame, out));
        self.report(outcome, out);
        if self.progress.ended {
            return;
        }
        let stray = self.sse.stray().trim_end();
        if self.progress.began || stray.is_empty() {
            let before = out.len();
            self.reader.end(out);
            self.progress.look_over(out, before);
            self.progress.ended = true;
        } else {
            let message = format!("the answer is not an event stream; it begins: {stray}");
            self.progress.fail(Error::protocol(message), out);
        }
    }

    /// Whether the stream has ended.
    pub fn is_done(&self) -> bool {
        self.progress.ended
    }

    fn report(&mut self, outcome: Result<(), SseError>, out: &mut Vec<Event>) {
        if let Err(fault) = outcome
            && !self.progress.ended
        {
            let error = match fault {
                SseError::TooLarge { .. } => limit_reached(fault.to_string()),
                SseError::NotUtf8 { .. } => Error::protocol(fault.to_string()),
            };
            self.progress.fail(error, out);
        }
    }
}

impl Progress {
    /// Hands a frame to the reader, unless the stream has ended.
    fn pass(&mut self, reader: &mut Reader, frame: Frame<'_>, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        self.began = true;
        if let Err(deep) = check_depth(frame.data.as_bytes(), self.limits.depth) {
            let (most, at) = (self.limits.depth, deep.at);
            let message = format!("an event is nested more than {most} levels deep at byte {at} of its data");
            return self.fail(limit_reached(message), out);
        }
        let data = self.surrogates.mark(frame.data);
        let before = out.len();
        reader.frame(Frame { name: frame.name, data: &data }, out);
        self.look_over(out, before);
    }

    /// Looks at the events that were just read, which begin at `from`.
    fn look_over(&mut self, out: &mut Vec<Event>, from: usize) {
        self.surrogates.join(out, from);
        for (place, event) in out.iter().enumerate().skip(from) {
            if let Event::BlockStart { index, .. } | Event::ToolCallStart { index, .. } = event
                && *index >= self.limits.blocks
            {
                let most = self.limits.blocks;
                out.truncate(place);
                return self.fail(limit_reached(format!("the answer has more than {most} blocks")), out);
            }
        }
        self.ended = out.len() > from && out.last().is_some_and(Event::is_terminal);
    }

    fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        self.ended = true;
        out.push(Event::Error { error: Box::new(error) });
    }
}

impl Reader {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) {
        match self {
            Reader::Anthropic(reader) => reader.frame(frame.name, frame.data, out),
            Reader::OpenaiChat(reader) => reader.frame(frame.name, frame.data, out),
            Reader::OpenaiResponses(reader) => reader.frame(frame.name, frame.data, out),
            Reader::Gemini(reader) => reader.frame(frame.name, frame.data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        match self {
            Reader::Anthropic(reader) => reader.end(out),
            Reader::OpenaiChat(reader) => reader.end(out),
            Reader::OpenaiResponses(reader) => reader.end(out),
            Reader::Gemini(reader) => reader.end(out),
        }
    }
}

/// Encodes a stream to one dialect: canonical events in, that dialect's own event sequence out.
#[derive(Debug)]
pub struct StreamEncoder {
    writer: Writer,
    /// For wires that cannot tell open blocks apart.
    queue: Option<Queue>,
    losses: Vec<Loss>,
}

#[derive(Debug)]
enum Writer {
    Anthropic(Box<anthropic::Encoder>),
    OpenaiChat(Box<openai_chat::Encoder>),
    OpenaiResponses(Box<openai_responses::Encoder>),
    Gemini(Box<gemini::Encoder>),
}

impl StreamEncoder {
    /// An encoder for one stream.
    pub fn new(dialect: Dialect, reply: Reply) -> Self {
        let writer = match dialect {
            Dialect::Anthropic => Writer::Anthropic(Box::new(anthropic::Encoder::new(reply))),
            Dialect::OpenaiChat => Writer::OpenaiChat(Box::new(openai_chat::Encoder::new(reply))),
            Dialect::OpenaiResponses => Writer::OpenaiResponses(Box::new(openai_responses::Encoder::new(reply))),
            Dialect::Gemini => Writer::Gemini(Box::new(gemini::Encoder::new(reply))),
        };
        let queue = match dialect {
            Dialect::OpenaiChat => Some(Queue::new(Lanes::TextAndThinking)),
            Dialect::Gemini => Some(Queue::new(Lanes::All)),
            // Items have numbers; and Messages has its own way, because its blocks end with more than they began with.
            Dialect::OpenaiResponses | Dialect::Anthropic => None,
        };
        StreamEncoder { writer, queue, losses: Vec::new() }
    }

    /// Takes the next event and appends the bytes that it brings. [`Event::Done`] and [`Event::Error`] bring the end.
    pub fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        let writer = &mut self.writer;
        match &mut self.queue {
            Some(queue) => queue.push(event, |event| writer.event(event, out)),
            None => writer.event(event, out),
        }
        self.losses.append(&mut self.writer.take_losses());
    }

    /// What could not be carried so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}

impl Writer {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        match self {
            Writer::Anthropic(writer) => writer.event(event, out),
            Writer::OpenaiChat(writer) => writer.event(event, out),
            Writer::OpenaiResponses(writer) => writer.event(event, out),
            Writer::Gemini(writer) => writer.event(event, out),
        }
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        match self {
            Writer::Anthropic(writer) => writer.take_losses(),
            Writer::OpenaiChat(writer) => writer.take_losses(),
            Writer::OpenaiResponses(writer) => writer.take_losses(),
            Writer::Gemini(writer) => writer.take_losses(),
        }
    }
}

//! Bytes to events and events to bytes, for all dialects.
//!
//! The driver alone decides what happens to unknown, broken and cut-off frames, and to anything after the end, so
//! dialects cannot differ in this: an unknown frame is passed on whole, a broken one ends the stream with an error, an
//! answer that is cut off ends with an error whose code is `truncated`, and nothing is read after the end. A complete
//! answer received in place of a stream becomes the events that would have carried it.

mod budget;
mod whole;
#[cfg(feature = "server")]
mod write;

use budget::Budget;

use super::hosted::{self, Texts};
use super::surrogates::Surrogates;
use super::{Fault, ReadFrames, Seen, anthropic, bedrock_converse, gemini, openai_chat, openai_responses};
use crate::limits::limit_reached;
use crate::wire::{Frame, Ids, Sse, SseError};
use crate::{Dialect, Error, Event, Json, Limits};

#[cfg(feature = "server")]
pub use write::StreamEncoder;

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
    reader: Reader,
    progress: Progress,
}

/// How far a stream has got.
#[derive(Debug)]
struct Progress {
    dialect: Dialect,
    ids: Ids,
    limits: Limits,
    bytes: usize,
    /// How many frames have been read.
    frames: u64,
    started: bool,
    ended: bool,
    /// Unknown frames that came before the start event, which must come first.
    held: Vec<Event>,
    budget: Budget,
    surrogates: Surrogates,
    /// The text so far, for dialects whose end may refer to places in it.
    texts: Option<Texts>,
}

/// The most unknown events accepted before an answer starts.
const MOST_HELD: usize = 1000;

/// The longest excerpt of a frame in an error, in characters.
const EXCERPT: usize = 200;

/// A dialect's frame reader, boxed so that a program that reads one dialect does not link the code of the others.
type Reader = Box<dyn ReadFrames>;

impl StreamDecoder {
    /// Creates a decoder for one stream. `ids` supplies ids for calls that have none on the wire.
    pub fn new(dialect: Dialect, ids: Ids, limits: &Limits) -> Self {
        let own = ids.clone();
        let reader: Reader = match dialect {
            Dialect::Anthropic => Box::new(anthropic::Decoder::new(own, limits)),
            Dialect::OpenaiChat => Box::new(openai_chat::Decoder::new(own)),
            Dialect::OpenaiResponses => Box::new(openai_responses::Decoder::new(own, limits)),
            Dialect::Gemini => Box::new(gemini::Decoder::new(own, limits)),
            Dialect::BedrockConverse => Box::new(bedrock_converse::Decoder::new(own, limits)),
        };
        StreamDecoder::of(dialect, reader, ids, limits)
    }

    /// Like [`new`](StreamDecoder::new), with the dialect's reader.
    pub(super) fn of(dialect: Dialect, reader: Reader, ids: Ids, limits: &Limits) -> Self {
        let sse = Sse::with_limit(limits.event);
        let progress = Progress {
            dialect,
            ids,
            limits: *limits,
            bytes: 0,
            frames: 0,
            started: false,
            ended: false,
            held: Vec::new(),
            budget: Budget::new(limits),
            surrogates: Surrogates::default(),
            texts: hosted::is_around(dialect).then(Texts::default),
        };
        StreamDecoder { sse, reader, progress }
    }

    /// Decodes the next bytes and appends the events that they complete. Anything after the end is ignored.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        if self.progress.ended {
            return;
        }
        self.progress.bytes = self.progress.bytes.saturating_add(bytes.len());
        if self.progress.bytes > self.progress.limits.stream {
            let most = self.progress.limits.stream;
            return self.fail(limit_reached(format!("the stream has more than {most} bytes")), out);
        }
        let (reader, progress) = (&mut self.reader, &mut self.progress);
        let outcome = self.sse.feed(bytes, |frame| progress.pass(reader, frame, out));
        self.report(outcome, out);
        if let Err(reached) = self.progress.budget.look_into(self.progress.bytes, || self.reader.held()) {
            self.fail(reached, out);
        }
    }

    /// Ends the input and appends the remaining events.
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
        if self.progress.frames == 0 && !stray.is_empty() {
            let message = format!("the answer is not an event stream; it begins: {stray}");
            return self.fail(Error::protocol(message), out);
        }
        self.progress.finish(&mut self.reader, out);
    }

    /// Returns whether the stream has ended.
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
            self.fail(error, out);
        }
    }

    fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        if !self.progress.ended {
            self.progress.fail(&mut self.reader, error, out);
        }
    }
}

impl Progress {
    /// Passes a frame to the reader, unless the stream has ended.
    fn pass(&mut self, reader: &mut Reader, frame: Frame<'_>, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        self.frames += 1;
        let before = out.len();
        if reader.glance(frame.data, out).is_some() {
            return self.look_over(reader, before, out);
        }
        if frame.data.trim_ascii().is_empty() {
            return;
        }
        if let Err(reached) = self.limits.check_answer_shape(frame.data.as_bytes(), "an event") {
            return self.fail(reader, reached, out);
        }
        let data = self.surrogates.mark(frame.data);
        let seen = reader.frame(frame.name, &data, out);
        self.look_over(reader, before, out);
        match seen {
            Ok(Seen::Known) => {}
            Ok(Seen::Whole) if !self.started => self.whole(reader, &data, out),
            Ok(Seen::Whole) => self.unknown(reader, None, &data, out),
            Ok(Seen::Unknown(index)) => self.unknown(reader, index, &data, out),
            Err(fault) => self.stop(reader, fault, &data, out),
        }
    }

    /// Handles the end of the bytes.
    fn finish(&mut self, reader: &mut Reader, out: &mut Vec<Event>) {
        let before = out.len();
        let end = reader.end(out);
        self.look_over(reader, before, out);
        if let Err(fault) = end {
            self.stop(reader, fault, "", out);
        }
        self.ended = true;
    }

    /// Passes a frame on whole, after the start.
    fn unknown(&mut self, reader: &mut Reader, index: Option<usize>, data: &str, out: &mut Vec<Event>) {
        match Json::parse(data) {
            Ok(data) => {
                let event = Event::Other { index, dialect: self.dialect, data };
                if self.started {
                    out.push(event);
                } else if self.held.len() < MOST_HELD {
                    self.held.push(event);
                } else {
                    let message = format!("more than {MOST_HELD} events came before the answer began");
                    self.fail(reader, limit_reached(message), out);
                }
            }
            Err(fault) => self.stop(reader, Fault::Broken(fault.to_string()), data, out),
        }
    }

    /// Processes the events that were just read, which begin at `from`.
    fn look_over(&mut self, reader: &mut Reader, from: usize, out: &mut Vec<Event>) {
        self.surrogates.join(out, from);
        if !self.started && matches!(out.get(from), Some(Event::Start { .. })) {
            self.started = true;
            out.splice(from + 1..from + 1, self.held.drain(..));
        }
        if let Some(texts) = &mut self.texts {
            texts.note(self.dialect, from, out);
        }
        let mut reached = None;
        for (place, event) in out.iter().enumerate().skip(from) {
            if let Err(error) = self.budget.take(event) {
                reached = Some((place, error));
                break;
            }
            self.ended |= event.is_terminal();
        }
        if let Some((place, error)) = reached {
            out.truncate(place);
            self.fail(reader, error, out);
        }
    }

    /// Ends the stream because of a fault in a frame with this data.
    fn stop(&mut self, reader: &mut Reader, fault: Fault, data: &str, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        let error = match fault {
            Fault::Failed(error) => *error,
            Fault::Broken(reason) => {
                // The parser's message may quote the frame as well.
                let (number, reason, begins) = (self.frames, excerpt(&reason), excerpt(data));
                Error::protocol(format!("event {number} of the stream cannot be read ({reason}); it begins: {begins}"))
            }
            Fault::CutOff => {
                let message = if self.started {
                    "the stream ended before the answer did: it is cut off"
                } else {
                    "the stream ended before the answer began"
                };
                let mut error = Error::protocol(message);
                error.code = Some("truncated".to_owned());
                error
            }
        };
        self.fail(reader, error, out);
    }

    fn fail(&mut self, reader: &mut Reader, error: Error, out: &mut Vec<Event>) {
        self.ended = true;
        if self.started {
            reader.flush(out);
        }
        out.push(Event::Error { error: Box::new(error) });
    }
}

fn excerpt(text: &str) -> &str {
    text.char_indices().nth(EXCERPT).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;

//! Bytes to events and events to bytes, for all dialects.
//!
//! The driver alone decides what happens to unknown, broken and cut-off frames, and to anything after the end, so
//! dialects cannot differ in this: an unknown frame is passed on whole, a broken one ends the stream with an error, an
//! answer that is cut off ends with an error whose code is `truncated`, and nothing is read after the end. A complete
//! answer received in place of a stream becomes the events that would have carried it.

mod budget;
mod progress;
#[cfg(feature = "server")]
mod write;

pub(crate) use progress::Progress;
use progress::Reader;

use crate::limits::limit_reached;
use crate::wire::{Ids, Sse, SseError};
use crate::{Dialect, Error, Event, Limits};

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

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;

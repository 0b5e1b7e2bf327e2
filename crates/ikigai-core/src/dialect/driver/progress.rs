//! Frames to events: what happens to unknown, broken and cut-off frames, and to anything after the end.

use super::super::{anthropic, bedrock_converse, gemini, openai_chat, openai_responses};
use super::budget::Budget;
use crate::dialect::hosted::{self, Texts};
use crate::dialect::surrogates::Surrogates;
use crate::dialect::{Fault, ReadFrames, Seen};
use crate::limits::limit_reached;
use crate::wire::{Frame, Ids};
use crate::{Dialect, Error, Event, Json, Limits};

/// Reads the frames of one stream.
#[derive(Debug)]
pub(crate) struct Progress {
    reader: Reader,
    dialect: Dialect,
    ids: Ids,
    pub(super) limits: Limits,
    pub(super) bytes: usize,
    /// How many frames have been read.
    pub(super) frames: u64,
    started: bool,
    pub(super) ended: bool,
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
pub(super) type Reader = Box<dyn ReadFrames>;

impl Progress {
    pub(crate) fn new(dialect: Dialect, ids: Ids, limits: &Limits) -> Self {
        let own = ids.clone();
        let reader: Reader = match dialect {
            Dialect::Anthropic => Box::new(anthropic::Decoder::new(own, limits)),
            Dialect::OpenaiChat => Box::new(openai_chat::Decoder::new(own)),
            Dialect::OpenaiResponses => Box::new(openai_responses::Decoder::new(own, limits)),
            Dialect::Gemini => Box::new(gemini::Decoder::new(own, limits)),
            Dialect::BedrockConverse => Box::new(bedrock_converse::Decoder::new(own, limits)),
        };
        Progress::of(dialect, reader, ids, limits)
    }

    pub(super) fn of(dialect: Dialect, reader: Reader, ids: Ids, limits: &Limits) -> Self {
        Progress {
            reader,
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
        }
    }

    /// Returns whether the stream has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.ended
    }

    /// Reads one frame, for a caller who has its own framing.
    pub(crate) fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) {
        self.bytes = self.bytes.saturating_add(frame.data.len());
        self.pass(frame, out);
        self.look_into_reader(out);
    }

    /// Returns the failure in a frame, even after the end.
    pub(crate) fn failure_in(&mut self, frame: Frame<'_>) -> Option<Error> {
        match self.reader.frame(frame.name, frame.data, &mut Vec::new()) {
            Err(Fault::Failed(error)) => Some(*error),
            Err(Fault::Broken(_) | Fault::CutOff) | Ok(_) => None,
        }
    }

    /// Checks how much the reader holds.
    pub(super) fn look_into_reader(&mut self, out: &mut Vec<Event>) {
        if let Err(reached) = self.budget.look_into(self.bytes, || self.reader.held()) {
            self.fail(reached, out);
        }
    }

    /// Passes a frame to the reader, unless the stream has ended.
    pub(super) fn pass(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        self.frames += 1;
        let before = out.len();
        if self.reader.glance(frame.data, out).is_some() {
            return self.look_over(before, out);
        }
        if frame.data.trim_ascii().is_empty() {
            return;
        }
        if let Err(reached) = self.limits.check_answer_shape(frame.data.as_bytes(), "an event") {
            return self.fail(reached, out);
        }
        let data = self.surrogates.mark(frame.data);
        let seen = self.reader.frame(frame.name, &data, out);
        self.look_over(before, out);
        match seen {
            Ok(Seen::Known) => {}
            Ok(Seen::Whole) if !self.started => self.whole(&data, out),
            Ok(Seen::Whole) => self.unknown(None, &data, out),
            Ok(Seen::Unknown(index)) => self.unknown(index, &data, out),
            Err(fault) => self.stop(fault, &data, out),
        }
    }

    /// Handles the end of the bytes.
    pub(crate) fn finish(&mut self, out: &mut Vec<Event>) {
        let before = out.len();
        let end = self.reader.end(out);
        self.look_over(before, out);
        if let Err(fault) = end {
            self.stop(fault, "", out);
        }
        self.ended = true;
    }

    /// Passes a frame on whole, after the start.
    fn unknown(&mut self, index: Option<usize>, data: &str, out: &mut Vec<Event>) {
        match Json::parse(data) {
            Ok(data) => {
                let event = Event::Other { index, dialect: self.dialect, data };
                if self.started {
                    out.push(event);
                } else if self.held.len() < MOST_HELD {
                    self.held.push(event);
                } else {
                    let message = format!("more than {MOST_HELD} events came before the answer began");
                    self.fail(limit_reached(message), out);
                }
            }
            Err(fault) => self.stop(Fault::Broken(fault.to_string()), data, out),
        }
    }

    /// Processes the events that were just read, which begin at `from`.
    fn look_over(&mut self, from: usize, out: &mut Vec<Event>) {
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
            self.fail(error, out);
        }
    }

    /// Ends the stream because of a fault in a frame with this data.
    fn stop(&mut self, fault: Fault, data: &str, out: &mut Vec<Event>) {
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
        self.fail(error, out);
    }

    /// Writes the events that would have carried an answer that arrived in one piece, or the failure in its place. Some
    /// servers do not stream at all, others not for this model, and a failure is often plain JSON with status 200.
    fn whole(&mut self, data: &str, out: &mut Vec<Event>) {
        match self.dialect.decode_response(data.as_bytes(), &mut self.ids, &self.limits) {
            Ok(response) => {
                let before = out.len();
                out.extend(crate::events(&response));
                self.look_over(before, out);
            }
            Err(error) => self.fail(error, out),
        }
    }

    /// Ends the stream with a failure, unless it has ended.
    pub(crate) fn fail(&mut self, error: Error, out: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.started {
            self.reader.flush(out);
        }
        out.push(Event::Error { error: Box::new(error) });
    }
}

fn excerpt(text: &str) -> &str {
    text.char_indices().nth(EXCERPT).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

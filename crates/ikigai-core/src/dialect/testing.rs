//! Helpers for the tests of all dialects.

#[path = "../../tests/support/folder.rs"]
mod folder;

use crate::validate::EventChecker;
use crate::wire::{Ids, StreamDecoder};
use crate::{Collector, Dialect, Event, Limits, Response};

pub(super) use folder::recordings;

/// Returns the events of a stream's text, within limits.
pub(super) fn events_within(dialect: Dialect, sse: &str, limits: &Limits) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(dialect, Ids::default(), limits);
    let mut events = Vec::new();
    decoder.feed(sse.as_bytes(), &mut events);
    decoder.end(&mut events);
    events
}

/// Returns the events of a stream's text, checked against the grammar.
pub(super) fn events_of(dialect: Dialect, sse: &str) -> Vec<Event> {
    let events = events_within(dialect, sse, &Limits::default());
    if let Err(fault) = EventChecker::check(&events) {
        panic!("{fault}\n{events:#?}");
    }
    events
}

/// Returns the events of frames without names, checked against the grammar.
pub(super) fn events_of_frames(dialect: Dialect, frames: &[impl AsRef<str>]) -> Vec<Event> {
    let lines = |frame: &str| frame.split('\n').map(|line| format!("data: {line}\n")).collect::<String>();
    let sse: String = frames.iter().map(|frame| lines(frame.as_ref()) + "\n").collect();
    events_of(dialect, &sse)
}

/// Returns the answer that events make up.
pub(super) fn collect(events: impl IntoIterator<Item = Event>) -> Response {
    let mut collector = Collector::default();
    collector.extend(events);
    collector.finish()
}

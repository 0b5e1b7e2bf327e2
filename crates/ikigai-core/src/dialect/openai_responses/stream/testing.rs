//! Helpers for the tests of streams.

#[path = "../../../../tests/support/responses_client.rs"]
mod client;

use crate::dialect::openai_responses::DIALECT;
use crate::dialect::{Reply, StreamEncoder, testing};
use crate::validate::EventChecker;
use crate::{Event, Response};

pub(in super::super) use client::check_as_client;

/// Returns the events of a whole stream, checked against the grammar.
pub(in super::super) fn read_stream(sse: &str) -> Vec<Event> {
    testing::events_of(DIALECT, sse)
}

/// Returns the answer that events make up, which may have failed only if they say so.
pub(in super::super) fn check_grammar(events: &[Event]) -> Result<Response, String> {
    EventChecker::check(events)?;
    let response = testing::collect(events.iter().cloned());
    match &response.error {
        Some(error) if !events.iter().any(|event| matches!(event, Event::Error { .. })) => Err(error.to_string()),
        _ => Ok(response),
    }
}

/// Writes events as a stream.
pub(in super::super) fn write_stream(events: &[Event], reply: Reply) -> String {
    let mut encoder = StreamEncoder::new(DIALECT, reply);
    let mut out = Vec::new();
    for event in events {
        encoder.push(event, &mut out);
    }
    String::from_utf8(out).unwrap()
}

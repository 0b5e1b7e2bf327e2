//! Same dialect on both sides: bytes pass through, and are only watched.

use std::ops::Range;

use bytes::{Buf as _, Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use ikigai::transport::TransportError;
use ikigai::{Dialect, Event, Exchange, Redacting, Redactor, Wanted};
use ikigai_core::Error;
use ikigai_core::server::{Delivery, Framing, Verb, Watch};
use ikigai_core::wire::{Reply, StreamEncoder};

use crate::generate::{Answer, Asked, Call, Failure, Noted, Rest};
use crate::live::{Begun, End, Flow};
use crate::log::{Entry, Outcome};
use crate::plan::Way;
use crate::reply;

/// The longest event that is held until it is whole. A longer one is passed on in parts.
const LONGEST_EVENT: usize = 8 << 20;
/// How many bytes at the end of what arrived may belong to the end of an event: `\n\r\n` without its last one.
const CUT_END: usize = 2;

/// Forwards a request unchanged except for the model's name.
pub(crate) async fn pass(call: &Call, body: Bytes, asked: &Asked, way: &Way) -> Result<Answer, Failure> {
    let model = &way.upstream.model().id;
    let body = renamed(body, asked, model);
    let path = call.endpoint.path(model, &call.target);
    let wanted = if asked.streams { Wanted::Stream } else { Wanted::Whole };
    let exchange = Box::pin(way.upstream.send(&path, &call.headers, body, wanted)).await?;
    let dialect = call.endpoint.dialect;
    let answer = if asked.streams { stream(exchange, call, dialect).await } else { whole(exchange, dialect).await };
    answer.map_err(Failure::charged)
}

/// The body with the model's name as its provider knows it, and otherwise unchanged, byte for byte.
pub(crate) fn renamed(body: Bytes, asked: &Asked, model: &str) -> Bytes {
    let Some(place) = asked.place.clone().filter(|_| asked.model != *model) else { return body };
    // A string always has a JSON form.
    let name = serde_json::to_vec(model).unwrap_or_default();
    // A body that nothing else holds is changed in place.
    replaced(body.into(), place, &name).freeze()
}

/// Replaces the bytes in one place. If they become fewer, the shorter of the parts before and after them is moved.
fn replaced(mut body: BytesMut, place: Range<usize>, new: &[u8]) -> BytesMut {
    let behind = body.len().saturating_sub(place.end);
    match place.len().checked_sub(new.len()) {
        Some(less) if place.start < behind => {
            body.copy_within(..place.start, less);
            body.advance(less);
        }
        Some(less) => {
            body.copy_within(place.end.., place.end - less);
            body.truncate(body.len() - less);
        }
        None => {
            let (more, end) = (new.len() - place.len(), body.len());
            body.resize(end + more, 0);
            body.copy_within(place.end..end, place.end + more);
        }
    }
    if let Some(gap) = body.get_mut(place.start..place.start + new.len()) {
        gap.copy_from_slice(new);
    }
    body
}

async fn whole(exchange: Exchange, dialect: Dialect) -> Result<Answer, Failure> {
    let noted =
        Noted { failed_tries: exchange.attempts.len(), upstream_id: exchange.request_id.clone(), ..Noted::default() };
    let (status, headers) = (exchange.status, reply::passed_on(exchange.headers.clone()));
    let redactor = exchange.redactor();
    // Read to the end before anything is sent: if the answer breaks off, another model can still be asked.
    let mut body = exchange.bytes().await?;
    let mut watch = Watch::new(dialect, Delivery::Whole);
    watch.feed(&body);
    let mut seen = watch.finish();
    if !is_json(&body) || (!seen.ended && seen.error.is_none()) {
        return Err(unreadable().into());
    }
    // A failure may quote the key.
    if let Some(error) = seen.error.take() {
        body = redactor.bytes(body);
        seen.error = Some(redactor.error(error));
    }
    Ok(Answer { status, headers, rest: Rest::Whole(body), noted: Noted { seen, ..noted } })
}

/// The error for a body that no client could read.
pub(crate) fn unreadable() -> Error {
    Error::protocol("the provider's answer cannot be read, or is cut off")
}

/// Whether a body is JSON. The watch follows an answer to its end without checking that.
pub(crate) fn is_json(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

async fn stream(mut exchange: Exchange, call: &Call, dialect: Dialect) -> Result<Answer, Failure> {
    let media_type = exchange.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_array = call.endpoint.verb == Verb::Stream(Framing::JsonArray);
    // Some servers answer in one piece anyway.
    let has_events = !is_array && !media_type.starts_with("application/json");
    if has_events && !media_type.starts_with("text/event-stream") {
        exchange.headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("text/event-stream; charset=utf-8"));
    }
    let mut flow = Passing {
        watch: Watch::new(dialect, Delivery::Stream),
        dialect,
        events: has_events.then(Events::default),
        redactor: exchange.redactor(),
        pieces: exchange.redactor().pieces(),
    };
    // Nothing at all, perhaps with a status that says so, is no answer.
    let first = exchange.body.next().await.ok_or_else(unreadable)?;
    let first = flow.bytes(first?);
    let noted =
        Noted { failed_tries: exchange.attempts.len(), upstream_id: exchange.request_id.clone(), ..Noted::default() };
    let begun = Begun { first, provider: exchange.body, flow: Box::new(flow) };
    let headers = reply::passed_on(exchange.headers);
    Ok(Answer { status: exchange.status, headers, rest: Rest::Live(begun), noted })
}

/// A stream that passes through.
struct Passing {
    watch: Watch,
    dialect: Dialect,
    /// For streams of events, which are only passed on whole.
    events: Option<Events>,
    /// For failures in the stream: a provider may quote the key in them.
    redactor: Redactor,
    /// For bytes that are passed on before it shows whether they report a failure.
    pieces: Redacting,
}

impl Flow for Passing {
    fn bytes(&mut self, bytes: Bytes) -> Bytes {
        self.watch.feed(&bytes);
        match &mut self.events {
            Some(events) => {
                let whole = events.whole(bytes);
                if events.had_parts {
                    self.pieces.push(whole)
                } else if self.watch.has_failed() || self.watch.is_over() {
                    // What comes after the end is not read, so it may be a failure as well.
                    self.redactor.bytes(whole)
                } else {
                    whole
                }
            }
            // What it is shows only at its end.
            None => self.pieces.push(bytes),
        }
    }

    fn end(&mut self, broken: Option<TransportError>, entry: &mut Entry) -> End {
        let watch = std::mem::replace(&mut self.watch, Watch::new(self.dialect, Delivery::Whole));
        // What happens to the connection after the end of the answer does not matter.
        let arrived = broken.is_none() || watch.is_over();
        let mut seen = watch.finish();
        seen.error = seen.error.map(|error| self.redactor.error(error));
        let is_told = (seen.ended && arrived) || seen.error.is_some();
        let outcome = if seen.error.is_some() { Outcome::Broken } else { Outcome::Complete };
        // Clients reject a failure that does not belong to the answer they are reading.
        let start = Event::Start { id: seen.id.clone(), model: seen.model.clone(), provider_data: Default::default() };
        entry.saw(seen);
        if is_told {
            let rest = match self.events.take() {
                Some(events) if !events.had_parts => events.held.freeze(),
                events => {
                    let rest = self.pieces.push(events.map(|events| events.held.freeze()).unwrap_or_default());
                    [rest, self.pieces.finish()].concat().into()
                }
            };
            return End::Told(outcome, self.redactor.bytes(rest));
        }
        let error = cut_off(broken);
        entry.error = Some(error.to_string());
        match &self.events {
            // The event that was cut off is not passed on, so this one can follow.
            Some(events) if !events.is_in_parts => End::Told(Outcome::Broken, error_event(self.dialect, &start, error)),
            _ => End::BreakOff,
        }
    }

    fn sign_of_life(&self) -> &'static [u8] {
        // Only between two events.
        let between = self.events.as_ref().is_some_and(|events| events.held.is_empty() && !events.is_in_parts);
        if between { self.dialect.keep_alive() } else { b"" }
    }
}

/// The error of an answer that broke off.
pub(crate) fn cut_off(broken: Option<TransportError>) -> Error {
    match broken {
        Some(error) => ikigai::Error::from(error).canonical(),
        None => {
            let mut error = Error::protocol("the provider's stream ended before the answer did: it is cut off");
            error.code = Some("truncated".to_owned());
            error
        }
    }
}

/// The event that reports a failure in a stream of this dialect that began with `start`.
fn error_event(dialect: Dialect, start: &Event, error: Error) -> Bytes {
    let mut encoder = StreamEncoder::new(dialect, Reply::default());
    encoder.push(start, &mut Vec::new());
    let mut event = Vec::new();
    encoder.push(&Event::Error { error: Box::new(error) }, &mut event);
    event.into()
}

/// Passes on whole events only, so that one of our own can follow an event that was cut off.
#[derive(Debug, Default)]
struct Events {
    /// The beginning of the next event.
    held: BytesMut,
    /// Whether a part of the next event has been passed on, because it is too long to be held.
    is_in_parts: bool,
    /// Whether that happened to any event.
    had_parts: bool,
}

impl Events {
    /// Returns the events that these bytes complete.
    fn whole(&mut self, mut bytes: Bytes) -> Bytes {
        if self.held.is_empty() {
            let end = end_of_last(&bytes);
            self.is_in_parts &= end == 0;
            if end < bytes.len() {
                let rest = bytes.split_off(end);
                self.held.extend_from_slice(&rest);
                return self.unless_too_long(bytes);
            }
            return bytes;
        }
        // The end of an event may be split as well.
        let before = self.held.len().saturating_sub(CUT_END);
        self.held.extend_from_slice(&bytes);
        let end = end_of_last(self.held.get(before..).unwrap_or_default());
        if end == 0 {
            return self.unless_too_long(Bytes::new());
        }
        self.is_in_parts = false;
        self.held.split_to(before + end).freeze()
    }

    fn unless_too_long(&mut self, whole: Bytes) -> Bytes {
        if self.held.len() <= LONGEST_EVENT {
            return whole;
        }
        (self.is_in_parts, self.had_parts) = (true, true);
        let part = self.held.split_to(self.held.len() - CUT_END);
        [whole, part.freeze()].concat().into()
    }
}

/// The offset after the last blank line; 0 if there is none.
fn end_of_last(bytes: &[u8]) -> usize {
    if bytes.ends_with(b"\n\n") {
        return bytes.len();
    }
    for end in (1..=bytes.len()).rev() {
        let head = bytes.get(..end).unwrap_or_default();
        if head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n") || head.ends_with(b"\r\r") {
            return end;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_name_is_replaced_wherever_it_stands() {
        for (before, behind) in [("", "}"), (r#"{"model":"#, r#","messages":[]}"#), (r#"{"messages":[],"model":"#, "}")]
        {
            for new in ["\"b\"", "\"bbb\"", "\"a-longer-one\""] {
                let body = format!("{before}\"aaa\"{behind}");
                let place = before.len()..before.len() + 5;
                let replaced = replaced(BytesMut::from(body.as_bytes()), place, new.as_bytes());
                assert_eq!(String::from_utf8(replaced.to_vec()).unwrap(), format!("{before}{new}{behind}"));
            }
        }
    }

    fn passed(pieces: &[&str]) -> Vec<String> {
        let mut events = Events::default();
        let mut passed: Vec<String> = Vec::new();
        for piece in pieces {
            passed.push(String::from_utf8(events.whole(Bytes::copy_from_slice(piece.as_bytes())).to_vec()).unwrap());
        }
        passed.push(String::from_utf8(events.held.to_vec()).unwrap());
        passed
    }

    #[test]
    fn events_are_passed_on_whole() {
        assert_eq!(passed(&["data: 1\n\n", "data: 2\n\ndata: 3\n\n"]), ["data: 1\n\n", "data: 2\n\ndata: 3\n\n", ""]);
        assert_eq!(passed(&["data: 1\n\nda", "ta: 2\n", "\ndata"]), ["data: 1\n\n", "", "data: 2\n\n", "data"]);
        assert_eq!(passed(&["data: 1\r\n\r", "\ndata: 2\r\n\r\n"]), ["", "data: 1\r\n\r\ndata: 2\r\n\r\n", ""]);
        assert_eq!(passed(&["data: 1\n\r", "\ndata: 2\r\rda"]), ["", "data: 1\n\r\ndata: 2\r\r", "da"]);
    }

    #[test]
    fn an_event_that_is_too_long_is_passed_on_in_parts() {
        let mut events = Events::default();
        let mut states = Vec::new();
        for piece in ["data: 1\n\ndata: ", &"x".repeat(LONGEST_EVENT), "\n", "\n", "data: 2\n\n"] {
            let passed = events.whole(Bytes::copy_from_slice(piece.as_bytes()));
            states.push((passed.len(), events.is_in_parts, events.had_parts));
        }
        let parts =
            [(9, false, false), (LONGEST_EVENT + 4, true, true), (0, true, true), (4, false, true), (9, false, true)];
        assert_eq!(states, parts);
    }

    #[test]
    fn every_byte_comes_out_however_the_stream_is_cut() {
        let whole = "event: a\ndata: 1\n\n: ping\n\ndata: 2\r\n\r\ndata: 3\n\r\ndata: 4\r\rdata: end";
        for one in 0..whole.len() {
            for two in one..whole.len() {
                let pieces = [&whole[..one], &whole[one..two], &whole[two..]];
                assert_eq!(passed(&pieces).concat(), whole);
            }
        }
    }
}

//! What the tests of this dialect share.

use serde_json::Value;

use crate::catalog::{Rules, rules_for};
use crate::dialect::{Incoming, ReadFrames, Reply, Target, WriteFrames};
use crate::provider::Quirks;
use crate::wire::{Ids, Sse};
use crate::{Block, Collector, Error, Event, Loss, Request, Response};

use super::{Decoder, Encoder};

/// The events of a stream's text. Their order is checked.
pub(super) fn events_of(sse: &str) -> Vec<Event> {
    let mut decoder = Decoder::new(Ids::seeded(7));
    let mut events = Vec::new();
    let mut parser = Sse::default();
    parser.feed(sse.as_bytes(), |frame| decoder.frame(frame.name, frame.data, &mut events)).unwrap();
    decoder.end(&mut events);
    if let Err(fault) = check(&events) {
        panic!("{fault}\n{events:#?}");
    }
    events
}

/// The answer that a stream's text brings.
pub(super) fn answer_of(sse: &str) -> Response {
    let mut collector = Collector::default();
    collector.extend(events_of(sse));
    collector.finish()
}

/// The frames of events.
pub(super) fn frames_of<'a>(events: impl IntoIterator<Item = &'a Event>, reply: Reply) -> String {
    let mut encoder = Encoder::new(reply);
    let mut out = Vec::new();
    for event in events {
        encoder.event(event, &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// Frames from their data, each named as its type says.
pub(super) fn sse(frames: &[Value]) -> String {
    frames.iter().map(|data| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())).collect()
}

/// Is this a stream as the grammar of events has it?
pub(super) fn check(events: &[Event]) -> Result<(), String> {
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut opened = 0;
    let is_open = |open: &[(usize, bool)], index: usize, call: bool| open.contains(&(index, call));
    for (at, event) in events.iter().enumerate() {
        let last = at + 1 == events.len();
        if event.is_terminal() != last {
            return Err(format!("event {at}: the end is not at the end"));
        }
        if matches!(event, Event::Start { .. }) != (at == 0) && !matches!((at, event), (0, Event::Error { .. })) {
            return Err(format!("event {at}: the start is not at the start"));
        }
        let fine = match event {
            Event::BlockStart { index, .. } | Event::ToolCallStart { index, .. } => {
                open.push((*index, matches!(event, Event::ToolCallStart { .. })));
                opened += 1;
                *index + 1 == opened && !matches!(event, Event::BlockStart { block: Block::ToolCall(_), .. })
            }
            Event::TextDelta { index, .. } | Event::ThinkingDelta { index, .. } => is_open(&open, *index, false),
            Event::ToolCallDelta { index, .. } => is_open(&open, *index, true),
            Event::ToolCallDone { index, .. } | Event::BlockDone { index, .. } => {
                let call = matches!(event, Event::ToolCallDone { .. });
                let was_open = is_open(&open, *index, call);
                open.retain(|(block, _)| block != index);
                was_open
            }
            Event::Done { .. } => open.is_empty(),
            Event::Start { .. } | Event::Usage { .. } | Event::Error { .. } | Event::Other { .. } => true,
        };
        if !fine {
            return Err(format!("event {at} is out of place: {event:?}"));
        }
    }
    if events.is_empty() { Err("no events".to_owned()) } else { Ok(()) }
}

/// The target of a request for a model at the dialect's own home.
pub(super) fn home<'a>(quirks: &'a Quirks, rules: &'a Rules) -> Target<'a> {
    Target { provider: "anthropic", quirks, rules, facts: None }
}

/// A request as it goes over the wire.
#[derive(Debug, PartialEq)]
pub(super) struct Sent {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
    pub(super) losses: Vec<Loss>,
}

/// A request as it goes to a target.
pub(super) fn wire_to(request: &Request, target: &Target<'_>) -> Result<Sent, Error> {
    let wire = crate::Dialect::Anthropic.encode_request(request, target, &crate::Limits::default())?;
    let body = serde_json::from_slice(&wire.body).unwrap();
    Ok(Sent { path: wire.path, headers: wire.headers, body, losses: wire.losses })
}

/// A request as it goes to the dialect's own home, with the rules of its model.
pub(super) fn wire(request: &Request) -> Sent {
    wire_to(request, &home(&Quirks::default(), rules_for(&request.model))).unwrap()
}

/// The losses of a request, in one line each.
pub(super) fn losses(wire: &Sent) -> Vec<String> {
    wire.losses.iter().map(|loss| format!("{:?} {loss}", loss.severity).to_lowercase()).collect()
}

/// Reads a client's request.
pub(super) fn read_request(path: Option<&str>, body: &Value) -> Result<Request, Error> {
    super::decode_request(Incoming { path, body: body.to_string().as_bytes() })
}

/// Reads a whole answer.
pub(super) fn read_answer(body: &Value) -> Result<Response, Error> {
    super::decode_response(body.to_string().as_bytes(), &mut Ids::seeded(7))
}

/// Writes a whole answer, with what could not be carried.
pub(super) fn write_answer(response: &Response, reply: &Reply) -> (Value, Vec<Loss>) {
    let wire = super::encode_response(response, reply);
    (serde_json::from_slice(&wire.body).unwrap(), wire.losses)
}

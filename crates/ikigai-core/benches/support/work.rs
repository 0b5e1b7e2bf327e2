//! The measured work: each step of the library.

use ikigai_core::server::{Delivery, Envelope, Seen, Watch};
use ikigai_core::wire::{Ids, Incoming, Reply, StreamDecoder, StreamEncoder};
use ikigai_core::{Dialect, Event, Limits, Request};

use super::inputs::{stream, with_target};

/// The number of bytes that a network delivers at a time.
const PIECE: usize = 4096;

/// Decodes a stream as it arrives; the events are counted and dropped.
pub(crate) fn decode_stream(dialect: Dialect, bytes: &[u8]) -> usize {
    let mut decoder = StreamDecoder::new(dialect, Ids::default(), &Limits::default());
    let mut events = Vec::new();
    let mut seen = 0;
    for piece in bytes.chunks(PIECE) {
        decoder.feed(piece, &mut events);
        seen += events.len();
        events.clear();
    }
    decoder.end(&mut events);
    seen + events.len()
}

/// Returns the events of a stream, to be encoded.
pub(crate) fn events(dialect: Dialect) -> Vec<Event> {
    let mut events = Vec::new();
    let mut decoder = StreamDecoder::new(dialect, Ids::default(), &Limits::default());
    decoder.feed(&stream(dialect), &mut events);
    decoder.end(&mut events);
    events
}

fn reply() -> Reply {
    let mut reply = Reply::default();
    reply.stream_usage = true;
    reply
}

/// Encodes events one by one, as a server sends them.
pub(crate) fn encode_stream(dialect: Dialect, events: &[Event]) -> usize {
    let mut encoder = StreamEncoder::new(dialect, reply());
    let mut out = Vec::with_capacity(PIECE);
    let mut sent = 0;
    for event in events {
        encoder.push(event, &mut out);
        sent += out.len();
        out.clear();
    }
    sent
}

/// Does a gateway's work: one dialect in, another out, piece by piece.
pub(crate) fn translate_stream(from: Dialect, to: Dialect, bytes: &[u8]) -> usize {
    let mut decoder = StreamDecoder::new(from, Ids::default(), &Limits::default());
    let mut encoder = StreamEncoder::new(to, reply());
    let (mut events, mut out) = (Vec::new(), Vec::with_capacity(PIECE));
    let mut sent = 0;
    let mut pass = |events: &mut Vec<Event>| {
        for event in events.drain(..) {
            encoder.push(&event, &mut out);
        }
        sent += out.len();
        out.clear();
    };
    for piece in bytes.chunks(PIECE) {
        decoder.feed(piece, &mut events);
        pass(&mut events);
    }
    decoder.end(&mut events);
    pass(&mut events);
    sent
}

/// Decodes the bytes of a request to the canonical format.
pub(crate) fn decode_request(dialect: Dialect, path: &str, bytes: &[u8]) -> Option<Request> {
    let (request, _) = dialect.decode_request(Incoming::new(bytes).at(path), &Limits::default()).ok()?;
    Some(request)
}

/// Encodes the canonical format to the bytes of a request.
pub(crate) fn encode_request(dialect: Dialect, request: &Request) -> Option<Vec<u8>> {
    let wire = with_target(|target| dialect.encode_request(request, target, &Limits::default()).ok())?;
    Some(wire.body)
}

/// Watches a stream that passes through unchanged.
pub(crate) fn watch_stream(dialect: Dialect, bytes: &[u8]) -> Seen {
    let mut watch = Watch::new(dialect, Delivery::Stream);
    for piece in bytes.chunks(PIECE) {
        watch.feed(piece);
    }
    watch.finish()
}

/// Finds the model and the `stream` flag in the bytes of a request.
pub(crate) fn read_envelope(bytes: &[u8]) -> Option<(usize, Option<bool>)> {
    let envelope = Envelope::read(bytes).ok()?;
    Some((envelope.model().map_or(0, |model| model.len()), envelope.stream()))
}

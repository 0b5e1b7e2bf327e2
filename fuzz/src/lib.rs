//! What must hold for any bytes: no panic, no endless loop, no memory without bound, and the laws of the format.

use ikigai_core::{Collector, Dialect, Event, events};
use ikigai_core::catalog::Rules;
use ikigai_core::provider::Quirks;
use ikigai_core::validate::EventChecker;
use ikigai_core::wire::{Ids, Incoming, Reply, Sse, StreamDecoder, StreamEncoder, Target};
use serde_json::Value;

/// No frame of a fuzzed stream is larger; a decoder that holds more than a few of them leaks.
const LIMIT: usize = 1 << 20;

/// Bytes as a stream: there is an end, the grammar holds, any cut gives the same events, and each dialect can send
/// them on to a client that understands them.
pub fn stream(dialect: Dialect, data: &[u8]) {
    let whole = decode(dialect, &[data]);
    if let Some(fault) = fault(&whole) {
        panic!("{fault}\n{whole:?}");
    }
    // The first byte says where to cut, so that the fuzzer can choose.
    let cut = data.first().map_or(0, |first| data.len() * usize::from(*first) / 256);
    let (one, two) = data.split_at(cut);
    assert_eq!(decode(dialect, &[one, two]), whole, "cut at {cut}");
    for to in Dialect::ALL {
        let mut encoder = StreamEncoder::new(to, Reply { stream_usage: true, ..Reply::default() });
        let mut bytes = Vec::new();
        for event in &whole {
            encoder.push(event, &mut bytes);
        }
        if let Some(fault) = fault(&decode(to, &[&bytes])) {
            panic!("{to}: {fault}\n{}", String::from_utf8_lossy(&bytes));
        }
    }
    let mut collector = Collector::default();
    collector.extend(whole);
    let _ = collector.finish();
}

/// What is wrong with a stream. A provider's own nonsense is handed on as it came and is no fault: a call without a
/// name; a copy of the arguments, at their end, that is not what the pieces gave.
fn fault(events: &[Event]) -> Option<String> {
    let own = ["opens without its id or name", "do not give the arguments at its end"];
    EventChecker::check(events).err().filter(|fault| !own.iter().any(|words| fault.ends_with(words)))
}

fn decode(dialect: Dialect, pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = StreamDecoder::with_limit(dialect, Ids::seeded(1), LIMIT);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut events);
    }
    decoder.end(&mut events);
    events
}

/// Bytes as a client's request: refused, or read; and what was read can be sent to every dialect, whose servers can
/// read that.
pub fn request(dialect: Dialect, data: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(data) else { return };
    let path = "/v1beta/models/some-model:generateContent";
    let Ok(request) = dialect.decode_request(Incoming { path: Some(path), body }) else { return };
    let (quirks, rules) = (Quirks::default(), Rules::default());
    for to in Dialect::ALL {
        let target = Target { provider: "somebody", quirks: &quirks, rules: &rules, facts: None };
        let Ok(wire) = to.encode_request(&request, &target) else { continue };
        let read = to.decode_request(Incoming { path: Some(&wire.path), body: wire.body.clone() });
        assert!(read.is_ok(), "{to}: {read:?}\n{}", wire.body);
    }
}

/// Bytes as a whole answer: refused, or read; and what was read can be sent to every client, whole and as a stream.
pub fn response(dialect: Dialect, data: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(data) else { return };
    let Ok(response) = dialect.decode_response(body, &mut Ids::seeded(1)) else { return };
    let steps = events(&response);
    for to in Dialect::ALL {
        let _ = to.decode_response(to.encode_response(&response, &Reply::default()), &mut Ids::seeded(1));
        let mut encoder = StreamEncoder::new(to, Reply::default());
        let mut bytes = Vec::new();
        for step in &steps {
            encoder.push(step, &mut bytes);
        }
        if let Some(fault) = fault(&decode(to, &[&bytes])) {
            panic!("{to}: {fault}\n{}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// Bytes as an event stream of anything: any cut gives the same frames.
pub fn sse(data: &[u8]) {
    let frames = |pieces: &[&[u8]]| {
        let mut sse = Sse::with_limit(LIMIT);
        let mut seen: Vec<(Option<String>, String)> = Vec::new();
        let mut outcome = Ok(());
        for piece in pieces {
            outcome = outcome.and_then(|()| {
                sse.feed(piece, |frame| seen.push((frame.name.map(str::to_owned), frame.data.to_owned())))
            });
        }
        let outcome =
            outcome.and_then(|()| sse.end(|frame| seen.push((frame.name.map(str::to_owned), frame.data.to_owned()))));
        (seen, outcome.is_ok())
    };
    let whole = frames(&[data]);
    let single: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(frames(&single), whole);
}

/// Bytes as a failure of any dialect: it is read, whatever it is, and can be told to every client.
pub fn errors(data: &[u8]) {
    let (&[low, high], body) = data.split_first_chunk::<2>().map_or((&[0, 0], data), |(status, body)| (status, body));
    let status = Some(u16::from_le_bytes([low, high])).filter(|status| (100..1000).contains(status));
    let body = String::from_utf8_lossy(body);
    let headers = [("retry-after".to_owned(), body.chars().take(20).collect::<String>())];
    for dialect in Dialect::ALL {
        let error = dialect.decode_error(status, &headers, &body);
        for to in Dialect::ALL {
            let _ = to.encode_error(&error);
        }
    }
}

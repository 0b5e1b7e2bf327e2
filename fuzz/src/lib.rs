//! What must be true for any bytes: no panic, no endless loop, no unbounded memory, and the laws of the format.

use ikigai_core::catalog::{Catalog, rules_for};
use ikigai_core::provider::Providers;
use ikigai_core::server::{Delivery, Edit, Endpoint, Envelope, Watch};
use ikigai_core::validate::EventChecker;
use ikigai_core::wire::{Ids, Incoming, Reply, Sse, StreamDecoder, StreamEncoder, Target};
use ikigai_core::{Collector, Dialect, Event, Limits, events};

/// Returns the limits of a server, which reads what anyone may send.
fn limits() -> Limits {
    Limits::server()
}

/// Reads bytes as a stream: it ends, follows the grammar, gives the same events however it is split, and can be sent in
/// each dialect to a client that understands it.
pub fn stream(dialect: Dialect, data: &[u8]) {
    let whole = decode(dialect, &[data]);
    if let Some(fault) = fault(&whole) {
        panic!("{fault}\n{whole:?}");
    }
    // The first byte determines the split, so that the fuzzer can choose.
    let cut = data.first().map_or(0, |first| data.len() * usize::from(*first) / 256);
    let (one, two) = data.split_at(cut);
    assert_eq!(decode(dialect, &[one, two]), whole, "cut at {cut}");
    for to in Dialect::ALL {
        let mut reply = Reply::default();
        reply.stream_usage = true;
        let mut encoder = StreamEncoder::new(to, reply);
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

/// Returns what is wrong with a stream. A provider's own nonsense is passed on unchanged and is not a fault: a call
/// without a name, or final arguments that differ from their pieces.
fn fault(events: &[Event]) -> Option<String> {
    let own = ["opens without its id or name", "do not give the arguments at its end"];
    EventChecker::check(events).err().filter(|fault| !own.iter().any(|words| fault.ends_with(words)))
}

fn decode(dialect: Dialect, pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(dialect, Ids::seeded(1), &limits());
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut events);
    }
    decoder.end(&mut events);
    events
}

/// Reads bytes as a client's request: it is refused or read, and if read, it can be sent in every dialect, whose
/// servers can read it. The model and the provider are chosen from the tables, so that all families' rules and all
/// providers' quirks are tried.
pub fn request(dialect: Dialect, data: &[u8]) {
    let path = "/v1beta/models/some-model:generateContent";
    let incoming = Incoming::new(data).at(path);
    let Ok((request, _)) = dialect.decode_request(incoming, &limits()) else { return };
    let choice = data.iter().fold(data.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let models = Catalog::shared().models().count();
    let providers = Providers::shared().iter().count();
    let (Some(facts), Some(provider)) =
        (Catalog::shared().models().nth(choice % models), Providers::shared().iter().nth(choice / models % providers))
    else {
        return;
    };
    let rules = rules_for(&facts.id);
    for to in Dialect::ALL {
        let mut target = Target::new(&provider.id, &provider.quirks, rules);
        target.facts = Some(facts);
        // As received, and for the chosen model.
        let mut chosen = request.clone();
        chosen.model = facts.id.to_string();
        for request in [&request, &chosen] {
            let Ok(wire) = to.encode_request(request, &target, &limits()) else { continue };
            let read = to.decode_request(Incoming::new(&wire.body).at(&wire.path), &Limits::default());
            assert!(read.is_ok(), "{to}: {read:?}\n{}", String::from_utf8_lossy(&wire.body));
        }
    }
}

/// Reads bytes as a complete answer: refused or read; if read, it can be sent to every client, also as a stream.
pub fn response(dialect: Dialect, data: &[u8]) {
    let Ok(response) = dialect.decode_response(data, &mut Ids::seeded(1), &limits()) else { return };
    let steps = events(&response);
    for to in Dialect::ALL {
        let wire = to.encode_response(&response, &Reply::default());
        let _ = to.decode_response(&wire.body, &mut Ids::seeded(1), &Limits::default());
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

/// Reads bytes that pass through a server: as a path, as a body in which a field is replaced, and as a watched answer.
pub fn server(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = Endpoint::of("POST", &text, |_| data.len() % 2 == 0);
    if let Ok(envelope) = Envelope::read(data) {
        let _ = (envelope.model(), envelope.stream(), envelope.clashes());
        let edited = envelope.with(&[("model", Edit::Text("another")), ("stream", Edit::Remove)]);
        let again = Envelope::read(&edited).expect("a body that was edited is still one");
        assert_eq!((again.model().as_deref(), again.get("stream")), (Some("another"), None));
    }
    let cut = data.first().map_or(0, |first| data.len() * usize::from(*first) / 256);
    let (one, two) = data.split_at(cut);
    for dialect in Dialect::ALL {
        for delivery in [Delivery::Stream, Delivery::Whole] {
            let seen = |pieces: &[&[u8]]| {
                let mut watch = Watch::new(dialect, delivery);
                pieces.iter().for_each(|piece| watch.feed(piece));
                watch.finish()
            };
            assert_eq!(seen(&[one, two]), seen(&[data]), "{dialect} cut at {cut}");
        }
    }
}

/// Reads bytes as an event stream: any split gives the same frames.
pub fn sse(data: &[u8]) {
    let frames = |pieces: &[&[u8]]| {
        let mut sse = Sse::with_limit(limits().event);
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

/// Reads bytes as an error of any dialect: whatever they are, they are read, and can be reported to every client.
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

//! Any bytes are survivable: no input makes a decoder panic or loop, and every stream ends.

use ikigai_core::validate::EventChecker;
use ikigai_core::{Dialect, Request, Response, events};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::support::cases::cases;
use crate::support::choices::{Choices, made};
use crate::support::generate::{Reach, request, response};
use crate::support::wire::{OfValues as _, collect, decode, encode, reply, target};

/// Reads bytes as a stream of every dialect; whatever they are, the events follow the grammar and end.
fn streams_end(bytes: &[u8]) {
    for dialect in Dialect::PROVIDERS {
        let events = decode(dialect, bytes);
        if let Some(fault) = EventChecker::check(&events).err().filter(|fault| !is_the_providers_own(fault)) {
            panic!("{dialect}: {fault}: {}", String::from_utf8_lossy(bytes));
        }
        collect(events);
    }
}

/// Returns whether nonsense was passed on unchanged: a call without a name, or final arguments that differ from their
/// pieces (the final ones win, but the pieces have been sent).
fn is_the_providers_own(fault: &str) -> bool {
    fault.ends_with("opens without its id or name") || fault.ends_with("do not give the arguments at its end")
}

/// Reads a document as everything that it could be.
fn documents_are_read_or_refused(document: &Value, path: &str) {
    for dialect in Dialect::PROVIDERS {
        if let Ok(request) = dialect.read_request(Some(path), document) {
            for to in Dialect::PROVIDERS {
                let _ = to.write_request(&request, &target(to));
            }
        }
        let _ = dialect.read_request(None, document);
        if let Ok(response) = dialect.read_response(document) {
            for to in Dialect::ALL {
                to.write_response(&response, &reply(dialect));
                encode(to, dialect, &events(&response));
            }
        }
        let text = document.to_string();
        for status in [None, Some(200), Some(400), Some(429), Some(529)] {
            let error = dialect.decode_error(status, &[("retry-after".into(), text.clone())], &text);
            for to in Dialect::ALL {
                to.encode_error(&error);
            }
        }
    }
}

/// Changes a document in a few places: values swapped, members removed or duplicated.
fn spoil(mut document: Value, choices: &mut Choices<'_>) -> Value {
    for _ in 0..=choices.below(3) {
        spoil_once(&mut document, choices);
    }
    document
}

fn spoil_once(value: &mut Value, choices: &mut Choices<'_>) {
    let deeper = choices.below(8) > 1;
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = choices.below(fields.len());
            if let Some((_, field)) = fields.iter_mut().nth(at) {
                spoil_once(field, choices);
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = choices.below(items.len());
            spoil_once(&mut items[at], choices);
        }
        Value::Object(fields) if choices.seldom(2) && !fields.is_empty() => {
            let at = choices.below(fields.len());
            let key = fields.keys().nth(at).cloned().unwrap_or_default();
            fields.shift_remove(&key);
        }
        Value::Array(items) if choices.seldom(2) => match items.first().cloned() {
            Some(first) => items.push(first),
            None => items.push(Value::Null),
        },
        other => *other = choices.json(2),
    }
}

/// Changes bytes in a few places: truncated, removed, duplicated, overwritten.
fn garble(bytes: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=choices.below(3) {
        let at = choices.below(bytes.len() + 1);
        let end = at + choices.below((bytes.len() - at).min(200) + 1);
        match choices.below(5) {
            0 => bytes.truncate(at),
            1 => {
                bytes.drain(at..end);
            }
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let junk = *choices.pick(&[
                    &b"\n"[..],
                    b"\r\n\r\n",
                    b"\"",
                    b"{",
                    b"}}}}",
                    b"\xff",
                    b"null",
                    b"-1",
                    b"data: {}\n\n",
                ]);
                bytes.splice(at..at, junk.iter().copied());
            }
            _ => bytes[at..end].reverse(),
        }
    }
    bytes
}

fn spoilt<T: std::fmt::Debug + Clone + 'static>(
    values: impl Strategy<Value = T>,
    change: impl Fn(T, &mut Choices<'_>) -> Vec<(String, Value)> + Clone + 'static,
) -> impl Strategy<Value = Vec<(String, Value)>> {
    values.prop_flat_map(move |value| {
        let change = change.clone();
        made(60, move |choices| change(value.clone(), choices))
    })
}

/// Requests of every dialect, corrupted.
fn spoilt_requests() -> impl Strategy<Value = Vec<(String, Value)>> {
    spoilt(request(Reach::Everything), |request: Request, choices| {
        let wires = Dialect::ALL.iter().filter_map(|dialect| dialect.write_request(&request, &target(*dialect)).ok());
        wires.map(|wire| (wire.path, spoil(wire.body, choices))).collect()
    })
}

/// Answers of every dialect, corrupted.
fn spoilt_responses() -> impl Strategy<Value = Vec<(String, Value)>> {
    spoilt(response(Reach::Everything), |response: Response, choices| {
        let bodies = Dialect::ALL.iter().map(|dialect| dialect.write_response(&response, &reply(*dialect)));
        bodies.map(|body| (String::new(), spoil(body, choices))).collect()
    })
}

fn garbled_streams() -> impl Strategy<Value = Vec<Vec<u8>>> {
    response(Reach::Everything).prop_flat_map(|response| {
        made(60, move |choices| {
            let streams = Dialect::ALL.iter().map(|dialect| encode(*dialect, Dialect::Anthropic, &events(&response)));
            streams.map(|bytes| garble(&bytes, choices)).collect()
        })
    })
}

/// Streams whose frames are complete, but whose JSON is corrupted.
fn spoilt_streams() -> impl Strategy<Value = Vec<Vec<u8>>> {
    response(Reach::Everything).prop_flat_map(|response| {
        made(200, move |choices| {
            let spoil_stream = |dialect: &Dialect, choices: &mut Choices<'_>| {
                let bytes = encode(*dialect, Dialect::Anthropic, &events(&response));
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let lines = text.lines().map(|line| match line.strip_prefix("data: ").map(serde_json::from_str) {
                    Some(Ok(frame)) if choices.seldom(3) => format!("data: {}\n", spoil(frame, choices)),
                    _ => format!("{line}\n"),
                });
                lines.collect::<String>().into_bytes()
            };
            Dialect::ALL.iter().map(|dialect| spoil_stream(dialect, choices)).collect()
        })
    })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        streams_end(&bytes);
    }

    #[test]
    fn any_text_as_the_data_of_frames(frames in prop::collection::vec(".{0,40}", 0..6)) {
        let text: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        streams_end(text.as_bytes());
    }

    #[test]
    fn any_json_as_the_data_of_frames(frames in made(80, |choices| choices.list(0, 5, |choices| choices.json(3)))) {
        let text: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        streams_end(text.as_bytes());
    }

    #[test]
    fn garbled_bytes_of_streams(streams in garbled_streams()) {
        streams.iter().for_each(|bytes| streams_end(bytes));
    }

    #[test]
    fn spoilt_frames_of_streams(streams in spoilt_streams()) {
        streams.iter().for_each(|bytes| streams_end(bytes));
    }

    #[test]
    fn any_json_as_a_document(document in made(80, |choices| choices.json(4))) {
        documents_are_read_or_refused(&document, "/v1/messages");
    }

    #[test]
    fn any_text_as_an_error(text in ".{0,300}", status in prop::option::of(100_u16..600)) {
        for dialect in Dialect::ALL {
            let error = dialect.decode_error(status, &[], &text);
            prop_assert!(!error.message.is_empty(), "{}", dialect);
        }
    }

    #[test]
    fn spoilt_answers(documents in spoilt_responses()) {
        documents.iter().for_each(|(path, document)| documents_are_read_or_refused(document, path));
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn spoilt_questions(documents in spoilt_requests()) {
        documents.iter().for_each(|(path, document)| documents_are_read_or_refused(document, path));
    }
}

/// Deep nesting is refused or read, but never exhausts the stack.
#[test]
fn deep_nesting() {
    for depth in [100, 120, 127, 5_000, 100_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let frame = format!("data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{text}}}\n\n");
        streams_end(frame.as_bytes());
        streams_end(text.as_bytes());
        if let Ok(document) = serde_json::from_str::<Value>(&text) {
            documents_are_read_or_refused(&document, "/");
            let wrapped = Value::Object(Map::from_iter([("messages".to_owned(), document)]));
            documents_are_read_or_refused(&wrapped, "/");
        }
    }
}

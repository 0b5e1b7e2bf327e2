//! Watching an answer that passes through gives the same account as decoding it.

use ikigai_core::server::Delivery;
use ikigai_core::{Dialect, Event};

use crate::support::findings::Findings;
use crate::support::recordings::exchanges;
use crate::support::watching::{accounts, watched};
use crate::support::wire::decode;

/// Checks one answer: its account, and that splits make no difference.
fn check(id: &str, dialect: Dialect, delivery: Delivery, bytes: &[u8], findings: &mut Findings) {
    findings.case();
    let (found, wanted) = accounts(dialect, delivery, bytes);
    findings.same(id, "account", &found, &wanted);
    let at_once = watched(dialect, delivery, [bytes]);
    for size in [1, 7, 64, 1000] {
        findings.same(id, "account of pieces", &watched(dialect, delivery, bytes.chunks(size)), &at_once);
    }
}

/// Truncates a stream at some places: within a frame, and between frames.
fn check_cut(id: &str, dialect: Dialect, stream: &str, findings: &mut Findings) {
    let ends = stream.match_indices("\n\n").map(|(at, _)| at + 2);
    let within = (1..8).map(|eighth| stream.floor_char_boundary(stream.len() * eighth / 8));
    // Only parts of a long stream: the important things happen at the beginning and at the end.
    let ends: Vec<usize> = ends.collect();
    let ends = ends.iter().take(4).chain(ends.iter().rev().take(6)).copied();
    for end in ends.chain(within) {
        let (found, wanted) = accounts(dialect, Delivery::Stream, &stream.as_bytes()[..end]);
        findings.same(id, &format!("account when cut at {end}"), &found, &wanted);
    }
}

/// Checks that the first content is noticed, and nothing is mistaken for it.
fn check_output(id: &str, dialect: Dialect, stream: &[u8], findings: &mut Findings) {
    let has_output = watched(dialect, Delivery::Stream, [stream]).has_output;
    let events = decode(dialect, stream);
    let says = |event: &Event| match event {
        Event::TextDelta { text, .. } | Event::ThinkingDelta { text, .. } => !text.is_empty(),
        Event::ToolCallStart { .. } => true,
        _ => false,
    };
    let has_content = |event: &Event| matches!(event, Event::BlockStart { .. } | Event::Other { .. });
    if events.iter().any(says) && !has_output {
        findings.add(id, "its content was not noticed");
    }
    if has_output && !events.iter().any(|event| says(event) || has_content(event)) {
        findings.add(id, "there is no content");
    }
}

fn recorded_answers(dialect: Dialect) {
    let exchanges = exchanges(dialect);
    let mut findings = Findings::default();
    for exchange in &exchanges {
        match &exchange.response.sse {
            Some(stream) => {
                check(&exchange.id, dialect, Delivery::Stream, stream.as_bytes(), &mut findings);
                check_cut(&exchange.id, dialect, stream, &mut findings);
                check_output(&exchange.id, dialect, stream.as_bytes(), &mut findings);
            }
            None => {
                let body = exchange.response.body_text();
                check(&exchange.id, dialect, Delivery::Whole, body.as_bytes(), &mut findings);
                // A complete answer although a stream was requested.
                check(&exchange.id, dialect, Delivery::Stream, body.as_bytes(), &mut findings);
            }
        }
    }
    findings.report();
}

#[test]
fn anthropic() {
    recorded_answers(Dialect::Anthropic);
}

#[test]
fn openai_chat() {
    recorded_answers(Dialect::OpenaiChat);
}

#[test]
fn openai_responses() {
    recorded_answers(Dialect::OpenaiResponses);
}

#[test]
fn gemini() {
    recorded_answers(Dialect::Gemini);
}

#[test]
fn fixtures() {
    let mut findings = Findings::default();
    for dialect in Dialect::ALL {
        let folder = format!("{}/tests/fixtures/{dialect}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            if name.ends_with(".sse") {
                check(&name, dialect, Delivery::Stream, text.as_bytes(), &mut findings);
                check_cut(&name, dialect, &text, &mut findings);
                check_output(&name, dialect, text.as_bytes(), &mut findings);
            } else if name.ends_with(".response.json") {
                check(&name, dialect, Delivery::Whole, text.as_bytes(), &mut findings);
            }
        }
    }
    findings.report();
}

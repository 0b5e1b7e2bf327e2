//! Streams that are odd.

use ikigai_core::wire::{Ids, StreamDecoder};
use ikigai_core::{Block, Collector, Dialect, ErrorKind, Event, FinishReason, Response};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn events(frames: &[(&str, Value)]) -> Vec<Event> {
    let mut reader = Reader::new("m");
    let mut bytes = Vec::new();
    for (kind, payload) in frames {
        reader.event(kind, payload.to_string().as_bytes(), &mut bytes);
    }
    reader.end(&mut bytes);
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, Ids::seeded(7), &ikigai_core::Limits::default());
    let mut events = Vec::new();
    decoder.feed(&bytes, &mut events);
    decoder.end(&mut events);
    events
}

fn answer(middle: &[(&'static str, Value)]) -> Response {
    let mut frames = vec![("messageStart", json!({"role": "assistant"}))];
    frames.extend(middle.iter().cloned());
    frames.push(("messageStop", json!({"stopReason": "end_turn"})));
    let mut collector = Collector::default();
    collector.extend(events(&frames));
    collector.finish()
}

fn delta(index: u64, delta: Value) -> (&'static str, Value) {
    ("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}))
}

fn stop(index: u64) -> (&'static str, Value) {
    ("contentBlockStop", json!({"contentBlockIndex": index}))
}

#[test]
fn redacted_thinking_in_pieces_is_one_block() {
    let piece = |text: &str| delta(0, json!({"reasoningContent": {"redactedContent": STANDARD.encode(text)}}));
    let response = answer(&[piece("sea"), piece("led"), stop(0), delta(1, json!({"text": "Yes."})), stop(1)]);
    let Block::Thinking(thinking) = &response.content[0] else { panic!("{response:?}") };
    assert_eq!(thinking.provider_data.str(Dialect::Anthropic, "redacted_data"), Some("sealed"));
    assert_eq!(response.text(), "Yes.");
}

#[test]
fn a_block_that_changes_its_kind_is_two() {
    let response = answer(&[
        delta(0, json!({"reasoningContent": {"text": "Hm."}})),
        delta(0, json!({"text": "Yes."})),
        delta(0, json!({"text": " Sure."})),
    ]);
    assert_eq!((response.thinking().as_str(), response.text().as_str()), ("Hm.", "Yes. Sure."));
    assert_eq!(response.finish_reason, FinishReason::Stop);
}

#[test]
fn what_only_converse_knows_is_kept() {
    let start = json!({"contentBlockIndex": 0, "start": {"image": {"format": "png"}}});
    let image = json!({"image": {"source": {"bytes": "aaaa"}}});
    let response = answer(&[("contentBlockStart", start), delta(0, image.clone()), stop(0)]);
    let Block::Other(other) = &response.content[0] else { panic!("{response:?}") };
    assert_eq!(other.data, json!({"type": "converse", "start": {"image": {"format": "png"}}, "deltas": [image]}));

    let events = events(&[("messageStart", json!({})), ("somethingNew", json!({"a": 1, "p": "x"}))]);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Other { .. }) && format!("{event:?}").contains("somethingNew")),
        "{events:?}"
    );
}

#[test]
fn citations_go_with_their_text() {
    let citation = json!({"title": "Report", "location": {"documentChar": {"documentIndex": 0, "start": 1, "end": 2}}});
    let response = answer(&[delta(0, json!({"text": "Yes."})), delta(0, json!({"citation": citation})), stop(0)]);
    assert_eq!(response.text(), "Yes.");
    let data = serde_json::to_value(&response.content[0]).unwrap();
    assert_eq!(data["provider_data"]["anthropic"]["extra"]["citations"], json!([citation]));
}

#[test]
fn what_is_no_event_is_an_error() {
    let mut reader = Reader::new("m");
    let mut bytes = Vec::new();
    reader.event("messageStart", b"{}", &mut bytes);
    reader.event("contentBlockDelta", b"{\"delta\":\n{\"te", &mut bytes);
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, Ids::seeded(7), &ikigai_core::Limits::default());
    let mut events = Vec::new();
    decoder.feed(&bytes, &mut events);
    assert!(matches!(events.last(), Some(Event::Error { error }) if error.kind == ErrorKind::Protocol), "{events:?}");
}

/// Pieces in any order: nothing panics, and the answer ends.
#[test]
fn no_order_of_events_is_too_odd() {
    let frames = [
        ("messageStart", json!({"role": "assistant"})),
        ("contentBlockStart", json!({"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "n"}}})),
        delta(0, json!({"text": "a"})),
        delta(1, json!({"toolUse": {"input": "{}"}})),
        delta(1, json!({"reasoningContent": {"text": "b", "signature": "c"}})),
        delta(0, json!({"reasoningContent": {"redactedContent": "c2Vh"}})),
        delta(0, json!({"reasoningContent": {"redactedContent": "!"}})),
        delta(0, json!(7)),
        stop(0),
        stop(9),
        ("metadata", json!({"usage": {"inputTokens": 1, "outputTokens": 2}})),
    ];
    let mut order = 1_u64;
    for _ in 0..2000 {
        let mut chosen = Vec::new();
        for _ in 0..12 {
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            chosen.push(frames[(order >> 33) as usize % frames.len()].clone());
        }
        chosen.push(("messageStop", json!({"stopReason": "end_turn"})));
        let events = events(&chosen);
        let ends = events.iter().filter(|event| matches!(event, Event::Done { .. } | Event::Error { .. })).count();
        assert_eq!(ends, 1, "{chosen:?}\n{events:?}");
    }
}

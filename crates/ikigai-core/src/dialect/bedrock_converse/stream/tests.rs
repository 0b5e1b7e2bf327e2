//! Odd streams, and normal ones.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::testing::{Member, answer, delta, events, sse, stop};
use crate::dialect::testing::{collect, events_of, events_within};
use crate::{Block, Dialect, Error, ErrorKind, Event, FinishReason, Limits, Part};

const CONVERSE: Dialect = Dialect::BedrockConverse;

/// Returns the failure that a stream ends with.
fn failure(events: &[Event]) -> &Error {
    match events.last() {
        Some(Event::Error { error }) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn redacted_thinking_in_pieces_is_one_block() {
    let piece = |text: &str| delta(0, json!({"reasoningContent": {"redactedContent": STANDARD.encode(text)}}));
    let response = answer(&[piece("sea"), piece("led"), stop(0), delta(1, json!({"text": "Yes."})), stop(1)]);
    let Block::Thinking(thinking) = &response.content[0] else { panic!("{response:?}") };
    let state = thinking.provider_data.part_str(CONVERSE, Part::State, "redacted_data");
    assert_eq!(state.as_deref(), Some("c2VhbGVk"));
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
    let own = |middle: &[Member]| match &answer(middle).content[0] {
        Block::Other(other) => serde_json::from_str::<serde_json::Value>(other.data.text()).unwrap(),
        other => panic!("{other:?}"),
    };
    let start = |start| ("contentBlockStart", json!({"contentBlockIndex": 0, "start": start}));
    let source = || delta(0, json!({"image": {"source": {"bytes": "aaaa"}}}));
    let image = start(json!({"image": {"format": "png"}}));
    let whole = json!({"image": {"format": "png", "source": {"bytes": "aaaa"}}});
    assert_eq!(own(&[image.clone(), source(), stop(0)]), whole);
    // It is unknown how two pieces of one field are joined.
    let pieces = json!({"start": {"image": {"format": "png"}}, "deltas": [source().1["delta"], source().1["delta"]]});
    assert_eq!(own(&[image, source(), source(), stop(0)]), pieces);
    let server = json!({"toolUse": {"toolUseId": "t", "name": "n", "type": "server_tool_use"}});
    let piece = |text: &str| delta(0, json!({"toolUse": {"input": text}}));
    let call = json!({"toolUse": {"toolUseId": "t", "name": "n", "type": "server_tool_use", "input": {"a": 1}}});
    assert_eq!(own(&[start(server), piece("{\"a\""), piece(": 1}"), stop(0)]), call);

    let events = events(&[("messageStart", json!({})), ("somethingNew", json!({"a": 1, "p": "x"}))]);
    let other = json!({"somethingNew": {"a": 1, "p": "x"}});
    assert!(events.iter().any(|event| matches!(event, Event::Other { data, .. } if *data == other)), "{events:?}");
}

#[test]
fn citations_go_with_their_text() {
    let citation = json!({"title": "Report", "location": {"documentChar": {"documentIndex": 0, "start": 1, "end": 2}}});
    let response = answer(&[delta(0, json!({"text": "Yes."})), delta(0, json!({"citation": citation})), stop(0)]);
    assert_eq!(response.text(), "Yes.");
    let data = response.content[0].provider_data().unwrap();
    assert_eq!(*data.part(CONVERSE, Part::Extra).get("citations").unwrap(), json!([citation]));
}

#[test]
fn the_counts_come_behind_the_end_or_not_at_all() {
    let usage = json!({"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}, "metrics": {"latencyMs": 1}});
    let mut members = vec![delta(0, json!({"text": "Yes."})), ("messageStop", json!({"stopReason": "max_tokens"}))];
    let without = collect(events(&members));
    assert_eq!((without.finish_reason, &without.usage), (FinishReason::Length, &None));
    members.push(("metadata", usage));
    let with = collect(events(&members));
    assert_eq!(with.usage.as_ref().map(crate::Usage::total_tokens), Some(5));
    let kept: Vec<&str> = with.provider_data.part(CONVERSE, Part::Answer).names().collect();
    assert_eq!(kept, ["stopReason", "metrics"]);
}

#[test]
fn events_with_names_are_read_too() {
    let named = "event: messageStart\ndata: {\"role\":\"assistant\"}\n\n\
        event: contentBlockDelta\ndata: {\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}\n\n\
        event: messageStop\ndata: {\"messageStop\":{\"stopReason\":\"end_turn\"}}\n\n";
    let response = collect(events_of(CONVERSE, named));
    assert_eq!((response.text().as_str(), response.finish_reason), ("Hi", FinishReason::Stop));
}

#[test]
fn what_is_not_an_event_is_an_error() {
    let broken = "data: {\"messageStart\":{}}\n\ndata: {\"contentBlockDelta\":{\"delta\": {\"te\n\n";
    assert_eq!(failure(&events_of(CONVERSE, broken)).kind, ErrorKind::Protocol);
    for payload in [json!({}), json!({"contentBlockIndex": "a", "delta": {}}), json!(7)] {
        let events = events(&[("messageStart", json!({})), ("contentBlockDelta", payload)]);
        assert_eq!(failure(&events).kind, ErrorKind::Protocol);
    }
}

#[test]
fn exceptions_are_errors_and_what_had_arrived_is_kept() {
    let throttled = ("throttlingException", json!({"message": "Too many tokens"}));
    let first = events(std::slice::from_ref(&throttled));
    let error = failure(&first);
    assert_eq!(
        (error.kind, error.status, error.message.as_str()),
        (ErrorKind::RateLimit, Some(429), "Too many tokens")
    );
    assert_eq!(error.error_type.as_deref(), Some("ThrottlingException"));

    let image = ("contentBlockStart", json!({"contentBlockIndex": 1, "start": {"image": {"format": "png"}}}));
    let later = collect(events(&[delta(0, json!({"text": "Yes."})), image, throttled]));
    assert_eq!((later.text().as_str(), later.content.len()), ("Yes.", 2));
    assert_eq!(later.error.unwrap().status, None);

    let internal = events(&[("error", json!({"code": "internalServerException", "message": "Oh"}))]);
    assert_eq!(failure(&internal).kind, ErrorKind::Server);
}

#[test]
fn an_answer_without_its_end_is_cut_off() {
    let events = events(&[delta(0, json!({"text": "Yes."})), stop(0)]);
    assert_eq!(failure(&events).code.as_deref(), Some("truncated"));
}

#[test]
fn blocks_that_are_held_back_count_as_open() {
    let open = |index: u64| ("contentBlockStart", json!({"contentBlockIndex": index, "start": {"image": {}}}));
    let members: Vec<Member> = (0..9).map(open).collect();
    let limits = Limits { open_blocks: 8, ..Limits::default() };
    let events = events_within(CONVERSE, &sse(&members), &limits);
    assert_eq!(failure(&events).code.as_deref(), Some("limit_reached"));
}

/// Pieces in any order: nothing panics, the grammar is obeyed, and the answer ends.
#[test]
fn no_order_of_events_is_too_odd() {
    let members = [
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
            chosen.push(members[(order >> 33) as usize % members.len()].clone());
        }
        chosen.push(("messageStop", json!({"stopReason": "end_turn"})));
        let ends = events(&chosen).iter().filter(|event| event.is_terminal()).count();
        assert_eq!(ends, 1, "{chosen:?}");
    }
}

use pretty_assertions::assert_eq;
use serde_json::{Map, json};

use super::*;
use crate::{Dialect, ErrorKind, Usage};

fn start() -> Event {
    Event::Start { id: Some("r1".into()), model: Some("m".into()), provider_data: ProviderData::default() }
}

fn text_start(index: usize) -> Event {
    Event::BlockStart { index, block: Block::text("") }
}

fn text_delta(index: usize, text: &str) -> Event {
    Event::TextDelta { index, text: text.into() }
}

fn block_done(index: usize) -> Event {
    Event::BlockDone { index, provider_data: ProviderData::default() }
}

fn call_start(index: usize) -> Event {
    Event::ToolCallStart { index, id: "c1".into(), name: "f".into(), provider_data: ProviderData::default() }
}

fn call_delta(index: usize, arguments: &str) -> Event {
    Event::ToolCallDelta { index, arguments: arguments.into() }
}

fn call_done(index: usize, arguments: Map<String, serde_json::Value>) -> Event {
    Event::ToolCallDone { index, arguments: arguments.into(), provider_data: ProviderData::default() }
}

fn done() -> Event {
    Event::Done { finish_reason: FinishReason::Stop, provider_data: ProviderData::default() }
}

fn arguments(value: serde_json::Value) -> Map<String, serde_json::Value> {
    value.as_object().cloned().unwrap()
}

/// Collects events, and checks that `note` gives the same result as `push`.
fn collect(events: impl IntoIterator<Item = Event>) -> Response {
    let (mut taking, mut noting) = (Collector::default(), Collector::default());
    for event in events {
        noting.note(&event);
        taking.push(event);
    }
    let response = taking.finish();
    assert_eq!(noting.finish(), response);
    response
}

/// Returns the answer with this content, broken by `fault`.
fn broken(content: Vec<Block>, fault: &str) -> Response {
    Response {
        id: Some("r1".into()),
        model: "m".into(),
        content,
        finish_reason: FinishReason::Error,
        error: Some(Box::new(Error::protocol(fault))),
        ..Response::default()
    }
}

#[test]
fn a_stream_becomes_its_response() {
    let mut signed = ProviderData::default();
    signed.set_part(Dialect::Anthropic, Part::State, "signature", "Eq");
    let usage = Usage { input_tokens: 3, ..Usage::default() };
    let response = collect([
        start(),
        Event::Usage { usage: Usage { input_tokens: 1, ..Usage::default() } },
        Event::BlockStart { index: 0, block: Block::thinking("") },
        Event::ThinkingDelta { index: 0, text: "Hm".into() },
        text_start(1),
        Event::ThinkingDelta { index: 0, text: "m".into() },
        text_delta(1, "Hel"),
        Event::BlockDone { index: 0, provider_data: signed.clone() },
        text_delta(1, "lo"),
        Event::Other { index: Some(1), dialect: Dialect::Anthropic, data: json!({"type": "ping"}).into() },
        block_done(1),
        call_start(2),
        call_delta(2, r#"{"a""#),
        call_delta(2, ":1}"),
        call_done(2, arguments(json!({"a": 1}))),
        Event::Usage { usage: usage.clone() },
        Event::Done { finish_reason: FinishReason::ToolUse, provider_data: signed.clone() },
    ]);
    let thinking = crate::ThinkingBlock { text: "Hmm".into(), provider_data: signed.clone() };
    let expected = Response {
        id: Some("r1".into()),
        model: "m".into(),
        content: vec![
            Block::Thinking(thinking),
            Block::text("Hello"),
            Block::tool_call("c1", "f", arguments(json!({"a": 1}))),
        ],
        finish_reason: FinishReason::ToolUse,
        usage: Some(usage),
        provider_data: signed,
        ..Response::default()
    };
    assert_eq!(response, expected);
}

#[test]
fn an_event_out_of_place_breaks_the_answer_and_changes_nothing_in_it() {
    let hi = || vec![Block::text("Hi")];
    let called = || vec![Block::tool_call("c1", "f", arguments(json!({"a": 1})))];
    let hi_said = || [start(), text_start(0), text_delta(0, "Hi"), block_done(0)];
    let call_made = || [start(), call_start(0), call_delta(0, r#"{"a":1}"#), call_done(0, arguments(json!({"a": 1})))];
    let table: Vec<(&str, Vec<Event>, Vec<Block>)> = vec![
        ("text for block 0, which is not an open text block", vec![start(), text_delta(0, "Hi")], vec![]),
        ("text for block 1, which is not an open text block", [&hi_said()[..], &[text_delta(1, "x")]].concat(), hi()),
        ("text for block 0, which is not an open text block", [&hi_said()[..], &[text_delta(0, "x")]].concat(), hi()),
        (
            "text for block 0, which is not an open text block",
            vec![
                start(),
                Event::BlockStart { index: 0, block: Block::thinking("") },
                text_delta(0, "x"),
                block_done(0),
            ],
            vec![Block::thinking("")],
        ),
        (
            "thinking for block 0, which is not an open thinking block",
            vec![start(), text_start(0), Event::ThinkingDelta { index: 0, text: "x".into() }, block_done(0)],
            vec![Block::text("")],
        ),
        ("arguments for block 0, which is not an open tool call", vec![start(), call_delta(0, "{}")], vec![]),
        (
            "arguments for block 0, which is not an open tool call",
            [&call_made()[..], &[call_delta(0, "{}")]].concat(),
            called(),
        ),
        (
            "block 0 ends as a tool call, but no call is open there",
            [&call_made()[..], &[call_done(0, Map::new())]].concat(),
            called(),
        ),
        (
            "block 0 ends as a tool call, but no call is open there",
            vec![start(), text_start(0), text_delta(0, "Hi"), call_done(0, Map::new()), block_done(0)],
            hi(),
        ),
        ("block 0 ends, but is not open, or is a tool call", vec![start(), block_done(0)], vec![]),
        ("block 0 ends, but is not open, or is a tool call", [&hi_said()[..], &[block_done(0)]].concat(), hi()),
        ("block 1 opens where block 0 should", vec![start(), text_start(1)], vec![]),
        ("block 0 opens where block 1 should", [&hi_said()[..], &[text_start(0)]].concat(), hi()),
        ("block 0 opens where block 1 should", [&hi_said()[..], &[call_start(0)]].concat(), hi()),
    ];
    for (fault, mut events, content) in table {
        events.push(done());
        assert_eq!(collect(events), broken(content, fault), "{fault}");
    }
}

#[test]
fn a_call_that_ends_as_a_plain_block_stays_open() {
    let events = [start(), call_start(0), call_delta(0, "{}"), block_done(0), done()];
    let content = vec![Block::tool_call("c1", "f", Map::new())];
    assert_eq!(collect(events), broken(content, "block 0 ends, but is not open, or is a tool call"));
}

#[test]
fn what_comes_after_the_end_is_an_error() {
    let whole = || vec![start(), text_start(0), text_delta(0, "Hi"), block_done(0), done()];
    let late = [done(), text_delta(0, "x"), start(), Event::Usage { usage: Usage::default() }];
    for event in late {
        let response = collect([&whole()[..], std::slice::from_ref(&event)].concat());
        assert_eq!(response, broken(vec![Block::text("Hi")], "an event came after the end of the stream"), "{event:?}");
    }
}

#[test]
fn an_answer_that_is_cut_off_keeps_what_had_arrived() {
    let cut = "the stream ended without its end: the answer is cut off";
    assert_eq!(collect([start(), text_start(0), text_delta(0, "Hi")]), broken(vec![Block::text("Hi")], cut));
    let nothing = Response {
        finish_reason: FinishReason::Error,
        error: Some(Box::new(Error::protocol(cut))),
        ..Response::default()
    };
    assert_eq!(collect([]), nothing);
}

#[test]
fn a_call_that_is_cut_off_keeps_its_partial_arguments_and_is_not_complete() {
    let response = collect([start(), call_start(0), call_delta(0, r#"{"path": "/et"#)]);
    let call = ToolCall {
        id: "c1".into(),
        name: "f".into(),
        arguments: crate::Arguments::from_text(r#"{"path": "/et"#),
        ..ToolCall::default()
    };
    assert!(!call.is_complete());
    let cut = "the stream ended without its end: the answer is cut off";
    assert_eq!(response, broken(vec![Block::ToolCall(call)], cut));
}

#[test]
fn a_block_that_is_open_at_the_end_is_an_error() {
    assert_eq!(
        collect([start(), text_start(0), text_delta(0, "Hi"), done()]),
        broken(vec![Block::text("Hi")], "the stream ended, but block 0 did not")
    );
    assert_eq!(
        collect([start(), call_start(0), call_delta(0, r#"{"a":1}"#), done()]),
        broken(vec![Block::tool_call("c1", "f", arguments(json!({"a": 1})))], "the stream ended, but block 0 did not")
    );
}

#[test]
fn an_error_in_the_stream_wins_over_what_it_left_open() {
    let error = Error::new(ErrorKind::Overloaded, "Overloaded");
    let response =
        collect([start(), text_start(0), text_delta(0, "Hi"), Event::Error { error: Box::new(error.clone()) }]);
    let expected = Response { error: Some(Box::new(error)), ..broken(vec![Block::text("Hi")], "") };
    assert_eq!(response, expected);
}

#[test]
fn the_first_fault_is_the_one_that_is_told() {
    let response = collect([start(), text_delta(0, "a"), block_done(7)]);
    assert_eq!(response, broken(vec![], "text for block 0, which is not an open text block"));
}

#[test]
fn a_dialects_own_block_may_open_unfinished_and_end_whole() {
    let block = |data| Block::Other(crate::Other { dialect: Dialect::OpenaiResponses, data });
    let opened = json!({"type": "web_search_call", "status": "in_progress"});
    let whole = json!({"type": "web_search_call", "status": "completed"});
    let end = |dialect| {
        let mut provider_data = ProviderData::default();
        provider_data.set_part(dialect, Part::Shape, "data", whole.clone());
        Event::BlockDone { index: 0, provider_data }
    };
    let content = |end| {
        collect([start(), Event::BlockStart { index: 0, block: block(opened.clone().into()) }, end, done()]).content
    };
    assert_eq!(content(end(Dialect::OpenaiResponses)), [block(whole.clone().into())]);
    assert_eq!(content(end(Dialect::Gemini)), [block(opened.clone().into())], "only its own dialect may replace it");
    assert_eq!(content(block_done(0)), [block(opened.clone().into())]);
}

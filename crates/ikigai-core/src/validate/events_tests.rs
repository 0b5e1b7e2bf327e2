use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{Dialect, Error, FinishReason, ProviderData, Response, Usage, events};

fn start() -> Event {
    Event::Start { id: None, model: None, provider_data: ProviderData::default() }
}

fn open(index: usize, block: Block) -> Event {
    Event::BlockStart { index, block }
}

fn close(index: usize) -> Event {
    Event::BlockDone { index, provider_data: ProviderData::default() }
}

fn text(index: usize) -> Event {
    Event::TextDelta { index, text: "Hi".into() }
}

fn call(index: usize, id: &str) -> Event {
    Event::ToolCallStart { index, id: id.into(), name: "f".into(), provider_data: ProviderData::default() }
}

fn piece(index: usize, arguments: &str) -> Event {
    Event::ToolCallDelta { index, arguments: arguments.into() }
}

fn called(index: usize, arguments: Value, arguments_text: Option<&str>) -> Event {
    Event::ToolCallDone {
        index,
        arguments: arguments_text.map_or_else(|| arguments.into(), crate::Arguments::from_text),
        provider_data: ProviderData::default(),
    }
}

fn done() -> Event {
    Event::Done { finish_reason: FinishReason::Stop, provider_data: ProviderData::default() }
}

fn failed() -> Event {
    Event::Error { error: Box::new(Error::protocol("x")) }
}

fn fault(events: &[Event]) -> String {
    EventChecker::check(events).err().unwrap_or_default()
}

#[test]
fn good_streams() {
    assert_eq!(fault(&[start(), done()]), "");
    assert_eq!(fault(&[failed()]), "");
    assert_eq!(fault(&[start(), open(0, Block::text("")), text(0), failed()]), "");
    assert_eq!(
        fault(&[
            start(),
            open(0, Block::thinking("")),
            Event::ThinkingDelta { index: 0, text: "Hm".into() },
            open(1, Block::text("")),
            close(0),
            text(1),
            call(2, "a"),
            piece(2, "{\"a\":"),
            Event::Usage { usage: Usage::default() },
            piece(2, "1}"),
            close(1),
            called(2, json!({"a": 1}), None),
            Event::Other { index: Some(1), dialect: Dialect::Anthropic, data: json!({}).into() },
            done(),
        ]),
        ""
    );
    let response = Response {
        content: vec![Block::text("Hi"), Block::tool_call("a", "f", Map::new()), Block::thinking("")],
        finish_reason: FinishReason::ToolUse,
        ..Response::default()
    };
    assert_eq!(fault(&events(&response)), "");
}

#[test]
fn every_fault_is_told() {
    let whole = || open(0, Block::text(""));
    for (events, expected) in [
        (vec![], "the stream ended without done or error"),
        (vec![start(), whole(), close(0)], "the stream ended without done or error"),
        (vec![text(0)], "event 0: text_delta comes before start"),
        (vec![start(), start()], "event 1: start comes twice"),
        (vec![start(), done(), text(0)], "event 2: text_delta comes after the end"),
        (vec![failed(), failed()], "event 1: error comes after the end"),
        (vec![start(), open(1, Block::text(""))], "event 1: block 1 opens where block 0 should"),
        (vec![start(), whole(), whole()], "event 2: block 0 opens where block 1 should"),
        (vec![start(), text(0)], "event 1: text_delta comes for block 0, which never opened"),
        (vec![start(), whole(), close(0), text(0)], "event 3: text_delta comes for block 0, which is closed"),
        (vec![start(), whole(), close(0), close(0)], "event 3: block_done comes for block 0, which is closed"),
        (
            vec![start(), open(0, Block::thinking("")), text(0)],
            "event 2: text_delta comes for block 0, which is thinking",
        ),
        (vec![start(), whole(), piece(0, "{")], "event 2: tool_call_delta comes for block 0, which is text"),
        (vec![start(), whole(), done()], "event 2: done comes while block 0 is open"),
        (
            vec![start(), open(0, Block::tool_call("a", "f", Map::new()))],
            "event 1: block 0 is a tool call, which tool_call_start opens",
        ),
        (vec![start(), call(0, "a"), close(0)], "event 2: block 0 is a tool call, which tool_call_done closes"),
        (vec![start(), call(0, "")], "event 1: the tool call at 0 opens without its id or name"),
        (
            vec![start(), call(0, "a"), piece(0, "{\"a\":1}"), called(0, json!({"a": 2}), None)],
            "event 3: the pieces of the arguments of the tool call at 0 do not give the arguments at its end",
        ),
        (
            vec![start(), Event::Other { index: Some(0), dialect: Dialect::Gemini, data: json!({}).into() }],
            "event 1: other belongs to block 0, which never opened",
        ),
    ] {
        assert_eq!(fault(&events), expected);
    }
}

#[test]
fn arguments_may_come_whole_or_broken() {
    assert_eq!(fault(&[start(), call(0, "a"), called(0, json!({"a": 1}), None), done()]), "");
    assert_eq!(fault(&[start(), call(0, "a"), piece(0, "{\"a\""), called(0, json!({}), Some("{\"a\"")), done()]), "");
    assert_eq!(fault(&[start(), call(0, "a"), piece(0, ""), called(0, json!({}), None), done()]), "");
}

#[test]
fn a_wrong_event_does_not_spoil_the_next() {
    let mut checker = EventChecker::default();
    assert!(checker.push(&start()).is_ok());
    assert!(checker.push(&text(0)).is_err());
    assert!(checker.push(&open(0, Block::text(""))).is_ok());
    assert!(checker.push(&done()).is_err());
    assert!(checker.push(&close(0)).is_ok());
    assert!(checker.push(&done()).is_ok());
    assert!(checker.finish().is_ok());
}

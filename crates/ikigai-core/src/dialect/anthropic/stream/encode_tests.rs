use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::super::testing::{answer_of, frames_of, read_request, write_answer};
use super::*;
use crate::wire::{Ids, StreamEncoder};
use crate::{Collector, Dialect, Event, Response, ThinkingBlock, ToolCall};

fn reply() -> Reply {
    Reply { provider: Some("google".into()), model: Some("asked".into()), ids: Ids::seeded(1), ..Reply::default() }
}

/// Returns the data of the frames; each name must be the data's type.
fn data(text: &str) -> Vec<Value> {
    text.split_terminator("\n\n")
        .map(|frame| {
            let (name, data) = frame.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: ").unwrap(), data["type"].as_str().unwrap());
            data
        })
        .collect()
}

fn none() -> ProviderData {
    ProviderData::default()
}

fn begin() -> Event {
    Event::Start { id: Some("id".into()), model: Some("gemini-3-pro".into()), provider_data: none() }
}

fn done(finish_reason: FinishReason) -> Event {
    Event::Done { finish_reason, provider_data: none() }
}

fn call_start(index: usize, id: &str) -> Event {
    Event::ToolCallStart { index, id: id.into(), name: "f".into(), provider_data: none() }
}

fn call_delta(index: usize, arguments: &str) -> Event {
    Event::ToolCallDelta { index, arguments: arguments.into() }
}

fn call_done(index: usize, arguments: Value) -> Event {
    let Value::Object(arguments) = arguments else { panic!() };
    Event::ToolCallDone { index, arguments: arguments.into(), provider_data: none() }
}

#[test]
fn an_answer_of_another_api_becomes_this_ones_sequence() {
    let events = [
        begin(),
        Event::BlockStart { index: 0, block: Block::thinking("") },
        Event::ThinkingDelta { index: 0, text: "Hm".into() },
        Event::BlockDone { index: 0, provider_data: none() },
        Event::BlockStart { index: 1, block: Block::text("") },
        Event::TextDelta { index: 1, text: "Yes\n".into() },
        Event::BlockDone { index: 1, provider_data: none() },
        call_start(2, "a"),
        call_delta(2, "{\"b\":"),
        call_delta(2, "1}"),
        call_done(2, json!({"b": 1})),
        Event::Usage { usage: Usage { input_tokens: 5, output_tokens: 3, thinking_tokens: 2, ..Usage::default() } },
        done(FinishReason::ToolUse),
    ];
    let frames = data(&frames_of(&events, reply()));
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    assert_eq!(
        frames,
        [
            json!({"type": "message_start", "message": {"id": "id", "type": "message", "role": "assistant", "model": "gemini-3-pro",
                "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
            stop(0),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
            delta(1, json!({"type": "text_delta", "text": "Yes\n"})),
            stop(1),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
            delta(2, json!({"type": "input_json_delta", "partial_json": "{\"b\":"})),
            delta(2, json!({"type": "input_json_delta", "partial_json": "1}"})),
            stop(2),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
                "usage": {"input_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5,
                    "output_tokens_details": {"thinking_tokens": 2}}}),
            json!({"type": "message_stop"}),
        ]
    );
}

#[test]
fn blocks_that_are_open_together_come_one_after_the_other() {
    let events = [
        begin(),
        call_start(0, "a"),
        call_start(1, "b"),
        Event::BlockStart { index: 2, block: Block::text("") },
        call_delta(1, "{\"y\":"),
        Event::TextDelta { index: 2, text: "mean".into() },
        call_delta(0, "{\"x\":1}"),
        call_delta(1, "2}"),
        call_done(1, json!({"y": 2})),
        Event::TextDelta { index: 2, text: "while".into() },
        call_done(0, json!({"x": 1})),
        Event::TextDelta { index: 2, text: "!".into() },
        Event::BlockDone { index: 2, provider_data: none() },
        done(FinishReason::ToolUse),
    ];
    let text = frames_of(&events, reply());
    let order: Vec<(String, u64)> = data(&text)
        .iter()
        .filter(|frame| frame["index"].is_u64())
        .map(|frame| (frame["type"].as_str().unwrap().replace("content_block_", ""), frame["index"].as_u64().unwrap()))
        .collect();
    let steps = [
        ("start", 0),
        ("delta", 0),
        ("stop", 0),
        ("start", 1),
        ("delta", 1),
        ("stop", 1),
        ("start", 2),
        ("delta", 2),
        ("delta", 2),
        ("stop", 2),
    ];
    assert_eq!(order, steps.map(|(step, index)| (step.to_owned(), index)));
    let mut collector = Collector::default();
    collector.extend(events);
    assert_eq!(answer_of(&text).content, collector.finish().content);
}

#[test]
fn state_of_others_comes_back_from_a_stream() {
    let mut state = none();
    state.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
    let call = ToolCall { id: "call:1".into(), name: "f".into(), provider_data: state.clone(), ..ToolCall::default() };
    let response = Response {
        content: vec![
            Block::Thinking(ThinkingBlock { text: "Hm".into(), provider_data: state.clone() }),
            Block::ToolCall(call),
            Block::text("Yes"),
        ],
        finish_reason: FinishReason::ToolUse,
        ..Response::default()
    };
    // The text's state is known only at its end.
    let mut events = crate::events(&response);
    for event in &mut events {
        if let Event::BlockDone { index: 2, provider_data } = event {
            *provider_data = state.clone();
        }
    }
    let text = frames_of(&events, reply());
    let indices: Vec<u64> = data(&text)
        .iter()
        .filter(|frame| frame["type"] == "content_block_start")
        .map(|frame| frame["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indices, [0, 1, 2, 3, 4]);
    // What the client collects, it sends back.
    let collected = write_answer(&answer_of(&text), &Reply::default()).0;
    let body =
        json!({"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": collected["content"]}]});
    let request = read_request(None, &body).unwrap();
    let message = &request.messages[0];
    assert_eq!(message.provider.as_deref(), Some("google"));
    for block in &message.content {
        let state = block.provider_data().unwrap().part_str(Dialect::Gemini, Part::State, "thought_signature");
        assert_eq!(state.as_deref(), Some("c2ln"));
    }
}

#[test]
fn state_without_a_text_is_not_followed_by_an_empty_text() {
    let mut state = none();
    state.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
    let signed = |text: &str| Block::Text(Text { text: text.into(), provider_data: state.clone(), ..Text::default() });
    let response = |content: Vec<Block>| Response {
        content,
        finish_reason: FinishReason::Stop,
        usage: Some(Usage::default()),
        ..Response::default()
    };
    for content in [
        vec![Block::text("Hi"), signed("")],
        vec![signed("Hi"), signed("")],
        vec![signed("")],
        vec![signed(""), Block::text("Hi"), signed(""), signed("")],
    ] {
        let response = response(content);
        let text = frames_of(&crate::events(&response), reply());
        let streamed = write_answer(&answer_of(&text), &Reply::default()).0;
        let whole = write_answer(&response, &reply()).0;
        for answer in [streamed, whole] {
            let blocks = answer["content"].as_array().unwrap();
            assert!(blocks.iter().all(|block| block["text"] != ""), "{answer}");
            let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": blocks}]});
            assert_eq!(read_request(None, &body).unwrap().messages[0].content, response.content, "{answer}");
        }
    }
    // State that comes at the end of an empty text, and a text that is cut off.
    let start = || Event::BlockStart { index: 0, block: signed("") };
    let end = Event::BlockDone { index: 0, provider_data: none() };
    let piece = Event::TextDelta { index: 0, text: "Hi".into() };
    let frames = |events: Vec<Event>| {
        let text = frames_of(&events, reply());
        let kinds = data(&text).into_iter().filter(|frame| frame["type"] == "content_block_start");
        kinds.map(|frame| frame["content_block"]["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let stop = || done(FinishReason::Stop);
    assert_eq!(frames(vec![begin(), start(), end.clone(), stop()]), ["redacted_thinking"]);
    assert_eq!(frames(vec![begin(), start(), piece, end, stop()]), ["redacted_thinking", "text"]);
    let error = Event::Error { error: Box::new(Error::new(ErrorKind::Server, "x")) };
    assert_eq!(frames(vec![begin(), start(), error]), ["redacted_thinking", "text"]);
}

#[test]
fn own_streams_tell_the_usage_with_their_start() {
    let mut own = none();
    own.set_part(DIALECT, Part::Answer, "container", Json::from(json!({"id": "c"})));
    let usage = |output_tokens| Event::Usage { usage: Usage { input_tokens: 25, output_tokens, ..Usage::default() } };
    let events =
        [Event::Start { id: None, model: None, provider_data: own }, usage(1), usage(9), done(FinishReason::Length)];
    let frames = data(&frames_of(&events, reply()));
    let start = &frames[0]["message"];
    assert_eq!((&start["usage"]["input_tokens"], &start["container"]["id"]), (&json!(25), &json!("c")));
    assert_eq!((&start["model"], start["id"].as_str().unwrap().starts_with("msg_")), (&json!("asked"), true));
    assert_eq!(frames[1]["usage"]["output_tokens"], 9);
    assert_eq!(frames[1]["delta"]["stop_reason"], "max_tokens");
}

#[test]
fn whole_blocks_and_late_arguments() {
    let other = json!({"type": "compaction", "content": "sum"});
    let foreign = Block::Other(crate::Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "x"}).into() });
    let events = [
        Event::BlockStart {
            index: 0,
            block: Block::Other(crate::Other { dialect: DIALECT, data: other.clone().into() }),
        },
        Event::BlockDone { index: 0, provider_data: none() },
        Event::BlockStart { index: 1, block: foreign },
        Event::BlockDone { index: 1, provider_data: none() },
        call_start(2, "a"),
        call_done(2, json!({"b": 1})),
        call_start(3, "c"),
        call_done(3, json!({})),
        // Never ended: the end of the answer ends it.
        Event::BlockStart { index: 4, block: Block::text("rest") },
        done(FinishReason::ToolUse),
    ];
    // What only another dialect has is left out, and reported.
    let mut encoder = StreamEncoder::new(DIALECT, reply());
    events.iter().for_each(|event| encoder.push(event, &mut Vec::new()));
    let why = "a block that only openai-responses has (x); left out";
    let lost = Loss::new(crate::LossCode::ForeignContent, "other", "content[1]", why);
    assert_eq!(encoder.losses(), [lost]);
    let response = answer_of(&frames_of(&events, reply()));
    assert_eq!(
        serde_json::to_value(response.content).unwrap(),
        json!([
            {"type": "other", "dialect": "anthropic", "data": other},
            {"type": "tool_call", "id": "a", "name": "f", "arguments": {"b": 1}},
            {"type": "tool_call", "id": "c", "name": "f", "arguments": {}},
            {"type": "text", "text": "rest"},
        ])
    );
}

#[test]
fn a_failure_is_an_error_event_and_the_last() {
    let error = Box::new(crate::Error::new(crate::ErrorKind::Overloaded, "busy"));
    let events =
        [begin(), Event::Error { error }, Event::TextDelta { index: 0, text: "x".into() }, done(FinishReason::Stop)];
    let frames = data(&frames_of(&events, reply()));
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[1], json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}));
    let broken = data(&frames_of(&[begin(), done(FinishReason::Error)], reply()));
    assert_eq!(broken[1]["error"]["type"], "api_error");
}

#[test]
fn own_events_that_others_do_not_know_go_on() {
    let other = |index, data| Event::Other { index, dialect: DIALECT, data };
    let events = [
        begin(),
        other(None, json!({"type": "ping", "cost": "1"}).into()),
        Event::BlockStart { index: 0, block: Block::text("") },
        other(Some(0), json!({"type": "content_block_delta", "index": 7, "delta": {"type": "shiny"}}).into()),
        other(None, json!({"type": "message_stop", "metrics": 1}).into()),
        Event::Other { index: None, dialect: Dialect::Gemini, data: json!({"type": "x"}).into() },
        Event::BlockDone { index: 0, provider_data: none() },
        done(FinishReason::Stop),
    ];
    let frames = data(&frames_of(&events, reply()));
    assert_eq!(frames[1], json!({"type": "ping", "cost": "1"}));
    assert_eq!(frames[3], json!({"type": "content_block_delta", "index": 0, "delta": {"type": "shiny"}}));
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "message_stop").count(), 1);
    assert_eq!(frames.len(), 7);
}

#[test]
fn thinking_without_a_signature_comes_back_as_nobodys() {
    let mut unsigned = none();
    unsigned.set_part(DIALECT, Part::Shape, "unsigned", true);
    let events = [
        begin(),
        Event::BlockStart { index: 0, block: Block::thinking("Hm") },
        Event::BlockDone { index: 0, provider_data: unsigned.clone() },
        done(FinishReason::Stop),
    ];
    let text = frames_of(&events, reply());
    assert!(!text.contains("signature_delta"));
    // A client keeps the empty signature that the block began with, and sends it back.
    let block = json!({"type": "thinking", "thinking": "Hm", "signature": ""});
    let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": [block]}]});
    let message = read_request(None, &body).unwrap().messages.remove(0);
    assert_eq!(message.content, [Block::thinking("Hm")]);
}

#[test]
fn what_others_say_of_an_answer_is_told_as_lost() {
    let mut start = none();
    start.set_part(Dialect::OpenaiChat, Part::Answer, "system_fingerprint", "fp");
    let mut text = none();
    text.set_part(Dialect::OpenaiResponses, Part::Extra, "annotations", Json::from(json!([{"url": "u"}])));
    let mut end = none();
    end.set_part(Dialect::Gemini, Part::Answer, "finishMessage", "m");
    let mut usage = Usage::default();
    usage.provider_data.set_part(Dialect::Gemini, Part::Answer, "trafficType", "t");
    let events = [
        Event::Start { id: None, model: None, provider_data: start },
        Event::Other { index: None, dialect: Dialect::Gemini, data: json!({"type": "x"}).into() },
        Event::Other { index: None, dialect: Dialect::Gemini, data: json!({"type": "x"}).into() },
        Event::BlockStart { index: 0, block: Block::text("a") },
        Event::BlockDone { index: 0, provider_data: text },
        Event::Usage { usage },
        Event::Done { finish_reason: FinishReason::Stop, provider_data: end },
    ];
    let mut encoder = crate::wire::StreamEncoder::new(DIALECT, reply());
    events.iter().for_each(|event| encoder.push(event, &mut Vec::new()));
    let losses: Vec<String> = encoder.losses().iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "provider_data at provider_data.openai-chat: only openai-chat knows system_fingerprint; left out",
            "event at events: only gemini knows x; left out",
            "provider_data at content[0].provider_data.openai-responses: only openai-responses knows annotations; left out",
            "provider_data at provider_data.gemini: only gemini knows finishMessage; left out",
            "provider_data at usage.provider_data.gemini: only gemini knows trafficType; left out",
        ]
    );
}

#[test]
fn the_input_of_a_call_of_the_apis_own_tools_comes_in_pieces() {
    let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}});
    let block = Block::Other(crate::Other { dialect: DIALECT, data: call.into() });
    let events = [
        begin(),
        Event::BlockStart { index: 0, block },
        Event::BlockDone { index: 0, provider_data: none() },
        done(FinishReason::Stop),
    ];
    let frames = data(&frames_of(&events, reply()));
    let opened = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    assert_eq!(
        frames[1..4],
        [
            json!({"type": "content_block_start", "index": 0, "content_block": opened}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": "{\"query\":\"q\"}"}}),
            json!({"type": "content_block_stop", "index": 0}),
        ]
    );
}

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{decode_request, told};
use crate::dialect::{StreamEncoder, testing};
use crate::wire::{Ids, Reply, Sse};
use crate::{Block, Dialect, Error, ErrorKind, Event, FinishReason, Other, Part, ProviderData, Usage};

fn written(reply: Reply, events: &[Event]) -> String {
    crate::validate::EventChecker::check(events).unwrap();
    let mut encoder = StreamEncoder::new(Dialect::Gemini, reply);
    let mut out = Vec::new();
    for event in events {
        encoder.push(event, &mut out);
    }
    String::from_utf8(out).unwrap()
}

fn none() -> ProviderData {
    ProviderData::default()
}

fn start() -> Event {
    Event::Start { id: Some("r".to_owned()), model: Some("m".to_owned()), provider_data: none() }
}

fn text(index: usize, text: &str) -> Event {
    Event::TextDelta { index, text: text.to_owned() }
}

fn thinking(index: usize, text: &str) -> Event {
    Event::ThinkingDelta { index, text: text.to_owned() }
}

fn open(index: usize, block: Block) -> Event {
    Event::BlockStart { index, block }
}

fn close(index: usize) -> Event {
    Event::BlockDone { index, provider_data: none() }
}

fn done(finish_reason: FinishReason) -> Event {
    Event::Done { finish_reason, provider_data: none() }
}

fn usage(input_tokens: u64, output_tokens: u64) -> Event {
    Event::Usage { usage: Usage { input_tokens, output_tokens, ..Usage::default() } }
}

/// Returns the events of an answer.
fn an_answer() -> Vec<Event> {
    vec![
        start(),
        usage(3, 0),
        open(0, Block::thinking("")),
        thinking(0, "Hm"),
        close(0),
        open(1, Block::text("")),
        text(1, "It \"is\"\n"),
        text(1, "so."),
        close(1),
        Event::ToolCallStart { index: 2, id: "c".to_owned(), name: "f".to_owned(), provider_data: none() },
        Event::ToolCallDelta { index: 2, arguments: "{\"b\":".to_owned() },
        Event::ToolCallDelta { index: 2, arguments: "1}".to_owned() },
        Event::ToolCallDone {
            index: 2,
            arguments: json!({"b": 1}).as_object().cloned().unwrap().into(),
            provider_data: none(),
        },
        usage(3, 2),
        done(FinishReason::ToolUse),
    ]
}

#[test]
fn frames_are_data_lines_and_nothing_else() {
    let tail = r#""usageMetadata":{"promptTokenCount":3,"totalTokenCount":3},"modelVersion":"m","responseId":"r"}"#;
    let end = r#""usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"modelVersion":"m","responseId":"r"}"#;
    let frame = |part: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}],\"role\":\"model\"}},\"index\":0}}],{tail}\r\n\r\n"
        )
    };
    let expected = [
        frame(r#"{"text":"Hm","thought":true}"#),
        frame(r#"{"text":"It \"is\"\n"}"#),
        frame(r#"{"text":"so."}"#),
        frame(r#"{"functionCall":{"name":"f","args":{"b":1},"id":"c"}}"#),
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"\"}}],\"role\":\"model\"}},\"finishReason\":\"STOP\",\"index\":0}}],{end}\r\n\r\n"
        ),
    ]
    .concat();
    assert_eq!(written(Reply::default(), &an_answer()), expected);
}

#[test]
fn without_events_the_answer_is_one_list() {
    let written = written(Reply { json_array: true, ..Reply::default() }, &an_answer());
    let frames: Vec<Value> = serde_json::from_str(&written).unwrap();
    assert_eq!(frames.len(), 5);
    assert!(written.starts_with("[{") && written.contains("}\n,\r\n{") && written.ends_with("}\n]"), "{written}");
    let failed = [start(), Event::Error { error: Box::new(Error::new(ErrorKind::Server, "broke")) }];
    let mut encoder = StreamEncoder::new(Dialect::Gemini, Reply { json_array: true, ..Reply::default() });
    let mut out = Vec::new();
    failed.iter().for_each(|event| encoder.push(event, &mut out));
    assert_eq!(
        serde_json::from_slice::<Value>(&out).unwrap(),
        json!([{"error": {"code": 500, "message": "broke", "status": "INTERNAL"}}]),
    );
}

#[test]
fn a_failure_is_an_error_frame_and_nothing_follows() {
    let mut events = an_answer();
    events.truncate(4);
    events.push(Event::Error { error: Box::new(Error::new(ErrorKind::Overloaded, "busy")) });
    let text = written(Reply::default(), &events);
    assert!(
        text.ends_with("data: {\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n"),
        "{text}"
    );
    let mut encoder = StreamEncoder::new(Dialect::Gemini, Reply::default());
    let mut out = Vec::new();
    encoder.push(&done(FinishReason::Error), &mut out);
    encoder.push(&text_event(), &mut out);
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text,
        "data: {\"error\":{\"code\":500,\"message\":\"the model's answer broke off\",\"status\":\"INTERNAL\"}}\r\n\r\n"
    );
}

fn text_event() -> Event {
    text(0, "late")
}

fn frames(text: &str) -> Vec<Value> {
    let mut frames = Vec::new();
    let mut sse = Sse::default();
    sse.feed(text.as_bytes(), |frame| frames.push(serde_json::from_str(frame.data).unwrap())).unwrap();
    frames
}

#[test]
fn foreign_state_at_a_blocks_end_finds_its_text_again() {
    let mut signed = none();
    signed.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
    let mut item = none();
    item.set_part(Dialect::OpenaiChat, Part::State, "extra_content", "c2ln");
    let events = [
        start(),
        open(0, Block::thinking("")),
        thinking(0, "Let me "),
        thinking(0, "see."),
        Event::BlockDone { index: 0, provider_data: signed.clone() },
        open(1, Block::Other(Other { dialect: Dialect::Anthropic, data: json!({"type": "server_tool_use"}).into() })),
        close(1),
        open(2, Block::text("")),
        text(2, "So: "),
        text(2, "look."),
        close(2),
        Event::ToolCallStart { index: 3, id: "c".to_owned(), name: "f".to_owned(), provider_data: item.clone() },
        Event::ToolCallDone { index: 3, arguments: Default::default(), provider_data: none() },
        done(FinishReason::ToolUse),
    ];
    let reply = Reply { provider: Some("anthropic".to_owned()), ..Reply::default() };
    // Like the official clients: every frame's content is a separate content in the next request.
    let contents: Vec<Value> =
        frames(&written(reply, &events)).iter().map(|frame| frame["candidates"][0]["content"].clone()).collect();
    let request = decode_request(None, &json!({"contents": contents})).unwrap();
    assert_eq!(request.messages.len(), 1);
    let message = &request.messages[0];
    assert_eq!((message.provider.as_deref(), message.model.as_deref()), (Some("anthropic"), Some("m")));
    assert_eq!(
        serde_json::to_value(&message.content).unwrap(),
        json!([
            {"type": "thinking", "text": "Let me see.", "provider_data": {"anthropic": {"signature": "EqoB"}}},
            {"type": "text", "text": "So: "},
            {"type": "text", "text": "look."},
            {"type": "tool_call", "id": "c", "name": "f", "arguments": {}, "provider_data": {"openai-chat": {"extra_content": "c2ln"}}},
            {"type": "text", "text": ""},
        ]),
    );
}

#[test]
fn own_signatures_stand_on_their_parts() {
    let mut signed = none();
    signed.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
    let mut first = Block::text("");
    *first.provider_data_mut().unwrap() = signed.clone();
    let events = [
        start(),
        open(0, first.clone()),
        text(0, "Hel"),
        close(0),
        open(1, Block::text("")),
        text(1, "lo"),
        close(1),
        open(2, first),
        close(2),
        done(FinishReason::Stop),
    ];
    let parts: Vec<Value> = frames(&written(Reply::default(), &events))
        .iter()
        .map(|frame| frame["candidates"][0]["content"]["parts"][0].clone())
        .collect();
    assert_eq!(
        parts,
        [
            json!({"text": "Hel", "thoughtSignature": "c2ln"}),
            json!({"text": "lo"}),
            json!({"text": "", "thoughtSignature": "c2ln"}),
            json!({"text": ""}),
        ],
    );
}

#[test]
fn a_refused_prompt_is_written_without_a_candidate() {
    let mut data = none();
    data.set_part(Dialect::Gemini, Part::Answer, "promptFeedback", json!({"blockReason": "SAFETY"}));
    let events = [start(), Event::Done { finish_reason: FinishReason::ContentFilter, provider_data: data }];
    assert_eq!(
        frames(&written(Reply::default(), &events)),
        [json!({"modelVersion": "m", "responseId": "r", "promptFeedback": {"blockReason": "SAFETY"}})],
    );
    // Any other filter is a reason on the candidate.
    let events = [start(), done(FinishReason::ContentFilter)];
    assert_eq!(frames(&written(Reply::default(), &events))[0]["candidates"][0]["finishReason"], "SAFETY");
}

#[test]
fn an_answer_without_a_name_gets_ours() {
    let anonymous = Event::Start { id: None, model: None, provider_data: none() };
    let reply = Reply { model: Some("asked".to_owned()), ..Reply::default() };
    let frame = &frames(&written(reply, &[anonymous, done(FinishReason::Stop)]))[0];
    assert_eq!((&frame["modelVersion"], &frame["responseId"]), (&json!("asked"), &json!(Ids::default().next_id())));
}

#[test]
fn a_call_that_was_cut_off_is_not_handed_on() {
    let events = [
        start(),
        Event::ToolCallStart { index: 0, id: "c".to_owned(), name: "f".to_owned(), provider_data: none() },
        Event::ToolCallDone { index: 0, arguments: crate::Arguments::from_text("{\"a"), provider_data: none() },
        done(FinishReason::Length),
    ];
    let frames = frames(&written(Reply::default(), &events));
    assert_eq!((frames.len(), &frames[0]["candidates"][0]["finishReason"]), (1, &json!("MAX_TOKENS")));
}

#[test]
fn what_we_write_we_read() {
    let events = testing::events_of(Dialect::Gemini, &written(Reply::default(), &an_answer()));
    let (ours, original) = (testing::collect(events), testing::collect(an_answer()));
    assert_eq!(
        (ours.content, ours.finish_reason, ours.model),
        (original.content, original.finish_reason, original.model)
    );
}

#[test]
fn what_only_others_know_is_told_once_its_block_ends() {
    let foreign = |part, name: &str| {
        let mut data = none();
        data.set_part(Dialect::OpenaiResponses, part, name, "x");
        data
    };
    let other = Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search_call"}).into() };
    let events = [
        start(),
        open(0, Block::text("")),
        text(0, "Hello"),
        Event::BlockDone { index: 0, provider_data: foreign(Part::Extra, "annotations") },
        open(1, Block::Other(other)),
        close(1),
        Event::Other { index: Some(1), dialect: Dialect::OpenaiResponses, data: json!({"type": "x"}).into() },
        Event::ToolCallStart { index: 2, id: "c".to_owned(), name: "f".to_owned(), provider_data: none() },
        Event::ToolCallDone { index: 2, arguments: crate::Arguments::from_text("{\"a"), provider_data: none() },
        Event::Usage { usage: Usage { provider_data: foreign(Part::Answer, "details"), ..Usage::default() } },
        Event::Done { finish_reason: FinishReason::Stop, provider_data: foreign(Part::Answer, "service_tier") },
    ];
    let mut encoder = crate::wire::StreamEncoder::new(Dialect::Gemini, Reply::default());
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut out));
    assert_eq!(
        told(encoder.losses().to_vec()),
        [
            "provider_data at content[0].provider_data.openai-responses",
            "other at content[1]",
            "event at content[1]",
            "tool_call at content[2]",
            "provider_data at provider_data.openai-responses",
            "provider_data at usage.provider_data.openai-responses",
        ]
    );
    // No block has state, so nothing is sealed.
    assert!(!String::from_utf8(out).unwrap().contains("thoughtSignature"));
}

#[test]
fn frames_of_further_candidates_go_through() {
    let frame = r#"{"candidates":[{"content":{"parts":[{"text":"Or"}]},"index":1}]}"#;
    let last = r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#;
    let events = testing::events_of_frames(Dialect::Gemini, &[frame, last]);
    let written = written(Reply::default(), &events);
    assert!(written.starts_with(&format!("data: {frame}\r\n\r\n")), "{written}");
}

#[test]
fn a_failure_tells_what_it_leaves_unsaid() {
    let error = Event::Error { error: Box::new(Error::new(ErrorKind::Overloaded, "busy")) };
    let losses = |events: &[Event]| {
        let mut encoder = StreamEncoder::new(Dialect::Gemini, Reply::default());
        events.iter().for_each(|event| encoder.push(event, &mut Vec::new()));
        told(encoder.losses().to_vec())
    };
    let mut data = none();
    data.set_part(Dialect::OpenaiChat, Part::Answer, "system_fingerprint", "fp");
    let begin = Event::Start { id: Some("1".into()), model: Some("m".into()), provider_data: data };
    let call = Event::ToolCallStart { index: 0, id: "c".into(), name: "f".into(), provider_data: none() };
    let around = "provider_data at provider_data.openai-chat";
    assert_eq!(
        losses(&[begin.clone(), call, error.clone()]),
        ["tool_call at content[0]", "id at id", "model at model", around]
    );
    assert_eq!(losses(&[begin, open(0, Block::text("")), text(0, "Hi"), error]), [around]);
}

#[test]
fn foreign_state_without_a_text_finds_its_block_again() {
    let mut signed = none();
    signed.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
    let end = |index: usize| Event::BlockDone { index, provider_data: signed.clone() };
    let events = [
        start(),
        open(0, Block::thinking("")),
        end(0),
        open(1, Block::text("")),
        text(1, "So: "),
        text(1, "look."),
        close(1),
        open(2, Block::thinking("")),
        end(2),
        Event::ToolCallStart { index: 3, id: "c".to_owned(), name: "f".to_owned(), provider_data: none() },
        Event::ToolCallDone { index: 3, arguments: Default::default(), provider_data: none() },
        open(4, Block::thinking("")),
        end(4),
        done(FinishReason::ToolUse),
    ];
    let reply = Reply { provider: Some("anthropic".to_owned()), ..Reply::default() };
    let frames = frames(&written(reply, &events));
    let said: Vec<Value> = frames
        .iter()
        .map(|frame| {
            let mut part = frame["candidates"][0]["content"]["parts"][0].clone();
            part.as_object_mut().unwrap().remove("thoughtSignature");
            part
        })
        .collect();
    assert_eq!(
        said,
        [
            json!({"text": "So: "}),
            json!({"text": "look."}),
            json!({"functionCall": {"name": "f", "args": {}, "id": "c"}}),
            json!({"text": "", "thought": true}),
            json!({"text": ""}),
        ]
    );
    let contents: Vec<Value> = frames.iter().map(|frame| frame["candidates"][0]["content"].clone()).collect();
    let request = decode_request(None, &json!({"contents": contents})).unwrap();
    let thinking = json!({"type": "thinking", "text": "", "provider_data": {"anthropic": {"signature": "EqoB"}}});
    assert_eq!(
        serde_json::to_value(&request.messages).unwrap(),
        json!([{
            "role": "assistant",
            "content": [
                thinking,
                {"type": "text", "text": "So: "},
                {"type": "text", "text": "look."},
                thinking,
                {"type": "tool_call", "id": "c", "name": "f", "arguments": {}},
                thinking,
                {"type": "text", "text": ""},
            ],
            "provider": "anthropic",
            "model": "m",
        }]),
    );
}

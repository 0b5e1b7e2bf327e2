use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::dialect::openai_responses::stream::{check_as_client, check_grammar, read_stream, write_stream};
use crate::dialect::openai_responses::{DIALECT, encode_response};
use crate::dialect::{Dialect, seal};
use crate::{ErrorKind, Event, Image, Other, Part, Source, Text, events};

fn reply() -> Reply {
    Reply { created: 7, model: Some("asked".into()), provider: Some("anthropic".into()), ..Reply::default() }
}

fn state(dialect: Dialect, key: &str, value: &str) -> ProviderData {
    let mut data = ProviderData::default();
    data.set_part(dialect, Part::State, key, value);
    data
}

fn start() -> Event {
    Event::Start { id: Some("msg_01".into()), model: Some("claude-x".into()), provider_data: ProviderData::default() }
}

fn text(index: usize, text: &str) -> [Event; 3] {
    [
        Event::BlockStart { index, block: Block::text("") },
        Event::TextDelta { index, text: text.into() },
        Event::BlockDone { index, provider_data: ProviderData::default() },
    ]
}

fn done(finish_reason: FinishReason) -> Event {
    Event::Done { finish_reason, provider_data: ProviderData::default() }
}

/// Returns thinking, two texts and a call, as a provider of another dialect streams them.
fn foreign() -> Vec<Event> {
    let mut events = vec![
        start(),
        Event::BlockStart { index: 0, block: Block::thinking("") },
        Event::ThinkingDelta { index: 0, text: "Hm".into() },
        Event::ThinkingDelta { index: 0, text: ".".into() },
        Event::BlockDone { index: 0, provider_data: state(Dialect::Anthropic, "signature", "S") },
    ];
    events.extend(text(1, "Hel\"lo"));
    events.extend(text(2, "again"));
    events.extend([
        Event::ToolCallStart {
            index: 3,
            id: "toolu_1".into(),
            name: "f".into(),
            provider_data: ProviderData::default(),
        },
        Event::ToolCallDelta { index: 3, arguments: "{\"a\":".into() },
        Event::ToolCallDelta { index: 3, arguments: "1}".into() },
        Event::ToolCallDone {
            index: 3,
            arguments: json!({"a": 1}).as_object().cloned().unwrap().into(),
            provider_data: state(Dialect::Gemini, "thought_signature", "T"),
        },
        Event::Usage { usage: Usage { input_tokens: 5, output_tokens: 2, ..Usage::default() } },
        done(FinishReason::ToolUse),
    ]);
    events
}

#[test]
fn the_whole_sequence_for_an_answer_from_elsewhere() {
    let written = write_stream(&foreign(), reply());
    check_as_client(&written).unwrap();
    insta::assert_snapshot!(written);
}

#[test]
fn the_end_of_a_stream_is_what_the_whole_answer_would_have_been() {
    let events = foreign();
    let response = check_grammar(&events).unwrap();
    let mut whole: Value = serde_json::from_slice(&encode_response(&response, &reply()).body).unwrap();
    let mut streamed = check_as_client(&write_stream(&events, reply())).unwrap();
    // New ids are assigned in another order, and sealed text contains no ids.
    for body in [&mut whole, &mut streamed] {
        body["id"] = json!(null);
        body["output"].as_array_mut().unwrap().iter_mut().for_each(|item| item["id"] = json!(null));
    }
    assert_eq!(streamed, whole);
}

#[test]
fn foreign_state_is_sealed_with_its_issuer() {
    let end = check_as_client(&write_stream(&foreign(), reply())).unwrap();
    let sealed: Vec<seal::Sealed> = end["output"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|item| seal::Sealed::from_text(item["encrypted_content"].as_str()?))
        .collect();
    assert_eq!(
        serde_json::to_value(sealed).unwrap(),
        json!([
            {"p": "anthropic", "m": "claude-x", "d": {"anthropic": {"signature": "S"}}},
            {"p": "anthropic", "m": "claude-x", "n": {"call": "toolu_1"}, "d": {"gemini": {"thought_signature": "T"}}},
        ])
    );
}

#[test]
fn the_same_comes_back_from_what_was_written() {
    let mut again = check_grammar(&read_stream(&write_stream(&foreign(), reply()))).unwrap();
    again.content.retain(|block| !matches!(block, Block::Thinking(thinking) if thinking.text.is_empty()));
    let first = check_grammar(&foreign()).unwrap();
    assert_eq!(
        (again.text(), again.thinking(), again.finish_reason),
        (first.text(), first.thinking(), first.finish_reason)
    );
    assert_eq!(again.usage, first.usage);
}

#[test]
fn blocks_that_are_open_at_once_stay_apart() {
    let events = [
        start(),
        Event::BlockStart { index: 0, block: Block::text("") },
        Event::ToolCallStart { index: 1, id: "c".into(), name: "f".into(), provider_data: ProviderData::default() },
        Event::TextDelta { index: 0, text: "a".into() },
        Event::ToolCallDelta { index: 1, arguments: "{}".into() },
        Event::BlockStart { index: 2, block: Block::text("") },
        Event::TextDelta { index: 2, text: "b".into() },
        Event::BlockDone { index: 2, provider_data: ProviderData::default() },
        Event::BlockDone { index: 0, provider_data: ProviderData::default() },
        Event::ToolCallDone {
            index: 1,
            arguments: crate::Arguments::default(),
            provider_data: ProviderData::default(),
        },
        done(FinishReason::ToolUse),
    ];
    let end = check_as_client(&write_stream(&events, reply())).unwrap();
    let kinds: Vec<&str> =
        end["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call", "message"]);
}

#[test]
fn errors_are_failed_answers_even_before_anything_began() {
    let error = || Event::Error { error: Box::new(Error::new(ErrorKind::RateLimit, "slow")) };
    let alone = check_as_client(&write_stream(&[error()], reply())).unwrap();
    assert_eq!(
        (&alone["status"], &alone["error"]["code"], &alone["error"]["message"]),
        (&json!("failed"), &json!("rate_limit_exceeded"), &json!("slow"))
    );
    let mut events = vec![start()];
    events.extend(text(0, "so far"));
    // A block that never ended is not in the answer.
    events.push(Event::BlockStart { index: 1, block: Block::thinking("") });
    events.push(error());
    events.extend(text(2, "never"));
    let written = write_stream(&events, reply());
    let end = check_as_client(&written).unwrap();
    assert_eq!(end["output"][0]["content"][0]["text"], "so far");
    assert_eq!(end["output"].as_array().map(Vec::len), Some(1));
    let read = check_grammar(&read_stream(&written)).unwrap();
    assert_eq!((read.text().as_str(), read.error.unwrap().kind), ("so far", ErrorKind::RateLimit));
}

#[test]
fn the_end_says_why() {
    for (finish, kind, reason) in [
        (FinishReason::Stop, "completed", Value::Null),
        (FinishReason::Unknown, "completed", Value::Null),
        (FinishReason::Length, "incomplete", json!("max_output_tokens")),
        (FinishReason::ContentFilter, "incomplete", json!("content_filter")),
        (FinishReason::Error, "failed", Value::Null),
    ] {
        let mut events = vec![start()];
        events.extend(text(0, "x"));
        events.push(done(finish));
        let end = check_as_client(&write_stream(&events, reply())).unwrap();
        assert_eq!((&end["status"], &end["incomplete_details"]["reason"]), (&json!(kind), &reason));
    }
}

#[test]
fn refusals_pictures_and_what_has_no_place() {
    let mut refusal = Text { text: String::new(), ..Text::default() };
    refusal.provider_data.set_part(Dialect::OpenaiChat, Part::Shape, "refusal", true);
    let picture = Image {
        source: Source::Base64 { media_type: "image/webp".into(), data: "UklGRg==".into() },
        cache: None,
        provider_data: ProviderData::default(),
    };
    let closed = |index: usize, block: Block| {
        [Event::BlockStart { index, block }, Event::BlockDone { index, provider_data: ProviderData::default() }]
    };
    let mut events = vec![
        start(),
        Event::BlockStart { index: 0, block: Block::Text(refusal) },
        Event::TextDelta { index: 0, text: "No.".into() },
        Event::BlockDone { index: 0, provider_data: ProviderData::default() },
    ];
    events.extend(closed(1, Block::Image(picture)));
    events.extend(closed(2, Block::image_url("https://a.example/b.png")));
    events.extend(closed(3, Block::Other(Other { dialect: Dialect::Gemini, data: json!({}).into() })));
    events.push(Event::Other { index: None, dialect: Dialect::Gemini, data: json!({"type": "x"}).into() });
    events.push(done(FinishReason::ContentFilter));
    let written = write_stream(&events, reply());
    let mut end = check_as_client(&written).unwrap();
    end["output"].as_array_mut().unwrap().iter_mut().for_each(|item| item["id"] = json!(null));
    assert_eq!(
        (&end["status"], &end["output"]),
        (
            &json!("completed"),
            &json!([
                {"id": null, "type": "message", "status": "completed", "role": "assistant",
                 "content": [{"type": "refusal", "refusal": "No."}]},
                {"id": null, "type": "image_generation_call", "status": "completed", "output_format": "webp",
                 "result": "UklGRg=="},
            ])
        )
    );
    assert!(written.contains("response.refusal.delta") && written.contains("response.refusal.done"));
}

#[test]
fn events_that_make_no_sense_are_not_written() {
    let events = [
        Event::TextDelta { index: 4, text: "x".into() },
        Event::ThinkingDelta { index: 0, text: "x".into() },
        Event::ToolCallDelta { index: 0, arguments: "x".into() },
        Event::BlockDone { index: 0, provider_data: ProviderData::default() },
        done(FinishReason::Stop),
        start(),
    ];
    let end = check_as_client(&write_stream(&events, reply())).unwrap();
    assert_eq!((&end["output"], &end["model"]), (&json!([]), &json!("asked")));
}

#[test]
fn a_whole_answer_can_be_streamed() {
    let response = check_grammar(&foreign()).unwrap();
    let written = write_stream(&events(&response), reply());
    check_as_client(&written).unwrap();
    assert_eq!(check_grammar(&read_stream(&written)).unwrap().text(), response.text());
}

#[test]
fn the_code_of_a_call_that_is_whole_from_the_start_is_told_as_code() {
    let item = json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1+1",
        "container_id": "", "outputs": []});
    let events = [
        start(),
        Event::BlockStart { index: 0, block: Block::Other(Other { dialect: DIALECT, data: item.clone().into() }) },
        Event::BlockDone { index: 0, provider_data: ProviderData::default() },
        done(FinishReason::Stop),
    ];
    let text = write_stream(&events, reply());
    let frames = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let frames: Vec<Value> = frames.map(|frame| serde_json::from_str(frame).unwrap()).collect();
    assert_eq!(
        frames[2..6],
        [
            json!({"type": "response.output_item.added", "sequence_number": 2, "output_index": 0, "item": item}),
            json!({"type": "response.code_interpreter_call_code.delta", "sequence_number": 3, "item_id": "ci_1",
                "output_index": 0, "delta": "1+1"}),
            json!({"type": "response.code_interpreter_call_code.done", "sequence_number": 4, "item_id": "ci_1",
                "output_index": 0, "code": "1+1"}),
            json!({"type": "response.output_item.done", "sequence_number": 5, "output_index": 0, "item": item}),
        ]
    );
}

#[test]
fn a_signature_without_a_text_is_no_part_of_the_message() {
    let mut events = vec![start()];
    events.extend(text(0, "Hello"));
    let signed = Text { provider_data: state(Dialect::Gemini, "thought_signature", "T"), ..Text::default() };
    events.extend([
        Event::BlockStart { index: 1, block: Block::Text(signed.clone()) },
        Event::BlockDone { index: 1, provider_data: ProviderData::default() },
        done(FinishReason::Stop),
    ]);
    let mut streamed = check_as_client(&write_stream(&events, reply())).unwrap();
    let response = check_grammar(&events).unwrap();
    let mut whole: Value = serde_json::from_slice(&encode_response(&response, &reply()).body).unwrap();
    for body in [&mut whole, &mut streamed] {
        body["output"].as_array_mut().unwrap().iter_mut().for_each(|item| item["id"] = json!(null));
    }
    assert_eq!(streamed["output"], whole["output"]);
    let sealed = streamed["output"][1]["encrypted_content"].take();
    assert_eq!(
        streamed["output"],
        json!([
            {"id": null, "type": "message", "status": "completed", "role": "assistant",
             "content": [{"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}]},
            {"id": null, "type": "reasoning", "summary": [], "encrypted_content": null},
        ])
    );
    let sealed = seal::Sealed::from_text(sealed.as_str().unwrap()).unwrap();
    assert_eq!(
        serde_json::to_value(sealed).unwrap(),
        json!({"p": "anthropic", "m": "claude-x", "n": {"alone": true}, "d": {"gemini": {"thought_signature": "T"}}}),
    );
    // It is a part as soon as it has a text, and stays one after it.
    let said = |first: Text| {
        let events = [
            start(),
            Event::BlockStart { index: 0, block: Block::Text(first) },
            Event::BlockStart { index: 1, block: Block::thinking("") },
            Event::TextDelta { index: 0, text: "Hi".into() },
            Event::BlockDone { index: 0, provider_data: ProviderData::default() },
            Event::BlockDone { index: 1, provider_data: ProviderData::default() },
            done(FinishReason::Stop),
        ];
        let end = check_as_client(&write_stream(&events, reply())).unwrap();
        end["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    let kinds: Vec<String> = said(signed);
    assert_eq!(kinds, ["message", "reasoning", "reasoning"]);
}

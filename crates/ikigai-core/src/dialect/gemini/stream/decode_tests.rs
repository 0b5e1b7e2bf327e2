use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::testing::decode_response;
use crate::dialect::testing;
use crate::wire::Ids;
use crate::{Block, Dialect, ErrorKind, Event, FinishReason, Part, Response};

fn decoded<T: AsRef<str>>(frames: &[T]) -> Vec<Event> {
    testing::events_of_frames(Dialect::Gemini, frames)
}

pub(super) fn read(frames: &[Value]) -> Vec<Event> {
    decoded(&frames.iter().map(Value::to_string).collect::<Vec<_>>())
}

/// Returns the events as JSON, which is shorter to write.
fn events(frames: &[Value]) -> Value {
    serde_json::to_value(read(frames)).unwrap()
}

pub(super) fn response(frames: &[Value]) -> Response {
    testing::collect(read(frames))
}

/// Makes a frame with these parts.
pub(super) fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}}], "modelVersion": "m", "responseId": "r"})
}

pub(super) fn stop() -> Value {
    json!({"candidates": [{"finishReason": "STOP"}]})
}

pub(super) fn error(events: &[Event]) -> (ErrorKind, String) {
    match events.last() {
        Some(Event::Error { error }) => (error.kind, error.message.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn thoughts_and_text_are_deltas_of_their_blocks() {
    let frames = [
        parts(json!([{"text": "Let ", "thought": true}])),
        parts(json!([{"text": "me see.", "thought": true}])),
        parts(json!([{"text": "It"}])),
        parts(json!([{"text": " is\n"}])),
        parts(json!([{"text": "sunny."}])),
        json!({"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": 0}]}),
    ];
    assert_eq!(
        events(&frames),
        json!([
            {"type": "start", "id": "r", "model": "m"},
            {"type": "block_start", "index": 0, "block": {"type": "thinking", "text": ""}},
            {"type": "thinking_delta", "index": 0, "text": "Let "},
            {"type": "thinking_delta", "index": 0, "text": "me see."},
            {"type": "block_done", "index": 0},
            {"type": "block_start", "index": 1, "block": {"type": "text", "text": ""}},
            {"type": "text_delta", "index": 1, "text": "It"},
            {"type": "text_delta", "index": 1, "text": " is\n"},
            {"type": "text_delta", "index": 1, "text": "sunny."},
            {"type": "block_done", "index": 1},
            {"type": "done", "finish_reason": "stop", "provider_data": {"gemini": {
                "response": {"finish_reason": "STOP", "index": 0, "candidate": ["index"]}}}},
        ]),
    );
}

#[test]
fn a_signature_on_an_empty_part_is_a_block_of_its_own() {
    let frames = [
        parts(json!([{"text": "Hi"}])),
        json!({"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "c2ln"}]}, "finishReason": "STOP"}]}),
    ];
    assert_eq!(
        events(&frames),
        json!([
            {"type": "start", "id": "r", "model": "m"},
            {"type": "block_start", "index": 0, "block": {"type": "text", "text": ""}},
            {"type": "text_delta", "index": 0, "text": "Hi"},
            {"type": "block_done", "index": 0},
            {"type": "block_start", "index": 1, "block": {"type": "text", "text": "", "provider_data": {"gemini": {"thought_signature": "c2ln"}}}},
            {"type": "block_done", "index": 1},
            {"type": "done", "finish_reason": "stop", "provider_data": {"gemini": {"response": {"finish_reason": "STOP"}}}},
        ]),
    );
}

#[test]
fn calls_come_whole_with_the_signature_on_the_first() {
    let frames = [
        parts(json!([
            {"functionCall": {"name": "f", "args": {"b": 1, "a": 2}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "c2", "name": "g"}},
        ])),
        parts(json!([{"functionCall": {"name": "f", "args": {"b": 3}}}])),
        stop(),
    ];
    let mut ids = Ids::default();
    let (first, third) = (ids.next_id(), ids.next_id());
    assert_eq!(
        events(&frames),
        json!([
            {"type": "start", "id": "r", "model": "m"},
            {"type": "tool_call_start", "index": 0, "id": first, "name": "f",
                "provider_data": {"gemini": {"thought_signature": "c2ln", "shape": {"generated_id": true}}}},
            {"type": "tool_call_delta", "index": 0, "arguments": r#"{"b":1,"a":2}"#},
            {"type": "tool_call_done", "index": 0, "arguments": {"b": 1, "a": 2}},
            {"type": "tool_call_start", "index": 1, "id": "c2", "name": "g", "provider_data": {"gemini": {"shape": {"no_args": true}}}},
            {"type": "tool_call_delta", "index": 1, "arguments": "{}"},
            {"type": "tool_call_done", "index": 1, "arguments": {}},
            {"type": "tool_call_start", "index": 2, "id": third, "name": "f", "provider_data": {"gemini": {"shape": {"generated_id": true}}}},
            {"type": "tool_call_delta", "index": 2, "arguments": r#"{"b":3}"#},
            {"type": "tool_call_done", "index": 2, "arguments": {"b": 3}},
            {"type": "done", "finish_reason": "tool_use", "provider_data": {"gemini": {"response": {"finish_reason": "STOP"}}}},
        ]),
    );
}

#[test]
fn counts_are_snapshots_that_never_end_the_stream() {
    let usage =
        |counts: Value| json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}], "usageMetadata": counts});
    let frames = [
        usage(json!({"promptTokenCount": 5, "totalTokenCount": 5, "serviceTier": "standard"})),
        usage(json!({"promptTokenCount": 5, "totalTokenCount": 5})),
        usage(json!({"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7})),
        stop(),
        // After the finish reason, and without the prompt's count.
        json!({"usageMetadata": {"candidatesTokenCount": "3", "thoughtsTokenCount": 4, "totalTokenCount": 12, "promptTokensDetails": [1]}}),
    ];
    let told: Vec<(u64, u64, u64)> = read(&frames)
        .into_iter()
        .filter_map(|event| match event {
            Event::Usage { usage } => Some((usage.input_tokens, usage.output_tokens, usage.thinking_tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(5, 0, 0), (5, 2, 0), (5, 3, 4), (5, 3, 4)]);
    let usage = response(&frames).usage.unwrap();
    assert_eq!(
        serde_json::to_value(usage.provider_data).unwrap(),
        json!({"gemini": {"response": {"serviceTier": "standard", "promptTokensDetails": [1]}}}),
    );
}

#[test]
fn of_several_finish_reasons_the_last_holds() {
    let frames = [
        parts(json!([{"executableCode": {"code": "1"}}])),
        json!({"candidates": [{"finishReason": "STOP"}]}),
        parts(json!([{"codeExecutionResult": {"output": "1"}}])),
        parts(json!([{"text": "One"}])),
        json!({"candidates": [{"finishReason": "MAX_TOKENS", "finishMessage": "enough"}]}),
    ];
    assert_eq!(
        serde_json::to_value(response(&frames)).unwrap(),
        json!({
            "id": "r", "model": "m",
            "content": [
                {"type": "provider_call", "id": "", "tool": "code_execution", "name": "executableCode",
                 "arguments": {"language": null, "code": "1"},
                 "provider_data": {"gemini": {"wire": {"executableCode": {"code": "1"}}}}},
                {"type": "provider_result", "call_id": "", "tool": "code_execution",
                 "content": [{"type": "text", "text": "1"}],
                 "provider_data": {"gemini": {"wire": {"codeExecutionResult": {"output": "1"}}}}},
                {"type": "text", "text": "One"},
            ],
            "finish_reason": "length",
            "provider_data": {"gemini": {
                "response": {"finish_reason": "MAX_TOKENS", "finishMessage": "enough", "candidate": ["finishMessage"]}}},
        }),
    );
}

#[test]
fn other_candidates_are_passed_over() {
    let frames = [
        json!({"candidates": [{"content": {"parts": [{"text": "B"}]}, "index": 1, "finishReason": "SAFETY"}]}),
        json!({"candidates": [
            {"content": {"parts": [{"text": "B"}]}, "index": 1},
            {"content": {"parts": [{"text": "A"}]}, "index": 0, "finishReason": "STOP"},
            {"content": {"parts": [{"text": "C"}]}, "index": 2},
        ]}),
    ];
    assert_eq!(response(&frames).text(), "A");
}

#[test]
fn nulls_are_as_good_as_absent() {
    let frames = [
        json!({"candidates": null, "usageMetadata": null, "modelVersion": null, "responseId": null, "error": null, "promptFeedback": null}),
        json!({"candidates": [{"content": null, "finishReason": null, "index": null}]}),
        json!({"candidates": [{"content": {"parts": null}}], "usageMetadata": {"promptTokenCount": null}}),
        json!({"candidates": [{"content": {"parts": [{"text": "x", "thought": null, "thoughtSignature": null, "functionCall": null}]}}]}),
        stop(),
    ];
    assert_eq!(
        serde_json::to_value(response(&frames)).unwrap(),
        json!({"content": [{"type": "text", "text": "x"}], "finish_reason": "stop", "provider_data": {"gemini": {"response": {"finish_reason": "STOP"}}}}),
    );
}

#[test]
fn a_refused_prompt_ends_well() {
    let frames = [
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4}}),
    ];
    assert_eq!(
        events(&frames)[3],
        json!({"type": "done", "finish_reason": "content_filter", "provider_data": {"gemini": {
            "response": {"promptFeedback": {"blockReason": "SAFETY"}}}}}),
    );
}

#[test]
fn an_answer_that_is_blocked_half_way_was_filtered_and_not_cut_off() {
    let blocked = testing::collect(read(&[
        parts(json!([{"text": "Hel"}])),
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
    ]));
    assert_eq!((blocked.text().as_str(), blocked.finish_reason), ("Hel", FinishReason::ContentFilter));
}

#[test]
fn an_answer_that_is_cut_off_keeps_what_came() {
    let cut = testing::collect(read(&[parts(json!([{"text": "Hel"}]))]));
    assert_eq!((cut.text().as_str(), cut.error.unwrap().code.as_deref()), ("Hel", Some("truncated")));
}

#[test]
fn errors_in_the_stream_end_it() {
    let failure = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    for frames in [
        vec![parts(json!([{"text": "Hel"}])), failure.clone(), stop()],
        vec![failure.clone()],
        vec![json!([failure])],
        vec![json!([parts(json!([{"text": "Hel"}])), failure, stop()])],
    ] {
        assert_eq!(error(&read(&frames)), (ErrorKind::Overloaded, "The model is overloaded.".to_owned()));
    }
}

#[test]
fn frames_that_make_no_sense_end_it_with_an_excerpt() {
    for (frame, fault) in [
        (
            r#"{"candidates": [{"content": {"parts": [{"text": "Hel"#,
            "candidates[0].content.parts[0].text: EOF while parsing a string at line 1 column 52",
        ),
        ("hello", "expected value at line 1 column 1"),
        ("5", "invalid type: integer `5`, expected an object at line 1 column 1"),
        (
            r#"{"candidates": 5}"#,
            "candidates: invalid type: integer `5`, expected a list or an object at line 1 column 16",
        ),
        (
            r#"{"candidates": [{"content": {"parts": [{"text": 5}]}}]}"#,
            "candidates[0].content.parts[0].text: invalid type: integer `5`, expected a string at line 1 column 49",
        ),
    ] {
        let frames = [parts(json!([{"text": "x"}])).to_string(), frame.to_owned(), "{}".to_owned()];
        assert_eq!(
            error(&decoded(&frames)),
            (ErrorKind::Protocol, format!("event 2 of the stream cannot be read ({fault}); it begins: {frame}")),
        );
    }
}

#[test]
fn pictures_come_whole() {
    let frames =
        [parts(json!([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thoughtSignature": "c2ln"}])), stop()];
    assert_eq!(
        serde_json::to_value(response(&frames).content).unwrap(),
        json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
            "provider_data": {"gemini": {"thought_signature": "c2ln"}}}]),
    );
}

/// Generates a part of an answer.
fn any_part() -> impl Strategy<Value = Value> {
    let text = prop_oneof![Just(String::new()), "[a-z\\n\"é]{1,5}"];
    let signature = proptest::option::of(Just("c2ln"));
    prop_oneof![
        4 => (text, any::<bool>(), signature).prop_map(|(text, thought, signature)| {
            let mut part = json!({"text": text});
            if thought {
                part["thought"] = true.into();
            }
            if let Some(signature) = signature {
                part["thoughtSignature"] = signature.into();
            }
            part
        }),
        1 => Just(json!({"functionCall": {"name": "f", "args": {"z": 1, "a": [true]}}})),
        1 => Just(json!({"functionCall": {"name": "f", "id": "c"}, "thoughtSignature": "cw=="})),
        1 => Just(json!({"executableCode": {"code": "1"}, "thoughtSignature": "cw=="})),
        1 => Just(json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})),
    ]
}

proptest! {
    /// A stream gives what the whole answer gives. Only how the whole one divides its text, and its empty parts, cannot
    /// be seen from a stream.
    #[test]
    fn a_stream_is_its_response(all in proptest::collection::vec(any_part(), 1..8)) {
        let body = json!({
            "candidates": [{"content": {"parts": all, "role": "model"}, "finishReason": "STOP", "index": 0, "avgLogprobs": -0.5}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "totalTokenCount": 9, "serviceTier": "standard"},
            "modelVersion": "m",
            "responseId": "r",
            "createTime": "t",
        });
        let mut whole = decode_response(&body, &mut Ids::default()).unwrap();
        for data in whole.content.iter_mut().filter_map(Block::provider_data_mut) {
            data.remove_part(Dialect::Gemini, Part::Shape, "split");
        }
        whole.provider_data.remove_part(Dialect::Gemini, Part::Shape, "empty");
        let mut frames: Vec<Value> = all.iter().map(|part| parts(json!([part]))).collect();
        let mut last = body;
        last["candidates"][0]["content"] = json!({"role": "model"});
        frames.push(last);
        prop_assert_eq!(response(&frames), whole);
    }

    /// Whatever a frame contains, the events keep their order and the stream ends.
    #[test]
    fn any_frame_is_survivable(frames in proptest::collection::vec(any_frame(), 0..6)) {
        decoded(&frames);
    }
}

/// Generates frames that are nearly right.
fn any_frame() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(0)),
        Just(json!(true)),
        Just(json!("x")),
        Just(json!({})),
        Just(json!([])),
        Just(json!("$.a[0]")),
    ];
    let value = leaf.prop_recursive(5, 24, 4, |inner| {
        let name = proptest::sample::select(vec![
            "candidates",
            "content",
            "parts",
            "text",
            "thought",
            "thoughtSignature",
            "functionCall",
            "name",
            "args",
            "id",
            "partialArgs",
            "jsonPath",
            "stringValue",
            "willContinue",
            "finishReason",
            "index",
            "usageMetadata",
            "promptTokenCount",
            "promptFeedback",
            "blockReason",
            "inlineData",
            "mimeType",
            "data",
            "x",
        ]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((name.prop_map(str::to_owned), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop_oneof![
        2 => value.clone().prop_map(|value| value.to_string()),
        3 => value.prop_map(|part| parts(json!([part])).to_string()),
        1 => any_part().prop_map(|part| parts(json!([part])).to_string()),
        1 => ".{0,12}",
        1 => Just(stop().to_string()),
    ]
}

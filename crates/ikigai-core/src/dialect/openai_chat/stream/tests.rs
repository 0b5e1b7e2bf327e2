//! Pieces of streams, as servers send them, and what becomes of them.
//!
//! A stream collected is the whole answer. What the wire itself makes different, and no test can make equal:
//! - the frame of a whole answer (`refusal: null`, `annotations: []`, `index` in calls) is not in a stream;
//! - text that comes after a call, or reasoning after text, is a block of its own here, where a whole answer merges them.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::dialect::openai_chat::testing::{decode_response, encode_response};
use crate::dialect::testing::{self, collect};
use crate::dialect::{Reply, WriteFrames};
use crate::wire::Ids;
use crate::{Block, Dialect, Error, ErrorKind, Event, FinishReason, Part, Response, Usage};

/// The events of frames, checked against the grammar.
fn read(frames: &[&str]) -> Vec<Event> {
    testing::events_of_frames(Dialect::OpenaiChat, frames)
}

/// A chunk with one delta.
fn delta(delta: Value) -> String {
    json!({"id": "1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

fn finish(word: &str) -> String {
    json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": word}]}).to_string()
}

/// The answer that these deltas make, ended by `word`.
fn answer(deltas: &[Value], word: &str) -> Response {
    let mut frames: Vec<String> = deltas.iter().cloned().map(delta).collect();
    frames.push(finish(word));
    frames.push("[DONE]".to_owned());
    collect(read(&frames.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// The blocks of a whole answer with this message, without what only serves to write it again.
fn whole(message: Value, word: &str) -> (Vec<Block>, FinishReason) {
    let body = json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": word}]});
    bare(decode_response(body, &mut Ids::default()).unwrap())
}

fn bare(mut response: Response) -> (Vec<Block>, FinishReason) {
    for data in response.content.iter_mut().filter_map(Block::provider_data_mut) {
        data.take_part(Dialect::OpenaiChat, Part::Answer);
        data.remove_part(Dialect::OpenaiChat, Part::Shape, "answer");
    }
    (response.content, response.finish_reason)
}

#[test]
fn text_arrives_piece_by_piece() {
    let frames = [
        r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}"#,
        r#"{"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}"#,
        r#"{"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":{"content":"l\no"},"finish_reason":null}]}"#,
        r#"{"id":"chatcmpl-1","model":"m","service_tier":"default","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"id":"chatcmpl-1","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#,
        "[DONE]",
    ];
    let mut usage = Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() };
    let counts = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5});
    usage.provider_data.set_part(Dialect::OpenaiChat, Part::Shape, "usage", counts);
    let mut end = crate::ProviderData::default();
    end.set_part(Dialect::OpenaiChat, Part::Answer, "service_tier", "default");
    end.set_part(Dialect::OpenaiChat, Part::Shape, "answer", json!({"created": 1}));
    end.set_part(Dialect::OpenaiChat, Part::Shape, "finish_reason", "stop");
    assert_eq!(
        read(&frames),
        [
            Event::Start { id: Some("chatcmpl-1".into()), model: Some("m".into()), provider_data: Default::default() },
            Event::BlockStart { index: 0, block: Block::text("") },
            Event::TextDelta { index: 0, text: "Hel".into() },
            Event::TextDelta { index: 0, text: "l\no".into() },
            Event::BlockDone { index: 0, provider_data: Default::default() },
            Event::Usage { usage },
            Event::Done { finish_reason: FinishReason::Stop, provider_data: end },
        ]
    );
}

#[test]
fn reasoning_in_every_field_is_what_a_whole_answer_has() {
    let text = json!({"content": "A"});
    assert_eq!(
        bare(answer(
            &[
                json!({"role": "assistant", "reasoning_content": "h"}),
                json!({"reasoning_content": "m", "content": ""}),
                text.clone()
            ],
            "stop"
        )),
        whole(json!({"reasoning_content": "hm", "content": "A"}), "stop")
    );
    assert_eq!(
        bare(answer(
            &[
                json!({"reasoning": "h", "reasoning_content": "h"}),
                json!({"reasoning": "m", "reasoning_content": "m"}),
                text.clone()
            ],
            "stop"
        )),
        whole(json!({"reasoning": "hm", "reasoning_content": "hm", "content": "A"}), "stop")
    );
    // White space before the reasoning belongs to the text behind it.
    assert_eq!(
        bare(answer(&[json!({"content": "\n"}), json!({"reasoning_content": "hm"}), text], "stop")),
        whole(json!({"reasoning_content": "hm", "content": "\nA"}), "stop")
    );
    assert_eq!(
        bare(answer(
            &[
                json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]}),
                json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "m"}], "closed": true}, {"type": "text", "text": "A"}]})
            ],
            "stop"
        )),
        whole(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": true}, {"type": "text", "text": "A"}]}),
            "stop"
        )
    );
}

#[test]
fn details_are_put_together_by_type_and_index() {
    let detail = |index: u64, fields: Value| {
        let mut detail = json!({"type": "reasoning.text", "index": index, "format": "anthropic-claude-v1"});
        detail.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        detail
    };
    let deltas = [
        json!({"reasoning": "a", "reasoning_details": [detail(0, json!({"text": "a"}))]}),
        json!({"reasoning": "b", "reasoning_details": [detail(0, json!({"text": "b", "id": null}))]}),
        json!({"reasoning_details": [detail(0, json!({"signature": "sig"})), {"type": "reasoning.encrypted", "index": 0, "data": "en", "id": "rs"}]}),
        json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "c"}]}),
        json!({"reasoning": "c", "reasoning_details": [detail(1, json!({"text": "c", "format": "unknown"}))]}),
        json!({"content": "A"}),
    ];
    assert_eq!(
        bare(answer(&deltas, "stop")),
        whole(
            json!({"reasoning": "abc", "content": "A", "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1", "text": "ab", "id": null, "signature": "sig"},
                {"type": "reasoning.encrypted", "index": 0, "data": "enc", "id": "rs"},
                {"type": "reasoning.text", "index": 1, "format": "unknown", "text": "c"}]}),
            "stop"
        )
    );
}

#[test]
fn details_alone_are_the_reasoning_and_sealed_ones_come_first() {
    let only = [
        json!({"content": "", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "h"}]}),
        json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "m"}]}),
        json!({"content": "A"}),
    ];
    assert_eq!(
        bare(answer(&only, "stop")),
        whole(
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "hm"}], "content": "A"}),
            "stop"
        )
    );
    let sealed = json!([{"type": "reasoning.encrypted", "data": "x", "id": "rs"}]);
    assert_eq!(
        bare(answer(&[json!({"reasoning": null, "reasoning_details": sealed}), json!({"content": "A"})], "stop")),
        whole(json!({"reasoning": null, "reasoning_details": sealed, "content": "A"}), "stop")
    );
    // Behind the text, where a whole answer has it before.
    let late = answer(&[json!({"content": "A"}), json!({"reasoning_details": sealed})], "stop");
    assert_eq!(late.content.iter().map(|block| block.kind().as_str()).collect::<Vec<_>>(), ["text", "thinking"]);
}

#[test]
fn refusals_arrive_piece_by_piece() {
    assert_eq!(
        bare(answer(
            &[json!({"content": null, "refusal": ""}), json!({"refusal": "I can"}), json!({"refusal": "not."})],
            "stop"
        )),
        whole(json!({"content": null, "refusal": "I cannot."}), "stop")
    );
}

/// A piece of a call.
fn piece(fields: Value) -> Value {
    json!({"tool_calls": [fields]})
}

/// Names and arguments of the calls of an answer.
fn calls(response: &Response) -> Vec<(String, String)> {
    response.tool_calls().map(|call| (call.name.clone(), call.arguments.text().to_owned())).collect()
}

fn expect_calls(deltas: &[Value], expected: &[(&str, &str)]) -> Response {
    let response = answer(deltas, "tool_calls");
    let expected: Vec<(String, String)> =
        expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    assert_eq!((calls(&response), response.finish_reason), (expected, FinishReason::ToolUse));
    response
}

#[test]
fn calls_arrive_by_index() {
    let start = |index: u64, id: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "t", "arguments": ""}});
    let more = |index: u64, text: &str| json!({"index": index, "function": {"arguments": text}});
    let response = answer(
        &[
            json!({"role": "assistant", "content": null}),
            piece(start(0, "a")),
            piece(more(0, "{\"x\"")),
            piece(more(0, ":1}")),
            // Several pieces in one chunk.
            json!({"tool_calls": [start(1, "b"), more(1, "{"), more(1, "}")]}),
        ],
        "stop",
    );
    assert_eq!(
        bare(response),
        whole(
            json!({"content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"x\":1}"}},
                {"id": "b", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}),
            "stop"
        )
    );
}

#[test]
fn a_call_closes_when_the_next_begins_only_if_it_is_whole() {
    let events = read(&[
        &delta(piece(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "t", "arguments": "{"}}))),
        &delta(piece(json!({"index": 1, "id": "b", "type": "function", "function": {"name": "t", "arguments": "{}"}}))),
        &delta(piece(json!({"index": 0, "function": {"arguments": "}"}}))),
        &delta(piece(json!({"index": 2, "id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}))),
        &finish("tool_calls"),
    ]);
    let order: Vec<(&str, usize)> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolCallStart { index, .. } => Some(("start", *index)),
            Event::ToolCallDone { index, .. } => Some(("done", *index)),
            _ => None,
        })
        .collect();
    assert_eq!(order, [("start", 0), ("start", 1), ("done", 0), ("done", 1), ("start", 2), ("done", 2)]);
}

#[test]
fn calls_of_odd_servers() {
    let call = |fields: Value| piece(fields);
    // No index: whole calls in one chunk, told apart by their ids.
    expect_calls(
        &[json!({"tool_calls": [
            {"id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}, "type": "function"},
            {"id": "b", "function": {"name": "g", "arguments": "{}"}, "type": "function"}]})],
        &[("f", "{\"x\":1}"), ("g", "{}")],
    );
    // Neither index nor id: a name begins a call, the rest goes on.
    let unnamed = expect_calls(
        &[
            call(json!({"function": {"name": "f", "arguments": "{"}})),
            call(json!({"function": {"arguments": "}"}})),
            call(json!({"function": {"name": "g", "arguments": "{}"}})),
        ],
        &[("f", "{}"), ("g", "{}")],
    );
    let ids: Vec<&str> = unnamed.tool_calls().map(|call| call.id.as_str()).collect();
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() == 22), "{ids:?}");
    // Index 0 for all: a new id is a new call.
    expect_calls(
        &[
            call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})),
            call(json!({"index": 0, "id": "b", "function": {"name": "f", "arguments": "{\"y\":2}"}})),
        ],
        &[("f", "{}"), ("f", "{\"y\":2}")],
    );
    // Id and name on every piece.
    expect_calls(
        &[
            call(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\""}})),
            call(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ":1}"}})),
        ],
        &[("f", "{\"x\":1}")],
    );
    // The name comes later than the arguments begin.
    expect_calls(
        &[
            call(json!({"index": 0, "id": "a", "type": "function", "function": {"arguments": "{\"x\""}})),
            call(json!({"index": 0, "function": {"name": "f", "arguments": ":1}"}})),
        ],
        &[("f", "{\"x\":1}")],
    );
    // Arguments as an object, an empty id, null in every place.
    expect_calls(
        &[
            call(json!({"index": 0, "id": "", "type": null, "function": {"name": "f", "arguments": {"b": 1, "a": 2}}})),
            json!({"tool_calls": null, "function_call": null}),
        ],
        &[("f", "{\"b\":1,\"a\":2}")],
    );
    // No arguments at all.
    expect_calls(&[call(json!({"index": 0, "id": "a", "function": {"name": "f"}}))], &[("f", "")]);
    // The older form.
    expect_calls(
        &[json!({"function_call": {"name": "f", "arguments": ""}}), json!({"function_call": {"arguments": "{}"}})],
        &[("f", "{}")],
    );
}

#[test]
fn signatures_on_calls_are_kept() {
    let state = json!({"google": {"thought_signature": "sig"}});
    let response = expect_calls(
        &[piece(
            json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": state}),
        )],
        &[("f", "{}")],
    );
    assert_eq!(
        response.content[0].provider_data().unwrap().part(Dialect::OpenaiChat, Part::State).get("extra_content"),
        Some(&state.into())
    );
}

#[test]
fn a_call_cut_off_by_the_limit_is_kept_and_never_run() {
    let response =
        answer(&[piece(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x"}}))], "length");
    let call = response.tool_calls().next().unwrap();
    assert_eq!((call.arguments.text(), call.is_complete()), ("{\"x", false));
    assert_eq!(response.finish_reason, FinishReason::Length);
}

fn error(frames: &[&str]) -> (Error, Response) {
    let events = read(frames);
    let Some(Event::Error { error }) = events.last().cloned() else { panic!("{events:?}") };
    (*error, collect(events))
}

#[test]
fn failures_in_a_stream_end_it_and_keep_what_had_arrived() {
    let text = delta(json!({"content": "Half"}));
    let (found, partial) =
        error(&[&text, r#"{"error":{"message":"boom","type":"server_error","code":null}}"#, &finish("stop"), "[DONE]"]);
    assert_eq!((found.kind, found.message.as_str()), (ErrorKind::Server, "boom"));
    assert_eq!((partial.text().as_str(), partial.finish_reason), ("Half", FinishReason::Error));
    // In a normal chunk, as relays send it.
    let relay = r#"{"id":"1","choices":[{"index":0,"finish_reason":"error","delta":{"content":""}}],"error":{"code":502,"message":"down"}}"#;
    assert_eq!(error(&[&text, relay]).0.message, "down");
    // As the first event, and as a text.
    assert_eq!(
        error(&[r#"{"code":"x","error":"The service is currently unavailable"}"#]).0.kind,
        ErrorKind::Overloaded
    );
    assert_eq!(error(&[&text, &finish("insufficient_system_resource"), "[DONE]"]).0.kind, ErrorKind::Overloaded);
    // Null is part of good chunks.
    let good = r#"{"id":"1","error":null,"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    assert_eq!(collect(read(&[good, "[DONE]"])).text(), "x");
}

#[test]
fn an_end_is_never_invented() {
    let text = delta(json!({"content": "Half"}));
    for frames in [&[text.as_str()][..], &[text.as_str(), "[DONE]"][..]] {
        let (found, partial) = error(frames);
        assert_eq!(found.code.as_deref(), Some("truncated"));
        assert_eq!(partial.text(), "Half");
    }
    for frames in [&[][..], &["[DONE]"][..], &[r#"{"id":"","choices":[],"prompt_filter_results":[]}"#, "[DONE]"][..]] {
        assert_eq!(error(frames).0.message, "the stream ended before the answer began");
    }
    // A finish reason is an end, with or without `[DONE]`.
    assert_eq!(collect(read(&[&text, &finish("stop")])).finish_reason, FinishReason::Stop);
    // Some give no reason, but count the tokens of what is whole.
    let counted = r#"{"id":"1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
    assert_eq!(collect(read(&[&text, counted, "[DONE]"])).finish_reason, FinishReason::Unknown);
}

#[test]
fn calls_that_make_no_sense_end_the_stream() {
    let text = delta(json!({"content": "x"}));
    assert_eq!(
        error(&[&delta(piece(json!({"index": 0, "id": "a", "function": {"arguments": "{}"}}))), &finish("tool_calls")])
            .0
            .message,
        "a tool call came without the tool's name"
    );
    // Objects that are neither chunk nor failure are passed over.
    assert_eq!(
        collect(read(&[r#"{"type":"ping"}"#, "", &text, r#"{"object":"note","choices":null}"#, &finish("stop")]))
            .text(),
        "x"
    );
}

#[test]
fn a_chunk_about_the_prompt_comes_first_on_some() {
    let events = read(&[
        r#"{"id":"","model":"","object":"","created":0,"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
        &delta(json!({"content": "x"})),
        &finish("stop"),
    ]);
    assert_eq!(
        events[0],
        Event::Start { id: Some("1".into()), model: Some("m".into()), provider_data: Default::default() }
    );
    let kept = collect(events).provider_data;
    let body = kept.part(Dialect::OpenaiChat, Part::Answer);
    assert_eq!(body.get("prompt_filter_results").unwrap(), &json!([{"prompt_index": 0}]));
}

#[test]
fn counts_come_in_many_places_and_the_last_ones_hold() {
    let text = delta(json!({"content": "x"}));
    let tokens = |frames: &[&str]| collect(read(frames)).usage.map(|usage| (usage.input_tokens, usage.output_tokens));
    let every = |n: u64| {
        json!({"id": "1", "choices": [{"index": 0, "delta": {"content": "x"}}], "usage": {"prompt_tokens": 3, "completion_tokens": n}}).to_string()
    };
    assert_eq!(tokens(&[&every(1), &every(2), &finish("stop"), "[DONE]"]), Some((3, 2)));
    let groq = r#"{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":4,"completion_tokens":5}}}"#;
    assert_eq!(tokens(&[&text, groq, "[DONE]"]), Some((4, 5)));
    let in_choice = r#"{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":6,"completion_tokens":7}}]}"#;
    assert_eq!(tokens(&[&text, in_choice, "[DONE]"]), Some((6, 7)));
    assert_eq!(tokens(&[&text, &finish("stop"), "[DONE]"]), None);
}

#[test]
fn other_choices_and_late_events_are_left_aside() {
    let other = r#"{"id":"1","choices":[{"index":1,"delta":{"content":"NO"},"finish_reason":"stop"},{"index":0,"delta":{"content":"y"}}]}"#;
    let response = collect(read(&[
        &delta(json!({"content": "x"})),
        other,
        &finish("stop"),
        "[DONE]",
        &delta(json!({"content": "late"})),
        "{broken",
    ]));
    assert_eq!((response.text().as_str(), response.finish_reason), ("xy", FinishReason::Stop));
}

#[test]
fn other_choices_are_kept_as_in_a_whole_answer() {
    let piece = |index: u64, delta: Value, word: Option<&str>| {
        json!({"id": "1", "model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": word}]})
            .to_string()
    };
    let frames = [
        piece(0, json!({"role": "assistant", "content": "a"}), None),
        piece(1, json!({"role": "assistant", "reasoning": "h", "content": "b"}), None),
        piece(1, json!({"reasoning": "m", "content": "B"}), None),
        piece(
            2,
            json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}),
            None,
        ),
        piece(0, json!({}), Some("stop")),
        piece(2, json!({}), Some("tool_calls")),
        piece(1, json!({}), Some("length")),
        "[DONE]".to_owned(),
    ];
    let response = collect(read(&frames.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(response.text(), "a");
    let others = response.provider_data.part(Dialect::OpenaiChat, Part::Answer).get("choices").unwrap();
    assert_eq!(
        others.value(),
        &json!([
            {"index": 1, "finish_reason": "length", "message": {"role": "assistant", "content": "bB", "reasoning": "hm"}},
            {"index": 2, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}},
        ])
    );
}

#[test]
fn a_total_that_does_not_add_up_is_told() {
    let counted = r#"{"id":"1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":9}}"#;
    let text = delta(json!({"content": "x"}));
    let warned = |response: Response| -> Vec<String> { response.warnings.iter().map(ToString::to_string).collect() };
    let expected = ["usage at usage.total_tokens: the provider says 9, the counts add up to 5"];
    assert_eq!(warned(collect(read(&[&text, &finish("stop"), counted, "[DONE]"]))), expected);
    let whole = json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 9}});
    assert_eq!(warned(decode_response(whole, &mut Ids::default()).unwrap()), expected);
}

/// Tens of thousands of pieces, in forms that once cost the square of their number.
#[test]
fn many_calls_and_details_take_time_by_their_number() {
    let many = 20_000_u64;
    let start = |index: u64, arguments: &str| {
        delta(piece(
            json!({"index": index, "id": format!("c{index}"), "type": "function", "function": {"name": "t", "arguments": arguments}}),
        ))
    };
    // One call stays open all the time and grows by the others' side.
    let mut frames = vec![start(0, &format!("{{\"x\": \"{}", "y".repeat(200_000)))];
    for index in 1..many {
        frames.push(start(index, "{}"));
        frames.push(delta(piece(json!({"index": 0, "function": {"arguments": "z"}}))));
        frames
            .push(delta(json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": index, "data": "d"}]})));
    }
    frames.extend([finish("tool_calls"), "[DONE]".to_owned()]);
    let events = testing::events_of_frames(Dialect::OpenaiChat, &frames);
    let starts = events.iter().filter(|event| matches!(event, Event::ToolCallStart { .. })).count();
    assert_eq!(starts, usize::try_from(many).unwrap());
    let mut encoder = Encoder::new(encoding::reply());
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut bytes));
    assert!(bytes.ends_with(b"data: [DONE]\n\n"));
}

#[test]
fn a_stream_that_was_answered_whole_is_read_all_the_same() {
    let body = json!({"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]});
    let response = collect(read(&[&body.to_string()]));
    assert_eq!(response, decode_response(body, &mut Ids::default()).unwrap());
}

#[test]
fn log_probabilities_annotations_and_speech_are_put_together() {
    let frames = [
        r#"{"id":"1","choices":[{"index":0,"delta":{"content":"x","annotations":[1]},"logprobs":{"content":[{"t":1}],"refusal":null}}]}"#,
        r#"{"id":"1","choices":[{"index":0,"delta":{"content":"y","annotations":[2]},"logprobs":{"content":[{"t":2}],"refusal":null}}]}"#,
        r#"{"id":"1","choices":[{"index":0,"delta":{"audio":{"id":"a","data":"T2dn","transcript":"be"}}}]}"#,
        r#"{"id":"1","choices":[{"index":0,"delta":{"audio":{"data":"UwAC","transcript":"ep"}}}]}"#,
        r#"{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"STOP"}]}"#,
    ];
    let response = collect(read(&frames));
    let kept = response.provider_data.part(Dialect::OpenaiChat, Part::Answer);
    assert_eq!(
        serde_json::to_value(kept).unwrap(),
        json!({
            "choice.native_finish_reason": "STOP",
            "choice.logprobs": {"content": [{"t": 1}, {"t": 2}], "refusal": null},
            "message.annotations": [1, 2],
        })
    );
    let Block::Audio(audio) = &response.content[1] else { panic!() };
    assert_eq!(audio.source, crate::Source::Base64 { media_type: "audio/ogg".into(), data: "T2dnUwAC".into() });
    let message = &encode_response(&response, &Reply::default())["choices"][0]["message"];
    assert_eq!(message["audio"], json!({"id": "a", "data": "T2dnUwAC", "transcript": "beep"}));
}

#[path = "encode_tests.rs"]
mod encoding;

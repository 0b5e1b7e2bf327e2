//! Pieces of streams, as servers send them, and what they become.
//!
//! A collected stream is the whole answer. The wire itself makes these differences, which no test can remove:
//! - the frame of a whole answer (`refusal: null`, `annotations: []`, `index` in calls) is not in a stream;
//! - text after a call, or reasoning after text, is a separate block here, where a whole answer merges them.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::dialect::openai_chat::testing::{decode_response, encode_response};
use crate::dialect::testing::{self, collect};
use crate::dialect::{Reply, StreamEncoder};
use crate::wire::Ids;
use crate::{Block, Dialect, Error, ErrorKind, Event, FinishReason, Part, Response, Usage};

/// Returns the events of frames, checked against the grammar.
fn read(frames: &[&str]) -> Vec<Event> {
    testing::events_of_frames(Dialect::OpenaiChat, frames)
}

/// Makes a chunk with one delta.
fn delta(delta: Value) -> String {
    json!({"id": "1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

fn finish(word: &str) -> String {
    json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": word}]}).to_string()
}

/// Returns the answer of these deltas, ended by `word`.
fn answer(deltas: &[Value], word: &str) -> Response {
    let mut frames: Vec<String> = deltas.iter().cloned().map(delta).collect();
    frames.push(finish(word));
    frames.push("[DONE]".to_owned());
    collect(read(&frames.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Returns the blocks of a whole answer with this message, without what is only needed to write it back.
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
    assert_eq!(
        bare(answer(&[json!({"reasoning_text": "h"}), json!({"reasoning_text": "m"}), text.clone()], "stop")),
        whole(json!({"reasoning_text": "hm", "content": "A"}), "stop")
    );
    // Whitespace before the reasoning belongs to the text after it.
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
fn calls_without_ids_on_the_same_index_are_several() {
    let piece = |name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"tool_calls": [{"index": 0, "id": "", "function": function}]})
    };
    let calls = |deltas: &[Value]| -> Vec<(String, String)> {
        let answer = answer(deltas, "stop");
        let calls = answer.content.iter().filter_map(Block::as_tool_call);
        calls.map(|call| (call.name.clone(), call.arguments.text().to_owned())).collect()
    };
    let call = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    assert_eq!(
        calls(&[piece("f", r#"{"x":1}"#), piece("f", r#"{"x":2}"#), piece("g", r#"{"y":3}"#)]),
        [call("f", r#"{"x":1}"#), call("f", r#"{"x":2}"#), call("g", r#"{"y":3}"#)]
    );
    // A repeated name is not another call while the arguments are incomplete, or if it brings none.
    assert_eq!(
        calls(&[piece("f", r#"{"x":"#), piece("f", r#"{"z":1}"#), piece("f", "}"), piece("f", "")]),
        [call("f", r#"{"x":{"z":1}}"#)]
    );
}

#[test]
fn the_whole_message_at_the_end_adds_only_its_other_fields() {
    let message = json!({"role": "assistant", "content": "Hi", "name": "M", "audio_content": ""});
    let last = json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let answer = collect(read(&[&delta(json!({"content": "Hi"})), &last.to_string(), "[DONE]"]));
    assert_eq!(answer.content, [Block::text("Hi")]);
    let own = answer.provider_data.part(Dialect::OpenaiChat, Part::Answer);
    assert_eq!(serde_json::to_value(own).unwrap(), json!({"message.name": "M"}));
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
    // After the text, where a whole answer has it before.
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

/// Makes a piece of a call.
fn piece(fields: Value) -> Value {
    json!({"tool_calls": [fields]})
}

/// Returns names and arguments of an answer's calls.
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
    // No index: complete calls in one chunk, distinguished by their ids.
    expect_calls(
        &[json!({"tool_calls": [
            {"id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}, "type": "function"},
            {"id": "b", "function": {"name": "g", "arguments": "{}"}, "type": "function"}]})],
        &[("f", "{\"x\":1}"), ("g", "{}")],
    );
    // Neither index nor id: a name begins a call, anything else continues it.
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
    // The name comes after the arguments have begun.
    expect_calls(
        &[
            call(json!({"index": 0, "id": "a", "type": "function", "function": {"arguments": "{\"x\""}})),
            call(json!({"index": 0, "function": {"name": "f", "arguments": ":1}"}})),
        ],
        &[("f", "{\"x\":1}")],
    );
    // Arguments as an object, an empty id, null everywhere.
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

#[path = "ends_tests.rs"]
mod ends;

#[path = "encode_tests.rs"]
mod encoding;

#[test]
fn signed_thinking_of_relays_is_put_together() {
    // LiteLLM: every piece is in both fields, and the signature comes last.
    let piece =
        |thinking: &str, signature: Value| json!({"type": "thinking", "thinking": thinking, "signature": signature});
    let both = |thinking: &str, signature: Value| json!({"reasoning_content": thinking, "thinking_blocks": [piece(thinking, signature)], "content": ""});
    let redacted = json!({"type": "redacted_thinking", "data": "R"});
    let deltas = [
        both("h", json!("")),
        both("m", json!(null)),
        both("", json!("S")),
        json!({"thinking_blocks": [redacted]}),
        both("so", json!("")),
        both("", json!("T")),
        json!({"content": "A"}),
    ];
    let signed = json!([piece("hm", json!("S")), redacted, piece("so", json!("T"))]);
    assert_eq!(
        bare(answer(&deltas, "stop")),
        whole(json!({"reasoning_content": "hmso", "thinking_blocks": signed, "content": "A"}), "stop")
    );
    let alone = [json!({"thinking_blocks": [piece("hm", json!("S"))]}), json!({"content": "A"})];
    assert_eq!(
        bare(answer(&alone, "stop")),
        whole(json!({"thinking_blocks": [piece("hm", json!("S"))], "content": "A"}), "stop")
    );
    // Databricks.
    let part = |text: &str, signature: &str| json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text, "signature": signature}]});
    let deltas = [
        json!({"content": [part("h", "")]}),
        json!({"content": [part("m", "")]}),
        json!({"content": [part("", "S")]}),
        json!({"content": [{"type": "text", "text": "A"}]}),
    ];
    let streamed = bare(answer(&deltas, "stop"));
    assert_eq!(streamed, whole(json!({"content": [part("hm", "S"), {"type": "text", "text": "A"}]}), "stop"));
    // Copilot, after the text.
    let late = answer(&[json!({"reasoning_text": "hm"}), json!({"content": "A", "reasoning_opaque": "O"})], "stop");
    let message = json!({"role": "assistant", "reasoning_text": "hm", "content": "A", "reasoning_opaque": "O"});
    let body = json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let at_once = decode_response(body, &mut Ids::default()).unwrap();
    let state = |response: &Response| response.provider_data.part(Dialect::OpenaiChat, Part::State).clone();
    assert_eq!(state(&late), state(&at_once));
    assert_eq!(state(&late).str("reasoning_opaque").as_deref(), Some("O"));
    assert_eq!(bare(late), bare(at_once));
}

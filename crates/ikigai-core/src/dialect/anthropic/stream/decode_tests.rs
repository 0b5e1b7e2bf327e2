use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::super::testing::{answer_of, events_of, read_answer, sse};
use super::*;
use crate::dialect::testing;
use crate::{ErrorKind, FinishReason};

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 25, "cache_read_input_tokens": 4, "output_tokens": 1}}})
}

fn open(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// Makes a whole stream with these frames as its content.
fn with(frames: &[Value]) -> String {
    sse(&[&[start()], frames, &end("end_turn")].concat())
}

/// Returns the content of these frames, as canonical JSON.
fn content(frames: &[Value]) -> Value {
    serde_json::to_value(answer_of(&with(frames)).content).unwrap()
}

#[test]
fn a_stream_becomes_events() {
    let frames = [
        open(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "text_delta", "text": "Hel"})),
        delta(0, json!({"type": "text_delta", "text": ""})),
        delta(0, json!({"type": "text_delta", "text": "lo\n\"😀"})),
        close(0),
    ];
    let kept = json!({"anthropic": {"response": {"stop_reason": null, "stop_sequence": null}}});
    let usage = |output: u64| {
        json!({"type": "usage", "usage": {"input_tokens": 25, "output_tokens": output, "thinking_tokens": 0, "cached_tokens": 4,
            "cache_read_tokens": 4, "cache_write_tokens": 0, "total_tokens": 29 + output,
            "provider_data": {"anthropic": {"shape": {"absent": ["cache_creation_input_tokens"]}}}}})
    };
    assert_eq!(
        serde_json::to_value(events_of(&with(&frames))).unwrap(),
        json!([
            {"type": "start", "id": "msg_1", "model": "claude-opus-5", "provider_data": kept},
            usage(1),
            {"type": "block_start", "index": 0, "block": {"type": "text", "text": ""}},
            {"type": "text_delta", "index": 0, "text": "Hel"},
            {"type": "text_delta", "index": 0, "text": "lo\n\"😀"},
            {"type": "block_done", "index": 0},
            usage(9),
            {"type": "done", "finish_reason": "stop",
                "provider_data": {"anthropic": {"response": {"stop_reason": "end_turn", "stop_sequence": null}}}},
        ])
    );
}

#[test]
fn every_kind_of_delta_arrives() {
    let text =
        [open(0, json!({"type": "text", "text": "A"})), delta(0, json!({"type": "text_delta", "text": "b"})), close(0)];
    assert_eq!(content(&text), json!([{"type": "text", "text": "Ab"}]));

    let thinking = [
        open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm", "estimated_tokens": 3})),
        delta(0, json!({"type": "signature_delta", "signature": "first"})),
        delta(0, json!({"type": "signature_delta", "signature": "Eq+/=="})),
        close(0),
    ];
    // A later signature replaces the earlier one.
    assert_eq!(
        content(&thinking),
        json!([{"type": "thinking", "text": "Hm", "provider_data": {"anthropic": {"signature": "Eq+/=="}}}])
    );

    let call = [
        open(0, json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"ci"})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "ty\": \"Ü\\n\"}"})),
        close(0),
    ];
    assert_eq!(
        content(&call),
        json!([{"type": "tool_call", "id": "t", "name": "f", "arguments": {"city": "Ü\n"}, "arguments_text": "{\"city\": \"Ü\\n\"}"}])
    );

    let cited = [
        open(0, json!({"type": "text", "text": "", "citations": []})),
        delta(0, json!({"type": "citations_delta", "citation": {"cited_text": "a"}})),
        delta(0, json!({"type": "text_delta", "text": "Yes"})),
        delta(0, json!({"type": "citations_delta", "citation": {"cited_text": "b"}})),
        close(0),
    ];
    assert_eq!(
        content(&cited),
        json!([{"type": "text", "text": "Yes", "citations": [
            {"source": {"type": "other"}, "cited_text": "a", "provider_data": {"anthropic": {"wire": {"cited_text": "a"}}}},
            {"source": {"type": "other"}, "cited_text": "b", "provider_data": {"anthropic": {"wire": {"cited_text": "b"}}}}]}])
    );

    let own = [
        open(0, json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"query\": "})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "\"q\"}"})),
        close(0),
        open(1, json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]})),
        close(1),
        open(2, json!({"type": "compaction", "content": null})),
        delta(2, json!({"type": "compaction_delta", "content": "sum"})),
        delta(2, json!({"type": "compaction_delta", "content": "mary"})),
        close(2),
        open(3, json!({"type": "redacted_thinking", "data": "Em"})),
        close(3),
        open(4, json!({"type": "compaction", "content": null})),
        delta(4, json!({"type": "compaction_delta", "content": "short", "encrypted_content": "Ek"})),
        close(4),
        open(5, json!({"type": "compaction", "content": null, "encrypted_content": ""})),
        delta(5, json!({"type": "compaction_delta", "content": null, "encrypted_content": "El"})),
        close(5),
    ];
    let other = |data: Value| json!({"type": "other", "dialect": "anthropic", "data": data});
    assert_eq!(
        content(&own),
        json!([
            {"type": "provider_call", "id": "s", "tool": "web_search", "name": "web_search", "arguments": {"query": "q"},
             "arguments_text": "{\"query\": \"q\"}", "provider_data": {"anthropic": {"wire":
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}}}},
            {"type": "provider_result", "call_id": "s", "tool": "web_search", "sources": [{"url": "u"}],
             "provider_data": {"anthropic": {"wire":
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]}}}},
            other(json!({"type": "compaction", "content": "summary"})),
            {"type": "thinking", "text": "", "provider_data": {"anthropic": {"redacted_data": "Em"}}},
            other(json!({"type": "compaction", "content": "short", "encrypted_content": "Ek"})),
            other(json!({"type": "compaction", "content": null, "encrypted_content": "El"})),
        ])
    );
}

#[test]
fn a_stream_is_the_answer_that_it_would_have_been_whole() {
    let frames = [
        open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "signature_delta", "signature": "Eq"})),
        close(0),
        open(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Yes"})),
        close(1),
        open(2, json!({"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": {"type": "direct"}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{ \"a\" : 1 }"})),
        close(2),
        json!({"type": "message_delta", "context_management": {"applied_edits": []},
            "delta": {"stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"}},
            "usage": {"input_tokens": 30, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 2}}}),
        json!({"type": "message_stop"}),
    ];
    let whole = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5",
        "content": [
            {"type": "thinking", "thinking": "", "signature": "Eq"}, {"type": "text", "text": "Yes"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}, "caller": {"type": "direct"}}],
        "stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"}, "context_management": {"applied_edits": []},
        "usage": {"input_tokens": 30, "cache_read_input_tokens": 4, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 2}},
    });
    // The arguments keep the whitespace that the model wrote.
    let mut whole = read_answer(&whole).unwrap();
    let Some(crate::Block::ToolCall(call)) = whole.content.last_mut() else { panic!() };
    call.arguments = crate::Arguments::from_text("{ \"a\" : 1 }");
    assert_eq!(answer_of(&sse(&[&[start()], &frames[..]].concat())), whole);
}

#[test]
fn arguments_of_every_shape() {
    let call = |input: Value, pieces: &[&str]| {
        let mut frames = vec![open(0, json!({"type": "tool_use", "id": "t", "name": "f", "input": input}))];
        frames.extend(pieces.iter().map(|piece| delta(0, json!({"type": "input_json_delta", "partial_json": piece}))));
        frames.push(close(0));
        let response = answer_of(&with(&frames));
        let call = response.tool_calls().next().unwrap();
        (call.arguments.text().to_owned(), call.is_complete())
    };
    let arguments = |text: &str, complete: bool| (text.to_owned(), complete);
    assert_eq!(call(json!({}), &[]), arguments("{}", true));
    assert_eq!(call(json!({}), &["", " "]), arguments("{}", true));
    // They may all be there from the start.
    assert_eq!(call(json!({"a": 1}), &[]), arguments("{\"a\":1}", true));
    assert_eq!(call(json!({"a": 1}), &["{\"b\":", " 2}"]), arguments("{\"b\": 2}", true));
    assert_eq!(call(json!({}), &["{\"a\": \"cut"]), arguments("{\"a\": \"cut", false));
    assert_eq!(call(json!({}), &["[1]"]), arguments("[1]", false));
}

#[test]
fn blocks_without_deltas_stay() {
    let frames = [
        open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "signature_delta", "signature": "Eq"})),
        close(0),
        open(1, json!({"type": "text", "text": ""})),
        close(1),
        open(2, json!({"type": "thinking", "thinking": ""})),
        close(2),
    ];
    assert_eq!(
        content(&frames),
        json!([
            {"type": "thinking", "text": "", "provider_data": {"anthropic": {"signature": "Eq"}}},
            {"type": "text", "text": ""},
            {"type": "thinking", "text": "", "provider_data": {"anthropic": {"shape": {"unsigned": true}}}},
        ])
    );
}

#[test]
fn a_refusal_without_content_is_an_answer() {
    let last = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_sequence": null, "stop_details": {"type": "refusal", "category": "bio"}}, "usage": {"output_tokens": 0}});
    let response = answer_of(&sse(&[start(), last, json!({"type": "message_stop"})]));
    assert_eq!(
        (response.finish_reason, response.content.len(), response.error),
        (FinishReason::ContentFilter, 0, None)
    );
    let details = response.provider_data.part(DIALECT, Part::Answer).get("stop_details").unwrap();
    assert_eq!(details.value()["category"], "bio");
}

#[test]
fn content_that_comes_with_the_start_is_whole() {
    let mut first = start();
    first["message"]["content"] =
        json!([{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1}}]);
    first["message"]["stop_reason"] = json!("tool_use");
    let frames = [first, open(2, json!({"type": "text", "text": "c"})), close(2), json!({"type": "message_stop"})];
    let response = answer_of(&sse(&frames));
    assert_eq!(response.finish_reason, FinishReason::ToolUse);
    assert_eq!(
        serde_json::to_value(response.content).unwrap(),
        json!([{"type": "text", "text": "a"}, {"type": "tool_call", "id": "t", "name": "f", "arguments": {"b": 1}}, {"type": "text", "text": "c"}])
    );
}

#[test]
fn later_counts_replace_earlier_ones_field_by_field() {
    let frames = [
        start(),
        json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 100, "output_tokens": 8, "output_tokens_details": {"thinking_tokens": 3}}}),
        json!({"type": "message_stop"}),
    ];
    let usage = answer_of(&sse(&frames)).usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens, usage.thinking_tokens),
        (100, 4, 5, 3)
    );
}

fn failure(sse: &str) -> (ErrorKind, Option<u16>, String) {
    let events = events_of(sse);
    match events.last() {
        Some(Event::Error { error }) => (error.kind, error.status, error.message.clone()),
        other => panic!("no failure: {other:?}"),
    }
}

#[test]
fn a_failure_ends_the_stream() {
    let failed =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"});
    // As the first event it replaces a failed HTTP answer.
    assert_eq!(failure(&sse(std::slice::from_ref(&failed))), (ErrorKind::Overloaded, Some(529), "Overloaded".into()));
    let frames = [start(), open(0, json!({"type": "text", "text": "a"})), failed, close(0), end("end_turn")[1].clone()];
    assert_eq!(failure(&sse(&frames)), (ErrorKind::Overloaded, None, "Overloaded".into()));
    let response = answer_of(&sse(&frames));
    assert_eq!((response.finish_reason, response.text().as_str()), (FinishReason::Error, "a"));
    assert_eq!(failure("data: {\"error\": {\"message\": \"oops\"}}\n\n").2, "oops");
}

#[test]
fn a_stream_that_lacks_only_its_last_word_is_whole() {
    let mut frames = vec![start(), open(0, json!({"type": "text", "text": "a"}))];
    frames.push(end("max_tokens")[0].clone());
    let response = answer_of(&sse(&frames));
    assert_eq!((response.finish_reason, response.text().as_str()), (FinishReason::Length, "a"));
    assert!(response.provider_data.part(DIALECT, Part::Shape).flag("without_message_stop"));
}

#[test]
fn frames_that_lack_what_their_kind_has_to_bring_end_the_stream() {
    let odd = [
        json!({"type": "content_block_delta", "index": 0}),
        json!({"type": "content_block_start", "index": 0, "content_block": "text"}),
        json!({"type": "message_start"}),
        json!({"type": "content_block_delta", "index": -1, "delta": {}}),
    ];
    for frame in odd {
        assert_eq!(failure(&sse(&[frame])).0, ErrorKind::Protocol);
    }
}

#[test]
fn a_second_start_is_ignored_or_taken_over() {
    let mut other = start();
    other["message"]["id"] = json!("msg_2");
    other["message"]["usage"] = json!({"input_tokens": 7, "output_tokens": 1});
    let text = [open(0, json!({"type": "text", "text": "a"})), close(0)];
    // A repetition adds nothing.
    let same = answer_of(&sse(&[&[start()], &text[..], &[start()], &end("end_turn")].concat()));
    assert_eq!((same.text().as_str(), same.finish_reason), ("a", FinishReason::Stop));
    // Another answer, before any content, is the answer.
    let spliced = answer_of(&sse(&[&[start(), other.clone()], &text[..], &end("end_turn")].concat()));
    assert_eq!((spliced.text().as_str(), spliced.usage.unwrap().input_tokens), ("a", 7));
    // After some content the two can no longer be told apart.
    let (kind, _, message) = failure(&sse(&[&[start()], &text[..], &[other], &end("end_turn")].concat()));
    let expected = "event 4 of the stream cannot be read (a second answer begins before the first has ended)";
    assert!(kind == ErrorKind::Protocol && message.starts_with(expected), "{message}");
}

#[test]
fn what_is_not_known_is_passed_on() {
    let frames = [
        json!({"type": "ping", "cost": "0.1"}),
        json!({"type": "brand_new", "delta": "any shape", "index": {"a": 1}}),
        open(0, json!({"type": "text", "text": "a"})),
        delta(0, json!({"type": "shiny_delta", "x": 1})),
        delta(5, json!({"type": "input_json_delta", "partial_json": "{}"})),
        close(0),
        close(9),
    ];
    let others: Vec<(Option<usize>, Value)> = events_of(&with(&frames))
        .into_iter()
        .filter_map(|event| match event {
            Event::Other { index, data, .. } => Some((index, data.into())),
            _ => None,
        })
        .collect();
    assert_eq!(
        others,
        [(None, frames[0].clone()), (None, frames[1].clone()), (Some(0), frames[3].clone()), (None, frames[4].clone())]
    );
}

#[test]
fn proxies_that_leave_things_out_are_borne() {
    let frames = [
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
        close(0),
        delta(1, json!({"type": "text_delta", "text": "Yes"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let response = answer_of(&sse(&frames));
    assert_eq!((response.thinking().as_str(), response.text().as_str(), response.usage), ("Hm", "Yes", None));
    // The name of the event replaces a missing type.
    let named = "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\nevent: message_stop\ndata: {}  \n\n";
    assert_eq!(answer_of(named).text(), "a");
}

#[test]
fn blocks_that_never_end_are_bounded() {
    let mut frames = vec![start()];
    // Blocks of the dialect's own are held back until they are complete.
    frames.extend((0..100).map(|index| open(index, json!({"type": "server_tool_use", "input": {}}))));
    let limits = Limits { open_blocks: 99, ..Limits::default() };
    let events = testing::events_within(DIALECT, &sse(&frames), &limits);
    let Some(Event::Error { error }) = events.last() else { panic!("{events:?}") };
    assert_eq!(error.message, "more than 99 content blocks are open at once, which is the limit");
}

#[test]
fn nothing_comes_after_the_end() {
    let [first, last] = end("end_turn");
    let events = events_of(&sse(&[start(), first, last, start(), json!({"type": "error"})]));
    assert!(matches!(events.last(), Some(Event::Done { .. })));
}

/// Generates frames that are often right, and often slightly wrong.
fn any_frame() -> impl Strategy<Value = String> {
    let index = prop_oneof![Just(json!(0)), Just(json!(1)), Just(json!(7)), Just(Value::Null), Just(json!("x"))];
    let text = prop_oneof![any::<String>().prop_map(Value::from), Just(Value::Null), Just(json!(1))];
    let kind = prop::sample::select(vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
        "other",
    ]);
    let inner = prop::sample::select(vec![
        "text",
        "thinking",
        "tool_use",
        "redacted_thinking",
        "server_tool_use",
        "text_delta",
        "thinking_delta",
        "input_json_delta",
        "signature_delta",
        "citations_delta",
        "compaction_delta",
        "x",
    ]);
    (kind, index, inner, text, 0..400_usize).prop_map(|(kind, index, inner, text, cut)| {
        let part = json!({"type": inner, "text": text, "thinking": text, "partial_json": text, "signature": text, "data": text,
            "citation": text, "content": text, "id": text, "name": text, "input": {}, "stop_reason": text});
        let frame = json!({"type": kind, "index": index, "delta": part, "content_block": part,
            "message": {"id": text, "content": [part], "usage": {"input_tokens": text}}, "usage": {"output_tokens": 1}, "error": text});
        let frame = frame.to_string();
        // Some of the frames are cut off.
        if cut < 40 { frame.chars().take(cut).collect() } else { frame }
    })
}

proptest! {
    #[test]
    fn any_frames_give_events_in_order(frames in prop::collection::vec(any_frame(), 0..20)) {
        let response = testing::collect(testing::events_of_frames(DIALECT, &frames));
        let fault = response.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
        prop_assert!(!fault.contains("which is not an open"), "{}", fault);
    }

    #[test]
    fn any_text_is_survived(frames in prop::collection::vec(any::<String>(), 0..5)) {
        testing::events_of_frames(DIALECT, &frames);
    }
}

#[test]
fn an_end_with_ever_new_fields_is_given_up() {
    for (field, most) in [
        ("delta", "the end of the answer has more than 1000 fields, which is the limit"),
        ("usage", "the counts of tokens have more than 16384 bytes, which is the limit"),
    ] {
        let frames = (0..2000).map(|number| {
            let mut frame = json!({"type": "message_delta", "delta": {}});
            frame[field][format!("{field}{number}")] = json!(number);
            frame
        });
        let frames: Vec<Value> = std::iter::once(start()).chain(frames).collect();
        let events = events_of(&sse(&frames));
        let Some(Event::Error { error }) = events.last() else { panic!("{:?}", events.last()) };
        assert_eq!(error.message, most);
        assert_eq!(error.code.as_deref(), Some("limit_reached"));
    }
}

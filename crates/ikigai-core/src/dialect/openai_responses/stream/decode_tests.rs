use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::dialect::openai_responses::decode_response;
use crate::dialect::openai_responses::stream::{check_grammar, read_stream};
use crate::wire::Reply;
use crate::{ErrorKind, FinishReason, Response};

fn frame(kind: &str, mut fields: Value) -> String {
    fields["type"] = kind.into();
    format!("event: {kind}\ndata: {fields}\n\n")
}

fn created() -> String {
    frame(
        "response.created",
        json!({"response": {"id": "resp_1", "model": "gpt-5.1", "status": "in_progress", "output": []}}),
    )
}

fn completed(output: Value) -> String {
    frame(
        "response.completed",
        json!({"response": {"id": "resp_1", "model": "gpt-5.1", "status": "completed",
        "error": null, "output": output, "usage": {"input_tokens": 5, "output_tokens": 2}}}),
    )
}

fn added(at: u64, item: Value) -> String {
    frame("response.output_item.added", json!({"output_index": at, "item": item}))
}

fn done(at: u64, item: Value) -> String {
    frame("response.output_item.done", json!({"output_index": at, "item": item}))
}

fn delta(kind: &str, at: u64, text: &str) -> String {
    frame(kind, json!({"output_index": at, "content_index": 0, "summary_index": 0, "delta": text, "item_id": "any"}))
}

fn message(text: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn call(arguments: &str) -> Value {
    json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": arguments})
}

const TEXT: &str = "response.output_text.delta";
const SUMMARY: &str = "response.reasoning_summary_text.delta";
const ARGUMENTS: &str = "response.function_call_arguments.delta";

fn collect(frames: &[String]) -> Response {
    check_grammar(&read_stream(&frames.concat())).unwrap()
}

/// Checks that the stream gives the same as its last frame, read as a whole answer.
fn is_its_end(frames: &[String]) -> Response {
    let streamed = collect(frames);
    let last = frames.last().unwrap().split_once("data: ").unwrap().1;
    let body = serde_json::from_str::<Value>(last).unwrap()["response"].take();
    assert_eq!(streamed, decode_response(body.to_string().as_bytes(), &mut Ids::default()).unwrap());
    streamed
}

#[test]
fn text_in_pieces() {
    let frames = [
        created(),
        frame("response.in_progress", json!({"response": {"id": "resp_1"}})),
        added(
            0,
            json!({"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}),
        ),
        frame(
            "response.content_part.added",
            json!({"output_index": 0, "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": []}}),
        ),
        delta(TEXT, 0, "Grüße,\n"),
        delta(TEXT, 0, "\"Welt\" 🌍"),
        frame(
            "response.output_text.done",
            json!({"output_index": 0, "content_index": 0, "text": "Grüße,\n\"Welt\" 🌍"}),
        ),
        frame(
            "response.content_part.done",
            json!({"output_index": 0, "content_index": 0, "part": {"type": "output_text"}}),
        ),
        done(0, message("Grüße,\n\"Welt\" 🌍")),
        completed(json!([message("Grüße,\n\"Welt\" 🌍")])),
    ];
    let events = read_stream(&frames.concat());
    let item = json!({"openai-responses": {"shape": {"item": {"id": "msg_1", "status": "in_progress"}}}});
    let shape = json!({"annotations": [], "item": {"id": "msg_1", "status": "completed"}});
    let done = json!({"openai-responses": {"shape": shape}});
    assert_eq!(
        serde_json::to_value(&events[1..5]).unwrap(),
        json!([
            {"type": "block_start", "index": 0, "block": {"type": "text", "text": "", "provider_data": item}},
            {"type": "text_delta", "index": 0, "text": "Grüße,\n"},
            {"type": "text_delta", "index": 0, "text": "\"Welt\" 🌍"},
            {"type": "block_done", "index": 0, "provider_data": done},
        ])
    );
    assert_eq!(is_its_end(&frames).text(), "Grüße,\n\"Welt\" 🌍");
}

#[test]
fn a_summary_in_two_parts_and_the_state_at_its_end() {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "final", "summary": [
        {"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]});
    let part = |at: u64, text: &str| frame(SUMMARY, json!({"output_index": 0, "summary_index": at, "delta": text}));
    let frames = [
        created(),
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "too short"})),
        frame("response.reasoning_summary_part.added", json!({"output_index": 0, "summary_index": 0})),
        part(0, "One"),
        part(0, "."),
        part(1, "Two."),
        done(0, reasoning.clone()),
        completed(json!([reasoning])),
    ];
    assert_eq!(is_its_end(&frames).thinking(), "One.Two.");
}

#[test]
fn reasoning_without_a_word_still_brings_its_state() {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "e", "summary": []});
    let frames = [
        created(),
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        done(0, reasoning.clone()),
        completed(json!([reasoning])),
    ];
    assert_eq!(is_its_end(&frames).content.len(), 1);
}

#[test]
fn raw_reasoning_is_the_thinking_and_a_summary_behind_it_is_not_said_again() {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Short."}],
        "content": [{"type": "reasoning_text", "text": "Long."}]});
    let frames = [
        created(),
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": [], "content": []})),
        frame(
            "response.content_part.added",
            json!({"output_index": 0, "part": {"type": "reasoning_text", "text": ""}}),
        ),
        delta("response.reasoning_text.delta", 0, "Long."),
        delta(SUMMARY, 0, "Short."),
        done(0, reasoning.clone()),
        completed(json!([reasoning])),
    ];
    assert_eq!(is_its_end(&frames).thinking(), "Long.");
}

#[test]
fn a_summary_is_the_thinking_where_it_comes_first_and_the_reasoning_behind_it_goes_back() {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Short."}],
        "content": [{"type": "reasoning_text", "text": "Long."}]});
    let frames = [
        created(),
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": [], "content": []})),
        delta(SUMMARY, 0, "Short."),
        delta("response.reasoning_text.delta", 0, "Long."),
        done(0, reasoning.clone()),
        completed(json!([reasoning])),
    ];
    let streamed = collect(&frames);
    assert_eq!(streamed.thinking(), "Short.");
    let sent = crate::dialect::openai_responses::encode_response(&streamed, &Reply::default());
    let body: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(body["output"], json!([reasoning]));
}

#[test]
fn a_refusal_in_pieces() {
    let refusal = json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let frames = [
        created(),
        added(0, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        delta("response.refusal.delta", 0, "I can"),
        frame("response.refusal.done", json!({"output_index": 0, "content_index": 0, "refusal": "I cannot."})),
        done(0, refusal.clone()),
        completed(json!([refusal])),
    ];
    assert_eq!(is_its_end(&frames).finish_reason, FinishReason::ContentFilter);
}

#[test]
fn parallel_calls_that_interleave() {
    let second = json!({"id": "fc_2", "type": "function_call", "call_id": "call_2", "name": "g", "arguments": "{}"});
    let frames = [
        created(),
        added(0, json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": ""})),
        delta(ARGUMENTS, 0, "{\"a\""),
        added(1, json!({"id": "fc_2", "type": "function_call", "call_id": "call_2", "name": "g", "arguments": "{"})),
        delta(ARGUMENTS, 0, ": 1}"),
        delta(ARGUMENTS, 1, "}"),
        frame("response.function_call_arguments.done", json!({"output_index": 0, "arguments": "{\"a\": 1}"})),
        done(1, second.clone()),
        done(0, call("{\"a\": 1}")),
        completed(json!([call("{\"a\": 1}"), second])),
    ];
    let response = is_its_end(&frames);
    assert_eq!(response.finish_reason, FinishReason::ToolUse);
    assert_eq!(response.tool_calls().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["f", "g"]);
}

#[test]
fn what_no_delta_brought_comes_from_the_whole() {
    let frames = [
        created(),
        added(0, json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": ""})),
        frame("response.function_call_arguments.done", json!({"output_index": 0, "arguments": "{\"a\":1}"})),
        done(0, call("{\"a\":1}")),
        added(1, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        frame("response.output_text.done", json!({"output_index": 1, "content_index": 0, "text": "Hi"})),
        done(1, message("Hi there")),
        frame("response.reasoning_summary_text.done", json!({"output_index": 2, "summary_index": 0, "text": "Hm."})),
        completed(json!([call("{\"a\":1}"), message("Hi there"),
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "id": "msg_9", "role": "assistant", "content": [{"type": "output_text", "text": "late"}]}])),
    ];
    assert_eq!(is_its_end(&frames).text(), "Hi therelate");
}

#[test]
fn a_whole_that_contradicts_the_pieces_wins_where_it_still_can() {
    let frames = [
        created(),
        added(0, json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": ""})),
        delta(ARGUMENTS, 0, "{\"a\": 2}"),
        done(0, call("{\"a\":1}")),
        delta(TEXT, 1, "What was said"),
        done(1, message("What was meant")),
        completed(json!([])),
    ];
    // The grammar requires the pieces to make up the whole: only here does the provider's version take precedence.
    let events = crate::dialect::testing::events_within(DIALECT, &frames.concat(), &crate::Limits::default());
    let response = crate::dialect::testing::collect(events);
    assert_eq!(response.tool_calls().next().unwrap().arguments.text().to_owned(), "{\"a\":1}");
    assert_eq!(response.text(), "What was said", "what has been shown cannot be taken back");
}

#[test]
fn relays_that_change_ids_leave_out_places_or_end_with_nothing() {
    let with_id = |id: &str| {
        json!({"id": id, "type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}]})
    };
    let rotating = [
        created(),
        added(0, json!({"id": "a", "type": "message", "role": "assistant", "content": []})),
        delta(TEXT, 0, "Hi"),
        done(0, with_id("b")),
        completed(json!([with_id("c")])),
    ];
    assert_eq!(collect(&rotating).text(), "Hi");
    let mut gap = vec![created()];
    for (at, id) in [(0, "a"), (2, "b")] {
        gap.extend([
            added(at, json!({"id": id, "type": "message", "role": "assistant", "content": []})),
            delta(TEXT, at, "Hi"),
            done(at, with_id(id)),
        ]);
    }
    gap.push(completed(json!([with_id("a"), with_id("b")])));
    assert_eq!(is_its_end(&gap).text(), "HiHi");
    let empty = [created(), delta(TEXT, 0, "Hi"), done(0, message("Hi")), completed(json!(null))];
    assert_eq!((collect(&empty).text().as_str(), collect(&empty).finish_reason), ("Hi", FinishReason::Stop));
    let one_number = [
        created(),
        added(0, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        delta(TEXT, 0, "Hi"),
        added(0, call("")),
        delta(ARGUMENTS, 0, "{}"),
        completed(json!([])),
    ];
    let response = collect(&one_number);
    assert_eq!((response.content.len(), response.finish_reason), (2, FinishReason::ToolUse));
}

#[test]
fn frames_without_numbers_belong_to_the_latest_item_and_names_stand_in_for_types() {
    let frames = [
        created(),
        added(3, call("")),
        frame(ARGUMENTS, json!({"delta": "{}"})),
        "event: response.completed\ndata: {\"response\": {\"status\": \"completed\", \"output\": []}}\n\n".to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ];
    assert_eq!(collect(&frames).tool_calls().count(), 1);
}

#[test]
fn hosted_tools_keep_their_place_and_end_whole() {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": "q"}});
    let mut cited = message("Hi");
    cited["content"][0]["annotations"] =
        json!([{"type": "url_citation", "url": "https://a.org", "title": "A", "start_index": 0, "end_index": 2}]);
    let frames = [
        created(),
        added(0, json!({"id": "ws_1", "type": "web_search_call", "status": "in_progress"})),
        frame("response.web_search_call.searching", json!({"output_index": 0, "item_id": "ws_1"})),
        added(1, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        delta(TEXT, 1, "Hi"),
        frame(
            "response.output_text.annotation.added",
            json!({"output_index": 1, "content_index": 0, "annotation": cited["content"][0]["annotations"][0]}),
        ),
        done(1, cited.clone()),
        done(0, search.clone()),
        completed(json!([search, cited])),
    ];
    let events = read_stream(&frames.concat());
    let others: Vec<Option<usize>> = events
        .iter()
        .filter_map(|event| match event {
            Event::Other { index, .. } => Some(*index),
            _ => None,
        })
        .collect();
    assert_eq!(others, [Some(0)]);
    is_its_end(&frames);
}

#[test]
fn a_message_with_two_parts_and_two_messages_in_a_row() {
    let two = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [
        {"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}]});
    let part = |part: u64, text: &str| frame(TEXT, json!({"output_index": 0, "content_index": part, "delta": text}));
    let frames = [
        created(),
        added(0, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        part(0, "a"),
        part(1, "b"),
        done(0, two.clone()),
        added(1, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        delta(TEXT, 1, "Hi"),
        done(1, message("Hi")),
        completed(json!([two, message("Hi")])),
    ];
    assert_eq!(is_its_end(&frames).content.len(), 3);
}

#[test]
fn every_terminal_event_ends_the_stream_and_nothing_follows_it() {
    let end = |kind: &str, response: Value| {
        let mut frames = vec![created(), delta(TEXT, 0, "Hi"), frame(kind, json!({"response": response}))];
        frames.push(delta(TEXT, 0, "never"));
        frames.push(frame("error", json!({"message": "never"})));
        collect(&frames)
    };
    let response = end(
        "response.incomplete",
        json!({"status": "incomplete", "output": [],
        "incomplete_details": {"reason": "max_output_tokens"}, "usage": {"input_tokens": 5, "output_tokens": 2}}),
    );
    assert_eq!((response.finish_reason, response.text().as_str()), (FinishReason::Length, "Hi"));
    assert_eq!(response.usage.unwrap().total_tokens(), 7);
    let response = end(
        "response.failed",
        json!({"status": "failed", "output": [], "usage": null,
        "error": {"code": "server_error", "message": "oops"}}),
    );
    assert_eq!((response.finish_reason, response.text().as_str()), (FinishReason::Error, "Hi"));
    assert_eq!(response.error.unwrap().kind, ErrorKind::Server);
}

#[test]
fn an_incomplete_call_keeps_the_arguments_that_had_come() {
    let frames = [
        created(),
        added(0, call("")),
        delta(ARGUMENTS, 0, "{\"path\": \"/et"),
        frame(
            "response.incomplete",
            json!({"response": {"status": "incomplete", "output": [call("{\"path\": \"/et")],
            "incomplete_details": {"reason": "max_output_tokens"}}}),
        ),
    ];
    let response = collect(&frames);
    let call = response.tool_calls().next().unwrap();
    assert_eq!((call.arguments.text(), call.is_complete()), ("{\"path\": \"/et", false));
    assert_eq!(response.finish_reason, FinishReason::Length);
}

#[test]
fn an_error_event_is_reported_once_and_survives_what_follows() {
    let nested = frame(
        "error",
        json!({"sequence_number": 2, "error": {"type": "tokens", "code": "rate_limit_exceeded",
        "message": "slow", "param": null}}),
    );
    let failed =
        frame("response.failed", json!({"response": {"status": "failed", "error": {"code": "x", "message": "y"}}}));
    for frames in [
        vec![created(), nested.clone(), failed],
        vec![nested],
        vec!["data: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}}\n\n".to_owned()],
    ] {
        let events = read_stream(&frames.concat());
        let errors: Vec<&crate::Error> = events
            .iter()
            .filter_map(|event| match event {
                Event::Error { error } => Some(error.as_ref()),
                _ => None,
            })
            .collect();
        assert_eq!(errors.len(), 1);
        assert_eq!((errors[0].kind, errors[0].message.as_str()), (ErrorKind::RateLimit, "slow"));
    }
}

#[test]
fn frames_of_every_kind_and_shape_are_survived() {
    let kinds = [
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.added",
        "response.content_part.done",
        TEXT,
        "response.output_text.done",
        "response.refusal.delta",
        "response.refusal.done",
        SUMMARY,
        "response.reasoning_summary_text.done",
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        ARGUMENTS,
        "response.function_call_arguments.done",
        "response.completed",
        "response.failed",
        "keepalive",
        "",
        "new",
    ];
    let shapes = [
        json!({}),
        json!({"output_index": -1, "content_index": "x", "delta": {"a": 1}, "item": 5, "part": null, "response": []}),
        json!({"output_index": 0, "delta": "x", "text": "y", "item": {"type": "message", "content": [5]}}),
        json!({"output_index": 1, "item": {"type": "reasoning"}, "part": {"type": "refusal"}, "refusal": "z"}),
        json!({"output_index": 1, "item": {"type": "function_call", "call_id": "", "name": ""}, "arguments": "{"}),
        json!({"output_index": u64::MAX, "content_index": u64::MAX, "summary_index": u64::MAX, "delta": "x", "text": "y"}),
    ];
    // Every pair of frames, including a second one after the first one ended the stream.
    for first in kinds {
        for second in kinds {
            for (one, two) in shapes.iter().flat_map(|one| shapes.iter().map(move |two| (one, two))) {
                let sse = frame(first, one.clone()) + &frame(second, two.clone());
                check_grammar(&read_stream(&sse)).unwrap_or_else(|fault| panic!("{sse}: {fault}"));
            }
        }
    }
}

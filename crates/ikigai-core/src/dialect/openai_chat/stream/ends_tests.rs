//! How streams end, and the fields around their text.

use super::*;
use pretty_assertions::assert_eq;

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
    // In the choice, and in a list, as Google's compatible endpoint sends it.
    let choice = r#"{"id":"1","choices":[{"index":0,"finish_reason":"error","delta":{"content":""},"error":{"code":429,"message":"slowly"}}]}"#;
    assert_eq!(error(&[&text, choice, "[DONE]"]).0.kind, ErrorKind::RateLimit);
    for word in ["\"stop\"", "\"length\"", "null"] {
        let choice = format!(
            r#"{{"id":"1","choices":[{{"index":0,"finish_reason":{word},"delta":{{}},"error":{{"code":429,"message":"slowly"}}}}]}}"#
        );
        assert_eq!(error(&[&text, &choice, "[DONE]"]).0.kind, ErrorKind::RateLimit, "{word}");
        assert_eq!(error(&[&text, &choice]).0.kind, ErrorKind::RateLimit, "{word}");
    }
    let list = r#"[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]"#;
    assert_eq!(error(&[&text, list]).0.message, "Quota");
    assert_eq!(error(&[&text, "[1]"]).0.kind, ErrorKind::Protocol);
    // In a field of its own, with its own codes.
    let base = r#"{"id":"1","choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#;
    assert_eq!(error(&[&text, base]).0.kind, ErrorKind::Quota);
    // As the first event, and as a string.
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
    // Some give no reason, but count the tokens of a complete answer.
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

/// Tens of thousands of pieces, in forms that once took quadratic time.
#[test]
fn many_calls_and_details_take_time_by_their_number() {
    let many = 20_000_u64;
    let start = |index: u64, arguments: &str| {
        delta(piece(
            json!({"index": index, "id": format!("c{index}"), "type": "function", "function": {"name": "t", "arguments": arguments}}),
        ))
    };
    // One call stays open all the time and keeps growing next to the others.
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
    let mut encoder = StreamEncoder::new(Dialect::OpenaiChat, super::encoding::reply());
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut bytes));
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

/// A stream's fields around its text, and the id and model that it ends with, are written back in a stream.
#[test]
fn what_stands_around_an_answer_is_written_with_its_end() {
    let first = r#"{"id":"1","model":"m","created":0,"system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"Hi","channel":"final"}}]}"#;
    let other = r#"{"id":"1","model":"m","choices":[{"index":1,"delta":{"content":"Ho"},"finish_reason":"stop"}]}"#;
    let last = r#"{"id":"2","model":"n","choices":[{"index":0,"delta":{},"finish_reason":"stop","native":"end"}]}"#;
    let events = read(&[first, other, last, "[DONE]"]);
    let mut encoder = StreamEncoder::new(Dialect::OpenaiChat, Reply::default());
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut bytes));
    let written = String::from_utf8(bytes).unwrap();
    let chunk = written.rsplit("\n\n").nth(2).and_then(|frame| frame.strip_prefix("data: ")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(chunk).unwrap(),
        json!({"id": "2", "object": "chat.completion.chunk", "created": 0, "model": "n", "system_fingerprint": "fp", "choices": [
            {"index": 0, "delta": {"channel": "final"}, "finish_reason": "stop", "native": "end"},
            {"index": 1, "finish_reason": "stop", "delta": {"role": "assistant", "content": "Ho"}},
        ]})
    );
    let response = collect(testing::events_of(Dialect::OpenaiChat, &written));
    assert_eq!(response, collect(events));
    // A whole answer has one id and one model.
    let whole = crate::dialect::openai_chat::encode_response(&response, &Reply::default());
    let told: Vec<String> = whole.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "id at id: an answer has one; the last, \"2\", is left out",
            "model at model: an answer has one; the last, \"n\", is left out"
        ]
    );
}

/// What would have come with the end is sent as a chunk before a failure.
#[test]
fn what_stands_around_a_broken_answer_goes_on() {
    let text = r#"{"id":"1","model":"m","created":7,"system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"Half","channel":"final"}}]}"#;
    let events = read(&[text, r#"{"error":{"message":"boom"}}"#]);
    let data = json!({"id": "1", "object": "chat.completion.chunk", "created": 7, "model": "m",
        "choices": [{"index": 0, "delta": {"channel": "final"}, "finish_reason": null}], "system_fingerprint": "fp"});
    let chunk = Event::Other { index: None, dialect: Dialect::OpenaiChat, data: data.clone().into() };
    assert_eq!(events.iter().rev().nth(1), Some(&chunk));
    let mut encoder = StreamEncoder::new(Dialect::OpenaiChat, Reply::default());
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut bytes));
    assert!(String::from_utf8(bytes).unwrap().contains(&format!("data: {data}\n\n")));
}

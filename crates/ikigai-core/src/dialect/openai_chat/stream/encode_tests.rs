//! Streams for clients of this dialect.

use super::*;
use crate::dialect::openai_chat::calls::second_call;
use pretty_assertions::assert_eq;

fn write(events: &[Event], reply: Reply) -> String {
    let mut encoder = StreamEncoder::new(Dialect::OpenaiChat, reply);
    let mut bytes = Vec::new();
    for event in events {
        encoder.push(event, &mut bytes);
    }
    String::from_utf8(bytes).unwrap()
}

pub(super) fn reply() -> Reply {
    Reply { created: 9, model: Some("claude".into()), provider: Some("anthropic".into()), ..Reply::default() }
}

#[test]
fn a_stream_as_a_client_wants_it() {
    let done = |index| Event::BlockDone { index, provider_data: Default::default() };
    let events = [
        Event::Start { id: Some("msg_1".into()), model: Some("m".into()), provider_data: Default::default() },
        Event::BlockStart { index: 0, block: Block::thinking("") },
        Event::ThinkingDelta { index: 0, text: "hm".into() },
        done(0),
        Event::BlockStart { index: 1, block: Block::text("H") },
        Event::TextDelta { index: 1, text: "i\n\"".into() },
        done(1),
        Event::ToolCallStart { index: 2, id: "c".into(), name: "t".into(), provider_data: Default::default() },
        Event::ToolCallDelta { index: 2, arguments: "{}".into() },
        Event::ToolCallDone { index: 2, arguments: Default::default(), provider_data: Default::default() },
        Event::Usage { usage: Usage { input_tokens: 1, output_tokens: 2, ..Usage::default() } },
        Event::Done { finish_reason: FinishReason::ToolUse, provider_data: Default::default() },
    ];
    let head = r#"data: {"id":"msg_1","object":"chat.completion.chunk","created":9,"model":"m","choices":["#;
    let chunk = |delta: &str| format!("{head}{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":null}}]}}\n\n");
    let body = [
        chunk(r#""role":"assistant","content":"""#),
        chunk(r#""reasoning_content":"hm""#),
        chunk(r#""content":"H""#),
        chunk(r#""content":"i\n\"""#),
        chunk(r#""tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"t","arguments":""}}]"#),
        chunk(r#""tool_calls":[{"index":0,"function":{"arguments":"{}"}}]"#),
        format!("{head}{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"tool_calls\"}}]}}\n\n"),
    ]
    .concat();
    assert_eq!(write(&events, reply()), format!("{body}data: [DONE]\n\n"));
    // Counts only for clients that asked.
    let counted = write(&events, Reply { stream_usage: true, ..reply() });
    assert_eq!(
        counted.strip_prefix(&body),
        Some(format!("{head}],\"usage\":{{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3,\"prompt_tokens_details\":{{\"cached_tokens\":0}},\"completion_tokens_details\":{{\"reasoning_tokens\":0}}}}}}\n\ndata: [DONE]\n\n").as_str())
    );
}

/// A client that sends `functions` reads `function_call`, and knows of one call only.
#[test]
fn a_client_of_the_older_form_gets_its_call_in_it() {
    let call = |id: &str, name: &str| Block::tool_call(id, name, json!({"a": 1}).as_object().unwrap().clone());
    let response = Response {
        id: Some("msg_1".into()),
        model: "m".into(),
        content: vec![Block::text("A"), call("c", "t"), call("d", "u")],
        finish_reason: FinishReason::ToolUse,
        ..Response::default()
    };
    let reply = Reply { older_calls: true, ..reply() };
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"msg_1\",\"object\":\"chat.completion.chunk\",\"created\":9,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let body = [
        chunk(r#""role":"assistant","content":"""#, "null"),
        chunk(r#""content":"A""#, "null"),
        chunk(r#""function_call":{"name":"t","arguments":""}"#, "null"),
        chunk(r#""function_call":{"arguments":"{\"a\":1}"}"#, "null"),
        chunk("", "\"function_call\""),
        "data: [DONE]\n\n".to_owned(),
    ];
    assert_eq!(write(&crate::events(&response), reply.clone()), body.concat());
    let whole = crate::dialect::openai_chat::encode_response(&response, &reply);
    assert_eq!(
        serde_json::from_slice::<Value>(&whole.body).unwrap()["choices"],
        json!([{"index": 0, "finish_reason": "function_call", "message": {
            "role": "assistant", "content": "A", "refusal": null, "function_call": {"name": "t", "arguments": "{\"a\":1}"}}}])
    );
    assert_eq!(whole.losses, [second_call()]);
    let mut encoder = StreamEncoder::new(Dialect::OpenaiChat, reply);
    crate::events(&response).iter().for_each(|event| encoder.push(event, &mut Vec::new()));
    assert_eq!(encoder.losses(), [second_call()]);
}

#[test]
fn a_failure_is_the_last_word() {
    let error = Event::Error { error: Box::new(Error::new(ErrorKind::Overloaded, "busy")) };
    let chunk = "data: {\"error\":{\"message\":\"busy\",\"type\":\"service_unavailable_error\",\"param\":null,\"code\":\"server_is_overloaded\"}}\n\n";
    assert_eq!(write(std::slice::from_ref(&error), reply()), chunk);
    let text = Event::BlockStart { index: 0, block: Block::text("x") };
    let done = Event::Done { finish_reason: FinishReason::Stop, provider_data: Default::default() };
    let written = write(&[text, error, done], reply());
    assert!(written.ends_with(chunk) && !written.contains("[DONE]"));
}

/// Everything that another dialect's answer may contain, through a client's stream and back.
#[test]
fn state_of_another_dialect_travels_in_the_stream() {
    let mut thinking = Block::thinking("hm");
    thinking.provider_data_mut().unwrap().set_part(Dialect::Anthropic, Part::State, "signature", "Eq==");
    let mut call = Block::tool_call("toolu_1", "t", crate::Arguments::default());
    call.provider_data_mut().unwrap().set_part(Dialect::Gemini, Part::State, "thought_signature", "sig");
    let response = Response {
        model: "claude".into(),
        content: vec![thinking, Block::text("A"), call],
        finish_reason: FinishReason::ToolUse,
        ..Response::default()
    };
    let streamed = write(&crate::events(&response), reply());
    let at_client = collect(testing::events_of(Dialect::OpenaiChat, &streamed));
    assert_eq!(at_client.text(), "A");
    // The client sends the message back, as it would a whole answer.
    let whole = encode_response(&response, &reply());
    let streamed = encode_response(&at_client, &reply());
    let details =
        |body: &Value| -> Vec<Value> { body["choices"][0]["message"]["reasoning_details"].as_array().unwrap().clone() };
    assert_eq!(details(&streamed), details(&whole));
}

#[test]
fn calls_whose_arguments_come_only_at_the_end_are_whole() {
    let events = [
        Event::Start { id: None, model: None, provider_data: Default::default() },
        Event::ToolCallStart { index: 0, id: "c".into(), name: "t".into(), provider_data: Default::default() },
        Event::ToolCallDone {
            index: 0,
            arguments: json!({"a": 1}).as_object().unwrap().clone().into(),
            provider_data: Default::default(),
        },
        Event::Done { finish_reason: FinishReason::Unknown, provider_data: Default::default() },
    ];
    let streamed = write(&events, reply());
    assert!(streamed.contains(r#""arguments":"{\"a\":1}""#), "{streamed}");
    // Clients wait for a finish reason.
    assert!(streamed.contains(r#""finish_reason":"stop""#), "{streamed}");
}

/// What has no place in a client's stream is reported, with its place.
#[test]
fn losses_of_a_stream_are_those_of_the_whole_answer() {
    let mut cited = Block::text("A");
    cited.provider_data_mut().unwrap().set_part(Dialect::Anthropic, Part::Extra, "citations", json!([{"url": "u"}]));
    let other = crate::Other { dialect: Dialect::Gemini, data: json!({"executableCode": {"code": "1"}}).into() };
    let mut response = Response {
        model: "m".into(),
        content: vec![
            cited,
            Block::Other(other),
            Block::document(crate::Source::Url { url: "u".into(), media_type: None }, "d"),
        ],
        finish_reason: FinishReason::Stop,
        usage: Some(Usage { input_tokens: 1, ..Usage::default() }),
        ..Response::default()
    };
    response.provider_data.set_part(Dialect::Gemini, Part::Answer, "avgLogprobs", json!(-0.1));
    response.provider_data.set_part(Dialect::OpenaiResponses, Part::Answer, "service_tier", "flex");
    response.usage.as_mut().unwrap().provider_data.set_part(Dialect::Gemini, Part::Answer, "trafficType", "ON_DEMAND");
    let whole = crate::dialect::openai_chat::encode_response(&response, &reply());
    let body: Value = serde_json::from_slice(&whole.body).unwrap();
    assert_eq!((&body["service_tier"], &body["choices"][0]["message"]["content"]), (&json!("flex"), &json!("A")));
    let told = |losses: &[crate::Loss]| -> std::collections::BTreeSet<String> {
        losses.iter().map(ToString::to_string).collect()
    };
    let expected = [
        "document at content[2]: an answer has no place for it here; left out",
        "other at content[1]: a block that only gemini has (executableCode); left out",
        "provider_data at content[0].provider_data.anthropic: only anthropic knows citations; left out",
        "provider_data at provider_data.gemini: only gemini knows avgLogprobs; left out",
        "provider_data at usage.provider_data.gemini: only gemini knows trafficType; left out",
    ];
    assert_eq!(told(&whole.losses), expected.map(str::to_owned).into());
    let mut encoder = StreamEncoder::new(Dialect::OpenaiChat, reply());
    let mut bytes = Vec::new();
    crate::events(&response).iter().for_each(|event| encoder.push(event, &mut bytes));
    assert_eq!(told(encoder.losses()), expected.map(str::to_owned).into());
    assert!(String::from_utf8(bytes).unwrap().contains(r#""service_tier":"flex""#));
}

mod any_frames {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::openai_chat::testing::{config, value};

    proptest! {
        #![proptest_config(config())]

        /// Whatever arrives, the events obey the grammar and the stream has one end.
        #[test]
        fn never_break_the_grammar(frames in prop::collection::vec(value(), 0..8), ends in any::<bool>()) {
            let mut texts: Vec<String> = frames
                .into_iter()
                .map(|frame| json!({"id": "1", "choices": [{"index": 0, "delta": frame}]}).to_string())
                .collect();
            if ends {
                texts.push(finish("stop"));
            }
            let events = read(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert!(events.last().is_some_and(Event::is_terminal));
        }

        /// Whole frames of any form, and cut ones.
        #[test]
        fn are_survived(frame in value(), cut in 0usize..60) {
            let text = frame.to_string();
            let end = (0..=cut.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            read(&[&text]);
            read(&[&text[..end], &text]);
            let _ = decode_response(frame.clone(), &mut Ids::default()).map(|response| encode_response(&response, &Reply::default()));
        }

        /// An answer of any form that can be read is written back unchanged.
        #[test]
        fn whole_answers_return_as_they_came(message in value()) {
            let body = json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message}]});
            if let Ok(response) = decode_response(body.clone(), &mut Ids::default()) {
                prop_assert_eq!(encode_response(&response, &Reply::default()), body);
            }
        }
    }
}

#[test]
fn a_failure_without_words_is_in_the_last_choice() {
    let events = [
        Event::Start { id: Some("r".into()), model: Some("m".into()), provider_data: Default::default() },
        Event::Done { finish_reason: FinishReason::Error, provider_data: Default::default() },
    ];
    let written = write(&events, reply());
    let last = written.lines().rev().filter_map(|line| line.strip_prefix("data: {")).next().unwrap();
    let last: Value = serde_json::from_str(&format!("{{{last}")).unwrap();
    assert_eq!(
        last["choices"],
        json!([{"index": 0, "delta": {}, "finish_reason": "length", "error": {
            "message": "the model's answer broke off", "type": "server_error", "param": null, "code": null,
        }}])
    );
    let read = collect(testing::events_of(Dialect::OpenaiChat, &written));
    assert_eq!(read.error.map(|error| error.message).as_deref(), Some("the model's answer broke off"));
}

use pretty_assertions::assert_eq;

use serde_json::{Map, Value, json};

use super::*;
use crate::dialect::Reply;
use crate::dialect::openai_chat::DIALECT;
use crate::dialect::openai_chat::testing::{decode_response, encode_response};
use crate::wire::Ids;
use crate::{Audio, Dialect, ErrorKind, Image, Part, Response, Source, Usage};

fn answer(choice: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
}

fn decode(body: Value) -> Response {
    decode_response(body, &mut Ids::default()).unwrap()
}

#[test]
fn a_whole_answer() {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1770933883, "model": "gpt-4.1-nano-2025-04-14",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi", "refusal": null, "annotations": []},
            "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 16, "completion_tokens": 363, "total_tokens": 379,
            "completion_tokens_details": {"reasoning_tokens": 63}},
        "service_tier": "default"
    });
    let response = decode(body.clone());
    let mut expected = Response {
        id: Some("chatcmpl-1".into()),
        model: "gpt-4.1-nano-2025-04-14".into(),
        content: vec![Block::text("Hi")],
        finish_reason: FinishReason::Stop,
        usage: Some(Usage { input_tokens: 16, output_tokens: 300, thinking_tokens: 63, ..Usage::default() }),
        ..Response::default()
    };
    let counts = body["usage"].clone();
    expected.usage.as_mut().unwrap().provider_data.set_part(DIALECT, Part::Shape, "usage", counts);
    for (name, value) in [
        ("service_tier", json!("default")),
        ("choice.logprobs", json!(null)),
        ("message.refusal", json!(null)),
        ("message.annotations", json!([])),
    ] {
        expected.provider_data.set_part(DIALECT, Part::Answer, name, value);
    }
    expected.provider_data.set_part(DIALECT, Part::Shape, "answer", json!({"created": 1770933883}));
    expected.provider_data.set_part(DIALECT, Part::Shape, "finish_reason", "stop");
    assert_eq!(response, expected);
    assert_eq!(encode_response(&response, &Reply::default()), body);
}

#[test]
fn the_content_decides_over_the_word() {
    use FinishReason::*;
    let nothing = Holds::default();
    let calls = Holds { calls: true, ..nothing };
    let cut = Holds { calls: true, broken_call: true, ..nothing };
    let refused = Holds { refusal: true, ..nothing };
    let table = [
        (Some("stop"), nothing, Stop),
        (Some("stop"), calls, ToolUse),
        (Some("stop"), refused, ContentFilter),
        (Some("eos"), nothing, Stop),
        (Some("end_turn"), calls, ToolUse),
        (Some("COMPLETE"), nothing, Stop),
        (Some("abort"), nothing, Error),
        (Some("stop_sequence"), nothing, Stop),
        (Some("tool_calls"), calls, ToolUse),
        (Some("tool_calls"), nothing, Stop),
        (Some("function_call"), calls, ToolUse),
        (Some("length"), calls, Length),
        (Some("max_tokens"), nothing, Length),
        (Some("model_length"), nothing, Length),
        (Some("STOP"), nothing, Stop),
        (Some("MAX_TOKENS"), nothing, Length),
        (Some("tool_call"), calls, ToolUse),
        (Some("model_context_window_exceeded"), nothing, Length),
        (Some("content_filter"), nothing, ContentFilter),
        (Some("error"), nothing, Error),
        (Some("insufficient_system_resource"), nothing, Error),
        (Some("network_error"), nothing, Error),
        (Some("sensitive"), nothing, ContentFilter),
        // Of Google's compatible endpoint.
        (Some("function_call_filter: MALFORMED_FUNCTION_CALL"), nothing, Error),
        (Some("content_filter: PROHIBITED_CONTENT"), nothing, ContentFilter),
        (Some("something"), nothing, Unknown),
        (Some("something"), calls, Unknown),
        (Some(""), nothing, Unknown),
        (Some(""), calls, ToolUse),
        (None, nothing, Unknown),
        (None, calls, ToolUse),
        (None, cut, Unknown),
    ];
    for (word, holds, reason) in table {
        assert_eq!(finish(word, holds), reason, "{word:?} {holds:?}");
    }
}

#[test]
fn a_refusal_is_no_text_and_ends_the_answer() {
    let body = answer(
        json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null, "refusal": "I cannot."}}),
    );
    let response = decode(body.clone());
    assert_eq!(response.finish_reason, FinishReason::ContentFilter);
    assert_eq!((response.text(), response.refusal()), (String::new(), Some("I cannot.".to_owned())));
    assert_eq!(encode_response(&response, &Reply::default()), body);
}

#[test]
fn other_choices_are_kept_and_only_the_first_is_read() {
    let choice = |index: u64, text: &str| json!({"index": index, "finish_reason": "stop", "message": {"role": "assistant", "content": text}});
    let mut body = answer(choice(1, "b"));
    body["choices"].as_array_mut().unwrap().extend([choice(0, "a"), choice(2, "c")]);
    let response = decode(body.clone());
    assert_eq!(response.text(), "a");
    assert_eq!(encode_response(&response, &Reply::default()), body);
}

#[test]
fn answers_that_leave_out_what_everybody_has() {
    for body in [
        json!({"choices": [{"message": {"content": "x"}}]}),
        json!({"id": "", "model": "", "object": "", "choices": [{"index": 0, "message": {"role": "model", "content": "x"}, "finish_reason": ""}]}),
        json!({"id": null, "model": null, "usage": null, "choices": [{"index": 3, "message": {"content": "x"}, "finish_reason": null}]}),
        json!({"choices": [{"message": {"content": "x"}}], "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}}),
        json!({"choices": [{"message": {"content": "x"}, "usage": {"prompt_tokens": 3}}]}),
        json!({"choices": [{"index": 0, "text": "legacy"}]}),
    ] {
        let response = decode(body.clone());
        assert_eq!(encode_response(&response, &Reply::default()), body);
    }
    let elsewhere =
        decode(json!({"choices": [{"message": {"content": "x"}}], "x_groq": {"usage": {"prompt_tokens": 3}}}));
    assert_eq!(elsewhere.usage.map(|usage| usage.input_tokens), Some(3));
}

#[test]
fn what_is_no_answer_is_an_error() {
    let error = |body: Value| decode_response(body, &mut Ids::default()).unwrap_err();
    assert_eq!(error(json!({"error": {"code": 429, "message": "slow"}})).kind, ErrorKind::RateLimit);
    assert_eq!(
        error(json!({"code": "x", "error": "The service is currently unavailable"})).kind,
        ErrorKind::Overloaded
    );
    for body in
        [json!([]), json!("x"), json!({}), json!({"choices": []}), json!({"choices": null}), json!({"choices": [1]})]
    {
        assert_eq!(error(body.clone()).kind, ErrorKind::Protocol, "{body}");
    }
    // Part of every good answer of some.
    assert_eq!(decode(json!({"error": null, "choices": [{"message": {"content": "x"}}]})).text(), "x");
}

#[test]
fn an_answer_that_broke_off_keeps_what_had_arrived() {
    let body = answer(json!({"index": 0, "finish_reason": "error", "error": {"code": 502, "message": "upstream died"},
        "message": {"role": "assistant", "content": "Half"}}));
    let response = decode(body.clone());
    assert_eq!((response.text().as_str(), response.finish_reason), ("Half", FinishReason::Error));
    assert_eq!(response.error.as_ref().map(|error| error.message.as_str()), Some("upstream died"));
    assert_eq!(encode_response(&response, &Reply::default()), body);
    let silent = decode(answer(
        json!({"index": 0, "finish_reason": "insufficient_system_resource", "message": {"content": ""}}),
    ));
    assert_eq!(silent.error.map(|error| error.kind), Some(ErrorKind::Overloaded));
}

#[test]
fn what_the_caller_changed_is_what_goes_out() {
    let body = answer(
        json!({"index": 0, "finish_reason": "end_turn", "message": {"role": "assistant", "content": "x", "reasoning": "hm"}}),
    );
    let mut response = decode(body);
    response.content = vec![Block::tool_call("c", "t", Map::new())];
    response.finish_reason = FinishReason::Length;
    response.model = "other".into();
    assert_eq!(
        encode_response(&response, &Reply::default()),
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "other", "choices": [
            {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}}]})
    );
}

#[test]
fn an_answer_from_elsewhere_as_a_client_wants_it() {
    let mut thinking = Block::thinking("hm");
    thinking.provider_data_mut().unwrap().set_part(Dialect::Anthropic, crate::Part::State, "signature", "Eq==");
    let response = Response {
        content: vec![
            thinking,
            Block::text("Let me "),
            Block::text("see."),
            Block::tool_call("toolu_1", "t", Map::new()),
        ],
        finish_reason: FinishReason::ToolUse,
        usage: Some(Usage {
            input_tokens: 5,
            output_tokens: 7,
            thinking_tokens: 2,
            cache_read_tokens: 3,
            ..Usage::default()
        }),
        ..Response::default()
    };
    let reply =
        Reply { created: 9, model: Some("claude".into()), provider: Some("anthropic".into()), ..Reply::default() };
    let mut wire = encode_response(&response, &reply);
    let data = wire["choices"][0]["message"]["reasoning_details"][0]["data"].take();
    assert!(data.as_str().is_some_and(|data| data.starts_with("ikg1.")));
    let id = wire["id"].take();
    assert!(id.as_str().is_some_and(|id| id.starts_with("chatcmpl-")));
    assert_eq!(
        wire,
        json!({
            "id": null, "object": "chat.completion", "created": 9, "model": "claude",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "Let me see.", "reasoning_content": "hm", "refusal": null,
                "reasoning_details": [{"type": "reasoning.encrypted", "data": null, "id": "thinking_0", "format": "ikigai-v1", "index": 0}],
                "tool_calls": [{"id": "toolu_1", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}}],
            "usage": {"prompt_tokens": 8, "completion_tokens": 9, "total_tokens": 17,
                "prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 2}}
        })
    );
}

#[test]
fn media_from_elsewhere_has_what_clients_require_and_its_losses() {
    let mut image = Image::new(Source::Base64 { media_type: "image/png".into(), data: "AAAA".into() });
    image.provider_data.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
    let samples = Source::Base64 { media_type: "audio/L16;rate=24000".into(), data: "AAAA".into() };
    let content = vec![Block::Image(image), Block::Audio(Audio::new(samples))];
    let wire = super::encode_response(
        &Response { content, finish_reason: FinishReason::Stop, ..Response::default() },
        &Reply::default(),
    );
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    let audio = json!({"id": "audio", "data": "AAAA", "transcript": "", "expires_at": 0});
    assert_eq!(body["choices"][0]["message"]["audio"], audio);
    let losses: Vec<String> =
        wire.losses.iter().map(|loss| format!("{} {}: {}", loss.what, loss.place, loss.why)).collect();
    assert_eq!(
        losses,
        [
            "provider_data content[0].provider_data.gemini: only gemini knows thought_signature; left out",
            "audio content[1].source.media_type: an answer does not say here that it is audio/L16;rate=24000",
        ]
    );
}

#[test]
fn every_reason_from_elsewhere_has_a_word() {
    use FinishReason::*;
    for (reason, word) in [
        (Stop, "stop"),
        (Length, "length"),
        (ToolUse, "tool_calls"),
        (ContentFilter, "content_filter"),
        (Unknown, "stop"),
    ] {
        let response = Response { finish_reason: reason, ..Response::default() };
        assert_eq!(encode_response(&response, &Reply::default())["choices"][0]["finish_reason"], word);
    }
    let broken = Response {
        finish_reason: Error,
        error: Some(Box::new(crate::Error::new(ErrorKind::Overloaded, "busy"))),
        ..Response::default()
    };
    assert_eq!(encode_response(&broken, &Reply::default())["error"]["message"], "busy");
}

#[test]
fn an_answer_that_gives_no_reason_for_its_end_is_complete() {
    let body = answer(json!({"index": 0, "finish_reason": null, "message": {"role": "assistant", "content": "Hi"}}));
    let response = decode(body.clone());
    assert_eq!((response.text().as_str(), response.finish_reason), ("Hi", FinishReason::Unknown));
    assert_eq!(encode_response(&response, &Reply::default()), body);
    // Complete calls are there to be run.
    let call = json!({"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}});
    let body = answer(
        json!({"index": 0, "finish_reason": null, "message": {"role": "assistant", "content": null, "tool_calls": [call]}}),
    );
    assert_eq!(decode(body).finish_reason, FinishReason::ToolUse);
}

#[test]
fn an_answer_without_state_has_no_seal() {
    let mut block = Block::text("Hello");
    let data = block.provider_data_mut().unwrap();
    data.set_part(Dialect::OpenaiResponses, Part::State, "id", "msg_1");
    data.set_part(Dialect::OpenaiResponses, Part::Shape, "annotations", json!([]));
    let response = Response { content: vec![block], finish_reason: FinishReason::Stop, ..Response::default() };
    let message = &encode_response(&response, &Reply::default())["choices"][0]["message"];
    assert_eq!(message, &json!({"role": "assistant", "content": "Hello", "refusal": null}));
}

#[test]
fn a_failure_next_to_content_is_in_words_that_strict_clients_accept() {
    let response =
        Response { content: vec![Block::text("Half")], finish_reason: FinishReason::Error, ..Response::default() };
    let body = encode_response(&response, &Reply::default());
    assert_eq!(
        body["choices"][0],
        json!({
            "index": 0,
            "message": {"role": "assistant", "content": "Half", "refusal": null},
            "finish_reason": "length",
            "error": {"message": "the model's answer broke off", "type": "server_error", "param": null, "code": null},
        })
    );
    let again = decode(body);
    assert_eq!((again.text().as_str(), again.finish_reason), ("Half", FinishReason::Error));
    assert_eq!(again.error.map(|error| error.message).as_deref(), Some("the model's answer broke off"));
}

#[test]
fn a_failure_in_a_choice_counts_whatever_the_reason() {
    for word in [json!("stop"), json!("length"), json!("error"), json!(null)] {
        let body =
            answer(json!({"index": 0, "finish_reason": word, "message": {"role": "assistant", "content": "Half"},
            "error": {"code": 502, "message": "down"}}));
        let response = decode(body.clone());
        assert_eq!(response.finish_reason, FinishReason::Error, "{word}");
        assert_eq!(response.error.as_ref().map(|error| error.message.as_str()), Some("down"), "{word}");
        assert_eq!(encode_response(&response, &Reply::default()), body);
    }
    let fine =
        json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}, "error": null});
    assert_eq!(decode(answer(fine)).finish_reason, FinishReason::Stop);
}

#[test]
fn a_choice_without_a_message_says_why() {
    let filtered = answer(json!({"index": 0, "finish_reason": "content_filter: PROHIBITED_CONTENT"}));
    let response = decode(filtered.clone());
    assert_eq!((response.content.len(), response.finish_reason), (0, FinishReason::ContentFilter));
    assert_eq!(encode_response(&response, &Reply::default()), filtered);
}

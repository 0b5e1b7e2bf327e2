use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::dialect::openai_responses::{DIALECT, decode_request};
use crate::dialect::{Dialect, Incoming, Reply};
use crate::wire::Ids;
use crate::{
    Block, Error, ErrorKind, FinishReason, Image, Message, Part, ProviderData, Response, Source, Text, ThinkingBlock,
    ToolCall, Usage,
};

fn try_read(body: &Value) -> Result<Response, Error> {
    DIALECT.decode_response(body.to_string().as_bytes(), &mut Ids::default(), &crate::Limits::default())
}

fn write(response: &Response, reply: &Reply) -> Value {
    serde_json::from_slice(&DIALECT.encode_response(response, reply).body).unwrap()
}

fn answer(status: &str, output: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_765_552_659, "status": status, "error": null,
        "incomplete_details": null, "instructions": null, "metadata": {}, "model": "gpt-5.1", "output": output,
        "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "usage": {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 0}, "output_tokens": 120,
                  "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 170},
    })
}

fn read(body: Value) -> Response {
    try_read(&body).unwrap()
}

fn reply() -> Reply {
    Reply { created: 7, model: Some("asked".into()), provider: Some("anthropic".into()), ..Reply::default() }
}

fn message(text: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
           "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

fn call() -> Value {
    json!({"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": "f",
           "arguments": "{\"a\": 1}"})
}

#[test]
fn an_answer_with_reasoning_text_and_a_call() {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA", "summary": [
        {"type": "summary_text", "text": "**One**"}, {"type": "summary_text", "text": "**Two**"}]});
    let body = answer("completed", json!([reasoning, message("Hi"), call()]));
    let response = read(body.clone());
    let mut leftovers = body.clone();
    for key in ["id", "model", "status", "output", "usage"] {
        leftovers.as_object_mut().unwrap().shift_remove(key);
    }
    assert_eq!(
        serde_json::to_value(&response).unwrap(),
        json!({
            "id": "resp_1", "model": "gpt-5.1",
            "content": [
                {"type": "thinking", "text": "**One****Two**", "provider_data": {"openai-responses": {
                    "id": "rs_1", "encrypted_content": "gAAA", "shape": {"summary": [
                        {"type": "summary_text", "text": "**One**"}, {"type": "summary_text", "text": "**Two**"}]}}}},
                {"type": "text", "text": "Hi", "provider_data": {"openai-responses": {"shape": {
                    "annotations": [], "logprobs": [], "item": {"id": "msg_1", "status": "completed"}}}}},
                {"type": "tool_call", "id": "call_1", "name": "f", "arguments": {"a": 1}, "arguments_text": "{\"a\": 1}",
                 "provider_data": {"openai-responses": {"shape": {"id": "fc_1", "status": "completed"}}}},
            ],
            "finish_reason": "tool_use",
            "usage": {"input_tokens": 40, "output_tokens": 100, "thinking_tokens": 20, "cached_tokens": 10,
                      "cache_read_tokens": 10, "cache_write_tokens": 0, "total_tokens": 170},
            "provider_data": {"openai-responses": {"shape": {"status": "completed", "response": leftovers}}},
        })
    );
    assert_eq!(write(&response, &Reply::default()), body);
}

#[test]
fn answers_of_every_shape_come_back_as_they_were() {
    let mut odd = answer(
        "completed",
        json!([
            message("a"),
            message("b"),
            {"id": "msg_2", "type": "message", "role": "assistant", "status": "completed", "phase": "final_answer",
             "content": [{"type": "output_text", "text": "c"}, {"type": "refusal", "refusal": "no"}]},
            {"id": "msg_3", "type": "message", "role": "assistant", "status": "completed", "content": []},
            {"id": "ws_1", "type": "web_search_call", "status": "completed"},
            {"type": "function_call", "name": "f"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "status": "completed", "content": null},
            "no object",
        ]),
    );
    odd["output_text"] = json!("abc");
    odd["background"] = json!(false);
    for body in [
        odd,
        answer("completed", json!([])),
        answer("queued", json!([])),
        answer("a_status_of_tomorrow", json!([message("x")])),
        json!({"object": "response", "output": null, "usage": null}),
        json!({"id": "x", "output": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
        json!({"output": [], "status": "incomplete", "incomplete_details": {"reason": "steered", "by": "x"}}),
    ] {
        assert_eq!(write(&read(body.clone()), &Reply::default()), body);
    }
}

#[test]
fn the_finish_is_decided_by_the_items_and_the_status() {
    let refusal = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                         "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let custom = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "patch", "input": "x"});
    let hosted = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    for (status, reason, output, finish) in [
        ("completed", None, json!([message("x")]), FinishReason::Stop),
        ("completed", None, json!([message("x"), call()]), FinishReason::ToolUse),
        ("completed", None, json!([custom]), FinishReason::ToolUse),
        ("completed", None, json!([hosted, message("x")]), FinishReason::Stop),
        ("completed", None, json!([refusal]), FinishReason::ContentFilter),
        ("completed", None, json!([refusal, call()]), FinishReason::ToolUse),
        ("incomplete", Some("max_output_tokens"), json!([call()]), FinishReason::Length),
        ("incomplete", Some("max_messages"), json!([]), FinishReason::Length),
        ("incomplete", Some("content_filter"), json!([message("x")]), FinishReason::ContentFilter),
        ("incomplete", Some("steered"), json!([]), FinishReason::Unknown),
        ("incomplete", None, json!([]), FinishReason::Unknown),
        ("in_progress", None, json!([]), FinishReason::Unknown),
        ("queued", None, json!([]), FinishReason::Unknown),
    ] {
        let mut body = answer(status, output);
        body["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({"reason": reason}));
        let response = read(body.clone());
        assert_eq!(response.finish_reason, finish, "{status} {reason:?}");
        assert_eq!(write(&response, &Reply::default()), body, "{status} {reason:?}");
    }
    let refused = read(answer("completed", json!([refusal])));
    assert_eq!(refused.content[0].as_text(), Some("I cannot."));
    assert!(refused.content[0].provider_data().unwrap().part(DIALECT, Part::Shape).flag("refusal"));
}

#[test]
fn failures_inside_a_good_status_are_errors_that_keep_what_had_come() {
    let mut failed = answer("failed", json!([message("so far")]));
    failed["error"] = json!({"code": "rate_limit_exceeded", "message": "slow down"});
    let error = try_read(&failed).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str(), error.code.as_deref()),
        (ErrorKind::RateLimit, "slow down", Some("rate_limit_exceeded"))
    );
    let partial = error.partial.unwrap();
    assert_eq!((partial.text().as_str(), partial.finish_reason), ("so far", FinishReason::Error));

    for (body, kind) in [
        (answer("failed", json!([])), ErrorKind::Server),
        (answer("cancelled", json!([])), ErrorKind::Cancelled),
        (json!({"error": {"message": "no", "type": "invalid_request_error", "code": null}}), ErrorKind::InvalidRequest),
        (json!({"code": "model_not_found", "error": "Model not found: x"}), ErrorKind::NotFound),
        (json!({"choices": []}), ErrorKind::Protocol),
        (json!({}), ErrorKind::Protocol),
        (json!([]), ErrorKind::Protocol),
        (Value::Null, ErrorKind::Protocol),
    ] {
        assert_eq!(try_read(&body).unwrap_err().kind, kind, "{body}");
    }
}

#[test]
fn codes_of_failed_answers() {
    for (code, kind) in [
        ("server_error", ErrorKind::Server),
        ("rate_limit_exceeded", ErrorKind::RateLimit),
        ("insufficient_quota", ErrorKind::Quota),
        ("invalid_prompt", ErrorKind::ContentFiltered),
        ("bio_policy", ErrorKind::ContentFiltered),
        ("cyber_policy", ErrorKind::ContentFiltered),
        ("misalignment_policy_violation", ErrorKind::ContentFiltered),
        ("image_content_policy_violation", ErrorKind::ContentFiltered),
        ("data_residency_mismatch", ErrorKind::Permission),
        ("vector_store_timeout", ErrorKind::Timeout),
        ("image_file_not_found", ErrorKind::NotFound),
        ("failed_to_download_image", ErrorKind::InvalidRequest),
        ("invalid_image", ErrorKind::InvalidRequest),
        ("invalid_base64_image", ErrorKind::InvalidRequest),
        ("image_too_large", ErrorKind::InvalidRequest),
        ("unsupported_image_media_type", ErrorKind::InvalidRequest),
        ("empty_image_file", ErrorKind::InvalidRequest),
        ("context_length_exceeded", ErrorKind::ContextTooLong),
        ("server_is_overloaded", ErrorKind::Overloaded),
    ] {
        let mut body = answer("failed", json!([]));
        body["error"] = json!({"code": code, "message": "m"});
        assert_eq!(try_read(&body).unwrap_err().kind, kind, "{code}");
    }
}

#[test]
fn a_call_without_any_id_gets_one() {
    let response =
        read(answer("completed", json!([{"type": "function_call", "id": "", "name": "f", "arguments": "{}"}])));
    let call = response.tool_calls().next().unwrap();
    assert!(call.id.starts_with("call_") && call.id.len() == 27, "{}", call.id);
    let response =
        read(answer("completed", json!([{"type": "function_call", "id": "fc_9", "name": "f", "arguments": "{}"}])));
    assert_eq!(response.tool_calls().next().unwrap().id, "fc_9");
}

/// Returns an answer from a provider of another dialect.
fn foreign() -> Response {
    let mut thinking = ThinkingBlock { text: "Hm.".into(), provider_data: ProviderData::default() };
    thinking.provider_data.set_part(Dialect::Anthropic, Part::State, "signature", "S");
    let mut call = ToolCall { id: "toolu_1".into(), name: "f".into(), ..ToolCall::default() };
    call.provider_data.set_part(Dialect::Gemini, Part::State, "thought_signature", "T");
    let mut text = Text { text: "b".into(), ..Text::default() };
    text.provider_data.set_part(Dialect::Gemini, Part::State, "thought_signature", "U");
    Response {
        id: Some("msg_01".into()),
        model: "claude-x".into(),
        content: vec![
            Block::Thinking(thinking),
            Block::text("a"),
            Block::Text(text),
            Block::ToolCall(call),
            Block::Image(Image {
                source: Source::Base64 { media_type: "image/png".into(), data: "iVBORw==".into() },
                cache: None,
                provider_data: ProviderData::default(),
            }),
        ],
        finish_reason: FinishReason::ToolUse,
        usage: Some(Usage { input_tokens: 5, cache_write_tokens: 3, output_tokens: 2, ..Usage::default() }),
        ..Response::default()
    }
}

#[test]
fn an_answer_from_elsewhere_gets_every_member_that_clients_insist_on() {
    let mut body = write(&foreign(), &reply());
    let output = body["output"].take();
    let id = body["id"].take();
    assert!(id.as_str().unwrap().starts_with("resp_"));
    assert_eq!(
        body,
        json!({
            "id": null, "object": "response", "created_at": 7, "status": "completed", "background": false,
            "error": null, "incomplete_details": null, "instructions": null, "max_output_tokens": null,
            "model": "claude-x", "output": null, "parallel_tool_calls": true, "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": null,
            "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": null,
            "truncation": "disabled", "metadata": {},
            "usage": {"input_tokens": 8, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 3},
                      "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 10},
        })
    );
    let kinds: Vec<&str> = output.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "message", "reasoning", "function_call", "reasoning", "image_generation_call"]);
    assert_eq!(
        output[1]["content"],
        json!([{"type": "output_text", "text": "a", "annotations": [], "logprobs": []},
               {"type": "output_text", "text": "b", "annotations": [], "logprobs": []}])
    );
    assert!(output.as_array().unwrap().iter().all(|item| item["id"].is_string()));
    assert!(output.as_array().unwrap().iter().all(|item| item["type"] != "reasoning" || item["summary"].is_array()));
    assert_eq!((&output[3]["call_id"], &output[3]["status"]), (&json!("toolu_1"), &json!("completed")));
}

#[test]
fn the_state_of_other_dialects_travels_through_a_client_and_back() {
    let response = foreign();
    let mut items = write(&response, &reply())["output"].take();
    items.as_array_mut().unwrap().push(json!({"type": "function_call_output", "call_id": "toolu_1", "output": "r"}));
    let body = json!({"model": "claude-x", "input": items});
    let request =
        decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &crate::Limits::default()).unwrap();
    let mut back = request.messages[0].clone();
    // The client's own item ids come along; they are this dialect's and useless elsewhere.
    back.content.iter_mut().filter_map(Block::provider_data_mut).for_each(|data| {
        data.take_part(DIALECT, Part::Shape);
    });
    let mut sent: Message = response.into_message("anthropic");
    // The picture comes back as the output of this API's own tool.
    sent.content.pop();
    back.content.truncate(sent.content.len());
    assert_eq!(back, sent);
}

#[test]
fn finishes_become_statuses() {
    let refusal = {
        let mut text = Text { text: "no".into(), ..Text::default() };
        text.provider_data.set_part(Dialect::OpenaiChat, Part::Shape, "refusal", true);
        Block::Text(text)
    };
    let status = |finish_reason: FinishReason, content: Vec<Block>| {
        let response = Response { finish_reason, content, ..Response::default() };
        let body = write(&response, &reply());
        (body["status"].as_str().unwrap().to_owned(), body["incomplete_details"]["reason"].as_str().map(str::to_owned))
    };
    let plain = || vec![Block::text("x")];
    assert_eq!(status(FinishReason::Stop, plain()), ("completed".into(), None));
    assert_eq!(status(FinishReason::ToolUse, plain()), ("completed".into(), None));
    assert_eq!(status(FinishReason::Unknown, plain()), ("completed".into(), None));
    assert_eq!(status(FinishReason::Length, plain()), ("incomplete".into(), Some("max_output_tokens".into())));
    assert_eq!(status(FinishReason::ContentFilter, plain()), ("incomplete".into(), Some("content_filter".into())));
    assert_eq!(status(FinishReason::ContentFilter, vec![refusal]), ("completed".into(), None));

    let error = Some(Box::new(Error::new(ErrorKind::Overloaded, "busy")));
    let failed = Response { finish_reason: FinishReason::Error, error, ..Response::default() };
    let body = write(&failed, &reply());
    assert_eq!(
        (&body["status"], &body["error"]),
        (
            &json!("failed"),
            &json!({"message": "busy", "type": "service_unavailable_error", "param": null, "code": "server_is_overloaded"})
        )
    );
    assert_eq!(body["model"], "asked");
}

#[test]
fn words_about_the_end_are_written_again_only_while_they_are_true() {
    let mut body = answer("completed", json!([message("Hi")]));
    body["output_text"] = json!("Hi");
    let mut response = read(body);
    response.finish_reason = FinishReason::Length;
    response.content = vec![Block::text("changed")];
    let again = write(&response, &Reply::default());
    assert_eq!(
        (&again["status"], &again["incomplete_details"]),
        (&json!("incomplete"), &json!({"reason": "max_output_tokens"}))
    );
    assert_eq!(
        (&again["output_text"], &again["output"][0]["content"][0]["text"]),
        (&json!("changed"), &json!("changed"))
    );
}

#[test]
fn a_total_that_does_not_add_up_is_kept_and_told() {
    let mut body = answer("completed", json!([]));
    body["usage"]["total_tokens"] = json!(999);
    let response = read(body.clone());
    assert_eq!(response.usage.as_ref().unwrap().total_tokens(), 170);
    assert_eq!(
        response.warnings[0].to_string(),
        "usage at usage.total_tokens: the provider counts 999 tokens in all, which is not the sum of its counts"
    );
    assert_eq!(write(&response, &Reply::default()), body);
}

#[test]
fn a_plain_answer_has_no_state_and_costs_nothing() {
    let response = read(answer("completed", json!([message("Hello")])));
    let data = response.content[0].provider_data().unwrap();
    assert_eq!((data.parts(Part::State).count(), data.parts(Part::Extra).count()), (0, 0));
    assert_eq!(data.parts(Part::Answer).count(), 0);
    assert_eq!(response.provider_data.parts(Part::Answer).count(), 0);
}

#[test]
fn a_message_without_a_role_is_the_models() {
    let body = json!({"object": "response", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]});
    let response = read(body.clone());
    assert_eq!(response.text(), "Hello");
    assert_eq!(write(&response, &Reply::default()), body);
}

#[test]
fn what_this_wire_cannot_hold_is_named() {
    let mut text = Text { text: "x".into(), ..Text::default() };
    text.provider_data.set_part(Dialect::Gemini, Part::Answer, "avgLogprobs", json!(-0.5));
    let mut image = Image {
        source: Source::Base64 { media_type: "image/png".into(), data: "iVBORw==".into() },
        cache: None,
        provider_data: ProviderData::default(),
    };
    image.provider_data.set_part(Dialect::Gemini, Part::State, "thought_signature", "T");
    let code = crate::Other { dialect: Dialect::Gemini, data: json!({"executableCode": {"code": "1"}}).into() };
    let search = crate::Other { dialect: Dialect::Anthropic, data: json!({"type": "server_tool_use"}).into() };
    let mut usage = Usage { input_tokens: 1, ..Usage::default() };
    usage.provider_data.set_part(Dialect::Anthropic, Part::Answer, "inference_geo", "eu");
    let mut response = Response {
        content: vec![
            Block::Text(text),
            Block::Image(image),
            Block::image_url("https://a.example/b.png"),
            Block::audio(Source::Base64 { media_type: "audio/wav".into(), data: "AAA=".into() }),
            Block::tool_result("c", "r"),
            Block::Other(code),
            Block::Other(search),
        ],
        finish_reason: FinishReason::Stop,
        usage: Some(usage),
        ..Response::default()
    };
    response.provider_data.set_part(Dialect::OpenaiChat, Part::Answer, "service_tier", "flex");
    response.provider_data.set_part(Dialect::OpenaiChat, Part::Answer, "system_fingerprint", "fp_1");
    let wire = encode_response(&response, &reply());
    let losses: Vec<String> = wire.losses.iter().map(ToString::to_string).collect();
    let expected = [
        "provider_data at content[0].provider_data.gemini: only gemini knows avgLogprobs; left out",
        "provider_data at content[1].provider_data.gemini: only gemini knows thought_signature; left out",
        "image at content[2]: a picture in an answer needs its bytes here; left out",
        "audio at content[3]: answers have no place for it here; left out",
        "tool_result at content[4]: answers cannot contain tool results here; left out",
        "other at content[5]: a block that only gemini has (executableCode); left out",
        "other at content[6]: a block that only anthropic has (server_tool_use); left out",
        "provider_data at provider_data.openai-chat: only openai-chat knows system_fingerprint; left out",
        "provider_data at usage.provider_data.anthropic: only anthropic knows inference_geo; left out",
    ];
    assert_eq!(losses, expected);
    assert_eq!(serde_json::from_slice::<Value>(&wire.body).unwrap()["service_tier"], "flex");
    // A stream loses the same.
    let mut encoder = crate::wire::StreamEncoder::new(Dialect::OpenaiResponses, reply());
    crate::events(&response).iter().for_each(|event| encoder.push(event, &mut Vec::new()));
    let streamed: Vec<String> = encoder.losses().iter().map(ToString::to_string).collect();
    assert_eq!(streamed, expected);
}

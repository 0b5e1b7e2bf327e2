use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{read_answer, read_request, write_answer};
use super::super::{DIALECT, usage};
use crate::dialect::Reply;
use crate::wire::Ids;
use crate::{
    Block, Dialect, Error, ErrorKind, FinishReason, Json, Loss, LossCode, Other, Part, ProviderData, Response, Source,
    ThinkingBlock, Usage,
};

fn read(body: Value) -> Response {
    read_answer(&body).unwrap()
}

fn write(response: &Response, reply: &Reply) -> Value {
    write_answer(response, reply).0
}

fn message(content: Value, stop_reason: Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 2}})
}

#[test]
fn an_answer_is_read_whole() {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "Eq"},
            {"type": "redacted_thinking", "data": "Em"},
            {"type": "text", "text": "Yes", "citations": null},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "/etc/hosts"}}],
        "stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"},
        "usage": {"input_tokens": 51, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4,
            "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2},
            "output_tokens": 1699, "output_tokens_details": {"thinking_tokens": 139}, "service_tier": "standard"},
    });
    let response = read(body.clone());
    assert_eq!(
        serde_json::to_value(&response).unwrap(),
        json!({
            "id": "msg_1", "model": "claude-opus-5",
            "content": [
                {"type": "thinking", "text": "Hm", "provider_data": {"anthropic": {"signature": "Eq"}}},
                {"type": "thinking", "text": "", "provider_data": {"anthropic": {"redacted_data": "Em"}}},
                {"type": "text", "text": "Yes", "provider_data": {"anthropic": {"extra": {"citations": null}}}},
                {"type": "provider_call", "id": "s", "tool": "web_search", "name": "web_search", "arguments": {"query": "q"},
                    "provider_data": {"anthropic": {"wire":
                        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}}}},
                {"type": "tool_call", "id": "toolu_1", "name": "read", "arguments": {"path": "/etc/hosts"}}],
            "finish_reason": "tool_use",
            "usage": {"input_tokens": 51, "output_tokens": 1560, "thinking_tokens": 139, "cached_tokens": 7,
                "cache_read_tokens": 4, "cache_write_tokens": 3, "total_tokens": 1757,
                "provider_data": {"anthropic": {"response": {
                    "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2}, "service_tier": "standard"}}}},
            "provider_data": {"anthropic": {"response": {
                "stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"}}}},
        })
    );
    assert_eq!(write(&response, &Reply::default()), body);
}

#[test]
fn odd_answers_come_back_as_they_were() {
    let text = || json!([{"type": "text", "text": "a"}]);
    let mut bodies = vec![
        message(json!([]), json!("end_turn")),
        message(json!([]), Value::Null),
        message(text(), json!("brand_new_reason")),
        message(json!([{"type": "text"}, {"no": "type"}]), json!("end_turn")),
        message(json!([{"type": "thinking", "thinking": "t"}]), json!("end_turn")),
        message(json!([{"type": "tool_use", "id": "t", "name": "f", "input": {}}]), json!("end_turn")),
        message(json!([{"type": "tool_use", "id": "t", "name": "f", "input": []}]), json!("tool_use")),
    ];
    let usages = [
        json!({"input_tokens": 1}),
        json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": null}),
        json!({"input_tokens": 1, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 0}}),
        json!({"input_tokens": 1, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 2, "x": 1}}),
        json!({"input_tokens": 1, "output_tokens": 5, "thinking_tokens": 2, "iterations": [{"type": "message"}]}),
        json!({"input_tokens": 1.5, "output_tokens": -1}),
        json!({}),
        Value::Null,
    ];
    for usage in usages {
        let mut body = message(text(), json!("end_turn"));
        body["usage"] = usage;
        bodies.push(body);
    }
    for absent in ["stop_reason", "stop_sequence", "usage"] {
        let mut body = message(text(), json!("end_turn"));
        body.as_object_mut().unwrap().remove(absent);
        bodies.push(body);
    }
    for body in bodies {
        assert_eq!(write(&read(body.clone()), &Reply::default()), body);
    }
}

#[test]
fn every_stop_reason_has_its_meaning() {
    let cases = [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("pause_turn", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("tool_use", FinishReason::ToolUse),
        ("refusal", FinishReason::ContentFilter),
        ("compaction", FinishReason::Unknown),
        ("brand_new", FinishReason::Unknown),
    ];
    for (word, reason) in cases {
        let response = read(message(json!([]), json!(word)));
        assert_eq!(response.finish_reason, reason, "{word}");
        assert_eq!(response.provider_data.part_str(DIALECT, Part::Answer, "stop_reason").as_deref(), Some(word));
    }
    assert_eq!(read(message(json!([]), Value::Null)).finish_reason, FinishReason::Unknown);
    let call = json!([{"type": "tool_use", "id": "t", "name": "f", "input": {}}]);
    assert_eq!(read(message(call, json!("end_turn"))).finish_reason, FinishReason::ToolUse);
}

#[test]
fn tokens_are_counted_once() {
    let count = |usage: Value| {
        let usage = usage::decode(usage.as_object().unwrap().clone().into());
        (usage.input_tokens, usage.output_tokens, usage.thinking_tokens, usage.cached_tokens(), usage.total_tokens())
    };
    assert_eq!(
        count(json!({"input_tokens": 50, "output_tokens": 120, "output_tokens_details": {"thinking_tokens": 20}})),
        (50, 100, 20, 0, 170)
    );
    // The shape in the format's documents has the thinking next to the output.
    assert_eq!(count(json!({"input_tokens": 50, "output_tokens": 100, "thinking_tokens": 20})), (50, 100, 20, 0, 170));
    // Cached tokens come on top of the others, and there may be more of them.
    assert_eq!(
        count(
            json!({"input_tokens": 3, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50, "output_tokens": 7})
        ),
        (3, 7, 0, 950, 960)
    );
    assert_eq!(count(json!({"output_tokens": 1, "output_tokens_details": {"thinking_tokens": 5}})), (0, 0, 5, 0, 5));
}

#[test]
fn counts_that_changed_do_not_come_back_from_old_copies() {
    let fields = json!({"input_tokens": 1, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 2, "x": 1}, "service_tier": "s"});
    let mut usage = usage::decode(fields.as_object().unwrap().clone().into());
    (usage.thinking_tokens, usage.cache_read_tokens) = (0, 4);
    assert_eq!(
        usage::encode(Some(&usage)).to_json(),
        json!({"input_tokens": 1, "cache_read_input_tokens": 4, "output_tokens": 3, "service_tier": "s"})
    );
}

#[test]
fn failures_inside_good_answers_are_failures() {
    let error = read_answer(&json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    assert_eq!(error.unwrap_err().kind, ErrorKind::Overloaded);
    for body in [json!([]), json!({}), json!({"content": "text"}), json!("oops"), Value::Null] {
        let error = read_answer(&body).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Protocol);
    }
    // An empty error field is not a failure.
    let mut fine = message(json!([]), json!("end_turn"));
    fine["error"] = Value::Null;
    assert_eq!(read(fine).finish_reason, FinishReason::Stop);
}

#[test]
fn calls_without_an_id_get_one() {
    let response = read(message(json!([{"type": "tool_use", "name": "f", "input": {}}]), json!("tool_use")));
    let call = response.tool_calls().next().unwrap();
    assert!(call.id.starts_with("toolu_") && call.id.len() == 28, "{}", call.id);
}

/// Returns an answer of another dialect, with its state.
fn foreign() -> Response {
    let mut state = ProviderData::default();
    state.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
    let thinking = ThinkingBlock { text: "Hm".into(), provider_data: state.clone() };
    let mut call = Block::tool_call("call:1", "f", serde_json::Map::new());
    *call.provider_data_mut().unwrap() = state;
    let other = Other { dialect: Dialect::Gemini, data: json!({"executableCode": {"code": "1"}}).into() };
    let mut cited = Block::text("Yes");
    let annotations = Json::from(json!([{"type": "url_citation"}]));
    cited.provider_data_mut().unwrap().set_part(Dialect::OpenaiResponses, Part::Extra, "annotations", annotations);
    let mut provider_data = ProviderData::default();
    provider_data.set_part(Dialect::Gemini, Part::Answer, "avgLogprobs", Json::from(json!(-0.5)));
    let mut of_usage = ProviderData::default();
    of_usage.set_part(Dialect::Gemini, Part::Answer, "trafficType", "ON_DEMAND");
    Response {
        model: "gemini-3-pro".into(),
        provider_data,
        content: vec![
            Block::Thinking(thinking),
            cited,
            call,
            Block::audio(Source::bytes(b"x", "audio/wav")),
            Block::Other(other),
        ],
        finish_reason: FinishReason::ToolUse,
        usage: Some(Usage {
            input_tokens: 5,
            output_tokens: 3,
            thinking_tokens: 2,
            cache_read_tokens: 1,
            provider_data: of_usage,
            ..Usage::default()
        }),
        ..Response::default()
    }
}

#[test]
fn answers_of_others_are_dressed_for_this_apis_clients() {
    let reply = Reply { provider: Some("google".into()), ids: Ids::seeded(1), ..Reply::default() };
    let (mut body, losses) = write_answer(&foreign(), &reply);
    let id = body["id"].take();
    assert!(id.as_str().unwrap().starts_with("msg_"));
    let signature = body["content"][0]["signature"].take();
    let carrier = body["content"][2]["data"].take();
    assert_eq!(
        body,
        json!({
            "id": null, "type": "message", "role": "assistant", "model": "gemini-3-pro",
            "content": [
                {"type": "thinking", "thinking": "Hm", "signature": null},
                {"type": "text", "text": "Yes"},
                {"type": "redacted_thinking", "data": null},
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1, "output_tokens": 5,
                "output_tokens_details": {"thinking_tokens": 2}},
        })
    );
    // What this API has no place for is reported.
    let loss = |code, what: &str, place: &str, why: &str| Loss::new(code, what, place, why);
    assert_eq!(
        losses,
        [
            loss(
                LossCode::ForeignContent,
                "provider_data",
                "content[1].provider_data.openai-responses",
                "only openai-responses knows annotations; left out"
            ),
            Loss::info(
                LossCode::Renamed,
                "tool_call",
                "content[2].id",
                "call ids can contain only letters, digits, _ and - here; `call:1` is sent as `call_1`",
            ),
            loss(LossCode::Media, "audio", "content[3]", "answers of this API are text; left out"),
            loss(
                LossCode::ForeignContent,
                "other",
                "content[4]",
                "a block that only gemini has (executableCode); left out"
            ),
            loss(
                LossCode::ForeignContent,
                "provider_data",
                "provider_data.gemini",
                "only gemini knows avgLogprobs; left out"
            ),
            loss(
                LossCode::ForeignContent,
                "provider_data",
                "usage.provider_data.gemini",
                "only gemini knows trafficType; left out"
            ),
        ]
    );
    // The client sends it back, and the state is back in its place.
    (body["content"][0]["signature"], body["content"][2]["data"]) = (signature, carrier);
    let sent_back =
        json!({"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": body["content"]}]});
    let message = read_request(None, &sent_back).unwrap().messages.remove(0);
    assert_eq!((message.provider.as_deref(), message.model.as_deref()), (Some("google"), Some("gemini-3-pro")));
    assert_eq!(message.content[..2], [foreign().content.remove(0), Block::text("Yes")]);
    let Block::ToolCall(call) = &message.content[2] else { panic!() };
    assert_eq!(call.provider_data.part_str(Dialect::Gemini, Part::State, "thought_signature").as_deref(), Some("c2ln"));
}

#[test]
fn ids_of_calls_that_would_become_one_stay_apart() {
    let calls = ["a:b", "a_b", "a.b", "", "a_b"].map(|id| Block::tool_call(id, "f", serde_json::Map::new()));
    let response = Response { content: calls.into(), finish_reason: FinishReason::ToolUse, ..Response::default() };
    let (body, losses) = write_answer(&response, &Reply::default());
    let ids: Vec<&Value> = body["content"].as_array().unwrap().iter().map(|block| &block["id"]).collect();
    assert_eq!(ids, ["a_b", "a_b_1", "a_b_2", "_", "a_b_4"]);
    assert_eq!(losses.len(), 5);
}

#[test]
fn an_answer_without_state_gets_no_seal() {
    let response = Response { content: vec![Block::thinking("Hm"), Block::text("Yes")], ..Response::default() };
    let (body, losses) = write_answer(&response, &Reply { provider: Some("deepseek".into()), ..Reply::default() });
    assert_eq!(
        (&body["content"], losses),
        (&json!([{"type": "thinking", "thinking": "Hm", "signature": ""}, {"type": "text", "text": "Yes"}]), vec![])
    );
}

#[test]
fn every_finish_reason_has_a_word_for_clients() {
    let word = |finish_reason| {
        let response = Response { finish_reason, ..Response::default() };
        write(&response, &Reply::default())["stop_reason"].clone()
    };
    assert_eq!(word(FinishReason::Stop), "end_turn");
    assert_eq!(word(FinishReason::Length), "max_tokens");
    assert_eq!(word(FinishReason::ToolUse), "tool_use");
    assert_eq!(word(FinishReason::ContentFilter), "refusal");
    assert_eq!(word(FinishReason::Unknown), "end_turn");
}

#[test]
fn a_word_that_no_longer_fits_is_replaced() {
    let mut response = read(message(json!([]), json!("max_tokens")));
    response.finish_reason = FinishReason::Stop;
    assert_eq!(write(&response, &Reply::default())["stop_reason"], "end_turn");
}

#[test]
fn an_answer_that_broke_is_an_error_body() {
    let error = Error::new(ErrorKind::Overloaded, "busy");
    let response = Response { finish_reason: FinishReason::Error, error: Some(Box::new(error)), ..Response::default() };
    assert_eq!(
        write(&response, &Reply::default()),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    );
}

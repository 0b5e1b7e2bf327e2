use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{decode_response, encode_response};
use crate::dialect::seal::Sealed;
use crate::wire::{Ids, Reply};
use crate::{
    Block, Dialect, Error, ErrorKind, FinishReason, Other, Part, ProviderData, Response, ThinkingBlock, ToolCall, Usage,
};

fn answer(body: Value) -> Response {
    decode_response(&body, &mut Ids::default()).unwrap()
}

/// Returns the answer as written, without losses.
fn written(response: &Response) -> Value {
    let (wire, losses) = encode_response(response, &Reply::default());
    assert_eq!(losses, Vec::<String>::new());
    wire
}

/// Makes an answer with these parts.
fn of_parts(parts: Value) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "modelVersion": "gemini-3-pro-preview",
        "responseId": "r1",
    })
}

fn reply() -> Reply {
    Reply { provider: Some("anthropic".to_owned()), model: Some("asked".to_owned()), ..Reply::default() }
}

#[test]
fn an_answer_with_everything() {
    let body = json!({
        "candidates": [
            {
                "content": {"parts": [
                    {"text": "Let me see.", "thought": true},
                    {"text": "It is "},
                    {"text": "sunny."},
                    {"functionCall": {"name": "f", "args": {"b": 1, "a": [2]}}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"id": "c2", "name": "g"}},
                    {"text": ""},
                    {"text": "", "thoughtSignature": "bGFzdA=="},
                ], "role": "model"},
                "finishReason": "STOP", "index": 0, "groundingMetadata": {"webSearchQueries": ["x"]},
            },
            {"content": {"parts": [{"text": "Or so."}], "role": "model"}, "finishReason": "STOP", "index": 1},
        ],
        "usageMetadata": {"promptTokenCount": 29, "candidatesTokenCount": 15, "thoughtsTokenCount": 804, "totalTokenCount": 848, "serviceTier": "standard"},
        "modelVersion": "gemini-3-pro-preview",
        "responseId": "r1",
        "createTime": "2026-05-04T20:01:02Z",
    });
    let response = answer(body.clone());
    let call = Ids::default().next_id();
    assert_eq!(
        serde_json::to_value(&response).unwrap(),
        json!({
            "id": "r1",
            "model": "gemini-3-pro-preview",
            "content": [
                {"type": "thinking", "text": "Let me see."},
                {"type": "text", "text": "It is sunny.", "provider_data": {"gemini": {"shape": {"split": [6, 6]}}}},
                {"type": "tool_call", "id": call, "name": "f", "arguments": {"b": 1, "a": [2]},
                    "provider_data": {"gemini": {"thought_signature": "c2ln", "shape": {"generated_id": true}}}},
                {"type": "tool_call", "id": "c2", "name": "g", "arguments": {}, "provider_data": {"gemini": {"shape": {"no_args": true}}}},
                {"type": "text", "text": "", "provider_data": {"gemini": {"thought_signature": "bGFzdA=="}}},
            ],
            "finish_reason": "tool_use",
            "usage": {
                "input_tokens": 29, "output_tokens": 15, "thinking_tokens": 804, "cached_tokens": 0, "cache_read_tokens": 0,
                "cache_write_tokens": 0, "total_tokens": 848, "provider_data": {"gemini": {"response": {"serviceTier": "standard"}}},
            },
            "provider_data": {"gemini": {
                "shape": {"empty": [{"at": 5, "thought": false}]},
                "response": {
                    "createTime": "2026-05-04T20:01:02Z",
                    "finish_reason": "STOP",
                    "index": 0,
                    "groundingMetadata": {"webSearchQueries": ["x"]},
                    "candidate": ["index", "groundingMetadata"],
                    "candidates": [{"content": {"parts": [{"text": "Or so."}], "role": "model"}, "finishReason": "STOP", "index": 1}],
                },
            }},
        }),
    );
    assert_eq!(written(&response), body);
}

/// Returns an answer with everything, and the same in snake_case.
fn both_spellings() -> [Value; 2] {
    let camel = json!({
        "candidates": [
            {
                "content": {"parts": [
                    {"text": "It is sunny."},
                    {"functionCall": {"id": "c1", "name": "f", "args": {"fullName": 1}}, "thoughtSignature": "c2ln"},
                ], "role": "model"},
                "finishReason": "STOP", "index": 0,
                "groundingMetadata": {
                    "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}],
                    "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 5}, "groundingChunkIndices": [0]}],
                },
            },
        ],
        "usageMetadata": {
            "promptTokenCount": 29, "candidatesTokenCount": 15, "thoughtsTokenCount": 4, "cachedContentTokenCount": 2,
            "toolUsePromptTokenCount": 3, "totalTokenCount": 51,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 29}],
        },
        "modelVersion": "gemini-3-pro-preview",
        "responseId": "r1",
    });
    let mut snake = String::new();
    let mut last = ' ';
    for c in camel.to_string().chars() {
        if c.is_ascii_uppercase() && last.is_ascii_lowercase() {
            snake.push('_');
            snake.push(c.to_ascii_lowercase());
        } else {
            snake.push(c);
        }
        last = c;
    }
    [camel, serde_json::from_str(&snake.replace("full_name", "fullName")).unwrap()]
}

#[test]
fn an_answer_in_snake_case_is_the_same_and_comes_back_as_it_was() {
    let [camel, snake] = both_spellings();
    let (usual, response) = (answer(camel), answer(snake.clone()));
    let bare = |usage: &Option<Usage>| Usage { provider_data: ProviderData::default(), ..usage.clone().unwrap() };
    assert_eq!(bare(&response.usage), bare(&usual.usage));
    assert_eq!(
        (&response.id, &response.model, response.finish_reason, response.text(), response.tool_calls().count()),
        (&usual.id, &usual.model, usual.finish_reason, usual.text(), usual.tool_calls().count()),
    );
    assert_eq!(written(&response), snake);
    // A stream of one frame.
    let ids = &mut Ids::default();
    let streamed = decode_response(&json!([snake]), ids).unwrap();
    assert_eq!(streamed, response);
    let public = |body: &Value| {
        let text = body.to_string();
        let answer = Dialect::Gemini.decode_response(text.as_bytes(), &mut Ids::default(), &crate::Limits::default());
        let Block::Text(text) = answer.unwrap().content.remove(0) else { panic!("no text") };
        text.citations.into_iter().map(|cited| (cited.source, cited.span)).collect::<Vec<_>>()
    };
    let [camel, snake] = both_spellings().map(|body| public(&body));
    assert_eq!((snake.len(), snake), (1, camel));
}

#[test]
fn a_blocked_prompt_in_snake_case() {
    let body = json!({"prompt_feedback": {"block_reason": "SAFETY"}, "usage_metadata": {"prompt_token_count": 4}});
    let response = answer(body.clone());
    assert_eq!(response.finish_reason, FinishReason::ContentFilter);
    assert_eq!(written(&response), body);
    let body = json!({"candidates": [{"finish_reason": "STOP"}], "usage_metadata": {"odd": 4}});
    assert_eq!(written(&answer(body.clone())), body);
}

#[test]
fn signed_parts_are_never_joined() {
    let parts = json!([
        {"text": "a", "thoughtSignature": "cw=="},
        {"text": "b"},
        {"text": "c"},
        {"text": "d", "thoughtSignature": "dA=="},
        {"text": "e", "thought": true},
        {"text": "f"},
    ]);
    let response = answer(of_parts(parts.clone()));
    let texts: Vec<String> = response
        .content
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.text.clone(),
            Block::Thinking(thinking) => format!("({})", thinking.text),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["a", "bc", "d", "(e)", "f"]);
    assert_eq!(written(&response), of_parts(parts));
}

#[test]
fn every_finish_reason_has_its_meaning_and_returns() {
    use FinishReason::{ContentFilter, Length, Stop, Unknown};
    for (word, expected) in [
        ("STOP", Stop),
        ("MAX_TOKENS", Length),
        ("CONTINUATION", Length),
        ("SAFETY", ContentFilter),
        ("RECITATION", ContentFilter),
        ("BLOCKLIST", ContentFilter),
        ("PROHIBITED_CONTENT", ContentFilter),
        ("SPII", ContentFilter),
        ("IMAGE_SAFETY", ContentFilter),
        ("IMAGE_PROHIBITED_CONTENT", ContentFilter),
        ("IMAGE_RECITATION", ContentFilter),
        ("MODEL_ARMOR", ContentFilter),
        ("ESCALATION", ContentFilter),
        ("MALFORMED_FUNCTION_CALL", FinishReason::Error),
        ("UNEXPECTED_TOOL_CALL", FinishReason::Error),
        ("TOO_MANY_TOOL_CALLS", FinishReason::Error),
        ("MALFORMED_RESPONSE", FinishReason::Error),
        ("MISSING_THOUGHT_SIGNATURE", FinishReason::Error),
        ("PUP_LIMITED_DISABLED", FinishReason::Error),
        ("LANGUAGE", FinishReason::Error),
        ("NO_IMAGE", FinishReason::Error),
        ("OTHER", Unknown),
        ("IMAGE_OTHER", Unknown),
        ("FINISH_REASON_UNSPECIFIED", Unknown),
        ("OF_TOMORROW", Unknown),
    ] {
        let mut body = of_parts(json!([{"text": "x"}]));
        body["candidates"][0]["finishReason"] = word.into();
        let response = answer(body.clone());
        assert_eq!(response.finish_reason, expected, "{word}");
        assert_eq!(written(&response), body);
    }
    let call = answer(of_parts(json!([{"functionCall": {"name": "f", "args": {}}}])));
    assert_eq!(call.finish_reason, FinishReason::ToolUse);
}

#[test]
fn answers_without_content_keep_their_shape() {
    for candidate in [
        json!({"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}),
        json!({"content": {}, "finishReason": "SAFETY"}),
        json!({"content": {"parts": [], "role": "model"}, "finishReason": "STOP"}),
        json!({"content": null, "finishReason": "STOP"}),
        json!({"finishReason": "MODEL_ARMOR", "finishMessage": "blocked"}),
        json!({"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP"}),
        json!({"content": {"parts": [{"text": "x"}]}}),
        json!({}),
    ] {
        let body = json!({"candidates": [candidate], "modelVersion": "m"});
        let response = answer(body.clone());
        assert_eq!(written(&response), body);
    }
}

#[test]
fn a_refused_prompt_is_a_filtered_answer() {
    let body = json!({
        "promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []},
        "usageMetadata": {"trafficType": "ON_DEMAND"},
        "modelVersion": "m",
    });
    let response = answer(body.clone());
    assert_eq!(
        (response.finish_reason, response.content.len(), &response.usage),
        (FinishReason::ContentFilter, 0, &None)
    );
    assert_eq!(written(&response), body);
}

#[test]
fn what_is_no_answer_is_an_error() {
    let fail = |body: Value| decode_response(&body, &mut Ids::default()).unwrap_err();
    let error = fail(json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}));
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Overloaded, "overloaded"));
    let error = fail(json!([{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}]));
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::RateLimit, "slow"));
    for body in
        [json!({}), json!({"candidates": []}), json!({"promptFeedback": {}}), json!(null), json!("x"), json!([])]
    {
        let error = fail(body);
        assert_eq!((error.kind, error.is_retryable()), (ErrorKind::Protocol, true), "{}", error.message);
    }
}

#[test]
fn a_stream_in_a_list_is_an_answer_too() {
    let body = json!([
        {"candidates": [{"content": {"parts": [{"text": "Hel"}], "role": "model"}}], "modelVersion": "m"},
        {"candidates": [{"content": {"parts": [{"text": "lo"}], "role": "model"}, "finishReason": "STOP"}], "modelVersion": "m"},
    ]);
    assert_eq!(answer(body).text(), "Hello");
}

#[test]
fn a_total_that_is_no_sum_is_a_warning() {
    let mut body = of_parts(json!([{"text": "x"}]));
    body["usageMetadata"]["totalTokenCount"] = 99.into();
    let response = answer(body.clone());
    assert_eq!(response.usage.as_ref().map(Usage::total_tokens), Some(5));
    assert_eq!(response.warnings.len(), 1);
    assert_eq!(written(&response), body);
}

/// Returns an answer from another dialect.
fn foreign() -> Response {
    let mut signed = ProviderData::default();
    signed.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
    Response {
        model: "claude".to_owned(),
        content: vec![
            Block::Thinking(ThinkingBlock { text: "Hm.".to_owned(), provider_data: signed }),
            Block::Other(Other { dialect: Dialect::Anthropic, data: json!({"type": "server_tool_use"}).into() }),
            Block::text("Sunny."),
            Block::ToolCall(ToolCall { id: "toolu_1".to_owned(), name: "f".to_owned(), ..ToolCall::default() }),
        ],
        finish_reason: FinishReason::ToolUse,
        ..Response::default()
    }
}

#[test]
fn foreign_state_is_sealed_into_signatures() {
    let (wire, losses) = encode_response(&foreign(), &reply());
    assert_eq!(losses, ["other at content[1]"]);
    let parts = &wire["candidates"][0]["content"]["parts"];
    let record = |index: usize| Sealed::from_base64(parts[index]["thoughtSignature"].as_str().unwrap()).unwrap();
    let sealed = |data: Value| Sealed {
        provider: Some("anthropic".to_owned()),
        model: Some("claude".to_owned()),
        note: crate::Fields::default(),
        data: serde_json::from_value(data).unwrap(),
    };
    assert_eq!(record(0), sealed(json!({"anthropic": {"signature": "EqoB"}})));
    assert_eq!(
        wire,
        json!({
            "candidates": [{
                "content": {"parts": [
                    {"text": "Hm.", "thought": true, "thoughtSignature": parts[0]["thoughtSignature"]},
                    {"text": "Sunny."},
                    {"functionCall": {"name": "f", "args": {}, "id": "toolu_1"}},
                ], "role": "model"},
                "finishReason": "STOP", "index": 0,
            }],
            "modelVersion": "claude",
            "responseId": Ids::default().next_id(),
        }),
    );
}

#[test]
fn a_call_that_was_cut_off_is_not_handed_on() {
    let mut call = ToolCall { id: "c".to_owned(), name: "f".to_owned(), ..ToolCall::default() };
    call.arguments = crate::Arguments::from_text(r#"{"a": "#.to_owned());
    let response = Response {
        content: vec![Block::text("So:"), Block::ToolCall(call)],
        finish_reason: FinishReason::Length,
        ..Response::default()
    };
    let (wire, losses) = encode_response(&response, &Reply::default());
    assert_eq!(losses, ["tool_call at content[1]"]);
    assert_eq!(wire["candidates"][0]["content"]["parts"], json!([{"text": "So:"}]));
    assert_eq!(wire["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[test]
fn foreign_reasons_and_failures_have_words() {
    let of = |finish_reason, error| Response { finish_reason, error, ..Response::default() };
    for (reason, word) in [
        (FinishReason::Stop, "STOP"),
        // There is no call that could be run.
        (FinishReason::ToolUse, "MALFORMED_FUNCTION_CALL"),
        (FinishReason::Length, "MAX_TOKENS"),
        (FinishReason::ContentFilter, "SAFETY"),
        (FinishReason::Unknown, "OTHER"),
    ] {
        assert_eq!(written(&of(reason, None))["candidates"][0]["finishReason"], word);
    }
    let error = Some(Box::new(Error::new(ErrorKind::Overloaded, "busy")));
    assert_eq!(
        written(&of(FinishReason::Error, error)),
        json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
    );
    assert_eq!(written(&of(FinishReason::Error, None))["error"]["status"], "INTERNAL",);
    let arrived = Response { content: vec![Block::text("Hel")], ..of(FinishReason::Error, None) };
    assert_eq!(encode_response(&arrived, &Reply::default()).1, ["text at content[0]"]);
}

#[test]
fn a_word_that_no_longer_fits_is_replaced() {
    let mut response = answer(of_parts(json!([{"text": "x"}])));
    response.finish_reason = FinishReason::Length;
    assert_eq!(written(&response)["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[test]
fn what_only_others_know_is_told() {
    let foreign = |part, name: &str| {
        let mut data = ProviderData::default();
        data.set_part(Dialect::OpenaiResponses, part, name, "x");
        data
    };
    let mut text = crate::Text { text: "Hello".to_owned(), ..crate::Text::default() };
    text.provider_data = foreign(Part::Extra, "annotations");
    text.provider_data.set_part(Dialect::OpenaiResponses, Part::State, "id", "msg_1");
    text.provider_data.set_part(Dialect::OpenaiResponses, Part::Shape, "item", true);
    let source = crate::Source::File { id: "file-1".to_owned(), media_type: None };
    let image = crate::Image { source, cache: None, provider_data: ProviderData::default() };
    let response = Response {
        content: vec![
            Block::Text(text),
            Block::Image(image),
            Block::tool_result("c", "4"),
            Block::Other(Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search_call"}).into() }),
        ],
        finish_reason: FinishReason::Stop,
        usage: Some(Usage { provider_data: foreign(Part::Answer, "details"), ..Usage::default() }),
        provider_data: foreign(Part::Answer, "service_tier"),
        ..Response::default()
    };
    let (wire, losses) = encode_response(&response, &Reply::default());
    // The text has no state, so there is nothing to seal.
    assert_eq!(wire["candidates"][0]["content"]["parts"], json!([{"text": "Hello"}]));
    assert_eq!(
        losses,
        [
            "provider_data at content[0].provider_data.openai-responses",
            "image at content[1]",
            "tool_result at content[2]",
            "other at content[3]",
            "provider_data at provider_data.openai-responses",
            "provider_data at usage.provider_data.openai-responses",
        ]
    );
}

#[test]
fn numbers_and_unknown_fields_come_back_as_they_were_written() {
    let body = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1e2,"b":1e400,"c":123456789012345678901234567890,"d":0.10000000000000000001}}}],"role":"model"},"finishReason":"STOP","avgLogprobs":-0.0310000000000000001}],"modelVersion":"m","x":1e400}"#;
    let response =
        Dialect::Gemini.decode_response(body.as_bytes(), &mut Ids::default(), &crate::Limits::default()).unwrap();
    let wire = Dialect::Gemini.encode_response(&response, &Reply::default());
    assert_eq!((String::from_utf8(wire.body).unwrap().as_str(), wire.losses), (body, vec![]));
}

#[test]
fn state_of_thinking_without_a_text_is_on_the_part_after_it() {
    let sealed = |text: &str| {
        let mut thinking = ThinkingBlock { text: text.to_owned(), ..ThinkingBlock::default() };
        thinking.provider_data.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
        Block::Thinking(thinking)
    };
    let call = || Block::ToolCall(ToolCall { id: "c".to_owned(), name: "f".to_owned(), ..ToolCall::default() });
    let parts = |content: Vec<Block>| {
        let response = Response { model: "claude".to_owned(), content, ..Response::default() };
        let mut body = encode_response(&response, &reply()).0;
        let mut parts = body["candidates"][0]["content"]["parts"].take();
        for part in parts.as_array_mut().unwrap() {
            if let Some(signature) = part.get_mut("thoughtSignature") {
                let record = Sealed::from_base64(signature.as_str().unwrap()).unwrap();
                assert_eq!(serde_json::to_value(&record.data).unwrap(), json!({"anthropic": {"signature": "EqoB"}}));
                *signature = serde_json::to_value(&record.note).unwrap();
            }
        }
        parts
    };
    let before = json!({"thinking_before": true});
    assert_eq!(
        parts(vec![sealed(""), Block::text("Hi"), sealed(""), call(), sealed("Hm"), call()]),
        json!([
            {"text": "Hi", "thoughtSignature": before},
            {"functionCall": {"name": "f", "args": {}, "id": "c"}, "thoughtSignature": before},
            {"text": "Hm", "thought": true, "thoughtSignature": {}},
            {"functionCall": {"name": "f", "args": {}, "id": "c"}},
        ])
    );
    // Without such a part, it is one of its own.
    assert_eq!(
        parts(vec![sealed(""), sealed(""), Block::text("Hi"), sealed(""), sealed("Hm"), sealed("")]),
        json!([
            {"text": "", "thought": true, "thoughtSignature": {}},
            {"text": "Hi", "thoughtSignature": before},
            {"text": "", "thought": true, "thoughtSignature": {}},
            {"text": "Hm", "thought": true, "thoughtSignature": {}},
            {"text": "", "thought": true, "thoughtSignature": {}},
        ])
    );
}

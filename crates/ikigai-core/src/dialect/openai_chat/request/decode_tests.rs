use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::catalog::Rules;
use crate::dialect::Target;
use crate::dialect::openai_chat::testing::{Sent, decode_request, encode_request};
use crate::provider::Quirks;
use crate::{Block, CacheHint, Dialect, Level, Request, Role, Source, Thinking, Tool, ToolChoice};

fn decode(body: Value) -> Request {
    decode_request(Sent { path: None, body }).unwrap()
}

/// Decodes, and checks that encoding gives the same document.
fn both_ways(body: Value) -> Request {
    let request = decode(body.clone());
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "here", quirks: &quirks, rules: &rules, facts: None };
    let wire = encode_request(&request, &target).unwrap();
    assert_eq!((wire.body, wire.losses), (body, vec![]));
    request
}

/// Decodes a request with these messages.
fn messages(messages: Value) -> Request {
    both_ways(json!({"model": "m", "messages": messages}))
}

#[test]
fn a_whole_request_in_canonical_json() {
    let request = both_ways(json!({
        "model": "gpt-4.1", "max_tokens": 100, "temperature": 0, "stop": "END", "stream": true,
        "stream_options": {"include_usage": true}, "n": 2, "user": "u1", "seed": 5, "prompt_cache_key": "k",
        "tools": [{"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}}],
        "tool_choice": {"type": "function", "function": {"name": "t"}}, "parallel_tool_calls": false,
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "x", "name": "Ann"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "t", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "1"},
        ],
    }));
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({
            "model": "gpt-4.1",
            "system": [{"type": "text", "text": "s"}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "x"}], "provider_data": {"openai-chat": {"extra": {"name": "Ann"}}}},
                {"role": "assistant", "content": [
                    {"type": "tool_call", "id": "c1", "name": "t", "arguments": {}, "arguments_text": ""}],
                    "provider_data": {"openai-chat": {"shape": {"content": "empty"}}}},
                {"role": "tool", "content": [
                    {"type": "tool_result", "tool_call_id": "c1", "content": [{"type": "text", "text": "1"}], "is_error": false}]},
            ],
            "tools": [{"name": "t", "description": "d", "parameters": {"type": "object"}, "strict": false,
                "provider_data": {"openai-chat": {"shape": {"no_strict": true}}}}],
            "tool_choice": {"specific": "t"},
            "parallel_tool_calls": false,
            "max_output_tokens": 100,
            "temperature": 0.0,
            "stop": ["END"],
            "seed": 5,
            "cache": {"key": "k"},
            "metadata": {"user_id": "u1"},
            "stream": true,
            "provider_data": {"openai-chat": {
                "extra": {"stream_options": {"include_usage": true}, "n": 2},
                "shape": {
                    "model": "gpt-4.1", "max_tokens_field": "max_tokens", "numbers": {"temperature": 0},
                    "stop_text": true, "labels": {"user": "u1"}}}},
        })
    );
}

#[test]
fn what_is_no_request_is_refused_with_the_place() {
    let refused = |body: Value| {
        let error = decode_request(Sent { path: None, body }).unwrap_err();
        (error.param, error.message)
    };
    assert_eq!(refused(json!([])), (None, "the request body is not a JSON object".to_owned()));
    assert_eq!(refused(json!({"messages": []})).0.as_deref(), Some("model"));
    assert_eq!(refused(json!({"model": "m"})).1, "`messages` is missing or not a list");
    assert_eq!(refused(json!({"model": "m", "messages": ["x"]})).1, "`messages[0]` is not a JSON object");
    assert_eq!(
        refused(json!({"model": "m", "messages": [{"role": "user"}, {"role": "robot"}]})),
        (
            Some("messages[1].role".to_owned()),
            "`messages[1].role` is unknown; use system, developer, user, assistant, tool or function".to_owned()
        )
    );
}

#[test]
fn a_deployment_in_the_address_is_the_model() {
    let body = json!({"messages": [{"role": "user", "content": "x"}]});
    let path = Some("/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21");
    let request = decode_request(Sent { path, body: body.clone() }).unwrap();
    assert_eq!(request.model, "gpt-4o");
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "here", quirks: &quirks, rules: &rules, facts: None };
    assert_eq!(encode_request(&request, &target).unwrap().body, body);
    let elsewhere = Request { model: "other".into(), ..request };
    assert_eq!(encode_request(&elsewhere, &target).unwrap().body["model"], "other");
}

#[test]
fn leading_instructions_are_the_system_prompt_and_later_ones_stay() {
    let request = messages(json!([
        {"role": "system", "content": "a"},
        {"role": "developer", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}], "name": "n"},
        {"role": "system", "content": [{"type": "text", "text": "d"}]},
        {"role": "user", "content": "x"},
        {"role": "developer", "content": "later"},
        {"role": "system", "content": null},
    ]));
    assert_eq!(request.system, ["a", "b", "c", "d"].map(Block::text));
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::System, Role::System]);
}

#[test]
fn runs_of_results_are_one_message_and_lost_ids_are_found() {
    let request = messages(json!([
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            {"type": "function", "function": {"name": "h", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "1"}]},
        {"role": "tool", "content": "2"},
        {"role": "tool", "name": "h", "content": ""},
        {"role": "user", "content": "x"},
    ]));
    let Block::ToolCall(unnamed) = &request.messages[0].content[2] else { panic!() };
    let answered: Vec<&str> =
        request.messages[1].content.iter().map(|block| block.as_tool_result().unwrap().tool_call_id.as_str()).collect();
    assert_eq!(answered, ["b", "a", unnamed.id.as_str()]);
    assert!(!unnamed.id.is_empty());
    assert!(request.validate().is_ok(), "{:?}", request.validate());
}

#[test]
fn the_older_form_of_calls_is_read() {
    let request = both_ways(json!({
        "model": "m",
        "functions": [{"name": "f", "parameters": {"type": "object", "properties": {}}}],
        "function_call": {"name": "f"},
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"a\":1}"}},
            {"role": "function", "name": "f", "content": "1"},
        ],
    }));
    assert_eq!(request.tools[0].name(), Some("f"));
    assert_eq!(request.tool_choice, Some(ToolChoice::Specific("f".into())));
    let call = request.messages[1].content[0].as_tool_call().unwrap();
    let result = request.messages[2].content[0].as_tool_result().unwrap();
    assert_eq!((call.name.as_str(), call.arguments.len(), &result.tool_call_id), ("f", 1, &call.id));
}

#[test]
fn helper_fields_of_clients_are_no_errors() {
    messages(json!([
        {"role": "assistant", "content": "A", "parsed": null, "audio": null, "annotations": null, "function_call": null, "refusal": null, "tool_calls": null},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "index": 0, "function": {"name": "t", "arguments": "{}", "parsed_arguments": {}}}]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "assistant", "content": "B", "tool_calls": []},
        {"role": "assistant", "content": "pre", "prefix": true},
    ]));
}

#[test]
fn content_of_every_shape() {
    for content in [
        json!("x"),
        json!(""),
        json!(null),
        json!([]),
        json!([{"type": "text", "text": "x"}]),
        json!([{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]),
        json!(["plain"]),
        json!([{"type": "refusal", "refusal": "no"}]),
        json!([{"type": "video_url", "video_url": {"url": "https://a/v.mp4"}}]),
        json!([{"type": "text"}]),
        json!([{"type": "text", "text": 5}]),
        json!([{"type": "image_url", "image_url": {"url": 5}}]),
        json!([{"type": "input_audio", "input_audio": {"data": 5}}]),
        json!([{"type": "file", "file": {"filename": "a"}}]),
        json!([{"type": "file", "file": {"file_data": "JVBERi0=", "file_id": "f"}}]),
        json!([{"type": "file", "file": {"file_data": "https://a/b.pdf"}}]),
        json!([{"type": "image_url", "image_url": "https://a/b.png"}]),
        json!([{"type": "image_url", "image_url": {"url": "data:image/png;charset=utf-8;base64,AA=="}}]),
        json!([{"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}]),
        json!([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "x-wav"}}]),
        json!([{"type": "input_audio", "input_audio": {"data": "AAAA"}}]),
        json!([{"type": "input_audio", "input_audio": "https://a/b.mp3"}]),
        json!([{"type": "input_audio", "input_audio": "data:audio/mpeg;base64,AAAA"}]),
        json!([{"type": "document_url", "document_url": "https://a/b.pdf", "document_name": "b"}]),
        json!({"odd": true}),
    ] {
        for role in ["system", "user", "assistant"] {
            messages(json!([{"role": "user", "content": "first"}, {"role": role, "content": content}]));
        }
        messages(json!([
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": content},
        ]));
    }
    messages(json!([{"role": "user"}, {"role": "assistant"}]));
}

#[test]
fn media_are_read_with_their_sources() {
    let request = messages(json!([{"role": "user", "content": [
        {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]}]));
    let sources: Vec<Option<&Source>> = request.messages[0]
        .content
        .iter()
        .map(|block| match block {
            Block::Image(image) => Some(&image.source),
            Block::Audio(audio) => Some(&audio.source),
            Block::Document(document) => Some(&document.source),
            _ => None,
        })
        .collect();
    let base64 = |media_type: &str, data: &str| Source::Base64 { media_type: media_type.into(), data: data.into() };
    assert_eq!(
        sources,
        [
            None,
            Some(&base64("image/png", "AA==")),
            Some(&Source::Url { url: "https://a/b.png".into(), media_type: None }),
            Some(&base64("audio/mpeg", "AAAA")),
            Some(&base64("application/pdf", "JVBE")),
            Some(&Source::File { id: "file-1".into(), media_type: None }),
        ]
    );
    assert_eq!(request.messages[0].content[0].cache(), Some(&CacheHint { ttl: Some("1h".into()) }));
}

#[test]
fn thinking_of_the_history_is_read_from_every_field() {
    let request = messages(json!([
        {"role": "assistant", "content": "A", "reasoning_content": "one"},
        {"role": "assistant", "content": "B", "reasoning": "two", "reasoning_content": "two"},
        {"role": "assistant", "content": "C", "reasoning": "three", "reasoning_details": [{"type": "reasoning.text", "text": "three", "signature": "s"}]},
        {"role": "assistant", "content": "D", "reasoning_details": [{"type": "reasoning.summary", "summary": "fo"}, {"type": "reasoning.summary", "summary": "ur"}]},
        {"role": "assistant", "content": "E", "reasoning_content": "", "reasoning": null},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "fi"}, {"type": "text", "text": "ve"}], "closed": true}, {"type": "text", "text": "F"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "six"}]},
        {"role": "assistant", "content": "G", "reasoning": "seven", "reasoning_content": "eight"},
    ]));
    let thoughts: Vec<String> = request
        .messages
        .iter()
        .map(|message| {
            message
                .content
                .iter()
                .filter_map(|block| match block {
                    Block::Thinking(thinking) => Some(thinking.text.as_str()),
                    _ => None,
                })
                .collect()
        })
        .collect();
    assert_eq!(thoughts, ["one", "two", "three", "four", "", "five", "six", "eight"]);
}

#[path = "settings_tests.rs"]
mod settings;

/// A `content` that is neither a string nor parts is kept, and written once.
#[test]
fn content_of_an_unknown_form_is_written_once() {
    for role in ["assistant", "user", "system"] {
        let body = format!(r#"{{"model":"m","messages":[{{"role":"{role}","content":{{"city":1.50}}}}]}}"#);
        let incoming = crate::wire::Incoming { path: None, body: body.as_bytes() };
        let limits = crate::Limits::default();
        let (request, _) = crate::Dialect::OpenaiChat.decode_request(incoming, &limits).unwrap();
        let quirks = crate::provider::Quirks::default();
        let rules = crate::catalog::rules_for("m");
        let target = crate::wire::Target { provider: "p", quirks: &quirks, rules, facts: None };
        for model in ["m", "another"] {
            let request = crate::Request { model: model.to_owned(), ..request.clone() };
            let wire = crate::Dialect::OpenaiChat.encode_request(&request, &target, &limits).unwrap();
            let text = String::from_utf8(wire.body).unwrap();
            assert!(text.matches("\"content\"").count() <= 1, "{role}: {text}");
        }
    }
}

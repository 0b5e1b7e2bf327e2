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

/// Decodes, and checks that the same document comes out again.
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
    assert_eq!(
        refused(json!([])),
        (None, "the body is not a JSON object; send one with `model` and `messages`".to_owned())
    );
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

#[test]
fn every_way_to_ask_for_thinking() {
    let thinking = |fields: Value| {
        let mut body = json!({"model": "m", "messages": []});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        both_ways(body).thinking
    };
    let level = |level| Some(Thinking::from(level));
    let silent = || Some(Thinking { level: None, budget: None, include_summary: true });
    assert_eq!(thinking(json!({"reasoning_effort": "none"})), level(Level::None));
    assert_eq!(thinking(json!({"reasoning_effort": "medium"})), level(Level::Med));
    assert_eq!(thinking(json!({"reasoning_effort": "xhigh"})), level(Level::Xhigh));
    assert_eq!(thinking(json!({"reasoning_effort": "default"})), None);
    assert_eq!(
        thinking(json!({"reasoning": {"effort": "low", "exclude": true}})),
        Some(Thinking::from(Level::Low).hidden())
    );
    assert_eq!(thinking(json!({"reasoning": {"max_tokens": 2000}})), Some(Thinking::budget(2000)));
    assert_eq!(thinking(json!({"reasoning": {"enabled": false}})), level(Level::None));
    assert_eq!(thinking(json!({"reasoning": {"enabled": true}})), silent());
    assert_eq!(thinking(json!({"thinking": {"type": "disabled"}})), level(Level::None));
    assert_eq!(thinking(json!({"thinking": {"type": "enabled"}, "reasoning_effort": "max"})), level(Level::Max));
    assert_eq!(thinking(json!({"thinking": {"clear_thinking": false}})), None);
    assert_eq!(thinking(json!({"enable_thinking": false})), level(Level::None));
    assert_eq!(thinking(json!({"chat_template_kwargs": {"enable_thinking": true, "x": 1}})), silent());
    assert_eq!(thinking(json!({"chat_template_kwargs": {"thinking": false}})), level(Level::None));
}

#[test]
fn every_tool_choice_and_every_tool() {
    let choice = |raw: Value| {
        both_ways(json!({"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "t"}}], "tool_choice": raw}))
            .tool_choice
    };
    let specific = || Some(ToolChoice::Specific("t".into()));
    assert_eq!(choice(json!("auto")), Some(ToolChoice::Auto));
    assert_eq!(choice(json!("none")), Some(ToolChoice::None));
    assert_eq!(choice(json!("required")), Some(ToolChoice::Required));
    assert_eq!(choice(json!("any")), Some(ToolChoice::Required));
    assert_eq!(choice(json!({"type": "function", "function": {"name": "t"}})), specific());
    assert_eq!(choice(json!({"function": {"name": "t"}})), specific());
    assert_eq!(choice(json!({"type": "tool", "name": "t"})), specific());
    assert_eq!(
        choice(json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}})),
        Some(ToolChoice::Required)
    );
    assert_eq!(choice(json!(null)), None);
    assert_eq!(choice(json!("sometimes")), None);

    let request = both_ways(json!({"model": "m", "messages": [], "tools": [
        {"type": "function", "function": {"name": "a", "strict": true, "parameters": {"type": "object"}}, "cache_control": {"type": "ephemeral"}},
        {"function": {"name": "b", "parameters": null, "description": null, "strict": null}},
        {"type": "custom", "custom": {"name": "c"}},
        {"type": "function", "function": {}},
        "odd",
    ]}));
    let kinds: Vec<(Option<&str>, Option<bool>)> =
        request.tools.iter().map(|tool| (tool.name(), tool.as_function().map(|function| function.strict))).collect();
    assert_eq!(kinds, [(Some("a"), Some(true)), (Some("b"), Some(false)), (None, None), (None, None), (None, None)]);
    assert!(matches!(&request.tools[0], Tool::Function(function) if function.cache.is_some()));
    both_ways(json!({"model": "m", "messages": [], "tools": [], "functions": []}));
}

#[test]
fn odd_values_stay_for_the_provider_to_refuse() {
    let request = both_ways(json!({
        "model": "m", "messages": [], "temperature": "hot", "max_tokens": null, "max_completion_tokens": 0, "stop": null,
        "seed": 1.5, "stream": "yes", "response_format": {"type": "grammar"}, "metadata": [], "top_k": 0.5, "n": 1,
        "parallel_tool_calls": null, "reasoning_effort": null, "user": 5,
    }));
    assert_eq!(
        request,
        Request { model: "m".into(), provider_data: request.provider_data.clone(), ..Request::default() }
    );
    // The newer name of the limit wins, and the older one is not lost.
    let both = both_ways(json!({"model": "m", "messages": [], "max_tokens": 5, "max_completion_tokens": 7}));
    assert_eq!(both.max_output_tokens, Some(7));
}

#[test]
fn the_form_of_the_answer_is_read() {
    let format = |raw: Value| both_ways(json!({"model": "m", "messages": [], "response_format": raw})).output_format;
    assert_eq!(format(json!({"type": "text"})), Some(crate::OutputFormat::Text));
    assert_eq!(format(json!({"type": "json_object", "schema": {}})), Some(crate::OutputFormat::Json));
    let schema = format(
        json!({"type": "json_schema", "x": 1, "json_schema": {"name": "n", "schema": {"b": 1, "a": 2}, "strict": null, "y": 2}}),
    );
    let Some(crate::OutputFormat::JsonSchema(schema)) = schema else { panic!() };
    assert_eq!(
        (schema.name.as_deref(), schema.strict, schema.schema.to_string().as_str()),
        (Some("n"), None, r#"{"b":1,"a":2}"#)
    );
    assert_eq!(format(json!({"type": "json_schema", "json_schema": {"name": "n"}})), None);
}

#[test]
fn a_request_without_marks_of_ours_has_only_the_models_name() {
    let request = messages(json!([{"role": "system", "content": "s"}, {"role": "user", "content": "x"}]));
    assert_eq!(
        serde_json::to_value(&request.provider_data).unwrap(),
        json!({Dialect::OpenaiChat.as_str(): {"shape": {"model": "m"}}})
    );
}

/// Digits, order and duplicates of what is only carried come back as they were written.
#[test]
fn numbers_and_duplicates_keep_their_spelling() {
    let numbers = r#"{"e":1e2,"big":123456789012345678901234567890,"long":0.1000000000000000055511151231257827,"far":1e400,"near":1e-400,"twice":1,"twice":2}"#;
    let arguments = format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"t","arguments":{numbers}}}}}]}}"#
    );
    let text = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"text","text":"x","own":{numbers}}}],"own":{numbers}}},{arguments}],"tools":[{{"type":"function","function":{{"name":"t","parameters":{numbers}}}}}],"own":{numbers},"temperature":1e0,"again":1,"again":2}}"#
    );
    let request = super::decode_request(crate::dialect::Incoming { path: None, body: text.as_bytes() }).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "here", quirks: &quirks, rules: &rules, facts: None };
    let limits = crate::Limits::default();
    let wire = Dialect::OpenaiChat.encode_request(&request, &target, &limits).unwrap();
    let wire = String::from_utf8(wire.body).unwrap();
    assert_eq!(wire.matches(numbers).count(), 5, "{wire}");
    assert!(wire.contains(r#""temperature":1e0"#) && wire.contains(r#""again":1,"again":2"#), "{wire}");
}

#[test]
fn many_results_take_time_by_their_number() {
    let many = 20_000;
    let calls: Vec<Value> = (0..many)
        .map(|at| json!({"id": format!("c{at}"), "type": "function", "function": {"name": "t", "arguments": "{}"}}))
        .collect();
    let mut all = vec![json!({"role": "assistant", "content": null, "tool_calls": calls})];
    // Every other one does not name its call.
    all.extend((0..many).map(|at| match at % 2 {
        0 => json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": "1"}),
        _ => json!({"role": "tool", "content": "1"}),
    }));
    let request = decode(json!({"model": "m", "messages": all}));
    let answered: std::collections::HashSet<&str> =
        request.messages[1].content.iter().map(|block| block.as_tool_result().unwrap().tool_call_id.as_str()).collect();
    assert_eq!(answered.len(), many);
}

mod any_request {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::openai_chat::any_json::{config, object, value};

    fn message() -> impl Strategy<Value = Value> {
        let role = prop::sample::select(vec!["system", "developer", "user", "assistant", "tool", "function"]);
        (role, object()).prop_map(|(role, mut fields)| {
            fields["role"] = role.into();
            fields
        })
    }

    proptest! {
        #![proptest_config(config())]

        /// Whatever can be read goes out as it came, and the canonical form bears it.
        #[test]
        fn returns_as_it_came(mut body in object(), messages in prop::collection::vec(message(), 0..5)) {
            body["model"] = "m".into();
            body["messages"] = messages.into();
            let request = both_ways(body);
            let stored: Request = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
            prop_assert_eq!(stored, request);
        }

        /// Fitted to another model it may lose much, but never its way.
        #[test]
        fn is_survived_elsewhere(mut body in object(), messages in prop::collection::vec(message(), 0..5)) {
            body["model"] = "m".into();
            body["messages"] = messages.into();
            let mut request = decode(body);
            request.model = "other".into();
            let (quirks, rules) = (Quirks { chat: crate::provider::ChatQuirks { tool_ids_of_nine: true, ..Default::default() }, ..Quirks::default() }, Rules::default());
            let target = Target { provider: "here", quirks: &quirks, rules: &rules, facts: None };
            let _ = encode_request(&request, &target);
        }

        #[test]
        fn or_is_refused(body in value()) {
            let _ = decode_request(Sent { path: None, body });
        }
    }
}

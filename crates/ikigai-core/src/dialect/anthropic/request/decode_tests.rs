use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::testing::{read_request, wire};
use crate::dialect::seal::Sealed;
use crate::{Block, Dialect, Level, Part, ProviderData, Request, Source, Thinking, ToolChoice};

fn read(body: Value) -> Request {
    read_request(Some("/v1/messages"), &body).unwrap()
}

/// Makes a request with one additional field.
fn with(key: &str, value: Value) -> Value {
    let mut body =
        json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]});
    body[key] = value;
    body
}

fn said(messages: Value) -> Value {
    with("messages", messages)
}

#[test]
fn a_request_is_read_whole() {
    let request = read(json!({
        "model": "claude-sonnet-4-5", "max_tokens": 4096, "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Look it up.", "signature": "EqoB"},
                {"type": "redacted_thinking", "data": "Em8B"},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain", "is_error": true},
                {"type": "text", "text": "And?", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}]}],
        "tools": [
            {"name": "weather", "description": "Looks.", "input_schema": {"type": "object"}, "strict": true},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "stop_sequences": ["END"], "temperature": 1, "top_k": 5, "stream": true,
        "metadata": {"user_id": "u"}, "cache_control": {"type": "ephemeral"}, "service_tier": "auto",
    }));
    let expected = json!({
        "model": "claude-sonnet-4-5", "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "text": "Look it up.", "provider_data": {"anthropic": {"signature": "EqoB"}}},
                {"type": "thinking", "text": "", "provider_data": {"anthropic": {"redacted_data": "Em8B"}}},
                {"type": "tool_call", "id": "toolu_1", "name": "weather", "arguments": {"city": "Oslo"}}]},
            {"role": "tool", "content": [
                {"type": "tool_result", "tool_call_id": "toolu_1", "content": [{"type": "text", "text": "Rain"}], "is_error": true}]},
            {"role": "user", "content": [
                {"type": "text", "text": "And?", "cache": {"ttl": "1h"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}],
             "provider_data": {"anthropic": {"shape": {"continues": true}}}}],
        "thinking": {"level": "minimal", "budget": 2048, "include_summary": true},
        "tools": [
            {"name": "weather", "description": "Looks.", "parameters": {"type": "object"}, "strict": true},
            {"type": "web_search", "max_uses": 2, "provider_data": {"anthropic": {"shape": {"entry":
                {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}}}}}],
        "tool_choice": "required", "parallel_tool_calls": false,
        "max_output_tokens": 4096, "temperature": 1.0, "top_k": 5, "stop": ["END"],
        "output_format": {"json_schema": {"schema": {"type": "object"}}},
        "cache": {"automatic": {}}, "metadata": {"user_id": "u"}, "stream": true,
        "provider_data": {"anthropic": {
            "extra": {"service_tier": "auto"},
            "shape": {
                "temperature": 1, "thinking": {"type": "enabled", "budget_tokens": 2048}, "model": "claude-sonnet-4-5"}}},
    });
    assert_eq!(serde_json::to_value(&request).unwrap(), expected);
}

/// Returns documents that are odd in one way each.
fn odd_documents() -> Vec<Value> {
    let user = |content: Value| said(json!([{"role": "user", "content": content}]));
    let assistant = |content: Value| {
        said(
            json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}, {"role": "user", "content": "Go on"}]),
        )
    };
    let result = |result: Value| {
        let call = json!([{"type": "tool_use", "id": "t", "name": "f", "input": {}}]);
        said(
            json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": call}, {"role": "user", "content": [result]}]),
        )
    };
    vec![
        // Text and lists.
        with("system", json!("S")),
        with("system", json!([{"type": "text", "text": "S"}])),
        with("system", json!([{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}])),
        with("system", json!([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}])),
        with("system", json!([])),
        with("system", Value::Null),
        with("system", json!("")),
        user(json!("")),
        user(json!([])),
        user(json!([{"type": "text", "text": " "}])),
        user(json!([{"type": "text", "text": "a", "citations": null}])),
        user(json!([{"type": "text", "text": "a", "cache_control": null}])),
        user(json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "scope": "x"}}])),
        user(json!([{"type": "text", "text": "a", "cache_control": {"type": "lasting"}}])),
        // Media.
        user(json!([{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}])),
        user(
            json!([{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png", "media_type": "image/png"}}]),
        ),
        user(json!([{"type": "image", "source": {"type": "file", "file_id": "file_1"}}])),
        user(json!([{"type": "image", "source": {"type": "hologram", "x": 1}}])),
        user(json!([{"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "-_"}}])),
        user(
            json!([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}, "title": "T", "context": "C", "citations": {"enabled": true}}]),
        ),
        user(json!([{"type": "document", "source": {"type": "content", "content": "x"}, "title": null}])),
        user(json!([{"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x"}]}}])),
        user(
            json!([{"type": "document", "source": {"type": "content", "content": [{"type": "image", "source": {}}]}}]),
        ),
        user(
            json!([{"type": "search_result", "source": "s", "title": "t", "content": []}, {"type": "container_upload", "file_id": "f"}]),
        ),
        user(json!([{"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "text", "text": "a", "citations": [{"type": "char_location", "cited_text": "x"}]},
            {"type": "text", "text": "b"}]}])),
        user(json!([{"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "text", "text": "a", "citations": [{"type": "char_location", "cited_text": "x"}]}]}])),
        // Answers in the history.
        assistant(json!([{"type": "text", "text": "a", "citations": [{"type": "char_location", "cited_text": "x"}]}])),
        assistant(json!([{"type": "thinking", "thinking": "", "signature": "Eq"}])),
        assistant(json!([{"type": "thinking", "thinking": "t", "signature": ""}])),
        assistant(json!([{"type": "thinking", "thinking": "t"}])),
        assistant(json!([{"type": "thinking", "thinking": "t", "signature": null, "x": 1}])),
        assistant(json!([{"type": "redacted_thinking", "data": "Em8B"}])),
        assistant(
            json!([{"type": "tool_use", "id": "bad id!", "name": "a.b", "input": {"z": 1, "a": [1.0, 1e3]}, "caller": {"type": "direct"}}]),
        ),
        assistant(
            json!([{"type": "text", "text": "a", "signature": [1], "content": {"a": 1}, "is_error": 0, "id": "x"}]),
        ),
        assistant(json!([{"type": "thinking", "thinking": "t", "signature": [1], "title": "T"}])),
        assistant(json!([{"type": "tool_use", "id": "t", "name": "f"}])),
        assistant(json!([{"type": "tool_use", "id": "t", "name": "f", "input": null}])),
        assistant(json!([{"type": "tool_use", "id": "t", "name": "f", "input": "{\"cut"}])),
        assistant(
            json!([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, {"type": "brand_new", "x": [1]}]),
        ),
        // Tool results.
        result(json!({"type": "tool_result", "tool_use_id": "t"})),
        result(json!({"type": "tool_result", "tool_use_id": "t", "content": ""})),
        result(json!({"type": "tool_result", "tool_use_id": "t", "content": null})),
        result(json!({"type": "tool_result", "tool_use_id": "t", "content": []})),
        result(json!({"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": false})),
        result(
            json!({"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}], "is_error": true}),
        ),
        result(
            json!({"type": "tool_result", "tool_use_id": "t", "content": [{"type": "tool_reference", "tool_name": "f"}], "cache_control": {"type": "ephemeral"}}),
        ),
        said(json!([{"role": "user", "content": [
            {"type": "text", "text": "first"}, {"type": "tool_result", "tool_use_id": "t", "content": "x"},
            {"type": "text", "text": "then"}, {"type": "tool_result", "tool_use_id": "u"}], "name": "Ada"}])),
        said(
            json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, {"role": "user", "content": "apart"}]),
        ),
        said(json!([{"role": "user", "content": "Hi"}, {"role": "system", "content": "Now in French."}])),
        said(json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "{ "}])),
        said(json!([])),
        // Tools.
        with("tools", json!([])),
        with(
            "tools",
            json!([{"name": "f", "type": "custom", "input_schema": true, "strict": false, "eager_input_streaming": true}]),
        ),
        with(
            "tools",
            json!([{"name": "f", "description": null, "input_schema": {"type": "object", "properties": {"b": {}, "a": {}}}, "type": null}]),
        ),
        with("tools", json!([{"name": "f"}, {"type": "bash_20250124", "name": "bash"}])),
        with(
            "tools",
            json!([{"name": "a name!", "input_schema": {}, "cache_control": {"type": "ephemeral"}, "strict": null}]),
        ),
        with("tool_choice", json!({"type": "auto"})),
        with("tool_choice", json!({"type": "auto", "disable_parallel_tool_use": false})),
        with("tool_choice", json!({"type": "none", "disable_parallel_tool_use": true})),
        with("tool_choice", json!({"type": "tool", "name": "f", "x": 1})),
        with("tool_choice", json!({"type": "lottery"})),
        // Parameters.
        with("temperature", json!(1)),
        with("temperature", json!(1.0)),
        with("temperature", Value::Null),
        with("top_p", json!(0)),
        with("stop_sequences", json!([])),
        with("stop_sequences", json!([" "])),
        with("metadata", json!({})),
        with("metadata", json!({"user_id": null, "x": 1})),
        with("max_tokens", json!(0)),
        with("stream", json!(false)),
        with("cache_control", json!({"type": "ephemeral", "ttl": "5m"})),
        with("cache_control", Value::Null),
        with("thinking", json!({"type": "adaptive"})),
        with("thinking", json!({"type": "disabled", "x": 1})),
        with("thinking", json!({"type": "telepathy"})),
        with("thinking", json!({"type": "enabled", "budget_tokens": 200_000})),
        with("thinking", Value::Null),
        with("output_config", json!({})),
        with("output_config", json!({"effort": "xhigh", "task_budget": {"type": "tokens", "total": 9}})),
        with("output_config", json!({"effort": "ludicrous"})),
        with("output_config", json!({"format": {"type": "grammar"}})),
        with(
            "output_config",
            json!({"format": {"type": "json_schema", "schema": {"minimum": 1}, "name": "n"}, "effort": null}),
        ),
        with("output_format", json!({"type": "json_schema", "schema": {"type": "object"}})),
        with("output_format", json!({"type": "xml"})),
        with("mcp_servers", json!([{"type": "url"}])),
    ]
}

#[test]
fn odd_documents_come_back_as_they_were() {
    for body in odd_documents() {
        let request = read(body.clone());
        let stored: Request = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
        assert_eq!(stored, request);
        let wire = wire(&stored);
        assert_eq!((wire.body, wire.losses), (body, vec![]));
    }
}

proptest! {
    /// Each message and each field comes from another document.
    #[test]
    fn any_mixture_of_odd_documents_comes_back(picks in prop::collection::vec(0..odd_documents().len(), 1..8)) {
        let documents = odd_documents();
        let mut body = json!({"model": "claude-opus-4-8"});
        let mut messages = Vec::new();
        for pick in picks {
            for (key, value) in documents[pick].as_object().unwrap() {
                match value {
                    Value::Array(list) if key == "messages" => messages.extend(list.clone()),
                    value => body[key] = value.clone(),
                }
            }
        }
        body["messages"] = Value::Array(messages);
        let wire = wire(&read(body.clone()));
        prop_assert_eq!((wire.body, wire.losses), (body, vec![]));
    }

    /// Whatever the caller then does with it, for whichever model: no panic, and no budget at or above the limit.
    #[test]
    fn any_mixture_can_be_sent_to_any_model(
        picks in prop::collection::vec(0..odd_documents().len(), 1..8),
        model in prop::sample::select(vec!["claude-3-5-haiku", "claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5-5", "x"]),
        level in prop::option::of(prop::sample::select(Level::ALL.to_vec())),
    ) {
        let documents = odd_documents();
        let mut request = read(documents[picks[0]].clone());
        request.messages.extend(picks.iter().flat_map(|pick| read(documents[*pick].clone()).messages));
        request.model = model.to_owned();
        request.thinking = level.map(Thinking::from);
        let body = wire(&request).body;
        let budget = body["thinking"]["budget_tokens"].as_i64().unwrap_or(0);
        prop_assert!(budget == 0 || budget < body["max_tokens"].as_i64().unwrap());
        let roles: Vec<&str> = body["messages"].as_array().unwrap().iter().filter_map(|message| message["role"].as_str()).collect();
        prop_assert!(roles.iter().all(|role| ["user", "assistant", "system"].contains(role)));
    }
}

#[test]
fn a_limit_that_the_client_left_out_is_not_made_up() {
    let mut body = with("max_tokens", Value::Null);
    body.as_object_mut().unwrap().remove("max_tokens");
    assert_eq!(wire(&read(body.clone())).body, body);
}

#[test]
fn a_key_order_is_kept_in_schemas_and_arguments() {
    let text = r#"{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"z":1,"a":{"y":2,"b":3}}}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"z":{"type":"string"},"a":{}}}}]}"#;
    assert_eq!(wire(&read(serde_json::from_str(text).unwrap())).body.to_string(), text);
}

#[test]
fn what_the_caller_changed_is_written_anew() {
    let mut request = read(json!({
        "model": "claude-opus-4-8", "max_tokens": 100, "temperature": 1, "system": [{"type": "text", "text": "S"}],
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u", "x": 1}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": "cut"}]}],
        "tools": [{"name": "f", "strict": false}],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": false},
        "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        "output_config": {"effort": "low"}, "output_format": {"type": "json_schema", "schema": {"type": "object"}},
    }));
    request.temperature = Some(0.5);
    request.thinking = Some(Thinking::from(Level::Max));
    request.tool_choice = Some(ToolChoice::None);
    request.output_format = None;
    request.system = vec![Block::text("A"), Block::text("B")];
    request.messages[0].content = vec![Block::image_url("v")];
    let Block::ToolCall(call) = &mut request.messages[1].content[0] else { panic!() };
    call.arguments = crate::Arguments::from_text(r#"{"a":1}"#.to_owned());
    let crate::Tool::Function(function) = &mut request.tools[0] else { panic!() };
    function.parameters = json!({"type": "object"}).into();
    function.strict = true;
    assert_eq!(
        wire(&request).body,
        json!({
            "model": "claude-opus-4-8", "max_tokens": 100, "temperature": 0.5,
            "system": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}],
            "messages": [
                {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "v"}}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]}],
            "tools": [{"name": "f", "input_schema": {"type": "object"}, "strict": true}],
            "tool_choice": {"type": "none"},
            "thinking": {"type": "adaptive", "display": "summarized", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
            "output_config": {"effort": "max"},
        })
    );
}

#[test]
fn another_model_gets_what_it_takes() {
    let mut request = read(json!({
        "model": "claude-sonnet-4-5", "max_tokens": 20_000, "temperature": 0.5, "service_tier": "auto",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "content": "{"}],
        "thinking": {"type": "enabled", "budget_tokens": 10_000}, "output_config": {"task_budget": {"total": 5}},
    }));
    request.model = "claude-opus-4-8".to_owned();
    assert_eq!(
        wire(&request).body,
        json!({
            "model": "claude-opus-4-8", "max_tokens": 20_000, "service_tier": "auto",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "content": "{"},
                {"role": "user", "content": "Continue."}],
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "low", "task_budget": {"total": 5}},
        })
    );
}

#[test]
fn the_seeds_shape_of_thinking_is_read_and_the_real_one_written() {
    let request =
        read(said(json!([{"role": "assistant", "content": [{"type": "thinking", "text": "Hm", "signature": "E"}]}])));
    assert_eq!(
        wire(&request).body["messages"][0]["content"],
        json!([{"type": "thinking", "thinking": "Hm", "signature": "E"}])
    );
}

#[test]
fn bad_requests_are_refused_with_the_place() {
    let user = |content: Value| said(json!([{"role": "user", "content": content}]));
    let assistant = |content: Value| said(json!([{"role": "assistant", "content": content}]));
    let lacking = [
        (json!({"model": "m"}), "messages must be a list of messages"),
        (json!({"messages": []}), "model must be the name of a model"),
        (with("max_tokens", json!("9")), "max_tokens must be an integer"),
        (with("temperature", json!("hot")), "temperature must be a number"),
        (with("system", json!(1)), "system must be a string or a list of text blocks"),
        (with("system", json!([{"type": "text"}])), "system[0]: a `text` block needs a `text` that is a string"),
        (user(json!(1)), "messages[0].content must be a string or a list of blocks"),
        (
            user(json!([{"type": "text", "text": 1}])),
            "messages[0].content[0]: a `text` block needs a `text` that is a string",
        ),
        (with("tools", json!([{"description": "d"}])), "tools[0].name must be the tool's name"),
        (said(json!([{"content": "Hi"}])), "messages[0].role must be `user`, `assistant` or `system`"),
        (said(json!([{"role": "tool", "content": "Hi"}])), "messages[0].role must be `user`, `assistant` or `system`"),
        (said(json!([{"role": "user"}])), "messages[0].content must be a string or a list of blocks"),
        (user(json!([{"text": "Hi"}])), "messages[0].content[0]: a block needs a `type`"),
        (
            user(json!([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image"}]}])),
            "messages[0].content[0].content[0]: an `image` block needs a `source`",
        ),
        (
            assistant(json!([{"type": "tool_use", "name": "f"}])),
            "messages[0].content[0]: a `tool_use` block needs an `id` and a `name` that are strings",
        ),
    ];
    for (body, message) in lacking {
        let error = read_request(None, &body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (crate::ErrorKind::InvalidRequest, message));
        assert!(error.param.is_some());
    }
    let of_another_type = [
        (with("model", json!(1)), "model: invalid type: integer `1`, expected a string"),
        (with("messages", json!({})), "messages: invalid type: map, expected a sequence"),
        (with("stream", json!("yes")), "stream: invalid type: string \"yes\", expected a boolean"),
        (with("stop_sequences", json!([1])), "stop_sequences[0]: invalid type: integer `1`, expected a string"),
        (with("tools", json!(["f"])), "tools[0]: invalid type: string \"f\", expected an object"),
        (said(json!(["Hi"])), "messages[0]: invalid type: string \"Hi\", expected an object"),
        (user(json!(["Hi"])), "messages[0].content[0]: invalid type: string \"Hi\", expected an object"),
    ];
    for (body, message) in of_another_type {
        let error = read_request(None, &body).unwrap_err();
        let beginning = format!("the request body cannot be read: {message} at line 1");
        assert_eq!(error.kind, crate::ErrorKind::InvalidRequest);
        assert!(error.message.starts_with(&beginning), "{} {beginning}", error.message);
    }
    assert_eq!(read_request(None, &json!([])).unwrap_err().message, "the request body is not a JSON object");
}

/// Numbers, key order, duplicate keys and whitespace come back unchanged.
#[test]
fn what_is_only_carried_keeps_its_spelling() {
    let numbers = r#"{"z":1e2,"a":[1e400,123456789012345678901234567890,0.10000000000000000000001],"z":-0}"#;
    let text = format!(
        concat!(
            r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"f","input":{0}}},"#,
            r#"{{"type":"text","text":"a","x":{0}}},{{"x":{0},"type":"brand_new"}}],"y":{0}}}],"#,
            r#""tools":[{{"name":"f","input_schema":{0},"x":{0}}},{{"name":"g","type":"own_20250101","x":{0}}}],"#,
            r#""temperature":1e0,"metadata":{{"n":1e2}},"x":{0}}}"#
        ),
        numbers
    );
    let request =
        super::decode_request(crate::wire::Incoming { path: None, body: text.as_bytes() }, &crate::Limits::default())
            .unwrap();
    let (quirks, rules) = (crate::provider::Quirks::default(), crate::catalog::rules_for("m"));
    let target = super::super::testing::home(&quirks, rules);
    let wire = crate::Dialect::Anthropic.encode_request(&request, &target, &crate::Limits::default()).unwrap();
    assert_eq!(String::from_utf8(wire.body).unwrap(), text);
    assert_eq!(wire.losses, []);
}

#[test]
fn the_model_may_stand_in_the_path() {
    let body = json!({"anthropic_version": "v", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]});
    let cases = [
        ("/model/us.anthropic.claude-opus-4-20250514-v1:0/invoke", "us.anthropic.claude-opus-4-20250514-v1:0", None),
        ("/model/claude-x%3A0/invoke-with-response-stream", "claude-x:0", Some(true)),
        ("/v1/projects/p/publishers/anthropic/models/claude-x@20250514:rawPredict", "claude-x@20250514", None),
        ("/models/claude-x:streamRawPredict", "claude-x", Some(true)),
    ];
    for (path, model, stream) in cases {
        let request = read_request(Some(path), &body).unwrap();
        assert_eq!((request.model.as_str(), request.stream), (model, stream));
        let wire = wire(&request);
        assert_eq!((wire.path.as_str(), wire.body), (path, body.clone()));
    }
}

#[test]
fn the_beta_query_goes_on_and_no_other_does() {
    for (path, expected) in
        [("/v1/messages?beta=true", "/v1/messages?beta=true"), ("/p/v1/messages?key=s", "/v1/messages")]
    {
        let request = read_request(Some(path), &said(json!([]))).unwrap();
        assert_eq!(wire(&request).path, expected);
    }
}

#[test]
fn state_of_others_returns_to_its_block() {
    let state = |mark: Option<&str>| {
        let mut data = ProviderData::default();
        data.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
        let note = mark.map(|mark| ("belongs_to".to_owned(), mark.into())).into_iter().collect();
        Sealed { provider: Some("google".into()), model: Some("gemini-3-pro".into()), note, data }.to_text()
    };
    let request = read(said(json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm", "signature": state(None)},
            {"type": "redacted_thinking", "data": state(Some("next"))},
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            {"type": "text", "text": "Done"},
            {"type": "redacted_thinking", "data": state(Some("previous"))},
            {"type": "redacted_thinking", "data": state(Some("alone"))}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
    ])));
    let signed = json!({"gemini": {"thought_signature": "c2ln"}});
    assert_eq!(
        serde_json::to_value(&request.messages[1]).unwrap(),
        json!({
            "role": "assistant", "provider": "google", "model": "gemini-3-pro",
            "content": [
                {"type": "thinking", "text": "Hm", "provider_data": signed},
                {"type": "tool_call", "id": "t", "name": "f", "arguments": {}, "provider_data": signed},
                {"type": "text", "text": "Done", "provider_data": signed},
                {"type": "text", "text": "", "provider_data": signed}],
        })
    );
    // It is not for this API, so it is left out and reported.
    let wire = wire(&request);
    assert_eq!(
        wire.body["messages"][1]["content"],
        json!([{"type": "tool_use", "id": "t", "name": "f", "input": {}}, {"type": "text", "text": "Done"}])
    );
    assert_eq!(wire.losses.len(), 5);
}

/// LiteLLM brings the seals to the front and puts its own text between them and the calls.
#[test]
fn state_of_a_call_returns_to_it_from_anywhere_in_its_message() {
    let state = |belongs_to: &str, call: &str, signature: &str| {
        let mut data = ProviderData::default();
        data.set_part(Dialect::Gemini, Part::State, "thought_signature", signature);
        let note = [("belongs_to".to_owned(), belongs_to.into()), ("call".to_owned(), call.into())];
        let sealed = Sealed { provider: Some("google".into()), model: None, note: note.into_iter().collect(), data };
        json!({"type": "redacted_thinking", "data": sealed.to_text()})
    };
    let request = read(said(json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [
            state("next", "t", "c2ln"),
            state("previous", "u", "dQ=="),
            state("next", "gone", "Zw=="),
            {"type": "text", "text": "[System: Empty message content sanitised to satisfy protocol]"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            {"type": "tool_use", "id": "u", "name": "f", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t"}, {"type": "tool_result", "tool_use_id": "u"}]},
    ])));
    assert_eq!(
        serde_json::to_value(&request.messages[1].content).unwrap(),
        json!([
            {"type": "text", "text": "[System: Empty message content sanitised to satisfy protocol]"},
            {"type": "tool_call", "id": "t", "name": "f", "arguments": {},
                "provider_data": {"gemini": {"thought_signature": "c2ln"}}},
            {"type": "tool_call", "id": "u", "name": "f", "arguments": {},
                "provider_data": {"gemini": {"thought_signature": "dQ=="}}},
        ])
    );
}

#[test]
fn a_documents_own_text_can_be_read_by_others() {
    let request = read(said(json!([{"role": "user", "content": [{"type": "document", "source": {
        "type": "content", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}])));
    let Block::Document(document) = &request.messages[0].content[0] else { panic!() };
    assert_eq!(document.source, Source::Text { media_type: "text/plain".into(), text: "a\n\nb".into() });
}

#[test]
fn a_field_that_stands_twice_is_refused() {
    let body = br#"{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}"#;
    let error = crate::dialect::anthropic::decode_request(
        crate::wire::Incoming { path: None, body },
        &crate::Limits::default(),
    )
    .unwrap_err();
    assert_eq!(error.message, "messages[0].content[0]: `text` appears twice");
}

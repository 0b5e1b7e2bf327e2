use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::catalog::Rules;
use crate::dialect::seal::Sealed;
use crate::dialect::{Dialect, Target};
use crate::provider::Quirks;
use crate::{ErrorKind, Level, Limits, Message, Role, Thinking, ToolChoice};

fn try_read(body: &Value) -> Result<Request, Error> {
    decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &crate::Limits::default())
}

fn read(body: Value) -> Request {
    try_read(&body).unwrap()
}

fn canonical(body: Value) -> Value {
    serde_json::to_value(read(body)).unwrap()
}

fn write(request: &Request) -> (Value, Vec<crate::Loss>) {
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    let wire = Dialect::OpenaiResponses.encode_request(request, &target, &Limits::default()).unwrap();
    (serde_json::from_slice(&wire.body).unwrap(), wire.losses)
}

/// Checks that writing what was read gives the same document, key for key.
fn comes_back(body: Value) {
    let (again, losses) = write(&read(body.clone()));
    assert_eq!(again, body);
    assert_eq!(losses, []);
}

fn with_input(items: Value) -> Value {
    json!({"model": "gpt-5", "input": items})
}

#[test]
fn a_text_is_one_message_of_the_user() {
    let body = json!({"model": "gpt-5", "input": "Hello"});
    assert_eq!(
        canonical(body.clone()),
        json!({
            "model": "gpt-5",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
            "provider_data": {"openai-responses": {"shape": {"model": "gpt-5"}}},
        })
    );
    comes_back(body);
    // The same in a list comes back in a list.
    let item = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]});
    let body = json!({"model": "gpt-5", "input": [item]});
    assert_eq!(canonical(body.clone())["provider_data"]["openai-responses"]["shape"]["input"], json!("list"));
    comes_back(body);
}

#[test]
fn instructions_and_leading_system_messages_are_the_system_prompt_and_later_ones_are_messages() {
    let body = json!({
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            {"role": "system", "content": "One."},
            {"type": "message", "role": "developer", "content": [
                {"type": "input_text", "text": "Two."}, {"type": "input_text", "text": "Three."}]},
            {"role": "user", "content": "Hi"},
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Now in French."}]},
        ],
    });
    let request = read(body.clone());
    let texts: Vec<&str> = request.system.iter().filter_map(Block::as_text).collect();
    assert_eq!(texts, ["Be brief.", "One.", "Two.", "Three."]);
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::System]);
    assert_eq!(request.messages[1].text(), "Now in French.");
    comes_back(body);
}

#[test]
fn consecutive_items_of_the_model_are_one_message_and_consecutive_outputs_another() {
    let body = with_input(json!([
        {"role": "user", "content": "Weather in Oslo and Rome?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
         "content": [{"type": "output_text", "text": "I will look.", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "status": "completed",
         "arguments": "{\"city\": \"Oslo\"}"},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": "{\"city\":\"Rome\"}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "cold"},
        {"type": "function_call_output", "call_id": "call_2", "output": "warm", "status": "completed"},
        {"role": "user", "content": "Thanks"},
    ]));
    assert_eq!(
        canonical(body.clone())["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Weather in Oslo and Rome?"}],
             "provider_data": {"openai-responses": {"shape": {"easy": true, "string": true}}}},
            {"role": "assistant", "content": [
                {"type": "thinking", "text": "",
                 "provider_data": {"openai-responses": {"id": "rs_1", "encrypted_content": "gAAA"}}},
                {"type": "text", "text": "I will look.", "provider_data": {"openai-responses": {
                    "extra": {"phase": "commentary"},
                    "shape": {"item": {"id": "msg_1", "status": "completed"}, "of_item": ["phase"],
                              "annotations": []}}}},
                {"type": "tool_call", "id": "call_1", "name": "weather", "arguments": {"city": "Oslo"},
                 "arguments_text": "{\"city\": \"Oslo\"}",
                 "provider_data": {"openai-responses": {"shape": {"id": "fc_1", "status": "completed"}}}},
                {"type": "tool_call", "id": "call_2", "name": "weather", "arguments": {"city": "Rome"}},
            ]},
            {"role": "tool", "content": [
                {"type": "tool_result", "tool_call_id": "call_1", "content": [{"type": "text", "text": "cold"}],
                 "is_error": false},
                {"type": "tool_result", "tool_call_id": "call_2", "content": [{"type": "text", "text": "warm"}],
                 "is_error": false, "provider_data": {"openai-responses": {"shape": {"status": "completed"}}}},
            ]},
            {"role": "user", "content": [{"type": "text", "text": "Thanks"}],
             "provider_data": {"openai-responses": {"shape": {"easy": true, "string": true}}}},
        ])
    );
    comes_back(body);
}

#[test]
fn fields_of_a_leading_message_item_do_not_get_into_its_first_part() {
    for part in [
        json!({"type": "input_image", "image_url": "https://a.example"}),
        json!({"type": "input_file", "file_id": "file_1"}),
        json!({"type": "input_text", "text": "x"}),
    ] {
        comes_back(with_input(json!([{"type": "message", "role": "system", "content": [part],
            "output": [], "call_id": "call_1", "name": "f"}])));
    }
    // A name that both have.
    comes_back(with_input(json!([{"role": "assistant", "odd": 1,
        "content": [{"type": "output_text", "text": "", "odd": 2}]}])));
}

#[test]
fn items_of_every_shape_come_back_as_they_were() {
    for items in [
        json!([]),
        json!([{"role": "user", "content": []}]),
        json!([{"role": "user", "content": ""}]),
        json!([{"role": "system", "content": "only"}]),
        json!([{"role": "system", "content": []}, {"role": "user", "content": "x"}]),
        json!([{"role": "developer", "content": [{"type": "odd_part"}]}, {"role": "user", "content": "x"}]),
        // Two consecutive messages of the model, in both forms.
        json!([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"},
               {"type": "message", "role": "assistant", "content": [
                   {"type": "output_text", "text": "c"}, {"type": "refusal", "refusal": "no"}]},
               {"type": "message", "role": "assistant", "content": "d"},
               {"type": "message", "role": "assistant", "content": []}]),
        json!([{"role": "assistant", "content": [{"type": "input_text", "text": "wrong side"}]}]),
        json!([{"role": "assistant", "content": [{"type": "output_text", "text": "t", "logprobs": [{"token": "t"}],
               "annotations": [{"type": "url_citation", "url": "https://a.example"}], "parsed": null}]}]),
        json!([{"role": "assistant", "content": [{"type": "something_new"}]}]),
        // Reasoning with nothing, one part, several parts, raw text, both, and without the list.
        json!([{"type": "reasoning", "id": "rs_1", "summary": []},
               {"type": "reasoning", "summary": [{"type": "summary_text", "text": "A"}], "encrypted_content": null},
               {"type": "reasoning", "id": "rs_2", "encrypted_content": "e", "content": [], "status": null,
                "summary": [{"type": "summary_text", "text": "A"}, {"type": "summary_text", "text": "B"}]},
               {"type": "reasoning", "id": "rs_3", "summary": [],
                "content": [{"type": "reasoning_text", "text": "raw"}]},
               {"type": "reasoning", "id": "rs_4", "summary": [{"type": "summary_text", "text": "A"}],
                "content": [{"type": "reasoning_text", "text": "raw"}]},
               {"type": "reasoning", "id": "rs_5"},
               {"type": "reasoning", "id": "rs_6", "summary": "odd"}]),
        json!([{"type": "function_call", "call_id": "c", "name": "f", "arguments": ""},
               {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{\"a\":"},
               {"type": "function_call", "call_id": "e", "name": "f", "arguments": {"a": 1}, "namespace": "n"}]),
        json!([{"type": "function_call_output", "call_id": "c", "output": ""},
               {"type": "function_call_output", "call_id": "d", "output": []},
               {"type": "function_call_output", "call_id": "e", "id": "fco_1", "output": [
                   {"type": "input_text", "text": "one"}]},
               {"type": "function_call_output", "call_id": "f", "output": [
                   {"type": "input_image", "image_url": "data:image/png;base64,iVBORw==", "detail": "auto"},
                   {"type": "input_file", "file_url": "https://a.example/b.pdf"}]}]),
        json!([{"type": "item_reference", "id": "rs_1"}, {"id": "msg_2", "type": "item_reference"},
               {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
               {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
               {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
               {"type": "mcp_approval_response", "approval_request_id": "m1", "approve": true},
               {"type": "tool_search_output", "call_id": null, "execution": "server", "tools": []},
               {"type": "additional_tools", "role": "developer", "tools": []},
               {"type": "compaction", "id": "cmp_1", "encrypted_content": "zzz"}]),
        json!([{"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "look", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "input_text", "text": "here", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "1h"}},
            {"type": "input_image", "image_url": "https://a.example/b.png", "detail": "low"},
            {"type": "input_image", "file_id": "file-1", "image_url": null},
            {"type": "input_image", "image_url": "data:image/svg+xml;charset=utf-8;base64,PHN2Zz4="},
            {"type": "input_image", "image_url": "data:image/png;base64,a_-b"},
            {"type": "input_image"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
            {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0="},
            {"type": "input_file", "filename": "a.txt", "file_data": "aGk="},
            {"type": "input_file", "file_id": "file-2", "filename": "b"},
            {"type": "input_audio", "input_audio": {"data": "AAA=", "format": "wav"}},
            {"type": "video_of_tomorrow", "url": "x"}], "id": "m1"}]),
    ] {
        comes_back(with_input(items));
    }
}

#[test]
fn fields_of_every_shape_come_back_as_they_were() {
    let tool = json!({"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}});
    for (key, values) in [
        ("instructions", vec![json!(""), json!(null), json!(["odd"])]),
        ("temperature", vec![json!(1), json!(1.0), json!(0), json!(0.2), json!(null)]),
        ("top_p", vec![json!(1), json!(0.95)]),
        ("max_output_tokens", vec![json!(10), json!(-1), json!(4096), json!(null), json!("many")]),
        ("metadata", vec![json!({}), json!({"user": "u1"}), json!(null)]),
        ("stream", vec![json!(true), json!(false), json!(null)]),
        ("store", vec![json!(true), json!(false), json!(null)]),
        ("include", vec![json!([]), json!(null)]),
        ("prompt_cache_key", vec![json!("k"), json!(null)]),
        ("parallel_tool_calls", vec![json!(true), json!(false), json!(null)]),
        (
            "reasoning",
            vec![
                json!({}),
                json!(null),
                json!({"effort": "minimal", "summary": "detailed"}),
                json!({"effort": null, "summary": null}),
                json!({"effort": "galactic", "generate_summary": "concise"}),
                json!({"effort": "high", "mode": "pro", "context": "all_turns"}),
            ],
        ),
        (
            "text",
            vec![
                json!({}),
                json!(null),
                json!({"format": null}),
                json!({"format": {"type": "text"}, "verbosity": "low"}),
                json!({"verbosity": "high"}),
                json!({"format": {"type": "json_object"}}),
                json!({"format": {"type": "grammar", "syntax": "lark"}}),
                json!({"format": {"type": "json_schema", "name": "n", "schema": {"b": 1, "a": 2}, "strict": null, "x": 1}}),
                json!({"format": {"type": "json_schema", "schema": {"type": "object"}, "strict": false, "description": "d"}}),
            ],
        ),
        (
            "tool_choice",
            vec![
                json!("auto"),
                json!("none"),
                json!("required"),
                json!(null),
                json!("sometimes"),
                json!({"type": "function", "name": "f"}),
                json!({"type": "function", "function": {"name": "f"}}),
                json!({"type": "web_search"}),
                json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]}),
            ],
        ),
        (
            "tools",
            vec![
                json!([]),
                json!(null),
                json!([tool]),
                json!([{"type": "web_search"}, {"type": "custom", "name": "c"}, {"type": "namespace", "name": "n", "tools": []}]),
                json!([{"type": "function", "name": "f", "strict": true, "description": "d", "defer_loading": true,
                    "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}]),
                json!([{"type": "function", "name": "f", "strict": null, "parameters": null}]),
                json!([{"type": "function", "name": "f"}]),
                json!([{"type": "function", "name": "f", "function": {"name": "f", "description": "d", "parameters": {}}}]),
            ],
        ),
        ("something_new", vec![json!({"a": [1, null]})]),
    ] {
        for value in values {
            let mut body = json!({"model": "gpt-5", "input": "x"});
            body[key] = value;
            comes_back(body);
        }
    }
    comes_back(json!({"model": "gpt-5", "prompt": {"id": "pmpt_1"}}));
    comes_back(json!({"model": "gpt-5", "input": null, "previous_response_id": "resp_1"}));
}

#[test]
fn known_fields_have_their_canonical_places() {
    let request = read(json!({
        "model": "gpt-5.1", "input": "x", "max_output_tokens": 100, "temperature": 1, "top_p": 0.5, "stream": true,
        "metadata": {"user": "u"}, "prompt_cache_key": "k", "parallel_tool_calls": false, "tool_choice": "required",
        "reasoning": {"effort": "medium", "summary": "auto"}, "service_tier": "flex",
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}},
        "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": false}],
    }));
    assert_eq!(
        serde_json::to_value(request).unwrap(),
        json!({
            "model": "gpt-5.1",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
            "thinking": {"level": "med", "include_summary": true},
            "tools": [{"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": false}],
            "tool_choice": "required", "parallel_tool_calls": false, "max_output_tokens": 100,
            "temperature": 1.0, "top_p": 0.5,
            "output_format": {"json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}},
            "cache": {"key": "k"}, "metadata": {"user": "u"}, "stream": true,
            "provider_data": {"openai-responses": {
                "extra": {"service_tier": "flex"},
                "shape": {"model": "gpt-5.1", "reasoning": {"effort": "medium", "summary": "auto"},
                          "numbers": {"temperature": 1}}}},
        })
    );
}

#[test]
fn efforts_are_levels_and_words_that_nobody_knows_are_kept() {
    for (effort, level) in [
        ("none", Some(Level::None)),
        ("minimal", Some(Level::Minimal)),
        ("low", Some(Level::Low)),
        ("medium", Some(Level::Med)),
        ("high", Some(Level::High)),
        ("xhigh", Some(Level::Xhigh)),
        ("max", Some(Level::Max)),
        ("galactic", None),
    ] {
        let request = read(json!({"model": "m", "input": "x", "reasoning": {"effort": effort}}));
        assert_eq!(request.thinking, Some(Thinking { level, budget: None, include_summary: false }), "{effort}");
    }
    assert_eq!(read(json!({"model": "m", "input": "x"})).thinking, None);
}

#[test]
fn what_the_caller_changed_is_never_overridden_by_what_was_read() {
    let body = json!({
        "model": "gpt-5", "input": "x", "temperature": 1, "reasoning": {"effort": "high", "mode": "pro"},
        "tools": [{"type": "function", "name": "f", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
        "text": {"format": {"type": "json_object"}, "verbosity": "low"},
    });
    let mut request = read(body);
    request.temperature = Some(0.5);
    request.thinking = None;
    request.tool_choice = None;
    request.output_format = None;
    request.messages = vec![Message::user("y"), Message::assistant("z")];
    if let crate::Tool::Function(function) = &mut request.tools[0] {
        function.description = Some("new".into());
    }
    assert_eq!(
        write(&request).0,
        json!({
            "model": "gpt-5",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "y"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "z"}]},
            ],
            "temperature": 0.5,
            "reasoning": {"mode": "pro"},
            "tools": [{"type": "function", "name": "f", "description": "new", "parameters": {"type": "object"}}],
            "text": {"verbosity": "low"},
        })
    );
}

#[test]
fn an_unsaid_strict_is_what_the_server_would_make_of_it() {
    let tool = |parameters: Value| json!({"type": "function", "name": "f", "parameters": parameters});
    let closed = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let request = read(json!({"model": "m", "input": "x", "tools": [
        tool(closed), tool(json!({"type": "object", "properties": {"a": {"type": "string", "default": "b"}}}))]}));
    let strict: Vec<bool> = request.tools.iter().filter_map(|tool| Some(tool.as_function()?.strict)).collect();
    assert_eq!(strict, [true, false]);
}

#[test]
fn choices_amount_to_canonical_ones() {
    let choice = |wire: Value| {
        read(json!({"model": "m", "input": "x", "tools": [{"type": "function", "name": "f"}], "tool_choice": wire}))
            .tool_choice
    };
    assert_eq!(choice(json!("auto")), Some(ToolChoice::Auto));
    assert_eq!(choice(json!("none")), Some(ToolChoice::None));
    assert_eq!(choice(json!("required")), Some(ToolChoice::Required));
    assert_eq!(choice(json!({"type": "function", "name": "f"})), Some(ToolChoice::Specific("f".into())));
    let allowed = json!({"type": "allowed_tools", "mode": "auto", "tools": []});
    assert_eq!(choice(allowed), Some(ToolChoice::Auto));
    assert_eq!(choice(json!({"type": "mcp", "server_label": "s"})), None);
}

#[test]
fn state_that_we_sealed_comes_back_to_its_blocks() {
    let sealed = |state: Value, note: Value| {
        let (note, data) = (serde_json::from_value(note).unwrap(), serde_json::from_value(state).unwrap());
        Sealed { provider: Some("anthropic".into()), model: Some("claude-x".into()), note, data }.to_text()
    };
    let request = read(with_input(json!([
        {"role": "user", "content": "x"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}],
         "encrypted_content": sealed(json!({"anthropic": {"signature": "S"}}), json!({}))},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "reasoning", "summary": [],
         "encrypted_content": sealed(json!({"gemini": {"signature": "T"}}), json!({"text": true}))},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
        {"type": "reasoning", "summary": [],
         "encrypted_content": sealed(json!({"gemini": {"signature": "C"}}), json!({"call": "c1"}))},
    ])));
    assert_eq!(
        serde_json::to_value(&request.messages[1]).unwrap(),
        json!({
            "role": "assistant", "provider": "anthropic", "model": "claude-x",
            "content": [
                {"type": "thinking", "text": "Hm.", "provider_data": {"anthropic": {"signature": "S"}}},
                {"type": "text", "text": "a", "provider_data": {
                    "openai-responses": {"shape": {"item": {}}}, "gemini": {"signature": "T"}}},
                {"type": "tool_call", "id": "c1", "name": "f", "arguments": {},
                 "provider_data": {"gemini": {"signature": "C"}}},
            ],
        })
    );
    // Foreign state stays in the history and off this wire.
    let (body, losses) = write(&request);
    assert_eq!(body["input"].as_array().map(Vec::len), Some(4));
    assert_eq!(losses.len(), 3);
}

#[test]
fn state_of_two_issuers_is_not_put_into_one_message() {
    let sealed = |provider: &str| {
        let data = serde_json::from_value(json!({"anthropic": {"signature": provider}})).unwrap();
        Sealed { provider: Some(provider.into()), model: None, note: crate::Fields::default(), data }.to_text()
    };
    let request = read(with_input(json!([
        {"type": "reasoning", "summary": [], "encrypted_content": sealed("a")},
        {"type": "reasoning", "summary": [], "encrypted_content": sealed("b")},
    ])));
    let providers: Vec<_> = request.messages.iter().map(|message| message.provider.as_deref()).collect();
    assert_eq!(providers, [Some("a"), Some("b")]);
}

#[test]
fn other_dialects_can_see_what_only_this_one_has() {
    let request =
        read(json!({"model": "m", "input": "x", "reasoning": {"effort": "low", "mode": "pro"}, "store": true,
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}, "text": {"verbosity": "low"}}));
    assert_eq!(
        serde_json::to_value(request.provider_data.part(DIALECT, Part::Extra)).unwrap(),
        json!({"reasoning": {"mode": "pro"}, "store": true, "text": {"verbosity": "low"},
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}})
    );
}

#[test]
fn bodies_that_are_no_requests_are_refused_with_the_place() {
    for (body, message) in [
        (json!([]), "the request body is not a JSON object"),
        (json!({"model": 5, "input": "x"}), "`model` must be a text, but is a number"),
        (json!({"model": "m", "input": 5}), "`input` must be a string or a list of items, but is a number"),
        (with_input(json!(["x"])), "`input[0]` must be an object"),
        (with_input(json!([{"content": "x"}])), "`input[0]` has neither a `type` nor a `role`"),
        (
            with_input(json!([{"role": "user", "content": "x"}, {"role": "tool", "content": "x"}])),
            "`input[1]` has the role `tool`: use user, assistant, system or developer, and function_call_output items \
             for results",
        ),
        (with_input(json!([{"role": "user"}])), "`input[0]` needs `content`: a string or a list of parts"),
        (
            with_input(json!([{"type": "function_call", "name": "f", "arguments": "{}"}])),
            "`input[0]` is a function call and needs `call_id` and `name`",
        ),
        (
            with_input(json!([{"type": "function_call_output", "output": "x"}])),
            "`input[0]` is the output of a function call and needs its `call_id`",
        ),
        (
            with_input(json!([{"type": "function_call_output", "call_id": "c", "output": 5}])),
            "`input[0]` needs `output`: a string or a list of parts",
        ),
        (json!({"model": "m", "input": "x", "tools": ["f"]}), "`tools[0]` must be an object"),
        (
            json!({"model": "m", "input": "x", "tools": [{"type": "web_search"}, {"type": "function"}]}),
            "`tools[1]` is a function and needs a `name`",
        ),
    ] {
        let error = try_read(&body).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::InvalidRequest, message));
    }
}

#[test]
fn numbers_and_the_order_of_keys_survive_where_we_only_carry_them() {
    let schema = r#"{"type": "object", "b": 1e400, "a": 1.10, "n": 123456789012345678901234567890}"#;
    let body = format!(
        r#"{{"model":"m","input":[{{"type":"function_call","call_id":"c","name":"f","arguments":"{{\"x\": 1e2}}"}},
            {{"type":"function_call_output","call_id":"c","output":"r","odd":1e400}}],
            "tools":[{{"type":"function","name":"f","parameters":{schema},"strict":false,"odd":[1.0e-400]}}],
            "text":{{"format":{{"type":"json_schema","name":"n","schema":{schema}}}}},"odd":{{"z":1e2,"a":1}}}}"#
    );
    let request = decode_request(Incoming { path: None, body: body.as_bytes() }, &crate::Limits::default()).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    let wire = Dialect::OpenaiResponses.encode_request(&request, &target, &Limits::default()).unwrap();
    let written = String::from_utf8(wire.body).unwrap();
    for kept in [
        format!(r#""parameters":{schema}"#),
        format!(r#""schema":{schema}"#),
        r#""arguments":"{\"x\": 1e2}""#.to_owned(),
        r#""odd":1e400"#.to_owned(),
        r#""odd":[1.0e-400]"#.to_owned(),
        r#""odd":{"z":1e2,"a":1}"#.to_owned(),
    ] {
        assert!(written.contains(&kept), "{kept} in {written}");
    }
    assert_eq!(wire.losses, []);
}

#[test]
fn state_without_a_text_comes_back_as_a_block_of_its_own() {
    let note = json!({"alone": true});
    let sealed = Sealed {
        provider: Some("google".into()),
        model: Some("gemini-3".into()),
        note: serde_json::from_value(note).unwrap(),
        data: serde_json::from_value(json!({"gemini": {"thought_signature": "T"}})).unwrap(),
    };
    let request = canonical(with_input(json!([
        {"role": "user", "content": "Hi"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": sealed.to_text()},
    ])));
    let mut message = request["messages"][1].clone();
    message["content"][0].as_object_mut().unwrap().remove("provider_data");
    assert_eq!(
        message,
        json!({
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Hello"},
                {"type": "text", "text": "", "provider_data": {"gemini": {"thought_signature": "T"}}},
            ],
            "provider": "google",
            "model": "gemini-3",
        }),
    );
}

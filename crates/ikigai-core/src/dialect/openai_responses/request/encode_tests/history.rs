//! Earlier messages, reasoning, results, files.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn the_history_goes_back_in_order_without_ids_of_items_but_with_reasoning_and_phase() {
    let text = |text: &str, item: Value| {
        let mut block = Text { text: text.into(), ..Text::default() };
        block.provider_data.set_part(DIALECT, Part::Shape, "item", item);
        block.provider_data.set_part(DIALECT, Part::Shape, "annotations", json!([]));
        if text == "One." {
            block.provider_data.set_part(DIALECT, Part::Extra, "phase", "commentary");
        }
        Block::Text(block)
    };
    let mut call = ToolCall { id: "call_1".into(), name: "f".into(), ..ToolCall::default() };
    call.arguments = crate::Arguments::from_text("{\"a\": 1}");
    call.provider_data.set_part(DIALECT, Part::Shape, "id", "fc_1");
    call.provider_data.set_part(DIALECT, Part::Shape, "status", "completed");
    call.provider_data.set_part(DIALECT, Part::Extra, "namespace", "n");
    let message = by(
        "openai",
        "gpt-5.1",
        vec![
            reasoning("rs_1", Some("gAAA")),
            text("One.", json!({"id": "msg_1", "status": "completed"})),
            Block::text("Still one."),
            text("Two.", json!({"id": "msg_2", "status": "completed"})),
            Block::ToolCall(call),
        ],
    );
    let request = hello().message(message).tool_result("call_1", "42").user("Go on");
    let wire = send(&request);
    assert_eq!(
        wire.body["input"],
        json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}],
             "encrypted_content": "gAAA"},
            {"type": "message", "role": "assistant", "phase": "commentary", "content": [
                {"type": "output_text", "text": "One."}, {"type": "output_text", "text": "Still one."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{\"a\": 1}", "namespace": "n"},
            {"type": "function_call_output", "call_id": "call_1", "output": "42"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on"}]},
        ])
    );
    assert_eq!(wire.losses, []);
}

#[test]
fn reasoning_goes_back_only_to_who_issued_it() {
    let request = |provider: &str, model: &str| {
        hello().message(by(provider, model, vec![reasoning("rs_1", Some("gAAA")), Block::text("Hi")])).user("x")
    };
    let sent = |request: &Request| send(request).body["input"][1]["type"] == "reasoning";
    assert!(sent(&request("openai", "gpt-5.1")));
    assert!(sent(&request("openai", "gpt-5.1-2025-11-13")), "the same family");
    for other in [request("azure", "gpt-5.1"), request("openai", "gpt-5.4")] {
        let wire = send(&other);
        assert_eq!(wire.body["input"][1]["type"], "message");
        assert_eq!(wire.losses.len(), 1);
        assert_eq!(
            (wire.losses[0].what.as_str(), wire.losses[0].place.as_str()),
            ("thinking", "messages[1].content[0]")
        );
    }
    let bound = Rules { bound_state: crate::catalog::StateScope::Model, ..Rules::default() };
    let kept = |model: &str| {
        send_with(&request("openai", model), &bound, &Quirks::default()).body["input"][1]["type"] == "reasoning"
    };
    assert!(kept("gpt-5.1") && kept("gpt-5.1-2025-11-13") && kept("gpt-5.1-20251113") && !kept("gpt-5.1-mini"));
}

#[test]
fn thinking_of_others_and_thinking_without_state_is_never_made_up_as_reasoning() {
    let mut signed = ThinkingBlock { text: "secret".into(), provider_data: ProviderData::default() };
    signed.provider_data.set_part(Dialect::Anthropic, Part::State, "signature", "S");
    let mut call = ToolCall { id: "c".into(), name: "f".into(), ..ToolCall::default() };
    call.provider_data.set_part(Dialect::Gemini, Part::State, "thought_signature", "T");
    let request = hello()
        .assistant(vec![
            Block::Thinking(signed),
            Block::thinking("plain"),
            reasoning("rs_1", None),
            Block::text("Hi"),
            Block::ToolCall(call),
        ])
        .tool_result("c", "r");
    let wire = send(&request);
    let kinds: Vec<&str> =
        wire.body["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "function_call", "function_call_output"]);
    assert_eq!(
        losses(&wire),
        [
            "thinking at messages[1].content[0]: thinking of another provider is left out",
            "thinking at messages[1].content[1]: thinking can only go back with its original seal, and this has \
             none; left out",
            "thinking at messages[1].content[4]: thinking state of another provider (gemini) is left out",
            "thinking at messages[1].content[2]: reasoning goes back only as the provider encrypted it, and this has \
             none; left out",
        ]
    );
}

#[test]
fn stored_reasoning_goes_by_its_id_and_open_models_get_their_words_back() {
    let mut request = hello().assistant(vec![reasoning("rs_1", None), Block::text("Hi")]).user("x");
    request.provider_data.set_part(DIALECT, Part::Extra, "store", true);
    assert_eq!(input(&request)[1]["id"], "rs_1");
    let mut raw = ThinkingBlock { text: "raw".into(), provider_data: ProviderData::default() };
    raw.provider_data.set_part(DIALECT, Part::Shape, "content", json!([{"type": "reasoning_text", "text": "raw"}]));
    raw.provider_data.set_part(DIALECT, Part::Shape, "status", "completed");
    raw.provider_data.set_part(DIALECT, Part::Extra, "encrypted_content", Json::null());
    let request = hello().message(by("openai", "gpt-oss", vec![Block::Thinking(raw), Block::text("Hi")])).user("x");
    let open = send_with(
        &request,
        &Rules::default(),
        &Quirks {
            responses: crate::provider::ResponsesQuirks { no_store: true, ..Default::default() },
            ..Quirks::default()
        },
    );
    assert_eq!(
        open.body["input"][1],
        json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]})
    );
}

#[test]
fn reasoning_that_led_nowhere_is_left_out() {
    let request = hello().message(by("openai", "gpt-5.1", vec![reasoning("rs_1", Some("g"))])).user("again");
    let wire = send(&request);
    assert_eq!(wire.body["input"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        losses(&wire),
        ["thinking at messages[1].content[0]: reasoning without the item that it led to is refused; left out"]
    );
}

#[test]
fn results_carry_pictures_and_say_in_words_that_they_failed() {
    let picture = Block::image(Source::Base64 { media_type: "image/png".into(), data: "iVBORw==".into() });
    let request = hello()
        .assistant(vec![
            Block::tool_call("a", "f", Object::new()),
            Block::tool_call("b", "f", Object::new()),
            Block::tool_call("c", "f", Object::new()),
            Block::tool_call("d", "f", Object::new()),
        ])
        .tool_result("a", vec![Block::text("see"), picture.clone()])
        .message(Message::new(
            crate::Role::Tool,
            vec![
                Block::tool_error("b", "no such file"),
                Block::tool_error("c", "Error: twice"),
                Block::tool_error("d", vec![picture]),
            ],
        ));
    let wire = send(&request);
    assert_eq!(
        wire.body["input"].as_array().unwrap()[5..],
        [
            json!({"type": "function_call_output", "call_id": "a", "output": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="}]}),
            json!({"type": "function_call_output", "call_id": "b", "output": "Error: no such file"}),
            json!({"type": "function_call_output", "call_id": "c", "output": "Error: twice"}),
            json!({"type": "function_call_output", "call_id": "d", "output": [
                {"type": "input_text", "text": "Error: the tool failed"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="}]}),
        ]
    );
    assert!(wire.losses.iter().all(|loss| loss.severity == Severity::Info && loss.what == "is_error"));
}

#[test]
fn files_of_every_source_are_parts_and_sounds_are_losses() {
    let file = |source: Source, name: Option<&str>| {
        let name = name.map(str::to_owned);
        Block::Document(Document { source, name, cache: None, provider_data: ProviderData::default() })
    };
    let pdf = || Source::Base64 { media_type: "application/pdf".into(), data: "JVBERi0=".into() };
    let request = Request::new("gpt-5.1").user(vec![
        file(pdf(), Some("a.pdf")),
        file(pdf(), None),
        file(Source::Text { media_type: "text/plain".into(), text: "hi".into() }, None),
        file(Source::Url { url: "https://a.example/b.pdf".into(), media_type: None }, Some("b.pdf")),
        file(Source::File { id: "file-1".into(), media_type: None }, None),
        Block::image(Source::File { id: "file-2".into(), media_type: None }),
        Block::image_url("https://a.example/c.png"),
        Block::audio(Source::Base64 { media_type: "audio/wav".into(), data: "AAA=".into() }),
        Block::image(Source::Text { media_type: "text/plain".into(), text: "no".into() }),
        Block::Other(Other { dialect: Dialect::Gemini, data: json!({"executableCode": {}}).into() }),
    ]);
    let wire = send(&request);
    assert_eq!(
        wire.body["input"][0]["content"],
        json!([
            {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
            {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0=", "filename": "document.pdf"},
            {"type": "input_file", "file_data": "data:text/plain;base64,aGk=", "filename": "document.txt"},
            {"type": "input_file", "file_url": "https://a.example/b.pdf"},
            {"type": "input_file", "file_id": "file-1"},
            {"type": "input_image", "file_id": "file-2"},
            {"type": "input_image", "image_url": "https://a.example/c.png"},
        ])
    );
    assert_eq!(
        losses(&wire),
        [
            "other at messages[0].content[9]: a block that only gemini has; left out",
            "document.name at messages[0].content[3]: a file that is not sent along has no name here",
            "audio at messages[0].content[7]: this API accepts no audio; left out",
            "image at messages[0].content[8]: a text is not a picture; left out",
        ]
    );
}

#[test]
fn system_messages_and_prompts_go_where_the_model_takes_them() {
    let request = hello().system("S").message(Message::system("Now in French")).user("x");
    assert_eq!(
        input(&request)[1],
        json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Now in French"}]})
    );
    let refuses = Rules { system_messages: false, system_prompt: false, ..Rules::default() };
    let wire = send_with(&request, &refuses, &Quirks::default());
    let roles: Vec<&str> =
        wire.body["input"].as_array().unwrap().iter().map(|item| item["role"].as_str().unwrap()).collect();
    assert_eq!((roles, wire.body.get("instructions")), (vec!["user"; 3], None));
    assert_eq!(wire.losses.len(), 2);
}

#[test]
fn blocks_in_the_wrong_place_are_losses_or_items_of_their_own() {
    let request = Request::new("gpt-5.1")
        .user(vec![Block::text("a"), Block::tool_result("c", "r"), Block::text("b"), Block::thinking("t")])
        .assistant(vec![Block::image_url("https://a.example/b.png"), Block::text("d")])
        .message(Message::new(crate::Role::Tool, Block::text("from a tool")));
    let wire = send(&request);
    let kinds: Vec<String> = wire.body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| format!("{} {}", item["type"].as_str().unwrap(), item["role"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(kinds, ["message user", "function_call_output ", "message user", "message assistant", "message user"]);
    let what: Vec<&str> = wire.losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["thinking", "image"]);
}

#[test]
fn references_to_stored_items_go_only_where_items_are_stored() {
    let reference =
        Block::Other(Other { dialect: DIALECT, data: json!({"type": "item_reference", "id": "rs_1"}).into() });
    let mut request = hello().assistant(vec![reference, Block::text("Hi")]).user("x");
    let wire = send(&request);
    assert_eq!((wire.body["input"][1]["type"].as_str(), wire.losses.len()), (Some("message"), 1));
    request.provider_data.set_part(DIALECT, Part::Extra, "store", true);
    assert_eq!(input(&request)[1]["type"], "item_reference");
}

#[test]
fn a_part_without_a_type_is_not_an_item() {
    let part = |data: Value| Block::Other(Other { dialect: DIALECT, data: data.into() });
    let unknown = json!({"tyre": "input_text", "text": "B"});
    let item = json!({"type": "item_reference", "id": "x"});
    let request = hello().message(Message::user([Block::text("A"), part(unknown.clone()), part(item.clone())]));
    let said = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A"}, unknown]});
    let input = send(&request).body["input"].clone();
    assert_eq!(input.as_array().and_then(|items| items.get(1..)), Some(&[said, item][..]));
}

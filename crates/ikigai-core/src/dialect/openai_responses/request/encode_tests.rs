use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::catalog::{Facts, ForcedTools, Rules, Sampling, rules_for};
use crate::dialect::openai_responses::decode_request;
use crate::dialect::{Dialect, Incoming, Target};
use crate::provider::Quirks;
use crate::{
    CacheHint, CacheOptions, Document, Level, Message, Other, OutputFormat, ProviderData, Request, Severity, Source,
    Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice,
};

type Object = Map<String, Value>;

/// A request as it went out.
#[derive(Debug, PartialEq)]
struct Sent {
    path: String,
    headers: Vec<(String, String)>,
    body: Value,
    losses: Vec<Loss>,
}

fn encode(request: &Request, target: &Target<'_>) -> Sent {
    let wire = Dialect::OpenaiResponses.encode_request(request, target, &Limits::default()).unwrap();
    let body = serde_json::from_slice(&wire.body).unwrap();
    Sent { path: wire.path, headers: wire.headers, body, losses: wire.losses }
}

fn send_with(request: &Request, rules: &Rules, quirks: &Quirks) -> Sent {
    encode(request, &Target { provider: "openai", quirks, rules, facts: None })
}

fn read(body: &Value) -> Request {
    decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &crate::Limits::default()).unwrap()
}

/// As it goes to the model that it names.
fn send(request: &Request) -> Sent {
    send_with(request, rules_for(&request.model), &Quirks::default())
}

fn input(request: &Request) -> Value {
    send(request).body["input"].clone()
}

fn losses(wire: &Sent) -> Vec<String> {
    wire.losses.iter().map(ToString::to_string).collect()
}

fn fields(object: Value) -> Fields {
    Json::from(object).to().unwrap()
}

fn hello() -> Request {
    Request::new("gpt-5.1").user("Hello")
}

/// A thinking block as an answer of this dialect gives it.
fn reasoning(id: &str, sealed: Option<&str>) -> Block {
    let mut block = ThinkingBlock { text: "Hm.".into(), provider_data: ProviderData::default() };
    block.provider_data.set_part(DIALECT, Part::State, "id", id);
    if let Some(sealed) = sealed {
        block.provider_data.set_part(DIALECT, Part::State, "encrypted_content", sealed);
    }
    Block::Thinking(block)
}

fn by(provider: &str, model: &str, content: Vec<Block>) -> Message {
    Message { provider: Some(provider.into()), model: Some(model.into()), ..Message::assistant(content) }
}

#[test]
fn a_new_request_is_stateless_and_a_single_text_is_its_input() {
    let request =
        hello()
            .system("You are helpful")
            .system("and brief")
            .thinking(Level::Med)
            .max_output_tokens(4096)
            .tool(Tool::new("read_file", "Reads.").parameters(
                json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            ))
            .tool_choice(ToolChoice::Specific("read_file".into()));
    let wire = send(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": "gpt-5.1",
            "instructions": "You are helpful\n\nand brief",
            "input": "Hello",
            "reasoning": {"effort": "medium", "summary": "auto"},
            "max_output_tokens": 4096,
            "tools": [{"type": "function", "name": "read_file", "description": "Reads.", "strict": true, "parameters": {
                "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
                "additionalProperties": false}}],
            "tool_choice": {"type": "function", "name": "read_file"},
            "store": false,
            "include": ["reasoning.encrypted_content"],
        })
    );
    assert_eq!((wire.path.as_str(), wire.losses, wire.headers), ("/responses", vec![], vec![]));
}

#[test]
fn the_caller_decides_about_storing_and_a_provider_without_a_store_hears_nothing_of_it() {
    let mut request = hello();
    request.provider_data.extend_part(
        DIALECT,
        Part::Extra,
        fields(json!({"store": true, "include": [], "service_tier": "flex"})),
    );
    let body = send(&request).body;
    assert_eq!((&body["store"], &body["include"], &body["service_tier"]), (&json!(true), &json!([]), &json!("flex")));
    let quirks = Quirks {
        responses: crate::provider::ResponsesQuirks { no_store: true, ..Default::default() },
        ..Quirks::default()
    };
    let wire = send_with(&request, &Rules::default(), &quirks);
    assert_eq!(wire.body.get("store"), None);
    assert_eq!(losses(&wire), ["store at store: this provider stores nothing; it is left out"]);
    let wire = send_with(&hello(), &Rules::default(), &quirks);
    assert_eq!((wire.body.get("store"), wire.body.get("include"), wire.losses), (None, None, vec![]));
}

#[test]
fn a_model_that_is_known_not_to_think_is_not_asked_for_encrypted_reasoning() {
    let facts: Facts = serde_json::from_value(json!({"thinking": false})).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: Some(&facts) };
    let body = encode(&hello(), &target).body;
    assert_eq!((body.get("include"), body.get("store")), (None, Some(&json!(false))));
}

#[test]
fn a_request_read_for_another_model_is_made_to_fit() {
    let body = json!({
        "model": "gpt-4o", "input": "Hi", "temperature": 1, "max_output_tokens": 5, "top_p": 0.5,
        "reasoning": {"effort": "max", "summary": "detailed", "context": "all_turns"},
        "tools": [{"type": "function", "name": "f", "function": {"name": "f", "parameters":
            {"type": "object", "properties": {"a": {"oneOf": []}}}, "strict": true}}],
    });
    let mut request = read(&body);
    request.model = "gpt-5.1".into();
    let wire = send(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": "gpt-5.1", "input": "Hi", "max_output_tokens": 16,
            "reasoning": {"effort": "high", "summary": "detailed", "context": "all_turns"},
            "tools": [{"type": "function", "name": "f", "strict": false,
                       "parameters": {"type": "object", "properties": {"a": {"oneOf": []}}}}],
            "store": false, "include": ["reasoning.encrypted_content"],
        })
    );
    let what: Vec<&str> = wire.losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["strict", "thinking", "max_output_tokens", "temperature", "top_p"]);
}

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
            "thinking at messages[1].content[0]: thinking of another provider stays behind",
            "thinking at messages[1].content[1]: thinking goes back only with the seal that it came with, and this has \
             none; it is left out",
            "thinking at messages[1].content[4]: thinking state of another provider (gemini) stays behind",
            "thinking at messages[1].content[2]: reasoning goes back only as the provider encrypted it, and this has \
             none; it is left out",
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
        ["thinking at messages[1].content[0]: reasoning without the item that it led to is refused; it is left out"]
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
            "other at messages[0].content[9]: a block that only gemini has; it is left out",
            "document.name at messages[0].content[3]: a file that is not sent along has no name here",
            "audio at messages[0].content[7]: this API takes no sound; it is left out",
            "image at messages[0].content[8]: a text is not a picture; it is left out",
        ]
    );
}

#[test]
fn parameters_that_this_api_does_not_have_are_losses() {
    let mut request = hello().stop("END");
    request.top_k = Some(5);
    request.seed = Some(7);
    request.frequency_penalty = Some(0.1);
    request.presence_penalty = Some(0.1);
    let wire = send(&request);
    let what: Vec<&str> = wire.losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["top_k", "frequency_penalty", "presence_penalty", "stop", "seed"]);
    assert!(what.iter().all(|key| wire.body.get(*key).is_none()));
}

#[test]
fn sampling_is_left_out_where_the_model_refuses_it() {
    let mut request = Request::new("gpt-5").user("x").temperature(0.2);
    request.top_p = Some(0.9);
    let wire = send(&request);
    assert_eq!((wire.body.get("temperature"), wire.losses.len()), (None, 2));
    request.model = "gpt-5.1".into();
    assert_eq!(send(&request).body["temperature"], 0.2, "it does not think unless asked");
    request.thinking = Some(Level::Low.into());
    assert_eq!(send(&request).losses.len(), 2);
    request.model = "gpt-4.1".into();
    request.thinking = None;
    assert_eq!(send(&request).body["top_p"], 0.9);
    let one = Rules { sampling: Sampling::OneOf, ..Rules::default() };
    let wire = send_with(&request, &one, &Quirks::default());
    assert_eq!((wire.body["temperature"].clone(), wire.body.get("top_p")), (json!(0.2), None));
}

#[test]
fn the_output_limit_is_raised_to_the_least_that_is_taken() {
    let wire = send(&hello().max_output_tokens(1));
    assert_eq!(wire.body["max_output_tokens"], 16);
    assert_eq!(
        losses(&wire),
        ["max_output_tokens at max_output_tokens: this API takes limits of at least 16 tokens; that is sent for 1"]
    );
    assert_eq!(send(&hello().max_output_tokens(16)).losses, []);
}

#[test]
fn tools_are_flat_and_strict_only_where_the_schema_allows() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut with_extras = Tool::new("g", "d").lenient();
    if let Tool::Function(function) = &mut with_extras {
        let extra = fields(json!({"input_examples": [1], "none": null}));
        function.provider_data.extend_part(Dialect::Anthropic, Part::Extra, extra);
        function.cache = Some(CacheHint::default());
    }
    let hosted = Tool::other(Other { dialect: DIALECT, data: json!({"type": "web_search"}).into() });
    let foreign = Tool::other(Other { dialect: Dialect::Anthropic, data: json!({"type": "bash_20250124"}).into() });
    let request =
        hello().tool(Tool::new("f", "d").parameters(open.clone())).tool(with_extras).tool(hosted).tool(foreign);
    let wire = send(&request);
    assert_eq!(
        wire.body["tools"],
        json!([
            {"type": "function", "name": "f", "description": "d", "parameters": open, "strict": false},
            {"type": "function", "name": "g", "description": "d", "strict": false,
             "parameters": {"type": "object", "properties": {}}},
            {"type": "web_search"},
        ])
    );
    let what: Vec<(&str, &str)> = wire.losses.iter().map(|loss| (loss.what.as_str(), loss.place.as_str())).collect();
    assert_eq!(
        what,
        [("strict", "tools[0].strict"), ("provider_data", "tools[1]"), ("tools", "tools[3]"), ("cache", "tools"),]
    );
    let no_strict = Rules { strict_tools: false, ..Rules::default() };
    let wire = send_with(&hello().tool(Tool::new("f", "d")), &no_strict, &Quirks::default());
    assert_eq!((&wire.body["tools"][0]["strict"], wire.losses.len()), (&json!(false), 1));
}

#[test]
fn choices_are_written_flat_and_only_beside_tools() {
    let with = |choice: ToolChoice| hello().tool(Tool::new("f", "d")).tool_choice(choice);
    for (choice, wire) in [
        (ToolChoice::Auto, json!("auto")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (ToolChoice::Specific("f".into()), json!({"type": "function", "name": "f"})),
    ] {
        assert_eq!(send(&with(choice)).body["tool_choice"], wire);
    }
    let mut alone = hello().tool_choice(ToolChoice::Required);
    alone.parallel_tool_calls = Some(false);
    let wire = send(&alone);
    assert_eq!((wire.body.get("tool_choice"), wire.body.get("parallel_tool_calls")), (None, None));
    let severities: Vec<Severity> = wire.losses.iter().map(|loss| loss.severity).collect();
    assert_eq!(severities, [Severity::Loss, Severity::Info]);

    let refused = Rules { forced_tools: ForcedTools::Refused, parallel_tool_calls: false, ..Rules::default() };
    let mut request = with(ToolChoice::Required);
    request.parallel_tool_calls = Some(false);
    let wire = send_with(&request, &refused, &Quirks::default());
    assert_eq!((&wire.body["tool_choice"], wire.losses.len()), (&json!("auto"), 2));

    let clash = Rules { forced_tools: ForcedTools::NotWhileThinking, ..rules_for("gpt-5.1").clone() };
    let wire = send_with(&with(ToolChoice::Required).thinking(Level::High), &clash, &Quirks::default());
    assert_eq!((&wire.body["tool_choice"], &wire.body["reasoning"]), (&json!("required"), &json!({"effort": "none"})));
    assert_eq!(
        losses(&wire),
        [
            "thinking at thinking: this model cannot be forced to use a tool while it thinks; thinking is off for this request"
        ]
    );
}

#[test]
fn formats_are_flat() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let wire = send(&hello().json_schema("My answer!", schema.clone()));
    let mut closed = schema.clone();
    closed["additionalProperties"] = json!(false);
    assert_eq!(
        wire.body["text"],
        json!({"format": {"type": "json_schema", "name": "My_answer_", "schema": closed, "strict": true}})
    );
    assert_eq!(wire.losses[0].severity, Severity::Info);

    let mut request = hello().json_schema("n", json!({"type": "array"}));
    let wire = send(&request);
    assert_eq!(wire.body["text"]["format"]["strict"], false);
    assert_eq!(wire.losses.len(), 1);
    request.output_format = Some(OutputFormat::Json);
    assert_eq!(send(&request).body["text"], json!({"format": {"type": "json_object"}}));
    request.output_format = Some(OutputFormat::Text);
    assert_eq!(send(&request).body["text"], json!({"format": {"type": "text"}}));

    let plain = Rules { structured_output: false, ..Rules::default() };
    let wire = send_with(&hello().system("Be brief.").json_schema("n", schema.clone()), &plain, &Quirks::default());
    assert_eq!(wire.body["text"], json!({"format": {"type": "json_object"}}));
    let asked = format!("Be brief.\n\nAnswer with JSON that matches this JSON Schema, and nothing else:\n{schema}");
    assert_eq!(wire.body["instructions"], asked);
    assert_eq!(wire.losses.len(), 1);
}

#[test]
fn cache_hints_are_marks_where_the_model_takes_them() {
    let mut request = Request::new("gpt-5.6-sol").system(Block::text("long").cached()).user("a");
    for index in 0..5 {
        request = request.user(Block::text(index.to_string()).cached());
    }
    request.cache = Some(CacheOptions { key: Some("conversation-7".into()), automatic: None });
    let wire = send(&request);
    let marks: Vec<bool> = wire.body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["content"][0].get("prompt_cache_breakpoint").is_some())
        .collect();
    assert_eq!(marks, [true, false, false, false, true, true, true], "the system prompt and the last three");
    assert_eq!(wire.body["input"][0]["role"], "developer");
    assert_eq!(wire.body["prompt_cache_options"], json!({"mode": "explicit"}));
    assert_eq!(wire.body["prompt_cache_key"], "conversation-7");
    let places: Vec<&str> = wire.losses.iter().map(|loss| loss.place.as_str()).collect();
    assert_eq!(places, ["messages[1].content[0]", "messages[2].content[0]"]);

    request.model = "gpt-5.1".into();
    let wire = send(&request);
    assert_eq!(wire.body["instructions"], "long");
    assert_eq!(wire.body.get("prompt_cache_options"), None);
    assert!(!wire.body.to_string().contains("breakpoint"));
    assert!(wire.losses.iter().all(|loss| loss.severity == Severity::Info));
}

#[test]
fn long_ids_and_keys_are_shortened_the_same_way_every_time() {
    let long = "x".repeat(65);
    let mut request = hello()
        .assistant(Block::tool_call(&long, "f", Object::new()))
        .tool_result(&long, "r")
        .assistant(Block::tool_call("toolu_01", "f", Object::new()))
        .tool_result("toolu_01", "r");
    request.cache = Some(CacheOptions { key: Some("k".repeat(100)), automatic: None });
    let wire = send(&request);
    let id = wire.body["input"][1]["call_id"].as_str().unwrap();
    assert!(id.len() <= 64, "{id}");
    assert_eq!(
        (&wire.body["input"][2]["call_id"], &wire.body["input"][3]["call_id"]),
        (&json!(id), &json!("toolu_01"))
    );
    assert_eq!(wire.body["prompt_cache_key"].as_str().map(str::len), Some(64));
    assert_eq!(send(&request), wire);
    let what: Vec<(&str, &str)> = wire.losses.iter().map(|loss| (loss.what.as_str(), loss.place.as_str())).collect();
    assert_eq!(what, [("tool_call", "messages"), ("cache", "cache.key")]);
}

#[test]
fn efforts_by_model() {
    use Level::{High, Low, Max, Med, Minimal, None, Xhigh};
    let effort = |model: &str, level: Level| {
        let wire = send(&Request::new(model).user("x").thinking(level));
        (wire.body["reasoning"]["effort"].as_str().map(str::to_owned), wire.losses.len())
    };
    for (model, level, word, losses) in [
        ("gpt-5.1", None, Some("none"), 0),
        ("gpt-5.1", Med, Some("medium"), 0),
        ("gpt-5.1", Minimal, Some("low"), 1),
        ("gpt-5", None, Some("minimal"), 1),
        ("gpt-5", Minimal, Some("minimal"), 0),
        ("o3-mini", None, Some("medium"), 1),
        ("o1", None, Some("medium"), 1),
        ("o3", None, Some("low"), 1),
        ("gpt-5-pro", Low, Some("high"), 1),
        ("gpt-5.2", Xhigh, Some("xhigh"), 0),
        ("gpt-5.2", Max, Some("xhigh"), 1),
        ("gpt-5.6-sol", Max, Some("max"), 0),
        ("gpt-4.1", None, Option::None, 0),
        ("gpt-4.1", High, Option::None, 1),
    ] {
        assert_eq!(effort(model, level), (word.map(str::to_owned), losses), "{model} {level}");
    }
    // Off needs no summary, and a hidden one is not asked for.
    let body = send(&hello().thinking(Level::None)).body;
    assert_eq!(body["reasoning"], json!({"effort": "none"}));
    let body = send(&hello().thinking(Thinking::from(Level::High).hidden())).body;
    assert_eq!(body["reasoning"], json!({"effort": "high"}));
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
fn fields_of_other_dialects_are_losses_and_their_marks_are_not() {
    let mut request = hello();
    request.provider_data.set_part(Dialect::Anthropic, Part::Shape, "model", "claude-x");
    request.provider_data.set_part(Dialect::Anthropic, Part::Shape, "system", "string");
    let extra = fields(json!({"container": "c", "mcp_servers": null}));
    request.provider_data.extend_part(Dialect::Anthropic, Part::Extra, extra);
    request.messages[0].provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "name", "bob");
    let wire = send(&request);
    assert_eq!(
        losses(&wire),
        [
            "provider_data at messages[0]: only openai-chat knows name; left out",
            "provider_data at provider_data: only anthropic knows container; left out",
        ]
    );
}

#[test]
fn labels_are_texts() {
    let mut request = hello();
    request.metadata.insert("user_id".into(), json!("u"));
    request.metadata.insert("turn".into(), json!(3));
    let wire = send(&request);
    assert_eq!(wire.body["metadata"], json!({"user_id": "u", "turn": "3"}));
    assert_eq!(wire.losses.len(), 1);
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
fn a_limit_of_minus_one_is_the_providers_default_and_a_model_is_needed() {
    assert_eq!(send(&hello().max_output_tokens(-1)).body.get("max_output_tokens"), None);
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    for model in ["", "  "] {
        let request = Request::new(model).user("x");
        let error = Dialect::OpenaiResponses.encode_request(&request, &target, &Limits::default()).unwrap_err();
        assert_eq!((error.kind, error.param.as_deref()), (crate::ErrorKind::InvalidRequest, Some("model")));
    }
}

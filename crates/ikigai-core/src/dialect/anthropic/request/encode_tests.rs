use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{answer_of, home, losses, sse, wire};
use super::encode_request;
use crate::{
    Block, CacheHint, CacheOptions, Dialect, JsonSchemaFormat, Level, Message, Other, OutputFormat, Quirks, Request,
    Role, Source, Thinking, Tool, ToolCall, ToolChoice, rules_for,
};

const SONNET: &str = "claude-sonnet-4-5";
const OPUS: &str = "claude-opus-4-8";

fn call(id: &str) -> Block {
    Block::tool_call(id, "f", serde_json::Map::new())
}

fn signed(text: &str, signature: &str) -> Block {
    let mut block = Block::thinking(text);
    block.provider_data_mut().unwrap().set(Dialect::Anthropic, "signature", signature);
    block
}

fn from(provider: &str, model: &str, content: Vec<Block>) -> Message {
    let mut message = Message::assistant(content);
    (message.provider, message.model) = (Some(provider.into()), Some(model.into()));
    message
}

#[test]
fn the_worked_case_of_the_documents() {
    let request =
        Request::new(SONNET).system("You are helpful").user("Hello").thinking(Level::Med).max_output_tokens(4096);
    let wire = wire(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": SONNET, "max_tokens": 47_104, "system": "You are helpful",
            "messages": [{"role": "user", "content": "Hello"}],
            "thinking": {"type": "enabled", "budget_tokens": 43_008},
        })
    );
    assert_eq!(wire.path, "/v1/messages");
    assert_eq!(wire.headers, [("anthropic-version".to_owned(), "2023-06-01".to_owned())]);
    assert_eq!(wire.losses, []);
}

#[test]
fn system_blocks_stay_blocks_when_there_are_several_or_one_is_cached() {
    let system = |request: Request| wire(&request.user("Hi")).body["system"].clone();
    assert_eq!(system(Request::new(SONNET)), Value::Null);
    assert_eq!(system(Request::new(SONNET).system("A")), json!("A"));
    assert_eq!(
        system(Request::new(SONNET).system("A").system("B")),
        json!([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}])
    );
    assert_eq!(
        system(Request::new(SONNET).system(Block::text("A").cached())),
        json!([{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}])
    );
}

#[test]
fn results_stand_first_in_one_user_message() {
    let request = Request::new(SONNET)
        .user("Go")
        .assistant(vec![Block::text("Both."), call("a"), call("b")])
        .message(Message::tool_result("a", "1"))
        .message(Message::user("Hurry"))
        .message(Message::new(Role::Tool, Block::tool_error("b", vec![Block::text("2"), Block::image_url("u")])))
        .user("And then?");
    assert_eq!(
        wire(&request).body["messages"],
        json!([
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Both."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": [
                    {"type": "text", "text": "2"}, {"type": "image", "source": {"type": "url", "url": "u"}}], "is_error": true},
                {"type": "text", "text": "Hurry"},
                {"type": "text", "text": "And then?"}]},
        ])
    );
}

#[test]
fn the_user_begins() {
    for request in [Request::new(SONNET).assistant("Hello!").user("Hi"), Request::new(SONNET).system("Say hi.")] {
        let wire = wire(&request);
        assert_eq!(wire.body["messages"][0], json!({"role": "user", "content": "(begin)"}));
        assert_eq!(
            losses(&wire),
            ["info messages at messages[0]: on this api the user begins; a placeholder is sent before it"]
        );
    }
}

#[test]
fn user_messages_without_results_stay_apart() {
    let request = Request::new(SONNET).user("a").user("b");
    assert_eq!(
        wire(&request).body["messages"],
        json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    );
}

#[test]
fn ids_of_others_are_made_to_fit_in_call_and_result() {
    let request = Request::new(SONNET)
        .user("Go")
        .assistant(vec![call("call:1"), call("call_1")])
        .tool_result("call:1", "x")
        .tool_result("call_1", "y")
        .assistant(call("call_1"))
        .tool_result("call_1", "z");
    let wire = wire(&request);
    let ids: Vec<&Value> = wire.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().into_iter().flatten())
        .map(|block| block.get("id").unwrap_or(&block["tool_use_id"]))
        .collect();
    assert_eq!(ids, ["call_1_2", "call_1", "call_1_2", "call_1", "call_1_3", "call_1_3"]);
    assert_eq!(
        losses(&wire),
        [
            "info id at messages[1].content[0]: sent as `call_1_2`, in the call and in its result",
            "info id at messages[3].content[0]: sent as `call_1_3`, in the call and in its result",
        ]
    );
}

#[test]
fn names_that_are_refused_are_changed_everywhere_and_told() {
    let request = Request::new(SONNET)
        .user("Go")
        .assistant(Block::tool_call("t", "files.read", serde_json::Map::new()))
        .tool_result("t", "x")
        .tool(Tool::new("files.read", "Reads.").lenient())
        .tool_choice(ToolChoice::Specific("files.read".into()));
    let wire = wire(&request);
    assert_eq!(wire.body["tools"][0]["name"], "files_read");
    assert_eq!(wire.body["messages"][1]["content"][0]["name"], "files_read");
    assert_eq!(wire.body["tool_choice"], json!({"type": "tool", "name": "files_read"}));
    assert_eq!(losses(&wire).len(), 1, "{:?}", wire.losses);
}

#[test]
fn streamed_thinking_goes_back_byte_for_byte_and_once() {
    let answer = answer_of(&sse(&[
        json!({"type": "message_start", "message": {"id": "m", "model": "claude-sonnet-4-5-20250929", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Look "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "it up."}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "Eq+/B=="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "Em8B"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"b\": 1,"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": " \"a\": 2}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]));
    let request = Request::new(SONNET)
        .user("Go")
        .message(answer.into_message("anthropic"))
        .tool_result("toolu_1", "x")
        .thinking(Level::Low);
    let wire = wire(&request);
    assert_eq!(
        wire.body["messages"][1]["content"].to_string(),
        concat!(
            r#"[{"type":"thinking","thinking":"Look it up.","signature":"Eq+/B=="},"#,
            r#"{"type":"redacted_thinking","data":"Em8B"},"#,
            r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1,"a":2},"caller":{"type":"direct"}}]"#
        )
    );
    assert_eq!(wire.body["thinking"]["type"], "enabled");
    assert_eq!(wire.losses, []);
}

#[test]
fn thinking_goes_back_to_its_model_and_provider_alone() {
    let sent = |message: Message, model: &str| {
        let wire = wire(&Request::new(model).user("Hi").message(message).user("Go on"));
        (wire.body["messages"][1]["content"].clone(), losses(&wire))
    };
    let content = || vec![signed("Hm", "E"), Block::text("Yes")];
    let whole = json!([{"type": "thinking", "thinking": "Hm", "signature": "E"}, {"type": "text", "text": "Yes"}]);
    let left_out = "loss thinking at messages[1].content[0]: thinking state of another provider or model stays behind; the block is left out";
    assert_eq!(sent(from("anthropic", "claude-sonnet-4-5-20250929", content()), SONNET), (whole.clone(), vec![]));
    assert_eq!(sent(Message::assistant(content()), SONNET), (whole, vec![]));
    assert_eq!(sent(from("anthropic", "claude-opus-4-1", content()), SONNET), (json!("Yes"), vec![left_out.into()]));
    assert_eq!(sent(from("other", SONNET, content()), SONNET), (json!("Yes"), vec![left_out.into()]));
}

#[test]
fn thinking_that_nobody_signed_stays_behind() {
    let mut foreign = Block::thinking("Hm");
    foreign.provider_data_mut().unwrap().set(Dialect::OpenaiResponses, "encrypted_content", "gAAA");
    let request = Request::new(SONNET)
        .user("Hi")
        .assistant(vec![Block::thinking("a"), signed("b", ""), Block::text("Yes")])
        .message(from("openai", "o3", vec![foreign, Block::text("No")]))
        .user("Go on");
    let wire = wire(&request);
    assert_eq!(wire.body["messages"][1]["content"], "Yes");
    assert_eq!(wire.body["messages"][2]["content"], "No");
    assert_eq!(
        losses(&wire),
        [
            "loss thinking at messages[1].content[0]: this api takes thinking only with its signature; the block is left out",
            "loss thinking at messages[1].content[1]: this api takes thinking only with its signature; the block is left out",
            "loss thinking at messages[2].content[0]: thinking state of another provider stays behind; the block is left out",
        ]
    );
}

#[test]
fn a_provider_that_does_not_sign_gets_its_thinking_back() {
    let mut block = Block::thinking("Hm");
    block.provider_data_mut().unwrap().set(Dialect::Anthropic, "unsigned", true);
    let request = Request::new("m").user("Hi").message(from("minimax", "m", vec![block, Block::text("Yes")])).user("?");
    let (quirks, rules) = (Quirks::default(), rules_for("m"));
    let sent = |provider| {
        let target = crate::Target { provider, ..home(&quirks, rules) };
        encode_request(&request, &target).unwrap().body["messages"][1]["content"].clone()
    };
    assert_eq!(sent("anthropic"), "Yes");
    assert_eq!(sent("minimax"), json!([{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes"}]));
}

#[test]
fn a_tool_turn_without_signed_thinking_goes_on_without_a_budget() {
    let turn = |first: Vec<Block>| {
        Request::new(SONNET)
            .user("Go")
            .assistant(first)
            .tool_result("a", "x")
            .thinking(Level::Low)
            .max_output_tokens(99)
    };
    let why = "loss thinking at thinking: the tool turn that is going on began without this model's thinking, which it then demands; thinking is left out";
    let unsigned = wire(&turn(vec![call("a")]));
    assert_eq!((&unsigned.body["thinking"], &unsigned.body["max_tokens"]), (&Value::Null, &json!(99)));
    assert_eq!(losses(&unsigned), [why]);
    // With its thinking, or when the turn is over, the budget stays.
    for request in [turn(vec![signed("Hm", "E"), call("a")]), turn(vec![call("a")]).assistant("Done.").user("More?")] {
        let wire = wire(&request);
        assert_eq!((wire.body["thinking"]["type"].as_str(), losses(&wire)), (Some("enabled"), vec![]));
    }
    // In a long turn only its beginning counts.
    let long = turn(vec![signed("Hm", "E"), call("a")]).assistant(call("b")).tool_result("b", "y");
    assert_eq!(wire(&long).body["thinking"]["type"], "enabled");
    // Models that measure their thinking themselves do not mind.
    let mut adaptive = turn(vec![call("a")]);
    adaptive.model = OPUS.to_owned();
    assert_eq!(wire(&adaptive).body["thinking"]["type"], "adaptive");
}

#[test]
fn an_answer_begun_by_the_caller() {
    let begun = |model: &str| Request::new(model).user("JSON?").assistant("{\"a\": \n");
    let older = wire(&begun(SONNET).thinking(Level::Low).max_output_tokens(50));
    assert_eq!(older.body["messages"][1], json!({"role": "assistant", "content": "{\"a\":"}));
    assert_eq!(older.body.get("thinking"), None);
    assert_eq!(
        losses(&older),
        [
            "info prefill at messages[1]: the blanks at its end are refused, and are left out",
            "loss thinking at thinking: this model refuses thinking when the conversation ends with the assistant; thinking is left out",
        ]
    );
    let newer = wire(&begun(OPUS));
    assert_eq!(newer.body["messages"][2], json!({"role": "user", "content": "Continue."}));
    assert_eq!(
        losses(&newer),
        [
            "loss prefill at messages[1]: this model refuses conversations that end with the assistant; the model is asked to continue"
        ]
    );
    // A paused turn of the provider's own tools is sent again as it is.
    let data = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let paused = Request::new(OPUS).user("Go").assistant(Block::Other(Other { dialect: Dialect::Anthropic, data }));
    assert_eq!(wire(&paused).body["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn instructions_in_mid_conversation() {
    let request = |model: &str| {
        Request::new(model)
            .system("Base.")
            .message(Message::system("First."))
            .user("Go")
            .assistant(call("a"))
            .message(Message::system("Hurry."))
            .tool_result("a", "x")
            .message(Message::system("In French."))
            .user("Now")
    };
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "x"});
    let newer = wire(&request(OPUS));
    assert_eq!(newer.body["system"], json!([{"type": "text", "text": "Base."}, {"type": "text", "text": "First."}]));
    assert_eq!(
        newer.body["messages"],
        json!([
            {"role": "user", "content": "Go"}, call,
            {"role": "user", "content": [result]},
            {"role": "system", "content": "Hurry."},
            {"role": "system", "content": "In French."},
            {"role": "user", "content": "Now"},
        ])
    );
    assert_eq!(newer.losses, []);
    let older = wire(&request(SONNET));
    assert_eq!(
        older.body["messages"],
        json!([
            {"role": "user", "content": "Go"}, call,
            {"role": "user", "content": [
                result,
                {"type": "text", "text": "<system-reminder>\nHurry.\n</system-reminder>"},
                {"type": "text", "text": "<system-reminder>\nIn French.\n</system-reminder>"},
                {"type": "text", "text": "Now"}]},
        ])
    );
    assert_eq!(
        losses(&older),
        [
            "loss system message at messages[3]: this model takes no instructions there; they are sent as the user's text",
            "loss system message at messages[5]: this model takes no instructions there; they are sent as the user's text",
        ]
    );
}

#[test]
fn strict_is_sent_only_where_it_is_taken() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let sent = |model: &str, tool: Tool| {
        let wire = wire(&Request::new(model).user("Hi").tool(tool));
        (wire.body["tools"][0].clone(), losses(&wire))
    };
    let tool = |schema: &Value| Tool::new("f", "F.").parameters(schema.clone());
    assert_eq!(
        sent(SONNET, tool(&closed)),
        (json!({"name": "f", "description": "F.", "input_schema": closed, "strict": true}), vec![])
    );
    assert_eq!(
        sent(SONNET, tool(&open)),
        (
            json!({"name": "f", "description": "F.", "input_schema": open}),
            vec![
                "loss strict at tools[0]: the root lacks `additionalproperties: false`; the tool is sent without it"
                    .into()
            ]
        )
    );
    assert_eq!(
        sent("claude-sonnet-4-0", tool(&closed)).1,
        ["loss strict at tools[0]: the model does not know strict tools; the tool is sent without it"]
    );
    assert_eq!(sent(SONNET, tool(&open).lenient()).1, Vec::<String>::new());
}

#[test]
fn strict_tools_keep_to_the_limits_of_a_request() {
    let no_arguments = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut request = Request::new(SONNET).user("Hi");
    for index in 0..21 {
        request = request.tool(Tool::new(format!("f{index}"), "F.").parameters(no_arguments.clone()));
    }
    let wire = wire(&request);
    let strict = wire.body["tools"].as_array().unwrap().iter().filter(|tool| tool["strict"] == true).count();
    assert_eq!(
        (strict, losses(&wire)),
        (20, vec!["loss strict at tools[20]: a request can have 20 strict tools; the tool is sent without it".into()])
    );
}

#[test]
fn schemas_get_the_root_that_the_api_wants() {
    let sent = |schema: Value| {
        let wire = wire(&Request::new(SONNET).user("Hi").tool(Tool::new("f", "F.").parameters(schema).lenient()));
        (wire.body["tools"][0]["input_schema"].clone(), losses(&wire).len())
    };
    assert_eq!(sent(json!({"properties": {}})), (json!({"type": "object", "properties": {}}), 1));
    assert_eq!(sent(json!(true)), (json!({"type": "object", "properties": {}}), 1));
    assert_eq!(sent(json!({"type": "object"})), (json!({"type": "object"}), 0));
}

#[test]
fn tool_choices() {
    let sent = |choice: Option<ToolChoice>, parallel: Option<bool>| {
        let mut request = Request::new(SONNET).user("Hi").tool(Tool::new("f", "F.").lenient());
        (request.tool_choice, request.parallel_tool_calls) = (choice, parallel);
        wire(&request).body["tool_choice"].clone()
    };
    assert_eq!(sent(None, None), Value::Null);
    assert_eq!(sent(None, Some(true)), Value::Null);
    assert_eq!(sent(None, Some(false)), json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert_eq!(sent(Some(ToolChoice::Auto), None), json!({"type": "auto"}));
    assert_eq!(sent(Some(ToolChoice::None), Some(false)), json!({"type": "none"}));
    assert_eq!(
        sent(Some(ToolChoice::Required), Some(false)),
        json!({"type": "any", "disable_parallel_tool_use": true})
    );
    assert_eq!(sent(Some(ToolChoice::Specific("f".into())), None), json!({"type": "tool", "name": "f"}));
    let alone = wire(&Request::new(SONNET).user("Hi").tool_choice(ToolChoice::Required));
    assert_eq!(
        (alone.body.get("tool_choice"), losses(&alone)),
        (None, vec!["loss tool_choice at tool_choice: there are no tools; it is left out".into()])
    );
}

#[test]
fn four_cache_breakpoints_are_kept() {
    let cached = |text: &str| Block::text(text).cached();
    let tool = |name: &str| {
        let Tool::Function(mut function) = Tool::new(name, "F.").lenient() else { panic!() };
        function.cache = Some(CacheHint::default());
        Tool::Function(function)
    };
    let mut request = Request::new(SONNET)
        .tool(tool("a"))
        .tool(tool("b"))
        .system(vec![cached("s"), cached("t")])
        .user(vec![cached("u"), cached("v"), cached("w")]);
    let kept = |body: &Value, path: &str| body.pointer(path).is_some_and(|block| block.get("cache_control").is_some());
    let wire_of = wire(&request);
    let places = [
        "/tools/0",
        "/tools/1",
        "/system/0",
        "/system/1",
        "/messages/0/content/0",
        "/messages/0/content/1",
        "/messages/0/content/2",
    ];
    let found: Vec<bool> = places.iter().map(|place| kept(&wire_of.body, place)).collect();
    assert_eq!(found, [false, true, false, true, false, true, true]);
    assert_eq!(
        losses(&wire_of),
        ["tools[0]", "system[0]", "messages[0].content[0]"]
            .map(|place| format!("loss cache at {place}: this api takes 4 cache breakpoints; this one is left out"))
    );
    // The automatic one takes a place of its own.
    request.cache = Some(CacheOptions { key: Some("k".into()), automatic: Some(CacheHint { ttl: Some("1h".into()) }) });
    let wire = wire(&request);
    assert_eq!(wire.body["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(wire.body.to_string().matches("cache_control").count(), 4);
}

#[test]
fn long_lived_caches_come_first() {
    let block = |text: &str, ttl: Option<&str>| {
        let Block::Text(mut text) = Block::text(text) else { panic!() };
        text.cache = Some(CacheHint { ttl: ttl.map(str::to_owned) });
        Block::Text(text)
    };
    let request =
        Request::new(SONNET).user(vec![block("a", Some("1h")), block("b", Some("24h")), block("c", Some("1h"))]);
    let wire = wire(&request);
    let hints: Vec<&Value> =
        wire.body["messages"][0]["content"].as_array().unwrap().iter().map(|block| &block["cache_control"]).collect();
    let plain = json!({"type": "ephemeral"});
    assert_eq!(hints, [&json!({"type": "ephemeral", "ttl": "1h"}), &plain, &plain]);
    assert_eq!(losses(&wire).len(), 2);
}

#[test]
fn sampling_by_model() {
    let sent = |model: &str, level: Option<Level>, temperature: Option<f64>, top_p: Option<f64>, top_k: Option<i64>| {
        let mut request = Request::new(model).user("Hi").max_output_tokens(4096);
        request.thinking = level.map(Thinking::from);
        (request.temperature, request.top_p, request.top_k) = (temperature, top_p, top_k);
        let wire = wire(&request);
        let fields = ["temperature", "top_p", "top_k"].map(|key| wire.body.get(key).cloned());
        (fields, wire.losses.iter().map(|loss| format!("{:?} {}", loss.severity, loss.what)).collect::<Vec<_>>())
    };
    let (half, one) = (Some(json!(0.5)), Some(json!(1.0)));
    let lost = |what: &[&str]| what.iter().map(|what| format!("Loss {what}")).collect::<Vec<_>>();
    // Old models take all, middle ones one of two, new ones none.
    assert_eq!(
        sent("claude-3-5-haiku-latest", None, Some(0.5), Some(0.5), Some(3)),
        ([half.clone(), half.clone(), Some(json!(3))], lost(&[]))
    );
    assert_eq!(
        sent(SONNET, None, Some(0.5), Some(0.5), Some(3)),
        ([half.clone(), None, Some(json!(3))], lost(&["top_p"]))
    );
    assert_eq!(sent(SONNET, None, None, Some(0.5), None), ([None, half, None], lost(&[])));
    assert_eq!(
        sent(OPUS, None, Some(0.5), Some(0.5), Some(3)),
        ([None, None, None], lost(&["temperature", "top_p", "top_k"]))
    );
    assert_eq!(sent(OPUS, None, Some(1.0), None, None), ([None, None, None], vec!["Info temperature".into()]));
    // While the model thinks.
    assert_eq!(
        sent(SONNET, Some(Level::Low), Some(0.5), Some(0.5), Some(3)),
        ([None, None, None], lost(&["temperature", "top_p", "top_k"]))
    );
    assert_eq!(sent(SONNET, Some(Level::Low), None, Some(0.97), None), ([None, Some(json!(0.97)), None], lost(&[])));
    assert_eq!(sent(SONNET, Some(Level::Low), Some(1.0), None, None), ([one.clone(), None, None], lost(&[])));
    // Other APIs go up to 2.
    assert_eq!(sent(SONNET, None, Some(1.7), None, None), ([one, None, None], lost(&["temperature"])));
}

#[test]
fn structured_output() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]});
    let fitted = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let ask = |model: &str, format: OutputFormat| {
        let mut request = Request::new(model).user("Hi");
        request.output_format = Some(format);
        let wire = wire(&request);
        (wire.body["output_config"].clone(), wire.body["system"].clone(), losses(&wire))
    };
    assert_eq!(
        ask(SONNET, OutputFormat::JsonSchema(JsonSchemaFormat::new("answer", schema.clone()))),
        (
            json!({"format": {"type": "json_schema", "schema": fitted}}),
            Value::Null,
            vec![
                "loss output_format.schema at output_format.schema: this api does not take these keywords, and they are left out: minimum".into(),
                "info output_format.name at output_format.name: this api has no name for a schema".into(),
            ]
        )
    );
    let (config, system, lost) =
        ask("claude-3-5-haiku-latest", OutputFormat::JsonSchema(JsonSchemaFormat::new("answer", schema.clone())));
    assert_eq!(config, Value::Null);
    assert_eq!(system, format!("Answer with JSON that matches this JSON Schema, and nothing else:\n{schema}"));
    assert_eq!(
        lost,
        [
            "loss output_format at output_format: the model does not know structured output; the system prompt asks for json of this schema"
        ]
    );
    assert_eq!(
        ask(SONNET, OutputFormat::Json),
        (
            Value::Null,
            json!("Answer with one valid JSON value and nothing else."),
            vec!["loss output_format at output_format: this api has no json mode without a schema; the system prompt asks for json".into()]
        )
    );
    assert_eq!(ask(SONNET, OutputFormat::Text), (Value::Null, Value::Null, vec![]));
}

#[test]
fn what_has_no_place_here_is_a_loss() {
    let mut request = Request::new(SONNET).user("Hi").stop("END").stop(" ");
    (request.seed, request.frequency_penalty, request.presence_penalty) = (Some(1), Some(0.5), Some(0.0));
    request.metadata.insert("user_id".into(), json!("u"));
    request.metadata.insert("team".into(), json!("t"));
    request.cache = Some(CacheOptions { key: Some("k".into()), automatic: None });
    request.provider_data.set(Dialect::OpenaiChat, "extra", json!({"logit_bias": {}, "user": null}));
    request.provider_data.set(Dialect::OpenaiChat, "model", "gpt-5");
    request.tools.push(Tool::other(Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search"}) }));
    let other = Block::Other(Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search_call"}) });
    request.messages.push(Message::assistant(vec![Block::text("Yes"), other]));
    request.messages.push(Message::user(vec![
        Block::text(" "),
        Block::audio(Source::bytes(b"x", "audio/wav")),
        Block::text("?"),
    ]));
    let wire = wire(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": SONNET, "max_tokens": 21_333, "stop_sequences": ["END"], "metadata": {"user_id": "u"},
            "messages": [
                {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "?"}],
        })
    );
    assert_eq!(
        losses(&wire),
        [
            "loss other at messages[1].content[1]: a block of openai-responses has no meaning here; it is left out",
            "info text at messages[2].content[0]: this api refuses texts of nothing but blanks; it is left out",
            "loss audio at messages[2].content[1]: this api takes no sound; it is left out",
            "loss tool at tools[0]: a tool of openai-responses, which has no meaning here; it is left out",
            "loss stop at stop: this api refuses stop texts of nothing but blanks; they are left out",
            "loss metadata at metadata: this api takes a `user_id` of up to 256 characters and nothing else; left out: team",
            "info cache.key at cache.key: this api has no cache keys: it finds its caches by the content",
            "loss frequency_penalty at frequency_penalty: this api has no such parameter; it is left out",
            "info presence_penalty at presence_penalty: this api has none, which is what 0 asks for",
            "loss seed at seed: this api has no such parameter; it is left out",
            "loss provider_data at provider_data: fields of another dialect are left out: logit_bias",
        ]
    );
}

#[test]
fn media_in_the_forms_that_are_taken() {
    let sent = |block: Block| {
        let wire = wire(&Request::new(SONNET).user(vec![block, Block::text("?")]));
        (wire.body["messages"][0]["content"][0].clone(), losses(&wire))
    };
    let base64 = |media_type: &str, data: &str| Source::Base64 { media_type: media_type.into(), data: data.into() };
    let picture = |media_type: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}});
    assert_eq!(sent(Block::image(base64("image/jpg", "a-_\nb"))), (picture("image/jpeg", "a+/b"), vec![]));
    assert_eq!(sent(Block::image_url("data:image/png;base64,iVBO")), (picture("image/png", "iVBO"), vec![]));
    let drawing = sent(Block::image(base64("image/svg+xml", "x")));
    assert_eq!(
        drawing.1,
        [
            "loss image at messages[0].content[0]: this api takes jpeg, png, gif and webp pictures, not image/svg+xml; it is left out"
        ]
    );
    let text = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}, "title": "t.csv"});
    assert_eq!(sent(Block::document(base64("text/csv", "YSxi"), "t.csv")), (text.clone(), vec![]));
    assert_eq!(
        sent(Block::file(b"a,b", "t.csv")),
        (text, vec!["info media_type at messages[0].content[0]: this api takes texts as text/plain".into()])
    );
    assert_eq!(
        sent(Block::document(Source::File { id: "file_1".into(), media_type: None }, "r.pdf")).0,
        json!({"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "r.pdf"})
    );
    let zip = sent(Block::document(base64("application/zip", "UEsDBP8="), "z.zip"));
    assert_eq!(
        zip.1,
        [
            "loss document at messages[0].content[0]: this api takes documents as pdf or text, not application/zip; it is left out"
        ]
    );
}

#[test]
fn pictures_from_the_assistant_are_left_out() {
    let request =
        Request::new(SONNET).user("Draw").assistant(vec![Block::text("Here"), Block::image_url("u")]).user("?");
    let wire = wire(&request);
    assert_eq!(wire.body["messages"][1]["content"], "Here");
    assert_eq!(
        losses(&wire),
        ["loss image at messages[1].content[1]: on this api only the user and tools send image blocks; it is left out"]
    );
}

#[test]
fn a_call_that_was_cut_off_is_sent_empty_and_told() {
    let mut cut = ToolCall { id: "t".into(), name: "f".into(), ..ToolCall::default() };
    cut.set_arguments_text("{\"a\": \"b".into());
    let wire = wire(&Request::new(SONNET).user("Go").assistant(Block::ToolCall(cut)).tool_result("t", "x"));
    assert_eq!(wire.body["messages"][1]["content"][0]["input"], json!({}));
    assert_eq!(
        losses(&wire),
        ["loss arguments at messages[1].content[0]: the call was cut off; it is sent with no arguments"]
    );
}

#[test]
fn what_another_provider_of_this_dialect_issued_stays_behind() {
    let mut cited = Block::text("Yes");
    cited.provider_data_mut().unwrap().set(Dialect::Anthropic, "citations", json!([{"encrypted_index": "E"}]));
    let data = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let content = vec![Block::Other(Other { dialect: Dialect::Anthropic, data }), cited];
    let request = Request::new(SONNET).user("Hi").message(from("elsewhere", SONNET, content)).user("?");
    let wire = wire(&request);
    assert_eq!(wire.body["messages"][1]["content"], "Yes");
    assert_eq!(
        losses(&wire),
        [
            "loss other at messages[1].content[0]: a block of another provider stays behind",
            "loss provider_data at messages[1].content[1]: what another provider left here stays behind",
        ]
    );
}

#[test]
fn the_clouds_have_the_model_in_the_path() {
    let mut request = Request::new("claude-sonnet-4-5@20250929").user("Hi").max_output_tokens(9);
    request.stream = Some(true);
    request.provider_data.set(Dialect::Anthropic, "betas", json!(["a", "b"]));
    let at = |version: &'static str| {
        let quirks = Quirks { anthropic_version: Some(version.into()), ..Quirks::default() };
        let wire = encode_request(&request, &home(&quirks, rules_for(SONNET))).unwrap();
        (wire.path, wire.headers, wire.body)
    };
    let betas = vec![("anthropic-beta".to_owned(), "a,b".to_owned())];
    let messages = json!([{"role": "user", "content": "Hi"}]);
    assert_eq!(
        at("vertex-2023-10-16"),
        (
            "/claude-sonnet-4-5@20250929:streamRawPredict".into(),
            betas.clone(),
            json!({"max_tokens": 9, "messages": messages, "anthropic_version": "vertex-2023-10-16"})
        )
    );
    assert_eq!(
        at("bedrock-2023-05-31"),
        (
            "/model/claude-sonnet-4-5@20250929/invoke-with-response-stream".into(),
            vec![],
            json!({"max_tokens": 9, "messages": messages, "anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["a", "b"]})
        )
    );
    let home = wire(&request);
    assert_eq!(home.headers, [vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())], betas].concat());
    assert_eq!(home.body["stream"], true);
}

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{home, losses, wire, wire_to};
use crate::catalog::rules_for;
use crate::provider::Quirks;
use crate::{
    Block, CacheHint, CacheOptions, Dialect, JsonSchemaFormat, Level, Message, Other, OutputFormat, Part, Request,
    Source, Thinking, Tool, ToolCall, ToolChoice,
};

const SONNET: &str = "claude-sonnet-4-5";
const OPUS: &str = "claude-opus-4-8";

fn from(provider: &str, model: &str, content: Vec<Block>) -> Message {
    let mut message = Message::assistant(content);
    (message.provider, message.model) = (Some(provider.into()), Some(model.into()));
    message
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
    // A schema that says nothing about other properties is closed, which keeps its meaning.
    let mut sealed = open.clone();
    sealed["additionalProperties"] = false.into();
    assert_eq!(
        sent(SONNET, tool(&open)),
        (json!({"name": "f", "description": "F.", "input_schema": sealed, "strict": true}), vec![])
    );
    // One that accepts other properties stays open.
    let mut wide = open.clone();
    wide["additionalProperties"] = true.into();
    let (sent_wide, lost) = sent(SONNET, tool(&wide));
    assert_eq!(sent_wide, json!({"name": "f", "description": "F.", "input_schema": wide}));
    assert!(lost.len() == 1 && lost[0].starts_with("loss strict at tools[0].strict"), "{lost:?}");
    assert_eq!(
        sent("claude-sonnet-4-0", tool(&closed)).1,
        ["info strict at tools[0].strict: this model does not support strict tools; left out"]
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
        (
            20,
            vec![
                "loss strict at tools[20].strict: a request can have 20 strict tools; the tool is sent without strict"
                    .into()
            ]
        )
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
        (None, vec!["loss tool_choice at tool_choice: there are no tools to choose from; left out".into()])
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
            .map(|place| format!("loss cache at {place}: a request has at most 4 cache marks; left out"))
    );
    // The automatic mark counts as one of them.
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
    // Old models accept all, middle ones one of two, new ones none.
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
    assert_eq!(
        sent(SONNET, Some(Level::Low), Some(1.0), None, None),
        ([None, None, None], vec!["Info temperature".into()])
    );
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
                "loss output_format at output_format.json_schema.schema: these keywords are refused here and are left out: minimum".into(),
                "info name at output_format.json_schema.name: schemas have no names here".into(),
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
            "loss output_format at output_format: this model does not support schemas for answers; the system prompt asks for json of this schema"
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
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "logit_bias", json!({"1": 2}));
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "user", Value::Null);
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Shape, "model", "gpt-5");
    request
        .tools
        .push(Tool::other(Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search"}).into() }));
    let other =
        Block::Other(Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search_call"}).into() });
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
            "loss other at messages[1].content[1]: a block that only openai-responses has; left out",
            "loss tools at tools[0]: a tool that only openai-responses has; left out",
            "loss frequency_penalty at frequency_penalty: this api has no such parameter; left out",
            "info presence_penalty at presence_penalty: this api has no such parameter; left out",
            "loss stop at stop: blank stop sequences are refused here; left out",
            "loss seed at seed: this api has no such parameter; left out",
            "info cache at cache.key: this api has no cache keys: it finds cached prompts by their content",
            "loss provider_data at provider_data: only openai-chat knows logit_bias; left out",
            "info text at messages[2].content[0]: blank text is refused; left out",
            "loss audio at messages[2].content[1]: this api accepts no audio; left out",
            "loss metadata at metadata: this api accepts a `user_id` of up to 256 characters and nothing else; left out: team",
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
            "loss image at messages[0].content[0]: this api accepts jpeg, png, gif and webp pictures, not image/svg+xml; left out"
        ]
    );
    let text = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}, "title": "t.csv"});
    assert_eq!(sent(Block::document(base64("text/csv", "YSxi"), "t.csv")), (text.clone(), vec![]));
    assert_eq!(
        sent(Block::file(b"a,b", "t.csv")),
        (text, vec!["info media_type at messages[0].content[0]: this api accepts texts as text/plain".into()])
    );
    assert_eq!(
        sent(Block::document(Source::File { id: "file_1".into(), media_type: None }, "r.pdf")).0,
        json!({"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "r.pdf"})
    );
    let address = Source::Url { url: "https://example.org/r".into(), media_type: Some("application/pdf".into()) };
    assert_eq!(
        sent(Block::document(address, "r")).1,
        ["info media_type at messages[0].content[0]: this api finds out the media type itself"]
    );
    let zip = sent(Block::document(base64("application/zip", "UEsDBP8="), "z.zip"));
    assert_eq!(
        zip.1,
        [
            "loss document at messages[0].content[0]: this api accepts documents as pdf or text, not application/zip; left out"
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
        ["loss image at messages[1].content[1]: only users and tools can send image blocks here; left out"]
    );
}

#[test]
fn a_call_that_was_cut_off_is_sent_empty_and_told() {
    let mut cut = ToolCall { id: "t".into(), name: "f".into(), ..ToolCall::default() };
    cut.arguments = crate::Arguments::from_text("{\"a\": \"b");
    let wire = wire(&Request::new(SONNET).user("Go").assistant(Block::ToolCall(cut)).tool_result("t", "x"));
    assert_eq!(wire.body["messages"][1]["content"][0]["input"], json!({}));
    assert_eq!(
        losses(&wire),
        ["loss arguments at messages[1].content[0]: the call was cut off; it is sent without arguments"]
    );
}

#[test]
fn what_another_provider_of_this_dialect_issued_stays_behind() {
    let mut cited = Block::text("Yes");
    cited.provider_data_mut().unwrap().set_part(
        Dialect::Anthropic,
        Part::Extra,
        "citations",
        json!([{"encrypted_index": "E"}]),
    );
    let data = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let content = vec![Block::Other(Other { dialect: Dialect::Anthropic, data: data.into() }), cited];
    let request = Request::new(SONNET).user("Hi").message(from("elsewhere", SONNET, content)).user("?");
    let wire = wire(&request);
    assert_eq!(wire.body["messages"][1]["content"], "Yes");
    assert_eq!(
        losses(&wire),
        [
            "loss other at messages[1].content[0]: a block that another provider made; left out",
            "loss provider_data at messages[1].content[1]: what another provider left here is not sent: citations",
        ]
    );
}

#[test]
fn the_clouds_have_the_model_in_the_path() {
    let mut request = Request::new("claude-sonnet-4-5@20250929").user("Hi").max_output_tokens(9);
    request.stream = Some(true);
    request.provider_data.set_part(Dialect::Anthropic, Part::Extra, "betas", json!(["a", "b"]));
    let at = |version: &'static str| {
        let quirks = Quirks {
            anthropic: crate::provider::AnthropicQuirks { version: Some(version.into()), ..Default::default() },
            ..Quirks::default()
        };
        let wire = wire_to(&request, &home(&quirks, rules_for(SONNET))).unwrap();
        (wire.path, wire.headers, wire.body)
    };
    let betas = vec![("anthropic-beta".to_owned(), "a,b".to_owned())];
    let messages = json!([{"role": "user", "content": "Hi"}]);
    assert_eq!(
        at("vertex-2023-10-16"),
        (
            "/models/claude-sonnet-4-5@20250929:streamRawPredict".into(),
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

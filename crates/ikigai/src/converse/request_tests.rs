//! Requests as they are made, not as they were recorded: what goes where, and what is told.

use ikigai_core::provider::Registry;
use ikigai_core::wire::WireRequest;
use ikigai_core::{
    Block, CacheHint, CacheOptions, Dialect, Document, Function, Image, JsonSchemaFormat, Level, Message, ModelName,
    OutputFormat, ProviderData, Request, Role, Source, Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice,
    ToolResult, user,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::Converse;

const NOVA: &str = "bedrock:us.amazon.nova-lite-v1:0";
const CLAUDE: &str = "bedrock-converse:us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const LLAMA: &str = "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0";

fn encode(model: &str, mut request: Request) -> WireRequest {
    let registry = Registry::shared();
    let name: ModelName = registry.parse(model).unwrap();
    let route = registry.route(&name).unwrap();
    request.model = name.id;
    Converse::on(&route).unwrap().encode_request(&request, &route).unwrap()
}

/// The body, when nothing is told.
fn body(model: &str, request: Request) -> Value {
    let wire = encode(model, request);
    assert_eq!(wire.losses, []);
    read(&wire)
}

/// The body as JSON.
fn read(wire: &WireRequest) -> Value {
    serde_json::from_slice(&wire.body).unwrap()
}

fn told(wire: &WireRequest) -> Vec<String> {
    wire.losses.iter().map(ToString::to_string).collect()
}

fn asks(content: Vec<Block>) -> Request {
    Request { messages: vec![Message { role: Role::User, ..user("") }.with(content)], ..Request::default() }
}

trait With {
    fn with(self, content: Vec<Block>) -> Self;
}

impl With for Message {
    fn with(mut self, content: Vec<Block>) -> Self {
        self.content = content;
        self
    }
}

fn text(text: &str) -> Block {
    Block::Text(Text { text: text.to_owned(), ..Text::default() })
}

fn cached(words: &str) -> Block {
    Block::Text(Text { text: words.to_owned(), cache: Some(CacheHint::default()), ..Text::default() })
}

fn image(source: Source) -> Block {
    Block::Image(Image { source, cache: None, provider_data: ProviderData::default() })
}

fn document(media_type: &str, name: Option<&str>) -> Block {
    let source = Source::Base64 { media_type: media_type.to_owned(), data: "UEsDBA==".to_owned() };
    Block::Document(Document {
        source,
        name: name.map(str::to_owned),
        cache: None,
        provider_data: ProviderData::default(),
    })
}

fn tool(name: &str, parameters: Value, strict: bool) -> Tool {
    Tool::Function(Function {
        name: name.to_owned(),
        description: None,
        parameters: parameters.into(),
        strict,
        cache: None,
        provider_data: ProviderData::default(),
    })
}

fn look() -> Tool {
    tool("look", json!({"type": "object", "properties": {}}), false)
}

/// A call and its result.
fn history() -> Vec<Message> {
    let call = ToolCall { id: "call_1".to_owned(), name: "look".to_owned(), ..ToolCall::default() };
    let png = Source::Base64 { media_type: "image/png".to_owned(), data: "iVBO".to_owned() };
    let result = ToolResult {
        tool_call_id: "call_1".to_owned(),
        content: vec![text("A cat."), image(png)],
        is_error: true,
        ..ToolResult::default()
    };
    vec![
        user("Look."),
        Message { role: Role::Assistant, ..user("") }.with(vec![Block::ToolCall(call)]),
        Message { role: Role::Tool, ..user("") }.with(vec![Block::ToolResult(result)]),
    ]
}

#[test]
fn parameters_have_their_places() {
    let mut request = asks(vec![text("Hi")]);
    request.system = vec![text("Be brief.")];
    (request.max_output_tokens, request.temperature) = (Some(100), Some(0.5));
    request.stop = vec!["END".to_owned()];
    request.top_k = Some(5);
    let wire = encode(NOVA, request.clone());
    assert_eq!(wire.path, "/model/us.amazon.nova-lite-v1%3A0/converse");
    assert_eq!(wire.losses, []);
    let common = json!({
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 100, "temperature": 0.5, "stopSequences": ["END"]},
    });
    let with = |additional: Value| {
        let mut body = common.clone();
        body["additionalModelRequestFields"] = additional;
        body
    };
    assert_eq!(read(&wire), with(json!({"inferenceConfig": {"topK": 5}})));
    assert_eq!(body(CLAUDE, request.clone()), with(json!({"top_k": 5})));
    request.stream = Some(true);
    let wire = encode(LLAMA, request);
    assert_eq!(wire.path, "/model/us.meta.llama4-maverick-17b-instruct-v1%3A0/converse-stream");
    assert_eq!(read(&wire), common);
    assert_eq!(told(&wire), ["top_k at top_k: Converse has no such parameter for this model; it is left out"]);
}

#[test]
fn a_limit_that_nobody_asked_for_is_not_sent() {
    for model in [NOVA, CLAUDE, LLAMA] {
        let plain = json!({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]});
        assert_eq!(body(model, asks(vec![text("Hi")])), plain, "{model}");
    }
}

#[test]
fn each_maker_has_its_own_word_for_thinking() {
    let thinks = |model: &str, level: Level| {
        let mut request = asks(vec![text("Hi")]);
        request.thinking = Some(Thinking::from(level));
        request.max_output_tokens = Some(3000);
        let wire = encode(model, request);
        let told = told(&wire).join("; ");
        (read(&wire)["inferenceConfig"].clone(), read(&wire)["additionalModelRequestFields"].clone(), told)
    };
    let limit = json!({"maxTokens": 3000});
    let (inference, additional, told) = thinks(CLAUDE, Level::Low);
    let budget = additional["thinking"]["budget_tokens"].as_i64().unwrap();
    assert_eq!(inference, json!({"maxTokens": 3000 + budget}));
    assert_eq!((additional["thinking"]["type"].as_str(), told.as_str()), (Some("enabled"), ""));
    assert_eq!(
        thinks("bedrock-converse:us.anthropic.claude-sonnet-4-6", Level::Low).1["output_config"],
        json!({"effort": "low"})
    );
    let nova = "bedrock:us.amazon.nova-2-lite-v1:0";
    let effort = |word: &str| json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": word}});
    assert_eq!(thinks(nova, Level::Low), (limit.clone(), effort("low"), String::new()));
    let (inference, additional, told) = thinks(nova, Level::High);
    assert_eq!((inference, additional), (Value::Null, effort("high")));
    assert!(told.contains("this model refuses it beside the highest effort"), "{told}");
    assert_eq!(thinks(nova, Level::None), (limit.clone(), Value::Null, String::new()));
    let oss = "bedrock-converse:openai.gpt-oss-120b-1:0";
    assert_eq!(thinks(oss, Level::Med).1, json!({"reasoning_effort": "medium"}));
    let qwen = "bedrock:qwen.qwen3-32b-v1:0";
    let (inference, additional, _) = thinks(qwen, Level::High);
    assert_eq!((inference, additional), (limit.clone(), json!({"reasoning_config": "high"})));
    assert_eq!(thinks(qwen, Level::None).1, Value::Null);
    let (inference, additional, told) = thinks("bedrock:zai.glm-4.7-flash", Level::High);
    assert_eq!((inference, additional), (limit, Value::Null));
    assert!(told.contains("how Converse asks this model to think is not known"), "{told}");
}

#[test]
fn calls_need_their_tools() {
    let mut request = Request { messages: history(), ..Request::default() };
    request.tools = vec![look()];
    request.tool_choice = Some(ToolChoice::Specific("look".to_owned()));
    let messages = json!([
        {"role": "user", "content": [{"text": "Look."}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "call_1", "name": "look", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {
            "toolUseId": "call_1",
            "content": [{"text": "A cat."}, {"image": {"format": "png", "source": {"bytes": "iVBO"}}}],
            "status": "error",
        }}]},
    ]);
    let spec = json!({"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object", "properties": {}}}}});
    let chosen = json!({"tools": [spec], "toolChoice": {"tool": {"name": "look"}}});
    assert_eq!(body(NOVA, request.clone()), json!({"messages": messages, "toolConfig": chosen}));

    request.tool_choice = Some(ToolChoice::None);
    let wire = encode(NOVA, request.clone());
    assert_eq!(read(&wire)["toolConfig"], json!({"tools": [spec]}));
    assert!(told(&wire).join("").contains("Converse cannot forbid tools"), "{:?}", wire.losses);

    request.tools.clear();
    let wire = encode(NOVA, request.clone());
    assert_eq!(read(&wire)["toolConfig"], json!({"tools": [spec]}));
    assert_eq!(told(&wire).len(), 2, "{:?}", wire.losses);

    // Without calls, tools that must not be called need not be there.
    request.messages.truncate(1);
    request.tools = vec![look()];
    request.tool_choice = Some(ToolChoice::None);
    assert_eq!(body(NOVA, request.clone()), json!({"messages": [messages[0]]}));

    request.tool_choice = Some(ToolChoice::Required);
    request.parallel_tool_calls = Some(false);
    let wire = encode(NOVA, request.clone());
    assert_eq!(read(&wire)["toolConfig"]["toolChoice"], json!({"any": {}}));
    assert!(told(&wire).join("").contains("one call at a time"), "{:?}", wire.losses);

    // A model that is not known to be forced is left the choice.
    request.parallel_tool_calls = None;
    let wire = encode(LLAMA, request);
    assert_eq!(read(&wire)["toolConfig"], json!({"tools": [spec]}));
    assert!(told(&wire).join("").contains("auto is sent"), "{:?}", wire.losses);
}

#[test]
fn strict_tools_go_to_models_that_know_them() {
    let strict = |model: &str| {
        let mut request = asks(vec![text("Hi")]);
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        request.tools = vec![tool("look", schema, true)];
        let wire = encode(model, request);
        (read(&wire)["toolConfig"]["tools"][0]["toolSpec"]["strict"].clone(), told(&wire).len())
    };
    assert_eq!(strict(CLAUDE), (json!(true), 0));
    assert_eq!(strict(NOVA), (Value::Null, 1));
    assert_eq!(strict(LLAMA), (Value::Null, 1));
}

#[test]
fn pictures_from_the_web_are_a_loss_and_those_from_the_store_are_not() {
    let at = |url: &str| image(Source::Url { url: url.to_owned(), media_type: None });
    let wire = encode(NOVA, asks(vec![text("What is it?"), at("https://example.org/cat.png"), at("s3://b/cat.jpg")]));
    let stored = json!({"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://b/cat.jpg"}}}});
    assert_eq!(read(&wire)["messages"][0]["content"], json!([{"text": "What is it?"}, stored]));
    assert_eq!(
        told(&wire),
        ["image at messages[0].content[1]: Converse fetches nothing from the web; attach the file itself, or give an \
          s3:// address; it is left out"]
    );
}

#[test]
fn documents_keep_their_kind_and_get_names() {
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let papers = vec![
        document(word, Some("Q3 report_final.docx")),
        document("text/csv", None),
        document("application/pdf", Some("q3 Report final docx")),
    ];
    let wire = encode(NOVA, asks(papers));
    let paper = |name: &str, format: &str| json!({"document": {"name": name, "format": format, "source": {"bytes": "UEsDBA=="}}});
    assert_eq!(
        read(&wire)["messages"][0]["content"],
        json!([
            {"text": "See the attached document."},
            paper("Q3 report final docx", "docx"),
            paper("Document 2", "csv"),
            paper("q3 Report final docx (2)", "pdf"),
        ])
    );
    assert!(wire.losses.iter().all(|loss| loss.severity == ikigai_core::Severity::Info), "{:?}", wire.losses);
    assert_eq!(wire.losses.len(), 3, "{:?}", wire.losses);
}

#[test]
fn caching_is_a_block_where_the_model_knows_it() {
    let request = || {
        let mut request = asks(vec![cached("Long."), text("Short.")]);
        request.system = vec![cached("Be brief.")];
        request.cache = Some(CacheOptions { automatic: Some(CacheHint::default()), ..CacheOptions::default() });
        request
    };
    let point = json!({"cachePoint": {"type": "default"}});
    for model in [NOVA, CLAUDE] {
        let wanted = json!({
            "messages": [{"role": "user", "content": [{"text": "Long."}, point, {"text": "Short."}, point]}],
            "system": [{"text": "Be brief."}, point],
        });
        assert_eq!(body(model, request()), wanted);
    }
    let wire = encode(LLAMA, request());
    assert_eq!(read(&wire)["messages"][0]["content"], json!([{"text": "Long."}, {"text": "Short."}]));
    assert_eq!(told(&wire).len(), 3, "{:?}", wire.losses);
}

#[test]
fn thinking_goes_back_sealed_as_it_came() {
    let mut thought = ThinkingBlock { text: "Hm.".to_owned(), ..ThinkingBlock::default() };
    thought.provider_data.set(Dialect::Anthropic, "signature", "c2ln");
    let mut hidden = ThinkingBlock::default();
    hidden.provider_data.set(Dialect::Anthropic, "redacted_data", "sealed");
    let mut said = Message { role: Role::Assistant, ..user("") }.with(vec![
        Block::Thinking(thought),
        Block::Thinking(hidden),
        text("Yes."),
    ]);
    said.provider = Some("bedrock-converse".to_owned());
    let request = Request { messages: vec![user("Is it?"), said, user("Sure?")], ..Request::default() };
    assert_eq!(
        body(CLAUDE, request.clone())["messages"][1]["content"],
        json!([
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
            {"text": "Yes."},
        ])
    );
    // Nor does another model of the same provider get what nobody signed.
    let mut unsigned = request.clone();
    let mut thought = ThinkingBlock { text: "Hm.".to_owned(), ..ThinkingBlock::default() };
    thought.provider_data.set(Dialect::Anthropic, "unsigned", true);
    unsigned.messages[1].content = vec![Block::Thinking(thought), text("Yes.")];
    unsigned.messages[1].provider = Some("bedrock".to_owned());
    unsigned.messages[1].model = Some("us.deepseek.r1-v1:0".to_owned());
    let wire = encode(NOVA, unsigned.clone());
    assert_eq!(read(&wire)["messages"][1]["content"], json!([{"text": "Yes."}]));
    assert!(!wire.losses.is_empty());
    let thought = json!({"reasoningContent": {"reasoningText": {"text": "Hm."}}});
    let back = body("bedrock:us.deepseek.r1-v1:0", unsigned);
    assert_eq!(back["messages"][1]["content"], json!([thought, {"text": "Yes."}]));
    // Another provider cannot read it.
    let wire = encode(LLAMA, request);
    assert_eq!(read(&wire)["messages"][1]["content"], json!([{"text": "Yes."}]));
    assert!(!wire.losses.is_empty());
}

#[test]
fn a_schema_goes_with_its_name() {
    let mut request = asks(vec![text("Hi")]);
    let schema = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let mut format = JsonSchemaFormat::new("City", schema.clone());
    format.description = Some("A city.".to_owned());
    request.output_format = Some(OutputFormat::JsonSchema(format));
    let definition = json!({"name": "City", "description": "A city.", "schema": schema.to_string()});
    let wanted = json!({"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}});
    assert_eq!(body(CLAUDE, request)["outputConfig"], wanted);
}

#[test]
fn fields_of_converse_itself_go_through() {
    let mut request = asks(vec![text("Hi")]);
    let guard = json!({"guardrailIdentifier": "g", "guardrailVersion": "1"});
    let extra = json!({"guardrailConfig": guard, "additionalModelRequestFields": {"x": 1}, "container": "c"});
    request.provider_data.set(Dialect::Anthropic, "extra", extra);
    let wire = encode(LLAMA, request);
    assert_eq!(read(&wire)["guardrailConfig"], guard);
    assert_eq!(read(&wire)["additionalModelRequestFields"], json!({"x": 1}));
    assert_eq!(told(&wire), ["container at container: Converse has no such field for this model; it is left out"]);
}

#[test]
fn the_sides_come_in_turn_and_long_ids_are_cut_alike() {
    let long = "x".repeat(100);
    let mut messages = history();
    messages.insert(1, user("Now."));
    for message in &mut messages {
        for block in &mut message.content {
            match block {
                Block::ToolCall(call) => call.id.clone_from(&long),
                Block::ToolResult(result) => result.tool_call_id.clone_from(&long),
                _ => {}
            }
        }
    }
    let wire = encode(NOVA, Request { messages, tools: vec![look()], ..Request::default() });
    let messages = &read(&wire)["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 3);
    assert_eq!(messages[0]["content"], json!([{"text": "Look."}, {"text": "Now."}]));
    let id = messages[1]["content"][0]["toolUse"]["toolUseId"].as_str().unwrap();
    assert!(id.len() <= 64);
    assert_eq!(messages[2]["content"][0]["toolResult"]["toolUseId"], id);
}

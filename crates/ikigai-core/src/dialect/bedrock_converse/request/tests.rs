//! What goes where, and what is reported.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{CLAUDE, LLAMA, NOVA, body, encode, of, read, told};
use crate::{
    Block, CacheHint, CacheOptions, Dialect, Document, Function, Image, JsonSchemaFormat, Level, LossCode, Message,
    Other, OutputFormat, Part, ProviderData, Request, Role, Severity, Source, Text, Thinking, ThinkingBlock, Tool,
    ToolCall, ToolChoice, ToolResult, user,
};

const CONVERSE: Dialect = Dialect::BedrockConverse;

fn asks(content: Vec<Block>) -> Request {
    of(vec![Message::new(Role::User, content)])
}

fn says(content: Vec<Block>) -> Message {
    Message::new(Role::Assistant, content)
}

fn text(text: &str) -> Block {
    Block::text(text)
}

fn cached(words: &str) -> Block {
    Block::Text(Text { text: words.to_owned(), cache: Some(CacheHint::default()), ..Text::default() })
}

fn image(source: Source) -> Block {
    Block::Image(Image { source, cache: None, provider_data: ProviderData::default() })
}

fn at(url: &str) -> Source {
    Source::Url { url: url.to_owned(), media_type: None }
}

fn base64(media_type: &str, data: &str) -> Source {
    Source::Base64 { media_type: media_type.to_owned(), data: data.to_owned() }
}

fn document(source: Source, name: Option<&str>) -> Document {
    Document { source, name: name.map(str::to_owned), cache: None, provider_data: ProviderData::default() }
}

fn paper(media_type: &str, name: Option<&str>) -> Block {
    Block::Document(document(base64(media_type, "UEsDBA=="), name))
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

/// Returns a call and its result.
fn history() -> Vec<Message> {
    let call = ToolCall { id: "call_1".to_owned(), name: "look".to_owned(), ..ToolCall::default() };
    let result = ToolResult {
        tool_call_id: "call_1".to_owned(),
        content: vec![text("A cat."), image(base64("image/png", "iVBO"))],
        is_error: true,
        ..ToolResult::default()
    };
    vec![user("Look."), says(vec![Block::ToolCall(call)]), Message::new(Role::Tool, vec![Block::ToolResult(result)])]
}

fn other(data: Value) -> Other {
    Other { dialect: CONVERSE, data: data.into() }
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
    assert_eq!(told(&wire), ["top_k at top_k: this model does not accept it; left out"]);
    assert_eq!(wire.losses[0].code, LossCode::RefusedByModel);
}

#[test]
fn what_converse_has_no_name_for_is_a_loss() {
    let mut request = asks(vec![text("Hi")]);
    (request.seed, request.frequency_penalty) = (Some(7), Some(0.5));
    request.metadata.insert("user_id".to_owned(), "u".into());
    let wire = encode(NOVA, request);
    let lost: Vec<_> = wire.losses.iter().map(|loss| (loss.what.as_str(), loss.code)).collect();
    let code = LossCode::NotInDialect;
    assert_eq!(lost, [("frequency_penalty", code), ("seed", code), ("metadata", code)]);
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
    assert!(told.contains("no parameter for thinking"), "{told}");
}

#[test]
fn a_budget_stays_below_a_limit_and_asks_for_none() {
    let mut request = asks(vec![text("Hi")]);
    request.thinking = Some(Thinking::budget(2000));
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    let sent = body(CLAUDE, request.clone());
    assert_eq!((&sent["inferenceConfig"], &sent["additionalModelRequestFields"]), (&Value::Null, &thinking));
    request.max_output_tokens = Some(1000);
    assert_eq!(read(&encode(CLAUDE, request))["inferenceConfig"], json!({"maxTokens": 3000}));
}

#[test]
fn a_blank_text_is_sent_where_it_holds_a_cache_point() {
    let blank = |cache: Option<CacheHint>| Block::Text(Text { text: "\n".to_owned(), cache, ..Text::default() });
    let paper = || paper("application/pdf", None);
    let sent = body(CLAUDE, asks(vec![text("See."), paper(), blank(Some(CacheHint::default()))]));
    assert_eq!(sent["messages"][0]["content"][2], json!({"text": "\n"}));
    assert_eq!(sent["messages"][0]["content"][3], json!({"cachePoint": {"type": "default"}}));
    let wire = encode(CLAUDE, asks(vec![text("See."), paper(), blank(None)]));
    assert_eq!((read(&wire)["messages"][0]["content"].as_array().unwrap().len(), told(&wire).len()), (2, 1));
}

#[test]
fn calls_need_their_tools() {
    let mut request = of(history());
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
    assert!(told(&wire).join("").contains("tools cannot be forbidden here"), "{:?}", wire.losses);

    request.tools.clear();
    let wire = encode(NOVA, request.clone());
    assert_eq!(read(&wire)["toolConfig"], json!({"tools": [spec]}));
    assert_eq!(told(&wire).len(), 2, "{:?}", wire.losses);

    // Without calls in the conversation, tools that must not be called need not be declared.
    request.messages.truncate(1);
    request.tools = vec![look()];
    request.tool_choice = Some(ToolChoice::None);
    assert_eq!(body(NOVA, request.clone()), json!({"messages": [messages[0]]}));

    request.tool_choice = Some(ToolChoice::Required);
    request.parallel_tool_calls = Some(false);
    let wire = encode(NOVA, request.clone());
    assert_eq!(read(&wire)["toolConfig"]["toolChoice"], json!({"any": {}}));
    assert!(told(&wire).join("").contains("one call at a time cannot be requested"), "{:?}", wire.losses);

    // A model not known to accept a forced tool keeps the choice.
    request.parallel_tool_calls = None;
    let wire = encode(LLAMA, request.clone());
    assert_eq!(read(&wire)["toolConfig"], json!({"tools": [spec]}));
    assert!(told(&wire).join("").contains("auto is sent"), "{:?}", wire.losses);
    request.tool_choice = Some(ToolChoice::Auto);
    assert_eq!(body(NOVA, request.clone())["toolConfig"]["toolChoice"], json!({"auto": {}}));
    assert_eq!(body(LLAMA, request)["toolConfig"], json!({"tools": [spec]}));
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
    let web = "https://example.org/cat.png";
    let wire = encode(
        NOVA,
        asks(vec![
            text("What is it?"),
            image(at(web)),
            image(at("s3://b/cat.jpg")),
            image(at("data:image/png;base64,iV-BO_\n")),
        ]),
    );
    assert_eq!(
        read(&wire)["messages"][0]["content"],
        json!([
            {"text": "What is it?"},
            {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://b/cat.jpg"}}}},
            {"image": {"format": "png", "source": {"bytes": "iV+BO/"}}},
        ])
    );
    assert_eq!(
        told(&wire),
        ["image at messages[0].content[1]: this API fetches nothing from the web; attach the file itself, or give an \
          s3:// address; left out"]
    );
    assert_eq!(wire.losses[0].code, LossCode::Media);
    for odd in [base64("image/tiff", "SUkq"), at("s3://b/cat"), Source::File { id: "f".into(), media_type: None }] {
        let wire = encode(NOVA, asks(vec![text("What is it?"), image(odd)]));
        assert_eq!((read(&wire)["messages"][0]["content"].as_array().unwrap().len(), told(&wire).len()), (1, 1));
    }
}

#[test]
fn documents_keep_their_kind_and_get_names() {
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let papers = vec![
        paper(word, Some("Q3 report_final.docx")),
        paper("text/csv", None),
        paper("application/pdf", Some("q3 Report final docx")),
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
    assert!(wire.losses.iter().all(|loss| loss.severity == Severity::Info), "{:?}", wire.losses);
    assert_eq!(wire.losses.len(), 3, "{:?}", wire.losses);
}

#[test]
fn a_document_keeps_the_fields_that_only_converse_has() {
    let note = Source::Text { media_type: "text/markdown".to_owned(), text: "# Hi".to_owned() };
    let mut note = document(note, Some("Note"));
    note.provider_data.set_part(CONVERSE, Part::Extra, "citations", json!({"enabled": true}));
    let body = body(CLAUDE, asks(vec![text("See."), Block::Document(note)]));
    let source = json!({"bytes": "IyBIaQ=="});
    let wanted = json!({"name": "Note", "format": "md", "source": source, "citations": {"enabled": true}});
    assert_eq!(body["messages"][0]["content"][1]["document"], wanted);
}

#[test]
fn many_documents_of_one_name_are_named_in_no_time() {
    let papers = (0..20_000).map(|_| paper("application/pdf", Some("Report"))).collect();
    let body = read(&encode(NOVA, asks(papers)));
    let content = body["messages"][0]["content"].as_array().unwrap();
    assert_eq!(content[20_000]["document"]["name"], "Report (20000)");
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
    assert!(wire.losses.iter().all(|loss| loss.severity == Severity::Loss), "{:?}", wire.losses);
}

#[test]
fn a_cache_point_stands_before_documents_and_behind_results() {
    let mut last = document(base64("application/pdf", "UEsDBA=="), Some("Paper"));
    last.cache = Some(CacheHint { ttl: Some("1h".to_owned()) });
    let wire = encode(CLAUDE, asks(vec![text("See."), Block::Document(last)]));
    let content = &read(&wire)["messages"][0]["content"];
    assert_eq!(content[1], json!({"cachePoint": {"type": "default", "ttl": "1h"}}));
    assert_eq!((content[2].get("document").is_some(), told(&wire).len()), (true, 1));

    let mut messages = history();
    if let Block::ToolResult(result) = &mut messages[2].content[0] {
        result.content[0] = cached("A cat.");
    }
    let mut request = Request { tools: vec![look()], ..of(messages) };
    if let Tool::Function(function) = &mut request.tools[0] {
        function.cache = Some(CacheHint::default());
    }
    let point = json!({"cachePoint": {"type": "default"}});
    let sent = body(CLAUDE, request.clone());
    assert_eq!((&sent["messages"][2]["content"][1], &sent["toolConfig"]["tools"][1]), (&point, &point));
    // Nova does not cache tools.
    let wire = encode(NOVA, request);
    assert_eq!(read(&wire)["toolConfig"]["tools"].as_array().unwrap().len(), 1);
    assert_eq!((told(&wire).len(), wire.losses[0].place.as_str()), (1, "tools"));
}

#[test]
fn thinking_goes_back_sealed_as_it_came() {
    let mut thought = ThinkingBlock { text: "Hm.".to_owned(), ..ThinkingBlock::default() };
    thought.provider_data.set_part(CONVERSE, Part::State, "signature", "c2ln");
    let mut hidden = ThinkingBlock::default();
    hidden.provider_data.set_part(CONVERSE, Part::State, "redacted_data", "c2VhbGVk");
    let mut said = says(vec![Block::Thinking(thought), Block::Thinking(hidden), text("Yes.")]);
    said.provider = Some("bedrock-converse".to_owned());
    let request = of(vec![user("Is it?"), said, user("Sure?")]);
    assert_eq!(
        body(CLAUDE, request.clone())["messages"][1]["content"],
        json!([
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
            {"text": "Yes."},
        ])
    );
    // Nor does another model of the same provider get unsigned thinking.
    let mut unsigned = request.clone();
    let mut thought = ThinkingBlock { text: "Hm.".to_owned(), ..ThinkingBlock::default() };
    thought.provider_data.set_part(CONVERSE, Part::Shape, "unsigned", true);
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
    assert!(wire.losses.iter().all(|loss| loss.code == LossCode::ForeignState), "{:?}", wire.losses);
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
    let given = [("guardrailConfig", guard.clone()), ("additionalModelRequestFields", json!({"x": 1}))];
    for (name, value) in given {
        request.provider_data.set_part(CONVERSE, Part::Extra, name, value);
    }
    request.provider_data.set_part(Dialect::Anthropic, Part::Extra, "container", "c");
    let wire = encode(LLAMA, request.clone());
    assert_eq!(read(&wire)["guardrailConfig"], guard);
    assert_eq!(read(&wire)["additionalModelRequestFields"], json!({"x": 1}));
    assert_eq!(told(&wire), ["provider_data at provider_data: only anthropic knows container; left out"]);
    // The caller's fields are merged with those of the model's thinking.
    request.provider_data.remove_part(Dialect::Anthropic, Part::Extra, "container");
    let more = json!({"output_config": {"y": 2}, "anthropic_beta": ["b"]});
    request.provider_data.set_part(CONVERSE, Part::Extra, "additionalModelRequestFields", more);
    request.thinking = Some(Thinking::from(Level::Low));
    let sent = body("bedrock-converse:us.anthropic.claude-sonnet-4-6", request);
    let additional = &sent["additionalModelRequestFields"];
    assert_eq!(additional["output_config"], json!({"effort": "low", "y": 2}));
    assert_eq!(additional["anthropic_beta"], json!(["b"]));
}

#[test]
fn blocks_and_tools_of_converse_itself_go_through() {
    let video = json!({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/v.mp4"}}}});
    let mut request = asks(vec![text("See."), Block::Other(other(video.clone()))]);
    let system = json!({"systemTool": {"name": "nova_grounding"}});
    request.tools = vec![Tool::other(other(system.clone()))];
    let sent = body(NOVA, request);
    assert_eq!((&sent["messages"][0]["content"][1], &sent["toolConfig"]["tools"]), (&video, &json!([system])));
    // Pieces that nobody can put together cannot be sent.
    let pieces = other(json!({"start": {"image": {}}, "deltas": []}));
    let wire = encode(NOVA, asks(vec![text("See."), Block::Other(pieces)]));
    assert_eq!((read(&wire)["messages"][0]["content"].clone(), told(&wire).len()), (json!([{"text": "See."}]), 1));
}

#[test]
fn citations_go_with_their_text() {
    let citation = json!({"title": "Report", "location": {"documentChar": {"documentIndex": 0, "start": 1, "end": 2}}});
    let mut cited = Text { text: "Yes.".to_owned(), ..Text::default() };
    cited.provider_data.set_part(CONVERSE, Part::Extra, "citations", json!([citation]));
    let sent = body(CLAUDE, of(vec![user("Is it?"), says(vec![Block::Text(cited)]), user("Sure?")]));
    let wanted = json!([{"citationsContent": {"content": [{"text": "Yes."}], "citations": [citation]}}]);
    assert_eq!(sent["messages"][1]["content"], wanted);
}

#[test]
fn the_sides_come_in_turn_and_long_ids_are_cut_alike() {
    let long = "x".repeat(100);
    let mut messages = history();
    messages.insert(1, user("Now."));
    messages.push(user("Well?"));
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        match block {
            Block::ToolCall(call) => call.id.clone_from(&long),
            Block::ToolResult(result) => result.tool_call_id.clone_from(&long),
            _ => {}
        }
    }
    let wire = encode(NOVA, Request { tools: vec![look()], ..of(messages) });
    let messages = &read(&wire)["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 3);
    assert_eq!(messages[0]["content"], json!([{"text": "Look."}, {"text": "Now."}]));
    assert_eq!(messages[2]["content"][1], json!({"text": "Well?"}));
    let id = messages[1]["content"][0]["toolUse"]["toolUseId"].as_str().unwrap();
    assert!(id.len() <= 64);
    assert_eq!(messages[2]["content"][0]["toolResult"]["toolUseId"], id);
}

#[test]
fn arguments_keep_their_spelling_and_a_call_that_was_cut_off_has_none() {
    let sent = |arguments: &str| {
        let mut messages = history();
        if let Block::ToolCall(call) = &mut messages[1].content[0] {
            call.arguments = crate::Arguments::from_text(arguments);
        }
        let wire = encode(NOVA, Request { tools: vec![look()], ..of(messages) });
        (String::from_utf8(wire.body).unwrap(), wire.losses)
    };
    let (body, losses) = sent(r#"{"n": 1.10, "big": 123456789012345678901234567890}"#);
    assert!(body.contains(r#""input":{"n": 1.10, "big": 123456789012345678901234567890}"#), "{body}");
    assert_eq!(losses, []);
    let (body, losses) = sent(r#"{"n": "#);
    assert!(body.contains(r#""input":{}"#) && losses[0].code == LossCode::Changed, "{body} {losses:?}");
}

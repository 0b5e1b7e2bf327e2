use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{Sent, decode_request, decode_response, encode_request, told};
use crate::catalog::rules_for;
use crate::provider::Quirks;
use crate::{
    Block, CacheHint, CacheOptions, Dialect, Document, Error, JsonSchemaFormat, Level, Message, Other, OutputFormat,
    Part, ProviderData, Request, Role, Source, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice, ToolResult,
};

fn encoded_with(request: &Request, quirks: &Quirks) -> Result<Sent, Error> {
    let rules = rules_for(&request.model);
    encode_request(request, &crate::wire::Target { provider: "google", quirks, rules, facts: None })
}

fn encoded(request: &Request) -> Sent {
    encoded_with(request, &Quirks::default()).unwrap()
}

/// The body and the places of what was lost, with a mark on what is only worth knowing.
fn sent(request: &Request) -> (Value, Vec<String>) {
    let wire = encoded(request);
    (wire.body, told(wire.losses))
}

fn call(id: &str, name: &str) -> Block {
    Block::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), ..ToolCall::default() })
}

fn signed(mut block: Block, signature: &str) -> Block {
    block.provider_data_mut().unwrap().set_part(Dialect::Gemini, Part::State, "thought_signature", signature);
    block
}

fn with_our_id(mut block: Block) -> Block {
    block.provider_data_mut().unwrap().set_part(Dialect::Gemini, Part::Shape, "generated_id", true);
    block
}

const NEW: &str = "gemini-3-pro-preview";
const OLD: &str = "gemini-2.5-flash";

#[test]
fn a_request_made_by_hand() {
    let request = Request::new(OLD)
        .system("You are helpful")
        .user("Hello")
        .thinking(Level::Med)
        .tool(
            Tool::new("f", "Does it.")
                .parameters(json!({"type": "object", "properties": {"z": {"type": "string"}}}))
                .lenient(),
        )
        .tool(Tool::new("now", "Tells the time.").lenient())
        .max_output_tokens(4096);
    let wire = encoded(&request);
    assert_eq!(wire.path, "/models/gemini-2.5-flash:generateContent");
    assert_eq!(
        wire.body,
        json!({
            "systemInstruction": {"parts": [{"text": "You are helpful"}]},
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "tools": [{"functionDeclarations": [
                {"name": "f", "description": "Does it.", "parametersJsonSchema": {"type": "object", "properties": {"z": {"type": "string"}}}},
                {"name": "now", "description": "Tells the time."},
            ]}],
            "generationConfig": {"maxOutputTokens": 20_480, "thinkingConfig": {"thinkingBudget": 16_384, "includeThoughts": true}},
        }),
    );
    assert_eq!((wire.losses, wire.headers), (vec![], vec![]));
}

#[test]
fn the_newest_generation_is_told_a_level_and_no_budget() {
    let request = Request::new("gemini-3-pro").user("Hello").thinking(Level::High);
    assert_eq!(
        encoded(&request).body["generationConfig"],
        json!({"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": true}})
    );
}

#[test]
fn off_is_zero_and_zero_is_sent() {
    let request = Request::new(OLD).user("Hello").thinking(Level::None);
    assert_eq!(encoded(&request).body["generationConfig"], json!({"thinkingConfig": {"thinkingBudget": 0}}));
}

#[test]
fn streams_have_a_method_of_their_own_and_the_model_cannot_leave_its_place() {
    let mut request = Request::new("m").user("x");
    request.stream = Some(true);
    assert_eq!(encoded(&request).path, "/models/m:streamGenerateContent?alt=sse");
    request.model = "../../v1/files".to_owned();
    let error = encoded_with(&request, &Quirks::default()).unwrap_err();
    assert_eq!(error.message, "model: `../../v1/files` is not a model's name: it would leave the provider's path");
    request.model = "a?key=b#c".to_owned();
    assert_eq!(
        encoded(&request).path,
        "/models/a%3Fkey=b%23c:streamGenerateContent?alt=sse".replace("key=b", "key%3Db")
    );
}

#[test]
fn results_go_in_one_content_in_the_order_of_the_calls() {
    let request = Request::new(NEW)
        .user("Go")
        .assistant([Block::text("So:"), signed(call("a", "f"), "c2ln"), call("b", "g"), call("c", "f")])
        .message(Message::new(Role::Tool, Block::tool_result("c", "3")))
        .message(Message::new(Role::Tool, Block::tool_result("a", "1")))
        .message(Message::user([
            Block::ToolResult(ToolResult {
                tool_call_id: "b".into(),
                content: vec![Block::text("no")],
                is_error: true,
                ..ToolResult::default()
            }),
            Block::text("And now?"),
        ]));
    let response = |id: &str, name: &str, response: Value| json!({"functionResponse": {"id": id, "name": name, "response": response}});
    let (body, losses) = sent(&request);
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Go"}]},
            {"role": "model", "parts": [
                {"text": "So:"},
                {"functionCall": {"name": "f", "args": {}, "id": "a"}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "g", "args": {}, "id": "b"}},
                {"functionCall": {"name": "f", "args": {}, "id": "c"}},
            ]},
            {"role": "user", "parts": [response("a", "f", json!({"output": "1"})), response("b", "g", json!({"error": "no"})), response("c", "f", json!({"output": "3"}))]},
            {"role": "user", "parts": [{"text": "And now?"}]},
        ]),
    );
    assert_eq!(losses, Vec::<String>::new());
}

#[test]
fn the_models_messages_in_a_row_are_one_turn() {
    let request = Request::new(NEW)
        .user("Go")
        .assistant("So:")
        .assistant([Block::text("well"), Block::text("")])
        .user("")
        .user("Yes?");
    assert_eq!(
        encoded(&request).body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Go"}]},
            {"role": "model", "parts": [{"text": "So:"}, {"text": "well"}]},
            {"role": "user", "parts": [{"text": "Yes?"}]},
        ]),
    );
}

#[test]
fn ids_are_sent_where_they_are_taken_and_ours_never() {
    let conversation = |model: &str| {
        Request::new(model)
            .user("Go")
            .assistant([signed(call("given", "f"), "cw=="), with_our_id(call("made", "g"))])
            .tool_result("given", "1")
            .tool_result("made", "2")
    };
    let ids = |body: &Value| {
        let parts = ["/contents/1/parts", "/contents/2/parts"]
            .map(|place| body.pointer(place).unwrap().as_array().unwrap().clone());
        let id = |part: &Value| part.as_object().unwrap().values().next().unwrap().get("id").cloned();
        parts.concat().iter().map(id).collect::<Vec<_>>()
    };
    let given = Some(json!("given"));
    assert_eq!(ids(&encoded(&conversation(NEW)).body), [given.clone(), None, given, None]);
    assert_eq!(ids(&encoded(&conversation(OLD)).body), [None, None, None, None]);
    let quirks = Quirks {
        gemini: crate::provider::GeminiQuirks { no_call_ids: true, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(ids(&encoded_with(&conversation(NEW), &quirks).unwrap().body), [None, None, None, None]);
}

#[test]
fn a_result_to_no_call_is_refused() {
    let request = Request::new(NEW).user("Go").tool_result("nobody", "1");
    let error = encoded_with(&request, &Quirks::default()).unwrap_err();
    assert_eq!(
        error.message,
        "messages[1].content[0]: no call with the id `nobody` comes before this result, and the API wants the tool's name",
    );
}

#[test]
fn calls_without_a_signature_get_the_dummy_in_the_current_turn_alone() {
    let step = |request: Request, id: &str| {
        request
            .assistant([call(id, "f"), call(&format!("{id}2"), "g")])
            .tool_result(id, "1")
            .tool_result(format!("{id}2"), "2")
    };
    let request = step(Request::new(NEW).user("Go"), "a").assistant("Done").user("Again");
    let request = step(step(request, "b"), "c");
    let (body, losses) = sent(&request);
    let signatures: Vec<Value> = body["contents"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|content| content["parts"].as_array().unwrap().clone())
        .filter(|part| part.get("functionCall").is_some())
        .map(|part| part["thoughtSignature"].clone())
        .collect();
    let dummy = json!("skip_thought_signature_validator");
    assert_eq!(signatures, [Value::Null, Value::Null, dummy.clone(), Value::Null, dummy, Value::Null]);
    assert_eq!(losses, ["(thinking at messages[5])", "(thinking at messages[7])"]);
    // A model that does not ask for them is sent none.
    let mut request = request;
    request.model = OLD.to_owned();
    assert!(!encoded(&request).body.to_string().contains("skip_thought"));
}

#[test]
fn signatures_go_back_to_who_made_them() {
    let conversation = |provider: Option<&str>| {
        let mut message = Message::assistant([
            signed(Block::thinking("Hm"), "dGg="),
            signed(call("c", "f"), "c2ln"),
            signed(Block::text(""), "bGFzdA=="),
            Block::Other(Other {
                dialect: Dialect::Gemini,
                data: json!({"executableCode": {"code": "1"}, "thoughtSignature": "Y29kZQ=="}).into(),
            }),
        ]);
        message.provider = provider.map(str::to_owned);
        message.model = Some("gemini-3-flash-preview".to_owned());
        Request::new(NEW).user("Go").message(message).tool_result("c", "1")
    };
    let parts = json!([
        {"text": "Hm", "thought": true, "thoughtSignature": "dGg="},
        {"functionCall": {"name": "f", "args": {}, "id": "c"}, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "bGFzdA=="},
        {"executableCode": {"code": "1"}, "thoughtSignature": "Y29kZQ=="},
    ]);
    for provider in [None, Some("google")] {
        let (body, losses) = sent(&conversation(provider));
        assert_eq!((&body["contents"][1]["parts"], losses), (&parts, vec![]));
    }
    let request = conversation(Some("vertex"));
    let before = request.clone();
    let (body, losses) = sent(&request);
    assert_eq!(
        body["contents"][1]["parts"],
        json!([
            {"functionCall": {"name": "f", "args": {}, "id": "c"}, "thoughtSignature": "skip_thought_signature_validator"},
        ]),
    );
    let place = |block: usize| format!("thinking at messages[1].content[{block}]");
    let other = "other at messages[1].content[3]".to_owned();
    assert_eq!(losses, [place(0), place(1), place(2), other, "(thinking at messages[1])".to_owned()]);
    assert_eq!(request, before);
}

#[test]
fn thoughts_of_others_stay_behind() {
    let mut state = ProviderData::default();
    state.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
    let request = Request::new(NEW).user("Go").assistant([
        Block::Thinking(ThinkingBlock { text: "Hm".into(), provider_data: state }),
        Block::thinking("plain"),
        Block::Other(Other { dialect: Dialect::Anthropic, data: json!({"type": "server_tool_use"}).into() }),
        Block::text("So."),
    ]);
    let (body, losses) = sent(&request);
    assert_eq!(body["contents"][1]["parts"], json!([{"text": "So."}]));
    assert_eq!(
        losses,
        ["thinking at messages[1].content[0]", "thinking at messages[1].content[1]", "other at messages[1].content[2]",]
    );
}

#[test]
fn pictures_in_results_go_inside_or_behind() {
    let picture = || {
        Block::Image(crate::Image {
            source: Source::Base64 { media_type: "image/png".into(), data: "AAAA".into() },
            cache: None,
            provider_data: ProviderData::default(),
        })
    };
    let conversation = |model: &str| {
        Request::new(model)
            .user("Go")
            .assistant([signed(call("c", "f"), "cw==")])
            .tool_result("c", [Block::text("See:"), picture()])
            .user("Well?")
    };
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let (body, losses) = sent(&conversation(NEW));
    assert_eq!(
        body["contents"][2]["parts"],
        json!([{"functionResponse": {"id": "c", "name": "f", "response": {"output": "See:"}, "parts": [inline]}}]),
    );
    assert_eq!(losses, Vec::<String>::new());
    let (body, losses) = sent(&conversation(OLD));
    assert_eq!(
        body["contents"].as_array().unwrap()[2..],
        [
            json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "See:"}}}]}),
            json!({"role": "user", "parts": [inline]}),
            json!({"role": "user", "parts": [{"text": "Well?"}]}),
        ],
    );
    assert_eq!(losses, ["tool_result at messages[2].content[0].content[1]"]);
    // Sounds go behind everywhere.
    let sound = Block::Audio(crate::Audio {
        source: Source::Base64 { media_type: "audio/wav".into(), data: "AAAA".into() },
        cache: None,
        provider_data: ProviderData::default(),
    });
    let request = Request::new(NEW)
        .user("Go")
        .assistant([signed(call("c", "f"), "cw==")])
        .tool_result("c", [Block::text("Hear:"), sound]);
    let (body, losses) = sent(&request);
    assert_eq!(
        body["contents"].as_array().unwrap()[2..],
        [
            json!({"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"output": "Hear:"}}}]}),
            json!({"role": "user", "parts": [{"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}]}),
        ],
    );
    assert_eq!(losses, ["tool_result at messages[2].content[0].content[1]"]);
    // Results in messages of their own stay together all the same.
    let request = Request::new(OLD)
        .user("Go")
        .assistant([call("c", "f"), call("d", "g")])
        .message(Message::new(Role::Tool, Block::tool_result("c", picture())))
        .message(Message::new(Role::Tool, Block::tool_result("d", picture())));
    assert_eq!(
        encoded(&request).body["contents"].as_array().unwrap()[2..],
        [
            json!({"role": "user", "parts": [
                {"functionResponse": {"name": "f", "response": {"output": ""}}},
                {"functionResponse": {"name": "g", "response": {"output": ""}}},
            ]}),
            json!({"role": "user", "parts": [inline, inline]}),
        ],
    );
}

#[test]
fn every_choice_has_its_mode() {
    let with = |choice| {
        let request = Request::new(NEW).user("x").tool(Tool::new("f", "d").lenient()).tool_choice(choice);
        encoded(&request).body.get("toolConfig").cloned()
    };
    let config = |config: Value| Some(json!({"functionCallingConfig": config}));
    assert_eq!(with(ToolChoice::Auto), None);
    assert_eq!(with(ToolChoice::None), config(json!({"mode": "NONE"})));
    assert_eq!(with(ToolChoice::Required), config(json!({"mode": "ANY"})));
    assert_eq!(with(ToolChoice::Specific("f".into())), config(json!({"mode": "ANY", "allowedFunctionNames": ["f"]})));
    let (body, losses) = sent(&Request::new(NEW).user("x").tool_choice(ToolChoice::Required));
    assert_eq!((body.get("toolConfig"), losses), (None, vec!["tool_choice at tool_choice".to_owned()]));
}

#[test]
fn older_models_get_the_subset() {
    let tool = || {
        Tool::new("f", "d").lenient().parameters(json!({
        "type": "object", "properties": {"a": {"type": ["string", "null"], "additionalProperties": false}}, "required": ["a"], "additionalProperties": false,
    }))
    };
    let lowered = json!([{"functionDeclarations": [
        {"name": "f", "description": "d", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}, "required": ["a"]}},
    ]}]);
    let (body, losses) = sent(&Request::new("gemini-2.0-flash").user("x").tool(tool()));
    assert_eq!((&body["tools"], losses), (&lowered, vec![]));
    let quirks = Quirks {
        gemini: crate::provider::GeminiQuirks { openapi_schemas: true, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(encoded_with(&Request::new(NEW).user("x").tool(tool()), &quirks).unwrap().body["tools"], lowered);
    let format = Request::new("gemini-2.0-flash")
        .user("x")
        .json_schema("n", json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
    assert_eq!(
        sent(&format),
        (
            json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": {
                "responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}}}),
            vec!["(name at output_format.json_schema.name)".to_owned()],
        ),
    );
}

#[test]
fn forms_of_the_answer() {
    let config = |format: OutputFormat| {
        let mut request = Request::new(NEW).user("x");
        request.output_format = Some(format);
        encoded(&request).body.get("generationConfig").cloned()
    };
    assert_eq!(config(OutputFormat::Text), None);
    assert_eq!(config(OutputFormat::Json), Some(json!({"responseMimeType": "application/json"})));
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}});
    assert_eq!(
        config(OutputFormat::JsonSchema(JsonSchemaFormat::new("n", schema.clone()))),
        Some(json!({"responseMimeType": "application/json", "responseJsonSchema": schema})),
    );
    // Beside functions only from Gemini 3 on.
    let with_tool = |model: &str| {
        let request = Request::new(model)
            .user("x")
            .tool(Tool::new("f", "d").lenient())
            .json_schema("n", json!({"type": "object"}));
        let (body, losses) = sent(&request);
        (body.get("generationConfig").is_some(), losses)
    };
    assert_eq!(with_tool(NEW), (true, vec!["(name at output_format.json_schema.name)".to_owned()]));
    assert_eq!(with_tool(OLD), (false, vec!["output_format at output_format".to_owned()]));
}

#[test]
fn sampling_is_fitted_to_the_model() {
    let request = |model: &str| Request {
        temperature: Some(0.2),
        top_p: Some(0.5),
        top_k: Some(3),
        seed: Some(1 << 40),
        frequency_penalty: Some(0.5),
        stop: ["a", "b", "c", "d", "e", "f"].map(str::to_owned).into(),
        ..Request::new(model).user("x")
    };
    let (body, losses) = sent(&request(OLD));
    assert_eq!(
        body["generationConfig"],
        json!({"temperature": 0.2, "topP": 0.5, "topK": 3, "frequencyPenalty": 0.5, "stopSequences": ["a", "b", "c", "d", "e"]}),
    );
    assert_eq!(losses, ["stop at stop", "seed at seed"]);
    // Gemini 3 warns, and later ones ignore it.
    let (body, losses) = sent(&request(NEW));
    assert_eq!(
        (&body["generationConfig"]["temperature"], &losses[0]),
        (&json!(0.2), &"(temperature at temperature)".to_owned())
    );
    let (body, losses) = sent(&request("gemini-3.6-flash"));
    assert_eq!(body["generationConfig"]["temperature"], 0.2);
    assert_eq!(losses[..3], ["(temperature at temperature)", "(top_p at top_p)", "(top_k at top_k)"]);
}

#[test]
fn models_without_a_system_prompt_hear_it_from_the_user() {
    let request = Request::new("gemma-3-27b-it").system("Be brief").user("Hello");
    assert_eq!(
        sent(&request),
        (
            json!({"contents": [{"role": "user", "parts": [{"text": "Be brief"}, {"text": "Hello"}]}]}),
            vec!["system at system".to_owned()]
        ),
    );
    let request = Request::new("gemma-3-27b-it").system("Be brief").assistant("Hi");
    assert_eq!(encoded(&request).body["contents"][0], json!({"role": "user", "parts": [{"text": "Be brief"}]}));
}

#[test]
fn everything_else_is_told() {
    let mut request = Request::new(NEW)
        .system([Block::text("s"), Block::text("")])
        .user([
            Block::Document(Document {
                source: Source::Url { url: "https://example.com/a.pdf".into(), media_type: None },
                name: Some("a".into()),
                cache: None,
                provider_data: ProviderData::default(),
            }),
            Block::Image(crate::Image {
                source: Source::File { id: "file-1".into(), media_type: None },
                cache: Some(CacheHint::default()),
                provider_data: ProviderData::default(),
            }),
        ])
        .message(Message::new(Role::System, "Now in French."))
        .tool(Tool::new("f", "d"))
        .tool(Tool::other(Other { dialect: Dialect::OpenaiResponses, data: json!({"type": "web_search"}).into() }));
    request.parallel_tool_calls = Some(false);
    request.metadata.insert("user_id".to_owned(), json!("u"));
    request.cache = Some(CacheOptions::default());
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Shape, "model", "gpt");
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "logit_bias", json!({}));
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "user", crate::Json::null());
    assert_eq!(
        sent(&request),
        (
            json!({
                "systemInstruction": {"parts": [{"text": "s"}]},
                "contents": [
                    {"role": "user", "parts": [{"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.com/a.pdf"}}]},
                    {"role": "user", "parts": [{"text": "<system-reminder>\nNow in French.\n</system-reminder>"}]},
                ],
                "tools": [{"functionDeclarations": [{"name": "f", "description": "d"}]}],
            }),
            [
                "system at messages[1]",
                "(strict at tools[0].strict)",
                "tools at tools[1]",
                "parallel_tool_calls at parallel_tool_calls",
                "(cache at messages)",
                "provider_data at provider_data",
                "name at messages[0].content[0]",
                "image at messages[0].content[1]",
                "metadata at metadata",
            ]
            .map(str::to_owned)
            .to_vec(),
        ),
    );
}

#[test]
fn a_cut_off_call_is_sent_without_arguments() {
    let mut cut = ToolCall { id: "c".into(), name: "f".into(), ..ToolCall::default() };
    cut.arguments = crate::Arguments::from_text("{\"a".to_owned());
    let request = Request::new(OLD).user("x").assistant([Block::ToolCall(cut)]).tool_result("c", "?");
    let (body, losses) = sent(&request);
    assert_eq!(body["contents"][1]["parts"][0], json!({"functionCall": {"name": "f", "args": {}}}));
    assert_eq!(losses, ["arguments at messages[1].content[0]"]);
}

/// A client's request, read.
fn read(body: Value) -> Request {
    decode_request(Some("/v1beta/models/gemini-2.5-flash:generateContent"), &body).unwrap()
}

#[test]
fn another_model_is_written_for_anew() {
    let mut request = read(json!({
        "contents": [{"role": "function", "parts": [{"text": "x", "thought": false}]}],
        "tools": [{"function_declarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
        "generationConfig": {"temperature": 1, "thinkingConfig": {"thinkingBudget": 24576}, "candidateCount": 1},
        "safetySettings": [],
        "cachedContent": "cachedContents/a",
    }));
    request.model = NEW.to_owned();
    let (body, losses) = sent(&request);
    assert_eq!(
        body,
        json!({
            "contents": [{"role": "user", "parts": [{"text": "x"}]}],
            "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
            "generationConfig": {"temperature": 1.0, "thinkingConfig": {"thinkingLevel": "HIGH"}},
        }),
    );
    assert_eq!(
        losses,
        [
            "(strict at tools[0].strict)",
            "thinking at thinking.budget",
            "cache at provider_data.gemini.extra.cachedContent",
        ]
    );
}

#[test]
fn what_the_caller_changed_is_not_overridden() {
    let body = json!({
        "contents": [],
        "tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g"}], "codeExecution": null}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f", "g"]}},
        "generationConfig": {
            "temperature": 1, "maxOutputTokens": "100", "thinkingConfig": {"thinkingBudget": 1000}, "responseMimeType": "text/plain",
        },
    });
    let mut request = read(body);
    request.temperature = Some(0.5);
    request.max_output_tokens = Some(200);
    request.thinking = Some(Thinking::from(Level::Low));
    request.tool_choice = Some(ToolChoice::None);
    request.output_format = Some(OutputFormat::Json);
    request.tools.pop();
    assert_eq!(
        encoded(&request).body,
        json!({
            "contents": [],
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
            "generationConfig": {
                "temperature": 0.5, "maxOutputTokens": 8392, "thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": true},
                "responseMimeType": "application/json",
            },
        }),
    );
    request.thinking = None;
    request.system.clear();
    assert_eq!(encoded(&request).body["generationConfig"].get("thinkingConfig"), None);
}

#[test]
fn a_cache_stands_in_for_what_it_holds() {
    let mut request = Request::new(NEW).system("s").user("x").tool(Tool::new("f", "d").lenient());
    request.provider_data.set_part(Dialect::Gemini, Part::Extra, "cachedContent", "cachedContents/a");
    assert_eq!(
        sent(&request),
        (
            json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}], "cachedContent": "cachedContents/a"}),
            vec!["system at system".to_owned(), "tools at tools".to_owned()],
        ),
    );
}

#[test]
fn an_answer_goes_back_as_it_came() {
    let parts = json!([
        {"text": "Hm", "thought": true},
        {"text": "It is "},
        {"text": "so."},
        {"functionCall": {"name": "f", "args": {"b": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f", "args": {"b": 2}}},
        {"text": "", "thoughtSignature": "bGFzdA=="},
    ]);
    let body = json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}], "modelVersion": OLD});
    let response = decode_response(&body, &mut crate::wire::Ids::default()).unwrap();
    let ids: Vec<String> = response.tool_calls().map(|call| call.id.clone()).collect();
    let request = Request::new(OLD)
        .user("Go")
        .message(response.into_message("google"))
        .tool_result(&*ids[1], "2")
        .tool_result(&*ids[0], "1");
    let (body, losses) = sent(&request);
    let expected: Vec<Value> = parts.as_array().unwrap()[1..].to_vec();
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": expected}));
    assert_eq!(
        body["contents"][2]["parts"],
        json!([
            {"functionResponse": {"name": "f", "response": {"output": "1"}}},
            {"functionResponse": {"name": "f", "response": {"output": "2"}}},
        ]),
    );
    assert_eq!(losses, ["(thinking at messages[1].content[0])"]);
}

#[test]
fn the_user_speaks_first() {
    let request = Request::new("gemini-2.5-pro").assistant("Hello.").user("Hi.");
    assert_eq!(
        sent(&request),
        (
            json!({"contents": [
                {"role": "user", "parts": [{"text": "(begin)"}]},
                {"role": "model", "parts": [{"text": "Hello."}]},
                {"role": "user", "parts": [{"text": "Hi."}]}
            ]}),
            vec!["(messages at messages[0])".to_owned()]
        )
    );
}

#[test]
fn a_signature_on_a_message_and_odd_parameters_are_told() {
    let mut message = Message::assistant("So.");
    message.provider_data.set_part(Dialect::Gemini, Part::State, "thought_signature", "c2ln");
    let mut request = Request::new(NEW).user("Go").message(message).user("On");
    request.tools = vec![Tool::new("f", "d").lenient().parameters(json!(["no", "object"]))];
    let (body, losses) = sent(&request);
    assert_eq!(body["tools"], json!([{"functionDeclarations": [{"name": "f", "description": "d"}]}]));
    assert_eq!(losses, ["thinking at messages[1]", "parameters at tools[0].parameters"]);
}

#[test]
fn limits_that_are_none_are_left_out_or_raised() {
    let sent = |limit| {
        let request = Request { max_output_tokens: Some(limit), ..Request::new(OLD).user("x") };
        let (body, losses) = sent(&request);
        (body["generationConfig"]["maxOutputTokens"].clone(), losses)
    };
    let lost = || vec!["max_output_tokens at max_output_tokens".to_owned()];
    assert_eq!(sent(-1), (Value::Null, vec![]));
    assert_eq!(sent(100), (json!(100), vec![]));
    for limit in [0, -2] {
        assert_eq!(sent(limit).1, lost(), "{limit}");
        assert_ne!(sent(limit).0, json!(limit));
    }
}

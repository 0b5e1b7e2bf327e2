use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{Sent, decode_request, encode_request, told};
use crate::catalog::rules_for;
use crate::provider::Quirks;
use crate::{
    Block, CacheHint, CacheOptions, Dialect, Document, Error, JsonSchemaFormat, Level, Message, Other, OutputFormat,
    Part, ProviderData, Request, Role, Source, Thinking, Tool, ToolChoice,
};

pub(super) fn encoded_with(request: &Request, quirks: &Quirks) -> Result<Sent, Error> {
    let rules = rules_for(&request.model);
    encode_request(request, &crate::wire::Target { provider: "google", quirks, rules, facts: None })
}

pub(super) fn encoded(request: &Request) -> Sent {
    encoded_with(request, &Quirks::default()).unwrap()
}

/// Returns the body and the places of losses, with a mark on mere notes.
pub(super) fn sent(request: &Request) -> (Value, Vec<String>) {
    let wire = encoded(request);
    (wire.body, told(wire.losses))
}

pub(super) const NEW: &str = "gemini-3-pro-preview";
pub(super) const OLD: &str = "gemini-2.5-flash";

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
    // Next to functions only from Gemini 3 on.
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
    request.provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "logit_bias", json!({"50256": -100}));
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

/// Reads a client's request.
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

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{Sent, decode_request, encode_request};
use crate::catalog::Rules;
use crate::provider::Quirks;
use crate::wire::Target;
use crate::{Error, Request};

pub(super) fn read(body: Value) -> Result<Request, Error> {
    decode_request(Some("/v1beta/models/m:generateContent"), &body)
}

fn written(request: &Request) -> Sent {
    let (quirks, rules) = (Quirks::default(), Rules::default());
    encode_request(request, &Target { provider: "google", quirks: &quirks, rules: &rules, facts: None }).unwrap()
}

/// Reads a body and checks that it is written back.
pub(super) fn round(body: Value) -> Request {
    let request = read(body.clone()).unwrap();
    let wire = written(&request);
    assert_eq!(wire.body, body);
    assert_eq!(wire.losses, []);
    request
}

fn canonical(body: Value) -> Value {
    serde_json::to_value(round(body)).unwrap()
}

#[test]
fn a_request_with_everything() {
    let body = json!({
        "systemInstruction": {"parts": [{"text": "You are helpful"}], "role": "user"},
        "contents": [
            {"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
            {"role": "model", "parts": [
                {"text": "Hm", "thought": true},
                {"functionCall": {"id": "c1", "name": "f", "args": {"z": 1, "a": 2}}, "thoughtSignature": "c2ln"},
            ]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "4"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": {"type": "object", "properties": {"z": {"type": "integer"}}}}]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}, "retrievalConfig": {"languageCode": "en"}},
        "generationConfig": {
            "maxOutputTokens": 100, "temperature": 0.5, "topP": 0.9, "topK": 40, "seed": 7, "stopSequences": ["END"],
            "presencePenalty": 0.1, "frequencyPenalty": -0.1, "candidateCount": 1, "responseModalities": ["TEXT"],
            "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
            "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "HIGH"},
        },
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "cachedContent": "cachedContents/abc",
        "labels": {"team": "x"},
    });
    assert_eq!(
        canonical(body),
        json!({
            "model": "m",
            "system": [{"type": "text", "text": "You are helpful"}],
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "text": "Hm"},
                    {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"z": 1, "a": 2}, "provider_data": {"gemini": {"thought_signature": "c2ln"}}},
                ]},
                {"role": "tool", "content": [
                    {"type": "tool_result", "tool_call_id": "c1", "content": [{"type": "text", "text": "4"}], "is_error": false, "provider_data": {"gemini": {"shape": {"name": "f"}}}},
                ]},
            ],
            "thinking": {"level": "high", "include_summary": true},
            "tools": [
                {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"z": {"type": "integer"}}}, "strict": false,
                    "provider_data": {"gemini": {"shape": {"schema_field": "parametersJsonSchema"}}}},
                {"type": "web_search", "provider_data": {"gemini": {"shape": {"entry": {"googleSearch": {}}}}}},
            ],
            "tool_choice": {"specific": "f"},
            "max_output_tokens": 100, "temperature": 0.5, "top_p": 0.9, "top_k": 40, "stop": ["END"], "seed": 7,
            "frequency_penalty": -0.1, "presence_penalty": 0.1,
            "output_format": {"json_schema": {"schema": {"type": "object"}, "strict": true}},
            "provider_data": {"gemini": {
                "extra": {
                    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
                    "cachedContent": "cachedContents/abc",
                    "labels": {"team": "x"},
                    "toolConfig": {"retrievalConfig": {"languageCode": "en"}},
                },
                "shape": {
                    "model": "m",
                    "function_calling_config": {"mode": "ANY", "allowedFunctionNames": ["f"]},
                    "generation_config": {
                        "maxOutputTokens": 100, "temperature": 0.5, "topP": 0.9, "topK": 40, "seed": 7, "stopSequences": ["END"],
                        "presencePenalty": 0.1, "frequencyPenalty": -0.1, "candidateCount": 1, "responseModalities": ["TEXT"],
                        "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
                        "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "HIGH"},
                    },
                    "defaults": {
                        "systemInstruction": {"role": "user"},
                        "generationConfig": {"candidateCount": 1, "responseModalities": ["TEXT"]},
                    },
                },
            }},
        }),
    );
}

#[test]
fn model_and_method_stand_in_the_path() {
    for (path, model, stream, own) in [
        (
            "/v1beta/models/gemini-2.5-pro:generateContent",
            "gemini-2.5-pro",
            None,
            "/models/gemini-2.5-pro:generateContent",
        ),
        (
            "/v1/models/gemini-3-pro:streamGenerateContent?alt=sse",
            "gemini-3-pro",
            Some(true),
            "/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
        ("/v1beta/models/m:streamGenerateContent?key=k", "m", Some(true), "/models/m:streamGenerateContent?alt=sse"),
        (
            "/v1beta1/projects/p/locations/eu/publishers/google/models/m:generateContent",
            "m",
            None,
            "/models/m:generateContent",
        ),
        (
            "/v1beta/models/ollama:gemma3:4b:generateContent",
            "ollama:gemma3:4b",
            None,
            "/models/ollama:gemma3:4b:generateContent",
        ),
        (
            "/v1beta/models/openrouter:google/gemini:generateContent",
            "openrouter:google/gemini",
            None,
            "/models/openrouter:google%2Fgemini:generateContent",
        ),
        ("/v1beta/models/a%20b%3Fc:generateContent", "a b?c", None, "/models/a%20b%3Fc:generateContent"),
        ("/v1beta/models/100%:generateContent", "100%", None, "/models/100%25:generateContent"),
        ("/v1beta/tunedModels/mine:generateContent", "tunedModels/mine", None, "/tunedModels/mine:generateContent"),
        ("models/m:generateContent", "m", None, "/models/m:generateContent"),
        (
            "/v1beta/models/gemini-2.5-pro%3AgenerateContent",
            "gemini-2.5-pro",
            None,
            "/models/gemini-2.5-pro:generateContent",
        ),
        (
            "/v1beta/models/ollama%3agemma3%3A4b%3AstreamGenerateContent?alt=sse",
            "ollama:gemma3:4b",
            Some(true),
            "/models/ollama:gemma3:4b:streamGenerateContent?alt=sse",
        ),
    ] {
        let request = decode_request(Some(path), &json!({"contents": []})).unwrap();
        assert_eq!((request.model.as_str(), request.stream), (model, stream), "{path}");
        assert_eq!(written(&request).path, own, "{path}");
    }
}

#[test]
fn without_a_path_the_body_may_name_the_model() {
    for (body, model) in
        [(json!({"model": "models/m", "contents": []}), "m"), (json!({"model": "m", "contents": []}), "m")]
    {
        let request = decode_request(None, &body).unwrap();
        assert_eq!((request.model.as_str(), written(&request).body), (model, body));
    }
    // Without any name it can be read, but not sent.
    let nameless = decode_request(None, &json!({"contents": []})).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "google", quirks: &quirks, rules: &rules, facts: None };
    let error = encode_request(&nameless, &target).unwrap_err();
    assert_eq!((nameless.model.as_str(), error.message.as_str()), ("", "the request names no model; set `model`"));
    // Another model: the name in the body would be wrong.
    let mut request = decode_request(None, &json!({"model": "m"})).unwrap();
    request.model = "n".to_owned();
    assert_eq!(written(&request).body, json!({"contents": []}));
}

#[test]
fn every_spelling_round_trips() {
    let body = json!({
        "system_instruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA"}}, {"file_data": {"file_uri": "gs://a", "mime_type": "image/png"}}]},
            {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"snake_case": 1}}, "thought_signature": "c2ln"}]},
            {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"snake_case": 1}, "parts": [{"inline_data": {"mime_type": "image/png", "data": "AA"}}]}}]},
        ],
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"type": "object", "properties": {"snake_case": {"type": "string"}}}}]}],
        "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["f"]}},
        "generation_config": {"max_output_tokens": 5, "top_p": 0.5, "stop_sequences": ["x"], "thinking_config": {"include_thoughts": true}, "response_mime_type": "application/json", "response_modalities": ["TEXT"]},
        "safety_settings": [],
    });
    let request = round(body);
    assert_eq!(
        (request.max_output_tokens, request.top_p, request.stop.len(), request.tools.len()),
        (Some(5), Some(0.5), 1, 1)
    );
    assert_eq!(request.tool_choice, Some(crate::ToolChoice::Specific("f".to_owned())));
}

#[test]
fn loose_shapes_round_trip() {
    for body in [
        json!({"contents": {"parts": [{"text": "x"}]}}),
        json!({"contents": [{"parts": {"text": "x"}, "role": "user"}]}),
        json!({"contents": [{"role": "user", "text": "x"}]}),
        json!({"contents": [{"role": "function", "functionResponse": {"name": "f", "response": {"content": "x"}}}]}),
        json!({"contents": [{"role": "tool", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}),
        json!({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}),
        json!({"contents": [{"role": "user"}]}),
        json!({"contents": [{"role": "user", "parts": []}]}),
        json!({"contents": [{"role": "user", "parts": null}]}),
        json!({"contents": [{"parts": [{"text": ""}], "role": null, "other": 1}]}),
        json!({"contents": []}),
        json!({"contents": null}),
        json!({}),
        json!({"contents": [], "systemInstruction": "Be brief"}),
        json!({"contents": [], "system_instruction": {"parts": {"text": "Be brief"}}}),
        json!({"contents": [], "systemInstruction": {}}),
        json!({"contents": [], "systemInstruction": {"parts": []}}),
        json!({"contents": [], "systemInstruction": {"role": "system"}}),
        json!({"contents": [], "systemInstruction": null, "tools": null, "toolConfig": null, "generationConfig": null, "safetySettings": null}),
        json!({"contents": [], "tools": [], "toolConfig": {}, "generationConfig": {}}),
        json!({"contents": [], "tools": {"functionDeclarations": [{"name": "f"}]}}),
        json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f"}], "codeExecution": null}]}),
        json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f"}], "codeExecution": {}}]}),
        json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f"}]}, {"functionDeclarations": [{"name": "g"}]}]}),
        json!({"contents": [], "tools": [{"googleSearch": {}, "urlContext": {}}, {}, {"functionDeclarations": []}]}),
        json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "object", "properties": {}, "required": []}}]}]}),
        json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object", "properties": {}}}]}]}),
        json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parameters": null, "behavior": "BLOCKING"}]}]}),
        json!({"contents": [], "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
        json!({"contents": [], "toolConfig": {"functionCallingConfig": {"mode": "any"}}}),
        json!({"contents": [], "toolConfig": {"functionCallingConfig": {}, "includeServerSideToolInvocations": true}}),
        json!({"contents": [], "generationConfig": {"temperature": 1, "topP": "0.5", "topK": 40.0, "maxOutputTokens": "100", "stopSequences": []}}),
        json!({"contents": [], "generationConfig": {"responseMimeType": "text/plain"}}),
        json!({"contents": [], "generationConfig": {"responseMimeType": "application/json"}}),
        json!({"contents": [], "generationConfig": {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["a"]}}}),
        json!({"contents": [], "generationConfig": {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "nullable": true}}}),
        json!({"contents": [], "generationConfig": {"responseJsonSchema": {"type": "object"}}}),
        json!({"contents": [], "generationConfig": {"responseFormat": [{"text": {"mimeType": "application/json", "schema": {"type": "object"}}}]}}),
        json!({"contents": [], "generationConfig": {"responseFormat": {"image": {}}}}),
        json!({"contents": [], "generationConfig": {"thinkingConfig": {}}}),
        json!({"contents": [], "generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}}),
        json!({"contents": [], "generationConfig": {"thinkingConfig": {"thinkingBudget": 0, "includeThoughts": false}}}),
        json!({"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": null, "id": ""}}]}]}),
        json!({"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}, "willContinue": true, "scheduling": "SILENT"}}, {"text": "and"}]}]}),
    ] {
        round(body);
    }
}

#[test]
fn choices_are_read() {
    use crate::ToolChoice::*;
    for (config, choice) in [
        (json!({"mode": "AUTO"}), Auto),
        (json!({"mode": "VALIDATED"}), Auto),
        (json!({"mode": "MODE_UNSPECIFIED"}), Auto),
        (json!({"mode": "NONE"}), None),
        (json!({"mode": "ANY"}), Required),
        (json!({"mode": "ANY", "allowedFunctionNames": ["f"]}), Specific("f".to_owned())),
        (json!({"mode": "ANY", "allowedFunctionNames": ["f", "g"]}), Required),
    ] {
        let request = round(json!({"contents": [], "toolConfig": {"functionCallingConfig": config}}));
        assert_eq!(request.tool_choice, Some(choice));
    }
    // VALIDATED holds the model to the schemas.
    let tools = json!([{"functionDeclarations": [{"name": "f"}]}]);
    let request =
        round(json!({"contents": [], "tools": tools, "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}}));
    assert!(request.tools[0].as_function().unwrap().strict);
}

#[test]
fn schemas_of_the_subset_are_read_as_json_schema() {
    let openapi =
        json!({"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": true}}, "required": ["n"]});
    let request =
        round(json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parameters": openapi}]}]}));
    assert_eq!(
        request.tools[0].as_function().unwrap().parameters,
        json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}, "required": ["n"]}),
    );
    // Changed by the caller: rewritten, in the field that the client used.
    let mut changed = request;
    if let crate::Tool::Function(function) = &mut changed.tools[0] {
        function.parameters = json!({"type": "object", "properties": {"m": {"type": ["string", "null"]}}}).into();
    }
    assert_eq!(
        written(&changed).body["tools"][0]["functionDeclarations"][0]["parameters"],
        json!({"type": "OBJECT", "properties": {"m": {"type": "STRING", "nullable": true}}}),
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (body, message) in [
        (json!([]), "the request body is not a JSON object"),
        (json!({"contents": "Hi"}), "contents: invalid type: string \"Hi\", expected a list or an object"),
        (json!({"contents": ["Hi"]}), "contents[0]: invalid type: string \"Hi\", expected an object"),
        (
            json!({"contents": [{"role": "robot", "parts": []}]}),
            "contents[0].role: must be `user` or `model` (`function` and `tool` are read as `user`)",
        ),
        (
            json!({"contents": [{"parts": "Hi"}]}),
            "contents[0].parts: invalid type: string \"Hi\", expected a list or an object",
        ),
        (
            json!({"contents": [{"parts": [{"text": "a"}, "b"]}]}),
            "contents[0].parts[1]: invalid type: string \"b\", expected an object",
        ),
        (
            json!({"contents": [{"parts": [{"text": 1}]}]}),
            "contents[0].parts[0].text: invalid type: integer `1`, expected a string",
        ),
        (
            json!({"contents": [{"parts": [{"functionCall": {"name": "f", "args": []}}]}]}),
            "contents[0].parts[0]: functionCall.args must be an object",
        ),
        (
            json!({"contents": [{"parts": [{"functionResponse": {"response": "x"}}]}]}),
            "contents[0].parts[0].functionResponse.response: invalid type: string \"x\", expected an object",
        ),
        (
            json!({"systemInstruction": 1}),
            "systemInstruction: invalid type: integer `1`, expected a content or a string",
        ),
        (
            json!({"systemInstruction": {"parts": 1}}),
            "systemInstruction.parts: invalid type: integer `1`, expected a list or an object",
        ),
        (json!({"tools": 1}), "tools: invalid type: integer `1`, expected a list or an object"),
        (json!({"tools": [1]}), "tools[0]: invalid type: integer `1`, expected an object"),
        (
            json!({"tools": [{"functionDeclarations": 1}]}),
            "tools[0].functionDeclarations: invalid type: integer `1`, expected a sequence",
        ),
        (json!({"tools": [{"functionDeclarations": [{}]}]}), "tools[0].functionDeclarations[0].name: is missing"),
        (json!({"generationConfig": 1}), "generationConfig: invalid type: integer `1`, expected an object"),
        (json!({"generationConfig": {"temperature": "hot"}}), "generationConfig.temperature: must be a number"),
        (json!({"generationConfig": {"topK": 1.5}}), "generationConfig.topK: must be a whole number"),
        (
            json!({"generationConfig": {"stopSequences": "x"}}),
            "generationConfig.stopSequences: invalid type: string \"x\", expected a sequence",
        ),
        (
            json!({"generationConfig": {"thinkingConfig": 1}}),
            "generationConfig.thinkingConfig: invalid type: integer `1`, expected an object",
        ),
    ] {
        let told = read(body).unwrap_err().message;
        let told = told.strip_prefix("the request body cannot be read: ").unwrap_or(&told);
        // Line and column are left out.
        assert_eq!(told.split(" at line ").next(), Some(message));
    }
}

#[test]
fn numbers_and_unknown_fields_come_back_as_they_were_written() {
    let numbers = r#"{"a":1e2,"b":1e400,"c":123456789012345678901234567890,"d":0.10000000000000000001}"#;
    let schema = r#"{"type":"object","properties":{"x":{"maximum":1e400,"minimum":123456789012345678901234567890}}}"#;
    let body = [
        r#"{"contents":[{"parts":[{"functionCall":{"name":"f","args":"#,
        numbers,
        r#"}}],"role":"model"}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":"#,
        schema,
        r#"},{"name":"g","parameters":"#,
        schema,
        r#"}]}],"generationConfig":{"temperature":1e0,"topP":0.10,"responseModalities":["AUDIO"],"speechConfig":"#,
        numbers,
        r#"},"labels":"#,
        numbers,
        "}",
    ]
    .concat();
    let incoming = crate::wire::Incoming { path: Some("/v1beta/models/m:generateContent"), body: body.as_bytes() };
    let (request, _) = crate::Dialect::Gemini.decode_request(incoming, &crate::Limits::default()).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "google", quirks: &quirks, rules: &rules, facts: None };
    let wire = crate::Dialect::Gemini.encode_request(&request, &target, &crate::Limits::default()).unwrap();
    assert_eq!((String::from_utf8(wire.body).unwrap(), wire.losses), (body, vec![]));
}

#[test]
fn many_blocks_reach_the_limit() {
    let body = json!({"contents": [{"parts": [{"text": "a"}, {"text": "b"}]}, {"parts": [{"text": "c"}]}]}).to_string();
    let incoming = crate::wire::Incoming { path: None, body: body.as_bytes() };
    let limits = crate::Limits { blocks: 2, ..crate::Limits::default() };
    let error = crate::Dialect::Gemini.decode_request(incoming, &limits).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("limit_reached"));
}

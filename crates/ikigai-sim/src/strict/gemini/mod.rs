//! What `generateContent` refuses.

mod contents;
mod modalities;
mod parameters;

use ikigai_core::wire::WireError;
use serde_json::{Value, json};

use super::{Refusal, Rule, Wire};
use crate::service::wire_error;

/// The table, in the order in which the API checks.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "model unknown",
        check: parameters::model_known,
        example: r#"{"@path": "/v1beta/models/gemini-0:generateContent"}"#,
        says: "models/gemini-0 is not found for API version v1beta, or is not supported for generateContent.",
    },
    Rule {
        name: "unknown field",
        check: parameters::unknown_fields,
        example: r#"{"messages": []}"#,
        says: "Invalid JSON payload received. Unknown name \"messages\": Cannot find field.",
    },
    Rule {
        name: "unknown generation field",
        check: parameters::unknown_generation_fields,
        example: r#"{"generationConfig": {"max_new_tokens": 1}}"#,
        says: "Invalid JSON payload received. Unknown name \"max_new_tokens\" at 'generation_config': Cannot find field.",
    },
    Rule {
        name: "unknown modality",
        check: modalities::known,
        example: r#"{"generationConfig": {"responseModalities": ["TEXT", "SMELL"]}}"#,
        says: "Invalid value at 'generation_config.response_modalities[1]'",
    },
    Rule {
        name: "unknown field of speech or pictures",
        check: modalities::fields,
        example: r#"{"generationConfig": {"speechConfig": {"voice": "Kore"}}}"#,
        says: "Invalid JSON payload received. Unknown name \"voice\" at 'generation_config.speech_config': Cannot find field.",
    },
    Rule {
        name: "contents missing",
        check: contents::given,
        example: r#"{"contents": []}"#,
        says: "* GenerateContentRequest.contents: contents is not specified",
    },
    Rule {
        name: "roles",
        check: contents::roles,
        example: r#"{"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}"#,
        says: "Please use a valid role: user, model.",
    },
    Rule {
        name: "parts missing",
        check: contents::parts_given,
        example: r#"{"contents": [{"role": "user", "parts": []}]}"#,
        says: "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.",
    },
    Rule {
        name: "part without data",
        check: contents::parts_hold_something,
        example: r#"{"contents": [{"role": "user", "parts": [{"thought": true}]}]}"#,
        says: "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field",
    },
    Rule {
        name: "modalities of the model",
        check: modalities::of_the_model,
        example: r#"{"generationConfig": {"responseModalities": ["IMAGE"]}}"#,
        says: "The requested combination of response modalities (IMAGE) is not supported by the model. models/gemini-2.5-pro accepts",
    },
    Rule {
        name: "voices",
        check: modalities::voices,
        example: r#"{"@path": "/v1beta/models/gemini-2.5-flash-preview-tts:generateContent", "generationConfig": {"responseModalities": ["AUDIO"], "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Nobody"}}}}}"#,
        says: "Voice name Nobody is not supported. Allowed voice names are: achernar, ",
    },
    Rule {
        name: "aspect ratio",
        check: modalities::ratio,
        example: r#"{"@path": "/v1beta/models/gemini-2.5-flash-image:generateContent", "generationConfig": {"imageConfig": {"aspectRatio": "7:1"}}}"#,
        says: "aspect_ratio must be one of 1:1, ",
    },
    Rule {
        name: "temperature range",
        check: parameters::ranges,
        example: r#"{"generationConfig": {"temperature": 3}}"#,
        says: "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].",
    },
    Rule {
        name: "stop sequences",
        check: parameters::stops,
        example: r#"{"generationConfig": {"stopSequences": ["a", "b", "c", "d", "e", "f"]}}"#,
        says: "* GenerateContentRequest.generation_config.stop_sequences: the number of stop_sequences must not exceed 5.",
    },
    Rule {
        name: "thinking on a model that does not think",
        check: parameters::thinks,
        example: r#"{"@path": "/v1beta/models/gemini-2.0-flash:generateContent", "generationConfig": {"thinkingConfig": {"thinkingBudget": 100}}}"#,
        says: "Thinking is not supported by this model.",
    },
    Rule {
        name: "budget and level",
        check: parameters::one_of_two,
        example: r#"{"generationConfig": {"thinkingConfig": {"thinkingBudget": 128, "thinkingLevel": "LOW"}}}"#,
        says: "You can only set only one of thinking budget and thinking level.",
    },
    Rule {
        name: "thinking budget",
        check: parameters::budget,
        example: r#"{"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}"#,
        says: "Budget 0 is invalid. This model only works in thinking mode.",
    },
    Rule {
        name: "thinking level",
        check: parameters::level,
        example: r#"{"@path": "/v1beta/models/gemini-3.7-flash:generateContent", "generationConfig": {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}}"#,
        says: "Thinking level MINIMAL is not supported for this model.",
    },
    Rule {
        name: "thoughts without thinking",
        check: parameters::thoughts,
        example: r#"{"@path": "/v1beta/models/gemini-2.5-flash:generateContent", "generationConfig": {"thinkingConfig": {"thinkingBudget": 0, "includeThoughts": true}}}"#,
        says: "Unable to submit request because thinking_config.include_thoughts is only enabled when thinking is enabled.",
    },
    Rule {
        name: "cached content beside its parts",
        check: parameters::cached,
        example: r#"{"cachedContent": "cachedContents/x", "systemInstruction": {"parts": [{"text": "x"}]}}"#,
        says: "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.",
    },
    Rule {
        name: "function names",
        check: parameters::function_names,
        example: r#"{"tools": [{"functionDeclarations": [{"name": "1 a"}]}]}"#,
        says: "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.",
    },
    Rule {
        name: "function schemas",
        check: parameters::function_schemas,
        example: r#"{"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT"}, "parametersJsonSchema": {"type": "object"}}]}]}"#,
        says: "* GenerateContentRequest.tools[0].function_declarations[0]: only one of parameters and parameters_json_schema may be set",
    },
    Rule {
        name: "built-in tools beside functions",
        check: parameters::mixed,
        example: r#"{"tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "a"}]}]}"#,
        says: "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request.",
    },
    Rule {
        name: "built-in tools beside functions without the flag",
        check: parameters::mixed,
        example: r#"{"@path": "/v1beta/models/gemini-3-pro-preview:generateContent", "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "a"}]}]}"#,
        says: "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
    },
    Rule {
        name: "the flag on an older model",
        check: parameters::circulation,
        example: r#"{"toolConfig": {"includeServerSideToolInvocations": true}, "tools": [{"googleSearch": {}}]}"#,
        says: "Tool call context circulation is not enabled",
    },
    Rule {
        name: "allowed functions",
        check: parameters::allowed,
        example: r#"{"tools": [{"functionDeclarations": [{"name": "a"}]}], "toolConfig": {"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["a"]}}}"#,
        says: "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: allowed_function_names should only be set when mode is ANY or VALIDATED.",
    },
    Rule {
        name: "schema needs the JSON type",
        check: parameters::schema_type,
        example: r#"{"generationConfig": {"responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}}"#,
        says: "* GenerateContentRequest.generation_config.response_schema: only allowed when response_mime_type is 'application/json' or 'text/x.enum'.",
    },
    Rule {
        name: "JSON beside functions",
        check: parameters::json_with_functions,
        example: r#"{"generationConfig": {"responseMimeType": "application/json"}, "tools": [{"functionDeclarations": [{"name": "a"}]}]}"#,
        says: "Function calling with a response mime type: 'application/json' is unsupported",
    },
    Rule {
        name: "call after a user turn",
        check: contents::calls_follow,
        example: r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#,
        says: "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    },
    Rule {
        name: "as many responses as calls",
        check: contents::calls_answered,
        example: r#"{"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#,
        says: "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    },
    Rule {
        name: "response names its function",
        check: contents::responses_named,
        example: r#"{"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"response": {}}}]}]}"#,
        says: "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    },
    Rule {
        name: "results of the API's tools without calls",
        check: contents::tools_called,
        example: r#"{"@path": "/v1beta/models/gemini-3-pro-preview:generateContent", "contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"toolResponse": {"id": "1", "toolType": "GOOGLE_SEARCH_WEB"}, "thoughtSignature": "skip_thought_signature_validator"}]}, {"role": "user", "parts": [{"text": "y"}]}]}"#,
        says: "Please ensure that a tool response comes after its tool call.",
    },
    Rule {
        name: "calls of the API's tools without signatures",
        check: contents::tools_signed,
        example: r#"{"@path": "/v1beta/models/gemini-3-pro-preview:generateContent", "contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"toolCall": {"id": "1", "toolType": "GOOGLE_SEARCH_WEB"}}]}, {"role": "user", "parts": [{"text": "y"}]}]}"#,
        says: "Tool call is missing a thought_signature in toolCall parts.",
    },
    Rule {
        name: "signature missing",
        check: contents::signed,
        example: r#"{"@path": "/v1beta/models/gemini-3-pro-preview:generateContent", "contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#,
        says: "Function call is missing a thought_signature in functionCall parts.",
    },
    Rule {
        name: "signature foreign",
        check: contents::genuine,
        example: r#"{"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "AAAA"}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#,
        says: "Thought signature is not valid",
    },
];

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::invalid("INVALID_ARGUMENT", message)
}

/// A refusal as Google writes it.
pub(super) fn write(refusal: Refusal) -> WireError {
    let mut error = json!({"code": refusal.status, "message": refusal.message, "status": refusal.kind});
    if let (Some(details), Some(fields)) = (refusal.details, error.as_object_mut()) {
        fields.insert("details".to_owned(), details);
    }
    wire_error(refusal.status, &json!({"error": error}))
}

/// The model and the method in the path.
fn model_and_method<'a>(wire: &Wire<'a>) -> (&'a str, &'a str) {
    let path = wire.path.split('?').next().unwrap_or_default();
    let last = path.split("/models/").last().unwrap_or_default();
    last.rsplit_once(':').unwrap_or((last, ""))
}

fn model<'a>(wire: &Wire<'a>) -> &'a str {
    model_and_method(wire).0
}

/// A member under its camel-case or its snake-case name; to the API, both are one field.
fn member<'a>(object: &'a Value, camel: &str) -> Option<&'a Value> {
    object.get(camel).or_else(|| object.get(snake(camel))).filter(|value| !value.is_null())
}

fn members<'a>(object: &'a Value, camel: &str) -> &'a [Value] {
    match member(object, camel) {
        Some(Value::Array(items)) => items,
        // A single object stands for a list of one.
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        _ => &[],
    }
}

fn snake(camel: &str) -> String {
    let mut name = String::with_capacity(camel.len() + 4);
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

//! What the Responses API refuses.

mod items;
mod parameters;
mod state;

use super::openai::{self, invalid};
use super::{Refusal, Rule, Wire};

/// The table, in the order in which the API checks.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unknown field",
        check: parameters::unknown_fields,
        example: r#"{"stop": ["x"]}"#,
        says: "Unknown parameter: 'stop'.",
    },
    Rule {
        name: "model missing",
        check: parameters::model_given,
        example: r#"{"model": null}"#,
        says: "Missing required parameter: 'model'.",
    },
    Rule {
        name: "model unknown",
        check: openai::model_known,
        example: r#"{"model": "gpt-0"}"#,
        says: "The model `gpt-0` does not exist or you do not have access to it.",
    },
    Rule {
        name: "model not served here",
        check: parameters::model_served,
        example: r#"{"model": "o1-preview"}"#,
        says: "The requested model 'o1-preview' is not supported with the Responses API.",
    },
    Rule {
        name: "token limit too small",
        check: parameters::limit,
        example: r#"{"max_output_tokens": 15}"#,
        says: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
    },
    Rule {
        name: "temperature range",
        check: parameters::ranges,
        example: r#"{"temperature": 3}"#,
        says: "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    },
    Rule {
        name: "effort",
        check: parameters::effort,
        example: r#"{"model": "o3", "reasoning": {"effort": "none"}}"#,
        says: "Unsupported value: 'none' is not supported with the 'o3' model. Supported values are: 'low', 'medium', and 'high'.",
    },
    Rule {
        name: "sampling of thinking models",
        check: parameters::sampling,
        example: r#"{"model": "o3", "temperature": 0.5}"#,
        says: "Unsupported value: 'temperature' does not support 0.5 with this model.",
    },
    Rule {
        name: "metadata",
        check: openai::metadata,
        example: r#"{"metadata": {"a": 1}}"#,
        says: "Invalid type for 'metadata.a': expected a string, but got a number instead.",
    },
    Rule {
        name: "include",
        check: parameters::include,
        example: r#"{"include": ["everything"]}"#,
        says: "Invalid value: 'everything'. Supported values are:",
    },
    Rule {
        name: "input missing",
        check: items::given,
        example: r#"{"input": null}"#,
        says: "Missing required parameter: 'input'.",
    },
    Rule {
        name: "item kinds",
        check: items::kinds,
        example: r#"{"input": [{"type": "tool_use", "id": "x"}]}"#,
        says: "Invalid value: 'tool_use'. Supported values are:",
    },
    Rule {
        name: "roles",
        check: items::roles,
        example: r#"{"input": [{"role": "tool", "content": "x"}]}"#,
        says: "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    },
    Rule {
        name: "part kinds",
        check: items::parts,
        example: r#"{"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}, {"role": "user", "content": "y"}]}"#,
        says: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    },
    Rule {
        name: "images",
        check: items::images,
        example: r#"{"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/tiff;base64,AAAA"}]}]}"#,
        says: "You uploaded an unsupported image.",
    },
    Rule {
        name: "calls without results",
        check: items::calls_answered,
        example: r#"{"input": [{"role": "user", "content": "x"}, {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}]}"#,
        says: "No tool output found for function call call_1.",
    },
    Rule {
        name: "results without calls",
        check: items::results_called,
        example: r#"{"input": [{"type": "function_call_output", "call_id": "call_1", "output": "x"}]}"#,
        says: "No tool call found for function call output with call_id call_1.",
    },
    Rule {
        name: "items twice",
        check: items::once,
        example: r#"{"input": [{"type": "web_search_call", "id": "ws_1", "status": "completed"}, {"type": "web_search_call", "id": "ws_1", "status": "completed"}]}"#,
        says: "Duplicate item found with id ws_1. Remove duplicate items from your input and try again.",
    },
    Rule {
        name: "ids of items",
        check: items::ids,
        example: r#"{"input": [{"type": "web_search_call", "id": "srvtoolu_1", "status": "completed"}]}"#,
        says: "Invalid 'input[0].id': 'srvtoolu_1'. Expected an ID that begins with 'ws'.",
    },
    Rule {
        name: "code without its container",
        check: items::containers,
        example: r#"{"input": [{"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "outputs": null}]}"#,
        says: "Missing required parameter: 'input[0].container_id'.",
    },
    Rule {
        name: "tools of the API",
        check: items::built_in,
        example: r#"{"tools": [{"type": "code_interpreter"}]}"#,
        says: "Missing required parameter: 'tools[0].container'.",
    },
    Rule {
        name: "search with the least effort",
        check: items::search_effort,
        example: r#"{"model": "gpt-5", "reasoning": {"effort": "minimal"}, "tools": [{"type": "web_search"}]}"#,
        says: "The following tools cannot be used with reasoning.effort 'minimal': web_search.",
    },
    Rule {
        name: "tools",
        check: items::tools,
        example: r#"{"tools": [{"type": "function", "function": {"name": "a"}}]}"#,
        says: "Missing required parameter: 'tools[0].name'.",
    },
    Rule {
        name: "tool schemas",
        check: items::schemas,
        example: r#"{"tools": [{"type": "function", "name": "a", "strict": true, "parameters": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}}]}"#,
        says: "Invalid schema for function 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    },
    Rule {
        name: "tool choice names a tool",
        check: items::choice_known,
        example: r#"{"tools": [{"type": "function", "name": "a", "parameters": {"type": "object", "properties": {}}}], "tool_choice": {"type": "function", "name": "b"}}"#,
        says: "Tool choice 'function' not found in 'tools' parameter.",
    },
    Rule {
        name: "output schema",
        check: items::text_format,
        example: r#"{"text": {"format": {"type": "json_schema", "name": "a", "strict": true, "schema": {"type": "object", "properties": {"b": {"type": "string"}}}}}}"#,
        says: "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    },
    Rule {
        name: "json mode needs the word",
        check: items::json_word,
        example: r#"{"text": {"format": {"type": "json_object"}}}"#,
        says: "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    },
    Rule {
        name: "earlier response",
        check: state::previous,
        example: r#"{"previous_response_id": "resp_never"}"#,
        says: "Previous response with id 'resp_never' not found.",
    },
    Rule {
        name: "item references",
        check: state::references,
        example: r#"{"input": [{"type": "item_reference", "id": "rs_never"}]}"#,
        says: "Item with id 'rs_never' not found. Items are not persisted when `store` is set to false.",
    },
    Rule {
        name: "encrypted reasoning",
        check: state::encrypted,
        example: r#"{"model": "o3", "input": [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAAA"}, {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]}"#,
        says: "The encrypted content for item rs_1 could not be verified.",
    },
    Rule {
        name: "reasoning leads to something",
        check: state::followed,
        example: r#"{"model": "o3", "input": [{"role": "user", "content": "x"}, {"type": "reasoning", "id": "rs_1", "summary": []}]}"#,
        says: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    },
];

//! What Chat Completions refuses.

mod conversation;
mod parameters;
mod tools;

use super::openai::{self, invalid};
use super::{Refusal, Rule, Wire};

/// The table, in the order in which the API checks.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unknown field",
        check: parameters::unknown_fields,
        example: r#"{"top_k": 4}"#,
        says: "Unrecognized request argument supplied: top_k",
    },
    Rule {
        name: "model missing",
        check: openai::model_given,
        example: r#"{"model": null}"#,
        says: "you must provide a model parameter",
    },
    Rule {
        name: "model unknown",
        check: openai::model_known,
        example: r#"{"model": "gpt-0"}"#,
        says: "The model `gpt-0` does not exist or you do not have access to it.",
    },
    Rule {
        name: "model does not chat",
        check: parameters::chats,
        example: r#"{"model": "text-embedding-3-small"}"#,
        says: "This is not a chat model and thus not supported in the v1/chat/completions endpoint.",
    },
    Rule {
        name: "max_tokens refused",
        check: parameters::max_tokens,
        example: r#"{"model": "gpt-5", "max_tokens": 10}"#,
        says: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    },
    Rule {
        name: "token limit too small",
        check: parameters::limit_positive,
        example: r#"{"max_completion_tokens": 0}"#,
        says: "Invalid 'max_completion_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
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
        example: r#"{"model": "o3", "reasoning_effort": "none"}"#,
        says: "Unsupported value: 'none' is not supported with the 'o3' model. Supported values are: 'low', 'medium', and 'high'.",
    },
    Rule {
        name: "sampling of thinking models",
        check: parameters::sampling,
        example: r#"{"model": "o3", "temperature": 0.5}"#,
        says: "Unsupported value: 'temperature' does not support 0.5 with this model.",
    },
    Rule {
        name: "stop",
        check: parameters::stop,
        example: r#"{"stop": ["a", "b", "c", "d", "e"]}"#,
        says: "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.",
    },
    Rule {
        name: "stream options alone",
        check: parameters::stream_options,
        example: r#"{"stream_options": {"include_usage": true}}"#,
        says: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    },
    Rule {
        name: "metadata",
        check: openai::metadata,
        example: r#"{"metadata": {"a": 1}}"#,
        says: "Invalid type for 'metadata.a': expected a string, but got a number instead.",
    },
    Rule {
        name: "messages missing",
        check: conversation::given,
        example: r#"{"messages": []}"#,
        says: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    },
    Rule {
        name: "roles",
        check: conversation::roles,
        example: r#"{"messages": [{"role": "model", "content": "x"}]}"#,
        says: "Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    },
    Rule {
        name: "system prompt refused",
        check: conversation::system_taken,
        example: r#"{"model": "o1-mini", "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]}"#,
        says: "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    },
    Rule {
        name: "content missing",
        check: conversation::content,
        example: r#"{"messages": [{"role": "user", "content": null}]}"#,
        says: "Invalid value for 'content': expected a string, got null.",
    },
    Rule {
        name: "part kinds",
        check: conversation::parts,
        example: r#"{"messages": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}]}"#,
        says: "Invalid value: 'input_text'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.",
    },
    Rule {
        name: "images",
        check: conversation::images,
        example: r#"{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AAAA"}}]}]}"#,
        says: "You uploaded an unsupported image.",
    },
    Rule {
        name: "calls without results",
        check: conversation::calls_answered,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "user", "content": "y"}]}"#,
        says: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    },
    Rule {
        name: "results without calls",
        check: conversation::results_called,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "call_1", "content": "y"}]}"#,
        says: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    },
    Rule {
        name: "search options",
        check: tools::search_options,
        example: r#"{"web_search_options": {}}"#,
        says: "Web search options not supported with this model.",
    },
    Rule {
        name: "kinds of tools",
        check: tools::kinds,
        example: r#"{"tools": [{"type": "openrouter:web_search"}]}"#,
        says: "Invalid value: 'openrouter:web_search'. Supported values are: 'function' and 'custom'.",
    },
    Rule {
        name: "tools",
        check: tools::names,
        example: r#"{"tools": [{"type": "function", "function": {"name": "a b"}}]}"#,
        says: "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    },
    Rule {
        name: "tool schemas",
        check: tools::schemas,
        example: r#"{"tools": [{"type": "function", "function": {"name": "a", "strict": true, "parameters": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}}}]}"#,
        says: "Invalid schema for function 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    },
    Rule {
        name: "tool choice without tools",
        check: tools::choice_alone,
        example: r#"{"tool_choice": "auto"}"#,
        says: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
    },
    Rule {
        name: "parallel calls without tools",
        check: tools::parallel_alone,
        example: r#"{"parallel_tool_calls": true}"#,
        says: "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
    },
    Rule {
        name: "tool choice names a tool",
        check: tools::choice_known,
        example: r#"{"tools": [{"type": "function", "function": {"name": "a"}}], "tool_choice": {"type": "function", "function": {"name": "b"}}}"#,
        says: "Invalid value for 'tool_choice': tool_choice.function.name 'b' not found in 'tools'.",
    },
    Rule {
        name: "tools beside an effort",
        check: tools::beside_effort,
        example: r#"{"model": "gpt-5.4", "reasoning_effort": "low", "tools": [{"type": "function", "function": {"name": "a"}}]}"#,
        says: "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    },
    Rule {
        name: "output schema",
        check: tools::response_format,
        example: r#"{"response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": true, "schema": {"type": "object", "properties": {"b": {"type": "string"}}}}}}"#,
        says: "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    },
    Rule {
        name: "json mode needs the word",
        check: tools::json_word,
        example: r#"{"response_format": {"type": "json_object"}}"#,
        says: "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    },
];

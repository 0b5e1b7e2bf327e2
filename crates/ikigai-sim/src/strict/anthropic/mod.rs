//! What the Messages API refuses.

mod conversation;
mod hosted;
mod parameters;
mod thinking;
mod tools;

use ikigai_core::wire::WireError;
use serde_json::{Value, json};

use super::{Refusal, Rule, Wire, list, word};
use crate::service::wire_error;

/// The table, in the order in which the API checks.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "version header",
        check: parameters::version,
        example: r#"{"@headers": {"anthropic-version": null}}"#,
        says: "anthropic-version: header is required",
    },
    Rule {
        name: "threads",
        check: parameters::threads,
        example: r#"{"thread": {"type": "create"}}"#,
        says: "thread: server-held threads are not supported",
    },
    Rule {
        name: "unknown field",
        check: parameters::unknown_fields,
        example: r#"{"frequency_penalty": 1}"#,
        says: "frequency_penalty: Extra inputs are not permitted",
    },
    Rule {
        name: "model missing",
        check: parameters::model_given,
        example: r#"{"model": null}"#,
        says: "model: Field required",
    },
    Rule {
        name: "model unknown",
        check: parameters::model_known,
        example: r#"{"model": "claude-sonnet-0-1"}"#,
        says: "model: claude-sonnet-0-1",
    },
    Rule {
        name: "max_tokens missing",
        check: parameters::max_tokens_given,
        example: r#"{"max_tokens": null}"#,
        says: "max_tokens: Field required",
    },
    Rule {
        name: "max_tokens too large",
        check: parameters::max_tokens_fits,
        example: r#"{"max_tokens": 900000}"#,
        says: "max_tokens: 900000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
    },
    Rule {
        name: "temperature range",
        check: parameters::temperature_range,
        example: r#"{"temperature": 1.5}"#,
        says: "temperature: range: 0..1",
    },
    Rule {
        name: "sampling refused",
        check: parameters::sampling_taken,
        example: r#"{"model": "claude-opus-4-7", "top_k": 5}"#,
        says: "`top_k` is not supported for this model",
    },
    Rule {
        name: "temperature and top_p",
        check: parameters::one_of_two,
        example: r#"{"temperature": 0.5, "top_p": 0.9}"#,
        says: "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    },
    Rule {
        name: "stop sequences blank",
        check: parameters::stop_sequences,
        example: r#"{"stop_sequences": [" "]}"#,
        says: "stop_sequences: each stop sequence must contain non-whitespace",
    },
    Rule {
        name: "metadata user_id",
        check: parameters::user_id,
        example: r#"{"metadata": {"user_id": "@long"}}"#,
        says: "metadata.user_id: String should have at most 256 characters",
    },
    Rule {
        name: "cache_control count",
        check: parameters::cache_marks,
        example: r#"{"system": "@five-marks"}"#,
        says: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    },
    Rule {
        name: "messages missing",
        check: conversation::given,
        example: r#"{"messages": []}"#,
        says: "messages: at least one message is required",
    },
    Rule {
        name: "roles",
        check: conversation::roles,
        example: r#"{"messages": [{"role": "tool", "content": "x"}]}"#,
        says: "messages.0.role: Input should be 'user' or 'assistant'",
    },
    Rule {
        name: "empty text",
        check: conversation::empty_text,
        example: r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]}"#,
        says: "messages: text content blocks must contain non-whitespace text",
    },
    Rule {
        name: "block kinds",
        check: conversation::blocks,
        example: r#"{"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}"#,
        says: "messages.0.content.0: Input tag 'input_audio' found using 'type' does not match any of the expected tags",
    },
    Rule {
        name: "image source",
        check: conversation::images,
        example: r#"{"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "AAAA"}}]}]}"#,
        says: "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    },
    Rule {
        name: "tool call ids",
        check: conversation::call_ids,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "a.b", "name": "f", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a.b", "content": "y"}]}]}"#,
        says: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    },
    Rule {
        name: "calls without results",
        check: conversation::calls_answered,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]}, {"role": "user", "content": "y"}]}"#,
        says: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    },
    Rule {
        name: "results without calls",
        check: conversation::results_called,
        example: r#"{"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "y"}]}]}"#,
        says: "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    },
    Rule {
        name: "ids of the API's calls",
        check: hosted::call_ids,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "call-1", "name": "web_search", "input": {"query": "q"}}]}]}"#,
        says: "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
    },
    Rule {
        name: "ids of the API's calls twice",
        check: hosted::calls_once,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.2: `server_tool_use` ids must be unique",
    },
    Rule {
        name: "results without the API's calls",
        check: hosted::results_called,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
    },
    Rule {
        name: "the API's calls without results",
        check: hosted::calls_answered,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}, {"type": "text", "text": "y"}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.0: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    },
    Rule {
        name: "search result without its seal",
        check: hosted::results_sealed,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "https://a.org", "title": "A"}]}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.1.web_search_tool_result.content.0.encrypted_content: Field required",
    },
    Rule {
        name: "search result with another seal",
        check: hosted::results_sealed,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "https://a.org", "title": "A", "encrypted_content": "AAAA"}]}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.1: Invalid `encrypted_content` in `web_search_tool_result` block",
    },
    Rule {
        name: "citation with another seal",
        check: hosted::citations_sealed,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "text", "text": "y", "citations": [{"type": "web_search_result_location", "url": "https://a.org", "title": "A", "cited_text": "", "encrypted_index": "AAAA"}]}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.0: Invalid `encrypted_index` in `web_search_result_location` block",
    },
    Rule {
        name: "both lists of domains",
        check: hosted::domains,
        example: r#"{"tools": [{"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org"], "blocked_domains": ["b.org"]}]}"#,
        says: "tools.0.web_search_20250305: only one of `allowed_domains` and `blocked_domains` may be specified",
    },
    Rule {
        name: "prefill refused",
        check: conversation::prefill,
        example: r#"{"model": "claude-opus-4-6", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}"#,
        says: "This model does not support assistant message prefill. The conversation must end with a user message.",
    },
    Rule {
        name: "prefill with a space",
        check: conversation::trailing_space,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y "}]}"#,
        says: "messages: final assistant content cannot end with trailing whitespace",
    },
    Rule {
        name: "tool names",
        check: tools::names,
        example: r#"{"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}"#,
        says: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    },
    Rule {
        name: "tool names twice",
        check: tools::unique,
        example: r#"{"tools": [{"name": "a", "input_schema": {"type": "object"}}, {"name": "a", "input_schema": {"type": "object"}}]}"#,
        says: "tools: Tool names must be unique.",
    },
    Rule {
        name: "tool schema",
        check: tools::schemas,
        example: r#"{"tools": [{"name": "a", "input_schema": {"type": "string"}}]}"#,
        says: "tools.0.custom.input_schema.type: Input should be 'object'",
    },
    Rule {
        name: "strict tool schema",
        check: tools::strict,
        example: r#"{"tools": [{"name": "a", "strict": true, "input_schema": {"type": "object", "properties": {}}}]}"#,
        says: "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false",
    },
    Rule {
        name: "strict tool count",
        check: tools::strict_count,
        example: r#"{"tools": "@twenty-one"}"#,
        says: "Too many strict tools (21). The maximum number of strict tools supported is 20.",
    },
    Rule {
        name: "strict unions",
        check: tools::strict_unions,
        example: r#"{"tools": "@seventeen-unions"}"#,
        says: "Schemas contains too many parameters with union types (17 parameters with type arrays or anyOf).",
    },
    Rule {
        name: "structured output schema",
        check: tools::output_format,
        example: r#"{"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "additionalProperties": false}}}}"#,
        says: "output_config.format.schema: For 'integer' type, property 'minimum' is not supported",
    },
    Rule {
        name: "tool choice names a tool",
        check: tools::choice_known,
        example: r#"{"tools": [{"name": "a", "input_schema": {"type": "object"}}], "tool_choice": {"type": "tool", "name": "b"}}"#,
        says: "Tool 'b' not found in provided tools",
    },
    Rule {
        name: "tool choice forced",
        check: tools::choice_taken,
        example: r#"{"model": "claude-opus-5-5", "tools": [{"name": "a", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}}"#,
        says: "tool_choice: forced tool use is not supported for this model",
    },
    Rule {
        name: "thinking type",
        check: thinking::kind,
        example: r#"{"thinking": {"type": "adaptive"}}"#,
        says: "adaptive thinking is not supported on this model",
    },
    Rule {
        name: "thinking budget least",
        check: thinking::least,
        example: r#"{"thinking": {"type": "enabled", "budget_tokens": 500}}"#,
        says: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    },
    Rule {
        name: "thinking budget fits",
        check: thinking::fits,
        example: r#"{"thinking": {"type": "enabled", "budget_tokens": 4096}}"#,
        says: "`max_tokens` must be greater than `thinking.budget_tokens`",
    },
    Rule {
        name: "effort",
        check: thinking::effort,
        example: r#"{"output_config": {"effort": "low"}}"#,
        says: "This model does not support the effort parameter.",
    },
    Rule {
        name: "thinking and sampling",
        check: thinking::sampling,
        example: r#"{"thinking": {"type": "enabled", "budget_tokens": 1024}, "temperature": 0.5}"#,
        says: "`temperature` may only be set to 1 when thinking is enabled",
    },
    Rule {
        name: "thinking and forced tools",
        check: thinking::forced_tools,
        example: r#"{"thinking": {"type": "enabled", "budget_tokens": 1024}, "tools": [{"name": "a", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}}"#,
        says: "Thinking may not be enabled when tool_choice forces tool use.",
    },
    Rule {
        name: "signature missing",
        check: thinking::signed,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "y"}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.0.thinking.signature: Field required",
    },
    Rule {
        name: "signature foreign",
        check: thinking::genuine,
        example: r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "AAAA"}, {"type": "text", "text": "y"}]}, {"role": "user", "content": "z"}]}"#,
        says: "messages.1.content.0: Invalid `signature` in `thinking` block",
    },
    Rule {
        name: "tool turn begins with thinking",
        check: thinking::begins_tool_turn,
        example: r#"{"thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "y"}]}]}"#,
        says: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    },
];

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::invalid("invalid_request_error", message)
}

/// A refusal as the Messages API writes it.
pub(super) fn write(refusal: Refusal) -> WireError {
    let mut error = json!({"type": refusal.kind, "message": refusal.message});
    if let (Some(details), Some(fields)) = (refusal.details, error.as_object_mut()) {
        fields.insert("details".to_owned(), details);
    }
    wire_error(refusal.status, &json!({"type": "error", "error": error, "request_id": "req_sim"}))
}

/// The blocks of a message; none if its content is plain text.
fn blocks(message: &Value) -> &[Value] {
    list(message, "content")
}

fn model<'a>(wire: &Wire<'a>) -> &'a str {
    wire.text("model").unwrap_or_default()
}

/// The value of `thinking.type`; empty if absent.
fn thinking_type<'a>(wire: &Wire<'a>) -> &'a str {
    wire.field("thinking").map_or("", |thinking| word(thinking, "type"))
}

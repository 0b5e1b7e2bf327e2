//! The names that version 1 of the format's JSON wrote side by side, and where each belongs.

use super::Entry;
use crate::{Fields, Json};

/// Names of state, whichever dialect they are of.
pub(crate) const STATE: [&str; 9] = [
    "signature",
    "redacted_data",
    "reasoning_details",
    "extra_content",
    "encrypted_content",
    "id",
    "thought_signature",
    "wire",
    "half",
];

/// Names that version 1 wrote for the spelling of a document. Read into the shape, wherever they stand.
const SHAPE: [&str; 93] = [
    "absent",
    "annotations",
    "arguments",
    "arguments_object",
    "audio",
    "bare",
    "bare_data",
    "belongs_to",
    "betas",
    "block",
    "body",
    "body_model",
    "call",
    "choice",
    "choice_at",
    "choices",
    "chunks",
    "citations",
    "content",
    "continues",
    "counts",
    "custom",
    "data",
    "data_head",
    "data_in",
    "defaults",
    "document_url",
    "dummy",
    "easy",
    "elsewhere",
    "error",
    "file_url",
    "finish_reason",
    "format",
    "function",
    "function_call",
    "function_calling_config",
    "functions",
    "generated_id",
    "id_generated",
    "images",
    "in_part",
    "incomplete_details",
    "inner",
    "input",
    "item",
    "json",
    "labels",
    "length",
    "max_tokens_field",
    "message",
    "model",
    "model_in_path",
    "name",
    "no_args",
    "no_arguments",
    "no_id",
    "no_input",
    "no_mime_type",
    "no_parameters",
    "no_strict",
    "no_type",
    "numbers",
    "of",
    "other_calls",
    "outer",
    "output",
    "output_text",
    "part",
    "part_type",
    "parts",
    "payload",
    "plain",
    "prompt_cache_breakpoint",
    "random_seed",
    "raw",
    "reasoning",
    "reasoning_also",
    "reasoning_field",
    "refusal",
    "response_format",
    "role",
    "schema",
    "schema_field",
    "single_content",
    "single_tools",
    "snake",
    "split",
    "status",
    "stop_reason",
    "stop_text",
    "strict",
    "string",
];

/// Reads one name below a dialect's name.
pub(super) fn read(entry: &mut Entry, name: String, value: Json) {
    let inner = |value: &Json| value.to::<Fields>().ok();
    match (name.as_str(), inner(&value)) {
        ("extra", Some(fields)) => entry.extra.merge(fields),
        ("response", Some(fields)) => entry.answer.merge(fields),
        ("shape", Some(fields)) => entry.shape.merge(fields),
        (known, _) if STATE.contains(&known) => entry.state.set(name, value),
        (known, _) if is_shape(known) => entry.shape.set(name, value),
        _ => entry.extra.set(name, value),
    }
}

fn is_shape(name: &str) -> bool {
    SHAPE.contains(&name)
        || matches!(
            name,
            "summary"
                | "system"
                | "system_blocks"
                | "system_empty"
                | "system_one"
                | "system_text"
                | "text"
                | "text_before"
        )
        || matches!(name, "thinking" | "thinking_config" | "tool_choice" | "tool_layout" | "unsigned" | "usage")
        || matches!(name, "without_message_stop" | "written")
}

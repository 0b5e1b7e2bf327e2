//! The names that version 1 of the format's JSON wrote side by side, and the part to which each belongs.

use std::borrow::Cow;

use super::{Entry, STATE};
use crate::json::Setting;
use crate::{Fields, Json};

/// Names that version 1 used for the spelling of a document. They are read into the shape, wherever they are.
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

/// The data under a dialect's name while it is being read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) dialect: Cow<'static, str>,
    state: Setting,
    extra: Setting,
    answer: Setting,
    shape: Setting,
}

impl Reading {
    pub(super) fn new(dialect: Cow<'static, str>) -> Self {
        let [state, extra, answer, shape] = Default::default();
        Reading { dialect, state, extra, answer, shape }
    }

    /// Reads one name under a dialect's name.
    pub(super) fn read(&mut self, name: String, value: Json) {
        let part = match name.as_str() {
            "extra" => Some(&mut self.extra),
            "response" => Some(&mut self.answer),
            "shape" => Some(&mut self.shape),
            _ => None,
        };
        match part.and_then(|part| Some((part, value.to::<Fields>().ok()?))) {
            Some((part, fields)) => part.merge(fields),
            None if STATE.contains(&name.as_str()) => self.state.set(name, value),
            None if is_shape(&name) => self.shape.set(name, value),
            None => self.extra.set(name, value),
        }
    }

    pub(super) fn done(self) -> Entry {
        let Reading { dialect, state, extra, answer, shape } = self;
        Entry { dialect, state: state.done(), extra: extra.done(), answer: answer.done(), shape: shape.done() }
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

//! The names that version 1 of the format's JSON wrote side by side, and where each belongs.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::{Entry, Part, ProviderData};
use crate::{Dialect, Fields, Json};

/// Names of state, whichever dialect they are of.
pub(crate) const STATE: [&str; 7] = [
    "signature",
    "redacted_data",
    "reasoning_details",
    "extra_content",
    "encrypted_content",
    "id",
    "thought_signature",
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

/// All names of an entry side by side, as version 1 had them, made when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct Flat(OnceLock<Map<String, Value>>);

impl Clone for Flat {
    fn clone(&self) -> Self {
        Flat::default()
    }
}

impl Entry {
    fn flat(&self) -> &Map<String, Value> {
        self.flat.0.get_or_init(|| {
            let object = |fields: &Fields| -> Map<String, Value> {
                fields.iter().map(|(name, value)| (name.to_owned(), value.value().clone())).collect()
            };
            let mut flat = object(&self.state);
            flat.extend(object(&self.shape));
            for (name, part) in [("extra", &self.extra), ("response", &self.answer)] {
                if !part.is_empty() {
                    flat.insert(name.to_owned(), Value::Object(object(part)));
                }
            }
            flat
        })
    }

    fn set_flat(&mut self, name: String, value: Value) {
        match (name.as_str(), value) {
            ("extra", Value::Object(fields)) => *self.part_mut(Part::Extra) = fields.into(),
            ("response", Value::Object(fields)) => *self.part_mut(Part::Answer) = fields.into(),
            (known, value) if STATE.contains(&known) => self.part_mut(Part::State).set(name, value),
            (_, value) => self.part_mut(Part::Shape).set(name, value),
        }
    }
}

/// The names side by side, for codecs that have not been told apart yet.
impl ProviderData {
    #[doc(hidden)]
    pub fn get(&self, dialect: Dialect) -> Option<&Map<String, Value>> {
        self.entry(dialect.as_str()).map(Entry::flat)
    }

    #[doc(hidden)]
    pub fn value(&self, dialect: Dialect, key: &str) -> Option<&Value> {
        self.get(dialect)?.get(key)
    }

    #[doc(hidden)]
    pub fn str(&self, dialect: Dialect, key: &str) -> Option<&str> {
        self.value(dialect, key)?.as_str()
    }

    #[doc(hidden)]
    pub fn flag(&self, dialect: Dialect, key: &str) -> bool {
        self.value(dialect, key).and_then(Value::as_bool).unwrap_or(false)
    }

    #[doc(hidden)]
    pub fn set(&mut self, dialect: Dialect, key: impl Into<String>, value: impl Into<Value>) {
        self.own(dialect.as_str()).set_flat(key.into(), value.into());
    }

    #[doc(hidden)]
    pub fn remove(&mut self, dialect: Dialect, key: &str) -> Option<Value> {
        let entry = self.entries.iter_mut().find(|entry| entry.dialect == dialect.as_str())?;
        let value = entry.flat().get(key).cloned()?;
        match key {
            "extra" => drop(std::mem::take(entry.part_mut(Part::Extra))),
            "response" => drop(std::mem::take(entry.part_mut(Part::Answer))),
            known if STATE.contains(&known) => drop(entry.part_mut(Part::State).remove(key)),
            _ => drop(entry.part_mut(Part::Shape).remove(key)),
        }
        self.entries.retain(|entry| !entry.is_empty());
        Some(value)
    }

    #[doc(hidden)]
    pub fn extend(&mut self, dialect: Dialect, fields: Map<String, Value>) {
        if !fields.is_empty() {
            let entry = self.own(dialect.as_str());
            fields.into_iter().for_each(|(name, value)| entry.set_flat(name, value));
        }
    }

    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.entries.iter().map(|entry| (entry.dialect.as_ref(), entry.flat()))
    }
}

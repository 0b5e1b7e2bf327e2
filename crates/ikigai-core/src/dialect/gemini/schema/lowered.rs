//! A schema of the subset in the making.

use serde_json::{Map, Value};

/// About how many bytes a value takes when it is written.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>() + 2,
        Value::Array(items) => items.iter().map(|item| 1 + size(item)).sum::<usize>() + 2,
        Value::String(text) => text.len() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

pub(super) fn word_of(values: &[&Value]) -> &'static str {
    if values.iter().all(|value| value.is_i64() || value.is_u64()) {
        "INTEGER"
    } else if values.iter().all(|value| value.is_number()) {
        "NUMBER"
    } else if values.iter().all(|value| value.is_boolean()) {
        "BOOLEAN"
    } else {
        "STRING"
    }
}

/// A schema of the subset in the making.
#[derive(Default)]
pub(super) struct Lowered {
    pub(super) word: Option<String>,
    pub(super) nullable: bool,
    pub(super) notes: Vec<String>,
    pub(super) choices: Vec<Value>,
    pub(super) fields: Map<String, Value>,
}

impl Lowered {
    pub(super) fn finish(mut self) -> Value {
        let mut schema = Map::new();
        // A choice of one is none.
        if self.choices.len() == 1
            && let Some(Value::Object(only)) = self.choices.pop()
        {
            schema = only;
        }
        if !self.choices.is_empty() {
            self.word = None;
            schema.insert("anyOf".to_owned(), self.choices.into());
        }
        if let Some(word) = self.word {
            schema.entry("type").or_insert_with(|| word.into());
        }
        if !self.notes.is_empty() {
            schema.insert("description".to_owned(), self.notes.join(" ").into());
        }
        schema.extend(self.fields);
        if self.nullable {
            schema.insert("nullable".to_owned(), true.into());
        }
        Value::Object(schema)
    }
}

/// Puts one lowered schema over another: properties and required names add up, the rest replaces.
pub(super) fn merge(target: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (target.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => own.extend(more),
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                own.extend(more);
            }
            (_, value) => {
                target.insert(key, value);
            }
        }
    }
}

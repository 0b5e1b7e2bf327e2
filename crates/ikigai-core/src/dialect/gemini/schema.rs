//! Two languages for schemas.
//!
//! `parametersJsonSchema` and `responseJsonSchema` take plain JSON Schema, which is what the format holds. `parameters`
//! and `responseSchema` take a subset of OpenAPI's: [`raise`] reads it, [`lower`] writes it and says what it lost.

use serde_json::{Map, Value, json};

use crate::Loss;

/// So many schemas are written at most: references that multiply would never end.
const MOST: usize = 5_000;

/// Keywords of protobuf's `Schema` that clients may spell in snake_case.
const SPELLINGS: [(&str, &str); 10] = [
    ("any_of", "anyOf"),
    ("prefix_items", "prefixItems"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
    ("property_ordering", "propertyOrdering"),
    ("additional_properties", "additionalProperties"),
];
/// Keywords whose int64 values may be written as texts.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Does the schema of a function's arguments name any? An object without is as good as no schema.
pub(super) fn has_properties(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) if !properties.is_empty() => true,
        // Something else may say it: a reference, a choice, free names.
        _ => {
            schema.keys().any(|key| {
                !matches!(
                    key.as_str(),
                    "type" | "properties" | "required" | "additionalProperties" | "$schema" | "title" | "description"
                )
            }) || schema.get("additionalProperties").is_some_and(Value::is_object)
        }
    }
}

/// A schema of the subset as JSON Schema: types in lower case, `nullable` as a type, the order of properties as such.
pub(super) fn raise(schema: Value) -> Value {
    let Value::Object(schema) = schema else { return schema };
    let mut raised = Map::with_capacity(schema.len());
    let mut nullable = false;
    let mut order = None;
    for (key, value) in schema {
        let key = SPELLINGS.iter().find(|(snake, _)| *snake == key).map_or(key, |(_, camel)| (*camel).to_owned());
        let value = match key.as_str() {
            "type" => match value.as_str().and_then(json_type) {
                Some(known) => known.into(),
                None if value == "TYPE_UNSPECIFIED" => continue,
                None => value,
            },
            "nullable" if value.is_boolean() => {
                nullable = value == true;
                continue;
            }
            "propertyOrdering" if value.is_array() => {
                order = Some(value);
                continue;
            }
            "format" if value == "enum" => continue,
            "properties" | "$defs" | "defs" => map_values(value, raise),
            "items" | "additionalProperties" => raise(value),
            "anyOf" | "prefixItems" => map_items(value, raise),
            count if COUNTS.contains(&count) => match value.as_str().and_then(|text| text.parse::<u64>().ok()) {
                Some(number) => number.into(),
                None => value,
            },
            _ => value,
        };
        raised.insert(key, value);
    }
    if let Some(order) = order {
        reorder(&mut raised, &order);
    }
    if nullable {
        admit_null(&mut raised);
    }
    Value::Object(raised)
}

fn map_values(value: Value, change: fn(Value) -> Value) -> Value {
    match value {
        Value::Object(values) => values.into_iter().map(|(key, value)| (key, change(value))).collect(),
        other => other,
    }
}

fn map_items(value: Value, change: fn(Value) -> Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(change).collect(),
        other => other,
    }
}

fn json_type(word: &str) -> Option<&'static str> {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
    TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(word))
}

fn reorder(schema: &mut Map<String, Value>, order: &Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut rest = std::mem::take(properties);
    for name in order.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some((name, schema)) = rest.shift_remove_entry(name) {
            properties.insert(name, schema);
        }
    }
    properties.extend(rest);
}

fn admit_null(schema: &mut Map<String, Value>) {
    match schema.get_mut("type") {
        Some(Value::String(word)) => {
            let both = json!([word, "null"]);
            schema.insert("type".to_owned(), both);
        }
        _ => {
            if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
                choices.push(json!({"type": "null"}));
            }
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// A JSON Schema in the subset. What the subset has no word for is left out or put into the description, and told.
pub(super) fn lower(schema: &Value, place: &str, losses: &mut Vec<Loss>) -> Value {
    Lowering { root: schema, open: Vec::new(), written: 0, losses }.schema(schema, place)
}

/// The schema that a client wrote in the subset's field: as it was, as long as it still says the same.
pub(super) fn rewritten(schema: &Value, kept: Option<&Value>, place: &str, losses: &mut Vec<Loss>) -> Value {
    match kept {
        // The subset's words and those of JSON Schema were the same.
        None => schema.clone(),
        Some(kept) if raise(kept.clone()) == *schema => kept.clone(),
        Some(_) => lower(schema, place, losses),
    }
}

struct Lowering<'a> {
    root: &'a Value,
    /// The references that are being followed.
    open: Vec<&'a str>,
    written: usize,
    losses: &'a mut Vec<Loss>,
}

impl<'a> Lowering<'a> {
    fn lost(&mut self, what: &str, place: &str, why: &str) {
        self.losses.push(Loss::uncoded(what, place, why));
    }

    fn schema(&mut self, schema: &'a Value, place: &str) -> Value {
        self.written += 1;
        if self.written > MOST {
            self.lost("schema", place, "the schema is too large once its references are written out; cut here");
            return json!({"type": "OBJECT"});
        }
        let Some(schema) = schema.as_object() else {
            self.lost("schema", place, "a schema that admits anything became a text");
            return json!({"type": "STRING"});
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(reference, schema, place);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.merged(schema, parts, place);
        }
        let mut lowered = Lowered::default();
        self.types(schema, &mut lowered, place);
        for (key, value) in schema {
            self.keyword(key, value, schema, &mut lowered, place);
        }
        lowered.finish()
    }

    fn reference(&mut self, reference: &'a str, schema: &'a Map<String, Value>, place: &str) -> Value {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target else {
            self.lost("$ref", place, "the reference leads outside of the schema; any object is taken");
            return json!({"type": "OBJECT"});
        };
        if self.open.contains(&reference) {
            self.lost("$ref", place, "the schema contains itself, which the API cannot say; cut with a plain object");
            return json!({"type": "OBJECT"});
        }
        self.open.push(reference);
        let mut lowered = self.schema(target, place);
        self.open.pop();
        // What stands beside the reference describes this very place.
        if let Some(lowered) = lowered.as_object_mut() {
            for key in ["title", "description", "default"] {
                if let Some(value) = schema.get(key) {
                    lowered.insert(key.to_owned(), value.clone());
                }
            }
        }
        lowered
    }

    /// `allOf`: the parts and what stands beside them, in one.
    fn merged(&mut self, schema: &'a Map<String, Value>, parts: &'a [Value], place: &str) -> Value {
        let mut merged = Map::new();
        for part in parts {
            if let Value::Object(lowered) = self.schema(part, place) {
                merge(&mut merged, lowered);
            }
        }
        let mut beside = Lowered::default();
        for (key, value) in schema.iter().filter(|(key, _)| *key != "allOf") {
            if key == "type" {
                self.types(schema, &mut beside, place);
            }
            self.keyword(key, value, schema, &mut beside, place);
        }
        if let Value::Object(beside) = beside.finish() {
            merge(&mut merged, beside);
        }
        Value::Object(merged)
    }

    /// The type: one word, perhaps nullable; several words are a choice.
    fn types(&mut self, schema: &'a Map<String, Value>, lowered: &mut Lowered, place: &str) {
        let words: Vec<&str> = match schema.get("type") {
            Some(Value::String(word)) => vec![word.as_str()],
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        lowered.nullable = words.contains(&"null") && words.len() > 1;
        let words: Vec<&str> = words.iter().copied().filter(|word| *word != "null" || words.len() == 1).collect();
        match words.as_slice() {
            [] => {
                let implied = if schema.contains_key("properties") {
                    Some("OBJECT")
                } else if schema.contains_key("items") || schema.contains_key("prefixItems") {
                    Some("ARRAY")
                } else if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
                    None
                } else if schema.contains_key("enum") || schema.contains_key("const") {
                    Some("STRING")
                } else {
                    self.lost("schema", place, "a schema that admits anything became a text");
                    Some("STRING")
                };
                lowered.word = implied.map(str::to_owned);
            }
            [word] => lowered.word = Some(word.to_ascii_uppercase()),
            [..] => lowered.choices.extend(words.iter().map(|word| json!({"type": word.to_ascii_uppercase()}))),
        }
    }

    fn keyword(
        &mut self,
        key: &str,
        value: &'a Value,
        schema: &'a Map<String, Value>,
        lowered: &mut Lowered,
        place: &str,
    ) {
        match key {
            // Read before, or of no use to the model.
            "type" | "description" | "$schema" | "$id" | "$comment" | "$anchor" | "$defs" | "definitions" => {
                if let ("description", Some(text)) = (key, value.as_str()) {
                    lowered.notes.insert(0, text.to_owned());
                }
            }
            "title" | "default" | "example" | "pattern" | "minimum" | "maximum" | "minItems" | "maxItems"
            | "minLength" | "maxLength" | "minProperties" | "maxProperties" | "propertyOrdering" => {
                lowered.fields.insert(key.to_owned(), value.clone());
            }
            "nullable" => lowered.nullable |= value == true,
            "properties" => {
                let properties: Map<String, Value> = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, schema)| (name.clone(), self.schema(schema, &format!("{place}.properties.{name}"))))
                    .collect();
                // An object without properties is refused where it says so.
                if !properties.is_empty() {
                    lowered.fields.insert(key.to_owned(), properties.into());
                }
            }
            "required" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let names = value.as_array().into_iter().flatten().filter(|name| {
                    name.as_str().is_some_and(|name| known.is_some_and(|known| known.contains_key(name)))
                });
                let names: Vec<Value> = names.cloned().collect();
                if !names.is_empty() {
                    lowered.fields.insert(key.to_owned(), names.into());
                }
            }
            "items" => {
                let items = self.schema(value, &format!("{place}.items"));
                lowered.fields.insert(key.to_owned(), items);
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                let items: Vec<Value> =
                    items.map(|(index, item)| self.schema(item, &format!("{place}.prefixItems[{index}]"))).collect();
                lowered.fields.insert(key.to_owned(), items.into());
            }
            "anyOf" | "oneOf" => self.choices(key, value, lowered, place),
            "const" => self.values(std::slice::from_ref(value), lowered, place),
            "enum" => self.values(value.as_array().map(Vec::as_slice).unwrap_or_default(), lowered, place),
            "exclusiveMinimum" => lowered.notes.push(format!("Must be greater than {value}.")),
            "exclusiveMaximum" => lowered.notes.push(format!("Must be less than {value}.")),
            "format" => {
                let known = matches!(
                    (lowered.word.as_deref(), value.as_str()),
                    (Some("STRING"), Some("date-time" | "enum"))
                        | (Some("INTEGER"), Some("int32" | "int64"))
                        | (Some("NUMBER"), Some("float" | "double"))
                );
                if known {
                    lowered.fields.insert(key.to_owned(), value.clone());
                } else {
                    lowered.notes.push(format!("Format: {}.", value.as_str().unwrap_or_default()));
                    self.lost(key, place, "the API does not know this format; it stands in the description");
                }
            }
            "additionalProperties" if !value.is_object() => {}
            "examples" => {}
            _ => self.lost(key, place, "the API's schemas have no such keyword; it was left out"),
        }
        if key.starts_with("exclusive") {
            self.lost(key, place, "the API's schemas have no such keyword; it stands in the description");
        }
    }

    fn choices(&mut self, key: &str, value: &'a Value, lowered: &mut Lowered, place: &str) {
        if key == "oneOf" {
            self.losses.push(Loss::uncoded_info(key, place, "it became anyOf: exactly one cannot be asked for"));
        }
        for (index, choice) in value.as_array().into_iter().flatten().enumerate() {
            if choice.get("type").is_some_and(|word| word == "null") {
                lowered.nullable = true;
            } else {
                let choice = self.schema(choice, &format!("{place}.{key}[{index}]"));
                lowered.choices.push(choice);
            }
        }
    }

    /// Allowed values: texts stay, anything else goes into the description.
    fn values(&mut self, values: &'a [Value], lowered: &mut Lowered, place: &str) {
        lowered.nullable |= values.len() > 1 && values.contains(&Value::Null);
        let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        if values.iter().all(|value| value.is_string()) {
            lowered.fields.insert("enum".to_owned(), values.into_iter().cloned().collect());
            return;
        }
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        lowered.notes.push(format!("Allowed values: {}.", list.join(", ")));
        if lowered.word.as_deref() == Some("STRING") {
            lowered.word = Some(word_of(&values).to_owned());
        }
        self.lost("enum", place, "the API takes texts alone; the allowed values stand in the description");
    }
}

fn word_of(values: &[&Value]) -> &'static str {
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
struct Lowered {
    word: Option<String>,
    nullable: bool,
    notes: Vec<String>,
    choices: Vec<Value>,
    fields: Map<String, Value>,
}

impl Lowered {
    fn finish(mut self) -> Value {
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
fn merge(target: &mut Map<String, Value>, more: Map<String, Value>) {
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

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

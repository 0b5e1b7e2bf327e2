//! The two schema languages.
//!
//! `parametersJsonSchema` and `responseJsonSchema` take plain JSON Schema, which is what the format has. `parameters`
//! and `responseSchema` take a subset of OpenAPI's: [`raised`] reads it, [`lower`] writes it and reports losses.

mod lower;

use serde_json::{Map, Value, json};

use crate::json::tagged::Object;
use crate::json::wire::Raw;
use crate::{Error, Json, Limits, Loss};

pub(super) use lower::lower;

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
/// Keywords whose int64 values may be written as strings.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Whether the schema of a function's arguments names any. An object without properties is as good as no schema.
pub(super) fn has_properties(schema: &Json) -> bool {
    let Ok(schema) = schema.to::<Object<'_>>() else { return false };
    let is_object = |name: &str| schema.get(name).is_some_and(|value| value.get().starts_with('{'));
    // Arguments may be described by something other than properties: a reference, a choice, free names.
    let says_nothing = |name: &str| {
        matches!(
            name,
            "type" | "properties" | "required" | "additionalProperties" | "$schema" | "title" | "description"
        )
    };
    is_object("properties") && schema.get("properties").is_some_and(|value| value.get() != "{}")
        || is_object("additionalProperties")
        || !schema.0.iter().all(|(name, _)| says_nothing(name))
}

/// Converts a schema of the subset to JSON Schema, and returns it with the original if they differ.
pub(super) fn read(written: Json) -> (Json, Option<Json>) {
    match raised(&written) {
        Some(raised) => (raised, Some(written)),
        None => (written, None),
    }
}

/// Converts a schema of the subset to JSON Schema. Returns `None` if it already is JSON Schema.
fn raised(schema: &Json) -> Option<Json> {
    let written: Value = schema.to().ok()?;
    let raised = raise(written.clone());
    (raised != written).then(|| raised.into())
}

/// Returns the schema for the subset's field: the client's original, `kept`, while it still says the same.
///
/// # Errors
/// Returns an error if a limit is reached.
pub(super) fn rewritten<'a>(
    schema: &'a Json,
    kept: Option<&'a Json>,
    place: &str,
    limits: &Limits,
    losses: &mut Vec<Loss>,
) -> Result<Raw<'a>, Error> {
    match kept {
        // The subset and JSON Schema spelled it the same way.
        None => Ok(Raw::from(schema)),
        Some(kept) if raised(kept).as_ref() == Some(schema) => Ok(Raw::from(kept)),
        Some(_) => lower(schema, place, limits, losses),
    }
}

/// Converts a schema of the subset to JSON Schema: types in lower case, `nullable` as a type, properties in order.
fn raise(schema: Value) -> Value {
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
            "properties" | "$defs" | "defs" | "anyOf" | "prefixItems" => raise_each(value),
            "items" | "additionalProperties" => raise(value),
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

fn raise_each(schemas: Value) -> Value {
    match schemas {
        Value::Object(named) => named.into_iter().map(|(name, schema)| (name, raise(schema))).collect(),
        Value::Array(items) => items.into_iter().map(raise).collect(),
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

#[cfg(test)]
mod tests;

//! Checks whether a value is a JSON Schema that providers accept.
//!
//! The keywords that tools use are checked by hand, which gives readable messages; references inside the schema are
//! followed. With the feature `validate`, the metaschema of the draft that the schema names is applied as well.

use serde_json::Value;

/// Returns what is wrong with a schema, if anything.
pub(super) fn schema_fault(schema: &Value) -> Option<String> {
    if !schema.is_object() {
        return Some(format!("it must be an object, but is {}", kind(schema)));
    }
    plain_fault(schema, "").or_else(|| metaschema_fault(schema)).or_else(|| dangling_reference(schema, schema))
}

/// Returns whether the root describes an object, or `None` if it has no type.
pub(super) fn says_object(schema: &Value) -> Option<bool> {
    schema.get("type").map(|of_type| of_type == "object")
}

/// Returns the draft of JSON Schema that a schema is written in: the newest, unless it names another.
#[cfg(feature = "validate")]
pub(super) fn draft(schema: &Value) -> jsonschema::Draft {
    let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    [
        ("draft-04", jsonschema::Draft::Draft4),
        ("draft-06", jsonschema::Draft::Draft6),
        ("draft-07", jsonschema::Draft::Draft7),
        ("2019-09", jsonschema::Draft::Draft201909),
    ]
    .into_iter()
    .find(|(name, _)| named.contains(name))
    .map_or(jsonschema::Draft::Draft202012, |(_, draft)| draft)
}

#[cfg(feature = "validate")]
fn metaschema_fault(schema: &Value) -> Option<String> {
    use jsonschema::{Draft, draft4, draft6, draft7, draft201909, draft202012};

    let checked = match draft(schema) {
        Draft::Draft4 => draft4::meta::validate(schema),
        Draft::Draft6 => draft6::meta::validate(schema),
        Draft::Draft7 => draft7::meta::validate(schema),
        Draft::Draft201909 => draft201909::meta::validate(schema),
        _ => draft202012::meta::validate(schema),
    };
    checked.err().map(|error| super::arguments::told(&error))
}

#[cfg(not(feature = "validate"))]
fn metaschema_fault(_: &Value) -> Option<String> {
    None
}

/// Checks the keywords that tools use by hand.
fn plain_fault(schema: &Value, at: &str) -> Option<String> {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
    let place = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    let fields = match schema {
        Value::Bool(_) => return None,
        Value::Object(fields) => fields,
        other => return Some(format!("{at}: a schema must be an object, but this is {}", kind(other))),
    };
    let known = |of_type: &Value| of_type.as_str().is_some_and(|word| TYPES.contains(&word));
    for (key, value) in fields {
        let fault = match (key.as_str(), value) {
            ("type", Value::Array(types)) if !types.is_empty() && types.iter().all(known) => None,
            ("type", of_type) if known(of_type) => None,
            ("type", other) => {
                Some(format!("{}: {other} is not a type; the types are {}", place(key), TYPES.join(", ")))
            }
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(inner)) => {
                inner.iter().find_map(|(name, schema)| plain_fault(schema, &format!("{}.{name}", place(key))))
            }
            ("properties" | "patternProperties" | "$defs" | "definitions", other) => {
                Some(format!("{}: it must be an object of schemas, but is {}", place(key), kind(other)))
            }
            // Older drafts allow a list of items.
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) if !schemas.is_empty() => {
                schemas
                    .iter()
                    .enumerate()
                    .find_map(|(number, schema)| plain_fault(schema, &format!("{}[{number}]", place(key))))
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", schema) => {
                plain_fault(schema, &place(key))
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", _) => {
                Some(format!("{}: it must be a list of schemas with at least one", place(key)))
            }
            ("required", Value::Array(names)) if names.iter().all(Value::is_string) => None,
            ("required", _) => Some(format!("{}: it must be a list of property names", place(key))),
            ("enum", value) if !value.is_array() => Some(format!("{}: it must be a list", place(key))),
            _ => None,
        };
        if fault.is_some() {
            return fault;
        }
    }
    None
}

/// Finds a reference to a place that does not exist in the schema. Anchors and other documents are not checked.
fn dangling_reference(schema: &Value, root: &Value) -> Option<String> {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref")
                && let Some(pointer) = reference.strip_prefix('#')
                && (pointer.is_empty() || pointer.starts_with('/'))
                && root.pointer(&percent_decoded(pointer)).is_none()
            {
                return Some(format!("$ref: there is nothing at {reference}"));
            }
            // Examples and constants may look like references.
            fields
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "const" | "enum" | "default" | "examples" | "example"))
                .find_map(|(_, inner)| dangling_reference(inner, root))
        }
        Value::Array(items) => items.iter().find_map(|inner| dangling_reference(inner, root)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Decodes a pointer from a URI fragment, where special characters may be escaped.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = (*byte == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

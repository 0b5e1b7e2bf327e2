//! The parts of JSON Schema that each API accepts where it promises to follow a schema.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// An API's subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subset {
    /// Strict tools and structured output of the Messages API.
    Anthropic,
    /// Strict tools and structured output of OpenAI.
    Openai,
}

/// How deep a schema may go before it is refused.
const DEEPEST: usize = 64;

const ANTHROPIC_FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
const OPENAI_FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Keywords that cannot be promised.
const ANTHROPIC_REFUSED: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "uniqueItems",
    "contains",
    "minProperties",
    "maxProperties",
    "maxItems",
];
const OPENAI_REFUSED: &[&str] = &[
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "default",
];

/// Checks that it is a JSON Schema at all.
pub(crate) fn is_schema(schema: &Value) -> Result<(), String> {
    walk(schema, 0, &mut |fields| {
        let wrong = |key: &str, what: &str| Err(format!("'{key}' must be {what}"));
        match (fields.get("properties"), fields.get("required"), fields.get("type"), fields.get("enum")) {
            (Some(properties), ..) if !properties.is_object() => wrong("properties", "an object"),
            (_, Some(required), ..) if !required.is_array() => wrong("required", "an array"),
            (_, _, Some(kind), _) if !kind.is_string() && !kind.is_array() => wrong("type", "a string or an array"),
            (_, _, _, Some(options)) if !options.is_array() => wrong("enum", "an array"),
            _ => Ok(()),
        }
    })
}

/// Checks that a schema keeps to the subset, or returns the reason why not.
pub(crate) fn fits(schema: &Value, subset: Subset) -> Result<(), String> {
    if subset == Subset::Openai {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.".to_owned());
        }
        if schema.get("anyOf").is_some() {
            return Err("schema must not have 'anyOf' at the top level.".to_owned());
        }
    }
    walk(schema, 0, &mut |fields| match subset {
        Subset::Anthropic => anthropic(fields),
        Subset::Openai => openai(fields),
    })
}

/// The number of schemas inside a schema that allow several types.
pub(crate) fn unions(schema: &Value) -> usize {
    let mut count = 0;
    let walked = walk(schema, 0, &mut |fields| {
        count += usize::from(fields.contains_key("anyOf") || fields.get("type").is_some_and(Value::is_array));
        Ok(())
    });
    // Too deep to count is too many.
    if walked.is_ok() { count } else { usize::MAX / 2 }
}

fn anthropic(fields: &Map<String, Value>) -> Result<(), String> {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "object" && fields.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err("For 'object' type, 'additionalProperties' must be explicitly set to false".to_owned());
    }
    if let Some(key) = fields.keys().find(|key| ANTHROPIC_REFUSED.contains(&key.as_str())) {
        return Err(format!("For '{kind}' type, property '{key}' is not supported"));
    }
    if fields.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 1) {
        return Err("For 'array' type, 'minItems' values other than 0 or 1 are not supported".to_owned());
    }
    format_known(fields, ANTHROPIC_FORMATS)
}

fn openai(fields: &Map<String, Value>) -> Result<(), String> {
    if let Some(key) = fields.keys().find(|key| OPENAI_REFUSED.contains(&key.as_str())) {
        return Err(format!("'{key}' is not permitted."));
    }
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err("'additionalProperties' is required to be supplied and to be false.".to_owned());
        }
        let required = fields.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
        if let Some(name) = properties.keys().find(|name| !required.contains(name.as_str())) {
            return Err(format!(
                "'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
            ));
        }
    }
    if fields.get("type").is_some_and(|kind| kind == "array") && !fields.contains_key("items") {
        return Err("array schema missing items.".to_owned());
    }
    format_known(fields, OPENAI_FORMATS)
}

fn format_known(fields: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    // Formats of numbers, such as `int64`, are ignored.
    let is_text = fields.get("type").is_some_and(|kind| kind == "string");
    match fields.get("format").and_then(Value::as_str).filter(|_| is_text) {
        Some(format) if !known.contains(&format) => Err(format!("'{format}' is not a valid format.")),
        _ => Ok(()),
    }
}

/// Visits every schema inside a schema.
fn walk(
    schema: &Value,
    depth: usize,
    visit: &mut impl FnMut(&Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    let Some(fields) = schema.as_object() else { return Ok(()) };
    if depth > DEEPEST {
        return Err(format!("the schema is nested deeper than {DEEPEST} levels"));
    }
    visit(fields)?;
    for key in ["properties", "$defs", "definitions"] {
        for inner in fields.get(key).and_then(Value::as_object).into_iter().flat_map(Map::values) {
            walk(inner, depth + 1, visit)?;
        }
    }
    for key in ["anyOf", "allOf", "oneOf", "prefixItems"] {
        for inner in fields.get(key).and_then(Value::as_array).into_iter().flatten() {
            walk(inner, depth + 1, visit)?;
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(inner) = fields.get(key) {
            walk(inner, depth + 1, visit)?;
        }
    }
    Ok(())
}

//! `--schema`: a file, a JSON Schema as text, or the short form `name, age int?, tags string[]: what it is about`.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::exit::Failure;
use crate::places;

/// The types of the short form, and their names in JSON Schema.
const TYPES: [(&str, &str); 8] = [
    ("string", "string"),
    ("str", "string"),
    ("int", "integer"),
    ("integer", "integer"),
    ("number", "number"),
    ("float", "number"),
    ("bool", "boolean"),
    ("boolean", "boolean"),
];
const HELP: &str = "Fields are separated by commas or lines: name, age int?, tags string[]: what it is about. The types are \
                    string, int, number and bool.";

/// Reads the value of `--schema`.
pub(super) fn read(text: &str) -> Result<Value, Failure> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| Failure::usage(format!("--schema: {error}")));
    }
    let file = Path::new(text);
    let is_path = text.contains(['/', '\\']) || text.ends_with(".json");
    if is_path && !text.contains(':') || file.is_file() {
        let text = places::read(file).map_err(|error| Failure::new(format!("cannot read {error}")))?;
        let absent = || Failure::file("read", file, &std::io::ErrorKind::NotFound.into());
        let text = text.ok_or_else(absent)?;
        return serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", file.display())));
    }
    short(text)
}

/// Parses the short form: an object with these fields.
fn short(text: &str) -> Result<Value, Failure> {
    // With one field per line, descriptions may contain commas.
    let separator = if text.trim().contains('\n') { '\n' } else { ',' };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (place, field) in text.split(separator).enumerate() {
        if field.trim().is_empty() && separator == '\n' {
            continue;
        }
        let wrong = |what: String| {
            Failure::usage(format!("--schema, field {} (`{}`): {what}", place + 1, field.trim())).hint(HELP)
        };
        let (name, is_optional, schema) = one(field).map_err(wrong)?;
        if properties.contains_key(name) {
            return Err(wrong(format!("`{name}` occurs twice")));
        }
        if !is_optional {
            required.push(name);
        }
        properties.insert(name.to_owned(), schema);
    }
    Ok(json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false }))
}

/// Parses a field: its name, whether it is optional, and its schema.
fn one(field: &str) -> Result<(&str, bool, Value), String> {
    let (head, description) = match field.split_once(':') {
        Some((head, description)) => (head, description.trim()),
        None => (field, ""),
    };
    let mut words = head.split_whitespace();
    let name = words.next().ok_or("a field needs a name")?;
    let (name, name_optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
        return Err(format!("`{name}` is not a name; use letters, digits, _ and -"));
    }
    let kind = words.next().unwrap_or("string");
    if let Some(more) = words.next() {
        return Err(format!("unexpected `{more}`; a description comes after a colon"));
    }
    let (kind, type_optional) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
    let (kind, is_list) = kind.strip_suffix("[]").map_or((kind, false), |kind| (kind, true));
    let kind = if kind.is_empty() { "string" } else { kind };
    let Some((_, json_type)) = TYPES.iter().find(|(short, _)| *short == kind) else {
        return Err(format!("unknown type `{kind}`; use string, int, number or bool"));
    };
    let mut schema = json!({ "type": json_type });
    if is_list {
        schema = json!({ "type": "array", "items": schema });
    }
    if let (Some(fields), false) = (schema.as_object_mut(), description.is_empty()) {
        fields.insert("description".to_owned(), description.into());
    }
    Ok((name, name_optional || type_optional, schema))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_short_form_is_a_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer"},
                "scores": {"type": "array", "items": {"type": "number"}},
                "is_new": {"type": "boolean", "description": "first visit"},
            },
            "required": ["name", "scores"],
            "additionalProperties": false,
        });
        assert_eq!(read("name, age int?, scores number[], is_new? bool: first visit"), Ok(schema));
        let lines = read("\nname: first, then last\n\ntags []\n").unwrap();
        assert_eq!(lines["properties"]["name"]["description"], json!("first, then last"));
        assert_eq!(lines["properties"]["tags"], json!({"type": "array", "items": {"type": "string"}}));
        assert_eq!(read(r#"{"type": "object"}"#), Ok(json!({"type": "object"})));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = |text: &str| read(text).map_err(|failure| failure.what).unwrap_err();
        assert_eq!(
            told("name, age in"),
            "--schema, field 2 (`age in`): unknown type `in`; use string, int, number or bool"
        );
        assert_eq!(told("name,, age"), "--schema, field 2 (``): a field needs a name");
        assert_eq!(told("a, b, a int"), "--schema, field 3 (`a int`): `a` occurs twice");
        assert_eq!(
            told("full name string"),
            "--schema, field 1 (`full name string`): unexpected `string`; a description comes after a colon"
        );
        assert_eq!(told("na$me"), "--schema, field 1 (`na$me`): `na$me` is not a name; use letters, digits, _ and -");
        assert!(told("no/such.json").starts_with("cannot read no/such.json"), "{}", told("no/such.json"));
        assert!(told("{\"type\": ").starts_with("--schema: EOF"), "{}", told("{\"type\": "));
    }
}

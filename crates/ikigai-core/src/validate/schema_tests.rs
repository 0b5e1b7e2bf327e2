use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn good_schemas() {
    for schema in [
        json!({}),
        json!({"type": "object", "properties": {}}),
        json!({"type": ["string", "null"], "enum": ["a", null]}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x y"}}, "$defs": {"x y": {"type": "array", "items": {"$ref": "#"}}}}),
        json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"anyOf": [{"type": "string"}, true]}}}),
        json!({"properties": {"a": {"const": {"$ref": "#/nowhere"}, "default": {"$ref": "#/nowhere"}}}}),
        json!({"$ref": "https://example.com/other.json"}),
        json!({"$ref": "#anchor"}),
        json!({"type": "string", "nullable": true, "x-of-someone": 7}),
    ] {
        assert_eq!(schema_fault(&schema), None, "{schema}");
    }
}

#[cfg(feature = "validate")]
#[test]
fn older_drafts_are_held_to_their_own_rules() {
    let tuple = |draft: &str| schema_fault(&json!({"$schema": draft, "items": [{"type": "string"}]}));
    assert_eq!(tuple("http://json-schema.org/draft-07/schema#"), None);
    assert_eq!(tuple("http://json-schema.org/draft-04/schema#"), None);
    assert_eq!(tuple("http://json-schema.org/draft-06/schema#"), None);
    assert_eq!(tuple("https://json-schema.org/draft/2019-09/schema"), None);
    assert!(tuple("https://json-schema.org/draft/2020-12/schema").is_some());
    assert!(tuple("https://example.com/a-draft-of-my-own").is_some(), "as the newest one");
}

#[test]
fn faults_that_are_found_by_hand() {
    for (schema, expected) in [
        (
            json!({"type": "text"}),
            r#"type: "text" is not a type; the types are string, number, integer, boolean, object, array, null"#,
        ),
        (
            json!({"type": []}),
            "type: [] is not a type; the types are string, number, integer, boolean, object, array, null",
        ),
        (
            json!({"properties": {"a": {"properties": []}}}),
            "properties.a.properties: it must be an object of schemas, but is a list",
        ),
        (json!({"properties": {"a": 7}}), "properties.a: a schema must be an object, but this is a number"),
        (json!({"items": [{}, 7]}), "items[1]: a schema must be an object, but this is a number"),
        (json!({"items": {"required": true}}), "items.required: it must be a list of property names"),
        (json!({"anyOf": []}), "anyOf: it must be a list of schemas with at least one"),
        (json!({"anyOf": [{}, {"enum": "a"}]}), "anyOf[1].enum: it must be a list"),
    ] {
        assert_eq!(schema_fault(&schema).as_deref(), Some(expected));
    }
}

#[test]
fn faults_that_are_found_either_way() {
    assert_eq!(schema_fault(&json!(null)).as_deref(), Some("it must be an object, but is null"));
    assert_eq!(
        schema_fault(&json!({"properties": {"a": {"items": {"$ref": "#/$defs/a"}}}})).as_deref(),
        Some("$ref: there is nothing at #/$defs/a")
    );
}

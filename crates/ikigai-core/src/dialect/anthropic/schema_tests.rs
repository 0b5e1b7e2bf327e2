use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn closed(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[test]
fn a_closed_schema_fits_and_is_counted() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where", "format": "date"},
            "days": {"type": ["integer", "null"]},
            "units": {"enum": ["c", "f"]},
            "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "minItems": 1},
            "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Inner"}]},
        },
        "required": ["city", "either"],
        "additionalProperties": false,
        "$defs": {"Inner": {"type": "object", "properties": {"x": {"const": 1}}, "additionalProperties": false}},
    });
    assert_eq!(fits(&schema), Ok(Count { optional: 4, unions: 2 }));
}

#[test]
fn what_is_not_taken_is_named_with_its_place() {
    let cases = [
        (json!(true), "the schema is not an object"),
        (json!({"type": "string"}), "the schema's root is not of type `object`"),
        (json!({"type": "object", "properties": {}}), "the root lacks `additionalProperties: false`"),
        (closed(json!({"a": true})), "`a` is no schema object"),
        (closed(json!({"a": {}})), "`a` takes anything"),
        (closed(json!({"a": {"type": "integer", "minimum": 1}})), "`a` has a `minimum` that is not taken"),
        (closed(json!({"a": {"type": "string", "maxLength": 1}})), "`a` has a `maxLength` that is not taken"),
        (closed(json!({"a": {"type": "string", "format": "iban"}})), "`a` has a `format` that is not taken"),
        (closed(json!({"a": {"type": "string", "pattern": "(?=x)y"}})), "`a` has a `pattern` that is not taken"),
        (closed(json!({"a": {"type": "string", "pattern": r"(x)\1"}})), "`a` has a `pattern` that is not taken"),
        (
            closed(json!({"a": {"type": "array", "items": {"type": "string"}, "minItems": 2}})),
            "`a` has a `minItems` that is not taken",
        ),
        (
            closed(json!({"a": {"type": "array", "items": {"type": "object"}}})),
            "the items of `a` lacks `additionalProperties: false`",
        ),
        (closed(json!({"a": {"oneOf": [{"type": "string"}]}})), "`a` takes anything"),
        (closed(json!({"a": {"enum": [{"b": 1}]}})), "`a` has a `enum` that is not taken"),
        (
            closed(json!({"a": {"$ref": "https://example.org/x"}})),
            "`a` refers to `https://example.org/x`, which is not there",
        ),
        (closed(json!({"a": {"$ref": "#/properties/a"}})), "`#/properties/a` is recursive"),
    ];
    for (schema, fault) in cases {
        assert_eq!(fits(&schema), Err(fault.to_owned()), "{schema}");
    }
}

#[test]
fn references_that_double_at_each_step_cost_no_more_than_their_number() {
    let mut definitions = Map::new();
    for step in 0..200 {
        let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
        definitions.insert(format!("d{step}"), closed(json!({"a": next.clone(), "b": next})));
    }
    definitions.insert("d200".to_owned(), json!({"type": "string"}));
    let mut schema = closed(json!({"a": {"$ref": "#/$defs/d150"}}));
    schema["$defs"] = Value::Object(definitions);
    // Deeper than any schema should be, and found out at once.
    assert_eq!(fits(&schema), Err("the schema is more than 64 levels deep".to_owned()));
    schema["properties"]["a"] = json!({"$ref": "#/$defs/d180"});
    assert_eq!(fits(&schema), Ok(Count::default()));
}

#[test]
fn a_schema_for_the_answer_is_made_to_fit_where_its_form_stays() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}, "in": {"type": "object", "properties": {}}},
        "required": ["n", "in"],
    });
    let fitted = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "in": {"type": "object", "properties": {}, "additionalProperties": false}},
        "required": ["n", "in"], "additionalProperties": false,
    });
    assert_eq!(make_fit(&schema), Ok((fitted, vec!["maximum".to_owned(), "minimum".to_owned()])));
    let map =
        json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}});
    assert_eq!(make_fit(&map), Err("`m` has a `additionalProperties` that is not taken".to_owned()));
}

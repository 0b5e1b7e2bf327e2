use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

/// An object schema with one property, closed and required.
fn with(property: Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false})
}

#[test]
fn schemas_that_fit_go_as_they_are() {
    for schema in [
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "title": "T", "description": "d",
            "type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        with(json!({"type": "string", "description": "d", "pattern": "^a", "format": "date-time"})),
        with(json!({"type": ["string", "null"], "enum": ["a", null]})),
        with(json!({"type": "number", "minimum": 0, "exclusiveMaximum": 9, "multipleOf": 3})),
        with(json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2})),
        with(json!({"anyOf": [{"type": "string"}, {"type": "null"}, with(json!({"type": "boolean"}))]})),
        with(with(with(json!({"type": "integer"})))),
        json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "up": {"$ref": "#"}},
            "required": ["next", "up"], "additionalProperties": false, "$defs": {"node": with(json!({"type": "string"}))}}),
    ] {
        assert_eq!(check(&schema), Ok(()), "{schema}");
        assert!(matches!(strictify(&schema), Ok(Cow::Borrowed(_))), "{schema}");
    }
}

#[test]
fn objects_are_closed_at_every_depth_where_nothing_else_is_missing() {
    let open = json!({
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
            "b": {"type": "array", "items": {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"]}},
            "c": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"z": {"type": "string"}}, "required": ["z"]}]},
            "d": {"$ref": "#/$defs/d"}
        },
        "required": ["a", "b", "c", "d"],
        "$defs": {"d": {"type": "object", "properties": {"w": {"type": "string"}}, "required": ["w"]}}
    });
    let closed = json!({
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "additionalProperties": false},
            "b": {"type": "array", "items":
                {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"], "additionalProperties": false}},
            "c": {"anyOf": [{"type": "null"},
                {"type": "object", "properties": {"z": {"type": "string"}}, "required": ["z"], "additionalProperties": false}]},
            "d": {"$ref": "#/$defs/d"}
        },
        "required": ["a", "b", "c", "d"],
        "$defs": {"d": {"type": "object", "properties": {"w": {"type": "string"}}, "required": ["w"], "additionalProperties": false}},
        "additionalProperties": false
    });
    assert_eq!(strictify(&open).map(Cow::into_owned), Ok(closed));
}

#[test]
fn a_tool_without_parameters_is_closed() {
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for open in [json!({"type": "object"}), json!({"type": "object", "properties": {}})] {
        assert_eq!(strictify(&open).map(Cow::into_owned), Ok(closed.clone()));
    }
}

#[test]
fn what_cannot_be_strict_says_why() {
    let reasons: Vec<String> = [
        json!(true),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "object", "properties": {}, "anyOf": []}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
        json!({"type": "object", "properties": {}, "required": ["b"]}),
        with(json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}, "required": ["x"]})),
        with(json!({"type": "object"})),
        with(json!({"type": "string", "format": "uri"})),
        with(json!({"type": "string", "default": "x"})),
        with(json!({"oneOf": [{"type": "string"}]})),
        with(json!({"type": "array"})),
        with(json!({"type": "array", "items": {}})),
        with(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
        with(json!({"$ref": "#/$defs/x"})),
        with(json!({"$ref": "#", "description": "d"})),
        with(json!({"anyOf": []})),
    ]
    .iter()
    .map(|schema| strictify(schema).expect_err("cannot be strict"))
    .collect();
    assert_eq!(
        reasons,
        [
            "the schema is not an object",
            "the root is not of type `object`",
            "the root has an `anyOf`",
            "the property `a` of the root is optional",
            "the root takes additional properties",
            "the root requires \"b\", which is no property",
            "the property `y` of `a` is optional",
            "`a` is an object without `properties`",
            "`a` has the format \"uri\", which strict schemas do not know",
            "`a` has the keyword `default`, which strict schemas cannot have",
            "`a` has the keyword `oneOf`, which strict schemas cannot have",
            "`a` is an array without `items`",
            "`items` in `a` has no `type`",
            "`a` has the keyword `uniqueItems`, which strict schemas cannot have",
            "`a` refers to \"#/$defs/x\", which is no definition of this schema",
            "`a` has `description` beside `$ref`",
            "`a` has an `anyOf` without variants",
        ]
    );
}

#[test]
fn limits_hold_and_deep_nesting_is_survived() {
    let many: Map<String, Value> = (0..5001).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let names: Vec<&String> = many.keys().collect();
    let wide = json!({"type": "object", "required": names, "properties": many, "additionalProperties": false});
    assert_eq!(check(&wide), Err("there are more than 5000 properties".to_owned()));

    let words: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    assert_eq!(
        check(&with(json!({"type": "string", "enum": words}))),
        Err("there are more than 1000 enum values".to_owned())
    );

    let mut levels = json!({"type": "string"});
    for _ in 0..11 {
        levels = with(levels);
    }
    assert!(check(&levels).is_err_and(|why| why.ends_with("is more than 10 objects deep")));

    let mut lists = json!({"type": "string"});
    for _ in 0..500 {
        lists = json!({"type": "array", "items": lists});
    }
    assert!(strictify(&with(lists)).is_err_and(|why| why.ends_with("is nested too deep")));
}

use pretty_assertions::assert_eq;
use serde_json::json;

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::*;

const LIMITS: Limits = Limits::client();

/// Returns the faults of a schema that is left unchanged.
fn check(schema: &Value, subset: Subset) -> Result<Count, String> {
    let json = Json::from(schema);
    super::check(&Tree::parse(&json, &LIMITS).expect("within the limits"), subset)
}

/// Returns the closed schema, and whether it had to be closed.
fn strict(schema: &Value, subset: Subset) -> Result<(Value, &'static str), String> {
    let json = Json::from(schema);
    let closed = Parsed::new(&json, &LIMITS).expect("within the limits").strict(subset)?;
    let how = if matches!(closed.schema, Cow::Borrowed(_)) { "as it is" } else { "closed" };
    Ok((closed.schema.value().clone(), how))
}

/// Returns an object schema with one property, closed and required.
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
        assert_eq!(strict(&schema, Subset::Complete), Ok((schema.clone(), "as it is")), "{schema}");
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
    assert_eq!(strict(&open, Subset::Complete), Ok((closed.clone(), "closed")));
    assert_eq!(strict(&open, Subset::Plain), Ok((closed, "closed")));
}

#[test]
fn a_tool_without_parameters_is_closed() {
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for open in [json!({"type": "object"}), json!({"type": "object", "properties": {}})] {
        assert_eq!(strict(&open, Subset::Complete), Ok((closed.clone(), "closed")));
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
    .map(|schema| strict(schema, Subset::Complete).expect_err("cannot be strict"))
    .collect();
    assert_eq!(
        reasons,
        [
            "the schema is not an object",
            "the root is not of type `object`",
            "the root has an `anyOf`",
            "the property `a` of the root is optional",
            "the root takes additional properties",
            "the root requires `b`, which is not a property",
            "the property `y` of `a` is optional",
            "`a` is an object without `properties`",
            "`a` has the format `uri`, which strict schemas do not know",
            "`a` has the keyword `default`, which strict schemas cannot have",
            "`a` has the keyword `oneOf`, which strict schemas cannot have",
            "`a` is an array without `items`",
            "`items` in `a` has no `type`",
            "`a` has the keyword `uniqueItems`, which strict schemas cannot have",
            "`a` refers to `#/$defs/x`, which is not a definition of this schema",
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
    assert_eq!(check(&wide, Subset::Complete), Err("there are more than 5000 properties".to_owned()));

    let words: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    assert_eq!(
        check(&with(json!({"type": "string", "enum": words})), Subset::Complete),
        Err("there are more than 1000 enum values".to_owned())
    );

    let mut levels = json!({"type": "string"});
    for _ in 0..11 {
        levels = with(levels);
    }
    assert!(check(&levels, Subset::Complete).is_err_and(|why| why.ends_with("is more than 10 objects deep")));

    let mut lists = json!({"type": "string"});
    for _ in 0..70 {
        lists = json!({"type": "array", "items": lists});
    }
    assert!(strict(&with(lists), Subset::Complete).is_err_and(|why| why.ends_with("is nested too deep")));
}

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
    assert_eq!(check(&schema, Subset::Plain), Ok(Count { tools: 1, optional: 4, unions: 2 }));
}

#[test]
fn what_is_not_taken_is_named_with_its_place() {
    let cases = [
        (json!(true), "the schema is not an object"),
        (json!({"type": "string"}), "the root is not of type `object`"),
        (json!({"type": "object", "properties": {}}), "the root lacks `additionalProperties: false`"),
        (closed(json!({"a": true})), "`a` is not a schema object"),
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
            "`items` in `a` lacks `additionalProperties: false`",
        ),
        (closed(json!({"a": {"oneOf": [{"type": "string"}]}})), "`a` takes anything"),
        (closed(json!({"a": {"enum": [{"b": 1}]}})), "`a` has a `enum` that is not taken"),
        (
            closed(json!({"a": {"$ref": "https://example.org/x"}})),
            "`a` refers to `https://example.org/x`, which is not a definition of this schema",
        ),
        (
            closed(json!({"a": {"$ref": "#/properties/a"}})),
            "`a` refers to `#/properties/a`, which is not a definition of this schema",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "additionalProperties": false,
                "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}),
            "`items` in `#/$defs/a` in `a` is recursive",
        ),
    ];
    for (schema, fault) in cases {
        assert_eq!(check(&schema, Subset::Plain), Err(fault.to_owned()), "{schema}");
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
    // Deeper than any schema should be, which is noticed at once.
    assert_eq!(check(&schema, Subset::Plain), Err("the schema is more than 64 levels deep".to_owned()));
    schema["properties"]["a"] = json!({"$ref": "#/$defs/d180"});
    assert_eq!(check(&schema, Subset::Plain), Ok(Count { tools: 1, ..Count::default() }));
}

#[test]
fn a_schema_for_the_answer_is_made_to_fit_where_its_form_stays() {
    let trimmed = |schema: Value| {
        let json = Json::from(schema);
        let trimmed = Parsed::new(&json, &LIMITS).expect("within the limits").trimmed(Subset::Plain);
        trimmed.map(|(closed, removed)| (closed.schema.value().clone(), removed))
    };
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}, "s": {"type": "string", "pattern": "^a"}},
        "required": ["n", "s"],
    });
    let fitted = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "s": {"type": "string", "pattern": "^a"}},
        "required": ["n", "s"], "additionalProperties": false,
    });
    assert_eq!(trimmed(schema), Ok((fitted, vec!["maximum".to_owned(), "minimum".to_owned()])));
    let map =
        json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}});
    assert_eq!(trimmed(map), Err("`m` has a `additionalProperties` that is not taken".to_owned()));
}

#[test]
fn numbers_order_and_duplicates_stay_as_they_were_written() {
    let text = r#"{ "type":"object", "properties": {"\u0061" : {"type":"number","minimum":1e2,"maximum":123456789012345678901234567890.10}, "a b":{"enum":[1.50,-0,"x\"y"],"type":"number"}}, "required":["a","a b"]}"#;
    let json = Json::parse(text).expect("JSON");
    let closed = Parsed::new(&json, &LIMITS).expect("within the limits").strict(Subset::Complete).expect("strict");
    assert_eq!(
        closed.schema.text(),
        r#"{"type":"object","properties":{"\u0061":{"type":"number","minimum":1e2,"maximum":123456789012345678901234567890.10},"a b":{"enum":[1.50,-0,"x\"y"],"type":"number"}},"required":["a","a b"],"additionalProperties":false}"#
    );
    let opened = Parsed::opened(&closed.schema, &LIMITS).expect("it was closed");
    assert_eq!(Json::from(opened.value()), Json::from(json.value()));
    assert_eq!(Parsed::opened(&opened, &LIMITS), None);
}

#[test]
fn a_schema_with_too_many_parts_is_an_error_that_names_the_limit() {
    let mut limits = Limits::client();
    limits.schema_nodes = 4;
    let json = Json::from(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let error = Parsed::new(&json, &limits).expect_err("five parts");
    assert_eq!(error.message, "a schema has more than 4 parts, which is the limit");
    limits.schema_nodes = 5;
    assert!(Parsed::new(&json, &limits).is_ok());
}

#[test]
fn any_depth_is_survived_and_a_deep_schema_goes_as_it_is() {
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let json = Json::parse(format!(r#"{{"type":"object","x":{deep}}}"#)).expect("JSON");
    let parsed = Parsed::new(&json, &LIMITS).expect("within the limits");
    assert_eq!(parsed.root(), Root::Object);
    assert_eq!(parsed.strict(Subset::Complete).expect_err("deep"), "the schema is nested too deep");
}

#[test]
fn many_definitions_and_references_take_no_time_to_speak_of() {
    let names: Vec<String> = (0..10_000).map(|n| format!("d{n}")).collect();
    let refs: Map<String, Value> = names.iter().map(|n| (n.clone(), json!({"$ref": format!("#/$defs/{n}")}))).collect();
    let definitions: Map<String, Value> = names.iter().map(|n| (n.clone(), json!({"type": "string"}))).collect();
    let mut schema = closed(Value::Object(refs));
    schema["$defs"] = Value::Object(definitions);
    assert_eq!(check(&schema, Subset::Plain), Ok(Count { tools: 1, ..Count::default() }));
    assert_eq!(check(&schema, Subset::Complete), Err("there are more than 5000 properties".to_owned()));
}

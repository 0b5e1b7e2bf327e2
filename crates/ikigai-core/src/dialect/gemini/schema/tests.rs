use pretty_assertions::assert_eq;

use super::*;

fn lowered(schema: Value) -> (Value, Vec<String>) {
    let mut losses = Vec::new();
    let lowered = lower(&schema.into(), "s", &Limits::default(), &mut losses).unwrap();
    (lowered.to().unwrap(), losses.into_iter().map(|loss| format!("{} at {}", loss.what, loss.place)).collect())
}

#[test]
fn the_subset_is_read_as_json_schema() {
    let openapi = json!({
        "type": "OBJECT",
        "properties": {
            "age": {"type": "INTEGER", "nullable": true, "format": "int32"},
            "kind": {"type": "STRING", "format": "enum", "enum": ["a", "b"], "nullable": true},
            "list": {"type": "ARRAY", "items": {"type": "NUMBER"}, "minItems": "1", "max_items": 3},
            // A property may have the name of a keyword.
            "type": {"any_of": [{"type": "STRING"}, {"type": "BOOLEAN"}], "nullable": true},
            "nullable": {"type": "TYPE_UNSPECIFIED", "nullable": false},
        },
        "required": ["age"],
        "propertyOrdering": ["list", "age"],
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3},
            "age": {"type": ["integer", "null"], "format": "int32"},
            "kind": {"type": ["string", "null"], "enum": ["a", "b", null]},
            "type": {"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "null"}]},
            "nullable": {},
        },
        "required": ["age"],
    });
    let raised = raise(openapi);
    assert_eq!(raised, schema);
    // The order counts as well.
    assert_eq!(
        raised["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["list", "age", "kind", "type", "nullable"]
    );
}

#[test]
fn plain_json_schema_is_read_as_it_is() {
    let schema =
        json!({"type": "object", "properties": {"x": {"type": "string", "description": "d"}}, "required": ["x"]});
    assert_eq!(raise(schema.clone()), schema);
}

#[test]
fn every_step_down_is_made_and_told() {
    for (schema, expected, losses) in [
        (json!({"type": "string"}), json!({"type": "STRING"}), vec![]),
        (json!({"type": ["string", "null"]}), json!({"type": "STRING", "nullable": true}), vec![]),
        (json!({"type": ["string", "integer"]}), json!({"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}), vec![]),
        (
            json!({"type": ["string", "integer", "null"]}),
            json!({"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": true}),
            vec![],
        ),
        (json!({"const": "a"}), json!({"type": "STRING", "enum": ["a"]}), vec![]),
        (
            json!({"type": "string", "enum": ["a", null]}),
            json!({"type": "STRING", "enum": ["a"], "nullable": true}),
            vec![],
        ),
        (
            json!({"type": "integer", "enum": [1, 2], "description": "Which."}),
            json!({"type": "INTEGER", "description": "Which. Allowed values: 1, 2."}),
            vec!["enum at s"],
        ),
        (json!({"const": 5}), json!({"type": "INTEGER", "description": "Allowed values: 5."}), vec!["enum at s"]),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!({"type": "STRING", "nullable": true}), vec![]),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
            vec!["oneOf at s"],
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9}),
            json!({"type": "INTEGER", "description": "Must be greater than 0. Must be less than 9."}),
            vec!["exclusiveMinimum at s", "exclusiveMaximum at s"],
        ),
        (json!({"type": "string", "format": "date-time"}), json!({"type": "STRING", "format": "date-time"}), vec![]),
        (
            json!({"type": "string", "format": "email"}),
            json!({"type": "STRING", "description": "Format: email."}),
            vec!["format at s"],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "ghost"], "additionalProperties": false, "$schema": "x", "examples": []}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]}),
            vec![],
        ),
        (
            json!({"type": "object", "properties": {}, "patternProperties": {"^x": {}}}),
            json!({"type": "OBJECT"}),
            vec!["patternProperties at s"],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "OBJECT"}),
            vec!["additionalProperties at s"],
        ),
        (json!({"type": "string", "not": {"const": "a"}}), json!({"type": "STRING"}), vec!["not at s"]),
        (
            json!({"properties": {"a": {"items": {"type": "string"}}}}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}}}),
            vec![],
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1}),
            json!({"type": "ARRAY", "prefixItems": [{"type": "STRING"}], "minItems": 1}),
            vec![],
        ),
        (json!(true), json!({"type": "STRING"}), vec!["schema at s"]),
        (json!({}), json!({"type": "STRING"}), vec!["schema at s"]),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}], "description": "Both."}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": "INTEGER"}}, "required": ["a", "b"], "description": "Both."}),
            vec![],
        ),
    ] {
        assert_eq!(lowered(schema.clone()), (expected, losses.into_iter().map(str::to_owned).collect()), "{schema}");
    }
}

#[test]
fn references_are_written_out_and_circles_are_cut() {
    let schema = json!({
        "type": "object",
        "properties": {"point": {"$ref": "#/$defs/Point", "description": "Where."}, "next": {"$ref": "#/$defs/Node"}, "far": {"$ref": "other.json"}},
        "$defs": {
            "Point": {"type": "object", "properties": {"x": {"type": "number"}}, "description": "A point."},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
        },
    });
    let expected = json!({
        "type": "OBJECT",
        "properties": {
            "point": {"type": "OBJECT", "properties": {"x": {"type": "NUMBER"}}, "description": "Where."},
            "next": {"type": "OBJECT", "properties": {"next": {"type": "OBJECT"}}},
            "far": {"type": "OBJECT"},
        },
    });
    let losses = vec!["$ref at s.properties.next.properties.next".to_owned(), "$ref at s.properties.far".to_owned()];
    assert_eq!(lowered(schema), (expected, losses));
}

#[test]
fn references_that_multiply_come_to_an_end() {
    let mut defs = Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    defs.insert("d30".to_owned(), json!({"type": "string"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": defs}).into();
    let error = lower(&schema, "s", &Limits::server(), &mut Vec::new()).unwrap_err();
    assert_eq!(
        (error.message.as_str(), error.code.as_deref()),
        ("a schema has more than 20000 parts, which is the limit", Some("limit_reached")),
    );
}

#[test]
fn a_long_chain_of_references_is_cut_and_told() {
    let mut defs = Map::new();
    for level in 0..1000 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"type": "object", "properties": {"a": next}}));
    }
    let (schema, losses) = lowered(json!({"$ref": "#/$defs/d0", "$defs": defs}));
    // Two steps for each reference and one for the root: the last object is a plain one.
    let depth = schema.to_string().matches("properties").count();
    assert_eq!((depth, losses), (32, vec![format!("schema at s{}", ".properties.a".repeat(32))]));
}

#[test]
fn many_losses_of_one_schema_are_counted() {
    let properties: Map<String, Value> =
        (0..100).map(|index| (format!("p{index}"), json!({"type": "string", "not": {}}))).collect();
    let (_, losses) = lowered(json!({"type": "object", "properties": properties}));
    assert_eq!(
        (losses.len(), losses[31].as_str(), losses[32].as_str()),
        (33, "not at s.properties.p31", "schema at s")
    );
}

#[test]
fn a_schema_that_cannot_be_read_is_told() {
    let schema = Json::parse(r#"{"type": "number", "maximum": 1e400}"#).unwrap();
    let mut losses = Vec::new();
    let lowered = lower(&schema, "s", &Limits::default(), &mut losses).unwrap();
    assert_eq!((lowered.text(), losses.len()), (r#"{"type":"OBJECT"}"#, 1));
    assert_eq!(raised(&schema), None);
}

#[test]
fn an_object_without_properties_is_no_schema_for_arguments() {
    for (schema, has) in [
        (json!({"type": "object", "properties": {}}), false),
        (
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false, "title": "x"}),
            false,
        ),
        (json!({"type": "object"}), false),
        (json!({}), false),
        (json!(true), false),
        (json!({"type": "object", "properties": {"a": {}}}), true),
        (json!({"$ref": "#/$defs/A", "$defs": {}}), true),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), true),
    ] {
        assert_eq!(has_properties(&schema.clone().into()), has, "{schema}");
    }
}

use ikigai_core::Tool;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

/// Checks that a made value fits its schema, as a real validator sees it.
fn check(schema: &Value, prompt: &str) -> Result<(), String> {
    let tool = Tool::new("t", "…").parameters(schema.clone());
    let Value::Object(value) = from_prompt(schema, prompt) else { return Err("no object".to_owned()) };
    let checked = tool.as_function().unwrap().check_arguments(&value);
    checked.map_err(|problems| format!("{value:?} for {schema}: {problems:?}"))
}

#[test]
fn values_come_from_the_prompt_where_it_gives_them() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["celsius", "fahrenheit"]},
            "note": {"type": "string"}, "exact": {"type": "boolean"}
        },
        "required": ["city", "days", "unit"]
    });
    for (prompt, expected) in [
        (r#"city="Oslo", days=3, in fahrenheit"#, json!({"city": "Oslo", "days": 3, "unit": "fahrenheit"})),
        ("weather in Bergen for 5 days", json!({"city": "Bergen", "days": 5, "unit": "celsius"})),
        ("for \"New York\", exact: no", json!({"city": "New York", "days": 1, "unit": "celsius", "exact": false})),
        ("", json!({"city": "sample", "days": 1, "unit": "celsius"})),
    ] {
        assert_eq!(from_prompt(&schema, prompt), expected, "{prompt}");
    }
}

#[test]
fn a_schema_that_never_ends_gets_a_value_that_does() {
    let schema = json!({
        "type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "required": ["child"],
        "$defs": {"node": {"anyOf": [
            {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "required": ["child"]},
            {"type": "null"}
        ]}}
    });
    assert_eq!(check(&schema, ""), Ok(()));
}

#[test]
fn a_schema_that_multiplies_gets_a_value_of_bounded_size() {
    let lists =
        (0..12).fold(json!({"type": "string"}), |items, _| json!({"type": "array", "items": items, "minItems": 64}));
    let names: Vec<String> = (0..26).map(|number| format!("p{number}")).collect();
    let whole: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({"$ref": "#"}))).collect();
    let nested = json!({"type": "object", "properties": whole, "required": names});
    for schema in [json!({"type": "object", "properties": {"lists": lists}, "required": ["lists"]}), nested] {
        let value = from_prompt(&schema, "");
        assert!(value.is_object());
        assert!(value.to_string().len() < 30 * MOST as usize, "{} bytes", value.to_string().len());
    }
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        (0..20_u64, 0..20_u64)
            .prop_map(|(a, b)| json!({"type": "string", "minLength": a.min(b), "maxLength": a.max(b)})),
        prop::sample::select(vec![
            "date-time",
            "date",
            "time",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uuid",
            "uri"
        ])
        .prop_map(|format| json!({"type": "string", "format": format})),
        (-50..50_i64, 0..50_i64)
            .prop_map(|(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})),
        (-50..50_i64).prop_map(|least| json!({"type": "integer", "exclusiveMinimum": least})),
        (1..9_i64).prop_map(|step| json!({"type": "integer", "multipleOf": step})),
        Just(json!({"type": "number"})),
        (-50..50_i64).prop_map(|most| json!({"type": "number", "exclusiveMaximum": most})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": "null"})),
        Just(json!({"const": {"a": 1}})),
        Just(json!({"enum": ["red", "green", 3, null]})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (prop::collection::vec((inner.clone(), any::<bool>()), 0..4)).prop_map(|properties| {
                let names = ["city", "count", "kind", "note"];
                let required: Vec<&str> = names
                    .iter()
                    .zip(&properties)
                    .filter(|(_, (_, required))| *required)
                    .map(|(name, _)| *name)
                    .collect();
                let properties: Map<String, Value> =
                    names.iter().zip(properties).map(|(name, (schema, _))| ((*name).to_owned(), schema)).collect();
                json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
            }),
            (inner.clone(), 0..4_u64)
                .prop_map(|(items, least)| json!({"type": "array", "items": items, "minItems": least})),
            prop::collection::vec(inner, 1..3).prop_map(|options| json!({"anyOf": options})),
        ]
    })
}

proptest! {
    #[test]
    fn made_values_always_fit(
        schema in any_schema(),
        prompt in prop::sample::select(vec!["", "city=\"Oslo\" count=7", "note: red, kind is \"x\" 3.5 in Bergen", "city: , count=-4"]),
    ) {
        let whole = json!({"type": "object", "properties": {"city": schema}, "required": ["city"]});
        prop_assert_eq!(check(&whole, prompt), Ok(()));
    }
}

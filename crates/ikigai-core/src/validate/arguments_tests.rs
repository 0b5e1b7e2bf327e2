use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::Tool;

fn trip() -> Value {
    json!({
        "type": "object",
        "properties": {
            "stops": {"type": "array", "items": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
                "additionalProperties": false
            }},
            "class": {"enum": ["first", "second"]},
            "note": {"type": ["string", "null"]}
        },
        "required": ["stops"]
    })
}

fn checked(schema: Value, arguments: Value) -> Result<(), Vec<String>> {
    let tool = Tool::new("plan_trip", "…").parameters(schema);
    tool.as_function().unwrap().check_arguments(arguments.as_object().unwrap())
}

#[test]
fn good_arguments() {
    let arguments = json!({"stops": [{"city": "Oslo", "days": 2}], "class": "first", "note": null, "more": 1});
    assert_eq!(checked(trip(), arguments.clone()), Ok(()));
    assert_eq!(plainly(&trip(), &arguments), [""; 0]);
}

fn plainly(schema: &Value, arguments: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    plain::faults(schema, arguments, "", &mut faults);
    faults
}

#[test]
fn every_fault_is_told_with_its_place() {
    let arguments = json!({"stops": [{"days": 1.5}, {"city": 7, "hotel": true}, 3], "class": "third", "note": 1});
    let expected = [
        r#"class: "third" is not one of ["first","second"]"#,
        r#"note: 1 is not of types ["string","null"]"#,
        "stops[0].days: 1.5 is not of type \"integer\"",
        "stops[0]: \"city\" is a required property",
        "stops[1].city: 7 is not of type \"string\"",
        "stops[1]: Additional properties are not allowed ('hotel' was unexpected)",
        "stops[2]: 3 is not of type \"object\"",
    ];
    let mut by_hand = plainly(&trip(), &arguments);
    by_hand.sort();
    assert_eq!(by_hand, expected);

    let mut faults = checked(trip(), arguments).unwrap_err();
    faults.sort();
    let places = |faults: &[String]| {
        faults.iter().map(|fault| fault.split(": ").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(places(&faults), places(&by_hand), "both ways find the same: {faults:#?}");
}

#[test]
fn a_required_property_of_the_whole() {
    assert_eq!(checked(trip(), json!({})).unwrap_err(), ["\"stops\" is a required property"]);
}

#[test]
fn the_list_of_faults_is_bounded() {
    let stops: Vec<Value> = (0..100).map(Value::from).collect();
    assert_eq!(checked(trip(), json!({"stops": stops})).unwrap_err().len(), 20);
}

#[test]
fn a_schema_that_is_none() {
    let faults = checked(json!({"type": "text"}), json!({})).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0].starts_with("the parameters of the tool plan_trip are not a JSON Schema that can be checked: "),
        "{faults:?}"
    );
}

#[cfg(feature = "validate")]
#[test]
fn other_documents_are_not_fetched_and_patterns_do_not_run_away() {
    let elsewhere = checked(json!({"$ref": "https://example.com/schema.json"}), json!({})).unwrap_err();
    assert!(elsewhere[0].contains("https://example.com/schema.json"), "{elsewhere:?}");
    let evil = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=(a+)+$)(a|a)*$"}}});
    let begun = std::time::Instant::now();
    let _ = checked(evil, json!({"a": format!("{}!", "a".repeat(5_000))}));
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
}

#[cfg(feature = "validate")]
#[test]
fn patterns_take_only_so_much_memory() {
    let many = |count: usize, pattern: &str| {
        let properties: serde_json::Map<_, _> =
            (0..count).map(|place| (format!("p{place}"), json!({"type": "string", "pattern": pattern}))).collect();
        checked(json!({"type": "object", "properties": properties}), json!({"p1": "abc"}))
    };
    assert_eq!(many(500, "^[a-z0-9_-]{1,64}$"), Ok(()));
    let told = many(501, "^[a-z]").unwrap_err();
    assert!(told.first().is_some_and(|told| told.ends_with(": it has more than 500 patterns")), "{told:?}");
    assert_eq!(many(2, "^(?:[a-z0-9]{0,50}){80}$"), Ok(()));
    let told = many(400, "^(?:[a-z0-9]{0,50}){80}$").unwrap_err();
    assert!(told.first().is_some_and(|told| told.contains("not a JSON Schema that can be checked")), "{told:?}");
}

#[test]
fn a_checker_is_made_once_for_many_calls() {
    let tool = Tool::new("plan_trip", "…").parameters(trip());
    let checker = tool.as_function().unwrap().argument_checker().unwrap();
    assert!(checker.check(json!({"stops": []}).as_object().unwrap()).is_ok());
    assert!(checker.check(json!({"stops": 1}).as_object().unwrap()).is_err());
}

/// Returns definitions, each of which refers twice to the next one.
#[cfg(feature = "validate")]
fn doubling(levels: usize, keyword: &str) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({keyword: [next, next]}));
    }
    definitions.insert(format!("d{levels}"), json!({"not": {"required": ["nothing"]}}));
    json!({"type": "object", "$defs": definitions, "$ref": "#/$defs/d0"})
}

#[cfg(feature = "validate")]
#[test]
fn a_schema_that_doubles_its_work_is_refused_before_it_is_done() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = doubling(40, keyword);
        assert!(schema.to_string().len() < 4096);
        assert_eq!(
            checked(schema, json!({"a": 1})),
            Err(vec!["they cannot be checked: the schema takes more than 200000 checks for them".to_owned()]),
            "{keyword}"
        );
        assert_eq!(checked(doubling(10, if keyword == "oneOf" { "allOf" } else { keyword }), json!({"a": 1})), Ok(()));
    }
}

#[cfg(feature = "validate")]
#[test]
fn work_that_doubles_with_each_level_of_the_value_is_refused_too() {
    let step = json!({"properties": {"a": {"$ref": "#"}}});
    let schema = json!({"type": "object", "allOf": [step, step]});
    let deep = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    assert_eq!(checked(schema.clone(), deep(8)), Ok(()));
    let refused = checked(schema, deep(40)).unwrap_err();
    assert_eq!(refused, ["they cannot be checked: the schema takes more than 200000 checks for them"]);
}

#[cfg(feature = "validate")]
#[test]
fn large_calls_and_recursive_schemas_are_checked() {
    let tree = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["name"]
    });
    let leaves: Vec<Value> = (0..5000).map(|number| json!({"name": number.to_string()})).collect();
    assert_eq!(checked(tree.clone(), json!({"name": "root", "children": leaves})), Ok(()));
    let wrong = checked(tree, json!({"name": "root", "children": [{"name": 7}]})).unwrap_err();
    assert_eq!(wrong, [r#"children[0].name: 7 is not of type "string""#]);
    let anchored = json!({"type": "object", "$defs": {"x": {"$anchor": "city", "type": "string"}}, "properties": {"a": {"$ref": "#city"}}});
    assert_eq!(checked(anchored, json!({"a": "Oslo"})), Ok(()));
}

#[cfg(feature = "validate")]
#[test]
fn a_schema_that_leads_too_deep_is_no_schema() {
    let chain = |length: usize| {
        let mut definitions = serde_json::Map::new();
        for level in 0..length {
            definitions.insert(format!("d{level}"), json!({"$ref": format!("#/$defs/d{}", level + 1)}));
        }
        definitions.insert(format!("d{length}"), json!({"type": "object"}));
        json!({"type": "object", "$defs": definitions, "$ref": "#/$defs/d0"})
    };
    assert_eq!(checked(chain(100), json!({})), Ok(()));
    for length in [200, 20_000] {
        let refused = checked(chain(length), json!({})).unwrap_err();
        assert!(refused[0].ends_with("it leads more than 128 levels deep"), "{refused:?}");
    }
}

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
        faults[0].starts_with("the parameters of the tool plan_trip are no JSON Schema that can be checked: "),
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

#[test]
fn a_checker_is_made_once_for_many_calls() {
    let tool = Tool::new("plan_trip", "…").parameters(trip());
    let checker = tool.as_function().unwrap().argument_checker().unwrap();
    assert!(checker.check(json!({"stops": []}).as_object().unwrap()).is_ok());
    assert!(checker.check(json!({"stops": 1}).as_object().unwrap()).is_err());
}

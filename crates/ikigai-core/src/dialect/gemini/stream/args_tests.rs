use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn built(pieces: Value) -> Result<Value, String> {
    let mut args = PartialArgs::default();
    for piece in pieces.as_array().unwrap() {
        let text = piece.to_string();
        args.push(serde_json::from_str(&text).unwrap())?;
    }
    Ok(Value::Object(args.finish()))
}

#[test]
fn pieces_build_nested_arguments() {
    let pieces = json!([
        {"jsonPath": "$.recipe.items[0].name", "stringValue": "Noo", "willContinue": true},
        {"jsonPath": "$.recipe.items[0].name", "stringValue": "dles", "willContinue": true},
        {"jsonPath": "$.recipe.items[0].name", "stringValue": ""},
        {"jsonPath": "$.recipe.items[0].grams", "numberValue": 250.0},
        {"jsonPath": "$.recipe.items[1].name", "stringValue": "Salt"},
        {"jsonPath": "$.recipe.items[1].grams", "numberValue": 0.5},
        {"jsonPath": "$['at home']", "boolValue": true},
        {"jsonPath": "$[\"it's\"]", "nullValue": "NULL_VALUE"},
    ]);
    assert_eq!(
        built(pieces),
        Ok(json!({
            "recipe": {"items": [{"name": "Noodles", "grams": 250}, {"name": "Salt", "grams": 0.5}]},
            "at home": true,
            "it's": null,
        })),
    );
}

#[test]
fn a_text_that_ended_is_replaced_and_not_continued() {
    let pieces = json!([
        {"jsonPath": "$.a", "stringValue": "one"},
        {"jsonPath": "$.a", "stringValue": "two", "willContinue": true},
        {"jsonPath": "$.b", "stringValue": "x"},
        {"jsonPath": "$.a", "stringValue": "three"},
    ]);
    assert_eq!(built(pieces), Ok(json!({"a": "three", "b": "x"})));
}

#[test]
fn paths_that_lead_nowhere_are_refused() {
    for path in ["", "a", "$", "$[0]", "$.a[1000000000]", "$.a[x]", "$.a[", "$['a", "$.a[-1]"] {
        let piece = json!([{"jsonPath": path, "stringValue": "x"}]);
        assert_eq!(built(piece), Err(format!("no place for the argument at `{path}`")), "{path}");
    }
    let clash = json!([{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a.b", "stringValue": "y"}]);
    assert_eq!(built(clash), Err("no place for the argument at `$.a.b`".to_owned()));
}

#[test]
fn a_path_with_too_many_steps_is_refused() {
    let of = |steps: usize| built(json!([{"jsonPath": format!("${}", ".a".repeat(steps)), "numberValue": 1}]));
    assert!(of(MOST_STEPS).is_ok());
    let beginning = format!("${}", ".a".repeat(49)) + ".";
    assert_eq!(of(50_000), Err(format!("the path of an argument has more than {MOST_STEPS} steps: `{beginning}…`")));
}

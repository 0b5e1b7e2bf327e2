use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::decode_tests::{error, parts, read, response, stop};
use super::*;
use crate::ErrorKind;
use crate::wire::Ids;

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

#[test]
fn arguments_in_pieces_become_a_call() {
    let call = |call: Value| parts(json!([{"functionCall": call}]));
    let frames = [
        parts(json!([{"functionCall": {"name": "f", "willContinue": true}, "thoughtSignature": "c2ln"}])),
        call(
            json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}], "willContinue": true}),
        ),
        call(json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "lo"}], "willContinue": true})),
        call(json!({"willContinue": true})),
        call(json!({})),
        call(json!({"name": "g", "id": "c2", "partialArgs": [{"jsonPath": "$.n", "numberValue": 3}]})),
        call(json!({"name": "h"})),
        stop(),
    ];
    let response = response(&frames);
    let calls: Vec<Value> = response.tool_calls().map(|call| serde_json::to_value(call).unwrap()).collect();
    let mut ids = Ids::default();
    assert_eq!(
        calls,
        [
            json!({"id": ids.next_id(), "name": "f", "arguments": {"city": "Oslo"},
                "provider_data": {"gemini": {"thought_signature": "c2ln", "shape": {"generated_id": true}}}}),
            json!({"id": "c2", "name": "g", "arguments": {"n": 3}}),
            json!({"id": ids.next_id(), "name": "h", "arguments": {}, "provider_data": {"gemini": {"shape": {"no_args": true, "generated_id": true}}}}),
        ],
    );
}

#[test]
fn a_call_that_something_cuts_short_cannot_be_run() {
    let begun = parts(json!([{"functionCall": {"name": "f", "id": "c", "willContinue": true,
        "partialArgs": [{"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}]}}]));
    let limit = json!({"candidates": [{"finishReason": "MAX_TOKENS"}]});
    for frames in [vec![begun.clone(), limit], vec![begun.clone(), parts(json!([{"text": "Never mind."}])), stop()]] {
        let response = response(&frames);
        let call = response.tool_calls().next().unwrap();
        assert_eq!((call.is_complete(), call.arguments.text()), (false, r#"{"city":"Os""#));
    }
    // A piece of nothing.
    let (kind, message) = error(&read(&[parts(json!([{"functionCall": {"willContinue": true}}]))]));
    let expected = "event 1 of the stream cannot be read (it goes on with a call that never began)";
    assert!(kind == ErrorKind::Protocol && message.starts_with(expected), "{message}");
}

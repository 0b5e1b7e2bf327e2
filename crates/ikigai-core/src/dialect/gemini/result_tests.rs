use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn decoded(part: &Value) -> ToolResult {
    let text = part.to_string();
    match content::decode(serde_json::from_str(&text).unwrap()) {
        Block::ToolResult(result) => result,
        other => panic!("{other:?}"),
    }
}

fn read(response: Value) -> ToolResult {
    decoded(&json!({"functionResponse": {"name": "f", "response": response}}))
}

fn written(result: &ToolResult) -> Value {
    whole(result)["functionResponse"]["response"].clone()
}

fn whole(result: &ToolResult) -> Value {
    serde_json::to_value(encode(result, "f".into(), None, Vec::new())).unwrap()
}

#[test]
fn every_shape_of_payload_has_a_text_and_comes_back() {
    for (response, text, is_error) in [
        (json!({"output": "sunny"}), "sunny", false),
        (json!({"output": {"c": 3, "a": 1}}), r#"{"c":3,"a":1}"#, false),
        (json!({"error": "no such city"}), "no such city", true),
        (json!({"error": {"code": 5}}), r#"{"code":5}"#, true),
        (json!({"content": "127.0.0.1"}), "127.0.0.1", false),
        (json!({"result": 4}), "4", false),
        (json!({"result": "4"}), "4", false),
        (json!({"output": null}), "null", false),
        (json!({"error": null}), r#"{"error":null}"#, false),
        (json!({"return_value": "Paris"}), r#"{"return_value":"Paris"}"#, false),
        (json!({"error": "x", "code": 1}), r#"{"error":"x","code":1}"#, true),
        (json!({"output": "x", "files": [1]}), r#"{"output":"x","files":[1]}"#, false),
        (json!({"output": ""}), "", false),
        (json!({"content": ""}), "", false),
        (json!({}), "", false),
    ] {
        let result = read(response.clone());
        assert_eq!((text_of(&result).as_ref(), result.is_error), (text, is_error), "{response}");
        assert_eq!(written(&result), response);
    }
    let absent = json!({"functionResponse": {"name": "f"}});
    assert_eq!(whole(&decoded(&absent)), absent);
    let no_parts = json!({"functionResponse": {"name": "f", "response": {"output": "x"}, "parts": []}});
    assert_eq!(whole(&decoded(&no_parts)), no_parts);
}

#[test]
fn a_changed_result_is_written_anew() {
    let mut result = read(json!({"return_value": "Paris"}));
    result.content = vec![Block::text("Rome")];
    assert_eq!(written(&result), json!({"output": "Rome"}));
    result.is_error = true;
    assert_eq!(written(&result), json!({"error": "Rome"}));
    let mut result = read(json!({"result": 4}));
    result.content = vec![Block::text("four")];
    assert_eq!(written(&result), json!({"result": "four"}));
}

#[test]
fn text_that_happens_to_be_json_stays_text() {
    let result = ToolResult { content: vec![Block::text(r#"{"a":1}"#)], ..ToolResult::default() };
    assert_eq!(written(&result), json!({"output": r#"{"a":1}"#}));
}

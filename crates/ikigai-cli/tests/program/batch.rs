//! `ikigai wire … --batch`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Said, piped};

fn batch(line: &str, input: &str) -> Vec<Value> {
    let mut arguments = vec!["wire"];
    arguments.extend(line.split(' '));
    arguments.push("--batch");
    let Said { code, stdout, stderr } = piped(&arguments, input);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{line}");
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn answer(text: &str) -> Value {
    json!({
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

#[test]
fn every_line_gets_its_answer_in_order() {
    let input = [
        json!({"id": 1, "body": answer("one")}).to_string(),
        // The same as a string.
        json!({"id": "two", "body": answer("two").to_string()}).to_string(),
        String::new(),
        json!({"id": {"any": "thing"}, "body": answer("three"), "status": 200, "note": "ignored"}).to_string(),
    ];
    let answers = batch("decode --dialect anthropic --kind response", &input.join("\n"));
    let found: Vec<(&Value, &Value)> =
        answers.iter().map(|line| (&line["id"], &line["ok"]["content"][0]["text"])).collect();
    assert_eq!(
        found,
        [(&json!(1), &json!("one")), (&json!("two"), &json!("two")), (&json!({"any": "thing"}), &json!("three"))]
    );
}

#[test]
fn a_bad_line_is_an_error_line_with_its_number_and_the_run_goes_on() {
    let good = json!({"id": "good", "body": answer("x")}).to_string();
    let input = format!("{{\"id\": 1, \"body\": }}\n[]\n{{\"id\": 3}}\nnonsense\n{{\"id\": 5, \"body\": 1}}\n{good}\n");
    let answers = batch("decode --dialect anthropic --kind response", &input);
    let found: Vec<(&Value, &Value, &Value)> =
        answers.iter().map(|line| (&line["id"], &line["line"], &line["error"]["kind"])).collect();
    let (none, invalid) = (Value::Null, json!("invalid_request"));
    assert_eq!(found[0], (&none, &json!(1), &invalid));
    assert_eq!(found[1], (&none, &json!(2), &invalid));
    assert_eq!(found[2], (&json!(3), &json!(3), &invalid));
    assert_eq!(found[3], (&none, &json!(4), &invalid));
    assert_eq!(answers[0]["error"]["message"], "line 1, column 19: expected value");
    assert_eq!(answers[2]["error"]["message"], "line 3, column 9: missing field `body`");
    // A line that can be read but whose body is not an answer: the id is enough.
    assert_eq!((&answers[4]["id"], &answers[4]["line"]), (&json!(5), &Value::Null));
    assert!(answers[4]["error"]["message"].is_string());
    assert_eq!(answers[5]["ok"]["content"][0]["text"], "x");
}

#[test]
fn a_failure_is_a_canonical_error() {
    let input = [
        json!({"id": 1, "status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}}),
        json!({"id": 2, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}}),
        json!({"id": 3, "status": 502, "body": "<html><title>Bad Gateway</title></html>"}),
        json!({"id": 4, "status": 429, "body": "", "headers": {"Retry-After": "7"}}),
        json!({"id": 5, "status": 429, "body": "", "headers": [["retry-after", "7"]]}),
    ]
    .map(|line| line.to_string());
    let answers = batch("decode --dialect anthropic --kind response", &input.join("\n"));
    let kinds: Vec<&Value> = answers.iter().map(|line| &line["error"]["kind"]).collect();
    assert_eq!(kinds, ["overloaded", "overloaded", "server", "rate_limit", "rate_limit"]);
    assert!(answers.iter().all(|line| line.get("ok").is_none() && line.get("line").is_none()));
    assert_eq!([&answers[3]["error"]["retry_after_ms"], &answers[4]["error"]["retry_after_ms"]], [7000, 7000]);
}

#[test]
fn losses_stand_beside_the_result_and_in_strict_beside_the_error() {
    let request =
        json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "seed": 7, "max_output_tokens": 9});
    let line = json!({"id": 1, "body": request}).to_string();
    let loose = batch("encode --dialect anthropic --kind request", &line);
    assert_eq!(loose[0]["losses"][0]["what"], "seed");
    assert_eq!(loose[0]["ok"]["max_tokens"], 9);
    let strict = batch("encode --dialect anthropic --kind request --strict", &line);
    assert_eq!(strict[0]["losses"], loose[0]["losses"]);
    assert_eq!((&strict[0]["error"]["kind"], strict[0].get("ok")), (&json!("invalid_request"), None));
}

#[test]
fn streams_are_texts() {
    let events = json!([{"type": "start", "model": "m"}, {"type": "done", "finish_reason": "stop"}]);
    let encoded = batch("encode --dialect openai-chat --kind stream", &json!({"id": 1, "body": events}).to_string());
    let text = encoded[0]["ok"].as_str().unwrap();
    assert!(text.starts_with("data: {") && text.ends_with("data: [DONE]\n\n"), "{text}");
    let decoded = batch("decode --dialect openai-chat --kind stream", &json!({"id": 2, "body": text}).to_string());
    assert_eq!(decoded[0]["ok"]["response"]["finish_reason"], "stop");
    let line = json!({"id": 3, "body": text}).to_string();
    let translated = batch("translate --from openai-chat --to anthropic --kind stream", &line);
    assert!(translated[0]["ok"].as_str().unwrap().contains("event: message_stop"));
}

#[test]
fn a_line_may_name_its_path_and_the_flag_holds_for_the_others() {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]});
    let input = [
        json!({"id": 1, "body": body, "path": "/v1beta/models/gemini-2.5-pro:generateContent"}).to_string(),
        json!({"id": 2, "body": body}).to_string(),
    ];
    let path = "/v1beta/models/gemini-2.5-flash:generateContent";
    let answers = batch(&format!("decode --dialect gemini --kind request --path {path}"), &input.join("\n"));
    assert_eq!([&answers[0]["ok"]["model"], &answers[1]["ok"]["model"]], ["gemini-2.5-pro", "gemini-2.5-flash"]);
}

#[test]
fn made_up_ids_follow_from_the_input() {
    let call = |city: &str| {
        json!({"id": 1, "body": {"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "weather", "args": {"city": city}}}]}, "finishReason": "STOP"}]}})
        .to_string()
    };
    let input = [call("Oslo"), call("Oslo"), call("Rome")].join("\n");
    let answers = batch("decode --dialect gemini --kind response", &input);
    let ids: Vec<&str> = answers.iter().map(|line| line["ok"]["content"][0]["id"].as_str().unwrap()).collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
    assert_eq!(ids[0].len(), 22);
}

#[test]
fn each_line_is_written_before_the_next_is_read() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ikigai"))
        .args(["wire", "decode", "--dialect", "anthropic", "--kind", "response", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(stdin, "{}", json!({"id": id, "body": answer("x")})).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], id);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

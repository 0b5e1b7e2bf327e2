//! `ikigai wire`: one document at a time.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Said, ikigai, piped, said};

const CHAT_REQUEST: &str = r#"{
  "model": "gpt-4o",
  "messages": [
    {"role": "system", "content": "You are helpful"},
    {"role": "user", "content": "Hello"}
  ],
  "max_completion_tokens": 100,
  "seed": 7
}"#;

const ANTHROPIC_ANSWER: &str = r#"{
  "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
  "content": [{"type": "text", "text": "Hello!"}],
  "stop_reason": "end_turn", "stop_sequence": null,
  "usage": {"input_tokens": 10, "output_tokens": 5}
}"#;

const CHAT_STREAM: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o\",\
    \"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"finish_reason\":null}]}\n\n\
    data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o\",\
    \"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

/// Runs a command line, split at spaces.
fn wire(line: &str, input: &str) -> Said {
    let mut arguments = vec!["wire"];
    arguments.extend(line.split(' '));
    piped(&arguments, input)
}

/// Returns the JSON that a successful command prints.
fn json_of(line: &str, input: &str) -> Value {
    let Said { code, stdout, stderr } = wire(line, input);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{line}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn a_request_is_decoded_and_encoded_to_what_it_was() {
    let canonical = wire("decode --dialect openai-chat --kind request", CHAT_REQUEST);
    assert_eq!((canonical.code, canonical.stderr.as_str()), (Some(0), ""));
    assert_snapshot!(canonical.stdout);
    let again = json_of("encode --dialect openai-chat --kind request", &canonical.stdout);
    assert_eq!(again, serde_json::from_str::<Value>(CHAT_REQUEST).unwrap());
}

#[test]
fn a_request_in_another_dialect_with_what_was_lost_on_standard_error() {
    let said =
        wire("translate --from openai-chat --to anthropic --kind request --model claude-sonnet-4-5", CHAT_REQUEST);
    assert_eq!(said.code, Some(0));
    assert_snapshot!(said.stdout, @r#"
    {
      "model": "claude-sonnet-4-5",
      "max_tokens": 100,
      "system": "You are helpful",
      "messages": [
        {
          "role": "user",
          "content": "Hello"
        }
      ]
    }
    "#);
    assert_snapshot!(said.stderr, @"dropped: seed (this API has no such parameter)");
}

#[test]
fn strict_refuses_what_cannot_be_carried() {
    let line = "translate --from openai-chat --to anthropic --kind request --model claude-sonnet-4-5 --strict";
    let Said { code, stdout, stderr } = wire(line, CHAT_REQUEST);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert_snapshot!(stderr, @r"
    dropped: seed (this API has no such parameter)
    error: strict: anthropic cannot carry one thing of this request
    ");
}

#[test]
fn fields_that_the_format_does_not_know_are_told() {
    let canonical =
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Hi"}],"temprature":0.5,"max_tokens":9}"#;
    let Said { code, stderr, .. } = wire("encode --dialect openai-chat --kind request", canonical);
    assert_eq!(code, Some(0));
    assert_snapshot!(stderr, @r"
    dropped: temprature (the format has no such field, so it is ignored; did you mean `temperature`?)
    dropped: max_tokens (the format has no such field, so it is ignored; did you mean `max_output_tokens`?)
    ");
    let Said { code, stderr, .. } = wire("encode --dialect openai-chat --kind request --strict", canonical);
    assert_eq!(code, Some(1));
    assert!(stderr.ends_with("error: strict: openai-chat cannot carry 2 things of this request\n"), "{stderr}");
}

#[test]
fn a_full_request_has_its_path_and_headers_and_no_key() {
    let canonical = r#"{"model":"gemini-2.5-pro","messages":[{"role":"user","content":"Hi"}]}"#;
    assert_snapshot!(wire("encode --dialect gemini --kind request --full", canonical).stdout, @r#"
    {
      "path": "/models/gemini-2.5-pro:generateContent",
      "body": {
        "contents": [
          {
            "parts": [
              {
                "text": "Hi"
              }
            ],
            "role": "user"
          }
        ]
      }
    }
    "#);
}

#[test]
fn a_model_and_a_level_can_be_asked_for() {
    let canonical = r#"{"model":"x","messages":[{"role":"user","content":"Hi"}],"max_output_tokens":4096}"#;
    let body = json_of("encode --dialect anthropic --kind request --model claude-sonnet-4-5/med", canonical);
    assert_eq!(
        [&body["model"], &body["thinking"]["budget_tokens"], &body["max_tokens"]],
        [&json!("claude-sonnet-4-5"), &json!(43_008), &json!(47_104)]
    );
}

#[test]
fn the_ways_of_a_provider_are_heeded() {
    let canonical = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"max_output_tokens":9}"#;
    let own = json_of("encode --dialect openai-chat --kind request", canonical);
    assert_eq!((&own["max_completion_tokens"], &own["max_tokens"]), (&json!(9), &Value::Null));
    let other = json_of("encode --dialect openai-chat --kind request --provider mistral", canonical);
    assert_eq!((&other["max_completion_tokens"], &other["max_tokens"]), (&Value::Null, &json!(9)));
}

#[test]
fn a_gemini_request_names_its_model_in_the_path() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#;
    let path = "/v1beta/models/gemini-2.5-pro:generateContent";
    let request = json_of(&format!("decode --dialect gemini --kind request --path {path}"), body);
    assert_eq!(request["model"], "gemini-2.5-pro");
}

#[test]
fn an_answer_goes_from_one_dialect_to_another() {
    let line = "translate --from anthropic --to openai-chat --kind response --created 1700000000";
    assert_snapshot!(wire(line, ANTHROPIC_ANSWER).stdout, @r#"
    {
      "id": "msg_01",
      "object": "chat.completion",
      "created": 1700000000,
      "model": "claude-sonnet-4-5-20250929",
      "choices": [
        {
          "index": 0,
          "message": {
            "role": "assistant",
            "content": "Hello!",
            "refusal": null
          },
          "finish_reason": "stop"
        }
      ],
      "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {
          "cached_tokens": 0
        },
        "completion_tokens_details": {
          "reasoning_tokens": 0
        }
      }
    }
    "#);
    let same = json_of("translate --from anthropic --to anthropic --kind response", ANTHROPIC_ANSWER);
    assert_eq!(same, serde_json::from_str::<Value>(ANTHROPIC_ANSWER).unwrap());
}

#[test]
fn a_stream_is_its_events_and_its_answer() {
    let decoded = json_of("decode --dialect openai-chat --kind stream", CHAT_STREAM);
    let types: Vec<&str> =
        decoded["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["start", "block_start", "text_delta", "text_delta", "block_done", "done"]);
    assert_eq!(
        [&decoded["response"]["content"], &decoded["response"]["finish_reason"]],
        [&json!([{"type": "text", "text": "Hello"}]), &json!("stop")]
    );
}

#[test]
fn a_stream_that_breaks_off_keeps_what_had_arrived() {
    let (cut, _) = CHAT_STREAM.split_once("\n\n").unwrap();
    let decoded = json_of("decode --dialect openai-chat --kind stream", &format!("{cut}\n\n"));
    let response = &decoded["response"];
    assert_eq!([&response["content"][0]["text"], &response["finish_reason"]], [&json!("Hel"), &json!("error")]);
    assert_eq!(decoded["events"].as_array().unwrap().last().unwrap()["type"], "error");
}

#[test]
fn events_a_list_of_them_and_a_whole_answer_give_the_same_stream() {
    let decoded = json_of("decode --dialect openai-chat --kind stream", CHAT_STREAM);
    let encode = |input: &Value| {
        let said = wire("encode --dialect anthropic --kind stream --created 1", &input.to_string());
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
        json_of("decode --dialect anthropic --kind stream", &said.stdout)["response"]["content"].clone()
    };
    let text = json!([{"type": "text", "text": "Hello"}]);
    assert_eq!(encode(&decoded), text);
    assert_eq!(encode(&decoded["events"]), text);
    assert_eq!(encode(&decoded["response"]), text);
}

#[test]
fn a_stream_goes_from_one_dialect_to_another() {
    let line = "translate --from openai-chat --to anthropic --kind stream --created 1";
    assert_snapshot!(wire(line, CHAT_STREAM).stdout);
}

#[test]
fn a_stream_is_translated_while_it_arrives() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ikigai"))
        .args(["wire", "translate", "--from", "openai-chat", "--to", "anthropic", "--kind", "stream", "--created", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // Cut in the second event: the first must be written before the rest arrives.
    let (first, rest) = CHAT_STREAM.split_at(CHAT_STREAM.find("\n\n").unwrap() + 9);
    stdin.write_all(first.as_bytes()).unwrap();
    let mut seen = String::new();
    while !seen.contains("\"Hel\"") {
        assert_ne!(stdout.read_line(&mut seen).unwrap(), 0, "{seen}");
    }
    stdin.write_all(rest.as_bytes()).unwrap();
    drop(stdin);
    stdout.read_to_string(&mut seen).unwrap();
    assert!(child.wait().unwrap().success());
    let line = "translate --from openai-chat --to anthropic --kind stream --created 1";
    assert_eq!(seen, wire(line, CHAT_STREAM).stdout);
}

#[test]
fn events_out_of_order_are_refused() {
    let events =
        r#"[{"type":"start"},{"type":"text_delta","index":0,"text":"x"},{"type":"done","finish_reason":"stop"}]"#;
    let Said { code, stdout, stderr } = wire("encode --dialect anthropic --kind stream", events);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with("error: these events are not a valid stream: "), "{stderr}");
}

#[test]
fn errors_are_read_with_what_came_along_and_written_for_another_client() {
    let body = r#"{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}"#;
    let arguments = ["wire", "decode", "--dialect", "openai-chat", "--kind", "error", "--status", "429"];
    let said = said(ikigai(&[&arguments[..], &["--header", "Retry-After: 3"]].concat()).write_stdin(body));
    let error: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        [&error["kind"], &error["message"], &error["status"], &error["retry_after_ms"]],
        [&json!("rate_limit"), &json!("Slow down"), &json!(429), &json!(3000)]
    );
    let line = "translate --from openai-chat --to anthropic --kind error --status 429 --full";
    let translated = json_of(line, body);
    assert_eq!(
        [&translated["status"], &translated["body"]["error"]["type"]],
        [&json!(429), &json!("rate_limit_error")]
    );
}

#[test]
fn an_error_where_an_answer_should_be_ends_with_1() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for line in [
        "decode --dialect anthropic --kind response",
        "decode --dialect anthropic --kind response --status 529",
        "decode --dialect anthropic --kind stream --status 529",
        "translate --from anthropic --to gemini --kind stream --status 529",
    ] {
        let Said { code, stdout, stderr } = wire(line, body);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{line}");
        assert!(stderr.starts_with("error: Overloaded"), "{line}: {stderr}");
    }
}

#[test]
fn input_that_makes_no_sense_is_told_with_its_place() {
    for (line, input, expected) in [
        ("decode --dialect gemini --kind response", "", "the input is empty; expected JSON"),
        (
            "decode --dialect gemini --kind request",
            "{\n  \"contents\": x",
            "the request body cannot be read: contents: expected value at line 2 column 15",
        ),
        (
            "encode --dialect gemini --kind request",
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"txt"}]}]}"#,
            "not a canonical request at messages[0].content[0].type: unknown variant `txt`",
        ),
        (
            "encode --dialect gemini --kind response",
            r#"{"finish_reason":"done"}"#,
            "not a canonical response at finish_reason: unknown variant `done`",
        ),
    ] {
        let Said { code, stdout, stderr } = wire(line, input);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{line}");
        assert!(stderr.starts_with(&format!("error: {expected}")), "{line}: {stderr}");
    }
}

#[test]
fn wrong_words_are_usage_errors_that_list_the_right_ones() {
    for (line, expected) in [
        ("decode --dialect openai --kind request", "possible values: anthropic, openai-chat, openai-responses, gemini"),
        ("decode --dialect gemini --kind answer", "possible values: request, response, stream, error"),
        ("decode --dialect gemini", "--kind <KIND>"),
        ("decode --dialect gemini --kind error --status 42", "42 is not in 100..=599"),
        ("decode --dialect gemini --kind error --header x", "write a header as 'name: value'"),
        ("encode --dialect gemini --kind request --provider gogle", "Did you mean `google`?"),
        ("encode --dialect openai-chat --kind request --provider groq --model openai:gpt-5", "--provider says groq"),
    ] {
        let Said { code, stdout, stderr } = wire(line, "{}");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{line}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
}

const CONVERSE_STREAM: &str = "data: {\"messageStart\":{\"role\":\"assistant\"}}\n\n\
    data: {\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hello!\"}}}\n\n\
    data: {\"messageStop\":{\"stopReason\":\"end_turn\"}}\n\n\
    data: {\"metadata\":{\"usage\":{\"inputTokens\":10,\"outputTokens\":5,\"totalTokens\":15}}}\n\n";

#[test]
fn a_dialect_that_only_providers_speak_is_written_for_them_and_read_from_them() {
    let model = "bedrock:us.amazon.nova-lite-v1:0";
    let Said { code, stdout, stderr } = wire(
        &format!("translate --from openai-chat --to bedrock-converse --kind request --model {model}"),
        CHAT_REQUEST,
    );
    let wanted = json!({
        "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
        "system": [{"text": "You are helpful"}],
        "inferenceConfig": {"maxTokens": 100},
    });
    assert_eq!((code, serde_json::from_str::<Value>(&stdout).unwrap()), (Some(0), wanted));
    assert!(stderr.contains("dropped: seed ("), "{stderr}");

    let canonical = r#"{"model":"us.amazon.nova-lite-v1:0","messages":[{"role":"user","content":"Hi"}],"stream":true}"#;
    let full = json_of("encode --dialect bedrock-converse --kind request --full", canonical);
    assert_eq!(full["path"], "/model/us.amazon.nova-lite-v1%3A0/converse-stream");

    let answer = r#"{"output":{"message":{"role":"assistant","content":[{"text":"Hello!"}]}},"stopReason":"end_turn"}"#;
    let read = json_of("decode --dialect bedrock-converse --kind response", answer);
    assert_eq!(read["content"], json!([{"type": "text", "text": "Hello!"}]));
    let read = json_of("decode --dialect bedrock-converse --kind stream", CONVERSE_STREAM);
    assert_eq!(
        (&read["response"]["content"][0]["text"], &read["response"]["usage"]["total_tokens"]),
        (&json!("Hello!"), &json!(15))
    );
    let said = wire("translate --from bedrock-converse --to openai-chat --kind stream", CONVERSE_STREAM);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains(r#""content":"Hello!""#) && said.stdout.ends_with("data: [DONE]\n\n"),
        "{}",
        said.stdout
    );
    let error = json_of("decode --dialect bedrock-converse --kind error --status 429", r#"{"message":"Slow down"}"#);
    assert_eq!((&error["kind"], &error["message"]), (&json!("rate_limit"), &json!("Slow down")));
}

#[test]
fn a_dialect_that_only_providers_speak_is_not_served() {
    for line in [
        "decode --dialect bedrock-converse --kind request",
        "encode --dialect bedrock-converse --kind response",
        "encode --dialect bedrock-converse --kind stream",
        "encode --dialect bedrock-converse --kind error",
        "translate --from bedrock-converse --to gemini --kind request",
        "translate --from gemini --to bedrock-converse --kind stream",
    ] {
        let Said { code, stdout, stderr } = wire(line, "{}");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{line}");
        assert!(stderr.contains("only providers speak bedrock-converse"), "{line}: {stderr}");
    }
}

#[test]
fn a_provider_that_does_not_speak_the_dialect_is_refused() {
    let canonical = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
    let Said { code, stderr, .. } = wire("encode --dialect gemini --kind request --provider mistral", canonical);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("mistral") && stderr.contains("gemini"), "{stderr}");
}

#[test]
fn input_can_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.json");
    let arguments =
        ["wire", "decode", "--dialect", "anthropic", "--kind", "response", "--file", file.to_str().unwrap()];
    let missing = said(&mut ikigai(&arguments));
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("error: cannot read "), "{}", missing.stderr);
    std::fs::write(&file, ANTHROPIC_ANSWER).unwrap();
    let response: Value = serde_json::from_str(&said(&mut ikigai(&arguments)).stdout).unwrap();
    assert_eq!(response["content"][0]["text"], "Hello!");
}

#[test]
fn the_schema_is_one_document_that_names_no_host() {
    let schema: Value = serde_json::from_str(&crate::support::printed(&["wire", "schema"])).unwrap();
    assert_eq!([&schema["$id"], &schema["x-ikigai-version"]], [&json!("urn:ikigai:format:3"), &json!("3")]);
    for name in ["Request", "Response", "Event", "Error"] {
        assert!(schema["$defs"][name]["properties"].is_object() || schema["$defs"][name]["oneOf"].is_array(), "{name}");
    }
    jsonschema::meta::validate(&schema).unwrap();
    // Our output matches our schema.
    let canonical = wire("decode --dialect openai-chat --kind request", CHAT_REQUEST).stdout;
    let mut document = schema;
    document["anyOf"] = json!([{"$ref": "#/$defs/Request"}]);
    jsonschema::validate(&document, &serde_json::from_str(&canonical).unwrap()).unwrap();
}

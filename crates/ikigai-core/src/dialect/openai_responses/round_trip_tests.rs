//! Whatever is accepted is written back unchanged: random documents made of this dialect's names.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::catalog::Rules;
use crate::dialect::{Incoming, Reply, Target};
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{Limits, Request};

fn read(body: &Value) -> Option<Request> {
    decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &crate::Limits::default()).ok()
}

/// Generates values that mean something in many places, and some that mean nothing anywhere.
fn scalar() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "x",
        "auto",
        "none",
        "required",
        "medium",
        "galactic",
        "assistant",
        "user",
        "developer",
        "system",
        "text",
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "function",
        "allowed_tools",
        "web_search_call",
        "output_text",
        "input_text",
        "refusal",
        "summary_text",
        "input_image",
        "input_file",
        "completed",
        "incomplete",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,A-_A",
        "https://a.example",
        "{\"a\": 1}",
        "{}",
        "json_schema",
        "max_output_tokens",
        "item_reference",
        "resp_1",
        "server",
    ];
    prop_oneof![
        8 => prop::sample::select(words.to_vec()).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => (-2_i64..20).prop_map(Value::from),
        1 => (-2.0..2.0).prop_map(|number: f64| Value::from(number)),
    ]
}

fn fields(keys: &'static [&'static str], value: BoxedStrategy<Value>, most: usize) -> BoxedStrategy<Value> {
    prop::collection::vec((prop::sample::select(keys), value), 0..most)
        .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
        .boxed()
}

/// Generates an object whose type usually fits its place, with further fields.
fn typed(
    kinds: &'static [&'static str],
    keys: &'static [&'static str],
    value: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    (prop::sample::select(kinds), fields(keys, value, 7), any::<u8>())
        .prop_map(|(kind, mut object, luck)| {
            if luck > 10 {
                object["type"] = kind.into();
            }
            object
        })
        .boxed()
}

fn part() -> BoxedStrategy<Value> {
    let keys: &[&str] = &[
        "text",
        "refusal",
        "annotations",
        "logprobs",
        "image_url",
        "file_id",
        "file_data",
        "file_url",
        "filename",
        "detail",
        "prompt_cache_breakpoint",
        "odd",
    ];
    let kinds: &[&str] = &[
        "output_text",
        "input_text",
        "refusal",
        "input_image",
        "input_file",
        "summary_text",
        "reasoning_text",
        "text",
        "odd",
    ];
    let value = prop_oneof![6 => scalar(), 1 => Just(json!([])), 1 => Just(json!({"mode": "explicit"}))];
    prop_oneof![12 => typed(kinds, keys, value.boxed()), 1 => scalar()].boxed()
}

fn parts() -> BoxedStrategy<Value> {
    prop_oneof![3 => prop::collection::vec(part(), 0..4).prop_map(Value::from), 2 => scalar()].boxed()
}

fn item() -> BoxedStrategy<Value> {
    let keys: &[&str] = &[
        "role",
        "content",
        "id",
        "status",
        "phase",
        "call_id",
        "name",
        "arguments",
        "output",
        "summary",
        "encrypted_content",
        "execution",
        "odd",
    ];
    let kinds: &[&str] = &[
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "web_search_call",
        "item_reference",
        "custom_tool_call_output",
        "compaction",
    ];
    let value = prop_oneof![3 => scalar(), 3 => parts(), 1 => Just(json!({"a": 1}))].boxed();
    // What every kind of item needs, so that most are accepted.
    let needed = (parts(), parts(), prop::sample::select(vec!["user", "assistant", "system", "developer"]));
    (typed(kinds, keys, value), needed)
        .prop_map(|(mut item, (content, output, role))| {
            let mut need = |key: &str, value: Value| {
                if item.get(key).is_none() {
                    item[key] = value;
                }
            };
            need("content", content);
            need("role", role.into());
            need("output", output);
            need("call_id", "call_1".into());
            need("name", "f".into());
            if item["type"] == "function_call" && item["call_id"] == "" {
                // A call that could not be answered gets an id.
                item["call_id"] = "call_2".into();
            }
            item
        })
        .boxed()
}

fn body() -> impl Strategy<Value = Value> {
    let tool_keys: &'static [&'static str] = &["name", "description", "parameters", "strict", "function", "odd"];
    let inner = prop_oneof![
        4 => scalar(),
        1 => Just(json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {}}})),
        1 => Just(json!({"name": "g", "parameters": {}})),
    ]
    .boxed();
    let tool = typed(&["function", "custom", "web_search"], tool_keys, inner.clone()).prop_map(|mut tool| {
        if tool.get("name").is_none() {
            tool["name"] = "f".into();
        }
        tool
    });
    let keys: &'static [&'static str] = &[
        "instructions",
        "temperature",
        "top_p",
        "max_output_tokens",
        "stream",
        "store",
        "include",
        "metadata",
        "parallel_tool_calls",
        "prompt_cache_key",
        "tool_choice",
        "reasoning",
        "text",
        "odd",
    ];
    let nested = fields(&["effort", "summary", "mode", "format", "verbosity", "type", "name", "odd"], inner, 4);
    let format =
        typed(&["json_schema", "json_object", "text"], &["schema", "name", "strict", "description"], nested.clone())
            .prop_map(|format| json!({"format": format}));
    let value = prop_oneof![3 => scalar(), 2 => nested, 1 => format, 1 => Just(json!([]))].boxed();
    let input = prop_oneof![6 => prop::collection::vec(item(), 0..6).prop_map(Value::from), 1 => scalar()];
    (fields(keys, value, 8), input, prop::collection::vec(tool, 0..3)).prop_map(|(mut body, input, tools)| {
        body["model"] = "m".into();
        body["input"] = input;
        body["tools"] = tools.into();
        body
    })
}

fn response() -> impl Strategy<Value = Value> {
    let keys: &'static [&'static str] =
        &["id", "model", "status", "usage", "incomplete_details", "output_text", "object", "created_at", "odd"];
    let count =
        prop_oneof![3 => (0_u64..50).prop_map(Value::from), 1 => Just(json!({"cached_tokens": 3})), 1 => scalar()];
    let usage = fields(
        &["input_tokens", "output_tokens", "total_tokens", "input_tokens_details", "output_tokens_details", "odd"],
        count.boxed(),
        5,
    );
    let value = prop_oneof![3 => scalar(), 1 => usage, 1 => Just(json!({"reason": "content_filter"}))].boxed();
    (fields(keys, value, 8), prop::collection::vec(item(), 0..5)).prop_map(|(mut body, output)| {
        body["output"] = output.into();
        body
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests(body in body()) {
        let (quirks, rules) = (Quirks::default(), Rules::default());
        let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
        if let Some(request) = read(&body) {
            let wire = DIALECT.encode_request(&request, &target, &Limits::default()).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Value>(&wire.body).unwrap(), body);
            prop_assert_eq!(wire.losses, vec![]);
        }
    }

    #[test]
    fn responses(body in response()) {
        if let Ok(response) = DIALECT.decode_response(body.to_string().as_bytes(), &mut Ids::default(), &Limits::default()) {
            let written = DIALECT.encode_response(&response, &Reply::default());
            prop_assert_eq!(serde_json::from_slice::<Value>(&written.body).unwrap(), body);
            prop_assert_eq!(written.losses, vec![]);
        }
    }
}

/// The generated documents are accepted, so the tests above are meaningful.
#[test]
fn most_documents_are_accepted() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let bodies = body();
    let accepted = (0..500)
        .filter(|_| {
            let body = bodies.new_tree(&mut runner).unwrap().current();
            read(&body).is_some()
        })
        .count();
    assert!(accepted > 100, "{accepted} of 500");
}

//! Values from answers.

use ikigai_core::{Block, Dialect, ErrorKind, FinishReason, Tool};
use pretty_assertions::assert_eq;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::testing::{Reply, Scripted, calls, says};
use crate::{Callable, Model, Reason, schemars};

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
struct Invoice {
    number: u32,
    /// In euros.
    amount: f64,
    days_to_pay: Option<u16>,
}

const GPT: &str = "openai:gpt-5.4";
const DEEPSEEK: &str = "deepseek:deepseek-chat";

fn invoice() -> Invoice {
    Invoice { number: 4711, amount: 120.0, days_to_pay: Some(30) }
}

const RIGHT: &str = r#"{"number": 4711, "amount": 120.0, "days_to_pay": 30}"#;
const WRONG: &str = r#"{"number": "4711", "amount": 120.0, "days_to_pay": 30}"#;

fn native(text: &str) -> Reply {
    Reply::whole(Dialect::OpenaiResponses, &says(text))
}

fn by_tool(arguments: &str) -> Reply {
    Reply::whole(Dialect::OpenaiChat, &calls(&[("c1", "invoice", serde_json::from_str(arguments).unwrap())]))
}

fn model(scripted: &Scripted, name: &str) -> Model {
    scripted.client().model(name).unwrap()
}

#[tokio::test]
async fn a_model_that_can_is_held_to_the_schema() {
    let scripted = Scripted::new([native(RIGHT)]);
    let (value, answer): (Invoice, _) = model(&scripted, GPT).extract_with_answer("Invoice 4711 …").await.unwrap();
    assert_eq!((value, answer.steps().count()), (invoice(), 1));
    let format = scripted.body(0)["text"]["format"].clone();
    assert_eq!((&format["type"], &format["name"]), (&json!("json_schema"), &json!("invoice")));
    assert_eq!(format["schema"]["properties"]["amount"]["description"], "In euros.");
}

#[tokio::test]
async fn elsewhere_a_tool_has_to_be_called() {
    let scripted = Scripted::new([by_tool(RIGHT)]);
    let value: Invoice = model(&scripted, DEEPSEEK).extract("Invoice 4711 …").await.unwrap();
    assert_eq!(value, invoice());
    let body = scripted.body(0);
    assert_eq!(body["tools"][0]["function"]["name"], "invoice");
    assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "invoice"}}));
}

#[tokio::test]
async fn an_answer_that_does_not_match_is_mended_once() {
    let scripted = Scripted::new([native(WRONG), native(RIGHT)]);
    let (value, answer): (Invoice, _) = model(&scripted, GPT).extract_with_answer("Invoice 4711 …").await.unwrap();
    assert_eq!((value, answer.steps().count()), (invoice(), 2));
    assert_eq!(answer.usage().unwrap().total_tokens(), 30, "both are paid for");
    let told = scripted.body(1).to_string();
    assert!(told.contains("number") && told.contains("is not of type"), "{told}");

    let scripted = Scripted::new([by_tool(WRONG), by_tool(RIGHT)]);
    let value: Invoice = model(&scripted, DEEPSEEK).extract("Invoice 4711 …").await.unwrap();
    assert_eq!(value, invoice());
    let last = scripted.body(1)["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["role"], &last["tool_call_id"]), (&json!("tool"), &json!("c1")));
}

#[tokio::test]
async fn the_second_mismatch_is_an_error_that_says_what_is_wrong() {
    let scripted = Scripted::new([native("I do not know."), native(WRONG)]);
    let error = model(&scripted, GPT).extract::<Invoice>("Invoice 4711 …").await.unwrap_err();
    let Reason::Mismatch(mismatch) = error.reason() else { panic!("{error:?}") };
    assert_eq!((mismatch.text.as_str(), error.kind()), (WRONG, ErrorKind::Protocol));
    assert!(mismatch.faults[0].starts_with("number: "), "{mismatch:?}");
    assert_eq!(error.partial().unwrap().text(), WRONG);
    assert_eq!(scripted.requests().len(), 2);
}

#[tokio::test]
async fn a_cut_or_refused_answer_is_not_asked_for_again() {
    let mut cut = says(r#"{"number": 47"#);
    cut.finish_reason = FinishReason::Length;
    let scripted = Scripted::new([Reply::whole(Dialect::OpenaiResponses, &cut)]);
    let error = model(&scripted, GPT).extract::<Invoice>("…").await.unwrap_err();
    assert!(error.to_string().contains("cut off by the token limit"), "{error}");
    let mut refused = says("I cannot help with that.");
    refused.finish_reason = FinishReason::ContentFilter;
    let scripted = Scripted::new([Reply::whole(Dialect::Anthropic, &refused)]);
    let error = model(&scripted, "anthropic:claude-sonnet-4-5").extract::<Invoice>("…").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContentFiltered);
}

#[tokio::test]
async fn a_fence_around_the_json_does_no_harm() {
    let scripted = Scripted::new([native(&format!("```json\n{RIGHT}\n```"))]);
    assert_eq!(model(&scripted, GPT).extract::<Invoice>("…").await.unwrap(), invoice());
}

#[tokio::test]
async fn what_is_no_object_is_asked_for_inside_one() {
    let scripted = Scripted::new([native(r#"{"value": ["a", "b"]}"#)]);
    let list: Vec<String> = model(&scripted, GPT).extract("…").await.unwrap();
    assert_eq!(list, ["a", "b"]);
    let schema = scripted.body(0)["text"]["format"]["schema"].clone();
    assert_eq!((&schema["type"], &schema["properties"]["value"]["type"]), (&json!("object"), &json!("array")));
}

#[tokio::test]
async fn other_tools_are_run_before_the_value_comes() {
    let lookup = Callable::new(Tool::new("lookup", "Looks an invoice up."), |_| async { "120 euros" });
    let first = calls(&[("c0", "lookup", json!({}))]);
    let scripted = Scripted::new([Reply::whole(Dialect::OpenaiChat, &first), by_tool(RIGHT)]);
    let value: Invoice = model(&scripted, DEEPSEEK).tool(lookup).extract("…").await.unwrap();
    assert_eq!(value, invoice());
    assert_eq!(
        scripted.body(0)["tool_choice"],
        scripted.body(1)["tool_choice"],
        "some tool has to be called each time"
    );
    assert!(scripted.body(1).to_string().contains("120 euros"));
}

#[tokio::test]
async fn a_schema_can_be_given_as_json_and_a_bad_one_is_refused() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let scripted = Scripted::new([native(r#"{"city": "Oslo"}"#)]);
    let value = model(&scripted, GPT).extract_json(schema, "…").await.unwrap();
    assert_eq!(value, json!({"city": "Oslo"}));
    let error = model(&scripted, GPT).extract_json(json!({"type": "objekt"}), "…").await.unwrap_err();
    assert_eq!((error.kind(), scripted.requests().len()), (ErrorKind::InvalidRequest, 1));
}

#[tokio::test]
async fn a_value_on_its_way_is_a_stream_that_knows_its_type() {
    use futures_util::TryStreamExt as _;

    let native = || Scripted::new([Reply::stream(Dialect::OpenaiResponses, &says(RIGHT))]);
    let scripted = native();
    let values: Vec<Value> =
        model(&scripted, GPT).extract_stream::<Invoice>("…").await.unwrap().try_collect().await.unwrap();
    assert_eq!(values.last(), Some(&serde_json::from_str(RIGHT).unwrap()));
    let scripted = native();
    let whole = model(&scripted, GPT).extract_stream::<Invoice>("…").await.unwrap().finish().await.unwrap();
    assert_eq!(whole, invoice());
}

#[tokio::test]
async fn a_value_is_shown_while_it_is_written() {
    async fn shown(scripted: Scripted, name: &str) -> Vec<Value> {
        let mut stream = model(&scripted, name).extract_stream::<Invoice>("…").await.unwrap();
        let mut shown = Vec::new();
        while let Some(value) = stream.next_value().await.unwrap() {
            shown.push(value);
        }
        assert_eq!(stream.finish().await.unwrap(), invoice());
        shown
    }
    // One text block per piece: the encoder of the tests writes a block at once.
    let pieces = ["{\"number\": 47", "11, \"amount\": 120.0, ", "\"days_to_pay\": 30}"];
    let mut response = says("");
    response.content = pieces.map(Block::text).into();
    let expected = [
        json!({}),
        json!({"number": 4711, "amount": 120.0}),
        json!({"number": 4711, "amount": 120.0, "days_to_pay": 30}),
    ];
    let scripted = Scripted::new([Reply::stream(Dialect::OpenaiResponses, &response)]);
    assert_eq!(shown(scripted, GPT).await, expected);
    let response = calls(&[("c1", "invoice", serde_json::from_str(RIGHT).unwrap())]);
    let scripted = Scripted::new([Reply::stream(Dialect::OpenaiChat, &response)]);
    assert_eq!(shown(scripted, DEEPSEEK).await.last(), expected.last());
}

#[tokio::test]
async fn a_value_that_was_streamed_wrong_is_mended_too() {
    let scripted = Scripted::new([Reply::stream(Dialect::OpenaiResponses, &says(WRONG)), native(RIGHT)]);
    let stream = model(&scripted, GPT).extract_stream::<Invoice>("…").await.unwrap();
    assert_eq!(stream.finish().await.unwrap(), invoice());
}

/// Returns how many values are yielded for a text in so many pieces, and their total size in bytes.
async fn shown(pieces: usize) -> (usize, usize, Value) {
    let mut stream = String::new();
    let mut add = |text: &str| {
        let delta = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "answer", "arguments": text}}]}}]});
        stream.push_str(&format!("data: {delta}\n\n"));
    };
    add(r#"{"text": ""#);
    (0..pieces).for_each(|_| add("1234567"));
    add(r#""}"#);
    stream.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
    let scripted = Scripted::new([Reply::new(200, stream)]);
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let mut stream = model(&scripted, DEEPSEEK).extract_json_stream(schema, "Go").await.unwrap();
    let (mut count, mut bytes, mut last) = (0, 0, Value::Null);
    while let Some(value) = stream.next_value().await.unwrap() {
        count += 1;
        bytes += value["text"].as_str().unwrap().len();
        last = value;
    }
    (count, bytes, last)
}

#[tokio::test]
async fn what_is_read_on_the_way_grows_with_the_text_and_not_faster() {
    let (few, short, last) = shown(100).await;
    assert_eq!((few, short), (101, 7 * 100 * 101 / 2), "each piece of a short text is shown");
    assert_eq!(last, json!({"text": "1234567".repeat(100)}));
    let mut read = Vec::new();
    for pieces in [4000, 8000, 16_000] {
        let (_, bytes, last) = shown(pieces).await;
        assert_eq!(last, json!({"text": "1234567".repeat(pieces)}), "the last value is the whole one");
        read.push(bytes);
    }
    assert!(read[1] < read[0] * 5 / 2 && read[2] < read[1] * 5 / 2, "{read:?}");
}

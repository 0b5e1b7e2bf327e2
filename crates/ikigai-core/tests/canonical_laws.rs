//! The laws of the format itself: it survives its own JSON, and a stream is its response.

#![cfg(test)]

mod support {
    pub(crate) mod cases;
    pub(crate) mod choices;
    pub(crate) mod generate;
}

use std::collections::BTreeSet;

use ikigai_core::validate::EventChecker;
use ikigai_core::{
    Block, Chunk, Collector, Error, ErrorKind, Event, FinishReason, Message, Request, Response, Role, events,
    unknown_fields,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use support::cases::cases;
use support::generate::{Reach, request, response, streamed};

/// Converts a value to JSON text and back.
fn through_json<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn collect(events: impl IntoIterator<Item = Event>) -> Response {
    let mut collector = Collector::default();
    collector.extend(events);
    collector.finish()
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn a_request_survives_its_json(request in request(Reach::Everything)) {
        prop_assert_eq!(through_json(&request), request);
    }

    #[test]
    fn a_response_survives_its_json(response in response(Reach::Everything)) {
        prop_assert_eq!(through_json(&response), response);
    }

    #[test]
    fn the_format_knows_all_fields_of_its_own_documents(
        request in request(Reach::Everything),
        (response, events) in streamed(Reach::Everything),
    ) {
        let unknown = |value: Value, kind: &str| unknown_fields(&value, kind);
        prop_assert_eq!(unknown(json!(request), "Request"), Vec::new());
        prop_assert_eq!(unknown(json!(response), "Response"), Vec::new());
        for event in &events {
            prop_assert_eq!(unknown(json!(event), "Event"), Vec::new());
        }
    }

    #[test]
    fn the_events_of_a_response_collect_to_it(response in response(Reach::Everything)) {
        let mut without_warnings = response.clone();
        without_warnings.warnings.clear();
        prop_assert_eq!(collect(events(&response)), without_warnings);
    }

    #[test]
    fn however_a_stream_is_cut_it_collects_to_its_response((response, events) in streamed(Reach::Everything)) {
        prop_assert_eq!(EventChecker::check(&events), Ok(()));
        prop_assert_eq!(collect(events), response);
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn events_survive_their_json((_, events) in streamed(Reach::Everything)) {
        prop_assert_eq!(through_json(&events), events);
    }

    #[test]
    fn what_a_careful_caller_writes_is_valid(request in request(Reach::Plain)) {
        prop_assert_eq!(request.validate(), Ok(()));
    }

    /// Reading JSON and writing it again gives the same text, so the keys keep their order.
    #[test]
    fn the_order_of_keys_is_kept(request in request(Reach::Everything)) {
        let text = serde_json::to_string(&request).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let again: Request = serde_json::from_value(value.clone()).unwrap();
        prop_assert_eq!(&serde_json::to_string(&value).unwrap(), &text);
        prop_assert_eq!(&serde_json::to_string(&again).unwrap(), &text);
    }

    #[test]
    fn a_text_stands_for_one_text_block(text in ".*", id in "[a-z]{1,8}") {
        let short: Request = serde_json::from_value(json!({
            "model": "m",
            "system": text,
            "messages": [
                {"role": "user", "content": text},
                {"role": "tool", "content": [{"type": "tool_result", "tool_call_id": id, "content": text}]},
            ],
        })).unwrap();
        let long = Request::new("m").system(text.clone()).user(text.clone()).tool_result(id, text);
        prop_assert_eq!(short, long);
    }
}

/// JSON in spellings that no printer would choose, with `~` for each insignificant blank.
fn oddly_spelled() -> impl Strategy<Value = String> {
    let words = ["1.0e2", "-0", "0.10", "1E+400", "true", "null", r#""\u00e9\/""#, r#"" {\"a\": 1} ""#, "{}", "[~]"];
    let leaf = prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[1-9][0-9]{39}"];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[~{}~]", items.join("~,")));
        let entry = ("[ab]", inner).prop_map(|(name, value)| format!(r#""{name}"~:{value}"#));
        let object = prop::collection::vec(entry, 1..3).prop_map(|entries| format!("{{{}~~}}", entries.join(",~")));
        prop_oneof![list, object]
    })
}

proptest! {
    #![proptest_config(cases(500))]

    /// Carried values keep their bytes, wherever they are in a document and in whatever order its fields are.
    #[test]
    fn raw_json_keeps_its_spelling(raw in oddly_spelled()) {
        let raw = raw.replace('~', " ");
        let data = format!(r#""provider_data":{{"gemini":{{"thought_signature":{raw},"extra":{{"x":{raw}}}}}}}"#);
        let other = format!(r#"{{"type":"other","dialect":"gemini","data":{raw}}}"#);
        let text = format!(r#"{{"type":"text","text":"Hi",{data}}}"#);
        let result = format!(r#"{{"type":"tool_result","tool_call_id":"c","content":[{other},{text}],"is_error":false,{data}}}"#);
        let tool = format!(r#"{{"name":"f","parameters":{raw},"strict":true}}"#);
        let request =
            format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{result},{other},{text}],{data}}}],"tools":[{other},{tool}],{data}}}"#);
        let read: Request = serde_json::from_str(&request).unwrap();
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), request);
        for event in [
            other.clone(),
            format!(r#"{{"type":"block_start","index":0,"block":{other}}}"#),
            format!(r#"{{"type":"block_done","index":0,{data}}}"#),
            format!(r#"{{"type":"tool_call_start","index":0,"id":"c","name":"f",{data}}}"#),
        ] {
            let read: Event = serde_json::from_str(&event).unwrap();
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), event);
        }
        for (last, first) in [
            (format!(r#"{{"dialect":"gemini","data":{raw},"type":"other"}}"#), other),
            (format!(r#"{{"text":"Hi",{data},"type":"text"}}"#), text),
        ] {
            let read: Block = serde_json::from_str(&last).unwrap();
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), first);
        }
    }

    /// Arguments without a separate text are read as they are spelled, except for blanks.
    #[test]
    fn arguments_keep_the_spelling_of_their_values(raw in oddly_spelled()) {
        let spelled = raw.replace('~', " ");
        let document = format!(r#"{{"type":"tool_call","id":"c","name":"f","arguments":{{"x" : {spelled}}}}}"#);
        let Block::ToolCall(call) = serde_json::from_str(&document).unwrap() else { unreachable!() };
        prop_assert_eq!(call.arguments.text(), format!(r#"{{"x":{}}}"#, raw.replace('~', "")));
        prop_assert_eq!(&through_json(&call), &call);
        let done = format!(r#"{{"type":"tool_call_done","index":0,"arguments":{{"x" : {spelled}}}}}"#);
        let Event::ToolCallDone { arguments, .. } = serde_json::from_str(&done).unwrap() else { unreachable!() };
        prop_assert_eq!(&arguments, &call.arguments);
    }
}

/// Collects every `key` and every `key=word` in a document.
fn seen(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                into.insert(key.clone());
                if let Some(word) = value.as_str().filter(|word| word.len() < 20) {
                    into.insert(format!("{key}={word}"));
                }
                seen(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| seen(item, into)),
        _ => {}
    }
}

/// A law that is true for all generated values means little unless they cover everything.
#[test]
fn generated_values_use_the_whole_format() {
    let mut runner = TestRunner::deterministic();
    let mut found = BTreeSet::new();
    for _ in 0..2_000 {
        let asked = request(Reach::Everything).new_tree(&mut runner).unwrap().current();
        seen(&serde_json::to_value(asked).unwrap(), &mut found);
        let (_, streamed) = streamed(Reach::Everything).new_tree(&mut runner).unwrap().current();
        seen(&serde_json::to_value(streamed).unwrap(), &mut found);
        let answered = response(Reach::Everything).new_tree(&mut runner).unwrap().current();
        seen(&serde_json::to_value(answered).unwrap(), &mut found);
    }
    let words = [
        "role=user role=assistant role=tool role=system",
        "type=text type=image type=document type=audio type=tool_call type=tool_result type=thinking type=other",
        "type=base64 type=url type=file media_type=image/png media_type=audio/wav media_type=application/pdf",
        "type=start type=block_start type=text_delta type=thinking_delta type=tool_call_start type=tool_call_delta",
        "type=tool_call_done type=block_done type=usage type=done type=error",
        "level=none level=minimal level=low level=med level=high level=xhigh level=max budget include_summary",
        "tool_choice=auto tool_choice=none tool_choice=required specific parallel_tool_calls",
        "max_output_tokens temperature top_p top_k stop seed frequency_penalty presence_penalty stream metadata",
        "output_format=text output_format=json json_schema schema strict description name parameters cache key",
        "automatic ttl provider_data anthropic openai-chat openai-responses gemini arguments_text is_error",
        "finish_reason=stop finish_reason=length finish_reason=tool_use finish_reason=content_filter",
        "finish_reason=error finish_reason=unknown usage error warnings partial retry_after_ms retryable",
    ];
    let missing: Vec<&str> =
        words.iter().flat_map(|line| line.split(' ')).filter(|word| !found.contains(*word)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn the_keys_of_arguments_and_schemas_keep_their_order() {
    let text = concat!(
        r#"{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_call","id":"c","name":"f","#,
        r#""arguments":{"z":1,"a":{"y":2,"b":3},"m":[{"k":1,"c":2}]}}]}],"#,
        r#""tools":[{"name":"f","parameters":{"type":"object","required":["z"],"properties":{"z":{},"a":{}}},"strict":true}]}"#,
    );
    let request: Request = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&request).unwrap(), text);
}

#[test]
fn minus_one_means_that_no_limit_was_given() {
    let limit = |json: Value| serde_json::from_value::<Request>(json).unwrap().max_output_tokens;
    assert_eq!(limit(json!({"model": "m", "max_output_tokens": -1})), None);
    assert_eq!(limit(json!({"model": "m", "max_output_tokens": null})), None);
    assert_eq!(limit(json!({"model": "m"})), None);
    assert_eq!(limit(json!({"model": "m", "max_output_tokens": 0})), Some(0));
    assert_eq!(limit(json!({"model": "m", "max_output_tokens": 4096})), Some(4096));
}

#[test]
fn what_is_no_request_is_refused_with_its_place() {
    let table = [
        (json!({"messages": [{"role": "robot", "content": "x"}]}), "unknown variant `robot`"),
        (json!({"messages": [{"role": "user", "content": 3}]}), "a string or a list of content blocks"),
        (json!({"messages": [{"role": "user", "content": [{"type": "smell"}]}]}), "unknown variant `smell`"),
        (json!({"messages": [{"content": "x"}]}), "missing field `role`"),
        (json!({"tools": [{"description": "x"}]}), "missing field `name`"),
        (json!({"tools": ["f"]}), "invalid type: string"),
        (json!({"thinking": {"level": "hard"}}), "unknown variant `hard`"),
    ];
    for (json, expected) in table {
        let error = serde_json::from_value::<Request>(json.clone()).unwrap_err().to_string();
        assert!(error.contains(expected), "{json}: {error}");
    }
}

#[test]
fn the_short_view_has_text_thinking_calls_and_the_rest() {
    let response: Response = serde_json::from_value(json!({
        "content": [
            {"type": "thinking", "text": "Hm"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ],
        "finish_reason": "tool_use",
        "usage": {"input_tokens": 1},
    }))
    .unwrap();
    let call = response.tool_calls().next().unwrap();
    let events = events(&response);
    let chunks: Vec<Chunk<'_>> = events.iter().filter_map(Chunk::of).collect();
    assert_eq!(
        chunks,
        vec![
            Chunk::Thinking("Hm"),
            Chunk::Content("Hi"),
            Chunk::ToolCall { index: 2, arguments: &call.arguments },
            Chunk::Meta { finish_reason: None, usage: response.usage.as_ref() },
            Chunk::Meta { finish_reason: Some(FinishReason::ToolUse), usage: None },
        ]
    );
    let broke = Event::Error { error: Box::new(Error::new(ErrorKind::Server, "broke")) };
    assert_eq!(Chunk::of(&broke), Some(Chunk::Meta { finish_reason: Some(FinishReason::Error), usage: None }));
}

#[test]
fn an_answer_becomes_the_message_that_goes_back() {
    let response: Response = serde_json::from_value(json!({
        "id": "r1",
        "model": "m-2026",
        "content": [{"type": "thinking", "text": "Hm", "provider_data": {"anthropic": {"signature": "Eq=="}}}],
        "provider_data": {"anthropic": {"stop_reason": "end_turn"}},
    }))
    .unwrap();
    let mut expected = Message::new(Role::Assistant, Vec::<Block>::new());
    expected.content = response.content.clone();
    expected.provider = Some("anthropic".into());
    expected.model = Some("m-2026".into());
    expected.provider_data = response.provider_data.clone();
    assert_eq!(response.into_message("anthropic"), expected);
}

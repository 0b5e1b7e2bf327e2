//! Parts of a message that the format does not know: whole, streamed, written back, and for other dialects.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stream::{check_as_client, check_grammar, read_stream, write_stream};
use super::*;
use crate::catalog::Rules;
use crate::dialect::{Dialect, Incoming, Reply, StreamEncoder, Target};
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{Block, Limits, Loss, LossCode, Response, events};

fn said(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn audio(data: &str) -> Value {
    json!({"type": "output_audio", "data": data, "transcript": "x"})
}

fn message(content: &Value) -> Value {
    json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": content})
}

fn answer(output: &Value) -> Value {
    json!({"id": "resp_1", "model": "gpt-5.1", "status": "completed", "error": null, "output": output})
}

fn read(output: &Value) -> Response {
    decode_response(answer(output).to_string().as_bytes(), &mut Ids::default()).unwrap()
}

fn written(response: &Response) -> Value {
    serde_json::from_slice(&DIALECT.encode_response(response, &Reply::default()).body).unwrap()
}

fn frame(kind: &str, mut fields: Value) -> String {
    fields["type"] = kind.into();
    format!("event: {kind}\ndata: {fields}\n\n")
}

/// Returns a stream with this message, in which its parts are announced unfinished.
fn stream(content: &Value) -> String {
    let item = json!({"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []});
    let mut frames = vec![
        frame("response.created", json!({"response": answer(&json!([]))})),
        frame("response.output_item.added", json!({"output_index": 0, "item": item})),
    ];
    for (index, part) in content.as_array().unwrap().iter().enumerate() {
        let place = json!({"output_index": 0, "content_index": index, "item_id": "msg_1"});
        let with = |name: &str, value: Value| {
            let mut fields = place.clone();
            fields[name] = value;
            fields
        };
        let (text, mut begun) = (part["text"].clone(), part.clone());
        begun[if text.is_null() { "data" } else { "text" }] = "".into();
        frames.push(frame("response.content_part.added", with("part", begun)));
        if !text.is_null() {
            frames.push(frame("response.output_text.delta", with("delta", text)));
        }
        frames.push(frame("response.content_part.done", with("part", part.clone())));
    }
    frames.push(frame("response.output_item.done", json!({"output_index": 0, "item": message(content)})));
    frames.push(frame("response.completed", json!({"response": answer(&json!([message(content)]))})));
    frames.concat()
}

/// Returns messages with unknown parts in every place.
fn mixtures() -> Vec<Value> {
    vec![
        json!([said("a"), audio("1")]),
        json!([audio("1"), said("a")]),
        json!([audio("1"), said("a"), audio("2"), audio("3"), said("b"), audio("4")]),
        json!([audio("1"), audio("2")]),
        json!([said("a"), {"type": "odd"}, said("b")]),
    ]
}

#[test]
fn the_text_stays_text_and_an_unknown_part_is_a_block_of_its_own_in_its_place() {
    let response = read(&json!([message(&json!([audio("1"), said("a"), audio("2")]))]));
    let other = |data: &str| Block::Other(crate::Other::new(DIALECT, crate::Json::from(audio(data))));
    assert_eq!(
        serde_json::to_value(&response.content).unwrap(),
        json!([
            other("1"),
            {"type": "text", "text": "a", "provider_data": {"openai-responses": {"shape": {
                "before": ["output_audio"], "item": {"id": "msg_1", "status": "completed"}, "annotations": [],
                "logprobs": [], "after": ["output_audio"]}}}},
            other("2"),
        ])
    );
}

#[test]
fn whole_answers_come_back_as_they_were() {
    for content in mixtures() {
        let output = json!([
            message(&content),
            {"type": "output_audio", "id": "item_1"},
            {"type": "output_audio"},
            message(&content),
            {"type": "output_audio"},
        ]);
        let response = read(&output);
        assert_eq!(written(&response), answer(&output));
    }
}

#[test]
fn a_stream_is_its_answer_and_comes_back() {
    for content in mixtures() {
        let read_events = read_stream(&stream(&content));
        let whole = read(&json!([message(&content)]));
        assert_eq!(check_grammar(&read_events).unwrap(), whole);
        for events in [read_events, events(&whole)] {
            let again = write_stream(&events, Reply::default());
            check_as_client(&again).unwrap();
            assert_eq!(check_grammar(&read_stream(&again)).unwrap().content, whole.content, "{again}");
            let end: Value = serde_json::from_str(again.trim_end().rsplit_once("data: ").unwrap().1).unwrap();
            assert_eq!(end["response"]["output"], json!([message(&content)]));
        }
    }
}

#[test]
fn a_part_that_was_not_announced_comes_with_its_item() {
    let content = json!([audio("1"), said("a"), audio("2")]);
    let sse = stream(&content);
    let unannounced: Vec<&str> = sse.split_inclusive("\n\n").filter(|frame| !frame.contains("content_part")).collect();
    let response = check_grammar(&read_stream(&unannounced.concat())).unwrap();
    let mut expected = read(&json!([message(&content)])).content;
    // The text had begun.
    expected.swap(0, 1);
    let datas = |content: &[Block]| content.iter().map(|block| block.as_text().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(datas(&response.content), datas(&expected));
    assert_eq!(response.content[1..], expected[1..]);
}

#[test]
fn a_history_is_sent_back_as_it_was() {
    for content in mixtures() {
        let body = json!({"model": "gpt-5.1", "input": [
            {"role": "user", "content": "Hi"}, message(&content), {"role": "user", "content": "Again"}]});
        let request =
            decode_request(Incoming { path: None, body: body.to_string().as_bytes() }, &Limits::default()).unwrap();
        let (quirks, rules) = (Quirks::default(), Rules::default());
        let target = Target::new("openai", &quirks, &rules);
        let wire = DIALECT.encode_request(&request, &target, &Limits::default()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&wire.body).unwrap()["input"], body["input"]);
    }
}

#[test]
fn other_dialects_lose_the_part_and_say_so() {
    let response = read(&json!([message(&json!([said("a"), audio("1"), said("b")]))]));
    let whole = Response { provider_data: Default::default(), ..response };
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::Gemini] {
        let is_the_part = |losses: &[Loss]| {
            let found = losses.iter().filter(|loss| loss.code == LossCode::ForeignContent);
            found.map(|loss| loss.place.clone()).collect::<Vec<_>>()
        };
        let written = dialect.encode_response(&whole, &Reply::default());
        assert_eq!(is_the_part(&written.losses), ["content[1]"], "{dialect:?}");
        let mut encoder = StreamEncoder::new(dialect, Reply::default());
        let mut out = Vec::new();
        for event in events(&whole) {
            encoder.push(&event, &mut out);
        }
        assert_eq!(is_the_part(encoder.losses()), ["content[1]"], "{dialect:?}");
    }
}

//! Whole answers, and the same as streams.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::testing::{CLAUDE, as_stream, body, decode, events, of, sse};
use crate::dialect::testing::{collect, events_of};
use crate::wire::{Ids, Incoming, Reply, StreamDecoder, StreamEncoder};
use crate::{Block, Dialect, ErrorKind, FinishReason, Limits, Part, Tool, user};

const CONVERSE: Dialect = Dialect::BedrockConverse;

fn with(content: Value) -> Value {
    json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"})
}

#[test]
fn an_answer_is_read_whole() {
    let mut body = with(json!([
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"text": "Hello."},
        {"toolUse": {"toolUseId": "t1", "name": "wave", "input": {"hands": 2.10}}},
    ]));
    body["usage"] = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 22, "cacheReadInputTokens": 7});
    body["metrics"] = json!({"latencyMs": 12});
    let response = decode(&body).unwrap();
    assert_eq!((response.thinking().as_str(), response.text().as_str()), ("Hm.", "Hello."));
    let call = response.tool_calls().next().unwrap();
    assert_eq!((call.id.as_str(), call.name.as_str(), call.arguments.text()), ("t1", "wave", r#"{"hands":2.1}"#));
    // Whatever the stop reason says, calls wait for their results.
    assert_eq!(response.finish_reason, FinishReason::ToolUse);
    let usage = response.usage.as_ref().unwrap();
    assert_eq!((usage.prompt_tokens(), usage.output_tokens, usage.total_tokens()), (17, 5, 22));
    assert!(usage.provider_data.is_empty());
    let kept = json!({"stopReason": "end_turn", "metrics": {"latencyMs": 12}});
    assert_eq!(serde_json::to_value(response.provider_data.part(CONVERSE, Part::Answer)).unwrap(), kept);
}

#[test]
fn every_word_for_the_end_has_a_meaning() {
    for (word, reason) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("tool_use", FinishReason::ToolUse),
        ("guardrail_intervened", FinishReason::ContentFilter),
        ("content_filtered", FinishReason::ContentFilter),
        ("malformed_tool_use", FinishReason::Unknown),
    ] {
        let mut body = with(json!([{"text": "Hi"}]));
        body["stopReason"] = word.into();
        assert_eq!(decode(&body).unwrap().finish_reason, reason, "{word}");
    }
}

#[test]
fn counts_that_do_not_add_up_and_those_that_nobody_knows_are_kept() {
    let mut body = with(json!([]));
    body["usage"] = json!({"inputTokens": 1, "outputTokens": 2, "totalTokens": 9, "serverToolUsage": {}});
    let usage = decode(&body).unwrap().usage.unwrap();
    let kept = serde_json::to_value(usage.provider_data.part(CONVERSE, Part::Answer)).unwrap();
    assert_eq!(kept, json!({"totalTokens": 9, "serverToolUsage": {}}));
    assert!(usage.inconsistency().is_some());
}

#[test]
fn what_is_not_an_answer_is_an_error() {
    let error = decode(&json!({"message": "Input is too long for requested model."})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ContextTooLong);
    for odd in [json!({}), json!([]), json!({"output": 7}), json!({"stopReason": "end_turn"})] {
        assert_eq!(decode(&odd).unwrap_err().kind, ErrorKind::Protocol, "{odd}");
    }
}

/// Law 1: the content of an answer is sent back unchanged, including unknown blocks.
#[test]
fn blocks_go_back_as_they_came() {
    let content = json!([
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln", "new": [1]}}},
        {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
        {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
        {"reasoningContent": {"new": 1}},
        {"text": "Hello."},
        {"text": 7},
        {"text": "two", "keys": 1},
        {"citationsContent": {"content": [{"text": "Yes."}], "citations": [{"title": "a"}], "new": null}},
        {"toolUse": {"toolUseId": "t1", "name": "wave", "input": {"hands": 2}, "new": {}}},
        {"toolUse": {"toolUseId": "t2", "name": "look", "input": {}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t2", "content": [{"json": {}}], "type": "x_result"}},
        {"image": {"format": "png", "source": {"bytes": "aaaa"}}},
        {"somethingNew": true},
    ]);
    let said = decode(&with(content.clone())).unwrap().into_message("bedrock-converse");
    let mut request = of(vec![user("Hi"), said, user("Go on.")]);
    request.tools = vec![Tool::new("wave", "")];
    assert_eq!(body(CLAUDE, request)["messages"][1]["content"], content);
}

#[test]
fn nobody_is_served_in_this_dialect() {
    let error = CONVERSE.decode_request(Incoming { path: None, body: b"{}" }, &Limits::default()).unwrap_err();
    assert!(error.message.contains("only providers speak bedrock-converse"), "{error}");
    let response = decode(&with(json!([{"text": "Hi"}]))).unwrap();
    assert!(CONVERSE.encode_response(&response, &Reply::default()).strictly(CONVERSE).is_err());
    let mut encoder = StreamEncoder::new(CONVERSE, Reply::default());
    let mut out = Vec::new();
    crate::events(&response).iter().for_each(|event| encoder.push(event, &mut out));
    assert_eq!((out.len(), encoder.losses().len()), (0, 1));
    assert_eq!("bedrock-converse".parse(), Ok(CONVERSE));
    let unknown = "converse".parse::<Dialect>().unwrap_err().to_string();
    let names = Dialect::PROVIDERS.map(Dialect::as_str).join(", ");
    assert_eq!(unknown, format!("unknown dialect `converse`; use {names}"));
}

#[test]
fn another_dialects_client_gets_the_answer_and_its_state_comes_back() {
    let thought = json!({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}});
    let mut response = decode(&with(json!([thought, {"text": "Yes."}]))).unwrap();
    response.model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0".to_owned();
    for client in Dialect::ALL {
        let reply = Reply { provider: Some("bedrock-converse".to_owned()), ..Reply::default() };
        let wire = client.encode_response(&response, &reply);
        let read = client.decode_response(&wire.body, &mut Ids::default(), &Limits::default()).unwrap();
        assert_eq!(read.text(), "Yes.", "{client}");
    }
}

fn any_block() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![Just(String::new()), "[a-z ]{1,12}", any::<String>()];
    let object = || proptest::collection::vec(("[a-c]", -9_i64..9), 0..3).prop_map(|pairs| json!(Map(pairs)));
    prop_oneof![
        text().prop_map(|text| json!({"text": text})),
        (text(), proptest::option::of("[a-z]{1,8}")).prop_map(|(text, signature)| match signature {
            Some(signature) => json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}),
            None => json!({"reasoningContent": {"reasoningText": {"text": text}}}),
        }),
        Just(json!({"reasoningContent": {"redactedContent": "c2VhbGVk"}})),
        ("[a-z]{1,8}", "[a-z]{1,8}", object())
            .prop_map(|(id, name, input)| json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})),
        ("[a-z]{1,8}", object()).prop_map(|(id, input)| {
            json!({"toolUse": {"toolUseId": id, "name": "n", "type": "server_tool_use", "input": input}})
        }),
        object().prop_map(|json| json!({"toolResult": {"toolUseId": "t", "type": "r", "content": [{"json": json}]}})),
        "[a-z]{1,8}".prop_map(|text| {
            json!({"citationsContent": {"content": [{"text": text}], "citations": [{"title": "a"}, {"title": "b"}]}})
        }),
        object().prop_map(|json| json!({"video": json})),
    ]
}

/// Pairs as an object.
struct Map(Vec<(String, i64)>);

impl serde::Serialize for Map {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

fn any_answer() -> impl Strategy<Value = Value> {
    let word = prop_oneof![Just("end_turn"), Just("tool_use"), Just("max_tokens"), Just("guardrail_intervened")];
    let counts = (0_u64..99, 0_u64..99, 0_u64..99);
    (proptest::collection::vec(any_block(), 0..6), word, counts).prop_map(|(content, word, (input, output, cached))| {
        let mut body = with(json!(content));
        body["stopReason"] = word.into();
        body["metrics"] = json!({"latencyMs": input});
        body["additionalModelResponseFields"] = json!({"a": 1});
        body["usage"] = json!({"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": cached});
        body
    })
}

proptest! {
    /// Law 3: a stream is its response. Law 4: wherever it is cut.
    #[test]
    fn a_stream_is_its_response_wherever_it_is_cut(body in any_answer(), cuts in proptest::collection::vec(1_usize..40, 1..20)) {
        let members = as_stream(&body);
        let whole = events(&members);
        let response = collect(whole.clone());
        prop_assert_eq!(&response, &decode(&body).unwrap());
        let text = sse(&members);
        let mut decoder = StreamDecoder::new(CONVERSE, Ids::default(), &Limits::default());
        let (mut cut, mut rest) = (Vec::new(), text.as_bytes());
        for length in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at((*length).min(rest.len()));
            decoder.feed(piece, &mut cut);
            rest = behind;
        }
        decoder.end(&mut cut);
        prop_assert_eq!(cut, whole);
    }

    /// Law 5: any bytes are survivable, as an answer and as a stream.
    #[test]
    fn any_bytes_are_survivable(bytes in proptest::collection::vec(any::<u8>(), 0..200), body in any_answer(), at in 0_usize..600) {
        let _ = CONVERSE.decode_response(&bytes, &mut Ids::default(), &Limits::default());
        let _ = CONVERSE.decode_error(Some(400), &[], &String::from_utf8_lossy(&bytes));
        events_of(CONVERSE, &String::from_utf8_lossy(&bytes));
        // And nearly right ones.
        let mut spoiled = body.to_string().into_bytes();
        let place = at % spoiled.len();
        spoiled[place] = *bytes.first().unwrap_or(&b'0');
        if let Ok(response) = CONVERSE.decode_response(&spoiled, &mut Ids::default(), &Limits::default()) {
            let is_named = |block: &Block| block.as_tool_call().is_none_or(|call| !call.name.is_empty());
            prop_assert!(response.content.iter().all(is_named));
        }
        let mut text = sse(&as_stream(&body)).into_bytes();
        let place = at % text.len();
        text[place] = *bytes.last().unwrap_or(&b'0');
        events_of(CONVERSE, &String::from_utf8_lossy(&text));
    }
}

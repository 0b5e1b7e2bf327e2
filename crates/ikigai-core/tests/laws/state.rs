//! Reasoning state survives: it comes back to its issuer byte for byte, and goes to no other provider.

use ikigai_core::catalog::Rules;
use ikigai_core::provider::{Quirks, ReasoningField, ReplayReasoning};
use ikigai_core::wire::{Ids, Reply, Target};
use ikigai_core::{Dialect, Part, Request, Response, Severity, Tool, events};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::wire::{OfValues as _, collect, decode, encode};

/// Sealed texts with every character of base64, so that re-encoding would be noticed.
const FIRST: &str = "EqoBCkgIARABGAIiQL8+/x9Zq0+abcDEF0123456789//++wxyzSEALEDfirstAAAAAAAAA==";
const SECOND: &str = "gAAAAABo9Kz-_SEALEDsecond0123456789abcdefghijklmnopqrstuvwxyz-_ABCDEFGHIJ==";

/// Returns an answer with thinking, sealed state and two calls at once, as each dialect's provider writes it, and the
/// sealed texts in it.
fn answer(dialect: Dialect) -> (Value, Vec<&'static str>) {
    let arguments = |path: &str| format!(r#"{{"path":"{path}"}}"#);
    match dialect {
        Dialect::Anthropic => (
            json!({
                "id": "msg_01", "type": "message", "role": "assistant", "model": "model-1",
                "content": [
                    {"type": "thinking", "thinking": "I read both.", "signature": FIRST},
                    {"type": "redacted_thinking", "data": SECOND},
                    {"type": "text", "text": "Reading."},
                    {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "/a"}},
                    {"type": "tool_use", "id": "toolu_02", "name": "read_file", "input": {"path": "/b"}},
                ],
                "stop_reason": "tool_use", "stop_sequence": null,
                "usage": {"input_tokens": 10, "output_tokens": 20},
            }),
            vec![FIRST, SECOND],
        ),
        Dialect::OpenaiChat => (
            json!({
                "id": "gen-1", "object": "chat.completion", "created": 1, "model": "model-1",
                "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                    "role": "assistant", "content": "Reading.", "refusal": null, "reasoning": "I read both.",
                    "reasoning_details": [
                        {"type": "reasoning.text", "text": "I read both.", "signature": FIRST, "format": "anthropic-claude-v1", "index": 0},
                        {"type": "reasoning.encrypted", "data": SECOND, "format": "anthropic-claude-v1", "index": 1},
                    ],
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": arguments("/a")}},
                        {"id": "call_2", "type": "function", "function": {"name": "read_file", "arguments": arguments("/b")}},
                    ],
                }}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
            }),
            vec![FIRST, SECOND],
        ),
        Dialect::OpenaiResponses => (
            json!({
                "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "error": null,
                "incomplete_details": null, "model": "model-1",
                "output": [
                    {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "I read both."}], "encrypted_content": FIRST},
                    {"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": "read_file", "arguments": arguments("/a")},
                    {"id": "rs_2", "type": "reasoning", "summary": [], "encrypted_content": SECOND},
                    {"id": "fc_2", "type": "function_call", "status": "completed", "call_id": "call_2", "name": "read_file", "arguments": arguments("/b")},
                ],
                "usage": {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30},
            }),
            vec![FIRST, SECOND],
        ),
        Dialect::Gemini => (
            json!({
                "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
                    {"text": "I read both.", "thought": true},
                    {"text": "Reading.", "thoughtSignature": SECOND},
                    {"functionCall": {"name": "read_file", "args": {"path": "/a"}}, "thoughtSignature": FIRST},
                    {"functionCall": {"name": "read_file", "args": {"path": "/b"}}},
                ]}}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30},
                "modelVersion": "model-1", "responseId": "r1",
            }),
            vec![SECOND, FIRST],
        ),
        Dialect::BedrockConverse => (
            json!({
                "output": {"message": {"role": "assistant", "content": [
                    {"reasoningContent": {"reasoningText": {"text": "I read both.", "signature": FIRST}}},
                    {"reasoningContent": {"redactedContent": SECOND}},
                    {"text": "Reading."},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "read_file", "input": {"path": "/a"}}},
                    {"toolUse": {"toolUseId": "tooluse_2", "name": "read_file", "input": {"path": "/b"}}},
                ]}},
                "stopReason": "tool_use", "usage": {"inputTokens": 10, "outputTokens": 20, "totalTokens": 30},
            }),
            vec![FIRST, SECOND],
        ),
        _ => panic!("sealed state of {dialect} is missing here"),
    }
}

/// Calls `action` with a provider that wants its thinking back, whatever its dialect.
fn with_target<T>(provider: &str, action: impl FnOnce(&Target<'_>) -> T) -> T {
    let mut quirks = Quirks::default();
    quirks.chat.reasoning_field = ReasoningField::Reasoning;
    quirks.chat.replay_reasoning = ReplayReasoning::Always;
    action(&Target::new(provider, &quirks, &Rules::default()))
}

/// Returns the conversation in which the answer was given, with the results of both calls.
fn conversation(response: Response) -> Request {
    let ids: Vec<String> = response.tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    let mut request = Request::new("model-1")
        .user("Read both.")
        .message(response.into_message("issuer"))
        .tool(Tool::new("read_file", "Reads a file.").lenient());
    for id in ids {
        request = request.tool_result(id, "done");
    }
    request
}

fn decoded(dialect: Dialect) -> Response {
    dialect.read_response(&answer(dialect).0).unwrap()
}

/// Returns how often each sealed text is in a document, unchanged.
fn occurrences(document: &Value, sealed: &[&str]) -> Vec<usize> {
    let text = document.to_string();
    sealed.iter().map(|sealed| text.matches(sealed).count()).collect()
}

#[test]
fn it_goes_back_to_its_issuer_byte_for_byte() {
    for dialect in Dialect::ALL {
        let (_, sealed) = answer(dialect);
        let request = conversation(decoded(dialect));
        let wire = with_target("issuer", |target| dialect.write_request(&request, target)).unwrap();
        assert_eq!(occurrences(&wire.body, &sealed), [1, 1], "{dialect}: {}", wire.body);
        let again = dialect.read_request(Some(&wire.path), &wire.body).unwrap();
        let state = |request: &Request| -> Vec<Value> {
            let blocks = request.messages[1].content.iter();
            blocks
                .filter_map(|block| serde_json::to_value(block.provider_data()?.part(dialect, Part::State)).ok())
                .collect()
        };
        let (before, after) = (json!(state(&request)), json!(state(&again)));
        assert_eq!(occurrences(&after, &sealed), occurrences(&before, &sealed), "{dialect}");
    }
}

#[test]
fn it_goes_to_nobody_else_and_stays_in_the_conversation() {
    for issued in Dialect::PROVIDERS {
        let (_, sealed) = answer(issued);
        let request = conversation(decoded(issued));
        let before = request.clone();
        for dialect in Dialect::PROVIDERS {
            for provider in ["issuer", "another"] {
                if (dialect, provider) == (issued, "issuer") {
                    continue;
                }
                let wire = with_target(provider, |target| dialect.write_request(&request, target)).unwrap();
                assert_eq!(
                    occurrences(&wire.body, &sealed),
                    [0, 0],
                    "{issued} to {dialect} of {provider}: {}",
                    wire.body
                );
                let lost = wire
                    .losses
                    .iter()
                    .any(|loss| loss.severity == Severity::Loss && loss.place.starts_with("messages[1]"));
                assert!(lost, "{issued} to {dialect} of {provider}: {:?}", wire.losses);
            }
        }
        // Back to its issuer, after all the others: nothing was lost.
        assert_eq!(request, before);
        let wire = with_target("issuer", |target| issued.write_request(&request, target)).unwrap();
        assert_eq!(occurrences(&wire.body, &sealed), [1, 1], "{issued}");
    }
}

/// Returns what a client of a dialect sends after an answer in that dialect: the unchanged answer, and the results.
fn echoed(dialect: Dialect, answer: &Value) -> (String, Value) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match dialect {
        Dialect::Anthropic => {
            let content = list(&answer["content"]);
            let results: Vec<Value> = content
                .iter()
                .filter(|block| block["type"] == "tool_use")
                .map(|block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "done"}))
                .collect();
            let body = json!({"model": "model-1", "max_tokens": 1000, "messages": [
                {"role": "user", "content": "Read both."},
                {"role": "assistant", "content": content},
                {"role": "user", "content": results},
            ]});
            ("/v1/messages".to_owned(), body)
        }
        Dialect::OpenaiChat => {
            let message = answer["choices"][0]["message"].clone();
            let mut messages = vec![json!({"role": "user", "content": "Read both."}), message.clone()];
            messages.extend(
                list(&message["tool_calls"])
                    .iter()
                    .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "done"})),
            );
            ("/chat/completions".to_owned(), json!({"model": "model-1", "messages": messages}))
        }
        Dialect::OpenaiResponses => {
            let output = list(&answer["output"]);
            let mut input = vec![json!({"role": "user", "content": "Read both."})];
            input.extend(output.iter().cloned());
            input.extend(
                output
                    .iter()
                    .filter(|item| item["type"] == "function_call")
                    .map(|item| json!({"type": "function_call_output", "call_id": item["call_id"], "output": "done"})),
            );
            ("/responses".to_owned(), json!({"model": "model-1", "store": false, "input": input}))
        }
        Dialect::Gemini => {
            let content = answer["candidates"][0]["content"].clone();
            let results: Vec<Value> = list(&content["parts"])
                .iter()
                .filter_map(|part| part.get("functionCall"))
                .map(|call| json!({"functionResponse": {"id": call["id"], "name": call["name"], "response": {"output": "done"}}}))
                .collect();
            let body = json!({"contents": [
                {"role": "user", "parts": [{"text": "Read both."}]},
                content,
                {"role": "user", "parts": results},
            ]});
            ("/v1beta/models/model-1:generateContent".to_owned(), body)
        }
        _ => panic!("no client speaks {dialect}, or a request is missing here"),
    }
}

fn reply() -> Reply {
    let mut reply = Reply::default();
    (reply.ids, reply.stream_usage, reply.provider) = (Ids::seeded(1), true, Some("issuer".into()));
    reply
}

/// The conversation is stored as the format's JSON, and continues later.
#[test]
fn it_is_still_state_when_the_conversation_is_read_again() {
    for issued in Dialect::PROVIDERS {
        let request = conversation(decoded(issued));
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), request, "{issued}: see STATE in provider_data");
    }
}

/// A client that speaks one dialect keeps the state of a provider that speaks another, and sends it back.
#[test]
fn it_rides_through_a_client_of_another_dialect() {
    for issued in Dialect::PROVIDERS {
        let (_, sealed) = answer(issued);
        for client in Dialect::ALL {
            let seen = client.write_response(&decoded(issued), &reply());
            comes_back(issued, client, &seen, &sealed);
        }
    }
}

/// The same for a client that received the answer as a stream.
#[test]
fn it_rides_through_a_client_that_streams() {
    for issued in Dialect::PROVIDERS {
        let (_, sealed) = answer(issued);
        for client in Dialect::ALL {
            let mut encoder = ikigai_core::wire::StreamEncoder::new(client, reply());
            let mut bytes = Vec::new();
            for event in events(&decoded(issued)) {
                encoder.push(&event, &mut bytes);
            }
            // The answer that the client's own library assembles from the stream.
            let collected = collect(decode(client, &bytes));
            let mut reply = reply();
            reply.provider = None;
            let seen = client.write_response(&collected, &reply);
            comes_back(issued, client, &seen, &sealed);
        }
    }
}

fn comes_back(issued: Dialect, client: Dialect, seen: &Value, sealed: &[&str]) {
    if client != issued {
        assert_eq!(occurrences(seen, sealed), [0, 0], "{issued} through {client}: {seen}");
    }
    let (path, body) = echoed(client, seen);
    let request = client.read_request(Some(&path), &body).unwrap();
    let wire = with_target("issuer", |target| issued.write_request(&request, target)).unwrap();
    assert_eq!(occurrences(&wire.body, sealed), [1, 1], "{issued} through {client}: {}\n{}", wire.body, seen);
}

/// The tool calls that a client sends back still belong to their results.
#[test]
fn calls_and_results_still_belong_together_after_the_way_through_a_client() {
    for issued in Dialect::PROVIDERS {
        for client in Dialect::ALL {
            let (path, body) = echoed(client, &client.write_response(&decoded(issued), &reply()));
            let request = client.read_request(Some(&path), &body).unwrap();
            let calls: Vec<String> = request
                .messages
                .iter()
                .flat_map(|message| &message.content)
                .filter_map(|block| block.as_tool_call())
                .map(|call| call.id.clone())
                .collect();
            let results: Vec<String> = request
                .messages
                .iter()
                .flat_map(|message| &message.content)
                .filter_map(|block| block.as_tool_result())
                .map(|result| result.tool_call_id.clone())
                .collect();
            assert_eq!((calls.len(), &calls), (2, &results), "{issued} through {client}");
        }
    }
}

/// A forwarded stream carries the state as well, in the frames of its own dialect.
#[test]
fn a_stream_in_its_own_dialect_carries_it_as_it_is() {
    for dialect in Dialect::ALL {
        let (_, sealed) = answer(dialect);
        let bytes = encode(dialect, dialect, &events(&decoded(dialect)));
        let collected = collect(decode(dialect, &bytes));
        let request = conversation(collected);
        let wire = with_target("issuer", |target| dialect.write_request(&request, target)).unwrap();
        assert_eq!(occurrences(&wire.body, &sealed), [1, 1], "{dialect}: {}", String::from_utf8_lossy(&bytes));
    }
}

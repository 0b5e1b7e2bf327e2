//! Messages that version 0.1.0 stored.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{CLAUDE, NOVA, body, encode, of, read};
use crate::{LossCode, Message, user};

/// Returns an answer as version 0.1.0 wrote it to its store.
fn stored(provider: &str, model: &str) -> Message {
    let message = json!({
        "role": "assistant",
        "content": [
            {"type": "thinking", "text": "Hm.", "provider_data": {"anthropic": {"signature": "c2ln"}}},
            {"type": "thinking", "text": "Well.", "provider_data": {"anthropic": {"unsigned": true}}},
            {"type": "thinking", "text": "", "provider_data": {"anthropic": {"redacted_data": "sealed"}}},
            {"type": "thinking", "text": "", "provider_data": {"anthropic": {"redacted_data": "base64:/+8="}}},
            {"type": "text", "text": "Yes.", "provider_data": {"anthropic": {"extra": {"citations": [{"title": "a"}]}}}},
            {"type": "other", "dialect": "anthropic", "data": {"type": "converse", "block": {"video": {}}}},
            {"type": "other", "dialect": "anthropic",
             "data": {"type": "server_tool_use", "id": "t", "name": "n", "input": {"a": 1}}},
        ],
        "provider": provider, "model": model,
        "provider_data": {"anthropic": {"response": {"converse": {"metrics": {"latencyMs": 1}}}}},
    });
    serde_json::from_value(message).unwrap()
}

fn request(provider: &str, model: &str) -> crate::Request {
    of(vec![user("Is it?"), stored(provider, model), user("Sure?")])
}

fn back() -> Value {
    json!([
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"reasoningText": {"text": "Well."}}},
        {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
        {"reasoningContent": {"redactedContent": "/+8="}},
        {"citationsContent": {"content": [{"text": "Yes."}], "citations": [{"title": "a"}]}},
        {"video": {}},
        {"toolUse": {"toolUseId": "t", "name": "n", "input": {"a": 1}, "type": "server_tool_use"}},
    ])
}

#[test]
fn state_of_the_same_provider_goes_back_byte_for_byte() {
    let claude = request("bedrock-converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0");
    assert_eq!(body(CLAUDE, claude)["messages"][1]["content"], back());
    let nova = request("bedrock", "us.amazon.nova-lite-v1:0");
    assert_eq!(body(NOVA, nova)["messages"][1]["content"], back());
}

#[test]
fn state_of_others_stays_behind() {
    let codes = |model: &str, request| {
        let wire = encode(model, request);
        let texts = read(&wire)["messages"][1]["content"].to_string();
        assert!(!texts.contains("reasoningContent"), "{texts}");
        wire.losses.into_iter().map(|loss| loss.code).collect::<Vec<_>>()
    };
    // Another provider, another model, and a model that really used the other dialect.
    for (provider, model) in [
        ("anthropic", "us.amazon.nova-lite-v1:0"),
        ("bedrock", "us.amazon.nova-pro-v1:0"),
        ("bedrock", "us.anthropic.claude-sonnet-4-6"),
    ] {
        let codes = codes(NOVA, request(provider, model));
        assert_eq!(codes.iter().filter(|code| **code == LossCode::ForeignState).count(), 4, "{provider} {codes:?}");
    }
}

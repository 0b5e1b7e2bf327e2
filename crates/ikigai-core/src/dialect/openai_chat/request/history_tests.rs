//! Earlier assistant messages, sent to the same provider and to others.

use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use super::encode_tests::{body, body_for, effort_rule, encode, encode_for, whats};
use crate::catalog::{Rules, ThinkingOff};
use crate::provider::{Quirks, ReasoningField, ReasoningRequest, ReplayReasoning};
use crate::{Block, Dialect, Level, Message, Part, ProviderData, Request};

fn thought(text: &str, own: Value) -> Block {
    let mut block = Block::thinking(text);
    for (key, value) in own.as_object().unwrap() {
        let part = match key.as_str() {
            "reasoning_details" | "signature" => Part::State,
            "closed" => Part::Extra,
            _ => Part::Shape,
        };
        block.provider_data_mut().unwrap().set_part(Dialect::OpenaiChat, part, key.as_str(), value.clone());
    }
    block
}

fn said_by(provider: &str, content: impl Into<crate::Content>) -> Message {
    let mut message = Message::assistant(content);
    message.provider = Some(provider.to_owned());
    message
}

#[test]
fn thinking_goes_back_as_the_provider_wants_it() {
    let own = || thought("hm", json!({"reasoning_field": "reasoning"}));
    let conversation = Request::new("m")
        .user("a")
        .message(said_by("here", [own(), Block::text("A")]))
        .user("b")
        .message(said_by("here", [own(), Block::tool_call("c1", "t", Map::new())]))
        .tool_result("c1", "1");
    let fields = |quirks: &Quirks| {
        let (wire, losses) = encode_for(&conversation, quirks, &Rules::default()).unwrap();
        let field = |index: usize| wire["messages"][index].get("reasoning").cloned();
        (field(1), field(3), whats(&losses).len())
    };
    let quirks = |replay| Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::Reasoning,
            replay_reasoning: replay,
            ..Default::default()
        },
        ..Quirks::default()
    };
    assert_eq!(fields(&quirks(ReplayReasoning::Never)), (None, None, 2));
    assert_eq!(fields(&quirks(ReplayReasoning::Always)), (Some(json!("hm")), Some(json!("hm")), 0));
    assert_eq!(fields(&quirks(ReplayReasoning::ToolLoop)), (None, Some(json!("hm")), 1));
    assert_eq!(fields(&Quirks::default()), (None, None, 2));
}

#[test]
fn thinking_of_others_stays_behind_and_is_never_changed() {
    let mut signed = Block::thinking("hm");
    signed.provider_data_mut().unwrap().set_part(Dialect::Anthropic, crate::Part::State, "signature", "Eq");
    let request = Request::new("m")
        .message(said_by("anthropic", [signed, Block::text("A")]))
        .message(said_by("there", [thought("ho", json!({"reasoning_field": "reasoning"})), Block::text("B")]))
        .message(said_by("here", thought("only", json!({"reasoning_field": "reasoning"}))));
    let before = request.clone();
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::Reasoning,
            replay_reasoning: ReplayReasoning::Never,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let (wire, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
    assert_eq!(wire["messages"], json!([{"role": "assistant", "content": "A"}, {"role": "assistant", "content": "B"}]));
    assert_eq!(
        whats(&losses),
        [
            ("thinking", "messages[0].content[0]"),
            ("thinking", "messages[1].content[0]"),
            ("thinking", "messages[2].content[0]"),
            ("messages", "messages[2]"),
        ]
    );
    assert_eq!(request, before);
}

#[test]
fn details_go_back_whole_and_alone() {
    let details =
        json!([{"type": "reasoning.text", "text": "hm", "index": 0}, {"type": "reasoning.encrypted", "data": "x"}]);
    let block = thought("hm", json!({"reasoning_field": "reasoning", "reasoning_details": details}));
    let request = Request::new("m").message(said_by("here", [block, Block::text("A")]));
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::Reasoning,
            replay_reasoning: ReplayReasoning::Always,
            ..Default::default()
        },
        ..Quirks::default()
    };
    assert_eq!(
        body_for(&request, &quirks)["messages"][0],
        json!({"role": "assistant", "content": "A", "reasoning_details": details})
    );
}

#[test]
fn a_thinking_conversation_has_the_field_on_every_turn() {
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::ReasoningContent,
            replay_reasoning: ReplayReasoning::Always,
            reasoning_request: ReasoningRequest::ThinkingTypeAndEffort,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let request = Request::new("m").user("a").assistant("A").user("b").thinking(Level::High);
    let (wire, _) = encode_for(&request, &quirks, &effort_rule(ThinkingOff::Word)).unwrap();
    assert_eq!(wire["messages"][1], json!({"role": "assistant", "content": "A", "reasoning_content": ""}));
    let off = Request::new("m").user("a").assistant("A").user("b").thinking(Level::None);
    let (wire, _) = encode_for(&off, &quirks, &effort_rule(ThinkingOff::Word)).unwrap();
    assert_eq!(wire["messages"][1], json!({"role": "assistant", "content": "A"}));
}

#[test]
fn thinking_parts_stand_before_the_text() {
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::ContentPart,
            replay_reasoning: ReplayReasoning::Always,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let request = Request::new("m").message(said_by(
        "here",
        [thought("hm", json!({"reasoning_field": "content", "closed": true, "signature": "sig"})), Block::text("A")],
    ));
    assert_eq!(
        body_for(&request, &quirks)["messages"][0]["content"],
        json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": true, "signature": "sig"},
            {"type": "text", "text": "A"},
        ])
    );
}

#[test]
fn signatures_on_calls_go_back_to_their_provider_alone() {
    let mut call = Block::tool_call("c1", "t", Map::new());
    let state = json!({"google": {"thought_signature": "sig"}});
    call.provider_data_mut().unwrap().set_part(Dialect::OpenaiChat, crate::Part::State, "extra_content", state.clone());
    let at_home = Request::new("m").message(said_by("here", call.clone()));
    assert_eq!(body(&at_home)["messages"][0]["tool_calls"][0]["extra_content"], state);
    let abroad = Request::new("m").message(said_by("there", call));
    let (wire, losses) = encode(&abroad);
    assert_eq!(wire["messages"][0]["tool_calls"][0].get("extra_content"), None);
    assert_eq!(whats(&losses), [("thinking", "messages[0].content[0]")]);
}

#[test]
fn ids_that_the_provider_refuses_are_replaced_alike_in_call_and_result() {
    let long = "toolu_".repeat(10);
    let request = Request::new("m")
        .assistant([Block::tool_call(&long, "t", Map::new()), Block::tool_call("abcdefghi", "t", Map::new())])
        .tool_result(&long, "1")
        .tool_result("abcdefghi", "2");
    let ids = |quirks: &Quirks| -> Vec<String> {
        let (wire, losses) = encode_for(&request, quirks, &Rules::default()).unwrap();
        assert_eq!((whats(&losses), losses[0].severity), (vec![("tool_call", "messages")], crate::Severity::Info));
        let messages = wire["messages"].as_array().unwrap();
        let calls = messages[0]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]);
        let results = messages[1..].iter().map(|result| &result["tool_call_id"]);
        calls.chain(results).map(|id| id.as_str().unwrap().to_owned()).collect()
    };
    let plain = ids(&Quirks::default());
    assert_eq!((&plain[0], plain[1].as_str()), (&plain[2], "abcdefghi"));
    assert!(plain[0].starts_with("call_") && plain[0].len() <= 40);
    let nine = ids(&Quirks {
        chat: crate::provider::ChatQuirks { tool_ids_of_nine: true, ..Default::default() },
        ..Quirks::default()
    });
    assert_eq!((&nine[0], nine[1].as_str()), (&nine[2], "abcdefghi"));
    assert!(nine[0].len() == 9 && nine[0].bytes().all(|c| c.is_ascii_alphanumeric()));
}

#[test]
fn an_answer_goes_back_as_history() {
    let body = json!({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{
        "index": 0, "finish_reason": "tool_calls", "logprobs": null, "message": {
            "role": "assistant", "content": null, "refusal": null, "annotations": [], "reasoning": "hm",
            "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "t", "arguments": "{\"a\": 1}"}}]}}]});
    let response =
        crate::dialect::openai_chat::testing::decode_response(body, &mut crate::wire::Ids::default()).unwrap();
    let request = Request::new("m").user("x").message(response.into_message("here")).tool_result("c1", "1");
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::Reasoning,
            replay_reasoning: ReplayReasoning::ToolLoop,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let (wire, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
    // Nothing around the answer is sent, and the arguments keep their bytes.
    assert_eq!(
        wire["messages"][1],
        json!({"role": "assistant", "content": null, "reasoning": "hm", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{\"a\": 1}"}}]})
    );
    assert_eq!(losses, []);
}

#[test]
fn state_is_bound_to_its_model_where_the_family_says_so() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let said = |model: &str| {
        let block = thought("", json!({"reasoning_field": "reasoning_details", "reasoning_details": details}));
        let mut message = said_by("here", [block, Block::text("A")]);
        message.model = Some(model.to_owned());
        Request::new("acme-1").message(message)
    };
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_field: ReasoningField::Reasoning,
            replay_reasoning: ReplayReasoning::Always,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let bound = Rules { bound_state: crate::catalog::StateScope::Model, ..Rules::default() };
    let sent = |request: &Request, rules: &Rules| {
        encode_for(request, &quirks, rules).unwrap().0["messages"][0].get("reasoning_details").is_some()
    };
    assert!(sent(&said("acme-1-2025-01-31"), &bound));
    assert!(!sent(&said("gpt-5"), &bound));
    assert!(sent(&said("gpt-5"), &Rules::default()));
}

#[test]
fn provider_data_of_this_dialect_alone_is_no_state_of_others() {
    let mut call = Block::tool_call("c1", "t", Map::new());
    let mut data = ProviderData::default();
    data.set_part(Dialect::Gemini, crate::Part::State, "thought_signature", "sig");
    *call.provider_data_mut().unwrap() = data;
    let (_, losses) = encode(&Request::new("m").message(said_by("google", call)));
    assert_eq!(whats(&losses), [("thinking", "messages[0].content[0]")]);
}

use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use super::*;
use crate::dialect::Reply;
use crate::dialect::openai_chat::sealed::{seal, take_sealed, unseal};
use crate::dialect::seal::Answerer;
use crate::json::loose;
use crate::{Dialect, Message as Said};

fn read(text: &str) -> Message<'_> {
    let mut message = Message::default();
    assert!(loose::read(text, &mut message).unwrap().is_none());
    message
}

/// Writes these blocks as a message.
fn write(blocks: &[Block], shape: Fields, side: Side) -> Message<'_> {
    let mut saying = Saying::new(side, Spelling::AsItCame, Cow::Owned(shape));
    for block in blocks {
        let field = match block {
            Block::Thinking(thinking) => field_of(thinking),
            _ => None,
        };
        assert!(saying.say(block, StateUse::Own, field.as_deref().unwrap_or("reasoning_content")), "{block:?}");
    }
    saying.into_message()
}

/// Reads a message, checks that it is written back unchanged, and returns its blocks.
fn one_way(message: &Value, side: Side) -> Vec<Block> {
    let text = message.to_string();
    let (blocks, notes) = decode(read(&text), side, &mut Ids::default());
    let mut again = write(&blocks, notes.shape, side);
    again.rest.extend(notes.extra.as_rest());
    again.extra_content = notes.state.get(EXTRA_CONTENT).map(Raw::from);
    again.opaque = Words(notes.state.str(REASONING_OPAQUE).map(WireText));
    assert_eq!(serde_json::to_value(&again).unwrap(), *message);
    blocks
}

fn both_ways(message: Value) -> Vec<Block> {
    one_way(&message, Side::Request);
    one_way(&message, Side::Response)
}

#[test]
fn blocks_come_in_order_and_everything_returns_as_it_came() {
    let blocks = both_ways(json!({
        "content": "Hi", "refusal": "no", "reasoning": "hm", "annotations": [{"type": "url_citation"}],
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]
    }));
    let kinds: Vec<&str> = blocks.iter().map(|block| block.kind().as_str()).collect();
    assert_eq!(kinds, ["thinking", "text", "text", "tool_call"]);
    assert!(matches!(&blocks[2], Block::Text(text) if text.is_refusal() && text.text == "no"));
}

#[test]
fn calls_of_every_spelling() {
    let blocks = both_ways(json!({"content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"a\": 1}"}},
        {"id": "b", "function": {"name": "t", "arguments": {"z": 1, "a": 2}}, "index": 1},
        {"id": null, "type": "function", "function": {"name": "t"}},
        {"id": "", "type": "function", "function": {"name": "t", "arguments": null, "x": 1}},
        {"type": "function", "function": {"name": "t", "arguments": ""}},
        {"id": "c", "type": "custom", "custom": {"name": "free", "input": "SELECT 1"}},
        {"id": "d", "type": "web_search", "query": "x"},
        {"id": "e", "type": "function", "function": {"name": "t", "arguments": "{\"cut"}, "extra_content": {"google": {"thought_signature": "s"}}},
        "odd"
    ]}));
    let calls: Vec<(String, String, bool)> = blocks
        .iter()
        .map(|block| block.as_tool_call().unwrap())
        .map(|call| (call.name.clone(), call.arguments.text().to_owned(), call.is_complete()))
        .collect();
    let call = |name: &str, arguments: &str, complete| (name.to_owned(), arguments.to_owned(), complete);
    assert_eq!(
        calls,
        [
            call("t", "{\"a\": 1}", true),
            call("t", "{\"z\":1,\"a\":2}", true),
            call("t", "{}", true),
            call("t", "{}", true),
            call("t", "", true),
            call("free", "SELECT 1", false),
            call("t", "{\"cut", false),
        ]
    );
    let ids: std::collections::HashSet<&str> =
        blocks.iter().map(|block| block.as_tool_call().unwrap().id.as_str()).collect();
    assert_eq!((ids.len(), ids.contains("")), (7, false));
    let generated: Vec<bool> =
        blocks.iter().map(|block| shape(block.provider_data().unwrap()).flag("id_generated")).collect();
    assert_eq!(generated, [false, false, true, true, true, false, false]);
}

#[test]
fn fields_that_say_nothing_stay_where_they_are() {
    for message in [
        json!({"content": ""}),
        json!({"content": null}),
        json!({}),
        json!({"content": [], "tool_calls": [], "reasoning": "", "reasoning_details": [], "refusal": ""}),
        json!({"content": null, "tool_calls": null, "function_call": {"name": "", "arguments": ""}, "audio": {"data": "", "id": ""}}),
        json!({"content": 5}),
        json!({"content": null, "images": [], "reasoning_content": null}),
    ] {
        assert_eq!(both_ways(message), []);
    }
}

#[test]
fn pictures_and_speech_that_the_model_made() {
    let message = json!({
        "content": "Here", "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}, "index": 0}],
        "audio": {"id": "audio_1", "data": "T2dnUwACAAAAAAAAAAAAAAAAAAAAAAAA", "transcript": "beep", "expires_at": 1}
    });
    let blocks = one_way(&message, Side::Response);
    let kinds: Vec<&str> = blocks.iter().map(|block| block.kind().as_str()).collect();
    assert_eq!(kinds, ["text", "image", "audio"]);
    assert!(matches!(&blocks[2], Block::Audio(audio) if audio.source.media_type() == Some("audio/ogg")));
}

fn signed(text: &str, signature: &str) -> Block {
    let mut block = Block::thinking(text);
    block.provider_data_mut().unwrap().set_part(Dialect::Anthropic, DataPart::State, "signature", signature);
    block
}

/// Writes an answer's blocks for a client of this dialect, lets `client` change the message, and reads it.
fn through_a_client(content: &[Block], client: impl FnOnce(&mut Map<String, Value>)) -> Said {
    let reply = Reply { provider: Some("anthropic".into()), ..Reply::default() };
    let answerer = Answerer::new(&reply, Some("claude"));
    let mut message = write(content, Fields::default(), Side::Response);
    let items: Vec<_> = content.iter().enumerate().filter_map(|(index, block)| seal(index, block, &answerer)).collect();
    message.details.extend(items.iter().map(Raw::of));
    let mut fields = serde_json::to_value(&message).unwrap().as_object().unwrap().clone();
    client(&mut fields);
    let text = Value::Object(fields).to_string();
    let mut returned = read(&text);
    let sealed = take_sealed(&mut returned);
    let mut said = Said::assistant(decode(returned, Side::Request, &mut Ids::default()).0);
    (said.provider, said.model) = unseal(&mut said.content, sealed);
    said
}

#[test]
fn state_of_another_dialect_returns_through_a_client_of_this_one() {
    let mut call = Block::tool_call("toolu_1", "t", Map::new());
    call.provider_data_mut().unwrap().set_part(Dialect::Gemini, DataPart::State, "thought_signature", "sig");
    let content =
        [signed("Grüß", "one"), Block::text("Let me see."), signed("then", "two"), signed("", "redacted"), call];
    let returned = through_a_client(&content, |_| {});
    assert_eq!((returned.provider.as_deref(), returned.model.as_deref()), (Some("anthropic"), Some("claude")));
    assert_eq!(returned.content, content);
}

#[test]
fn a_client_that_drops_or_changes_the_text_loses_the_state_with_it() {
    let content = [signed("hm", "one"), signed("ho", "two"), Block::text("A")];
    let returned = through_a_client(&content, |message| {
        message.shift_remove("reasoning_content");
    });
    assert_eq!(returned.content, [Block::text("A")]);
    let changed = through_a_client(&content, |message| {
        message.insert("reasoning_content".to_owned(), "short".into());
    });
    let kinds: Vec<&str> = changed.content.iter().map(|block| block.kind().as_str()).collect();
    assert_eq!(kinds, ["thinking", "text"]);
    assert!(changed.content[0].provider_data().unwrap().part(Dialect::Anthropic, DataPart::State).is_empty());
}

#[test]
fn text_with_state_and_text_that_is_only_state() {
    let with = |text: &str| {
        let mut block = Block::text(text);
        block.provider_data_mut().unwrap().set_part(Dialect::Gemini, DataPart::State, "thought_signature", "sig");
        block
    };
    let content = [with("Hello"), with("")];
    assert_eq!(through_a_client(&content, |_| {}).content, content);
}

#[test]
fn foreign_details_and_broken_seals_are_left_alone() {
    let text = json!({"content": "A", "reasoning_details": [
        {"type": "reasoning.encrypted", "data": "gAAAA", "id": "rs_1"},
        {"type": "reasoning.encrypted", "data": "ikg1.broken"},
        {"type": "reasoning.text", "text": "ikg1."},
    ]})
    .to_string();
    let mut message = read(&text);
    assert!(take_sealed(&mut message).is_empty());
    assert_eq!(serde_json::to_string(&message).unwrap(), text);
}

/// Returns the only thinking block among these.
fn thought(blocks: &[Block]) -> Value {
    let mut thoughts = blocks.iter().filter(|block| matches!(block, Block::Thinking(_)));
    let thought = serde_json::to_value(thoughts.next().unwrap()).unwrap();
    assert!(thoughts.next().is_none());
    thought
}

#[test]
fn signed_thinking_of_relays_is_state() {
    // LiteLLM, in front of a Messages model.
    let signed = json!([
        {"type": "thinking", "thinking": "hm", "signature": "S"},
        {"type": "redacted_thinking", "data": "R"},
    ]);
    let blocks = both_ways(json!({"content": "A", "reasoning_content": "hm", "thinking_blocks": signed}));
    let data = |field: &str| json!({"openai-chat": {"thinking_blocks": signed, "shape": {"reasoning_field": field}}});
    assert_eq!(thought(&blocks), json!({"type": "thinking", "text": "hm", "provider_data": data("reasoning_content")}));
    let blocks = both_ways(json!({"content": "A", "thinking_blocks": signed}));
    assert_eq!(thought(&blocks), json!({"type": "thinking", "text": "hm", "provider_data": data("thinking_blocks")}));
    both_ways(json!({"content": "A", "thinking_blocks": null}));
    both_ways(json!({"content": "A", "thinking_blocks": []}));
    // Copilot.
    let text = r#"{"content":"A","reasoning_text":"hm","reasoning_opaque":"O"}"#;
    both_ways(serde_json::from_str(text).unwrap());
    let (_, notes) = decode(read(text), Side::Response, &mut Ids::default());
    assert_eq!(serde_json::to_value(&notes.state).unwrap(), json!({"reasoning_opaque": "O"}));
}

#[test]
fn reasoning_parts_are_thinking() {
    // Databricks.
    let message =
        |summary: Value| json!({"content": [{"type": "reasoning", "summary": summary}, {"type": "text", "text": "A"}]});
    let blocks = both_ways(message(json!([{"type": "summary_text", "text": "hm", "signature": "S"}])));
    assert_eq!(
        thought(&blocks),
        json!({"type": "thinking", "text": "hm", "provider_data": {"openai-chat": {
            "signature": "S", "shape": {"reasoning_field": "content", "part": "reasoning"},
        }}})
    );
    for summary in [
        json!([{"type": "summary_text", "text": "hm"}]),
        json!([{"type": "summary_text", "text": "hm", "signature": ""}]),
        json!([{"type": "summary_text", "text": "hm", "signature": null, "x": 1}]),
    ] {
        let blocks = both_ways(message(summary.clone()));
        assert_eq!(thought(&blocks)["text"], "hm", "{summary}");
    }
    for unknown in [json!([]), json!("hm"), json!([{"type": "summary_text"}]), json!([{"type": "x", "text": "hm"}])] {
        let blocks = both_ways(message(unknown.clone()));
        assert!(matches!(blocks.first(), Some(Block::Other(_))), "{unknown}");
    }
}

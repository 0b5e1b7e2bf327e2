use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{answer_of, home, losses, sse, wire, wire_to};
use crate::catalog::rules_for;
use crate::provider::Quirks;
use crate::{Block, Dialect, Level, Message, Other, Part, Request, Role, Tool, ToolChoice};

const SONNET: &str = "claude-sonnet-4-5";
const OPUS: &str = "claude-opus-4-8";

fn call(id: &str) -> Block {
    Block::tool_call(id, "f", serde_json::Map::new())
}

fn signed(text: &str, signature: &str) -> Block {
    let mut block = Block::thinking(text);
    if !signature.is_empty() {
        block.provider_data_mut().unwrap().set_part(Dialect::Anthropic, Part::State, "signature", signature);
    }
    block
}

fn from(provider: &str, model: &str, content: Vec<Block>) -> Message {
    let mut message = Message::assistant(content);
    (message.provider, message.model) = (Some(provider.into()), Some(model.into()));
    message
}

#[test]
fn the_worked_case_of_the_documents() {
    let request =
        Request::new(SONNET).system("You are helpful").user("Hello").thinking(Level::Med).max_output_tokens(4096);
    let wire = wire(&request);
    assert_eq!(
        wire.body,
        json!({
            "model": SONNET, "max_tokens": 47_104, "system": "You are helpful",
            "messages": [{"role": "user", "content": "Hello"}],
            "thinking": {"type": "enabled", "budget_tokens": 43_008},
        })
    );
    assert_eq!(wire.path, "/v1/messages");
    assert_eq!(wire.headers, [("anthropic-version".to_owned(), "2023-06-01".to_owned())]);
    assert_eq!(wire.losses, []);
}

#[test]
fn a_request_without_a_model_is_refused() {
    let error = wire_to(&Request::new("").user("Hi"), &home(&Quirks::default(), rules_for(SONNET))).unwrap_err();
    assert_eq!((error.kind, error.param.as_deref()), (crate::ErrorKind::InvalidRequest, Some("model")));
}

#[test]
fn system_blocks_stay_blocks_when_there_are_several_or_one_is_cached() {
    let system = |request: Request| wire(&request.user("Hi")).body["system"].clone();
    assert_eq!(system(Request::new(SONNET)), Value::Null);
    assert_eq!(system(Request::new(SONNET).system("A")), json!("A"));
    assert_eq!(
        system(Request::new(SONNET).system("A").system("B")),
        json!([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}])
    );
    assert_eq!(
        system(Request::new(SONNET).system(Block::text("A").cached())),
        json!([{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}])
    );
}

#[test]
fn results_stand_first_in_one_user_message() {
    let request = Request::new(SONNET)
        .user("Go")
        .assistant(vec![Block::text("Both."), call("a"), call("b")])
        .message(Message::tool_result("a", "1"))
        .message(Message::user("Hurry"))
        .message(Message::new(Role::Tool, Block::tool_error("b", vec![Block::text("2"), Block::image_url("u")])))
        .user("And then?");
    assert_eq!(
        wire(&request).body["messages"],
        json!([
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Both."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": [
                    {"type": "text", "text": "2"}, {"type": "image", "source": {"type": "url", "url": "u"}}], "is_error": true},
                {"type": "text", "text": "Hurry"},
                {"type": "text", "text": "And then?"}]},
        ])
    );
}

#[test]
fn the_user_begins() {
    for request in [Request::new(SONNET).assistant("Hello!").user("Hi"), Request::new(SONNET).system("Say hi.")] {
        let wire = wire(&request);
        assert_eq!(wire.body["messages"][0], json!({"role": "user", "content": "(begin)"}));
        assert_eq!(
            losses(&wire),
            [
                "info messages at messages[0]: the user must send the first message here; a placeholder is sent before it"
            ]
        );
    }
}

#[test]
fn user_messages_without_results_stay_apart() {
    let request = Request::new(SONNET).user("a").user("b");
    assert_eq!(
        wire(&request).body["messages"],
        json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    );
}

#[test]
fn ids_of_others_are_made_to_fit_in_call_and_result() {
    let request = Request::new(SONNET)
        .user("Go")
        .assistant(vec![call("call:1"), call("call_1")])
        .tool_result("call:1", "x")
        .tool_result("call_1", "y")
        .assistant(call("call_1"))
        .tool_result("call_1", "z");
    let wire = wire(&request);
    let ids: Vec<&Value> = wire.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().into_iter().flatten())
        .map(|block| block.get("id").unwrap_or(&block["tool_use_id"]))
        .collect();
    let (first, last) = (ids[0].as_str().unwrap(), ids[4].as_str().unwrap());
    assert_eq!(ids, [first, "call_1", first, "call_1", last, last]);
    let is_safe = first.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    assert!(is_safe && !first.is_empty() && first != last && last != "call_1");
    assert_eq!(
        losses(&wire),
        ["info tool_call at messages: 2 ids do not have the form that this api accepts; others are sent"]
    );
}

#[test]
fn names_that_are_refused_are_changed_everywhere_and_told() {
    let request = Request::new(SONNET)
        .user("Go")
        .assistant(Block::tool_call("t", "files.read", serde_json::Map::new()))
        .tool_result("t", "x")
        .tool(Tool::new("files.read", "Reads.").lenient())
        .tool_choice(ToolChoice::Specific("files.read".into()));
    let wire = wire(&request);
    assert_eq!(wire.body["tools"][0]["name"], "files_read");
    assert_eq!(wire.body["messages"][1]["content"][0]["name"], "files_read");
    assert_eq!(wire.body["tool_choice"], json!({"type": "tool", "name": "files_read"}));
    assert_eq!(losses(&wire).len(), 1, "{:?}", wire.losses);
}

#[test]
fn streamed_thinking_goes_back_byte_for_byte_and_once() {
    let answer = answer_of(&sse(&[
        json!({"type": "message_start", "message": {"id": "m", "model": "claude-sonnet-4-5-20250929", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Look "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "it up."}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "Eq+/B=="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "Em8B"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"b\": 1,"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": " \"a\": 2}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]));
    let request = Request::new(SONNET)
        .user("Go")
        .message(answer.into_message("anthropic"))
        .tool_result("toolu_1", "x")
        .thinking(Level::Low);
    let wire = wire(&request);
    assert_eq!(
        wire.body["messages"][1]["content"].to_string(),
        concat!(
            r#"[{"type":"thinking","thinking":"Look it up.","signature":"Eq+/B=="},"#,
            r#"{"type":"redacted_thinking","data":"Em8B"},"#,
            r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1,"a":2},"caller":{"type":"direct"}}]"#
        )
    );
    assert_eq!(wire.body["thinking"]["type"], "enabled");
    assert_eq!(wire.losses, []);
}

#[test]
fn thinking_goes_back_to_its_model_and_provider_alone() {
    let sent = |message: Message, model: &str| {
        let wire = wire(&Request::new(model).user("Hi").message(message).user("Go on"));
        (wire.body["messages"][1]["content"].clone(), losses(&wire))
    };
    let content = || vec![signed("Hm", "E"), Block::text("Yes")];
    let whole = json!([{"type": "thinking", "thinking": "Hm", "signature": "E"}, {"type": "text", "text": "Yes"}]);
    let left_out = |why: &str| vec![format!("loss thinking at messages[1].content[0]: {why}")];
    assert_eq!(sent(from("anthropic", "claude-sonnet-4-5-20250929", content()), SONNET), (whole.clone(), vec![]));
    assert_eq!(sent(Message::assistant(content()), SONNET), (whole, vec![]));
    assert_eq!(
        sent(from("anthropic", "claude-opus-4-1", content()), SONNET),
        (json!("Yes"), left_out("thinking that this model cannot read is left out"))
    );
    assert_eq!(
        sent(from("other", SONNET, content()), SONNET),
        (json!("Yes"), left_out("thinking of another provider is left out"))
    );
}

#[test]
fn thinking_that_nobody_signed_stays_behind() {
    let mut foreign = Block::thinking("Hm");
    foreign.provider_data_mut().unwrap().set_part(Dialect::OpenaiResponses, Part::State, "encrypted_content", "gAAA");
    let request = Request::new(SONNET)
        .user("Hi")
        .assistant(vec![Block::thinking("a"), signed("b", ""), Block::text("Yes")])
        .message(from("openai", "o3", vec![foreign, Block::text("No")]))
        .user("Go on");
    let wire = wire(&request);
    assert_eq!(wire.body["messages"][1]["content"], "Yes");
    assert_eq!(wire.body["messages"][2]["content"], "No");
    assert_eq!(
        losses(&wire),
        [
            "loss thinking at messages[1].content[0]: thinking can only go back with its original seal, and this has none; left out",
            "loss thinking at messages[1].content[1]: thinking can only go back with its original seal, and this has none; left out",
            "loss thinking at messages[2].content[0]: thinking of another provider is left out",
        ]
    );
}

#[test]
fn a_provider_that_does_not_sign_gets_its_thinking_back() {
    let mut block = Block::thinking("Hm");
    block.provider_data_mut().unwrap().set_part(Dialect::Anthropic, Part::Shape, "unsigned", true);
    let request = Request::new("m").user("Hi").message(from("minimax", "m", vec![block, Block::text("Yes")])).user("?");
    let (quirks, rules) = (Quirks::default(), rules_for("m"));
    let sent = |provider| {
        let target = crate::wire::Target { provider, ..home(&quirks, rules) };
        wire_to(&request, &target).unwrap().body["messages"][1]["content"].clone()
    };
    assert_eq!(sent("anthropic"), "Yes");
    assert_eq!(sent("minimax"), json!([{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes"}]));
}

#[test]
fn a_tool_turn_without_signed_thinking_goes_on_without_a_budget() {
    let turn = |first: Vec<Block>| {
        Request::new(SONNET)
            .user("Go")
            .assistant(first)
            .tool_result("a", "x")
            .thinking(Level::Low)
            .max_output_tokens(99)
    };
    let why = "loss thinking at thinking: the current tool turn did not begin with this model's thinking, which the model then requires; thinking is off for this request";
    let unsigned = wire(&turn(vec![call("a")]));
    assert_eq!((&unsigned.body["thinking"], &unsigned.body["max_tokens"]), (&Value::Null, &json!(99)));
    assert_eq!(losses(&unsigned), [why]);
    // With its thinking, or once the turn is over, the budget stays.
    for request in [turn(vec![signed("Hm", "E"), call("a")]), turn(vec![call("a")]).assistant("Done.").user("More?")] {
        let wire = wire(&request);
        assert_eq!((wire.body["thinking"]["type"].as_str(), losses(&wire)), (Some("enabled"), vec![]));
    }
    // In a long turn only its beginning counts.
    let long = turn(vec![signed("Hm", "E"), call("a")]).assistant(call("b")).tool_result("b", "y");
    assert_eq!(wire(&long).body["thinking"]["type"], "enabled");
    // Models that decide themselves how much to think accept it.
    let mut adaptive = turn(vec![call("a")]);
    adaptive.model = OPUS.to_owned();
    assert_eq!(wire(&adaptive).body["thinking"]["type"], "adaptive");
}

#[test]
fn an_answer_begun_by_the_caller() {
    let begun = |model: &str| Request::new(model).user("JSON?").assistant("{\"a\": \n");
    let older = wire(&begun(SONNET).thinking(Level::Low).max_output_tokens(50));
    assert_eq!(older.body["messages"][1], json!({"role": "assistant", "content": "{\"a\":"}));
    assert_eq!(older.body.get("thinking"), None);
    assert_eq!(
        losses(&older),
        [
            "info prefill at messages[1]: spaces at its end are refused here; left out",
            "loss thinking at thinking: this model refuses thinking when the conversation ends with the assistant; thinking is off for this request",
        ]
    );
    let newer = wire(&begun(OPUS));
    assert_eq!(newer.body["messages"][2], json!({"role": "user", "content": "Continue."}));
    assert_eq!(
        losses(&newer),
        [
            "loss prefill at messages[1]: this model refuses conversations that end with the assistant; the model is asked to continue"
        ]
    );
    // A paused turn of the provider's own tools is sent again unchanged.
    let data = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let paused =
        Request::new(OPUS).user("Go").assistant(Block::Other(Other { dialect: Dialect::Anthropic, data: data.into() }));
    assert_eq!(wire(&paused).body["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn instructions_in_mid_conversation() {
    let request = |model: &str| {
        Request::new(model)
            .system("Base.")
            .message(Message::system("First."))
            .user("Go")
            .assistant(call("a"))
            .message(Message::system("Hurry."))
            .tool_result("a", "x")
            .message(Message::system("In French."))
            .user("Now")
    };
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "x"});
    let newer = wire(&request(OPUS));
    assert_eq!(newer.body["system"], json!([{"type": "text", "text": "Base."}, {"type": "text", "text": "First."}]));
    assert_eq!(
        newer.body["messages"],
        json!([
            {"role": "user", "content": "Go"}, call,
            {"role": "user", "content": [result]},
            {"role": "system", "content": "Hurry."},
            {"role": "system", "content": "In French."},
            {"role": "user", "content": "Now"},
        ])
    );
    assert_eq!(newer.losses, []);
    let older = wire(&request(SONNET));
    assert_eq!(
        older.body["messages"],
        json!([
            {"role": "user", "content": "Go"}, call,
            {"role": "user", "content": [
                result,
                {"type": "text", "text": "<system-reminder>\nHurry.\n</system-reminder>"},
                {"type": "text", "text": "<system-reminder>\nIn French.\n</system-reminder>"},
                {"type": "text", "text": "Now"}]},
        ])
    );
    assert_eq!(
        losses(&older),
        [
            "loss system at messages[3]: this model accepts no system messages in a conversation; it is sent as the user's",
            "loss system at messages[5]: this model accepts no system messages in a conversation; it is sent as the user's",
        ]
    );
}

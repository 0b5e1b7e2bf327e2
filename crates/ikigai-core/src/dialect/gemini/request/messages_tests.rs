use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::super::seal::Sealed;
use super::super::testing::decode_response;
use super::decode_tests::{read, round};
use super::encode_tests::{NEW, OLD, encoded, encoded_with, sent};
use crate::provider::Quirks;
use crate::{
    Block, Dialect, Message, Other, Part, ProviderData, Request, Role, Source, ThinkingBlock, ToolCall, ToolResult,
};

fn call(id: &str, name: &str) -> Block {
    Block::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), ..ToolCall::default() })
}

fn signed(mut block: Block, signature: &str) -> Block {
    block.provider_data_mut().unwrap().set_part(Dialect::Gemini, Part::State, "thought_signature", signature);
    block
}

fn with_our_id(mut block: Block) -> Block {
    block.provider_data_mut().unwrap().set_part(Dialect::Gemini, Part::Shape, "generated_id", true);
    block
}

#[test]
fn results_go_in_one_content_in_the_order_of_the_calls() {
    let request = Request::new(NEW)
        .user("Go")
        .assistant([Block::text("So:"), signed(call("a", "f"), "c2ln"), call("b", "g"), call("c", "f")])
        .message(Message::new(Role::Tool, Block::tool_result("c", "3")))
        .message(Message::new(Role::Tool, Block::tool_result("a", "1")))
        .message(Message::user([
            Block::ToolResult(ToolResult {
                tool_call_id: "b".into(),
                content: vec![Block::text("no")],
                is_error: true,
                ..ToolResult::default()
            }),
            Block::text("And now?"),
        ]));
    let response = |id: &str, name: &str, response: Value| json!({"functionResponse": {"id": id, "name": name, "response": response}});
    let (body, losses) = sent(&request);
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Go"}]},
            {"role": "model", "parts": [
                {"text": "So:"},
                {"functionCall": {"name": "f", "args": {}, "id": "a"}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "g", "args": {}, "id": "b"}},
                {"functionCall": {"name": "f", "args": {}, "id": "c"}},
            ]},
            {"role": "user", "parts": [response("a", "f", json!({"output": "1"})), response("b", "g", json!({"error": "no"})), response("c", "f", json!({"output": "3"}))]},
            {"role": "user", "parts": [{"text": "And now?"}]},
        ]),
    );
    assert_eq!(losses, Vec::<String>::new());
}

#[test]
fn the_models_messages_in_a_row_are_one_turn() {
    let request = Request::new(NEW)
        .user("Go")
        .assistant("So:")
        .assistant([Block::text("well"), Block::text("")])
        .user("")
        .user("Yes?");
    assert_eq!(
        encoded(&request).body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Go"}]},
            {"role": "model", "parts": [{"text": "So:"}, {"text": "well"}]},
            {"role": "user", "parts": [{"text": "Yes?"}]},
        ]),
    );
}

#[test]
fn ids_are_sent_where_they_are_taken_and_ours_never() {
    let conversation = |model: &str| {
        Request::new(model)
            .user("Go")
            .assistant([signed(call("given", "f"), "cw=="), with_our_id(call("made", "g"))])
            .tool_result("given", "1")
            .tool_result("made", "2")
    };
    let ids = |body: &Value| {
        let parts = ["/contents/1/parts", "/contents/2/parts"]
            .map(|place| body.pointer(place).unwrap().as_array().unwrap().clone());
        let id = |part: &Value| part.as_object().unwrap().values().next().unwrap().get("id").cloned();
        parts.concat().iter().map(id).collect::<Vec<_>>()
    };
    let given = Some(json!("given"));
    assert_eq!(ids(&encoded(&conversation(NEW)).body), [given.clone(), None, given, None]);
    assert_eq!(ids(&encoded(&conversation(OLD)).body), [None, None, None, None]);
    let quirks = Quirks {
        gemini: crate::provider::GeminiQuirks { no_call_ids: true, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(ids(&encoded_with(&conversation(NEW), &quirks).unwrap().body), [None, None, None, None]);
}

#[test]
fn a_result_to_no_call_is_refused() {
    let request = Request::new(NEW).user("Go").tool_result("nobody", "1");
    let error = encoded_with(&request, &Quirks::default()).unwrap_err();
    assert_eq!(
        error.message,
        "messages[1].content[0]: no call with the id `nobody` comes before this result, and the API wants the tool's name",
    );
}

#[test]
fn calls_without_a_signature_get_the_dummy_in_the_current_turn_alone() {
    let step = |request: Request, id: &str| {
        request
            .assistant([call(id, "f"), call(&format!("{id}2"), "g")])
            .tool_result(id, "1")
            .tool_result(format!("{id}2"), "2")
    };
    let request = step(Request::new(NEW).user("Go"), "a").assistant("Done").user("Again");
    let request = step(step(request, "b"), "c");
    let (body, losses) = sent(&request);
    let signatures: Vec<Value> = body["contents"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|content| content["parts"].as_array().unwrap().clone())
        .filter(|part| part.get("functionCall").is_some())
        .map(|part| part["thoughtSignature"].clone())
        .collect();
    let dummy = json!("skip_thought_signature_validator");
    assert_eq!(signatures, [Value::Null, Value::Null, dummy.clone(), Value::Null, dummy, Value::Null]);
    assert_eq!(losses, ["(thinking at messages[5])", "(thinking at messages[7])"]);
    // A model that does not require them is sent none.
    let mut request = request;
    request.model = OLD.to_owned();
    assert!(!encoded(&request).body.to_string().contains("skip_thought"));
}

#[test]
fn signatures_go_back_to_who_made_them() {
    let conversation = |provider: Option<&str>| {
        let mut message = Message::assistant([
            signed(Block::thinking("Hm"), "dGg="),
            signed(call("c", "f"), "c2ln"),
            signed(Block::text(""), "bGFzdA=="),
            Block::Other(Other {
                dialect: Dialect::Gemini,
                data: json!({"executableCode": {"code": "1"}, "thoughtSignature": "Y29kZQ=="}).into(),
            }),
        ]);
        message.provider = provider.map(str::to_owned);
        message.model = Some("gemini-3-flash-preview".to_owned());
        Request::new(NEW).user("Go").message(message).tool_result("c", "1")
    };
    let parts = json!([
        {"text": "Hm", "thought": true, "thoughtSignature": "dGg="},
        {"functionCall": {"name": "f", "args": {}, "id": "c"}, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "bGFzdA=="},
        {"executableCode": {"code": "1"}, "thoughtSignature": "Y29kZQ=="},
    ]);
    for provider in [None, Some("google")] {
        let (body, losses) = sent(&conversation(provider));
        assert_eq!((&body["contents"][1]["parts"], losses), (&parts, vec![]));
    }
    let request = conversation(Some("vertex"));
    let before = request.clone();
    let (body, losses) = sent(&request);
    assert_eq!(
        body["contents"][1]["parts"],
        json!([
            {"functionCall": {"name": "f", "args": {}, "id": "c"}, "thoughtSignature": "skip_thought_signature_validator"},
        ]),
    );
    let place = |block: usize| format!("thinking at messages[1].content[{block}]");
    let other = "other at messages[1].content[3]".to_owned();
    assert_eq!(losses, [place(0), place(1), place(2), other, "(thinking at messages[1])".to_owned()]);
    assert_eq!(request, before);
}

#[test]
fn thoughts_of_others_stay_behind() {
    let mut state = ProviderData::default();
    state.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
    let request = Request::new(NEW).user("Go").assistant([
        Block::Thinking(ThinkingBlock { text: "Hm".into(), provider_data: state }),
        Block::thinking("plain"),
        Block::Other(Other { dialect: Dialect::Anthropic, data: json!({"type": "server_tool_use"}).into() }),
        Block::text("So."),
    ]);
    let (body, losses) = sent(&request);
    assert_eq!(body["contents"][1]["parts"], json!([{"text": "So."}]));
    assert_eq!(
        losses,
        ["thinking at messages[1].content[0]", "thinking at messages[1].content[1]", "other at messages[1].content[2]",]
    );
}

#[test]
fn pictures_in_results_go_inside_or_behind() {
    let picture = || {
        Block::Image(crate::Image {
            source: Source::Base64 { media_type: "image/png".into(), data: "AAAA".into() },
            cache: None,
            provider_data: ProviderData::default(),
        })
    };
    let conversation = |model: &str| {
        Request::new(model)
            .user("Go")
            .assistant([signed(call("c", "f"), "cw==")])
            .tool_result("c", [Block::text("See:"), picture()])
            .user("Well?")
    };
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let (body, losses) = sent(&conversation(NEW));
    assert_eq!(
        body["contents"][2]["parts"],
        json!([{"functionResponse": {"id": "c", "name": "f", "response": {"output": "See:"}, "parts": [inline]}}]),
    );
    assert_eq!(losses, Vec::<String>::new());
    let (body, losses) = sent(&conversation(OLD));
    assert_eq!(
        body["contents"].as_array().unwrap()[2..],
        [
            json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "See:"}}}]}),
            json!({"role": "user", "parts": [inline]}),
            json!({"role": "user", "parts": [{"text": "Well?"}]}),
        ],
    );
    assert_eq!(losses, ["tool_result at messages[2].content[0].content[1]"]);
    // Audio moves after the results on every model.
    let sound = Block::Audio(crate::Audio {
        source: Source::Base64 { media_type: "audio/wav".into(), data: "AAAA".into() },
        cache: None,
        provider_data: ProviderData::default(),
    });
    let request = Request::new(NEW)
        .user("Go")
        .assistant([signed(call("c", "f"), "cw==")])
        .tool_result("c", [Block::text("Hear:"), sound]);
    let (body, losses) = sent(&request);
    assert_eq!(
        body["contents"].as_array().unwrap()[2..],
        [
            json!({"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"output": "Hear:"}}}]}),
            json!({"role": "user", "parts": [{"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}]}),
        ],
    );
    assert_eq!(losses, ["tool_result at messages[2].content[0].content[1]"]);
    // Results in separate messages still stay together.
    let request = Request::new(OLD)
        .user("Go")
        .assistant([call("c", "f"), call("d", "g")])
        .message(Message::new(Role::Tool, Block::tool_result("c", picture())))
        .message(Message::new(Role::Tool, Block::tool_result("d", picture())));
    assert_eq!(
        encoded(&request).body["contents"].as_array().unwrap()[2..],
        [
            json!({"role": "user", "parts": [
                {"functionResponse": {"name": "f", "response": {"output": ""}}},
                {"functionResponse": {"name": "g", "response": {"output": ""}}},
            ]}),
            json!({"role": "user", "parts": [inline, inline]}),
        ],
    );
}

#[test]
fn a_cut_off_call_is_sent_without_arguments() {
    let mut cut = ToolCall { id: "c".into(), name: "f".into(), ..ToolCall::default() };
    cut.arguments = crate::Arguments::from_text("{\"a".to_owned());
    let request = Request::new(OLD).user("x").assistant([Block::ToolCall(cut)]).tool_result("c", "?");
    let (body, losses) = sent(&request);
    assert_eq!(body["contents"][1]["parts"][0], json!({"functionCall": {"name": "f", "args": {}}}));
    assert_eq!(losses, ["arguments at messages[1].content[0]"]);
}

#[test]
fn an_answer_goes_back_as_it_came() {
    let parts = json!([
        {"text": "Hm", "thought": true},
        {"text": "It is "},
        {"text": "so."},
        {"functionCall": {"name": "f", "args": {"b": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f", "args": {"b": 2}}},
        {"text": "", "thoughtSignature": "bGFzdA=="},
    ]);
    let body = json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}], "modelVersion": OLD});
    let response = decode_response(&body, &mut crate::wire::Ids::default()).unwrap();
    let ids: Vec<String> = response.tool_calls().map(|call| call.id.clone()).collect();
    let request = Request::new(OLD)
        .user("Go")
        .message(response.into_message("google"))
        .tool_result(&*ids[1], "2")
        .tool_result(&*ids[0], "1");
    let (body, losses) = sent(&request);
    let expected: Vec<Value> = parts.as_array().unwrap()[1..].to_vec();
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": expected}));
    assert_eq!(
        body["contents"][2]["parts"],
        json!([
            {"functionResponse": {"name": "f", "response": {"output": "1"}}},
            {"functionResponse": {"name": "f", "response": {"output": "2"}}},
        ]),
    );
    assert_eq!(losses, ["(thinking at messages[1].content[0])"]);
}

#[test]
fn the_user_speaks_first() {
    let request = Request::new("gemini-2.5-pro").assistant("Hello.").user("Hi.");
    assert_eq!(
        sent(&request),
        (
            json!({"contents": [
                {"role": "user", "parts": [{"text": "(begin)"}]},
                {"role": "model", "parts": [{"text": "Hello."}]},
                {"role": "user", "parts": [{"text": "Hi."}]}
            ]}),
            vec!["(messages at messages[0])".to_owned()]
        )
    );
}

#[test]
fn results_are_the_tools_unless_something_else_is_said() {
    let result = json!({"functionResponse": {"name": "f", "response": {"output": "x"}}});
    let role = |content: Value| round(json!({"contents": [content]})).messages[0].role;
    assert_eq!(role(json!({"role": "user", "parts": [result]})), crate::Role::Tool);
    assert_eq!(role(json!({"role": "user", "parts": [result, {"text": "x"}]})), crate::Role::User);
    assert_eq!(role(json!({"parts": [{"text": "x"}]})), crate::Role::User);
    assert_eq!(role(json!({"role": "model", "parts": [{"text": "x"}]})), crate::Role::Assistant);
}

#[test]
fn dummies_are_no_signatures_and_still_come_back() {
    for dummy in [
        "skip_thought_signature_validator",
        "context_engineering_is_the_way_to_go",
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
    ] {
        let request = round(json!({"contents": [
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}, "thoughtSignature": dummy}]},
        ]}));
        let data = request.messages[0].content[0].provider_data().unwrap();
        assert_eq!(serde_json::to_value(data).unwrap(), json!({"gemini": {"shape": {"dummy": dummy}}}));
    }
}

#[test]
fn sealed_state_returns_to_its_block() {
    let sealed = Sealed {
        provider: Some("anthropic".to_owned()),
        model: Some("claude".to_owned()),
        note: crate::Fields::default(),
        data: serde_json::from_value(json!({"anthropic": {"signature": "EqoB"}})).unwrap(),
    };
    // The Python client sends the other alphabet.
    let signature = sealed.to_base64().replace('+', "-").replace('/', "_");
    let request = read(json!({"contents": [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"text": "Hm", "thought": true, "thoughtSignature": signature}, {"text": "Hello"}]},
    ]}))
    .unwrap();
    assert_eq!(
        serde_json::to_value(&request.messages[1]).unwrap(),
        json!({
            "role": "assistant",
            "content": [
                {"type": "thinking", "text": "Hm", "provider_data": {"anthropic": {"signature": "EqoB"}}},
                {"type": "text", "text": "Hello"},
            ],
            "provider": "anthropic", "model": "claude",
        }),
    );
}

use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use crate::catalog::{ForcedTools, Rules, Sampling, ThinkingKind, ThinkingOff, ThinkingRule, ToolsInChat};
use crate::dialect::Target;
use crate::dialect::openai_chat::testing::{Sent, decode_request, encode_request};
use crate::provider::{MaxTokensField, Quirks, ReasoningRequest, RequiredChoice, SeedField, SystemRole};
use crate::{
    Block, Dialect, Error, Level, Loss, Message, OutputFormat, Request, Role, Source, Thinking, Tool, ToolChoice,
};

pub(super) fn encode_for(request: &Request, quirks: &Quirks, rules: &Rules) -> Result<(Value, Vec<Loss>), Error> {
    let target = Target { provider: "here", quirks, rules, facts: None };
    encode_request(request, &target).map(|wire| {
        assert_eq!((wire.path.as_str(), wire.headers.len()), ("/chat/completions", 0));
        (wire.body, wire.losses)
    })
}

pub(super) fn encode(request: &Request) -> (Value, Vec<Loss>) {
    encode_for(request, &Quirks::default(), &Rules::default()).unwrap()
}

/// Returns the body; nothing may be lost.
pub(super) fn body(request: &Request) -> Value {
    let (body, losses) = encode(request);
    assert_eq!(losses, []);
    body
}

pub(super) fn body_for(request: &Request, quirks: &Quirks) -> Value {
    encode_for(request, quirks, &Rules::default()).unwrap().0
}

pub(super) fn whats(losses: &[Loss]) -> Vec<(&str, &str)> {
    losses.iter().map(|loss| (loss.what.as_str(), loss.place.as_str())).collect()
}

pub(super) fn effort_rule(off: ThinkingOff) -> Rules {
    let thinking = ThinkingRule {
        kind: ThinkingKind::Effort,
        levels: vec![Level::Low, Level::Med, Level::High].into(),
        off,
        ..ThinkingRule::default()
    };
    Rules { thinking, sampling: Sampling::NotWhileThinking, ..Rules::default() }
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn weather() -> Tool {
    Tool::new("get_weather", "The weather.").parameters(json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]
    }))
}

#[test]
fn a_simple_request() {
    let request = Request::new("gpt-4.1").user("Hello").max_output_tokens(100);
    assert_eq!(
        body(&request),
        json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}], "max_completion_tokens": 100})
    );
    let (without_limit, losses) = encode(&Request::new("m").user("Hi").max_output_tokens(0));
    assert_eq!(without_limit, json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}));
    assert_eq!(whats(&losses), [("max_output_tokens", "max_output_tokens")]);
}

#[test]
fn a_request_without_a_model_is_refused() {
    let error = encode_for(&Request::new("").user("x"), &Quirks::default(), &Rules::default()).unwrap_err();
    assert_eq!((error.kind, error.param.as_deref()), (crate::ErrorKind::InvalidRequest, Some("model")));
}

#[test]
fn system_blocks_become_one_first_message() {
    let request = Request::new("m").system("You are helpful").system("Be short").user("Hello");
    assert_eq!(
        body(&request)["messages"],
        json!([{"role": "system", "content": "You are helpful\n\nBe short"}, {"role": "user", "content": "Hello"}])
    );
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { system_role: SystemRole::Developer, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(body_for(&request, &quirks)["messages"][0]["role"], "developer");
}

#[test]
fn a_model_without_a_system_prompt_is_told_by_the_user() {
    let request = Request::new("m").system("Be short").user("Hello").message(Message::system("Now in French"));
    let rules = Rules { system_prompt: false, system_messages: false, ..Rules::default() };
    let (body, losses) = encode_for(&request, &Quirks::default(), &rules).unwrap();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Be short"}, {"type": "text", "text": "Hello"}]},
            {"role": "user", "content": "<system-reminder>\nNow in French\n</system-reminder>"},
        ])
    );
    assert_eq!(whats(&losses), [("system", "messages[1]"), ("system", "system")]);
}

#[test]
fn streaming_asks_for_usage_and_nothing_else_does() {
    let mut request = Request::new("m").user("x");
    request.stream = Some(true);
    let streamed = body(&request);
    assert_eq!((&streamed["stream"], &streamed["stream_options"]), (&json!(true), &json!({"include_usage": true})));
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_stream_options: true, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(body_for(&request, &quirks).get("stream_options"), None);
    request.stream = Some(false);
    let whole = body(&request);
    assert_eq!((whole.get("stream"), whole.get("stream_options")), (None, None));
}

#[test]
fn tools_are_strict_where_their_schema_allows_it() {
    let request = Request::new("m").user("x").tool(weather()).tool_choice(ToolChoice::Required);
    assert_eq!(
        body(&request)["tools"],
        json!([{"type": "function", "function": {
            "name": "get_weather", "description": "The weather.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
                "additionalProperties": false},
            "strict": true}}])
    );
    assert_eq!(body(&request)["tool_choice"], "required");

    let optional = Tool::new("t", "d").parameters(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let (loose, losses) = encode(&Request::new("m").user("x").tool(optional.clone()));
    assert_eq!(
        loose["tools"][0]["function"],
        json!({"name": "t", "description": "d",
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}, "strict": false})
    );
    assert_eq!(whats(&losses), [("strict", "tools[0].strict")]);
    assert_eq!(body(&Request::new("m").user("x").tool(optional.lenient()))["tools"][0]["function"]["strict"], false);

    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_strict_tools: true, ..Default::default() },
        ..Quirks::default()
    };
    let (without, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
    assert_eq!(without["tools"][0]["function"].get("strict"), None);
    assert_eq!((whats(&losses), losses[0].severity), (vec![("strict", "tools[0].strict")], crate::Severity::Info));
}

#[test]
fn schemas_are_opened_where_closed_ones_are_refused() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
        "a": {"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": false}},
        "b": {"type": "object", "additionalProperties": {"type": "string"}}}});
    let request = Request::new("m").user("x").tool(Tool::new("t", "d").parameters(schema).lenient()).tool(weather());
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_closed_schemas: true, ..Default::default() },
        ..Quirks::default()
    };
    let (body, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
    let expected = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "array", "items": {"type": "object", "properties": {}}},
        "b": {"type": "object", "additionalProperties": {"type": "string"}}}});
    assert_eq!(body["tools"][0]["function"]["parameters"], expected);
    assert!(!body["tools"][1].to_string().contains("additionalProperties"), "{body}");
    assert_eq!(whats(&losses), [("parameters", "tools[0].parameters")], "what nobody asked for is no loss");
}

#[test]
fn tools_that_may_not_be_used_are_left_out_where_they_would_be() {
    let request = Request::new("m").user("x").tool(weather()).tool_choice(ToolChoice::None);
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_tools_on_none: true, ..Default::default() },
        ..Quirks::default()
    };
    let (body, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    assert_eq!((whats(&losses), losses[0].severity), (vec![("tools", "tools")], crate::Severity::Info));
}

#[test]
fn every_tool_choice_has_its_word() {
    let choice = |choice: ToolChoice, quirks: Quirks| {
        let request = Request::new("m").user("x").tool(weather()).tool(Tool::new("b", "d")).tool_choice(choice);
        let (body, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
        (body["tool_choice"].clone(), body["tools"].as_array().unwrap().len(), whats(&losses).len())
    };
    let specific = || ToolChoice::Specific("get_weather".into());
    assert_eq!(choice(ToolChoice::Auto, Quirks::default()), (json!("auto"), 2, 0));
    assert_eq!(choice(ToolChoice::None, Quirks::default()), (json!("none"), 2, 0));
    assert_eq!(
        choice(specific(), Quirks::default()),
        (json!({"type": "function", "function": {"name": "get_weather"}}), 2, 0)
    );
    let any = Quirks {
        chat: crate::provider::ChatQuirks {
            tool_choice_required: RequiredChoice::Any,
            no_specific_tool: true,
            ..Default::default()
        },
        ..Quirks::default()
    };
    assert_eq!(choice(ToolChoice::Required, any.clone()), (json!("any"), 2, 0));
    assert_eq!(choice(specific(), any), (json!("any"), 1, 1));
    let refused = Quirks {
        chat: crate::provider::ChatQuirks { tool_choice_required: RequiredChoice::Refused, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(choice(ToolChoice::Required, refused.clone()), (json!("auto"), 2, 1));
    assert_eq!(choice(specific(), refused).2, 0);
    // Without tools there is nothing to choose.
    let mut bare = Request::new("m").user("x").tool_choice(ToolChoice::Required);
    bare.parallel_tool_calls = Some(false);
    let (body, losses) = encode(&bare);
    assert_eq!((body.get("tool_choice"), body.get("parallel_tool_calls")), (None, None));
    assert_eq!(whats(&losses), [("tool_choice", "tool_choice"), ("parallel_tool_calls", "parallel_tool_calls")]);
}

#[test]
fn calls_and_every_result_of_them() {
    let request = Request::new("m")
        .user("Weather?")
        .assistant([
            Block::tool_call("call_1", "get_weather", arguments(json!({"city": "Oslo", "a": 1}))),
            Block::tool_call("call_2", "get_weather", Map::new()),
        ])
        .tool_result("call_1", "rain")
        .tool_result("call_2", [Block::text("sun"), Block::text("wind")]);
    assert_eq!(
        body(&request)["messages"],
        json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\",\"a\":1}"}},
                {"id": "call_2", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
            {"role": "tool", "tool_call_id": "call_2", "content": "sun\n\nwind"},
        ])
    );
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_null_content: true, ..Default::default() },
        ..Quirks::default()
    };
    assert_eq!(body_for(&request, &quirks)["messages"][1]["content"], "");
}

#[test]
fn text_and_calls_stand_together_and_lost_order_is_said() {
    let call = || Block::tool_call("c1", "t", Map::new());
    let before = Request::new("m").assistant([Block::text("Let me see."), Block::text("One moment."), call()]);
    assert_eq!(body(&before)["messages"][0]["content"], "Let me see.\n\nOne moment.");
    let after = Request::new("m").assistant([call(), Block::text("So.")]);
    let (wire, losses) = encode(&after);
    assert_eq!(wire["messages"][0]["content"], "So.");
    assert_eq!(whats(&losses), [("text", "messages[0].content[1]")]);
}

#[test]
fn a_sentence_that_was_cut_for_its_citations_is_whole_again() {
    let cited = |text: &str| {
        let mut block = Block::text(text);
        block.provider_data_mut().unwrap().set_part(
            Dialect::Anthropic,
            crate::Part::Extra,
            "citations",
            json!([{"cited_text": "x"}]),
        );
        block
    };
    let request = Request::new("m").assistant([Block::text("The grass is "), cited("green"), Block::text(".")]);
    let (wire, losses) = encode(&request);
    assert_eq!(wire["messages"][0]["content"], "The grass is green.");
    assert_eq!(whats(&losses), [("provider_data", "messages[0].content[1]")]);
}

#[test]
fn failed_tools_say_so_and_media_moves_behind_the_results() {
    let image = Block::image(Source::Base64 { media_type: "image/png".into(), data: "iVBO".into() });
    let mut request = Request::new("m").user("x").assistant([
        Block::tool_call("a", "t", Map::new()),
        Block::tool_call("b", "t", Map::new()),
        Block::tool_call("c", "t", Map::new()),
    ]);
    request.messages.push(Message::new(
        Role::Tool,
        [Block::tool_error("a", "no such file"), Block::tool_error("b", "error: gone"), Block::tool_result("c", image)],
    ));
    let request = request.user("And?");
    let (wire, losses) = encode(&request);
    assert_eq!(
        wire["messages"].as_array().unwrap()[2..],
        [
            json!({"role": "tool", "tool_call_id": "a", "content": "Error: no such file"}),
            json!({"role": "tool", "tool_call_id": "b", "content": "error: gone"}),
            json!({"role": "tool", "tool_call_id": "c", "content": "(see attached image)"}),
            json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}]}),
            json!({"role": "user", "content": "And?"}),
        ]
    );
    assert_eq!(
        whats(&losses),
        [
            ("is_error", "messages[2].content[0].is_error"),
            ("is_error", "messages[2].content[1].is_error"),
            ("image", "messages[2].content[2].content[0]"),
        ]
    );
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_user_after_tool: true, ..Default::default() },
        ..Quirks::default()
    };
    let roles: Vec<Value> =
        body_for(&request, &quirks)["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "tool", "assistant", "user", "user"]);
}

#[test]
fn results_in_a_user_message_come_first() {
    let mut request = Request::new("m").assistant(Block::tool_call("a", "t", Map::new()));
    request.messages.push(Message::user([Block::text("Well?"), Block::tool_result("a", "1")]));
    assert_eq!(
        body(&request)["messages"].as_array().unwrap()[1..],
        [json!({"role": "tool", "tool_call_id": "a", "content": "1"}), json!({"role": "user", "content": "Well?"})]
    );
}

#[test]
fn content_of_every_kind_and_source() {
    let base64 = |media_type: &str| Source::Base64 { media_type: media_type.into(), data: "QUJD".into() };
    let file = || Source::File { id: "file-1".into(), media_type: None };
    let url = || Source::Url { url: "https://a/b".into(), media_type: None };
    let text = || Source::Text { media_type: "text/plain".into(), text: "Once".into() };
    let request = Request::new("m").user([
        Block::text("Look"),
        Block::image(base64("image/png")),
        Block::image(url()),
        Block::image(file()),
        Block::audio(base64("audio/wav")),
        Block::audio(base64("audio/mpeg")),
        Block::audio(url()),
        Block::document(base64("application/pdf"), "a.pdf"),
        Block::document(file(), "b.pdf"),
        Block::document(url(), "c.pdf"),
        Block::document(text(), "d.txt"),
        Block::document(base64("text/csv"), "e.csv"),
        Block::document(base64("application/zip"), "f.zip"),
        Block::thinking("hm"),
        Block::Other(crate::Other { dialect: Dialect::Gemini, data: json!({}).into() }),
    ]);
    let (wire, losses) = encode(&request);
    assert_eq!(
        wire["messages"][0]["content"],
        json!([
            {"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            {"type": "image_url", "image_url": {"url": "https://a/b"}},
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"}},
            {"type": "file", "file": {"filename": "b.pdf", "file_id": "file-1"}},
            {"type": "text", "text": "c.pdf: https://a/b"},
            {"type": "text", "text": "d.txt\n\nOnce"},
            {"type": "text", "text": "e.csv\n\nABC"},
        ])
    );
    let places: Vec<(&str, &str)> = whats(&losses);
    assert_eq!(
        places,
        [
            ("thinking", "messages[0].content[13]"),
            ("other", "messages[0].content[14]"),
            ("image", "messages[0].content[3]"),
            ("audio", "messages[0].content[6]"),
            ("document", "messages[0].content[9]"),
            ("document", "messages[0].content[10]"),
            ("document", "messages[0].content[11]"),
            ("document", "messages[0].content[12]"),
        ]
    );
}

#[path = "fields_tests.rs"]
mod fields;

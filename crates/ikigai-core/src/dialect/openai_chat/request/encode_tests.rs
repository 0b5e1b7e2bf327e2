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

/// The body, where nothing may be lost.
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

#[test]
fn fields_go_by_the_names_that_the_provider_knows() {
    let mut request = Request::new("m").user("x").max_output_tokens(5);
    request.seed = Some(7);
    request.top_k = Some(3);
    let (wire, losses) = encode(&request);
    assert_eq!((&wire["max_completion_tokens"], &wire["seed"]), (&json!(5), &json!(7)));
    assert_eq!(whats(&losses), [("top_k", "top_k")]);
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            max_tokens: MaxTokensField::MaxTokens,
            seed: SeedField::RandomSeed,
            top_k: true,
            ..Default::default()
        },
        ..Quirks::default()
    };
    assert_eq!(
        body_for(&request, &quirks),
        json!({"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": 5, "random_seed": 7, "top_k": 3})
    );
    let none = Quirks {
        chat: crate::provider::ChatQuirks { seed: SeedField::Nothing, top_k: true, ..Default::default() },
        ..Quirks::default()
    };
    let (wire, losses) = encode_for(&request, &none, &Rules::default()).unwrap();
    assert_eq!((wire.get("seed"), whats(&losses)), (None, vec![("seed", "seed")]));
}

#[test]
fn sampling_is_dropped_where_the_model_refuses_it() {
    let mut request = Request::new("m").user("x").temperature(0.5);
    request.top_p = Some(1.0);
    request.frequency_penalty = Some(0.5);
    request.stop = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let (wire, losses) = encode(&request);
    assert_eq!((&wire["temperature"], &wire["stop"]), (&json!(0.5), &json!(["a", "b", "c", "d"])));
    assert_eq!(whats(&losses), [("stop", "stop")]);

    let refusing = Rules { sampling: Sampling::Refused, penalties: false, stop: false, ..Rules::default() };
    let (wire, losses) = encode_for(&request, &Quirks::default(), &refusing).unwrap();
    assert_eq!(wire, json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}));
    let severities: Vec<(&str, crate::Severity)> =
        losses.iter().map(|loss| (loss.what.as_str(), loss.severity)).collect();
    assert_eq!(
        severities,
        [
            ("temperature", crate::Severity::Loss),
            // The usual value says nothing new.
            ("top_p", crate::Severity::Info),
            ("frequency_penalty", crate::Severity::Loss),
            ("stop", crate::Severity::Loss),
        ]
    );
    let one_of = Rules { sampling: Sampling::OneOf, ..Rules::default() };
    request.top_p = Some(0.9);
    let (wire, losses) = encode_for(&request, &Quirks::default(), &one_of).unwrap();
    assert_eq!((wire.get("temperature"), wire.get("top_p")), (Some(&json!(0.5)), None));
    assert_eq!(whats(&losses), [("top_p", "top_p"), ("stop", "stop")]);
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

#[test]
fn thinking_is_asked_for_and_sampling_waits() {
    let request = Request::new("m").user("x").thinking(Level::Med).temperature(0.2);
    let (wire, losses) = encode_for(&request, &Quirks::default(), &effort_rule(ThinkingOff::Word)).unwrap();
    assert_eq!((&wire["reasoning_effort"], wire.get("temperature")), (&json!("medium"), None));
    assert_eq!(whats(&losses), [("temperature", "temperature")]);
    let off = Request::new("m").user("x").thinking(Level::None).temperature(0.2);
    let (wire, losses) = encode_for(&off, &Quirks::default(), &effort_rule(ThinkingOff::Word)).unwrap();
    assert_eq!((&wire["reasoning_effort"], &wire["temperature"], losses), (&json!("none"), &json!(0.2), vec![]));
}

#[test]
fn tools_beside_an_effort_are_fitted_or_refused() {
    let request = Request::new("m").user("x").tool(weather()).thinking(Level::High);
    let rules = Rules { tools_in_chat: ToolsInChat::NotWithEffort, ..effort_rule(ThinkingOff::Word) };
    let (wire, losses) = encode_for(&request, &Quirks::default(), &rules).unwrap();
    assert_eq!((&wire["reasoning_effort"], whats(&losses)), (&json!("none"), vec![("thinking", "thinking")]));
    // Nothing said means thinking, for the newer ones.
    let silent = Request::new("m").user("x").tool(weather());
    let newer = Rules { tools_in_chat: ToolsInChat::NotWhileThinking, ..effort_rule(ThinkingOff::Word) };
    assert_eq!(encode_for(&silent, &Quirks::default(), &newer).unwrap().0["reasoning_effort"], "none");
    let always = Rules { tools_in_chat: ToolsInChat::NotWhileThinking, ..effort_rule(ThinkingOff::Impossible) };
    let error = encode_for(&request, &Quirks::default(), &always).unwrap_err();
    assert!(error.message.contains("Responses API"), "{error}");
    // A relay finds its own way.
    let relay = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_request: ReasoningRequest::ReasoningObject,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let (wire, _) = encode_for(&request, &relay, &always).unwrap();
    assert_eq!(wire["reasoning"], json!({"effort": "high", "enabled": true}));
}

#[test]
fn a_forced_tool_beats_thinking() {
    let request = Request::new("m").user("x").tool(weather()).thinking(Level::High).tool_choice(ToolChoice::Required);
    let rules = Rules { forced_tools: ForcedTools::NotWhileThinking, ..effort_rule(ThinkingOff::Word) };
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks {
            reasoning_request: ReasoningRequest::ThinkingTypeAndEffort,
            ..Default::default()
        },
        ..Quirks::default()
    };
    let (wire, losses) = encode_for(&request, &quirks, &rules).unwrap();
    assert_eq!(
        (&wire["thinking"], wire.get("reasoning_effort"), &wire["tool_choice"]),
        (&json!({"type": "disabled"}), None, &json!("required"))
    );
    assert_eq!(whats(&losses), [("thinking", "thinking")]);
    let never = Rules { forced_tools: ForcedTools::Refused, ..effort_rule(ThinkingOff::Word) };
    let (wire, losses) = encode_for(&request, &quirks, &never).unwrap();
    assert_eq!((&wire["tool_choice"], whats(&losses)), (&json!("auto"), vec![("tool_choice", "tool_choice")]));
}

#[test]
fn the_form_of_the_answer() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let request = Request::new("m").user("x").json_schema("my answer", schema.clone());
    let (wire, losses) = encode(&request);
    assert_eq!(
        wire["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "my_answer", "strict": true, "schema":
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}}})
    );
    assert_eq!(whats(&losses), [("name", "output_format.json_schema.name")]);

    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_json_schema: true, ..Default::default() },
        ..Quirks::default()
    };
    let (wire, losses) = encode_for(&request, &quirks, &Rules::default()).unwrap();
    assert_eq!(wire["response_format"], json!({"type": "json_object"}));
    assert_eq!(
        wire["messages"][0],
        json!({"role": "system", "content": format!("Answer with JSON that matches this JSON Schema, and nothing else:\n{schema}")})
    );
    assert_eq!(whats(&losses), [("output_format", "output_format")]);

    let mut json_only = Request::new("m").user("x");
    json_only.output_format = Some(OutputFormat::Json);
    assert_eq!(encode(&json_only).0["messages"][0], json!({"role": "system", "content": "Answer in JSON."}));
    let mut spoken = Request::new("m").user("As Json, please");
    spoken.output_format = Some(OutputFormat::Json);
    assert_eq!(body(&spoken)["messages"][0]["role"], "user");
}

#[test]
fn cache_hints_become_marks_where_marks_are_known() {
    let mut tool = weather().lenient();
    if let Tool::Function(function) = &mut tool {
        function.cache = Some(crate::CacheHint { ttl: Some("1h".into()) });
    }
    let mut request =
        Request::new("m").system(Block::text("Long").cached()).user(Block::text("Hi").cached()).tool(tool);
    request.cache = Some(crate::CacheOptions { key: Some("k".into()), automatic: None });
    let relay =
        Quirks { chat: crate::provider::ChatQuirks { cache_control: true, ..Default::default() }, ..Quirks::default() };
    let wire = body_for(&request, &relay);
    assert_eq!(
        wire["messages"],
        json!([
            {"role": "system", "content": [{"type": "text", "text": "Long", "cache_control": {"type": "ephemeral"}}]},
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
        ])
    );
    assert_eq!(wire["tools"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(wire["prompt_cache_key"], "k");
    let points = Rules { cache_breakpoints: true, ..Rules::default() };
    let (wire, losses) = encode_for(&request, &Quirks::default(), &points).unwrap();
    assert_eq!(wire["messages"][1]["content"][0]["prompt_cache_breakpoint"], json!({"mode": "explicit"}));
    assert_eq!(whats(&losses), [("cache", "tools")]);
    let (wire, losses) = encode(&request);
    assert_eq!(wire["messages"][1]["content"], "Hi");
    assert!(losses.iter().all(|loss| loss.severity == crate::Severity::Info), "{losses:?}");
}

#[test]
fn labels_and_leftovers_of_others() {
    let mut request = Request::new("m").user("x");
    request.metadata = arguments(json!({"user_id": "u1", "team": "a", "n": 3}));
    for (name, value) in [("service_tier", "auto"), ("container", "c")] {
        request.provider_data.set_part(Dialect::Anthropic, crate::Part::Extra, name, value);
    }
    request.provider_data.set_part(Dialect::Anthropic, crate::Part::Shape, "model", "claude");
    let (wire, losses) = encode(&request);
    assert_eq!((&wire["user"], &wire["metadata"]), (&json!("u1"), &json!({"team": "a", "n": "3"})));
    assert_eq!(whats(&losses), [("provider_data", "provider_data"), ("metadata", "metadata.n")]);
}

#[test]
fn a_tool_of_another_dialect_is_a_loss() {
    let foreign =
        Tool::other(crate::Other { dialect: Dialect::Anthropic, data: json!({"type": "web_search_20250305"}).into() });
    let own = Tool::other(crate::Other {
        dialect: Dialect::OpenaiChat,
        data: json!({"type": "custom", "custom": {"name": "c"}}).into(),
    });
    let (wire, losses) = encode(&Request::new("m").user("x").tool(foreign).tool(own));
    assert_eq!(wire["tools"], json!([{"type": "custom", "custom": {"name": "c"}}]));
    assert_eq!(whats(&losses), [("tools", "tools[0]")]);
}

fn decoded(body: &Value) -> Request {
    decode_request(Sent { path: None, body: body.clone() }).unwrap()
}

#[test]
fn a_request_of_this_dialect_is_left_alone_until_it_goes_elsewhere() {
    let body = json!({
        "model": "gpt-5", "stream": true, "max_tokens": 5, "temperature": 0.5, "tool_choice": "any", "reasoning_effort": "xhigh",
        "tools": [{"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {"a": {}}}, "strict": true}}],
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be short", "cache_control": {"type": "ephemeral"}}]},
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "A", "reasoning_content": "hm"},
            {"role": "user", "content": "y"}],
    });
    let strictest = Rules { sampling: Sampling::Refused, strict_tools: false, ..effort_rule(ThinkingOff::Impossible) };
    let (same, losses) = encode_for(&decoded(&body), &Quirks::default(), &strictest).unwrap();
    assert_eq!((same, losses), (body.clone(), vec![]));

    let mut elsewhere = decoded(&body);
    elsewhere.model = "other".into();
    let (wire, losses) = encode_for(&elsewhere, &Quirks::default(), &strictest).unwrap();
    assert_eq!(
        wire,
        json!({
            "model": "other",
            "messages": [
                {"role": "system", "content": "Be short"},
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": "A"},
                {"role": "user", "content": "y"}],
            "max_completion_tokens": 5,
            "tools": [{"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {"a": {}}}}}],
            "tool_choice": "required",
            "reasoning_effort": "high",
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
    assert_eq!(
        losses.iter().map(|loss| loss.what.as_str()).collect::<Vec<_>>(),
        ["thinking", "strict", "thinking", "temperature", "cache"]
    );
}

#[test]
fn what_the_caller_changed_is_what_goes_out() {
    let body = json!({
        "model": "m", "temperature": 1, "stop": "a", "tool_choice": {"type": "tool", "name": "t"}, "user": "u",
        "reasoning": {"enabled": true}, "response_format": {"type": "json_object", "x": 1},
        "tools": [{"type": "function", "function": {"name": "t"}}],
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}],
    });
    let mut request = decoded(&body);
    assert_eq!(encode_for(&request, &Quirks::default(), &Rules::default()).unwrap().0, body);
    request.temperature = Some(0.5);
    request.stop.push("b".into());
    request.tool_choice = Some(ToolChoice::Auto);
    request.metadata.clear();
    request.thinking = None;
    request.output_format = Some(OutputFormat::Text);
    request.system.push(Block::text("t"));
    if let Some(Block::Text(text)) = request.messages[0].content.first_mut() {
        text.cache = None;
    }
    assert_eq!(
        encode_for(&request, &Quirks::default(), &Rules::default()).unwrap().0,
        json!({
            "model": "m", "temperature": 0.5, "stop": ["a", "b"], "tool_choice": "auto",
            "response_format": {"type": "text"},
            "tools": [{"type": "function", "function": {"name": "t"}}],
            "messages": [{"role": "system", "content": "s\n\nt"}, {"role": "user", "content": "x"}],
        })
    );
}

#[test]
fn a_budget_is_told_as_the_nearest_effort() {
    let mut request = Request::new("m").user("x");
    request.thinking = Some(Thinking::budget(60_000));
    let (wire, losses) = encode_for(&request, &Quirks::default(), &effort_rule(ThinkingOff::Word)).unwrap();
    assert_eq!((&wire["reasoning_effort"], whats(&losses)), (&json!("high"), vec![("thinking", "thinking.budget")]));
}

#[test]
fn fields_that_the_format_does_not_know_are_sent() {
    let request: Request = serde_json::from_value(json!({
        "model": "m", "messages": [{"role": "user", "content": "x"}],
        "provider_data": {"openai-chat": {"logit_bias": {"50256": -100}}},
    }))
    .unwrap();
    assert_eq!(body(&request)["logit_bias"], json!({"50256": -100}));
}

//! The fields of a request other than its messages.

use super::*;
use pretty_assertions::assert_eq;

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
            // The default adds nothing.
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
    // Newer models think by default.
    let silent = Request::new("m").user("x").tool(weather());
    let newer = Rules { tools_in_chat: ToolsInChat::NotWhileThinking, ..effort_rule(ThinkingOff::Word) };
    assert_eq!(encode_for(&silent, &Quirks::default(), &newer).unwrap().0["reasoning_effort"], "none");
    let always = Rules { tools_in_chat: ToolsInChat::NotWhileThinking, ..effort_rule(ThinkingOff::Impossible) };
    let error = encode_for(&request, &Quirks::default(), &always).unwrap_err();
    assert!(error.message.contains("Responses API"), "{error}");
    // A relay has its own way.
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
    for (name, value) in [("service_tier", "standard_only"), ("container", "c")] {
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

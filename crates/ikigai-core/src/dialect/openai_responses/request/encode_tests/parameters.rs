//! Everything that can be requested of an answer.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn parameters_that_this_api_does_not_have_are_losses() {
    let mut request = hello().stop("END");
    request.top_k = Some(5);
    request.seed = Some(7);
    request.frequency_penalty = Some(0.1);
    request.presence_penalty = Some(0.1);
    let wire = send(&request);
    let what: Vec<&str> = wire.losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["top_k", "frequency_penalty", "presence_penalty", "stop", "seed"]);
    assert!(what.iter().all(|key| wire.body.get(*key).is_none()));
}

#[test]
fn sampling_is_left_out_where_the_model_refuses_it() {
    let mut request = Request::new("gpt-5").user("x").temperature(0.2);
    request.top_p = Some(0.9);
    let wire = send(&request);
    assert_eq!((wire.body.get("temperature"), wire.losses.len()), (None, 2));
    request.model = "gpt-5.1".into();
    assert_eq!(send(&request).body["temperature"], 0.2, "it does not think unless asked");
    request.thinking = Some(Level::Low.into());
    assert_eq!(send(&request).losses.len(), 2);
    request.model = "gpt-4.1".into();
    request.thinking = None;
    assert_eq!(send(&request).body["top_p"], 0.9);
    let one = Rules { sampling: Sampling::OneOf, ..Rules::default() };
    let wire = send_with(&request, &one, &Quirks::default());
    assert_eq!((wire.body["temperature"].clone(), wire.body.get("top_p")), (json!(0.2), None));
}

#[test]
fn the_output_limit_is_raised_to_the_least_that_is_taken() {
    let wire = send(&hello().max_output_tokens(1));
    assert_eq!(wire.body["max_output_tokens"], 16);
    assert_eq!(
        losses(&wire),
        ["max_output_tokens at max_output_tokens: this API accepts limits of at least 16 tokens; that is sent for 1"]
    );
    assert_eq!(send(&hello().max_output_tokens(16)).losses, []);
}

#[test]
fn formats_are_flat() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let wire = send(&hello().json_schema("My answer!", schema.clone()));
    let mut closed = schema.clone();
    closed["additionalProperties"] = json!(false);
    assert_eq!(
        wire.body["text"],
        json!({"format": {"type": "json_schema", "name": "My_answer_", "schema": closed, "strict": true}})
    );
    assert_eq!(wire.losses[0].severity, Severity::Info);

    let mut request = hello().json_schema("n", json!({"type": "array"}));
    let wire = send(&request);
    assert_eq!(wire.body["text"]["format"]["strict"], false);
    assert_eq!(wire.losses.len(), 1);
    request.output_format = Some(OutputFormat::Json);
    assert_eq!(send(&request).body["text"], json!({"format": {"type": "json_object"}}));
    request.output_format = Some(OutputFormat::Text);
    assert_eq!(send(&request).body["text"], json!({"format": {"type": "text"}}));

    let plain = Rules { structured_output: false, ..Rules::default() };
    let wire = send_with(&hello().system("Be brief.").json_schema("n", schema.clone()), &plain, &Quirks::default());
    assert_eq!(wire.body["text"], json!({"format": {"type": "json_object"}}));
    let asked = format!("Be brief.\n\nAnswer with JSON that matches this JSON Schema, and nothing else:\n{schema}");
    assert_eq!(wire.body["instructions"], asked);
    assert_eq!(wire.losses.len(), 1);
}

#[test]
fn cache_hints_are_marks_where_the_model_takes_them() {
    let mut request = Request::new("gpt-5.6-sol").system(Block::text("long").cached()).user("a");
    for index in 0..5 {
        request = request.user(Block::text(index.to_string()).cached());
    }
    request.cache = Some(CacheOptions { key: Some("conversation-7".into()), automatic: None });
    let wire = send(&request);
    let marks: Vec<bool> = wire.body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["content"][0].get("prompt_cache_breakpoint").is_some())
        .collect();
    assert_eq!(marks, [true, false, false, false, true, true, true], "the system prompt and the last three");
    assert_eq!(wire.body["input"][0]["role"], "developer");
    assert_eq!(wire.body["prompt_cache_options"], json!({"mode": "explicit"}));
    assert_eq!(wire.body["prompt_cache_key"], "conversation-7");
    let places: Vec<&str> = wire.losses.iter().map(|loss| loss.place.as_str()).collect();
    assert_eq!(places, ["messages[1].content[0]", "messages[2].content[0]"]);

    request.model = "gpt-5.1".into();
    let wire = send(&request);
    assert_eq!(wire.body["instructions"], "long");
    assert_eq!(wire.body.get("prompt_cache_options"), None);
    assert!(!wire.body.to_string().contains("breakpoint"));
    assert!(wire.losses.iter().all(|loss| loss.severity == Severity::Info));
}

#[test]
fn long_ids_and_keys_are_shortened_the_same_way_every_time() {
    let long = "x".repeat(65);
    let mut request = hello()
        .assistant(Block::tool_call(&long, "f", Object::new()))
        .tool_result(&long, "r")
        .assistant(Block::tool_call("toolu_01", "f", Object::new()))
        .tool_result("toolu_01", "r");
    request.cache = Some(CacheOptions { key: Some("k".repeat(100)), automatic: None });
    let wire = send(&request);
    let id = wire.body["input"][1]["call_id"].as_str().unwrap();
    assert!(id.len() <= 64, "{id}");
    assert_eq!(
        (&wire.body["input"][2]["call_id"], &wire.body["input"][3]["call_id"]),
        (&json!(id), &json!("toolu_01"))
    );
    assert_eq!(wire.body["prompt_cache_key"].as_str().map(str::len), Some(64));
    assert_eq!(send(&request), wire);
    let what: Vec<(&str, &str)> = wire.losses.iter().map(|loss| (loss.what.as_str(), loss.place.as_str())).collect();
    assert_eq!(what, [("tool_call", "messages"), ("cache", "cache.key")]);
}

#[test]
fn efforts_by_model() {
    use Level::{High, Low, Max, Med, Minimal, None, Xhigh};
    let effort = |model: &str, level: Level| {
        let wire = send(&Request::new(model).user("x").thinking(level));
        (wire.body["reasoning"]["effort"].as_str().map(str::to_owned), wire.losses.len())
    };
    for (model, level, word, losses) in [
        ("gpt-5.1", None, Some("none"), 0),
        ("gpt-5.1", Med, Some("medium"), 0),
        ("gpt-5.1", Minimal, Some("low"), 1),
        ("gpt-5", None, Some("minimal"), 1),
        ("gpt-5", Minimal, Some("minimal"), 0),
        ("o3-mini", None, Some("medium"), 1),
        ("o1", None, Some("medium"), 1),
        ("o3", None, Some("low"), 1),
        ("gpt-5-pro", Low, Some("high"), 1),
        ("gpt-5.2", Xhigh, Some("xhigh"), 0),
        ("gpt-5.2", Max, Some("xhigh"), 1),
        ("gpt-5.6-sol", Max, Some("max"), 0),
        ("gpt-4.1", None, Option::None, 0),
        ("gpt-4.1", High, Option::None, 1),
    ] {
        assert_eq!(effort(model, level), (word.map(str::to_owned), losses), "{model} {level}");
    }
    // Off needs no summary, and a hidden one is not requested.
    let body = send(&hello().thinking(Level::None)).body;
    assert_eq!(body["reasoning"], json!({"effort": "none"}));
    let body = send(&hello().thinking(Thinking::from(Level::High).hidden())).body;
    assert_eq!(body["reasoning"], json!({"effort": "high"}));
}

#[test]
fn fields_of_other_dialects_are_losses_and_their_marks_are_not() {
    let mut request = hello();
    request.provider_data.set_part(Dialect::Anthropic, Part::Shape, "model", "claude-x");
    request.provider_data.set_part(Dialect::Anthropic, Part::Shape, "system", "string");
    let extra = fields(json!({"container": "c", "mcp_servers": null}));
    request.provider_data.extend_part(Dialect::Anthropic, Part::Extra, extra);
    request.messages[0].provider_data.set_part(Dialect::OpenaiChat, Part::Extra, "name", "bob");
    let wire = send(&request);
    assert_eq!(
        losses(&wire),
        [
            "provider_data at messages[0]: only openai-chat knows name; left out",
            "provider_data at provider_data: only anthropic knows container; left out",
        ]
    );
}

#[test]
fn labels_are_texts() {
    let mut request = hello();
    request.metadata.insert("user_id".into(), json!("u"));
    request.metadata.insert("turn".into(), json!(3));
    let wire = send(&request);
    assert_eq!(wire.body["metadata"], json!({"user_id": "u", "turn": "3"}));
    assert_eq!(wire.losses.len(), 1);
}

#[test]
fn a_limit_of_minus_one_is_the_providers_default_and_a_model_is_needed() {
    assert_eq!(send(&hello().max_output_tokens(-1)).body.get("max_output_tokens"), None);
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "openai", quirks: &quirks, rules: &rules, facts: None };
    for model in ["", "  "] {
        let request = Request::new(model).user("x");
        let error = Dialect::OpenaiResponses.encode_request(&request, &target, &Limits::default()).unwrap_err();
        assert_eq!((error.kind, error.param.as_deref()), (crate::ErrorKind::InvalidRequest, Some("model")));
    }
}

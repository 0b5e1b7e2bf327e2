//! Tools and tool choice.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn tools_are_flat_and_strict_only_where_the_schema_allows() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut with_extras = Tool::new("g", "d").lenient();
    if let Tool::Function(function) = &mut with_extras {
        let extra = fields(json!({"input_examples": [1], "none": null}));
        function.provider_data.extend_part(Dialect::Anthropic, Part::Extra, extra);
        function.cache = Some(CacheHint::default());
    }
    let hosted = Tool::other(Other { dialect: DIALECT, data: json!({"type": "web_search"}).into() });
    let foreign = Tool::other(Other { dialect: Dialect::Anthropic, data: json!({"type": "bash_20250124"}).into() });
    let request =
        hello().tool(Tool::new("f", "d").parameters(open.clone())).tool(with_extras).tool(hosted).tool(foreign);
    let wire = send(&request);
    assert_eq!(
        wire.body["tools"],
        json!([
            {"type": "function", "name": "f", "description": "d", "parameters": open, "strict": false},
            {"type": "function", "name": "g", "description": "d", "strict": false,
             "parameters": {"type": "object", "properties": {}}},
            {"type": "web_search"},
        ])
    );
    let what: Vec<(&str, &str)> = wire.losses.iter().map(|loss| (loss.what.as_str(), loss.place.as_str())).collect();
    assert_eq!(
        what,
        [("strict", "tools[0].strict"), ("provider_data", "tools[1]"), ("tools", "tools[3]"), ("cache", "tools"),]
    );
    let no_strict = Rules { strict_tools: false, ..Rules::default() };
    let wire = send_with(&hello().tool(Tool::new("f", "d")), &no_strict, &Quirks::default());
    assert_eq!((&wire.body["tools"][0]["strict"], wire.losses.len()), (&json!(false), 1));
}

#[test]
fn choices_are_written_flat_and_only_beside_tools() {
    let with = |choice: ToolChoice| hello().tool(Tool::new("f", "d")).tool_choice(choice);
    for (choice, wire) in [
        (ToolChoice::Auto, json!("auto")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (ToolChoice::Specific("f".into()), json!({"type": "function", "name": "f"})),
    ] {
        assert_eq!(send(&with(choice)).body["tool_choice"], wire);
    }
    let mut alone = hello().tool_choice(ToolChoice::Required);
    alone.parallel_tool_calls = Some(false);
    let wire = send(&alone);
    assert_eq!((wire.body.get("tool_choice"), wire.body.get("parallel_tool_calls")), (None, None));
    let severities: Vec<Severity> = wire.losses.iter().map(|loss| loss.severity).collect();
    assert_eq!(severities, [Severity::Loss, Severity::Info]);

    let refused = Rules { forced_tools: ForcedTools::Refused, parallel_tool_calls: false, ..Rules::default() };
    let mut request = with(ToolChoice::Required);
    request.parallel_tool_calls = Some(false);
    let wire = send_with(&request, &refused, &Quirks::default());
    assert_eq!((&wire.body["tool_choice"], wire.losses.len()), (&json!("auto"), 2));

    let clash = Rules { forced_tools: ForcedTools::NotWhileThinking, ..rules_for("gpt-5.1").clone() };
    let wire = send_with(&with(ToolChoice::Required).thinking(Level::High), &clash, &Quirks::default());
    assert_eq!((&wire.body["tool_choice"], &wire.body["reasoning"]), (&json!("required"), &json!({"effort": "none"})));
    assert_eq!(
        losses(&wire),
        [
            "thinking at thinking: this model cannot be forced to use a tool while it thinks; thinking is off for this request"
        ]
    );
}

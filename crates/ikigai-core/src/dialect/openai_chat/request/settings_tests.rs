//! The settings of a request, and requests of any form.

use super::*;
use pretty_assertions::assert_eq;

#[test]
fn every_way_to_ask_for_thinking() {
    let thinking = |fields: Value| {
        let mut body = json!({"model": "m", "messages": []});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        both_ways(body).thinking
    };
    let level = |level| Some(Thinking::from(level));
    let silent = || Some(Thinking { level: None, budget: None, include_summary: true });
    assert_eq!(thinking(json!({"reasoning_effort": "none"})), level(Level::None));
    assert_eq!(thinking(json!({"reasoning_effort": "medium"})), level(Level::Med));
    assert_eq!(thinking(json!({"reasoning_effort": "xhigh"})), level(Level::Xhigh));
    assert_eq!(thinking(json!({"reasoning_effort": "default"})), None);
    assert_eq!(
        thinking(json!({"reasoning": {"effort": "low", "exclude": true}})),
        Some(Thinking::from(Level::Low).hidden())
    );
    assert_eq!(thinking(json!({"reasoning": {"max_tokens": 2000}})), Some(Thinking::budget(2000)));
    assert_eq!(thinking(json!({"reasoning": {"enabled": false}})), level(Level::None));
    assert_eq!(thinking(json!({"reasoning": {"enabled": true}})), silent());
    assert_eq!(thinking(json!({"thinking": {"type": "disabled"}})), level(Level::None));
    assert_eq!(thinking(json!({"thinking": {"type": "enabled"}, "reasoning_effort": "max"})), level(Level::Max));
    assert_eq!(thinking(json!({"thinking": {"clear_thinking": false}})), None);
    assert_eq!(thinking(json!({"enable_thinking": false})), level(Level::None));
    assert_eq!(thinking(json!({"chat_template_kwargs": {"enable_thinking": true, "x": 1}})), silent());
    assert_eq!(thinking(json!({"chat_template_kwargs": {"thinking": false}})), level(Level::None));
}

#[test]
fn every_tool_choice_and_every_tool() {
    let choice = |raw: Value| {
        both_ways(json!({"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "t"}}], "tool_choice": raw}))
            .tool_choice
    };
    let specific = || Some(ToolChoice::Specific("t".into()));
    assert_eq!(choice(json!("auto")), Some(ToolChoice::Auto));
    assert_eq!(choice(json!("none")), Some(ToolChoice::None));
    assert_eq!(choice(json!("required")), Some(ToolChoice::Required));
    assert_eq!(choice(json!("any")), Some(ToolChoice::Required));
    assert_eq!(choice(json!({"type": "function", "function": {"name": "t"}})), specific());
    assert_eq!(choice(json!({"function": {"name": "t"}})), specific());
    assert_eq!(choice(json!({"type": "tool", "name": "t"})), specific());
    assert_eq!(
        choice(json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}})),
        Some(ToolChoice::Required)
    );
    assert_eq!(choice(json!(null)), None);
    assert_eq!(choice(json!("sometimes")), None);

    let request = both_ways(json!({"model": "m", "messages": [], "tools": [
        {"type": "function", "function": {"name": "a", "strict": true, "parameters": {"type": "object"}}, "cache_control": {"type": "ephemeral"}},
        {"function": {"name": "b", "parameters": null, "description": null, "strict": null}},
        {"type": "custom", "custom": {"name": "c"}},
        {"type": "function", "function": {}},
        "odd",
    ]}));
    let kinds: Vec<(Option<&str>, Option<bool>)> =
        request.tools.iter().map(|tool| (tool.name(), tool.as_function().map(|function| function.strict))).collect();
    assert_eq!(kinds, [(Some("a"), Some(true)), (Some("b"), Some(false)), (None, None), (None, None), (None, None)]);
    assert!(matches!(&request.tools[0], Tool::Function(function) if function.cache.is_some()));
    both_ways(json!({"model": "m", "messages": [], "tools": [], "functions": []}));
}

#[test]
fn odd_values_stay_for_the_provider_to_refuse() {
    let request = both_ways(json!({
        "model": "m", "messages": [], "temperature": "hot", "max_tokens": null, "max_completion_tokens": 0, "stop": null,
        "seed": 1.5, "stream": "yes", "response_format": {"type": "grammar"}, "metadata": [], "top_k": 0.5, "n": 1,
        "parallel_tool_calls": null, "reasoning_effort": null, "user": 5,
    }));
    assert_eq!(
        request,
        Request { model: "m".into(), provider_data: request.provider_data.clone(), ..Request::default() }
    );
    // The newer name of the limit wins, and the older one is not lost.
    let both = both_ways(json!({"model": "m", "messages": [], "max_tokens": 5, "max_completion_tokens": 7}));
    assert_eq!(both.max_output_tokens, Some(7));
}

#[test]
fn the_form_of_the_answer_is_read() {
    let format = |raw: Value| both_ways(json!({"model": "m", "messages": [], "response_format": raw})).output_format;
    assert_eq!(format(json!({"type": "text"})), Some(crate::OutputFormat::Text));
    assert_eq!(format(json!({"type": "json_object", "schema": {}})), Some(crate::OutputFormat::Json));
    let schema = format(
        json!({"type": "json_schema", "x": 1, "json_schema": {"name": "n", "schema": {"b": 1, "a": 2}, "strict": null, "y": 2}}),
    );
    let Some(crate::OutputFormat::JsonSchema(schema)) = schema else { panic!() };
    assert_eq!(
        (schema.name.as_deref(), schema.strict, schema.schema.to_string().as_str()),
        (Some("n"), None, r#"{"b":1,"a":2}"#)
    );
    assert_eq!(format(json!({"type": "json_schema", "json_schema": {"name": "n"}})), None);
}

#[test]
fn a_request_without_marks_of_ours_has_only_the_models_name() {
    let request = messages(json!([{"role": "system", "content": "s"}, {"role": "user", "content": "x"}]));
    assert_eq!(
        serde_json::to_value(&request.provider_data).unwrap(),
        json!({Dialect::OpenaiChat.as_str(): {"shape": {"model": "m"}}})
    );
}

/// Digits, order and duplicates of uninterpreted JSON come back as written.
#[test]
fn numbers_and_duplicates_keep_their_spelling() {
    let numbers = r#"{"e":1e2,"big":123456789012345678901234567890,"long":0.1000000000000000055511151231257827,"far":1e400,"near":1e-400,"twice":1,"twice":2}"#;
    let arguments = format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"t","arguments":{numbers}}}}}]}}"#
    );
    let text = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"text","text":"x","own":{numbers}}}],"own":{numbers}}},{arguments}],"tools":[{{"type":"function","function":{{"name":"t","parameters":{numbers}}}}}],"own":{numbers},"temperature":1e0,"again":1,"again":2}}"#
    );
    let request = super::super::decode_request(
        crate::dialect::Incoming { path: None, body: text.as_bytes() },
        &crate::Limits::default(),
    )
    .unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "here", quirks: &quirks, rules: &rules, facts: None };
    let limits = crate::Limits::default();
    let wire = Dialect::OpenaiChat.encode_request(&request, &target, &limits).unwrap();
    let wire = String::from_utf8(wire.body).unwrap();
    assert_eq!(wire.matches(numbers).count(), 5, "{wire}");
    assert!(wire.contains(r#""temperature":1e0"#) && wire.contains(r#""again":1,"again":2"#), "{wire}");
}

#[test]
fn many_results_take_time_by_their_number() {
    let many = 20_000;
    let calls: Vec<Value> = (0..many)
        .map(|at| json!({"id": format!("c{at}"), "type": "function", "function": {"name": "t", "arguments": "{}"}}))
        .collect();
    let mut all = vec![json!({"role": "assistant", "content": null, "tool_calls": calls})];
    // Every other one does not name its call.
    all.extend((0..many).map(|at| match at % 2 {
        0 => json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": "1"}),
        _ => json!({"role": "tool", "content": "1"}),
    }));
    let request = decode(json!({"model": "m", "messages": all}));
    let answered: std::collections::HashSet<&str> =
        request.messages[1].content.iter().map(|block| block.as_tool_result().unwrap().tool_call_id.as_str()).collect();
    assert_eq!(answered.len(), many);
}

mod any_request {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::openai_chat::testing::{config, object, value};

    fn message() -> impl Strategy<Value = Value> {
        let role = prop::sample::select(vec!["system", "developer", "user", "assistant", "tool", "function"]);
        (role, object()).prop_map(|(role, mut fields)| {
            fields["role"] = role.into();
            fields
        })
    }

    proptest! {
        #![proptest_config(config())]

        /// Whatever can be read is written back unchanged, and the canonical form can hold it.
        #[test]
        fn returns_as_it_came(mut body in object(), messages in prop::collection::vec(message(), 0..5)) {
            body["model"] = "m".into();
            body["messages"] = messages.into();
            let request = both_ways(body);
            let stored: Request = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
            prop_assert_eq!(stored, request);
        }

        /// Fitted to another model it may lose much, but nothing breaks.
        #[test]
        fn is_survived_elsewhere(mut body in object(), messages in prop::collection::vec(message(), 0..5)) {
            body["model"] = "m".into();
            body["messages"] = messages.into();
            let mut request = decode(body);
            request.model = "other".into();
            let (quirks, rules) = (Quirks { chat: crate::provider::ChatQuirks { tool_ids_of_nine: true, ..Default::default() }, ..Quirks::default() }, Rules::default());
            let target = Target { provider: "here", quirks: &quirks, rules: &rules, facts: None };
            let _ = encode_request(&request, &target);
        }

        #[test]
        fn or_is_refused(body in value()) {
            let _ = decode_request(Sent { path: None, body });
        }
    }
}

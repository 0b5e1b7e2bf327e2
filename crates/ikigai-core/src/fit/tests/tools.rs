//! Tools, the tool choice, and the output format.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::provider::RequiredChoice;
use crate::{JsonSchemaFormat, Level, OutputFormat};

fn offering(model: &str, tools: Vec<Tool>) -> Request {
    Request { tools, ..Request::new(model).user("Hello") }
}

fn tool(schema: Value) -> Tool {
    Tool::new("f", "").parameters(schema)
}

/// Returns each function as it is sent: `name strict schema`.
fn functions(fitted: &Fitted<'_>) -> Vec<String> {
    let sent = fitted.tools.iter().map(|tool| match tool {
        FittedTool::Function { name, parameters, strict, .. } => format!("{name} {strict:?} {}", parameters.text()),
        FittedTool::Own(other) => format!("own {}", other.data.text()),
    });
    sent.collect()
}

fn open() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
}

const CLOSED: &str =
    r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;

#[test]
fn a_strict_tool_is_closed_in_every_dialect_that_has_strict_tools() {
    let request = offering("some-model", vec![tool(open())]);
    for dialect in Dialect::ALL {
        let sent = with(&request, dialect, &Quirks::NONE, |fitted| (functions(fitted), all(fitted)));
        let expected = match dialect.abilities().strict_tools {
            StrictTools::Missing => {
                (format!("f None {}", open()), vec!["info NotInDialect tools[0].strict".to_owned()])
            }
            StrictTools::Flag { .. } => (format!("f Some(true) {CLOSED}"), vec![]),
        };
        assert_eq!(sent, (vec![expected.0], expected.1), "{dialect}");
    }
}

#[test]
fn a_schema_that_cannot_be_strict_goes_without() {
    let optional = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let bounded = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]});
    let sent = |schema: &Value, model: &str, dialect| {
        let request = offering(model, vec![tool(schema.clone())]);
        with(&request, dialect, &Quirks::NONE, |fitted| match &fitted.tools[..] {
            [FittedTool::Function { strict, parameters, .. }] => (*strict, parameters.value() == schema, all(fitted)),
            _ => panic!("one tool"),
        })
    };
    let lost = || vec!["Changed tools[0].strict".to_owned()];
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        assert_eq!(sent(&optional, "some-model", dialect), (Some(false), true, lost()));
        assert_eq!(sent(&bounded, "some-model", dialect), (Some(true), false, vec![]));
    }
    assert_eq!(sent(&optional, "some-model", Dialect::Anthropic), (Some(true), false, vec![]), "closed");
    assert_eq!(sent(&bounded, "some-model", Dialect::Anthropic), (Some(false), true, lost()));
    // A model that does not support strict tools; the server of one dialect would apply them anyway.
    let refused = || vec!["info RefusedByModel tools[0].strict".to_owned()];
    assert_eq!(sent(&open(), "claude-sonnet-4-0", Dialect::Anthropic), (None, true, refused()));
    assert_eq!(sent(&open(), "claude-sonnet-4-0", Dialect::OpenaiChat), (None, true, refused()));
    assert_eq!(sent(&open(), "claude-sonnet-4-0", Dialect::OpenaiResponses), (Some(false), true, refused()));
}

#[test]
fn a_schema_that_is_not_an_object_is_told_in_every_dialect() {
    let none = r#"{"type":"object","properties":{}}"#;
    for schema in [json!(true), json!([]), json!({"type": "string"})] {
        let request = offering("some-model", vec![tool(schema).lenient()]);
        for dialect in Dialect::ALL {
            with(&request, dialect, &Quirks::NONE, |fitted| {
                assert!(functions(fitted)[0].ends_with(none), "{dialect}");
                assert_eq!(all(fitted), ["Changed tools[0].parameters"], "{dialect}");
            });
        }
    }
    let request = offering("some-model", vec![tool(json!({"properties": {"a": {"type": "string"}}})).lenient()]);
    for dialect in Dialect::ALL {
        with(&request, dialect, &Quirks::NONE, |fitted| {
            assert!(functions(fitted)[0].ends_with(r#" {"type":"object","properties":{"a":{"type":"string"}}}"#));
            assert_eq!(all(fitted), ["info Changed tools[0].parameters"], "{dialect}");
        });
    }
}

#[test]
fn a_provider_may_refuse_closed_schemas() {
    let closed: Value = serde_json::from_str(CLOSED).unwrap();
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { no_closed_schemas: true, no_strict_tools: true, ..Default::default() },
        ..Quirks::NONE
    };
    with(&offering("some-model", vec![tool(closed)]), Dialect::OpenaiChat, &quirks, |fitted| {
        assert_eq!(functions(fitted), [format!("f None {}", open())]);
        assert_eq!(
            all(fitted),
            ["info RefusedByProvider tools[0].strict", "info RefusedByProvider tools[0].parameters"]
        );
    });
}

#[test]
fn names_are_respelled_in_tools_choice_and_history_and_lead_back() {
    let mut request =
        offering("some-model", vec![Tool::new("fs.read", "").lenient(), Tool::new("1tool", "").lenient()]);
    request.tool_choice = Some(ToolChoice::Specific("fs.read".into()));
    let call = crate::ToolCall { id: "c1".into(), name: "fs.read".into(), ..Default::default() };
    let result = crate::ToolResult { tool_call_id: "c1".into(), ..Default::default() };
    request.messages.push(Message::assistant(Block::ToolCall(call)));
    request.messages.push(Message::new(Role::Tool, Block::ToolResult(result)));
    let sent = |dialect| {
        with(&request, dialect, &Quirks::NONE, |fitted| {
            let called = fitted.messages[1].content[0].block.as_tool_call().unwrap().name.clone();
            let names: Vec<String> =
                functions(fitted).iter().map(|f| f.split(' ').next().unwrap().to_owned()).collect();
            (names, fitted.tool_choice.clone(), called, fitted.names.own("fs_read").to_owned(), all(fitted))
        })
    };
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let (names, choice, called, own, losses) = sent(dialect);
        assert_eq!(names, ["fs_read", "1tool"]);
        assert_eq!(choice, Some(ToolChoice::Specific("fs_read".into())));
        assert_eq!((called.as_str(), own.as_str()), ("fs_read", "fs.read"));
        assert_eq!(losses, ["info Renamed tools[0].name"]);
    }
    let (names, _, called, _, losses) = sent(Dialect::Gemini);
    assert_eq!((names, called.as_str()), (vec!["fs.read".to_owned(), "_1tool".to_owned()], "fs.read"));
    assert_eq!(losses, ["info Renamed tools[1].name"]);
}

#[test]
fn other_dialects_tools_stay_behind_and_with_them_the_choice() {
    let own = json!({"type": "web_search_20250305", "name": "web_search"});
    let mut request =
        offering("some-model", vec![Tool::other(Other { dialect: Dialect::Anthropic, data: own.into() })]);
    request.tool_choice = Some(ToolChoice::Specific("web_search".into()));
    request.parallel_tool_calls = Some(false);
    for dialect in Dialect::ALL {
        with(&request, dialect, &Quirks::NONE, |fitted| match dialect {
            Dialect::Anthropic => {
                assert_eq!((fitted.tools.len(), &fitted.tool_choice), (1, &request.tool_choice));
                assert_eq!((fitted.parallel_tool_calls, all(fitted)), (Some(false), vec![]));
            }
            _ => {
                assert_eq!((fitted.tools.len(), &fitted.tool_choice), (0, &None));
                let lost = ["ForeignContent tools[0]", "Conflict tool_choice", "info Conflict parallel_tool_calls"];
                assert_eq!(all(fitted), lost, "{dialect}");
            }
        });
    }
}

#[test]
fn a_forced_tool_beats_thinking_unless_the_model_always_thinks() {
    let mut request = offering("claude-sonnet-4-5", vec![Tool::new("f", "").lenient()]);
    request.tool_choice = Some(ToolChoice::Required);
    request.max_output_tokens = Some(100);
    let sent = |request: &Request, dialect| {
        with(request, dialect, &Quirks::NONE, |fitted| {
            (fitted.tool_choice.clone(), fitted.thinking.thinks, fitted.max_output_tokens, all(fitted))
        })
    };
    for dialect in Dialect::ALL {
        let thinking = Request { thinking: Some(Level::Med.into()), ..request.clone() };
        let expected = (Some(ToolChoice::Required), false, Some(100), vec!["Conflict thinking".to_owned()]);
        assert_eq!(sent(&thinking, dialect), expected, "{dialect}");
        let always = Request { model: "claude-opus-5-5".into(), ..request.clone() };
        let (choice, thinks, _, lost) = sent(&always, dialect);
        assert_eq!((choice, thinks), (Some(ToolChoice::Auto), true), "{dialect}");
        assert_eq!(lost, ["RefusedByModel tool_choice"], "{dialect}");
        // Thinking was not requested, so it is not a loss.
        let unasked = Request { model: "deepseek-v4".into(), ..request.clone() };
        let (choice, thinks, _, lost) = sent(&unasked, dialect);
        assert_eq!((choice, thinks), (Some(ToolChoice::Required), false), "{dialect}");
        assert_eq!(lost, ["info Conflict thinking"], "{dialect}");
    }
}

#[test]
fn providers_have_their_own_ways_to_force_a_tool() {
    let mut request = offering("some-model", vec![Tool::new("f", "").lenient(), Tool::new("g", "").lenient()]);
    let sent = |request: &Request, quirks: &Quirks| {
        with(request, Dialect::OpenaiChat, quirks, |fitted| {
            (fitted.tools.len(), fitted.tool_choice.clone(), all(fitted))
        })
    };
    let no_name =
        Quirks { chat: crate::provider::ChatQuirks { no_specific_tool: true, ..Default::default() }, ..Quirks::NONE };
    request.tool_choice = Some(ToolChoice::Specific("g".into()));
    let lost = || vec!["RefusedByProvider tool_choice".to_owned()];
    assert_eq!(sent(&request, &no_name), (1, Some(ToolChoice::Required), lost()));
    let no_word = Quirks {
        chat: crate::provider::ChatQuirks { tool_choice_required: RequiredChoice::Refused, ..Default::default() },
        ..Quirks::NONE
    };
    assert_eq!(sent(&request, &no_word), (2, request.tool_choice.clone(), vec![]));
    request.tool_choice = Some(ToolChoice::Required);
    assert_eq!(sent(&request, &no_word), (2, Some(ToolChoice::Auto), lost()));
    request.tool_choice = Some(ToolChoice::None);
    let withheld =
        Quirks { chat: crate::provider::ChatQuirks { no_tools_on_none: true, ..Default::default() }, ..Quirks::NONE };
    assert_eq!(sent(&request, &withheld), (0, None, vec!["info RefusedByProvider tools".to_owned()]));
}

#[test]
fn tools_in_chat_cost_the_effort_or_are_an_error() {
    let request =
        Request { thinking: Some(Level::Low.into()), ..offering("gpt-5.4", vec![Tool::new("f", "").lenient()]) };
    with(&request, Dialect::OpenaiChat, &Quirks::NONE, |fitted| {
        assert_eq!(
            (fitted.thinking.setting, all(fitted)),
            (ThinkingSetting::Off, vec!["Conflict thinking".to_owned()])
        );
    });
    with(&request, Dialect::OpenaiResponses, &Quirks::NONE, |fitted| {
        assert_eq!((fitted.thinking.setting, all(fitted)), (ThinkingSetting::Level(Level::Low), vec![]));
    });
    let always = Request { model: "gpt-6.1-sol".into(), ..request };
    let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for("gpt-6.1-sol"), facts: None };
    let error = fit(&always, &target, Dialect::OpenaiChat, &LIMITS).expect_err("it always thinks");
    assert_eq!(error.param.as_deref(), Some("tools"));
}

#[test]
fn what_has_no_field_is_asked_for_in_the_system_prompt() {
    let schema = JsonSchemaFormat::new("place", open());
    let asking = |model: &str, format| Request { output_format: Some(format), ..Request::new(model).user("Hello") };
    let sent = |request: &Request, dialect, quirks: &Quirks| {
        with(request, dialect, quirks, |fitted| {
            let format = match &fitted.output_format {
                None => "none",
                Some(FittedFormat::Text) => "text",
                Some(FittedFormat::Json) => "json",
                Some(FittedFormat::Schema { .. }) => "schema",
            };
            let note = fitted.system.first().and_then(|block| block.block.as_text()).unwrap_or_default();
            (format, note.lines().next().unwrap_or_default().to_owned(), all(fitted))
        })
    };
    let json = asking("some-model", OutputFormat::Json);
    let words = "Answer with one valid JSON value and nothing else.";
    let none = Quirks::NONE;
    assert_eq!(
        sent(&json, Dialect::Anthropic, &none),
        ("none", words.into(), vec!["NotInDialect output_format".into()])
    );
    assert_eq!(sent(&json, Dialect::Gemini, &none), ("json", String::new(), vec![]));
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let expected = ("json", "Answer in JSON.".to_owned(), vec!["info Changed output_format".to_owned()]);
        assert_eq!(sent(&json, dialect, &none), expected);
    }
    let ask = "Answer with JSON that matches this JSON Schema, and nothing else:";
    let old = asking("claude-3-5-haiku", OutputFormat::JsonSchema(schema.clone()));
    for dialect in Dialect::ALL {
        let form = if dialect.abilities().json_mode == JsonMode::Missing { "none" } else { "json" };
        let expected = (form, ask.to_owned(), vec!["RefusedByModel output_format".to_owned()]);
        assert_eq!(sent(&old, dialect, &none), expected, "{dialect}");
    }
    let mut beside = asking("gemini-2.5-pro", OutputFormat::JsonSchema(schema));
    beside.tools = vec![Tool::new("f", "").lenient()];
    for dialect in Dialect::ALL {
        let expected = ("none", ask.to_owned(), vec!["RefusedByModel output_format".to_owned()]);
        assert_eq!(sent(&beside, dialect, &none), expected, "{dialect}");
    }
}

#[test]
fn a_schema_is_named_closed_and_trimmed_as_the_dialect_needs() {
    let mut format = JsonSchemaFormat::new(
        "my place!",
        json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}),
    );
    format.description = Some("A place.".into());
    let request =
        Request { output_format: Some(OutputFormat::JsonSchema(format)), ..Request::new("some-model").user("Hello") };
    let sent = |dialect| {
        with(&request, dialect, &Quirks::NONE, |fitted| match &fitted.output_format {
            Some(FittedFormat::Schema { name, description, schema, strict, .. }) => {
                let said = (name.as_deref().map(str::to_owned), description.map(str::to_owned), *strict);
                (said, schema.text().to_owned(), all(fitted))
            }
            other => panic!("{other:?}"),
        })
    };
    let closed = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}"#;
    let place = "output_format.json_schema";
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let said = (Some("my_place_".to_owned()), Some("A place.".to_owned()), Some(true));
        assert_eq!(sent(dialect), (said, closed.to_owned(), vec![format!("info Renamed {place}.name")]));
    }
    let (said, schema, losses) = sent(Dialect::Anthropic);
    assert_eq!((said, schema), ((None, None, None), closed.replace(",\"minimum\":1", "")));
    let unnamed = [format!("info NotInDialect {place}.name"), format!("NotInDialect {place}.description")];
    assert_eq!(losses, [&[format!("Changed {place}.schema")], &unnamed[..]].concat());
    let (said, schema, losses) = sent(Dialect::Gemini);
    assert_eq!((said, schema.contains("additionalProperties"), losses), ((None, None, None), false, unnamed.to_vec()));
}

//! The same request to the same model has the same losses in every dialect that can express it.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Level, OutputFormat, Thinking};

const MODELS: [&str; 14] = [
    "some-model",
    "gpt-4o",
    "o1-mini",
    "o3",
    "gpt-5.1",
    "gpt-5.4",
    "claude-3-5-haiku",
    "claude-sonnet-4-5",
    "claude-opus-4-8",
    "claude-opus-5-5",
    "gemini-2.5-pro",
    "gemini-3-pro",
    "deepseek-v4",
    "grok-4",
];

fn number() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![Just(None), Just(Some(0.0)), Just(Some(0.5)), Just(Some(0.97)), Just(Some(1.0))]
}

fn parameters() -> impl Strategy<Value = Request> {
    let numbers = (number(), number(), number(), number(), proptest::option::of(1..100_i64));
    let thinking = proptest::option::of(prop_oneof![
        proptest::sample::select(&Level::ALL[..]).prop_map(Thinking::from),
        (1_i64..100_000).prop_map(Thinking::budget),
    ]);
    let rest = (
        proptest::sample::select(&MODELS[..]),
        thinking,
        proptest::option::of(prop_oneof![Just(-1_i64), Just(0), 1..70_000_i64, Just(i64::MAX)]),
        proptest::collection::vec("[ a-z]{0,3}", 0..7),
        proptest::option::of(any::<i64>()),
    );
    (numbers, rest).prop_map(|(numbers, rest)| {
        let mut request = Request::new(rest.0).user("Hello");
        (request.temperature, request.top_p) = (numbers.0, numbers.1);
        (request.frequency_penalty, request.presence_penalty, request.top_k) = (numbers.2, numbers.3, numbers.4);
        (request.thinking, request.max_output_tokens) = (rest.1, rest.2);
        (request.stop, request.seed) = (rest.3, rest.4);
        request
    })
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    let schema = proptest::sample::select(vec![
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        json!({"properties": {}}),
        json!(true),
        json!({"type": "string"}),
    ]);
    let tool = ("[a-z.:1]{1,4}", schema, any::<bool>()).prop_map(|(name, schema, strict)| {
        let tool = Tool::new(name, "").parameters(schema);
        if strict { tool } else { tool.lenient() }
    });
    proptest::collection::vec(tool, 0..4)
}

fn requests() -> impl Strategy<Value = Request> {
    let choice = proptest::option::of(prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        "[a-z.:1]{1,2}".prop_map(ToolChoice::Specific),
    ]);
    let format = proptest::option::of(proptest::sample::select(vec![
        OutputFormat::Text,
        OutputFormat::Json,
        OutputFormat::JsonSchema(JsonSchemaFormat::new("n", json!({"type": "object", "properties": {}}))),
    ]));
    let said = proptest::collection::vec((0..4_u8, "[a-z ]{0,4}"), 0..6);
    (parameters(), tools(), choice, proptest::option::of(any::<bool>()), format, said).prop_map(
        |(mut request, tools, choice, parallel, format, said)| {
            (request.tools, request.tool_choice, request.parallel_tool_calls) = (tools, choice, parallel);
            request.output_format = format;
            for (who, text) in said {
                request.messages.push(match who {
                    0 => Message::system(text),
                    1 => Message::assistant(text),
                    2 => {
                        let mut message = Message::assistant([Block::thinking(text), Block::text("So.")]);
                        message.provider = Some("another".into());
                        message
                    }
                    _ => Message::user(text),
                });
            }
            request
        },
    )
}

/// The cost of a model or a conflict is the same in every dialect, unless the dialect cannot express the thing at all.
fn is_about_the_model(loss: &Loss) -> bool {
    let by_model = matches!(
        loss.code,
        LossCode::RefusedByModel | LossCode::Discouraged | LossCode::ForeignState | LossCode::ForeignContent
    );
    // Each dialect expresses in its own way how much a model should think.
    by_model && !(loss.place.starts_with("thinking") || loss.what == "max_output_tokens")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_same_request_costs_the_same_everywhere(request in requests()) {
        let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for(&request.model), facts: None };
        let fitted: Vec<(Dialect, Fitted<'_>)> = Dialect::ALL
            .into_iter()
            .filter_map(|dialect| Some((dialect, fit(&request, &target, dialect, &LIMITS).ok()?)))
            .collect();
        for (dialect, one) in &fitted {
            for loss in one.losses.iter().filter(|loss| is_about_the_model(loss)) {
                for (other, two) in &fitted {
                    let same = two.losses.contains(loss);
                    let cannot = two.losses.iter().any(|cannot| {
                        cannot.place == loss.place && cannot.code == LossCode::NotInDialect
                    });
                    // The choice is moot if thinking is off in the other dialect for another reason.
                    let moot = loss.what == "tool_choice" && !two.thinking.thinks;
                    // Only one of them has to ask for the output format in the system prompt.
                    let unasked = loss.place == "system" && request.output_format.is_some();
                    prop_assert!(same || cannot || moot || unasked, "{dialect}, not {other}: {loss}\n{:#?}", two.losses);
                }
            }
            // Losses are reported once, and all have a code.
            for (index, loss) in one.losses.iter().enumerate() {
                prop_assert!(loss.code != LossCode::Other, "{loss}");
                prop_assert!(!one.losses[..index].contains(loss), "twice: {loss}");
            }
        }
    }

    #[test]
    fn what_was_fitted_for_a_dialect_has_names_that_it_takes(request in requests()) {
        let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for(&request.model), facts: None };
        for dialect in Dialect::ALL {
            let Ok(fitted) = fit(&request, &target, dialect, &LIMITS) else { continue };
            for tool in &fitted.tools {
                if let FittedTool::Function { name, function, .. } = tool {
                    prop_assert!(dialect.abilities().tool_names.takes(name), "{name}");
                    prop_assert_eq!(fitted.names.own(name), &function.name);
                }
            }
            let forced = matches!(fitted.tool_choice, Some(ToolChoice::Required | ToolChoice::Specific(_)));
            prop_assert!(!forced || !fitted.tools.is_empty());
            prop_assert!(fitted.max_output_tokens.is_none_or(|limit| limit >= dialect.abilities().least_output));
            if let ThinkingSetting::Budget(budget) = fitted.thinking.setting {
                prop_assert!(fitted.max_output_tokens.is_none_or(|limit| budget < limit));
            }
        }
    }
}

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{losses, wire};
use super::*;
use crate::{Level, Request, ToolChoice};

/// Returns what is sent for a request with this thinking: thinking, effort, max_tokens.
fn sent(model: &str, thinking: impl Into<Thinking>, max: Option<i64>) -> (Value, Value, Value) {
    let mut request = Request::new(model).user("Hello").thinking(thinking);
    request.max_output_tokens = max;
    let body = wire(&request).body;
    (body["thinking"].clone(), body["output_config"]["effort"].clone(), body["max_tokens"].clone())
}

fn enabled(budget: i64) -> Value {
    json!({"type": "enabled", "budget_tokens": budget})
}

#[test]
fn a_level_budget_is_added_to_the_room_for_the_answer() {
    let cases = [
        ("claude-sonnet-4-5", Level::Med, 4096, 47_104, 43_008),
        ("claude-sonnet-4-5", Level::Low, 4096, 26_112, 22_016),
        ("claude-sonnet-4-5", Level::High, 4096, 64_000, 59_904),
        ("claude-sonnet-4-5", Level::Minimal, 4096, 5120, 1024),
        ("claude-haiku-4-5", Level::High, 4096, 36_096, 32_000),
        ("claude-opus-4-1", Level::Med, 4096, 32_000, 27_904),
        // Half of the output limit is left for an answer that needs all of it.
        ("claude-opus-4-1", Level::High, 32_000, 32_000, 16_000),
    ];
    for (model, level, max, max_tokens, budget) in cases {
        assert_eq!(sent(model, level, Some(max)), (enabled(budget), Value::Null, json!(max_tokens)), "{model} {level}");
        assert!(budget < max_tokens);
    }
}

#[test]
fn a_reduced_budget_is_a_loss() {
    let request = Request::new("claude-sonnet-4-5").user("Hi").thinking(Level::High).max_output_tokens(4096);
    assert_eq!(
        losses(&wire(&request)),
        [
            "loss thinking at thinking.level: a thinking budget of 64000 tokens leaves no room for the answer; 59904 is sent"
        ]
    );
}

#[test]
fn an_explicit_budget_leaves_the_limit_alone_where_it_fits() {
    assert_eq!(
        sent("claude-sonnet-4-5", Thinking::budget(2048), Some(4096)),
        (enabled(2048), Value::Null, json!(4096))
    );
    // It must be below the limit; otherwise the limit is raised.
    let request = Request::new("claude-sonnet-4-5").user("Hi").thinking(Thinking::budget(8000)).max_output_tokens(4096);
    let wire = wire(&request);
    assert_eq!((&wire.body["thinking"], &wire.body["max_tokens"]), (&enabled(8000), &json!(12_096)));
    assert_eq!(
        losses(&wire),
        [
            "loss max_output_tokens at max_output_tokens: the limit includes the thinking and must exceed its budget of 8000; 12096 is sent"
        ]
    );
}

#[test]
fn a_budget_is_never_below_the_least_nor_above_the_limit() {
    assert_eq!(sent("claude-sonnet-4-5", Thinking::budget(5), Some(4096)), (enabled(1024), Value::Null, json!(4096)));
    assert_eq!(
        sent("claude-sonnet-4-5", Thinking::budget(500_000), Some(4096)),
        (enabled(59_904), Value::Null, json!(64_000))
    );
    for model in ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-1", "claude-3-7-sonnet-latest"] {
        for max in [0, 1, 100, 1024, 5000, 31_999, 64_000, 1_000_000] {
            for thinking in
                Level::ALL.map(Thinking::from).into_iter().chain([1, 1024, 9999, 80_000].map(Thinking::budget))
            {
                let (thinking, _, limit) = sent(model, thinking, Some(max));
                let budget = thinking["budget_tokens"].as_i64();
                assert!(
                    budget.is_none_or(|budget| budget >= 1024 && budget < limit.as_i64().unwrap()),
                    "{model} {max}"
                );
            }
        }
    }
}

#[test]
fn a_window_too_small_for_thinking_goes_without() {
    let mut rules = rules_for("claude-sonnet-4-5").clone();
    rules.max_output = Some(1500);
    let quirks = crate::provider::Quirks::default();
    let request = Request::new("small").user("Hi").thinking(Level::High).max_output_tokens(1000);
    let wire = super::super::testing::wire_to(&request, &super::super::testing::home(&quirks, &rules)).unwrap();
    assert_eq!((&wire.body["thinking"], &wire.body["max_tokens"]), (&Value::Null, &json!(1000)));
    assert_eq!(
        losses(&wire),
        ["loss thinking at thinking: a limit of 1500 tokens is too small for thinking, which is left out"]
    );
}

#[test]
fn without_a_limit_the_model_decides_it() {
    let limit = |model: &str, stream: Option<bool>, level: Option<Level>| {
        let mut request = Request::new(model).user("Hi");
        request.stream = stream;
        request.thinking = level.map(Thinking::from);
        wire(&request).body["max_tokens"].clone()
    };
    assert_eq!(limit("claude-sonnet-4-5", Some(true), None), 64_000);
    assert_eq!(limit("claude-sonnet-4-5", None, None), 21_333);
    assert_eq!(limit("claude-3-5-haiku-latest", Some(false), None), 8192);
    assert_eq!(limit("a-model-of-my-own", Some(true), None), 8192);
    assert_eq!(limit("claude-sonnet-4-5", None, Some(Level::Low)), 8192 + 22_016);
    assert_eq!(limit("claude-opus-4-7", Some(true), Some(Level::Low)), 128_000);
}

#[test]
fn a_limit_above_the_models_own_is_cut_with_a_loss() {
    let wire = wire(&Request::new("claude-opus-4-1").user("Hi").max_output_tokens(64_000));
    assert_eq!(wire.body["max_tokens"], 32_000);
    assert_eq!(
        losses(&wire),
        [
            "loss max_output_tokens at max_output_tokens: this model's answers have at most 32000 tokens; that is sent for 64000"
        ]
    );
}

#[test]
fn every_level_becomes_what_the_model_takes() {
    let nothing = || (Value::Null, Value::Null);
    let adaptive = |effort: &str| (json!({"type": "adaptive", "display": "summarized"}), json!(effort));
    let visible = |effort: &str| (json!({"type": "adaptive"}), json!(effort));
    let manual = |budget: i64| (enabled(budget), Value::Null);
    let cases = [
        ("claude-3-5-haiku-latest", Level::High, nothing()),
        ("claude-sonnet-4-5", Level::None, nothing()),
        ("claude-sonnet-4-5", Level::Xhigh, manual(59_904)),
        ("claude-opus-4-6", Level::None, nothing()),
        ("claude-opus-4-6", Level::Minimal, visible("low")),
        ("claude-opus-4-6", Level::Med, visible("medium")),
        ("claude-opus-4-6", Level::Xhigh, visible("high")),
        ("claude-opus-4-6", Level::Max, visible("max")),
        ("claude-opus-4-8", Level::None, nothing()),
        ("claude-opus-4-8", Level::Xhigh, adaptive("xhigh")),
        ("claude-sonnet-5", Level::None, (json!({"type": "disabled"}), Value::Null)),
        ("claude-sonnet-5", Level::Low, adaptive("low")),
        ("claude-haiku-5-5", Level::None, (json!({"type": "disabled"}), Value::Null)),
        ("claude-sonnet-5-5", Level::None, (json!({"type": "between_tools"}), Value::Null)),
        ("claude-sonnet-5-5", Level::Max, adaptive("max")),
        ("claude-opus-5-5", Level::None, (Value::Null, json!("low"))),
        ("claude-fable-5", Level::High, adaptive("high")),
        ("claude-of-the-future", Level::None, (Value::Null, json!("low"))),
        ("claude-of-the-future", Level::Max, adaptive("high")),
    ];
    for (model, level, expected) in cases {
        let (thinking, effort, _) = sent(model, level, Some(4096));
        assert_eq!((thinking, effort), expected, "{model} {level}");
    }
}

#[test]
fn a_budget_goes_where_budgets_are_taken() {
    assert_eq!(sent("claude-opus-4-6", Thinking::budget(5000), Some(9000)), (enabled(5000), Value::Null, json!(9000)));
    let (thinking, effort, limit) = sent("claude-opus-4-7", Thinking::budget(40_000), Some(9000));
    assert_eq!(
        (thinking, effort, limit),
        (json!({"type": "adaptive", "display": "summarized"}), json!("medium"), json!(9000))
    );
}

#[test]
fn hidden_thinking_is_asked_for_where_the_model_can_hide_it() {
    let shown = |model: &str| sent(model, Thinking::from(Level::Low).hidden(), Some(20_000)).0;
    assert_eq!(shown("claude-opus-4-6"), json!({"type": "adaptive", "display": "omitted"}));
    assert_eq!(shown("claude-opus-4-7"), json!({"type": "adaptive", "display": "omitted"}));
    assert_eq!(shown("claude-sonnet-4-5"), enabled(22_016));
    // Never next to `disabled`.
    let off = sent("claude-sonnet-5", Thinking::from(Level::None).hidden(), Some(20_000)).0;
    assert_eq!(off, json!({"type": "disabled"}));
}

#[test]
fn thinking_hard_in_little_room_is_worth_a_word() {
    let request = Request::new("claude-opus-4-8").user("Hi").thinking(Level::High).max_output_tokens(4096);
    assert_eq!(
        losses(&wire(&request)),
        [
            "info max_output_tokens at max_output_tokens: the limit of 4096 tokens includes the thinking and may cut the answer off"
        ]
    );
}

#[test]
fn off_that_is_not_to_be_had_is_a_loss() {
    let request = Request::new("claude-opus-5-5").user("Hi").thinking(Level::None).max_output_tokens(4096);
    assert_eq!(
        losses(&wire(&request)),
        ["loss thinking at thinking.level: this model does not support disabling thinking; the effort low is sent"]
    );
}

#[test]
fn a_forced_tool_goes_before_a_thinking_budget() {
    let tool = || crate::Tool::new("look", "Looks.").lenient();
    let forced = |model: &str, choice: ToolChoice| {
        let request = Request::new(model).user("Hi").tool(tool()).tool_choice(choice).thinking(Level::Low);
        let wire = wire(&request.max_output_tokens(20_000));
        (
            wire.body["tool_choice"].clone(),
            wire.body["thinking"].clone(),
            wire.body["max_tokens"].clone(),
            losses(&wire),
        )
    };
    let left_out = "loss thinking at thinking: this model cannot be forced to use a tool while it thinks; thinking is off for this request";
    let weakened = "loss tool_choice at tool_choice: this model cannot be forced to use a tool; auto is sent";
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(
        forced("claude-sonnet-4-5", ToolChoice::Required),
        (json!({"type": "any"}), Value::Null, json!(20_000), vec![left_out.to_owned()])
    );
    assert_eq!(
        forced("claude-sonnet-4-5", ToolChoice::Specific("look".into())),
        (json!({"type": "tool", "name": "look"}), Value::Null, json!(20_000), vec![left_out.to_owned()])
    );
    assert_eq!(
        forced("claude-opus-4-8", ToolChoice::Required),
        (json!({"type": "any"}), adaptive.clone(), json!(20_000), vec![])
    );
    assert_eq!(
        forced("claude-opus-5-5", ToolChoice::Required),
        (json!({"type": "auto"}), adaptive, json!(20_000), vec![weakened.to_owned()])
    );
}

#[test]
fn wire_words_become_levels() {
    let wish = |level, budget, include_summary| Some(Thinking { level: Some(level), budget, include_summary });
    let cases = [
        (json!({"type": "enabled", "budget_tokens": 43_000}), Value::Null, wish(Level::Med, Some(43_000), true)),
        (json!({"type": "enabled", "budget_tokens": 1024}), Value::Null, wish(Level::Minimal, Some(1024), true)),
        (
            json!({"type": "enabled", "budget_tokens": 5000, "display": "omitted"}),
            Value::Null,
            wish(Level::Minimal, Some(5000), false),
        ),
        (json!({"type": "enabled"}), Value::Null, wish(Level::High, None, true)),
        (json!({"type": "adaptive"}), json!("medium"), wish(Level::Med, None, true)),
        (json!({"type": "adaptive"}), json!("xhigh"), wish(Level::Xhigh, None, true)),
        (json!({"type": "adaptive"}), Value::Null, wish(Level::High, None, true)),
        (json!({"type": "adaptive", "display": "omitted"}), json!("low"), wish(Level::Low, None, false)),
        (json!({"type": "disabled"}), Value::Null, wish(Level::None, None, true)),
        (json!({"type": "between_tools"}), json!("low"), wish(Level::None, None, true)),
        (Value::Null, json!("max"), wish(Level::Max, None, true)),
        (Value::Null, Value::Null, None),
    ];
    for (thinking, effort, expected) in cases {
        let given = |value: &Value| (!value.is_null()).then(|| Json::from(value));
        let read = read(given(&thinking).as_ref(), given(&effort).as_ref(), "claude-sonnet-4-5");
        assert_eq!(read, expected, "{thinking} {effort}");
    }
}

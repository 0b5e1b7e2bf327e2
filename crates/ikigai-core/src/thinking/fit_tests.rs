use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;
use crate::catalog::rules_for;
use crate::provider::Registry;
use crate::{ModelName, Severity};

/// Returns what is sent for a request, in one line: the setting, the limit, and the losses.
fn told(plan: &ThinkingPlan) -> String {
    let mut text = match plan.setting {
        ThinkingSetting::Unsaid => "nothing".to_owned(),
        ThinkingSetting::Off => "off".to_owned(),
        ThinkingSetting::BetweenTools => "between tools".to_owned(),
        ThinkingSetting::Budget(tokens) => tokens.to_string(),
        ThinkingSetting::Level(level) => level.effort().to_owned(),
        ThinkingSetting::On => "on".to_owned(),
    };
    if let Some(limit) = plan.max_output {
        text.push_str(&format!(" of {limit}"));
    }
    for loss in &plan.losses {
        let mark = if loss.severity == Severity::Loss { "-" } else { "i" };
        text.push_str(&format!(" ({mark} {}: {})", loss.place, loss.why));
    }
    text
}

fn request(thinking: impl Into<Thinking>, limit: Option<i64>) -> Request {
    let mut request = Request::new("").user("Hi").thinking(thinking);
    request.max_output_tokens = limit;
    request
}

/// Returns the plan for a model on its usual route.
fn routed(name: &str, mut request: Request) -> ThinkingPlan {
    let name = ModelName::parse(name).unwrap();
    let route = Registry::shared().route(&name).unwrap();
    request.model.clone_from(&route.model);
    ThinkingPlan::new(&request, route.dialect, &route.target())
}

fn sent(name: &str, thinking: impl Into<Thinking>, limit: Option<i64>) -> String {
    told(&routed(name, request(thinking, limit)))
}

#[test]
fn a_level_budget_is_added_to_the_room_for_the_answer() {
    for (model, level, limit, expected) in [
        ("claude-sonnet-4-5", Level::Med, Some(4096), "43008 of 47104"),
        ("claude-sonnet-4-5", Level::Low, None, "22016 of 30208"),
        ("claude-sonnet-4-5", Level::Minimal, Some(4096), "1024 of 5120"),
        ("claude-haiku-4-5", Level::High, Some(4096), "32000 of 36096"),
        (
            "claude-sonnet-4-5",
            Level::High,
            Some(4096),
            "59904 of 64000 (- thinking.level: a thinking budget of 64000 tokens leaves no room for the answer; 59904 is sent)",
        ),
        (
            "claude-opus-4-1",
            Level::High,
            None,
            "24000 of 32000 (- thinking.level: a thinking budget of 64000 tokens leaves no room for the answer; 24000 is sent)",
        ),
        // Half of the window is kept for an answer that wants all of it.
        (
            "claude-opus-4-1",
            Level::High,
            Some(32_000),
            "16000 of 32000 (- thinking.level: a thinking budget of 64000 tokens leaves no room for the answer; 16000 is sent)",
        ),
        ("gemini-2.5-flash", Level::Low, Some(4096), "8192 of 12288"),
        ("gemini-2.5-flash", Level::Low, None, "8192"),
        ("gemini-2.5-pro", Level::High, Some(60_000), "32768 of 65536"),
        // A limit of -1 means the provider's default.
        ("gemini-2.5-flash", Level::Low, Some(-1), "8192"),
        ("claude-sonnet-4-5", Level::Low, Some(-1), "22016 of 30208"),
    ] {
        assert_eq!(sent(model, level, limit), expected, "{model} {level} {limit:?}");
    }
}

#[test]
fn an_explicit_budget_is_spoken_of_once() {
    for (model, tokens, limit, expected) in [
        ("claude-sonnet-4-5", 2048, Some(4096), "2048 of 4096"),
        (
            "claude-sonnet-4-5",
            8000,
            Some(4096),
            "8000 of 12096 (- max_output_tokens: the limit includes the thinking and must exceed its budget of 8000; 12096 is sent)",
        ),
        (
            "claude-sonnet-4-5",
            5,
            Some(4096),
            "1024 of 4096 (- thinking.budget: this model does not take a thinking budget of 5 tokens; 1024 is sent)",
        ),
        (
            "claude-opus-4-1",
            50_000,
            None,
            "24000 of 32000 (- thinking.budget: a thinking budget of 50000 tokens leaves no room for the answer; 24000 is sent)",
        ),
        (
            "claude-sonnet-4-5",
            500_000,
            Some(4096),
            "59904 of 64000 (- max_output_tokens: the limit includes the thinking and must exceed its budget of 59904; 64000 is sent) \
             (- thinking.budget: a thinking budget of 500000 tokens leaves no room for the answer; 59904 is sent)",
        ),
        (
            "claude-sonnet-4-5",
            2048,
            Some(100_000),
            "2048 of 64000 (- max_output_tokens: this model's answers have at most 64000 tokens; that is sent for 100000)",
        ),
        (
            "gemini-2.5-flash",
            90_000,
            None,
            "24576 (- thinking.budget: this model does not take a thinking budget of 90000 tokens; 24576 is sent)",
        ),
        ("gemini-2.5-flash", -1, Some(300), "-1 of 300"),
        (
            "claude-opus-5",
            40_000,
            Some(20_000),
            "medium of 20000 (- thinking.budget: this model accepts levels, not budgets; med is sent for 40000 tokens)",
        ),
        (
            "o3",
            16_000,
            None,
            "low (- thinking.budget: this model accepts levels, not budgets; low is sent for 16000 tokens)",
        ),
    ] {
        assert_eq!(sent(model, Thinking::budget(tokens), limit), expected, "{model} {tokens} {limit:?}");
    }
}

#[test]
fn off_is_said_as_each_api_says_it() {
    let cannot = "This model does not support disabling thinking";
    for (model, expected, cannot_disable) in [
        ("claude-sonnet-4-5", "nothing of 9000".to_owned(), false),
        ("claude-sonnet-5", "off of 9000".to_owned(), false),
        ("claude-sonnet-5-5", "between tools of 9000".to_owned(), false),
        ("claude-opus-5-5", format!("low of 9000 (- thinking.level: {cannot}; the effort low is sent)"), true),
        ("gemini-2.5-flash", "off of 9000".to_owned(), false),
        ("gemini-2.5-pro", format!("128 of 9128 (- thinking.level: {cannot}; its least budget of 128 is sent)"), true),
        (
            "gemini-3-flash-preview",
            "minimal of 9000 (i thinking.level: this model may still think a little at its least level, MINIMAL)"
                .to_owned(),
            false,
        ),
        ("gpt-5.4", "off of 9000".to_owned(), false),
        ("o3-mini", format!("medium of 9000 (- thinking.level: {cannot}; the effort medium is sent)"), true),
        ("gpt-4o", "nothing of 9000".to_owned(), false),
        ("magistral-small-latest", format!("nothing of 9000 (- thinking.level: {cannot}; nothing is sent)"), true),
    ] {
        let plan = routed(model, request(Level::None, Some(9000)));
        assert_eq!((told(&plan), plan.cannot_disable), (expected, cannot_disable), "{model}");
    }
}

#[test]
fn a_model_that_takes_budgets_at_home_takes_what_its_host_takes() {
    for (model, thinking, expected) in [
        ("openrouter:anthropic/claude-sonnet-4.5", Thinking::from(Level::Med), "medium of 4096"),
        (
            "openrouter:anthropic/claude-sonnet-4.5",
            Thinking::budget(9000),
            "9000 of 13096 (- max_output_tokens: the limit includes the thinking and must exceed its budget of 9000; 13096 is sent)",
        ),
        ("openrouter:anthropic/claude-sonnet-4.5", Thinking::from(Level::None), "nothing of 4096"),
        ("openrouter:anthropic/claude-opus-4.6", Thinking::from(Level::Max), "max of 4096"),
        // An effort instead of a budget, from the level closest to it.
        (
            "github-copilot:claude-sonnet-4.5",
            Thinking::budget(43_008),
            "medium of 4096 (- thinking.budget: this model accepts levels, not budgets; med is sent for 43008 tokens)",
        ),
        (
            "github-copilot:gemini-2.5-pro",
            Thinking::from(Level::None),
            "low of 4096 (- thinking.level: This model does not support disabling thinking; the effort low is sent)",
        ),
        ("zai:glm-4.6", Thinking::from(Level::None), "off of 4096"),
        (
            "zai:glm-4.6",
            Thinking::from(Level::Low),
            "on of 4096 (i thinking.level: thinking can only be on or off for this model; low is on)",
        ),
    ] {
        assert_eq!(sent(model, thinking, Some(4096)), expected, "{model}");
    }
}

#[test]
fn an_api_without_a_word_for_thinking_says_so() {
    let quirks = Quirks {
        chat: crate::provider::ChatQuirks { reasoning_request: ReasoningRequest::Nothing, ..Default::default() },
        ..Quirks::default()
    };
    let plan = |model: &str, level: Level| {
        let target = Target { provider: "home", quirks: &quirks, rules: rules_for(model), facts: None };
        ThinkingPlan::new(&request(level, None), Dialect::OpenaiChat, &target)
    };
    let lost = "nothing (- thinking: this provider has no parameter for thinking; nothing is sent)";
    assert_eq!(told(&plan("qwen3-8b", Level::High)), lost);
    let off = plan("qwen3-8b", Level::None);
    assert_eq!((told(&off).as_str(), off.thinks), (lost, true), "it thinks unless told not to");
    assert_eq!(told(&plan("mistral-small-2603", Level::None)), "nothing");
    assert_eq!(told(&plan("gpt-4o", Level::None)), "nothing");
}

#[test]
fn limits_of_requests_that_say_nothing_about_thinking() {
    let limit = |name: &str, asked: Option<i64>, stream: Option<bool>| {
        let mut request = Request::new("").user("Hi");
        (request.max_output_tokens, request.stream) = (asked, stream);
        let plan = routed(name, request);
        (plan.max_output, plan.losses.len())
    };
    assert_eq!(limit("claude-sonnet-4-5", None, Some(true)), (Some(64_000), 0));
    assert_eq!(limit("claude-sonnet-4-5", None, None), (Some(21_333), 0));
    assert_eq!(limit("claude-sonnet-4-5", Some(-1), None), (Some(21_333), 0));
    assert_eq!(limit("claude-opus-4-1", Some(64_000), None), (Some(32_000), 1));
    assert_eq!(limit("gemini-2.5-flash", Some(i64::MAX), None), (Some(65_536), 1));
    assert_eq!(limit("gemini-2.5-flash", Some(-1), None), (None, 0));
    assert_eq!(limit("o3", Some(5), None), (Some(16), 1));
    assert_eq!(limit("o3", Some(-1), None), (None, 0));
    assert_eq!(limit("groq:a-model-of-my-own", Some(i64::MAX), None), (Some(i32::MAX.into()), 1));
}

#[test]
fn what_is_said_about_showing_it() {
    let show = |name: &str, thinking: Thinking| routed(name, request(thinking, None)).show;
    let (shown, hidden) = (Thinking::from(Level::Low), Thinking::from(Level::Low).hidden());
    for (model, if_shown, if_hidden) in [
        ("claude-sonnet-4-5", ShowThinking::Unsaid, ShowThinking::Unsaid),
        ("claude-opus-4-6", ShowThinking::Unsaid, ShowThinking::Hide),
        ("claude-opus-4-7", ShowThinking::Show, ShowThinking::Hide),
        ("gemini-2.5-pro", ShowThinking::Show, ShowThinking::Hide),
        ("o3", ShowThinking::Show, ShowThinking::Hide),
        ("gpt-4o", ShowThinking::Unsaid, ShowThinking::Unsaid),
        ("groq:openai/gpt-oss-120b", ShowThinking::Show, ShowThinking::Hide),
        ("openrouter:deepseek/deepseek-r1", ShowThinking::Show, ShowThinking::Hide),
        ("grok-4.5", ShowThinking::Unsaid, ShowThinking::Unsaid),
    ] {
        assert_eq!((show(model, shown.clone()), show(model, hidden.clone())), (if_shown, if_hidden), "{model}");
    }
    assert_eq!(show("claude-opus-4-7", Level::None.into()), ShowThinking::Unsaid);
}

#[test]
fn something_else_in_the_request_may_cost_the_thinking() {
    let plan = routed("claude-opus-4-1", request(Level::High, Some(4096))).without_thinking("a tool is forced");
    assert_eq!(told(&plan), "nothing of 4096 (- thinking: a tool is forced)");
    assert!(!plan.thinks);
    let plan = routed("claude-sonnet-5", request(Level::High, Some(20_000))).without_thinking("a tool is forced");
    assert_eq!(told(&plan), "off of 20000 (- thinking: a tool is forced)");
}

#[test]
fn a_window_too_small_for_thinking_goes_without() {
    let mut rules = rules_for("claude-sonnet-4-5").clone();
    rules.max_output = Some(1500);
    let quirks = Quirks::default();
    let target = Target { provider: "anthropic", quirks: &quirks, rules: &rules, facts: None };
    let plan = ThinkingPlan::new(&request(Level::High, Some(1000)), Dialect::Anthropic, &target);
    assert_eq!(
        told(&plan),
        "nothing of 1000 (- thinking: a limit of 1500 tokens is too small for thinking, which is left out)"
    );
    assert!(!plan.thinks);
}

/// Returns the budget, the effort or level, and the limit in a body.
fn on_the_wire(dialect: Dialect, body: &Value) -> (Option<i64>, Option<String>, Option<i64>) {
    let (budget, word, limit) = match dialect {
        Dialect::Anthropic => ("/thinking/budget_tokens", "/output_config/effort", "/max_tokens"),
        Dialect::Gemini => (
            "/generationConfig/thinkingConfig/thinkingBudget",
            "/generationConfig/thinkingConfig/thinkingLevel",
            "/generationConfig/maxOutputTokens",
        ),
        Dialect::OpenaiResponses => ("/none", "/reasoning/effort", "/max_output_tokens"),
        Dialect::OpenaiChat => ("/none", "/reasoning_effort", "/max_completion_tokens"),
        Dialect::BedrockConverse => (
            "/additionalModelRequestFields/thinking/budget_tokens",
            "/additionalModelRequestFields/output_config/effort",
            "/inferenceConfig/maxTokens",
        ),
    };
    let number = |at: &str| body.pointer(at).and_then(Value::as_i64);
    (number(budget), body.pointer(word).and_then(Value::as_str).map(str::to_lowercase), number(limit))
}

#[test]
fn requests_say_what_the_plan_says() {
    let wishes = Level::ALL
        .map(Thinking::from)
        .into_iter()
        .chain([0, 1, 1024, 9999, 80_000].map(Thinking::budget))
        .chain([Thinking { level: None, budget: None, include_summary: true }]);
    let wishes: Vec<Thinking> = wishes.collect();
    for name in ["anthropic", "google", "openai"] {
        for facts in crate::catalog::Catalog::shared().models().filter(|facts| facts.provider == name) {
            let model = ModelName::new(name, facts.id.clone());
            let route = Registry::shared().route(&model).unwrap();
            for wish in &wishes {
                // Limits beyond the model's own are reduced; see `limits_of_requests_that_say_nothing_about_thinking`.
                let longest = facts.max_output.map_or(4096, i64::from);
                for limit in [None, Some(longest.min(4096)), Some(longest.min(30_000))] {
                    let mut request = request(wish.clone(), limit);
                    request.model.clone_from(&route.model);
                    let Ok(wire) = route.dialect.encode_request(&request, &route.target(), &crate::Limits::default())
                    else {
                        continue;
                    };
                    let plan = ThinkingPlan::new(&request, route.dialect, &route.target());
                    let word = match plan.setting {
                        ThinkingSetting::Level(level) => Some(level.effort().to_owned()),
                        ThinkingSetting::Off if route.dialect == Dialect::OpenaiResponses => Some("none".to_owned()),
                        _ => None,
                    };
                    let budget = match plan.setting {
                        ThinkingSetting::Off if route.dialect == Dialect::Gemini => Some(0),
                        _ => plan.budget(),
                    };
                    let body: serde_json::Value = serde_json::from_slice(&wire.body).unwrap();
                    assert_eq!(
                        on_the_wire(route.dialect, &body),
                        (budget, word, plan.max_output),
                        "{model} {wish:?} {limit:?}"
                    );
                }
            }
        }
    }
}

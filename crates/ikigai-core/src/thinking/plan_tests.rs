use pretty_assertions::assert_eq;

use super::*;
use crate::catalog::rules_for;

/// Returns what is sent, in words, with a mark for each loss.
fn sent(model: &str, thinking: Thinking) -> String {
    let rules = rules_for(model);
    let plan = plan(&thinking, &rules.thinking, rules.max_output);
    let mut text = match plan.setting {
        Setting::Unsaid => "nothing".to_owned(),
        Setting::Off => match rules.thinking.off {
            ThinkingOff::Silence => "off by silence".to_owned(),
            ThinkingOff::Word => "off".to_owned(),
            ThinkingOff::BetweenTools => "between tools".to_owned(),
            ThinkingOff::Impossible => panic!("{model} cannot be off"),
        },
        Setting::Budget(tokens) => tokens.to_string(),
        Setting::Level(level) => level.effort().to_owned(),
        Setting::On => "on".to_owned(),
    };
    for loss in &plan.losses {
        text.push_str(match loss.severity {
            crate::Severity::Info => " (i)",
            crate::Severity::Loss if loss.why.starts_with(CANNOT_DISABLE) => " (!)",
            crate::Severity::Loss => " (-)",
        });
    }
    text
}

/// Returns the result for each level, from none to max.
fn each_level(model: &str) -> String {
    Level::ALL.map(|level| sent(model, Thinking::from(level))).join(" | ")
}

#[test]
fn anthropic_levels() {
    let budgets = "off by silence | 1024 | 22016 | 43008 | 64000 | 64000 (-) | 64000 (-)";
    let less = "off by silence | 1024 | 11349 | 21674 | 32000 | 32000 (-) | 32000 (-)";
    let silent = "off by silence | low (-) | low | medium | high | xhigh | max";
    let switched = "off | low (-) | low | medium | high | xhigh | max";
    let always = "low (!) | low (-) | low | medium | high | xhigh | max";
    for (model, expected) in [
        ("claude-3-7-sonnet", less),
        ("claude-sonnet-4-0", budgets),
        ("claude-sonnet-4-5", budgets),
        ("claude-opus-4-0", budgets),
        ("claude-opus-4-1", budgets),
        ("claude-haiku-4-5", less),
        ("claude-opus-4-5", budgets),
        ("claude-opus-4-6", "off by silence | low (-) | low | medium | high | high (-) | max"),
        ("claude-sonnet-4-6", "off by silence | low (-) | low | medium | high | high (-) | max"),
        ("claude-opus-4-7", silent),
        ("claude-opus-4-8", silent),
        ("claude-sonnet-5", switched),
        ("claude-opus-5", switched),
        ("claude-haiku-5-5", switched),
        ("claude-sonnet-5-5", "between tools | low (-) | low | medium | high | xhigh | max"),
        ("claude-fable-5", always),
        ("claude-mythos-5", always),
        ("claude-mythos-preview", always),
        ("claude-fable-5-1", always),
        ("claude-fable-5-2", always),
        ("claude-mythos-5-1", always),
        ("claude-mythos-5-2", always),
        ("claude-opus-5-5", always),
        ("claude-of-tomorrow", "low (!) | low (-) | low | medium | high | high (-) | high (-)"),
        (
            "claude-3-5-sonnet",
            "nothing | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-)",
        ),
    ] {
        assert_eq!(each_level(model), expected, "{model}");
    }
}

#[test]
fn openai_levels() {
    let o = "low (!) | low (-) | low | medium | high | high (-) | high (-)";
    let as_the_seed_says = "medium (!) | low (-) | low | medium | high | high (-) | high (-)";
    let always = "nothing (!) | nothing (i) | nothing (i) | nothing (i) | nothing (i) | nothing (i) | nothing (i)";
    let none = "nothing | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-)";
    let medium_only = "medium (!) | medium (-) | medium (-) | medium | medium (-) | medium (-) | medium (-)";
    let codex = "low (!) | low (-) | low | medium | high | xhigh | xhigh (-)";
    let full = "off | low (-) | low | medium | high | xhigh | xhigh (-)";
    let pro = "medium (!) | medium (-) | medium (-) | medium | high | xhigh | xhigh (-)";
    let newest = "off | low (-) | low | medium | high | xhigh | max";
    let newest_always = "low (!) | low (-) | low | medium | high | xhigh | max";
    for (model, expected) in [
        ("o1-mini", always),
        ("o1-preview", always),
        ("o1", as_the_seed_says),
        ("o1-pro", o),
        ("o3-mini", as_the_seed_says),
        ("o3", o),
        ("o3-pro", o),
        ("o4-mini", o),
        ("o3-deep-research", medium_only),
        ("o4-mini-deep-research", medium_only),
        ("gpt-5", "minimal (!) | minimal | low | medium | high | high (-) | high (-)"),
        ("gpt-5-nano", "minimal (!) | minimal | low | medium | high | high (-) | high (-)"),
        ("gpt-5-codex", o),
        ("gpt-5-pro", "high (!) | high (-) | high (-) | high (-) | high | high (-) | high (-)"),
        ("gpt-5-chat-latest", none),
        ("gpt-5.1", "off | low (-) | low | medium | high | high (-) | high (-)"),
        ("gpt-5.1-codex", o),
        ("gpt-5.1-codex-mini", o),
        ("gpt-5.1-codex-max", codex),
        ("gpt-5.1-chat-latest", medium_only),
        ("gpt-5.2-chat-latest", medium_only),
        ("gpt-5.3-chat-latest", none),
        ("gpt-5.2", full),
        ("gpt-5.2-codex", codex),
        ("gpt-5.2-pro", pro),
        ("gpt-5.4-pro", pro),
        ("gpt-5.5-pro", pro),
        ("gpt-5.3-codex", codex),
        ("gpt-5.3-codex-spark", codex),
        ("gpt-5.4", full),
        ("gpt-5.4-nano", full),
        ("gpt-5.5", full),
        ("gpt-5.6-sol", newest),
        ("gpt-5.6-terra", newest),
        ("gpt-5.6-luna", newest),
        ("gpt-6-sol", newest),
        ("gpt-6-luna", newest),
        ("gpt-6-astra", newest_always),
        ("gpt-6.1-sol", newest_always),
        ("gpt-6.1-terra", newest_always),
        ("gpt-4.1", none),
        ("gpt-4o", none),
        ("gpt-4", none),
        ("gpt-3.5-turbo", none),
        ("gpt-6-of-a-new-name", o),
        ("gpt-7", o),
        ("o5", o),
    ] {
        assert_eq!(each_level(model), expected, "{model}");
    }
}

#[test]
fn gemini_levels() {
    let none = "nothing | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-)";
    let flash = "off | off (-) | 8192 | 16384 | 24576 | 24576 (-) | 24576 (-)";
    let three = "low (!) | low (-) | low | medium | high | high (-) | high (-)";
    let four = "minimal (i) | minimal | low | medium | high | high (-) | high (-)";
    let two = "minimal (i) | minimal | minimal (-) | high (-) | high | high (-) | high (-)";
    for (model, expected) in [
        ("gemini-2.0-flash", none),
        ("gemini-1.5-pro", none),
        ("gemini-2.5-flash-preview-tts", none),
        ("gemini-embedding-001", none),
        ("gemini-of-tomorrow", none),
        ("gemini-2.5-pro", "128 (!) | 128 | 11008 | 21888 | 32768 | 32768 (-) | 32768 (-)"),
        ("gemini-2.5-flash", flash),
        ("gemini-2.5-flash-lite", "off | 512 | 8533 | 16554 | 24576 | 24576 (-) | 24576 (-)"),
        ("gemini-robotics-er-1.5-preview", flash),
        ("gemini-3-pro-preview", "low (!) | low (-) | low | high | high | high (-) | high (-)"),
        ("gemini-3.1-pro-preview", three),
        ("gemini-3.1-pro-preview-customtools", three),
        ("gemini-3-flash-preview", four),
        ("gemini-3.1-flash-lite", four),
        ("gemini-3.5-flash", four),
        ("gemini-3.6-flash", four),
        ("gemini-3.5-flash-lite", four),
        ("gemini-3.7-flash", three),
        ("gemini-3.8-flash", three),
        ("gemini-4-argon", three),
        ("gemini-3-pro-image-preview", two),
        ("gemini-3.1-flash-image-preview", two),
        ("gemini-flash-latest", three),
        ("gemini-pro-latest", three),
        ("gemini-flash-lite-latest", three),
        ("gemma-4-31b-it", two),
        ("gemma-3-27b-it", none),
        ("gemini-5-neon", three),
    ] {
        assert_eq!(each_level(model), expected, "{model}");
    }
}

#[test]
fn levels_of_the_rest() {
    let always = "nothing (!) | nothing (i) | nothing (i) | nothing (i) | nothing (i) | nothing (i) | nothing (i)";
    let toggle = "off | on (i) | on (i) | on (i) | on (i) | on (i) | on (i)";
    let none = "nothing | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-) | nothing (-)";
    for (model, expected) in [
        ("deepseek-v4", "off | low (-) | low | medium | high | max | max"),
        ("deepseek-v3.2-exp", "off | low (-) | low | medium | high | max | max"),
        ("deepseek-chat", "off | low (-) | low | medium | high | max | max"),
        ("deepseek-reasoner", always),
        ("openai/gpt-oss-120b", "low (!) | low (-) | low | medium | high | high (-) | high (-)"),
        ("qwen/qwen3-32b", toggle),
        ("qwen3.5-397b-a17b", toggle),
        ("qwen3-235b-a22b-thinking-2507", always),
        ("qwen3-235b-a22b-instruct-2507", none),
        ("mistral-small-2603", "off | high (-) | high (-) | high (-) | high | high (-) | high (-)"),
        ("mistral-medium-3.5", "off | high (-) | high (-) | high (-) | high | high (-) | high (-)"),
        ("magistral-medium-latest", always),
        ("grok-4.3", "off | low (-) | low | medium | high | high (-) | high (-)"),
        ("grok-4.5", "low (!) | low (-) | low | medium | high | high (-) | high (-)"),
        ("grok-4.6", "low (!) | low (-) | low | medium | high | xhigh | xhigh (-)"),
        ("grok-3-mini", "low (!) | low (-) | low | high (-) | high | high (-) | high (-)"),
        ("grok-4.20-reasoning", always),
        ("grok-4.20-non-reasoning", none),
        ("glm-4.6", toggle),
        ("glm-5.2", "off | high (-) | high (-) | high (-) | high | max | max"),
        ("glm-5.3", "low (!) | low (-) | low | high (-) | high | high (-) | max"),
        ("kimi-k2.5", toggle),
        ("kimi-k2-thinking", always),
        ("kimi-k2-0905-preview", none),
        ("a-model-of-my-own", none),
    ] {
        assert_eq!(each_level(model), expected, "{model}");
    }
}

#[test]
fn explicit_budgets() {
    for (model, budget, expected) in [
        ("claude-sonnet-4-5", 50_000, "50000"),
        ("claude-sonnet-4-5", 10, "1024 (-)"),
        ("claude-sonnet-4-5", 0, "off by silence"),
        ("claude-haiku-4-5", 50_000, "50000"),
        ("claude-opus-4-1", 50_000, "31999 (-)"),
        ("claude-opus-4-6", 10_000, "10000"),
        ("claude-mythos-preview", 10_000, "10000"),
        ("claude-opus-4-7", 10_000, "low (-)"),
        ("claude-opus-4-7", 1_024, "low (-)"),
        ("claude-sonnet-5", 40_000, "medium (-)"),
        ("claude-sonnet-5-5", 64_000, "high (-)"),
        ("claude-opus-5-5", 1_024, "low (-)"),
        ("claude-opus-5-5", 0, "low (!)"),
        ("o3", 16_666, "low (-)"),
        ("o3", 16_667, "medium (-)"),
        ("o3", 50_000, "medium (-)"),
        ("o3", 50_001, "high (-)"),
        ("gpt-5-pro", 1, "high (-)"),
        ("gpt-4o", 5_000, "nothing (-)"),
        ("gpt-4o", 0, "nothing"),
        ("gemini-2.5-pro", 40_000, "32768 (-)"),
        ("gemini-2.5-pro", 5_000, "5000"),
        ("gemini-2.5-pro", 1, "128 (-)"),
        ("gemini-2.5-pro", 0, "128 (!)"),
        ("gemini-2.5-flash", 0, "off"),
        ("gemini-2.5-flash-lite", 100, "512 (-)"),
        ("gemini-3-pro-preview", 20_000, "high (-)"),
        ("gemini-3-pro-preview", 10_000, "low (-)"),
        ("gemini-3-flash-preview", 128, "minimal (-)"),
        ("qwen3-8b", 5_000, "on (-)"),
        ("magistral-small", 5_000, "nothing (-)"),
        ("claude-sonnet-4-5", i64::MAX, "63999 (-)"),
    ] {
        assert_eq!(sent(model, Thinking::budget(budget)), expected, "{model} with {budget}");
    }
}

#[test]
fn a_budget_of_the_models_own_choice() {
    for (model, expected) in [
        ("gemini-2.5-pro", "-1"),
        ("gemini-2.5-flash-lite", "-1"),
        ("gemini-3-pro-preview", "nothing"),
        ("claude-sonnet-4-5", "43008 (-)"),
        ("claude-opus-4-6", "on"),
        ("claude-opus-5", "on"),
        ("o3", "nothing"),
        ("gpt-5.1", "medium (-)"),
        ("gpt-4o", "nothing"),
        ("qwen3-8b", "on"),
        ("magistral-small", "nothing"),
    ] {
        assert_eq!(sent(model, Thinking::budget(-1)), expected, "{model}");
    }
}

#[test]
fn a_budget_wins_over_the_level_and_nothing_stays_nothing() {
    let both = Thinking { level: Some(Level::Low), budget: Some(50_000), include_summary: true };
    assert_eq!(sent("claude-sonnet-4-5", both), "50000");
    let neither = Thinking { level: None, budget: None, include_summary: false };
    assert_eq!(sent("claude-sonnet-4-5", neither), "nothing");
}

#[test]
fn losses_say_what_was_done() {
    let losses = |model: &str, thinking: Thinking| {
        let rules = rules_for(model);
        let plan = plan(&thinking, &rules.thinking, rules.max_output);
        plan.losses.iter().map(Loss::to_string).collect::<Vec<_>>().join("\n")
    };
    for (model, thinking, expected) in [
        (
            "gemini-3-pro",
            Level::None.into(),
            "thinking at thinking.level: This model does not support disabling thinking; LOW is sent",
        ),
        (
            "o3-mini",
            Level::None.into(),
            "thinking at thinking.level: This model does not support disabling thinking; the effort medium is sent",
        ),
        (
            "gemini-2.5-pro",
            Level::None.into(),
            "thinking at thinking.level: This model does not support disabling thinking; its least budget of 128 is sent",
        ),
        (
            "gemini-3-flash-preview",
            Level::None.into(),
            "thinking at thinking.level: this model may still think a little at its least level, MINIMAL",
        ),
        ("o3", Level::Max.into(), "thinking at thinking.level: this model has no level max; high is sent"),
        (
            "gemini-2.5-flash",
            Thinking::budget(90_000),
            "thinking at thinking.budget: this model accepts budgets from 0 to 24576; 24576 is sent",
        ),
        (
            "claude-opus-5",
            Thinking::budget(40_000),
            "thinking at thinking.budget: this model accepts levels, not budgets; med is sent for 40000 tokens",
        ),
    ] {
        assert_eq!(losses(model, thinking), expected, "{model}");
    }
}

#[test]
fn the_nearest_level_of_a_budget() {
    for (model, budget, expected) in [
        ("claude-sonnet-4-5", 1_024, Level::Minimal),
        ("claude-sonnet-4-5", 11_520, Level::Minimal), // halfway: down
        ("claude-sonnet-4-5", 11_521, Level::Low),
        ("claude-sonnet-4-5", 43_008, Level::Med),
        ("claude-sonnet-4-5", 50_000, Level::Med),
        ("claude-sonnet-4-5", 1_000_000, Level::High),
        ("claude-sonnet-4-5", 0, Level::None),
        ("gemini-2.5-pro", 128, Level::None),
        ("gemini-2.5-pro", 129, Level::Minimal),
        ("gemini-2.5-pro", 21_888, Level::Med),
        ("gemini-2.5-flash", 0, Level::None),
        ("gemini-2.5-flash", 1, Level::Minimal),
        ("gemini-2.5-flash", 24_576, Level::High),
        ("o3", 22_016, Level::Low),
        ("gemini-2.0-flash", 64_000, Level::High),
    ] {
        assert_eq!(nearest_level(&rules_for(model).thinking, budget), expected, "{model} with {budget}");
    }
}

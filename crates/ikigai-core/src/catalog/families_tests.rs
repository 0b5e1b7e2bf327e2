use pretty_assertions::assert_eq;

use super::*;
use crate::Level;
use crate::catalog::{ForcedTools, Sampling, StateScope, ThinkingKind, ThinkingOff, ToolsInChat};

// The parts of the build script that read the file.
#[path = "../../build/code.rs"]
mod code;
#[path = "../../build/families.rs"]
mod families;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const FILE: &str = include_str!("../../data/families.toml");

#[test]
fn the_table_is_the_file() {
    let rows = families::rows("families.toml", FILE).unwrap();
    let read: Vec<Rules> = rows.iter().map(|row| toml::Value::Table(row.rules.clone()).try_into().unwrap()).collect();
    assert_eq!(read, ROWS);
    let patterns: usize = rows.iter().map(|row| row.patterns.len()).sum();
    assert_eq!(patterns, PATTERNS.len());
    assert!(ROWS.len() > 60);
}

#[test]
fn every_row_makes_sense() {
    for rules in &ROWS {
        assert_ne!(rules, &Rules::default(), "a row that says nothing cannot be told from a model that nobody knows");
        let rule = &rules.thinking;
        assert!(rule.levels.is_sorted(), "levels go from the least to the greatest: {rules:?}");
        assert!(!rule.levels.contains(&Level::None), "`none` is said by `off`: {rules:?}");
        assert!(rule.min <= rule.max, "{rules:?}");
        let by_words = [ThinkingKind::Adaptive, ThinkingKind::Effort, ThinkingKind::Level];
        assert_eq!(by_words.contains(&rule.kind), !rule.levels.is_empty(), "{rules:?}");
        let bound_to_family = rules.bound_state == StateScope::Family;
        assert!(!bound_to_family || !rules.family.is_empty(), "state is bound to a family without a name: {rules:?}");
    }
}

#[test]
fn a_broken_file_fails_the_build_with_its_name_and_row() {
    for (text, expected) in [
        (
            "[like.a]\nlike = 'b'\n[like.b]\nlike = 'a'\n[[family]]\nmatch = 'x'\nlike = 'a'\n",
            "f.toml:5: [[family]] x: `like.b` is like itself",
        ),
        ("[[family]]\nmatch = 'x'\nlike = 'z'\n", "f.toml:1: [[family]] x: there is no table `like.z`"),
        ("[[family]]\nmatch = 'x'\n[[family]]\nlike = 'a'\n", "f.toml:3: [[family]]: `match` is missing"),
        ("[[family]]\nmatch = ['x', 'y']\nsampeling = 'free'\n", "f.toml:1: [[family]] x, y: sampeling: unknown field"),
        (
            "[[family]]\nmatch = 'x'\nforced_tools = 'sometimes'\n",
            "f.toml:1: [[family]] x: forced_tools: unknown word `sometimes`; use taken, not_while_thinking, refused",
        ),
        (
            "[[family]]\nmatch = 'x'\nthinking.levels = ['low', 'lots']\n",
            "f.toml:1: [[family]] x: thinking.levels: unknown word `lots`; use none, minimal, low, med, high, xhigh, max",
        ),
        (
            "[[family]]\nmatch = 'x'\nthinking.min = 'a'\n",
            "f.toml:1: [[family]] x: thinking.min: `\"a\"` is not a whole number",
        ),
        ("[[family]]\nmatch = 'x'\n[[family]]\nmatch = 'x'\n", "f.toml:3: [[family]] x: `x` is in another row already"),
        ("[other]\n[[family]]\nmatch = 'x'\n", "f.toml: unknown table `other`"),
        ("[like]\n", "f.toml: there are no [[family]] rows"),
    ] {
        let error = families::family_table("f.toml", text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = families::family_table("f.toml", "[[family]\n").unwrap_err();
    assert!(error.to_string().starts_with("f.toml: TOML parse error at line 1"), "{error}");
}

#[test]
fn the_match_that_spells_out_the_most_wins() {
    for (longer, shorter) in [
        ("gemini-2.5-flash-lite", "gemini-2.5-flash"),
        ("o3-mini", "o3"),
        ("o1-mini", "o1"),
        ("o1-pro", "o1"),
        ("gpt-5.1-codex-max", "gpt-5.1-codex"),
        ("gpt-5.1-codex", "gpt-5.1"),
        ("gpt-5.1", "gpt-5"),
        ("gpt-5-pro", "gpt-5"),
        ("claude-sonnet-5-5", "claude-sonnet-5"),
        ("claude-opus-4-1", "claude-opus-4"),
        ("qwen3-235b-a22b-thinking-2507", "qwen3-235b-a22b"),
        ("gemini-2.5-flash-preview-tts", "gemini-2.5-flash"),
        ("grok-4-fast-non-reasoning", "grok-4-fast-reasoning"),
    ] {
        assert_ne!(rules_for(longer), rules_for(shorter), "{longer} is not {shorter}");
    }
}

#[test]
fn a_match_ends_where_the_word_or_number_ends() {
    let unknown_o = rules_for("o30");
    assert_ne!(unknown_o, rules_for("o3"));
    assert_eq!(unknown_o, rules_for("o5-mini"));
    assert_eq!(rules_for("gpt-50"), rules_for("gpt-6-of-a-new-name"));
    assert_ne!(rules_for("gpt-5.7"), rules_for("gpt-5"), "another version");
    assert_eq!(rules_for("gpt-5-2025-08-07"), rules_for("gpt-5"), "a date");
    assert_eq!(rules_for("gpt-4-0613"), rules_for("gpt-4"));
    assert_eq!(rules_for("gpt-4-32k"), rules_for("gpt-4"));
    assert_eq!(rules_for("claude-opus-4-20250514"), rules_for("claude-opus-4"));
    assert_eq!(rules_for("o300"), &Rules::default(), "three digits are no version");
    assert_eq!(rules_for("o"), &Rules::default());
    assert_eq!(rules_for("claudette"), &Rules::default());
    assert_eq!(rules_for(""), &Rules::default());
    assert_eq!(rules_for("gpt-é"), &Rules::default());
}

#[test]
fn an_id_is_known_in_every_dress() {
    let sonnet = rules_for("claude-sonnet-4-5");
    for id in [
        "claude-sonnet-4.5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5@20250929",
        "anthropic/claude-sonnet-4.5",
        "openrouter/anthropic/claude-sonnet-4.5:beta",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:us-east-1:123:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "Claude-Sonnet-4-5",
    ] {
        assert_eq!(rules_for(id), sonnet, "{id}");
    }
    let pro = rules_for("gemini-2.5-pro");
    for id in
        ["models/gemini-2.5-pro", "google/gemini-2.5-pro", "publishers/google/models/gemini-2.5-pro-preview-06-05"]
    {
        assert_eq!(rules_for(id), pro, "{id}");
    }
    assert_eq!(rules_for("us.amazon.nova-lite-v1:0"), rules_for("nova-pro"));
    assert_eq!(rules_for("openai.gpt-oss-120b-1:0"), rules_for("gpt-oss:20b"));
    assert_eq!(rules_for("deepseek.r1-v1:0"), rules_for("deepseek-reasoner"));
    assert_eq!(rules_for("ft:gpt-4o-mini-2024-07-18:acme::abc"), rules_for("gpt-4o"));
    assert_eq!(rules_for("Qwen/Qwen3-8B"), rules_for("qwen3:8b"));
}

#[test]
fn sampling_by_family() {
    for (model, sampling) in [
        ("claude-3-5-haiku", Sampling::Free),
        ("claude-3-7-sonnet", Sampling::NotWhileThinking),
        ("claude-sonnet-4-0", Sampling::NotWhileThinking),
        ("claude-opus-4-1", Sampling::OneOf),
        ("claude-haiku-4-5", Sampling::OneOf),
        ("claude-sonnet-4-6", Sampling::OneOf),
        ("claude-opus-4-7", Sampling::Refused),
        ("claude-sonnet-5", Sampling::Refused),
        ("claude-of-tomorrow", Sampling::Refused),
        ("gpt-4.1", Sampling::Free),
        ("gpt-5-chat-latest", Sampling::Free),
        ("o3", Sampling::Refused),
        ("gpt-5", Sampling::Refused),
        ("gpt-5.1", Sampling::NotWhileThinking),
        ("gpt-6-sol", Sampling::NotWhileThinking),
        ("gpt-6-astra", Sampling::Refused),
        ("gemini-2.5-pro", Sampling::Free),
        ("gemini-3-pro-preview", Sampling::Discouraged),
        ("gemini-3.6-flash", Sampling::Ignored),
        ("gemini-4-argon", Sampling::Ignored),
    ] {
        assert_eq!(rules_for(model).sampling, sampling, "{model}");
    }
}

#[test]
fn forced_tools_by_family() {
    for (model, forced) in [
        ("claude-3-5-sonnet", ForcedTools::Taken),
        ("claude-sonnet-4-5", ForcedTools::NotWhileThinking),
        ("claude-opus-4-6", ForcedTools::Taken),
        ("claude-opus-5", ForcedTools::Taken),
        ("claude-fable-5", ForcedTools::Taken),
        ("claude-mythos-preview", ForcedTools::Refused),
        ("claude-fable-5-1", ForcedTools::Refused),
        ("claude-mythos-5-2", ForcedTools::Refused),
        ("claude-opus-5-5", ForcedTools::Refused),
        ("claude-sonnet-5-5", ForcedTools::Refused),
        ("claude-haiku-5-5", ForcedTools::Taken),
        ("deepseek-v4", ForcedTools::NotWhileThinking),
        ("o3", ForcedTools::Taken),
    ] {
        assert_eq!(rules_for(model).forced_tools, forced, "{model}");
    }
}

#[test]
fn what_claude_takes_by_generation() {
    // Prefill, system messages, strict tools and schemas, the longest answer.
    for (model, prefill, system_messages, strict, longest) in [
        ("claude-3-7-sonnet-20250219", true, false, false, 64_000),
        ("claude-opus-4-1", true, false, false, 32_000),
        ("claude-opus-4-5", true, false, true, 64_000),
        ("claude-haiku-4-5", true, false, true, 64_000),
        ("claude-opus-4-6", false, false, true, 128_000),
        ("claude-sonnet-4-6", false, false, true, 64_000),
        ("claude-opus-4-7", false, false, true, 128_000),
        ("claude-opus-4-8", false, true, true, 128_000),
        ("claude-sonnet-5", false, false, true, 128_000),
        ("claude-opus-5", false, true, true, 128_000),
        ("claude-fable-5", false, true, true, 128_000),
        ("claude-mythos-preview", false, false, true, 128_000),
        ("claude-sonnet-5-5", false, true, true, 128_000),
        ("claude-of-tomorrow", false, false, true, 64_000),
    ] {
        let rules = rules_for(model);
        assert_eq!(
            (rules.prefill, rules.system_messages, rules.strict_tools, rules.structured_output, rules.max_output),
            (prefill, system_messages, strict, strict, Some(longest)),
            "{model}"
        );
        assert_eq!(rules.bound_state, StateScope::Model);
    }
}

#[test]
fn what_openai_takes_by_family() {
    // Stop sequences, parallel_tool_calls, a system prompt, the Responses API, tools in Chat Completions.
    for (model, stop, parallel, system, responses, tools) in [
        ("gpt-4o", true, true, true, false, ToolsInChat::Taken),
        ("o1-mini", true, false, false, false, ToolsInChat::Taken),
        ("o1", true, false, true, true, ToolsInChat::Taken),
        ("o3-mini", true, false, true, true, ToolsInChat::Taken),
        ("o3", false, true, true, true, ToolsInChat::Taken),
        ("gpt-5", false, true, true, true, ToolsInChat::Taken),
        ("gpt-5.3-codex", false, true, true, true, ToolsInChat::Taken),
        ("gpt-5.4-mini", false, true, true, true, ToolsInChat::NotWithEffort),
        ("gpt-5.5", false, true, true, true, ToolsInChat::NotWithEffort),
        ("gpt-5.6-sol", false, true, true, true, ToolsInChat::NotWhileThinking),
        ("gpt-6-astra", false, true, true, true, ToolsInChat::NotWhileThinking),
        ("gpt-6.1-sol", false, true, true, true, ToolsInChat::NotWhileThinking),
        ("gpt-7", false, true, true, true, ToolsInChat::NotWhileThinking),
    ] {
        let rules = rules_for(model);
        assert_eq!(
            (rules.stop, rules.parallel_tool_calls, rules.system_prompt, rules.responses_api, rules.tools_in_chat),
            (stop, parallel, system, responses, tools),
            "{model}"
        );
    }
    assert!(rules_for("gpt-5.6-luna").cache_breakpoints);
    assert!(!rules_for("gpt-5.5").cache_breakpoints);
    let chat = rules_for("gpt-6.1-sol").thinking.in_chat();
    assert_eq!(*chat.levels, [Level::Low, Level::Med, Level::High, Level::Xhigh]);
}

#[test]
fn what_gemini_takes_by_generation() {
    // Ids of calls, pictures in results, signatures, JSON Schema, schema with tools, a system prompt.
    for (model, ids, media, signatures, json_schema, both, system) in [
        ("gemini-2.0-flash", false, false, false, false, false, true),
        ("gemini-2.5-pro", false, false, false, true, false, true),
        ("gemini-3-pro-preview", true, true, true, true, true, true),
        ("gemini-3-pro-image-preview", true, true, true, true, true, true),
        ("gemini-4-argon", true, true, true, true, true, true),
        ("gemini-flash-latest", true, true, true, true, true, true),
        ("gemini-5-neon", true, true, true, true, true, true),
        ("gemma-3-27b-it", false, false, false, false, false, false),
        ("gemma-4-31b-it", false, false, false, false, true, false),
    ] {
        let rules = rules_for(model);
        assert_eq!(
            (
                rules.call_ids,
                rules.media_in_results,
                rules.signatures_required,
                rules.json_schema_parameters,
                rules.tools_with_structured_output,
                rules.system_prompt
            ),
            (ids, media, signatures, json_schema, both, system),
            "{model}"
        );
    }
}

#[test]
fn the_catalogue_helps_where_no_family_is_known() {
    let facts = |json: serde_json::Value| serde_json::from_value::<crate::catalog::Facts>(json).unwrap();
    let mercury = facts(serde_json::json!({"thinking": true, "efforts": ["none", "high", "low"]}));
    let rule = &rules_for("mercury-2").with_facts(&mercury).thinking.clone();
    assert_eq!(
        (rule.kind, rule.off, &*rule.levels),
        (ThinkingKind::Effort, ThinkingOff::Word, &[Level::Low, Level::High][..])
    );

    let plain = facts(serde_json::json!({"thinking": true}));
    assert_eq!(rules_for("olmo-3-32b-think").with_facts(&plain).thinking.kind, ThinkingKind::Always);
    assert_eq!(&*rules_for("o3").with_facts(&mercury), rules_for("o3"), "a family knows better");
    let silent = facts(serde_json::json!({}));
    assert_eq!(&*rules_for("mercury-2").with_facts(&silent), &Rules::default());
}

#[test]
fn only_models_that_think_are_said_to_think_always() {
    let catalog = crate::catalog::Catalog::shared();
    let kind = |provider: &str, id: &str| {
        let facts = catalog.find(Some(provider), id).unwrap();
        rules_for(id).with_facts(facts).thinking.kind
    };
    for id in [
        "ai21-labs/ai21-jamba-1.5-large",
        "cohere/cohere-command-a",
        "core42/jais-30b-chat",
        "deepseek/deepseek-v3-0324",
        "meta/llama-3.3-70b-instruct",
        "meta/meta-llama-3.1-8b-instruct",
        "microsoft/phi-3-mini-4k-instruct",
        "microsoft/phi-4",
        "mistral-ai/mistral-large-2411",
        "xai/grok-3",
    ] {
        assert_eq!(kind("github-models", id), ThinkingKind::None, "{id}");
    }
    for id in ["microsoft/phi-4-reasoning", "microsoft/mai-ds-r1", "deepseek/deepseek-r1"] {
        assert_eq!(kind("github-models", id), ThinkingKind::Always, "{id}");
    }
    assert_eq!(kind("vertex", "qwen/qwen3-235b-a22b-instruct-2507-maas"), ThinkingKind::None);
    assert_eq!(kind("azure", "cohere-command-a"), ThinkingKind::None);
    assert_eq!(kind("openrouter", "minimax/minimax-m2-her"), ThinkingKind::None);
    let thinks: Vec<&str> = catalog
        .models()
        .filter(|facts| rules_for(&facts.id).with_facts(facts).thinking.kind == ThinkingKind::Always)
        .map(|facts| facts.id.as_ref())
        .filter(|id| ["llama-3", "llama-4", "phi-3", "jamba"].iter().any(|word| id.contains(word)))
        .filter(|id| !id.contains("nemotron") && !id.contains("distill"))
        .collect();
    assert_eq!(thinks, [""; 0], "these do not think");
}

#[test]
fn a_family_that_does_not_think_is_believed_before_the_catalogue() {
    let facts: crate::catalog::Facts = serde_json::from_value(serde_json::json!({"thinking": true})).unwrap();
    for model in ["qwen3-235b-a22b-instruct-2507", "grok-3", "kimi-k2-0905-preview"] {
        assert_eq!(rules_for(model).with_facts(&facts).thinking.kind, ThinkingKind::None, "{model}");
    }
}

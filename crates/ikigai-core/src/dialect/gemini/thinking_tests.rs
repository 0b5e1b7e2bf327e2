use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::catalog::rules_for;
use crate::provider::Quirks;
use crate::wire::Target;
use crate::{Dialect, Limits, Request};

/// Returns `thinkingConfig` and `maxOutputTokens`, and the losses.
fn sent(model: &str, thinking: Thinking, room: Option<i64>) -> (Value, Option<i64>, Vec<String>) {
    let (quirks, rules) = (Quirks::default(), rules_for(model));
    let target = Target { provider: "google", quirks: &quirks, rules, facts: None };
    let request = Request { max_output_tokens: room, ..Request::new(model).user("x").thinking(thinking) };
    let wire = Dialect::Gemini.encode_request(&request, &target, &Limits::default()).unwrap();
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    let config = body["generationConfig"].get("thinkingConfig").cloned().unwrap_or_else(|| json!({}));
    let places = wire.losses.into_iter().map(|loss| loss.place).collect();
    (config, body["generationConfig"]["maxOutputTokens"].as_i64(), places)
}

#[test]
fn budgets_of_the_older_models() {
    for (model, level, budget) in [
        ("gemini-2.5-pro", Level::None, 128),
        ("gemini-2.5-pro", Level::Low, 11_008),
        ("gemini-2.5-pro", Level::Med, 21_888),
        ("gemini-2.5-pro", Level::High, 32_768),
        ("gemini-2.5-flash", Level::Low, 8_192),
        ("gemini-2.5-flash", Level::Med, 16_384),
        ("gemini-2.5-flash", Level::High, 24_576),
        ("gemini-2.5-flash-lite", Level::Low, 8_533),
        ("gemini-2.5-flash-lite", Level::Med, 16_554),
        ("gemini-2.5-flash-lite", Level::High, 24_576),
    ] {
        let (config, _, losses) = sent(model, level.into(), None);
        assert_eq!(config, json!({"thinkingBudget": budget, "includeThoughts": true}), "{model} {level}");
        assert_eq!(losses.is_empty(), level != Level::None, "{model} {level}");
    }
}

#[test]
fn off_is_said_where_silence_would_mean_on() {
    for model in ["gemini-2.5-flash", "gemini-2.5-flash-lite"] {
        assert_eq!(
            sent(model, Level::None.into(), Some(100)),
            (json!({"thinkingBudget": 0}), Some(100), vec![]),
            "{model}"
        );
    }
}

#[test]
fn levels_of_the_newer_models() {
    for (model, level, word, lost) in [
        ("gemini-3-pro", Level::None, "LOW", 1),
        ("gemini-3-pro", Level::Low, "LOW", 0),
        ("gemini-3-pro", Level::Med, "HIGH", 0),
        ("gemini-3-pro", Level::High, "HIGH", 0),
        ("gemini-3.1-pro-preview", Level::Med, "MEDIUM", 0),
        ("gemini-3-flash-preview", Level::None, "MINIMAL", 1),
        ("gemini-3-flash-preview", Level::Max, "HIGH", 1),
        ("gemini-4-argon", Level::Minimal, "LOW", 1),
    ] {
        let (config, _, losses) = sent(model, level.into(), None);
        assert_eq!(config, json!({"thinkingLevel": word, "includeThoughts": true}), "{model} {level}");
        assert_eq!(losses.len(), lost, "{model} {level}");
    }
}

#[test]
fn models_that_do_not_think_are_sent_nothing() {
    for model in ["gemini-2.0-flash", "gemini-of-tomorrow", "gemma-3-27b-it"] {
        assert_eq!(sent(model, Level::None.into(), None), (json!({}), None, vec![]), "{model}");
        let (config, _, losses) = sent(model, Level::High.into(), None);
        assert_eq!((config, losses.len()), (json!({}), 1), "{model}");
    }
}

#[test]
fn the_limit_is_the_room_for_the_visible_answer() {
    let flash = "gemini-2.5-flash";
    assert_eq!(sent(flash, Level::Low.into(), Some(4096)).1, Some(12_288));
    // As far as the model goes, with half of it for the answer.
    let (config, max, losses) = sent("gemini-2.5-pro", Level::High.into(), Some(60_000));
    assert_eq!((config["thinkingBudget"].as_i64(), max), (Some(32_768), Some(65_536)));
    assert_eq!(losses, Vec::<String>::new());
    // An explicit budget leaves the limit alone as long as the answer has any room.
    assert_eq!(
        sent(flash, Thinking::budget(1000), Some(4096)),
        (json!({"thinkingBudget": 1000, "includeThoughts": true}), Some(4096), vec![])
    );
    let (config, max, losses) = sent(flash, Thinking::budget(4096), Some(300));
    assert_eq!(
        (config["thinkingBudget"].as_i64(), max, losses),
        (Some(4096), Some(4396), vec!["max_output_tokens".to_owned()])
    );
    // Levels: sent literally, with a warning if the limit is low.
    let (_, max, losses) = sent("gemini-3-pro", Level::High.into(), Some(500));
    assert_eq!((max, losses), (Some(500), vec!["max_output_tokens".to_owned()]));
}

#[test]
fn explicit_budgets_are_fitted() {
    let flash = |tokens| sent("gemini-2.5-flash", Thinking::budget(tokens), None).0["thinkingBudget"].clone();
    assert_eq!((flash(-1), flash(100_000), flash(5000)), (json!(-1), json!(24_576), json!(5000)));
    let (config, _, losses) = sent("gemini-3-pro", Thinking::budget(30_000), None);
    assert_eq!((config, losses.len()), (json!({"thinkingLevel": "HIGH", "includeThoughts": true}), 1));
}

#[test]
fn thoughts_are_shown_only_where_there_are_any() {
    let default = || Thinking { level: None, budget: None, include_summary: true };
    assert_eq!(sent("gemini-3-pro", default(), None).0, json!({"includeThoughts": true}));
    assert_eq!(sent("gemini-2.5-flash", default(), None).0, json!({"includeThoughts": true}));
    // Does not think by default.
    assert_eq!(sent("gemini-2.5-flash-lite", default(), None).0, json!({}));
    assert_eq!(sent("gemini-2.0-flash", default(), None).0, json!({}));
    assert_eq!(sent("gemini-3-pro", Thinking::from(Level::High).hidden(), None).0, json!({"thinkingLevel": "HIGH"}));
}

#[test]
fn a_clients_wish_is_read() {
    let read = |config: Value| decode(&config.to_string()).unwrap();
    let hidden = |thinking: Thinking| thinking.hidden();
    assert_eq!(read(json!({"thinkingBudget": 0})), hidden(Level::None.into()));
    assert_eq!(read(json!({"thinkingBudget": -1, "includeThoughts": true})), Thinking::budget(-1));
    assert_eq!(read(json!({"thinking_budget": "4096", "include_thoughts": true})), Thinking::budget(4096));
    assert_eq!(read(json!({"thinkingLevel": "MEDIUM"})), hidden(Level::Med.into()));
    assert_eq!(read(json!({"thinking_level": "low", "includeThoughts": true})), Level::Low.into());
    assert_eq!(
        read(json!({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"})),
        Thinking { level: None, budget: None, include_summary: false }
    );
    assert_eq!(read(json!({})), Thinking { level: None, budget: None, include_summary: false });
}

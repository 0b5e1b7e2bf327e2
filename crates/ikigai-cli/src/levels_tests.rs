use ikigai_core::provider::Registry;
use pretty_assertions::assert_eq;

use super::*;

/// Returns the route to a model that is named as people do, and the name alone.
fn route(name: &str) -> (Route<'static>, String) {
    let registry = Registry::shared();
    let name = registry.parse(name).unwrap();
    (registry.route(&name).unwrap(), name.model)
}

fn banner(model: &str, thinking: impl Into<Thinking>) -> String {
    let (route, model) = route(model);
    switch_banner(&route, &model, Some(&thinking.into()))
}

/// Returns the warnings and lines for one setting, in one line.
fn words(model: &str, thinking: impl Into<Thinking>) -> String {
    let words = super::words(&route(model).0, Some(&thinking.into()));
    words.warnings.iter().map(|warning| format!("⚠ {warning}")).chain(words.lines).collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_budget() {
    assert_eq!(
        banner("claude-sonnet-4-5", Level::Med),
        "✓ Switched to Anthropic claude-sonnet-4-5\n  Thinking: medium (43,008 tokens)"
    );
    assert_eq!(
        banner("gemini-2.5-pro", Level::High),
        "✓ Switched to Google gemini-2.5-pro\n  Thinking: high (32,768 tokens)"
    );
}

#[test]
fn a_level_model_that_cannot_be_off() {
    assert_eq!(
        banner("gemini-3-pro", Level::None),
        "✓ Switched to Google gemini-3-pro\n  ⚠ This model does not support disabling thinking\n  Thinking: LOW level (minimum)"
    );
}

#[test]
fn an_effort_through_the_responses_api() {
    assert_eq!(
        banner("o3", Level::Med),
        "✓ Switched to OpenAI o3 (Responses API)\n  Thinking: medium effort (~50% of output budget)\n  Recommended output buffer: 25,000 tokens"
    );
}

#[test]
fn an_effort_model_that_cannot_be_off() {
    let expected = "✓ Switched to OpenAI o3-mini\n  ⚠ This model does not support disabling thinking\n  Thinking: medium effort (default)";
    assert_eq!(banner("o3-mini", Level::None), expected);
    let registry = Registry::shared();
    let in_chat = registry.route_in(&registry.parse("o3-mini").unwrap(), ikigai_core::Dialect::OpenaiChat).unwrap();
    assert_eq!(switch_banner(&in_chat, "o3-mini", Some(&Level::None.into())), expected);
}

#[test]
fn no_wish() {
    for (name, expected) in [
        ("gpt-4o", "✓ Switched to OpenAI gpt-4o"),
        ("o3", "✓ Switched to OpenAI o3 (Responses API)\n  Thinking: medium effort (default)"),
        ("claude-sonnet-4-5", "✓ Switched to Anthropic claude-sonnet-4-5\n  Thinking: off (default)"),
        ("claude-opus-5", "✓ Switched to Anthropic claude-opus-5\n  Thinking: high effort (default)"),
        ("gemini-2.5-pro", "✓ Switched to Google gemini-2.5-pro\n  Thinking: as much as the model chooses (default)"),
        ("gemini-3.5-flash", "✓ Switched to Google gemini-3.5-flash\n  Thinking: MEDIUM level (default)"),
        ("magistral-small", "✓ Switched to Mistral magistral-small\n  Thinking: always on (default)"),
    ] {
        let (route, model) = route(name);
        assert_eq!(switch_banner(&route, &model, None), expected);
    }
}

#[test]
fn the_banner_says_what_is_sent() {
    // The formula gives 64,000, but the budget has to leave room for the answer within the model's 32,000.
    assert_eq!(
        banner("claude-opus-4-1", Level::High),
        "✓ Switched to Anthropic claude-opus-4-1\n  \
         ⚠ A thinking budget of 64000 tokens leaves no room for the answer; 24000 is sent\n  \
         Thinking: high (24,000 tokens)"
    );
    // An unknown model: the table of levels and the banner agree.
    assert_eq!(words("claude-foo-9", Level::Med), "Thinking: medium effort (adaptive)");
    let told = |name: &str| sent(&route(name).0).map(|(_, words)| words).join(" | ");
    for (model, expected) in [
        ("claude-foo-9", "low | low | medium | high"),
        ("claude-opus-4-1", "off | 22,016 tokens | 24,000 tokens | 24,000 tokens"),
        ("claude-sonnet-4-5", "off | 22,016 tokens | 43,008 tokens | 55,808 tokens"),
        ("claude-sonnet-5-5", "between tools | low | medium | high"),
        ("gemini-2.5-pro", "128 tokens | 11,008 tokens | 21,888 tokens | 32,768 tokens"),
        ("gemini-3-pro", "LOW | LOW | HIGH | HIGH"),
        ("gpt-5.4", "off | low | medium | high"),
        ("magistral-small", "on | on | on | on"),
        ("moonshot:kimi-k2.5", "off | on | on | on"),
    ] {
        assert_eq!(told(model), expected, "{model}");
    }
}

#[test]
fn every_kind_has_words_for_every_level() {
    const CANNOT: &str = "⚠ This model does not support disabling thinking | ";
    const BUFFER: &str = " | Recommended output buffer: 25,000 tokens";
    for (model, level, expected) in [
        ("claude-sonnet-4-5", Level::None, "Thinking: off".to_owned()),
        ("claude-sonnet-4-5", Level::Minimal, "Thinking: minimal (1,024 tokens)".to_owned()),
        (
            "claude-sonnet-4-5",
            Level::Max,
            "⚠ This model has no level max; high is sent \
             | ⚠ A thinking budget of 64000 tokens leaves no room for the answer; 55808 is sent \
             | Thinking: high (55,808 tokens)"
                .to_owned(),
        ),
        ("gemini-2.5-pro", Level::None, format!("{CANNOT}Thinking: minimum (128 tokens)")),
        ("gemini-2.5-flash", Level::None, "Thinking: off".to_owned()),
        ("gemini-3-pro", Level::Low, "Thinking: LOW level".to_owned()),
        ("gemini-3-pro", Level::Med, "Thinking: HIGH level (maximum)".to_owned()),
        (
            "gemini-3-flash-preview",
            Level::None,
            "⚠ This model may still think a little at its least level, MINIMAL | Thinking: MINIMAL level (minimum)"
                .to_owned(),
        ),
        ("claude-opus-4-8", Level::None, "Thinking: off".to_owned()),
        ("claude-opus-4-8", Level::Med, "Thinking: medium effort (adaptive)".to_owned()),
        ("claude-sonnet-5-5", Level::None, "Thinking: off, except for short notes between tool calls".to_owned()),
        ("claude-opus-5-5", Level::None, format!("{CANNOT}Thinking: low effort (minimum)")),
        ("gpt-5.1", Level::None, "Thinking: off".to_owned()),
        ("gpt-5", Level::None, format!("{CANNOT}Thinking: minimal effort (minimum)")),
        ("gpt-5", Level::Minimal, "Thinking: minimal effort (~10% of output budget)".to_owned()),
        ("gpt-5.2", Level::Low, format!("Thinking: low effort (~20% of output budget){BUFFER}")),
        ("gpt-5.2", Level::High, format!("Thinking: high effort (~80% of output budget){BUFFER}")),
        ("gpt-5.2", Level::Xhigh, format!("Thinking: xhigh effort (~95% of output budget){BUFFER}")),
        ("gpt-6-sol", Level::Max, format!("Thinking: max effort{BUFFER}")),
        ("gpt-5-pro", Level::None, format!("{CANNOT}Thinking: high effort (minimum)")),
        ("moonshot:kimi-k2.5", Level::None, "Thinking: off".to_owned()),
        ("moonshot:kimi-k2.5", Level::High, "Thinking: on".to_owned()),
        ("magistral-small", Level::None, format!("{CANNOT}Thinking: always on")),
        ("magistral-small", Level::High, "Thinking: always on".to_owned()),
        ("gpt-4o", Level::None, "Thinking: off".to_owned()),
        ("gpt-4o", Level::High, "⚠ This model is not known to think; nothing is sent | Thinking: off".to_owned()),
    ] {
        assert_eq!(words(model, level), expected, "{model} {level}");
    }
}

#[test]
fn explicit_budgets_have_words() {
    let mut both = Thinking::budget(50_000);
    both.level = Some(Level::Med);
    assert_eq!(words("claude-sonnet-4-5", both), "Thinking: custom (50,000 tokens)");
    assert_eq!(words("claude-opus-5", Thinking::budget(-1)), "Thinking: as much as the model chooses");
    assert_eq!(words("gemini-2.5-pro", Thinking::budget(-1)), "Thinking: as much as the model chooses");
    assert_eq!(
        words("o3", Thinking::budget(5_000)),
        "⚠ This model accepts levels, not budgets; low is sent for 5000 tokens | Thinking: low effort (~20% of output budget) | Recommended output buffer: 25,000 tokens"
    );
    assert_eq!(words("claude-sonnet-4-5", Thinking::budget(0)), "Thinking: off");
}

#[test]
fn what_can_be_seen() {
    for (model, expected) in [
        ("claude-3-7-sonnet", "all of it"),
        ("claude-sonnet-4-5", "a summary"),
        ("claude-opus-4-7", "a summary when asked for, otherwise the number of tokens"),
        ("gemini-2.5-pro", "a summary when asked for, otherwise the number of tokens"),
        ("o3", "a summary when asked for, otherwise the number of tokens"),
        ("o1-mini", "only the number of tokens"),
        ("deepseek-r1", "all of it"),
        ("gpt-4o", "nothing: it does not think"),
    ] {
        assert_eq!(visibility(&ikigai_core::catalog::rules_for(model).thinking), expected, "{model}");
    }
}

#[test]
fn a_model_whose_id_begins_with_its_providers_is_told_right() {
    assert_eq!(
        banner("mistral:mistral-small-latest", Level::High),
        "✓ Switched to Mistral mistral-small-latest\n  Thinking: high effort (~80% of output budget)"
    );
    assert_eq!(
        banner("deepseek:deepseek-chat", Level::Low),
        "✓ Switched to DeepSeek deepseek-chat\n  Thinking: low effort (~20% of output budget)"
    );
}

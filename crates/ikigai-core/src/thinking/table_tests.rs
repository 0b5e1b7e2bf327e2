use pretty_assertions::assert_eq;

use super::*;

#[test]
fn the_table_of_each_kind() {
    for (model, expected) in [
        ("claude-sonnet-4-5", r#"[1024,22016,43008,64000]"#),
        ("claude-opus-4-5", r#"[1024,22016,43008,64000]"#),
        ("claude-of-tomorrow", r#"[1024,22016,43008,64000]"#),
        ("claude-haiku-4-5", r#"[1024,11349,21674,32000]"#),
        ("claude-3-7-sonnet", r#"[1024,11349,21674,32000]"#),
        ("gemini-2.5-pro", r#"[128,11008,21888,32768]"#),
        ("gemini-2.5-flash", r#"[0,8192,16384,24576]"#),
        ("gemini-2.5-flash-lite", r#"[512,8533,16554,24576]"#),
        ("gemini-3-pro", r#"["LOW","LOW","HIGH","HIGH"]"#),
        ("gemini-3-flash-preview", r#"["MINIMAL","LOW","MEDIUM","HIGH"]"#),
        ("gemini-of-tomorrow", r#"[-1,-1,-1,-1]"#),
        ("o1", r#"["medium","low","medium","high"]"#),
        ("o3-mini", r#"["medium","low","medium","high"]"#),
        ("o3", r#"["low","low","medium","high"]"#),
        ("gpt-5", r#"["minimal","low","medium","high"]"#),
        ("gpt-5.1", r#"["none","low","medium","high"]"#),
        ("gpt-5-pro", r#"["high","high","high","high"]"#),
        ("gpt-4o", r#"[null,null,null,null]"#),
        ("claude-opus-4-7", r#"["off","low","medium","high"]"#),
        ("claude-sonnet-5-5", r#"["between_tools","low","medium","high"]"#),
        ("claude-opus-5-5", r#"["low","low","medium","high"]"#),
        ("kimi-k2.5", r#"["off","on","on","on"]"#),
        ("magistral-small", r#"["on","on","on","on"]"#),
    ] {
        let values = thinking_table(model).map(|(_, value)| value);
        assert_eq!(serde_json::to_string(&values).unwrap(), expected, "{model}");
    }
}

#[test]
fn levels_beyond_the_four_have_the_budgets_of_their_neighbours() {
    let rule = &rules_for("claude-sonnet-4-5").thinking;
    assert_eq!(
        Level::ALL.map(|level| thinking_budget(rule, level)),
        [1024, 1024, 22_016, 43_008, 64_000, 64_000, 64_000].map(Some)
    );
    assert_eq!(thinking_budget(&rules_for("o3").thinking, Level::Med), None);
}

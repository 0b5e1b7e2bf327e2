//! Roles, templates, model options, short schemas, cost limits: how `ask` applies the settings.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Home, Said, Simulator};

const KEY: &str = "sk-test-0123456789";
const SETTINGS: &str = r#"
model = "claude-haiku-4-5"

[roles.reviewer]
prompt = "You review code."
model = "gpt-4o"

[roles.thinker]
prompt = "Think."
thinking = "low"

[templates.translate]
text = "Into {{language}}: {{input}}"

[models."claude-*"]
temperature = 0.5
stop = ["END"]

[models."gpt-*"]
max_output_tokens = 77
"#;

fn house(script: &str) -> (Simulator, Home) {
    let home = Home::new().file("script.toml", script).file("config.toml", SETTINGS);
    let simulator = Simulator::with(&["--script", home.path("script.toml").to_str().unwrap()]);
    let url = simulator.url();
    let home = home.variable("ANTHROPIC_API_KEY", KEY).variable("ANTHROPIC_BASE_URL", url.clone());
    let home = home.variable("OPENAI_API_KEY", KEY).variable("OPENAI_BASE_URL", format!("{url}/v1"));
    (simulator, home)
}

/// Returns the body of the request that would be sent.
fn body(home: &Home, arguments: &[&str], input: &str) -> Value {
    let said = home.piped(&[&["ask", "--dry-run"], arguments].concat(), input);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    let mut printed: Value = serde_json::from_str(&said.stdout).unwrap();
    printed.get_mut("body").unwrap().take()
}

#[test]
fn a_role_brings_its_prompt_its_model_and_its_level() {
    let (_simulator, home) = house("");
    let plain = body(&home, &["hi"], "");
    assert_eq!(
        (&plain["model"], &plain["temperature"], plain.get("system")),
        (&json!("claude-haiku-4-5"), &json!(0.5), None)
    );
    let role = body(&home, &["--role", "reviewer", "hi"], "");
    assert_eq!((&role["model"], &role["max_output_tokens"]), (&json!("gpt-4o"), &json!(77)), "{role:#}");
    assert!(role.to_string().contains("You review code."), "{role:#}");
    // Explicit options take precedence.
    let asked =
        body(&home, &["--role", "reviewer", "-m", "haiku", "-s", "Other.", "-o", "temperature", "0.1", "hi"], "");
    assert_eq!((&asked["model"], &asked["temperature"]), (&json!("claude-haiku-4-5"), &json!(0.1)));
    assert!(!asked.to_string().contains("You review code.") && asked.to_string().contains("Other."), "{asked:#}");
    // The level is kept, and what it rules out is reported.
    let said = home.piped(&["ask", "--dry-run", "--role", "thinker", "hi"], "");
    let loss = "dropped: temperature (this model does not accept it while it thinks)\n";
    assert_eq!((said.stdout.contains("\"type\": \"enabled\""), said.stderr.as_str()), (true, loss), "{}", said.stdout);
    let said = home.piped(&["ask", "--role", "reviever", "hi"], "");
    let stderr =
        "error: unknown role `reviever`\n  Did you mean `reviewer`?\n\nFor more information, try --help.\n".to_owned();
    assert_eq!(said, Said { code: Some(2), stdout: String::new(), stderr });
}

#[test]
fn a_template_is_filled_from_words_and_from_a_pipe() {
    let (_simulator, home) = house("");
    let ask = |words: &[&str], input: &str| home.piped(&[&["ask", "--template", "translate"], words].concat(), input);
    assert_eq!(ask(&["language=French", "Good", "day"], "").stdout, "You said: “Into French: Good day” (4 words).\n");
    assert_eq!(ask(&["language=French"], "Good day\n").stdout, "You said: “Into French: Good day” (4 words).\n");
    let said = ask(&["Good day"], "");
    let what = "error: template `translate` needs a value for `{{language}}`\n  For example: translate language=…\n";
    assert_eq!((said.code, said.stderr.starts_with(what)), (Some(2), true), "{}", said.stderr);
}

#[test]
fn a_short_schema_is_enough_and_the_answer_is_checked() {
    let (_simulator, home) = house("");
    let said = home.piped(&["ask", "--schema", "city, age int, tags string[]?", "city: Oslo, age: 7"], "");
    let value: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    assert_eq!((&value["city"], &value["age"], said.code), (&json!("Oslo"), &json!(7), Some(0)));
    let said = home.piped(&["ask", "--schema", "city, age in", "hi"], "");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--schema, field 2 (`age in`): unknown type `in`"), "{}", said.stderr);
    let (_simulator, home) = house("[[reply]]\ntimes = 0\ntext = '{\"city\": 5}'\n");
    let said = home.piped(&["ask", "-m", "gpt-4o", "--schema", "city", "hi"], "");
    assert_eq!(said.code, Some(7), "{said:?}");
}

/// A model that writes a lot before it calls a tool.
fn wordy() -> String {
    let words = "word ".repeat(4000);
    let call = "tool_calls = [{ name = \"list_dir\", arguments = { path = \".\" } }]";
    format!(
        "[[reply]]\nwhen = {{ text = \"look\" }}\ntext = \"{words}\"\n{call}\n[[reply]]\ntimes = 0\ntext = \"Empty.\"\n"
    )
}

#[test]
fn what_is_asked_may_not_cost_more_than_allowed() {
    let (_simulator, home) = house(&wordy());
    let ask = |more: &[&str]| home.piped(&[&["ask", "--max-cost"], more].concat(), "");
    assert_eq!(ask(&["0.01", "hi"]).stdout, "Empty.\n");
    // Too expensive before it is sent: nothing is saved.
    let before = home.said(&["history", "list"]).stdout;
    let said = ask(&["0.000001", "a question of some twenty tokens, which is dearer than that"]);
    let stderr = "error: sending this would bring the cost to at least $0.000014; --max-cost is $0.000001\n  \
                  Raise --max-cost, or use a cheaper model.\n";
    assert_eq!(said, Said { code: Some(1), stdout: String::new(), stderr: stderr.to_owned() });
    assert_eq!(home.said(&["history", "list"]).stdout, before);
    // An unknown price.
    let said = ask(&["1", "-m", "openai:gpt-99!", "hi"]);
    assert!(
        said.stderr.starts_with("error: the price of gpt-99 is unknown, so --max-cost cannot be checked\n"),
        "{said:?}"
    );
    assert_eq!(said.code, Some(1));
    // With several models, the costs add up.
    let said =
        ask(&["0.00004", "-m", "haiku", "-m", "gpt-4o", "a question of some twenty tokens, which is dearer than that"]);
    assert!(said.stderr.starts_with("error: sending this would bring the cost to at least $0.000049"), "{said:?}");
    // An invalid value is reported by the parser.
    assert_eq!(ask(&["much", "hi"]).code, Some(2));
    for form in ["--stream", "--no-stream"] {
        let (_simulator, home) = house(&wordy());
        let said = home.piped(&["ask", "--max-cost", "0.02", form, "--tools", "look"], "");
        assert_eq!((said.code, said.stdout.contains("Empty.")), (Some(1), false), "{said:?}");
        assert!(said.stderr.contains("the conversation has cost $0.02"), "{}", said.stderr);
        // With a higher limit it continues.
        let (_simulator, home) = house(&wordy());
        let said = home.piped(&["ask", "--max-cost", "0.2", form, "--tools", "look"], "");
        assert_eq!((said.code, said.stdout.contains("Empty.")), (Some(0), true), "{said:?}");
    }
}

#[test]
fn a_trusted_folder_is_followed_and_another_one_is_told() {
    let (_simulator, home) = house("");
    let work = home.path("work");
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(work.join("AGENTS.md"), "Use tabs.").unwrap();
    let said = home.piped(&["ask", "--dry-run", "hi"], "");
    assert_eq!(said.stderr, "AGENTS.md is not used: this folder is not trusted. Run `ikigai trust` to use it.\n");
    assert!(!said.stdout.contains("tabs"), "{}", said.stdout);
    // Errors in it do not matter as long as the folder is not trusted.
    std::fs::write(work.join(".ikigai.toml"), "model = ").unwrap();
    let said = home.piped(&["ask", "--dry-run", "hi"], "");
    let note = "AGENTS.md and .ikigai.toml are not used: this folder is not trusted. Run `ikigai trust` to use them.\n";
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), note));
    std::fs::write(work.join(".ikigai.toml"), "model = \"gpt-4o\"").unwrap();
    assert_eq!(home.said(&["trust"]).code, Some(0));
    let followed = body(&home, &["hi"], "");
    assert_eq!((&followed["model"], followed.to_string().contains("Use tabs.")), (&json!("gpt-4o"), true));
    let without = body(&home, &["--no-project", "hi"], "");
    assert_eq!((&without["model"], without.to_string().contains("Use tabs.")), (&json!("claude-haiku-4-5"), false));
    std::fs::write(work.join(".ikigai.toml"), "model = \"o3\"").unwrap();
    let said = home.piped(&["ask", "--dry-run", "hi"], "");
    assert_eq!(said.stderr, "The .ikigai.toml here has changed and is not used. Run `ikigai trust` to use it.\n");
    // After a refusal, nothing is reported again.
    assert_eq!(home.said(&["trust", "--remove"]).code, Some(0));
    assert_eq!(body(&home, &["hi"], "")["model"], json!("claude-haiku-4-5"));
}

#[test]
fn a_misspelt_model_is_told_in_words_for_scripts() {
    let (_simulator, home) = house("");
    let said = home.piped(&["ask", "-m", "claude-haku-4-5", "hi"], "");
    assert!(said.stderr.contains("did you mean claude-haiku-4-5"), "{}", said.stderr);
    assert!(
        said.stderr.contains("`ikigai models list` lists the models.") && !said.stderr.contains("/model"),
        "{}",
        said.stderr
    );
}

//! `ikigai ask -m A -m B`: several models answer the same question.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Home, Said, Simulator};

const KEY: &str = "sk-test-0123456789";
const SCRIPT: &str = r#"
[[reply]]
when = { model = "claude-*" }
times = 0
text = "one\ntwo"
fault = "slow_first_byte,ms=300"

[[reply]]
when = { model = "gpt-4o" }
times = 0
text = "drei"

[[reply]]
when = { model = "gpt-4.1" }
times = 0
text = "one two three four five six seven eight"
fault = "cut_before_end"

[[reply]]
when = { model = "gpt-4o-mini" }
times = 0
fault = "status=400"
"#;

fn house() -> (Simulator, Home) {
    let home = Home::new().file("script.toml", SCRIPT);
    let simulator = Simulator::with(&["--script", home.path("script.toml").to_str().unwrap()]);
    let url = simulator.url();
    let home = home.variable("ANTHROPIC_API_KEY", KEY).variable("ANTHROPIC_BASE_URL", url.clone());
    let home = home.variable("OPENAI_API_KEY", KEY).variable("OPENAI_BASE_URL", format!("{url}/v1"));
    (simulator, home)
}

fn ask(home: &Home, models: &[&str], more: &[&str]) -> Said {
    let mut arguments = vec!["ask"];
    models.iter().for_each(|model| arguments.extend(["-m", model]));
    arguments.extend(more);
    home.piped(&arguments, "")
}

#[test]
fn the_answers_come_in_the_order_of_the_models() {
    let (_simulator, home) = house();
    let said = ask(&home, &["claude-haiku-4-5", "gpt-4o"], &["hi"]);
    let stdout = "## claude-haiku-4-5\n\none\ntwo\n\n## gpt-4o\n\ndrei\n".to_owned();
    assert_eq!(said, Said { code: Some(0), stdout, stderr: String::new() });
    // The first answer is in the conversation, the other one in a branch.
    let list = home.said(&["history", "list", "--json"]).stdout;
    assert_eq!(list.matches("\"title\": \"hi\"").count(), 2, "{list}");
}

#[test]
fn a_model_that_fails_does_not_stop_the_others() {
    let (_simulator, home) = house();
    let said = ask(&home, &["gpt-4o-mini", "gpt-4o"], &["-u", "hi"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), "## gpt-4o-mini\n\n\n## gpt-4o\n\ndrei\n"));
    assert!(said.stderr.contains("error: gpt-4o-mini: "), "{}", said.stderr);
    assert!(said.stderr.contains("gpt-4o: 8 in · 1 out · <$0.0001 · "), "{}", said.stderr);
}

#[test]
fn json_is_an_array() {
    let (_simulator, home) = house();
    let said = ask(&home, &["gpt-4o", "gpt-4o-mini"], &["--json", "hi"]);
    let mut all: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    for one in &mut all {
        let fields = one.as_object_mut().unwrap();
        assert!(fields.remove("seconds").unwrap().as_f64().unwrap() >= 0.0);
    }
    // The failed answer left no branch behind.
    let id = all[0].as_object_mut().unwrap().remove("conversation").unwrap();
    let list = home.said(&["history", "list"]).stdout;
    assert_eq!((list.lines().count(), list.contains(id.as_str().unwrap())), (2, true), "{list}");
    let usage = json!({
        "input_tokens": 8, "output_tokens": 1, "thinking_tokens": 0, "cached_tokens": 0, "cache_read_tokens": 0,
        "cache_write_tokens": 0, "total_tokens": 9,
    });
    let error = all[1].as_object_mut().unwrap().remove("error").unwrap();
    assert!(error.as_str().unwrap().contains("400"), "{error}");
    let whole = json!({
        "model": "gpt-4o", "provider": "openai", "text": "drei", "finish_reason": "stop", "cost": 0.00003,
        "usage": usage,
    });
    assert_eq!(all, [whole, json!({"model": "gpt-4o-mini", "provider": "openai", "text": ""})]);
    assert_eq!(said.code, Some(1));
}

#[test]
fn an_answer_that_breaks_off_is_kept_as_far_as_it_came() {
    let (_simulator, home) = house();
    let said = ask(&home, &["gpt-4o", "gpt-4.1"], &["--json", "hi"]);
    let all: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!((&all[0]["text"], all[0].get("error")), (&json!("drei"), None));
    assert!(all[1]["text"].as_str().unwrap().starts_with("one two") && all[1]["error"].is_string(), "{all:?}");
    let shown = home.said(&["history", "show", all[1]["conversation"].as_str().unwrap(), "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let kept = &shown["messages"][1];
    assert_eq!((&kept["state"], &kept["message"]["model"]), (&json!("cut"), &json!("gpt-4.1")), "{kept:#}");
    // Its cost is an estimate, which the conversation shows and the answer does not.
    assert!(kept["cost"].is_number() && all[1].get("cost").is_none(), "{kept:#}");
}

#[test]
fn a_question_that_the_first_model_did_not_answer_is_not_sent_again() {
    let (_simulator, home) = house();
    let said = ask(&home, &["gpt-4o-mini", "gpt-4o"], &["--json", "first"]);
    let all: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let sent = |place: usize| {
        let id = all[place]["conversation"].as_str().unwrap();
        let said = home.piped(&["ask", "--cid", id, "--dry-run", "second"], "");
        ["first", "second"].map(|question| said.stdout.contains(question))
    };
    assert_eq!(sent(0), [false, true]);
    // The other model answered it.
    assert_eq!(sent(1), [true, true]);
    // Nor does a comparison send it: as with a single question, eight tokens are sent.
    let id = all[0]["conversation"].as_str().unwrap();
    let said = ask(&home, &["gpt-4o", "gpt-4o-mini"], &["--json", "--cid", id, "hi"]);
    let all: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(all[0]["usage"]["input_tokens"], json!(8));
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_sent() {
    let (_simulator, home) = house();
    let refused = |models: &[&str], more: &[&str], words: &str| {
        let said = ask(&home, models, more);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{said:?}");
        assert!(said.stderr.contains(words), "{}", said.stderr);
    };
    refused(&["o3", "gpt-4o"], &["--tools", "hi"], "--tools works with one model, not 2");
    refused(&["o3", "gpt-4o"], &["--search", "hi"], "--search works with one model, not 2");
    refused(&["o3", "gpt-4o"], &["--format", "jsonl", "hi"], "--format jsonl works with one model, not 2");
    refused(&["o3"; 5], &["hi"], "5 models are too many; compare at most 4");
    let said = ask(&home, &["gpt-4o", "gpt-4p"], &["hi"]);
    assert!(said.code != Some(0) && said.stderr.contains("gpt-4p"), "{said:?}");
    assert_eq!(home.said(&["history", "list"]).stdout, "");
}

//! `ikigai ask`: what scripts get, and how it exits.

use std::io::{BufReader, Read as _};
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Home, Said, Simulator};

const KEY: &str = "sk-test-0123456789";
const SIMULATED: &str = "The built-in simulator answers, not a model. For a model: `ikigai keys set PROVIDER`, or set \
                         ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY …\n";

/// Returns a simulator that answers by a script, and a home that is configured for it.
fn scripted(script: &str) -> (Simulator, Home) {
    let home = Home::new().file("script.toml", script);
    let simulator = Simulator::with(&["--script", home.path("script.toml").to_str().unwrap()]);
    let url = simulator.url();
    let home = home.variable("ANTHROPIC_API_KEY", KEY).variable("ANTHROPIC_BASE_URL", url.clone());
    let home = home.variable("OPENAI_API_KEY", KEY).variable("OPENAI_BASE_URL", format!("{url}/v1"));
    (simulator, home)
}

fn ask(home: &Home, more: &[&str]) -> Said {
    let mut arguments = vec!["ask", "-m", "claude-haiku-4-5"];
    arguments.extend(more);
    home.piped(&arguments, "")
}

fn answered(text: &str) -> Said {
    Said { code: Some(0), stdout: text.to_owned(), stderr: String::new() }
}

#[test]
fn a_script_without_a_key_gets_no_simulated_answer() {
    let stderr = "error: no API key found: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another provider's\n  \
                  Or store one with `ikigai keys set PROVIDER`. Use `--sim` to ask the built-in simulator.\n";
    let none = |stderr: &str| Said { code: Some(3), stdout: String::new(), stderr: stderr.to_owned() };
    let home = Home::new();
    assert_eq!(home.piped(&["ask", "Why", "is the sky blue?"], ""), none(stderr));
    let stderr = "error: there is no key for Anthropic: set ANTHROPIC_API_KEY\n  \
                  Or store one with: ikigai keys set anthropic\n";
    assert_eq!(home.piped(&["ask", "-m", "claude-haiku-4-5", "hi"], ""), none(stderr));
    // Nothing was saved.
    assert_eq!(home.said(&["history", "list"]).stdout, "");
}

#[test]
fn the_simulator_answers_on_request_and_never_passes_for_a_model() {
    let home = Home::new();
    for arguments in [&["ask", "--sim"][..], &["ask", "-m", "sim"], &["ask", "--sim", "-m", "claude-sonnet-4-5/low"]] {
        let said = home.piped(&[arguments, &["Why", "is the sky blue?"]].concat(), "");
        let stdout = "You said: “Why is the sky blue?” (5 words).\n".to_owned();
        assert_eq!(said, Said { code: Some(0), stdout, stderr: SIMULATED.to_owned() });
    }
    // Saved as an answer of no real provider, without a cost.
    let shown: Value = serde_json::from_str(&home.said(&["history", "show", "last", "--json"]).stdout).unwrap();
    let answer = &shown["messages"][1];
    assert_eq!(answer["message"]["provider"], json!("simulator"), "{shown:#}");
    assert_eq!((&answer["cost"], &answer["metadata"]["simulated"]), (&Value::Null, &json!("anthropic")));
    // Its sealed state goes to no provider.
    let said = home.piped(&["ask", "-c", "--dry-run", "-m", "claude-sonnet-4-5/low", "go on"], "");
    assert!(said.stdout.contains("go on") && !said.stdout.contains("signature"), "{}", said.stdout);
    // It does go back to the simulator.
    let said = home.piped(&["ask", "-c", "--sim", "-m", "claude-sonnet-4-5/low", "What is 2+2?"], "");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), SIMULATED));
}

#[test]
fn what_is_piped_in_is_the_question_or_goes_with_it() {
    let home = Home::new();
    assert_eq!(home.piped(&["ask", "--sim"], "2+2").stdout, "2+2 = 4\n");
    assert_eq!(home.piped(&["ask", "--sim", "-"], "2+2").stdout, "2+2 = 4\n");
    let said = home.piped(&["ask", "--sim", "review this"], "fn main() {}\n").stdout;
    assert_eq!(said, "You said: “review this\n\n```stdin\nfn main() {}\n```” (7 words).\n");
}

#[test]
fn json_is_the_canonical_response_with_its_cost() {
    let (_simulator, home) = scripted("");
    let said = home.piped(&["ask", "-m", "claude-sonnet-4-5", "--json"], "hi");
    let value: Value = serde_json::from_str(&said.stdout).unwrap();
    let usage = json!({
        "input_tokens": 8, "output_tokens": 6, "thinking_tokens": 0, "cached_tokens": 0, "cache_read_tokens": 0,
        "cache_write_tokens": 0, "total_tokens": 14,
    });
    assert_eq!(value["usage"], usage);
    assert_eq!(value["content"], json!([{"type": "text", "text": "You said: “hi” (1 word)."}]));
    assert_eq!((&value["provider"], &value["cost"]), (&json!("anthropic"), &json!(0.000114)));
    assert_eq!(value.get("simulated"), None);
    // What cost nothing has no cost.
    let said = Home::new().piped(&["ask", "--sim", "--json"], "hi");
    let value: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&value["provider"], &value["simulated"]), (&json!("simulator"), &json!(true)));
    assert_eq!(value.get("cost"), None);
}

const SEARCHED: &str = r#"
[[reply]]
times = 0
[reply.response]
model = "claude-sonnet-4-5"
finish_reason = "stop"
content = [
    { type = "provider_call", id = "srvtoolu_1", tool = "web_search", name = "web_search", arguments = { query = "Oslo" } },
    { type = "provider_result", call_id = "srvtoolu_1", tool = "web_search", sources = [{ url = "https://www.ssb.no", title = "SSB" }] },
    { type = "text", text = "Oslo has 717 710 people.", citations = [
        { source = { type = "url", url = "https://www.ssb.no", title = "SSB" }, cited_text = "Oslo: 717 710" },
    ] },
]
"#;

#[test]
fn a_search_is_asked_for_and_its_sources_come_with_the_answer() {
    let (_simulator, home) = scripted(SEARCHED);
    let dry = home.piped(&["ask", "-m", "claude-sonnet-4-5", "--search", "--code", "--dry-run"], "Oslo?");
    let body: Value = serde_json::from_str(&dry.stdout).unwrap();
    let names: Vec<&Value> = body["body"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["web_search", "code_execution"]);
    let said = home.piped(&["ask", "-m", "claude-sonnet-4-5", "--search", "--json"], "Oslo?");
    let value: Value = serde_json::from_str(&said.stdout).unwrap();
    let citation = &value["content"][2]["citations"][0];
    assert_eq!(citation["source"], json!({"type": "url", "url": "https://www.ssb.no", "title": "SSB"}));
    assert_eq!(citation["cited_text"], "Oslo: 717 710");
    assert_eq!(value["content"][1]["sources"][0]["url"], "https://www.ssb.no");
    // In a pipe, the text is unchanged; when drawn, it has marks and sources.
    assert_eq!(ask(&home, &["--search", "Oslo?"]), answered("Oslo has 717 710 people.\n"));
    let drawn = "* web_search Oslo\nOslo has 717 710 people.[1]\n\n[1] SSB - https://www.ssb.no\n";
    for stream in ["--stream", "--no-stream"] {
        let said = home.piped(&["ask", "-m", "claude-sonnet-4-5", "--search", "--format", "markdown", stream], "Oslo?");
        assert_eq!(said.stdout, drawn, "{stream}");
    }
    // The conversation remembers which tools the provider may run, and Markdown shows the sources as footnotes.
    let again = home.piped(&["ask", "--continue", "--dry-run"], "And Bergen?");
    let body: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(body["body"]["tools"][0]["name"], "web_search");
    let kept = home.piped(&["history", "show", "last", "--format", "markdown"], "").stdout;
    let expected = "*[web_search: Oslo]*\n\nOslo has 717 710 people.[^1]\n";
    assert!(kept.contains(expected) && kept.ends_with("\n\n[^1]: [SSB](<https://www.ssb.no>)\n"), "{kept}");
    let text = home.piped(&["history", "show", "last", "--format", "text"], "").stdout;
    assert!(text.contains("people.[1]\n\n[1] SSB - https://www.ssb.no\n"), "{text}");
}

#[test]
fn json_lines_are_the_events() {
    let said = Home::new().piped(&["ask", "--sim", "--format", "jsonl"], "hi");
    let events: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"start"), Some(&"done")));
    let text: String = events.iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(text, "You said: “hi” (1 word).");
    let whole = Home::new().piped(&["ask", "--sim", "--format", "jsonl", "--no-stream"], "hi");
    assert_eq!((whole.code, whole.stdout.lines().last().is_some_and(|line| line.contains("done"))), (Some(0), true));
}

#[test]
fn the_answer_when_it_is_whole_is_the_same() {
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\ntext = \"one\\ntwo\"\n");
    assert_eq!(ask(&home, &["hi"]), answered("one\ntwo\n"));
    assert_eq!(ask(&home, &["--no-stream", "hi"]), answered("one\ntwo\n"));
}

#[test]
fn thinking_and_what_it_took_go_to_standard_error() {
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\nthinking = \"Hm.\"\ntext = \"Yes.\"\n");
    let arguments = ["ask", "-m", "claude-haiku-4-5/low", "--thinking", "-u", "hi"];
    let said = home.piped(&arguments, "");
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Yes.\n"));
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines[0], "Hm.");
    assert!(
        lines[1].contains(" in · ") && lines[1].contains(" out · ") && lines[1].contains(" · <$0.0001 · "),
        "{lines:?}"
    );
}

#[test]
fn the_last_conversation_goes_on() {
    let home = Home::new();
    home.piped(&["ask", "--sim", "My favourite number is 7."], "");
    assert_eq!(
        home.piped(&["ask", "--sim", "-c", "What is my favourite number?"], "").stdout,
        "Your favourite number is 7.\n"
    );
    let fresh = home.piped(&["ask", "--sim", "--no-save", "What is my favourite number?"], "");
    assert!(!fresh.stdout.contains('7'), "{}", fresh.stdout);
    let nothing = Home::new().piped(&["ask", "--sim", "-c", "hi"], "");
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.stderr.ends_with("error: there is no conversation to continue\n"), "{}", nothing.stderr);
}

#[test]
fn another_model_goes_on_with_the_conversation() {
    let home = Home::new();
    home.piped(&["ask", "--sim", "-m", "claude-sonnet-4-5/low", "My favourite number is 7."], "");
    for model in ["o3/med", "gemini-2.5-pro", "openai:gpt-4o-mini"] {
        let said = home.piped(&["ask", "--sim", "-c", "-m", model, "What is my favourite number?"], "");
        assert_eq!(said.stdout, "Your favourite number is 7.\n", "{model}: {}", said.stderr);
    }
}

#[test]
fn a_schema_gives_a_value_that_matches() {
    let schema = r#"{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"],"additionalProperties":false}"#;
    let home = Home::new().file("invoice.json", schema);
    let file = home.path("invoice.json");
    let said = home.piped(&["ask", "--sim", "--schema", file.to_str().unwrap(), "amount: 120"], "");
    assert_eq!(serde_json::from_str::<Value>(&said.stdout).unwrap(), json!({"amount": 120.0}));
}

#[test]
fn only_the_code_is_printed_on_request() {
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\ntext = \"Here:\\n```sh\\nls -l\\n```\\nDone.\"\n");
    assert_eq!(ask(&home, &["-x", "hi"]), answered("ls -l\n"));
}

#[test]
fn tools_that_read_run_and_others_need_leave() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("work")).unwrap();
    std::fs::write(home.path("work/notes.txt"), "buy milk\n").unwrap();
    let said = home.piped(&["ask", "--sim", "--tools", "use read_file path=\"notes.txt\""], "");
    assert!(said.stdout.contains("buy milk"), "{said:?}");
    assert!(said.stderr.contains("● read_file notes.txt\n"), "{said:?}");
    let said = home.piped(&["ask", "--sim", "--tools", "use shell command=\"touch made\""], "");
    assert!(said.stderr.contains("● shell touch made · not allowed\n"), "{said:?}");
    assert!(!home.path("work/made").exists());
    home.piped(&["ask", "--sim", "--tools", "--allow", "shell", "use shell command=\"touch made\""], "");
    assert!(home.path("work/made").exists());
}

#[test]
fn a_dry_run_sends_nothing_and_shows_no_key() {
    let home = Home::new().variable("ANTHROPIC_API_KEY", KEY).variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    let said = home.piped(&["ask", "--dry-run", "-m", "claude-sonnet-4-5/low", "-o", "top_p", "0.5", "hi"], "");
    assert_eq!(said.code, Some(0), "{said:?}");
    let shown: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(shown["url"], json!("http://127.0.0.1:1/v1/messages"));
    assert_eq!(shown["headers"]["x-api-key"], json!("[key]"));
    assert_eq!(shown["body"]["thinking"], json!({"type": "enabled", "budget_tokens": 22016}));
    assert!(said.stderr.contains("top_p"), "the loss is told: {}", said.stderr);
    assert!(!format!("{said:?}").contains(KEY));
}

#[test]
fn options_may_be_negative() {
    let home = Home::new().variable("GROQ_API_KEY", KEY).variable("GEMINI_API_KEY", KEY);
    let body = |model: &str, options: &[&str]| -> Value {
        let said = home.piped(&[&["ask", "--dry-run", "-m", model], options, &["hi"]].concat(), "");
        assert_eq!(said.code, Some(0), "{said:?}");
        serde_json::from_str::<Value>(&said.stdout).unwrap()["body"].clone()
    };
    let groq = body("groq:llama-3.1-8b-instant", &["-o", "max_output_tokens", "-1", "-o", "seed", "-5"]);
    assert_eq!(
        (&groq["seed"], &groq["max_completion_tokens"]),
        (&json!(-5), &Value::Null),
        "-1 is the provider's default"
    );
    let gemini = body("gemini-2.5-flash", &["-o", "thinking_budget", "-1"]);
    assert_eq!(gemini["generationConfig"]["thinkingConfig"]["thinkingBudget"], json!(-1));
    let said = home.piped(&["ask", "-o", "seed", "-x", "hi"], "");
    assert_eq!(said.code, Some(2), "{said:?}");
}

#[test]
fn a_long_conversation_has_a_smaller_thinking_budget_and_it_is_told() {
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\ntext = \"Yes.\"\n");
    let said = home.piped(&["ask", "-m", "claude-sonnet-4-5/high"], &"word ".repeat(130_000));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Yes.\n"));
    let reduced = "the conversation has more than 150,000 tokens, so the thinking budget is reduced to 10,000";
    assert!(said.stderr.contains(reduced), "{}", said.stderr);
}

#[test]
fn a_provider_that_asks_to_wait_is_asked_again_and_it_is_told() {
    let script = "[[reply]]\nfault = \"status=429,retry_after_ms=10\"\n[[reply]]\ntimes = 0\ntext = \"Yes.\"\n";
    let (_simulator, home) = scripted(script);
    let said = ask(&home, &["hi"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Yes.\n"));
    assert!(
        said.stderr.contains("Rate limited (429). Retrying in ") && said.stderr.contains("attempt 2 of 3"),
        "{}",
        said.stderr
    );
}

#[test]
fn every_exit_code_is_what_help_says() {
    let fault = |fault: &str| scripted(&format!("[[reply]]\ntimes = 0\nfault = \"{fault}\"\n"));
    // 1: a provider error.
    let (_simulator, home) = fault("status=404");
    assert_eq!(ask(&home, &["hi"]).code, Some(1));
    // 2: invalid command-line arguments.
    assert_eq!(ask(&home, &["--loud"]).code, Some(2));
    assert_eq!(ask(&home, &[]).code, Some(2));
    assert_eq!(ask(&home, &["-o", "tempereture", "1", "hi"]).code, Some(2));
    // 3: no key, or one that is rejected.
    assert_eq!(home.piped(&["ask", "-m", "gemini-2.5-pro", "hi"], "").code, Some(3));
    let (_simulator, home) = fault("status=401");
    assert_eq!(ask(&home, &["hi"]).code, Some(3));
    // 4: no capacity.
    let (_simulator, home) = fault("status=429,retry_after_ms=1");
    assert_eq!(ask(&home, &["hi"]).code, Some(4));
    // 5: refused.
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\ntext = \"I\"\nfinish_reason = \"content_filter\"\n");
    assert_eq!(ask(&home, &["hi"]).code, Some(5));
    // 6: cut off, when that is to be an error.
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\ntext = \"Once\"\nfinish_reason = \"length\"\n");
    assert_eq!(ask(&home, &["--fail-on-length", "hi"]).code, Some(6));
    let said = ask(&home, &["hi"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Once\n"));
    assert!(said.stderr.contains("hit the length limit"), "{}", said.stderr);
    // 7: the answer does not match the schema, even after a correction.
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\ntext = \"[]\"\n");
    let home = home.file("schema.json", r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    let file = home.path("schema.json");
    assert_eq!(ask(&home, &["--schema", file.to_str().unwrap(), "hi"]).code, Some(7));
}

/// Starts the program, which asks a simulator whose answers drip.
fn dripping(home: &Home) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ikigai"));
    command.env_clear().env("IKIGAI_HOME", home.path("")).envs(home.variables());
    command.args(["ask", "-m", "claude-haiku-4-5", "count"]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const DRIP: &str = "[[reply]]\ntimes = 0\ntext = \"one two three four five six seven eight nine ten eleven twelve\"\n\
                    fault = \"slow_drip,ms=200\"\n";

#[test]
#[cfg(unix)]
fn ctrl_c_ends_it_with_130_and_keeps_what_came() {
    let (_simulator, home) = scripted(DRIP);
    let mut child = dripping(&home);
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 3]).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = home.piped(&["ask", "-c", "--dry-run", "-m", "claude-haiku-4-5", "go on"], "");
    let shown: Value = serde_json::from_str(&said.stdout).unwrap();
    let messages = shown["body"]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "the question, what came, and what is asked now: {messages:?}");
    assert!(messages[1].to_string().contains("one"), "{messages:?}");
}

#[test]
fn a_reader_that_goes_away_is_quiet() {
    let (_simulator, home) = scripted(DRIP);
    let mut child = dripping(&home);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = vec![0; 3];
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(141), String::new()));
}

#[test]
fn it_gives_up_when_told_to() {
    let (_simulator, home) = scripted("[[reply]]\ntimes = 0\nfault = \"stall\"\ntext = \"one two\"\n");
    let said = ask(&home, &["--timeout", "1", "hi"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("no answer after 1 s"), "{}", said.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn an_mcp_server_that_never_answers_ends_with_the_question() {
    let mute = "echo $$ > mute.pid; trap '' TERM HUP; while :; do sleep 1; done";
    let home = Home::new().file("config.toml", &format!("[mcp.mute]\ncommand = [\"sh\", \"-c\", \"{mute}\"]\n"));
    let home = home.variable("PATH", std::env::var("PATH").unwrap());
    let said = home.piped(&["ask", "--sim", "--tools", "--timeout", "1", "hi"], "");
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    assert!(said.stderr.contains("no answer after 1 s"), "{}", said.stderr);
    let process = std::path::Path::new("/proc").join(home.text("work/mute.pid").trim());
    let began = std::time::Instant::now();
    while process.exists() {
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "the server still runs");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn json_has_the_time_to_the_first_token_and_no_cost_that_nobody_knows() {
    let said = Home::new().piped(&["ask", "--sim", "--json"], "hi");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(answer["time_to_first_token_ms"].is_u64(), "{answer}");
    assert_eq!(answer.get("cost"), None);
    // An answer that arrives complete has no first token.
    let whole = Home::new().piped(&["ask", "--sim", "--json", "--no-stream"], "hi");
    let whole: Value = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!(whole.get("time_to_first_token_ms"), None);
}

#[test]
fn a_broken_database_says_how_to_ask_without_it() {
    let home =
        Home::new().file("ikigai.db", "this is not a database, whatever it is called; it is long enough to be one");
    let said = home.piped(&["ask", "--sim", "hi"], "");
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    assert!(said.stderr.contains("Use --no-save to go on without the database."), "{}", said.stderr);
    assert_eq!(home.piped(&["ask", "--sim", "--no-save", "hi"], "").stdout, "You said: “hi” (1 word).\n");
}

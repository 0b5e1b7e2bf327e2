//! `ikigai doctor`.

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Home, Said, Simulator};

const KEY: &str = "sk-ant-api03-very-secret-key-7Qxz";

const SAMPLE: &str = include_str!("samples/two-conversations.jsonl");

/// Returns its output, without what differs from build to build.
fn plain(said: &Said) -> String {
    let lines = said.stdout.lines().map(|line| match line.split_once("ikigai 0.") {
        Some((before, _)) => format!("{before}ikigai VERSION\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn a_set_up_that_works() {
    let sim = Simulator::start(KEY);
    let home = Home::new()
        .file("config.toml", "tools = true\n")
        .variable("ANTHROPIC_API_KEY", KEY)
        .variable("ANTHROPIC_BASE_URL", sim.url())
        .variable("NO_PROXY", "127.0.0.1")
        .variable("LANG", "C.UTF-8");
    assert_eq!(home.piped(&["history", "import", "-"], SAMPLE).code, Some(0));
    let said = home.said(&["doctor"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let text = plain(&said).replace(&sim.url(), "SIM");
    let models = text.split("answers, ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let version = text.split("SQLite ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
    let text = text.replace(&format!("answers, {models} "), "answers, N ").replace(&version, "VERSION");
    assert_snapshot!(text, @r"
    program
      ok      ikigai VERSION
    files
      ok      HOME/config.toml
      -       HOME/credentials.toml does not exist
      -       HOME/providers.toml does not exist
      -       HOME/models.toml does not exist
    keys
      ok      anthropic: …7Qxz from ANTHROPIC_API_KEY
    network
      ok      anthropic: answers, N models
      ok      the clock matches the servers'
      -       NO_PROXY=127.0.0.1
      -       ANTHROPIC_BASE_URL=SIM: requests to Anthropic go there
    terminal
      ok      the output is not a terminal
      ok      colours off: the output is not a terminal
      ok      UTF-8: LANG=C.UTF-8
    database
      ok      HOME/ikigai.db: SQLite VERSION, schema 3, 2 conversations, 3 messages, 116 KiB

    Nothing is broken.
    ");
}

#[test]
fn what_is_broken_is_told_with_the_way_out_and_without_secrets() {
    let sim = Simulator::start("sk-another-key-0123456789");
    let home = Home::new()
        .file("config.toml", "tools = 1\n")
        .variable("ANTHROPIC_API_KEY", KEY)
        .variable("ANTHROPIC_BASE_URL", sim.url())
        .variable("OPENAI_API_KEY", KEY)
        .variable("OPENAI_BASE_URL", "http://127.0.0.1:9")
        .variable("HTTPS_PROXY", "http://me:very-secret@127.0.0.1:9")
        .variable("NO_PROXY", "127.0.0.1");
    let said = home.said(&["doctor", "--json"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(1), ""));
    assert!(!said.stdout.contains("very-secret"), "{}", said.stdout);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["ok"], json!(false));
    let of = |state: &str| -> Vec<String> {
        let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["state"] == state);
        findings
            .map(|finding| format!("{}: {}", finding["area"].as_str().unwrap(), finding["what"].as_str().unwrap()))
            .collect()
    };
    let broken = of("broken");
    assert_eq!(broken.len(), 3, "{broken:?}");
    assert_eq!(broken[0], "files: HOME/config.toml:1:9: tools: invalid type: integer `1`, expected a boolean");
    assert!(broken[1].starts_with("network: anthropic rejected the key: "), "{broken:?}");
    assert!(broken[2].starts_with("network: openai cannot be reached: "), "{broken:?}");
    assert!(of("info").contains(&"network: HTTPS_PROXY=http://…@127.0.0.1:9".to_owned()));
    assert_eq!(of("warning"), ["terminal: no UTF-8: neither LC_ALL, LC_CTYPE nor LANG is set"]);
}

#[test]
fn offline_nobody_is_asked() {
    let home = Home::new().variable("OPENAI_API_KEY", KEY).variable("OPENAI_BASE_URL", "http://127.0.0.1:9");
    let said = home.said(&["doctor", "--offline"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("not checked (--offline)"), "{}", said.stdout);
}

#[test]
fn without_a_key_it_works_and_says_how_to_store_one() {
    let said = Home::new().said(&["doctor"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("ikigai keys set PROVIDER"), "{}", said.stdout);
}

#[test]
fn a_certificate_file_that_is_not_there_is_found() {
    let said = Home::new().variable("SSL_CERT_FILE", "/nowhere.pem").said(&["doctor", "--offline"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("SSL_CERT_FILE=/nowhere.pem does not exist"), "{}", said.stdout);
}

/// Returns its findings about the database: the state, the message and the hint.
fn database(home: &Home) -> (Option<i32>, Vec<[Value; 3]>) {
    let said = home.said(&["doctor", "--offline", "--json"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let of = |finding: &Value, name: &str| finding.get(name).cloned().unwrap_or_default();
    let findings = report.get("findings").and_then(Value::as_array).unwrap().iter();
    let findings = findings.filter(|finding| of(finding, "area") == "database");
    (said.code, findings.map(|finding| ["state", "what", "hint"].map(|name| of(finding, name))).collect())
}

#[test]
fn a_database_that_is_not_there_is_not_made() {
    let home = Home::new();
    assert_eq!(
        database(&home),
        (Some(0), vec![[json!("info"), json!("HOME/ikigai.db does not exist yet"), Value::Null]])
    );
    assert!(!home.path("ikigai.db").exists());
}

#[test]
fn a_broken_database_is_told_with_the_way_out_and_left_as_it_is() {
    let home = Home::new().file("ikigai.db", &"x".repeat(5000));
    let (code, findings) = database(&home);
    assert_eq!((code, findings.len()), (Some(1), 1));
    let [state, what, hint] = &findings[0];
    assert_eq!(state, &json!("broken"));
    assert!(what.as_str().unwrap().starts_with("HOME/ikigai.db: "), "{what}");
    assert!(hint.as_str().unwrap().contains("Nothing was overwritten"), "{hint}");
    assert_eq!(home.text("ikigai.db"), "x".repeat(5000));

    let home = Home::new();
    std::fs::create_dir(home.path("ikigai.db")).unwrap();
    let (code, findings) = database(&home);
    assert_eq!((code, &findings[0][1]), (Some(1), &json!("HOME/ikigai.db is not a file")));
}

#[test]
fn a_server_is_not_asked_offline_and_else_told_to_be_unreachable() {
    let home = Home::new().variable("IKIGAI_DATABASE", "postgres://me:very-secret@127.0.0.1:9/chats");
    let shown = "postgres://…@127.0.0.1:9/chats";
    let (code, findings) = database(&home);
    assert_eq!((code, &findings[0][1]), (Some(0), &json!(format!("{shown}: not checked (--offline)"))));
    let said = home.said(&["doctor"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains(&format!("broken  {shown}: ")), "{}", said.stdout);
    assert!(said.stdout.contains("Check that the server runs"), "{}", said.stdout);
    assert!(!said.stdout.contains("very-secret"), "{}", said.stdout);
}

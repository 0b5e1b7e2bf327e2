//! Every example runs against the simulator, without keys and without a network.

use std::path::PathBuf;
use std::process::Command;

use ikigai_sim::{Script, Sim};
use pretty_assertions::assert_eq;

use crate::support;

/// Returns the path of an example; cargo puts examples next to this test's folder.
pub(crate) fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns what an example prints.
async fn printed(name: &'static str) -> String {
    printed_with(name, &[]).await
}

async fn printed_with(name: &'static str, arguments: &[PathBuf]) -> String {
    printed_from(&Sim::start().await.unwrap(), name, arguments).await
}

async fn printed_from(sim: &Sim, name: &'static str, arguments: &[PathBuf]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chart.png"), b"\x89PNG\r\n\x1a\n0000").unwrap();
    std::fs::write(folder.path().join("report.pdf"), b"%PDF-1.7\n1 0 obj\n").unwrap();
    let mut command = Command::new(example(name));
    command.env_clear().envs(support::variables(sim)).env("IKIGAI_HOME", folder.path()).current_dir(folder.path());
    command.args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    assert_eq!(errors, "", "{name}");
    String::from_utf8(output.stdout).unwrap()
}

macro_rules! examples {
    ($($name:ident: $expected:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            assert_eq!(printed(stringify!($name)).await, concat!($expected, "\n"));
        }
    )*};
}

examples! {
    ask: "You said: “Why is the sky blue?” (5 words).";
    stream: "You said: “Tell me a story.” (4 words).\n33 tokens, $0.000358, stop";
    tools: "weather answered: Oslo: 4 °C\n2 steps";
    extract: "Invoice { number: 4711, amount: 120.0, days: 30 }";
    partial: "first: {\"name\":\"Ada\"}\nwhole, after 4 pieces: Ada Lovelace of London";
    chat: "Your favourite number is 7.";
    attach: "I see an image (image/png, 12 bytes) and a document (application/pdf, 17 bytes). \
             You said: “Does the chart agree with the report?” (7 words).";
    fallback: "anthropic:claude-haiku-4-5: hello\nbefore that: mistral:mistral-large-latest (auth)";
    approve: "the model wants to call delete_all\ndelete_all failed: this call was not allowed: the user said no";
    manual_tools: "clock answered: 12:00";
    embed: "apples are closer: true";
    draw: "openai:gpt-image-2: image/png, 12420 bytes, Some(\"$0.031705\")";
    speak: "audio/mpeg\nGood morning.";
    count: "12 tokens\nabout 9 tokens\ntrue";
    hooks: "asking anthropic:claude-haiku-4-5, 1 messages\nanswered: stop";
}

/// The simulator acts as a proxy: requests for any host reach it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_are_taken_from_the_environment() {
    let sim = Sim::start().await.unwrap();
    let ask = |no_proxy: &str| {
        let mut command = Command::new(example("ask"));
        command.env_clear().envs(support::variables(&sim)).env("IKIGAI_HOME", "/nowhere");
        command.env("ANTHROPIC_BASE_URL", "http://api.example.invalid").env("HTTP_PROXY", sim.url());
        command.env("http_proxy", sim.url()).env("NO_PROXY", no_proxy);
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let through = ask("").await.unwrap();
    let said = String::from_utf8_lossy(&through.stdout).into_owned();
    assert_eq!(said, "You said: “Why is the sky blue?” (5 words).\n", "{}", String::from_utf8_lossy(&through.stderr));
    assert_eq!(sim.requests().len(), 1);
    // A host excluded from proxying.
    assert!(!ask("example.invalid").await.unwrap().status.success());
    assert_eq!(sim.requests().len(), 1);
}

/// A server must not use keys from the folder that it happens to be started in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_reads_no_files_that_it_did_not_name() {
    let sim = Sim::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env"), "ANTHROPIC_API_KEY=theirs\n").unwrap();
    std::fs::write(folder.path().join("credentials.json"), r#"{"anthropic": "kept"}"#).unwrap();
    std::fs::write(folder.path().join("providers.toml"), "this is broken").unwrap();
    let mut command = Command::new(example("ask"));
    command.env_clear().env("ANTHROPIC_BASE_URL", sim.url()).env("IKIGAI_HOME", folder.path());
    command.current_dir(folder.path());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("ANTHROPIC_API_KEY"), "{told}");
    assert_eq!(sim.requests().len(), 0);
}

#[cfg(feature = "mcp")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mcp() {
    let printed = printed_with("mcp", &[example("mcp_test_server")]).await;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        (lines[0], lines[1], lines.last().copied()),
        ("box__echo", "box__media (may change)", Some("box__echo answered: hello"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search() {
    let script = r#"{"reply": [{"response": {"model": "claude-sonnet-4-5", "finish_reason": "stop", "content": [
        {"type": "provider_call", "id": "srvtoolu_1", "tool": "web_search", "name": "web_search",
            "arguments": {"query": "population of Oslo"}},
        {"type": "provider_result", "call_id": "srvtoolu_1", "tool": "web_search",
            "sources": [{"url": "https://www.ssb.no/en", "title": "Statistics Norway"}]},
        {"type": "text", "text": "Oslo has 717 710 inhabitants.", "citations": [
            {"source": {"type": "url", "url": "https://www.ssb.no/en", "title": "Statistics Norway"}}]}
    ]}}]}"#;
    let sim = Sim::start().await.unwrap();
    sim.expect(Script::from_json(script, "search.json").unwrap());
    let printed = printed_from(&sim, "search", &[]).await;
    let said = "Oslo has 717 710 inhabitants.";
    assert_eq!(printed, format!("{said}\n“{said}” rests on https://www.ssb.no/en\n- Statistics Norway\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors() {
    let printed = printed("errors").await;
    let lines: Vec<&str> = printed.lines().collect();
    let begins = [
        "hello",
        "no model: unknown model `cluade-haiku-4-5` (did you mean claude-haiku-4-5",
        "no key: there is no key for Mistral: set MISTRAL_API_KEY; get one at ",
        "no model: openai: The model `no-such-model` does not exist",
    ];
    assert_eq!(lines.len(), begins.len());
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
}

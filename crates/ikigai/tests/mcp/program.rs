//! Servers that are programs.

use std::time::Duration;

use ikigai::mcp::{Connection, Server};
use ikigai::{Block, ErrorKind, Hints, Source};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{asked, call, names, program, result, text, until};

fn server(mode: &str) -> Server {
    Server::command(program(), [mode])
}

async fn connected(mode: &str) -> Connection {
    server(mode).connect().await.unwrap()
}

/// Whether this process is still running.
fn runs(pid: u64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended, and waits to be reaped.
    !status.is_empty() && !status.contains(") Z ")
}

async fn about(server: &Connection) -> Value {
    let tools = server.tools().await.unwrap();
    serde_json::from_str(&text(&call(&tools, "about").await)).unwrap()
}

#[tokio::test]
async fn a_model_uses_the_tools_of_a_server() {
    let server = server("").name("box").connect().await.unwrap();
    let tools = server.tools().await.unwrap();
    let expected = [
        "box__echo",
        "box__media",
        "box__fail",
        "box__structured",
        "box__hang",
        "box__die",
        "box__about",
        "box__grow",
        "box__dotted_name_with_signs",
        "box__refuse",
    ];
    assert_eq!(names(&tools), expected, "all pages");
    let function = tools[0].definition().as_function().unwrap();
    assert_eq!(function.description.as_deref(), Some("Gives back a text."));
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    assert_eq!((function.parameters.value(), function.strict), (&schema, false));
    assert_eq!(tools[2].definition().as_function().unwrap().parameters, json!({"type": "object"}), "a type is added");

    let answer = asked(&tools, "box__echo with text=\"hello\"").await.unwrap();
    assert_eq!(answer.text(), "box__echo answered: hello");
    assert_eq!(text(&call(&tools, "box__dotted_name_with_signs").await), "odd");
    assert_eq!((server.name().as_str(), server.instructions().as_deref()), ("box", Some("Use echo first.")));
    assert!(server.is_connected());
}

#[tokio::test]
async fn results_of_every_kind_arrive() {
    let tools = connected("").await.tools().await.unwrap();
    let base64 = Source::Base64 { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let markdown = Source::Text { media_type: "text/plain".into(), text: "# A".into() };
    let media = call(&tools, "media").await;
    let expected = [Block::text("Here:"), Block::image(base64), Block::document(markdown, "file:///a.md")];
    assert_eq!((media.content.as_slice(), media.is_error), (&expected[..], false));
    assert_eq!(text(&call(&tools, "structured").await), r#"{"degrees":4}"#);
    let failed = call(&tools, "fail").await;
    assert_eq!((text(&failed).as_str(), failed.is_error), ("no such city", true));
    let refused = call(&tools, "refuse").await;
    assert_eq!((text(&refused).as_str(), refused.is_error), ("there is no such thing", true));
}

#[tokio::test]
async fn what_a_server_says_about_its_tools_can_be_asked() {
    let tools = connected("").await.tools().await.unwrap();
    let mut echo = Hints::default();
    (echo.title, echo.read_only, echo.open_world) = (Some("Echo".to_owned()), Some(true), Some(false));
    let mut die = Hints::default();
    (die.destructive, die.idempotent) = (Some(true), Some(false));
    assert_eq!((tools[0].hints(), tools[5].hints(), tools[1].hints()), (&echo, &die, &Hints::default()));
    assert_eq!((echo.may_change(), die.may_destroy(), Hints::default().may_destroy()), (false, true, true));
}

#[tokio::test]
async fn two_servers_with_the_same_tools_do_not_clash() {
    let (one, two) = (connected("").await, server("").name("two").connect().await.unwrap());
    let three = connected("").await;
    let tools = ikigai::mcp::tools([&one, &two]).await.unwrap();
    assert_eq!((names(&tools)[0], names(&tools)[10]), ("echo", "two__echo"), "no clash: a name is set");
    let tools = ikigai::mcp::tools([&one, &three]).await.unwrap();
    let mut all = names(&tools);
    let given = one.name();
    assert!(all[0].starts_with(&format!("{given}__echo")), "{all:?}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 20, "every name once");
    assert_eq!(text(&call(&tools, &format!("{} with text=\"hello\"", names(&tools)[10])).await), "hello");
}

#[tokio::test]
async fn a_list_that_has_changed_is_told_and_read_again() {
    let mut server = connected("").await;
    let before = server.tools().await.unwrap();
    assert_eq!(text(&call(&before, "grow").await), "grown");
    assert!(tokio::time::timeout(Duration::from_secs(10), server.changed()).await.unwrap());
    let after = server.tools().await.unwrap();
    assert_eq!((names(&after).len(), *names(&after).last().unwrap()), (before.len() + 1, "extra"));
    assert_eq!(text(&call(&after, "extra").await), "late");
}

#[tokio::test]
async fn a_list_without_end_is_an_error() {
    let error = connected("endless").await.tools().await.unwrap_err();
    assert!(error.to_string().ends_with("has an endless list of tools"), "{error}");
}

#[tokio::test]
#[cfg(unix)]
async fn messages_have_limits() {
    let endless = "read line; head -c 17000000 /dev/zero | tr '\\0' a; sleep 60";
    let long = "read line; printf '{\"a\":\"'; head -c 17000000 /dev/zero | tr '\\0' a; echo '\"}'; sleep 60";
    let tiny = "read line; printf '{\"a\":['; yes 1, | tr -d '\\n' | head -c 1200000; echo '1]}'; sleep 60";
    let deep = "read line; head -c 600 /dev/zero | tr '\\0' '['; echo; sleep 60";
    for (script, why) in [
        (endless, "it is longer than 16777216 bytes"),
        (long, "it is longer than 16777216 bytes"),
        (tiny, "it has more than 500000 values"),
        (deep, "it is nested more than 512 levels deep"),
    ] {
        let error = Server::command("sh", ["-c", script]).name("box").connect().await.unwrap_err();
        let told = format!("; its last output:\n  (a message cannot be read: {why})");
        assert!(error.to_string().ends_with(&told), "{script}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_dies_is_an_error_for_the_model_and_says_so() {
    let mut server = server("").name("box").connect().await.unwrap();
    let tools = server.tools().await.unwrap();
    let died = call(&tools, "box__die").await;
    let told = text(&died);
    let expected = "the MCP server `box` has ended (exit status: 7); its last output:\n  the disk is full";
    assert_eq!((told.as_str(), died.is_error), (expected, true));
    // So does every later call.
    let again = call(&tools, "box__echo with text=\"hello\"").await;
    assert!(again.is_error && text(&again).contains("has ended (exit status: 7)"), "{again:?}");
    assert!(!server.is_connected());
    assert!(!server.changed().await, "nothing will change any more");
    let error = server.tools().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    let command = program().display().to_string();
    assert!(error.to_string().starts_with(&format!("the MCP server `box` ({command} ) has ended")), "{error}");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_stopped_and_the_server_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let server = Server::command(program(), ["", note.to_str().unwrap()]).call_timeout(Duration::from_millis(300));
    let server = server.connect().await.unwrap();
    let tools = server.tools().await.unwrap();
    let hung = call(&tools, "hang").await;
    assert_eq!((text(&hung).as_str(), hung.is_error), ("the tool took longer than 0.3 s and was stopped", true));
    until("the note", || note.exists()).await;
    assert_eq!(text(&call(&tools, "echo with text=\"hello\"").await), "hello", "the server goes on");
}

#[tokio::test]
async fn a_turn_that_is_dropped_cancels_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let server = Server::command(program(), ["", note.to_str().unwrap()]).connect().await.unwrap();
    let tools = server.tools().await.unwrap();
    let (sim, model) = crate::support::model().await;
    let asked = tokio::spawn(async move { model.tools(tools).ask("Call hang.").await });
    until("the request", || !sim.requests().is_empty()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    asked.abort();
    until("the note", || note.exists()).await;
}

#[tokio::test]
async fn a_program_ends_with_its_connection() {
    let server = connected("orphan").await;
    let about = about(&server).await;
    let (pid, child) = (about["pid"].as_u64().unwrap(), about["child"].as_u64().unwrap());
    let tools = server.tools().await.unwrap();
    drop(server);
    assert!(runs(pid) && runs(child), "its tools still need it");
    drop(tools);
    until("the end of the program", || !runs(pid)).await;
    until("the end of what it has started", || !runs(child)).await;
}

#[tokio::test]
async fn a_program_that_leaves_another_one_behind_has_ended_all_the_same() {
    let tools = connected("orphan").await.tools().await.unwrap();
    let died = call(&tools, "die").await;
    assert!(died.is_error && text(&died).contains("has ended (exit status: 7)"), "{died:?}");
}

#[tokio::test]
async fn a_program_gets_what_it_needs_and_no_keys() {
    let folder = tempfile::tempdir().unwrap();
    let server = server("").env("TOKEN", "a secret of its own").current_dir(folder.path()).connect().await.unwrap();
    let about = about(&server).await;
    let variables: Vec<&str> = about["variables"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(variables.contains(&"TOKEN") && variables.contains(&"PATH"), "{variables:?}");
    // Cargo sets this for tests; none of this process's own variables are passed on unless requested.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !variables.contains(&"CARGO_MANIFEST_DIR"));
    assert_eq!(about["folder"], json!(folder.path().canonicalize().unwrap()));
    let all = self::about(&Server::command(program(), [""]).inherit_env().connect().await.unwrap()).await;
    assert!(all["variables"].as_array().unwrap().contains(&json!("CARGO_MANIFEST_DIR")));
}

#[tokio::test]
async fn a_program_that_fails_is_told_with_its_last_words_but_not_its_secrets() {
    let error = server("fail").env("TOKEN", "very-secret-token").name("box").connect().await.unwrap_err();
    let command = program().display().to_string();
    let expected = format!(
        "the MCP server `box` ({command} fail) has ended (exit status: 3); its last output:\n  reading the settings\n  \
         no such database; the token is [key]"
    );
    assert_eq!((error.to_string(), error.kind()), (expected, ErrorKind::Network));
    assert!(!format!("{error:?} {error:#?}").contains("very-secret"));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_the_way_out() {
    let error = Server::command("no-such-program", ["-y"]).connect().await.unwrap_err();
    let told = "the MCP server `no-such-program -y` cannot be started: there is no program `no-such-program`; install it, or \
                give its full path";
    assert_eq!((error.to_string().as_str(), error.kind()), (told, ErrorKind::NotFound));
    let error = Server::command(program(), [""]).current_dir("/no/such/folder").connect().await.unwrap_err();
    assert!(error.to_string().ends_with("cannot be started: there is no folder /no/such/folder"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Server::command(file.path(), [""]).connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Permission, "{error}");
}

#[tokio::test]
async fn a_program_that_says_nothing_is_given_up() {
    let error = server("silent").connect_timeout(Duration::from_millis(200)).connect().await.unwrap_err();
    assert!(error.to_string().ends_with("did not answer within 0.2 s; set a longer `connect_timeout`"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let error = Server::command("cat", ["/dev/null"]).connect().await.unwrap_err();
    assert!(error.to_string().ends_with("has ended (exit status: 0)"), "{error}");
}

#[tokio::test]
async fn what_a_program_writes_beside_the_protocol_is_no_harm() {
    let server = connected("chatty").await;
    let answer = asked(&server.tools().await.unwrap(), "echo with text=\"hello\"").await.unwrap();
    assert_eq!(text(&result(&answer)), "hello");
    assert_eq!(server.log()[0].len(), 500, "a long line is cut");
}

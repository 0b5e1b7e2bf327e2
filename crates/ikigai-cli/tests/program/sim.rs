//! `ikigai sim`: the simulator as started by a person or a script.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use crate::support::{ikigai, said};

/// Starts a simulator, and returns it with its URL.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ikigai"))
        .args(["sim", "--port", "0"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix('\n')).unwrap().to_owned();
    (child, address)
}

fn post(address: &str, path: &str, body: &str) -> String {
    post_as(address, "key", path, body)
}

fn post_as(address: &str, key: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer {key}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const CHAT: &str = r#"{"model": "gpt-4.1", "messages": [{"role": "user", "content": "What is 6*7?"}]}"#;

#[test]
fn its_one_line_is_its_address_and_ctrl_c_ends_it() {
    let (mut child, address) = start(&["--token", "chosen-by-the-test"]);
    assert!(post(&address, "/v1/chat/completions", CHAT).contains("6*7 = 42"));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(0));
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn the_controls_open_with_the_token_that_it_tells() {
    let (mut child, address) = start(&[]);
    let mut told = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut told).unwrap();
    let token = told.trim().strip_prefix("controls under /_sim/ need: Authorization: Bearer ").unwrap().to_owned();
    assert_eq!(token.len(), 32, "{told}");
    assert!(post(&address, "/_sim/reset", "{}").starts_with("HTTP/1.1 401"));
    assert!(post_as(&address, &token, "/_sim/reset", "{}").starts_with("HTTP/1.1 200"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn scripts_and_faults_come_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("replies.toml");
    std::fs::write(&script, "[[reply]]\ntext = \"Scripted.\"\n").unwrap();
    let (mut child, address) = start(&["--script", script.to_str().unwrap(), "--fault", "status=503#2"]);
    assert!(post(&address, "/v1/chat/completions", CHAT).contains("Scripted."));
    assert!(post(&address, "/v1/chat/completions", CHAT).starts_with("HTTP/1.1 503 "));
    assert!(post(&address, "/v1/chat/completions", CHAT).contains("6*7 = 42"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_bad_script_names_file_line_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("replies.toml");
    std::fs::write(&script, "[[reply]]\ntext = \"a\"\ntimes = \"often\"\n").unwrap();
    let said = said(&mut ikigai(&["sim", "--script", script.to_str().unwrap()]));
    assert_eq!(said.code, Some(1));
    let expected = format!("{}:3:9: invalid type: string \"often\", expected u64", script.display());
    assert!(said.stderr.contains(&expected), "{}", said.stderr);
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    let fault = said(&mut ikigai(&["sim", "--fault", "cut_mid_evnt"]));
    assert_eq!(fault.code, Some(2));
    assert!(fault.stderr.contains("`cut_mid_evnt` is not a fault"), "{}", fault.stderr);
    let rate = said(&mut ikigai(&["sim", "--fault", "stall@2"]));
    assert_eq!(rate.code, Some(2));
    assert!(rate.stderr.contains("invalid rate `2`: use a number from 0 to 1"), "{}", rate.stderr);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let busy = said(&mut ikigai(&["sim", "--port", &port]));
    assert_eq!(busy.code, Some(1));
    assert!(busy.stderr.contains("cannot listen on") && busy.stderr.contains("--port 0"), "{}", busy.stderr);
}

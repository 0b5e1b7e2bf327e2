//! A provider that repeats the gateway's key to it: no client sees the key, and neither does the log.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use ikigai::Dialect;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::attacks::provider;
use crate::support::{House, question};

/// The key that the gateway has for the provider.
const SECRET: &str = "sk-of-the-gateway-0123456789-abcdefghij";
const CHAT: Dialect = Dialect::ALL[1];
const ANTHROPIC: Dialect = Dialect::ALL[0];

/// Everything that is logged on the threads where it is the default.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        struct Fields<'a>(&'a mut String);
        impl Visit for Fields<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                write!(self.0, "{field}={value:?} ").unwrap();
            }
        }
        event.record(&mut Fields(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn echo() -> String {
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("{SECRET} {} {hex} {}", SECRET.to_uppercase(), &SECRET[20..])
}

/// The answers that repeat the key, each with its type, and whether it is for a request with a stream.
fn answers() -> Vec<(&'static str, &'static str, String, bool)> {
    let error = format!(r#"{{"error":{{"message":"no: {}","type":"server_error"}}}}"#, echo());
    let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;
    vec![
        ("an error with a good status", "application/json", error.clone(), false),
        ("a page", "text/html", format!("<html>you sent {}</html>", echo()), false),
        ("not an answer", "application/json", format!(r#"{{"you sent": "{}"}}"#, echo()), false),
        ("an error at once", "text/event-stream", format!("data: {error}\n\n"), true),
        ("an error later", "text/event-stream", format!("data: {chunk}\n\ndata: {error}\n\n"), true),
        ("a broken event", "text/event-stream", format!("data: {chunk}\n\ndata: {{\"x\": {}\n\n", echo()), true),
        (
            "an error after the end",
            "text/event-stream",
            format!("data: {chunk}\n\ndata: [DONE]\n\ndata: {error}\n\n"),
            true,
        ),
        (
            "a long error",
            "text/event-stream",
            format!("data: {chunk}\n\ndata: {}\n\n", error.replace("no:", &"no ".repeat(20_000))),
            true,
        ),
        ("no stream", "application/json", error, true),
    ]
}

#[tokio::test]
async fn a_key_that_a_provider_repeats_reaches_neither_client_nor_log() {
    let lines = Lines::default();
    tracing::subscriber::set_global_default(lines.clone()).unwrap();
    for (case, kind, body, streams) in answers() {
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let url = provider(answer.leak()).await;
        let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\napi_key = \"{SECRET}\"\n")).await;
        for client in [CHAT, ANTHROPIC] {
            let (path, body) = question(client, "mine:m", "Hello", streams);
            let answer = house.post(&path, &body).await;
            let seen = format!("{:?} {}", answer.headers, answer.text());
            assert_shows_nothing(&seen, &format!("{case}, to a client of {client}"));
        }
    }
    for path in ["/v1/embeddings", "/v1/messages/count_tokens"] {
        let page = format!("you sent {}", echo());
        let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}", page.len());
        let url = provider(answer.leak()).await;
        let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\napi_key = \"{SECRET}\"\n")).await;
        let body = json!({"model": "mine:m", "input": "Hi", "messages": [{"role": "user", "content": "Hi"}]});
        let answer = house.post(path, &body).await;
        assert_shows_nothing(&format!("{:?} {}", answer.headers, answer.text()), path);
    }
    let logged = lines.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(logged.contains("[key]"), "{logged}");
    assert_shows_nothing(&logged, "the log");
}

/// An answer of these pieces, which arrive one by one.
fn in_pieces(kind: &str, pieces: &[&str]) -> &'static str {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        write!(answer, "{:x}\r\n{piece}\r\n", piece.len()).unwrap();
    }
    (answer + "0\r\n\r\n").leak()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_cut_in_two_is_not_shown_either() {
    let element = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi é"}]}}]}"#;
    let before = format!("[{element}\n,\r\n{{\"error\":{{\"code\":500,\"message\":\"you sent ");
    let after = r#" and more","status":"INTERNAL"}}]"#;
    for cut in (0..=SECRET.len()).step_by(5) {
        let (one, two) = SECRET.split_at(cut);
        let answer = in_pieces("application/json", &[&format!("{before}{one}"), &format!("{two}{after}")]);
        let url = provider(answer).await;
        let setup = format!("[providers.mine]\nbase_url = \"{url}\"\ndialect = \"gemini\"\napi_key = \"{SECRET}\"\n");
        let house = House::with(&setup).await;
        let (path, body) = question(Dialect::Gemini, "mine:m", "Hello", true);
        let answer = house.post(path.trim_end_matches("?alt=sse"), &body).await;
        assert_eq!((answer.text(), answer.broken), (format!("{before}[key]{after}"), false), "cut at {cut}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_an_event_that_is_too_long_to_be_held_is_not_shown() {
    let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;
    let (one, two) = SECRET.split_at(17);
    let long = "x".repeat(9 << 20);
    let before = format!("data: {chunk}\n\ndata: {{\"error\":{{\"message\":\"{SECRET} {long} {one}");
    let after = format!("{two}\",\"type\":\"server_error\"}}}}\n\n");
    let url = provider(in_pieces("text/event-stream", &[&before, &after])).await;
    let house = House::with(&format!("[providers.mine]\nbase_url = \"{url}\"\napi_key = \"{SECRET}\"\n")).await;
    let (path, body) = question(CHAT, "mine:m", "Hello", true);
    let answer = house.post(&path, &body).await;
    let expected = format!("{before}{after}").replace(SECRET, "[key]");
    assert!(answer.text() == expected && !answer.broken, "{} bytes, not {}", answer.body.len(), expected.len());
}

fn assert_shows_nothing(text: &str, case: &str) {
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let lower = text.to_lowercase();
    for part in [&SECRET[..14], &SECRET[20..], &hex[..30]] {
        assert!(!lower.contains(part), "{case}: {part}: {text}");
    }
}

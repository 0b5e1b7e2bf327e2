//! A provider that repeats what it was sent: none of the secrets are shown.

use std::fmt::Write as _;

use bytes::Bytes;
use http::HeaderMap;
use pretty_assertions::assert_eq;

use crate::testing::{Piece, Reply, Scripted, TestClock, fields_of};
use crate::transport::{Body, Failure, Sending, Transport, TransportError};
use crate::{Client, Error, Model, Retry, Wanted};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";
const KEY: &str = "sk-very-secret/key+1234";
const TOKEN: &str = "my-own-secret-token";

/// Returns everything visible of an error.
fn shown(error: &Error) -> String {
    let mut shown = format!("{error} {error:?} {error:#?} {:?} {:?}", error.reason(), error.attempts());
    write!(shown, " {:?} {:?} {:?}", error.excerpt(), error.code(), error.request_id()).unwrap();
    write!(shown, " {:?} {:?}", error.partial(), error.canonical()).unwrap();
    if let Some(response) = error.response() {
        write!(shown, " {response:?} {}", String::from_utf8_lossy(&response.body)).unwrap();
    }
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        write!(shown, " {error} {error:?}").unwrap();
        cause = error.source();
    }
    shown
}

fn assert_clean(error: &Error, case: &str) {
    let shown = shown(error);
    assert!(!shown.contains("secret"), "{case}: {shown}");
    assert!(shown.contains("[key]"), "{case}: {shown}");
}

fn model(scripted: &Scripted) -> Model {
    let client = scripted.builder(TestClock::skipping()).build().unwrap();
    client.model(CLAUDE).unwrap().key(KEY).header("x-session-token", TOKEN).retry(Retry::never())
}

/// Returns an error of the dialect in which every string repeats the key, spelled in several ways.
fn echo() -> String {
    let escaped = KEY.replace('/', "\\/");
    let letters: String = KEY.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    format!(
        r#"{{"type":"error","error":{{"type":"x {KEY}","message":"{KEY} {escaped} {letters} {TOKEN}"}},"request_id":"{KEY}"}}"#
    )
}

#[tokio::test]
async fn no_answer_of_a_provider_brings_a_key_into_an_error() {
    let event = format!("event: error\ndata: {}\n\n", echo());
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\n\
        event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
        event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n";
    let html = format!("<html>You sent x-api-key: {KEY} and {TOKEN}</html>");
    let moved = || Reply::new(308, "").header("location", format!("https://elsewhere/{KEY}/{TOKEN}?x=1"));
    for (case, reply) in [
        ("status", Reply::new(401, echo())),
        ("status, with headers", Reply::new(500, echo()).header("request-id", KEY)),
        ("status, no JSON", Reply::new(500, html.clone())),
        ("good status", Reply::new(200, echo())),
        ("good status, no JSON", Reply::new(200, html.clone())),
        ("moved", moved()),
    ] {
        let error = model(&Scripted::new([reply])).ask("Hi").await.unwrap_err();
        assert_clean(&error, case);
    }
    for (case, reply) in [
        ("status", Reply::new(401, echo())),
        ("first event", Reply::new(200, event.clone())),
        ("no stream", Reply::new(200, html)),
        ("moved", moved()),
    ] {
        let error = model(&Scripted::new([reply])).stream("Hi").await.unwrap_err();
        assert_clean(&error, case);
    }
    let scripted = Scripted::new([Reply::pieces([Piece::Bytes(start.into()), Piece::Bytes(event.into())])]);
    let error = model(&scripted).stream("Hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.partial().unwrap().text(), "Hello");
    assert_clean(&error, "after the first words");
    for (case, reply) in
        [("status", Reply::new(401, echo())), ("good status", Reply::new(200, "no JSON ".to_owned() + KEY))]
    {
        let model = model(&Scripted::new([reply]));
        assert_clean(&model.count_tokens("Hi").await.unwrap_err(), case);
    }
}

#[tokio::test]
async fn an_answer_that_failed_as_a_whole_shows_no_key() {
    // Responses: the HTTP status is good, the status of the response is not.
    let body = format!(
        r#"{{"id":"r","object":"response","status":"failed","model":"m","output":[],"error":{{"code":"server_error","message":"no {KEY}"}}}}"#
    );
    let scripted = Scripted::new([Reply::new(200, body)]);
    let model = scripted.client().model("openai:gpt-5.4").unwrap().key(KEY).retry(Retry::never());
    assert_clean(&model.ask("Hi").await.unwrap_err(), "failed");
}

/// A transport whose failures repeat the request.
#[derive(Debug)]
struct Talkative;

impl Transport for Talkative {
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_> {
        let told = format!("cannot send {:?}", request.headers()["x-api-key"].to_str());
        let error = || TransportError::new(Failure::Broken, told.clone()).because(std::io::Error::other(told.clone()));
        let answer = if request.uri().path().ends_with("messages") {
            Err(error())
        } else {
            let mut pieces = vec![Ok(Bytes::from("a")), Err(error())].into_iter();
            Ok(http::Response::new(Body::poll_fn(move |_| std::task::Poll::Ready(pieces.next()))))
        };
        Box::pin(std::future::ready(answer))
    }
}

#[tokio::test]
async fn a_transport_of_ones_own_may_say_too_much() {
    let client = Client::builder().transport(Talkative).key("anthropic", KEY).retry(Retry::never()).build().unwrap();
    let error = client.ask(CLAUDE, "Hi").await.unwrap_err();
    assert_clean(&error, "transport");
    let upstream = client.upstream(CLAUDE).unwrap();
    let mut exchange = upstream.send("/v1/stream", &HeaderMap::new(), Bytes::new(), Wanted::Stream).await.unwrap();
    exchange.body.next().await.unwrap().unwrap();
    let error = exchange.body.next().await.unwrap().unwrap_err();
    assert_clean(&Error::new(error), "body");
}

#[tokio::test]
async fn spans_and_logs_of_failures_show_no_key() {
    let fields = fields_of(async {
        let scripted = Scripted::new([Reply::new(500, echo()), Reply::new(401, echo())]);
        let model = model(&scripted).retry(Retry::default()).base_url(format!("http://me:{TOKEN}@host"));
        model.ask("Hi").await.unwrap_err();
    })
    .await;
    assert!(fields.iter().any(|(name, value)| name == "error.type" && value == "auth"), "{fields:?}");
    assert!(!format!("{fields:?}").contains("secret"), "{fields:?}");
}

#[test]
fn a_preview_shows_no_key_in_headers_and_address() {
    let scripted = Scripted::new([]);
    let model = model(&scripted).base_url(format!("http://me:my-secret-word@host/?api_key={TOKEN}&x=1"));
    let preview = model.preview("Hi").unwrap();
    assert_eq!(preview.url, "http://me:[key]@host/v1/messages?api_key=[key]&x=1");
    assert!(!format!("{preview:?}").contains("secret"), "{preview:?}");
}

//! Converse: requests as they arrive, answers and failures as they are sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ikigai_core::{Dialect, ErrorKind, FinishReason};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::bedrock::{SECRET, frame, is_signed};
use super::client;
use crate::config::Environment;
use crate::testing::{Answer, Server};
use crate::transport::Http;
use crate::{Client, Retry, Wanted};

const MODEL: &str = "bedrock:us.amazon.nova-lite-v1:0";
const PATH: &str = "/model/us.amazon.nova-lite-v1%3A0/converse";

fn event(kind: &str, payload: &Value) -> Vec<u8> {
    let headers = [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, &payload.to_string())
}

fn exception(kind: &str, message: &str) -> Vec<u8> {
    let headers = [(":exception-type", kind), (":content-type", "application/json"), (":message-type", "exception")];
    frame(&headers, &json!({"message": message}).to_string())
}

fn usage() -> Value {
    json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 22, "cacheReadInputTokens": 7, "cacheWriteInputTokens": 0})
}

fn whole() -> Answer {
    let content = json!([
        {"reasoningContent": {"reasoningText": {"text": "A greeting."}}},
        {"text": "Hello."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "wave", "input": {"hands": 2}}},
    ]);
    let body = json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use", "usage": usage(), "metrics": {"latencyMs": 12},
    });
    Answer::ok(body.to_string()).header("x-amzn-requestid", "r-1")
}

fn stream() -> Vec<Vec<u8>> {
    let delta = |index: u64, delta: Value| {
        event("contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta, "p": "abcdef"}))
    };
    let stop = |index: u64| event("contentBlockStop", &json!({"contentBlockIndex": index}));
    let call = json!({"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "wave"}}});
    vec![
        event("messageStart", &json!({"role": "assistant"})),
        delta(0, json!({"reasoningContent": {"text": "A greeting."}})),
        stop(0),
        delta(1, json!({"text": "Hel"})),
        delta(1, json!({"text": "lo."})),
        stop(1),
        event("contentBlockStart", &call),
        delta(2, json!({"toolUse": {"input": "{\"hands\""}})),
        delta(2, json!({"toolUse": {"input": ": 2}"}})),
        stop(2),
        event("messageStop", &json!({"stopReason": "tool_use"})),
        event("metadata", &json!({"usage": usage(), "metrics": {"latencyMs": 12}})),
    ]
}

fn failed(status: u16, kind: &str, message: &str) -> Answer {
    Answer::new(status, json!({"message": message}).to_string())
        .header("x-amzn-errortype", format!("{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"))
}

/// Answers like the real API; certain messages make it fail.
fn converse(request: &http::Request<Bytes>) -> Answer {
    if let Err(why) = is_signed(request, "eu-west-1") {
        return failed(403, "InvalidSignatureException", &why);
    }
    let body: Value = serde_json::from_slice(request.body()).unwrap();
    let foreign = ["model", "anthropic_version", "max_tokens", "stream"].iter().find(|key| body.get(**key).is_some());
    if let Some(key) = foreign {
        return failed(400, "ValidationException", &format!("extraneous key [{key}] is not permitted"));
    }
    let said = body["messages"][0]["content"][0]["text"].as_str().unwrap().to_owned();
    let path = request.uri().path();
    let frames =
        |frames: Vec<Vec<u8>>| Answer::ok(frames.concat()).header("content-type", "application/vnd.amazon.eventstream");
    match (said.as_str(), path.strip_prefix(PATH)) {
        ("throttle", Some(_)) => failed(429, "ThrottlingException", "Too many requests"),
        ("wrong", Some(_)) => failed(400, "ValidationException", "The text field is blank"),
        ("long", Some(_)) => failed(400, "ValidationException", "Input is too long for requested model."),
        ("denied", Some(_)) => failed(403, "AccessDeniedException", "You don't have access to the model"),
        ("busy", Some(_)) => failed(503, "ServiceUnavailableException", "Try again"),
        ("throttle later", Some("-stream")) => {
            let mut parts = stream();
            parts.truncate(5);
            parts.push(exception("throttlingException", "Too many tokens"));
            frames(parts)
        }
        ("throttle first", Some("-stream")) => frames(vec![exception("throttlingException", "Too many tokens")]),
        ("break", Some("-stream")) => frames(vec![exception("modelStreamErrorException", "The model broke off")]),
        ("stop", Some("-stream")) => frames(stream().into_iter().take(8).collect()),
        ("count nothing", Some("-stream")) => frames(stream().into_iter().take(11).collect()),
        (_, Some("-stream")) => frames(stream()),
        (_, Some("")) => whole(),
        (_, _) => failed(404, "ResourceNotFoundException", path),
    }
}

fn variables(server: &Server) -> [(&'static str, String); 4] {
    [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("AWS_REGION", "eu-west-1".to_owned()),
        ("BEDROCK_BASE_URL", server.url()),
    ]
}

async fn start() -> (Server, Client) {
    let server = Server::start(converse).await;
    let variables = variables(&server);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let client = client(&variables);
    (server, client)
}

#[tokio::test]
async fn an_answer_comes_whole_and_as_a_stream() {
    let (server, client) = start().await;
    let model = client.model(MODEL).unwrap();
    let asked = model.ask("Hi").await.unwrap();
    let streamed = model.stream("Hi").await.unwrap().finish().await.unwrap();
    for answer in [&asked, &streamed] {
        let response = answer.response();
        assert_eq!((response.text().as_str(), response.thinking().as_str()), ("Hello.", "A greeting."));
        let call = response.tool_calls().next().unwrap();
        assert_eq!((call.name.as_str(), &call.arguments["hands"]), ("wave", &json!(2)));
        assert_eq!(response.finish_reason, FinishReason::ToolUse);
        assert_eq!(response.model, "us.amazon.nova-lite-v1:0");
        let usage = response.usage.as_ref().unwrap();
        assert_eq!((usage.prompt_tokens(), usage.cache_read_tokens, usage.output_tokens), (17, 7, 5));
        assert_eq!(answer.warnings().count(), 0);
    }
    let requests = server.requests().await;
    assert_eq!(requests[0].uri().path(), PATH);
    assert_eq!(requests[1].uri().path(), format!("{PATH}-stream"));
    assert_eq!(requests[1].headers()["accept"], "application/vnd.amazon.eventstream");
    let body: Value = serde_json::from_slice(requests[0].body()).unwrap();
    assert_eq!(body, json!({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}));
}

#[tokio::test]
async fn claude_goes_there_when_it_is_wanted() {
    let (server, client) = start().await;
    let asked = |name: &'static str| {
        let client = client.clone();
        async move { client.ask(name, "Hi").await }
    };
    let _ = asked("bedrock-converse:us.anthropic.claude-sonnet-4-6").await;
    let _ = asked("bedrock:us.anthropic.claude-sonnet-4-6").await;
    let _ = asked("bedrock:arn:aws:bedrock:us-east-1:1:application-inference-profile/abc").await;
    let requests = server.requests().await;
    let paths: Vec<&str> = requests.iter().map(|request| request.uri().path()).collect();
    assert_eq!(
        paths,
        [
            "/model/us.anthropic.claude-sonnet-4-6/converse",
            "/model/us.anthropic.claude-sonnet-4-6/invoke",
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fabc/converse",
        ]
    );
}

#[tokio::test]
async fn bytes_of_converse_pass_through_and_come_out_of_their_frames() {
    let (_server, client) = start().await;
    let upstream = client.upstream(MODEL).unwrap();
    assert_eq!(upstream.dialect(), Dialect::BedrockConverse);
    let body = || Bytes::from(r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}"#);
    let headers = http::HeaderMap::new();
    let exchange = upstream.send(PATH, &headers, body(), Wanted::Whole).await.unwrap();
    let answer: Value = serde_json::from_slice(&exchange.bytes().await.unwrap()).unwrap();
    assert_eq!(answer["output"]["message"]["content"][1]["text"], "Hello.");
    let exchange = upstream.send(&format!("{PATH}-stream"), &headers, body(), Wanted::Stream).await.unwrap();
    assert_eq!(exchange.headers["content-type"], "text/event-stream");
    let text = String::from_utf8(exchange.bytes().await.unwrap().to_vec()).unwrap();
    assert!(text.starts_with("data: {\"messageStart\":{\"role\":\"assistant\"}}\n\n"), "{text}");
    assert_eq!(text.matches("data: ").count(), 12);
}

#[tokio::test]
async fn failures_are_what_they_are() {
    let (_server, client) = start().await;
    let model = client.model(MODEL).unwrap();
    for (said, kind) in [
        ("throttle", ErrorKind::RateLimit),
        ("wrong", ErrorKind::InvalidRequest),
        ("long", ErrorKind::ContextTooLong),
        ("denied", ErrorKind::Permission),
        ("busy", ErrorKind::Overloaded),
    ] {
        assert_eq!(model.ask(said).await.unwrap_err().kind(), kind, "{said}");
        assert_eq!(model.stream(said).await.unwrap_err().kind(), kind, "{said}");
    }
    let error = model.stream("throttle first").await.unwrap_err();
    assert_eq!((error.kind(), error.excerpt()), (ErrorKind::RateLimit, Some("Too many tokens")));
    assert_eq!(model.stream("break").await.unwrap_err().kind(), ErrorKind::Server);
}

#[tokio::test]
async fn what_had_arrived_is_kept_when_a_stream_breaks() {
    let (_server, client) = start().await;
    let model = client.model(MODEL).unwrap();
    for (said, kind, text) in
        [("throttle later", ErrorKind::RateLimit, "Hello."), ("stop", ErrorKind::Protocol, "Hello.")]
    {
        let error = model.stream(said).await.unwrap().finish().await.unwrap_err();
        assert_eq!(error.kind(), kind, "{said}: {error}");
        assert_eq!(error.partial().unwrap().text(), text, "{said}");
    }
    // An end without counts is still an end.
    let answer = model.stream("count nothing").await.unwrap().finish().await.unwrap();
    assert_eq!((answer.response().finish_reason, answer.usage()), (FinishReason::ToolUse, None));
}

#[tokio::test]
async fn a_throttled_request_is_tried_again() {
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    let server = Server::start(|request| match TRIES.fetch_add(1, Ordering::Relaxed) {
        0 => failed(429, "ThrottlingException", "Too many requests"),
        1 => converse(request),
        // With a good status: the work may have been done.
        _ => Answer::ok(exception("throttlingException", "Too many requests"))
            .header("content-type", "application/vnd.amazon.eventstream"),
    })
    .await;
    let variables = variables(&server);
    let client = Client::builder()
        .transport(Http::builder().no_proxy().build().unwrap())
        .environment(Environment::of(variables.iter().map(|(name, value)| (*name, value.as_str()))))
        .retry(Retry::default().first_wait(Duration::from_millis(1)))
        .build()
        .unwrap();
    let answer = client.model(MODEL).unwrap().stream("Hi").await.unwrap().finish().await.unwrap();
    assert_eq!((answer.text().as_str(), TRIES.load(Ordering::Relaxed)), ("Hello.", 2));
    let error = client.model(MODEL).unwrap().stream("Hi").await.unwrap_err();
    assert_eq!((error.kind(), TRIES.load(Ordering::Relaxed)), (ikigai_core::ErrorKind::RateLimit, 3));
}

#[tokio::test]
async fn what_cannot_be_carried_is_told_and_refused_when_strict() {
    use ikigai_core::{Block, user};
    let (_server, client) = start().await;
    let mut message = user("Hi");
    message.content.push(Block::image_url("https://example.org/cat.png"));
    let model = client.model(MODEL).unwrap();
    let answer = model.ask(message.clone()).await.unwrap();
    let told: Vec<String> = answer.warnings().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].contains("fetches nothing from the web"), "{told:?}");
    let error = model.strict().ask(message).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use ikigai_core::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;

use super::*;
use crate::Retry;
use crate::error::{Attempt, FailedResponse};
use crate::testing::{Piece, Reply, Scripted, TestClock};
use crate::transport::{Failure, Timeouts};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";
const KEY: &str = "sk-secret-of-ANTHROPIC_API_KEY";
/// Spelled oddly on purpose: it must arrive unchanged.
const BODY: &str = "{ \"model\" : \"claude-haiku-4-5\",\"x\":1.0, \"x\":2 }";

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, HeaderValue::from_static(value));
    }
    headers
}

async fn send(scripted: &Scripted, wanted: Wanted) -> Result<Exchange, Error> {
    let upstream = scripted.client().upstream(CLAUDE).unwrap();
    upstream.send("/v1/messages", &HeaderMap::new(), Bytes::from(BODY), wanted).await
}

#[tokio::test]
async fn bytes_go_out_and_come_back_as_they_are() {
    let reply = || {
        Reply::pieces([Piece::Bytes("{ \"a\":".into()), Piece::Bytes("1.0 }\n".into())])
            .header("request-id", "req_1")
            .header("anthropic-ratelimit-requests-remaining", "9")
            .header("x-unknown", "kept")
            .header("connection", "close, x-hop")
            .header("x-hop", "1")
            .header("set-cookie", "a=b")
    };
    for wanted in [Wanted::Whole, Wanted::Stream] {
        let scripted = Scripted::new([reply()]);
        let exchange = send(&scripted, wanted).await.unwrap();
        assert_eq!((exchange.status, exchange.request_id.as_deref()), (StatusCode::OK, Some("req_1")));
        assert_eq!(exchange.limits.requests.as_ref().unwrap().remaining, Some(9));
        let expected =
            [("request-id", "req_1"), ("anthropic-ratelimit-requests-remaining", "9"), ("x-unknown", "kept")];
        assert_eq!(exchange.headers, headers(&expected));
        assert_eq!(exchange.bytes().await.unwrap(), "{ \"a\":1.0 }\n");
        let request = scripted.requests().remove(0);
        assert_eq!((request.method().as_str(), request.body().as_ref()), ("POST", BODY.as_bytes()));
        assert_eq!(request.uri().to_string(), "https://api.anthropic.com/v1/messages");
        assert_eq!(request.headers()["x-api-key"], KEY);
        assert_eq!(scripted.open(), 0);
    }
}

#[tokio::test]
async fn a_clients_headers_are_passed_on_but_for_its_own_keys_and_connection() {
    let scripted = Scripted::new([Reply::new(200, "{}")]);
    let model = scripted.client().model(CLAUDE).unwrap().header("anthropic-beta", "ours").header("x-team", "blue");
    let theirs = headers(&[
        ("anthropic-beta", "theirs"),
        ("anthropic-version", "2023-06-01"),
        ("user-agent", "their-sdk/1"),
        ("x-multi", "1"),
        ("x-multi", "2"),
        ("x-team", "red"),
        ("content-type", "application/json; charset=utf-8"),
        ("accept", "application/json"),
        ("authorization", "Bearer theirs"),
        ("x-goog-api-key", "theirs"),
        ("x-api-key", "theirs"),
        ("cookie", "theirs"),
        ("host", "localhost"),
        ("content-length", "7"),
        ("accept-encoding", "br"),
        ("te", "trailers"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
    ]);
    let upstream = model.upstream().unwrap();
    upstream.send("/v1/messages", &theirs, Bytes::from("{}"), Wanted::Stream).await.unwrap();
    let expected = headers(&[
        ("anthropic-beta", "theirs,ours"),
        ("anthropic-version", "2023-06-01"),
        ("user-agent", "their-sdk/1"),
        ("x-multi", "1"),
        ("x-multi", "2"),
        ("x-team", "blue"),
        ("content-type", "application/json; charset=utf-8"),
        ("accept", "application/json"),
        ("x-api-key", KEY),
        ("accept-encoding", "identity"),
    ]);
    assert_eq!(scripted.requests()[0].headers(), &expected);
}

#[tokio::test]
async fn it_knows_who_it_leads_to() {
    let client = Scripted::new([Reply::new(200, "{}")]).client();
    let upstream = client.upstream_in("openai:gpt-5.4/high", Dialect::OpenaiChat).unwrap();
    let route = client.registry().route_in(upstream.model(), Dialect::OpenaiChat).unwrap();
    assert_eq!((upstream.dialect(), upstream.provider()), (Dialect::OpenaiChat, route.provider));
    assert_eq!((upstream.model().id.as_str(), upstream.facts()), ("gpt-5.4", route.facts));
    assert_eq!(format!("{:?}", upstream.target()), format!("{:?}", route.target()));
    let exchange = upstream.get("/v1/models", &HeaderMap::new()).await.unwrap();
    assert_eq!(exchange.bytes().await.unwrap(), "{}");
    let missing = client.upstream("mistral:mistral-large-latest").unwrap_err();
    assert_eq!((missing.kind(), missing.provider()), (ErrorKind::Auth, Some("mistral")));
    let foreign = client.upstream_in("openai:gpt-5.4", Dialect::Gemini).unwrap_err();
    assert_eq!(foreign.to_string(), "openai does not speak gemini; it speaks openai-responses, openai-chat");
}

#[tokio::test]
async fn a_providers_failure_is_there_as_it_came() {
    let body =
        format!("{{ \"type\":\"error\",\"error\":{{\"type\":\"rate_limit_error\",\"message\":\"Slow, {KEY}\"}} }}");
    let reply = Reply::new(429, body).header("retry-after", "3600").header("request-id", "req_2").header("x-echo", KEY);
    let scripted = Scripted::new([reply.header("content-length", "101").header("content-type", "application/json")]);
    let error = send(&scripted, Wanted::Stream).await.unwrap_err();
    let expected = FailedResponse {
        status: StatusCode::TOO_MANY_REQUESTS,
        headers: headers(&[
            ("retry-after", "3600"),
            ("request-id", "req_2"),
            ("x-echo", "[key]"),
            ("content-type", "application/json"),
        ]),
        body: "{ \"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Slow, [key]\"} }".into(),
    };
    assert_eq!(error.response(), Some(&expected));
    assert_eq!((error.kind(), error.status(), error.request_id()), (ErrorKind::RateLimit, Some(429), Some("req_2")));
    let canonical = error.canonical();
    assert_eq!((canonical.message.as_str(), canonical.retry_after_ms), ("Slow, [key]", Some(3_600_000)));
    assert_eq!((error.attempts().len(), scripted.open()), (1, 0));
}

#[tokio::test]
async fn a_long_failure_is_cut_without_half_a_key() {
    for offset in 0..KEY.len() {
        let body = format!("{}{KEY}{}", "x".repeat((64 << 10) - offset), "y".repeat(100_000));
        let error = send(&Scripted::new([Reply::new(400, body)]), Wanted::Whole).await.unwrap_err();
        let body = &error.response().unwrap().body;
        assert!(body.len() > 60 << 10 && body.len() <= 64 << 10, "{}", body.len());
        assert!(!body.windows(3).any(|bytes| bytes == b"sk-"), "half a key is left at {offset}");
    }
}

#[tokio::test]
async fn it_is_tried_again_until_a_good_status_has_come_and_never_after() {
    let overloaded = || Reply::new(529, "{}");
    for wanted in [Wanted::Whole, Wanted::Stream] {
        let scripted = Scripted::new([
            overloaded(),
            Reply::Fail(Failure::Connect),
            Reply::pieces([Piece::Bytes("a".into()), Piece::Fail(Failure::Broken)]),
        ]);
        let mut exchange = send(&scripted, wanted).await.unwrap();
        let kinds: Vec<ErrorKind> = exchange.attempts.iter().map(|attempt| attempt.kind).collect();
        assert_eq!(kinds, [ErrorKind::Overloaded, ErrorKind::Network]);
        assert_eq!(exchange.body.next().await.unwrap().unwrap(), "a");
        assert_eq!(exchange.body.next().await.unwrap().unwrap_err().failure(), Failure::Broken);
        drop(exchange);
        assert_eq!((scripted.requests().len(), scripted.open()), (3, 0));
    }
    let scripted = Scripted::new([overloaded()]);
    let upstream = scripted.client().model(CLAUDE).unwrap().retry(Retry::never()).upstream().unwrap();
    let error = upstream.send("/v1/messages", &HeaderMap::new(), Bytes::new(), Wanted::Whole).await.unwrap_err();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Overloaded, 1));
}

#[tokio::test]
async fn an_answer_without_a_body_is_an_answer() {
    for wanted in [Wanted::Whole, Wanted::Stream] {
        let scripted = Scripted::new([Reply::pieces([])]);
        assert_eq!(send(&scripted, wanted).await.unwrap().bytes().await.unwrap(), "");
    }
}

#[tokio::test]
async fn silence_has_its_limits() {
    let seconds = Duration::from_secs;
    let timeouts = Timeouts::default().first_event(seconds(7)).idle(seconds(5));
    let clock = TestClock::skipping();
    let scripted =
        Scripted::new([Reply::pieces([Piece::Stall]), Reply::pieces([Piece::Bytes("a".into()), Piece::Stall])]);
    let client = scripted.builder(clock.clone()).timeouts(timeouts).build().unwrap();
    let upstream = client.model(CLAUDE).unwrap().retry(Retry::never()).upstream().unwrap();
    let none = HeaderMap::new();
    let send = || upstream.send("/v1/messages", &none, Bytes::new(), Wanted::Stream);
    let error = send().await.unwrap_err();
    assert_eq!(error.to_string(), "anthropic: no answer came within 7 s");
    let mut exchange = send().await.unwrap();
    assert_eq!(exchange.body.next().await.unwrap().unwrap(), "a");
    let error = exchange.body.next().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "nothing more came within 5 s");
    assert_eq!(scripted.open(), 0, "the connection is free although the exchange is not dropped");
    assert_eq!(clock.waits(), [seconds(7), seconds(5)]);
}

#[tokio::test]
async fn a_body_is_bounded() {
    let piece = Bytes::from(vec![b'x'; 64 << 20]);
    let scripted = Scripted::new([Reply::pieces(std::iter::repeat_n(Piece::Bytes(piece), 5))]);
    let mut exchange = send(&scripted, Wanted::Stream).await.unwrap();
    for _ in 0..4 {
        exchange.body.next().await.unwrap().unwrap();
    }
    assert_eq!(exchange.body.next().await.unwrap().unwrap_err().failure(), Failure::TooLarge);
    assert_eq!(scripted.open(), 0);
}

#[tokio::test]
async fn a_strangers_path_reaches_no_other_place() {
    let scripted = Scripted::new([Reply::new(200, "{}")]);
    let upstream = scripted.client().upstream("google:gemini-2.5-flash").unwrap();
    let none = HeaderMap::new();
    let send = |path| upstream.send(path, &none, Bytes::new(), Wanted::Whole);
    for path in ["/../x", ".evil.example/x", "/v1beta/%2e%2e/x"] {
        assert_eq!(send(path).await.unwrap_err().kind(), ErrorKind::InvalidRequest, "{path}");
    }
    send("/v1/models/gemini-2.5-flash:generateContent?key=theirs&alt=sse").await.unwrap();
    assert_eq!(
        scripted.requests()[0].uri().to_string(),
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent?alt=sse"
    );
    assert_eq!(scripted.requests().len(), 1);
    // A model's name cannot change the path, either.
    let client = scripted.builder(TestClock::skipping()).key("bedrock", "token").build().unwrap();
    let error = client.model_named(ModelName::new("bedrock", "..")).ask("Hi").await.unwrap_err();
    assert_eq!(error.to_string(), "bedrock: the path `/model/../converse` leads out of the API");
    assert_eq!((error.kind(), scripted.requests().len()), (ErrorKind::InvalidRequest, 1));
}

#[tokio::test]
async fn hooks_see_tries_that_fail() {
    struct Count(Arc<AtomicUsize>);
    impl crate::Hook for Count {
        fn on_attempt(&self, _: &Attempt, _: u32, _: u32) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let seen = Arc::new(AtomicUsize::new(0));
    let scripted = Scripted::new([Reply::new(500, ""), Reply::new(200, "{}")]);
    let client = scripted.builder(TestClock::skipping()).hook(Count(Arc::clone(&seen))).build().unwrap();
    let upstream = client.upstream(CLAUDE).unwrap();
    upstream.send("/v1/messages", &HeaderMap::new(), Bytes::new(), Wanted::Whole).await.unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[test]
fn it_can_be_shared_and_sent_and_shows_no_key() {
    fn is_send<T: Send>(_: T) {}
    fn is_shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let client = Scripted::new([]).client();
    let model = client.model(CLAUDE).unwrap().base_url("http://me:my-password@host/?key=my-secret-key");
    let upstream = model.header("x-token", "my-secret-token").upstream().unwrap();
    is_shared(&upstream);
    is_send(upstream.send("/v1/messages", &HeaderMap::new(), Bytes::new(), Wanted::Stream));
    let shown = format!("{upstream:?} {upstream:#?}");
    assert!(shown.contains("anthropic:claude-haiku-4-5") && shown.contains("host:80"), "{shown}");
    assert!(!shown.contains("my-") && !shown.contains("sk-"), "{shown}");
}

#[tokio::test]
async fn a_path_that_a_server_of_ones_own_lacks_is_told_with_the_dialects_to_choose_from() {
    let told = async |model: fn(crate::Model) -> crate::Model, body: &'static str| {
        let scripted = Scripted::new([Reply::new(404, body)]);
        model(scripted.client().model("openai:gpt-5.4").unwrap()).ask("Hi").await.unwrap_err().to_string()
    };
    let own: fn(crate::Model) -> crate::Model = |model| model.base_url("http://localhost:4000");
    let error = told(own, "Not Found").await;
    let hint = "if localhost does not speak openai-responses, choose another dialect: openai-chat";
    assert_eq!(error, format!("openai: Not Found ({hint}) (status 404)"));
    let unknown = r#"{"error": {"message": "no such model", "code": "model_not_found"}}"#;
    for error in [told(own, unknown).await, told(|model| model, "Not Found").await] {
        assert!(!error.contains("dialect"), "{error}");
    }
}

#[tokio::test]
async fn a_provider_of_the_programs_own_is_reached_like_any_other() {
    let scripted = Scripted::new([Reply::new(200, "{}")]);
    let client = crate::Client::builder()
        .transport(scripted.clone())
        .environment(crate::config::Environment::of([("HOME_API_KEY", "mine")]))
        .provider(crate::Provider::new("home", "http://192.168.0.10:8000"))
        .build()
        .unwrap();
    let upstream = client.upstream("home:my-model").unwrap();
    assert_eq!(upstream.dialect(), Dialect::OpenaiChat);
    upstream.send("/v1/chat/completions", &HeaderMap::new(), Bytes::from("{}"), Wanted::Whole).await.unwrap();
    let request = scripted.requests().remove(0);
    assert_eq!(request.uri().to_string(), "http://192.168.0.10:8000/v1/chat/completions");
    assert_eq!(request.headers()["authorization"], "Bearer mine");
    let error = crate::Client::builder().provider(crate::Provider::new("home", "nowhere")).build().unwrap_err();
    assert_eq!(error.to_string(), "the base URL of home is invalid: `nowhere`");
}

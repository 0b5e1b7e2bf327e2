//! Malicious or broken servers: nothing is paid for twice, nothing takes forever, nothing leaves the API.

use std::io::Write as _;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use pretty_assertions::assert_eq;

use crate::testing::{Piece, Reply, Scripted, TestClock, calls, fields_of, says};
use crate::transport::{Body, Failure, Sending, Timeouts, Transport};
use crate::{Client, Dialect, ErrorKind, Limits, ModelName, Retry, Wanted};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";

fn good() -> Reply {
    Reply::whole(Dialect::Anthropic, &says("Hello"))
}

#[tokio::test]
async fn what_may_have_been_paid_for_is_not_asked_for_again() {
    let start = || {
        Piece::Bytes("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\n".into())
    };
    let overloaded =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    let cut = |pieces: Vec<Piece>| Reply::pieces(pieces);
    for (case, reply, kind) in [
        ("cut before the head", Reply::Fail(Failure::Broken), ErrorKind::Network),
        ("no head in time", Reply::Fail(Failure::Timeout), ErrorKind::Timeout),
        ("a gateway that gave up waiting", Reply::new(504, "{}"), ErrorKind::Timeout),
        ("a connection that broke behind a proxy", Reply::new(520, "{}"), ErrorKind::Server),
        (
            "time that was up, says the body",
            Reply::new(500, r#"{"type":"error","error":{"type":"timeout_error","message":"too long"}}"#),
            ErrorKind::Timeout,
        ),
        ("cut behind the head", cut(vec![Piece::Fail(Failure::Broken)]), ErrorKind::Network),
        ("cut in the body", cut(vec![Piece::Bytes("{".into()), Piece::Fail(Failure::Broken)]), ErrorKind::Network),
        ("no connection, says the body", cut(vec![Piece::Fail(Failure::Connect)]), ErrorKind::Network),
        ("no JSON", Reply::new(200, "<html>"), ErrorKind::Protocol),
        ("nothing at all", Reply::new(200, ""), ErrorKind::Protocol),
        ("silence", cut(vec![Piece::Bytes("{".into()), Piece::Stall]), ErrorKind::Timeout),
        ("another compression", Reply::new(200, "{}").header("content-encoding", "gzip, gzip"), ErrorKind::Protocol),
        ("a failure behind a good status", cut(vec![Piece::Bytes(overloaded.into())]), ErrorKind::Overloaded),
        ("a failure behind the start", cut(vec![start(), Piece::Bytes(overloaded.into())]), ErrorKind::Overloaded),
        ("cut behind the start", cut(vec![start()]), ErrorKind::Protocol),
    ] {
        for wanted in [Wanted::Whole, Wanted::Stream] {
            // A complete answer is not a stream, so it is not read as one.
            let only_streamed = kind == ErrorKind::Overloaded || case == "cut behind the start";
            if only_streamed && wanted == Wanted::Whole {
                continue;
            }
            let scripted = Scripted::new([reply.clone()]);
            let model = scripted.client().model(CLAUDE).unwrap();
            let error = match wanted {
                Wanted::Whole => model.ask("Hi").await.unwrap_err(),
                Wanted::Stream => match model.stream("Hi").await {
                    Ok(stream) => stream.finish().await.unwrap_err(),
                    Err(error) => error,
                },
            };
            assert_eq!((error.kind(), scripted.requests().len()), (kind, 1), "{case}, {wanted:?}: {error}");
            let told = (error.may_be_charged(), error.canonical().retryable);
            assert_eq!(told, (true, Some(false)), "{case}, {wanted:?}: {error}");
        }
    }
}

#[tokio::test]
async fn what_cannot_have_been_paid_for_is_asked_for_again() {
    for (case, reply) in [
        ("no connection", Reply::Fail(Failure::Connect)),
        ("too many requests", Reply::new(429, "{}")),
        ("a broken server", Reply::new(500, "{}")),
        ("no capacity", Reply::new(529, "{}")),
    ] {
        let once = Scripted::new([reply.clone()]).client().model(CLAUDE).unwrap().retry(Retry::never());
        let error = once.ask("Hi").await.unwrap_err();
        assert_eq!((error.may_be_charged(), error.canonical().retryable), (false, None), "{case}");
        let scripted = Scripted::new([reply, good()]);
        let answer = scripted.client().ask(CLAUDE, "Hi").await.unwrap();
        assert_eq!((answer.text().as_str(), scripted.requests().len()), ("Hello", 2), "{case}");
    }
    let list = || Reply::new(200, r#"{"data":[{"id":"a"}]}"#);
    for (case, reply) in [
        ("cut", Reply::Fail(Failure::Broken)),
        ("no JSON", Reply::new(200, "<html>")),
        ("cut in the body", Reply::pieces([Piece::Bytes("{".into()), Piece::Fail(Failure::Broken)])),
    ] {
        let scripted = Scripted::new([reply, list()]);
        let models = scripted.client().models("anthropic").await.unwrap();
        assert_eq!((models.len(), scripted.requests().len()), (1, 2), "{case}: a list costs nothing");
    }
}

#[tokio::test]
async fn every_try_of_a_request_has_the_same_idempotency_key_where_the_provider_has_one() {
    let hello = || Reply::whole(Dialect::OpenaiResponses, &says("Hello"));
    let scripted = Scripted::new([Reply::new(500, "{}"), hello(), hello(), good()]);
    let client = scripted.client();
    for model in ["openai:gpt-5.4", "openai:gpt-5.4", CLAUDE] {
        client.ask(model, "Hi").await.unwrap();
    }
    let keys: Vec<Option<String>> = scripted
        .requests()
        .iter()
        .map(|request| Some(request.headers().get("idempotency-key")?.to_str().unwrap().to_owned()))
        .collect();
    assert_eq!((keys[0].is_some(), keys[0] == keys[1], keys[1] == keys[2], keys[3].clone()), (true, true, false, None));
}

#[tokio::test]
async fn a_tool_is_not_run_twice_because_its_answer_broke() {
    let call = || Reply::whole(Dialect::Anthropic, &calls(&[("c1", "count", serde_json::json!({}))]));
    let ran = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = ran.clone();
    let tool = crate::Callable::new(crate::Tool::new("count", "Counts."), move |_| {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        std::future::ready("done")
    });
    let scripted = Scripted::new([call(), Reply::new(200, "<html>")]);
    let error = scripted.client().model(CLAUDE).unwrap().tool(tool).ask("Hi").await.unwrap_err();
    assert_eq!((error.kind(), ran.load(std::sync::atomic::Ordering::SeqCst)), (ErrorKind::Protocol, 1));
}

/// A server that sends the same piece forever, and advances the clock with each.
#[derive(Debug)]
struct Tireless {
    clock: TestClock,
    first: Bytes,
    piece: Bytes,
    status: u16,
}

impl Transport for Tireless {
    fn send(&self, _: http::Request<Bytes>) -> Sending<'_> {
        let (clock, piece) = (self.clock.clone(), self.piece.clone());
        let mut first = Some(self.first.clone()).filter(|first| !first.is_empty());
        let body = Body::poll_fn(move |_| {
            clock.advance(Duration::from_secs(10));
            Poll::Ready(Some(Ok(first.take().unwrap_or_else(|| piece.clone()))))
        });
        let mut response = http::Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(self.status).unwrap();
        Box::pin(std::future::ready(Ok(response)))
    }
}

async fn tireless(first: &'static str, piece: &'static str, status: u16) -> String {
    let clock = TestClock::stopped();
    let transport = Tireless { clock: clock.clone(), first: first.into(), piece: piece.into(), status };
    let timeouts = Timeouts::default().error_body(Duration::from_secs(30));
    let client = Client::builder().transport(transport).clock(clock.clone()).key("anthropic", "sk-some-key-1234");
    let client = client.retry(Retry::never()).timeouts(timeouts).build().unwrap();
    let error = match client.model(CLAUDE).unwrap().stream("Hi").await {
        Ok(stream) => stream.finish().await.unwrap_err(),
        Err(error) => error,
    };
    format!("{} s: {error}", crate::time::Clock::now(&clock).as_secs())
}

#[tokio::test]
async fn comments_and_pings_are_no_life() {
    const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\n";
    const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    assert_eq!(tireless("", ": still here\n\n", 200).await, "300 s: anthropic: no event arrived within 300 s");
    assert_eq!(
        tireless(START, ": still here\n\n", 200).await,
        "910 s: anthropic: no further event arrived within 900 s"
    );
    assert_eq!(tireless(START, PING, 200).await, "910 s: anthropic: no further event arrived within 900 s");
    // Events without content end with the total time limit.
    const USAGE: &str =
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":1}}\n\n";
    assert_eq!(tireless(START, USAGE, 200).await, "3600 s: anthropic: the answer did not end within 3600 s");
}

#[tokio::test]
async fn a_failure_that_drips_is_told_with_what_has_come() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<Bytes>();
    let clock = TestClock::stopped();
    sender.send(r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#.into()).unwrap();
    let body = Body::poll_fn(move |cx| receiver.poll_recv(cx).map(|piece| piece.map(Ok)));
    #[derive(Debug)]
    struct Once(std::sync::Mutex<Option<Body>>);
    impl Transport for Once {
        fn send(&self, _: http::Request<Bytes>) -> Sending<'_> {
            let mut response = http::Response::new(self.0.lock().unwrap().take().unwrap());
            *response.status_mut() = http::StatusCode::from_u16(529).unwrap();
            Box::pin(std::future::ready(Ok(response)))
        }
    }
    let client = Client::builder().transport(Once(std::sync::Mutex::new(Some(body)))).clock(clock.clone());
    let timeouts = Timeouts::default().error_body(Duration::from_secs(7));
    let client = client.key("anthropic", "sk-some-key-1234").retry(Retry::never()).timeouts(timeouts).build().unwrap();
    let asked = tokio::spawn(async move { client.ask(CLAUDE, "Hi").await.unwrap_err() });
    while clock.waits().iter().all(|wait| *wait != Duration::from_secs(7)) {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(7));
    let error = asked.await.unwrap();
    assert_eq!((error.kind(), error.excerpt()), (ErrorKind::Overloaded, Some("busy")));
    drop(sender);
}

fn packed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn answers_may_be_compressed_in_the_way_that_was_asked_for() {
    let (hello, failure) = (
        packed(br#"{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#),
        packed(b"{\"error\":{\"message\":\"no\"}}"),
    );
    let gzip = |status: u16, body: Vec<u8>| Reply::new(status, body).header("content-encoding", "gzip");
    let scripted = Scripted::new([gzip(200, hello.clone()), gzip(400, failure), gzip(200, packed(&hello))]);
    let client = scripted.client();
    assert_eq!(client.ask(CLAUDE, "Hi").await.unwrap().text(), "Hello");
    assert_eq!(scripted.requests()[0].headers()["accept-encoding"], "gzip");
    assert_eq!(client.ask(CLAUDE, "Hi").await.unwrap_err().excerpt(), Some("no"));
    let twice = client.ask(CLAUDE, "Hi").await.unwrap_err();
    assert!(twice.to_string().starts_with("anthropic: the answer cannot be read"), "{twice}");
    for encoding in ["br", "gzip, gzip", "zstd"] {
        let scripted = Scripted::new([Reply::new(200, "x").header("content-encoding", encoding)]);
        let error = scripted.client().ask(CLAUDE, "Hi").await.unwrap_err();
        let expected = format!("anthropic: the answer is compressed as `{encoding}`, which was not requested");
        assert_eq!(error.to_string(), expected);
        let scripted = Scripted::new([Reply::new(401, "x").header("content-encoding", encoding)]);
        assert_eq!(scripted.client().ask(CLAUDE, "Hi").await.unwrap_err().kind(), ErrorKind::Auth);
    }
    let bomb = packed(&vec![b' '; 4 << 20]);
    let scripted = Scripted::new([gzip(200, bomb)]);
    let error = scripted.client().ask(CLAUDE, "Hi").await.unwrap_err();
    assert_eq!(error.to_string(), "anthropic: the answer decompresses to more than 100 times its size");
    assert_eq!(scripted.open(), 0);
}

#[tokio::test]
async fn a_limit_that_is_reached_names_itself_and_can_be_raised() {
    let long = || Reply::whole(Dialect::Anthropic, &says(&"a".repeat(2000)));
    let mut limits = Limits::client();
    limits.body = 1000;
    let scripted = Scripted::new([long(), long()]);
    let client = scripted.builder(TestClock::skipping()).limits(limits).build().unwrap();
    let error = client.ask(CLAUDE, "Hi").await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.is_retryable()),
        ("anthropic: the answer is longer than 1000 bytes", false)
    );
    assert_eq!(scripted.client().ask(CLAUDE, "Hi").await.unwrap().text().len(), 2000);
}

#[tokio::test]
async fn no_wait_is_too_long_to_be_told() {
    for (name, value) in [
        ("retry-after", "1e300"),
        ("retry-after", "-5"),
        ("retry-after", "NaN"),
        ("retry-after", "99999999999999999999999"),
        ("retry-after-ms", "18446744073709551615"),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] {
        let clock = TestClock::skipping();
        let scripted = Scripted::new([Reply::new(429, "{}").header(name, value), good()]);
        let outcome = scripted.client_with(clock.clone()).ask(CLAUDE, "Hi").await;
        let waited: Duration = clock.waits().into_iter().sum();
        assert!(waited <= Duration::from_secs(60), "{name}: {value}: {waited:?}");
        if let Err(error) = outcome {
            assert_eq!((error.kind(), scripted.requests().len()), (ErrorKind::RateLimit, 1), "{name}: {value}");
        }
    }
}

#[test]
fn no_model_becomes_another_path_with_any_provider() {
    let variables = [
        "AZURE_RESOURCE_NAME",
        "AZURE_API_BASE",
        "AZURE_OPENAI_ENDPOINT",
        "GOOGLE_CLOUD_PROJECT",
        "CLOUDFLARE_ACCOUNT_ID",
    ];
    let client = Client::builder()
        .environment(crate::config::Environment::of(variables.map(|name| (name, "https://h.example"))))
        .build()
        .unwrap();
    let url = |provider: &str, model: &str| {
        let model = client.model_named(ModelName::new(provider, model)).base_url("https://h.example/v1/{model}");
        model.preview("Hi").map(|preview| preview.url)
    };
    let mut checked = 0;
    for provider in client.registry().providers.iter() {
        let Ok(plain) = url(&provider.id, "m") else { continue };
        let segments = plain.split('/').count();
        for model in [
            "..",
            ".",
            "%2e%2e",
            "%2E.",
            "a/../b",
            "../../x",
            "a?b=c",
            "a#b",
            "a b",
            "..\\..",
            "a\r\nb",
            "a\u{202e}b",
            "@h",
            "//h",
        ] {
            checked += 1;
            let Ok(url) = url(&provider.id, model) else { continue };
            assert_eq!(url.split('/').count(), segments, "{}:{model}: {url}", provider.id);
            assert!(
                !url.contains("/../") && !url.contains("/./") && !url.contains('#'),
                "{}:{model}: {url}",
                provider.id
            );
            assert_eq!(url.matches('?').count(), plain.matches('?').count(), "{}:{model}: {url}", provider.id);
        }
    }
    assert!(checked > 500, "{checked}");
}

#[tokio::test]
async fn a_key_in_the_clear_is_warned_of_once_for_each_host() {
    let warnings = |urls: &'static [&'static str]| async move {
        let fields = fields_of(async {
            let client = Scripted::new([]).client();
            for url in urls {
                client.model(CLAUDE).unwrap().base_url(*url).upstream().unwrap();
            }
        })
        .await;
        fields.into_iter().filter(|(name, _)| name == "server.address").map(|(_, host)| host).collect::<Vec<_>>()
    };
    let away = &["http://h.example/a", "http://h.example:8080/b", "http://other.example", "http://192.0.2.7"];
    assert_eq!(warnings(away).await, ["h.example", "other.example", "192.0.2.7"]);
    let near: &[&str] = &["https://h.example", "http://localhost:11434", "http://127.0.0.2", "http://[::1]:8080/v1"];
    assert_eq!(warnings(near).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_key_that_is_cut_by_an_excerpt_is_not_shown() {
    const KEY: &str = "sk-ant-api03-very-secret-key-0123456789";
    for offset in 150..260 {
        let body = format!("{}{KEY}{}", "x".repeat(offset), "y".repeat(300));
        for stream in [false, true] {
            let scripted = Scripted::new([Reply::new(200, body.clone())]);
            let model = scripted.client().model(CLAUDE).unwrap().key(KEY);
            let error = if stream { model.stream("Hi").await.err() } else { model.ask("Hi").await.err() };
            let shown = format!("{:#?}", error.unwrap());
            assert!(!shown.contains("sk-ant-api03-v"), "{offset} {stream}: {shown}");
        }
    }
}

#[tokio::test]
async fn headers_of_the_callers_own_are_secrets_too_but_not_their_wishes() {
    let told = r#"{"error":{"message":"x-tenant: tenant-4711-blue, anthropic-beta: context-1m-2025-08-07 dGVuYW50LTQ3MTEtYmx1ZQ"}}"#;
    let scripted = Scripted::new([Reply::new(400, told)]);
    let model = scripted.client().model(CLAUDE).unwrap().header("x-tenant", "tenant-4711-blue");
    let error = model.header("anthropic-beta", "context-1m-2025-08-07").ask("Hi").await.unwrap_err();
    assert_eq!(error.excerpt(), Some("x-tenant: [key], anthropic-beta: context-1m-2025-08-07 [key]"));
}

#[tokio::test]
async fn a_request_that_is_too_large_for_one_goes_to_the_next() {
    let too_large = r#"{"type":"error","error":{"type":"request_too_large","message":"too large"}}"#;
    let openai = Reply::whole(Dialect::OpenaiResponses, &says("Hello"));
    let scripted = Scripted::new([Reply::new(413, too_large), openai]);
    let model = scripted.client().model(CLAUDE).unwrap().fallback("openai:gpt-5.4").unwrap();
    let answer = model.ask("Hi").await.unwrap();
    assert_eq!((answer.text().as_str(), answer.attempts()[0].kind), ("Hello", ErrorKind::RequestTooLarge));
}

//! Streams: what reaches the caller, what is retried, what is kept when they break.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ikigai_core::{Block, Dialect, ErrorKind, Event, FinishReason, Response};
use pretty_assertions::assert_eq;
use tokio::sync::mpsc;

use crate::config::Environment;
use crate::testing::{Answer, Piece, Reply, Scripted, Server, TestClock, calls, frames, says};
use crate::transport::{Failure, Http, Timeouts};
use crate::{AnswerStream, Client, Error};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";
const ERROR_EVENT: &str =
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

fn hello() -> Response {
    says("Hello, world.")
}

/// Returns the pieces of an answer up to and including its text.
fn half() -> Vec<Piece> {
    let frames = frames(Dialect::Anthropic, &hello());
    let text = frames.iter().position(|frame| frame.windows(12).any(|bytes| bytes == b"Hello, world")).unwrap();
    frames[..=text].iter().cloned().map(Piece::Bytes).collect()
}

async fn texts(stream: &mut AnswerStream) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    while let Some(text) = stream.text().await? {
        texts.push(text);
    }
    Ok(texts)
}

async fn open(scripted: &Scripted) -> Result<AnswerStream, Error> {
    scripted.client().model(CLAUDE).unwrap().stream("Hi").await
}

#[tokio::test]
async fn a_stream_is_its_answer_in_every_dialect() {
    for (name, dialect) in [
        (CLAUDE, Dialect::Anthropic),
        ("openai:gpt-5.4", Dialect::OpenaiResponses),
        ("deepseek:deepseek-chat", Dialect::OpenaiChat),
        ("google:gemini-2.5-flash", Dialect::Gemini),
    ] {
        let scripted = Scripted::new([Reply::stream(dialect, &hello()), Reply::whole(dialect, &hello())]);
        let model = scripted.client().model(name).unwrap();
        let mut stream = model.stream("Hi").await.unwrap();
        assert_eq!(texts(&mut stream).await.unwrap().concat(), "Hello, world.", "{name}");
        assert_eq!(stream.so_far().text(), "Hello, world.", "{name}");
        let streamed = stream.finish().await.unwrap();
        let whole = model.ask("Hi").await.unwrap();
        assert_eq!(
            (
                streamed.content(),
                streamed.finish_reason(),
                streamed.usage(),
                streamed.cost(),
                streamed.messages().len()
            ),
            (whole.content(), whole.finish_reason(), whole.usage(), whole.cost(), whole.messages().len()),
            "{name}"
        );
        assert_eq!((scripted.requests().len(), scripted.open()), (2, 0), "each question is sent once");
        let request = scripted.requests().remove(0);
        assert_eq!(request.headers()["accept-encoding"], "identity");
    }
}

#[tokio::test]
async fn events_come_in_the_order_of_the_grammar_and_the_end_is_the_end() {
    let scripted = Scripted::new([Reply::stream(Dialect::Anthropic, &hello())]);
    let mut stream = open(&scripted).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().await.unwrap() {
        events.push(event);
    }
    assert!(matches!(events.first(), Some(Event::Start { .. })), "{events:?}");
    assert!(matches!(events.last(), Some(Event::Done { finish_reason: FinishReason::Stop, .. })), "{events:?}");
    for _ in 0..3 {
        assert_eq!(stream.next_event().await.unwrap(), None);
    }
    assert_eq!(stream.collect().await.text(), "Hello, world.");
}

#[tokio::test]
async fn what_fails_before_the_first_words_goes_to_the_fallback_and_is_not_asked_for_again() {
    let start = frames(Dialect::Anthropic, &hello()).remove(0);
    let broken: [Vec<Piece>; 5] = [
        vec![Piece::Bytes(ERROR_EVENT.into())],
        vec![Piece::Bytes(start.clone()), Piece::Bytes(ERROR_EVENT.into())],
        vec![Piece::Fail(Failure::Broken)],
        vec![Piece::Bytes(start), Piece::Fail(Failure::Broken)],
        vec![],
    ];
    for pieces in broken {
        let scripted = Scripted::new([Reply::pieces(pieces), Reply::stream(Dialect::Anthropic, &hello())]);
        let model = scripted.client().model("anthropic:claude-haiku-4-5").unwrap();
        let model = model.fallback("anthropic:claude-sonnet-4-5").unwrap();
        let mut stream = model.stream("Hi").await.unwrap();
        assert_eq!(texts(&mut stream).await.unwrap(), ["Hello, world."]);
        let answer = stream.finish().await.unwrap();
        assert_eq!((answer.attempts().len(), answer.model().id.as_str()), (1, "claude-sonnet-4-5"));
        assert_eq!((scripted.requests().len(), scripted.open()), (2, 0));
    }
}

#[tokio::test]
async fn what_fails_after_the_first_words_is_an_error_with_what_had_arrived() {
    for (end, kind) in [
        (Piece::Bytes(ERROR_EVENT.into()), ErrorKind::Overloaded),
        (Piece::Fail(Failure::Broken), ErrorKind::Network),
        (Piece::Bytes("data: {broken\n\n".into()), ErrorKind::Protocol),
        (Piece::Bytes(Bytes::new()), ErrorKind::Protocol),
    ] {
        let pieces = half().into_iter().chain([end]);
        let scripted = Scripted::new([Reply::pieces(pieces).header("request-id", "req_9")]);
        let mut stream = open(&scripted).await.unwrap();
        assert_eq!(stream.text().await.unwrap().as_deref(), Some("Hello, world."));
        let error = texts(&mut stream).await.unwrap_err();
        assert_eq!((error.kind(), error.provider()), (kind, Some("anthropic")), "{error}");
        assert_eq!(error.partial().unwrap().text(), "Hello, world.");
        assert_eq!(error.partial().unwrap().finish_reason, FinishReason::Error);
        assert_eq!(stream.so_far().text(), "Hello, world.");
        // The error is reported once, and again by `finish`.
        assert_eq!(stream.next_event().await.unwrap(), None);
        assert_eq!(stream.finish().await.unwrap_err().kind(), kind);
        assert_eq!((scripted.requests().len(), scripted.open()), (1, 0), "it is not sent twice");
    }
}

#[tokio::test]
async fn whoever_collects_a_broken_stream_gets_what_had_arrived() {
    let scripted = Scripted::new([Reply::pieces(half().into_iter().chain([Piece::Fail(Failure::Broken)]))]);
    let response = open(&scripted).await.unwrap().collect().await;
    assert_eq!((response.text().as_str(), response.finish_reason), ("Hello, world.", FinishReason::Error));
    assert_eq!(response.error.unwrap().kind, ErrorKind::Network);
}

#[tokio::test]
async fn a_failed_answer_to_a_stream_is_read_as_an_error_however_it_is_cut() {
    let body =
        r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"},"request_id":"req_3"}"#;
    let (one, two) = body.split_at(40);
    let reply = Reply::Head {
        status: 404,
        headers: Vec::new(),
        pieces: vec![Piece::Bytes(one.into()), Piece::Bytes(two.into())],
    };
    let scripted = Scripted::new([reply]);
    let error = open(&scripted).await.unwrap_err();
    assert_eq!((error.kind(), error.request_id()), (ErrorKind::NotFound, Some("req_3")));
    assert_eq!(error.excerpt(), Some("model: claude-x"));
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_told() {
    let html = || Reply::new(200, "<html>Sign in to the hotel's network</html>\n");
    let scripted = Scripted::new([html(), html()]);
    let error = open(&scripted).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.to_string().contains("Sign in to the hotel's network"), "{error}");
}

#[tokio::test]
async fn silence_ends_a_stream_with_what_had_arrived() {
    let scripted = Scripted::new([Reply::pieces(half().into_iter().chain([Piece::Stall]))]);
    let clock = TestClock::stopped();
    let model = scripted.client_with(clock.clone()).model(CLAUDE).unwrap();
    let model = model.timeouts(Timeouts::default().idle(Duration::from_secs(60)));
    let mut stream = model.stream("Hi").await.unwrap();
    assert_eq!(stream.text().await.unwrap().as_deref(), Some("Hello, world."));
    let waiting = tokio::spawn(async move {
        let error = stream.text().await.unwrap_err();
        (error, stream)
    });
    tokio::task::yield_now().await;
    clock.advance(Duration::from_secs(60));
    let (error, stream) = waiting.await.unwrap();
    assert_eq!((error.kind(), error.partial().unwrap().text().as_str()), (ErrorKind::Timeout, "Hello, world."));
    assert_eq!(scripted.open(), 0, "the connection is free although the stream is not dropped");
    drop(stream);
}

#[tokio::test]
async fn a_stream_that_never_begins_is_given_up_and_not_asked_for_again() {
    let scripted = Scripted::new([Reply::pieces([Piece::Stall])]);
    let error = open(&scripted).await.unwrap_err();
    assert_eq!((error.kind(), error.attempts().len(), scripted.open()), (ErrorKind::Timeout, 1, 0));
}

#[tokio::test]
async fn waiting_can_be_given_up_and_taken_up_again() {
    let (sender, mut receiver) = mpsc::channel::<Bytes>(8);
    let pieces = frames(Dialect::Anthropic, &hello());
    let server_side = {
        let (sender, pieces) = (sender.clone(), pieces.clone());
        async move { sender.send(pieces[0].clone()).await.unwrap() }
    };
    server_side.await;
    #[derive(Debug)]
    struct Channel(std::sync::Mutex<Option<mpsc::Receiver<Bytes>>>);
    impl crate::transport::Transport for Channel {
        fn send(&self, _: http::Request<Bytes>) -> crate::transport::Sending<'_> {
            let mut receiver = self.0.lock().unwrap().take().unwrap();
            let body = crate::transport::Body::poll_fn(move |cx| receiver.poll_recv(cx).map(|bytes| bytes.map(Ok)));
            Box::pin(std::future::ready(Ok(http::Response::new(body))))
        }
    }
    for piece in &pieces[1..4] {
        sender.send(piece.clone()).await.unwrap();
    }
    let client = Client::builder()
        .transport(Channel(std::sync::Mutex::new(Some(std::mem::replace(&mut receiver, mpsc::channel(1).1)))))
        .environment(Environment::of([("ANTHROPIC_API_KEY", "k")]))
        .build()
        .unwrap();
    let mut stream = client.model(CLAUDE).unwrap().stream("Hi").await.unwrap();
    let mut text = String::new();
    for piece in &pieces[4..] {
        // Polled without success, dropped, and polled again.
        while let Ok(next) = tokio::time::timeout(Duration::from_millis(5), stream.text()).await {
            text.extend(next.unwrap());
        }
        sender.send(piece.clone()).await.unwrap();
    }
    drop(sender);
    text.extend(stream.text().await.unwrap());
    assert_eq!(text, "Hello, world.");
    assert_eq!(stream.finish().await.unwrap().text(), "Hello, world.");
}

fn client_of(server: &Server) -> Client {
    Client::builder()
        .transport(Http::builder().no_proxy().build().unwrap())
        .environment(Environment::of([("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", &server.url())]))
        .build()
        .unwrap()
}

#[tokio::test]
async fn finished_streams_leave_their_connection_to_the_next() {
    let server = Server::start(|_| Answer::ok(frames(Dialect::Anthropic, &hello()).concat())).await;
    let client = client_of(&server);
    for _ in 0..5 {
        let mut stream = client.model(CLAUDE).unwrap().stream("Hi").await.unwrap();
        assert_eq!(texts(&mut stream).await.unwrap().concat(), "Hello, world.");
        stream.finish().await.unwrap();
    }
    assert_eq!(server.requests().await.len(), 5);
    // A second one may be opened while the first is being returned to the pool.
    assert!(server.opened() <= 2, "{} connections for 5 streams", server.opened());
    drop(client);
    server.until_open(0).await;
}

#[tokio::test]
async fn a_dropped_stream_frees_its_connection_at_once() {
    let (sender, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |_| Answer::pieces(receiver.lock().unwrap().take().unwrap())).await;
    let client = client_of(&server);
    let sending = tokio::spawn(async move {
        for piece in frames(Dialect::Anthropic, &hello()).into_iter().take(4) {
            sender.send(Ok(piece)).await.unwrap();
        }
        sender.closed().await;
    });
    let mut stream = client.model(CLAUDE).unwrap().stream("Hi").await.unwrap();
    assert!(stream.text().await.unwrap().is_some());
    drop(stream);
    sending.await.unwrap();
    server.until_open(0).await;
}

#[tokio::test]
async fn an_exchange_that_is_dropped_at_any_point_frees_its_connection() {
    let body = || Bytes::from("{}");
    let (sender, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |_| Answer::pieces(receiver.lock().unwrap().take().unwrap())).await;
    let upstream = client_of(&server).upstream(CLAUDE).unwrap();
    let none = http::HeaderMap::new();
    let wanted = crate::Wanted::Stream;
    let sending = tokio::spawn({
        let upstream = upstream.clone();
        async move { upstream.send("/v1/messages", &none, body(), wanted).await }
    });
    server.until_open(1).await;
    sender.send(Ok(Bytes::from("one"))).await.unwrap();
    let mut exchange = sending.await.unwrap().unwrap();
    assert_eq!(exchange.body.next().await.unwrap().unwrap(), "one");
    drop(exchange);
    sender.closed().await;
    server.until_open(0).await;

    // Before the head, and before the first byte.
    let (silent, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |_| Answer::pieces(receiver.lock().unwrap().take().unwrap())).await;
    let upstream = client_of(&server).upstream(CLAUDE).unwrap();
    let sending = tokio::spawn(async move {
        upstream.send("/v1/messages", &http::HeaderMap::new(), body(), wanted).await.map(|exchange| exchange.status)
    });
    server.until_open(1).await;
    sending.abort();
    assert!(sending.await.unwrap_err().is_cancelled());
    server.until_open(0).await;
    drop(silent);
}

#[tokio::test]
async fn logs_of_all_layers_show_no_key() {
    #[derive(Clone, Default)]
    struct Log(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = Server::start(|request| match request.uri().path() {
        "/v1/messages" => Answer::ok(frames(Dialect::Anthropic, &hello()).concat()),
        _ => Answer::new(500, "broken"),
    })
    .await;
    let secret = "sk-very-secret-1234567890";
    let client = client_of(&server);
    for (name, variable) in [(CLAUDE, "anthropic"), ("google:gemini-2.5-flash", "google"), ("openai:gpt-5.4", "openai")]
    {
        let model = client.model(name).unwrap().key(secret).base_url(server.url()).retry(crate::Retry::never());
        let outcome = model.stream("What is my secret wish?").await;
        assert_eq!(outcome.is_ok(), variable == "anthropic");
        if let Ok(stream) = outcome {
            stream.finish().await.unwrap();
        }
    }
    let addresses: Vec<String> = server.requests().await.iter().map(|request| request.uri().to_string()).collect();
    assert!(addresses.iter().all(|address| !address.contains("secret")), "{addresses:?}");
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(log.contains("gen_ai.chat") && log.len() > 2000, "the log is there: {log}");
    assert!(!log.contains("very-secret"), "a key is in the log");
    assert!(!log.contains("secret wish") && !log.contains("Hello, world"), "what is said is in the log");
}

#[tokio::test]
async fn spans_and_metrics_have_the_words_of_the_conventions() {
    let fields = crate::testing::fields_of(async {
        let scripted = Scripted::new([Reply::stream(Dialect::OpenaiResponses, &hello())]);
        let model = scripted.client().model("openai:gpt-5.4").unwrap().max_output_tokens(100).temperature(0.5);
        model.stream("Hi").await.unwrap().finish().await.unwrap();
    })
    .await;
    let value = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    for (name, expected) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-5.4"),
        ("gen_ai.request.max_tokens", "100"),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.response.model", "m"),
        ("gen_ai.response.finish_reasons", "stop"),
        ("gen_ai.usage.input_tokens", "10"),
        ("gen_ai.usage.output_tokens", "5"),
        ("server.address", "api.openai.com"),
        ("server.port", "443"),
        ("otel.name", "chat gpt-5.4"),
        ("histogram.gen_ai.client.token.usage", "10"),
        ("gen_ai.token.type", "input"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}");
    }
    assert!(value("histogram.gen_ai.client.operation.duration").is_some());
    assert_eq!((value("gen_ai.input.messages"), value("gen_ai.output.messages")), (None, None), "content stays out");
}

#[tokio::test]
async fn what_is_said_is_in_traces_when_that_is_asked_for() {
    let fields = crate::testing::fields_of(async {
        let scripted = Scripted::new([
            Reply::whole(Dialect::Anthropic, &calls(&[("c1", "clock", serde_json::json!({"zone": "Oslo"}))])),
            Reply::whole(Dialect::Anthropic, &hello()),
        ]);
        let client = scripted.builder(TestClock::skipping()).content_in_traces().build().unwrap();
        let clock = crate::Callable::new(crate::Tool::new("clock", "Tells the time."), |_| async { "12:00" });
        client.model(CLAUDE).unwrap().tool(clock).ask("Hi there").await.unwrap();
    })
    .await;
    let values = |name: &str| -> Vec<&str> {
        fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str()).collect()
    };
    assert!(values("gen_ai.input.messages")[0].contains("Hi there"), "{fields:?}");
    assert!(values("gen_ai.output.messages").concat().contains("Hello, world."), "{fields:?}");
    assert_eq!(values("gen_ai.tool.call.arguments"), [r#"{"zone":"Oslo"}"#]);
    assert!(values("gen_ai.tool.call.result")[0].contains("12:00"), "{fields:?}");
    assert_eq!((values("gen_ai.tool.name"), values("gen_ai.tool.call.id")), (vec!["clock"], vec!["c1"]));
}

#[tokio::test]
async fn a_block_with_nothing_in_it_does_not_break_the_stream() {
    let mut empty = hello();
    empty.content = vec![Block::text("")];
    let scripted = Scripted::new([Reply::stream(Dialect::Anthropic, &empty)]);
    let mut stream = open(&scripted).await.unwrap();
    assert_eq!(texts(&mut stream).await.unwrap(), Vec::<String>::new());
    assert_eq!(stream.finish().await.unwrap().text(), "");
}

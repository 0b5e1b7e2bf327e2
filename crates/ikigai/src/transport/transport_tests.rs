use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use pretty_assertions::assert_eq;
use tokio::sync::mpsc;

use super::*;
use crate::testing::{Answer, Server, TestClock};

fn post(url: &str, body: impl Into<Bytes>) -> http::Request<Bytes> {
    http::Request::post(url).header("x-test", "yes").body(body.into()).unwrap()
}

fn local() -> Http {
    Http::builder().no_proxy().build().unwrap()
}

async fn text(response: http::Response<Body>) -> String {
    String::from_utf8(response.into_body().read(1_000_000).await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn a_request_goes_out_and_its_answer_comes_back() {
    let server = Server::start(|_| Answer::new(418, "teapot").header("request-id", "req_1")).await;
    let response = local().send(post(&format!("{}/v1/x?y=1", server.url()), "hello")).await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["request-id"]), (418, &"req_1".parse().unwrap()));
    assert_eq!(text(response).await, "teapot");
    let request = server.requests().await.remove(0);
    assert_eq!((request.method().as_str(), request.uri().to_string().as_str()), ("POST", "/v1/x?y=1"));
    assert_eq!((request.headers()["x-test"].to_str().unwrap(), request.body().as_ref()), ("yes", &b"hello"[..]));
}

#[tokio::test]
async fn pieces_are_there_before_the_next_one_is_sent() {
    let (sender, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |_| Answer::pieces(receiver.lock().unwrap().take().unwrap())).await;
    let mut body = local().send(post(&server.url(), "")).await.unwrap().into_body();
    for piece in ["one", "two", "three"] {
        sender.send(Ok(Bytes::from(piece))).await.unwrap();
        assert_eq!(body.next().await.unwrap().unwrap(), piece);
    }
    drop(sender);
    assert!(body.next().await.is_none());
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::start(|_| Answer::ok("fine")).await;
    let http = local();
    for _ in 0..4 {
        text(http.send(post(&server.url(), "x")).await.unwrap()).await;
    }
    assert_eq!(server.opened(), 1);
    drop(http);
    server.until_open(0).await;
}

#[tokio::test]
async fn a_dropped_stream_frees_its_connection() {
    let (sender, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |_| Answer::pieces(receiver.lock().unwrap().take().unwrap())).await;
    let http = local();
    let mut body = http.send(post(&server.url(), "")).await.unwrap().into_body();
    sender.send(Ok(Bytes::from("one"))).await.unwrap();
    body.next().await.unwrap().unwrap();
    drop(body);
    server.until_open(0).await;
    assert!(sender.is_closed());
}

#[tokio::test]
async fn a_dropped_stream_of_http2_ends_alone() {
    let (sender, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |request| match request.uri().path() {
        "/stream" => Answer::pieces(receiver.lock().unwrap().take().unwrap()),
        _ => Answer::ok("fine"),
    })
    .await;
    let http = Http::builder().no_proxy().http2_only().build().unwrap();
    let response = http.send(post(&format!("{}/stream", server.url()), "")).await.unwrap();
    assert_eq!(response.version(), http::Version::HTTP_2);
    sender.send(Ok(Bytes::from("one"))).await.unwrap();
    let mut body = response.into_body();
    body.next().await.unwrap().unwrap();
    drop(body);
    sender.closed().await;
    assert_eq!(text(http.send(post(&server.url(), "")).await.unwrap()).await, "fine");
    assert_eq!(server.opened(), 1);
}

#[tokio::test]
async fn long_bodies_go_both_ways_on_both_versions() {
    let server = Server::start(|request| Answer::ok(request.body().clone())).await;
    for builder in [Http::builder().http1_only(), Http::builder().http2_only()] {
        let http = builder.no_proxy().build().unwrap();
        for size in [100_000, 1_000_000, 30_000_000] {
            let sent = Bytes::from(vec![b'x'; size]);
            let answer = http.send(post(&server.url(), sent.clone())).await.unwrap().into_body().read(size).await;
            assert!(answer.unwrap() == sent, "{size} bytes came back changed");
        }
    }
}

#[tokio::test]
async fn nothing_is_read_ahead_of_what_is_asked_for() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let server = Server::start(move |_| Answer::endless(Arc::clone(&counter), 1_000_000)).await;
    let mut body = local().send(post(&server.url(), "")).await.unwrap().into_body();
    body.next().await.unwrap().unwrap();
    // Until the buffers in between are full.
    let mut before = 0;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(30)).await;
        if before == taken.load(Ordering::SeqCst) {
            break;
        }
        before = taken.load(Ordering::SeqCst);
    }
    assert!(taken.load(Ordering::SeqCst) < 40, "{taken:?} MB were sent to a reader that does not read");
}

#[tokio::test]
async fn a_stream_that_goes_on_for_ever_ends_with_the_time_for_all_of_it() {
    let clock = TestClock::stopped();
    let body = Body::poll_fn(|_| Poll::Ready(Some(Ok(Bytes::from("tick")))));
    let timeouts = Timeouts::default().total(Duration::from_secs(100));
    let mut body = guarded(body, Arc::new(clock.clone()), &timeouts, Duration::ZERO);
    clock.advance(Duration::from_secs(99));
    assert_eq!(body.next().await.unwrap().unwrap(), "tick");
    clock.advance(Duration::from_secs(1));
    let error = body.next().await.unwrap().unwrap_err();
    assert_eq!(
        (error.failure(), error.to_string().as_str()),
        (Failure::Timeout, "the answer did not end within 100 s")
    );
    assert!(body.next().await.is_none());
}

#[test]
fn several_runtimes_share_one_transport() {
    let server_runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = server_runtime.block_on(Server::start(|_| Answer::ok("hello")));
    let (http, url) = (local(), server.url());
    let asked = |_: usize| {
        let (http, url) = (http.clone(), url.clone());
        std::thread::spawn(move || {
            let mut failed = Vec::new();
            for _ in 0..40 {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    match http.send(post(&url, "")).await {
                        Ok(response) => assert_eq!(text(response).await, "hello"),
                        Err(error) => failed.push(error.to_string()),
                    }
                });
            }
            failed
        })
    };
    let threads: Vec<_> = (0..8).map(asked).collect();
    let failed: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(failed, Vec::<String>::new(), "of 320 requests");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = Server::start(|_| Answer::new(307, "").header("location", "https://elsewhere.invalid/")).await;
    let response = local().send(post(&server.url(), "")).await.unwrap();
    assert_eq!(response.status().as_u16(), 307);
}

#[tokio::test]
async fn failures_are_told_apart_and_keep_the_query_to_themselves() {
    let refused = {
        let server = Server::start(|_| Answer::ok("")).await;
        server.url()
    };
    let error = local().send(post(&format!("{refused}/v1?key=secret"), "")).await.unwrap_err();
    assert_eq!(error.failure(), Failure::Connect);
    let told = format!("{error} {error:?}");
    assert!(told.starts_with("cannot connect (127.0.0.1): ") && !told.contains("secret"), "{told}");

    let (sender, receiver) = mpsc::channel(1);
    let receiver = std::sync::Mutex::new(Some(receiver));
    let server = Server::start(move |_| Answer::pieces(receiver.lock().unwrap().take().unwrap())).await;
    let mut body = local().send(post(&server.url(), "")).await.unwrap().into_body();
    sender.send(Ok(Bytes::from("one"))).await.unwrap();
    body.next().await.unwrap().unwrap();
    sender.send(Err(std::io::Error::other("cut"))).await.unwrap();
    let error = body.next().await.unwrap().unwrap_err();
    assert_eq!(error.failure(), Failure::Broken, "{error}");

    let relative = http::Request::get("/nowhere").body(Bytes::new()).unwrap();
    assert_eq!(local().send(relative).await.unwrap_err().failure(), Failure::Request);
}

#[tokio::test]
async fn a_company_certificate_is_trusted_when_it_is_given() {
    let (server, certificate) = Server::start_tls(|_| Answer::ok("sealed")).await;
    let url = format!("https://localhost:{}/", server.port());
    let error = local().send(post(&url, "")).await.unwrap_err();
    assert_eq!(error.failure(), Failure::Connect);
    assert!(error.to_string().contains("certificate"), "{error}");

    let http = Http::builder().no_proxy().certificates(certificate).build().unwrap();
    let response = http.send(post(&url, "")).await.unwrap();
    assert_eq!(response.version(), http::Version::HTTP_2);
    assert_eq!(text(response).await, "sealed");

    let error = Http::builder().certificates("no certificate").build().unwrap_err();
    assert_eq!(error.to_string(), "there is no certificate in the PEM text");
}

#[tokio::test]
async fn a_proxy_gets_requests_for_any_host() {
    let proxy = Server::start(|request| Answer::ok(request.uri().to_string())).await;
    let http = Http::builder().proxy(proxy.url()).build().unwrap();
    let answer = text(http.send(post("http://api.example.invalid/v1", "")).await.unwrap()).await;
    assert_eq!(answer, "http://api.example.invalid/v1");
    assert!(Http::builder().proxy("not a proxy").build().is_err());
}

#[tokio::test]
async fn connecting_has_a_limit_with_tls_included() {
    // Accepts connections, and sends nothing.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let http = Http::builder().no_proxy().connect_timeout(Duration::from_millis(200)).build().unwrap();
    let began = std::time::Instant::now();
    let error = http.send(post(&format!("https://127.0.0.1:{port}/"), "")).await.unwrap_err();
    assert_eq!(error.failure(), Failure::Connect, "{error}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_body_longer_than_the_limit_is_refused() {
    let mut pieces = vec!["abc", "def"].into_iter();
    let body = Body::poll_fn(move |_| Poll::Ready(pieces.next().map(|piece| Ok(Bytes::from(piece)))));
    assert_eq!(body.read(5).await.unwrap_err().failure(), Failure::TooLarge);
    let mut pieces = vec!["abc", "def"].into_iter();
    let body = Body::poll_fn(move |_| Poll::Ready(pieces.next().map(|piece| Ok(Bytes::from(piece)))));
    let beginning = body.beginning(5, std::future::pending()).await;
    assert_eq!((beginning.bytes.as_ref(), beginning.extent), (&b"abcde"[..], Extent::Cut));
    let mut pieces = vec!["abc", "def"].into_iter();
    let body = Body::poll_fn(move |_| Poll::Ready(pieces.next().map(|piece| Ok(Bytes::from(piece)))));
    let mut body = body.bounded(5, |error| error);
    assert_eq!(body.next().await.unwrap().unwrap(), "abc");
    assert_eq!(body.next().await.unwrap().unwrap_err().failure(), Failure::TooLarge);
    assert!(body.next().await.is_none());
}

#[tokio::test]
async fn an_error_body_that_drips_is_given_up() {
    let mut pieces = vec!["half of", " a message"].into_iter();
    let body = Body::poll_fn(move |_| match pieces.next() {
        Some(piece) => Poll::Ready(Some(Ok(Bytes::from(piece)))),
        None => Poll::Pending,
    });
    let clock = TestClock::skipping();
    let beginning = body.beginning(1000, crate::time::Clock::sleep(&clock, Duration::from_secs(30))).await;
    assert_eq!((beginning.bytes.as_ref(), beginning.extent), (&b"half of a message"[..], Extent::Whole));
}

#[tokio::test]
async fn a_body_is_one_for_servers_and_what_was_read_ahead_comes_first() {
    use http_body_util::BodyExt as _;
    let mut pieces = vec!["abc", "def"].into_iter();
    let mut body = Body::poll_fn(move |_| Poll::Ready(pieces.next().map(|piece| Ok(Bytes::from(piece)))));
    body.begin().await.unwrap();
    body.begin().await.unwrap();
    assert_eq!(body.collect().await.unwrap().to_bytes(), "abcdef");
}

/// Gives other tasks a few turns, enough for everything that waits only for this test.
async fn a_little() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn silence_before_the_head_has_a_limit() {
    let clock = TestClock::stopped();
    let waiting = {
        let clock = clock.clone();
        tokio::spawn(async move {
            within(&clock, Duration::from_secs(120), std::future::pending::<Result<(), TransportError>>()).await
        })
    };
    a_little().await;
    clock.advance(Duration::from_secs(119));
    a_little().await;
    assert!(!waiting.is_finished());
    clock.advance(Duration::from_secs(1));
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!((error.failure(), error.to_string().as_str()), (Failure::Timeout, "no answer came within 120 s"));
}

#[tokio::test]
async fn only_silence_ends_a_stream_not_its_length() {
    let clock = TestClock::stopped();
    let (sender, mut receiver) = mpsc::channel::<Bytes>(1);
    let body = Body::poll_fn(move |cx| receiver.poll_recv(cx).map(|piece| piece.map(Ok)));
    let timeouts = Timeouts::default().idle(Duration::from_secs(60));
    let mut body = guarded(body, Arc::new(clock.clone()), &timeouts, Duration::ZERO);
    let reading = tokio::spawn(async move {
        let mut count = 0;
        loop {
            match body.next().await {
                Some(Ok(_)) => count += 1,
                Some(Err(error)) => break (count, error, body.next().await.is_none()),
                None => panic!("the body ended"),
            }
        }
    });
    // Ten times as long as the limit in all, but never silent for as long.
    for _ in 0..200 {
        sender.send(Bytes::from("tick")).await.unwrap();
        a_little().await;
        clock.advance(Duration::from_secs(3));
        a_little().await;
    }
    assert!(!reading.is_finished());
    clock.advance(Duration::from_secs(57));
    let (count, error, ended) = reading.await.unwrap();
    assert_eq!((count, error.failure(), ended), (200, Failure::Timeout, true));
    assert_eq!(error.to_string(), "nothing more came within 60 s");
    assert!(sender.is_closed(), "the connection goes at once");
    assert!(clock.waits().len() <= 12, "one wait is made for many pieces: {:?}", clock.waits());
}

//! Connections from first byte to last: which version of HTTP a client speaks, and how long the server waits for it.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use ikigai_listen::{Drain, Waits, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const HEAD: Duration = Duration::from_secs(5);
const WAITS: Waits = Waits { head: HEAD, write: Duration::from_secs(100) };
/// How long an answer takes, unless its path says that it is ready at once.
const WORK: Duration = Duration::from_secs(60);

/// The client's end of a connection that is being served, and the task that serves it.
fn connect(drain: &Drain) -> (DuplexStream, JoinHandle<()>) {
    let (client, server) = duplex(64 << 10);
    let serving = tokio::spawn(serve(server, WAITS, drain.watcher(), service_fn(|request| Box::pin(answer(request)))));
    (client, serving)
}

/// Answers with the method and path of the request.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == "/slow" {
        sleep(WORK).await;
    }
    if request.uri().path() == "/large" {
        return Ok(Response::new(Full::new((0..LARGE).map(|place| (place % 251) as u8).collect::<Vec<u8>>().into())));
    }
    Ok(Response::new(Full::new(format!("{} {}", request.method(), request.uri()).into())))
}

/// The length of the answer to `/large`.
const LARGE: usize = 1_000_003;

/// Sends bytes in pieces that arrive one by one.
async fn send(client: &mut DuplexStream, bytes: &[u8], piece: usize) {
    for piece in bytes.chunks(piece) {
        // A server that has seen enough closes before the end.
        let _ = client.write_all(piece).await;
        sleep(Duration::from_millis(1)).await;
    }
}

/// Reads until the connection is closed.
async fn rest(client: &mut DuplexStream) -> String {
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    String::from_utf8_lossy(&rest).into_owned()
}

#[tokio::test(start_paused = true)]
async fn a_preface_means_http_2_however_it_is_cut() {
    let drain = Drain::new();
    for piece in 1..=PREFACE.len() + SETTINGS.len() {
        let (mut client, _serving) = connect(&drain);
        send(&mut client, &[PREFACE.as_slice(), &SETTINGS].concat(), piece).await;
        let mut frame = [0; 9];
        client.read_exact(&mut frame).await.unwrap();
        assert_eq!((frame[3], &frame[4..]), (SETTINGS[3], &[0; 5][..]), "pieces of {piece}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_only_begins_like_a_preface_is_http_1() {
    let drain = Drain::new();
    for line in ["GET /a", "POST /b", "PRI /c", "PRI *", "PRI * HTTP/2.0", "P /d", "PUT /e"] {
        // All but one of them are requests; that one has a version that HTTP/1 does not support.
        let (asked, version) = line.split_once(" HTTP").unwrap_or((line, "/1.1"));
        let head = format!("{asked} HTTP{version}\r\nhost: x\r\nconnection: close\r\n\r\n");
        for piece in [1, 2, 7, 23, 24, 25, head.len()] {
            let (mut client, serving) = connect(&drain);
            send(&mut client, head.as_bytes(), piece).await;
            let answer = rest(&mut client).await;
            if version == "/1.1" {
                assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(asked), "{line}, {piece}: {answer}");
            } else {
                assert!(!answer.contains(" 200 "), "{line}, {piece}: {answer}");
            }
            serving.await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn requests_behind_one_another_are_all_answered() {
    let drain = Drain::new();
    let (mut client, _serving) = connect(&drain);
    let long = "x".repeat(20_000);
    for path in ["/", "/one", "/two", &format!("/{long}")] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        while !read.ends_with(format!("GET {path}").as_bytes()) {
            assert!(client.read_buf(&mut read).await.unwrap() > 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_or_stops_is_gone_in_time() {
    let drain = Drain::new();
    let beginnings: [&[u8]; 6] = [b"", b"P", &PREFACE[..3], &PREFACE[..23], b"GET / HTTP/1.1\r\nx-half", b"\r\n"];
    for beginning in beginnings {
        let (mut client, serving) = connect(&drain);
        let began = Instant::now();
        client.write_all(beginning).await.unwrap();
        rest(&mut client).await;
        serving.await.unwrap();
        // The first bytes have this long, and then the head.
        assert!(began.elapsed() <= HEAD * 2 + Duration::from_secs(1), "{beginning:?}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_at_once_is_let_go() {
    let drain = Drain::new();
    for beginning in [b"".as_slice(), b"P", b"GET", PREFACE] {
        let (mut client, serving) = connect(&drain);
        client.write_all(beginning).await.unwrap();
        drop(client);
        serving.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn connections_without_a_request_end_when_the_server_stops() {
    let drain = Drain::new();
    let mut clients = Vec::new();
    for beginning in [b"".as_slice(), b"P", &PREFACE[..23], &[PREFACE.as_slice(), &SETTINGS].concat()] {
        let (mut client, _serving) = connect(&drain);
        client.write_all(beginning).await.unwrap();
        clients.push(client);
    }
    // One that has had its answer, and may send another request.
    let (mut client, _serving) = connect(&drain);
    client.write_all(b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut read = Vec::new();
    while !read.ends_with(b"GET /a") {
        client.read_buf(&mut read).await.unwrap();
    }
    clients.push(client);
    sleep(Duration::from_millis(1)).await;
    let began = Instant::now();
    let told = tokio::spawn(drain.finish());
    // The HTTP/2 client is asked whether it has sent anything, and would answer.
    let http2 = clients.remove(3);
    for mut client in clients {
        rest(&mut client).await;
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    drop(http2);
    told.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_ends_before_the_server_does() {
    let drain = Drain::new();
    let (mut client, _serving) = connect(&drain);
    client.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let stopping = tokio::spawn(drain.finish());
    assert!(rest(&mut client).await.ends_with("GET /slow"));
    stopping.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_large_answer_comes_whole_also_to_a_slow_reader() {
    let drain = Drain::new();
    for piece in [1000, 100_000] {
        let (mut client, _serving) = connect(&drain);
        client.write_all(b"GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let (mut read, mut room) = (Vec::new(), vec![0; piece]);
        loop {
            let length = client.read(&mut room).await.unwrap();
            if length == 0 {
                break;
            }
            read.extend_from_slice(&room[..length]);
            tokio::task::yield_now().await;
        }
        let head = String::from_utf8_lossy(&read[..200]).into_owned();
        assert!(head.contains(&format!("content-length: {LARGE}\r\n")), "{head}");
        let body = &read[read.len() - LARGE..];
        assert!(body.iter().enumerate().all(|(place, byte)| *byte == (place % 251) as u8));
    }
}

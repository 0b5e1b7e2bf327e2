//! A server that strangers can reach: slow clients, large bodies, full houses, graceful shutdown.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http::Version;
use ikigai::transport::{Http, Transport as _};
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{House, KEY, question, to};

const CHAT: ikigai::Dialect = ikigai::Dialect::ALL[1];

async fn connect(house: &House) -> TcpStream {
    TcpStream::connect(house.gateway.address()).await.unwrap()
}

/// A connection on which a question was sent.
async fn ask(house: &House, (path, body): &(String, serde_json::Value)) -> TcpStream {
    let mut stream = connect(house).await;
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads until the other end closes, and returns how long that took.
async fn until_closed(stream: &mut TcpStream) -> (String, Duration) {
    let began = Instant::now();
    let mut read = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut read)).await.unwrap();
    (String::from_utf8_lossy(&read).into_owned(), began.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_send_half_a_head_or_nothing_are_gone_while_others_are_served() {
    let house = House::new("timeouts.head = 1.0").await;
    let mut slow = Vec::new();
    for beginning in ["POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-half", "", "PRI"] {
        for _ in 0..100 {
            let mut stream = connect(&house).await;
            stream.write_all(beginning.as_bytes()).await.unwrap();
            slow.push(stream);
        }
    }
    let (path, body) = question(CHAT, &to(CHAT), "Hello", false);
    assert_eq!(house.post(&path, &body).await.status, 200);
    for mut stream in slow {
        assert!(until_closed(&mut stream).await.1 < Duration::from_secs(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let house = House::new("timeouts.body = 0.5").await;
    let mut stream = connect(&house).await;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\n\
         content-length: 1000\r\n\r\n{{\"model\":"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let (answer, time) = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408") && time < Duration::from_secs(10), "{time:?}: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_is_dropped_and_its_request_with_it() {
    let house = House::new("timeouts.write = 0.5").await;
    house.fault("giant_event,bytes=30000000");
    let stream = ask(&house, &question(CHAT, &to(CHAT), "Hello", true)).await;
    wait_for(|| house.sim.connections() > 0, "the request does not arrive").await;
    wait_for(|| house.sim.connections() == 0, "the request is not given up").await;
    drop(stream);
}

async fn wait_for(condition: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_takes_its_request_with_it() {
    let house = House::new("").await;
    for fault in ["stall", "slow_first_byte,ms=60000"] {
        for streams in [false, true] {
            house.sim.reset();
            house.fault(fault);
            let before = house.sim.connections();
            let stream = ask(&house, &question(CHAT, &to(ikigai::Dialect::ALL[0]), "Hello", streams)).await;
            wait_for(|| !house.sim.requests().is_empty(), "the request does not arrive").await;
            drop(stream);
            wait_for(|| house.sim.connections() <= before, "the request is not given up").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_wait_for_their_turn() {
    // Room for two of them at once; the model has a window for each.
    let house = House::new("limits.body = 2000000\nlimits.bodies = 4000000").await;
    let body = json!({"model": "to-gemini", "max_tokens": 5, "messages": [{"role": "user", "content": "x".repeat(1_500_000)}]});
    let asked = (0..8).map(|_| house.post("/v1/messages", &body));
    let statuses: Vec<u16> = join_all(asked).await.into_iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200; 8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_under_way_end_before_the_gateway_does() {
    let house = House::new("").await;
    house.fault("slow_drip,ms=20");
    let mut stream = ask(&house, &question(CHAT, &to(CHAT), "Count from 1 to 20.", true)).await;
    wait_for(|| !house.sim.requests().is_empty(), "the request does not arrive").await;
    let address = house.gateway.address();
    let stopping = tokio::spawn(house.gateway.stop());
    let (answer, _) = until_closed(&mut stream).await;
    assert!(answer.contains("data: [DONE]"), "{answer}");
    stopping.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_told_to_anybody_and_pages_of_known_origins_may_read_answers() {
    let house = House::new("cors.origins = [\"https://app.example\"]").await;
    assert_eq!(house.send("GET", "/healthz", &[], "").await.json(), json!({"status": "ok"}));
    assert_eq!(house.send("GET", "/readyz", &[], "").await.status, 200);
    for (origin, allowed) in [("https://app.example", "https://app.example"), ("https://evil.example", "")] {
        let answer = house.send("OPTIONS", "/v1/messages", &[("origin", origin)], "").await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, allowed));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_keeps_the_id_that_its_client_gave_it() {
    let house = House::new("").await;
    let bearer = format!("Bearer {KEY}");
    let (path, body) = question(CHAT, "to-anthropic", "Hello", false);
    for (given, kept) in [("my-id-1", true), ("bad id\u{7f}", false)] {
        let Ok(_) = http::HeaderValue::try_from(given) else { continue };
        let headers = [("authorization", bearer.as_str()), ("x-request-id", given)];
        let answer = house.send("POST", &path, &headers, body.to_string()).await;
        assert_eq!(answer.header("x-ikigai-request-id") == given, kept, "{:?}", answer.headers);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_and_http_2_are_spoken_with_and_without_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = format!("tls.certificate = \"{}\"\ntls.key = \"{}\"", certificate.display(), key.display());
    let (path, body) = question(CHAT, &to(CHAT), "What is 17 * 3?", true);
    for (head, scheme) in [(tls.as_str(), "https"), ("", "http")] {
        let house = House::new(head).await;
        assert!(house.gateway.url().starts_with(&format!("{scheme}://")));
        let client = || Http::builder().no_proxy().certificates(made.cert.pem());
        for (client, version) in [(client().http1_only(), Version::HTTP_11), (client().http2_only(), Version::HTTP_2)] {
            let request = http::Request::post(format!("{}{path}", house.gateway.url()))
                .header("authorization", format!("Bearer {KEY}"))
                .header("content-type", "application/json")
                .body(body.to_string().into())
                .unwrap();
            let response = client.build().unwrap().send(request).await.unwrap();
            assert_eq!((response.status().as_u16(), response.version()), (200, version), "{scheme}");
            let read = response.into_body().read(1 << 20).await.unwrap();
            assert!(String::from_utf8_lossy(&read).contains("[DONE]"), "{scheme} {version:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("cert.pem");
    std::fs::write(&empty, "nothing").unwrap();
    let tls = format!("tls.certificate = \"{0}\"\ntls.key = \"{0}\"", empty.display());
    let setup = ikigai_gateway::Setup::new(crate::support::environment()).unwrap();
    let error = ikigai_gateway::Gateway::start(crate::support::config(&tls), setup).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{}: it contains no certificate", empty.display()));
}

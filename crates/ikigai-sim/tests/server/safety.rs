//! What the simulator withstands: clients without a key, slow ones, greedy ones.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ikigai_core::Dialect;
use ikigai_sim::{Config, Sim};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::{ask, control, send, send_with};

fn connect(sim: &Sim) -> TcpStream {
    let stream = TcpStream::connect(sim.url().strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Reads from a connection until the other end closes it.
fn until_closed(mut stream: TcpStream) -> String {
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read);
    String::from_utf8_lossy(&read).into_owned()
}

fn wait_for(condition: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_key_no_fault_happens_and_no_body_is_read() {
    let mut config = Config::default();
    config.keys = vec!["the key".to_owned()];
    let sim = Sim::with(config).await.unwrap();
    let (path, body) = ask(Dialect::OpenaiChat, "Hi", false);
    for fault in ["giant_event,bytes=1000000000000", "status=500", "stall", "nonsense"] {
        let got = send_with(&sim, &path, &format!("x-sim-fault: {fault}\r\n"), &body);
        assert_eq!((got.status(), got.whole), (401, true), "{fault}: {got:?}");
    }
    let received = sim.requests();
    assert_eq!(received.iter().map(|request| &request.body).collect::<Vec<_>>(), [&json!(null); 4]);
    // The answer arrives although the body has not.
    let mut stream = connect(&sim);
    write!(stream, "POST {path} HTTP/1.1\r\nhost: sim\r\ncontent-length: 1000000\r\n\r\n").unwrap();
    assert!(until_closed(stream).starts_with("HTTP/1.1 401"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_beyond_its_limit_is_refused() {
    let sim = Sim::start().await.unwrap();
    let (path, body) = ask(Dialect::OpenaiChat, "Hi", true);
    let got = send(&sim, &path, "x-sim-fault: giant_event,bytes=1000000000000\r\n", &body);
    assert_eq!(got.status(), 400);
    let reply = json!({"reply": [{"fault": {"giant_event": {"bytes": 1_000_000_000_000_u64}}}]});
    let got = control(&sim, "expect", &reply);
    let message = "body.json:1:59: reply[0].fault: 1000000000000 bytes are too many; the limit is 1073741824";
    assert_eq!((got.status(), got.json()), (400, json!({"error": {"message": message}})));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_controls_need_the_token_or_a_key() {
    let mut config = Config::default();
    config.keys = vec!["one".to_owned(), "two".to_owned()];
    let keyed = Sim::with(config).await.unwrap();
    let (one, other) = (Sim::start().await.unwrap(), Sim::start().await.unwrap());
    assert_ne!(one.token(), other.token());
    assert_eq!(send(&one, "/_sim/refuse", "", &json!({"ms": 1000})).status(), 401);
    for verb in ["expect", "reset", "anything"] {
        let path = format!("/_sim/{verb}");
        for (sim, headers, status) in [
            (&one, String::new(), 401),
            (&one, "authorization: Bearer key\r\n".to_owned(), 401),
            (&one, "authorization: Bearer \r\n".to_owned(), 401),
            (&one, format!("authorization: Bearer {}\r\n", other.token()), 401),
            (&one, format!("authorization: Bearer {}\r\n", one.token()), if verb == "anything" { 404 } else { 200 }),
            (&keyed, "authorization: Bearer key\r\n".to_owned(), 401),
            (&keyed, "authorization: Bearer two\r\n".to_owned(), if verb == "anything" { 404 } else { 200 }),
        ] {
            let got = send_with(sim, &path, &headers, &json!({"reply": []}));
            assert_eq!(got.status(), status, "{verb} {headers}: {got:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_keeps_no_more_bytes_than_it_may() {
    let mut config = Config::default();
    config.log_bytes = 20_000;
    let sim = Sim::with(config).await.unwrap();
    for number in 0..8 {
        let (path, body) = ask(Dialect::OpenaiChat, &format!("say {number} {}", "x".repeat(5_000)), false);
        assert_eq!(send(&sim, &path, "", &body).status(), 200);
    }
    let numbers: Vec<u64> = sim.requests().iter().map(|request| request.number).collect();
    assert_eq!(numbers, [6, 7, 8]);

    let mut config = Config::default();
    config.log_bytes = 0;
    let sim = Sim::with(config).await.unwrap();
    let (path, body) = ask(Dialect::OpenaiChat, "Hi", false);
    assert_eq!((send(&sim, &path, "", &body).status(), sim.requests()), (200, Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_very_many_values_is_refused_and_a_long_text_is_not() {
    let sim = Sim::start().await.unwrap();
    let (path, _) = ask(Dialect::OpenaiChat, "", false);
    let many = json!({"model": "gpt-4.1", "messages": vec![0; 1_000_001]});
    let got = send(&sim, &path, "", &many);
    assert_eq!(
        (got.status(), got.json()["error"]["message"].clone()),
        (400, json!("the request has more than 1000000 JSON values"))
    );
    let long = json!({"model": "qwen3", "messages": [{"role": "user", "content": "[,{\"".repeat(210_000)}]});
    assert_eq!(send(&sim, &path, "", &long).status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strict_schema_of_very_many_properties_is_checked_in_one_go() {
    let sim = Sim::start().await.unwrap();
    let names: Vec<String> = (0..100_000).map(|number| format!("f{number}")).collect();
    let properties: serde_json::Map<String, serde_json::Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    let (path, mut body) = ask(Dialect::OpenaiChat, "Hi", false);
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": true}});
    // The connection is given up after a minute, and comparing every name with every other took longer.
    assert_eq!(send(&sim, &path, "", &body).status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_and_bodies_that_do_not_arrive_are_given_up() {
    let mut config = Config::default();
    config.timeouts.head = Duration::from_millis(200);
    config.timeouts.body = Duration::from_millis(200);
    let sim = Sim::with(config).await.unwrap();
    let mut half = connect(&sim);
    write!(half, "POST /v1/messages HTTP/1.1\r\nhost:").unwrap();
    let mut slow = connect(&sim);
    write!(
        slow,
        "POST /v1/messages HTTP/1.1\r\nhost: sim\r\nx-api-key: key\r\ncontent-length: 9000\r\n\r\n{{\"model\":"
    )
    .unwrap();
    assert_eq!(until_closed(half), "");
    assert!(until_closed(slow).starts_with("HTTP/1.1 408"));
    wait_for(|| sim.connections() == 0, "connections stay open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_beyond_the_limit_wait_until_one_closes() {
    let mut config = Config::default();
    config.connections = 2;
    let sim = Sim::with(config).await.unwrap();
    let held = [connect(&sim), connect(&sim)];
    wait_for(|| sim.connections() == 2, "the connections are not there");
    let mut third = connect(&sim);
    write!(third, "GET /nothing HTTP/1.1\r\nhost: sim\r\nconnection: close\r\n\r\n").unwrap();
    assert_eq!(sim.connections(), 2);
    drop(held);
    assert!(until_closed(third).starts_with("HTTP/1.1 404"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_simulator_answers_its_owner_and_tells_nobody_what_was_said() {
    let sim = Sim::with(Config::private()).await.unwrap();
    let (path, body) = ask(Dialect::OpenaiChat, "Hi", false);
    assert_eq!(send(&sim, &path, "", &body).status(), 401);
    let owner = format!("authorization: Bearer {}\r\n", sim.token());
    assert_eq!(send_with(&sim, &path, &owner, &body).status(), 200);
    assert_eq!(sim.requests(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_back_has_an_end() {
    let sim = Sim::start().await.unwrap();
    let text = format!("say {}", "x".repeat(300_000));
    let body = json!({"model": "llama-3", "messages": [{"role": "user", "content": text}]});
    let got = send(&sim, "/v1/chat/completions", "", &body).json();
    let said = got["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!((said.len(), got["choices"][0]["finish_reason"].clone()), (1 << 18, json!("length")));
}
